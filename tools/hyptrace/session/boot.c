// SPDX-License-Identifier: GPL-2.0-only
/* Print the words that start this trace at boot, or check words. driver/core/boot.c reads them. */
#include "output/die.h"
#include "output/printer.h"
#include "select.h"

static const char *const option_names[] = { "size", "mode", "stop", "after", "filter" };
enum boot_option { SIZE, MODE, STOP, AFTER, FILTER, NR_OPTIONS };

/* The words can have only one filter, and one event that stops the recording. */
static int print_words(struct context *ctx, const struct hyptrace_remote *remote,
		       const char *parameter, struct hyptrace_event *const *events,
		       unsigned int nr)
{
	auto_free char *words = NULL, *line = NULL;
	const struct hyptrace_event *filtered = NULL, *stop = NULL, *other = NULL, *event;
	const char *before = "", *quote;
	unsigned int i, enabled = 0;
	FILE *f;

	for (i = 0; i < nr; i++) {
		event = events[i];
		if (!event->enabled)
			continue;
		enabled++;
		if (event->trigger && event->trigger != HYPTRACE_TRIGGER_ACTION_STOP)
			return cmd_fail("no words describe this trace: the trigger of \"%s\" is not stop",
					event->name);
		if (event->trigger && stop)
			return cmd_fail("no words describe this trace: both \"%s\" and \"%s\" stop it",
					stop->name, event->name);
		stop = event->trigger ? event : stop;
		if (event->filter && filtered && strcmp(event->filter, filtered->filter))
			other = other ?: event;
		filtered = event->filter && !other ? event : filtered;
	}
	if (!enabled)
		return cmd_fail("no event of \"%s\" is enabled: enable those that the boot shall trace",
				remote->name);
	/* the filter must not meet an event that has none now */
	for (i = 0; i < nr && filtered && !other; i++)
		if (events[i]->enabled && !events[i]->filter &&
		    filter_is_valid(filtered->filter,
				    (const struct hyptrace_event *const *)&events[i], 1, true))
			other = events[i];
	if (other)
		return cmd_fail("no words describe this trace: \"%s\" and \"%s\" have different filters",
				filtered->name, other->name);
	f = text_open(&words);
	for (i = 0; i < nr; i++) {
		if (!events[i]->enabled || events[i]->trigger)
			continue;
		fprintf(f, "%s%s", before, events[i]->name);
		before = ",";
	}
	fprintf(f, ":size=%" PRIu64 ":mode=%s", remote->size_requested,
		hyptrace_mode_name(remote->mode));
	if (stop)
		fprintf(f, ":stop=%s", stop->name);
	if (stop && stop->after)
		fprintf(f, ":after=%u", stop->after);
	if (filtered)
		fprintf(f, ":filter=%s", filtered->filter);
	text_close(f, &words);
	quote = strpbrk(words, " \t") ? "\"" : "";
	line = xasprintf("%s=%s%s%s", parameter, quote, words, quote);
	if (!ctx->json) {
		out_printf(&ctx->out, "%s\n", line);
		return EXIT_DONE;
	}
	printer_array(ctx->p, NULL);
	printer_object(ctx->p, NULL);
	printer_str(ctx->p, "remote", remote->name);
	printer_str(ctx->p, "boot", line);
	printer_end(ctx->p);
	printer_end(ctx->p);
	return EXIT_DONE;
}

static int fail_word(const char *word, const char *why)
{
	cmd_note("wrong word \"%s\": %s", word, why);
	return EXIT_USAGE;
}

/* Return why the value of an option is wrong, or NULL. */
static const char *check_option(enum boot_option option, const char *value,
				struct hyptrace_event *const *events, unsigned int nr)
{
	uint64_t number;
	uint32_t mode;
	unsigned int i;

