// SPDX-License-Identifier: GPL-2.0-only
/* Open the host's events of a file, and find out which of them --event and --filter choose. */
#include "output/die.h"
#include "export.h"

/* Does a word name an event of the file? */
static bool is_known(const struct hyptrace_file *file, const char *word)
{
	auto_choice struct event_choice choice = {};
	const struct hyptrace_file_info *info = hyptrace_file_info(file);

	select_events(info->events, info->nr_events, &word, 1, &choice);
	return !choice.nr_unknown;
}

static bool is_valid_filter(const struct hyptrace_file *file, const char *text)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);

	return filter_is_valid(text, (const struct hyptrace_event *const *)info->events,
			       info->nr_events, false);
}

/* Return 0, also if the file has no events of the host; or an exit code. */
int host_events_open(struct host_events *h, struct hyptrace_file *file, const char *path)
{
	struct hyptrace_error err;

	h->file = hyptrace_file_host(file, &err);
	return h->file || err.errnum == ENODATA ? EXIT_DONE :
	       cmd_fail("cannot read \"%s\": %s", path, err.text);
}

/* Find out which events are chosen; their CPUs and times are those of the file. */
int host_events_choose(struct host_events *h, const char *verb)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(h->file);
	int code = choice_make(&h->choice, verb, info->events, info->nr_events, info->formats);

	if (!code && choice_is_made(&h->choice)) {
		hyptrace_file_options(h->file)->filter = choice_accept_event;
		hyptrace_file_options(h->file)->filter_arg = &h->choice;
	}
	return code;
}

/*
 * Give each word of --event to the sides that know it, an unknown one to the remote. A filter that
 * is wrong for one side cannot be met there.
 */
void host_events_share(struct host_events *h, struct choice *choice,
		       const struct hyptrace_file *file)
{
	const struct words all = choice->words;
	unsigned int i;

	if (!h->file)
		return;
	choice->words = (struct words){};
	for (i = 0; i < all.nr; i++) {
		const bool of_host = is_known(h->file, all.words[i]);

		if (of_host)
			cmd_add_word(&h->choice.words, all.words[i]);
		if (!of_host || is_known(file, all.words[i]))
			cmd_add_word(&choice->words, all.words[i]);
	}
	h->no_remote |= all.nr && !choice->words.nr;
	h->no_host |= all.nr && !h->choice.words.nr;
	free(all.words);
	if (!choice->filter)
		return;
	if (!is_valid_filter(h->file, choice->filter))
		h->no_host = true;
	else if (!is_valid_filter(file, choice->filter))
		h->no_remote = true;
	h->choice.filter = h->no_host ? NULL : choice->filter;
	if (h->no_remote)
		choice->filter = NULL;
}
