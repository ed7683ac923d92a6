// SPDX-License-Identifier: GPL-2.0-only
/* What a tracer in tracefs has: the remote, its CPUs, events, names; and what cannot be opened. */
#include "tracefs_folder.h"

#include <sys/resource.h>
#include <sys/utsname.h>

#include "fail_alloc.h"

/* The release of the kernel that the library sees; NULL: uname() fails. The linker redirects it. */
static const char *release = "";

int __wrap_uname(struct utsname *name);
int __wrap_uname(struct utsname *name)
{
	if (!release)
		return -1;
	strcpy(name->release, release);
	return 0;
}

static struct hyptrace_remote *remote(void)
{
	struct hyptrace_remote **remotes, *found;
	unsigned int nr;

	assert_int_equal(hyptrace_get_remotes(h, &remotes, &nr, &err), 0);
	assert_int_equal(nr, 1);
	hyptrace_free_remotes(remotes);
	assert_int_equal(hyptrace_get_remote(h, NULL, &found, &err), 0);
	return found;
}

static void remote_is(uint32_t state, uint64_t requested, uint64_t allocated)
{
	struct hyptrace_remote *r = remote();

	assert_int_equal(r->state, state);
	assert_int_equal(r->size_requested, requested);
	assert_int_equal(r->size_allocated, allocated);
	hyptrace_free_remote(r);
}

static void the_remote(void **state)
{
	char expected[256];
	struct hyptrace_remote *r = remote();

	(void)state;
	snprintf(expected, sizeof(expected), "tracefs__tmp_ht_%s",
		 strrchr(folder, '.') + 1);
	assert_string_equal(r->name, expected);
	snprintf(expected, sizeof(expected), "the kernel's own tracer in %s", folder);
	assert_string_equal(r->description, expected);
	assert_string_equal(r->clock, "boot");
	assert_int_equal(r->subbuf_size, getpagesize());
	assert_int_equal(r->nr_cpus, 3);
	assert_int_equal(r->nr_events, 3);
	hyptrace_free_remote(r);
	remote_is(HYPTRACE_STATE_UNLOADED, 7 << 10, 0);
	put("buffer_size_kb", "1024 (loaded)\n");
	remote_is(HYPTRACE_STATE_LOADED, 1 << 20, 1 << 20);
	put("tracing_on", "1\n");
	remote_is(HYPTRACE_STATE_TRACING, 1 << 20, 1 << 20);
	put("tracing_on", "");
	remote_is(HYPTRACE_STATE_LOADED, 1 << 20, 1 << 20);
	/* a file of the kernel has no more than it takes */
	put("tracing_on", "123456\n");
	remote_is(HYPTRACE_STATE_LOADED, 1 << 20, 1 << 20);
	put("tracing_on", "12345\n");
	remote_is(HYPTRACE_STATE_TRACING, 1 << 20, 1 << 20);
	unlink(path_of("buffer_size_kb"));
	remote_is(HYPTRACE_STATE_TRACING, 0, 0);
}

static void the_cpus(void **state)
{
	static const unsigned int ids[] = { 0, 1, 3 };
	struct hyptrace_cpu **cpus, *cpu;
	struct hyptrace_remote *r;
	unsigned int nr, i;

	(void)state;
	put("buffer_size_kb", "64 (loaded)\n");
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, 3);
	for (i = 0; i < nr; i++) {
		assert_int_equal(strncmp(cpus[i]->remote, "tracefs_", 8), 0);
		assert_int_equal(cpus[i]->id, ids[i]);
		assert_int_equal(cpus[i]->state, HYPTRACE_CPU_STATE_ATTACHED);
		assert_int_equal(cpus[i]->online, true);
		assert_int_equal(cpus[i]->nr_subbufs, 65536 / getpagesize() + 1);
		assert_int_equal(cpus[i]->written, 0);
		assert_int_equal(cpus[i]->consumer, 0);
	}
	hyptrace_free_cpus(cpus);
	put("buffer_size_kb", "64 (unloaded)\n");
	assert_int_equal(hyptrace_get_cpu(h, NULL, 3, &cpu, &err), 0);
	assert_int_equal(cpu->id, 3);
	assert_int_equal(cpu->state, HYPTRACE_CPU_STATE_DETACHED);
	hyptrace_free_cpu(cpu);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 2, &cpu, &err), -ENXIO);
	assert_string_equal(err.text, "no such CPU");
	/* CPUs up to 1023 are looked for */
	new_folder("per_cpu/cpu1023");
	new_folder("per_cpu/cpu1024");
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, 4);
	assert_int_equal(cpus[3]->id, 1023);
	hyptrace_free_cpus(cpus);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 1024, &cpu, &err), -ENXIO);
	r = remote();
	assert_int_equal(r->nr_cpus, 4);
	hyptrace_free_remote(r);
}

