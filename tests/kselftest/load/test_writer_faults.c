// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that does not do what the driver asks for: each request fails with the writer's error,
 * or does without it, and when the writer works again, so does everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"
#include "fault.h"
#include "filter.h"
#include "kmsg.h"
#include "module.h"
#include "parameter.h"
#include "page.h"
#include "subbuf.h"

#include "../../../hyp/abi.h"

#define REMOTE		"test"
#define PARAMETERS	"/sys/module/hyptrace_test/parameters/"
#define SMALL		(8 * PAGE)
#define LARGE		(16 * PAGE)
#define CPU		1
#define COUNTERS_MAX	1024
#define PATIENCE_S	300
#define FAULTS_MAX	1000

static int set_fault(int op, int ret)
{
	return set_parameter(PARAMETERS "fault_ret", ret) ?:
	       set_parameter(PARAMETERS "fault_op", op);
}

FIXTURE(writer_faults) {
	struct nl nl;
};

FIXTURE_SETUP(writer_faults)
{
	counters_remote = REMOTE;
	ASSERT_EQ(0, counters_load_test());
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(writer_faults)
{
	set_fault(-1, 0);
	set_parameter(PARAMETERS "fault_cpu", -1);
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
	EXPECT_EQ(0, module_reload("hyptrace_test", ""));
}

static int request_load(struct nl *nl)
{
	return control_load(nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE);
}

static int request_start(struct nl *nl)
{
	return control(nl, HYPTRACE_CMD_START, REMOTE);
}

static int request_enable(struct nl *nl)
{
	return control_enable(nl, REMOTE, "selftest", true);
}

static int request_filter(struct nl *nl)
{
	return filter_enable_id(nl, REMOTE, 0);
}

static int request_mark(struct nl *nl)
{
	return control_mark(nl, REMOTE, CPU, 0, 1);
}

static int request_count(struct nl *nl)
{
	return counters_set(nl, "hyp_enter", true);
}

static int request_count_reset(struct nl *nl)
{
	return counters_reset(nl, CPU);
}

static int request_resize(struct nl *nl)
{
	return control_set_size(nl, REMOTE, LARGE);
}

static int request_clear(struct nl *nl)
{
	return control_clear(nl, REMOTE, CPU);
}

static int request_read(struct nl *nl)
{
	static uint8_t page[PAGE_MAX];
	int fd = open_attached(REMOTE, CPU, O_NONBLOCK), err;

	(void)nl;
	err = read(fd, page, sizeof(page)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static int request_disable(struct nl *nl)
{
	return control_enable(nl, REMOTE, "selftest", false);
}

static int request_stop(struct nl *nl)
{
	return control(nl, HYPTRACE_CMD_STOP, REMOTE);
}

static int request_unload(struct nl *nl)
{
	return control(nl, HYPTRACE_CMD_UNLOAD, REMOTE);
}

static int request_uncount(struct nl *nl)
{
	return counters_set(nl, "hyp_enter", false);
}

/* One after another, these work. If the answer is that of control.c, it says which error it was. */
static const struct request {
	const char	*name;
	int		(*send)(struct nl *nl);
	bool		says_error;
} requests[] = {
	{ "load", request_load, true }, { "start", request_start, true },
	{ "enable", request_enable, true }, { "filter", request_filter },
	{ "mark", request_mark, true }, { "count", request_count },
	{ "count-reset", request_count_reset }, { "resize", request_resize, true },
	{ "clear", request_clear, true }, { "mark", request_mark, true }, { "read", request_read },
	{ "disable", request_disable, true }, { "stop", request_stop, true },
	{ "unload", request_unload, true }, { "uncount", request_uncount },
};

#define NR_REQUESTS	(sizeof(requests) / sizeof(requests[0]))

/*
 * What an operation returns, and the requests that then fail with which error. RING_FREE,
 * COUNT_FREE and MOVE are left out: after them, the writer may still own pages, which are leaked.
 * TABLE and COUNT_RESET return 1 until they have done all.
 */
static const struct fault {
	int		op;
	int		ret;
	int		err;
	const char	*failing[3];
} faults[] = {
	{ HYPTRACE_OP_RING_BEGIN, -EIO, -EIO, { "load", "resize" } },
	{ HYPTRACE_OP_RING_DIR, -EIO, -EIO, { "load", "resize" } },
	{ HYPTRACE_OP_RING_TABLE, -EIO, -EIO, { "load", "resize" } },
	{ HYPTRACE_OP_RING_TABLE, 1, -EPROTO, { "load", "resize" } },
	{ HYPTRACE_OP_RING_READY, -EIO, -EIO, { "load", "resize" } },
	{ HYPTRACE_OP_ATTACH, -EIO, -EIO, { "start", "enable", "disable" } },
	{ HYPTRACE_OP_DETACH, -EIO, -EIO, { "stop" } },
	{ HYPTRACE_OP_SWAP, -EIO, -EIO, { "read" } },
	{ HYPTRACE_OP_RESET, -EIO, -EIO, { "clear" } },
	{ HYPTRACE_OP_EXCHANGE, -EIO, -EIO, { "resize" } },
	{ HYPTRACE_OP_WRITE, -EIO, -EIO, { "mark" } },
	{ HYPTRACE_OP_FILTER, -EIO, -EIO, { "filter", "disable" } },
	{ HYPTRACE_OP_PAUSE, -EIO, -EIO, { "start" } },
	{ HYPTRACE_OP_ARM, -EIO, -EIO, { "start" } },
	{ HYPTRACE_OP_COUNT_PAGE, -EIO, -EIO, { "count" } },
	{ HYPTRACE_OP_COUNT, -EIO, -EIO, { "count", "uncount" } },
	{ HYPTRACE_OP_COUNT_RESET, -EIO, -EIO, { "count-reset" } },
	{ HYPTRACE_OP_COUNT_RESET, 1, -EPROTO, { "count-reset" } },
};

static bool says_error(int err)
{
	char text[32];

	snprintf(text, sizeof(text), "(error %d)", -err);
	return strstr(control_message(), text);
}

static bool fails(const struct fault *fault, const char *request)
{
	unsigned int i;

	for (i = 0; i < 3 && fault->failing[i]; i++)
		if (!strcmp(fault->failing[i], request))
			return true;
	return false;
}

TEST_F_TIMEOUT(writer_faults, what_is_not_done_fails_and_can_be_repeated, PATIENCE_S)
{
	const struct request *request;
	const struct fault *fault;

	for (fault = faults; fault < faults + sizeof(faults) / sizeof(faults[0]); fault++) {
		for (request = requests; request < requests + NR_REQUESTS; request++) {
			const int err = fails(fault, request->name) ? fault->err : 0;

			ASSERT_EQ(0, set_fault(fault->op, fault->ret));
			EXPECT_EQ(err, request->send(&self->nl))
				TH_LOG("operation %d: %s", fault->op, request->name);
			EXPECT_TRUE(!err || !request->says_error || says_error(err))
				TH_LOG("operation %d: %s: %s", fault->op, request->name,
				       control_message());
			ASSERT_EQ(0, set_fault(-1, 0));
			EXPECT_TRUE(!err || !request->send(&self->nl))
				TH_LOG("after operation %d: %s", fault->op, request->name);
		}
		ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
		ASSERT_EQ(0, counters_load_test());
	}
}

static uint64_t written(struct nl *nl, uint32_t cpu)
{
	struct counts counts;

	if (control_counts(nl, REMOTE, cpu, &counts))
		abort();
	return counts.written;
}

/* The writer has done it for the first CPU already. Each mark is also a visit. */
TEST_F(writer_faults, what_one_cpu_does_not_enable_none_records)
{
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", CPU));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_ATTACH, -EIO));
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "hyp_enter", true));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 1));
	EXPECT_EQ(1, written(&self->nl, 0));

	/* nor does it come with the next event */
	ASSERT_EQ(0, set_fault(-1, 0));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_exit", true));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 1));
	EXPECT_EQ(3, written(&self->nl, 0));
}

