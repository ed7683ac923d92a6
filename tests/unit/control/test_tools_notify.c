// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of notifications.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <cmocka.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/internal.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

static struct hyptrace *h;
static struct hyptrace_listener *listener;
/* A copy of a notification, of which only what has a name here is looked at */
static struct seen {
	uint32_t				type;
	char					name[HYPTRACE_EVENT_NAME_MAX + 1];
	struct hyptrace_reader_notification	reader;
	struct hyptrace_loss_notification	loss;
	char					fired[HYPTRACE_EVENT_NAME_MAX + 1];
	uint64_t				notified;
} seen[8];

static struct hyptrace_error err;

/* Of the kernel; NULL: it is not known */
static const char *release = "6.9.0";

int __wrap_uname(struct utsname *name);

int __wrap_uname(struct utsname *name)
{
	if (!release)
		return -1;
	strcpy(name->release, release);
	return 0;
}

static void grant(const struct nlmsghdr *request)
{
	fake_netlink_ack(request, 0);
}

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	fake_netlink_begin(grant);
	h = hyptrace_open(&err);
	listener = h ? hyptrace_listener_open(h, &err) : NULL;
	return listener ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_listener_close(listener);
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static unsigned int nr_seen;
static int verdict;

static int see(const struct hyptrace_notification *notification, void *arg)
{
	struct seen *to = &seen[nr_seen];

	assert_ptr_equal(arg, &nr_seen);
	assert_in_range(nr_seen, 0, 7);
	assert_int_equal(!!notification->remote + !!notification->event + !!notification->reader +
			 !!notification->loss, 1);
	memset(to, 0, sizeof(*to));
	to->type = notification->type;
	if (notification->type == HYPTRACE_NOTIFICATION_REMOTE)
		assert_string_equal(notification->remote->description, "of a test");
	if (notification->remote) {
		strcpy(to->name, notification->remote->name);
		strcpy(to->fired, notification->remote->fired[0].event);
		to->notified = notification->remote->notified;
	}
	if (notification->event)
		strcpy(to->name, notification->event->name);
	if (notification->reader)
		to->reader = *notification->reader;
	if (notification->loss)
		to->loss = *notification->loss;
	nr_seen++;
	return verdict;
}

static int take(void)
{
	nr_seen = 0;
	return hyptrace_listener_read(listener, see, &nr_seen, &err);
}

/* A notification; the caller adds attributes and has it received. */
static struct nl_msg *notification(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, 0, 0, FAKE_FAMILY, 0, 0, cmd, 1);
	return msg;
}

