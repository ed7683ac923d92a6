// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: hyp/filter.c takes terms from the host and converts them, hyp/filter.h evaluates them.
 */
#include "filter.c"
#include "proof.h"

static u64 load_field(const struct hyptrace_term *term, const u8 *payload)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < term->width; i++)
		value |= (u64)payload[term->offset + i] << 8 * i;
	if (term->is_signed && term->width < 8 && value >> (8 * term->width - 1))
		value |= ~0ULL << 8 * term->width;

	return value;
}

/* As hyp/abi.h says */
static bool holds(const struct hyptrace_term *term, u64 field)
{
	bool less = term->is_signed ? (s64)field < (s64)term->value : field < term->value;

	switch (term->op) {
	case HYPTRACE_TERM_EQ:
		return field == term->value;
	case HYPTRACE_TERM_NE:
		return field != term->value;
	case HYPTRACE_TERM_LT:
		return less;
	case HYPTRACE_TERM_LE:
		return less || field == term->value;
	case HYPTRACE_TERM_GT:
		return !less && field != term->value;
	case HYPTRACE_TERM_GE:
		return !less;
	default:
		return field & term->value;
	}
}

static bool is_next(u8 next, u32 number, u32 nr_terms)
{
	return next >= HYPTRACE_FILTER_RECORD || (next && number + next < nr_terms);
}

/* Each term leads to later ones, and reads nothing but the payload. */
static bool is_sound(const struct hyptrace_ring_filter *filter, u32 nr_terms, u32 size)
{
	u32 i;

	for (i = 0; i < nr_terms; i++) {
		const struct hyptrace_filter_range *term = &filter->terms[i];

		if (term->start + sizeof(u64) > size || !is_next(term->inside, i, nr_terms) ||
		    !is_next(term->outside, i, nr_terms))
			return false;
	}

	return true;
}

/*
 * Each term that EL2 accepts is evaluated as it reads, from the payload alone, and leads to later
 * ones: so a filter whose terms were accepted is sound.
 */
void conversion(void)
{
	u32 event = nondet_u32(), number = nondet_u32(), nr_terms = nondet_u32(), next;
	u8 payload[HYPTRACE_MAX_ENTRY_BYTES], target;
	struct hyptrace_filter_range range;
	struct hyptrace_term term;

	any(payload);
	any(term);
	assume(event && event < HYPTRACE_NR_EVENTS);
	assume(is_valid(&term, event, number, nr_terms));
	convert(&term, event, number, &range);
	claim(range.start + sizeof(u64) <= payload_sizes[event]);
	claim(is_next(range.inside, number, nr_terms) && is_next(range.outside, number, nr_terms));

	next = hyptrace_filter_evaluate(&range, payload);
	target = holds(&term, load_field(&term, payload)) ? term.on_true : term.on_false;
	claim(next == (target < HYPTRACE_FILTER_MAX_TERMS ? target - number : target));
}

/* The evaluation of a sound filter ends, inside of it. */
void evaluation(void)
{
	u8 payload[HYPTRACE_MAX_ENTRY_BYTES];
	struct hyptrace_ring_filter filter;
	u32 nr_terms = nondet_u32();

	any(payload);
	any(filter);
	assume(nr_terms && nr_terms <= HYPTRACE_FILTER_MAX_TERMS);
	assume(is_sound(&filter, nr_terms, sizeof(payload)));
	claim(hyptrace_filter_decide(&filter, payload) >= HYPTRACE_FILTER_RECORD);
}
