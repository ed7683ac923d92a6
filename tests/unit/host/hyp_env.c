// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hyp/env_host.h needs from the program: CPUs, a counter and the owner of each page.
 */
#include <sys/mman.h>

#include "hyp_env.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size)	((void)(addr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size)	((void)(addr), (void)(size))
#endif

/* Above this number of pages the pool has no guard pages: each one needs two more mappings. */
#define MAX_GUARDED	16384

struct hyptrace_ring env_rings[ENV_CPUS];
struct hyptrace_ring env_spare_rings[ENV_CPUS];
struct env_calls env_calls;
__thread u64 env_thread_calls;
u32 env_violations;
u64 env_asked_cpu;
u32 env_absent;
u64 env_counter;
void (*env_counter_hook)(void);
void (*env_cpus_hook)(void);
void (*env_pages_hook)(void);
struct hyptrace_page_states env_page_states;
int env_page_error;
u64 env_page_asked;
bool env_pages_known;
__thread u32 env_fail_take, env_fail_release, env_fail_share;
bool env_packed;

__thread struct hyptrace_ring *hyptrace_host_ring = &env_rings[0];

static struct {
	u8		*base;
	size_t		bytes;
	u32		nr;
	u32		stride;	/* distance between pool pages, in pages */
	struct env_page {
		hyptrace_lock_t	lock;	/* protects the others, and the content from the host */
		bool		scribbled;	/* by another CPU since it was pinned */
		enum env_owner	owner;
	} *pages;
} pool;

static void violation(const char *what, const void *page)
{
	fprintf(stderr, "hyp/ must not %s (page %p)\n", what, page);
	__atomic_fetch_add(&env_violations, 1, __ATOMIC_RELAXED);
}

static void count_call(u64 *calls)
{
	__atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
	env_thread_calls++;
}

u32 hyptrace_nr_cpus(void)
{
	env_thread_calls++;
	if (env_cpus_hook)
		env_cpus_hook();
	return ENV_CPUS - __builtin_popcount(env_absent);
}

struct hyptrace_ring *hyptrace_ring_of(u64 cpu)
{
	env_thread_calls++;
	if (cpu > READ_ONCE(env_asked_cpu))
		WRITE_ONCE(env_asked_cpu, cpu);

	return cpu < ENV_CPUS && !(env_absent >> cpu & 1) ? &env_rings[cpu] : NULL;
}

struct hyptrace_ring *hyptrace_spare_ring_of(u64 cpu)
{
	env_thread_calls++;

	return cpu < ENV_CPUS ? &env_spare_rings[cpu] : NULL;
}

u64 hyptrace_read_counter(void)
{
	env_thread_calls++;
	if (env_counter_hook)
		env_counter_hook();

	return __atomic_load_n(&env_counter, __ATOMIC_RELAXED);
}

/* Find the page of the pool that is at @va. False if there is none. */
bool env_find(const void *va, u32 *index)
{
	size_t offset = (uintptr_t)va - (uintptr_t)pool.base;
	size_t page = offset / PAGE_SIZE;

	if ((uintptr_t)va < (uintptr_t)pool.base || offset >= pool.bytes ||
	    offset % PAGE_SIZE || page % pool.stride != pool.stride - 1)
		return false;
	*index = page / pool.stride;

	return *index < pool.nr;
}

static bool find_pfn(u64 pfn, u32 *index)
{
	/* Reject large page numbers: shifted to an address they would wrap to a small one. */
	return pfn < BIT_ULL(64 - PAGE_SHIFT) &&
	       env_find((void *)(uintptr_t)(pfn << PAGE_SHIFT), index);
}

static bool all_zero(const u8 *page)
{
	size_t i;

	for (i = 0; i < PAGE_SIZE; i++)
		if (page[i])
			return false;

	return true;
}

static void set_owner(u32 index, enum env_owner owner)
{
	/*
	 * Order all accesses to the page before the change of its owner. Pairs with
	 * env_owner().
	 */
	smp_store_release(&pool.pages[index].owner, owner);
}

/* EL2 has not written to the page: it needs no wiping. */
static void give_back(u64 pfn)
{
	u32 index;

	assert_true(find_pfn(pfn, &index));
	hyptrace_guard(&pool.pages[index].lock);
	ASAN_POISON_MEMORY_REGION(env_page(index), PAGE_SIZE);
	set_owner(index, ENV_HOST);
}

static void change_hands(u32 index, enum env_owner owner)
{
	set_owner(index, owner);
	if (env_pages_hook)
		env_pages_hook();
}

static bool fails(u32 *countdown)
{
	return *countdown && !--*countdown;
}

