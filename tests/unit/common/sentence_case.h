/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of the events of hyp/ as a driver describes them, with the names of their values; and
 * their texts. For the tests of sentences.
 */
#ifndef SENTENCE_CASE_H
#define SENTENCE_CASE_H

#include <stdlib.h>
#include <string.h>

#include "event_lists.h"
#include "hyp_list.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define NR_EVENTS	COUNT(hyp_list)
#define MAX_SYMBOLS	512
#define MAX_FIELDS	16

struct value_name {
	uint64_t	value;
	const char	*name;
};

/* The formats of hyptrace_printk(): the driver makes these names when it is loaded. */
#define PRINTK_FORMATS							\
	{ 0, "no numbers" },						\
	{ 1, "%d %u %#x %08x" },					\
	{ 2, "%lld|%llu|%#llx|%-6ld|" },				\
	{ 3, "%hhd %hd %c%c~" },						\
	{ 4, " 100%% of %+i, %5zu, %o" },				\
	{ 5, "%d %s %d" },						\
	{ 6, "%d %d %d %d %d" },					\
	{ 7, "ends with %" },						\
	{ 8, "%33d" },							\
	{ 10, "%c%c%c" },						\
	{ 11, "%.8x|%8.4x|%-6.3d|%.d" },				\
	{ 12, "%3c|%-3c|%lc|%+.2c" },					\
	{ 13, "%d %*d" },						\
	{ 14, "%.33d" },						\
	{ 15, "%d\302\260C" }

/* Which names the values of a field have in hyp/events.h */
#define NAMES_OF(event, field, ...) \
	{ event, field, (const struct value_name[]){ __VA_ARGS__, { 0, NULL } } }
static const struct {
	const char		*event;
	const char		*field;
	const struct value_name	*names;
} field_names[] = {
	NAMES_OF("hyp_enter", "reason", HYPTRACE_REASON_NAMES),
	NAMES_OF("host_hcall", "id", { 7, "__seven" }),
	NAMES_OF("host_smc", "id", HYPTRACE_SMC_NAMES),
	NAMES_OF("psci_call", "func", HYPTRACE_SMC_NAMES),
	NAMES_OF("host_ffa_call", "func_id", HYPTRACE_SMC_NAMES),
	NAMES_OF("guest_exit", "code", HYPTRACE_EXIT_NAMES),
	NAMES_OF("guest_exit", "ec", HYPTRACE_EC_NAMES),
	NAMES_OF("guest_fixup", "ec", HYPTRACE_EC_NAMES),
	NAMES_OF("mem_transition", "op", HYPTRACE_MEM_OP_NAMES),
	NAMES_OF("mem_transition", "from", HYPTRACE_OWNER_NAMES),
	NAMES_OF("mem_transition", "to", HYPTRACE_OWNER_NAMES),
	NAMES_OF("tlbi", "op", HYPTRACE_TLBI_NAMES),
	NAMES_OF("hyp_pool", "op", HYPTRACE_POOL_NAMES),
	NAMES_OF("lock_wait", "lock", HYPTRACE_LOCK_NAMES),
	NAMES_OF("hyp_printk", "fmt_id", PRINTK_FORMATS),
	NAMES_OF("hyp_exit", "reason", HYPTRACE_REASON_NAMES),
	NAMES_OF("func", "id", { 0, "handle_host_hcall" }, { 1, "handle___share" }, { 2, "outer" },
		 { 3, "inner" }, { 4, "leaf" }, { 5, "kvm_host_psci_handler" }),
	NAMES_OF("pmu", "counter", HYPTRACE_PMU_NAMES),
	NAMES_OF("pmu", "of", HYPTRACE_PMU_OF_NAMES),
};

static struct hyptrace_symbol symbols[COUNT(field_names)][MAX_SYMBOLS];
static struct hyptrace_field copies[NR_EVENTS][MAX_FIELDS];
static struct hyptrace_event events[NR_EVENTS];
static struct hyptrace_formats *formats;

static inline struct hyptrace_event *event_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	fail_msg("no event %s", name);
	return NULL;
}

static struct hyptrace_field *field_of(const char *event, const char *name)
{
	struct hyptrace_event *of = event_of(event);
	unsigned int i;

