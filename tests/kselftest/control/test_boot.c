// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that is described in words, as the kernel's command line does: the module hyptrace_faulty
 * gives them to the driver, and says which terms of a filter it has got.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "control.h"
#include "filter.h"
#include "kmsg.h"
#include "module.h"
#include "page.h"
#include "parameter.h"

#define REMOTE		"faulty"
#define PATIENCE_S	300
#define IGNORED(word, why)	"\"" word "\" in the words of the boot is ignored: " why
#define MISSING(word)		IGNORED(word, "it is not in this kernel")
#define PARAMETERS	"/sys/module/hyptrace_faulty/parameters/"

FIXTURE(boot) {
	struct nl nl;
	int kmsg;
};

FIXTURE_SETUP(boot)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	self->kmsg = log_open();
	ASSERT_LE(0, self->kmsg);
}

FIXTURE_TEARDOWN(boot)
{
	EXPECT_EQ(0, module_unload("hyptrace_faulty"));
	close(self->kmsg);
	nl_close(&self->nl);
}

/* Register the remote with these words, and with these parameters of the module. */
static int boot_with(const char *words, const char *parameters)
{
	char all[1024];

	snprintf(all, sizeof(all), "trace=\"%s\" %s", words, parameters);
	return module_reload("hyptrace_faulty", all);
}

static int boot(const char *words)
{
	return boot_with(words, "");
}

/* The terms that the remote has got, or an empty string */
static const char *terms(void)
{
	static char text[PARAMETER_SIZE];

	return read_parameter(PARAMETERS "filter", text);
}

TEST_F_TIMEOUT(boot, filters_mean_what_they_say, PATIENCE_S)
{
	static const struct { const char *event, *filter, *terms; } cases[] = {
		{ "hyp_enter", "reason==1", "1 0 1 255 254" },
		{ "hyp_enter", "vcpu==-1", "-4 0 -1 255 254" },
		{ "host_hcall", "ret!=0", "-8 1 0 255 254" },
		{ "host_hcall", "ret<-5", "-8 2 -5 255 254" },
		{ "host_hcall", "ret <= -EINVAL", "-8 3 -22 255 254" },
		{ "host_hcall", "ret==-ENOTSUP", "-8 0 -95 255 254" },
		{ "host_hcall", "ret==-EHWPOISON", "-8 0 -133 255 254" },
		{ "host_hcall", "ret==-0x10", "-8 0 -16 255 254" },
		{ "host_hcall", "ret==- 9223372036854775808", "-8 0 -9223372036854775808 255 254" },
		{ "host_hcall", "ret&0xffffffffffffffff", "-8 6 -1 255 254" },
		{ "host_hcall", "duration>18446744073709551615", "8 4 -1 255 254" },
		{ "host_hcall", "duration>=0XfF", "8 5 255 255 254" },
		{ "host_hcall", "duration>10us", "8 4 10000 255 254" },
		{ "host_hcall", "duration>10 us", "8 4 10000 255 254" },
		{ "host_hcall", "duration>1.5ms", "8 4 1500000 255 254" },
		{ "host_hcall", "duration>0.123456789123s", "8 4 123456789 255 254" },
		{ "host_hcall", "duration>7ns", "8 4 7 255 254" },
		{ "host_hcall", "duration>18446744072s", "8 4 -1709551616 255 254" },
		{ "host_hcall", "duration==-0", "8 0 0 255 254" },
		{ "hyp_enter", "reason==guest_exit", "1 0 5 255 254" },
		{ "hyp_enter", "reason==1&&vcpu==2", "1 0 1 1 254, -4 0 2 255 254" },
		{ "hyp_enter", "reason==1||vcpu==2", "1 0 1 255 1, -4 0 2 255 254" },
		{ "hyp_enter", " ( reason == 1 || vcpu == 2 ) && vcpu != 3 ",
		  "1 0 1 2 1, -4 0 2 2 254, -4 1 3 255 254" },
		{ "hyp_enter", "reason==1&&vcpu==2||reason==3&&vcpu==4",
		  "1 0 1 1 2, -4 0 2 255 2, 1 0 3 3 254, -4 0 4 255 254" },
		{ "hyp_enter", "reason==1&&(vcpu==2||(reason==3&&vcpu==4)||vcpu==5)",
		  "1 0 1 1 254, -4 0 2 255 2, 1 0 3 3 4, -4 0 4 255 4, -4 0 5 255 254" },
		{ "hyp_enter", "((((((((((((((((reason==1))))))))))))))))", "1 0 1 255 254" },
		{ "hyp_enter",
		  "vcpu==1||vcpu==2||vcpu==3||vcpu==4||vcpu==5||vcpu==6||vcpu==7||vcpu==8",
		  "-4 0 1 255 1, -4 0 2 255 2, -4 0 3 255 3, -4 0 4 255 4, -4 0 5 255 5, -4 0 6 255 6, -4 0 7 255 7, -4 0 8 255 254",
		},
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char words[512];

		snprintf(words, sizeof(words), "%s:filter=%s", cases[i].event, cases[i].filter);
		ASSERT_EQ(0, boot(words));
		EXPECT_STREQ(cases[i].terms, terms()) TH_LOG("%s", cases[i].filter);
		EXPECT_STREQ(cases[i].filter, filter_text(&self->nl, REMOTE, cases[i].event));
		EXPECT_FALSE(log_has(self->kmsg, "words of the")) TH_LOG("%s", cases[i].filter);
	}
}

