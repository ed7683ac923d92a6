// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to a remote that lacks what they need, or whose callback fails, from the module
 * hyptrace_bad: each is refused with its reason, and changes nothing.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"
#include "filter.h"
#include "kmsg.h"
#include "module.h"
#include "page.h"

#define REMOTE		"bad"
#define EVENT		"second"
#define SIZE		(8 * PAGE)

FIXTURE(lacks) {
	struct nl nl;
};

FIXTURE_SETUP(lacks)
{
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(lacks)
{
	EXPECT_EQ(0, module_unload("hyptrace_bad"));
	nl_close(&self->nl);
}

static int make(const char *what)
{
	char parameter[160];

	snprintf(parameter, sizeof(parameter), "what=\"%s\"", what);
	return module_reload("hyptrace_bad", parameter);
}

static bool says(const char *text)
{
	return strstr(control_message(), text);
}

static int state(struct nl *nl)
{
	struct info info;

	return control_info(nl, REMOTE, &info) ?: (int)info.state;
}

TEST_F(lacks, a_ring_that_is_too_large)
{
	char message[128];
	struct info info;

	ASSERT_EQ(0, make("max_pages"));
	EXPECT_EQ(-E2BIG, control_load(&self->nl, REMOTE, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	snprintf(message, sizeof(message), "%ld bytes exceed the largest ring, %ld bytes", 8 * PAGE,
		 7 * PAGE);
	EXPECT_TRUE(says(message)) TH_LOG("%s", control_message());
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, 7 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(8, info.nr_subbufs);
}

TEST_F(lacks, a_mode)
{
	ASSERT_EQ(0, make("only_overwrites"));
	EXPECT_EQ(-EOPNOTSUPP, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_DISCARD));
	EXPECT_TRUE(says("remote \"bad\" can only overwrite the oldest events"));
	EXPECT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
}

TEST_F(lacks, a_rate)
{
	ASSERT_EQ(0, make("other"));
	EXPECT_EQ(-EOPNOTSUPP, control_set_rate(&self->nl, REMOTE, 5));
	EXPECT_TRUE(says("remote \"bad\" has no rate"));
}

TEST_F(lacks, a_rate_that_is_accepted)
{
	ASSERT_EQ(0, make("rate_error"));
	EXPECT_EQ(-EIO, control_set_rate(&self->nl, REMOTE, 5));
	EXPECT_TRUE(says("the remote refused the rate (error 5)"));
}

TEST_F(lacks, selftest_events)
{
	ASSERT_EQ(0, make("other"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(-EOPNOTSUPP, control_mark(&self->nl, REMOTE, 0, 0, 1));
	EXPECT_TRUE(says("remote \"bad\" cannot write selftest events"));
}

TEST_F(lacks, another_size_of_rings)
{
	ASSERT_EQ(0, make("resize"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EOPNOTSUPP, control_set_size(&self->nl, REMOTE, 2 * SIZE));
	EXPECT_TRUE(says("the remote cannot resize loaded rings: unload them first"));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, SIZE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, 2 * SIZE));
}

TEST_F(lacks, an_event)
{
	ASSERT_EQ(0, make("missing"));
	EXPECT_EQ(-EOPNOTSUPP, control_enable(&self->nl, REMOTE, EVENT, true));
	EXPECT_STREQ("\"second\" is not in this kernel: see patch-tree", control_message());
	EXPECT_EQ(0, control_enable(&self->nl, REMOTE, "first", true));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, EVENT));
}

static bool has_flag(struct nl *nl, const char *event, uint16_t flag)
{
	return control_event_attr(nl, REMOTE, event, flag);
}

TEST_F(lacks, some_of_an_event)
{
	ASSERT_EQ(0, make("incomplete"));
	EXPECT_TRUE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_INCOMPLETE));
	EXPECT_FALSE(has_flag(&self->nl, "first", HYPTRACE_A_EVENT_INCOMPLETE));
	EXPECT_FALSE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_MISSING));
	EXPECT_EQ(0, control_enable(&self->nl, REMOTE, EVENT, true));
	ASSERT_EQ(0, make("missing"));
	EXPECT_TRUE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_MISSING));
	EXPECT_FALSE(has_flag(&self->nl, "first", HYPTRACE_A_EVENT_MISSING));
	EXPECT_FALSE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_INCOMPLETE));
}

