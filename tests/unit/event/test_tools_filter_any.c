// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random conditions: printed, parsed, and compared with their direct evaluation on random
 * payloads. Also the rules for the comparisons that are carried: they only jump forward.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter_case.h"
#include "filter_sample.h"

#define TREES		20000
#define PAYLOADS	40
#define NODES_MAX	(2 * HYPTRACE_FILTER_TERMS_MAX)
#define TEXT_SIZE	2048

enum kind {
	KIND_COMPARISON,
	KIND_ALL,
	KIND_ANY,
};

struct node {
	enum kind		kind;
	const struct node	*left, *right;
	unsigned int		field;
	uint32_t		op;
	uint64_t		value;
};

static struct node nodes[NODES_MAX];
static unsigned int nr_nodes;
static struct sample sample;

/* xorshift: the same numbers on each machine */
static uint64_t any(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static unsigned int below(unsigned int limit)
{
	return any() % limit;
}

/* Return the value of a field, extended to 64 bits. */
static uint64_t field_value(unsigned int field)
{
	switch (field) {
	case 0:
		return sample.op;
	case 1:
		return (uint64_t)(int64_t)sample.step;
	case 2:
		return sample.index;
	case 3:
		return (uint64_t)(int64_t)sample.delta;
	case 4:
		return sample.handle;
	case 5:
		return (uint64_t)(int64_t)sample.ret;
	case 6:
		return sample.pfn;
	case 7:
		return (uint64_t)sample.res;
	}
	return sample.duration;
}

/* Mostly small numbers, so that comparisons with them are not always the same. */
static uint64_t any_value(void)
{
	return below(4) ? (uint64_t)(int64_t)((int)below(9) - 4) : any();
}

static void any_payload(void)
{
	sample = (struct sample){
		.event = SAMPLE_ID, .op = any_value(), .step = any_value(), .index = any_value(),
		.delta = any_value(), .handle = any_value(), .ret = any_value(),
		.pfn = any_value(), .res = any_value(), .duration = any_value(),
	};
}

static const struct node *any_comparison(void)
{
	struct node *node = &nodes[nr_nodes++];

	/* a value that the field can have */
	any_payload();
	node->kind = KIND_COMPARISON;
	node->field = below(SAMPLE_NUMBERS);
	node->op = below(HYPTRACE_FILTER_OP_AND + 1);
	node->value = field_value(node->field);
	return node;
}

static const struct node *any_tree(unsigned int comparisons)
{
	unsigned int left;
	struct node *node;

	if (comparisons == 1)
		return any_comparison();
	left = 1 + below(comparisons - 1);
	node = &nodes[nr_nodes++];
	node->kind = below(2) ? KIND_ALL : KIND_ANY;
	node->left = any_tree(left);
	node->right = any_tree(comparisons - left);
	return node;
}

static const char *any_blank(void)
{
	static const char *const blanks[] = { "", " ", "  ", "\t" };

	return blanks[below(4)];
}

static char *print_value(char *to, const struct node *node)
{
	const bool is_signed = sample_fields[node->field].is_signed;
	const int64_t value = node->value;

	if (!node->field && node->value < 4 && below(2))
		return to + sprintf(to, "%s", sample_symbols[node->value].name);
	if (is_signed && value == -1 && sample_fields[node->field].size > 1 && below(2))
		return to + sprintf(to, "-EPERM");
	if (is_signed && value < 0)
		return to + sprintf(to, below(2) ? "-%" PRIu64 : "-0x%" PRIx64, -node->value);
	return to + sprintf(to, below(2) ? "%" PRIu64 : "0x%" PRIx64, node->value);
}

/* Print a tree: with parentheses where they are necessary, and with some more. */
static char *print(char *to, const struct node *node, enum kind above)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	const bool close = (node->kind == KIND_ANY && above == KIND_ALL) || !below(6);

	to += sprintf(to, "%s%s", any_blank(), close ? "(" : "");
	if (node->kind == KIND_COMPARISON) {
		to += sprintf(to, "%s%s%s%s%s", any_blank(), sample_fields[node->field].name,
			      any_blank(), ops[node->op], any_blank());
		to = print_value(to, node);
	} else {
		to = print(to, node->left, node->kind);
		to += sprintf(to, "%s%s", any_blank(), node->kind == KIND_ALL ? "&&" : "||");
		to = print(to, node->right, node->kind);
	}
	return to + sprintf(to, "%s%s", any_blank(), close ? ")" : "");
}

static bool compare(const struct node *node)
{
	const uint64_t is = field_value(node->field), than = node->value;
	const bool is_signed = sample_fields[node->field].is_signed;
	const bool less = is_signed ? (int64_t)is < (int64_t)than : is < than;

	switch (node->op) {
	case HYPTRACE_FILTER_OP_EQ:
		return is == than;
	case HYPTRACE_FILTER_OP_NE:
		return is != than;
	case HYPTRACE_FILTER_OP_LT:
		return less;
	case HYPTRACE_FILTER_OP_LE:
		return less || is == than;
	case HYPTRACE_FILTER_OP_GT:
		return !less && is != than;
	case HYPTRACE_FILTER_OP_GE:
		return !less;
	}
	return is & than;
}

static bool evaluate(const struct node *node)
{
	switch (node->kind) {
	case KIND_ALL:
		return evaluate(node->left) && evaluate(node->right);
	case KIND_ANY:
		return evaluate(node->left) || evaluate(node->right);
	default:
		return compare(node);
	}
}

