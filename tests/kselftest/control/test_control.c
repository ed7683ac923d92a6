// SPDX-License-Identifier: GPL-2.0-only
/* Requests of the netlink family that succeed: states, settings, dumps, CPU hotplug. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#include "kselftest_harness.h"
#include "cpus.h"
#include "module.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

REMOTE_FIXTURE(ctl);

static struct nl_answer answer, other_answer;
static struct nl_msg msg;

static int set_settings(struct nl *nl, const char *remote, uint64_t size, uint32_t mode)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_SET);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, remote);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, size);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, mode);
	return nl_do(nl, &msg, &answer);
}

#define EXPECT_STATE(expected)							\
	do {									\
		struct info __info;						\
										\
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &__info)); \
		EXPECT_EQ(expected, __info.state);				\
	} while (0)

#define EXPECT_DONE(cmd)	EXPECT_EQ(0, control(&self->nl, cmd, variant->remote))

static bool booted_protected(void)
{
	static char line[4096];
	FILE *file = fopen("/proc/cmdline", "r");

	if (!file || !fgets(line, sizeof(line), file))
		abort();
	fclose(file);
	return strstr(line, "kvm-arm.mode=protected");
}

TEST_F(ctl, remote_has_defaults_after_reset)
{
	struct info info;

	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state);
	EXPECT_EQ(HYPTRACE_MODE_OVERWRITE, info.mode);
	EXPECT_EQ(1 << 20, info.size_requested);
	EXPECT_EQ(0, info.size_allocated);
	EXPECT_EQ(PAGE, info.subbuf_size);
	EXPECT_EQ(0, info.nr_subbufs);
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), info.nr_cpus);
	EXPECT_LE(3, info.nr_events);
	EXPECT_EQ(0, info.readers);
	EXPECT_EQ(!strcmp(variant->remote, "hypervisor") && booted_protected(), info.protected);
}

static int cpu_state(struct nl *nl, const char *remote)
{
	struct counts counts;

	return control_counts(nl, remote, 0, &counts) ?: (int)counts.state;
}

TEST_F(ctl, load_start_stop_unload_change_the_state)
{
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
	EXPECT_DONE(HYPTRACE_CMD_LOAD);
	EXPECT_STATE(HYPTRACE_STATE_LOADED);
	EXPECT_EQ(HYPTRACE_CPU_STATE_DETACHED, cpu_state(&self->nl, variant->remote));
	EXPECT_DONE(HYPTRACE_CMD_START);
	EXPECT_STATE(HYPTRACE_STATE_TRACING);
	EXPECT_EQ(HYPTRACE_CPU_STATE_ATTACHED, cpu_state(&self->nl, variant->remote));
	/* The rings are empty and have no reader: stop unloads them. */
	EXPECT_DONE(HYPTRACE_CMD_STOP);
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
	/* Start also loads, unload also stops. */
	EXPECT_DONE(HYPTRACE_CMD_START);
	EXPECT_STATE(HYPTRACE_STATE_TRACING);
	EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
}

TEST_F(ctl, counts_of_unloaded_rings_are_0)
{
	static const struct counts none;
	struct counts counts;
	unsigned int i;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10000));
	for (i = 0; i < 2; i++) {
		memset(&counts, 0, sizeof(counts));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
		EXPECT_EQ(i, !memcmp(&none, &counts, sizeof(none)));
		EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
	}
}

TEST_F(ctl, repeated_requests_succeed)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_STOP);
	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_CLEAR);
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_START);
	EXPECT_STATE(HYPTRACE_STATE_TRACING);
	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_CLEAR);
	EXPECT_STATE(HYPTRACE_STATE_TRACING);
	for (i = 0; i < 3; i++)
		EXPECT_DONE(HYPTRACE_CMD_RESET);
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", false));
}

TEST_F(ctl, stopped_rings_unload_when_empty_and_without_reader)
{
	static char buffer[PAGE_MAX];
	struct counts before, after;
	int fd;

	/* Stopped rings with unread events stay loaded. */
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 8192, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_DONE(HYPTRACE_CMD_STOP);
	EXPECT_STATE(HYPTRACE_STATE_LOADED);
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	EXPECT_EQ(0, read(fd, buffer, PAGE));
	EXPECT_STATE(HYPTRACE_STATE_LOADED);
	close(fd);
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);

	/* Clearing the last event unloads them, too. */
	EXPECT_DONE(HYPTRACE_CMD_START);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &before));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 1));
	EXPECT_DONE(HYPTRACE_CMD_STOP);
	EXPECT_EQ(0, control_clear(&self->nl, variant->remote, 0));
	EXPECT_STATE(HYPTRACE_STATE_LOADED);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &after));
	EXPECT_EQ(before.clears + 1, after.clears);
	EXPECT_EQ(0, control_clear(&self->nl, variant->remote, 1));
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
}

