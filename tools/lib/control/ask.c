// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask the hypervisor: who owns pages, and how long a visit of EL2 takes.
 */
#include <errno.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "message.h"

/* The attribute that the driver answers with, and where it goes */
struct answer {
	int		attr;
	void		*to;
	int		size;
	bool		found;
};

static int parse_answer(const struct nlmsghdr *msg, void *arg)
{
	struct answer *answer = arg;
	struct nlattr *attr = NULL;

	if (!msg)
		return 0;
	if (genlmsg_valid_hdr((struct nlmsghdr *)msg, 0))
		attr = nlmsg_find_attr((struct nlmsghdr *)msg, GENL_HDRLEN, answer->attr);
	if (!attr || nla_len(attr) != answer->size)
		return -EBADMSG;
	memcpy(answer->to, nla_data(attr), answer->size);
	answer->found = true;
	return 0;
}

/* Ask for an attribute of exactly @size bytes. */
static int ask(struct hyptrace *h, struct nl_msg *msg, int attr, void *to, int size,
	       struct hyptrace_error *err)
{
	struct answer answer = { .attr = attr, .to = to, .size = size };
	int ret = hyptrace_nl_send(h, msg, parse_answer, &answer, err);

	if (!ret && !answer.found)
		return hyptrace_error_set(err, EBADMSG, "the driver has not answered");
	return ret;
}

/**
 * hyptrace_get_page_owners - ask who owns pages now
 * @h:		the connection
 * @remote:	name of the remote, a protected hypervisor
 * @pfn:	page frame number of the first page
 * @nr:		number of pages, from 1 to HYPTRACE_PAGE_COUNT_MAX
 * @owners:	out: enum hyptrace_ownership of linux/hyptrace_netlink.h for each page
 * @err:	the reason if it fails; may be NULL
 *
 * The pages are asked for one after the other. This needs no rings, and disturbs nobody.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote protects no memory, -EBADMSG if the
 * driver does not answer for each page.
 */
int hyptrace_get_page_owners(struct hyptrace *h, const char *remote, uint64_t pfn,
			     unsigned int nr, uint8_t *owners, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_PAGE_GET, 0, HYPTRACE_A_PAGE_REMOTE,
					     remote);

	hyptrace_nl_put_u64(&msg, HYPTRACE_A_PAGE_PFN, pfn);
	hyptrace_nl_put_u32(&msg, HYPTRACE_A_PAGE_COUNT, nr);
	return ask(h, msg, HYPTRACE_A_PAGE_OWNERS, owners, nr, err);
}

/**
 * hyptrace_time_visits - have a CPU enter EL2 and return at once, and measure this
 * @h:		the connection
 * @remote:	name of the remote, a hypervisor
 * @nr:		number of visits, from 1 to HYPTRACE_VISIT_COUNT_MAX
 * @nsec:	out: the time that all of them have taken together, in ns
 * @err:	the reason if it fails; may be NULL
 *
 * Each visit causes one event hyp_enter, host_hcall and hyp_exit, if these are enabled or counted.
 * So the difference of two measurements, without and with them, is the time that they take.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote is no hypervisor, -EBADMSG if the
 * driver does not answer.
 */
int hyptrace_time_visits(struct hyptrace *h, const char *remote, unsigned int nr, uint64_t *nsec,
			 struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_VISIT_GET, 0,
					     HYPTRACE_A_VISIT_REMOTE, remote);
	uint64_t time;
	int ret;

	hyptrace_nl_put_u32(&msg, HYPTRACE_A_VISIT_COUNT, nr);
	ret = ask(h, msg, HYPTRACE_A_VISIT_TIME, &time, sizeof(time), err);
	if (!ret)
		*nsec = time;
	return ret;
}
