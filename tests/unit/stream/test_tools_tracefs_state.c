// SPDX-License-Identifier: GPL-2.0-only
/* Switching events and tracing of a tracer in tracefs, and readers that hold them on. */
#include "tracefs_folder.h"

#include <signal.h>
#include <sys/wait.h>

#include "lib/tracefs/tracefs.h"

#define set(enable, options, ...)							\
	hyptrace_set_events(h, NULL, (const char *const[]){ __VA_ARGS__ },		\
			    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),\
			    enable, options, &err)

static void files_are(const char *tracing, const char *enter, const char *exit, const char *hcall)
{
	assert_string_equal(get("tracing_on"), tracing);
	assert_string_equal(get(ENTER), enter);
	assert_string_equal(get(EXIT), exit);
	assert_string_equal(get(HCALL), hcall);
}

static void events_are_switched(void **state)
{
	const char *names[HYPTRACE_EVENT_LIST_MAX];
	unsigned int i;

	(void)state;
	assert_int_equal(set(true, NULL, "hyp_enter", "host_hcall"), 0);
	files_are("0\n", "1", "0\n", "1");
	assert_int_equal(set(false, NULL, "hyp_enter"), 0);
	files_are("0\n", "0", "0\n", "1");
	/* an unknown one: none is switched */
	assert_int_equal(set(true, NULL, "hyp_enter", "hyp_ente"), -ENOENT);
	assert_string_equal(err.text, "no such event");
	assert_string_equal(err.subject, "hyp_ente");
	files_are("0\n", "0", "0\n", "1");
	/* one cannot be switched: what was switched before is as it was */
	assert_int_equal(unlink(path_of(EXIT)), 0);
	assert_int_equal(set(true, NULL, "host_hcall", "hyp_enter", "hyp_exit"), -ENOENT);
	assert_string_equal(err.text, "No such file or directory");
	put(EXIT, "0\n");
	files_are("0\n", "0", "0\n", "1");
	/* all names of a long list are looked at */
	for (i = 0; i < COUNT(names); i++)
		names[i] = "hyp_enter";
	names[COUNT(names) - 1] = "hyp_exit";
	assert_int_equal(hyptrace_set_events(h, NULL, names, COUNT(names), true, NULL, &err), 0);
	files_are("0\n", "1", "1", "1");
}

static void what_it_cannot_do(void **state)
{
	const struct hyptrace_event_options held = { .flags = HYPTRACE_EVENT_HOLD };
	const struct hyptrace_event_options trigger = {
		.trigger = HYPTRACE_TRIGGER_ACTION_STOP,
	};
	struct hyptrace_filter all = { .text = (char *)"1" };
	const struct hyptrace_event_options filter = { .filter = &all };
	struct hyptrace_event_counter **counters;
	struct hyptrace_hypercall **calls;
	const char *name = "hyp_enter";
	unsigned int nr;

	(void)state;
	assert_int_equal(set(true, &trigger, "hyp_enter"), -EOPNOTSUPP);
	assert_string_equal(err.text,
			    "the kernel's own tracer has no filters and triggers at EL2");
	assert_int_equal(set(true, &filter, "hyp_enter"), -EOPNOTSUPP);
	assert_string_equal(err.text,
			    "the kernel's own tracer has no filters and triggers at EL2");
	assert_int_equal(set(true, &held, "hyp_enter"), -EOPNOTSUPP);
	assert_string_equal(err.text, "tracefs holds the state of an event only while it is read");
	assert_int_equal(hyptrace_count_events(h, NULL, &name, 1, true, 0, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer does not count events at EL2");
	assert_int_equal(hyptrace_get_counters(h, NULL, -1, &counters, &nr, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer does not count events at EL2");
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_COUNT_RESET, NULL, -1, NULL, &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer does not count events at EL2");
	assert_int_equal(hyptrace_get_hypercalls(h, NULL, &calls, &nr, &err), 0);
	assert_int_equal(nr, 0);
	hyptrace_free_hypercalls(calls);
	assert_int_equal(hyptrace_mark(h, NULL, 0, 1, 1, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer cannot do it");
	assert_int_equal(hyptrace_release_events(h, NULL, &err), 0);
	assert_null(hyptrace_reader_open_snapshot_on(h, NULL, 0, &err));
	assert_string_equal(err.text, "it has no snapshots");
	assert_null(hyptrace_listener_open(h, &err));
	assert_string_equal(err.text, "there are no notifications");
	files_are("0\n", "0\n", "0\n", "0\n");
}

static int control(int cmd, int cpu, const struct hyptrace_settings *settings)
{
	return hyptrace_control(h, cmd, NULL, cpu, settings, &err);
}

static void tracing_and_size(void **state)
{
	struct hyptrace_settings size = { .changes = HYPTRACE_SETTING_SIZE, .size = 65536 };
	struct hyptrace_settings mode = { .changes = HYPTRACE_SETTING_MODE };
	struct hyptrace_settings rate = { .changes = HYPTRACE_SETTING_RATE, .rate = 1 };

	(void)state;
	assert_int_equal(control(HYPTRACE_CMD_START, -1, NULL), 0);
	files_are("1", "0\n", "0\n", "0\n");
	assert_int_equal(control(HYPTRACE_CMD_STOP, -1, NULL), 0);
	files_are("0", "0\n", "0\n", "0\n");
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), 0);
	assert_string_equal(get("buffer_size_kb"), "64");
	size.size = 65537;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), 0);
	assert_string_equal(get("buffer_size_kb"), "65");
	size.size = 1;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), 0);
	assert_string_equal(get("buffer_size_kb"), "1");
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &mode), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer has no other settings than the size");
	mode.changes |= HYPTRACE_SETTING_SIZE;
	rate.changes |= HYPTRACE_SETTING_SIZE;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &mode), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer has no other settings than the size");
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &rate), -EOPNOTSUPP);
	assert_string_equal(get("buffer_size_kb"), "1");
	unlink(path_of("buffer_size_kb"));
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), -ENOENT);
	assert_string_equal(err.text, "No such file or directory");

	put("per_cpu/cpu0/trace", "old");
	put("per_cpu/cpu1/trace", "old");
	assert_int_equal(control(HYPTRACE_CMD_CLEAR, 1, NULL), 0);
	assert_string_equal(get("per_cpu/cpu1/trace"), "0");
	assert_string_equal(get("per_cpu/cpu0/trace"), "old");
	assert_string_equal(get("trace"), "old");
	assert_int_equal(control(HYPTRACE_CMD_CLEAR, -1, NULL), 0);
	assert_string_equal(get("trace"), "0");
	assert_int_equal(control(HYPTRACE_CMD_CLEAR, 3, NULL), -ENOENT);
	assert_int_equal(control(HYPTRACE_CMD_UNLOAD, -1, NULL), -EOPNOTSUPP);
	assert_string_equal(err.text, "the kernel's own tracer cannot do it");
}

