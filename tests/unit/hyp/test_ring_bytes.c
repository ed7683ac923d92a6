// SPDX-License-Identifier: GPL-2.0-only
/* The exact bytes of each kind of record. */
#include "ring_run.h"

#define US(n)	((n) * 1000ULL)

static struct run run;

static int start(void **state)
{
	(void)state;
	run_start(&run, 4, false);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	/* Some tests write without the model: take over the ring's times. */
	run.model->last = run.ring->last_time;
	model_writing(run.model)->start = run.ring->page_time;
	run_reset(&run, RUN_CPU);
	run_stop(&run);

	return 0;
}

static const struct hyptrace_subbuf *page(void)
{
	return run.ring->page;
}

static u32 word(u32 offset)
{
	u32 ret;

	memcpy(&ret, page()->data + offset, sizeof(ret));

	return ret;
}

static u16 half(u32 offset)
{
	u16 ret;

	memcpy(&ret, page()->data + offset, sizeof(ret));

	return ret;
}

static u32 header(u32 type_len, u32 delta)
{
	return type_len | delta << 5;
}

/*
 * A hyp_enter record has 12 bytes: a header of 4, the id, the reason, a padding byte and the
 * vCPU's thread.
 */
static void hyp_enter(void **state)
{
	(void)state;
	/* Neither the host's old content of the page nor an older record may show through. */
	memset((u8 *)page()->data, 0xee, HYPTRACE_SUBBUF_DATA_SIZE);
	env_counter = US(10);
	hyptrace_host_ring->vcpu = 0x12345678;
	hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
	assert_int_equal(page()->time_stamp + (word(0) >> 5), US(10));
	assert_int_equal(word(0) & 31, 2);
	assert_int_equal(page()->commit, 12);
	assert_int_equal(half(4), HYPTRACE_EVENT_hyp_enter);
	assert_int_equal(page()->data[6], HYPTRACE_REASON_GUEST_EXIT);
	assert_int_equal(page()->data[7], 0);
	assert_int_equal(word(8), 0x12345678);

	env_counter = US(11);
	hyptrace_host_ring->vcpu = 0;
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_HOST);
	assert_int_equal(page()->commit, 24);
	assert_int_equal(word(12), header(2, 1000));
	assert_int_equal(half(16), HYPTRACE_EVENT_hyp_exit);
	assert_int_equal(page()->data[18], HYPTRACE_REASON_ERET_HOST);
	assert_int_equal(word(20), 0);
}

static void selftest(void **state)
{
	u32 at;
	u64 id;

	(void)state;
	memset((u8 *)page()->data, 0xee, HYPTRACE_SUBBUF_DATA_SIZE);
	env_counter = US(5);
	/* The first event updates the CPU's copy of the clock, the second uses the copy. */
	for (at = 0; at <= 20; at += 20) {
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 0xfedcba9876543210, 0, 0), 0);
		assert_int_equal(page()->commit, at + 20);
		assert_int_equal(word(at) & 31, 4);
		assert_int_equal(half(at + 4), HYPTRACE_EVENT_selftest);
		/* The padding between the fields must be 0. */
		assert_int_equal(half(at + 6), 0);
		assert_int_equal(word(at + 8), 0);
		memcpy(&id, page()->data + at + 12, sizeof(id));
		assert_true(id == 0xfedcba9876543210);
	}
}

/*
 * 340 hyp_enter events fill a sub-buffer to the last byte. The next event goes into another
 * one.
 */
static void full_page(void **state)
{
	const struct hyptrace_subbuf *first = page();
	u32 i;

	(void)state;
	for (i = 0; i < 340; i++) {
		assert_ptr_equal(page(), first);
		hyptrace(hyp_enter, 0);
	}
	assert_ptr_equal(page(), first);
	assert_int_equal(first->commit, HYPTRACE_SUBBUF_DATA_SIZE);
	hyptrace(hyp_enter, 0);
	assert_ptr_not_equal(page(), first);
	assert_int_equal(first->commit, HYPTRACE_SUBBUF_DATA_SIZE);
	assert_int_equal(page()->commit, 12);
}

/* The next sub-buffer gets a later time stamp even if all events have the same time. */
static void next_page_is_later(void **state)
{
	const struct hyptrace_subbuf *first = page();
	u32 i;

	(void)state;
	env_counter = BIT_ULL(30);
	for (i = 0; i < 341; i++)
		hyptrace(hyp_enter, 0);
	assert_int_equal(first->time_stamp, BIT_ULL(30));
	assert_int_equal(page()->time_stamp, BIT_ULL(30) + 1);
}

/* The payload sizes around the limit between short and long records. */
static void lengths(void **state)
{
	static const u32 payloads[] = { 2, 3, 4, 5, 111, 112, 113, 116, 117, 120 };
	static const u32 words[] = { 1, 1, 1, 2, 28, 28, 0, 0, 0, 0 };
	static const u32 length[] = { 0, 0, 0, 0, 0, 0, 120, 120, 124, 124 };
	u32 pos = 0, i;

	(void)state;
	for (i = 0; i < ENV_NR(payloads); i++) {
		assert_true(run_write(&run, MODEL_RAW, payloads[i], 100 * i));
		assert_int_equal(word(pos) & 31, words[i]);
		if (words[i]) {
			pos += 4 + 4 * words[i];
		} else {
			assert_int_equal(word(pos + 4), length[i]);
			pos += 4 + length[i];
		}
		assert_int_equal(page()->commit, pos);
	}
	run_drain(&run);
}

