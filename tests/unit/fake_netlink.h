/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel that answers netlink requests as a test tells it. The socket calls of
 * libnl and of libhyptrace come here.
 */
#ifndef FAKE_NETLINK_H
#define FAKE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

/* The family's number and the group's, as in data/conversation.txt */
#define FAKE_FAMILY	0x14
#define FAKE_GROUP	0x0e

/**
 * struct fake_netlink - what the kernel does, and what it saw
 * @answer:	called for each request but those for the family
 * @socket_errno, @bind_errno, @join_errno: why a call fails; 0: it does not
 * @send_errno, @recv_errno: the same
 * @from:	port of the sender of what is received; the kernel's is 0
 * @short_address: bytes that the sender's address is too short
 * @no_family:	the driver is not loaded
 * @group:	number of the family's group
 * @fd:		descriptor of the sockets that are opened next
 * @nr_sent:	requests but those for the family
 * @nr_waits:	how often there was nothing to receive
 * @sent:	the last of them
 * @joined:	the group that was joined last
 * @ext_ack:	extended acks were asked for: 1
 * @type, @protocol, @receive_buffer: of the last socket
 */
struct fake_netlink {
	void		(*answer)(const struct nlmsghdr *request);
	int		socket_errno;
	int		bind_errno;
	int		join_errno;
	int		send_errno;
	int		recv_errno;
	uint32_t	from;
	size_t		short_address;
	bool		no_family;
	uint32_t	group;
	int		fd;
	unsigned int	nr_sent;
	unsigned int	nr_waits;
	union {
		struct nlmsghdr	nlh;
		char		bytes[1 << 16];
	} sent;
	int		joined;
	int		ext_ack;
	int		type;
	int		protocol;
	int		receive_buffer;
};

extern struct fake_netlink fake_netlink;

void fake_netlink_begin(void (*answer)(const struct nlmsghdr *request));
void fake_netlink_reply(const void *data, size_t len);
void fake_netlink_ack(const struct nlmsghdr *request, int error);
bool fake_netlink_all_read(void);
int fake_netlink_nr_open(void);

#endif /* FAKE_NETLINK_H */