int hyptrace_take_page(u64 pfn, void **va)
{
	u32 index;

	count_call(&env_calls.take);
	if (!find_pfn(pfn, &index))
		return -EINVAL;
	if (fails(&env_fail_take))
		return -ENOMEM;
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) != ENV_HOST)
		return -EPERM;
	change_hands(index, ENV_HYP);
	*va = env_page(index);
	ASAN_UNPOISON_MEMORY_REGION(*va, PAGE_SIZE);

	return 0;
}

int hyptrace_release_page(void *va)
{
	u32 index;

	count_call(&env_calls.release);
	if (!env_find(va, &index)) {
		violation("release what is no page", va);
		return -EPERM;
	}
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) != ENV_HYP) {
		violation("release a page that it does not own", va);
		return -EPERM;
	}
	if (!all_zero(va))
		violation("release a page without wiping it", va);
	if (fails(&env_fail_release))
		return -ENOMEM;
	ASAN_POISON_MEMORY_REGION(va, PAGE_SIZE);
	change_hands(index, ENV_HOST);

	return 0;
}

static int share_page(u64 pfn, void **va)
{
	u32 index;

	count_call(&env_calls.share);
	if (!find_pfn(pfn, &index))
		return -EINVAL;
	if (fails(&env_fail_share))
		return -ENOMEM;
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) != ENV_HOST)
		return -EPERM;
	pool.pages[index].scribbled = false;
	change_hands(index, ENV_PINNED);
	*va = env_page(index);
	ASAN_UNPOISON_MEMORY_REGION(*va, PAGE_SIZE);

	return 0;
}

static void unshare_page(void *va)
{
	u32 index;

	count_call(&env_calls.unshare);
	if (!env_find(va, &index)) {
		violation("unshare what is no page", va);
		return;
	}
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) != ENV_PINNED) {
		violation("unshare a page that it did not share", va);
		return;
	}
	/* The host may have written to it after it was wiped. */
	if (!pool.pages[index].scribbled && !all_zero(va))
		violation("unshare a page without wiping it", va);
	ASAN_POISON_MEMORY_REGION(va, PAGE_SIZE);
	change_hands(index, ENV_HOST);
}

/* What pKVM knows of a page of the pool */
static int read_states(u64 pfn, struct hyptrace_page_states *states)
{
	static const struct hyptrace_page_states known[] = {
		[ENV_HOST] = { .host = HYPTRACE_PAGE_STATE_OWNED },
		[ENV_SHARED] = { HYPTRACE_PAGE_STATE_SHARED, HYPTRACE_PAGE_STATE_BORROWED, 0 },
		[ENV_PINNED] = { HYPTRACE_PAGE_STATE_SHARED, HYPTRACE_PAGE_STATE_BORROWED, 0 },
		[ENV_HYP] = { .hyp = HYPTRACE_PAGE_STATE_OWNED },
		[ENV_GUEST] = { .host = HYPTRACE_PAGE_STATE_NONE },
		[ENV_PKVM] = { .hyp = HYPTRACE_PAGE_STATE_OWNED },
		[ENV_GUEST_SHARED] = { .host = HYPTRACE_PAGE_STATE_BORROWED },
	};
	u32 index;

	if (!find_pfn(pfn, &index))
		return -ENOENT;
	*states = known[env_owner(index)];

	return 0;
}

int hyptrace_get_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	env_thread_calls++;
	if (env_pages_known)
		return read_states(pfn, states);
	env_page_asked = pfn;
	if (env_page_error)
		return env_page_error;
	*states = env_page_states;

	return 0;
}

void hyptrace_unshare_pages(void *va, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		unshare_page(va + i * PAGE_SIZE);
}

int hyptrace_share_pages(u64 pfn, u32 nr, void **va)
{
	void *page;
	int ret;
	u32 i;

	for (i = 0; i < nr; i++) {
		ret = share_page(pfn + i, i ? &page : va);
		if (ret) {
			while (i--)
				give_back(pfn + i);
			return ret;
		}
	}

	return 0;
}

/*
 * Start with pages that all belong to the host, CPUs without rings, and no trigger. The calling
 * thread is CPU 0.
 */
