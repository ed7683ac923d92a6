// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait loop of the verbs: what ends it, in which order it calls, and that a source that always
 * has something does not keep it from ending.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "output/clock.h"
#include "output/die.h"
#include "session/loop.h"

/* of message.c */
void cmd_note(const char *fmt, ...)
{
	(void)fmt;
}

/* A listener: a pipe whose bytes are notifications, 'x' for one that was lost */
static int heard[2];

int hyptrace_listener_fd(const struct hyptrace_listener *listener)
{
	(void)listener;
	return heard[0];
}

int hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notification_fn fn,
			   void *arg, struct hyptrace_error *err)
{
	char byte;

	(void)listener;
	(void)err;
	if (read(heard[0], &byte, 1) != 1)
		return 0;
	return byte == 'x' ? -ENOBUFS : fn(NULL, arg);
}

static struct context ctx;
static unsigned int nr_taken, nr_ticks, nr_heard, nr_stops;
static bool is_endless, was_lost;
static int output[2];

static int begin(void **state)
{
	(void)state;
	nr_taken = 0;
	nr_ticks = 0;
	nr_heard = 0;
	nr_stops = 0;
	is_endless = false;
	was_lost = false;
	signals_stop = 0;
	signals_abandon = 0;
	return pipe(output) || pipe2(heard, O_NONBLOCK) || signals_catch() < 0 ? -1 :
	       (out_init(&ctx.out, output[1]), 0);
}

static int end(void **state)
{
	(void)state;
	alarm(0);
	close(output[1]);
	close(heard[0]);
	close(heard[1]);
	return 0;
}

static int take(struct loop *l)
{
	nr_taken++;
	if (l->has_ended)
		return EXIT_DONE;
	return is_endless ? LOOP_AGAIN : LOOP_WAIT;
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	(void)l;
	return ++nr_ticks < 3 ? now + NSEC_PER_MSEC : UINT64_MAX;
}

static bool stop(struct loop *l)
{
	assert_true(l->has_ended);
	nr_stops++;
	return true;
}

static int hear(const struct hyptrace_notification *notification, void *arg)
{
	(void)notification;
	(void)arg;
	nr_heard++;
	return 0;
}

static int after_hearing(struct loop *l, bool lost)
{
	was_lost = lost;
	l->is_over = true;
	return LOOP_WAIT;
}

static const struct loop_ops all_ops = {
	.take = take, .tick = tick, .stop = stop, .hear = hear, .heard = after_hearing,
};

static void deadline(void **state)
{
	struct loop l = LOOP(&ctx, &all_ops, NULL);
	const uint64_t now = clock_now(CLOCK_MONOTONIC);

	(void)state;
	l.deadline = now + 20 * NSEC_PER_MSEC;
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_true(clock_now(CLOCK_MONOTONIC) >= l.deadline);
	assert_int_equal(nr_stops, 1);
	/* two turns after ticks, one at the deadline, and what comes after the end */
	assert_true(nr_ticks >= 3 && nr_taken >= 4);
}

static void endless(void **state)
{
	struct loop l = LOOP(&ctx, &all_ops, NULL);

	(void)state;
	is_endless = true;
	l.deadline = clock_now(CLOCK_MONOTONIC) + 5 * NSEC_PER_MSEC;
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_stops, 1);
	l.has_ended = false;
	l.deadline = UINT64_MAX;
	raise(SIGINT);
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_stops, 2);
}

static void without_stop(void **state)
{
	const struct loop_ops ops = { .take = take };
	struct loop l = LOOP(&ctx, &ops, NULL);

	(void)state;
	raise(SIGTERM);
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_taken, 1);
}

static void command(void **state)
{
	struct loop l = LOOP(&ctx, &all_ops, NULL);
	struct child child = { .pid = fork() };

	(void)state;
	if (!child.pid)
		_exit(0);
	child.pidfd = syscall(SYS_pidfd_open, child.pid, 0);
	assert_true(child.pidfd >= 0);
	l.child = &child;
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_stops, 1);
	waitpid(child.pid, NULL, 0);
	close(child.pidfd);
}

static void closed_output(void **state)
{
	struct loop l = LOOP(&ctx, &all_ops, NULL);

	(void)state;
	close(output[0]);
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_stops, 0);
	/* but not if the verb does not print */
	l.ignores_output = true;
	l.deadline = clock_now(CLOCK_MONOTONIC) + NSEC_PER_MSEC;
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_stops, 1);
}

static void notifications(void **state)
{
	struct loop l = LOOP(&ctx, &all_ops, NULL);

	(void)state;
	l.listener = (struct hyptrace_listener *)&l;
	assert_int_equal(write(heard[1], "xa", 2), 2);
	assert_int_equal(loop_run(&l), EXIT_DONE);
	assert_int_equal(nr_heard, 1);
	assert_true(was_lost);
	assert_int_equal(nr_stops, 1);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deadline),
		TEST(endless),
		TEST(without_stop),
		TEST(command),
		TEST(closed_output),
		TEST(notifications),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
