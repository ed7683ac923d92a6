// SPDX-License-Identifier: GPL-2.0-only
/*
 * What control requests carry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/internal.h"
#include "fail_alloc.h"
#include "fake_netlink.h"
#include "filter_case.h"

static struct hyptrace *h;
static struct hyptrace_error err;

static void grant(const struct nlmsghdr *request)
{
	fake_netlink_ack(request, 0);
}

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	fake_netlink_begin(grant);
	h = hyptrace_open(&err);
	return h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static void sent(int cmd, struct nlattr **tb, int max)
{
	struct nlmsghdr *nlh = &fake_netlink.sent.nlh;

	assert_int_equal(nlh->nlmsg_type, FAKE_FAMILY);
	assert_int_equal(nlh->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	assert_int_equal(genlmsg_hdr(nlh)->cmd, cmd);
	assert_int_equal(genlmsg_hdr(nlh)->version, HYPTRACE_FAMILY_VERSION);
	assert_int_equal(genlmsg_parse(nlh, 0, tb, max, NULL), 0);
}

/* The attributes of the request are the remote "r" and those of a list that ends with 0. */
static void sent_only(int cmd, struct nlattr **tb, const int *attrs)
{
	int attr;

	sent(cmd, tb, HYPTRACE_A_CONTROL_MAX);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_CONTROL_REMOTE]), "r");
	for (attr = 1; attr <= HYPTRACE_A_CONTROL_MAX; attr++) {
		bool expected = attr == HYPTRACE_A_CONTROL_REMOTE;
		const int *at;

		for (at = attrs; *at; at++)
			expected |= *at == attr;
		assert_int_equal(!!tb[attr], expected);
	}
}

static const int nothing[] = { 0 };

static void only_a_remote(void **state)
{
	static const int cmds[] = {
		HYPTRACE_CMD_START, HYPTRACE_CMD_STOP, HYPTRACE_CMD_UNLOAD, HYPTRACE_CMD_RESET,
	};
	struct nlattr *tb[HYPTRACE_A_CONTROL_MAX + 1];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		assert_int_equal(hyptrace_control(h, cmds[i], "r", HYPTRACE_CPU_ALL, NULL, &err),
				 0);
		assert_string_equal(err.text, "");
		sent_only(cmds[i], tb, nothing);
	}
}

static void set_size(struct hyptrace_settings *to, uint64_t size)
{
	to->size = size;
	to->changes |= HYPTRACE_SETTING_SIZE;
}

static void set_mode(struct hyptrace_settings *to, uint32_t mode)
{
	to->mode = mode;
	to->changes |= HYPTRACE_SETTING_MODE;
}

static void set_rate(struct hyptrace_settings *to, uint32_t rate)
{
	to->rate = rate;
	to->changes |= HYPTRACE_SETTING_RATE;
}

static void settings(void **state)
{
	static const int all[] = {
		HYPTRACE_A_CONTROL_SIZE, HYPTRACE_A_CONTROL_MODE, HYPTRACE_A_CONTROL_RATE, 0,
	};
	struct hyptrace_settings changes = {};
	struct nlattr *tb[HYPTRACE_A_CONTROL_MAX + 1];

	(void)state;
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_LOAD, "r", HYPTRACE_CPU_ALL, NULL, &err),
			 0);
	sent_only(HYPTRACE_CMD_LOAD, tb, nothing);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_SET, "r", HYPTRACE_CPU_ALL, &changes,
					  &err), 0);
	sent_only(HYPTRACE_CMD_SET, tb, nothing);

	set_rate(&changes, 6);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_SET, "r", HYPTRACE_CPU_ALL, &changes,
					  &err), 0);
	sent_only(HYPTRACE_CMD_SET, tb, (int[]){ HYPTRACE_A_CONTROL_RATE, 0 });
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_RATE]), 6);

	changes = (struct hyptrace_settings){};
	set_mode(&changes, HYPTRACE_MODE_OVERWRITE);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_LOAD, "r", HYPTRACE_CPU_ALL, &changes,
					  &err), 0);
	sent_only(HYPTRACE_CMD_LOAD, tb, (int[]){ HYPTRACE_A_CONTROL_MODE, 0 });
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_MODE]), HYPTRACE_MODE_OVERWRITE);

	set_mode(&changes, HYPTRACE_MODE_DISCARD);
	set_size(&changes, UINT64_C(1) << 40);
	set_rate(&changes, 0);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_SET, "r", HYPTRACE_CPU_ALL, &changes,
					  &err), 0);
	sent_only(HYPTRACE_CMD_SET, tb, all);
	assert_true(nla_get_u64(tb[HYPTRACE_A_CONTROL_SIZE]) == UINT64_C(1) << 40);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_MODE]), HYPTRACE_MODE_DISCARD);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_RATE]), 0);
}