TEST_F_TIMEOUT(boot, filters_that_are_wrong_are_ignored_with_a_reason, PATIENCE_S)
{
	static const struct { const char *filter, *at, *why; } cases[] = {
		{ "", "filter=", "a filter is missing" },
		{ "1==1", "1==1", "a comparison begins with a field" },
		{ "reason", "reason", "an operator is missing" },
		{ "reason = 1", "= 1", "an operator is missing" },
		{ "reason && vcpu==1", "&& vcpu==1", "an operator is missing" },
		{ "reason==", "", "a value is missing" },
		{ "reason==()", "()", "a value is missing" },
		{ "reason==nonsense", "nonsense", "the field has no value of this name" },
		{ "reason==gues", "gues", "the field has no value of this name" },
		{ "reason==-1", "-1", "the field has no such value" },
		{ "vcpu==9223372036854775808", "9223372036854775808",
		  "the field has no such value" },
		{ "vcpu==-9223372036854775809", "-9223372036854775809",
		  "the field has no such value" },
		{ "vcpu==18446744073709551616", "18446744073709551616",
		  "this is no number of 64 bits" },
		{ "vcpu==123456789012345678901", "123456789012345678901",
		  "this is no number of 64 bits" },
		{ "vcpu==0x", "0x", "this is no number of 64 bits" },
		{ "vcpu==0xg", "0xg", "this is no number of 64 bits" },
		{ "vcpu==-ENONSENSE", "ENONSENSE", "this is no errno: use its number" },
		{ "vcpu==1us", "1us", "only the field duration takes a unit of time" },
		{ "vcpu==1.5", "1.5", "only a time with a unit can have a fraction" },
		{ "vcpu==1 vcpu==2", "vcpu==2", "&& or || is missing before this" },
		{ "(vcpu==1", "", "a parenthesis is not closed before this" },
		{ "(vcpu==1 vcpu==2)", "vcpu==2)", "a parenthesis is not closed before this" },
		{ "vcpu==1)", ")", "&& or || is missing before this" },
		{ "(((((((((((((((((vcpu==1)))))))))))))))))", "vcpu==1)))))))))))))))))",
		  "there are too many parentheses" },
		{ "vcpu==1||vcpu==2||vcpu==3||vcpu==4||vcpu==5||vcpu==6||vcpu==7||vcpu==8||vcpu==9",
		  "vcpu==9", "a filter has at most 8 comparisons" },
		{ "vcpu==1||vcpu==2||vcpu==3||vcpu==4||vcpu==5||vcpu==6||vcpu==7||vcpu==8||none==9",
		  "none==9", "a filter has at most 8 comparisons" },
		{ "nonsense==1", "nonsense==1", "no event of the list has this field" },
		{ "vcp==1", "vcp==1", "no event of the list has this field" },
		{ "vcpus==1", "vcpus==1", "no event of the list has this field" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *filter = cases[i].filter, *at = cases[i].at;
		char words[512], want[256];

		snprintf(words, sizeof(words), "hyp_enter:filter=%s", filter);
		ASSERT_EQ(0, boot(words));
		snprintf(want, sizeof(want), "\"%s\" in the words of the boot is ignored: %s",
			 *at ? at : filter, cases[i].why);
		EXPECT_TRUE(log_gets(self->kmsg, want)) TH_LOG("%s: %s", filter, want);
		EXPECT_STREQ("", terms()) TH_LOG("%s", cases[i].filter);
		EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	}
}

/* A word that is wrong is named, and the rest is done. */
TEST_F_TIMEOUT(boot, words_that_are_wrong_are_named, PATIENCE_S)
{
	static const struct { const char *words, *word, *why; } cases[] = {
		{ "hyp_enter:size=", "size=", "a size is a number" },
		{ "hyp_enter:size=0", "size=0", "a size is a number" },
		{ "hyp_enter:size=1Kb", "size=1Kb", "a size is a number" },
		{ "hyp_enter:size", "size", "there is no such option" },
		{ "hyp_enter:sizes=1K", "sizes=1K", "there is no such option" },
		{ "hyp_enter:size=64K:size=1M", "size=1M", "it was given before" },
		{ "hyp_enter:mode=ring", "mode=ring", "a mode is overwrite or discard" },
		{ "hyp_enter:mode=", "mode=", "a mode is overwrite or discard" },
		{ "hyp_enter:stop=nonsense", "stop=nonsense", "there is no such event" },
		{ "hyp_enter:stop=hyp_exit:after=x", "after=x",
		  "it takes a number of sub-buffers" },
		{ "hyp_enter:stop=hyp_exit:after=4294967296", "after=4294967296",
		  "it takes a number of sub-buffers" },
		{ "hyp_enter:stop=hyp_exit:after=-1", "after=-1",
		  "it takes a number of sub-buffers" },
		{ "hyp_enter:after=3", "after", "it needs stop=EVENT" },
		{ "hyp_enter,nonsense", "nonsense", "there is no such event" },
		{ "hyp_enter,hyp_ex", "hyp_ex", "there is no such event" },
		{ "hyp_enter,host_hcall:filter=duration>18446744073s", "18446744073s",
		  "the time in nanoseconds exceeds 64 bits" },
		/* the field of only one of them has values with names */
		{ "hyp_enter,selftest,host_smc:filter=id==SMCCC_VERSION", "SMCCC_VERSION",
		  "the field has no value of this name" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct info info;
		char want[256];

		ASSERT_EQ(0, boot(cases[i].words));
		snprintf(want, sizeof(want), "\"%s\" in the words of the boot is ignored: %s",
			 cases[i].word, cases[i].why);
		EXPECT_TRUE(log_gets(self->kmsg, want)) TH_LOG("%s", cases[i].words);
		EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
		ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
		EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
	}
}

TEST_F_TIMEOUT(boot, without_events_nothing_is_traced, PATIENCE_S)
{
	static const char *const words[] = { "", ",", ":size=64K", "nonsense", ":stop=nonsense" };
	struct info info;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ASSERT_EQ(0, boot(words[i]));
		ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
		EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state) TH_LOG("\"%s\"", words[i]);
	}
}

