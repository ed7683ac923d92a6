// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace strace: which calls -e chooses, and the filter at EL2 that follows from it. */
#include <fnmatch.h>

#include "output/die.h"
#include "strace.h"

/* What strace also takes before the names */
#define PREFIX		"trace="

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
		const bool has_mark = *word == '!', is_negated = negates || has_mark;

		if (has_mark && !word[1])
			return false;
		*xappend(choice->words, choice->nr) =
			(struct strace_word){ word + has_mark, is_negated };
		choice->has_names |= !is_negated;
	}
	return choice->nr > before;
}

void strace_choice_free(struct strace_choice *choice)
{
	free(choice->words);
	free(choice->known);
}

static void add_known(struct strace_choice *choice, enum hyptrace_kind kind, bool is_code,
		      uint64_t value, const char *name)
{
	*xappend(choice->known, choice->nr_known) =
		(struct strace_known){ kind, is_code, value, name };
}

static void add_symbols(struct strace_choice *choice, enum hyptrace_kind kind,
			enum hyptrace_role role)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(choice->model, kind);
	const struct hyptrace_field *field = meaning->places[role].field;
	const bool is_code = role == HYPTRACE_ROLE_CODE;
	unsigned int i;

	for (i = 0; field && i < field->nr_symbols; i++)
		if (!is_code || field->symbols[i]->value != meaning->trap)
			add_known(choice, kind, is_code, field->symbols[i]->value,
				  field->symbols[i]->name);
}

static bool try_name(const char *word, const char *name, const char **near)
{
	*near = hyptrace_nearest(word, *near, name);
	return !fnmatch(word, name, 0);
}

/* A word must name a call, or be a number, which a call without a name has in place of it. */
static int check_word(const struct strace_choice *choice, const char *word, bool is_negated)
{
	bool found = !strncmp(word, "0x", 2) && word[2];
	const char *near = NULL;
	enum hyptrace_kind kind;
	unsigned int i;

	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++) {
		const struct hyptrace_meaning *meaning;

		meaning = hyptrace_model_of_kind(choice->model, kind);
		if (!meaning)
			continue;
		if (meaning->event->missing && !is_negated &&
		    !strcmp(word, meaning->event->name))
			return cmd_fail("cannot trace \"%s\": it is not in this kernel",
					word);
		found |= try_name(word, hyptrace_kind_event(kind), &near);
	}
	for (i = 0; i < choice->nr_known; i++)
		found |= try_name(word, choice->known[i].name, &near);
	if (found)
		return EXIT_DONE;
	return cmd_fail(strpbrk(word, "*?[") ? "cannot trace \"%s\": no call matches" : near ?
			"cannot trace \"%s\": no such call; did you mean \"%s\"?" :
			"cannot trace \"%s\": no such call: use names of hypercalls, SMCs, PSCI and FF-A functions, exits, or of their events, as \"hyptrace list --names\" prints them",
			word, near);
}

/* Find the names of calls, and check that each word is one. Return an exit code. */
int strace_choice_begin(struct strace_choice *choice, const struct hyptrace_model *model,
			struct hyptrace_hypercall *const *calls, unsigned int nr)
{
	enum hyptrace_kind kind;
	int code = EXIT_DONE;
	unsigned int i;

	choice->model = model;
	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++) {
		if (!hyptrace_model_of_kind(model, kind))
			continue;
		if (kind != HYPTRACE_KIND_HYPERCALL || !nr)
			add_symbols(choice, kind, HYPTRACE_ROLE_ID);
		for (i = 0; kind == HYPTRACE_KIND_HYPERCALL && i < nr; i++)
			add_known(choice, kind, false, calls[i]->id, calls[i]->name);
		add_symbols(choice, kind, HYPTRACE_ROLE_CLASS);
		add_symbols(choice, kind, HYPTRACE_ROLE_CODE);
	}
	for (i = 0; i < choice->nr && !code; i++)
		code = check_word(choice, choice->words[i].text, choice->words[i].is_negated);
	return code;
}

/* guest_fixup is chosen only by its own name: it has the classes of guest_exit, which follows. */
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

/* Are calls chosen whose number has no name? No word is the name of this one. */
static bool accepts_unknown(const struct strace_choice *choice, enum hyptrace_kind kind)
{
	return strace_choice_name(choice, kind, "0x");
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

bool strace_choice_kind(const struct strace_choice *choice, enum hyptrace_kind kind)
{
	bool found = accepts_unknown(choice, kind) ||
		     (has_numbers(choice) && kind != HYPTRACE_KIND_GUEST_FIXUP);
	unsigned int i;

	for (i = 0; i < choice->nr_known && !found; i++)
		found = choice->known[i].kind == kind &&
			strace_choice_name(choice, kind, choice->known[i].name);
	return found && hyptrace_model_of_kind(choice->model, kind);
}

/* Make the comparisons of exit codes, or of other values, that are chosen, or not. For free(). */
static char *join(const struct strace_choice *choice, enum hyptrace_kind kind, bool chosen,
		  bool codes, const char *field, unsigned int *nr)
{
	unsigned int i;
	char *text;
	FILE *f = text_open(&text);

	*nr = 0;
	for (i = 0; i < choice->nr_known; i++) {
		const struct strace_known *known = &choice->known[i];

		if (known->kind == kind && known->is_code == codes &&
		    strace_choice_name(choice, kind, known->name) == chosen)
			fprintf(f, "%s%s %s %" PRIu64,
				!(*nr)++ ? "" : chosen ? " || " : " && ", field,
				chosen ? "==" : "!=", known->value);
	}
	text_close(f, &text);
	return text;
}

/* For free(); NULL if all calls are chosen, or if the choice does not fit in a filter */
char *strace_choice_filter(const struct strace_choice *choice, enum hyptrace_kind kind)
{
	auto_free char *codes = NULL, *values = NULL;
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(choice->model, kind);
	const bool is_exit = hyptrace_meaning_has(meaning, HYPTRACE_ROLE_CODE);
	const unsigned int by = is_exit ? HYPTRACE_ROLE_CLASS : meaning->named_by;
	const struct hyptrace_field *field = by < HYPTRACE_NR_ROLES ? meaning->places[by].field :
								      NULL;
	/* name the calls to record if others have no name, else those not to record */
	const bool chosen = !accepts_unknown(choice, kind);
	unsigned int nr_codes, nr;
	char *text;
	FILE *f;

	/* an exit may have a class and no code */
	if (!field)
		return NULL;
	codes = join(choice, kind, chosen, true, "code", &nr_codes);
	values = join(choice, kind, chosen, false, field->name, &nr);
	f = text_open(&text);
	fprintf(f, "%s%s", codes, !nr_codes || !nr ? "" : chosen ? " || " : " && (");
	/* the class of an exit has a meaning only if the code is that of a trap */
	if (is_exit && nr)
		fprintf(f, "code %s %" PRIu64 " %s (%s)%s", chosen ? "==" : "!=", meaning->trap,
			chosen ? "&&" : "||", values, nr_codes && !chosen ? ")" : "");
	else
		fputs(values, f);
	text_close(f, &text);
	if (nr_codes + nr && nr_codes + nr + (is_exit && nr) <= HYPTRACE_FILTER_TERMS_MAX &&
	    !has_numbers(choice) && (!is_exit || meaning->trap != UINT64_MAX))
		return text;
	free(text);
	return NULL;
}
