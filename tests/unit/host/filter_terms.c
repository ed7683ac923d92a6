// SPDX-License-Identifier: GPL-2.0-only
/* Filters for the tests of hyp/: see filter_terms.h. */
#include "filter_terms.h"

struct env_ring filter_pages;

int filter_start(void **state)
{
	(void)state;
	env_start(2 * env_ring_pages(FILTER_PAGES));
	env_ring_load(&filter_pages, FILTER_CPU, 0, FILTER_PAGES, 0);
	env_cpu(FILTER_CPU);

	return hyptrace_hcall(HYPTRACE_OP_ATTACH, FILTER_CPU, HYPTRACE_ALL_EVENTS, 0);
}

int filter_stop(void **state)
{
	(void)state;
	env_cpu(FILTER_CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, FILTER_CPU, 0, 0), 0);
	env_ring_free(&filter_pages);
	env_stop();

	return 0;
}

struct filter_counts filter_before(void)
{
	const struct hyptrace_ring *ring = &env_rings[FILTER_CPU];

	return (struct filter_counts) { ring->recorded, ring->filtered };
}

bool filter_passed(struct filter_counts before)
{
	const struct hyptrace_ring *ring = &env_rings[FILTER_CPU];

	assert_int_equal(ring->recorded + ring->filtered, before.recorded + before.filtered + 1);

	return ring->recorded > before.recorded;
}

s64 filter_give(u64 cpu, u32 event, u32 number, u32 nr_terms, const struct hyptrace_term *term)
{
	return hyptrace_hcall(HYPTRACE_OP_FILTER,
			      hyptrace_filter_where(cpu, event, number, nr_terms),
			      hyptrace_pack_term(term), term->value);
}

/* Give all terms up to the first that is refused. */
s64 filter_set(u64 cpu, u32 event, const struct hyptrace_term *terms, u32 nr_terms)
{
	s64 ret = 0;
	u32 i;

	for (i = 0; i < nr_terms && !ret; i++)
		ret = filter_give(cpu, event, i, nr_terms, &terms[i]);

	return ret;
}

s64 filter_remove(u64 cpu, u32 event)
{
	return hyptrace_hcall(HYPTRACE_OP_FILTER, hyptrace_filter_where(cpu, event, 0, 0), 0, 0);
}

/* Values at the limits of each width, and beside them */
#define AROUND(n)	(n) - 1, (n), (n) + 1
static const u64 limits[] = {
	AROUND(0ULL), AROUND(0x80ULL), AROUND(0x100ULL), AROUND(0x8000ULL), AROUND(0x10000ULL),
	AROUND(1ULL << 31), AROUND(1ULL << 32), AROUND(1ULL << 63),
	AROUND(-0x80ULL), AROUND(-0x100ULL), AROUND(-0x8000ULL), AROUND(-(1ULL << 31)),
	AROUND(-(1ULL << 32)), 0x5a, 0x123456789abcdef0,
};

u32 filter_nr_limits(void)
{
	return ENV_NR(limits);
}

u64 filter_limit(u64 n)
{
	return limits[n % ENV_NR(limits)];
}

/* Evaluate a term by exact arithmetic. */
bool filter_holds(const struct hyptrace_term *term, const void *payload)
{
	const u8 *bytes = (const u8 *)payload + term->offset;
	__int128 field = 0, value = term->value;
	u32 i;

	for (i = term->width; i; i--)
		field = field * 256 + bytes[i - 1];
	if (term->is_signed) {
		if (bytes[term->width - 1] >= 128)
			field -= (__int128)1 << 8 * term->width;
		if (term->value >> 63)
			value -= (__int128)1 << 64;
	}
	switch (term->op) {
	case HYPTRACE_TERM_EQ:
		return field == value;
	case HYPTRACE_TERM_NE:
		return field != value;
	case HYPTRACE_TERM_LT:
		return field < value;
	case HYPTRACE_TERM_LE:
		return field <= value;
	case HYPTRACE_TERM_GT:
		return field > value;
	case HYPTRACE_TERM_GE:
		return field >= value;
	default:
		return (u64)field & term->value;
	}
}

/* The bytes of an event's payload */
u32 filter_payload_size(u32 event)
{
	switch (event) {
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, ...) \
	case HYPTRACE_EVENT_##name: return sizeof(struct hyptrace_entry_##name);
#define HYP_TIMED_EVENT(name, ...)	HYP_EVENT(name)
#define HYP_SPAN_EVENT(name, ...)	HYP_EVENT(name)
#include "events.h"
	default:
		return 0;
	}
}

/* A comparison of any bytes of a payload of @size bytes, without jumps */
void filter_random_term(struct hyptrace_term *term, u64 *seed, u32 size)
{
	*term = (struct hyptrace_term) {
		.width = 1 << env_random(seed) % 4,
		.op = env_random(seed) % HYPTRACE_TERM_NR_OPS,
		.is_signed = env_random(seed) % 2,
		.value = filter_limit(env_random(seed)),
	};
	term->offset = 2 + env_random(seed) % (size - 1 - term->width);
	if (env_random(seed) % 4 == 0)
		term->value = env_random(seed) >> env_random(seed) % 64;
}