static void one_cpu_or_all(void **state)
{
	static const int one[] = { HYPTRACE_A_CONTROL_CPU, 0 };
	static const int mark[] = { HYPTRACE_A_CONTROL_VALUE, HYPTRACE_A_CONTROL_COUNT, 0 };
	static const int mark_one[] = {
		HYPTRACE_A_CONTROL_CPU, HYPTRACE_A_CONTROL_VALUE, HYPTRACE_A_CONTROL_COUNT, 0,
	};
	struct nlattr *tb[HYPTRACE_A_CONTROL_MAX + 1];

	(void)state;
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_CLEAR, "r", HYPTRACE_CPU_ALL, NULL, &err),
			 0);
	sent_only(HYPTRACE_CMD_CLEAR, tb, nothing);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_CLEAR, "r", 0, NULL, &err), 0);
	sent_only(HYPTRACE_CMD_CLEAR, tb, one);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_CPU]), 0);

	assert_int_equal(hyptrace_mark(h, "r", HYPTRACE_CPU_CURRENT, UINT64_MAX - 1, 5, &err), 0);
	sent_only(HYPTRACE_CMD_MARK, tb, mark);
	assert_true(nla_get_u64(tb[HYPTRACE_A_CONTROL_VALUE]) == UINT64_MAX - 1);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_COUNT]), 5);
	assert_int_equal(hyptrace_mark(h, "r", 3, 0, 1, &err), 0);
	sent_only(HYPTRACE_CMD_MARK, tb, mark_one);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_CPU]), 3);
}

static const char *names[HYPTRACE_EVENT_LIST_MAX + 1];
static char texts[HYPTRACE_EVENT_LIST_MAX + 1][HYPTRACE_EVENT_NAME_MAX + 1];

/* Names of the maximal length */
static void make_names(void)
{
	unsigned int i;

	for (i = 0; i <= HYPTRACE_EVENT_LIST_MAX; i++) {
		memset(texts[i], 'e', HYPTRACE_EVENT_NAME_MAX);
		snprintf(texts[i], sizeof(texts[i]), "event%u", i);
		texts[i][strlen(texts[i])] = '_';
		names[i] = texts[i];
	}
}

static void event_list(void **state)
{
	const struct nlmsghdr *nlh = &fake_netlink.sent.nlh;
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1], *attr;
	unsigned int nr, i, enable;
	int rem;

	(void)state;
	make_names();
	for (enable = 0; enable < 2; enable++) {
		for (nr = 1; nr <= HYPTRACE_EVENT_LIST_MAX; nr += HYPTRACE_EVENT_LIST_MAX - 1) {
			assert_int_equal(hyptrace_set_events(h, "r", names, nr, enable, NULL,
							     &err), 0);
			sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
			assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_REMOTE]), "r");
			assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), enable);
			i = 0;
			nla_for_each_attr(attr, genlmsg_attrdata(genlmsg_hdr((void *)nlh), 0),
					  genlmsg_attrlen(genlmsg_hdr((void *)nlh), 0), rem)
				if (nla_type(attr) == HYPTRACE_A_EVENT_NAMES)
					assert_string_equal(nla_get_string(attr), names[i++]);
			assert_int_equal(i, nr);
		}
	}

	assert_int_equal(hyptrace_set_events(h, "r", (const char *[]){ "one" }, 1, true, NULL,
					     &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_NAMES]), "one");

	nr = fake_netlink.nr_sent;
	assert_int_equal(hyptrace_set_events(h, "r", names, HYPTRACE_EVENT_LIST_MAX + 1, true,
					     NULL, &err), -E2BIG);
	assert_int_equal(err.errnum, E2BIG);
	assert_int_equal(hyptrace_set_events(h, "r", names, HYPTRACE_EVENT_LIST_MAX + 1, true,
					     NULL, NULL), -E2BIG);
	assert_int_equal(fake_netlink.nr_sent, nr);
}