static void counts_are(unsigned int cpu, uint64_t written, uint64_t read, uint64_t unread,
		       uint64_t overrun, uint64_t unreported)
{
	struct hyptrace_cpu *found;

	assert_int_equal(hyptrace_get_cpu(h, NULL, cpu, &found, &err), 0);
	assert_int_equal(found->written, written);
	assert_int_equal(found->read, read);
	assert_int_equal(found->unread, unread);
	assert_int_equal(found->overrun, overrun);
	assert_int_equal(found->unreported, unreported);
	assert_int_equal(found->consumer, getpid());
	hyptrace_free_cpu(found);
}

static void readers_hold_events(void **state)
{
	const uint16_t ids[] = { 2, 4 };
	struct hyptrace_reader *reader, *other;
	uint64_t lost;

	(void)state;
	put(HCALL, "1\n");
	lines("per_cpu/cpu1/trace_pipe", 0, 300);
	reader = hyptrace_reader_open_on(h, NULL, 1, 0, &err);
	other = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	assert_non_null(reader);
	assert_non_null(other);
	/* what was before is not counted until it begins */
	counts_are(1, 0, 0, 0, 0, 0);
	assert_int_equal(hyptrace_reader_hold(reader, ids, 2, true, &err), 0);
	files_are("1", "1", "0\n", "1\n");
	/* in place of those before */
	assert_int_equal(hyptrace_reader_hold(reader, ids + 1, 1, false, &err), 0);
	files_are("0", "0", "0\n", "1\n");
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	files_are("1", "1", "0\n", "1\n");
	wait_for(reader);
	put("per_cpu/cpu0/trace_pipe", "CPU:0 [LOST 7 EVENTS]\n");
	lines("per_cpu/cpu0/trace_pipe", 0, 5);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	files_are("0", "0", "0\n", "1\n");
	counts_are(1, 300, 0, 300, 0, 0);
	counts_are(0, 12, 0, 5, 7, 7);
	assert_int_equal(drain(reader, &lost), 300);
	assert_int_equal(lost, 0);
	assert_int_equal(drain(other, &lost), 5);
	assert_int_equal(lost, 7);
	counts_are(1, 300, 300, 0, 0, 0);
	counts_are(0, 12, 5, 0, 7, 0);
	hyptrace_reader_close(other);
	hyptrace_reader_close(reader);
}

/* Only the events that were chosen last are held. */
static void events_held_in_turn(void **state)
{
	const uint16_t ids[] = { 4, 2, 5 };
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(hyptrace_reader_hold(reader, ids + i, 1, false, &err), 0);
		assert_int_equal(*get(HCALL), i == 0 ? '1' : '0');
		assert_int_equal(*get(ENTER), i == 1 ? '1' : '0');
		assert_int_equal(*get(EXIT), i == 2 ? '1' : '0');
	}
	hyptrace_reader_close(reader);
}

