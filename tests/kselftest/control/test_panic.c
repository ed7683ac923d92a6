// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a panic prints of the rings: the module hyptrace_faulty calls the driver's notifier, which
 * does that once after it was loaded, and no other, so that the machine goes on.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "control.h"
#include "cpus.h"
#include "kmsg.h"
#include "module.h"
#include "page.h"
#include "parameter.h"

#define REMOTE		"test"
#define FAULTY		"faulty"
#define PARAMETERS	"/sys/module/hyptrace_faulty/parameters/"
#define PATIENCE_S	300
#define NR_SUBBUFS	8
#define DAMAGED		"hyptrace: sub-buffers that are damaged, and were skipped: "
#define UNFINISHED	"hyptrace: events that EL2 was recording when it panicked, and that are left out: "
#define MAX_LINES	4096
/* A record of a selftest event: its length is in units of 4 bytes. */
#define COMMIT		20
#define HEADER		4

/* An event that was printed */
struct line {
	unsigned int		cpu;
	unsigned long long	time_ns;
	unsigned long long	id;
};

/* What a panic has printed of one remote, in its two parts */
struct part {
	struct line	lines[MAX_LINES];
	unsigned int	nr;
	unsigned int	damaged;
	unsigned int	unfinished;
	bool		is_there;
};

static struct part own, all;

FIXTURE(panic) {
	struct nl nl;
	int kmsg;
};

FIXTURE_SETUP(panic)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	self->kmsg = log_open();
	ASSERT_LE(0, self->kmsg);
}

static int load_driver(const char *parameters)
{
	return module_unload("hyptrace_faulty") ?: module_unload("hyptrace_test") ?:
	       module_unload("hyptrace") ?:
	       module_load("hyptrace", parameters) ?: module_load("hyptrace_test", "");
}

FIXTURE_TEARDOWN(panic)
{
	close(self->kmsg);
	nl_close(&self->nl);
	EXPECT_EQ(0, load_driver(""));
}

/* Load the driver so that a panic prints so many events. Its family gets another id by that. */
static int load(struct nl *nl, const char *events)
{
	char parameter[64];

	nl_close(nl);
	snprintf(parameter, sizeof(parameter), "panic_events=%s", events);
	return load_driver(parameter) ?: module_load("hyptrace_faulty", "") ?: nl_open(nl);
}

static int ready(struct nl *nl)
{
	return control_ready(nl, REMOTE, NR_SUBBUFS * PAGE, HYPTRACE_MODE_OVERWRITE);
}

static void take_line(struct part *part, const char *text)
{
	unsigned long long seconds, ns;
	struct line line;

	if (sscanf(text, DAMAGED "%u", &part->damaged) == 1 ||
	    sscanf(text, UNFINISHED "%u", &part->unfinished) == 1 || part->nr == MAX_LINES ||
	    sscanf(text, "hyptrace: [%u] %llu.%llu: selftest: id=%llu", &line.cpu, &seconds, &ns,
		   &line.id) != 4)
		return;
	line.time_ns = seconds * 1000000000 + ns;
	part->lines[part->nr++] = line;
}

/* Panic on that CPU. Read what is printed of the remote. */
static int panics(int kmsg, unsigned int cpu, const char *remote)
{
	char begin[64], first[128], second[128];
	static char line[8192];
	struct part *part = NULL;
	const char *text;
	ssize_t len;

	memset(&own, 0, sizeof(own));
	memset(&all, 0, sizeof(all));
	if (pin_to(cpu) || set_parameter(PARAMETERS "panic", 1))
		return -1;
	snprintf(begin, sizeof(begin), "hyptrace: remote \"");
	snprintf(first, sizeof(first), "%s%s\": the last events of CPU %u, which panics:", begin,
		 remote, cpu);
	snprintf(second, sizeof(second), "%s%s\": the last events of all CPUs:", begin, remote);
	while ((len = read(kmsg, line, sizeof(line) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		line[len > 0 ? len : 0] = 0;
		text = strchr(line, ';');
		if (!text++)
			continue;
		if (!strncmp(text, begin, strlen(begin)))
			part = NULL;
		if (!strncmp(text, first, strlen(first)))
			part = &own;
		if (!strncmp(text, second, strlen(second)))
			part = &all;
		if (part)
			part->is_there = true;
		if (part)
			take_line(part, text);
	}
	return 0;
}

/* Does a part have, from its line @at on, the events of a CPU with these numbers? */
static bool has(const struct part *part, unsigned int at, unsigned int cpu, uint64_t id,
		unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (at + i >= part->nr || part->lines[at + i].cpu != cpu ||
		    part->lines[at + i].id != id + i ||
		    (at + i && part->lines[at + i].time_ns < part->lines[at + i - 1].time_ns))
			return false;
	return true;
}

TEST_F_TIMEOUT(panic, the_last_events_of_its_cpu_come_first, PATIENCE_S)
{
	ASSERT_EQ(0, load(&self->nl, "8"));
	ASSERT_EQ(0, ready(&self->nl));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 100));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 1, 1000, 5));
	ASSERT_EQ(0, panics(self->kmsg, 0, REMOTE));
	EXPECT_EQ(8, own.nr);
	EXPECT_TRUE(has(&own, 0, 0, 92, 8));
	EXPECT_EQ(8, all.nr);
	EXPECT_TRUE(has(&all, 0, 0, 97, 3));
	EXPECT_TRUE(has(&all, 3, 1, 1000, 5));
	EXPECT_EQ(0, own.damaged + own.unfinished + all.damaged + all.unfinished);
	/* a fault of the first panic is one, too */
	ASSERT_EQ(0, panics(self->kmsg, 0, REMOTE));
	EXPECT_FALSE(own.is_there || all.is_there);
}

