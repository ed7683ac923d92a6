// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remotes with a wrong description, from the module hyptrace_bad: the driver refuses each, and says
 * why.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "control.h"
#include "kmsg.h"
#include "module.h"

#define PATIENCE_S	300

FIXTURE(registration) {
	struct nl nl;
	int kmsg;
};

FIXTURE_SETUP(registration)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	self->kmsg = log_open();
	ASSERT_LE(0, self->kmsg);
}

FIXTURE_TEARDOWN(registration)
{
	EXPECT_EQ(0, module_unload("hyptrace_bad"));
	close(self->kmsg);
	nl_close(&self->nl);
}

static int load(const char *what)
{
	char parameter[160];

	snprintf(parameter, sizeof(parameter), "what=%s", what);
	return module_reload("hyptrace_bad", parameter);
}

TEST_F_TIMEOUT(registration, wrong_descriptions_are_refused, PATIENCE_S)
{
	static const struct { const char *what, *why; } cases[] = {
		{ "no_name", "a remote needs a name of 1 to" },
		{ "name=", "a remote needs a name of 1 to" },
		{ "name=Bad", "a remote needs a name of 1 to" },
		{ "name=b/d", "a remote needs a name of 1 to" },
		{ "name=test", "a remote \"test\" is already registered" },
		{ "ops", "remote \"bad\" lacks a required callback" },
		{ "load_trace_buffer", "remote \"bad\" lacks a required callback" },
		{ "unload_trace_buffer", "remote \"bad\" lacks a required callback" },
		{ "enable_tracing", "remote \"bad\" lacks a required callback" },
		{ "swap_reader_page", "remote \"bad\" lacks a required callback" },
		{ "sync", "remote \"bad\" lacks a required callback" },
		{ "reset", "remote \"bad\" lacks a required callback" },
		{ "enable_event", "remote \"bad\" lacks a required callback" },
		{ "prepare_resize", "lacks one of the callbacks for resizing" },
		{ "exchange_ring", "lacks one of the callbacks for resizing" },
		{ "finish_resize", "lacks one of the callbacks for resizing" },
		{ "set_filter", "lacks one of the callbacks for triggers" },
		{ "pause", "lacks one of the callbacks for triggers" },
		{ "arm", "lacks one of the callbacks for triggers" },
		{ "get_fired", "lacks one of the callbacks for triggers" },
		{ "has_ended", "lacks one of the callbacks for triggers" },
		{ "nr_events", "remote \"bad\" has 64 events, at most 63 are possible" },
		{ "init", "remote \"bad\" failed to initialize (error 5)" },
		{ "no_events", "event 0 has no description" },
		{ "no_function", "event 1 has no description" },
		{ "no_event", "event 1 has no description" },
		{ "no_event_name", "the name of event 1 is not an identifier" },
		{ "event=", "the name of event 1 is not an identifier" },
		{ "event=1st", "the name of event 1 is not an identifier" },
		{ "event=a-b", "the name of event 1 is not an identifier" },
		{ "event=abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_0123456789",
		  "the name of event 1 is not an identifier" },
		{ "id_large", "event \"first\" has id 64, not 0 to 63" },
		{ "id_twice", "event \"second\" has the id 1 of another event" },
		{ "name_twice", "two events have the name \"first\"" },
		{ "size_small", "the payload of event \"first\" has 1 bytes, not 2 to" },
		{ "size_large", "the payload of event \"first\" has" },
		{ "print_fmt", "event \"first\" lacks a print format, or has a bad field" },
		{ "fields", "event \"second\" lacks a print format, or has a bad field" },
		{ "field=", "event \"second\" lacks a print format, or has a bad field" },
		{ "field=a.b", "event \"second\" lacks a print format, or has a bad field" },
		{ "field_type", "event \"second\" lacks a print format, or has a bad field" },
		{ "field_offset", "event \"second\" lacks a print format, or has a bad field" },
		{ "field_size", "event \"second\" lacks a print format, or has a bad field" },
		{ "field_end", "event \"second\" lacks a print format, or has a bad field" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_NE(0, load(cases[i].what)) TH_LOG("%s", cases[i].what);
		EXPECT_TRUE(log_gets(self->kmsg, cases[i].why)) TH_LOG("%s", cases[i].what);
	}
}

TEST_F(registration, what_is_just_right_is_not_refused)
{
	static const char *const whats[] = { "", "size_largest", "name=a", "field=_", "event=e1" };
	unsigned int i;

	for (i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		ASSERT_EQ(0, load(whats[i])) TH_LOG("%s", whats[i]);
		EXPECT_FALSE(log_has(self->kmsg, "hyptrace:"));
	}
}

/* A remote whose name is taken does not register, and leaves nothing behind. */
TEST_F(registration, names_that_are_taken_keep_a_module_out)
{
	static const struct { const char *module, *remote; } taken[] = {
		{ "hyptrace_test", "test" },
		{ "hyptrace_pkvm", "hypervisor" },
		{ "hyptrace_kernel", "kernel" },
	};
	unsigned int i, nr = 0;
	bool was_loaded;
	char what[32];
	int err;

	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		err = module_load(taken[i].module, "");
		was_loaded = err == -EEXIST;
		/* This kernel has no such module, or nothing for it to trace. */
		if (err && !was_loaded)
			continue;
		nr++;
		snprintf(what, sizeof(what), "name=%s", taken[i].remote);
		ASSERT_EQ(0, module_unload(taken[i].module));
		ASSERT_EQ(0, load(what));
		EXPECT_EQ(-EBUSY, module_load(taken[i].module, "")) TH_LOG("%s", what);
		ASSERT_EQ(0, module_unload("hyptrace_bad"));
		ASSERT_EQ(0, module_load(taken[i].module, ""));
		EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, taken[i].remote));
		EXPECT_EQ(0, control_fresh(&self->nl, taken[i].remote));
		if (!was_loaded)
			EXPECT_EQ(0, module_unload(taken[i].module));
	}
	EXPECT_LT(0, nr);
}

TEST_HARNESS_MAIN
