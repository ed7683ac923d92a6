// SPDX-License-Identifier: GPL-2.0-only
/* Counters as text for Prometheus. Names and labels are stable: hyptrace-stat(1) lists them. */
#include "output/die.h"
#include "stat.h"

/* The counters of an event. Without a name, there is no such metric. */
struct metric {
	const char	*event;
	const char	*label;		/* of the counted value */
	bool		per_cpu;	/* few values: each CPU has metrics of its own */
	const char	*count;
	const char	*count_help;
	const char	*seconds;
	const char	*seconds_help;
};

static const struct metric metrics[] = {
	{ "hyp_enter", "reason", true,
	  "hyptrace_el2_visits_total", "Entries into EL2, by their reason.",
	  "hyptrace_el2_seconds_total", "Time at EL2, by the reason of the entry." },
	{ "hyp_exit", "reason", true, NULL, NULL, "hyptrace_outside_el2_seconds_total",
	  "Time outside of EL2: of the host (eret_host), guests (eret_guest), firmware (smc)." },
	{ "host_hcall", "hypercall", false,
	  "hyptrace_hypercalls_total", "Hypercalls of the host.",
	  "hyptrace_hypercall_seconds_total",
	  "Time from the begin of hypercalls to their end, the time in guests included." },
	{ "guest_exit", "exit", false,
	  "hyptrace_guest_exits_total", "Exits of guests, by exception class or exit code.",
	  "hyptrace_guest_run_seconds_total", "Time from entries of guests to these exits." },
	{ "mem_transition", "operation", false,
	  "hyptrace_memory_transitions_total", "Changes of the owners of memory.", NULL, NULL },
	{ "lock_wait", "lock", false,
	  "hyptrace_lock_waits_total", "Waits of EL2 for a spinlock.",
	  "hyptrace_lock_wait_seconds_total", "Time that EL2 has waited for a spinlock." },
};

static const struct ring_metric {
	const char	*name;
	const char	*help;
	size_t		offset;		/* in struct hyptrace_cpu, of one or two numbers */
	size_t		more;		/* 0 for one */
} ring_metrics[] = {
	{ "hyptrace_ring_events_total", "Events that occurred while enabled, lost ones included.",
	  offsetof(struct hyptrace_cpu, written), 0 },
	{ "hyptrace_ring_read_events_total", "Events that a consumer has read.",
	  offsetof(struct hyptrace_cpu, read), 0 },
	{ "hyptrace_ring_lost_events_total", "Events that were overwritten or dropped.",
	  offsetof(struct hyptrace_cpu, overrun), offsetof(struct hyptrace_cpu, dropped) },
	{ "hyptrace_ring_filtered_events_total", "Events that a filter at EL2 did not accept.",
	  offsetof(struct hyptrace_cpu, filtered), 0 },
};