TEST_F_TIMEOUT(panic, events_of_several_subbufs_are_in_order, PATIENCE_S)
{
	const unsigned int nr = 2 * PER_SUBBUF + 10;

	ASSERT_EQ(0, load(&self->nl, "1000"));
	ASSERT_EQ(0, ready(&self->nl));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 1, 0, nr));
	ASSERT_EQ(0, panics(self->kmsg, 1, REMOTE));
	EXPECT_EQ(nr, own.nr);
	EXPECT_TRUE(has(&own, 0, 1, 0, nr));
	EXPECT_EQ(nr, all.nr);
	EXPECT_TRUE(has(&all, 0, 1, 0, nr));
}

/* Those of two CPUs that took turns are merged, and the oldest are left out. */
TEST_F_TIMEOUT(panic, events_of_cpus_are_merged_by_time, PATIENCE_S)
{
	unsigned int i;

	ASSERT_EQ(0, load(&self->nl, "6"));
	ASSERT_EQ(0, ready(&self->nl));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, control_mark(&self->nl, REMOTE, i % 2, i, 1));
	ASSERT_EQ(0, panics(self->kmsg, 1, REMOTE));
	EXPECT_EQ(5, own.nr);
	ASSERT_EQ(6, all.nr);
	for (i = 0; i < 6; i++)
		EXPECT_TRUE(has(&all, i, i % 2, 4 + i, 1));
}

TEST_F_TIMEOUT(panic, what_was_read_counts_and_what_was_cleared_does_not, PATIENCE_S)
{
	static uint8_t page[PAGE_MAX];
	int fd;

	ASSERT_EQ(0, load(&self->nl, "100"));
	ASSERT_EQ(0, ready(&self->nl));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 5));
	ASSERT_EQ(0, control_clear(&self->nl, REMOTE, CPU_ALL));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 5, 10));
	fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_EQ(PAGE, read(fd, page, PAGE));
	close(fd);
	ASSERT_EQ(0, panics(self->kmsg, 0, REMOTE));
	EXPECT_EQ(10, own.nr);
	EXPECT_TRUE(has(&own, 0, 0, 5, 10));
}

TEST_F_TIMEOUT(panic, a_ring_that_was_overwritten_has_its_last_events, PATIENCE_S)
{
	const unsigned int nr = 20 * PER_SUBBUF;

	ASSERT_EQ(0, load(&self->nl, "1000000"));
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 4 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, nr));
	/* The log has no room for two parts. */
	ASSERT_EQ(0, panics(self->kmsg, 1, REMOTE));
	EXPECT_FALSE(own.is_there);
	EXPECT_LE(2 * PER_SUBBUF, all.nr);
	EXPECT_GE(5 * PER_SUBBUF, all.nr);
	EXPECT_TRUE(has(&all, 0, 0, nr - all.nr, all.nr));
}

TEST_F_TIMEOUT(panic, without_rings_or_events_it_says_nothing, PATIENCE_S)
{
	ASSERT_EQ(0, load(&self->nl, "8"));
	ASSERT_EQ(0, panics(self->kmsg, 0, REMOTE));
	EXPECT_FALSE(own.is_there || all.is_there);

	ASSERT_EQ(0, load(&self->nl, "0"));
	ASSERT_EQ(0, ready(&self->nl));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 5));
	log_has(self->kmsg, "");
	ASSERT_EQ(0, set_parameter(PARAMETERS "panic", 1));
	EXPECT_FALSE(log_has(self->kmsg, "hyptrace:"));
}

