// SPDX-License-Identifier: GPL-2.0-only
/*
 * How threads share a file: which of them call what, when they end, and what becomes of errors. The
 * number of the machine's CPUs does not matter.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "fail_alloc.h"
#include "lib/internal.h"
#include "file_case.h"

#define CPUS	4
/* More than 2 MB: fewer are read by one thread. */
#define EVENTS	120000
#define BOTH	(HYPTRACE_FILE_TURNS | HYPTRACE_FILE_BY_CPU)

/* Each of them makes the threads share a file in another way. */
static const unsigned int kinds[] = { 0, HYPTRACE_FILE_TURNS, HYPTRACE_FILE_BY_CPU, BOTH };

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static struct image image;
/* CPUs of the machine; 0: it does not say so */
static int usable;
/* So many threads can begin. */
static int threads_left;
/* After so many reads, all fail. */
static long reads_left;
/* What a thread has found: cmocka needs the caller's thread to say so. */
static bool wrong;

static void check(bool right)
{
	if (!right)
		__atomic_store_n(&wrong, true, __ATOMIC_SEQ_CST);
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	int i;

	(void)pid;
	memset(set, 0, size);
	for (i = 0; i < usable; i++)
		CPU_SET(i, set);
	return usable ? 0 : -1;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	return threads_left-- > 0 ? __real_pthread_create(thread, attr, fn, arg) : EAGAIN;
}

/* Only a thread that has begun can be waited for. */
int __real_pthread_join(pthread_t thread, void **ret);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_pthread_join(pthread_t thread, void **ret)
{
	int error = __real_pthread_join(thread, ret);

	assert_int_equal(error, 0);
	return error;
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	if (__atomic_fetch_sub(&reads_left, 1, __ATOMIC_SEQ_CST) > 0)
		return __real_pread(fd, to, size, offset);
	errno = EIO;
	return -1;
}

static struct hyptrace_file *begin_with(unsigned int nr_cpus, bool no_text, int cpus_of_machine,
					uint32_t subbuf)
{
	usable = cpus_of_machine;
	threads_left = INT_MAX;
	reads_left = LONG_MAX;
	image_init(&image, IMAGE_VERSION_6, false, subbuf, nr_cpus);
	image.no_text = no_text;
	fill(&image, EVENTS, 5000);
	return open_image(&image);
}

static struct hyptrace_file *begin(unsigned int nr_cpus, bool no_text, int cpus_of_machine)
{
	return begin_with(nr_cpus, no_text, cpus_of_machine, 4096);
}

static void end(struct hyptrace_file *file)
{
	reads_left = LONG_MAX;
	hyptrace_file_close(file);
	image_free(&image);
}

static int run(struct hyptrace_file *file, struct hyptrace_file_work work)
{
	int ret;

	wrong = false;
	memset(&err, 0, sizeof(err));
	ret = hyptrace_file_run(file, &work, sizeof(work), &err);
	assert_false(wrong);
	return ret;
}

static int nothing(void *state)
{
	(void)state;
	return 0;
}

static void no_damage(const struct hyptrace_error *why, void *arg)
{
	(void)why;
	(void)arg;
	check(false);
}

static void *no_state(struct hyptrace_formats *formats, void *arg)
{
	(void)formats;
	return arg;
}

static void forget(void *state)
{
	(void)state;
}

static int count(void *state, const struct hyptrace_file_batch *batch)
{
	__atomic_fetch_add((unsigned int *)state, batch->nr, __ATOMIC_SEQ_CST);
	return 0;
}

/* Work that counts the events */
static struct hyptrace_file_work counting(unsigned int flags, unsigned int *nr)
{
	*nr = 0;
	return (struct hyptrace_file_work){
		.flags = flags, .arg = nr, .begin = no_state, .batch = count, .flush = nothing,
		.damage = no_damage, .end = forget,
	};
}