/* A ring to which a CPU is attached cannot be released. */
TEST_F(writer_faults, what_one_cpu_does_not_start_none_does)
{
	ASSERT_EQ(0, request_load(&self->nl));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", CPU));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_ATTACH, -EIO));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, set_fault(-1, 0));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
}

TEST_F(writer_faults, what_one_cpu_does_not_give_others_do)
{
	static uint8_t page[PAGE_MAX];
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, 1));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", 0));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_SWAP, -EIO));
	fd = open_attached(REMOTE, CPU, O_NONBLOCK);
	EXPECT_EQ(PAGE, read(fd, page, PAGE));
	close(fd);
}

static uint64_t visits(struct nl *nl, uint32_t cpu)
{
	static struct counter counters[COUNTERS_MAX];
	const ssize_t nr = counters_get(nl, cpu, counters, COUNTERS_MAX);
	uint64_t sum = 0;
	ssize_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(counters[i].event, "hyp_enter"))
			sum += counters[i].count;
	return sum;
}

TEST_F(writer_faults, what_one_cpu_does_not_count_none_counts)
{
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, counters_set(&self->nl, "lock_wait", true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", CPU));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_COUNT, -EIO));
	EXPECT_EQ(-EIO, request_count(&self->nl));
	ASSERT_EQ(0, set_fault(-1, 0));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 3));
	EXPECT_EQ(0, visits(&self->nl, 0));
}

