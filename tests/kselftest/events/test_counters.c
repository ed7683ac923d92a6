// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting at EL2 against the records of the same events, and against hypercalls that the test
 * makes itself, through the module hyptrace_calls. Hypercalls of KVM need a guest, and those of
 * hyptrace are neither counted nor recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/kvm.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"
#include "events.h"

#define HYPERVISOR	"hypervisor"
#define CPUS		2
#define RING_SIZE	(16 << 20)
#define MAX_EVENTS	200000
#define MAX_COUNTERS	1024
#define NSEC_PER_SEC	1000000000ULL

/* KVM_VM_TYPE_ARM_PROTECTED of newer kernels */
#define PROTECTED_VM	(1UL << 31)

static const char *const countable[] = {
	"hyp_enter", "host_hcall", "guest_exit", "mem_transition", "lock_wait",
};

#define NR_COUNTABLE	(sizeof(countable) / sizeof(countable[0]))

FIXTURE(counters) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_COUNTABLE];
	struct event *events;
	ssize_t nr_events;
	struct counter *counters;
	ssize_t nr;
};

FIXTURE_SETUP(counters)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
	ASSERT_EQ(0, calls_open(&self->calls));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	self->counters = calloc(MAX_COUNTERS, sizeof(*self->counters));
	ASSERT_TRUE(self->events && self->counters);
}

FIXTURE_TEARDOWN(counters)
{
	control_fresh(&self->nl, HYPERVISOR);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

static uint64_t boottime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void count_all(struct __test_metadata *_metadata, struct _test_data_counters *self,
		      bool count)
{
	unsigned int i;

	for (i = 0; i < NR_COUNTABLE; i++)
		ASSERT_EQ(0, counters_set(&self->nl, countable[i], count));
}

static void get_counters(struct __test_metadata *_metadata, struct _test_data_counters *self)
{
	ssize_t i;

	self->nr = counters_get(&self->nl, CPU_ALL, self->counters, MAX_COUNTERS);
	ASSERT_LE(0, self->nr);
	for (i = 0; i < self->nr; i++) {
		const struct counter *counter = &self->counters[i];

		EXPECT_TRUE(counter_is_plausible(counter))
			TH_LOG("%s %s=%llu: count %llu, total %llu", counter->event,
			       counter->field, (unsigned long long)counter->value,
			       (unsigned long long)counter->count,
			       (unsigned long long)counter->total);
	}
}

/* Make each hypercall that has no effect a number of times, on this CPU, which depends on it. */
static int make_calls(const struct calls *calls, unsigned int cpu)
{
	static struct calls_one list[CALLS_BATCH];
	unsigned int i, j, times;

	if (pin_to(cpu))
		return -1;
	for (i = 0; i < calls->info.nr_known; i++) {
		const struct calls_known *known = &calls->info.known[i];

		if (known->flags & (CALLS_UNSAFE | CALLS_RESERVES))
			continue;
		times = 1 + (known->number * 7 + cpu * 3) % 40;
		for (j = 0; j < times; j++) {
			memcpy(list[j].x, known->x, sizeof(list[j].x));
			list[j].x[0] = calls->info.base + known->number;
		}
		/* numbers that no hypercall has */
		list[times].x[0] = calls->info.base + 1000 + i;
		if (calls_make(calls, list, times + 1))
			return -1;
	}
	return 0;
}

static void make_calls_on_all(struct __test_metadata *_metadata, struct _test_data_counters *self)
{
	unsigned int cpu;
	int status;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!fork())
			_exit(make_calls(&self->calls, cpu) ? 1 : 0);
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
}

static void check_number_of_calls(struct __test_metadata *_metadata,
				  struct _test_data_counters *self)
{
	const struct calls_info *info = &self->calls.info;
	const struct counter *counter;
	unsigned int cpu, i, made;
	ssize_t j;

	for (cpu = 0; cpu < CPUS; cpu++) {
		made = 0;
		for (i = 0; i < info->nr_known; i++) {
			const struct calls_known *known = &info->known[i];
			uint64_t times = 1 + (known->number * 7 + cpu * 3) % 40;

			if (known->flags & (CALLS_UNSAFE | CALLS_RESERVES))
				continue;
			made++;
			counter = counters_find(self->counters, self->nr, cpu, "host_hcall", "id",
						known->number);
			if (known->flags & CALLS_OWN) {
				EXPECT_EQ(NULL, counter) TH_LOG("%s", known->name);
				continue;
			}
			ASSERT_NE(NULL, counter) TH_LOG("%s on CPU %u", known->name, cpu);
			EXPECT_EQ(times, counter->count) TH_LOG("%s on CPU %u", known->name, cpu);
		}
		for (j = 0; j < self->nr; j++) {
			counter = &self->counters[j];
			if (counter->cpu == cpu && counter->is_others) {
				EXPECT_STREQ("host_hcall", counter->event);
				EXPECT_EQ(made, counter->count);
				made = 0;
			}
		}
		EXPECT_EQ(0, made) TH_LOG("unknown hypercalls are not counted");
	}
}