static void closing_restores(void **state)
{
	const uint16_t ids[] = { 2, 5 };
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);

	(void)state;
	/* tracing is not held, so nothing is dropped */
	assert_int_equal(hyptrace_reader_hold(reader, ids, 2, false, &err), 0);
	files_are("0\n", "1", "1", "0\n");
	hyptrace_reader_close(reader);
	files_are("0\n", "1", "1", "0\n");
	hyptrace_close(h);
	h = NULL;
	files_are("0\n", "0", "0", "0\n");
	assert_string_equal(get("trace"), "old");
	/* a buffer that was not loaded before is not loaded after */
	open_with(NULL);
	reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	h = NULL;
	files_are("0", "0", "0", "0\n");
	assert_string_equal(get("trace"), "0");
	/* it was loaded */
	put("trace", "old");
	put("buffer_size_kb", "7 (loaded)\n");
	open_with(NULL);
	reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	h = NULL;
	assert_string_equal(get("trace"), "old");
}

/* Without the process that restores, hyptrace does it. */
static void the_guard_is_killed(void **state)
{
	const uint16_t ids[] = { 2 };
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	const struct tracefs *t = h->backend_arg;

	(void)state;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	files_are("1", "1", "0\n", "0\n");
	assert_true(t->guard_pid > 0);
	kill(t->guard_pid, SIGKILL);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	files_are("0", "0", "0\n", "0\n");
	hyptrace_reader_close(reader);
}

/* If nobody is told that the guard has ended, hyptrace restores, too. */
static void children_without_a_status(void **state)
{
	const uint16_t ids[] = { 2 };
	siginfo_t info;
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
	const struct tracefs *t = h->backend_arg;

	(void)state;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	signal(SIGCHLD, SIG_IGN);
	kill(t->guard_pid, SIGKILL);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	signal(SIGCHLD, SIG_DFL);
	assert_string_equal(get("tracing_on"), "0");
	assert_string_equal(get(ENTER), "0");
	/* a guard that has ended before sends no signal */
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	kill(t->guard_pid, SIGKILL);
	assert_int_equal(waitid(P_PID, t->guard_pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_string_equal(get("tracing_on"), "0");
	assert_string_equal(get(ENTER), "0");
	hyptrace_reader_close(reader);
}

/* All is restored by the guard if hyptrace is killed. */
static void hyptrace_is_killed(void **state)
{
	const uint16_t ids[] = { 2 };
	struct hyptrace_reader *reader;
	pid_t pid = fork();
	int tries;

	(void)state;
	if (!pid) {
		reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
		if (hyptrace_reader_hold(reader, ids, 1, true, &err) || *get(ENTER) != '1')
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &tries, 0);
	assert_true(WIFSIGNALED(tries));
	for (tries = 0; tries < 80; tries++) {
		if (!strcmp(get(ENTER), "0") && !strcmp(get("tracing_on"), "0") &&
		    !strcmp(get("trace"), "0"))
			break;
		usleep(100000);
	}
	files_are("0", "0", "0\n", "0\n");
	assert_string_equal(get("trace"), "0");
}

static void what_cannot_be_held(void **state)
{
	const uint16_t ids[] = { 2, 5 };
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);

	(void)state;
	unlink(path_of(EXIT));
	assert_int_equal(hyptrace_reader_hold(reader, ids, 2, true, &err), -ENOENT);
	assert_string_equal(err.text, "the kernel cannot enable hyp_exit: No such file or directory");
	put(EXIT, "0\n");
	/* the events come before tracing */
	files_are("0", "0", "0\n", "0\n");
	unlink(path_of("tracing_on"));
	assert_int_equal(hyptrace_reader_hold(reader, ids, 2, true, &err), -ENOENT);
	assert_string_equal(err.text, "the kernel cannot enable tracing: No such file or directory");
	put("tracing_on", "0\n");
	files_are("0\n", "0", "0", "0\n");
	hyptrace_reader_close(reader);
	/* there is no pipe */
	assert_null(hyptrace_reader_open_on(h, NULL, 3, 0, &err));
	assert_int_equal(err.errnum, ENXIO);
	assert_non_null(strstr(err.text, "/per_cpu/cpu3/trace_pipe: No such file or directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_switched, setup, teardown),
		cmocka_unit_test_setup_teardown(what_it_cannot_do, setup, teardown),
		cmocka_unit_test_setup_teardown(tracing_and_size, setup, teardown),
		cmocka_unit_test_setup_teardown(readers_hold_events, setup, teardown),
		cmocka_unit_test_setup_teardown(events_held_in_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(closing_restores, setup, teardown),
		cmocka_unit_test_setup_teardown(the_guard_is_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(children_without_a_status, setup, teardown),
		cmocka_unit_test_setup_teardown(hyptrace_is_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_held, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