static void arrive(struct nl_msg *msg)
{
	fake_netlink_reply(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

static void loss(uint64_t count)
{
	struct nl_msg *msg = notification(HYPTRACE_CMD_LOSS_NTF);

	nla_put_string(msg, HYPTRACE_A_LOSS_REMOTE, "test");
	nla_put_u32(msg, HYPTRACE_A_LOSS_CPU, 2);
	nla_put_u64(msg, HYPTRACE_A_LOSS_COUNT, count);
	nla_put_u64(msg, HYPTRACE_A_LOSS_TOTAL, UINT64_C(1) << 33);
	arrive(msg);
}

static void notifications(void **state)
{
	struct nlattr *fired;
	struct nl_msg *msg;

	(void)state;
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 0);

	msg = notification(HYPTRACE_CMD_REMOTE_NTF);
	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "test");
	nla_put_string(msg, HYPTRACE_A_REMOTE_DESCRIPTION, "of a test");
	arrive(msg);
	msg = notification(HYPTRACE_CMD_REMOTE_DEL_NTF);
	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "gone");
	arrive(msg);
	msg = notification(HYPTRACE_CMD_EVENT_NTF);
	nla_put_string(msg, HYPTRACE_A_EVENT_NAME, "hyp_enter");
	nla_put_string(msg, HYPTRACE_A_EVENT_PRINT_FMT, "\"\"");
	arrive(msg);
	msg = notification(HYPTRACE_CMD_READER_NTF);
	nla_put_string(msg, HYPTRACE_A_READER_REMOTE, "test");
	nla_put_u32(msg, HYPTRACE_A_READER_CPU, 1);
	nla_put_u32(msg, HYPTRACE_A_READER_CHANGE, 2);
	nla_put_u32(msg, HYPTRACE_A_READER_PID, 77);
	arrive(msg);
	loss(9);
	msg = notification(HYPTRACE_CMD_TRIGGER_NTF);
	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "fires");
	fired = nla_nest_start(msg, HYPTRACE_A_REMOTE_FIRED);
	nla_put_string(msg, HYPTRACE_A_FIRED_EVENT, "selftest");
	nla_nest_end(msg, fired);
	arrive(msg);
	msg = notification(HYPTRACE_CMD_TRIGGER_NTF);
	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "counts");
	nla_put_u64(msg, HYPTRACE_A_REMOTE_NOTIFIED, UINT64_C(1) << 33);
	arrive(msg);
	/* of a newer driver */
	arrive(notification(200));

	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 7);
	assert_int_equal(seen[0].type, HYPTRACE_NOTIFICATION_REMOTE);
	assert_string_equal(seen[0].name, "test");
	assert_int_equal(seen[1].type, HYPTRACE_NOTIFICATION_REMOTE_GONE);
	assert_string_equal(seen[1].name, "gone");
	assert_int_equal(seen[2].type, HYPTRACE_NOTIFICATION_EVENT);
	assert_string_equal(seen[2].name, "hyp_enter");
	assert_int_equal(seen[3].type, HYPTRACE_NOTIFICATION_READER);
	assert_string_equal(seen[3].reader.remote, "test");
	assert_int_equal(seen[3].reader.cpu, 1);
	assert_int_equal(seen[3].reader.change, 2);
	assert_int_equal(seen[3].reader.pid, 77);
	assert_int_equal(seen[4].type, HYPTRACE_NOTIFICATION_LOSS);
	assert_string_equal(seen[4].loss.remote, "test");
	assert_int_equal(seen[4].loss.cpu, 2);
	assert_int_equal(seen[4].loss.count, 9);
	assert_true(seen[4].loss.total == UINT64_C(1) << 33);
	assert_int_equal(seen[5].type, HYPTRACE_NOTIFICATION_TRIGGER);
	assert_string_equal(seen[5].name, "fires");
	assert_string_equal(seen[5].fired, "selftest");
	assert_int_equal(seen[5].notified, 0);
	assert_int_equal(seen[6].type, HYPTRACE_NOTIFICATION_TRIGGER);
	assert_string_equal(seen[6].name, "counts");
	assert_string_equal(seen[6].fired, "");
	assert_true(seen[6].notified == UINT64_C(1) << 33);

	/* what they say nothing of is 0 */
	arrive(notification(HYPTRACE_CMD_LOSS_NTF));
	arrive(notification(HYPTRACE_CMD_READER_NTF));
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 2);
	assert_string_equal(seen[0].loss.remote, "");
	assert_int_equal(seen[0].loss.count, 0);
	assert_int_equal(seen[0].loss.total, 0);
	assert_int_equal(seen[1].reader.pid, 0);
	/* but without a CPU the reader has attached to all */
	assert_int_equal(seen[1].reader.cpu, HYPTRACE_CPU_ALL);
}

/* Several in a datagram, with what is not of the family between. */
static void in_one_datagram(void **state)
{
	struct nl_msg *msg = notification(HYPTRACE_CMD_LOSS_NTF);
	const size_t one = nlmsg_hdr(msg)->nlmsg_len;
	char datagram[1024];
	struct nlmsghdr *nlh = (struct nlmsghdr *)datagram;

	(void)state;
	nla_put_string(msg, HYPTRACE_A_LOSS_REMOTE, "test");
	memcpy(datagram, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
	nlh = (struct nlmsghdr *)(datagram + NLMSG_ALIGN(nlh->nlmsg_len));
	memcpy(nlh, datagram, one);
	nlh->nlmsg_type = NLMSG_NOOP;
	nlh->nlmsg_len = one;
	nlh = (struct nlmsghdr *)((char *)nlh + one);
	memcpy(nlh, datagram, one);
	nlh->nlmsg_len = one;
	/* no header of the family, and one that is longer than what is there */
	nlh = (struct nlmsghdr *)((char *)nlh + one);
	memcpy(nlh, datagram, NLMSG_HDRLEN);
	nlh->nlmsg_len = NLMSG_HDRLEN;
	nlh = (struct nlmsghdr *)((char *)nlh + NLMSG_HDRLEN);
	memcpy(nlh, datagram, one);
	nlh->nlmsg_len = one + 4;
	fake_netlink_reply(datagram, (char *)nlh + one - datagram);
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 2);
	assert_string_equal(seen[0].loss.remote, "test");
	assert_string_equal(seen[1].loss.remote, "");

	/* the first one that is not wanted ends it, and what came along is dropped */
	fake_netlink_reply(datagram, (char *)nlh + one - datagram);
	loss(5);
	verdict = 17;
	assert_int_equal(take(), 17);
	assert_int_equal(nr_seen, 1);
	verdict = 0;
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen[0].loss.count, 5);
}

