// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters that the host gives, term by term. The host is not trusted: EL2 checks each term, and
 * converts it for its evaluation (filter.h), before it stores it. Called by hcall.c and load.c.
 */
#include "ring.h"

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, ...)						\
	[HYPTRACE_EVENT_##name] = sizeof(struct hyptrace_entry_##name),
#define HYP_TIMED_EVENT(name, ...)	HYP_EVENT(name)
#define HYP_SPAN_EVENT(name, ...)	HYP_EVENT(name)
static const u16 payload_sizes[HYPTRACE_NR_EVENTS] = {
#include "events.h"
};

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT

/* Bit per number of a hypercall that returns nothing */
u64 hyptrace_void_hcalls[HYPTRACE_FILTER_HCALLS / 64];

/* Inverting this bit of two signed numbers gives two unsigned ones in the same order. */
#define SIGN_BIT	BIT_ULL(63)

static bool is_target(u8 target, u32 number, u32 nr_terms)
{
	return (target > number && target < nr_terms) ||
	       target == HYPTRACE_FILTER_ACCEPT || target == HYPTRACE_FILTER_REJECT ||
	       target == HYPTRACE_FILTER_RECORD;
}

static bool is_valid(const struct hyptrace_term *term, u32 event, u32 number, u32 nr_terms)
{
	u32 size = payload_sizes[array_index_nospec(event, HYPTRACE_NR_EVENTS)];

	return number < nr_terms && nr_terms <= HYPTRACE_FILTER_MAX_TERMS &&
	       term->width && term->width <= sizeof(u64) && !(term->width & (term->width - 1)) &&
	       term->offset >= sizeof(u16) && term->offset + term->width <= size &&
	       term->op < HYPTRACE_TERM_NR_OPS && term->is_signed <= 1 && !term->reserved &&
	       is_target(term->on_true, number, nr_terms) &&
	       is_target(term->on_false, number, nr_terms);
}

/* Whether the operator holds outside the range that limit_range() computes */
static bool is_inverted(u8 op)
{
	return op == HYPTRACE_TERM_NE || op == HYPTRACE_TERM_GT || op == HYPTRACE_TERM_GE ||
	       op == HYPTRACE_TERM_AND;
}

/* Limit the range to the values equal to @value, less than it, or both. False if there are none. */
static bool limit_range(u8 op, u64 value, u64 *first, u64 *last)
{
	if (op == HYPTRACE_TERM_LT || op == HYPTRACE_TERM_GE) {
		if (!value)
			return false;
		value--;
	} else if ((op == HYPTRACE_TERM_EQ || op == HYPTRACE_TERM_NE) && value > *first) {
		*first = value;
	}
	if (value < *last)
		*last = value;

	return *first <= *last;
}

/* Convert a comparison. Without a value that is inside, each word counts as outside. */
static void convert_comparison(const struct hyptrace_term *term, u64 mask,
			       struct hyptrace_filter_range *range)
{
	u64 bias = term->is_signed ? SIGN_BIT : 0;
	u64 first = 0, last = mask;

	if (term->is_signed) {
		last = mask >> 1;
		first = ~last;
	}
	first ^= bias;
	last ^= bias;
	if (!limit_range(term->op, term->value ^ bias, &first, &last))
		range->inside = range->outside;
	range->first = (first ^ bias) & mask;
	range->span = last - first;
	range->mask = mask;
}

/* Convert "field & value": the word is in the range 0 to 0 if none of the bits is set. */
static void convert_and(const struct hyptrace_term *term, u64 mask,
			struct hyptrace_filter_range *range)
{
	range->first = 0;
	range->span = 0;
	range->mask = term->value & mask;
	/* The bits above a signed field are equal to its highest bit. */
	if (term->is_signed && term->value & ~mask)
		range->mask |= mask & ~(mask >> 1);
}

/* Where the field is in a word that begins @before bytes before it: how far to shift to it */
static u32 shift_to_field(u32 before, u32 width)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		return 8 * (sizeof(u64) - before - width);

	return 8 * before;
}

/* From the number of the next term to how much further it is */
static u8 distance(u8 target, u32 number)
{
	return target < HYPTRACE_FILTER_MAX_TERMS ? target - number : target;
}

static void convert(const struct hyptrace_term *term, u32 event, u32 number,
		    struct hyptrace_filter_range *range)
{
	u32 last_start = payload_sizes[array_index_nospec(event, HYPTRACE_NR_EVENTS)] -
			 sizeof(u64);
	u64 mask = ~0ULL >> (64 - 8 * term->width);
	bool inverted = is_inverted(term->op);
	u32 shift;

	range->inside = distance(inverted ? term->on_false : term->on_true, number);
	range->outside = distance(inverted ? term->on_true : term->on_false, number);
	if (term->op == HYPTRACE_TERM_AND)
		convert_and(term, mask, range);
	else
		convert_comparison(term, mask, range);