void env_start(u32 nr_pages)
{
	u32 i;

	pool.nr = nr_pages;
	pool.stride = nr_pages > MAX_GUARDED || env_packed ? 1 : 2;
	pool.bytes = ((size_t)nr_pages * pool.stride + 1) * PAGE_SIZE;
	pool.pages = calloc(nr_pages, sizeof(*pool.pages));
	pool.base = mmap(NULL, pool.bytes, pool.stride == 1 ?
			 PROT_READ | PROT_WRITE : PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_non_null(pool.pages);
	assert_true(pool.base != MAP_FAILED);
	for (i = 0; i < nr_pages; i++) {
		if (pool.stride > 1)
			assert_int_equal(mprotect(env_page(i), PAGE_SIZE,
						  PROT_READ | PROT_WRITE), 0);
		ASAN_POISON_MEMORY_REGION(env_page(i), PAGE_SIZE);
	}

	memset(env_rings, 0, sizeof(env_rings));
	memset(env_spare_rings, 0, sizeof(env_spare_rings));
	memset(&env_calls, 0, sizeof(env_calls));
	env_violations = 0;
	env_absent = 0;
	env_counter = 0;
	env_counter_hook = NULL;
	env_cpus_hook = NULL;
	env_pages_hook = NULL;
	env_pages_known = false;
	env_fail_take = env_fail_release = env_fail_share = 0;
	env_cpu(0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, 0, 0), 0);
	for (i = 1; i < HYPTRACE_NR_EVENTS; i++)
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, i, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, 1, 0, 0), 0);
}

void env_stop(void)
{
	u32 i;

	assert_int_equal(env_violations, 0);
	assert_int_equal(env_count(ENV_PINNED), 0);
	assert_int_equal(env_count(ENV_HYP), 0);
	for (i = 0; i < ENV_CPUS; i++) {
		assert_int_equal(env_rings[i].state, HYPTRACE_RING_EMPTY);
		assert_int_equal(env_rings[i].lock, 0);
		assert_int_equal(env_spare_rings[i].state, HYPTRACE_RING_EMPTY);
		assert_int_equal(env_spare_rings[i].lock, 0);
	}
	ASAN_UNPOISON_MEMORY_REGION(pool.base, pool.bytes);
	munmap(pool.base, pool.bytes);
	free(pool.pages);
	memset(&pool, 0, sizeof(pool));
}

/* From now on the calling thread acts as @cpu. */
void env_cpu(u32 cpu)
{
	hyptrace_host_ring = &env_rings[cpu];
}

void *env_page(u32 index)
{
	return pool.base + ((size_t)index * pool.stride + pool.stride - 1) * PAGE_SIZE;
}

u64 env_pfn(u32 index)
{
	return (uintptr_t)env_page(index) >> PAGE_SHIFT;
}

enum env_owner env_owner(u32 index)
{
	/* Pairs with set_owner(). */
	return smp_load_acquire(&pool.pages[index].owner);
}

u32 env_nr_pages(void)
{
	return pool.nr;
}

/* Give a page of @from to @to. False if its owner is another one. */
bool env_change(u32 index, enum env_owner from, enum env_owner to)
{
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) != from)
		return false;
	set_owner(index, to);

	return true;
}

void env_share(u32 index)
{
	env_change(index, ENV_HOST, ENV_SHARED);
}

void env_unshare(u32 index)
{
	env_change(index, ENV_SHARED, ENV_HOST);
}

/* No sanitizer sees it: the host writes to pages that are poisoned, or that EL2 writes to. */
__attribute__((__noinline__, __no_sanitize__("address", "thread")))
static void copy_unseen(volatile u8 *to, const u8 *from, size_t len)
{
	while (len--)
		*to++ = *from++;
}

/*
 * Write to a page as the host. @scribbles: not as the CPU that makes hypercalls. False if the host
 * has no access.
 */
bool env_host_try_write(u32 index, size_t offset, const void *from, size_t len, bool scribbles)
{
	hyptrace_guard(&pool.pages[index].lock);
	if (env_owner(index) >= ENV_HYP)
		return false;
	if (scribbles)
		pool.pages[index].scribbled = true;
	copy_unseen(env_page(index) + offset, from, len);

	return true;
}

/* Write to a page as the host. EL2 must not own it. */
void env_host_write(u32 index, size_t offset, const void *from, size_t len)
{
	assert_true(env_host_try_write(index, offset, from, len, false));
}

bool env_is_wiped(u32 index)
{
	u8 *page = env_page(index);
	bool ret;

	ASAN_UNPOISON_MEMORY_REGION(page, PAGE_SIZE);
	ret = all_zero(page);
	if (env_owner(index) < ENV_PINNED)
		ASAN_POISON_MEMORY_REGION(page, PAGE_SIZE);

	return ret;
}

u32 env_count(enum env_owner owner)
{
	u32 nr = 0, i;

	for (i = 0; i < pool.nr; i++)
		nr += env_owner(i) == owner;

	return nr;
}

u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

u64 env_seed(u64 seed)
{
	return env_number("HYPTRACE_TEST_SEED", seed);
}

/* splitmix64 */
u64 env_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;

	return z ^ z >> 31;
}
