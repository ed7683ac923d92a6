// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection to the driver: a recorded conversation, and errors in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/control/message.h"
#include "conversation.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define EXCHANGES	6
/* as in the library: how often an interrupted dump is tried */
#define DUMP_TRIES	8

static struct hyptrace *h;
static struct hyptrace_error err;

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	fake_netlink_begin(conversation_answer);
	h = hyptrace_open(&err);
	return conversation_read() == EXCHANGES && h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_close(h);
	h = NULL;
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static void opened(void **state)
{
	(void)state;
	assert_int_equal(fake_netlink.ext_ack, 1);
	assert_int_equal(hyptrace_nl_group(h), FAKE_GROUP);
	assert_int_equal(fake_netlink.nr_sent, 0);
	hyptrace_close(NULL);
}

static void not_opened(int errnum, const char *text)
{
	assert_null(hyptrace_open(&err));
	assert_int_equal(err.errnum, errnum);
	assert_non_null(strstr(err.text, text));
	assert_null(hyptrace_open(NULL));
}

static void no_driver(void **state)
{
	(void)state;
	fake_netlink.no_family = true;
	not_opened(ENOENT, "the driver is not loaded");
	assert_true(hyptrace_nl_group(h) < 0);
	fake_netlink.no_family = false;
	fake_netlink.socket_errno = EMFILE;
	not_opened(EPROTONOSUPPORT, "cannot open a netlink socket");
}

static void no_memory_to_open(void **state)
{
	struct hyptrace *other;
	bool failed = true;
	unsigned int nth;

	(void)state;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		other = hyptrace_open(&err);
		failed = fail_alloc_end();
		assert_int_equal(!other, failed);
		if (failed)
			assert_int_equal(err.errnum, ENOMEM);
		hyptrace_close(other);
	}
	assert_int_equal(nth, 3 + 2);
}

static void remotes(void **state)
{
	struct hyptrace_remote **r;
	unsigned int nr;

	(void)state;
	assert_int_equal(hyptrace_get_remotes(h, &r, &nr, &err), 0);
	assert_string_equal(err.text, "");
	assert_int_equal(nr, 2);
	assert_string_equal(r[0]->name, "hypervisor");
	assert_string_equal(r[0]->description, "the pKVM hypervisor, protected from this kernel");
	assert_string_equal(r[0]->clock, "boot");
	assert_int_equal(r[0]->state, HYPTRACE_STATE_UNLOADED);
	assert_int_equal(r[0]->mode, HYPTRACE_MODE_OVERWRITE);
	assert_int_equal(r[0]->size_requested, 1 << 20);
	assert_int_equal(r[0]->size_allocated, 0);
	assert_int_equal(r[0]->nr_subbufs, 0);
	assert_int_equal(r[0]->nr_cpus, 2);
	assert_int_equal(r[0]->nr_events, 3);
	assert_int_equal(r[0]->readers, 0);
	assert_true(r[0]->is_protected);
	assert_string_equal(r[1]->name, "test");
	assert_int_equal(r[1]->state, HYPTRACE_STATE_TRACING);
	assert_int_equal(r[1]->mode, HYPTRACE_MODE_DISCARD);
	assert_int_equal(r[1]->size_requested, 65536);
	assert_int_equal(r[1]->size_allocated, 65536);
	assert_int_equal(r[1]->subbuf_size, 4096);
	assert_int_equal(r[1]->nr_subbufs, 17);
	assert_false(r[1]->is_protected);
	hyptrace_free_remotes(r);
	assert_int_equal(fake_netlink.nr_sent, 1);
	assert_true(fake_netlink_all_read());
}

