// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owners of pages, as EL2 answers: after random calls, while VMs live and after they are gone,
 * against what the calls and the mem_transition events imply. At the start the host owns all pages
 * that change hands, and shares none of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "cpus.h"
#include "events.h"
#include "owners.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define RING_SIZE	(4 << 20)
#define MAX_EVENTS	100000

/* Random calls: 100,000 and some */
#define BATCHES		400

/* Pages from here on are looked at one by one: the memory of QEMU's machine "virt" is here. */
#define MEMORY_PFN	(0x40000000ULL / 4096)
#define MEMORY_PAGES	(512ULL << 20 >> 12)

/* The machine has its UART there, and never memory. */
#define UART_PFN	(0x09000000ULL / 4096)

static const char *const names[] = { "mem_transition" };

FIXTURE(pages) {
	struct nl nl;
	struct calls calls;
	struct event_type type;
	struct event *events;
	struct owners owners;
};

FIXTURE_SETUP(pages)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, owners_init(&self->owners, &self->nl, REMOTE));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, &self->type, 1));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, pin_to(CPU));
}

FIXTURE_TEARDOWN(pages)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

static uint8_t owner_of(struct __test_metadata *_metadata, struct _test_data_pages *self,
			uint64_t pfn)
{
	uint8_t owner = 0xff;

	EXPECT_EQ(0, owners_ask(&self->nl, REMOTE, pfn, 1, &owner));
	return owner;
}

TEST_F(pages, random_calls)
{
	const uint64_t first = self->calls.info.fresh_pfn;
	struct calls_one list[CALLS_BATCH];
	bool shared[CALLS_FRESH_PAGES] = { };
	uint8_t owners[CALLS_FRESH_PAGES];
	unsigned int batch, i, page;

	srandom(1);
	for (batch = 0; batch < BATCHES; batch++) {
		for (i = 0; i < CALLS_BATCH; i++) {
			page = random() % CALLS_FRESH_PAGES;
			list[i] = calls_hvc(&self->calls, random() % 2 ? "__pkvm_host_share_hyp" :
					    "__pkvm_host_unshare_hyp", first + page, 0, 0);
		}
		ASSERT_EQ(0, calls_make(&self->calls, list, CALLS_BATCH));
		for (i = 0; i < CALLS_BATCH; i++) {
			page = list[i].x[1] - first;
			if (!list[i].ret[1])
				shared[page] = !shared[page];
		}
		ASSERT_EQ(0, owners_ask(&self->nl, REMOTE, first, CALLS_FRESH_PAGES, owners));
		for (page = 0; page < CALLS_FRESH_PAGES; page++)
			ASSERT_EQ(shared[page] ? HYPTRACE_OWNERSHIP_HOST_SHARED_HYP :
						 HYPTRACE_OWNERSHIP_HOST, owners[page]);
	}
	for (page = 0; page < CALLS_FRESH_PAGES; page++) {
		list[page] = calls_hvc(&self->calls, "__pkvm_host_unshare_hyp", first + page, 0, 0);
		EXPECT_EQ(owners[page], owner_of(_metadata, self, first + page));
	}
	ASSERT_EQ(0, calls_make(&self->calls, list, CALLS_FRESH_PAGES));
	for (page = 0; page < CALLS_FRESH_PAGES; page++)
		EXPECT_EQ(HYPTRACE_OWNERSHIP_HOST, owner_of(_metadata, self, first + page));
}

/* Count the pages that the host can have again after the VMs: a heap of EL2 keeps its own. */
static unsigned int count_back(const struct _test_data_pages *self, const unsigned int *found)
{
	return found[HYPTRACE_OWNERSHIP_HOST] +
	       (calls_for_heap(&self->calls) ? found[HYPTRACE_OWNERSHIP_HYP] : 0);
}

/* Stop tracing and replay the events. Return their number. */
static ssize_t replay(struct __test_metadata *_metadata, struct _test_data_pages *self)
{
	ssize_t nr, i;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read_all(REMOTE, CPUS, &self->type, 1, self->events, MAX_EVENTS);
	ASSERT_LE(0, nr);
	for (i = 0; i < nr; i++)
		ASSERT_TRUE(owners_apply(&self->owners, &self->events[i]));
	return nr;
}

/* Compare the answer for each page of the events with what they imply; count the owners. */
static void compare(struct __test_metadata *_metadata, struct _test_data_pages *self,
		    unsigned int *found)
{
	unsigned int i;
	uint8_t owner;

	for (i = 0; i < OWNERS_MAX_PAGES; i++) {
		const struct page_state *page = &self->owners.pages[i];

		if (!page->used)
			continue;
		owner = owner_of(_metadata, self, page->pfn);
		EXPECT_EQ(owners_implied(&self->owners, page), owner)
			TH_LOG("page 0x%llx", (unsigned long long)page->pfn);
		if (owner <= HYPTRACE_OWNERSHIP_GUEST)
			found[owner]++;
	}
}

TEST_F(pages, of_a_vm)
{
	unsigned int alive[HYPTRACE_OWNERSHIP_GUEST + 1] = { };
	unsigned int gone[HYPTRACE_OWNERSHIP_GUEST + 1] = { };
	int vm;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	vm = calls_create_vm();
	ASSERT_LT(0, vm);
	EXPECT_LT(0, replay(_metadata, self));
	compare(_metadata, self, alive);
	TH_LOG("alive: EL2 owns %u pages, the host shares %u",
	       alive[HYPTRACE_OWNERSHIP_HYP], alive[HYPTRACE_OWNERSHIP_HOST_SHARED_HYP]);
	EXPECT_LT(0, alive[HYPTRACE_OWNERSHIP_HYP]);

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	close(vm);
	EXPECT_LT(0, replay(_metadata, self));
	compare(_metadata, self, gone);
	EXPECT_EQ(self->owners.nr_used, count_back(self, gone));
}

