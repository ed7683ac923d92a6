// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing of the driver's descriptions of remotes, events and hypercalls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/control/message.h"
#include "fail_alloc.h"

static struct nl_msg *message(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, 0, 0, NLMSG_MIN_TYPE, 0, 0, cmd, 1);
	return msg;
}

static int parse(const struct nl_type *type, struct nl_msg *msg, void *item)
{
	int ret;

	*(void **)item = calloc(1, type->size);
	ret = *(void **)item ? hyptrace_nl_parse(type, nlmsg_hdr(msg), *(void **)item) : -ENOMEM;
	if (ret) {
		hyptrace_nl_free(type, *(void **)item);
		*(void **)item = NULL;
	}
	return ret;
}

static void remote(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_REMOTE_GET);
	struct hyptrace_remote *remote;

	(void)state;
	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "hypervisor");
	nla_put_string(msg, HYPTRACE_A_REMOTE_DESCRIPTION, "pKVM");
	nla_put_u32(msg, HYPTRACE_A_REMOTE_STATE, HYPTRACE_STATE_TRACING);
	nla_put_u64(msg, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, UINT64_C(1) << 40);
	nla_put_u8(msg, HYPTRACE_A_REMOTE_PROTECTED, 1);
	/* an attribute of a newer kernel, unknown here */
	nla_put_u32(msg, HYPTRACE_A_REMOTE_MAX + 9, 1);
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_string_equal(remote->name, "hypervisor");
	assert_string_equal(remote->description, "pKVM");
	assert_string_equal(remote->clock, "");
	assert_int_equal(remote->state, HYPTRACE_STATE_TRACING);
	assert_true(remote->size_allocated == UINT64_C(1) << 40);
	assert_true(remote->is_protected);
	assert_int_equal(remote->readers, 0);
	hyptrace_free_remote(remote);
	nlmsg_free(msg);
}

/* A remote with all attributes, each with another number. */
static void whole_remote(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_REMOTE_GET);
	struct hyptrace_remote *remote;

	(void)state;
	nla_put_string(msg, HYPTRACE_A_REMOTE_CLOCK, "boot");
	nla_put_u32(msg, HYPTRACE_A_REMOTE_STATE, 1);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_MODE, 2);
	nla_put_u64(msg, HYPTRACE_A_REMOTE_SIZE_REQUESTED, 3);
	nla_put_u64(msg, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, 4);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_SUBBUF_SIZE, 5);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_NR_SUBBUFS, 6);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_NR_CPUS, 7);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_NR_EVENTS, 8);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_READERS, 9);
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_string_equal(remote->clock, "boot");
	assert_int_equal(remote->state, 1);
	assert_int_equal(remote->mode, 2);
	assert_int_equal(remote->size_requested, 3);
	assert_int_equal(remote->size_allocated, 4);
	assert_int_equal(remote->subbuf_size, 5);
	assert_int_equal(remote->nr_subbufs, 6);
	assert_int_equal(remote->nr_cpus, 7);
	assert_int_equal(remote->nr_events, 8);
	assert_int_equal(remote->readers, 9);
	hyptrace_free_remote(remote);
	nlmsg_free(msg);
}

static void put_firing(struct nl_msg *msg, uint32_t action, const char *event)
{
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_REMOTE_FIRED);

	nla_put_u32(msg, HYPTRACE_A_FIRED_ACTION, action);
	nla_put_string(msg, HYPTRACE_A_FIRED_EVENT, event);
	nla_put_u32(msg, HYPTRACE_A_FIRED_CPU, 10 + action);
	nla_put_u64(msg, HYPTRACE_A_FIRED_TIME, UINT64_C(1) << 40);
	nla_nest_end(msg, nest);
}

