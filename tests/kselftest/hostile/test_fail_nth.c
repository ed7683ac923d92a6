// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each operation of the driver with each fault: the first allocation, or copy from or to user
 * space, fails, then the second, and so on until none is left. An operation that fails has changed
 * nothing, and does so with an errno that is documented. One that does not fail has done all. No
 * change stays unnoticed: who listens gets each notification, or ENOBUFS. Afterwards nothing is
 * held, and the memory of the kernel is what it was. The log of the kernel must have no warning.
 *
 * HYPTRACE_FAULT_ROUNDS (2) is how often all of that is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/genetlink.h>

#include "kselftest_harness.h"
#include "fail_nth.h"
#include "fault.h"
#include "filter.h"
#include "free_memory.h"
#include "page.h"
#include "remotes.h"
#include "refuse.h"

#define RING_SIZE	(16 * PAGE)
#define ROUNDS		2
#define PATIENCE_S	600
#define PATIENCE_MS	10000
/* Far more than any operation needs */
#define MOST_FAULTS	5000
#define SLACK_KB	512
#define UNHEARD		(-1)

/* The states after a reset, and after the operation without faults */
static struct snapshot fresh, expected;

FIXTURE(fail_nth) {
	struct nl nl;
	struct nl listener;
	struct fail_nth f;
	unsigned int nr_faults;
};

FIXTURE_VARIANT(fail_nth) {
	const char *remote;
};

FIXTURE_VARIANT_ADD(fail_nth, hypervisor) { .remote = "hypervisor" };
FIXTURE_VARIANT_ADD(fail_nth, test) { .remote = "test" };

FIXTURE_SETUP(fail_nth)
{
	if (!fault_init(true))
		SKIP(return, "this kernel cannot inject faults");
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->listener));
	ASSERT_EQ(0, nl_join(&self->listener));
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
	ASSERT_EQ(0, snapshot_of_any_load(&self->nl, &fresh));
	self->f = (struct fail_nth) {
		.nl = &self->nl, .remote = variant->remote, .fd = -1, .pipes = { -1, -1 },
	};
}

FIXTURE_TEARDOWN(fail_nth)
{
	fault_end();
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->listener);
	nl_close(&self->nl);
}

/* Count the notifications that have come, without those of losses. */
static int heard(struct nl *listener)
{
	static char received[64 * 1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	int nr = 0;
	ssize_t n;

	while ((n = recv(listener->fd, received, sizeof(received), MSG_DONTWAIT)) != 0) {
		if (n < 0 && errno == ENOBUFS)
			nr = UNHEARD;
		else if (n < 0)
			break;
		else if (nr != UNHEARD && nl_cmd((void *)received) != HYPTRACE_CMD_LOSS_NTF)
			nr++;
	}
	return nr;
}

static void undo(struct fail_nth *f)
{
	unsigned int i;

	if (f->map)
		munmap(f->map, f->map_size);
	f->map = NULL;
	close(f->fd);
	f->fd = -1;
	for (i = 0; i < 2; i++) {
		close(f->pipes[i]);
		f->pipes[i] = -1;
	}
	nl_close(&f->own);
}

/* What a socket has held is released soon, but not at once. */
static bool is_fresh(struct fail_nth *f)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS; ms++) {
		if (!control_fresh(f->nl, f->remote) && !snapshot_of_any_load(f->nl, &after) &&
		    snapshot_equal(&fresh, &after))
			return true;
		usleep(1000);
	}
	return false;
}

static bool is_listed(const struct fail_op *op, int err)
{
	unsigned int i;

	for (i = 0; i < FAIL_MAX_ERRORS; i++)
		if (op->errors[i] && op->errors[i] == -err)
			return true;
	return false;
}

/**
 * struct outcome - what an operation has done
 * @ret:	what it has returned
 * @failed:	whether something has failed in it
 * @heard:	number of notifications, or UNHEARD
 * @wrong:	what is wrong with what it has left behind, or NULL
 */
struct outcome {
	int		ret;
	bool		failed;
	int		heard;
	const char	*wrong;
};

/* Do it once: @before and @after are then the states before and after it. */
static int try(struct fail_nth *f, struct nl *listener, unsigned int nth, struct outcome *outcome)
{
	int err = nl_open(&f->own) ?: f->op->prepare(f) ?: snapshot_of_any_load(f->nl, &before);

	if (err)
		return err;
	heard(listener);
	fault_begin(nth);
	outcome->ret = f->op->act(f);
	outcome->failed = fault_end();
	outcome->heard = heard(listener);
	err = snapshot_of_any_load(f->nl, &after);
	outcome->wrong = f->op->check ? f->op->check(f, outcome->ret) : NULL;
	undo(f);
	return err;
}