static void begin_metric(struct out *out, const char *name, const char *type, const char *help)
{
	out_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* The value of a label; a backslash, a quote and a new line are escaped. */
static void put_label(struct out *out, const char *key, const char *value)
{
	out_printf(out, "%s=\"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			out_putc(out, '\\');
		if (*value == '\n')
			out_puts(out, "\\n");
		else
			out_putc(out, *value);
	}
	out_putc(out, '"');
}

static void put_counter(struct out *out, const char *remote, const struct metric *metric,
			const struct counter_sum *sum, bool is_time)
{
	const struct hyptrace_event_counter *of = sum->of;

	out_printf(out, "%s{", is_time ? metric->seconds : metric->count);
	put_label(out, "remote", remote);
	if (metric->per_cpu)
		out_printf(out, ",cpu=\"%u\"", of->cpu);
	out_putc(out, ',');
	/* numbers of two fields may be the same */
	if (of->is_others)
		put_label(out, metric->label, "other");
	else if (of->name)
		put_label(out, metric->label, of->name);
	else
		out_printf(out, "%s=\"%s %" PRIu64 "\"", metric->label, of->field, of->value);
	if (is_time)
		out_printf(out, "} %" PRIu64 ".%09" PRIu64 "\n", sum->total / NSEC_PER_SEC,
			   sum->total % NSEC_PER_SEC);
	else
		out_printf(out, "} %" PRIu64 "\n", sum->count);
}

static void put_counters(struct out *out, const char *remote, const struct metric *metric,
			 const struct counter_sums *sums, bool is_time)
{
	bool is_begun = false;
	unsigned int i;

	for (i = 0; i < sums->nr; i++) {
		const struct counter_sum *sum = &sums->sums[i];

		if (!sum->of || strcmp(sum->event->name, metric->event))
			continue;
		if (!is_begun)
			begin_metric(out, is_time ? metric->seconds : metric->count, "counter",
				     is_time ? metric->seconds_help : metric->count_help);
		is_begun = true;
		put_counter(out, remote, metric, sum, is_time);
	}
}

static void put_rings(struct out *out, const char *remote, struct hyptrace_cpu *const *cpus,
		      unsigned int nr)
{
	const struct ring_metric *metric = ring_metrics;
	const struct ring_metric *end = metric + sizeof(ring_metrics) / sizeof(*metric);
	unsigned int i;

	for (; metric < end && nr; metric++) {
		begin_metric(out, metric->name, "counter", metric->help);
		for (i = 0; i < nr; i++) {
			const char *cpu = (const char *)cpus[i];
			uint64_t value = *(const uint64_t *)(cpu + metric->offset);

			if (metric->more)
				value += *(const uint64_t *)(cpu + metric->more);
			out_printf(out, "%s{", metric->name);
			put_label(out, "remote", remote);
			out_printf(out, ",cpu=\"%u\"} %" PRIu64 "\n", cpus[i]->id, value);
		}
	}
}

/* All is read before anything is printed: what is printed is complete. */
int stat_metrics(struct context *ctx)
{
	auto_counters struct hyptrace_event_counter **counters = NULL;
	struct hyptrace_cpu **cpus auto_cpus = NULL;
	struct hyptrace_event **events auto_events = NULL;
	auto_remote struct hyptrace_remote *remote = NULL;
	const struct metric *metric, *end = metrics + sizeof(metrics) / sizeof(*metric);
	unsigned int nr, nr_counters = 0, nr_cpus, i;
	struct counter_sums sums = {};
	struct out *out = &ctx->out;
	struct hyptrace_error err;
	int code = cmd_get_events(ctx, &remote, &events, &nr);
	bool can_count;

	if (code)
		return code;
	can_count = !hyptrace_get_counters(ctx->h, remote->name, HYPTRACE_CPU_ALL, &counters,
					   &nr_counters, &err);
	/* a remote without counters has rings */
	if (!can_count && err.errnum != EOPNOTSUPP)
		return cmd_fail("cannot get the counters: %s", err.text);
	code = cmd_get_cpus(ctx, remote->name, &cpus, &nr_cpus);
	if (code)
		return code;
	if (can_count && !nr_counters && !counters_any_counted(events))
		cmd_note("no event is counted: use \"hyptrace count EVENT...\"");
	begin_metric(out, "hyptrace_version_info", "gauge", "The version of the command.");
	out_puts(out, "hyptrace_version_info{version=\"" HYPTRACE_VERSION "\"} 1\n");
	begin_metric(out, "hyptrace_tracing", "gauge", "1 while enabled events are recorded, else 0.");
	out_puts(out, "hyptrace_tracing{");
	put_label(out, "remote", remote->name);
	out_printf(out, "} %d\n", remote->state == HYPTRACE_STATE_TRACING);
	put_rings(out, remote->name, cpus, nr_cpus);
	for (i = 0; i < nr_counters; i++) {
		for (metric = metrics; metric < end && strcmp(metric->event, counters[i]->event);)
			metric++;
		counter_sums_add(&sums, events, counters[i], metric == end || !metric->per_cpu);
	}
	counter_sums_sort(&sums);
	for (metric = metrics; metric < end; metric++) {
		if (metric->count)
			put_counters(out, remote->name, metric, &sums, false);
		if (metric->seconds)
			put_counters(out, remote->name, metric, &sums, true);
	}
	counter_sums_free(&sums);
	return EXIT_DONE;
}