static void fired(void **state)
{
	const uint16_t broken[] = { 100, HYPTRACE_A_FIRED_EVENT };
	struct nl_msg *msg = message(HYPTRACE_CMD_REMOTE_GET);
	struct hyptrace_remote *remote;

	(void)state;
	nla_put_u8(msg, HYPTRACE_A_REMOTE_ARMED, 1);
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_true(remote->is_armed);
	assert_int_equal(remote->nr_fired, 0);
	/* an older driver does not say it, and nobody must wait for it */
	assert_true(remote->has_ended);
	hyptrace_free_remote(remote);

	nla_put_u8(msg, HYPTRACE_A_REMOTE_ENDED, 0);
	put_firing(msg, HYPTRACE_TRIGGER_ACTION_START, "first");
	put_firing(msg, HYPTRACE_TRIGGER_ACTION_STOP, "second");
	/* of a newer driver: there is no room for it */
	put_firing(msg, 3, "third");
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_int_equal(remote->nr_fired, 2);
	assert_false(remote->has_ended);
	assert_int_equal(remote->fired[0].action, HYPTRACE_TRIGGER_ACTION_START);
	assert_string_equal(remote->fired[0].event, "first");
	assert_int_equal(remote->fired[0].cpu, 11);
	assert_true(remote->fired[0].time == UINT64_C(1) << 40);
	assert_int_equal(remote->fired[1].action, HYPTRACE_TRIGGER_ACTION_STOP);
	assert_string_equal(remote->fired[1].event, "second");
	hyptrace_free_remote(remote);
	nlmsg_free(msg);

	msg = message(HYPTRACE_CMD_REMOTE_GET);
	nla_put(msg, HYPTRACE_A_REMOTE_FIRED, sizeof(broken), broken);
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_int_equal(remote->nr_fired, 1);
	assert_string_equal(remote->fired[0].event, "");
	assert_false(remote->is_armed);
	hyptrace_free_remote(remote);
	nlmsg_free(msg);
}

static void odd_attributes(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_REMOTE_GET);
	struct hyptrace_remote *remote;
	char name[100];

	(void)state;
	memset(name, 'x', sizeof(name));
	nla_put(msg, HYPTRACE_A_REMOTE_NAME, sizeof(name), name);
	nla_put(msg, HYPTRACE_A_REMOTE_STATE, 1, "\1");
	nla_put(msg, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, 3, "\1\1\1");
	nla_put(msg, HYPTRACE_A_REMOTE_CLOCK, 0, NULL);
	assert_int_equal(parse(&hyptrace_remote_type, msg, &remote), 0);
	assert_int_equal(strlen(remote->name), HYPTRACE_REMOTE_NAME_MAX);
	assert_int_equal(remote->state, 0);
	assert_int_equal(remote->size_allocated, 0);
	assert_string_equal(remote->clock, "");
	hyptrace_free_remote(remote);
	nlmsg_free(msg);
}

static void put_field(struct nl_msg *msg, const char *name, uint32_t offset, unsigned int symbols)
{
	struct nlattr *field = nla_nest_start(msg, HYPTRACE_A_EVENT_FIELD), *symbol;
	unsigned int i;

	nla_put_string(msg, HYPTRACE_A_FIELD_NAME, name);
	nla_put_string(msg, HYPTRACE_A_FIELD_TYPE, "u8");
	nla_put_u32(msg, HYPTRACE_A_FIELD_OFFSET, offset);
	nla_put_u32(msg, HYPTRACE_A_FIELD_SIZE, 1);
	nla_put_u8(msg, HYPTRACE_A_FIELD_SIGNED, 0);
	for (i = 0; i < symbols; i++) {
		symbol = nla_nest_start(msg, HYPTRACE_A_FIELD_SYMBOL);
		nla_put_u64(msg, HYPTRACE_A_SYMBOL_VALUE, 10 + i);
		nla_put_string(msg, HYPTRACE_A_SYMBOL_NAME, i ? "one" : "zero");
		nla_nest_end(msg, symbol);
	}
	nla_nest_end(msg, field);
}

static void event(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_EVENT_GET);
	struct hyptrace_event *event;
	struct nlattr *filter;

	(void)state;
	nla_put_string(msg, HYPTRACE_A_EVENT_REMOTE, "test");
	nla_put_string(msg, HYPTRACE_A_EVENT_NAME, "hyp_enter");
	nla_put_u32(msg, HYPTRACE_A_EVENT_ID, 1);
	nla_put_u8(msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nla_put_string(msg, HYPTRACE_A_EVENT_PRINT_FMT, "\"\"");
	put_field(msg, "reason", 2, 2);
	put_field(msg, "other", 3, 0);
	filter = nla_nest_start(msg, HYPTRACE_A_EVENT_FILTER);
	nla_put_string(msg, HYPTRACE_A_FILTER_TEXT, "other == 3");
	nla_nest_end(msg, filter);
	nla_put_u32(msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	nla_put_u32(msg, HYPTRACE_A_EVENT_AFTER, 4);
	nla_put_u32(msg, HYPTRACE_A_EVENT_HOLDER, 66);
	assert_int_equal(parse(&hyptrace_event_type, msg, &event), 0);
	assert_string_equal(event->filter, "other == 3");
	assert_int_equal(event->trigger, HYPTRACE_TRIGGER_ACTION_STOP);
	assert_int_equal(event->after, 4);
	assert_int_equal(event->holder, 66);
	assert_string_equal(event->remote, "test");
	assert_string_equal(event->name, "hyp_enter");
	assert_true(event->enabled);
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[0]->name, "reason");
	assert_int_equal(event->fields[0]->offset, 2);
	assert_int_equal(event->fields[0]->nr_symbols, 2);
	assert_string_equal(hyptrace_symbol_name(event->fields[0], 10), "zero");
	assert_string_equal(hyptrace_symbol_name(event->fields[0], 11), "one");
	assert_null(hyptrace_symbol_name(event->fields[0], 12));
	assert_int_equal(event->fields[1]->nr_symbols, 0);
	assert_null(hyptrace_symbol_name(event->fields[1], 0));
	hyptrace_free_event(event);
	nlmsg_free(msg);
}

