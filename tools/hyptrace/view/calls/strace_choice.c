// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: which calls -e chooses, and the filter at EL2 that follows from it.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "output/message.h"
#include "output/text.h"
#include "strace_choice.h"

/* What strace also takes before the names */
#define PREFIX		"trace="

static void add_word(struct strace_choice *choice, const char *text, bool is_negated)
{
	choice->words = reallocarray(choice->words, choice->nr + 1, sizeof(*choice->words));
	if (!choice->words)
		die_no_memory();
	choice->words[choice->nr++] = (struct strace_word){ text, is_negated };
	choice->has_names |= !is_negated;
}

/* Add the argument @list of -e, which is changed and must stay valid; false if it has no name. */
bool strace_choice_add(struct strace_choice *choice, char *list)
{
	const unsigned int before = choice->nr;
	bool negates;
	char *word;

	if (!strncmp(list, PREFIX, strlen(PREFIX)))
		list += strlen(PREFIX);
	/* as strace: it negates the whole list */
	negates = *list == '!';
	for (word = strtok(list + negates, ","); word; word = strtok(NULL, ",")) {
		if (*word == '!' && !word[1])
			return false;
		add_word(choice, word + (*word == '!'), negates || *word == '!');
	}
	return choice->nr > before;
}

void strace_choice_free(struct strace_choice *choice)
{
	free(choice->words);
}

/*
 * Is a name chosen? guest_fixup is chosen only by its own name: it has the classes of guest_exit,
 * which follows it.
 */
bool strace_choice_name(const struct strace_choice *choice, enum hyptrace_kind kind,
			const char *name)
{
	const char *event = hyptrace_kind_event(kind);
	bool chosen = !choice->has_names && kind != HYPTRACE_KIND_GUEST_FIXUP;
	unsigned int i;

	for (i = 0; i < choice->nr; i++) {
		const struct strace_word *word = &choice->words[i];
		bool by_event = !fnmatch(word->text, event, 0);

		if (!by_event && fnmatch(word->text, name, 0))
			continue;
		if (word->is_negated)
			return false;
		if (by_event || kind != HYPTRACE_KIND_GUEST_FIXUP)
			chosen = true;
	}
	return chosen;
}

bool strace_choice_accept(const struct strace_choice *choice,
			  const struct hyptrace_meaning *meaning, uint64_t key)
{
	char number[STRACE_NUMBER_SIZE];
	const char *name;

	/* a fixup has the names of exits here */
	if (meaning->kind == HYPTRACE_KIND_GUEST_FIXUP)
		name = hyptrace_meaning_value_name(meaning, HYPTRACE_ROLE_CLASS, key);
	else
		name = hyptrace_meaning_name(meaning, key);
	return strace_choice_name(choice, meaning->kind, strace_name(name, key, number));
}

typedef void (*name_fn)(uint64_t value, const char *name, bool is_code, void *arg);

static void visit_symbols(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
			  name_fn fn, void *arg)
{
	const struct hyptrace_field *field = meaning->places[role].field;
	const bool is_code = role == HYPTRACE_ROLE_CODE;
	unsigned int i;

	for (i = 0; field && i < field->nr_symbols; i++)
		if (!is_code || field->symbols[i]->value != meaning->trap)
			fn(field->symbols[i]->value, field->symbols[i]->name, is_code, arg);
}

/* Call a function with each known name of a kind of calls. */
static void visit_names(const struct strace_events *events, enum hyptrace_kind kind, name_fn fn,
			void *arg)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(events->model, kind);
	unsigned int i;

	if (!meaning)
		return;
	for (i = 0; kind == HYPTRACE_KIND_HYPERCALL && i < events->nr_hypercalls; i++)
		fn(events->hypercalls[i]->id, events->hypercalls[i]->name, false, arg);
	if (kind != HYPTRACE_KIND_HYPERCALL || !events->nr_hypercalls)
		visit_symbols(meaning, HYPTRACE_ROLE_ID, fn, arg);
	visit_symbols(meaning, HYPTRACE_ROLE_CLASS, fn, arg);
	visit_symbols(meaning, HYPTRACE_ROLE_CODE, fn, arg);
}

/* The search for a word */
struct search {
	const char	*word;
	const char	*near;	/* the nearest name, or NULL */
	bool		found;
};

static void try_name(uint64_t value, const char *name, bool is_code, void *arg)
{
	struct search *search = arg;

	(void)value;
	(void)is_code;
	if (!fnmatch(search->word, name, 0))
		search->found = true;
	search->near = hyptrace_nearest(search->word, search->near, name);
}

/* Is it a number, which a call without a name has in place of it? */
static bool is_number(const char *word)
{
	return !strncmp(word, "0x", 2) && word[2];
}

static int fail_unknown(const struct search *search)
{
	if (strpbrk(search->word, "*?["))
		return cmd_fail("cannot trace \"%s\": no call matches", search->word);
	if (search->near)
		return cmd_fail("cannot trace \"%s\": no such call; did you mean \"%s\"?",
				search->word, search->near);
	return cmd_fail("cannot trace \"%s\": no such call: use names of hypercalls, SMCs, PSCI and FF-A functions, exits, or of their events, as \"hyptrace list --names\" prints them",
			search->word);
}

