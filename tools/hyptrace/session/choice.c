// SPDX-License-Identifier: GPL-2.0-only
/* The events that words of the command line and -F choose, to be printed or counted. */
#include <fnmatch.h>

#include "output/die.h"
#include "select.h"

/* The remote whose only events are marks */
#define TEST_REMOTE	"test"
/* The event of the functions of EL2 */
#define FUNCTIONS	"func"
/* Blanks before a wrong filter, and before the caret */
#define INDENT	2

void cmd_add_word(struct words *words, const char *arg)
{
	*xappend(words->words, words->nr) = arg;
}

/* Append the words of a list with commas, which is changed and must stay valid. */
error_t cmd_add_words(struct words *words, char *list)
{
	char *word = strtok(list, ",");

	if (!word)
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	for (; word; word = strtok(NULL, ","))
		cmd_add_word(words, word);
	return 0;
}

error_t cmd_set_filter(const char **filter, const char *arg)
{
	if (*filter)
		return cmd_usage("--filter is given twice: join the conditions by \"&&\"");
	*filter = arg;
	return 0;
}

/* Unless a word is the very name of one, or no other is chosen: then the verb says the reason. */
static void leave_out_missing(struct event_choice *choice, const struct words *words)
{
	unsigned int i, nr = 0;
	bool has_others = false;

	for (i = 0; i < choice->nr; i++)
		has_others |= !choice->events[i]->missing;
	for (i = 0; i < choice->nr; i++) {
		if (choice->events[i]->missing && has_others &&
		    !has_name(words->words, words->nr, choice->names[i]))
			continue;
		choice->names[nr] = choice->names[i];
		choice->events[nr++] = choice->events[i];
	}
	choice->nr = nr;
}

/* Unless a word means it: func changes the text of EL2, and pushes others out of the rings. */
void cmd_leave_out_func(struct event_choice *choice, const struct words *words)
{
	unsigned int i, nr = 0;

	for (i = 0; i < words->nr; i++)
		if (strcmp(words->words[i], "all") && !fnmatch(words->words[i], FUNCTIONS, 0))
			return;
	for (i = 0; i < choice->nr; i++) {
		if (!strcmp(choice->names[i], FUNCTIONS))
			continue;
		choice->names[nr] = choice->names[i];
		choice->events[nr++] = choice->events[i];
	}
	choice->nr = nr;
}

int cmd_refuse_missing(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		       const struct event_choice *choice)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->missing && event_choice_has(choice, events[i]->name))
			return cmd_fail("cannot %s \"%s\": it is not in this kernel%s", verb,
					events[i]->name, strcmp(events[i]->name, FUNCTIONS) ? "" :
					", which was built without CONFIG_HYPTRACE_EL2_FUNCTIONS");
	return EXIT_DONE;
}

int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice)
{
	auto_free char *list = NULL;
	const char *word, *near = NULL;
	unsigned int i;
	FILE *f;

	select_events(events, nr, words->words, words->nr, choice);
	if (strcmp(verb, "list"))
		leave_out_missing(choice, words);
	if (!choice->nr_unknown)
		return EXIT_DONE;
	if (choice->nr_unknown > 1) {
		f = text_open(&list);
		for (i = 0; i < choice->nr_unknown; i++)
			fprintf(f, "%s\"%s\"", i ? ", " : "", choice->unknown[i]);
		text_close(f, &list);
		return cmd_fail("cannot %s %s: no such events", verb, list);
	}
	word = choice->unknown[0];
	if (strchr(word, ','))
		return cmd_fail("cannot %s \"%s\": no such event: write blanks between events, not commas",
				verb, word);
	for (i = 0; i < nr; i++)
		near = hyptrace_nearest(word, near, events[i]->name);
	return cmd_fail(strpbrk(word, "*?[") ? "cannot %s \"%s\": no event matches" :
			near ? "cannot %s \"%s\": no such event; did you mean \"%s\"?" :
			       "cannot %s \"%s\": no such event", verb, word, near);
}

/* If no event is enabled, choose @only, or what is most useful. @what enables them: "stream" */
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice)
{
	/* the remote "test" writes no other events by itself */
	const struct words of_test = { (const char *[]){ "selftest" }, 1 };
	const struct words of_others = { (const char *[]){ "hyp_enter", "hyp_exit" }, 2 };
	const struct words *usual = strcmp(remote, TEST_REMOTE) ? &of_others : &of_test;
	const struct words *words = only->nr ? only : usual;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->enabled)
			return;
	select_events(events, nr, words->words, words->nr, choice);
	leave_out_missing(choice, only);
	cmd_leave_out_func(choice, words);
	if (quiet)
		return;
	if (choice->nr > 2)
		cmd_note("no event is enabled: this %s enables %u events until it ends", what,
			 choice->nr);
	else if (choice->nr)
		cmd_note("no event is enabled: this %s enables %s%s%s until it ends", what,
			 choice->names[0], choice->nr > 1 ? " and " : "",
			 choice->nr > 1 ? choice->names[1] : "");
	else
		cmd_note("no event is enabled: use \"hyptrace enable\"");
}