static struct hyptrace_field fields[] = {
	{ .name = "id", .type = "u64", .offset = 8, .size = 8 },
	{ .name = "ret", .type = "s32", .offset = 4, .size = 4, .is_signed = true },
};

static struct hyptrace_field *field_list[] = { &fields[0], &fields[1] };

static const struct hyptrace_event event = {
	.name = "call", .id = 3, .size = 16, .fields = field_list, .nr_fields = 2,
};

/* The nest has exactly the terms of the filter. */
static void sent_terms(struct nlattr *nest, const struct hyptrace_filter *filter)
{
	const struct hyptrace_filter_term *term;
	struct nlattr *tb[HYPTRACE_A_TERM_MAX + 1], *attr;
	unsigned int i = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != HYPTRACE_A_FILTER_TERM)
			continue;
		/* The kernel refuses a nest without this flag. */
		assert_true(attr->nla_type & NLA_F_NESTED);
		assert_int_equal(nla_parse_nested(tb, HYPTRACE_A_TERM_MAX, attr, NULL), 0);
		assert_true(i < filter->nr);
		term = &filter->terms[i++];
		assert_string_equal(nla_get_string(tb[HYPTRACE_A_TERM_FIELD]), term->field);
		assert_int_equal(nla_get_u32(tb[HYPTRACE_A_TERM_OP]), term->op);
		assert_true(nla_get_u64(tb[HYPTRACE_A_TERM_VALUE]) == term->value);
		assert_int_equal(nla_get_u8(tb[HYPTRACE_A_TERM_ON_TRUE]), term->on_true);
		assert_int_equal(nla_get_u8(tb[HYPTRACE_A_TERM_ON_FALSE]), term->on_false);
	}
	assert_int_equal(filter->nr, i);
}

