// SPDX-License-Identifier: GPL-2.0-only
/* Parse numbers, sizes, CPU lists and event names of the command line. */
#include <ctype.h>
#include <fnmatch.h>

#include "lib/hyptrace.h"
#include "output/clock.h"
#include "output/die.h"
#include "cli.h"

/* ns; longer times would overflow when they are added to a clock */
#define DURATION_MAX	UINT64_C(1000000000000000000)

/* Scan decimal digits, or 0x and hexadecimal digits; @end is set to what follows. */
static bool scan_number(const char *s, uint64_t *value, const char **end)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	char *stop;

	/* strtoull() also accepts blanks and signs */
	if (!isdigit((unsigned char)s[0]) || (hex && !isxdigit((unsigned char)s[2])))
		return false;
	errno = 0;
	*value = strtoull(s, &stop, hex ? 16 : 10);
	*end = stop;
	return !errno;
}

/* Parse a number up to @max, decimal or, after 0x, hexadecimal. */
bool parse_number(const char *s, uint64_t max, uint64_t *value)
{
	const char *end;

	return scan_number(s, value, &end) && !*end && *value <= max;
}

/* Parse a number of bytes; a K, M, G or T after it is a power of 1024. */
bool parse_size(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	unsigned int shift;

	if (!scan_number(s, bytes, &end))
		return false;
	if (!*end)
		return true;

	unit = strchr(units, toupper((unsigned char)*end));
	if (!unit || end[1])
		return false;
	shift = 10 * (unit - units + 1);
	if (*bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* Parse a number with decimals and a unit. Without a unit it is seconds. */
bool parse_time(const char *text, uint64_t *nsec)
{
	static const struct {
		const char	*name;
		uint64_t	nsec;
	} units[] = {
		{ "", NSEC_PER_SEC }, { "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC }, { "ns", 1 }, { "m", 60 * NSEC_PER_SEC },
		{ "min", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
	};
	const char *digits = text + strspn(text, "0123456789");
	const char *end = *digits == '.' ? digits + 1 + strspn(digits + 1, "0123456789") : digits;
	uint64_t part;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]) && strcmp(end, units[i].name); i++)
		;
	if (i == sizeof(units) / sizeof(units[0]) || digits == text ||
	    (*digits == '.' && end == digits + 1))
		return false;
	*nsec = 0;
	for (; text < digits; text++)
		if (__builtin_mul_overflow(*nsec, 10, nsec) ||
		    __builtin_add_overflow(*nsec, *text - '0', nsec))
			return false;
	if (__builtin_mul_overflow(*nsec, units[i].nsec, nsec))
		return false;
	for (text++, part = units[i].nsec / 10; text < end; text++, part /= 10)
		if (__builtin_add_overflow(*nsec, (*text - '0') * part, nsec))
			return false;
	return true;
}

/* The same, but of a time that passes: it is not 0. */
bool parse_duration(const char *text, uint64_t *nsec)
{
	return parse_time(text, nsec) && *nsec && *nsec < DURATION_MAX;
}

bool parse_mode(const char *s, uint32_t *mode)
{
	*mode = strcmp(s, "discard") ? HYPTRACE_MODE_OVERWRITE : HYPTRACE_MODE_DISCARD;
	return *mode == HYPTRACE_MODE_DISCARD || !strcmp(s, "overwrite");
}

static int compare_ids(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

/* Parse "0,2-3" or "all". The list is for cpu_list_free(). */
bool parse_cpu_list(const char *s, struct cpu_list *list)
{
	uint64_t first, last;
	unsigned int i, nr;

	*list = (struct cpu_list){ .all = !strcmp(s, "all") };
	if (list->all)
		return true;
	/* scan_number() refuses blanks and signs */
	while (scan_number(s, &first, &s)) {
		last = first;
		if ((*s == '-' && !scan_number(s + 1, &last, &s)) || last < first ||
		    last >= CPU_LIMIT)
			break;
		list->ids = xreallocarray(list->ids, list->nr + (last - first + 1),
					  sizeof(*list->ids));
		for (; first <= last; first++)
			list->ids[list->nr++] = first;
		/* drop duplicates now: "0-9,0-9,0-9..." must not grow without limit */
		qsort(list->ids, list->nr, sizeof(*list->ids), compare_ids);
		for (i = nr = 0; i < list->nr; i++)
			if (!nr || list->ids[i] != list->ids[nr - 1])
				list->ids[nr++] = list->ids[i];
		list->nr = nr;
		if (!*s)
			return true;
		if (*s++ != ',')
			break;
	}
	cpu_list_free(list);
	return false;
}

bool cpu_list_has(const struct cpu_list *list, unsigned int cpu)
{
	return list->all || (list->nr && bsearch(&cpu, list->ids, list->nr, sizeof(*list->ids),
						 compare_ids));
}

void cpu_list_free(struct cpu_list *list)
{
	free(list->ids);
	memset(list, 0, sizeof(*list));
}

/* @words: names, globs or "all". The names of the choice point into @events and @words. */
void select_events(struct hyptrace_event *const *events, unsigned int nr_events,
		   const char *const *words, unsigned int nr_words, struct event_choice *choice)
{
	unsigned int i, j;

	*choice = (struct event_choice){
		.names = xcalloc(nr_events + 1, sizeof(*choice->names)),
		.events = xcalloc(nr_events + 1, sizeof(*choice->events)),
		.unknown = xcalloc(nr_words + 1, sizeof(*choice->unknown)),
	};

	for (i = 0; i < nr_words; i++) {
		bool all = !strcmp(words[i], "all"), found = false;

		for (j = 0; j < nr_events; j++) {
			if (!all && fnmatch(words[i], events[j]->name, 0))
				continue;
			found = true;
			if (has_name(choice->names, choice->nr, events[j]->name))
				continue;
			choice->names[choice->nr] = events[j]->name;
			choice->events[choice->nr++] = events[j];
		}
		if (!found && !has_name(choice->unknown, choice->nr_unknown, words[i]))
			choice->unknown[choice->nr_unknown++] = words[i];
	}
}

void event_choice_free(struct event_choice *choice)
{
	free(choice->names);
	free(choice->events);
	free(choice->unknown);
	memset(choice, 0, sizeof(*choice));
}
