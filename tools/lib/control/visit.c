// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request that measures visits of EL2.
 */
#include "message.h"

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
	ret = hyptrace_nl_ask(h, msg, HYPTRACE_A_VISIT_TIME, &time, sizeof(time), err);
	if (!ret)
		*nsec = time;
	return ret;
}