static void largest(void **state)
{
	const struct hyptrace_subbuf *first = page();

	(void)state;
	assert_int_equal(HYPTRACE_MAX_PAYLOAD_BYTES, 4056);
	assert_true(run_write(&run, MODEL_RAW, HYPTRACE_MAX_PAYLOAD_BYTES, 1));
	assert_int_equal(first->commit, HYPTRACE_SUBBUF_DATA_SIZE - sizeof(struct hyptrace_gap));
	assert_int_equal(word(0) & 31, 0);
	assert_int_equal(word(4), 4060);
	assert_true(run_write(&run, MODEL_RAW, HYPTRACE_MAX_PAYLOAD_BYTES, 2));
	assert_ptr_not_equal(page(), first);
	run_drain(&run);
	assert_int_equal(run.read, 2);
}

/*
 * A record holds a delta of up to 27 bits, in ns. A larger one takes a time-extend record of 8
 * bytes.
 */
static void time_extend(void **state)
{
	const u64 day = 86400000000000ULL;

	(void)state;
	run_write(&run, MODEL_RAW, 4, 1000);
	run_write(&run, MODEL_RAW, 4, 1000 + BIT_ULL(27) - 1);
	assert_int_equal(page()->commit, 16);
	assert_int_equal(word(8), header(1, BIT(27) - 1));

	run_write(&run, MODEL_RAW, 4, 1000 + BIT_ULL(27) - 1 + BIT_ULL(27));
	assert_int_equal(page()->commit, 32);
	assert_int_equal(word(16), header(30, 0));
	assert_int_equal(word(20), 1);
	assert_int_equal(word(24), header(1, 0));

	run_write(&run, MODEL_RAW, 4, 1000 + day);
	assert_int_equal(word(32) & 31, 30);
	assert_int_equal(((u64)word(36) << 27) + (word(32) >> 5),
			 day - 2 * BIT_ULL(27) + 1);
	run_drain(&run);
}

/*
 * The ring's time advances by at most what a time-extend record can hold, and continues from
 * there.
 */
static void clamped(void **state)
{
	const u64 most = BIT_ULL(59) - 1;

	(void)state;
	run_write(&run, MODEL_RAW, 4, 10);
	run_write(&run, MODEL_RAW, 4, 10 + most);
	assert_int_equal(run.ring->last_time, 10 + most);
	run_write(&run, MODEL_RAW, 4, 10 + 3 * most);
	assert_int_equal(run.ring->last_time, 10 + 2 * most);
	assert_int_equal(word(24), header(30, BIT(27) - 1));
	assert_int_equal(word(28), ~0U);
	run_drain(&run);
}

/*
 * An earlier time counts as the time of the last record, also in a new page, and however
 * early.
 */
static void backwards(void **state)
{
	(void)state;
	run_write(&run, MODEL_RAW, 4, US(1000));
	run_write(&run, MODEL_RAW, 4, US(999));
	assert_int_equal(word(8), header(1, 0));
	run_write(&run, MODEL_RAW, 4, 0);
	assert_int_equal(word(16), header(1, 0));
	run_write(&run, MODEL_RAW, 4, US(1000) + 7);
	assert_int_equal(word(24), header(1, 7));

	run_write(&run, MODEL_RAW, HYPTRACE_MAX_PAYLOAD_BYTES, 5);
	assert_int_equal(page()->time_stamp, US(1000) + 7);
	assert_int_equal(word(0), header(0, 0));

	/* The clock is not behind the ring: a reset does not set the time back. */
	env_counter = US(1000) + 7;
	run_reset(&run, RUN_CPU);
	run_write(&run, MODEL_RAW, 4, 3);
	/* A sub-buffer starts later than the one before, even if it is the same page. */
	assert_int_equal(page()->time_stamp + (word(0) >> 5), US(1000) + 8);
	run_drain(&run);
}

/* If the time-extend record and the event do not both fit, the writer moves to the next page. */
static void extend_without_room(void **state)
{
	const struct hyptrace_subbuf *first = page();
	u64 now = 100;

	(void)state;
	run_write(&run, MODEL_RAW, 4056, now);	/* takes 4064 of 4080 bytes */
	now += BIT_ULL(30);
	run_write(&run, MODEL_RAW, 4, now);	/* 16 bytes just fit */
	assert_ptr_equal(page(), first);
	assert_int_equal(first->commit, HYPTRACE_SUBBUF_DATA_SIZE);

	run_write(&run, MODEL_RAW, 4056, now);
	run_write(&run, MODEL_RAW, 4, now);
	first = page();
	now += BIT_ULL(30);
	run_write(&run, MODEL_RAW, 4, now);	/* 8 bytes would fit, 16 do not */
	assert_ptr_not_equal(page(), first);
	assert_int_equal(page()->time_stamp, now);
	assert_int_equal(page()->commit, 8);
	run_drain(&run);
}

/* A reserved record is not visible before its commit. */
static void commit_comes_last(void **state)
{
	u64 now = 1;
	void *to;

	(void)state;
	to = hyptrace_ring_reserve(run.ring, &now, 8);
	assert_non_null(to);
	assert_int_equal(page()->commit, 0);
	assert_int_equal(run.ring->recorded, 0);
	memset(to, 0, 8);
	hyptrace_ring_commit(run.ring, run.ring->commit, run.ring->recorded, to, now, 8);
	assert_int_equal(page()->commit, 12);
	assert_int_equal(run.ring->recorded, 1);
}

#define WITH_RING(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(hyp_enter),
		WITH_RING(selftest),
		WITH_RING(full_page),
		WITH_RING(next_page_is_later),
		WITH_RING(lengths),
		WITH_RING(largest),
		WITH_RING(time_extend),
		WITH_RING(clamped),
		WITH_RING(backwards),
		WITH_RING(extend_without_room),
		WITH_RING(commit_comes_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
