// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace status: print the state and the counters of remotes and CPUs. */
#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "session/select.h"

enum { OPT_BOOT = 0x200 };

static const struct printer_label labels[] = {
	{ "size_requested",	"requested" },
	{ "size_allocated",	"allocated" },
	{ "nr_subbufs",		"sub-buffers" },
	{ "subbuf_size",	"sub-buffer size" },
	{ 0 }
};

static void print_state(struct printer *p, const char *key, const void *row)
{
	const uint32_t state = ((const struct hyptrace_cpu *)row)->state;

	printer_styled(p, key, state == HYPTRACE_CPU_STATE_ATTACHED ? STYLE_GOOD : STYLE_PLAIN,
		       hyptrace_cpu_state_name(state));
}

static void print_lost(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_cpu *cpu = row;

	printer_uint(p, key, cpu->overrun + cpu->dropped);
}

static void print_fill(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_cpu *cpu = row;

	printer_uint_if(p, key, cpu->nr_subbufs,
			UINT64_C(100) * cpu->used_subbufs / (cpu->nr_subbufs ?: 1));
}

#define CPU(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_cpu, member)

static const struct column cpu_columns[] = {
	{ "remote", "REMOTE", COLUMN_EXTRA | CPU(CHARS, remote), NULL },
	{ "cpu", "CPU", COLUMN_NUMBER | CPU(U32, id), NULL },
	{ "state", "STATE", COLUMN_TRUNC, print_state },
	{ "online", "ONLINE", CPU(BOOL, online), NULL },
	{ "written", "WRITTEN", COLUMN_NUMBER | CPU(U64, written), NULL },
	{ "read", "READ", COLUMN_NUMBER | CPU(U64, read), NULL },
	{ "lost", "LOST", COLUMN_NUMBER, print_lost },
	{ "filtered", "FILTERED", COLUMN_NUMBER | CPU(U64, filtered), NULL },
	{ "overrun", "OVERRUN", COLUMN_NUMBER | COLUMN_JSON | CPU(U64, overrun), NULL },
	{ "dropped", "DROPPED", COLUMN_NUMBER | COLUMN_JSON | CPU(U64, dropped), NULL },
	{ "nr_subbufs", "SUBBUFS", COLUMN_NUMBER | COLUMN_JSON | CPU(U32, nr_subbufs), NULL },
	{ "used_subbufs", "USED", COLUMN_NUMBER | COLUMN_JSON | CPU(U32, used_subbufs), NULL },
	{ "unread", "UNREAD", COLUMN_NUMBER | CPU(U64, unread), NULL },
	{ "fill", "FILL%", COLUMN_NUMBER, print_fill },
	{ "consumer", "CONSUMER", COLUMN_NUMBER | COLUMN_NOT_0 | CPU(U32, consumer), NULL },
};

/* Print one of several texts, which is freed: only the first one has a label. */
static void print_below(struct printer *p, const char **label, char *text)
{
	printer_str(p, *label, text);
	free(text);
	*label = "";
}

/* Describe what a process reads; the string is for free(). */
static char *describe_reader(uint32_t pid, struct hyptrace_cpu *const *cpus, unsigned int nr)
{
	unsigned int i = 0, first, count = 0;
	char name[HYPTRACE_PROCESS_NAME_SIZE], *text;
	FILE *f = text_open(&text);

	for (i = 0; i < nr; i++)
		count += cpus[i]->consumer == pid;
	fprintf(f, "%s is reading CPU%s ", hyptrace_process_name(pid, name), count == 1 ? "" : "s");
	for (i = 0, count = 0; i < nr; i++) {
		if (cpus[i]->consumer != pid)
			continue;
		first = i;
		while (i + 1 < nr && cpus[i + 1]->consumer == pid &&
		       cpus[i + 1]->id == cpus[i]->id + 1)
			i++;
		fprintf(f, "%s%u", count++ ? "," : "", cpus[first]->id);
		if (i > first)
			fprintf(f, "-%u", cpus[i]->id);
	}
	text_close(f, &text);
	return text;
}

static void print_readers(struct printer *p, const struct hyptrace_remote *remote,
			  struct hyptrace_cpu *const *cpus, unsigned int nr)
{
	const char *label = "readers";
	unsigned int i, j;

	if (printer_is_json(p)) {
		printer_uint(p, label, remote->readers);
		return;
	}
	for (i = 0; i < nr; i++) {
		for (j = 0; cpus[j]->consumer != cpus[i]->consumer; j++)
			;
		/* each process once */
		if (j == i && cpus[i]->consumer)
			print_below(p, &label, describe_reader(cpus[i]->consumer, cpus, nr));
	}
	/* the driver does not tell which process an observer is */
	if (*label)
		print_below(p, &label, remote->readers ?
			    xasprintf("%u observer%s", remote->readers,
				      remote->readers == 1 ? "" : "s") : xstrdup("none"));
}

/* The filters of the events, or their triggers: in JSON by name, in text one below the other */
static void print_of_events(struct printer *p, const char *label, bool triggers,
			    const struct hyptrace_remote *remote,
			    struct hyptrace_event *const *events, unsigned int nr)
{
	const bool json = printer_is_json(p);
	unsigned int i;

