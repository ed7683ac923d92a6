/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of mem_transition. It needs kselftest_harness.h to be included before.
 */
#ifndef __TRANSITION_H
#define __TRANSITION_H

#include "events.h"

/* Check an event about pages that no guest has. */
static inline void check_transition(struct __test_metadata *_metadata, const struct event *event,
				    int op, int from, int to, uint64_t pfn, int64_t ret)
{
	ASSERT_NE(NULL, event);
	EXPECT_EQ(op, event_field(event, "op"));
	EXPECT_EQ(from, event_field(event, "from"));
	EXPECT_EQ(to, event_field(event, "to"));
	EXPECT_EQ(pfn, (uint64_t)event_field(event, "pfn"));
	EXPECT_EQ(0, event_field(event, "gfn"));
	EXPECT_EQ(0, event_field(event, "handle"));
	EXPECT_EQ(ret, event_field(event, "ret"));
}

#endif /* __TRANSITION_H */
