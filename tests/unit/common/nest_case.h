/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A nest that gets events of hyp/, for its tests.
 */
#ifndef NEST_CASE_H
#define NEST_CASE_H

#include "lib/hyptrace_model.h"
#include "sentence_case.h"

#define BIT(kind)	HYPTRACE_KIND_BIT(HYPTRACE_KIND_##kind)

static struct hyptrace_model *model;
static struct hyptrace_nest *nest;

static inline void begin_nest(uint32_t kinds)
{
	if (!model)
		model = hyptrace_model_new(formats, NULL);
	assert_non_null(model);
	hyptrace_nest_free(nest);
	nest = hyptrace_nest_new(model, kinds);
	assert_non_null(nest);
}

static inline int end_nest(void **state)
{
	hyptrace_nest_free(nest);
	nest = NULL;
	hyptrace_model_free(model);
	model = NULL;
	return free_formats(state);
}

static inline void add(unsigned int cpu, uint64_t ts, const char *event, const void *payload,
		       bool is_counted, uint64_t now)
{
	struct hyptrace_stream_event put = {
		.record = record_of(event, payload, event_of(event)->size), .cpu = cpu,
	};

	put.record.ts = ts;
	assert_int_equal(hyptrace_nest_add(nest, &put, is_counted, now), 0);
	free((void *)put.record.data);
}

static inline void lose(unsigned int cpu, uint64_t ts, uint64_t lost)
{
	const struct hyptrace_stream_event put = {
		.record = { .ts = ts, .lost = lost }, .cpu = cpu,
	};

	assert_int_equal(hyptrace_nest_add(nest, &put, true, 1), 0);
}

/* PUT(ts, CPU, event, .field = value, ...) */
#define PUT(ts, cpu, event, ...) \
	add(cpu, ts, #event, &(struct entry_##event){ __VA_ARGS__ }, true, 0)

#define EXPECT_WAIT()	assert_null(hyptrace_nest_next(nest, 0))

/* The next span has this stack, and so much time of its own. */
static inline void expect_stack(const char *stack, uint64_t own)
{
	const struct hyptrace_span *span = hyptrace_nest_next(nest, 0);
	char text[256];
	size_t len;

	if (!span)
		fail_msg("%s waits", stack);
	len = hyptrace_span_stack(span, text, sizeof(text));
	assert_string_equal(text, stack);
	assert_int_equal(len, strlen(text));
	assert_int_equal(span->own, own);
}

#endif /* NEST_CASE_H */