	if (json)
		printer_object(p, label);
	for (i = 0; i < nr; i++) {
		auto_free char *trigger = NULL;
		const struct hyptrace_event *event = events[i];
		const bool armed = event->trigger && trigger_is_armed(remote, event);

		if (triggers ? !event->trigger : !event->filter)
			continue;
		if (json && triggers) {
			printer_object(p, event->name);
			trigger_print_keys(p, event);
			printer_bool(p, "armed", armed);
			printer_end(p);
		} else if (json) {
			printer_str(p, event->name, event->filter);
		} else if (triggers) {
			trigger = trigger_text(event);
			print_below(p, &label, xasprintf("%s: %s (%sarmed)", event->name, trigger,
							 armed ? "" : "not "));
		} else {
			print_below(p, &label, xasprintf("%s: %s", event->name, event->filter));
		}
	}
	if (json)
		printer_end(p);
}

static void print_fired(struct printer *p, const struct hyptrace_remote *remote)
{
	const char *label = "fired";
	unsigned int i;

	if (printer_is_json(p))
		printer_array(p, label);
	for (i = 0; i < remote->nr_fired; i++) {
		if (!printer_is_json(p)) {
			print_below(p, &label, firing_text(remote, i));
			continue;
		}
		printer_object(p, NULL);
		firing_print_keys(p, remote, i);
		printer_end(p);
	}
	if (printer_is_json(p))
		printer_end(p);
}

static int print_remote(struct context *ctx, const struct hyptrace_remote *remote,
			const struct columns *columns)
{
	auto_events struct hyptrace_event **events = NULL;
	struct hyptrace_cpu **cpus auto_cpus = NULL;
	const uint64_t offset = clock_offset();
	unsigned int nr_events, nr, i;
	struct printer *p = ctx->p;
	char text[40];
	int code = cmd_get_cpus(ctx, remote->name, &cpus, &nr);

	for (i = 0; columns->nr_chosen && !code && i < nr; i++)
		columns_print(columns, p, cpus[i]);
	if (columns->nr_chosen || code)
		return code;
	code = cmd_list_events(ctx, remote->name, &events, &nr_events);
	if (code)
		return code;
	printer_object(p, NULL);
	printer_heading(p, "name", remote->name);
	printer_labels(p, labels);
	printer_str(p, "description", remote->description);
	printer_styled(p, "state",
		       remote->state == HYPTRACE_STATE_TRACING ? STYLE_GOOD : STYLE_PLAIN,
		       hyptrace_state_name(remote->state));
	printer_str(p, "mode", hyptrace_mode_name(remote->mode));
	printer_size(p, "size_requested", remote->size_requested);
	printer_size(p, "size_allocated", remote->size_allocated);
	printer_uint(p, "nr_subbufs", remote->nr_subbufs);
	printer_size(p, "subbuf_size", remote->subbuf_size);
	printer_str(p, "clock", remote->clock);
	/* how to convert time stamps to the time of day */
	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64 " s", offset / NSEC_PER_SEC,
		 offset % NSEC_PER_SEC / NSEC_PER_USEC);
	if (!strcmp(remote->clock, "boot") && printer_is_json(p))
		printer_s64(p, "clock_offset", offset);
	else if (!strcmp(remote->clock, "boot"))
		printer_str(p, "clock_offset", text);
	print_readers(p, remote, cpus, nr);
	printer_bool(p, "protected", remote->is_protected);
	print_of_events(p, "filters", false, remote, events, nr_events);
	if (printer_is_json(p))
		printer_bool(p, "armed", remote->is_armed);
	print_of_events(p, "triggers", true, remote, events, nr_events);
	print_fired(p, remote);
	columns_print_all(columns, p, "cpus", cpus, nr);
	printer_end(p);
	return EXIT_DONE;
}

struct input {
	bool		boot;
	char		*words;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != OPT_BOOT)
		return ARGP_ERR_UNKNOWN;
	*(struct input *)state->input = (struct input){ .boot = true, .words = arg };
	return 0;
}

static int cmd_status(struct context *ctx, int argc, char **argv)
{
	auto_remotes struct hyptrace_remote **remotes = NULL;
	struct columns columns = COLUMNS(cpu_columns);
	struct input in = {};
	unsigned int nr, i;
	int code;

	cmd_parse(ctx, argc, argv, &in, &cmd_columns_argp, &columns);
	code = cmd_connect(ctx);
	if (!code && ctx->dump)
		return cmd_fail("\"%s\" has events, and no state: see them by report, show and stat",
				ctx->dump);
	if (!code && in.boot)
		return boot_words(ctx, in.words);
	code = code ?: cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;

	columns_tell_apart(&columns, nr);
	if (columns.nr_chosen)
		printer_table(ctx->p, NULL, &columns);
	else
		printer_array(ctx->p, NULL);
	code = nr ? EXIT_DONE : EXIT_REFUSED;
	for (i = 0; i < nr && !code; i++)
		code = print_remote(ctx, remotes[i], &columns);
	printer_end(ctx->p);
	return code;
}

static const struct argp_option options[] = {
	{ "boot", OPT_BOOT, "WORDS", OPTION_ARG_OPTIONAL,
	  "print the words on the kernel's command line that start this trace at boot, or check WORDS",
	  0 },
	{ 0 }
};

static const struct verb verbs[] VERBS = {
	{ "status", cmd_status, "Print states, sizes and counters.", VERB_CONTROL + 2, true,
	  .argp = {
		.options = options,
		.parser = parse,
		.doc = "Print the state, the sizes and the counters of remotes and their CPUs.",
	  } },
};