/* A name has up to 63 bytes, a remote's 31; what is longer is cut off. */
static void long_names(void **state)
{
	static const size_t lens[] = { 30, 31, 32, 62, 63, 64 };
	struct hyptrace_event *event;
	struct nl_msg *msg;
	char name[65];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		memset(name, 'n', sizeof(name));
		name[lens[i]] = '\0';
		msg = message(HYPTRACE_CMD_EVENT_GET);
		nla_put_string(msg, HYPTRACE_A_EVENT_REMOTE, name);
		nla_put_string(msg, HYPTRACE_A_EVENT_NAME, name);
		assert_int_equal(parse(&hyptrace_event_type, msg, &event), 0);
		assert_int_equal(strlen(event->name), lens[i] < 63 ? lens[i] : 63);
		assert_int_equal(strlen(event->remote), lens[i] < 31 ? lens[i] : 31);
		hyptrace_free_event(event);
		nlmsg_free(msg);
	}
}

/* A nested attribute that is cut off: the fields before it are parsed, and nothing leaks. */
static void broken_event(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_EVENT_GET);
	struct hyptrace_event *event;
	const uint16_t broken[] = { 100, HYPTRACE_A_FIELD_NAME };

	(void)state;
	put_field(msg, "good", 2, 1);
	nla_put(msg, HYPTRACE_A_EVENT_FIELD, sizeof(broken), broken);
	assert_int_equal(parse(&hyptrace_event_type, msg, &event), 0);
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[0]->name, "good");
	assert_string_equal(event->fields[1]->name, "");
	assert_null(event->filter);
	hyptrace_free_event(event);
	nlmsg_free(msg);
}

static void put_arg(struct nl_msg *msg, const char *type, const char *name)
{
	struct nlattr *arg = nla_nest_start(msg, HYPTRACE_A_HYPERCALL_ARGS);

	nla_put_string(msg, HYPTRACE_A_HYPERCALL_ARG_TYPE, type);
	nla_put_string(msg, HYPTRACE_A_HYPERCALL_ARG_NAME, name);
	nla_nest_end(msg, arg);
}

static void hypercall(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_HYPERCALL_GET);
	struct hyptrace_hypercall *call;

	(void)state;
	nla_put_string(msg, HYPTRACE_A_HYPERCALL_REMOTE, "hypervisor");
	nla_put_u32(msg, HYPTRACE_A_HYPERCALL_ID, 7);
	nla_put_string(msg, HYPTRACE_A_HYPERCALL_NAME, "__pkvm_share");
	nla_put_flag(msg, HYPTRACE_A_HYPERCALL_RETURNS);
	put_arg(msg, "u64", "pfn");
	put_arg(msg, "struct kvm *", "kvm");
	assert_int_equal(parse(&hyptrace_hypercall_type, msg, &call), 0);
	assert_string_equal(call->remote, "hypervisor");
	assert_string_equal(call->name, "__pkvm_share");
	assert_int_equal(call->id, 7);
	assert_true(call->returns);
	assert_true(call->known_args);
	assert_int_equal(call->nr_args, 2);
	assert_string_equal(call->args[0]->type, "u64");
	assert_string_equal(call->args[0]->name, "pfn");
	assert_string_equal(call->args[1]->type, "struct kvm *");
	assert_string_equal(call->args[1]->name, "kvm");
	hyptrace_nl_free(&hyptrace_hypercall_type, call);
	nlmsg_free(msg);

	msg = message(HYPTRACE_CMD_HYPERCALL_GET);
	nla_put_flag(msg, HYPTRACE_A_HYPERCALL_RAW);
	assert_int_equal(parse(&hyptrace_hypercall_type, msg, &call), 0);
	assert_string_equal(call->name, "");
	assert_false(call->returns);
	assert_false(call->known_args);
	assert_int_equal(call->nr_args, 0);
	hyptrace_nl_free(&hyptrace_hypercall_type, call);
	nlmsg_free(msg);
}