/* Return what is wrong with an operation in which something has failed, or NULL. */
static const char *judge(const struct fail_op *op, const struct outcome *usual,
			 const struct outcome *outcome)
{
	const bool is_before = snapshot_equal(&before, &after);
	const bool is_done = snapshot_equal(&expected, &after);

	if (outcome->wrong)
		return outcome->wrong;
	if (op->takes && (outcome->ret >= 0 || outcome->ret == -EFAULT))
		return NULL;
	if (outcome->ret != usual->ret && !is_listed(op, outcome->ret))
		return "the errno is not documented";
	if (outcome->ret == usual->ret && !is_done)
		return "it is not done";
	if (outcome->ret == usual->ret || (is_done && !is_before)) {
		if (outcome->ret != usual->ret && outcome->ret != -EFAULT &&
		    outcome->ret != -ENOBUFS)
			return "it has failed, but is done";
		if (outcome->heard != usual->heard && outcome->heard != UNHEARD)
			return "a notification is missing";
		return NULL;
	}
	return is_before ? NULL : "it has failed half way";
}

static void sweep(struct __test_metadata *_metadata, struct _test_data_fail_nth *self,
		  const struct fail_op *op)
{
	struct outcome usual = {}, outcome;
	struct fail_nth *f = &self->f;
	unsigned int nth;

	f->op = op;
	ASSERT_TRUE(is_fresh(f)) TH_LOG("%s: something is left of the one before", op->name);
	ASSERT_EQ(0, try(f, &self->listener, 0, &usual)) TH_LOG("%s", op->name);
	ASSERT_EQ(NULL, usual.wrong) TH_LOG("%s: %s", op->name, usual.wrong);
	expected = after;
	for (nth = 1; nth < MOST_FAULTS; nth++) {
		const char *wrong;

		ASSERT_TRUE(is_fresh(f)) TH_LOG("%s, fault %u: something is left", op->name,
						nth - 1);
		ASSERT_EQ(0, try(f, &self->listener, nth, &outcome)) TH_LOG("%s", op->name);
		wrong = judge(op, &usual, &outcome);
		EXPECT_EQ(NULL, wrong) TH_LOG("%s, fault %u: %s (%d, usually %d)", op->name, nth,
					      wrong, outcome.ret, usual.ret);
		if (!outcome.failed)
			break;
		self->nr_faults++;
	}
	EXPECT_LT(nth, MOST_FAULTS) TH_LOG("%s: there is no end", op->name);
}

static int prepare_fresh(struct fail_nth *f)
{
	return 0;
}

static int prepare_loaded(struct fail_nth *f)
{
	return control_load(f->nl, f->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE);
}

/* It is tracing, events have a filter, and there are unread ones. */
static int prepare_tracing(struct fail_nth *f)
{
	return control_ready(f->nl, f->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE) ?:
	       filter_enable_id(f->nl, f->remote, 7) ?:
	       control_mark(f->nl, f->remote, 0, 5, 5);
}

/* The socket holds an event. */
static int act_hold(struct fail_nth *f)
{
	const struct filter_term term = FILTER_TERM("id", EQ, 8);

	nl_begin(&msg, &f->own, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, f->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "id == 8", &term, 1, NULL);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	return nl_do(&f->own, &msg, &answer);
}

static int prepare_held(struct fail_nth *f)
{
	return prepare_tracing(f) ?: act_hold(f);
}

static int act_release(struct fail_nth *f)
{
	return control(&f->own, HYPTRACE_CMD_EVENT_RELEASE, f->remote);
}

static int act_filter(struct fail_nth *f)
{
	const struct filter_term term = FILTER_TERM("id", EQ, 9);

	nl_begin(&msg, &f->own, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, f->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "id == 9", &term, 1, NULL);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, 2);
	return nl_do(&f->own, &msg, &answer);
}

static int act_larger(struct fail_nth *f)
{
	return control_set_size(&f->own, f->remote, 4 * RING_SIZE);
}

static int act_smaller(struct fail_nth *f)
{
	return control_set_size(&f->own, f->remote, RING_SIZE / 4);
}

static int act_rate(struct fail_nth *f)
{
	return control_set_rate(&f->own, f->remote, 1);
}