TEST_F(ctl, allocated_size_is_the_requested_size_rounded_up)
{
	const long sizes[] = {
		1, PAGE, 2 * PAGE, 2 * PAGE + 1, 5 * PAGE / 2,
		96 << 10, 200 << 10, 403 << 10, 1 << 20,
		/* sizes that the remotes of mainline's tracefs cannot load */
		18000 << 10, 20000 << 10, 100000 << 10,
	};
	struct counts counts;
	struct info info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		/* the reader page, and at least two sub-buffers in the ring */
		uint32_t subbufs = 1 + (sizes[i] <= 2 * PAGE ? 2 : (sizes[i] + PAGE - 1) / PAGE);

		ASSERT_EQ(0, control_load(&self->nl, variant->remote, sizes[i],
					  HYPTRACE_MODE_DISCARD)) TH_LOG("size %ld", sizes[i]);
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
		EXPECT_EQ(sizes[i], info.size_requested);
		EXPECT_EQ((subbufs - 1) * PAGE, info.size_allocated);
		EXPECT_EQ(subbufs, info.nr_subbufs);
		EXPECT_EQ(HYPTRACE_MODE_DISCARD, info.mode);
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
		EXPECT_EQ(subbufs, counts.nr_subbufs);
		EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
		EXPECT_EQ(sizes[i], info.size_requested);
		EXPECT_EQ(0, info.size_allocated);
	}
}

TEST_F(ctl, set_without_rings_applies_to_the_next_load)
{
	struct info info;
	int fd;

	EXPECT_EQ(0, set_settings(&self->nl, variant->remote, 5 * PAGE, HYPTRACE_MODE_DISCARD));
	EXPECT_STATE(HYPTRACE_STATE_UNLOADED);
	EXPECT_DONE(HYPTRACE_CMD_START);
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(6, info.nr_subbufs);
	EXPECT_EQ(HYPTRACE_MODE_DISCARD, info.mode);
	EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
	/* Attaching also loads with these settings. */
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(6, info.nr_subbufs);
	close(fd);
	EXPECT_DONE(HYPTRACE_CMD_RESET);
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(1 << 20, info.size_requested);
	EXPECT_EQ(HYPTRACE_MODE_OVERWRITE, info.mode);
}

static int enabled(struct nl *nl, const char *remote, const char *event)
{
	const struct nlattr *attr;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, event);
	if (nl_do(nl, &msg, &answer))
		return -1;
	attr = nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_ENABLED);
	return attr ? *(const uint8_t *)nl_data(attr) : -1;
}

TEST_F(ctl, events_are_enabled_and_disabled_at_any_time)
{
	struct counts counts;

	EXPECT_EQ(0, enabled(&self->nl, variant->remote, "selftest"));
	EXPECT_EQ(0, enabled(&self->nl, variant->remote, "hyp_enter"));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_enter");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	EXPECT_EQ(0, nl_do(&self->nl, &msg, &answer));
	EXPECT_EQ(1, enabled(&self->nl, variant->remote, "selftest"));
	EXPECT_EQ(1, enabled(&self->nl, variant->remote, "hyp_enter"));
	EXPECT_EQ(0, enabled(&self->nl, variant->remote, "hyp_exit"));
	EXPECT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", false));

	/* also while tracing */
	EXPECT_DONE(HYPTRACE_CMD_START);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 3));
	EXPECT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", false));
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 3, 3));
	EXPECT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 3, 3));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(6, counts.written);
	EXPECT_DONE(HYPTRACE_CMD_RESET);
	EXPECT_EQ(0, enabled(&self->nl, variant->remote, "selftest"));
}