/* Without rings: nothing is loaded, and no event is enabled. */
TEST_F(counters, hypercalls_are_counted_as_they_were_made)
{
	struct info info;
	uint64_t start;
	ssize_t i;

	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	start = boottime_ns();
	make_calls_on_all(_metadata, self);
	start = boottime_ns() - start;
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", false));
	ASSERT_EQ(0, control_info(&self->nl, HYPERVISOR, &info));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state);

	/* They can be read after counting has ended, and nothing else was counted. */
	get_counters(_metadata, self);
	check_number_of_calls(_metadata, self);
	for (i = 0; i < self->nr; i++) {
		EXPECT_STREQ("host_hcall", self->counters[i].event);
		EXPECT_GE(start + start / 1000, self->counters[i].total);
		EXPECT_GE(self->counters[i].total, self->counters[i].longest);
	}
}

static long long calls_of_driver(void)
{
	FILE *file = fopen("/sys/kernel/debug/hyptrace/" HYPERVISOR "/calls", "r");
	long long calls = -1;

	if (file && fscanf(file, "%lld", &calls) != 1)
		calls = -1;
	if (file)
		fclose(file);
	return calls;
}

TEST_F(counters, reading_makes_no_hypercall)
{
	long long calls;

	count_all(_metadata, self, true);
	make_calls_on_all(_metadata, self);
	calls = calls_of_driver();
	ASSERT_LT(0, calls);
	get_counters(_metadata, self);
	EXPECT_LT(0, self->nr);
	EXPECT_EQ(calls, calls_of_driver());
}

/* Sums of the events of a key */
struct sums {
	uint64_t count;
	uint64_t duration;
	uint64_t longest;
};

/* Add up the events that a counter must have counted. */
static struct sums sums_of(const struct _test_data_counters *self, const struct counter *counter,
			   int trap)
{
	bool has_duration = counter->has_time && strcmp(counter->event, "hyp_enter");
	struct sums sums = { };
	const struct event *event;

	for (event = self->events; event < self->events + self->nr_events; event++) {
		uint64_t duration, value;

		if (event->cpu != counter->cpu || strcmp(event->type->name, counter->event))
			continue;
		value = event_field(event, counter->field);
		if (counter->is_others ? value < 128 : value != counter->value)
			continue;
		/* An exit that is no trap has no class. */
		if (!strcmp(counter->field, "ec") && event_field(event, "code") != trap)
			continue;
		duration = has_duration ? event_field(event, "duration") : 0;
		sums.count++;
		sums.duration += duration;
		if (duration > sums.longest)
			sums.longest = duration;
	}
	return sums;
}

/*
 * The counters are those of the events. A time includes what EL2 needs to begin the record, so it
 * is not shorter than the duration. The rate of the clock may differ by 500 ppm from that of the
 * counter. hyp_enter also happens while the test only counts, except from a guest.
 */
static void compare(struct __test_metadata *_metadata, struct _test_data_counters *self,
		    uint64_t ns)
{
	int guest_exit = control_symbol(&self->nl, HYPERVISOR, "hyp_enter", "reason", "guest_exit");
	int trap = control_symbol(&self->nl, HYPERVISOR, "guest_exit", "code", "trap");
	uint64_t counted = 0, all = 0;
	ssize_t i;

	for (i = 0; i < self->nr; i++) {
		const struct counter *counter = &self->counters[i];
		struct sums sums = sums_of(self, counter, trap);
		bool is_enter = !strcmp(counter->event, "hyp_enter");

		if (!strcmp(counter->event, "hyp_exit"))
			continue;
		if (is_enter && (int)counter->value != guest_exit) {
			EXPECT_LE(sums.count, counter->count);
		} else {
			EXPECT_EQ(sums.count, counter->count)
				TH_LOG("CPU %u: %s %s=%llu", counter->cpu, counter->event,
				       counter->field, (unsigned long long)counter->value);
		}
		EXPECT_LE(sums.duration, counter->total + counter->total / 1000 + counter->count);
		EXPECT_LE(sums.longest, counter->longest + counter->longest / 1000 + 1);
		EXPECT_GE(ns + ns / 1000, counter->total);
		if (!is_enter)
			counted += counter->count;
	}
	for (i = 0; i < self->nr_events; i++)
		all += !!strcmp(self->events[i].type->name, "hyp_enter");
	EXPECT_EQ(all, counted);
	TH_LOG("%zd counters, %zd events", self->nr, self->nr_events);
}

