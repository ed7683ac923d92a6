// SPDX-License-Identifier: GPL-2.0-only
/* Raw generic netlink: see nl.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/hyptrace_netlink.h>

#include "nl.h"

/* A request without an answer fails after this time instead of blocking the test. */
#define ANSWER_TIMEOUT_S	20

static char received[256 * 1024] __attribute__((aligned(NLMSG_ALIGNTO)));

static void put_header(struct nl_msg *msg, uint16_t type, uint8_t cmd, uint8_t version)
{
	struct genlmsghdr *genl = NLMSG_DATA(&msg->hdr);

	memset(msg, 0, NLMSG_SPACE(GENL_HDRLEN));
	msg->hdr.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg->hdr.nlmsg_type = type;
	genl->cmd = cmd;
	genl->version = version;
}

void nl_begin(struct nl_msg *msg, const struct nl *nl, uint8_t cmd)
{
	put_header(msg, nl->family, cmd, HYPTRACE_FAMILY_VERSION);
}

void nl_put(struct nl_msg *msg, uint16_t type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)(msg->bytes + NLMSG_ALIGN(msg->hdr.nlmsg_len));

	if ((char *)attr + NLA_HDRLEN + NLA_ALIGN(len) > msg->bytes + sizeof(msg->bytes)) {
		fprintf(stderr, "# the request is too long for the test\n");
		abort();
	}
	memset(attr, 0, NLA_HDRLEN + NLA_ALIGN(len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->hdr.nlmsg_len = (char *)attr + NLA_HDRLEN + NLA_ALIGN(len) - msg->bytes;
}

void nl_put_u8(struct nl_msg *msg, uint16_t type, uint8_t value)
{
	nl_put(msg, type, &value, sizeof(value));
}

void nl_put_u32(struct nl_msg *msg, uint16_t type, uint32_t value)
{
	nl_put(msg, type, &value, sizeof(value));
}

void nl_put_u64(struct nl_msg *msg, uint16_t type, uint64_t value)
{
	nl_put(msg, type, &value, sizeof(value));
}

void nl_put_str(struct nl_msg *msg, uint16_t type, const char *value)
{
	nl_put(msg, type, value, strlen(value) + 1);
}

/* Begin a nest; return where it begins in the message, for nl_nest_end(). */
uint32_t nl_nest_begin(struct nl_msg *msg, uint16_t type)
{
	uint32_t at = NLMSG_ALIGN(msg->hdr.nlmsg_len);

	nl_put(msg, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nl_nest_end(struct nl_msg *msg, uint32_t at)
{
	struct nlattr *nest = (void *)(msg->bytes + at);

	nest->nla_len = msg->hdr.nlmsg_len - at;
}

const void *nl_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

uint32_t nl_u32(const struct nlattr *attr)
{
	uint32_t value = UINT32_MAX;

	if (attr && attr->nla_len == NLA_HDRLEN + sizeof(value))
		memcpy(&value, nl_data(attr), sizeof(value));
	return value;
}

uint64_t nl_u64(const struct nlattr *attr)
{
	uint64_t value = UINT64_MAX;

	if (attr && attr->nla_len == NLA_HDRLEN + sizeof(value))
		memcpy(&value, nl_data(attr), sizeof(value));
	return value;
}

const char *nl_str(const struct nlattr *attr)
{
	if (!attr || attr->nla_len <= NLA_HDRLEN ||
	    ((const char *)attr)[attr->nla_len - 1])
		return "";
	return nl_data(attr);
}

/* Find the first attribute of that type between @at and @end. */
static const struct nlattr *find(const void *at, const void *end, uint16_t type)
{
	const struct nlattr *attr = at;

	while ((const char *)attr + NLA_HDRLEN <= (const char *)end &&
	       attr->nla_len >= NLA_HDRLEN &&
	       (const char *)attr + attr->nla_len <= (const char *)end) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		attr = (const void *)((const char *)attr + NLA_ALIGN(attr->nla_len));
	}
	return NULL;
}

static const void *end_of(const struct nlmsghdr *hdr)
{
	return (const char *)hdr + hdr->nlmsg_len;
}

const struct nlattr *nl_attr(const struct nlmsghdr *hdr, uint16_t type)
{
	return hdr ? find((const char *)hdr + NLMSG_LENGTH(GENL_HDRLEN), end_of(hdr), type) : NULL;
}

const struct nlattr *nl_attr_next(const struct nlmsghdr *hdr, const struct nlattr *attr,
				  uint16_t type)
{
	return find((const char *)attr + NLA_ALIGN(attr->nla_len), end_of(hdr), type);
}

const struct nlattr *nl_nested(const struct nlattr *nest, uint16_t type)
{
	return nest ? find(nl_data(nest), (const char *)nest + nest->nla_len, type) : NULL;
}

uint8_t nl_cmd(const struct nlmsghdr *hdr)
{
	return ((const struct genlmsghdr *)NLMSG_DATA((struct nlmsghdr *)hdr))->cmd;
}

const struct nlmsghdr *nl_first(const struct nl_answer *answer)
{
	return answer->len ? (const void *)answer->data : NULL;
}

const struct nlmsghdr *nl_next(const struct nl_answer *answer, const struct nlmsghdr *hdr)
{
	const char *next = (const char *)hdr + NLMSG_ALIGN(hdr->nlmsg_len);

	return next < answer->data + answer->len ? (const void *)next : NULL;
}

static void keep(struct nl_answer *answer, const struct nlmsghdr *hdr)
{
	struct nlmsghdr *copy = (void *)(answer->data + answer->len);
	size_t len = NLMSG_ALIGN(hdr->nlmsg_len);

	if (answer->len + len > sizeof(answer->data)) {
		fprintf(stderr, "# the answer is too long for the test\n");
		abort();
	}
	memset(copy, 0, len);
	memcpy(copy, hdr, hdr->nlmsg_len);
	copy->nlmsg_seq = 0;
	copy->nlmsg_pid = 0;
	answer->len += len;
	answer->nr++;
}

/* Read the errno and the extack attributes of an error or of the end of a dump. */
static int verdict(struct nl_answer *answer, const struct nlmsghdr *hdr)
{
	const char *at = NLMSG_DATA((struct nlmsghdr *)hdr);
	const struct nlattr *attr;
	int error;

	if (hdr->nlmsg_len < NLMSG_LENGTH(sizeof(error)))
		return hdr->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	memcpy(&error, at, sizeof(error));
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return error;

	if (hdr->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *err = (const void *)at;

		at += sizeof(*err);
		if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
			at += NLMSG_ALIGN(err->msg.nlmsg_len - NLMSG_HDRLEN);
	} else {
		at += NLA_ALIGN(sizeof(error));
	}
	attr = find(at, end_of(hdr), NLMSGERR_ATTR_MSG);
	if (attr)
		snprintf(answer->message, sizeof(answer->message), "%s", nl_str(attr));
	attr = find(at, end_of(hdr), NLMSGERR_ATTR_OFFS);
	if (attr)
		answer->offset = nl_u32(attr);
	attr = find(at, end_of(hdr), NLMSGERR_ATTR_MISS_TYPE);
	if (attr)
		answer->missing = nl_u32(attr);
	return error;
}

static int transact(struct nl *nl, struct nl_msg *msg, uint16_t flags, struct nl_answer *answer)
{
	const struct nlmsghdr *hdr;
	ssize_t len;

	answer->message[0] = 0;
	answer->offset = 0;
	answer->missing = 0;
	answer->len = 0;
	answer->nr = 0;

	msg->hdr.nlmsg_flags = NLM_F_REQUEST | flags;
	msg->hdr.nlmsg_seq = ++nl->seq;
	if (send(nl->fd, msg, msg->hdr.nlmsg_len, 0) != (ssize_t)msg->hdr.nlmsg_len)
		return -errno;

	for (;;) {
		len = recv(nl->fd, received, nl->room, MSG_TRUNC);
		if (len < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (len > (ssize_t)nl->room)
			return -EMSGSIZE;
		for (hdr = (void *)received; NLMSG_OK(hdr, len); hdr = NLMSG_NEXT(hdr, len)) {
			if (hdr->nlmsg_seq != nl->seq)
				continue;
			if (hdr->nlmsg_type == NLMSG_ERROR || hdr->nlmsg_type == NLMSG_DONE)
				return verdict(answer, hdr);
			keep(answer, hdr);
		}
		/* bytes that are no message */
		if (len > 0)
			return -EBADMSG;
	}
}

/**
 * nl_do - send a request, wait for its answer and its acknowledgment
 * @nl:		the socket
 * @msg:	the request
 * @answer:	filled in
 *
 * Return: 0 or a negative errno, from the kernel's answer or from the socket. -EBADMSG: the answer
 * has a message of an error, but no error.
 */
int nl_do(struct nl *nl, struct nl_msg *msg, struct nl_answer *answer)
{
	return transact(nl, msg, NLM_F_ACK, answer) ?: answer->message[0] ? -EBADMSG : 0;
}

/**
 * nl_dump - send a request for a dump, wait for all of its messages
 * @nl:		the socket
 * @msg:	the request
 * @answer:	filled in
 *
 * Return: 0 or a negative errno; -EBADMSG if something is not a message.
 */
int nl_dump(struct nl *nl, struct nl_msg *msg, struct nl_answer *answer)
{
	return transact(nl, msg, NLM_F_DUMP | NLM_F_ACK, answer);
}

/*
 * A small receive buffer for these messages. A part of a dump of events may be some times as
 * long as the longest of them, which may have a list of all functions of EL2.
 */
static size_t room_for(const struct nl_answer *answer)
{
	const struct nlmsghdr *hdr;
	size_t room = 4096;

	for (hdr = nl_first(answer); hdr; hdr = nl_next(answer, hdr)) {
		while (4 * hdr->nlmsg_len > room)
			room *= 2;
	}
	return room;
}

/**
 * nl_parts_are_whole - repeat a dump with receive buffers of many sizes, which make its parts
 * @msg:	the request; its family is that of any socket
 * @answer:	the whole dump
 *
 * If no message is longer than 1 KB, the first part ends at each attribute of its last message.
 *
 * Return: true if each dump in parts has the same messages.
 */
bool nl_parts_are_whole(struct nl_msg *msg, const struct nl_answer *answer)
{
	static struct nl_answer parts;
	const size_t first = room_for(answer), last = first + first / 4;
	const size_t step = first / 4096 * NLA_ALIGNTO;
	bool same = true;
	struct nl nl;

	if (nl_open_room(&nl, first))
		return false;
	for (; same && nl.room < last && nl.room < sizeof(received); nl.room += step)
		same = !nl_dump(&nl, msg, &parts) && parts.len == answer->len &&
		       !memcmp(parts.data, answer->data, answer->len);
	nl_close(&nl);
	return same;
}

static int resolve(struct nl *nl)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	const struct nlattr *groups, *group;
	int err;

	put_header(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	nl_put_str(&msg, CTRL_ATTR_FAMILY_NAME, HYPTRACE_FAMILY_NAME);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	if (!nl_attr(nl_first(&answer), CTRL_ATTR_FAMILY_ID))
		return -EBADMSG;
	memcpy(&nl->family, nl_data(nl_attr(nl_first(&answer), CTRL_ATTR_FAMILY_ID)),
	       sizeof(nl->family));
	groups = nl_attr(nl_first(&answer), CTRL_ATTR_MCAST_GROUPS);
	/* The family has one group. The kernel numbers groups from 1. */
	group = nl_nested(groups, 1);
	if (strcmp(nl_str(nl_nested(group, CTRL_ATTR_MCAST_GRP_NAME)), HYPTRACE_MCGRP_NOTIFY))
		return -EBADMSG;
	nl->group = nl_u32(nl_nested(group, CTRL_ATTR_MCAST_GRP_ID));
	return 0;
}

static int open_socket(struct nl *nl, size_t room, uint32_t port)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = port };
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int on = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->room = room < sizeof(received) ? room : sizeof(received);
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	if (setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    bind(nl->fd, (const struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else
		err = resolve(nl);
	if (err)
		nl_close(nl);
	return err;
}

/**
 * nl_open_room - open a socket and look up the family
 * @nl:		filled in
 * @room:	size of the receive buffer: the kernel splits dumps into parts of that size
 *
 * Return: 0 or a negative errno; -ENOENT if there is no such family.
 */
int nl_open_room(struct nl *nl, size_t room)
{
	return open_socket(nl, room, 0);
}

/**
 * nl_open_port - open a socket with this port, and look up the family
 * @nl:		filled in
 * @port:	the port
 *
 * Return: 0 or a negative errno.
 */
int nl_open_port(struct nl *nl, uint32_t port)
{
	return open_socket(nl, sizeof(received), port);
}

int nl_open(struct nl *nl)
{
	return nl_open_room(nl, sizeof(received));
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
	nl->fd = -1;
}

/**
 * nl_join - subscribe to the family's notifications
 * @nl:		a socket that sends no requests
 *
 * Return: 0 or a negative errno.
 */
int nl_join(struct nl *nl)
{
	if (setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group, sizeof(nl->group)))
		return -errno;
	return 0;
}

/**
 * nl_notification - receive the next notification
 * @nl:		a socket after nl_join()
 * @timeout_ms:	how long to wait for it
 *
 * Return: the message, valid until the next call into this file, or NULL after the timeout.
 */
const struct nlmsghdr *nl_notification(struct nl *nl, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = nl->fd, .events = POLLIN };
	ssize_t len;

	if (poll(&poll_fd, 1, timeout_ms) != 1)
		return NULL;
	len = recv(nl->fd, received, sizeof(received), 0);
	return len > 0 && NLMSG_OK((struct nlmsghdr *)received, len) ? (void *)received : NULL;
}