static void filter_of_events(void **state)
{
	struct hyptrace_event_options options = {};
	static const char text[] = "(id > 7 || ret == -EPERM) && id & 1";
	struct hyptrace_filter *filter = filter_of(&event, text, NULL, &err);
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1], *nest[HYPTRACE_A_FILTER_MAX + 1];
	static const char *const two[] = { "call", "other" };

	(void)state;
	options.filter = filter;
	assert_int_equal(hyptrace_set_events(h, "r", two, 2, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), 1);
	assert_non_null(tb[HYPTRACE_A_EVENT_FILTER]);
	assert_true(tb[HYPTRACE_A_EVENT_FILTER]->nla_type & NLA_F_NESTED);
	assert_int_equal(nla_parse_nested(nest, HYPTRACE_A_FILTER_MAX,
					  tb[HYPTRACE_A_EVENT_FILTER], NULL), 0);
	assert_string_equal(nla_get_string(nest[HYPTRACE_A_FILTER_TEXT]), text);
	sent_terms(tb[HYPTRACE_A_EVENT_FILTER], filter);

	options.filter = NULL;
	assert_int_equal(hyptrace_set_events(h, "r", two, 2, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_null(tb[HYPTRACE_A_EVENT_FILTER]);
	assert_int_equal(hyptrace_set_events(h, "r", two, 2, true, NULL, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_null(tb[HYPTRACE_A_EVENT_FILTER]);

	hyptrace_filter_free(filter);
}

static void trigger_of_events(void **state)
{
	struct hyptrace_event_options options = {};
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1];
	static const char *const one[] = { "call" };

	(void)state;
	options.trigger = HYPTRACE_TRIGGER_ACTION_STOP;
	options.after = 12;
	assert_int_equal(hyptrace_set_events(h, "r", one, 1, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_EVENT_TRIGGER]), HYPTRACE_TRIGGER_ACTION_STOP);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_EVENT_AFTER]), 12);
	assert_null(tb[HYPTRACE_A_EVENT_FILTER]);

	options.trigger = HYPTRACE_TRIGGER_ACTION_START;
	options.after = 0;
	assert_int_equal(hyptrace_set_events(h, "r", one, 1, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_EVENT_TRIGGER]),
			 HYPTRACE_TRIGGER_ACTION_START);
	assert_null(tb[HYPTRACE_A_EVENT_AFTER]);

	options.trigger = HYPTRACE_TRIGGER_ACTION_NONE;
	options.after = 0;
	assert_int_equal(hyptrace_set_events(h, "r", one, 1, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_null(tb[HYPTRACE_A_EVENT_TRIGGER]);
}

static void held_events(void **state)
{
	static const struct hyptrace_event_options hold = { .flags = HYPTRACE_EVENT_HOLD };
	struct hyptrace_event_options options = {};
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1];
	static const char *const one[] = { "call" };

	(void)state;
	options.trigger = HYPTRACE_TRIGGER_ACTION_NOTIFY;
	options.after = 0;
	options.flags = HYPTRACE_EVENT_HOLD;
	assert_int_equal(hyptrace_set_events(h, "r", one, 1, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_non_null(tb[HYPTRACE_A_EVENT_HOLD]);
	assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), 1);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_EVENT_TRIGGER]),
			 HYPTRACE_TRIGGER_ACTION_NOTIFY);

	assert_int_equal(hyptrace_set_events(h, "r", one, 1, false, &hold, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_non_null(tb[HYPTRACE_A_EVENT_HOLD]);
	assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), 0);

	/* Requests that stay after the end have no hold. */
	options.flags = 0;
	assert_int_equal(hyptrace_set_events(h, "r", one, 1, true, &options, &err), 0);
	sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_null(tb[HYPTRACE_A_EVENT_HOLD]);

	assert_int_equal(hyptrace_release_events(h, "r", &err), 0);
	sent(HYPTRACE_CMD_EVENT_RELEASE, tb, HYPTRACE_A_EVENT_MAX);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_REMOTE]), "r");
}

/* The longest request: all names, eight terms, and the longest text. */
static void longest_filter(void **state)
{
	static const char terms[] = "id != 1 && id != 2 && id != 3 && id != 4 && "
				    "id != 5 && id != 6 && id != 7 && id != 8";
	struct hyptrace_event_options options = {};
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1];
	struct hyptrace_filter *filter;
	char text[HYPTRACE_FILTER_TEXT_MAX + 2];
	unsigned int nr, more;

	(void)state;
	make_names();
	for (more = 0; more < 2; more++) {
		nr = fake_netlink.nr_sent;
		snprintf(text, sizeof(text), "%*s", HYPTRACE_FILTER_TEXT_MAX + (int)more, terms);
		filter = filter_of(&event, text, NULL, &err);
		assert_non_null(filter);
		options.filter = filter;
		assert_int_equal(hyptrace_set_events(h, "r", names, HYPTRACE_EVENT_LIST_MAX, true,
						     &options, &err), more ? -E2BIG : 0);
		assert_int_equal(fake_netlink.nr_sent, nr + !more);
		if (!more) {
			sent(HYPTRACE_CMD_EVENT_SET, tb, HYPTRACE_A_EVENT_MAX);
			sent_terms(tb[HYPTRACE_A_EVENT_FILTER], filter);
		}
		hyptrace_filter_free(filter);
	}
	assert_string_equal(err.text, "a filter has at most 1023 characters");
}

