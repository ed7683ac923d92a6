// SPDX-License-Identifier: GPL-2.0-only
/* --pmu: have the PMU count during events, and find the event that an event pmu belongs to. */
#include "output/die.h"
#include "session.h"

#define NUMBER_MAX	0xffff

/* The words of a list, which is changed and must stay valid */
error_t pmu_parse(struct pmu *pmu, char *list)
{
	char *word;

	while ((word = strsep(&list, ","))) {
		if (!*word)
			return cmd_usage("--pmu has an empty name: use names such as cycles,instructions");
		if (has_name(pmu->words, pmu->nr, word))
			return cmd_usage("--pmu names \"%s\" twice", word);
		if (pmu->nr == PMU_MAX)
			return cmd_usage("--pmu takes at most %d counters", PMU_MAX);
		pmu->words[pmu->nr++] = word;
	}
	return 0;
}

/* r1b or 0x1b: the number that the event has in the Arm architecture */
static bool parse_raw(const char *word, uint32_t *number)
{
	const char *digits = word + (*word == 'r' ? 1 : strncmp(word, "0x", 2) ? 0 : 2);
	const size_t len = strspn(digits, "0123456789abcdefABCDEF");

	*number = strtoul(digits, NULL, 16);
	return digits > word && len && len < 8 && !digits[len] && *number <= NUMBER_MAX;
}

static int find_number(const struct hyptrace_field *field, const char *word, uint32_t *number)
{
	const char *near = NULL;
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++) {
		near = hyptrace_nearest(word, near, field->symbols[i]->name);
		*number = field->symbols[i]->value;
		if (!strcmp(field->symbols[i]->name, word))
			return EXIT_DONE;
	}
	if (parse_raw(word, number))
		return EXIT_DONE;
	if (near)
		return cmd_fail("cannot count \"%s\": no such counter; did you mean \"%s\"?",
				word, near);
	return cmd_fail("cannot count \"%s\": no such counter (\"hyptrace list -v pmu\" has the names; a number is r1b or 0x1b)",
			word);
}

static const struct hyptrace_event *find_event(const struct session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_events; i++)
		if (!strcmp(s->events[i]->name, hyptrace_kind_event(HYPTRACE_KIND_PMU)))
			return s->events[i];
	return NULL;
}

int session_open_pmu(struct session *s)
{
	const struct hyptrace_event *event = find_event(s);
	const struct hyptrace_field *field = event ? hyptrace_event_field(event, "counter") : NULL;
	struct pmu *pmu = &s->pmu;
	unsigned int i, j;
	int code;

	if (!pmu->nr)
		return EXIT_DONE;
	if (!field)
		return cmd_fail("\"%s\" has no event pmu: %s", s->name, s->path ?
				"what a PMU has counted was not recorded" :
				"its writer cannot read a PMU");
	pmu->id = event->id;
	for (i = 0; i < pmu->nr; i++) {
		code = find_number(field, pmu->words[i], &pmu->numbers[i]);
		if (code)
			return code;
		for (j = 0; j < i; j++)
			if (pmu->numbers[j] == pmu->numbers[i])
				return cmd_fail("cannot count \"%s\" twice: \"%s\" is the same",
						pmu->words[i], pmu->words[j]);
	}
	return EXIT_DONE;
}

static bool is_measured(const struct session *s, const struct hyptrace_field *measured,
			const struct hyptrace_event *event, const struct event_choice *choice)
{
	unsigned int i;

	if (s->pmu.only ? strcmp(event->name, s->pmu.only) :
			  !event->enabled && !event_choice_has(choice, event->name))
		return false;
	for (i = 0; measured && i < measured->nr_symbols; i++)
		if (!strcmp(measured->symbols[i]->name, event->name))
			return true;
	return false;
}

/* Have the PMU count during the chosen and the enabled events that can be measured. */
int session_hold_pmu(struct session *s, const struct event_choice *choice)
{
	const struct hyptrace_event *event = find_event(s);
	struct hyptrace_error err;
	struct pmu *pmu = &s->pmu;
	unsigned int i;

	if (!pmu->nr)
		return EXIT_DONE;
	for (i = 0; i < s->nr_events; i++)
		if (is_measured(s, hyptrace_event_field(event, "of"), s->events[i], choice))
			*xappend(pmu->held, pmu->nr_held) = s->events[i]->name;
	if (!pmu->nr_held)
		return cmd_fail("cannot use the PMU: it measures hyp_enter, host_hcall and guest_exit, and none of them is chosen");
	if (hyptrace_hold_counters(s->ctx->h, s->name, pmu->held, pmu->nr_held, pmu->numbers,
				   pmu->nr, &err))
		return cmd_fail("cannot use the PMU: %s", err.text);
	return EXIT_DONE;
}

void session_release_pmu(struct session *s)
{
	if (s->pmu.nr_held)
		hyptrace_count_events(s->ctx->h, s->name, s->pmu.held, s->pmu.nr_held, false,
				      HYPTRACE_EVENT_HOLD, NULL);
	free(s->pmu.held);
	s->pmu.held = NULL;
	s->pmu.nr_held = 0;
}

/* An event pmu of a CPU: @counts are those of that CPU. */
void pmu_note(const struct pmu *pmu, struct pmu_counts *counts,
	      const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec)
{
	const uint64_t event = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_EVENT, rec);
	unsigned int i;

	if (counts->ts != rec->ts || counts->event != event)
		*counts = (struct pmu_counts){
			.ts = rec->ts, .event = event, .meaning = meaning,
		};
	for (i = 0; i < pmu->nr; i++) {
		if (pmu->numbers[i] != hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNTER, rec))
			continue;
		counts->n[i] = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNTED, rec);
		counts->has |= 1U << i;
	}
}

/*
 * Does @counts have what was counted during an event of this kind and time, the first after them?
 * They are recorded with the time of their event. A visit of EL2 is HYPTRACE_KIND_ENTER.
 */
bool pmu_take(const struct pmu *pmu, struct pmu_counts *counts, enum hyptrace_kind kind,
	      uint64_t ts)
{
	const char *event = NULL;

	if (counts->has && counts->has == (1U << pmu->nr) - 1 && counts->ts == ts)
		event = hyptrace_meaning_value_name(counts->meaning, HYPTRACE_ROLE_EVENT,
						    counts->event);
	counts->has = 0;
	return event && !strcmp(event, hyptrace_kind_event(kind));
}
