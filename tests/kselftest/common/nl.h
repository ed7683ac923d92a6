/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw generic netlink without a library: a test chooses every byte of a message, and
 * so can send malformed ones. For the kselftest programs.
 */
#ifndef __NL_H
#define __NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

#define NL_MSG_SIZE	(64 * 1024)
#define NL_ANSWER_SIZE	(256 * 1024)

/**
 * struct nl - a socket for the family's requests or notifications
 * @fd:		the socket
 * @seq:	number of the last request
 * @family:	id of the family
 * @group:	id of its multicast group "notify"
 * @room:	size of the receive buffer in bytes
 */
struct nl {
	int		fd;
	uint32_t	seq;
	uint16_t	family;
	uint32_t	group;
	size_t		room;
};

/* A request under construction */
struct nl_msg {
	union {
		struct nlmsghdr	hdr;
		char		bytes[NL_MSG_SIZE];
	};
};

/**
 * struct nl_answer - the kernel's answer to a request
 * @message:	the extack message, empty if there is none
 * @offset:	offset of the wrong attribute in the request; 0 if none
 * @missing:	type of the missing attribute; 0 if none
 * @len:	bytes in @data
 * @nr:		messages in @data
 * @data:	the messages, one after another, with sequence number and port id set to 0
 */
struct nl_answer {
	char		message[256];
	uint32_t	offset;
	uint32_t	missing;
	size_t		len;
	unsigned int	nr;
	char		data[NL_ANSWER_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

int nl_open(struct nl *nl);
int nl_open_room(struct nl *nl, size_t room);
int nl_open_port(struct nl *nl, uint32_t port);
void nl_close(struct nl *nl);

void nl_begin(struct nl_msg *msg, const struct nl *nl, uint8_t cmd);
void nl_put(struct nl_msg *msg, uint16_t type, const void *data, size_t len);
void nl_put_u8(struct nl_msg *msg, uint16_t type, uint8_t value);
void nl_put_u32(struct nl_msg *msg, uint16_t type, uint32_t value);
void nl_put_u64(struct nl_msg *msg, uint16_t type, uint64_t value);
void nl_put_str(struct nl_msg *msg, uint16_t type, const char *value);
uint32_t nl_nest_begin(struct nl_msg *msg, uint16_t type);
void nl_nest_end(struct nl_msg *msg, uint32_t at);

int nl_do(struct nl *nl, struct nl_msg *msg, struct nl_answer *answer);
int nl_dump(struct nl *nl, struct nl_msg *msg, struct nl_answer *answer);

bool nl_parts_are_whole(struct nl_msg *msg, const struct nl_answer *answer);

int nl_join(struct nl *nl);
const struct nlmsghdr *nl_notification(struct nl *nl, int timeout_ms);

const struct nlmsghdr *nl_first(const struct nl_answer *answer);
const struct nlmsghdr *nl_next(const struct nl_answer *answer, const struct nlmsghdr *hdr);
uint8_t nl_cmd(const struct nlmsghdr *hdr);
const struct nlattr *nl_attr(const struct nlmsghdr *hdr, uint16_t type);
const struct nlattr *nl_attr_next(const struct nlmsghdr *hdr, const struct nlattr *attr,
				  uint16_t type);
const struct nlattr *nl_nested(const struct nlattr *nest, uint16_t type);
const void *nl_data(const struct nlattr *attr);
uint32_t nl_u32(const struct nlattr *attr);
uint64_t nl_u64(const struct nlattr *attr);
const char *nl_str(const struct nlattr *attr);

#endif /* __NL_H */