TEST_F_TIMEOUT(boot, events_are_named_by_globs, PATIENCE_S)
{
	ASSERT_EQ(0, boot("hyp_e*,guest_exit"));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "guest_exit"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "selftest"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "host_hcall"));
	EXPECT_FALSE(log_has(self->kmsg, "is ignored"));
	ASSERT_EQ(0, boot("all"));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "selftest"));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "host_hcall"));
	EXPECT_FALSE(log_has(self->kmsg, "is not traced"));
}

TEST_F_TIMEOUT(boot, options_are_those_of_the_load, PATIENCE_S)
{
	struct info info;

	ASSERT_EQ(0, boot("hyp_enter:size=128K:mode=discard"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(128 << 10, info.size_requested);
	EXPECT_EQ(HYPTRACE_MODE_DISCARD, info.mode);
	EXPECT_FALSE(log_has(self->kmsg, "cannot load rings"));
	ASSERT_EQ(0, boot("hyp_enter:mode=overwrite:size=0x10000"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(64 << 10, info.size_requested);
	EXPECT_EQ(HYPTRACE_MODE_OVERWRITE, info.mode);
	ASSERT_EQ(0, boot("hyp_enter:stop=hyp_exit:after=0x10"));
	EXPECT_FALSE(log_has(self->kmsg, "is ignored"));
	/* a size that no machine has: that of the default is loaded */
	ASSERT_EQ(0, boot("hyp_enter:size=1024P"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
	EXPECT_TRUE(log_gets(self->kmsg, "cannot load rings of 1152921504606846976 bytes"));
	EXPECT_NE(0, info.nr_subbufs);
}

TEST_F_TIMEOUT(boot, an_event_that_the_remote_lacks_is_named, PATIENCE_S)
{
	const int enter = control_event_id(&self->nl, "test", "hyp_enter");
	char missing[64];

	ASSERT_LT(0, enter);
	snprintf(missing, sizeof(missing), "missing=%llu", 1ULL << enter);
	ASSERT_EQ(0, boot_with("hyp_enter,hyp_exit:stop=hyp_enter", missing));
	EXPECT_TRUE(log_gets(self->kmsg, MISSING("hyp_enter")));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	/* of a glob, those that are there */
	ASSERT_EQ(0, boot_with("hyp_e*:stop=hyp_enter", missing));
	EXPECT_TRUE(log_gets(self->kmsg, MISSING("stop=hyp_enter")));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
}

TEST_F_TIMEOUT(boot, a_trace_that_does_not_start_leaves_no_rings, PATIENCE_S)
{
	struct info info;
	char event[32];

	ASSERT_EQ(0, boot_with("hyp_enter:size=64K", "tracing_error=-5"));
	EXPECT_TRUE(log_gets(self->kmsg, "\"faulty\" is not traced: the remote failed to start"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state);
	/* one without an event does */
	snprintf(event, sizeof(event), "event_error_id=%d",
		 control_event_id(&self->nl, REMOTE, "hyp_exit"));
	ASSERT_EQ(0, boot_with("hyp_e*", event));
	EXPECT_TRUE(log_gets(self->kmsg, IGNORED("hyp_exit", "the remote failed to enable")));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
}

TEST_HARNESS_MAIN