static int act_join(struct fail_nth *f)
{
	return nl_join(&f->own);
}

static int act_operation(struct fail_nth *f)
{
	const struct operation *op = f->op->request;
	uint32_t offsets[ATTRIBUTES_MAX];

	return request(&f->own, op->cmd, op->dump, op->attrs, f->remote, offsets);
}

#define REQUEST_ERRORS	{ ENOMEM, ENOBUFS, EFAULT }

static const struct fail_op change_ops[] = {
	{ "resize to more", prepare_tracing, act_larger, NULL, REQUEST_ERRORS },
	{ "resize to less", prepare_tracing, act_smaller, NULL, REQUEST_ERRORS },
	{ "set the size of the next load", prepare_fresh, act_larger, NULL, REQUEST_ERRORS },
	{ "set a filter and a trigger", prepare_fresh, act_filter, NULL, REQUEST_ERRORS },
	{ "replace a filter", prepare_tracing, act_filter, NULL, REQUEST_ERRORS },
	{ "hold events", prepare_tracing, act_hold, NULL, REQUEST_ERRORS },
	{ "hold other states", prepare_held, act_filter, NULL, REQUEST_ERRORS },
	{ "release events", prepare_held, act_release, NULL, REQUEST_ERRORS },
	{ "set a rate", prepare_loaded, act_rate, NULL, REQUEST_ERRORS },
	{ "join the notifications", prepare_fresh, act_join, NULL, REQUEST_ERRORS },
	{ }
};

static void sweep_device(struct __test_metadata *_metadata, struct _test_data_fail_nth *self)
{
	const struct fail_op *op;

	for (op = fail_device_ops; op->name; op++)
		sweep(_metadata, self, op);
}

static void sweep_changes(struct __test_metadata *_metadata, struct _test_data_fail_nth *self)
{
	const struct fail_op *op;

	for (op = change_ops; op->name; op++)
		sweep(_metadata, self, op);
}

/* Those that the present state does not allow are refused, whatever fails. */
static void sweep_requests(struct __test_metadata *_metadata, struct _test_data_fail_nth *self)
{
	static int (*const prepare[])(struct fail_nth *f) = {
		prepare_fresh, prepare_loaded, prepare_tracing, prepare_held,
	};
	unsigned int i, state;

	for (state = 0; state < ARRAY_SIZE(prepare); state++) {
		for (i = 0; i < ARRAY_SIZE(operations); i++) {
			const struct fail_op op = {
				.name = operations[i].name, .prepare = prepare[state],
				.act = act_operation, .errors = REQUEST_ERRORS,
				.request = &operations[i],
			};

			sweep(_metadata, self, &op);
		}
	}
}

/* What is leaked is leaked in each round; what the kernel keeps otherwise is not. */
static void rounds(struct __test_metadata *_metadata, struct _test_data_fail_nth *self,
		   const char *what, void (*round)(struct __test_metadata *_metadata,
						   struct _test_data_fail_nth *self))
{
	const char *text = getenv("HYPTRACE_FAULT_ROUNDS");
	const unsigned int nr = text ? strtoul(text, NULL, 0) : ROUNDS;
	uint64_t before_kb = 0, after_kb = 0;
	unsigned int i, waited;

	ASSERT_LE(2, nr);
	for (i = 0; i < nr; i++) {
		round(_metadata, self);
		/* The first round also fills caches. */
		if (!i)
			before_kb = free_kb();
	}
	after_kb = free_kb();
	for (waited = 0; before_kb > after_kb + SLACK_KB && waited < PATIENCE_MS; waited += 100) {
		usleep(100000);
		after_kb = free_kb();
	}
	EXPECT_NE(0, before_kb);
	EXPECT_LE(before_kb, after_kb + SLACK_KB);
	EXPECT_LT(nr, self->nr_faults);
	printf("# tried: %u faults of %s\n", self->nr_faults, what);
}

TEST_F_TIMEOUT(fail_nth, device, PATIENCE_S)
{
	rounds(_metadata, self, "the device", sweep_device);
}

TEST_F_TIMEOUT(fail_nth, changes, PATIENCE_S)
{
	rounds(_metadata, self, "changes", sweep_changes);
}

TEST_F_TIMEOUT(fail_nth, requests_in_each_state, PATIENCE_S)
{
	rounds(_metadata, self, "requests", sweep_requests);
}

TEST_HARNESS_MAIN