/* Each request that has so many attributes: the message, its header, and each of them. */
static int send_request(unsigned int which, const struct hyptrace_settings *changes,
			const struct hyptrace_event_options *options)
{
	switch (which) {
	case 0:
		return hyptrace_control(h, HYPTRACE_CMD_START, "test", HYPTRACE_CPU_ALL, NULL,
					&err);
	case 1:
		return hyptrace_control(h, HYPTRACE_CMD_SET, "test", HYPTRACE_CPU_ALL, changes,
					&err);
	case 2:
		return hyptrace_control(h, HYPTRACE_CMD_CLEAR, "test", 1, NULL, &err);
	case 3:
		return hyptrace_mark(h, "test", 1, 2, 3, &err);
	case 4:
		return hyptrace_set_events(h, "r", names, 2, true, NULL, &err);
	default:
		return hyptrace_set_events(h, "r", names, 1, true, options, &err);
	}
}

static void no_memory(void **state)
{
	static const unsigned int attrs[] = {
		1, 1 + 3, 1 + 1, 1 + 3, 1 + 2 + 1, 1 + 1 + 1 + 2 + 2 * (1 + 5) + 2,
	};
	struct hyptrace_filter *filter = filter_of(&event, "id > 1 && id < 9", NULL, &err);
	struct hyptrace_event_options options = {};
	struct hyptrace_settings changes = {};
	bool failed = true;
	unsigned int nth, which, nr;
	int ret;

	(void)state;
	make_names();
	set_size(&changes, 1);
	set_mode(&changes, 1);
	set_rate(&changes, 1);
	options.filter = filter;
	options.trigger = HYPTRACE_TRIGGER_ACTION_STOP;
	options.after = 1;
	for (which = 0; which < sizeof(attrs) / sizeof(attrs[0]); which++) {
		nr = fake_netlink.nr_sent;
		for (failed = true, nth = 1; failed; nth++) {
			fail_alloc(nth);
			ret = send_request(which, &changes, &options);
			failed = fail_alloc_end();
			assert_int_equal(ret, failed ? -ENOMEM : 0);
			assert_int_equal(fake_netlink.nr_sent, nr + !failed);
		}
		assert_int_equal(nth - 2, 2 + attrs[which]);
	}
	hyptrace_filter_free(filter);
}

static void state_names(void **state)
{
	(void)state;
	assert_string_equal(hyptrace_state_name(HYPTRACE_STATE_UNLOADED), "unloaded");
	assert_string_equal(hyptrace_state_name(HYPTRACE_STATE_LOADED), "loaded");
	assert_string_equal(hyptrace_state_name(HYPTRACE_STATE_TRACING), "tracing");
	assert_string_equal(hyptrace_state_name(99), "unknown");
	assert_string_equal(hyptrace_mode_name(HYPTRACE_MODE_OVERWRITE), "overwrite");
	assert_string_equal(hyptrace_mode_name(HYPTRACE_MODE_DISCARD), "discard");
	assert_string_equal(hyptrace_mode_name(99), "unknown");
	assert_string_equal(hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_NONE), "none");
	assert_string_equal(hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_START), "start");
	assert_string_equal(hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_STOP), "stop");
	assert_string_equal(hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_NOTIFY), "notify");
	assert_string_equal(hyptrace_trigger_name(99), "unknown");
	assert_string_equal(hyptrace_cpu_state_name(HYPTRACE_CPU_STATE_DETACHED), "detached");
	assert_string_equal(hyptrace_cpu_state_name(HYPTRACE_CPU_STATE_ATTACHED), "attached");
	assert_string_equal(hyptrace_cpu_state_name(HYPTRACE_CPU_STATE_PARKED), "parked");
	assert_string_equal(hyptrace_cpu_state_name(99), "unknown");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_a_remote), TEST(settings), TEST(one_cpu_or_all), TEST(event_list),
		TEST(filter_of_events), TEST(trigger_of_events), TEST(held_events),
		TEST(longest_filter), TEST(no_memory), TEST(state_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