static void cpus(void **state)
{
	struct hyptrace_cpu **c;
	unsigned int nr;

	(void)state;
	assert_int_equal(hyptrace_get_cpus(h, "test", &c, &nr, &err), 0);
	assert_int_equal(nr, 2);
	assert_string_equal(c[1]->remote, "test");
	assert_int_equal(c[0]->id, 0);
	assert_int_equal(c[1]->id, 1);
	assert_int_equal(c[1]->state, HYPTRACE_CPU_STATE_ATTACHED);
	assert_int_equal(c[1]->nr_subbufs, 17);
	assert_true(c[1]->online);
	assert_int_equal(c[0]->written, 5);
	assert_int_equal(c[0]->read, 5);
	assert_int_equal(c[1]->written, 99999);
	assert_int_equal(c[1]->read, 0);
	assert_int_equal(c[1]->overrun, 0);
	assert_int_equal(c[1]->dropped, 96735);
	assert_int_equal(c[1]->unread, 3264);
	assert_int_equal(c[1]->consumer, 0);
	hyptrace_free_cpus(c);
}

static void events(void **state)
{
	struct hyptrace_event **e;
	unsigned int nr;

	(void)state;
	assert_int_equal(hyptrace_get_events(h, "hypervisor", &e, &nr, &err), 0);
	assert_int_equal(nr, 3);
	assert_string_equal(e[0]->remote, "hypervisor");
	assert_string_equal(e[0]->name, "hyp_enter");
	assert_int_equal(e[0]->id, 1);
	assert_int_equal(e[0]->size, 8);
	assert_false(e[0]->enabled);
	assert_non_null(strstr(e[0]->print_fmt, "\"reason=%s vcpu=%d\""));
	assert_int_equal(e[0]->nr_fields, 2);
	assert_string_equal(e[0]->fields[0]->name, "reason");
	assert_string_equal(e[0]->fields[0]->type, "u8");
	assert_int_equal(e[0]->fields[0]->offset, 2);
	assert_int_equal(e[0]->fields[0]->size, 1);
	assert_int_equal(e[0]->fields[0]->nr_symbols, 9);
	assert_int_equal(e[0]->fields[0]->symbols[5]->value, 5);
	assert_string_equal(e[0]->fields[0]->symbols[5]->name, "guest_exit");
	assert_string_equal(e[0]->fields[1]->name, "vcpu");
	assert_true(e[0]->fields[1]->is_signed);
	assert_false(e[0]->fields[0]->is_signed);
	assert_string_equal(e[2]->name, "selftest");
	hyptrace_free_events(e);
	assert_int_equal(hyptrace_get_events(h, "test", &e, &nr, &err), 0);
	assert_true(e[2]->enabled);
	hyptrace_free_events(e);
}

static void refused(void **state)
{
	const struct hyptrace_settings settings = { .changes = HYPTRACE_SETTING_RATE, .rate = 5 };

	(void)state;
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_SET, "hypervisor", HYPTRACE_CPU_ALL,
					  &settings, &err), -EOPNOTSUPP);
	assert_int_equal(err.errnum, EOPNOTSUPP);
	assert_string_equal(err.text, "remote \"hypervisor\" has no rate");
	assert_string_equal(err.subject, "");
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_SET, "hypervisor", HYPTRACE_CPU_ALL,
					  &settings, NULL), -EOPNOTSUPP);
	assert_true(fake_netlink_all_read());
}

/* Make one of the dumps and free its result. */
static int dump(unsigned int which, unsigned int *nr)
{
	struct hyptrace_remote **r = NULL;
	struct hyptrace_event **e = NULL;
	struct hyptrace_cpu **c = NULL;
	int ret;

	*nr = 99;
	switch (which) {
	case 0:
		ret = hyptrace_get_remotes(h, &r, nr, &err);
		hyptrace_free_remotes(r);
		break;
	case 1:
		ret = hyptrace_get_cpus(h, "test", &c, nr, &err);
		hyptrace_free_cpus(c);
		break;
	default:
		ret = hyptrace_get_events(h, "hypervisor", &e, nr, &err);
		hyptrace_free_events(e);
		break;
	}
	if (ret)
		assert_int_equal(*nr, 0);
	return ret;
}

