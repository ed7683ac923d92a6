// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fake kernel that answers netlink requests as the test wants.
 *
 * The program defines socket(), sendmsg() and so on, which replace those of the C library,
 * also for libnl. Each reply is a datagram. A message in it without a sequence number gets
 * that of the request. All descriptors of the program are sockets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "../../../uapi/linux/hyptrace_netlink.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define MAX_REPLIES	32
#define PORT		4711

struct reply {
	char	*data;
	size_t	len;
};

struct fake_netlink fake_netlink;

static struct reply replies[MAX_REPLIES];
static unsigned int first, nr_replies;
static uint32_t seq;
static int nr_open;

/**
 * fake_netlink_begin - begin without replies and without errors
 * @answer:	called for each request
 */
void fake_netlink_begin(void (*answer)(const struct nlmsghdr *request))
{
	while (first < nr_replies)
		free(replies[first++].data);
	first = 0;
	nr_replies = 0;
	memset(&fake_netlink, 0, sizeof(fake_netlink));
	fake_netlink.answer = answer;
	fake_netlink.group = FAKE_GROUP;
}

/**
 * fake_netlink_reply - queue a datagram for the program to receive
 * @data:	its messages
 * @len:	in bytes
 */
void fake_netlink_reply(const void *data, size_t len)
{
	struct nlmsghdr *nlh;
	struct reply *reply;
	size_t at = 0;

	if (fake_netlink_all_read())
		first = nr_replies = 0;
	if (nr_replies == MAX_REPLIES)
		abort();
	reply = &replies[nr_replies++];
	/* of exactly its size, so that ASan reports accesses beyond it */
	reply->data = alloc_surely(len);
	reply->len = len;
	memcpy(reply->data, data, len);
	while (len - at >= sizeof(*nlh)) {
		nlh = (struct nlmsghdr *)(reply->data + at);
		if (!nlh->nlmsg_seq)
			nlh->nlmsg_seq = seq;
		if (nlh->nlmsg_len < sizeof(*nlh) || NLMSG_ALIGN(nlh->nlmsg_len) > len - at)
			break;
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}
}

/**
 * fake_netlink_ack - acknowledge a request, or refuse it without a message
 * @request:	the request
 * @error:	0 or a negative errno
 */
void fake_netlink_ack(const struct nlmsghdr *request, int error)
{
	struct {
		struct nlmsghdr	nlh;
		struct nlmsgerr	err;
	} ack = {
		.nlh = { .nlmsg_len = sizeof(ack), .nlmsg_type = NLMSG_ERROR,
			 .nlmsg_flags = NLM_F_CAPPED },
		.err = { .error = error, .msg = *request },
	};

	fake_netlink_reply(&ack, sizeof(ack));
}

/**
 * fake_netlink_all_read - check whether the program has received all datagrams
 *
 * Return: true if it has.
 */
bool fake_netlink_all_read(void)
{
	return first == nr_replies;
}

/**
 * fake_netlink_nr_open - count the open sockets
 *
 * Return: the number; closing a socket that is not open counts as -1.
 */
int fake_netlink_nr_open(void)
{
	return nr_open;
}

static void *put(char **at, uint16_t type, const void *data, uint16_t len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	char *to = *at;

	memcpy(to, &attr, sizeof(attr));
	if (data)
		memcpy(to + NLA_HDRLEN, data, len);
	*at += NLA_ALIGN(attr.nla_len);
	return to;
}

static void end_nest(char *nest, const char *at)
{
	((struct nlattr *)nest)->nla_len = at - nest;
}