/* Fields are inside the payload, in order, without overlap, aligned to their sizes. */
TEST_F(ctl, event_get_describes_the_fields)
{
	const struct nlmsghdr *hdr;
	const struct nlattr *field;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	ASSERT_LE(3, answer.nr);
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr)) {
		uint32_t end = 2, payload = nl_u32(nl_attr(hdr, HYPTRACE_A_EVENT_SIZE));
		const char *event = nl_str(nl_attr(hdr, HYPTRACE_A_EVENT_NAME));
		const char *format = nl_str(nl_attr(hdr, HYPTRACE_A_EVENT_PRINT_FMT));

		EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_EVENT_REMOTE)));
		EXPECT_EQ('"', format[0]) TH_LOG("%s", event);
		for (field = nl_attr(hdr, HYPTRACE_A_EVENT_FIELD); field;
		     field = nl_attr_next(hdr, field, HYPTRACE_A_EVENT_FIELD)) {
			uint32_t offset = nl_u32(nl_nested(field, HYPTRACE_A_FIELD_OFFSET));
			uint32_t size = nl_u32(nl_nested(field, HYPTRACE_A_FIELD_SIZE));
			const char *name = nl_str(nl_nested(field, HYPTRACE_A_FIELD_NAME));
			char use[64];

			EXPECT_LE(end, offset) TH_LOG("%s.%s", event, name);
			EXPECT_EQ(0, offset % size) TH_LOG("%s.%s", event, name);
			EXPECT_LE(offset + size, payload) TH_LOG("%s.%s", event, name);
			snprintf(use, sizeof(use), "REC->%s", name);
			EXPECT_NE(NULL, strstr(format, use)) TH_LOG("%s: %s", event, format);
			EXPECT_LT(0, strlen(nl_str(nl_nested(field, HYPTRACE_A_FIELD_TYPE))));
			end = offset + size;
		}
	}
	EXPECT_EQ(0, control_symbol(&self->nl, variant->remote, "hyp_enter", "reason", "smc"));
	EXPECT_EQ(8, control_symbol(&self->nl, variant->remote, "hyp_exit", "reason", "unknown"));
	EXPECT_EQ(-ENOENT, control_symbol(&self->nl, variant->remote, "hyp_exit", "vcpu", "smc"));
}

/* A dump is the sum of the single answers; with a remote's name it has only that remote. */
TEST_F(ctl, dumps_equal_the_single_answers)
{
	const struct nlmsghdr *hdr;
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF), own = 0;
	struct info info;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr)) {
		const char *name = nl_str(nl_attr(hdr, HYPTRACE_A_REMOTE_NAME));

		nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
		nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, name);
		ASSERT_EQ(0, nl_do(&self->nl, &msg, &other_answer));
		ASSERT_EQ(1, other_answer.nr);
		own += !strcmp(name, variant->remote);
		/* Compare without the header: only an answer of a dump has NLM_F_MULTI. */
		EXPECT_EQ(hdr->nlmsg_len, nl_first(&other_answer)->nlmsg_len);
		EXPECT_EQ(0, memcmp(hdr + 1, nl_first(&other_answer) + 1,
				    hdr->nlmsg_len - NLMSG_HDRLEN));
	}
	EXPECT_EQ(1, own);

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_CPU_GET);
	nl_put_str(&msg, HYPTRACE_A_CPU_REMOTE, variant->remote);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &other_answer));
	EXPECT_EQ(cpus, other_answer.nr);
	own = 0;
	for (hdr = nl_first(&other_answer); hdr; hdr = nl_next(&other_answer, hdr)) {
		EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_CPU_REMOTE)));
		EXPECT_EQ(own++, nl_u32(nl_attr(hdr, HYPTRACE_A_CPU_ID)));
	}
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_CPU_GET);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &other_answer));
	EXPECT_EQ(cpus * answer.nr, other_answer.nr);

	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &other_answer));
	EXPECT_EQ(info.nr_events, other_answer.nr);
}

/* A small receive buffer makes the kernel split the dumps. */
TEST_F(ctl, dumps_in_several_parts_are_complete)
{
	static const uint8_t dumps[] = {
		HYPTRACE_CMD_EVENT_GET, HYPTRACE_CMD_HYPERCALL_GET,
		/* short without more remotes */
		HYPTRACE_CMD_REMOTE_GET, HYPTRACE_CMD_CPU_GET,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		if (dumps[i] == HYPTRACE_CMD_REMOTE_GET)
			ASSERT_EQ(0, module_reload("hyptrace_faulty", "remotes=24"));
		nl_begin(&msg, &self->nl, dumps[i]);
		ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
		EXPECT_TRUE(nl_parts_are_whole(&msg, &answer)) TH_LOG("operation %u", dumps[i]);
	}
	EXPECT_EQ(0, module_unload("hyptrace_faulty"));
}

