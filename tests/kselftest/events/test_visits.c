// SPDX-License-Identifier: GPL-2.0-only
/*
 * visit-get: each visit of EL2 is one hyp_enter, one host_hcall and one hyp_exit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "control.h"
#include "events.h"
#include "waiting.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define VISITS		HYPTRACE_VISIT_COUNT_MAX
#define MAX_EVENTS	20000

/* A visit is a hypercall that does not exist. Nothing else makes this one. */
#define NO_SUCH_CALL	0xffff

/* for visit(): a request without the attribute */
#define DEFAULT		0

enum { ENTER, EXIT, HCALL, NR_TYPES };

static const char *const names[NR_TYPES] = { "hyp_enter", "hyp_exit", "host_hcall" };

static struct nl_answer answer;
static struct nl_msg msg;

FIXTURE(visits) {
	struct nl nl;
	struct event_type types[NR_TYPES];
	struct event *events;
	int hvc;
};

FIXTURE_SETUP(visits)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_TYPES));
	self->hvc = control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "hvc");
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_LE(0, self->hvc);
	ASSERT_EQ(0, pin_to_cpu(CPU));
}

FIXTURE_TEARDOWN(visits)
{
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
	free(self->events);
}

/* Return the time of so many visits in ns, or a negative errno. */
static int64_t visit(struct nl *nl, uint32_t nr)
{
	const struct nlattr *attr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_VISIT_GET);
	nl_put_str(&msg, HYPTRACE_A_VISIT_REMOTE, REMOTE);
	if (nr != DEFAULT)
		nl_put_u32(&msg, HYPTRACE_A_VISIT_COUNT, nr);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	attr = nl_attr(nl_first(&answer), HYPTRACE_A_VISIT_TIME);
	return attr ? (int64_t)nl_u64(attr) : -EBADMSG;
}

TEST_F(visits, take_time)
{
	EXPECT_LE(0, visit(&self->nl, DEFAULT));
	EXPECT_LT(0, visit(&self->nl, VISITS));
}

/* Record the events of so many visits. Return their number, or a negative errno. */
static ssize_t record(struct _test_data_visits *self, uint32_t nr)
{
	int64_t ns = -1;
	unsigned int i;
	int err;

	err = control_load(&self->nl, REMOTE, 1 << 20, HYPTRACE_MODE_DISCARD);
	for (i = 0; i < NR_TYPES && !err; i++)
		err = control_enable(&self->nl, REMOTE, names[i], true);
	if (!err)
		err = control(&self->nl, HYPTRACE_CMD_START, REMOTE);
	if (!err)
		ns = visit(&self->nl, nr);
	if (!err)
		err = ns < 0 ? ns : control(&self->nl, HYPTRACE_CMD_STOP, REMOTE);
	if (err)
		return err;
	return events_read(REMOTE, CPU, self->types, NR_TYPES, self->events, MAX_EVENTS);
}

/* Count the visits among the events. Others may come before and after them. */
static unsigned int count_visits(const struct _test_data_visits *self, ssize_t nr)
{
	unsigned int visits = 0;
	ssize_t i;

	for (i = 0; i < nr; i++) {
		const struct event *event = &self->events[i];

		if (event->type == &self->types[HCALL] &&
		    event_field(event, "id") == NO_SUCH_CALL && event_field(event, "invalid"))
			visits++;
	}
	return visits;
}

/* The longest run of visits, one right after the other */
static unsigned int longest_run(const struct _test_data_visits *self, ssize_t nr)
{
	static const unsigned int order[] = { ENTER, HCALL, EXIT };
	unsigned int at = 0, run = 0, longest = 0;
	ssize_t i;

	for (i = 0; i < nr; i++) {
		const struct event *event = &self->events[i];

		if (event->type != &self->types[order[at]] ||
		    (!at && event_field(event, "reason") != self->hvc)) {
			at = 0;
			run = 0;
			continue;
		}
		at = (at + 1) % NR_TYPES;
		if (!at && ++run > longest)
			longest = run;
	}
	return longest;
}

TEST_F(visits, are_events)
{
	ssize_t nr = record(self, VISITS);

	ASSERT_LT(0, nr);
	EXPECT_EQ(VISITS, count_visits(self, nr));
	/* Interrupts are off: nothing else comes between, but maybe another one next to them. */
	EXPECT_LE(VISITS, longest_run(self, nr));
	EXPECT_GE(VISITS + 10, longest_run(self, nr));
}

TEST_F(visits, are_as_many_as_requested)
{
	static const uint32_t requested[] = { 1, 2, 7, VISITS - 1 };
	unsigned int i;
	ssize_t nr;

	for (i = 0; i < ARRAY_SIZE(requested); i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
		nr = record(self, requested[i]);
		ASSERT_LT(0, nr);
		EXPECT_EQ(requested[i], count_visits(self, nr));
	}
}

TEST_F(visits, are_one_by_default)
{
	ssize_t nr = record(self, DEFAULT);

	ASSERT_LT(0, nr);
	EXPECT_EQ(1, count_visits(self, nr));
}

TEST_HARNESS_MAIN