int filter_fail(const char *text, size_t at, const struct hyptrace_error *err)
{
	auto_free char *plain = text_copy_plain(text), *why = text_copy_plain(err->text);
	auto_free char *part = xstrndup(text, at);
	/* as wide as it is when it is escaped */
	auto_free char *before = text_copy_plain(part);

	if (err->errnum == ENOMEM)
		die_no_memory();
	/* in one write: other processes may write there, too */
	fprintf(stderr, "hyptrace: wrong filter: %s\n%*s%s\n%*s^\n", why, INDENT, "", plain,
		INDENT + (int)strlen(before), "");
	return EXIT_USAGE;
}

bool filter_is_valid(const char *text, const struct hyptrace_event *const *events, unsigned int nr,
		     bool at_el2)
{
	auto_filter struct hyptrace_filter *filter =
		hyptrace_filter_new(events, nr, NULL, at_el2, text, NULL, NULL);

	return filter;
}

int filter_parse(const char *text, const struct hyptrace_event *const *events, unsigned int nr,
		 const struct hyptrace_formats *formats, bool at_el2,
		 struct hyptrace_filter **parsed)
{
	struct hyptrace_error err;
	size_t at;

	*parsed = NULL;
	if (!text)
		return EXIT_DONE;
	*parsed = hyptrace_filter_new(events, nr, formats, at_el2, text, &at, &err);
	return *parsed ? EXIT_DONE : filter_fail(text, at, &err);
}

/* Make the list of the events that @wanted has, or of all, for free(). */
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr)
{
	struct hyptrace_event **chosen = xcalloc(*nr + 1, sizeof(struct hyptrace_event *));
	unsigned int nr_chosen = 0, i;

	for (i = 0; i < *nr; i++)
		if (choice_has(wanted, events[i]))
			chosen[nr_chosen++] = events[i];
	*nr = nr_chosen;
	return chosen;
}

/* One of the chosen events must have the fields of -F. Return an exit code. */
int choice_make(struct choice *choice, const char *verb, struct hyptrace_event *const *events,
		unsigned int nr, const struct hyptrace_formats *formats)
{
	auto_free struct hyptrace_event **chosen = NULL;
	struct event_choice found auto_choice = {};
	int code = EXIT_DONE;
	unsigned int i;

	if (choice->words.nr)
		code = cmd_choose_events(verb, events, nr, &choice->words, &found);
	if (choice->words.nr && !code)
		choice->wanted = xcalloc(CHOICE_IDS, sizeof(*choice->wanted));
	for (i = 0; i < found.nr && !code; i++)
		if (found.events[i]->id < CHOICE_IDS)
			choice->wanted[found.events[i]->id] = true;
	if (code || !choice->filter)
		return code;
	chosen = choice_list(choice->wanted, events, &nr);
	return filter_parse(choice->filter, (const struct hyptrace_event *const *)chosen, nr,
			    formats, false, &choice->parsed);
}

void choice_free(struct choice *choice)
{
	hyptrace_filter_free(choice->parsed);
	free(choice->wanted);
	free(choice->words.words);
	*choice = (struct choice){};
}

/* Is an event chosen? A hyptrace_stream_filter_fn. */
bool choice_accept_event(const struct hyptrace_stream_event *event, void *arg)
{
	const struct choice *choice = arg;
	const struct hyptrace_record *rec = &event->record;
	uint16_t id = 0;

	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	if (choice->also && choice->also == id)
		return true;
	if (choice->wanted && (rec->size < sizeof(id) || !choice->wanted[id]))
		return false;
	return !choice->parsed || hyptrace_filter_match(choice->parsed, rec);
}

int counters_switch(struct context *ctx, const struct words *words, bool on)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_event **events auto_events = NULL;
	struct hyptrace_event **countable auto_free = NULL;
	struct event_choice choice auto_choice = {};
	const char *verb = on ? "count" : "stop counting";
	unsigned int nr_events, i, j, nr = 0;
	struct hyptrace_error err;
	int code = cmd_get_events(ctx, &remote, &events, &nr_events);

	if (code)
		return code;
	countable = xcalloc(nr_events + 1, sizeof(*countable));
	for (i = 0; i < nr_events; i++)
		if (events[i]->can_be_counted)
			countable[nr++] = events[i];
	if (!nr)
		return cmd_fail("remote \"%s\" cannot count events", remote->name);
	/* a word must not name an event that cannot be counted; a glob leaves out such events */
	for (i = 0; i < words->nr; i++)
		for (j = 0; j < nr_events; j++)
			if (!events[j]->can_be_counted && !strcmp(events[j]->name, words->words[i]))
				return cmd_fail("cannot %s \"%s\": EL2 has no counters for this event",
						verb, words->words[i]);
	code = cmd_choose_events(verb, countable, nr, words, &choice);
	if (!code && hyptrace_count_events(ctx->h, remote->name, choice.names, choice.nr, on, 0,
					   &err))
		code = cmd_fail_verb(verb, choice.nr == 1 ? choice.names[0] : remote->name, &err);
	return code;
}