	switch (option) {
	case SIZE:
		if (!parse_size(value, &number) || !number)
			return "it is no size, such as 2M";
		return number / sysconf(_SC_PAGESIZE) <
		       (uint64_t)sysconf(_SC_PHYS_PAGES) / sysconf(_SC_NPROCESSORS_CONF) ? NULL :
		       "so much of each CPU exceeds the memory of this machine";
	case MODE:
		return parse_mode(value, &mode) ? NULL : "a mode is overwrite or discard";
	case AFTER:
		return parse_number(value, UINT32_MAX, &number) ? NULL :
			"it is no number of sub-buffers";
	case STOP:
		for (i = 0; i < nr && strcmp(events[i]->name, value); i++)
			;
		return i == nr ? "there is no such event" :
		       events[i]->missing ? "it is not in this kernel" : NULL;
	default:
		return NULL;
	}
}

static int check_options(char *rest, struct hyptrace_event *const *events, unsigned int nr,
			 const char *values[NR_OPTIONS])
{
	const char *why;
	char *word, *value;
	unsigned int i;

	while ((word = strsep(&rest, ":"))) {
		value = strchr(word, '=');
		for (i = 0; value && i < NR_OPTIONS; i++)
			if (!strncmp(word, option_names[i], value - word) &&
			    !option_names[i][value - word])
				break;
		if (!value || i == NR_OPTIONS)
			return fail_word(word, "the options are size, mode, stop, after and filter");
		if (values[i])
			return fail_word(word, "it was given before");
		values[i] = value + 1;
		why = check_option(i, values[i], events, nr);
		if (why)
			return fail_word(word, why);
	}
	if (values[AFTER] && !values[STOP])
		return fail_word("after", "it needs stop=EVENT");
	return EXIT_DONE;
}

static int check_words(char *words, const char *parameter, struct hyptrace_event *const *events,
		       unsigned int nr)
{
	auto_free const struct hyptrace_event **chosen = xcalloc(nr + 1, sizeof(*chosen));
	struct hyptrace_filter *filter auto_filter = NULL;
	auto_choice struct event_choice choice = {};
	const char *values[NR_OPTIONS] = {};
	unsigned int i, nr_chosen = 0;
	size_t len = strlen(parameter);
	struct words names = {};
	char *list;
	int code;

	/* as --boot prints them */
	if (!strncmp(words, parameter, len) && words[len] == '=')
		words += len + 1;
	len = strlen(words);
	if (len > 1 && words[0] == '"' && words[len - 1] == '"') {
		words[len - 1] = '\0';
		words++;
	}
	list = strsep(&words, ":");
	code = check_options(words, events, nr, values);
	if (!code && *list && cmd_add_words(&names, list))
		code = EXIT_USAGE;
	if (!code && !names.nr && !values[STOP])
		code = fail_word(list, "no event is named");
	if (!code && names.nr)
		code = cmd_choose_events("trace", events, nr, &names, &choice);
	for (i = 0; !code && i < choice.nr; i++)
		if (choice.events[i]->missing)
			code = fail_word(choice.events[i]->name, "it is not in this kernel");
	for (i = 0; i < nr && !code; i++)
		if (event_choice_has(&choice, events[i]->name) ||
		    (values[STOP] && !strcmp(events[i]->name, values[STOP])))
			chosen[nr_chosen++] = events[i];
	code = code ?: filter_parse(values[FILTER], chosen, nr_chosen, NULL, false, &filter);
	free(names.words);
	return code;
}

int boot_words(struct context *ctx, char *words)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_event **events auto_events = NULL;
	const char *parameter = "hyptrace_test.trace";
	unsigned int nr;
	int code = cmd_get_events(ctx, &remote, &events, &nr);

	if (code)
		return code;
	/* the parameter of the remote's module; only a module that was loaded has the file */
	if (!strcmp(remote->name, "hypervisor"))
		parameter = access("/sys/module/hyptrace_pkvm/initstate", F_OK) ?
			    "hyptrace" : "hyptrace_pkvm.trace";
	else if (strcmp(remote->name, "test"))
		return cmd_fail("remote \"%s\" cannot be traced from the boot on", remote->name);
	return words ? check_words(words, parameter, events, nr) :
		       print_words(ctx, remote, parameter, events, nr);
}
