/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixtures of most tests here: one variant for each remote, which is reset before
 * and after the test. On a machine without a hypervisor to trace, "-V hypervisor"
 * leaves that variant out.
 *
 * Include it after kselftest_harness.h.
 */
#ifndef __REMOTES_H
#define __REMOTES_H

#include <unistd.h>

#include "control.h"

/* Common to both fixtures below: the variant "hypervisor" and the teardown */
#define __REMOTE_FIXTURE(fixture)				\
	FIXTURE(fixture) {					\
		struct nl nl;					\
	};							\
	FIXTURE_VARIANT(fixture) {				\
		const char *remote;				\
	};							\
	FIXTURE_VARIANT_ADD(fixture, hypervisor) {		\
		.remote = "hypervisor",				\
	};							\
	FIXTURE_TEARDOWN(fixture)				\
	{							\
		/* The exit of the process closes what a failed test left open. */ \
		control_fresh(&self->nl, variant->remote);	\
		nl_close(&self->nl);				\
	}							\
	struct __remotes_semicolon

#define REMOTE_FIXTURE(fixture)					\
	__REMOTE_FIXTURE(fixture);				\
	FIXTURE_VARIANT_ADD(fixture, test) {			\
		.remote = "test",				\
	};							\
	FIXTURE_SETUP(fixture)					\
	{							\
		ASSERT_EQ(0, nl_open(&self->nl));		\
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote)); \
	}							\
	struct __remotes_semicolon

/*
 * The remote "hypervisor" alone, with rings of that size, hyp_enter and hyp_exit enabled:
 * EL2 records also the hypercalls that the test itself causes.
 */
#define TRACED_FIXTURE(fixture, ring_size)			\
	__REMOTE_FIXTURE(fixture);				\
	FIXTURE_SETUP(fixture)					\
	{							\
		ASSERT_EQ(0, nl_open(&self->nl));		\
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, ring_size, \
					   HYPTRACE_MODE_OVERWRITE)); \
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", true)); \
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_exit", true)); \
	}							\
	struct __remotes_semicolon

/* Expect that the rings are unloaded and that no descriptor is attached. */
#define EXPECT_UNLOADED()						\
	do {								\
		struct info __info;					\
									\
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &__info)); \
		EXPECT_EQ(HYPTRACE_STATE_UNLOADED, __info.state);	\
		EXPECT_EQ(0, __info.readers);				\
	} while (0)

#endif /* __REMOTES_H */