TEST_F(writer_faults, what_one_cpu_does_not_count_does_not_end_other_counting)
{
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, request_count(&self->nl));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", CPU));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_COUNT, -EIO));
	EXPECT_EQ(-EIO, counters_set(&self->nl, "lock_wait", true));
	ASSERT_EQ(0, set_fault(-1, 0));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 3));
	EXPECT_EQ(3, visits(&self->nl, 0));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, 2));
	EXPECT_EQ(2, visits(&self->nl, CPU));
}

/* What a writer answers with which its module cannot be loaded, and what the log says */
static const struct {
	int		op;
	int		answer;
	const char	*says;
} unusable[] = {
	{ HYPTRACE_OP_INFO, -ENODEV, "the writer does not answer" },
	{ HYPTRACE_OP_INFO, HYPTRACE_ABI_VERSION + 1, "of the contract at the writer" },
	{ HYPTRACE_OP_INFO, HYPTRACE_ABI_VERSION,
	  "the writer was built with another list of events" },
	{ HYPTRACE_OP_MOVE, -EBUSY, "CPU 0 is off and still attached to a ring of an earlier" },
	{ HYPTRACE_OP_MOVE, -EIO, "that an earlier module left on CPU 0 cannot be freed: -5" },
	{ HYPTRACE_OP_RING_FREE, -EIO, "left on CPU 0 cannot be freed: -5" },
};

TEST_F(writer_faults, a_writer_that_cannot_be_used_is_refused)
{
	const int kmsg = log_open();
	char parameters[64];
	unsigned int i;

	ASSERT_EQ(0, module_unload("hyptrace_test"));
	for (i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++) {
		snprintf(parameters, sizeof(parameters), "fault_op=%d fault_ret=%d",
			 unusable[i].op, unusable[i].answer);
		EXPECT_NE(0, module_load("hyptrace_test", parameters))
			TH_LOG("%s", unusable[i].says);
		EXPECT_TRUE(log_has(kmsg, unusable[i].says)) TH_LOG("%s", unusable[i].says);
	}
	ASSERT_EQ(0, module_load("hyptrace_test", ""));
	EXPECT_FALSE(log_has(kmsg, "that an earlier module left"));
	close(kmsg);
}

/* Each allocation fails once. After each of these requests there are no counters again. */
TEST_F(writer_faults, counters_need_memory)
{
	unsigned int nth = 0;
	bool failed = true;
	int err;

	if (!fault_init(true))
		SKIP(return, "this kernel cannot inject faults");
	while (failed && ++nth < FAULTS_MAX) {
		fault_begin(nth);
		err = request_count(&self->nl);
		failed = fault_end();
		EXPECT_TRUE(!err || (failed && (err == -ENOMEM || err == -ENOBUFS ||
						err == -EFAULT)))
			TH_LOG("fault %u: %d", nth, err);
		EXPECT_EQ(0, request_uncount(&self->nl));
		ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	}
	EXPECT_LT(nth, FAULTS_MAX);
	ASSERT_EQ(0, request_count(&self->nl));
	EXPECT_EQ(0, visits(&self->nl, CPU));
}

/* The driver still reads the pages that the writer has. */
TEST_F(writer_faults, what_one_cpu_does_not_resize_keeps_its_events)
{
	struct sequence seq = { .event = control_event_id(&self->nl, REMOTE, "selftest") };
	static uint8_t page[PAGE_MAX];
	ssize_t size;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, 2 * PER_SUBBUF));
	ASSERT_EQ(0, set_parameter(PARAMETERS "fault_cpu", CPU));
	ASSERT_EQ(0, set_fault(HYPTRACE_OP_EXCHANGE, -EIO));
	EXPECT_EQ(-EIO, request_resize(&self->nl));
	ASSERT_EQ(0, set_fault(-1, 0));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 2 * PER_SUBBUF, 1));
	fd = open_attached(REMOTE, CPU, O_NONBLOCK);
	while ((size = read(fd, page, PAGE)) > 0)
		sequence_feed(&seq, page, size);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(2 * PER_SUBBUF + 1, seq.seen);
	close(fd);
}

TEST_HARNESS_MAIN