/* The formats of each state; or how often something was called, and the caller's thread */
static struct {
	struct hyptrace_formats	*formats[CPUS];
	unsigned int		nr;
	pthread_t		caller;
} used;

static void *keep_formats(struct hyptrace_formats *formats, void *arg)
{
	unsigned int i;

	for (i = 0; i < used.nr; i++)
		check(used.formats[i] != formats);
	if (used.nr < CPUS)
		used.formats[used.nr++] = formats;
	return arg;
}

/* Threads that print at the same time must not share formats. */
static void own_formats(void **state)
{
	/* one that is read by CPU needs several of them */
	struct hyptrace_file *file;
	struct hyptrace_file_work work;
	unsigned int i, nr;

	(void)state;
	for (i = 0; i < NR_KINDS; i++) {
		file = begin(kinds[i] ? CPUS : 1, false, CPUS);
		work = counting(kinds[i], &nr);
		work.begin = keep_formats;
		used.nr = 0;
		assert_int_equal(run(file, work), 0);
		assert_int_equal(nr, EVENTS);
		assert_int_equal(used.nr, CPUS);
		end(file);
	}
}

/* Threads do not share sub-buffers that are larger, which take much memory. */
static void large_subbufs(void **state)
{
	static const struct {
		uint32_t	subbuf;
		unsigned int	threads;
	} cases[] = {
		{ 64 << 10, CPUS }, { 128 << 10, CPUS }, { 256 << 10, 1 },
	};
	struct hyptrace_file *file;
	struct hyptrace_file_work work;
	unsigned int i, nr;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		file = begin_with(1, false, CPUS, cases[i].subbuf);
		work = counting(0, &nr);
		work.begin = keep_formats;
		used.nr = 0;
		assert_int_equal(run(file, work), 0);
		assert_int_equal(nr, EVENTS);
		assert_int_equal(used.nr, cases[i].threads);
		end(file);
	}
}

static int only_caller(void *state, const struct hyptrace_file_batch *batch)
{
	check(pthread_equal(pthread_self(), used.caller));
	return count(state, batch);
}

static void *count_states(struct hyptrace_formats *formats, void *arg)
{
	(void)formats;
	used.nr++;
	return arg;
}

/*
 * Only one thread reads if this is wanted, if libtraceevent has parsed the formats, or if it is not
 * known how many CPUs there are.
 */
static void caller_alone(void **state)
{
	struct hyptrace_file *file;
	struct hyptrace_file_work work;
	unsigned int i, nr;

	(void)state;
	used.caller = pthread_self();
	for (i = 0; i < 6; i++) {
		const bool turns = i / 3;

		file = begin(CPUS, i % 3 == 1, i % 3 == 2 ? 0 : CPUS);
		work = counting((i % 3 ? 0 : HYPTRACE_FILE_ALONE) |
				(turns ? HYPTRACE_FILE_TURNS : 0), &nr);
		work.begin = count_states;
		work.batch = only_caller;
		used.nr = 0;
		assert_int_equal(run(file, work), 0);
		assert_int_equal(nr, EVENTS);
		assert_int_equal(used.nr, turns ? CPUS : 1);
		end(file);
	}
}

/* Posted by the other threads; only a test that fails waits in vain. */
static sem_t others;

static void wait_for_others(void)
{
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 15;
	check(!sem_timedwait(&others, &late));
}

/* The thread with the first batch waits for two batches of other threads. */
static int wait_at_first(void *state, const struct hyptrace_file_batch *batch)
{
	if (!__atomic_fetch_add(&used.nr, 1, __ATOMIC_SEQ_CST)) {
		wait_for_others();
		wait_for_others();
	} else {
		sem_post(&others);
	}
	return wrong || count(state, batch);
}