/* The description of the family by the kernel's controller. */
static void answer_family(const struct nlmsghdr *request)
{
	union {
		struct nlmsghdr	nlh;
		char		bytes[512];
	} m = { .nlh = { .nlmsg_type = GENL_ID_CTRL } };
	const struct genlmsghdr genl = { .cmd = CTRL_CMD_NEWFAMILY, .version = 2 };
	const uint16_t id = FAKE_FAMILY;
	const uint32_t group = fake_netlink.group;
	char *at = m.bytes + NLMSG_HDRLEN, *groups, *one;

	if (fake_netlink.no_family) {
		fake_netlink_ack(request, -ENOENT);
		return;
	}
	memcpy(at, &genl, sizeof(genl));
	at += GENL_HDRLEN;
	put(&at, CTRL_ATTR_FAMILY_NAME, HYPTRACE_FAMILY_NAME, sizeof(HYPTRACE_FAMILY_NAME));
	put(&at, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	groups = put(&at, CTRL_ATTR_MCAST_GROUPS, NULL, 0);
	one = put(&at, 1, NULL, 0);
	put(&at, CTRL_ATTR_MCAST_GRP_ID, &group, sizeof(group));
	put(&at, CTRL_ATTR_MCAST_GRP_NAME, HYPTRACE_MCGRP_NOTIFY, sizeof(HYPTRACE_MCGRP_NOTIFY));
	end_nest(one, at);
	end_nest(groups, at);
	m.nlh.nlmsg_len = at - m.bytes;
	fake_netlink_reply(&m, m.nlh.nlmsg_len);
	fake_netlink_ack(request, 0);
}

static int failed(int errnum)
{
	errno = errnum;
	return errnum ? -1 : 0;
}

int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK)
		return failed(EAFNOSUPPORT);
	fake_netlink.type = type;
	fake_netlink.protocol = protocol;
	if (fake_netlink.socket_errno)
		return failed(fake_netlink.socket_errno);
	nr_open++;
	return fake_netlink.fd;
}

int close(int fd)
{
	(void)fd;
	nr_open--;
	return 0;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd;
	(void)addr;
	(void)len;
	return failed(fake_netlink.bind_errno);
}

int getsockname(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	const struct sockaddr_nl name = { .nl_family = AF_NETLINK, .nl_pid = PORT };

	(void)fd;
	memcpy(addr, &name, sizeof(name));
	*len = sizeof(name);
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd;
	(void)len;
	if (level == SOL_NETLINK && name == NETLINK_EXT_ACK)
		fake_netlink.ext_ack = *(const int *)value;
	if (level == SOL_SOCKET && name == SO_RCVBUF)
		fake_netlink.receive_buffer = *(const int *)value;
	if (level != SOL_NETLINK || name != NETLINK_ADD_MEMBERSHIP)
		return 0;
	fake_netlink.joined = *(const int *)value;
	return failed(fake_netlink.join_errno);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct iovec *iov = msg->msg_iov;
	const struct nlmsghdr *nlh = iov->iov_base;

	(void)fd;
	(void)flags;
	seq = nlh->nlmsg_seq;
	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		answer_family(nlh);
		return iov->iov_len;
	}
	if (fake_netlink.send_errno)
		return failed(fake_netlink.send_errno);
	fake_netlink.nr_sent++;
	memcpy(&fake_netlink.sent, nlh, iov->iov_len);
	fake_netlink.answer(&fake_netlink.sent.nlh);
	return iov->iov_len;
}

static ssize_t receive(void *to, size_t size, int flags, void *name, socklen_t *name_len)
{
	const struct sockaddr_nl from = { .nl_family = AF_NETLINK, .nl_pid = fake_netlink.from };
	struct reply *reply = &replies[first];
	size_t len;

	if (flags & MSG_OOB)
		return failed(EOPNOTSUPP);
	if (fake_netlink.recv_errno)
		return failed(fake_netlink.recv_errno);
	/* fail here: a real call would wait forever */
	if (first == nr_replies) {
		fake_netlink.nr_waits++;
		return failed(EAGAIN);
	}
	len = reply->len < size ? reply->len : size;
	memcpy(to, reply->data, len);
	*name_len = sizeof(from) - fake_netlink.short_address;
	memcpy(name, &from, *name_len);
	if (flags & MSG_TRUNC)
		len = reply->len;
	if (!(flags & MSG_PEEK)) {
		free(reply->data);
		first++;
	}
	return len;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	(void)fd;
	msg->msg_flags = 0;
	msg->msg_controllen = 0;
	return receive(msg->msg_iov->iov_base, msg->msg_iov->iov_len, flags, msg->msg_name,
		       &msg->msg_namelen);
}

ssize_t recvfrom(int fd, void *restrict to, size_t size, int flags, struct sockaddr *restrict from,
		 socklen_t *restrict len)
{
	(void)fd;
	return receive(to, size, flags, from, len);
}
