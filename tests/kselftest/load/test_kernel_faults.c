// SPDX-License-Identifier: GPL-2.0-only
/*
 * The remote "kernel" while somebody else uses EL2's tracer behind its back, or has EL2 refuse
 * pages. Then requests fail and lose nothing that they need not, and rings work again later.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "cpus.h"
#include "free_memory.h"
#include "module.h"
#include "page.h"

#define REMOTE		"kernel"
#define MODULE		"hyptrace_kernel"
#define CPUS		2
#define NR_SUBBUFS	8
#define NR_PAGES	(CPUS * (NR_SUBBUFS + 1))
#define LOADS		1000
/* With KASAN and lockdep, in an emulator */
#define PATIENCE_S	300
#define SIZE		(NR_SUBBUFS * PAGE)

FIXTURE(kernel) {
	struct nl nl;
	struct calls calls;
};

FIXTURE_SETUP(kernel)
{
	ASSERT_EQ(0, module_load(MODULE, ""));
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, calls_open_without_vm(&self->calls));
	ASSERT_EQ(0, pin_to(0));
}

FIXTURE_TEARDOWN(kernel)
{
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
	EXPECT_EQ(0, module_unload(MODULE));
}

static int el2(const struct _test_data_kernel *self, const char *name, uint64_t x1)
{
	struct calls_one one = calls_hvc(&self->calls, name, x1, 0, 0);

	return calls_make(&self->calls, &one, 1) ?: one.ret[0] ? -EOPNOTSUPP : (int)one.ret[1];
}

static int ready(struct _test_data_kernel *self)
{
	return control_ready(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE);
}

/* Return true if rings can be loaded after a reset, and record. */
static bool works(struct _test_data_kernel *self)
{
	struct counts counts = { };

	return !ready(self) && !control_mark(&self->nl, REMOTE, 0, 1, 10) &&
	       !control_counts(&self->nl, REMOTE, 0, &counts) && counts.written == 10 &&
	       !control_fresh(&self->nl, REMOTE);
}

/* Record so many events, and return a descriptor that reads them, or a negative errno. */
static int open_recorded(struct _test_data_kernel *self, uint32_t nr)
{
	return ready(self) ?: control_mark(&self->nl, REMOTE, 0, 1, nr) ?:
	       open_attached(REMOTE, 0, O_NONBLOCK);
}

static ssize_t try_read(int fd)
{
	static char page[PAGE_MAX];

	return read(fd, page, PAGE) < 0 ? -errno : 0;
}

TEST_F(kernel, a_start_that_is_refused_changes_nothing)
{
	struct counts counts;
	struct info info;

	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, el2(self, "__tracing_unload", 0));
	EXPECT_EQ(-EINVAL, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_LOADED, info.state);
	ASSERT_EQ(0, control_counts(&self->nl, REMOTE, 0, &counts));
	EXPECT_EQ(HYPTRACE_CPU_STATE_DETACHED, counts.state);
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	EXPECT_TRUE(works(self));
}

TEST_F(kernel, a_swap_that_is_refused_is_an_error)
{
	int fd = open_recorded(self, 1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, el2(self, "__tracing_unload", 0));
	EXPECT_EQ(-ENODEV, try_read(fd));
	EXPECT_EQ(-ENODEV, try_read(fd));
	close(fd);
	EXPECT_TRUE(works(self));
}

/* Nobody knows what somebody else's swap has taken. */
TEST_F(kernel, after_a_swap_of_somebody_else_a_ring_is_dead)
{
	int fd = open_recorded(self, 3 * PER_SUBBUF);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, el2(self, "__tracing_swap_reader", 0));
	EXPECT_EQ(-EIO, try_read(fd));
	EXPECT_EQ(-EIO, try_read(fd));
	EXPECT_EQ(-EIO, control_clear(&self->nl, REMOTE, 0));
	close(fd);
	EXPECT_TRUE(works(self));
}