static void field_is(const struct hyptrace_field *field, const char *name, const char *type,
		     unsigned int offset, unsigned int size, bool is_signed, unsigned int symbols)
{
	assert_string_equal(field->name, name);
	assert_string_equal(field->type, type);
	assert_int_equal(field->offset, offset);
	assert_int_equal(field->size, size);
	assert_int_equal(field->is_signed, is_signed);
	assert_int_equal(field->nr_symbols, symbols);
}

static void the_events(void **state)
{
	struct hyptrace_event **events, *found;
	unsigned int nr;

	(void)state;
	put(EXIT, "1\n");
	assert_int_equal(hyptrace_get_events(h, NULL, &events, &nr, &err), 0);
	assert_int_equal(nr, 3);
	/* by name */
	assert_string_equal(events[0]->name, "host_hcall");
	assert_string_equal(events[1]->name, "hyp_enter");
	assert_string_equal(events[2]->name, "hyp_exit");
	assert_int_equal(strncmp(events[0]->remote, "tracefs_", 8), 0);
	assert_int_equal(events[0]->id, 4);
	assert_int_equal(events[0]->size, 9);
	assert_false(events[0]->enabled);
	assert_true(events[2]->enabled);
	assert_int_equal(events[0]->nr_fields, 2);
	field_is(events[0]->fields[0], "id", "unsigned int", 4, 4, false, 0);
	field_is(events[0]->fields[1], "invalid", "u8", 8, 1, false, 0);
	assert_string_equal(events[0]->print_fmt,
			    "\"id=%llu invalid=%llu\", REC->id, REC->invalid");
	field_is(events[1]->fields[0], "reason", "u8", 2, 1, false, 9);
	field_is(events[1]->fields[1], "vcpu", "pid_t", 4, 4, true, 0);
	assert_string_equal(events[1]->fields[0]->symbols[3]->name, "psci");
	assert_int_equal(events[1]->fields[0]->symbols[3]->value, 3);
	/* without a reason, it gets one */
	field_is(events[2]->fields[0], "reason", "u8", 2, 1, false, 9);
	hyptrace_free_events(events);
	assert_int_equal(hyptrace_get_event(h, NULL, "hyp_enter", &found, &err), 0);
	assert_string_equal(found->name, "hyp_enter");
	hyptrace_free_event(found);
	assert_int_equal(hyptrace_get_event(h, NULL, "hyp_ente", &found, &err), -ENOENT);
	assert_string_equal(err.text, "no such event");
}

/* An event whose text does not tell its fields has that text. */
static void an_event_with_a_text(void **state)
{
	struct hyptrace_event *found;

	(void)state;
	event("hypervisor", "printk", 6, "\tfield:int id;\toffset:2;\tsize:4;\tsigned:1;",
	      "Unknown");
	open_with(NULL);
	assert_int_equal(hyptrace_get_event(h, NULL, "printk", &found, &err), 0);
	assert_int_equal(found->size, 2 + 96);
	assert_int_equal(found->nr_fields, 1);
	field_is(found->fields[0], "text", "char[96]", 2, 96, false, 0);
	assert_string_equal(found->print_fmt, "\"%s\", REC->text");
	hyptrace_free_event(found);
}

static unsigned int nr_events(void)
{
	struct hyptrace_remote *r;
	unsigned int nr;

	open_with(NULL);
	r = remote();
	nr = r->nr_events;
	hyptrace_free_remote(r);
	return nr;
}

static void other_events(void **state)
{
	static char big[20000];
	char name[128];

	(void)state;
	/* of other systems, too, but not what is hidden, or makes no sense */
	new_folder("events/other");
	event("other", "one", 9, "", "\"\"");
	assert_int_equal(nr_events(), 4);
	event("other", ".two", 10, "", "\"\"");
	new_folder("events/other/three");
	put("events/other/enable", "0");
	new_folder("events/other/four");
	put("events/other/four/format", "ID: 3\n");
	assert_int_equal(nr_events(), 4);
	memset(name, 'x', sizeof(name));
	name[HYPTRACE_EVENT_NAME_MAX] = 0;
	event("other", name, 11, "", "\"\"");
	assert_int_equal(nr_events(), 5);
	name[HYPTRACE_EVENT_NAME_MAX] = 'x';
	name[HYPTRACE_EVENT_NAME_MAX + 1] = 0;
	event("other", name, 12, "", "\"\"");
	assert_int_equal(nr_events(), 5);
	/* a format that is too large */
	new_folder("events/other/five");
	memset(big, '#', sizeof(big));
	memcpy(big, "ID: 7\nprint fmt: \"\"\n", 20);
	big[(16 << 10) - 1] = 0;
	put("events/other/five/format", big);
	assert_int_equal(nr_events(), 5);
	big[(16 << 10) - 2] = 0;
	put("events/other/five/format", big);
	assert_int_equal(nr_events(), 6);
}

