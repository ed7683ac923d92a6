// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rows of stat and top can be, and their names; and the options that both have, besides
 * those of the session.
 */
#include "output/die.h"
#include "stat.h"

#define BIT(kind)	HYPTRACE_KIND_BIT(HYPTRACE_KIND_##kind)

const struct stat_rows_info stat_by[NR_STAT_BY] = {
	[STAT_BY_REASON] = { "reason", BIT(ENTER) | BIT(EXIT), true, HYPTRACE_KIND_UNKNOWN },
	[STAT_BY_HCALL] = { "hcall", BIT(HYPERCALL), true, HYPTRACE_KIND_HYPERCALL },
	[STAT_BY_EXIT] = { "exit", BIT(GUEST_ENTER) | BIT(GUEST_EXIT), true,
			   HYPTRACE_KIND_GUEST_EXIT },
	[STAT_BY_VCPU] = { "vcpu", BIT(GUEST_EXIT), true, HYPTRACE_KIND_GUEST_EXIT },
	[STAT_BY_VM] = { "vm", BIT(GUEST_EXIT), true, HYPTRACE_KIND_GUEST_EXIT },
	[STAT_BY_CPU] = { "cpu", BIT(ENTER) | BIT(EXIT), true, HYPTRACE_KIND_UNKNOWN },
	[STAT_BY_MEMORY] = { "memory", BIT(TRANSITION), false, HYPTRACE_KIND_TRANSITION },
};

/* Append a text and the name of a value of an event; without a name, the value after @other. */
static void add_value(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
		      uint64_t value, const char *before, const char *other, char *name)
{
	const char *text = meaning ? hyptrace_meaning_value_name(meaning, role, value) : NULL;
	const size_t len = strlen(name);

	if (text)
		snprintf(name + len, STAT_NAME_SIZE - len, "%s%s", before, text);
	else
		snprintf(name + len, STAT_NAME_SIZE - len, "%s%s %" PRIu64, before, other, value);
}

void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE])
{
	const enum hyptrace_kind kind = stat_by[stat->by].kind ?: HYPTRACE_KIND_ENTER;
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(stat->model, kind);

	*name = '\0';
	switch (stat->by) {
	case STAT_BY_REASON:
		add_value(meaning, HYPTRACE_ROLE_REASON, key.major, "", "reason", name);
		return;
	case STAT_BY_HCALL:
		if (key.major == STAT_OTHERS)
			strcpy(name, "(other)");
		else
			add_value(meaning, HYPTRACE_ROLE_ID, key.major, "", "hypercall", name);
		return;
	case STAT_BY_EXIT:
		if (key.major & HYPTRACE_KEY_TRAP)
			add_value(meaning, HYPTRACE_ROLE_CLASS, (uint32_t)key.major, "", "class",
				  name);
		else
			add_value(meaning, HYPTRACE_ROLE_CODE, key.major, "", "code", name);
		return;
	case STAT_BY_VCPU:
		snprintf(name, STAT_NAME_SIZE, "vcpu=%" PRIu64 " vm=0x%" PRIx64 ".%u", key.minor,
			 key.major >> 32, (unsigned int)key.major);
		return;
	case STAT_BY_VM:
		snprintf(name, STAT_NAME_SIZE, "vm=0x%" PRIx64, key.major);
		return;
	case STAT_BY_CPU:
		snprintf(name, STAT_NAME_SIZE, "CPU %" PRIu64, key.major);
		return;
	case STAT_BY_MEMORY:
		add_value(meaning, HYPTRACE_ROLE_OP, key.major >> 48, "", "operation", name);
		add_value(meaning, HYPTRACE_ROLE_FROM, (uint16_t)(key.major >> 32), " ", "owner",
			  name);
		add_value(meaning, HYPTRACE_ROLE_TO, (uint32_t)key.major, " -> ", "owner", name);
		return;
	case NR_STAT_BY:
		return;
	}
}

enum {
	OPT_BY = 0x400,
	OPT_DELAY,
};

static const struct argp_option options[] = {
	{ "by", OPT_BY, "WHAT", 0,
	  "Print a row for each reason (the default), hcall, exit, vcpu, vm, cpu or memory", 0 },
	{ "interval", 'd', "TIME", 0, "Print the numbers of each such time, such as 1s", 0 },
	{ "delay", OPT_DELAY, "TIME", OPTION_HIDDEN, NULL, 0 },
	{ "key", 'k', "KEY", 0, "", 0 },
	{ 0 }
};

static error_t parse_key(struct stat *stat, const char *key)
{
	auto_free char *names = NULL;

	if (stat_column_find(stat->keys, key, &stat->sort))
		return 0;
	names = stat_column_names(stat->keys, "");
	cmd_note("unknown key \"%s\": use one of %s", key, names);
	return -EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat *stat = state->input;

	switch (key) {
	case OPT_BY:
		for (stat->by = 0; stat->by < NR_STAT_BY; stat->by++)
			if (!strcmp(arg, stat_by[stat->by].name))
				break;
		if (stat->by == NR_STAT_BY)
			return cmd_usage("cannot print rows by \"%s\": use one of reason, hcall, exit, vcpu, vm, cpu, memory",
					 arg);
		return 0;
	case 'd':
		if (!parse_duration(arg, &stat->interval))
			return cmd_usage("bad time \"%s\": use a number and us, ms, s, m or h",
					 arg);
		return 0;
	case OPT_DELAY:
		return cmd_usage("--delay is --interval now: use \"-d %s\"", arg);
	case 'k':
		return parse_key(stat, arg);
	case ARGP_KEY_END:
		if (stat->session.count && !stat->interval)
			return cmd_usage("--count ends after so many intervals: use it with --interval");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	const struct stat *stat = input;

	return key == 'k' ? stat_column_names(stat->keys, "Sort the rows by one of ") :
			    (char *)text;
}

const struct argp stat_argp = { .options = options, .parser = parse, .help_filter = help };
