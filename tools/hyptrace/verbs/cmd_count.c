// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace count: have EL2 count events, and print the counters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "output/time_text.h"
#include "session/counters.h"
#include "session/events.h"
#include "session/select.h"
#include "verbs.h"

enum {
	OPT_OFF = 0x200,
	OPT_RESET,
	OPT_HISTOGRAM,
};

static const struct column columns_of_counters[] = {
	{ "event",	"EVENT",	0 },
	{ "field",	"FIELD",	COLUMN_JSON },
	{ "value",	"VALUE",	COLUMN_NUMBER | COLUMN_JSON },
	{ "name",	"KEY",		0 },
	{ "cpu",	"CPU",		COLUMN_NUMBER },
	{ "count",	"COUNT",	COLUMN_NUMBER },
	{ "total",	"TOTAL",	COLUMN_NUMBER },
	{ "average",	"AVERAGE",	COLUMN_NUMBER },
	{ "longest",	"LONGEST",	COLUMN_NUMBER },
	{ "counted",	"COUNTED",	COLUMN_JSON },
};

#define NR_COLUMNS(columns)	(sizeof(columns) / sizeof((columns)[0]))

/* The arguments of the verb */
struct count {
	const struct context	*ctx;
	struct words		words;
	struct columns		columns;	/* the columns of the table */
	bool			off;	/* no longer count the events */
	bool			reset;	/* set the counters to 0 */
	bool			histogram;	/* print the histograms, too */
};

static const struct argp_option options[] = {
	{ "off", OPT_OFF, NULL, 0, "Do not count these events any more", 0 },
	{ "reset", OPT_RESET, NULL, 0,
	  "Set the counters to 0, and free them if no event is counted", 0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0, "Print how long the events have taken", 0 },
	{ "output", 'o', "COLUMNS", 0, "", 0 },
	{ 0 }
};