static u32 grow(struct filter_tree *tree, u32 nr_leaves, u64 *seed, u32 size)
{
	u32 index = tree->nr_nodes++, left;
	struct filter_node *node = &tree->nodes[index];

	node->is_leaf = nr_leaves == 1;
	node->first = tree->nr_terms;
	if (node->is_leaf) {
		filter_random_term(&tree->terms[tree->nr_terms++], seed, size);
	} else {
		left = 1 + env_random(seed) % (nr_leaves - 1);
		node->is_and = env_random(seed) % 2;
		node->left = grow(tree, left, seed, size);
		node->right = grow(tree, nr_leaves - left, seed, size);
	}

	return index;
}

static void set_jumps(struct filter_tree *tree, u32 index, u8 on_true, u8 on_false)
{
	const struct filter_node *node = &tree->nodes[index];
	u8 right = tree->nodes[node->right].first;

	if (node->is_leaf) {
		tree->terms[node->first].on_true = on_true;
		tree->terms[node->first].on_false = on_false;
		return;
	}
	set_jumps(tree, node->left, node->is_and ? right : on_true,
		  node->is_and ? on_false : right);
	set_jumps(tree, node->right, on_true, on_false);
}

/* A condition with 1 to 8 comparisons of a payload of @size bytes */
void filter_random_tree(struct filter_tree *tree, u64 *seed, u32 size)
{
	memset(tree, 0, sizeof(*tree));
	grow(tree, 1 + env_random(seed) % HYPTRACE_FILTER_MAX_TERMS, seed, size);
	set_jumps(tree, 0, HYPTRACE_FILTER_ACCEPT, HYPTRACE_FILTER_REJECT);
}

static bool node_holds(const struct filter_tree *tree, u32 index, const void *payload)
{
	const struct filter_node *node = &tree->nodes[index];
	bool left, right;

	if (node->is_leaf)
		return filter_holds(&tree->terms[node->first], payload);
	left = node_holds(tree, node->left, payload);
	right = node_holds(tree, node->right, payload);

	return node->is_and ? left && right : left || right;
}

/* Evaluate the condition itself, without the jumps. */
bool filter_tree_holds(const struct filter_tree *tree, const void *payload)
{
	return node_holds(tree, 0, payload);
}

/* What is wrong in a term, wherever the term is. -1: as in the good one */
static const struct {
	int offset, width, op, is_signed, on_true, on_false, reserved;
} faults[] = {
	{ 0, -1, -1, -1, -1, -1, -1 },
	{ 1, -1, -1, -1, -1, -1, -1 },
	{ 1, 1, -1, -1, -1, -1, -1 },
	{ 0xffff, -1, -1, -1, -1, -1, -1 },
	{ 0xfff9, 8, -1, -1, -1, -1, -1 },
	{ -1, 0, -1, -1, -1, -1, -1 },
	{ -1, 3, -1, -1, -1, -1, -1 },
	{ -1, 5, -1, -1, -1, -1, -1 },
	{ -1, 6, -1, -1, -1, -1, -1 },
	{ -1, 7, -1, -1, -1, -1, -1 },
	{ 2, 16, -1, -1, -1, -1, -1 },
	{ -1, 0x80, -1, -1, -1, -1, -1 },
	{ -1, 0xff, -1, -1, -1, -1, -1 },
	{ -1, -1, HYPTRACE_TERM_NR_OPS, -1, -1, -1, -1 },
	{ -1, -1, 0x80, -1, -1, -1, -1 },
	{ -1, -1, 0xff, -1, -1, -1, -1 },
	{ -1, -1, -1, 2, -1, -1, -1 },
	{ -1, -1, -1, 0xff, -1, -1, -1 },
	{ -1, -1, -1, -1, 0, -1, -1 },
	{ -1, -1, -1, -1, 2, -1, -1 },
	{ -1, -1, -1, -1, HYPTRACE_FILTER_MAX_TERMS, -1, -1 },
	{ -1, -1, -1, -1, HYPTRACE_FILTER_RECORD - 1, -1, -1 },
	{ -1, -1, -1, -1, -1, 0, -1 },
	{ -1, -1, -1, -1, -1, 2, -1 },
	{ -1, -1, -1, -1, -1, HYPTRACE_FILTER_MAX_TERMS, -1 },
	{ -1, -1, -1, -1, -1, HYPTRACE_FILTER_RECORD - 1, -1 },
	{ -1, -1, -1, -1, -1, -1, 1 },
	{ -1, -1, -1, -1, -1, -1, 0xff },
};

#define NR_WIDTHS	4

/* How many faults there are, with one for each width at the end of the payload */
u32 filter_nr_bad(void)
{
	return ENV_NR(faults) + NR_WIDTHS;
}

static int either(int fault, int good)
{
	return fault >= 0 ? fault : good;
}

/* A term with the nth fault, for a payload of @size bytes */
struct hyptrace_term filter_bad(const struct hyptrace_term *good, u32 size, u32 n)
{
	struct hyptrace_term bad = *good;

	if (n >= ENV_NR(faults)) {
		bad.width = 1 << (n - ENV_NR(faults));
		bad.offset = size - bad.width + 1;
		return bad;
	}
	bad.offset = either(faults[n].offset, bad.offset);
	bad.width = either(faults[n].width, bad.width);
	bad.op = either(faults[n].op, bad.op);
	bad.is_signed = either(faults[n].is_signed, bad.is_signed);
	bad.on_true = either(faults[n].on_true, bad.on_true);
	bad.on_false = either(faults[n].on_false, bad.on_false);
	bad.reserved = either(faults[n].reserved, bad.reserved);

	return bad;
}
