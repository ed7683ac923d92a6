// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that single operations of the netlink family refuse: see test_netlink.c for
 * those that all of them refuse.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "privilege.h"
#include "remotes.h"
#include "refuse.h"

REMOTE_FIXTURE(refuse);

TEST_F(refuse, cpu_get_of_an_unknown_cpu)
{
	static const struct refusal refusals[] = {
		{ "no id", HYPTRACE_CMD_CPU_GET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_CPU_ID, "\"id\"", { REMOTE_ATTR } },
		{ "no such CPU", HYPTRACE_CMD_CPU_GET, false, ENXIO, 1, 0, "no ring for CPU 4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, NO_CPU) } },
		{ "the largest CPU", HYPTRACE_CMD_CPU_GET, false, ENXIO, 1, 0, "no ring for CPU 4294967295",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, UINT32_MAX) } },
		{ "dump with id", HYPTRACE_CMD_CPU_GET, true, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, 0) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, event_get_of_an_unknown_event)
{
	static const struct refusal refusals[] = {
		{ "no name", HYPTRACE_CMD_EVENT_GET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_EVENT_NAME, "\"name\"", { REMOTE_ATTR } },
		{ "no such event", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"no_such\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "no_such") } },
		{ "empty", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "") } },
		{ "beginning of a name", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"selftes\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "selftes") } },
		{ "glob", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"*\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "*") } },
		{ "not terminated", HYPTRACE_CMD_EVENT_GET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, BYTES_ATTR(HYPTRACE_A_EVENT_NAME, 8) } },
		{ "too long", HYPTRACE_CMD_EVENT_GET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, BYTES_ATTR(HYPTRACE_A_EVENT_NAME, 65) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, event_set_with_one_bad_name_changes_no_event)
{
	static const struct refusal refusals[] = {
		{ "no names", HYPTRACE_CMD_EVENT_SET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_EVENT_NAMES, "\"names\"",
		  { REMOTE_ATTR, U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "no enabled", HYPTRACE_CMD_EVENT_SET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_EVENT_ENABLED, "\"enabled\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest") } },
		{ "enabled 2", HYPTRACE_CMD_EVENT_SET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 2) } },
		{ "a bad name among good ones", HYPTRACE_CMD_EVENT_SET, false, ENOENT, 2, 0,
		  "\"no_such\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "no_such"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "hyp_enter"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "a bad name at the end", HYPTRACE_CMD_EVENT_SET, false, ENOENT, 4, 0,
		  "\"no_such\"",
		  { REMOTE_ATTR, U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "hyp_enter"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "no_such") } },
		{ "one not terminated among good ones", HYPTRACE_CMD_EVENT_SET, false, EINVAL, 2, 0,
		  "", { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    BYTES_ATTR(HYPTRACE_A_EVENT_NAMES, 8), U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
	};

	EXPECT_REFUSED(refusals);
	/* The same with all events enabled: none may be disabled. */
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", true));
	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct refusal refusal = refusals[i];

		for (unsigned int j = 0; j < ATTRIBUTES_MAX; j++) {
			if (refusal.attrs[j].kind == U8 && refusal.attrs[j].number == 1)
				refusal.attrs[j].number = 0;
		}
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, event_set_with_too_many_names)
{
	unsigned int i;
	uint32_t last = 0;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	for (i = 0; i < HYPTRACE_EVENT_LIST_MAX + 1; i++) {
		last = msg.hdr.nlmsg_len;
		nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	}
	EXPECT_EQ(-E2BIG, nl_do(&self->nl, &msg, &answer));
	EXPECT_NE(NULL, strstr(answer.message, "256"));
	EXPECT_EQ(last, answer.offset);
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));

	msg.hdr.nlmsg_len = last;
	EXPECT_EQ(0, nl_do(&self->nl, &msg, &answer));
}

static uint64_t oom_kills(void)
{
	unsigned long long kills = 0;
	FILE *file = fopen("/proc/vmstat", "r");
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "oom_kill %llu", &kills) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kills;
}

static long free_pages(void)
{
	return sysconf(_SC_AVPHYS_PAGES);
}