static void start(struct __test_metadata *_metadata, struct _test_data_counters *self)
{
	ASSERT_EQ(0, control_load(&self->nl, HYPERVISOR, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, HYPERVISOR, countable, self->types, NR_COUNTABLE));
	count_all(_metadata, self, true);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, HYPERVISOR));
}

static void stop_and_compare(struct __test_metadata *_metadata, struct _test_data_counters *self,
			     uint64_t ns)
{
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, HYPERVISOR));
	count_all(_metadata, self, false);
	get_counters(_metadata, self);
	self->nr_events = events_read_all(HYPERVISOR, CPUS, self->types, NR_COUNTABLE, self->events,
					  MAX_EVENTS);
	ASSERT_LT(0, self->nr_events);
	compare(_metadata, self, ns);
}

TEST_F(counters, counters_of_hypercalls_are_those_of_their_events)
{
	uint64_t ns = boottime_ns();

	start(_metadata, self);
	make_calls_on_all(_metadata, self);
	stop_and_compare(_metadata, self, boottime_ns() - ns);
	check_number_of_calls(_metadata, self);
}

/* Run a guest. Return 0 if it has run. */
static int workload(unsigned int cpu, bool protected)
{
	char text[12];
	int status;
	pid_t child;

	snprintf(text, sizeof(text), "%u", cpu);
	child = fork();
	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", text, "--mmio", "100", "--psci", "90",
		       "--fp", "30", "--sysreg", "80", "--wfi", "5",
		       protected ? "--protected" : NULL, NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

TEST_F(counters, counters_of_a_guest_are_those_of_its_events)
{
	int dabt = control_symbol(&self->nl, HYPERVISOR, "guest_exit", "ec", "DABT_LOW");
	const struct counter *counter;
	uint64_t ns = boottime_ns();

	start(_metadata, self);
	ASSERT_EQ(0, workload(1, false));
	stop_and_compare(_metadata, self, boottime_ns() - ns);
	counter = counters_find(self->counters, self->nr, 1, "guest_exit", "ec", dabt);
	ASSERT_NE(NULL, counter);
	EXPECT_EQ(100, counter->count);
	EXPECT_NE(0, counter->total);
	EXPECT_EQ(NULL, counters_find(self->counters, self->nr, 0, "guest_exit", "ec", dabt));
}

static bool kernel_has_protected_guests(void)
{
	int kvm = open("/dev/kvm", O_RDWR), vm = ioctl(kvm, KVM_CREATE_VM, PROTECTED_VM);

	if (vm >= 0)
		close(vm);
	close(kvm);
	return vm >= 0;
}

/* While EL2 runs such a guest, it counts what it records: see test_exits. */
TEST_F(counters, a_protected_guest_is_counted_as_it_is_recorded)
{
	uint64_t ns = boottime_ns();

	if (!kernel_has_protected_guests()) {
		EXPECT_NE(0, workload(1, true));
		SKIP(return, "this kernel has no protected guests");
	}
	start(_metadata, self);
	ASSERT_EQ(0, workload(1, true));
	stop_and_compare(_metadata, self, boottime_ns() - ns);
}

/* A reader sees no count without its time, and nothing goes back. */
TEST_F(counters, values_are_consistent_while_they_change)
{
	static struct counter last[MAX_COUNTERS];
	const struct counter *now;
	ssize_t nr_last = 0, i;
	unsigned int rounds, changes = 0;
	int status;
	pid_t child;

	count_all(_metadata, self, true);
	child = fork();
	if (!child) {
		for (i = 0; i < 40; i++) {
			if (make_calls(&self->calls, 1))
				_exit(1);
		}
		_exit(0);
	}
	for (rounds = 0; !waitpid(child, &status, WNOHANG); rounds++) {
		get_counters(_metadata, self);
		for (i = 0; i < nr_last; i++) {
			/* a visit of EL2 counts as outside until it ends */
			if (last[i].is_others || last[i].now)
				continue;
			now = counters_find(self->counters, self->nr, last[i].cpu, last[i].event,
					    last[i].field, last[i].value);
			ASSERT_NE(NULL, now);
			EXPECT_LE(last[i].count, now->count);
			EXPECT_LE(last[i].total, now->total);
			EXPECT_LE(last[i].longest, now->longest);
			changes += now->count != last[i].count;
		}
		ASSERT_FALSE(has_failed(_metadata));
		memcpy(last, self->counters, self->nr * sizeof(*last));
		nr_last = self->nr;
	}
	EXPECT_EQ(0, status);
	TH_LOG("%u reads, %u changes", rounds, changes);
	EXPECT_LT(0, changes);
}

static uint64_t count_on(struct __test_metadata *_metadata, struct _test_data_counters *self,
			 unsigned int cpu)
{
	uint64_t sum = 0;
	ssize_t i;

	self->nr = counters_get(&self->nl, cpu, self->counters, MAX_COUNTERS);
	EXPECT_LE(0, self->nr);
	for (i = 0; i < self->nr; i++) {
		EXPECT_EQ(cpu, self->counters[i].cpu);
		sum += self->counters[i].count;
	}
	return sum;
}

TEST_F(counters, counters_stay_until_they_are_reset)
{
	uint64_t before;

	/* There are none so far, and that is no error. */
	EXPECT_EQ(0, count_on(_metadata, self, 0));
	EXPECT_EQ(0, counters_reset(&self->nl, CPU_ALL));

	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	make_calls_on_all(_metadata, self);
	before = count_on(_metadata, self, 0);
	EXPECT_LT(0, before);
	/* other events, and none */
	ASSERT_EQ(0, counters_set(&self->nl, "guest_exit", true));
	EXPECT_EQ(before, count_on(_metadata, self, 0));
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", false));
	make_calls_on_all(_metadata, self);
	ASSERT_EQ(0, counters_set(&self->nl, "guest_exit", false));
	EXPECT_EQ(before, count_on(_metadata, self, 0));
	/* going on */
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(2 * before, count_on(_metadata, self, 0));

	before = count_on(_metadata, self, 1);
	EXPECT_EQ(0, counters_reset(&self->nl, 0));
	EXPECT_EQ(0, count_on(_metadata, self, 0));
	EXPECT_EQ(before, count_on(_metadata, self, 1));
	EXPECT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(0, count_on(_metadata, self, 1));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(before / 2, count_on(_metadata, self, 1));

	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", false));
	EXPECT_EQ(0, counters_reset(&self->nl, 0));
	EXPECT_EQ(0, count_on(_metadata, self, 0));
	EXPECT_EQ(before / 2, count_on(_metadata, self, 1));
	EXPECT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(0, count_on(_metadata, self, 1));

	/* reset ends counting, too */
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	make_calls_on_all(_metadata, self);
	ASSERT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
	EXPECT_EQ(0, count_on(_metadata, self, 0));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(0, count_on(_metadata, self, 0));
}

TEST_F(counters, a_cpu_counts_again_when_it_is_online_again)
{
	uint64_t before;

	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	make_calls_on_all(_metadata, self);
	before = count_on(_metadata, self, 1);
	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(before, count_on(_metadata, self, 1));
	ASSERT_EQ(0, cpu_set_online(1, true));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(2 * before, count_on(_metadata, self, 1));

	/* Everything can be changed while it is offline. */
	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(0, counters_set(&self->nl, "host_hcall", false));
	EXPECT_EQ(0, counters_reset(&self->nl, 1));
	EXPECT_EQ(0, count_on(_metadata, self, 1));
	ASSERT_EQ(0, cpu_set_online(1, true));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(0, count_on(_metadata, self, 1));

	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	ASSERT_EQ(0, cpu_set_online(1, true));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(before, count_on(_metadata, self, 1));

	/* The memory is given back, too. */
	ASSERT_EQ(0, cpu_set_online(1, false));
	EXPECT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
	ASSERT_EQ(0, cpu_set_online(1, true));
	EXPECT_EQ(0, count_on(_metadata, self, 1));
	EXPECT_EQ(0, counters_set(&self->nl, "host_hcall", true));
	make_calls_on_all(_metadata, self);
	EXPECT_EQ(before, count_on(_metadata, self, 1));
}

TEST_F(counters, a_module_that_is_removed_leaves_no_counters)
{
	count_all(_metadata, self, true);
	make_calls_on_all(_metadata, self);
	ASSERT_EQ(0, system("modprobe -r hyptrace_pkvm && modprobe hyptrace_pkvm"));
	EXPECT_EQ(0, count_on(_metadata, self, 0));
	count_all(_metadata, self, true);
	make_calls_on_all(_metadata, self);
	get_counters(_metadata, self);
	check_number_of_calls(_metadata, self);
}

TEST_HARNESS_MAIN
