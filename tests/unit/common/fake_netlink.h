/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake kernel that answers netlink requests as the test wants. It gets the socket calls of
 * libnl and of libhyptrace.
 */
#ifndef FAKE_NETLINK_H
#define FAKE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

/* The numbers of the family and of its group, as in data/conversation.txt */
#define FAKE_FAMILY	0x14
#define FAKE_GROUP	0x0e

/**
 * struct fake_netlink - the behaviour of the fake kernel, and what it has received
 * @answer:	called for each request, except those for the family
 * @socket_errno, @bind_errno, @join_errno: error of a call; 0: it succeeds
 * @send_errno, @recv_errno: error of a call; 0: it succeeds
 * @from:	port of the sender of the datagrams; the kernel's port is 0
 * @short_address: by how many bytes the sender's address is too short
 * @no_family:	the driver is not loaded
 * @group:	number of the family's group
 * @fd:		descriptor of the next sockets
 * @nr_sent:	number of requests, except those for the family
 * @nr_waits:	how often the program has received when there was no datagram
 * @sent:	the last request
 * @joined:	the group joined last
 * @ext_ack:	1 if the program has requested extended acks
 * @type, @protocol, @receive_buffer: properties of the last socket
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
