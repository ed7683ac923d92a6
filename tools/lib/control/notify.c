// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive the driver's notifications on a separate socket. The socket is read directly:
 * libnl reports lost notifications (ENOBUFS) as "out of memory".
 */
#include <sys/socket.h>
#include <sys/utsname.h>

#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "message.h"

/* Room for a burst of notifications in the kernel, and for one message here. */
#define SOCKET_BUFFER	(1 << 20)
#define MESSAGE_BUFFER	(1 << 16)

struct hyptrace_listener {
	int	fd;
	char	buf[MESSAGE_BUFFER] __attribute__((aligned(8)));
};

/* Before Linux 6.9 the driver looks for listeners only when a request comes. */
static void make_request(struct hyptrace *h)
{
	struct hyptrace_remote **remotes;
	struct utsname name;
	unsigned int major, minor, nr;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2 ||
	    major > 6 || (major == 6 && minor >= 9))
		return;
	if (!hyptrace_get_remotes(h, &remotes, &nr, NULL))
		hyptrace_free_remotes(remotes);
}

/**
 * hyptrace_listener_open - subscribe to the notifications
 * @h:		a connection, to look up the group
 * @err:	the reason if it fails; may be NULL
 * Return: the subscription, or NULL.
 */
struct hyptrace_listener *hyptrace_listener_open(struct hyptrace *h, struct hyptrace_error *err)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct hyptrace_listener *listener;
	int group = hyptrace_nl_group(h);
	int size = SOCKET_BUFFER;

	if (group <= 0)
		return hyptrace_error_null(hyptrace_error_set(err, ENOENT,
							      "there are no notifications"));

	listener = malloc(sizeof(*listener));
	if (!listener)
		return hyptrace_error_null(hyptrace_error_memory(err));

	listener->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
	if (listener->fd < 0)
		goto fail;
	setsockopt(listener->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	/* it then forgets the losses so far */
	make_request(h);
	if (bind(listener->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(listener->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		goto fail;
	make_request(h);
	return listener;

fail:
	hyptrace_error_set(err, errno, errno == EPERM || errno == EACCES ?
			   "permission denied: notifications need CAP_SYS_ADMIN" : "%m");
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
 * Return: the descriptor; readable when there are notifications.
 */
int hyptrace_listener_fd(const struct hyptrace_listener *listener)
{
	return listener->fd;
}

#define MESSAGE(cmd, type, member, of)	\
	{ HYPTRACE_CMD_##cmd##_NTF, HYPTRACE_NOTIFICATION_##type, \
	  offsetof(struct hyptrace_notification, member), &hyptrace_##of##_type }

static const struct {
	uint8_t			cmd;
	uint8_t			type;	/* enum hyptrace_notification_type */
	uint16_t		offset;	/* of the pointer in a notification */
	const struct nl_type	*of;
} messages[] = {
	MESSAGE(REMOTE, REMOTE, remote, remote),
	MESSAGE(REMOTE_DEL, REMOTE_GONE, remote, remote),
	MESSAGE(TRIGGER, TRIGGER, remote, remote),
	MESSAGE(EVENT, EVENT, event, event),
	MESSAGE(READER, READER, reader, reader),
	MESSAGE(LOSS, LOSS, loss, loss),
};

/* Deliver a message; skip one that cannot be parsed, or with an unknown command. */
static int deliver(struct nlmsghdr *nlh, hyptrace_notification_fn fn, void *arg)
{
	struct hyptrace_notification notification = {};
	unsigned int i = 0;
	int ret = 0;
	void *item;

	if (!genlmsg_valid_hdr(nlh, 0))
		return 0;
	while (messages[i].cmd != genlmsg_hdr(nlh)->cmd)
		if (++i == COUNT(messages))
			return 0;
	item = calloc(1, messages[i].of->size);
	notification.type = messages[i].type;
	*(void **)((char *)&notification + messages[i].offset) = item;
	if (item && !hyptrace_nl_parse(messages[i].of, nlh, item))
		ret = fn(&notification, arg);
	hyptrace_nl_free(messages[i].of, item);
	return ret;
}

/**
 * hyptrace_listener_read - read the notifications that have arrived
 * @listener:	the subscription
 * @fn:		called for each; a value other than 0 is the result, and the rest of the
 *		messages received with this one is dropped
 * @arg:	for @fn
 * @err:	the reason if it fails; may be NULL
 * Return: 0 when no more have arrived; -ENOBUFS if the kernel dropped some (call this
 * again); what @fn returned; or another negative errno.
 */
int hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notification_fn fn,
			   void *arg, struct hyptrace_error *err)
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
			return hyptrace_error_set(err, errno, errno == ENOBUFS ?
						  "notifications were lost" : "%m");
		}
		/* any process may send to the socket: accept only the kernel's messages */
		if (from_len < sizeof(from) || from.nl_pid)
			continue;

		for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_type < NLMSG_MIN_TYPE)
				continue;
			ret = deliver(nlh, fn, arg);
			if (ret)
				return ret;
		}
	}
}