/* The last remote is "test". A part of the dump may end within what it says of this event. */
TEST(event_that_has_fired_is_whole_in_each_dump)
{
	static const char remote[] = "test";
	struct info info;
	struct nl nl;

	ASSERT_EQ(0, module_unload("hyptrace_test"));
	ASSERT_EQ(0, module_reload("hyptrace_faulty", "remotes=22"));
	ASSERT_EQ(0, module_load("hyptrace_test", ""));
	ASSERT_EQ(0, nl_open(&nl));
	ASSERT_EQ(0, control_ready(&nl, remote, 4 * PAGE, HYPTRACE_MODE_OVERWRITE));
	nl_begin(&msg, &nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	ASSERT_EQ(0, nl_do(&nl, &msg, &answer));
	ASSERT_EQ(0, control_mark(&nl, remote, 0, 0, 1));
	/* That the driver notices it would interrupt a dump. */
	ASSERT_EQ(0, control_info(&nl, remote, &info));
	nl_begin(&msg, &nl, HYPTRACE_CMD_REMOTE_GET);
	ASSERT_EQ(0, nl_dump(&nl, &msg, &answer));
	/* where nl_parts_are_whole() lets parts end */
	EXPECT_LT(4096 + 200, answer.len);
	EXPECT_GT(5120, answer.len);
	EXPECT_TRUE(nl_parts_are_whole(&msg, &answer));
	EXPECT_EQ(0, control_fresh(&nl, remote));
	nl_close(&nl);
	EXPECT_EQ(0, module_unload("hyptrace_faulty"));
}

TEST_F(ctl, ring_works_while_its_cpu_is_offline_and_back)
{
	struct sequence seq = { .event = control_event_id(&self->nl, variant->remote, "selftest") };
	static char buffer[PAGE_MAX] __attribute__((aligned(8)));
	struct counts counts;
	struct info info;
	int fd;

	if (!has_hotplug())
		SKIP(return, "no CPU can go offline");
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 64 << 10, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 100));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(HYPTRACE_CPU_STATE_ATTACHED, counts.state);

	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(info.protected ? HYPTRACE_CPU_STATE_PARKED : HYPTRACE_CPU_STATE_DETACHED,
		  counts.state);
	EXPECT_EQ(100, counts.unread);
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_MARK);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, variant->remote);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_VALUE, 100);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, 1);
	EXPECT_EQ(-ENXIO, nl_do(&self->nl, &msg, &answer));
	EXPECT_NE(NULL, strstr(answer.message, "CPU 1 is offline"));

	/* The events that the CPU has written can be read. */
	fd = open_attached(variant->remote, 1, O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_EQ(100, seq.seen);

	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(HYPTRACE_CPU_STATE_ATTACHED, counts.state);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 100, 100));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(200, seq.seen);
	EXPECT_EQ(0, seq.lost);

	/* The CPU is offline again: all requests work without it. */
	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(0, control_clear(&self->nl, variant->remote, 1));
	EXPECT_DONE(HYPTRACE_CMD_STOP);
	EXPECT_DONE(HYPTRACE_CMD_START);
	close(fd);
	EXPECT_DONE(HYPTRACE_CMD_UNLOAD);
	EXPECT_DONE(HYPTRACE_CMD_START);
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 1));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(1, counts.unread);
}

/* At a rate the test remote writes events by itself. Do not check how fast it is. */
TEST_F(ctl, rate_starts_and_stops_events_of_the_test_remote)
{
	struct counts counts;
	unsigned int tries;

	if (strcmp(variant->remote, "test"))
		return;
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 64 << 10, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(0, control_set_rate(&self->nl, variant->remote, 1000));
	for (tries = 0; tries < 1000; tries++) {
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
		if (counts.written >= 100)
			break;
		usleep(10 * 1000);
	}
	EXPECT_LE(100, counts.written);
	EXPECT_EQ(0, control_set_rate(&self->nl, variant->remote, 0));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	tries = counts.written;
	usleep(100 * 1000);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(tries, counts.written);
}

/* Only the hypervisor has such an event: most kernels are built without the functions of EL2. */
TEST_F(ctl, event_that_is_not_in_this_kernel_is_refused)
{
	int err = control_enable(&self->nl, variant->remote, "func", true);

	if (!err || err == -ENOENT)
		return;
	EXPECT_EQ(-EOPNOTSUPP, err);
	EXPECT_STREQ("\"func\" is not in this kernel: see CONFIG_HYPTRACE_EL2_FUNCTIONS",
		     control_message());
}

TEST_HARNESS_MAIN
