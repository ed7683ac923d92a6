// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random hypercalls about the fresh pages of the module hyptrace_calls. EL2 refuses those that do
 * not fit the owner of a page. The VM is one that KVM does not know: its memory at EL2 are pages of
 * the module, which come back with its teardown.
 */
#include <errno.h>
#include <stdlib.h>

#include "page.h"
#include "page_calls.h"

/* A table of a VM has at most so many pages, and begins at such a number. */
#define TABLE_PAGES	16

/* Make a hypercall. Return its result, or -EIO if EL2 does not know it. */
static int64_t make(struct page_calls *pages, const char *name, uint64_t x1, uint64_t x2,
		    uint64_t x3)
{
	struct calls_one call = calls_hvc(pages->calls, name, x1, x2, x3);

	pages->nr++;
	if (calls_make(pages->calls, &call, 1) || call.ret[0])
		return -EIO;
	return call.ret[1];
}

static uint64_t address_of(const struct page_calls *pages, unsigned int page)
{
	return pages->calls->info.fresh + page * PAGE;
}

/* Share a page with EL2, or take it back. Return 0 or a negative errno. */
int page_calls_share(struct page_calls *pages, unsigned int page, bool share)
{
	int64_t ret = make(pages, share ? "__pkvm_host_share_hyp" : "__pkvm_host_unshare_hyp",
			   pages->calls->info.fresh_pfn + page, 0, 0);

	if (!ret && share)
		pages->shares++;
	else if (!ret)
		pages->unshares++;
	return ret;
}

/* Since Linux 7 a VM has a handle before EL2 creates it. Return 0 or a negative errno. */
static int reserve(struct page_calls *pages)
{
	struct calls_one set = { .how = CALLS_SET_HANDLE };
	int64_t ret;

	if (!pages->two_steps)
		return 0;
	ret = make(pages, "__pkvm_reserve_vm", 0, 0, 0);
	if (ret < 0)
		return ret;
	pages->handle = ret;
	set.x[1] = ret;
	return calls_make(pages->calls, &set, 1);
}

static void create_vm(struct page_calls *pages)
{
	const struct calls_info *info = &pages->calls->info;
	unsigned int page = random() % (CALLS_FRESH_PAGES - TABLE_PAGES);
	unsigned int table = random() % (CALLS_FRESH_PAGES / TABLE_PAGES) * TABLE_PAGES;
	int64_t ret = make(pages, "__pkvm_init_vm", info->vm, address_of(pages, page),
			   address_of(pages, table));

	if (ret < 0)
		return;
	if (!pages->two_steps)
		pages->handle = ret;
	pages->vm = PAGE_VM_CREATED;
	pages->has_vcpu = false;
	pages->vms++;
}

static void create_vcpu(struct page_calls *pages)
{
	const struct calls_info *info = &pages->calls->info;
	unsigned int page = random() % (CALLS_FRESH_PAGES - TABLE_PAGES);

	if (make(pages, "__pkvm_init_vcpu", pages->handle, info->vcpu, address_of(pages, page)))
		return;
	pages->has_vcpu = true;
	pages->vcpus++;
}

/* Return 0 or a negative errno. */
static int tear_down(struct page_calls *pages)
{
	int64_t ret;

	if (pages->two_steps && pages->vm == PAGE_VM_CREATED) {
		ret = make(pages, "__pkvm_start_teardown_vm", pages->handle, 0, 0);
		if (!ret)
			pages->vm = PAGE_VM_DYING;
		return ret;
	}
	ret = make(pages, pages->two_steps ? "__pkvm_finalize_teardown_vm" : "__pkvm_teardown_vm",
		   pages->handle, 0, 0);
	if (ret)
		return ret;
	pages->vm = PAGE_VM_NONE;
	pages->teardowns++;
	return reserve(pages);
}

/**
 * page_calls_begin - get ready
 * @pages:	filled in
 * @calls:	the module
 *
 * Return: 0 or a negative errno.
 */
int page_calls_begin(struct page_calls *pages, const struct calls *calls)
{
	*pages = (struct page_calls){
		.calls = calls, .only_shares = calls_for_heap(calls),
		.two_steps = !calls_for_heap(calls) && calls_find(calls, "__pkvm_reserve_vm"),
	};
	return reserve(pages);
}

/**
 * page_calls_step - make a random hypercall
 * @pages:	the calls so far
 *
 * Half of them are about the VM: what fits its state, or else a vCPU too many.
 *
 * Return: 0 or a negative errno, if a teardown has failed.
 */
int page_calls_step(struct page_calls *pages)
{
	unsigned int what = random() % (pages->only_shares ? 8 : 16);

	if (what < 8) {
		page_calls_share(pages, random() % CALLS_FRESH_PAGES, what < 2);
		return 0;
	}
	if (pages->vm == PAGE_VM_NONE)
		create_vm(pages);
	else if (pages->vm == PAGE_VM_CREATED && what < 13)
		create_vcpu(pages);
	else
		return tear_down(pages);
	return 0;
}

/**
 * page_calls_end - give all pages back to the host
 * @pages:	the calls so far
 *
 * Return: 0 or a negative errno.
 */
int page_calls_end(struct page_calls *pages)
{
	unsigned int page;
	int err = 0;

	while (!err && pages->vm != PAGE_VM_NONE)
		err = tear_down(pages);
	if (pages->two_steps)
		make(pages, "__pkvm_unreserve_vm", pages->handle, 0, 0);
	for (page = 0; page < CALLS_FRESH_PAGES; page++)
		page_calls_share(pages, page, false);
	return err;
}