/* Check that each word names a call. Return an exit code, after a message. */
int strace_choice_check(const struct strace_choice *choice, const struct strace_events *events)
{
	enum hyptrace_kind kind;
	unsigned int i;

	for (i = 0; i < choice->nr; i++) {
		struct search search = { .word = choice->words[i].text };

		for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++) {
			if (hyptrace_model_of_kind(events->model, kind))
				try_name(0, hyptrace_kind_event(kind), false, &search);
			visit_names(events, kind, try_name, &search);
		}
		if (!search.found && !is_number(search.word))
			return fail_unknown(&search);
	}
	return EXIT_DONE;
}

/* The known values of a kind of calls, as far as a filter at EL2 can compare them */
struct values {
	const struct strace_choice	*choice;
	enum hyptrace_kind		kind;
	unsigned int			nr[2];		/* refused ones, chosen ones */
	unsigned int			nr_codes[2];	/* those of them that are exit codes */
	struct {
		uint64_t	value;
		bool		is_code;
	} values[2][HYPTRACE_FILTER_TERMS_MAX];
};

static void add_value(uint64_t value, const char *name, bool is_code, void *arg)
{
	struct values *values = arg;
	bool chosen = strace_choice_name(values->choice, values->kind, name);
	unsigned int at = values->nr[chosen]++;

	values->nr_codes[chosen] += is_code;
	if (at < HYPTRACE_FILTER_TERMS_MAX) {
		values->values[chosen][at].value = value;
		values->values[chosen][at].is_code = is_code;
	}
}

/* Are calls chosen whose number has no name? No word is the name of this one. */
static bool accepts_unknown(const struct strace_choice *choice, enum hyptrace_kind kind)
{
	return strace_choice_name(choice, kind, "0x");
}

static void list_values(const struct strace_choice *choice, const struct strace_events *events,
			enum hyptrace_kind kind, struct values *values)
{
	*values = (struct values){ .choice = choice, .kind = kind };
	visit_names(events, kind, add_value, values);
}

/* May a word name a number? Then the choice is made by the command. */
static bool has_numbers(const struct strace_choice *choice)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (choice->words[i].text[0] == '0')
			return true;
	return false;
}

bool strace_choice_kind(const struct strace_choice *choice, const struct strace_events *events,
			enum hyptrace_kind kind)
{
	struct values values;

	if (!hyptrace_model_of_kind(events->model, kind))
		return false;
	list_values(choice, events, kind, &values);
	return values.nr[true] || accepts_unknown(choice, kind) ||
	       (has_numbers(choice) && kind != HYPTRACE_KIND_GUEST_FIXUP);
}

/* Write the comparisons of exit codes, or those of other values. */
static void put_comparisons(FILE *f, const struct values *values, bool chosen, bool codes,
			    const char *field)
{
	const char *operator = chosen ? "==" : "!=", *between = chosen ? " || " : " && ";
	bool first = true;
	unsigned int i;

	for (i = 0; i < values->nr[chosen]; i++) {
		if (values->values[chosen][i].is_code != codes)
			continue;
		fprintf(f, "%s%s %s %" PRIu64, first ? "" : between, field, operator,
			values->values[chosen][i].value);
		first = false;
	}
}

/*
 * Write the filter of an exit: the class has a meaning only if the code is that of a trap. Return
 * false if it needs too many comparisons.
 */
static bool put_exit(FILE *f, const struct values *values, bool chosen,
		     const struct hyptrace_meaning *meaning)
{
	const unsigned int classes = values->nr[chosen] - values->nr_codes[chosen];

	if (meaning->trap == UINT64_MAX ||
	    values->nr[chosen] + !!classes > HYPTRACE_FILTER_TERMS_MAX)
		return false;
	put_comparisons(f, values, chosen, true, "code");
	if (!classes)
		return true;
	fprintf(f, "%scode %s %" PRIu64 " %s (",
		!values->nr_codes[chosen] ? "" : chosen ? " || " : " && (",
		chosen ? "==" : "!=", meaning->trap, chosen ? "&&" : "||");
	put_comparisons(f, values, chosen, false, "ec");
	fputs(!chosen && values->nr_codes[chosen] ? "))" : ")", f);
	return true;
}

/*
 * Make the filter with which EL2 records only chosen calls of a kind, for free(). NULL if all calls
 * are chosen, or if the choice does not fit in a filter.
 */
char *strace_choice_filter(const struct strace_choice *choice, const struct strace_events *events,
			   enum hyptrace_kind kind)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(events->model, kind);
	/* name the calls to record if others have no name, else those not to record */
	const bool chosen = !accepts_unknown(choice, kind);
	struct values values;
	bool fits;
	char *text;
	size_t len;
	FILE *f;

	list_values(choice, events, kind, &values);
	if (has_numbers(choice) || !values.nr[chosen] ||
	    values.nr[chosen] > HYPTRACE_FILTER_TERMS_MAX)
		return NULL;
	f = text_open(&text, &len);
	fits = true;
	if (hyptrace_meaning_has(meaning, HYPTRACE_ROLE_CODE))
		fits = put_exit(f, &values, chosen, meaning);
	else
		put_comparisons(f, &values, chosen, false,
				meaning->places[meaning->named_by].field->name);
	text_close(f);
	if (fits)
		return text;
	free(text);
	return NULL;
}
