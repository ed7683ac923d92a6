/* SPDX-License-Identifier: GPL-2.0-only */
/* env.h for host programs: a CPU is a thread, a page frame number an address. For env.h only. */
#ifndef __HYPTRACE_ENV_HOST_H
#define __HYPTRACE_ENV_HOST_H

#include <linux/psci.h>
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define PAGE_SHIFT		12
#define PAGE_SIZE		4096UL

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define noinline		__attribute__((__noinline__))
#define __maybe_unused		__attribute__((__unused__))
#define __aligned(x)		__attribute__((__aligned__(x)))
/* The linker defines the symbols of a section whose name is an identifier. */
#define HYPTRACE_FORMAT_SECTION	"hyptrace_format"
#define hyptrace_formats	__start_hyptrace_format
#define hyptrace_formats_end	__stop_hyptrace_format

#define __section(name)		__attribute__((__section__(name)))
#define __printf(a, b)		__attribute__((__format__(printf, a, b)))
#define ___PASTE(a, b)		a##b
#define __PASTE(a, b)		___PASTE(a, b)
#define __cleanup(fn)		__attribute__((__cleanup__(fn)))
#define L1_CACHE_BYTES		64

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK(h, l)		((unsigned int)GENMASK_ULL(h, l))
#define GENMASK_ULL(h, l)	(((2ULL << (h)) - 1) & ~((1ULL << (l)) - 1))
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((a) - 1))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define offsetofend(type, field)	\
	(offsetof(type, field) + sizeof(((type *)0)->field))
#define sizeof_field(type, field)	(offsetofend(type, field) - offsetof(type, field))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define swap(a, b)			\
	do {				\
		typeof(a) _a = (a);	\
					\
		(a) = (b);		\
		(b) = _a;		\
	} while (0)

#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "+r" (var))
#define barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)

static inline u64 hyptrace_leading_zeros(u64 x)
{
	return x ? __builtin_clzll(x) : 64;
}

static inline void hyptrace_read_pair(const u64 *from, u64 *first, u64 *second)
{
	*first = READ_ONCE(from[0]);
	*second = READ_ONCE(from[1]);
}

static inline void hyptrace_write_pair(u64 *to, u64 first, u64 second)
{
	WRITE_ONCE(to[0], first);
	WRITE_ONCE(to[1], second);
}

static inline u64 array_index_nospec(u64 index, u64 size)
{
	return index < size ? index : 0;
}

typedef int hyptrace_lock_t;

#define HYPTRACE_LOCK_INIT	0

static inline void hyptrace_lock(hyptrace_lock_t *lock)
{
	/* The thread that holds the lock may need this processor to release it. */
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void hyptrace_unlock(hyptrace_lock_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#define hyptrace_assert_held(lock)	assert(__atomic_load_n(lock, __ATOMIC_RELAXED))

/* The program must set this in each thread: the ring of the CPU that the thread plays. */
extern __thread struct hyptrace_ring *hyptrace_host_ring;

#define hyptrace_this_ring()	hyptrace_host_ring

#define HYPTRACE_NR_CPUS	8

#define DECLARE_PER_CPU(type, name)	extern __thread type name
#define DEFINE_PER_CPU(type, name)	__thread type name
#define this_cpu_ptr(at)		(at)

/* The program must define these, too: its CPUs, a counter, and the owner of each page. */
u32 hyptrace_nr_cpus(void);
struct hyptrace_ring *hyptrace_ring_of(u64 cpu);
struct hyptrace_ring *hyptrace_spare_ring_of(u64 cpu);
u64 hyptrace_read_counter(void);
#define hyptrace_read_counter_synced()	hyptrace_read_counter()
int hyptrace_take_page(u64 pfn, void **va);
int hyptrace_release_page(void *va);
int hyptrace_share_pages(u64 pfn, u32 nr, void **va);
void hyptrace_unshare_pages(void *va, u32 nr);

static inline void hyptrace_clean(void *va, size_t size)
{
	(void)va;
	(void)size;
}

#define le32_to_cpu(x)		(x)

/* Only a program with function/function.c needs it. */
bool is_protected_kvm_enabled(void);

int hyptrace_get_page_states(u64 pfn, struct hyptrace_page_states *states);

#endif /* __HYPTRACE_ENV_HOST_H */