/* Some of these sizes overflow when they are added or multiplied. */
TEST_F(refuse, sizes_larger_than_any_memory)
{
	const uint64_t sizes[] = {
		UINT64_MAX, UINT64_MAX - PAGE + 1, UINT64_MAX - PAGE, 1ULL << 63,
		(1ULL << 63) + PAGE, 1ULL << 62, 1ULL << 61, (1ULL << 44) - 1, 1ULL << 44,
		(1ULL << 44) + PAGE,
		1ULL << 43, 1ULL << 40, UINT32_MAX * PAGE, (UINT32_MAX + 1ULL) * PAGE,
		(UINT32_MAX + 2ULL) * PAGE, INT32_MAX * PAGE, (INT32_MAX + 1ULL) * PAGE,
	};
	uint64_t kills = oom_kills();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct refusal refusal = {
			"size", HYPTRACE_CMD_LOAD, false, ENOMEM, 1, 0, "bytes",
			{ REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, sizes[i]) },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.cmd = HYPTRACE_CMD_SET;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	EXPECT_EQ(kills, oom_kills());
}

/* Nearly all memory of the machine: the OOM killer must not run. */
TEST_F(refuse, sizes_larger_than_the_free_memory)
{
	uint64_t kills = oom_kills(), total = (uint64_t)sysconf(_SC_PHYS_PAGES) * PAGE;
	struct info info;
	long free_before, free_after;
	unsigned int part;

	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	free_before = free_pages();
	for (part = 100; part >= 98; part--) {
		struct refusal refusal = {
			"more than is free", HYPTRACE_CMD_LOAD, false, ENOMEM, 1, 0, "bytes",
			{ REMOTE_ATTR,
			  U64_ATTR(HYPTRACE_A_CONTROL_SIZE, total / 100 * part / info.nr_cpus) },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	free_after = free_pages();
	EXPECT_EQ(kills, oom_kills());
	/* The rings would take 100 times this limit. */
	EXPECT_GT(total / PAGE / 100, labs(free_before - free_after));
}

TEST_F(refuse, load_with_bad_settings_and_a_second_load)
{
	static const struct refusal unloaded[] = {
		{ "size 0", HYPTRACE_CMD_LOAD, false, EINVAL, 1, 0, "size 0",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "mode 2", HYPTRACE_CMD_LOAD, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
		    U32_ATTR(HYPTRACE_A_CONTROL_MODE, 2) } },
		{ "the largest mode", HYPTRACE_CMD_LOAD, false, ERANGE, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, UINT32_MAX) } },
		{ "size 0 with a mode", HYPTRACE_CMD_LOAD, false, EINVAL, 2, 0, "size 0",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
	};
	static const struct refusal loaded[] = {
		{ "twice", HYPTRACE_CMD_LOAD, false, EBUSY, 0, 0, "loaded", { REMOTE_ATTR } },
		{ "twice, other size", HYPTRACE_CMD_LOAD, false, EBUSY, 0, 0, "loaded",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192) } },
	};

	EXPECT_REFUSED(unloaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(loaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(loaded);
}

TEST_F(refuse, set_of_bad_settings_and_of_the_mode_while_loaded)
{
	static const struct refusal unloaded[] = {
		{ "nothing to set", HYPTRACE_CMD_SET, false, EINVAL, NO_ATTRIBUTE, 0,
		  "nothing to set", { REMOTE_ATTR } },
		{ "size 0", HYPTRACE_CMD_SET, false, EINVAL, 1, 0, "size 0",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "a good mode and size 0", HYPTRACE_CMD_SET, false, EINVAL, 2, 0, "size 0",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "mode 2", HYPTRACE_CMD_SET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
		    U32_ATTR(HYPTRACE_A_CONTROL_MODE, 2) } },
	};
	static const struct refusal loaded[] = {
		{ "size 0 while loaded", HYPTRACE_CMD_SET, false, EINVAL, 1, 0, "size 0",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "size and mode while loaded", HYPTRACE_CMD_SET, false, EBUSY, 2, 0, "mode",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
		    U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD) } },
		{ "mode while loaded", HYPTRACE_CMD_SET, false, EBUSY, 1, 0, "mode",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD) } },
	};

	EXPECT_REFUSED(unloaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(loaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(loaded);
}

TEST_F(refuse, rate_of_the_hypervisor)
{
	static const struct refusal refusals[] = {
		{ "rate", HYPTRACE_CMD_SET, false, EOPNOTSUPP, 1, 0, "rate",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_RATE, 100) } },
		{ "rate with a good mode", HYPTRACE_CMD_SET, false, EOPNOTSUPP, 2, 0, "rate",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U32_ATTR(HYPTRACE_A_CONTROL_RATE, 100) } },
	};

	if (!strcmp(variant->remote, "hypervisor"))
		EXPECT_REFUSED(refusals);
	else
		EXPECT_EQ(0, control_set_rate(&self->nl, variant->remote, 0));
}