TEST_F(lacks, a_field_that_is_a_number)
{
	const struct filter_term number = FILTER_TERM("other", EQ, 5);
	const struct filter_term text = FILTER_TERM("text", EQ, 5);

	ASSERT_EQ(0, make("other"));
	EXPECT_EQ(-EINVAL, filter_enable(&self->nl, REMOTE, EVENT, "text==5", &text, 1));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, EVENT));
	EXPECT_EQ(0, filter_enable(&self->nl, REMOTE, EVENT, "other==5", &number, 1));
}

/* Another user has what it needs. */
TEST_F(lacks, what_a_load_needs)
{
	ASSERT_EQ(0, make("busy"));
	EXPECT_EQ(-EBUSY, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_STREQ("somebody else has it", control_message());
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	/* ... or it fails for another reason */
	ASSERT_EQ(0, make("load_error"));
	EXPECT_EQ(-EIO, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_STREQ("the remote refused the rings (error 5)", control_message());
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
}

TEST_F(lacks, counters)
{
	const uint32_t cycles = 0x11;
	char message[COUNTER_MESSAGE];

	counters_remote = REMOTE;
	ASSERT_EQ(0, make("counting"));
	EXPECT_EQ(-EOPNOTSUPP, counters_set(&self->nl, "first", true));
	EXPECT_EQ(0, counters_set(&self->nl, EVENT, true));
	EXPECT_EQ(-EOPNOTSUPP, counters_measure(&self->nl, EVENT, &cycles, 1, message));
	EXPECT_STREQ("remote \"bad\" cannot use the PMU", message);
}

/* What a print format says of the values of a field, up to what it does not say as expected */
static const struct {
	const char	*format;
	unsigned int	nr;
	uint64_t	last;
} symbols[] = {
	{ "__print_symbolic(REC->value,{1,\"one\"},{0x2UL,\"two\"})", 2, 2 },
	{ "\"%s\", __print_symbolic( REC->value , { -1 , \"none\" } )", 1, UINT64_MAX },
	{ "__print_symbolic(REC->value,{1,\"one\"};{2,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},[2,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{2;\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{2,two\"\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{ox,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{0x,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{18446744073709551616,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{0x0000000000000000000002,\"two\"})", 1, 1 },
	{ "__print_symbolic(REC->value,{1,\"one\"},{0x000000000000000000002,\"two\"})", 2, 2 },
	{ "__print_symbolic(REC->values,{1,\"one\"})", 0, 0 },
	{ "__print_symbolic(REC->values,{1,\"a\"}),__print_symbolic(REC->value,{2,\"b\"})", 1, 2 },
	{ "__print_symbolic(REC.value,{1,\"one\"})", 0, 0 },
	{ "__print_flags(REC->value,{1,\"one\"})", 0, 0 },
	{ "__print_symbolix(REC->value,{1,\"one\"})", 0, 0 },
	{ "(REC->value,{1,\"one\"})", 0, 0 },
	{ "__print_symbolic", 0, 0 },
};

/* Return how many values of a field have names, and the last of them. */
static unsigned int read_symbols(const struct nlattr *field, uint64_t *last)
{
	const char *at = nl_data(field), *end = (const char *)field + field->nla_len;
	unsigned int nr = 0;

	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == HYPTRACE_A_FIELD_SYMBOL) {
			*last = nl_u64(nl_nested(attr, HYPTRACE_A_SYMBOL_VALUE));
			nr++;
		}
		at += NLA_ALIGN(attr->nla_len);
	}
	return nr;
}

