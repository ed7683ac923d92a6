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

#define REMOTE_FIXTURE(fixture)					\
	FIXTURE(fixture) {					\
		struct nl nl;					\
	};							\
	FIXTURE_VARIANT(fixture) {				\
		const char *remote;				\
	};							\
	FIXTURE_VARIANT_ADD(fixture, hypervisor) {		\
		.remote = "hypervisor",				\
	};							\
	FIXTURE_VARIANT_ADD(fixture, test) {			\
		.remote = "test",				\
	};							\
	FIXTURE_SETUP(fixture)					\
	{							\
		ASSERT_EQ(0, nl_open(&self->nl));		\
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote)); \
	}							\
	FIXTURE_TEARDOWN(fixture)				\
	{							\
		/* a test that failed leaves descriptors: they go with it */ \
		control_fresh(&self->nl, variant->remote);	\
		nl_close(&self->nl);				\
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