TEST_F(refuse, clear_of_an_unknown_cpu)
{
	static const struct refusal refusals[] = {
		{ "no such CPU", HYPTRACE_CMD_CLEAR, false, ENXIO, 1, 0, "no ring for CPU 4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, NO_CPU) } },
		{ "all CPUs are not a CPU", HYPTRACE_CMD_CLEAR, false, ENXIO, 1, 0, "no ring for CPU 4294967295",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, UINT32_MAX) } },
	};

	EXPECT_REFUSED(refusals);
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 8192, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, mark_with_bad_attributes_or_while_not_recording)
{
	static const struct refusal refusals[] = {
		{ "no value", HYPTRACE_CMD_MARK, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_CONTROL_VALUE, "\"value\"", { REMOTE_ATTR } },
		{ "count 0", HYPTRACE_CMD_MARK, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_COUNT, 0) } },
		{ "no such CPU", HYPTRACE_CMD_MARK, false, ENXIO, 2, 0, "no ring for CPU 4711",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_CPU, NO_CPU) } },
		{ "the largest CPU", HYPTRACE_CMD_MARK, false, ENXIO, 2, 0, "no ring for CPU 4294967295",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_CPU, UINT32_MAX) } },
	};
	static const struct refusal off[] = {
		{ "tracing off", HYPTRACE_CMD_MARK, false, ENODATA, 0, 0, "tracing is off",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
	};
	static const struct refusal disabled[] = {
		{ "not enabled", HYPTRACE_CMD_MARK, false, ENODATA, 0, 0, "\"selftest\"",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
	};

	EXPECT_REFUSED(refusals);
	EXPECT_REFUSED(off);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(off);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(disabled);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	EXPECT_REFUSED(refusals);
}

/* The message names the process that was the first to attach. */
TEST_F(refuse, while_attached)
{
	static char word[80];
	static const struct refusal refusals[] = {
		{ "unload", HYPTRACE_CMD_UNLOAD, false, EBUSY, 0, 0, word, { REMOTE_ATTR } },
		{ "reset", HYPTRACE_CMD_RESET, false, EBUSY, 0, 0, word, { REMOTE_ATTR } },
	};
	int fd = open_attached(variant->remote, 0, 0), other;

	ASSERT_LE(0, fd);
	snprintf(word, sizeof(word), "process %d (test_refuse) is reading CPU 0: ", getpid());
	EXPECT_REFUSED(refusals);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	EXPECT_REFUSED(refusals);
	other = open_snapshot(variant->remote, 1);
	ASSERT_LE(0, other);
	EXPECT_REFUSED(refusals);
	close(fd);
	snprintf(word, sizeof(word), "process %d (test_refuse) is observing CPU 1: ", getpid());
	EXPECT_REFUSED(refusals);
	close(other);
	other = open_attached(variant->remote, HYPTRACE_CPU_ALL, 0);
	ASSERT_LE(0, other);
	snprintf(word, sizeof(word), "process %d (test_refuse) is reading all CPUs: ", getpid());
	EXPECT_REFUSED(refusals);
	close(other);
}

TEST_F(refuse, events_and_cpus_that_cannot_be_counted)
{
	static const struct refusal refusals[] = {
		{ "no names", HYPTRACE_CMD_COUNT_SET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_EVENT_NAMES, "\"names\"",
		  { REMOTE_ATTR, U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "no enabled", HYPTRACE_CMD_COUNT_SET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_EVENT_ENABLED, "\"enabled\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "host_hcall") } },
		{ "unknown event", HYPTRACE_CMD_COUNT_SET, false, ENOENT, 2, 0, "\"no_such\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "host_hcall"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "no_such"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "event without counters", HYPTRACE_CMD_COUNT_SET, false, EOPNOTSUPP, 1, 0,
		  " cannot ",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "reset of no such CPU", HYPTRACE_CMD_COUNT_RESET, false, ENXIO, 1, 0, "no ring for CPU 4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, NO_CPU) } },
		{ "dump without a remote", HYPTRACE_CMD_COUNT_GET, true, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_COUNTER_REMOTE, "\"remote\"",
		  { U32_ATTR(HYPTRACE_A_COUNTER_CPU, 0) } },
	};
	static const struct refusal only_hypervisor[] = {
		{ "dump of no such CPU", HYPTRACE_CMD_COUNT_GET, true, ENXIO, 1, 0, "no ring for CPU 4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_COUNTER_CPU, NO_CPU) } },
	};
	static const struct refusal only_test[] = {
		{ "remote that cannot count", HYPTRACE_CMD_COUNT_SET, false, EOPNOTSUPP, 1, 0,
		  "\"test\" cannot count",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "host_hcall"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "reset", HYPTRACE_CMD_COUNT_RESET, false, EOPNOTSUPP, 0, 0,
		  "\"test\" cannot count", { REMOTE_ATTR } },
		{ "dump", HYPTRACE_CMD_COUNT_GET, true, EOPNOTSUPP, 0, 0,
		  "\"test\" cannot count", { REMOTE_ATTR } },
	};

	EXPECT_REFUSED(refusals);
	if (!strcmp(variant->remote, "test"))
		EXPECT_REFUSED(only_test);
	else
		EXPECT_REFUSED(only_hypervisor);
}

TEST_F(refuse, pages_without_an_owner)
{
	static const struct refusal refusals[] = {
		{ "no pfn", HYPTRACE_CMD_PAGE_GET, false, EINVAL, NO_ATTRIBUTE,
		  HYPTRACE_A_PAGE_PFN, "\"pfn\"", { REMOTE_ATTR } },
		{ "no page", HYPTRACE_CMD_PAGE_GET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_PAGE_PFN, 1),
		    U32_ATTR(HYPTRACE_A_PAGE_COUNT, 0) } },
		{ "too many pages", HYPTRACE_CMD_PAGE_GET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_PAGE_PFN, 1),
		    U32_ATTR(HYPTRACE_A_PAGE_COUNT, HYPTRACE_PAGE_COUNT_MAX + 1) } },
		{ "numbers that wrap", HYPTRACE_CMD_PAGE_GET, false, ERANGE, 1, 0, "do not exist",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_PAGE_PFN, UINT64_MAX),
		    U32_ATTR(HYPTRACE_A_PAGE_COUNT, 2) } },
	};
	static const struct refusal unprotected[] = {
		{ "no protection", HYPTRACE_CMD_PAGE_GET, false, EOPNOTSUPP, 0, 0,
		  "protects no memory: the host owns all pages",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_PAGE_PFN, 1) } },
		{ "no protection of several pages", HYPTRACE_CMD_PAGE_GET, false, EOPNOTSUPP, 1, 0,
		  "protects no memory: the host owns all pages",
		  { U64_ATTR(HYPTRACE_A_PAGE_PFN, 0), REMOTE_ATTR,
		    U32_ATTR(HYPTRACE_A_PAGE_COUNT, HYPTRACE_PAGE_COUNT_MAX) } },
	};
	struct info info;

	EXPECT_REFUSED(refusals);
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	if (!info.protected)
		EXPECT_REFUSED(unprotected);
}

TEST_F(refuse, visits)
{
	static const struct refusal refusals[] = {
		{ "no visit", HYPTRACE_CMD_VISIT_GET, false, ERANGE, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_VISIT_COUNT, 0) } },
		{ "too many visits", HYPTRACE_CMD_VISIT_GET, false, ERANGE, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_VISIT_COUNT, HYPTRACE_VISIT_COUNT_MAX + 1) } },
	};
	static const struct refusal only_hypervisor[] = {
		{ "no hypervisor", HYPTRACE_CMD_VISIT_GET, false, EOPNOTSUPP, 0, 0,
		  "is no hypervisor", { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_VISIT_COUNT, 1) } },
	};

	EXPECT_REFUSED(refusals);
	if (!strcmp(variant->remote, "test"))
		EXPECT_REFUSED(only_hypervisor);
}

TEST_HARNESS_MAIN