/* An argument that is cut off */
static void broken_hypercall(void **state)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_HYPERCALL_GET);
	const uint16_t broken[] = { 100, HYPTRACE_A_HYPERCALL_ARG_NAME };
	struct hyptrace_hypercall *call;

	(void)state;
	put_arg(msg, "u64", "pfn");
	nla_put(msg, HYPTRACE_A_HYPERCALL_ARGS, sizeof(broken), broken);
	assert_int_equal(parse(&hyptrace_hypercall_type, msg, &call), 0);
	assert_int_equal(call->nr_args, 2);
	assert_string_equal(call->args[0]->name, "pfn");
	assert_string_equal(call->args[1]->name, "");
	hyptrace_nl_free(&hyptrace_hypercall_type, call);
	nlmsg_free(msg);
}

/* After an error the result is empty, so the caller need not free anything. */
static void no_memory(void **state)
{
	struct nl_msg *one = message(HYPTRACE_CMD_REMOTE_GET);
	struct nl_msg *two = message(HYPTRACE_CMD_CPU_GET);
	struct nl_msg *three = message(HYPTRACE_CMD_EVENT_GET);
	struct nl_msg *four = message(HYPTRACE_CMD_HYPERCALL_GET);
	struct hyptrace_remote *remote;
	struct hyptrace_cpu *cpu;
	struct hyptrace_event *event;
	struct hyptrace_hypercall *call;
	bool failed = true;
	unsigned int nth;
	int ret;

	(void)state;
	/* the remote, the description, the clock */
	for (nth = 1; nth <= 3; nth++) {
		fail_alloc(nth);
		assert_int_equal(parse(&hyptrace_remote_type, one, &remote), -ENOMEM);
		assert_true(fail_alloc_end());
		assert_null(remote);
	}
	fail_alloc(1);
	assert_int_equal(parse(&hyptrace_cpu_type, two, &cpu), -ENOMEM);
	assert_true(fail_alloc_end());
	assert_null(cpu);
	put_field(three, "reason", 2, 1);
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = parse(&hyptrace_event_type, three, &event);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		assert_int_equal(!event, failed);
	}
	assert_int_equal(event->nr_fields, 1);
	hyptrace_free_event(event);
	put_arg(four, "u64", "pfn");
	for (failed = true, nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = parse(&hyptrace_hypercall_type, four, &call);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		assert_int_equal(!call, failed);
	}
	/* the hypercall and its name, the list, the argument with its name and type */
	assert_int_equal(nth - 2, 2 + 1 + 3);
	hyptrace_nl_free(&hyptrace_hypercall_type, call);
	nlmsg_free(four);
	nlmsg_free(three);
	nlmsg_free(two);
	nlmsg_free(one);
}

static void free_nothing(void **state)
{
	(void)state;
	hyptrace_free_remote(NULL);
	hyptrace_free_cpu(NULL);
	hyptrace_free_event(NULL);
	hyptrace_nl_free(&hyptrace_hypercall_type, NULL);
}

/* Kinds of values, and values, of a newer version have no name. */
static void value_names(void **state)
{
	(void)state;
	assert_string_equal(hyptrace_state_name(HYPTRACE_STATE_TRACING), "tracing");
	assert_string_equal(hyptrace_state_name(HYPTRACE_STATE_TRACING + 1), "unknown");
	assert_string_equal(hyptrace_ownership_name(HYPTRACE_OWNERSHIP_GUEST), "guest");
	assert_string_equal(hyptrace_ownership_name(HYPTRACE_OWNERSHIP_GUEST + 1), "unknown");
	assert_string_equal(hyptrace_value_name(HYPTRACE_VALUE_OWNERSHIP + 1, 0), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remote),
		cmocka_unit_test(whole_remote),
		cmocka_unit_test(fired), cmocka_unit_test(odd_attributes),
		cmocka_unit_test(event),
		cmocka_unit_test(long_names),
		cmocka_unit_test(broken_event),
		cmocka_unit_test(hypercall),
		cmocka_unit_test(broken_hypercall),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(free_nothing), cmocka_unit_test(value_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
