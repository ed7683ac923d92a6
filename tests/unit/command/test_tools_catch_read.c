// SPDX-License-Identifier: GPL-2.0-only
/*
 * When catch knows that it has taken all that had fired at a time, whatever EL2's clock says. The
 * stream is made of steps; the tests of streams have the order of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "output/die.h"
#include "session/select.h"
#include "view/catch/catch.h"

#define MSEC	NSEC_PER_MSEC

/* The time passes with each call of the stream. */
static uint64_t now;

/* What the stream returns next: 1 for an event of CPU 0 at the time, which was read then */
static struct {
	int		ret;
	uint64_t	ts;
	uint64_t	read_at;
} steps[16];
static unsigned int nr_steps, at, nr_taken;
static bool is_endless;

static struct catch_cpu cpu;
static struct catcher c;

int session_fail(const struct session *s, const struct hyptrace_error *err)
{
	assert_ptr_equal(s, &c.session);
	assert_int_equal(err->errnum, ENODEV);
	return EXIT_REFUSED;
}

void session_note_damage(const struct hyptrace_error *err, void *s)
{
	assert_ptr_equal(s, &c.session);
	assert_int_equal(err->errnum, EBADMSG);
}

struct catch_cpu *catch_find_cpu(struct catcher *catcher, unsigned int id)
{
	assert_int_equal(id, 0);
	return catcher->cpus;
}

uint64_t __wrap_clock_now(clockid_t id)
{
	assert_int_equal(id, CLOCK_BOOTTIME);
	return now;
}

int __wrap_poll(struct pollfd *fds, unsigned long nr, int msec)
{
	assert_null(fds);
	assert_int_equal(nr, 0);
	now += msec * MSEC;
	return 0;
}

int __wrap_hyptrace_stream_next(struct hyptrace_stream *s,
				const struct hyptrace_stream_event **event,
				struct hyptrace_error *err)
{
	static struct hyptrace_stream_event next;

	(void)s;
	now++;
	*event = &next;
	if (is_endless) {
		now += MSEC;
		next.record.ts = now;
		cpu.read_at = now;
		return 1;
	}
	if (at == nr_steps)
		return 0;
	next.record.ts = steps[at].ts;
	cpu.read_at = steps[at].read_at;
	memset(err, 0, sizeof(*err));
	err->errnum = -steps[at].ret;
	return steps[at++].ret;
}

void __wrap_catch_take(struct catcher *catcher, const struct hyptrace_stream_event *event)
{
	assert_ptr_equal(catcher, &c);
	assert_int_equal(event->cpu, 0);
	nr_taken++;
}

bool __wrap_catch_has_enough(const struct catcher *catcher)
{
	return catcher->limit && nr_taken >= catcher->limit;
}

static void step(int ret, uint64_t ts, uint64_t read_at)
{
	steps[nr_steps].ret = ret;
	steps[nr_steps].ts = ts;
	steps[nr_steps++].read_at = read_at;
}

/* Begin to ask for what had fired now. */
static void begin(const char *clock, uint64_t ahead)
{
	now = 1000 * MSEC;
	nr_steps = 0;
	at = 0;
	nr_taken = 0;
	is_endless = false;
	cpu = (struct catch_cpu){ 0 };
	c = (struct catcher){ .session.clock = clock, .cpus = &cpu, .nr_cpus = 1 };
	c.progress.ahead = ahead;
	c.progress.asked_at = now;
}

/* The rings are read to their end, and then so much later than the bound and the clock's error. */
static void old_enough(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const uint64_t wait = CATCH_ORDER_NSEC + (i ? 0 : 3 * MSEC);

		begin(i ? "counter" : "boot", 3 * MSEC);
		step(1, now - MSEC, now);
		assert_false(catch_is_past(&c));
		assert_int_equal(catch_read(&c), 0);
		assert_int_equal(nr_taken, 1);
		assert_true(c.progress.is_empty);
		assert_false(catch_is_past(&c));
		now = c.progress.read_at + wait - 1;
		assert_int_equal(catch_read(&c), 0);
		assert_false(catch_is_past(&c));
		now = c.progress.read_at + wait;
		assert_int_equal(catch_read(&c), 0);
		assert_true(catch_is_past(&c));
	}
}

/* An event that is later than all that had fired shows it at once, if its clock is ours. */
static void later_event(void **state)
{
	(void)state;
	begin("boot", MSEC);
	step(1, now + MSEC, now + 2 * MSEC);
	assert_int_equal(catch_read(&c), 0);
	assert_false(catch_is_past(&c));
	step(1, now + 2 * MSEC, now + 2 * MSEC);
	assert_int_equal(catch_read(&c), 0);
	assert_true(catch_is_past(&c));
	begin("counter", MSEC);
	step(1, UINT64_MAX / 2, now);
	assert_int_equal(catch_read(&c), 0);
	assert_false(catch_is_past(&c));
	assert_int_equal(c.progress.ahead, MSEC);
}

/* EL2's clock is ahead by more than was known: the event proves nothing by its own time. */
static void clock_ahead(void **state)
{
	(void)state;
	begin("boot", MSEC);
	step(1, now + 30 * MSEC, now);
	assert_int_equal(catch_read(&c), 0);
	assert_int_equal(c.progress.ahead, 30 * MSEC);
	assert_false(catch_is_past(&c));
	now = c.progress.read_at + CATCH_ORDER_NSEC + 30 * MSEC;
	assert_int_equal(catch_read(&c), 0);
	assert_true(catch_is_past(&c));
}

/* A stream that was left with events has looked at some rings long ago: it is asked again. */
static void asked_again(void **state)
{
	(void)state;
	begin("boot", MSEC);
	c.limit = 1;
	step(1, 1, now);
	step(1, 2, now);
	step(0, 0, 0);
	step(1, 3, now);
	assert_int_equal(catch_read(&c), 0);
	assert_int_equal(nr_taken, 1);
	assert_false(c.progress.is_empty);
	assert_int_equal(c.progress.read_at, 0);
	/* at the end it takes more than --count says */
	c.is_ending = true;
	assert_int_equal(catch_read(&c), 0);
	assert_int_equal(nr_taken, 3);
	assert_true(c.progress.is_empty);
	assert_in_range(c.progress.empty_at, 1000 * MSEC + 3, now);
}

/* CPUs that record as fast as this reads do not keep it from anything else. */
static void endless(void **state)
{
	(void)state;
	begin("boot", MSEC);
	is_endless = true;
	assert_int_equal(catch_read(&c), 0);
	assert_false(c.progress.is_empty);
	assert_true(catch_is_past(&c));
	assert_int_equal(catch_read_all(&c), 0);
	/* without a clock it cannot be known */
	c.session.clock = "counter";
	assert_int_equal(catch_read_all(&c), 0);
	assert_false(catch_is_past(&c));
}

static void errors(void **state)
{
	(void)state;
	begin("boot", MSEC);
	step(-EBADMSG, 0, 0);
	step(1, 1, now);
	assert_int_equal(catch_read(&c), 0);
	assert_int_equal(nr_taken, 1);
	step(-ENODEV, 0, 0);
	assert_int_equal(catch_read(&c), EXIT_REFUSED);
	step(-ENODEV, 0, 0);
	assert_int_equal(catch_read_all(&c), EXIT_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_enough), cmocka_unit_test(later_event),
		cmocka_unit_test(clock_ahead), cmocka_unit_test(asked_again),
		cmocka_unit_test(endless), cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