/* A list of remotes that a bug has overwritten may have no end. */
TEST_F_TIMEOUT(panic, the_first_16_remotes_are_printed, PATIENCE_S)
{
	static const char *const commands[] = {
		"modprobe hyptrace_faulty remotes=15", "modprobe hyptrace_faulty remotes=16",
	};
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		nl_close(&self->nl);
		ASSERT_EQ(0, system("modprobe -r hyptrace_faulty hyptrace_test hyptrace"));
		ASSERT_EQ(0, system(commands[i]));
		ASSERT_EQ(0, system("modprobe hyptrace_test"));
		ASSERT_EQ(0, nl_open(&self->nl));
		ASSERT_EQ(0, ready(&self->nl));
		ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 5));
		ASSERT_EQ(0, panics(self->kmsg, 0, REMOTE));
		EXPECT_EQ(!i, own.is_there);
		EXPECT_EQ(i ? 0 : 5, own.nr);
	}
}

/* Write a sub-buffer with one record into a ring that has nothing else, and panic. */
static int panics_with(struct nl *nl, int kmsg, uint64_t commit, uint32_t header, int event,
		       int unfinished)
{
	FILE *file;
	int err;

	err = load(nl, "8") ?: set_parameter(PARAMETERS "unfinished", unfinished) ?:
	      control_ready(nl, FAULTY, NR_SUBBUFS * PAGE, HYPTRACE_MODE_OVERWRITE);
	if (err)
		return err;
	file = fopen(PARAMETERS "pages", "w");
	if (!file)
		return -errno;
	fprintf(file, "%llx,%x,%d", (unsigned long long)commit, header, event);
	if (fclose(file))
		return -errno;
	return panics(kmsg, 0, FAULTY);
}

TEST_F_TIMEOUT(panic, a_damaged_subbuf_is_skipped, PATIENCE_S)
{
	const int event = control_event_id(&self->nl, REMOTE, "selftest");
	const struct { uint64_t commit; uint32_t header; int event; bool is_good; } cases[] = {
		{ COMMIT, HEADER, event, true },
		{ PAGE, HEADER, event },
		{ COMMIT - 4, HEADER - 1, event },
		{ COMMIT + 4, HEADER + 1, event },
		{ COMMIT - 2, HEADER, event },
		{ 4, 0, event },
		{ COMMIT, HEADER, 0 },
		{ COMMIT, HEADER, event + 1 },
		{ COMMIT, HEADER, 64 },
		{ COMMIT, HEADER, 65535 },
	};
	unsigned int i;

	ASSERT_LT(0, event);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ASSERT_EQ(0, panics_with(&self->nl, self->kmsg, cases[i].commit, cases[i].header,
					 cases[i].event, 0));
		EXPECT_EQ(cases[i].is_good, own.nr) TH_LOG("case %u", i);
		EXPECT_EQ(!cases[i].is_good, own.damaged) TH_LOG("case %u", i);
		EXPECT_EQ(cases[i].is_good, all.nr);
		EXPECT_EQ(!cases[i].is_good, all.damaged);
		EXPECT_TRUE(!own.nr || (own.lines[0].id == 7 && !own.lines[0].cpu));
	}
}

/* A panic does not spend long on a damaged ring. */
TEST_F_TIMEOUT(panic, of_a_damaged_ring_the_last_8_subbufs_are_looked_at, PATIENCE_S)
{
	ASSERT_EQ(0, load(&self->nl, "8"));
	ASSERT_EQ(0, control_ready(&self->nl, FAULTY, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, write_parameter(PARAMETERS "pages", "14,4,65535,12"));
	ASSERT_EQ(0, panics(self->kmsg, 0, FAULTY));
	EXPECT_EQ(8, own.damaged);
	EXPECT_EQ(0, own.nr);
}

TEST_F_TIMEOUT(panic, an_event_that_was_not_finished_is_counted, PATIENCE_S)
{
	const int event = control_event_id(&self->nl, REMOTE, "selftest");

	ASSERT_EQ(0, panics_with(&self->nl, self->kmsg, COMMIT, HEADER, event, 1));
	EXPECT_EQ(1, own.nr);
	EXPECT_EQ(1, own.unfinished);
	EXPECT_EQ(1, all.unfinished);
}

TEST_HARNESS_MAIN