static error_t check(const struct count *count)
{
	bool prints = !count->words.nr && !count->off && !count->reset;

	if (count->off && !count->words.nr)
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	if (count->reset && count->words.nr)
		return cmd_usage("--reset takes no event: it resets all counters");
	if (count->histogram && count->columns.nr_chosen)
		return cmd_usage("--output and --histogram exclude each other");
	if (!prints && (count->histogram || count->columns.nr_chosen))
		return cmd_usage("--output and --histogram need the verb \"count\" without an event");
	if (count->words.nr && count->ctx->have_cpus)
		return cmd_usage("--cpu chooses what to print or reset; events are counted on all CPUs");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct count *count = state->input;

	switch (key) {
	case OPT_OFF:
		count->off = true;
		return 0;
	case OPT_RESET:
		count->reset = true;
		return 0;
	case OPT_HISTOGRAM:
		count->histogram = true;
		return 0;
	case 'o':
		return cmd_parse_columns(&count->columns, arg);
	case ARGP_KEY_ARG:
		cmd_add_word(&count->words, arg);
		return 0;
	case ARGP_KEY_END:
		return check(count);
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	struct count *count = input;

	return key == 'o' ? columns_help(&count->columns) : (char *)text;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[EVENT...]",
	.doc = "Have EL2 count events, without recording them; without EVENT print the counters. EVENT is a name, a glob such as \"host_*\", or all.",
	.help_filter = help,
};

static void print_times(struct printer *p, const struct counter_sum *sum)
{
	if (!sum->of || !sum->of->has_time) {
		printer_none(p, "total");
		printer_none(p, "average");
		printer_none(p, "longest");
		return;
	}
	time_print(p, "total", sum->total);
	if (!sum->count) {
		printer_none(p, "average");
		printer_none(p, "longest");
		return;
	}
	time_print(p, "average", sum->total / sum->count);
	time_print(p, "longest", sum->longest);
}

/* Print the value that was counted: in text its name, or else the value itself. */
static void print_key(struct printer *p, const struct hyptrace_event_counter *of)
{
	if (of && of->name)
		printer_str(p, "name", of->name);
	else if (!of || printer_is_json(p))
		printer_none(p, "name");
	else if (of->is_others)
		printer_str(p, "name", "(other)");
	else
		printer_uint(p, "name", of->value);
}

static void print_cpu(struct printer *p, const struct counter_sum *sum)
{
	if (!sum->all_cpus)
		printer_uint(p, "cpu", sum->of->cpu);
	else if (printer_is_json(p))
		printer_none(p, "cpu");
	else
		printer_str(p, "cpu", "all");
}

/* hyp_exit has a time only. */
static void print_number(struct printer *p, const struct counter_sum *sum)
{
	if (sum->of && sum->of->now)
		printer_none(p, "count");
	else
		printer_uint(p, "count", sum->count);
}

static void print_sum(struct printer *p, const struct counter_sum *sum)
{
	const struct hyptrace_event_counter *of = sum->of;

	printer_styled(p, "event", STYLE_NAME, sum->event->name);
	if (of)
		printer_str(p, "field", of->field);
	else
		printer_none(p, "field");
	if (of && !of->is_others)
		printer_uint(p, "value", of->value);
	else
		printer_none(p, "value");
	print_key(p, of);
	print_cpu(p, sum);
	print_number(p, sum);
	print_times(p, sum);
	printer_bool(p, "counted", sum->event->counted);
}

static void print_buckets(struct printer *p, const struct counter_sum *sum)
{
	const struct hyptrace_event_counter *of = sum->of;
	struct time_bucket *buckets = calloc(of->nr_buckets + 1, sizeof(*buckets));
	unsigned int i;

	if (!buckets)
		die_no_memory();
	for (i = 0; i < of->nr_buckets; i++) {
		buckets[i].from = hyptrace_counter_bucket(of, i);
		if (i + 1 < of->nr_buckets)
			buckets[i].to = hyptrace_counter_bucket(of, i + 1);
		buckets[i].count = sum->buckets[i];
	}
	time_print_histogram(p, buckets, of->nr_buckets);
	free(buckets);
}

static void print_histogram(struct printer *p, const struct counter_sum *sum)
{
	static const struct printer_label labels[] = { { "name", "key" }, { 0 } };

	printer_object(p, NULL);
	printer_labels(p, labels);
	if (printer_is_json(p)) {
		print_sum(p, sum);
	} else {
		printer_heading(p, "event", sum->event->name);
		if (sum->of)
			print_key(p, sum->of);
		print_cpu(p, sum);
		print_number(p, sum);
		print_times(p, sum);
	}
	if (sum->of && sum->of->nr_buckets)
		print_buckets(p, sum);
	printer_end(p);
}

static void print_sums(struct context *ctx, const struct count *count,
		       const struct counter_sums *sums)
{
	struct printer *p = ctx->p;
	unsigned int i;

	if (count->histogram)
		printer_array(p, NULL);
	else
		printer_table(p, NULL, &count->columns);
	for (i = 0; i < sums->nr; i++) {
		if (count->histogram) {
			print_histogram(p, &sums->sums[i]);
			continue;
		}
		printer_row(p);
		print_sum(p, &sums->sums[i]);
		printer_end(p);
	}
	printer_end(p);
}

static int get_sums(struct context *ctx, const char *remote, struct hyptrace_event *const *events,
		    struct hyptrace_event_counter ***counters, struct counter_sums *sums)
{
	struct hyptrace_error err;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	if (ctx->have_cpus) {
		/* refuse CPUs that do not exist */
		code = cmd_get_cpus(ctx, remote, &cpus, &nr);
		if (code)
			return code;
		hyptrace_free_cpus(cpus);
	}
	if (hyptrace_get_counters(ctx->h, remote, HYPTRACE_CPU_ALL, counters, &nr, &err))
		return cmd_fail("cannot get the counters: %s", err.text);
	for (i = 0; i < nr; i++)
		if (!ctx->have_cpus || cpu_list_has(&ctx->cpus, (*counters)[i]->cpu))
			counter_sums_add(sums, events, (*counters)[i], !ctx->have_cpus);
	if (!ctx->have_cpus)
		counter_sums_add_unused(sums, events);
	counter_sums_sort(sums);
	return EXIT_DONE;
}

static int print(struct context *ctx, const struct count *count, const char *remote,
		 struct hyptrace_event *const *events)
{
	struct hyptrace_event_counter **counters = NULL;
	struct counter_sums sums = {};
	int code = get_sums(ctx, remote, events, &counters, &sums);

	if (!code) {
		if (!sums.nr && counters_any_counted(events))
			cmd_note("no counted event has occurred on these CPUs");
		else if (!sums.nr)
			cmd_note("no event is counted: use \"hyptrace count EVENT...\"");
		print_sums(ctx, count, &sums);
	}
	counter_sums_free(&sums);
	hyptrace_free_counters(counters);
	return code;
}

static int reset(struct context *ctx, const char *remote)
{
	struct hyptrace_error err;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	if (!ctx->have_cpus || ctx->cpus.all) {
		if (hyptrace_reset_counters(ctx->h, remote, HYPTRACE_CPU_ALL, &err))
			return cmd_fail("cannot reset the counters: %s", err.text);
		return EXIT_DONE;
	}
	code = cmd_get_cpus(ctx, remote, &cpus, &nr);
	for (i = 0; i < nr && !code; i++)
		if (hyptrace_reset_counters(ctx->h, remote, cpus[i]->id, &err))
			code = cmd_fail("cannot reset the counters: %s", err.text);
	hyptrace_free_cpus(cpus);
	return code;
}

/* Fail if a word names an event that cannot be counted. A glob leaves out such events. */
static int check_words(const char *verb, struct hyptrace_event *const *events,
		       const struct words *words)
{
	unsigned int i, j;

	for (i = 0; i < words->nr; i++)
		for (j = 0; events[j]; j++)
			if (!events[j]->can_be_counted && !strcmp(events[j]->name, words->words[i]))
				return cmd_fail("cannot %s \"%s\": EL2 has no counters for this event",
						verb, words->words[i]);
	return EXIT_DONE;
}

static int set_events(struct context *ctx, const struct count *count, const char *remote,
		      struct hyptrace_event *const *events, unsigned int nr)
{
	const char *verb = count->off ? "stop counting" : "count";
	struct hyptrace_event **countable = calloc(nr + 1, sizeof(*countable));
	struct event_choice choice = {};
	struct hyptrace_error err;
	unsigned int i, nr_countable = 0;
	int code;

	if (!countable)
		die_no_memory();
	for (i = 0; i < nr; i++)
		if (events[i]->can_be_counted)
			countable[nr_countable++] = events[i];
	if (!nr_countable)
		code = cmd_fail("remote \"%s\" cannot count events", remote);
	else
		code = check_words(verb, events, &count->words);
	if (!code)
		code = cmd_choose_events(verb, countable, nr_countable, &count->words, &choice);
	if (!code && hyptrace_count_events(ctx->h, remote, choice.names, choice.nr, !count->off,
					   &err))
		code = cmd_fail_verb(verb, choice.nr == 1 ? choice.names[0] : remote, &err);
	event_choice_free(&choice);
	free(countable);
	return code;
}

static int run(struct context *ctx, const struct count *count)
{
	struct hyptrace_remote *remote;
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	if (hyptrace_get_events(ctx->h, remote->name, &events, &nr, &err)) {
		code = cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
		goto free_remote;
	}
	if (count->words.nr)
		code = set_events(ctx, count, remote->name, events, nr);
	else if (count->reset)
		code = reset(ctx, remote->name);
	else
		code = print(ctx, count, remote->name, events);
	hyptrace_free_events(events);
free_remote:
	hyptrace_free_remote(remote);
	return code;
}

int cmd_count(struct context *ctx, int argc, char **argv)
{
	struct count count = {
		.ctx = ctx,
		.columns = { .all = columns_of_counters, .nr = NR_COLUMNS(columns_of_counters) },
	};
	int code;

	cmd_parse(ctx, &argp, argc, argv, &count);
	code = cmd_connect(ctx);
	if (!code)
		code = run(ctx, &count);
	free(count.words.words);
	return code;
}
