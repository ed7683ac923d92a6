// SPDX-License-Identifier: GPL-2.0-only
/* The owner of a page, for the host, which asks page by page. Called by hcall.c. */
#include "hooks.h"

static enum hyptrace_page_owner owner_of(const struct hyptrace_page_states *states)
{
	switch (states->host) {
	case HYPTRACE_PAGE_STATE_OWNED:
		return HYPTRACE_PAGE_HOST;
	case HYPTRACE_PAGE_STATE_SHARED:
		if (states->nr_guests)
			return HYPTRACE_PAGE_HOST_SHARED_GUEST;
		return states->hyp == HYPTRACE_PAGE_STATE_BORROWED ? HYPTRACE_PAGE_HOST_SHARED_HYP :
								     HYPTRACE_PAGE_HOST_SHARED_FFA;
	case HYPTRACE_PAGE_STATE_BORROWED:
		/* Whether a protected guest shares a page is not for the host to see here. */
		return states->hyp == HYPTRACE_PAGE_STATE_SHARED ? HYPTRACE_PAGE_HYP_SHARED_HOST :
								   HYPTRACE_PAGE_GUEST;
	default:
		return states->hyp == HYPTRACE_PAGE_STATE_NONE ? HYPTRACE_PAGE_GUEST :
								 HYPTRACE_PAGE_HYP;
	}
}

/**
 * hyptrace_page_owner() - HYPTRACE_OP_PAGE
 * @pfn:	number of the page; untrusted
 *
 * The answer can be stale as soon as it is given: another CPU may change the owner.
 *
 * Context: EL2. It takes the locks of pKVM's host and EL2 page tables.
 * Return: enum hyptrace_page_owner; -EOPNOTSUPP without protection; or the error of a walk of
 * page tables.
 */
s64 hyptrace_page_owner(u64 pfn)
{
	struct hyptrace_page_states states;
	int ret = hyptrace_get_page_states(pfn, &states);

	if (ret == -ENOENT)
		return HYPTRACE_PAGE_NO_MEMORY;
	if (ret)
		return ret;

	return owner_of(&states);
}
