// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread that compresses, and what it shares with the one that reads the rings. The linker has
 * the calls of the writer come here: see tools.mk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <semaphore.h>

#include <cmocka.h>
#include <zstd.h>

#include "file_remote.h"

/* As file_write_zstd.c has them: bytes of a chunk, and of those that wait */
#define CHUNK		(256 << 10)
#define WAITING		(32 << 20)

static struct hyptrace_file_writer *w;
static char *chunk;

/* The thread that reads, and what it waits for; the other one compresses if it is posted. */
static pthread_t reader;
static sem_t compressing;
static bool is_stopped;
static unsigned int compressed, waits;

/* Mutexes and conditions that were made, and not destroyed */
static int mutexes, conditions;
/* Does this thread have the lock? */
static __thread bool has_lock;
/* Calls without the lock that need it, or with it */
static unsigned int mistakes;

static void check_lock(bool is_needed)
{
	if (has_lock != is_needed)
		__atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);
}

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	check_lock(false);
	has_lock = true;
	return __real_pthread_mutex_lock(lock);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	check_lock(true);
	has_lock = false;
	return __real_pthread_mutex_unlock(lock);
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	check_lock(true);
	/* now the other one must go on */
	if (pthread_equal(pthread_self(), reader)) {
		waits++;
		sem_post(&compressing);
	}
	return __real_pthread_cond_wait(condition, lock);
}

int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
	check_lock(true);
	return __real_pthread_cond_signal(condition);
}

int __real_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr)
{
	mutexes++;
	return __real_pthread_mutex_init(lock, attr);
}

int __real_pthread_mutex_destroy(pthread_mutex_t *lock);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock)
{
	mutexes--;
	return __real_pthread_mutex_destroy(lock);
}

int __real_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attr)
{
	conditions++;
	return __real_pthread_cond_init(condition, attr);
}

int __real_pthread_cond_destroy(pthread_cond_t *condition);
int __wrap_pthread_cond_destroy(pthread_cond_t *condition);
int __wrap_pthread_cond_destroy(pthread_cond_t *condition)
{
	conditions--;
	return __real_pthread_cond_destroy(condition);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	unsigned int i;

	check_lock(false);
	for (i = 0; i < 2 * WAITING / CHUNK; i++)
		sem_post(&compressing);
	return __real_pthread_join(thread, result);
}

size_t __real_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level);
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level);
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level)
{
	check_lock(false);
	if (is_stopped)
		sem_wait(&compressing);
	__atomic_add_fetch(&compressed, 1, __ATOMIC_RELAXED);
	return __real_ZSTD_compressCCtx(zstd, to, room, from, size, level);
}

static int setup(void **state)
{
	unsigned int i;

	reader = pthread_self();
	compressed = waits = mistakes = 0;
	chunk = calloc(1, CHUNK);
	for (i = 0; i < CHUNK; i += SUBBUF)
		fill(chunk + i, 1000 + i, i, 40);
	if (sem_init(&compressing, 0, 0) || enter_folder(state))
		return -1;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	assert_non_null(w);
	assert_int_equal(w->chunk_size, CHUNK);
	assert_int_equal(mutexes, 1);
	assert_int_equal(conditions, 2);
	return 0;
}

static int teardown(void **state)
{
	free(chunk);
	sem_destroy(&compressing);
	assert_int_equal(mistakes, 0);
	assert_int_equal(mutexes, 0);
	assert_int_equal(conditions, 0);
	return leave_folder(state);
}

static void write_chunk(unsigned int cpu)
{
	assert_int_equal(hyptrace_file_write(w, cpu, chunk, CHUNK, &err), 0);
}

/* Each part has a chunk to fill, and so many others may wait; only then the reader waits, too. */
static void a_slow_disk(void **state)
{
	unsigned int nr = 0;

	(void)state;
	is_stopped = true;
	while (!waits && nr < 2 * WAITING / CHUNK) {
		write_chunk(2);
		nr++;
	}
	/* the last one was written after a wait */
	assert_int_equal(nr, WAITING / CHUNK + CPUS + 1);
	assert_int_equal(waits, 1);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_int_equal(compressed, nr);
}

/* What waits is not compressed any more; it was perhaps begun. */
static void abandoned(void **state)
{
	unsigned int i;

	(void)state;
	is_stopped = true;
	for (i = 0; i < 5; i++)
		write_chunk(2);
	hyptrace_file_abandon(w);
	assert_in_range(compressed, 0, 1);
}

/* The reader waits for a limit, until less than it is pending. */
static void a_limit(void **state)
{
	const uint64_t begun = hyptrace_file_size(w);

	(void)state;
	is_stopped = true;
	write_chunk(1);
	write_chunk(2);
	assert_int_equal(hyptrace_file_write(w, 5, chunk, SUBBUF, &err), 0);
	/* two chunks are pending, and one is filling */
	hyptrace_file_set_limit(w, begun + 2 * CHUNK + SUBBUF + 1);
	assert_false(hyptrace_file_is_full(w, SUBBUF));
	assert_int_equal(waits, 0);
	/* one of them is compressed then: that is enough */
	hyptrace_file_set_limit(w, begun + 2 * CHUNK + SUBBUF);
	assert_false(hyptrace_file_is_full(w, SUBBUF));
	assert_int_equal(waits, 1);
	assert_int_equal(compressed, 1);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_int_equal(compressed, 3);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slow_disk),
		TEST(abandoned),
		TEST(a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