static struct datagram *answer_of(unsigned int which)
{
	static const struct {
		int		cmd;
		unsigned int	nth;
	} answers[] = {
		{ HYPTRACE_CMD_REMOTE_GET, 0 }, { HYPTRACE_CMD_CPU_GET, 1 },
		{ HYPTRACE_CMD_EVENT_GET, 0 },
	};

	return conversation_find(answers[which].cmd, answers[which].nth);
}

static void no_memory(void **state)
{
	/*
	 * The request: its memory, its header, the remote's name. The list, and for each item its
	 * place there and itself. A remote has two strings, an event one, a field two, a symbol
	 * one; the nine symbols of a field get their places in four steps, the three events
	 * in two.
	 */
	static const unsigned int places[] = {
		2 + 1 + 2 * 4, 3 + 1 + 2 * 2, 3 + 1 + 2 + 3 * 2 + 5 * 4 + 2 * (4 + 9 * 2),
	};
	unsigned int which, nth, nr;
	bool failed;
	int ret;

	(void)state;
	for (which = 0; which < 3; which++) {
		for (failed = true, nth = 1; failed; nth++) {
			fail_alloc(nth);
			ret = dump(which, &nr);
			failed = fail_alloc_end();
			assert_int_equal(ret, failed ? -ENOMEM : 0);
			if (failed) {
				assert_int_equal(err.errnum, ENOMEM);
				assert_string_equal(err.text, "out of memory");
			}
			memset(&err, 0, sizeof(err));
			/* the rest of the answer must not be left for the next request */
			assert_true(fake_netlink_all_read());
		}
		assert_int_equal(nth - 2, places[which]);
	}
}

/* With missing or wrong bytes the dump must end, must not leak, and must describe any error. */
static void malformed(void **state)
{
	unsigned int which, nr, errors = 0;
	struct datagram good, *answer;
	uint32_t len;
	size_t i;
	int ret;

	(void)state;
	for (which = 0; which < 3; which++) {
		answer = answer_of(which);
		good = *answer;
		for (i = 0; i < good.len; i++) {
			answer->data[i] = ~good.data[i];
			ret = dump(which, &nr);
			answer->data[i] = good.data[i];
			if (ret)
				assert_int_equal(err.errnum, -ret);
			errors += !!ret;
			fake_netlink_begin(conversation_answer);
		}
		/* a first message that is shorter, and is the only one */
		memcpy(&len, good.data, sizeof(len));
		for (i = 1; i < len; i++) {
			answer->len = i;
			((struct nlmsghdr *)answer->data)->nlmsg_len = i;
			ret = dump(which, &nr);
			assert_int_not_equal(ret, 0);
			assert_true(strlen(err.text) > 0);
			fake_netlink_begin(conversation_answer);
		}
		*answer = good;
		assert_int_equal(dump(which, &nr), 0);
	}
	assert_true(errors > 0);
}

/* A message without the family's header, and another error at the end of the dump. */
static void answer_half_a_message(const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr	bad;
		struct nlmsghdr	end;
		int		error;
	} answer = {
		.bad = { .nlmsg_len = NLMSG_HDRLEN, .nlmsg_type = FAKE_FAMILY },
		.end = { .nlmsg_len = NLMSG_HDRLEN + sizeof(int), .nlmsg_type = NLMSG_DONE },
		.error = -ENODEV,
	};

	(void)request;
	answer.bad.nlmsg_flags = NLM_F_MULTI;
	answer.end.nlmsg_flags = NLM_F_MULTI;
	fake_netlink_reply(&answer, sizeof(answer));
}

static void bad_message(void **state)
{
	unsigned int which, nr;

	(void)state;
	fake_netlink_begin(answer_half_a_message);
	for (which = 0; which < 3; which++) {
		assert_int_equal(dump(which, &nr), -EBADMSG);
		assert_int_equal(err.errnum, EBADMSG);
		assert_string_equal(err.text, "the kernel's answer makes no sense");
		memset(&err, 0, sizeof(err));
	}
}