/* At most 256 events are found. */
static void many_events(void **state)
{
	char name[16];
	unsigned int i;

	(void)state;
	new_folder("events/other");
	for (i = 4; i <= 257; i++) {
		snprintf(name, sizeof(name), "event%u", i);
		event("other", name, i, "", "\"\"");
		if (i >= 256)
			assert_int_equal(nr_events(), 256);
	}
}

/* Is a field seen that only raw records have? */
static bool is_raw(void)
{
	struct hyptrace_event *found;
	bool is_seen;

	open_with(NULL);
	assert_int_equal(hyptrace_get_event(h, NULL, "printk", &found, &err), 0);
	is_seen = !strcmp(found->fields[0]->name, "fmt_id");
	hyptrace_free_event(found);
	return is_seen;
}

/* Raw records are read from 6.18 on. */
static void kernels_with_raw_pipes(void **state)
{
	static const char *const new[] = { "6.18.0-rc1+", "6.19", "7.0.0", "10.1.2" };
	static const char *const old[] = { "5.18.0", "6.17.9", "6", "x", NULL };
	unsigned int i;

	(void)state;
	event("hypervisor", "printk", 6, "\tfield:u8 fmt_id;\toffset:2;\tsize:1;\tsigned:0;",
	      "Unknown");
	release = "6.18.0";
	assert_false(is_raw());
	put("per_cpu/cpu0/trace_pipe_raw", "");
	for (i = 0; i < sizeof(new) / sizeof(*new); i++) {
		release = new[i];
		assert_true(is_raw());
	}
	for (i = 0; i < sizeof(old) / sizeof(*old); i++) {
		release = old[i];
		assert_false(is_raw());
	}
}

static void refused(const char *path, const char *names, int errnum, const char *said)
{
	struct hyptrace *other = hyptrace_open_tracefs(path, names, &err);

	assert_null(other);
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

static void what_is_no_tracer(void **state)
{
	char path[300], away[300];

	(void)state;
	snprintf(away, sizeof(away), "%s/away", folder);
	refused("/nonexistent", NULL, ENOENT, "cannot open /nonexistent: No such file or directory");
	assert_null(strstr(err.text, "mounted"));
	snprintf(path, sizeof(path), "%s/trace", folder);
	refused(path, NULL, ENOTDIR, ": Not a directory");
	/* of a user that may not look there, it is not known */
	assert_null(hyptrace_open_tracefs("hypervisor-of-nobody", NULL, &err));
	assert_true(err.errnum == ENOENT || err.errnum == EACCES);
	assert_non_null(strstr(err.text, "cannot open /sys/kernel/tracing/hypervisor-of-nobody: "));
	assert_int_equal(rename(path_of("events"), away), 0);
	refused(folder, NULL, ENOENT, "/events has no events");
	assert_int_equal(rename(away, path_of("events")), 0);
	unlink(path_of("tracing_on"));
	refused(folder, NULL, ENOENT, "is no tracer that can be used: No such file or directory");
	put("tracing_on", "0");
	assert_int_equal(rename(path_of("per_cpu"), away), 0);
	refused(folder, NULL, ENOENT, "is no tracer that can be used: No such file or directory");
	assert_int_equal(rename(away, path_of("per_cpu")), 0);
	/* the reason is not needed */
	assert_null(hyptrace_open_tracefs("/nonexistent", NULL, NULL));
}

static void the_names(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
	} bad[] = {
		{ "x y\n", 1 }, { "# remark\n\n1 a\n2\n", 4 }, { "1 a b\n", 1 }, { "1 a-b\n", 1 },
		{ "65536 a\n", 1 }, { "4294967295 a\n", 1 }, { "0 a\n 1 b\n2\40\n", 3 },
		{ "1 x123456789012345678901234567890123456789012345678901234567890123\n", 1 },
	};
	char names[300], said[300];
	struct hyptrace_event *found;
	struct hyptrace_field *id;
	unsigned int i;

	(void)state;
	snprintf(names, sizeof(names), "%s/names", folder);
	refused(folder, names, ENOENT, "cannot read the names of hypercalls in \"");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put("names", bad[i].text);
		snprintf(said, sizeof(said), "names\", line %u: not a number and the name",
			 bad[i].line);
		refused(folder, names, EINVAL, said);
	}
	put("names", "# of a kernel\n3 three\n\n0 zero\n3 again\n65535 last\n");
	open_with(names);
	assert_int_equal(hyptrace_get_event(h, NULL, "host_hcall", &found, &err), 0);
	id = found->fields[0];
	assert_int_equal(id->nr_symbols, 3);
	assert_string_equal(id->symbols[0]->name, "zero");
	assert_int_equal(id->symbols[0]->value, 0);
	assert_string_equal(id->symbols[1]->name, "again");
	assert_int_equal(id->symbols[1]->value, 3);
	assert_string_equal(id->symbols[2]->name, "last");
	assert_int_equal(id->symbols[2]->value, 65535);
	assert_int_equal(found->fields[1]->nr_symbols, 0);
	assert_non_null(strstr(found->print_fmt, "(REC->id, { 0, \"zero\" }, { 3, \"again\" }, "
			       "{ 65535, \"last\" })"));
	hyptrace_free_event(found);
}