	for (i = 0; i < of->nr_fields; i++)
		if (!strcmp(of->fields[i]->name, name))
			return of->fields[i];
	fail_msg("no field %s in %s", name, event);
	return NULL;
}

static void name_values(unsigned int which)
{
	struct hyptrace_field *field = field_of(field_names[which].event, field_names[which].field);
	const struct value_name *from = field_names[which].names;
	unsigned int nr;

	for (nr = 0; from[nr].name; nr++) {
		assert_in_range(nr, 0, MAX_SYMBOLS - 1);
		symbols[which][nr].value = from[nr].value;
		symbols[which][nr].name = (char *)from[nr].name;
	}
	field->symbols = (struct hyptrace_symbol **)list_of(symbols[which], sizeof(symbols[0][0]),
							    nr);
	field->nr_symbols = nr;
}

/* Describe the events; a test may change the descriptions before begin_formats(). */
static inline int describe(void **state)
{
	unsigned int i, nr;

	(void)state;
	lists_begin();
	for (i = 0; i < NR_EVENTS; i++) {
		struct hyptrace_field *fields = hyp_list[i].fields(&nr);

		assert_in_range(nr, 1, MAX_FIELDS);
		memcpy(copies[i], fields, nr * sizeof(*fields));
		events[i] = (struct hyptrace_event) {
			.id = i + 1,
			.size = hyp_list[i].size,
			.print_fmt = (char *)hyp_list[i].print_fmt,
			.fields = field_list(copies[i], nr),
			.nr_fields = nr,
		};
		strcpy(events[i].name, hyp_list[i].name);
	}
	for (i = 0; i < COUNT(field_names); i++)
		name_values(i);
	return 0;
}

static inline void begin_formats(void)
{
	formats = hyptrace_formats_new(event_list(events, NR_EVENTS), NR_EVENTS, NULL);
	assert_non_null(formats);
}

static inline int describe_and_begin(void **state)
{
	describe(state);
	begin_formats();
	return 0;
}

static inline int free_formats(void **state)
{
	(void)state;
	hyptrace_formats_free(formats);
	formats = NULL;
	return 0;
}

/* The record has exactly @size bytes, so that ASan reports reads beyond it. Free its data. */
static struct hyptrace_record record_of(const char *event, const void *payload, unsigned int size)
{
	const uint16_t id = event_of(event)->id;
	void *data = memcpy(malloc(size), payload, size);

	memcpy(data, &id, sizeof(id));
	return (struct hyptrace_record) { .data = data, .size = size };
}

/* The text of an event is the expected one, and so is its line. */
static inline void expect_text(const char *event, const void *payload, const char *expected)
{
	struct hyptrace_record rec = record_of(event, payload, event_of(event)->size);
	char *line = malloc(HYPTRACE_LINE_MAX), *end;
	const char *text;
	size_t len;

	text = hyptrace_formats_text(formats, event_of(event), &rec, &len);
	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(text));
	assert_int_equal(hyptrace_formats_lines(formats, "<", "> ", NULL), 0);
	end = hyptrace_formats_line(formats, &rec, line);
	assert_non_null(end);
	*end = '\0';
	assert_int_equal(line[0], '<');
	assert_memory_equal(line + 1, event, strlen(event));
	assert_memory_equal(line + 1 + strlen(event), "> ", 2);
	assert_string_equal(line + 1 + strlen(event) + 2, expected);
	free(line);
	free((void *)rec.data);
}

/* EXPECT("text", event, .field = value, ...) */
#define EXPECT(text, event, ...) \
	expect_text(#event, &(struct entry_##event){ __VA_ARGS__ }, text)

/* The name of a field's value, or NULL */
static inline const char *name_in(const char *event, const void *payload, const char *field)
{
	struct hyptrace_record rec = record_of(event, payload, event_of(event)->size);
	const char *name = hyptrace_formats_name(formats, event_of(event), field_of(event, field),
						 &rec);

	free((void *)rec.data);
	return name;
}

#define NAME(event, field, ...) \
	name_in(#event, &(struct entry_##event){ __VA_ARGS__ }, #field)

#endif /* SENTENCE_CASE_H */