/* What the callback returns is the result, whatever the notification says. */
static void results(void **state)
{
	static const int cmds[] = {
		HYPTRACE_CMD_REMOTE_NTF, HYPTRACE_CMD_REMOTE_DEL_NTF, HYPTRACE_CMD_EVENT_NTF,
		HYPTRACE_CMD_READER_NTF, HYPTRACE_CMD_LOSS_NTF, HYPTRACE_CMD_TRIGGER_NTF,
	};
	struct nl_msg *msg;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		msg = notification(cmds[i]);
		if (cmds[i] == HYPTRACE_CMD_REMOTE_NTF)
			nla_put_string(msg, HYPTRACE_A_REMOTE_DESCRIPTION, "of a test");
		if (cmds[i] == HYPTRACE_CMD_EVENT_NTF)
			nla_put_string(msg, HYPTRACE_A_EVENT_PRINT_FMT, "\"\"");
		arrive(msg);
		verdict = -17;
		assert_int_equal(take(), -17);
		verdict = 0;
		assert_int_equal(nr_seen, 1);
	}
}

/* Types below the least that a family may have are of netlink itself. */
static void least_type(void **state)
{
	struct nl_msg *msg;
	uint16_t type;

	(void)state;
	for (type = NLMSG_MIN_TYPE - 1; type <= NLMSG_MIN_TYPE; type++) {
		msg = notification(HYPTRACE_CMD_LOSS_NTF);
		nlmsg_hdr(msg)->nlmsg_type = type;
		arrive(msg);
		assert_int_equal(take(), 0);
		assert_int_equal(nr_seen, type == NLMSG_MIN_TYPE);
	}
}

/* The most that is read at once; at its end a message without a header of the family. */
static void full_datagram(void **state)
{
	static union {
		struct nlmsghdr	nlh;
		char		bytes[1 << 16];
	} datagram;
	struct nlmsghdr *end;

	(void)state;
	datagram.nlh.nlmsg_type = NLMSG_NOOP;
	datagram.nlh.nlmsg_len = sizeof(datagram) - NLMSG_HDRLEN;
	end = (struct nlmsghdr *)(datagram.bytes + datagram.nlh.nlmsg_len);
	end->nlmsg_type = FAKE_FAMILY;
	end->nlmsg_len = NLMSG_HDRLEN;
	/* the sanitizer watches the end */
	fake_netlink_reply(&datagram, sizeof(datagram));
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 0);
}

static void empty_datagram(void **state)
{
	(void)state;
	fake_netlink_reply("", 0);
	loss(1);
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 1);
}

static void not_of_the_kernel(void **state)
{
	(void)state;
	loss(1);
	fake_netlink.from = 1234;
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 0);
	fake_netlink.from = 0;
	loss(2);
	fake_netlink.short_address = 1;
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 0);
	fake_netlink.short_address = 0;
	loss(3);
	assert_int_equal(take(), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen[0].loss.count, 3);
}

static void reading_fails(void **state)
{
	(void)state;
	fake_netlink.recv_errno = EINTR;
	assert_int_equal(take(), 0);
	fake_netlink.recv_errno = ENOBUFS;
	assert_int_equal(take(), -ENOBUFS);
	assert_string_equal(err.text, "notifications were lost");
	fake_netlink.recv_errno = EIO;
	assert_int_equal(take(), -EIO);
	assert_string_equal(err.text, strerror(EIO));
}

/* A notification without memory for it is passed over. */
static void no_memory_for_a_notification(void **state)
{
	static const int cmds[] = { HYPTRACE_CMD_REMOTE_NTF, HYPTRACE_CMD_EVENT_NTF };
	/* a remote, its description and clock; an event, its print format, a field of it */
	static const unsigned int places[] = { 1 + 2, 1 + 1 + 4 };
	unsigned int nth, i;
	bool failed;
	int ret;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (failed = true, nth = 1; failed; nth++) {
			struct nl_msg *msg = notification(cmds[i]);
			struct nlattr *field;

			if (!i)
				nla_put_string(msg, HYPTRACE_A_REMOTE_DESCRIPTION, "of a test");
			/* which the driver does not send with it */
			field = i ? nla_nest_start(msg, HYPTRACE_A_EVENT_FIELD) : NULL;
			if (field) {
				nla_put_string(msg, HYPTRACE_A_FIELD_NAME, "x");
				nla_nest_end(msg, field);
			}
			arrive(msg);
			fail_alloc(nth);
			ret = take();
			failed = fail_alloc_end();
			assert_int_equal(ret, 0);
			assert_int_equal(nr_seen, !failed);
		}
		assert_int_equal(nth - 2, places[i]);
	}
}

