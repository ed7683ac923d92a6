// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much memory and time a run takes.
 */
#include <time.h>

#include "fuzz.h"

static size_t live, start, peak;
static clock_t begin;

/* gcc has no header with them. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*on_malloc)(const volatile void *at, size_t size),
	void (*on_free)(const volatile void *at));
size_t __sanitizer_get_allocated_size(const volatile void *at);

static void count_malloc(const volatile void *at, size_t size)
{
	const size_t now = __atomic_add_fetch(&live, size, __ATOMIC_RELAXED);

	(void)at;
	/* two threads at once may miss some bytes of a peak */
	if (now > __atomic_load_n(&peak, __ATOMIC_RELAXED))
		__atomic_store_n(&peak, now, __ATOMIC_RELAXED);
}

static void count_free(const volatile void *at)
{
	if (at)
		__atomic_sub_fetch(&live, __sanitizer_get_allocated_size(at), __ATOMIC_RELAXED);
}

void fuzz_memory_begin(void)
{
	static bool is_installed;

	if (!is_installed)
		__sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
	is_installed = true;
	begin = clock();
	start = live;
	peak = live;
}

size_t fuzz_memory_peak(void)
{
	return peak - start;
}

/* Of a CPU: others may use it meanwhile. */
unsigned int fuzz_seconds(void)
{
	return (clock() - begin) / CLOCKS_PER_SEC;
}