static pid_t start_guest(const char *option)
{
	pid_t pid = fork();

	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", "0", "--mmio", "100000000", option, NULL);
		_exit(127);
	}
	return pid;
}

static bool has_guest_page(const struct owners *owners)
{
	unsigned int i;

	for (i = 0; i < OWNERS_MAX_PAGES; i++) {
		const struct page_state *page = &owners->pages[i];

		if (page->used && (page->owner == owners->values.guest ||
				   page->sharers[owners->values.guest]))
			return true;
	}
	return false;
}

/*
 * Run a guest until it has memory, and look while it is stopped. Return whether it got any; before
 * Linux 7, EL2 does not know the pages of guests.
 */
static bool run_guest(struct __test_metadata *_metadata, struct _test_data_pages *self,
		      const char *option, unsigned int *found)
{
	unsigned int gone[HYPTRACE_OWNERSHIP_GUEST + 1] = { }, tries;
	bool has = false;
	pid_t pid;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	pid = start_guest(option);
	ASSERT_LT(0, pid);
	for (tries = 0; tries < 100 && !has && !waitpid(pid, NULL, WNOHANG); tries++) {
		kill(pid, SIGCONT);
		usleep(100000);
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		replay(_metadata, self);
		has = has_guest_page(&self->owners);
		compare(_metadata, self, found);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	replay(_metadata, self);
	compare(_metadata, self, gone);
	EXPECT_EQ(self->owners.nr_used, count_back(self, gone));
	return has;
}

TEST_F(pages, of_guests)
{
	unsigned int found[HYPTRACE_OWNERSHIP_GUEST + 1] = { };

	if (!calls_for_guest_memory(&self->calls))
		SKIP(return, "EL2 does not know the pages of guests before Linux 7");
	EXPECT_TRUE(run_guest(_metadata, self, NULL, found));
	EXPECT_LT(0, found[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST]);
	EXPECT_EQ(0, found[HYPTRACE_OWNERSHIP_GUEST]);
	if (run_guest(_metadata, self, "--protected", found))
		EXPECT_LT(0, found[HYPTRACE_OWNERSHIP_GUEST]);
	TH_LOG("pages shared with a guest: %u, of a protected guest: %u",
	       found[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST], found[HYPTRACE_OWNERSHIP_GUEST]);
}

/* Each page has an owner, and none of them is a guest. */
TEST_F(pages, of_all_memory)
{
	unsigned int found[HYPTRACE_OWNERSHIP_GUEST + 1] = { }, i;
	uint8_t owners[HYPTRACE_PAGE_COUNT_MAX];
	uint64_t pfn;

	for (pfn = MEMORY_PFN; pfn < MEMORY_PFN + MEMORY_PAGES; pfn += HYPTRACE_PAGE_COUNT_MAX) {
		ASSERT_EQ(0, owners_ask(&self->nl, REMOTE, pfn, HYPTRACE_PAGE_COUNT_MAX, owners));
		for (i = 0; i < HYPTRACE_PAGE_COUNT_MAX; i++) {
			ASSERT_LE(owners[i], HYPTRACE_OWNERSHIP_GUEST);
			found[owners[i]]++;
		}
	}
	for (i = 0; i <= HYPTRACE_OWNERSHIP_GUEST; i++)
		TH_LOG("owner %u: %u pages", i, found[i]);
	EXPECT_LT(0, found[HYPTRACE_OWNERSHIP_HOST]);
	EXPECT_LT(0, found[HYPTRACE_OWNERSHIP_HYP]);
	/* The rings are shared. */
	EXPECT_LT(RING_SIZE / 4096, found[HYPTRACE_OWNERSHIP_HOST_SHARED_HYP]);
	EXPECT_EQ(0, found[HYPTRACE_OWNERSHIP_GUEST]);
	EXPECT_EQ(0, found[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST]);
}

TEST_F(pages, that_are_no_memory)
{
	static const uint64_t pfns[] = {
		UART_PFN, 0, 1ULL << 36, (1ULL << 52) - 1, 1ULL << 52, 1ULL << 63, UINT64_MAX - 1,
	};
	unsigned int i;

	for (i = 0; i < sizeof(pfns) / sizeof(pfns[0]); i++)
		EXPECT_EQ(HYPTRACE_OWNERSHIP_NO_MEMORY, owner_of(_metadata, self, pfns[i]))
			TH_LOG("page 0x%llx", (unsigned long long)pfns[i]);
}

/* The question leaves no events. */
TEST_F(pages, are_asked_for_in_silence)
{
	struct counts before, after;
	uint8_t owners[64];
	unsigned int i;

	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "host_hcall", true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, control_counts(&self->nl, REMOTE, CPU, &before));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, owners_ask(&self->nl, REMOTE, self->calls.info.fresh_pfn, 64, owners));
	ASSERT_EQ(0, control_counts(&self->nl, REMOTE, CPU, &after));
	/* Other hypercalls of this CPU are recorded: far fewer than these 6400. */
	EXPECT_GT(1000, after.written - before.written);
}

TEST_HARNESS_MAIN