static bool is_forward(uint32_t to, unsigned int from, unsigned int nr)
{
	return to == HYPTRACE_FILTER_ACCEPT || to == HYPTRACE_FILTER_REJECT ||
	       (to > from && to < nr);
}

/* Check the comparisons: they are in the order of the text, and each is reached. */
static void check_terms(const struct hyptrace_filter *filter, unsigned int nr)
{
	const struct hyptrace_filter_term *term;
	bool reached[HYPTRACE_FILTER_TERMS_MAX] = { true };
	unsigned int i, leaf = 0;

	for (i = 0; i < nr; i++) {
		term = &filter->terms[i];
		while (nodes[leaf].kind != KIND_COMPARISON)
			leaf++;
		assert_string_equal(term->field, sample_fields[nodes[leaf].field].name);
		assert_int_equal(term->op, nodes[leaf].op);
		assert_true(term->value == nodes[leaf].value);
		leaf++;

		assert_true(reached[i]);
		assert_true(is_forward(term->on_true, i, nr));
		assert_true(is_forward(term->on_false, i, nr));
		if (term->on_true < nr)
			reached[term->on_true] = true;
		if (term->on_false < nr)
			reached[term->on_false] = true;
	}
	assert_int_equal(filter->nr, nr);
}

static void random_filters(void **state)
{
	unsigned int i, j, nr, accepted = 0;
	struct hyptrace_filter *filter;
	const struct node *tree;
	char text[TEXT_SIZE];
	struct hyptrace_error err;
	size_t at;
	bool wanted;

	(void)state;
	for (i = 0; i < TREES; i++) {
		nr_nodes = 0;
		nr = 1 + below(HYPTRACE_FILTER_TERMS_MAX);
		tree = any_tree(nr);
		print(text, tree, KIND_ANY);
		filter = filter_of(&sample_event, text, &at, &err);
		if (!filter && strncmp(err.text, "no event can meet", 17))
			fail_msg("\"%s\": %s at %zu", text, err.text, at);
		if (filter)
			check_terms(filter, nr);
		for (j = 0; j < PAYLOADS; j++) {
			any_payload();
			wanted = evaluate(tree);
			if (wanted != (filter &&
				       filter_accepts(filter, &sample, SAMPLE_SIZE)))
				fail_msg("\"%s\" is not %d", text, wanted);
			accepted += wanted;
		}
		hyptrace_filter_free(filter);
	}
	/* the conditions say something */
	assert_in_range(accepted, TREES * PAYLOADS / 4, TREES * PAYLOADS * 3 / 4);
}

/* No event can meet these: the answer has the place of the comparison that cannot be true. */
static void impossible(void **state)
{
	static const char *const never[] = {
		"op > 255", "op < 0", "pfn < 0", "step < -128", "step > 127", "op & 0", "ret > 0x7fffffff",
		"res < -9223372036854775808", "pfn > 0xffffffffffffffff",
	};
	static const struct {
		const char	*text;
		size_t		at;
	} pairs[] = {
		{ "op == 1 && op == 2", 11 }, { "op == 1 && op != 1", 11 },
		{ "(op == 2 || op == 2) && op == 1", 24 }, { "op > 5 && op < 3", 10 },
		{ "op > 5 && op < 7 && op != 6", 20 }, { "op != 255 && op > 254", 13 },
		{ "ret < 0 && pfn == 1 && ret > -1", 23 }, { "op == 4 && op & 3", 11 },
		{ "step != -128 && step != -127 && step < -126", 32 },
		{ "step >= -1 && step <= -1 && step & 0", 28 },
	};
	static const char *const possible[] = {
		"op == 1 && pfn == 2", "op == 1 && op == 2 || pfn == 3", "op > 5 && op < 7",
		"op == 1 && (op == 2 || op < 2)", "step >= -128 && step != -128", "op & 1 && op & 2",
		"ret == -1 && ret & 0x80000000", "res <= -9223372036854775808", "pfn >= 0xffffffffffffffff",
	};
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int i;
	size_t at;

	(void)state;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		if (filter_of(&sample_event, never[i], &at, &err))
			fail_msg("\"%s\" is accepted", never[i]);
		assert_string_equal(err.text, "no event can meet this filter: the condition is never true");
		assert_int_equal(at, 0);
	}
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (filter_of(&sample_event, pairs[i].text, &at, &err))
			fail_msg("\"%s\" is accepted", pairs[i].text);
		assert_string_equal(err.text,
				    "no event can meet this filter: here, the conditions exclude each other");
		assert_int_equal(at, pairs[i].at);
	}
	for (i = 0; i < sizeof(possible) / sizeof(possible[0]); i++) {
		filter = filter_of(&sample_event, possible[i], &at, &err);
		if (!filter)
			fail_msg("\"%s\": %s", possible[i], err.text);
		hyptrace_filter_free(filter);
	}
}

/* An event may have no more than its number. A record without all of that has none. */
static void smallest_event(void **state)
{
	static struct hyptrace_field number = { "common_type", "u16", 0, 2, false, NULL, 0 };
	struct hyptrace_field *fields[] = { &number };
	const struct hyptrace_event event = {
		.name = "smallest", .id = 8, .size = 2, .fields = fields, .nr_fields = 1,
	};
	struct hyptrace_filter *filter = filter_of(&event, "common_type == 8", NULL, NULL);
	const uint16_t payload = 8;

	(void)state;
	assert_non_null(filter);
	assert_true(filter_accepts(filter, &payload, 2));
	assert_false(filter_accepts(filter, &payload, 1));
	hyptrace_filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters),
		cmocka_unit_test(impossible),
		cmocka_unit_test(smallest_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
