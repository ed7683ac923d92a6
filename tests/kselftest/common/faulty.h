/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of the tests with errors of a remote: the module hyptrace_faulty registers the
 * remote, and its parameters say which of its callbacks fail.
 *
 * Include it after kselftest_harness.h.
 */
#ifndef __FAULTY_H
#define __FAULTY_H

#include <unistd.h>

#include "control.h"
#include "module.h"
#include "parameter.h"

#define REMOTE		"faulty"
#define PARAMETERS	"/sys/module/hyptrace_faulty/parameters/"

/* Of the parameter "stall": which callbacks wait */
#define STALL_LOAD	1	/* also resize and mark */
#define STALL_EXCHANGE	2
#define STALL_SYNC	4
#define STALL_RELEASE	8
#define STALL_EXIT	16	/* of the module */

/* Whether a callback waits */
static inline bool is_stalled(void)
{
	char text[PARAMETER_SIZE];

	return *read_parameter(PARAMETERS "stalls", text) == 'Y';
}

static inline void wait_until_stalled(void)
{
	while (!is_stalled())
		usleep(1000);
}

/* Common to both fixtures below. The driver changes events in the order of their ids. */
#define __FAULTY_FIXTURE(fixture)				\
	FIXTURE(fixture) {					\
		struct nl nl;					\
		int enter;					\
		int exit;					\
	};							\
	FIXTURE_TEARDOWN(fixture)				\
	{							\
		nl_close(&self->nl);				\
		set_parameter(PARAMETERS "stall", 0);		\
		EXPECT_EQ(0, module_unload("hyptrace_faulty"));	\
	}							\
	struct __faulty_semicolon

#define __FAULTY_SETUP()					\
	do {							\
		ASSERT_EQ(0, module_reload("hyptrace_faulty", "")); \
		ASSERT_EQ(0, nl_open(&self->nl));		\
		self->enter = control_event_id(&self->nl, REMOTE, "hyp_enter"); \
		self->exit = control_event_id(&self->nl, REMOTE, "hyp_exit"); \
		ASSERT_LT(0, self->enter);			\
		ASSERT_LT(self->enter, self->exit);		\
	} while (0)

#define FAULTY_FIXTURE(fixture)					\
	__FAULTY_FIXTURE(fixture);				\
	FIXTURE_SETUP(fixture)					\
	{							\
		__FAULTY_SETUP();				\
	}							\
	struct __faulty_semicolon

/* Tracing is on, with rings of that size, and only the event "selftest" is enabled. */
#define FAULTY_TRACED_FIXTURE(fixture, ring_size)		\
	__FAULTY_FIXTURE(fixture);				\
	FIXTURE_SETUP(fixture)					\
	{							\
		__FAULTY_SETUP();				\
		ASSERT_EQ(0, control_ready(&self->nl, REMOTE, ring_size, \
					   HYPTRACE_MODE_OVERWRITE)); \
	}							\
	struct __faulty_semicolon

#endif /* __FAULTY_H */
