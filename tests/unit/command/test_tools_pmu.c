// SPDX-License-Identifier: GPL-2.0-only
/*
 * --pmu: its words, the events that the PMU measures, and to which event an event pmu belongs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "output/die.h"
#include "session/session.h"
#include "sentence_case.h"

static struct hyptrace_model *model;
static struct session s;

static int begin(void **state)
{
	static struct hyptrace_event *list[NR_EVENTS];
	unsigned int i;

	describe_and_begin(state);
	model = hyptrace_model_new(formats, NULL);
	assert_non_null(model);
	for (i = 0; i < NR_EVENTS; i++)
		list[i] = &events[i];
	s = (struct session){ .name = "r", .events = list, .nr_events = NR_EVENTS };
	return 0;
}

static int end(void **state)
{
	hyptrace_model_free(model);
	return free_formats(state);
}

/* What was said last */
static char *said;

static void keep(const char *text)
{
	free(said);
	said = strdup(text);
}

/* Parse the words, and open the session. */
static int open_with(const char *words)
{
	static char list[100];

	strcpy(list, words);
	s.pmu = (struct pmu){};
	return pmu_parse(&s.pmu, list) ? EXIT_USAGE : session_open_pmu(&s);
}

#define REFUSED(code, words, expected) do {				\
	cmd_note_to = keep;						\
	assert_int_equal(open_with(words), code);			\
	cmd_note_to = NULL;						\
	assert_non_null(strstr(said, expected));			\
} while (0)

static void words(void **state)
{
	(void)state;
	assert_int_equal(session_open_pmu(&s), EXIT_DONE);
	assert_int_equal(open_with("cycles,r1B,0xffff,instructions"), EXIT_DONE);
	assert_int_equal(s.pmu.nr, 4);
	assert_int_equal(s.pmu.numbers[0], 0x11);
	assert_int_equal(s.pmu.numbers[1], 0x1b);
	assert_int_equal(s.pmu.numbers[2], 0xffff);
	assert_int_equal(s.pmu.numbers[3], 8);
	assert_int_equal(s.pmu.id, event_of("pmu")->id);
	REFUSED(EXIT_USAGE, ",", "empty name");
	REFUSED(EXIT_USAGE, "cycles,", "empty name");
	REFUSED(EXIT_USAGE, "cycles,r1,r2,r3,r4", "at most 4");
	REFUSED(EXIT_USAGE, "cycles,cycles", "\"cycles\" twice");
	REFUSED(EXIT_REFUSED, "cycles,r11", "cannot count \"r11\" twice");
	REFUSED(EXIT_REFUSED, "cycle", "did you mean \"cycles\"?");
	REFUSED(EXIT_REFUSED, "0x10000", "cannot count \"0x10000\"");
	REFUSED(EXIT_REFUSED, "r", "cannot count \"r\"");
	REFUSED(EXIT_REFUSED, "1b", "cannot count \"1b\"");
	REFUSED(EXIT_REFUSED, "0x1g", "cannot count \"0x1g\"");
	strcpy(event_of("pmu")->name, "other");
	REFUSED(EXIT_REFUSED, "cycles", "\"r\" has no event pmu");
}

/* The events that were held last */
static unsigned int nr_held;
static const char *held[3];

int hyptrace_hold_counters(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, const uint32_t *pmu, unsigned int nr_pmu,
			   struct hyptrace_error *err)
{
	(void)h;
	(void)err;
	assert_string_equal(remote, "r");
	assert_int_equal(nr_pmu, 1);
	assert_int_equal(pmu[0], 0x11);
	for (nr_held = 0; nr_held < nr; nr_held++)
		held[nr_held] = names[nr_held];
	return 0;
}

int hyptrace_count_events(struct hyptrace *h, const char *remote, const char *const *names,
			  unsigned int nr, bool count, uint32_t flags, struct hyptrace_error *err)
{
	(void)h;
	(void)remote;
	(void)names;
	(void)err;
	assert_false(count);
	assert_int_equal(flags, HYPTRACE_EVENT_HOLD);
	nr_held -= nr;
	return 0;
}

static void measured_events(void **state)
{
	const char *names[] = { "host_hcall", "tlbi", "hyp_enter" };
	struct event_choice choice = { .names = names, .nr = 3 };
	struct context ctx = {};

	(void)state;
	s.ctx = &ctx;
	assert_int_equal(open_with("cycles"), EXIT_DONE);
	assert_int_equal(session_hold_pmu(&s, &choice), EXIT_DONE);
	assert_int_equal(nr_held, 2);
	assert_string_equal(held[0], "hyp_enter");
	assert_string_equal(held[1], "host_hcall");
	session_release_pmu(&s);
	assert_int_equal(nr_held, 0);

	/* others have enabled it */
	choice.nr = 0;
	event_of("guest_exit")->enabled = true;
	assert_int_equal(session_hold_pmu(&s, &choice), EXIT_DONE);
	assert_int_equal(nr_held, 1);
	assert_string_equal(held[0], "guest_exit");
	session_release_pmu(&s);

	s.pmu.only = "host_hcall";
	assert_int_equal(session_hold_pmu(&s, &choice), EXIT_DONE);
	assert_string_equal(held[0], "host_hcall");
	session_release_pmu(&s);

	s.pmu.only = NULL;
	event_of("guest_exit")->enabled = false;
	cmd_note_to = keep;
	assert_int_equal(session_hold_pmu(&s, &choice), EXIT_REFUSED);
	cmd_note_to = NULL;
	assert_non_null(strstr(said, "none of them is chosen"));
}

static void note(struct pmu_counts *counts, uint64_t ts, uint32_t of, uint16_t counter,
		 uint64_t count)
{
	const struct entry_pmu payload = { .counter = counter, .of = of, .count = count };
	struct hyptrace_record rec = record_of("pmu", &payload, event_of("pmu")->size);

	rec.ts = ts;
	pmu_note(&s.pmu, counts, hyptrace_model_meaning(model, &rec), &rec);
	free((void *)rec.data);
}

static void events_belong_to_the_next(void **state)
{
	struct pmu_counts counts = {};

	(void)state;
	assert_int_equal(open_with("instructions,cycles"), EXIT_DONE);
	assert_false(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_HYPERCALL, 0));
	note(&counts, 10, 1, 0x11, 100);
	/* not all of them */
	assert_false(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_HYPERCALL, 10));
	note(&counts, 10, 1, 0x11, 100);
	note(&counts, 10, 1, 0x08, 50);
	note(&counts, 10, 1, 0x03, 7);
	assert_true(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_HYPERCALL, 10));
	assert_int_equal(counts.n[0], 50);
	assert_int_equal(counts.n[1], 100);
	/* only once */
	assert_false(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_HYPERCALL, 10));
	/* of another event, or of one that was filtered */
	note(&counts, 20, 2, 0x11, 100);
	note(&counts, 20, 2, 0x08, 50);
	assert_false(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_HYPERCALL, 20));
	note(&counts, 30, 2, 0x11, 100);
	note(&counts, 30, 2, 0x08, 50);
	assert_false(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_GUEST_EXIT, 31));
	/* two visits in one tick */
	note(&counts, 40, 1, 0x08, 1);
	note(&counts, 40, 0, 0x08, 2);
	note(&counts, 40, 0, 0x11, 3);
	assert_true(pmu_take(&s.pmu, &counts, HYPTRACE_KIND_ENTER, 40));
	assert_int_equal(counts.n[0], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words, begin, end),
		cmocka_unit_test_setup_teardown(measured_events, begin, end),
		cmocka_unit_test_setup_teardown(events_belong_to_the_next, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