/* A CPU without attributes, and a regular end of the dump. */
static void answer_nothing(const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr		nlh;
		struct genlmsghdr	genl;
		struct nlmsghdr		end;
		int			error;
	} answer = {
		.nlh = { .nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN, .nlmsg_type = FAKE_FAMILY },
		.end = { .nlmsg_len = NLMSG_HDRLEN + sizeof(int), .nlmsg_type = NLMSG_DONE },
	};

	(void)request;
	answer.nlh.nlmsg_flags = NLM_F_MULTI;
	answer.end.nlmsg_flags = NLM_F_MULTI;
	fake_netlink_reply(&answer, sizeof(answer));
}

static void nothing_said(void **state)
{
	static const struct hyptrace_cpu nothing;
	struct hyptrace_cpu **c;
	unsigned int nr;

	(void)state;
	fake_netlink_begin(answer_nothing);
	assert_int_equal(hyptrace_get_cpus(h, "test", &c, &nr, &err), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(c[0]->remote, "");
	assert_memory_equal(c[0], &nothing, sizeof(nothing));
	hyptrace_free_cpus(c);
}

/* A late answer must not be taken for the answer to the next request. */
static void stale_answer(void **state)
{
	struct datagram *answer = answer_of(2);
	unsigned int nr;

	(void)state;
	((struct nlmsghdr *)answer->data)->nlmsg_seq = 1;
	fake_netlink_reply(answer->data, answer->len);
	assert_int_equal(dump(0, &nr), 0);
	assert_int_equal(nr, 2);
	fake_netlink.recv_errno = ENOBUFS;
	assert_int_equal(dump(0, &nr), -EIO);
	fake_netlink.recv_errno = 0;
	assert_int_equal(dump(1, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(fake_netlink_all_read());
}

static unsigned int interruptions;
static bool at_the_end, in_parts;
static uint32_t seq_before;

/*
 * Mark a message as interrupted: either the one that ends the dump, or the first one, after which
 * a second datagram may have the rest.
 */
static void answer_interrupted(const struct nlmsghdr *request)
{
	struct datagram *answer = answer_of(0), good = *answer;
	struct nlmsghdr *nlh = (struct nlmsghdr *)answer->data;

	/*
	 * Each request needs a new number, so that the rest of an answer is not taken for the
	 * next answer.
	 */
	assert_int_not_equal(request->nlmsg_seq, seq_before);
	seq_before = request->nlmsg_seq;
	while (at_the_end && nlh->nlmsg_type != NLMSG_DONE)
		nlh = (struct nlmsghdr *)((char *)nlh + NLMSG_ALIGN(nlh->nlmsg_len));
	if (interruptions) {
		interruptions--;
		nlh->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
	if (in_parts) {
		fake_netlink_reply(nlh, NLMSG_ALIGN(nlh->nlmsg_len));
		fake_netlink_reply(answer->data + NLMSG_ALIGN(nlh->nlmsg_len),
				   answer->len - NLMSG_ALIGN(nlh->nlmsg_len));
	} else {
		conversation_answer(request);
	}
	*answer = good;
}

static void interrupted(void **state)
{
	unsigned int nr, round;

	(void)state;
	for (round = 0; round < 3; round++) {
		at_the_end = round == 1;
		in_parts = round == 2;
		fake_netlink_begin(answer_interrupted);
		interruptions = DUMP_TRIES - 1;
		assert_int_equal(dump(0, &nr), 0);
		assert_int_equal(nr, 2);
		assert_int_equal(fake_netlink.nr_sent, DUMP_TRIES);

		fake_netlink_begin(answer_interrupted);
		interruptions = 1000;
		assert_int_equal(dump(0, &nr), -EAGAIN);
		assert_int_equal(err.errnum, EAGAIN);
		assert_int_equal(fake_netlink.nr_sent, DUMP_TRIES);
		interruptions = 0;
	}
}

/* An unrequested message of an interrupted dump, and an ack. */
static void answer_too_much(const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr	nlh;
		struct nlmsghdr	ack;
		struct nlmsgerr	err;
	} answer = {
		.nlh = { .nlmsg_len = NLMSG_HDRLEN, .nlmsg_type = FAKE_FAMILY,
			 .nlmsg_flags = NLM_F_DUMP_INTR },
		.ack = { .nlmsg_len = NLMSG_HDRLEN + sizeof(struct nlmsgerr),
			 .nlmsg_type = NLMSG_ERROR, .nlmsg_flags = NLM_F_CAPPED },
		.err = { .msg = *request },
	};

	fake_netlink_reply(&answer, sizeof(answer));
}

static void interrupted_without_a_dump(void **state)
{
	(void)state;
	fake_netlink_begin(answer_too_much);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_START, "test", HYPTRACE_CPU_ALL, NULL,
					  &err), -EAGAIN);
	assert_int_equal(err.errnum, EAGAIN);
}

static int error_of_dump;

/* A dump that ends with an ack, not with a message of type NLMSG_DONE. */
static void answer_within(const struct nlmsghdr *request)
{
	struct nlmsghdr *first = (struct nlmsghdr *)answer_of(0)->data;

	/* the flag would make libnl wait for NLMSG_DONE */
	first->nlmsg_flags |= NLM_F_MULTI;
	fake_netlink_reply(first, NLMSG_ALIGN(first->nlmsg_len));
	fake_netlink_ack(request, error_of_dump);
}

static void socket_fails(void **state)
{
	unsigned int nr;

	(void)state;
	fake_netlink.send_errno = ENOBUFS;
	assert_int_equal(dump(0, &nr), -EIO);
	assert_non_null(strstr(err.text, "the netlink socket failed"));
	fake_netlink.send_errno = 0;
	fake_netlink.recv_errno = ENOBUFS;
	assert_int_equal(dump(0, &nr), -EIO);
}

/* The library must not wait for more messages, and must drop what came before an error. */
static void answered(void **state)
{
	unsigned int nr;

	(void)state;
	fake_netlink_begin(answer_within);
	error_of_dump = 0;
	assert_int_equal(dump(0, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(fake_netlink.nr_waits, 0);
	error_of_dump = -ENODEV;
	assert_int_equal(dump(0, &nr), -ENODEV);
	assert_string_equal(err.text, strerror(ENODEV));
	assert_int_equal(fake_netlink.nr_waits, 0);
}

/* Answer with an error message that is cut off. */
static void answer_half_an_error(const struct nlmsghdr *request)
{
	struct nlmsghdr nlh = { .nlmsg_len = NLMSG_HDRLEN + 4, .nlmsg_type = NLMSG_ERROR };
	char bytes[NLMSG_HDRLEN + 4] = {};

	(void)request;
	memcpy(bytes, &nlh, sizeof(nlh));
	fake_netlink_reply(bytes, sizeof(bytes));
}

static void half_an_error(void **state)
{
	(void)state;
	fake_netlink_begin(answer_half_an_error);
	assert_true(hyptrace_control(h, HYPTRACE_CMD_START, "test", HYPTRACE_CPU_ALL, NULL,
				     &err) < 0);
	assert_true(strlen(err.text) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opened), TEST(no_driver), TEST(no_memory_to_open), TEST(remotes), TEST(cpus),
		TEST(events), TEST(refused), TEST(no_memory), TEST(malformed), TEST(bad_message),
		TEST(nothing_said), TEST(stale_answer), TEST(interrupted),
		TEST(interrupted_without_a_dump), TEST(socket_fails), TEST(answered),
		TEST(half_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
