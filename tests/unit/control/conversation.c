// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recorded conversation with the driver, from data/conversation.txt. A request that is in it
 * gets the recorded answer, any other request gets none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "conversation.h"

#define MAX_EXCHANGES	16
#define MAX_LINE	(2 * sizeof(((struct datagram *)NULL)->data) + 16)

struct exchange {
	struct datagram	request;
	struct datagram	answer;
};

static struct exchange exchanges[MAX_EXCHANGES];
static unsigned int nr;

static int read_hex(struct datagram *to, const char *text)
{
	unsigned int byte;

	for (to->len = 0; sscanf(text, "%2x", &byte) == 1; text += 2) {
		if (to->len == sizeof(to->data))
			return -1;
		to->data[to->len++] = byte;
	}
	return 0;
}

/**
 * conversation_read - read the file
 *
 * Return: the number of requests in it, or -1.
 */
int conversation_read(void)
{
	char line[MAX_LINE];
	FILE *f = fopen(DATA "/conversation.txt", "r");
	int bad = 0;

	if (!f)
		return -1;
	nr = 0;
	while (fgets(line, sizeof(line), f) && nr < MAX_EXCHANGES && !bad) {
		if (line[0] == '>')
			bad = read_hex(&exchanges[nr++].request, line + 2);
		else if (line[0] == '<' && nr)
			bad = read_hex(&exchanges[nr - 1].answer, line + 2);
	}
	fclose(f);
	return bad ? -1 : (int)nr;
}

/* Compare without the sequence number and the port, which differ in each run. */
static int same_request(const struct datagram *then, const struct nlmsghdr *now)
{
	struct datagram copy = { .len = now->nlmsg_len };
	struct nlmsghdr *nlh = (struct nlmsghdr *)copy.data;

	if (now->nlmsg_len != ((const struct nlmsghdr *)then->data)->nlmsg_len)
		return 0;
	memcpy(copy.data, now, now->nlmsg_len);
	nlh->nlmsg_seq = 0;
	nlh->nlmsg_pid = 0;
	return !memcmp(copy.data, then->data, now->nlmsg_len);
}

/**
 * conversation_answer - send the driver's recorded answer
 * @request:	a request
 */
void conversation_answer(const struct nlmsghdr *request)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (same_request(&exchanges[i].request, request))
			fake_netlink_reply(exchanges[i].answer.data, exchanges[i].answer.len);
}

/**
 * conversation_find - find an answer, for the test to change it
 * @cmd:	command of the request
 * @nth:	which request with that command, from 0
 *
 * Return: the answer, or NULL.
 */
struct datagram *conversation_find(int cmd, unsigned int nth)
{
	const struct genlmsghdr *genl;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		genl = (const void *)(exchanges[i].request.data + NLMSG_HDRLEN);
		if (genl->cmd == cmd && !nth--)
			return &exchanges[i].answer;
	}
	return NULL;
}
