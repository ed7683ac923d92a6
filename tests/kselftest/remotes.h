/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most tests here begin with: a fixture for each remote, which is as it was
 * registered before the test and afterwards. Where there is no hypervisor to
 * trace, run them with "-V hypervisor".
 *
 * To be included after kselftest_harness.h.
 */
#ifndef __REMOTES_H
#define __REMOTES_H

#include "control.h"

/* What both kinds below have in common: the remote that traces a hypervisor, and the end */
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
		/* a test that failed leaves descriptors: they go with it */ \
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
 * A test of the remote that traces a hypervisor, with hyp_enter and hyp_exit enabled and
 * rings of that size: the hypervisor records what the test causes, too.
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

/* The remote is as it was registered: what a test ends with that changed it */
#define EXPECT_UNLOADED()						\
	do {								\
		struct info __info;					\
									\
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &__info)); \
		EXPECT_EQ(HYPTRACE_STATE_UNLOADED, __info.state);	\
		EXPECT_EQ(0, __info.readers);				\
	} while (0)

#endif /* __REMOTES_H */