/* Threads do not wait for their turn before they have used its events. */
static void at_the_same_time(void **state)
{
	struct hyptrace_file *file = begin(2, false, 3);
	struct hyptrace_file_work work;
	unsigned int i, nr;

	(void)state;
	for (i = 0; i < NR_KINDS; i++) {
		assert_int_equal(sem_init(&others, 0, 0), 0);
		used.nr = 0;
		work = counting(kinds[i], &nr);
		work.batch = wait_at_first;
		assert_int_equal(run(file, work), 0);
		assert_int_equal(nr, EVENTS);
		sem_destroy(&others);
	}
	end(file);
}

/* If threads cannot begin, the others do their part. */
static void fewer_threads(void **state)
{
	struct hyptrace_file *file = begin(CPUS, false, CPUS);
	unsigned int i, nr;

	(void)state;
	for (i = NR_KINDS; i--; ) {
		for (int left = 0; left < CPUS; left++) {
			threads_left = left;
			assert_int_equal(run(file, counting(kinds[i], &nr)), 0);
			assert_int_equal(nr, EVENTS);
		}
	}
	end(file);
}

/* What was flushed before a batch */
struct before {
	bool		alone;
	unsigned int	nr;
	uint64_t	first;
	uint64_t	previous;
};

static int check_times(void *state, const struct hyptrace_file_batch *batch)
{
	struct before *before = state;

	/* two other threads have to wait for the first batch */
	if (batch->has_times) {
		sem_post(&others);
	} else if (!before->alone) {
		wait_for_others();
		wait_for_others();
	}
	check(!hyptrace_file_wait(batch));
	check(batch->has_times == !!before->nr);
	if (before->nr)
		check(batch->first == before->first && batch->previous == before->previous);
	else
		before->first = batch->events[0].record.ts;
	before->previous = batch->events[batch->nr - 1].record.ts;
	before->nr += batch->nr;
	return 0;
}

/* A batch knows the times of the first event of all, and of the one before it. */
static void times_before(void **state)
{
	static const unsigned int flags[] = { 0, HYPTRACE_FILE_ALONE, HYPTRACE_FILE_BY_CPU };
	struct hyptrace_file *file = begin(2, false, CPUS);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct before before = { .alone = flags[i] == HYPTRACE_FILE_ALONE };

		assert_int_equal(sem_init(&others, 0, 0), 0);
		/* the last events of all CPUs have an order in any case */
		hyptrace_file_options(file)->last = i == 2 ? 2 * EVENTS : 0;
		assert_int_equal(run(file, (struct hyptrace_file_work){
			.flags = flags[i],
			.arg = &before, .batch = check_times, .damage = no_damage,
		}), 0);
		assert_int_equal(before.nr, EVENTS);
		sem_destroy(&others);
	}
	end(file);
}

/* If the file cannot be read from anywhere on, reading ends with the reason. */
static void errors(void **state)
{
	struct hyptrace_file *file = begin(CPUS, false, CPUS);
	unsigned int i, reads, nr;

	(void)state;
	for (i = 0; i < NR_KINDS; i++) {
		for (reads = 0; reads < 20; reads = 2 * reads + 1) {
			reads_left = reads;
			assert_int_equal(run(file, counting(kinds[i], &nr)), -EIO);
			assert_int_equal(err.errnum, EIO);
			assert_non_null(strstr(err.text, "Input/output error"));
		}
	}
	end(file);
}

static int end_in_flush(void *state)
{
	(void)state;
	return 1;
}

/* If flush() ends reading, it does not matter what comes after that, not even an error. */
static void ended_before_error(void **state)
{
	struct hyptrace_file *file = begin(CPUS, false, CPUS);
	struct hyptrace_file_work work;
	unsigned int nr;

	(void)state;
	work = counting(HYPTRACE_FILE_ALONE, &nr);
	work.flush = end_in_flush;
	reads_left = 10;
	assert_int_equal(run(file, work), 1);
	assert_in_range(nr, 1, EVENTS - 1);
	assert_int_equal(err.errnum, 0);
	end(file);
}

static void note_exit(void *arg)
{
	(void)arg;
	sem_post(&others);
}