static void long_paths(void **state)
{
	char path[600] = "";
	struct hyptrace_remote *r;
	unsigned int len;

	(void)state;
	while (strlen(path) < 100)
		strcat(path, "/tmp/..");
	strcat(path, folder);
	hyptrace_close(h);
	h = hyptrace_open_tracefs(path, NULL, &err);
	assert_non_null(h);
	r = remote();
	/* the name has the end of it */
	assert_int_equal(strlen(r->name), HYPTRACE_REMOTE_NAME_MAX);
	assert_int_equal(strncmp(r->name, "tracefs_", 8), 0);
	assert_string_equal(strrchr(r->name, '_') + 1, strrchr(folder, '.') + 1);
	hyptrace_free_remote(r);
	/* a path of 23 characters has room */
	for (len = 22; len <= 24; len++) {
		hyptrace_close(h);
		snprintf(path, sizeof(path), "%.*s%s", (int)(len - strlen(folder)), "//////////",
			 folder);
		h = hyptrace_open_tracefs(path, NULL, &err);
		assert_non_null(h);
		r = remote();
		assert_int_equal(strlen(r->name), MIN(len, 23U) + 8);
		assert_int_equal(strncmp(r->name, "tracefs__", 9), 0);
		assert_string_equal(strrchr(r->name, '_') + 1, strrchr(folder, '.') + 1);
		hyptrace_free_remote(r);
	}
}

static void no_memory(void **state)
{
	char names[300];
	struct hyptrace_remote **remotes, *found;
	struct hyptrace_event **events;
	struct hyptrace_cpu **cpus;
	unsigned int nth, nr, harmless = 0;
	bool failed = true;
	int ret;

	(void)state;
	put("names", "3 three\n");
	snprintf(names, sizeof(names), "%s/names", folder);
	hyptrace_close(h);
	for (nth = 1; failed; nth++) {
		memset(&err, 0, sizeof(err));
		fail_alloc(nth);
		h = hyptrace_open_tracefs(folder, names, &err);
		failed = fail_alloc_end();
		if (h && failed) {
			/* the name of a hypercall is missing, or closing its file has failed */
			harmless++;
			found = remote();
			assert_int_equal(found->nr_events, 3);
			hyptrace_free_remote(found);
			hyptrace_close(h);
			continue;
		}
		assert_int_equal(failed, !h);
		assert_int_equal(err.errnum, failed ? ENOMEM : 0);
	}
	assert_true(nth > 8);
	assert_int_equal(harmless, 2);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_get_remotes(h, &remotes, &nr, &err);
		if (!ret)
			hyptrace_free_remotes(remotes);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 10);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_get_events(h, NULL, &events, &nr, &err);
		if (!ret)
			hyptrace_free_events(events);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 40);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_get_cpus(h, NULL, &cpus, &nr, &err);
		if (!ret)
			hyptrace_free_cpus(cpus);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 30);
}

/* A reader needs three descriptors. */
static void no_descriptors(void **state)
{
	const int lowest = dup(0);
	struct rlimit all, few;
	char names[300];
	unsigned int nr;

	(void)state;
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (nr = 0; nr < 3; nr++) {
		few = (struct rlimit){ .rlim_cur = lowest + nr, .rlim_max = all.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_null(hyptrace_reader_open_on(h, NULL, 0, 0, &err));
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_int_equal(err.errnum, EMFILE);
		assert_non_null(strstr(err.text, nr ? "cannot make a pipe: " : "cannot open "));
	}
	/* none is left of a connection that is closed; a file is no folder of events */
	put("names", "3 three\n");
	put("events/enable", "0\n");
	strcpy(names, path_of("names"));
	open_with(names);
	open_with(NULL);
	assert_int_equal(dup(0), lowest);
	close(lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_remote, setup, teardown),
		cmocka_unit_test_setup_teardown(the_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(the_events, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_with_a_text, setup, teardown),
		cmocka_unit_test_setup_teardown(other_events, setup, teardown),
		cmocka_unit_test_setup_teardown(many_events, setup, teardown),
		cmocka_unit_test_setup_teardown(kernels_with_raw_pipes, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_tracer, setup, teardown),
		cmocka_unit_test_setup_teardown(the_names, setup, teardown),
		cmocka_unit_test_setup_teardown(long_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(no_descriptors, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