	/* The word must not exceed the payload. */
	range->start = term->offset < last_start ? term->offset : last_start;
	shift = shift_to_field(term->offset - range->start, term->width);
	range->first <<= shift;
	range->span <<= shift;
	range->mask <<= shift;
}

static bool is_result(const struct hyptrace_term *term, u32 event)
{
	return event == HYPTRACE_EVENT_host_hcall &&
	       term->offset == offsetof(struct hyptrace_entry_host_hcall, ret);
}

/* Only the CPU itself uses these bits. On another CPU no event is selected now. */
static void set_has_filter(struct hyptrace_ring *ring, u32 event, bool has_filter)
{
	u64 bit = BIT_ULL(event);

	WRITE_ONCE(ring->has_filter, has_filter ? ring->has_filter | bit :
						  ring->has_filter & ~bit);
	if (hyptrace_ring_is_local(ring))
		hyptrace_set_silent(ring, ring->silent);
}

static int give_term(struct hyptrace_ring *ring, u32 event, u32 number, u32 nr_terms,
		     const struct hyptrace_term *term)
{
	struct hyptrace_filter_draft *draft = &ring->draft;
	struct hyptrace_filter_range *no_result;

	if (!is_valid(term, event, number, nr_terms))
		return -EINVAL;
	if (number && (draft->event != event || draft->nr_terms != nr_terms ||
		       draft->nr_given != number))
		return -EINVAL;

	/* A CPU that speculates must not find a term of another event, which may be larger. */
	if (!number)
		memset(draft, 0, sizeof(*draft));
	number = array_index_nospec(number, HYPTRACE_FILTER_MAX_TERMS);
	convert(term, event, number, &draft->filter.terms[number]);
	no_result = &draft->no_result.terms[number];
	*no_result = draft->filter.terms[number];
	if (is_result(term, event)) {
		no_result->inside = distance(term->on_false, number);
		no_result->outside = no_result->inside;
	}
	draft->event = event;
	draft->nr_terms = nr_terms;
	draft->nr_given = number + 1;
	if (draft->nr_given < nr_terms)
		return 0;

	ring->filters[array_index_nospec(event, HYPTRACE_NR_EVENTS)] = draft->filter;
	if (event == HYPTRACE_EVENT_host_hcall)
		ring->filters[HYPTRACE_FILTER_NO_RESULT] = draft->no_result;
	set_has_filter(ring, event, true);

	return 0;
}

/**
 * hyptrace_filter_set() - give a term of an event's filter, or remove the filter
 * @ring:	this CPU's, or one that is not attached
 * @where:	first argument of HYPTRACE_OP_FILTER
 * @what:	second
 * @value:	third
 * Return: 0; -ENODEV not loaded; -EBUSY another CPU's ring; -EINVAL no such event, or not a
 * valid term, or not the next one. After an error nothing has changed.
 */
int hyptrace_filter_set(struct hyptrace_ring *ring, u64 where, u64 what, u64 value)
{
	struct hyptrace_term term = hyptrace_unpack_term(what, value);
	u32 event = where >> HYPTRACE_FILTER_EVENT_SHIFT & 0xffff;
	u32 number = where >> HYPTRACE_FILTER_NUMBER_SHIFT & 0xff;
	u32 nr_terms = where >> HYPTRACE_FILTER_NR_TERMS_SHIFT;

	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	if (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_local(ring))
		return -EBUSY;
	if (!event || event >= HYPTRACE_NR_EVENTS)
		return -EINVAL;
	if (nr_terms)
		return give_term(ring, event, number, nr_terms, &term);
	if (number || what || value)
		return -EINVAL;
	set_has_filter(ring, event, false);

	return 0;
}

/**
 * hyptrace_filter_set_void() - set which hypercalls return nothing
 * @first:	the hypercall of bit 0
 * @bits:	bit per hypercall
 * Return: 0; -EINVAL not the first of 64.
 */
int hyptrace_filter_set_void(u64 first, u64 bits)
{
	u64 word = first / 64;

	if (first % 64 || first >= HYPTRACE_FILTER_HCALLS)
		return -EINVAL;
	word = array_index_nospec(word, HYPTRACE_FILTER_HCALLS / 64);
	WRITE_ONCE(hyptrace_void_hcalls[word], bits);

	return 0;
}

/**
 * hyptrace_filter_clear_all() - remove the filters of all events
 * @ring:	its lock held, no CPU attached
 */
void hyptrace_filter_clear_all(struct hyptrace_ring *ring)
{
	hyptrace_assert_held(&ring->lock);
	WRITE_ONCE(ring->has_filter, 0);
	ring->draft.nr_given = 0;
}
