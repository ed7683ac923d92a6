// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the counters of EL2 as they are.
 */
#include "output/die.h"
#include "stat.h"

static const struct column all_columns[] = {
	COLUMN("event", "EVENT", 0),
	COLUMN("field", "FIELD", COLUMN_JSON),
	COLUMN("value", "VALUE", COLUMN_NUMBER | COLUMN_JSON),
	COLUMN("name", "KEY", 0),
	COLUMN("cpu", "CPU", COLUMN_NUMBER),
	COLUMN("count", "COUNT", COLUMN_NUMBER),
	COLUMN("total", "TOTAL", COLUMN_NUMBER),
	COLUMN("average", "AVERAGE", COLUMN_NUMBER),
	COLUMN("longest", "LONGEST", COLUMN_NUMBER),
	COLUMN("counted", "COUNTED", COLUMN_JSON),
};

const struct columns stat_raw_columns = COLUMNS(all_columns);

/* The value that was counted is in text its name, or else the value itself. */
static void print_key(struct printer *p, const struct hyptrace_event_counter *of)
{
	if (!of || of->name || printer_is_json(p))
		printer_str(p, "name", of ? of->name : NULL);
	else if (of->is_others)
		printer_str(p, "name", "(other)");
	else
		printer_uint(p, "name", of->value);
}

static void print_numbers(struct printer *p, const struct counter_sum *sum)
{
	const bool has_time = sum->of && sum->of->has_time;

	if (!sum->all_cpus)
		printer_uint(p, "cpu", sum->of->cpu);
	else
		printer_str(p, "cpu", printer_is_json(p) ? NULL : "all");
	/* hyp_exit has a time only */
	printer_uint_if(p, "count", !(sum->of && sum->of->now), sum->count);
	time_print_if(p, "total", has_time, sum->total);
	time_print_if(p, "average", has_time && sum->count, sum->total / (sum->count ?: 1));
	time_print_if(p, "longest", has_time && sum->count, sum->longest);
}

static void print_sum(struct printer *p, const struct counter_sum *sum)
{
	const struct hyptrace_event_counter *of = sum->of;

	printer_styled(p, "event", STYLE_NAME, sum->event->name);
	printer_str(p, "field", of ? of->field : NULL);
	printer_uint_if(p, "value", of && !of->is_others, of ? of->value : 0);
	print_key(p, of);
	print_numbers(p, sum);
	printer_bool(p, "counted", sum->event->counted);
}

static void print_buckets(struct printer *p, const struct counter_sum *sum)
{
	auto_free struct time_bucket *buckets = xcalloc(sum->of->nr_buckets + 1, sizeof(*buckets));
	const struct hyptrace_event_counter *of = sum->of;
	unsigned int i;

	for (i = 0; i < of->nr_buckets; i++) {
		buckets[i].from = hyptrace_counter_bucket(of, i);
		if (i + 1 < of->nr_buckets)
			buckets[i].to = hyptrace_counter_bucket(of, i + 1);
		buckets[i].count = sum->buckets[i];
	}
	time_print_histogram(p, buckets, of->nr_buckets);
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
		print_numbers(p, sum);
	}
	if (sum->of && sum->of->nr_buckets)
		print_buckets(p, sum);
	printer_end(p);
}

static void print_sums(struct context *ctx, const struct columns *columns, bool histogram,
		       const struct counter_sums *sums)
{
	struct printer *p = ctx->p;
	unsigned int i;

	if (histogram)
		printer_array(p, NULL);
	else
		printer_table(p, NULL, columns);
	for (i = 0; i < sums->nr; i++) {
		if (histogram) {
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
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	struct hyptrace_error err;
	unsigned int nr, i;

	/* refuse CPUs that do not exist */
	if (ctx->have_cpus && cmd_get_cpus(ctx, remote, &cpus, &nr))
		return EXIT_REFUSED;
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

int stat_raw(struct context *ctx, const struct columns *columns, bool histogram)
{
	auto_counters struct hyptrace_event_counter **counters = NULL;
	struct hyptrace_event **events auto_events = NULL;
	auto_remote struct hyptrace_remote *remote = NULL;
	struct counter_sums sums = {};
	unsigned int nr;
	int code = cmd_get_events(ctx, &remote, &events, &nr);

	if (code)
		return code;
	code = get_sums(ctx, remote->name, events, &counters, &sums);
	if (!code) {
		if (!sums.nr && counters_any_counted(events))
			cmd_note("no counted event has occurred on these CPUs");
		else if (!sums.nr)
			cmd_note("no event is counted: use \"hyptrace count EVENT...\"");
		print_sums(ctx, columns, histogram, &sums);
	}
	counter_sums_free(&sums);
	return code;
}
