// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds of counting: a remote counts events while the socket that has asked for it is open. Called
 * by netlink/.
 */
#include "internal.h"

/**
 * hyptrace_counters_hold - have a socket hold events, or release them
 * @remote:	control mutex held
 * @socket:	open
 * @mask:	bit per event id
 * @on:		true to hold these, too; false to release them
 * @extack:	out: the reason if it fails; may be NULL
 *
 * The last release frees the counters, unless count-set has requested some.
 *
 * Return: 0; -EOPNOTSUPP if @remote cannot count one of the events, -ENOMEM, or the error of
 * the remote's callback. After an error nothing has changed.
 */
int hyptrace_counters_hold(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			   u64 mask, bool on, struct netlink_ext_ack *extack)
{
	int err = hyptrace_count_check(remote, mask, extack);
	struct hyptrace_socket_hold *hold;
	u64 before;

	if (err)
		return err;
	hold = hyptrace_socket_get_hold(remote, socket, extack);
	if (!hold)
		return -ENOMEM;
	before = hold->counted;
	hold->counted = on ? before | mask : before & ~mask;
	err = hyptrace_count_update(remote, extack);
	if (err)
		hold->counted = before;
	else
		hold->counts = hold->counted;
	hyptrace_socket_put_hold(hold);
	if (!err)
		hyptrace_count_free_unused(remote);
	return err;
}