TEST_F(lacks, some_names_of_values)
{
	const struct nlattr *field;
	char what[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		uint64_t last = 0;

		snprintf(what, sizeof(what), "format=%s", symbols[i].format);
		ASSERT_EQ(0, make(what));
		field = control_event_attr(&self->nl, REMOTE, EVENT, HYPTRACE_A_EVENT_FIELD);
		ASSERT_NE(NULL, field);
		EXPECT_EQ(symbols[i].nr, read_symbols(field, &last)) TH_LOG("%s", what);
		EXPECT_EQ(symbols[i].last, last) TH_LOG("%s", what);
	}
	ASSERT_EQ(0, make("other"));
}

static int get_event(struct nl *nl, const char *name, struct nl_answer *to)
{
	static struct nl_msg msg;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	if (!name)
		return nl_dump(nl, &msg, to);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, name);
	return nl_do(nl, &msg, to);
}

TEST_F(lacks, a_print_format_that_is_short)
{
	static struct nl_answer all;

	ASSERT_EQ(0, make("length=40000"));
	ASSERT_EQ(0, get_event(&self->nl, EVENT, &all));
	EXPECT_EQ(40000, strlen(nl_str(nl_attr(nl_first(&all), HYPTRACE_A_EVENT_PRINT_FMT))));
	ASSERT_EQ(0, get_event(&self->nl, NULL, &all));
	EXPECT_EQ(2, all.nr);
	ASSERT_EQ(0, make("length=70000"));
	EXPECT_EQ(-EMSGSIZE, get_event(&self->nl, EVENT, &all));
	EXPECT_STREQ("the description is too long for a message", all.message);
	EXPECT_EQ(0, get_event(&self->nl, "first", &all));
}

/* A field that does not fit in the first message for the answer is in a longer one. */
TEST_F(lacks, an_event_that_does_not_fit_in_a_page_is_whole)
{
	static struct nl_answer answer;
	unsigned int length, others = 0;
	char what[32];

	for (length = 3072; length < 4096; length += 32) {
		snprintf(what, sizeof(what), "length=%u", length);
		ASSERT_EQ(0, make(what));
		ASSERT_EQ(0, get_event(&self->nl, EVENT, &answer));
		if (!others)
			others = nl_first(&answer)->nlmsg_len - length;
		EXPECT_EQ(others, nl_first(&answer)->nlmsg_len - length) TH_LOG("%s", what);
	}
}

TEST_F(lacks, a_start)
{
	ASSERT_EQ(0, make("enable_error"));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_TRUE(says("the remote failed to start (error 5)"));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(HYPTRACE_STATE_LOADED, state(&self->nl));
}

TEST_F(lacks, a_clear)
{
	ASSERT_EQ(0, make("clear_error"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control_clear(&self->nl, REMOTE, CPU_ALL));
	EXPECT_TRUE(says("the remote failed to clear the ring of CPU 1 (error 5)"));
	EXPECT_EQ(0, control_clear(&self->nl, REMOTE, 0));
}

/* The pages are lost. */
TEST_F(lacks, a_release_of_its_rings)
{
	int kmsg = log_open();

	ASSERT_EQ(0, make("unload_error"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_TRUE(says("the remote kept its rings: it cannot be loaded again (error 5)"));
	EXPECT_TRUE(log_gets(kmsg, "remote \"bad\" kept its rings"));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	EXPECT_EQ(-EIO, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	close(kmsg);
}

TEST_F(lacks, a_release_of_its_old_rings)
{
	ASSERT_EQ(0, make("unload_error"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control_set_size(&self->nl, REMOTE, 2 * SIZE));
	EXPECT_STREQ("the remote kept rings: it cannot be loaded again (error 5)",
		     control_message());
	EXPECT_EQ(-EIO, control_set_size(&self->nl, REMOTE, 2 * SIZE));
	EXPECT_STREQ("the remote kept the rings of an earlier load or resize", control_message());
}

TEST_F(lacks, an_event_that_follows_others)
{
	static struct nl_answer answer;
	static struct nl_msg msg;

	ASSERT_EQ(0, make("other"));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, EVENT);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_FOLLOW);
	EXPECT_EQ(-EINVAL, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("\"" EVENT "\" cannot follow other events", answer.message);
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, EVENT));
}

TEST_HARNESS_MAIN