/* The other thread ends reading, and exits. Only then the caller's thread goes on. */
static int end_by_other(void *state, const struct hyptrace_file_batch *batch)
{
	(void)batch;
	if (!pthread_equal(pthread_self(), used.caller)) {
		pthread_setspecific(*(pthread_key_t *)state, state);
		return 1;
	}
	if (!used.nr++)
		wait_for_others();
	return 0;
}

/* Without an order, too, a thread gets no further events after another one has ended reading. */
static void ended_by_other(void **state)
{
	struct hyptrace_file *file = begin(2, false, 2);
	unsigned int i;
	pthread_key_t key;

	(void)state;
	assert_int_equal(pthread_key_create(&key, note_exit), 0);
	used.caller = pthread_self();
	for (i = 0; i < 2; i++) {
		assert_int_equal(sem_init(&others, 0, 0), 0);
		used.nr = 0;
		assert_int_equal(run(file, (struct hyptrace_file_work){
			.flags = i ? BOTH : HYPTRACE_FILE_BY_CPU,
			.arg = &key, .begin = no_state, .batch = end_by_other, .flush = nothing,
			.end = forget,
		}), 1);
		assert_int_equal(used.nr, 1);
		sem_destroy(&others);
	}
	pthread_key_delete(key);
	end(file);
}

/* So many states can be made. */
static int states_left;

static void *begin_some(struct hyptrace_formats *formats, void *arg)
{
	(void)formats;
	return __atomic_fetch_sub(&states_left, 1, __ATOMIC_SEQ_CST) > 0 ? arg : NULL;
}

static int count_with_state(void *state, const struct hyptrace_file_batch *batch)
{
	check(state);
	return state ? count(state, batch) : 1;
}

/* Events are not used without a state. */
static void no_state_for_cpu(void **state)
{
	struct hyptrace_file *file = begin(CPUS, false, CPUS);
	struct hyptrace_file_work work;
	unsigned int i, nr;
	int left;

	(void)state;
	for (i = 0; i < NR_KINDS; i++) {
		for (left = 0; left < CPUS; left++) {
			work = counting(kinds[i], &nr);
			work.begin = begin_some;
			work.batch = count_with_state;
			states_left = left;
			/* where threads share the CPUs, fewer of them read all */
			if (left && !(kinds[i] & HYPTRACE_FILE_TURNS)) {
				assert_int_equal(run(file, work), 0);
				assert_int_equal(nr, EVENTS);
			} else {
				assert_int_equal(run(file, work), -ENOMEM);
				assert_int_equal(err.errnum, ENOMEM);
			}
		}
	}
	end(file);
}

/* Without memory, reading fails before or at any event; or fewer threads read all of them. */
static void no_memory(void **state)
{
	unsigned int i, nth, nr;

	(void)state;
	for (i = 0; i < NR_KINDS; i++) {
		/* one after the other allocates: they share the reader, or there is only one */
		struct hyptrace_file *file = begin(2, false, kinds[i] ? 1 : 2);
		bool failed = true;
		int ret;

		for (nth = 1; failed; nth++) {
			fail_alloc(nth);
			ret = run(file, counting(kinds[i], &nr));
			failed = fail_alloc_end();
			if (ret) {
				assert_true(failed);
				assert_int_equal(ret, -ENOMEM);
				assert_int_equal(err.errnum, ENOMEM);
			} else {
				assert_int_equal(nr, EVENTS);
			}
		}
		assert_true(nth > 5);
		end(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_formats), cmocka_unit_test(large_subbufs),
		cmocka_unit_test(caller_alone),
		cmocka_unit_test(at_the_same_time), cmocka_unit_test(times_before),
		cmocka_unit_test(fewer_threads), cmocka_unit_test(errors),
		cmocka_unit_test(ended_before_error),
		cmocka_unit_test(ended_by_other), cmocka_unit_test(no_state_for_cpu),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
