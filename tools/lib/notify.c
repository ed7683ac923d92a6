// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive the driver's notifications on a separate socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "hyptrace.h"

/* Room for a burst of notifications in the kernel, and for one message here. */
#define SOCKET_BUFFER	(1 << 20)
#define MESSAGE_BUFFER	(1 << 16)

struct hyptrace_listener {
	int	fd;
	char	buf[MESSAGE_BUFFER] __attribute__((aligned(8)));
};

/**
 * hyptrace_listener_open - subscribe to the notifications
 * @nl:		a connection, to look up the group
 * @err:	the reason if it fails; may be NULL
 *
 * Return: the subscription, or NULL.
 */
struct hyptrace_listener *hyptrace_listener_open(struct hyptrace_nl *nl, struct hyptrace_error *err)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct hyptrace_listener *listener;
	int group = hyptrace_nl_group(nl);
	int size = SOCKET_BUFFER;

	if (group <= 0) {
		hyptrace_error_set(err, ENOENT, "the driver has no notifications");
		return NULL;
	}

	listener = malloc(sizeof(*listener));
	if (!listener) {
		hyptrace_error_set(err, ENOMEM, "out of memory");
		return NULL;
	}

	listener->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
	if (listener->fd < 0)
		goto fail;
	setsockopt(listener->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(listener->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(listener->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		goto fail;
	return listener;

fail:
	if (errno == EPERM || errno == EACCES)
		hyptrace_error_set(err, errno,
				   "permission denied: notifications need CAP_SYS_ADMIN");
	else
		hyptrace_error_set(err, errno, "%s", strerror(errno));
	hyptrace_listener_close(listener);
	return NULL;
}

/**
 * hyptrace_listener_close - unsubscribe
 * @listener:	the subscription, or NULL
 */
void hyptrace_listener_close(struct hyptrace_listener *listener)
{
	if (!listener)
		return;
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
}

/**
 * hyptrace_listener_fd - get the descriptor for poll()
 * @listener:	the subscription
 *
 * Return: the descriptor; readable when there are notifications.
 */
int hyptrace_listener_fd(const struct hyptrace_listener *listener)
{
	return listener->fd;
}

static void get_name(char *to, size_t size, const struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

static uint32_t get_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= (int)sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

static int parse_reader(struct nlmsghdr *nlh, struct hyptrace_notice *notice)
{
	struct nlattr *tb[HYPTRACE_A_READER_MAX + 1];

	if (genlmsg_parse(nlh, 0, tb, HYPTRACE_A_READER_MAX, NULL) < 0)
		return -EBADMSG;
	get_name(notice->reader.remote, sizeof(notice->reader.remote),
		 tb[HYPTRACE_A_READER_REMOTE]);
	notice->reader.cpu = tb[HYPTRACE_A_READER_CPU] ? (int)get_u32(tb[HYPTRACE_A_READER_CPU]) :
							 HYPTRACE_CPU_ALL;
	notice->reader.change = get_u32(tb[HYPTRACE_A_READER_CHANGE]);
	notice->reader.pid = get_u32(tb[HYPTRACE_A_READER_PID]);
	return 0;
}

static int parse_loss(struct nlmsghdr *nlh, struct hyptrace_notice *notice)
{
	struct nlattr *tb[HYPTRACE_A_LOSS_MAX + 1];

	if (genlmsg_parse(nlh, 0, tb, HYPTRACE_A_LOSS_MAX, NULL) < 0)
		return -EBADMSG;
	get_name(notice->loss.remote, sizeof(notice->loss.remote), tb[HYPTRACE_A_LOSS_REMOTE]);
	notice->loss.cpu = get_u32(tb[HYPTRACE_A_LOSS_CPU]);
	/* libnl returns 0 for an attribute that is absent or too short */
	notice->loss.count = nla_get_u64(tb[HYPTRACE_A_LOSS_COUNT]);
	notice->loss.total = nla_get_u64(tb[HYPTRACE_A_LOSS_TOTAL]);
	return 0;
}

/* Call @fn for one message; skip messages with an unknown command. */
static int take_notice(struct nlmsghdr *nlh, hyptrace_notice_fn fn, void *arg)
{
	struct hyptrace_notice notice = {};
	int ret;

	if (!genlmsg_valid_hdr(nlh, 0))
		return 0;
	notice.cmd = genlmsg_hdr(nlh)->cmd;

	switch (notice.cmd) {
	case HYPTRACE_CMD_REMOTE_NTF:
	case HYPTRACE_CMD_REMOTE_DEL_NTF:
		ret = hyptrace_parse_remote(nlh, &notice.remote);
		break;
	case HYPTRACE_CMD_EVENT_NTF:
		ret = hyptrace_parse_event(nlh, &notice.event);
		break;
	case HYPTRACE_CMD_READER_NTF:
		ret = parse_reader(nlh, &notice);
		break;
	case HYPTRACE_CMD_LOSS_NTF:
		ret = parse_loss(nlh, &notice);
		break;
	default:
		return 0;
	}
	/* also skip a message that cannot be parsed */
	if (!ret)
		ret = fn(&notice, arg);
	else
		ret = 0;

	hyptrace_clear_remote(&notice.remote);
	hyptrace_clear_event(&notice.event);
	return ret;
}

/**
 * hyptrace_listener_read - read the notifications that have arrived
 * @listener:	the subscription
 * @fn:		called for each; a value other than 0 is the result, and the rest of the
 *		messages received with this one is dropped
 * @arg:	for @fn
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 when no more have arrived; -ENOBUFS if the kernel dropped some (call this
 * again); what @fn returned; or another negative errno.
 */
int hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notice_fn fn, void *arg,
			   struct hyptrace_error *err)
{
	for (;;) {
		struct sockaddr_nl from;
		socklen_t from_len = sizeof(from);
		struct nlmsghdr *nlh = (struct nlmsghdr *)listener->buf;
		ssize_t n = recvfrom(listener->fd, listener->buf, sizeof(listener->buf), 0,
				     (struct sockaddr *)&from, &from_len);
		int len = (int)n, ret;

		if (n < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return 0;
			if (errno == ENOBUFS)
				return hyptrace_error_set(err, ENOBUFS, "notifications were lost");
			return hyptrace_error_set(err, errno, "%s", strerror(errno));
		}
		/* any process may send to the socket: accept only the kernel's messages */
		if (from_len < sizeof(from) || from.nl_pid)
			continue;

		for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_type < NLMSG_MIN_TYPE)
				continue;
			ret = take_notice(nlh, fn, arg);
			if (ret)
				return ret;
		}
	}
}
