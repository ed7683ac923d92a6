// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of the rows of stat and top, as the events have them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stat.h"

/* Append the name of a value; without a name, the value after @other. */
static void add_value(const struct stat *stat, enum hyptrace_kind kind, enum hyptrace_role role,
		      uint64_t value, const char *other, char *name)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(stat->model, kind);
	const char *text = meaning ? hyptrace_meaning_value_name(meaning, role, value) : NULL;
	const size_t len = strlen(name);

	if (text)
		snprintf(name + len, STAT_NAME_SIZE - len, "%s", text);
	else
		snprintf(name + len, STAT_NAME_SIZE - len, "%s %" PRIu64, other, value);
}

static void add_text(const char *text, char *name)
{
	const size_t len = strlen(name);

	snprintf(name + len, STAT_NAME_SIZE - len, "%s", text);
}

static void name_memory(const struct stat *stat, struct stat_key key, char *name)
{
	const enum hyptrace_kind kind = HYPTRACE_KIND_TRANSITION;

	add_value(stat, kind, HYPTRACE_ROLE_OP, key.major, "operation", name);
	add_text(" ", name);
	add_value(stat, kind, HYPTRACE_ROLE_FROM, key.minor >> 32, "owner", name);
	add_text(" -> ", name);
	add_value(stat, kind, HYPTRACE_ROLE_TO, (uint32_t)key.minor, "owner", name);
}

static void name_exit(const struct stat *stat, struct stat_key key, char *name)
{
	const enum hyptrace_kind kind = HYPTRACE_KIND_GUEST_EXIT;
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(stat->model, kind);

	if (meaning && key.major == meaning->trap)
		add_value(stat, kind, HYPTRACE_ROLE_CLASS, key.minor, "class", name);
	else
		add_value(stat, kind, HYPTRACE_ROLE_CODE, key.major, "code", name);
}

void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE])
{
	*name = '\0';
	switch (stat->by) {
	case STAT_BY_REASON:
		add_value(stat, HYPTRACE_KIND_ENTER, HYPTRACE_ROLE_REASON, key.major, "reason",
			  name);
		return;
	case STAT_BY_HCALL:
		if (key.major == STAT_OTHERS)
			add_text("(other)", name);
		else
			add_value(stat, HYPTRACE_KIND_HYPERCALL, HYPTRACE_ROLE_ID, key.major,
				  "hypercall", name);
		return;
	case STAT_BY_EXIT:
		name_exit(stat, key, name);
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
		name_memory(stat, key, name);
		return;
	case NR_STAT_BY:
		return;
	}
}
