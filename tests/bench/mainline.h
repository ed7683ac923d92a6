/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types and functions that mainline's writer, kernel/trace/simple_ring_buffer.c, needs to
 * be built for the host. Included before anything else; see mainline.sh.
 */
#ifndef BENCH_MAINLINE_H
#define BENCH_MAINLINE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

struct local {
	long value;
};

struct list_head {
	struct list_head *next, *prev;
};

/* All ring buffers of the kernel have this record layout. */
struct ring_buffer_event {
	u32	type_len:5, time_delta:27;
	u32	array[];
};

enum { RINGBUF_TYPE_DATA_TYPE_LEN_MAX = 28, RINGBUF_TYPE_TIME_EXTEND = 30 };

struct ring_buffer_desc {
	int		cpu;
	unsigned int	nr_page_va;
	unsigned long	meta_va;
	unsigned long	page_va[];
};

#define PAGE_SIZE			4096UL
#define local_t				struct local
#define __aligned(bytes)		__attribute__((aligned(bytes)))
#define unlikely(x)			__builtin_expect(!!(x), 0)
#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))
#define EXPORT_SYMBOL_GPL(name)

#define READ_ONCE(x)			(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, to)		(*(volatile typeof(x) *)&(x) = (to))
/* The kernel's comments on pairing are where these are used. */
#define smp_load_acquire(at)		__atomic_load_n(at, __ATOMIC_ACQUIRE)
#define smp_store_release(at, to)	__atomic_store_n(at, to, __ATOMIC_RELEASE)
#define local_set(local, to)		WRITE_ONCE((local)->value, to)

#define try_cmpxchg(at, old, new)					\
	__atomic_compare_exchange_n(at, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define cmpxchg_acquire			cmpxchg

/* Only for u32, the type of a ring's status. */
static inline u32 cmpxchg(u32 *at, u32 old, u32 new)
{
	try_cmpxchg(at, &old, new);
	return old;
}

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

#endif /* BENCH_MAINLINE_H */