static void no_memory_to_subscribe(void **state)
{
	bool failed;
	unsigned int nth;

	(void)state;
	for (failed = true, nth = 1; failed; nth++) {
		struct hyptrace_listener *other;

		memset(&err, 0, sizeof(err));
		fail_alloc(nth);
		other = hyptrace_listener_open(h, &err);
		failed = fail_alloc_end();
		assert_int_equal(!other, failed);
		assert_int_equal(err.errnum, failed ? ENOMEM : 0);
		hyptrace_listener_close(other);
	}
	assert_int_equal(nth - 2, 1);
}

static void not_subscribed(void **state)
{
	(void)state;
	assert_int_equal(fake_netlink.joined, FAKE_GROUP);
	assert_int_equal(fake_netlink.type, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_int_equal(fake_netlink.protocol, NETLINK_GENERIC);
	assert_int_equal(fake_netlink.receive_buffer, 1 << 20);
	hyptrace_listener_close(NULL);

	fake_netlink.join_errno = EPERM;
	assert_null(hyptrace_listener_open(h, &err));
	assert_int_equal(err.errnum, EPERM);
	assert_non_null(strstr(err.text, "CAP_SYS_ADMIN"));
	fake_netlink.join_errno = EACCES;
	assert_null(hyptrace_listener_open(h, &err));
	assert_non_null(strstr(err.text, "CAP_SYS_ADMIN"));
	fake_netlink.join_errno = 0;
	fake_netlink.bind_errno = ENOMEM;
	assert_null(hyptrace_listener_open(h, &err));
	assert_int_equal(err.errnum, ENOMEM);
	assert_string_equal(err.text, strerror(ENOMEM));
	fake_netlink.socket_errno = EMFILE;
	assert_null(hyptrace_listener_open(h, &err));
	assert_int_equal(err.errnum, EMFILE);
	fake_netlink.socket_errno = 0;
	fake_netlink.bind_errno = 0;
	fake_netlink.no_family = true;
	assert_null(hyptrace_listener_open(h, &err));
	assert_int_equal(err.errnum, ENOENT);
	assert_string_equal(err.text, "there are no notifications");
}

static void descriptors(void **state)
{
	struct hyptrace_listener *other;

	(void)state;
	/* the least that there may be */
	assert_int_equal(hyptrace_listener_fd(listener), 0);
	fake_netlink.fd = 5;
	other = hyptrace_listener_open(h, &err);
	assert_non_null(other);
	assert_int_equal(hyptrace_listener_fd(other), 5);
	assert_int_equal(fake_netlink_nr_open(), 3);
	hyptrace_listener_close(other);
	assert_int_equal(fake_netlink_nr_open(), 2);
}

/* Groups are numbered from 1 on. */
static void least_group(void **state)
{
	(void)state;
	hyptrace_listener_close(listener);
	listener = NULL;
	fake_netlink.group = 0;
	assert_null(hyptrace_listener_open(h, &err));
	assert_int_equal(err.errnum, ENOENT);
	fake_netlink.group = 1;
	listener = hyptrace_listener_open(h, &err);
	assert_non_null(listener);
	assert_int_equal(fake_netlink.joined, 1);
}

static unsigned int nr_before;

static void count_before(const struct nlmsghdr *request)
{
	nr_before += !fake_netlink.joined;
	fake_netlink_ack(request, 0);
}

/* Old kernels need a request before and after: it makes them look for listeners. */
static void old_kernels(void **state)
{
	static const struct {
		const char	*release;
		unsigned int	nr;
	} kernels[] = {
		{ "5.15.0-generic", 2 }, { "6.1", 2 }, { "6.8.12", 2 }, { "6.9.0-rc1", 0 },
		{ "6.10.3", 0 }, { "7.0", 0 }, { "6", 0 }, { NULL, 0 },
	};
	unsigned int i;

	(void)state;
	fake_netlink.answer = count_before;
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		hyptrace_listener_close(listener);
		fake_netlink.joined = 0;
		fake_netlink.nr_sent = 0;
		nr_before = 0;
		release = kernels[i].release;
		listener = hyptrace_listener_open(h, &err);
		assert_non_null(listener);
		assert_int_equal(fake_netlink.nr_sent, kernels[i].nr);
		assert_int_equal(nr_before, kernels[i].nr / 2);
	}
	release = "6.9.0";
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(notifications), TEST(in_one_datagram), TEST(results), TEST(least_type),
		TEST(full_datagram), TEST(empty_datagram), TEST(not_of_the_kernel),
		TEST(reading_fails),
		TEST(no_memory_for_a_notification), TEST(no_memory_to_subscribe),
		TEST(not_subscribed), TEST(descriptors), TEST(least_group),
		TEST(old_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
