/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded conversation with the driver. For fake_netlink.h.
 */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include <stddef.h>

#include "fake_netlink.h"

/**
 * struct datagram - an answer
 * @data:	its bytes
 * @len:	their number
 */
struct datagram {
	unsigned char	data[4096];
	size_t		len;
};

int conversation_read(void);
void conversation_answer(const struct nlmsghdr *request);
struct datagram *conversation_find(int cmd, unsigned int nth);

#endif /* CONVERSATION_H */
