// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request that measures visits of EL2.
 */
#include <errno.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"

/* What the driver has answered */
struct answer {
	bool		has_time;
	uint64_t	nsec;
};

static int parse_visit(const struct nlmsghdr *msg, void *arg)
{
	struct nlattr *tb[HYPTRACE_A_VISIT_MAX + 1], *time;
	struct answer *answer = arg;

	if (!msg)
		return 0;
	if (genlmsg_parse((struct nlmsghdr *)msg, 0, tb, HYPTRACE_A_VISIT_MAX, NULL) < 0)
		return -EBADMSG;
	time = tb[HYPTRACE_A_VISIT_TIME];
	if (!time || nla_len(time) != sizeof(uint64_t))
		return -EBADMSG;
	answer->nsec = nla_get_u64(time);
	answer->has_time = true;
	return 0;
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
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_VISIT_GET, 0);
	struct answer answer = { };
	int ret;

	if (!msg || nla_put_string(msg, HYPTRACE_A_VISIT_REMOTE, remote) ||
	    nla_put_u32(msg, HYPTRACE_A_VISIT_COUNT, nr)) {
		nlmsg_free(msg);
		return hyptrace_error_memory(err);
	}
	ret = hyptrace_nl_send(h, msg, parse_visit, &answer, err);
	if (!ret && !answer.has_time)
		return hyptrace_error_set(err, EBADMSG, "the driver has not answered");
	if (!ret)
		*nsec = answer.nsec;
	return ret;
}