/* A clear that has failed may have cleared, so there is no order to go on with. */
TEST_F(kernel, after_a_clear_that_is_refused_a_ring_is_dead)
{
	int fd = open_recorded(self, 1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, el2(self, "__tracing_unload", 0));
	EXPECT_EQ(-EIO, control_clear(&self->nl, REMOTE, 0));
	EXPECT_EQ(-EIO, control_clear(&self->nl, REMOTE, 0));
	EXPECT_EQ(-EIO, try_read(fd));
	close(fd);
	EXPECT_TRUE(works(self));
}

/* Get the number of the page at an address of this process. */
static int pfn_of(const struct _test_data_kernel *self, const void *at, uint64_t *pfn)
{
	*pfn = (uintptr_t)at;
	return ioctl(self->calls.fd, CALLS_PFN, pfn) ? -errno : 0;
}

/* Load rings, and get the numbers of their pages. Return 0 or a negative errno. */
static int load_and_find(struct _test_data_kernel *self, uint64_t pfns[NR_PAGES])
{
	const size_t size = (NR_SUBBUFS + 2) * PAGE;
	int fd, cpu, i, err = ready(self);
	char *ring;

	for (cpu = 0; cpu < CPUS; cpu++) {
		fd = open_attached(REMOTE, cpu, O_NONBLOCK);
		ring = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
		err = err ?: ring == MAP_FAILED ? -errno : 0;
		for (i = 0; i <= NR_SUBBUFS && !err; i++)
			err = pfn_of(self, ring + PAGE + i * PAGE, pfns++);
		munmap(ring, size);
		close(fd);
	}
	return err;
}

/*
 * The next rings probably get the same pages. If somebody has shared some of them, EL2 refuses to
 * share these again, so loads fail after different numbers of pages.
 */
TEST_F(kernel, pages_that_cannot_be_shared_end_a_load)
{
	unsigned int round, i, refused = 0;
	uint64_t pfns[NR_PAGES];
	struct info info;
	int err;

	for (round = 0; round < NR_PAGES; round++) {
		ASSERT_EQ(0, load_and_find(self, pfns));
		ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
		for (i = round; i < NR_PAGES; i++)
			ASSERT_EQ(0, el2(self, "__pkvm_host_share_hyp", pfns[i]));
		err = control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE);
		refused += err == -EPERM;
		EXPECT_TRUE(!err || err == -EPERM);
		ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
		EXPECT_EQ(err ? HYPTRACE_STATE_UNLOADED : HYPTRACE_STATE_LOADED, info.state);
		EXPECT_EQ(0, control_fresh(&self->nl, REMOTE));
		for (i = round; i < NR_PAGES; i++)
			EXPECT_EQ(0, el2(self, "__pkvm_host_unshare_hyp", pfns[i]));
	}
	TH_LOG("%u of %u loads were refused", refused, round);
	EXPECT_LT(0, refused);
	EXPECT_TRUE(works(self));
}

/* A page that is not freed for each load would be twice what others may take meanwhile. */
TEST_F_TIMEOUT(kernel, loads_leave_no_memory_behind, PATIENCE_S)
{
	uint64_t before = 0;
	int i;

	for (i = -LOADS / 10; i < LOADS; i++) {
		if (!i)
			before = free_kb();
		ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
		ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	}
	EXPECT_GT(LOADS * PAGE / 1024 / 2, (int64_t)(before - free_kb()));
}

/* The page of a ring that EL2 does not give back: nobody gets its memory, and no new rings. */
TEST_F(kernel, rings_that_are_kept_are_not_freed)
{
	uint64_t pfns[NR_PAGES];

	ASSERT_EQ(0, load_and_find(self, pfns));
	ASSERT_EQ(0, el2(self, "__tracing_unload", 0));
	ASSERT_EQ(0, el2(self, "__pkvm_host_unshare_hyp", pfns[NR_PAGES - 1]));
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_LOAD, REMOTE));
	ASSERT_EQ(0, module_reload(MODULE, ""));
	EXPECT_TRUE(works(self));
}

TEST_HARNESS_MAIN
