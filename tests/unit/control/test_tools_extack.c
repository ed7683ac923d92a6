// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's answer to a request that it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "lib/control/message.h"

/* A message under construction */
struct message {
	union {
		struct nlmsghdr	nlh;
		char		bytes[512];
	};
};

static void add(struct message *m, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(m->nlh.nlmsg_len);

	memcpy(m->bytes + at, data, len);
	m->nlh.nlmsg_len = at + len;
}

/* Add an attribute; return its offset. */
static uint32_t add_attr(struct message *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	uint32_t at = NLMSG_ALIGN(m->nlh.nlmsg_len);

	add(m, &attr, sizeof(attr));
	add(m, data, len);
	return at;
}

static void begin_request(struct message *m, uint8_t cmd)
{
	struct genlmsghdr genl = { .cmd = cmd, .version = 1 };

	memset(m, 0, sizeof(*m));
	m->nlh.nlmsg_len = NLMSG_HDRLEN;
	m->nlh.nlmsg_type = NLMSG_MIN_TYPE;
	add(m, &genl, sizeof(genl));
}

static void begin_error(struct message *m, int error, const struct message *request, uint16_t flags)
{
	memset(m, 0, sizeof(*m));
	m->nlh.nlmsg_len = NLMSG_HDRLEN;
	m->nlh.nlmsg_type = NLMSG_ERROR;
	m->nlh.nlmsg_flags = flags;
	add(m, &error, sizeof(error));
	add(m, request, flags & NLM_F_CAPPED ? NLMSG_HDRLEN : request->nlh.nlmsg_len);
}

static void add_msg(struct message *m, const char *text)
{
	add_attr(m, NLMSGERR_ATTR_MSG, text, strlen(text) + 1);
}

static void event_set(struct message *m, uint32_t *foo)
{
	begin_request(m, HYPTRACE_CMD_EVENT_SET);
	add_attr(m, HYPTRACE_A_EVENT_REMOTE, "test", 5);
	add_attr(m, HYPTRACE_A_EVENT_NAMES, "hyp_enter", 10);
	*foo = add_attr(m, HYPTRACE_A_EVENT_NAMES, "foo", 4);
}

static void granted(void **state)
{
	struct message request, answer;
	struct hyptrace_extack ext;
	uint32_t foo;

	(void)state;
	event_set(&request, &foo);
	begin_error(&answer, 0, &request, NLM_F_CAPPED);
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_int_equal(ext.errnum, 0);
	assert_null(ext.msg);
}

static void refused(struct message *request, uint32_t offset, uint16_t flags, const char *subject)
{
	struct nlmsghdr *exact = malloc(request->nlh.nlmsg_len);
	struct hyptrace_extack ext;
	struct hyptrace_error err;
	struct message answer;

	begin_error(&answer, -ENOENT, request, flags | NLM_F_ACK_TLVS);
	add_msg(&answer, "no such event");
	add_attr(&answer, NLMSGERR_ATTR_OFFS, &offset, sizeof(offset));
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, answer.nlh.nlmsg_len, &ext), 0);
	assert_int_equal(ext.errnum, ENOENT);
	assert_int_equal(ext.offset, offset);
	/* ASan reports reads beyond the end of the request */
	memcpy(exact, request, request->nlh.nlmsg_len);
	hyptrace_extack_error(&ext, exact, NULL);
	hyptrace_extack_error(&ext, exact, &err);
	free(exact);
	assert_int_equal(err.errnum, ENOENT);
	assert_string_equal(err.text, "no such event");
	assert_string_equal(err.subject, subject);
}

static void message_and_offset(void **state)
{
	struct message request;
	uint32_t foo;

	(void)state;
	event_set(&request, &foo);
	refused(&request, foo, 0, "foo");
	refused(&request, foo, NLM_F_CAPPED, "foo");
	/* offsets that point to no attribute */
	refused(&request, 0, 0, "");
	refused(&request, 4, 0, "");
	refused(&request, request.nlh.nlmsg_len, 0, "");
	refused(&request, request.nlh.nlmsg_len - 2, 0, "");
	refused(&request, UINT32_MAX, 0, "");
}

/* A string inside a nest is not a name, whatever its type. */
static void offset_inside_a_nest(void **state)
{
	char nest[NLA_HDRLEN + 8] = { 0 };
	const struct nlattr text = {
		.nla_len = NLA_HDRLEN + 6, .nla_type = HYPTRACE_A_FILTER_TEXT,
	};
	struct message request;
	uint32_t foo, filter;

	(void)state;
	assert_int_equal(HYPTRACE_A_FILTER_TEXT, HYPTRACE_A_EVENT_REMOTE);
	memcpy(nest, &text, sizeof(text));
	memcpy(nest + NLA_HDRLEN, "id==1", 6);
	event_set(&request, &foo);
	filter = add_attr(&request, HYPTRACE_A_EVENT_FILTER, nest, sizeof(nest));
	foo = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "bar", 4);
	refused(&request, filter, 0, "");
	refused(&request, filter + NLA_HDRLEN, 0, "");
	refused(&request, foo, 0, "bar");
}

/* An attribute must be completely inside the request, and after its headers. */
static void offset_of_no_attribute(void **state)
{
	struct nlattr name = { .nla_len = NLA_HDRLEN + 3, .nla_type = HYPTRACE_A_CONTROL_REMOTE };
	struct genlmsghdr genl = { .cmd = 'n', .version = 'o' };
	struct message request;
	uint32_t foo;

	(void)state;
	/* the end of the attribute's text is missing */
	event_set(&request, &foo);
	request.nlh.nlmsg_len--;
	refused(&request, foo, 0, "");

	/* the port and the family's header look like an attribute */
	begin_request(&request, genl.cmd);
	memcpy(&request.nlh.nlmsg_pid, &name, sizeof(name));
	memcpy(request.bytes + NLMSG_HDRLEN, &genl, sizeof(genl));
	refused(&request, offsetof(struct nlmsghdr, nlmsg_pid), 0, "");
}

static void not_a_name(void **state)
{
	struct message request;
	uint32_t value = 0x41424344, offset;
	uint8_t control[] = "a\033[1m";

	(void)state;
	begin_request(&request, HYPTRACE_CMD_MARK);
	offset = add_attr(&request, HYPTRACE_A_CONTROL_CPU, &value, sizeof(value));
	refused(&request, offset, 0, "");
	begin_request(&request, HYPTRACE_CMD_MARK);
	offset = add_attr(&request, HYPTRACE_A_CONTROL_REMOTE, control, sizeof(control));
	refused(&request, offset, 0, "");
	/* the name has no NUL at its end */
	begin_request(&request, HYPTRACE_CMD_MARK);
	offset = add_attr(&request, HYPTRACE_A_CONTROL_REMOTE, "test", 4);
	refused(&request, offset, 0, "");
}

static void end_of_dump(void **state)
{
	struct message request, answer;
	struct hyptrace_extack ext;
	struct hyptrace_error err;
	int error = -EPERM;

	(void)state;
	begin_request(&request, HYPTRACE_CMD_CPU_GET);
	memset(&answer, 0, sizeof(answer));
	answer.nlh.nlmsg_len = NLMSG_HDRLEN;
	answer.nlh.nlmsg_type = NLMSG_DONE;
	/* an old kernel sends nothing else */
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_int_equal(ext.errnum, 0);

	answer.nlh.nlmsg_flags = NLM_F_MULTI | NLM_F_ACK_TLVS;
	add(&answer, &error, sizeof(error));
	add_msg(&answer, "CAP_PERFMON is needed");
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_int_equal(ext.errnum, EPERM);
	hyptrace_extack_error(&ext, &request.nlh, &err);
	assert_string_equal(err.text, "CAP_PERFMON is needed");
}

static void without_words(void **state)
{
	struct message request, answer;
	struct hyptrace_extack ext;
	struct hyptrace_error err;

	(void)state;
	begin_request(&request, HYPTRACE_CMD_START);
	begin_error(&answer, -EPERM, &request, 0);
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	hyptrace_extack_error(&ext, &request.nlh, &err);
	assert_non_null(strstr(err.text, "CAP_PERFMON"));

	begin_error(&answer, -EBUSY, &request, 0);
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	hyptrace_extack_error(&ext, &request.nlh, &err);
	assert_string_equal(err.text, strerror(EBUSY));
	/* without a place for the error */
	hyptrace_extack_error(&ext, &request.nlh, NULL);
}

static void parse(const struct message *answer, struct hyptrace_extack *ext)
{
	assert_int_equal(hyptrace_extack_parse(&answer->nlh, sizeof(*answer), ext), 0);
}

static void attributes(void **state)
{
	const uint32_t offset = 20;
	struct message request, answer;
	struct hyptrace_extack ext;
	uint32_t len;

	(void)state;
	begin_request(&request, HYPTRACE_CMD_START);
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	/* an empty unknown attribute must not hide those after it */
	add_attr(&answer, 99, "", 0);
	add_attr(&answer, NLMSGERR_ATTR_OFFS, &offset, sizeof(offset));
	len = answer.nlh.nlmsg_len;
	add_msg(&answer, "a reason");
	parse(&answer, &ext);
	assert_int_equal(ext.errnum, EINVAL);
	assert_int_equal(ext.offset, 20);
	assert_int_equal(ext.msg_len, strlen("a reason"));
	assert_memory_equal(ext.msg, "a reason", ext.msg_len);
	/*
	 * Bytes after the message do not belong to it, nor do attributes without the flag that
	 * announces them.
	 */
	answer.nlh.nlmsg_len = len;
	parse(&answer, &ext);
	assert_int_equal(ext.offset, 20);
	assert_null(ext.msg);
	answer.nlh.nlmsg_flags = 0;
	parse(&answer, &ext);
	assert_int_equal(ext.errnum, EINVAL);
	assert_int_equal(ext.offset, 0);

	/* an empty message at the very end */
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	add_attr(&answer, NLMSGERR_ATTR_MSG, "", 0);
	parse(&answer, &ext);
	assert_non_null(ext.msg);
	assert_int_equal(ext.msg_len, 0);

	/* after a request that is only a header */
	request.nlh.nlmsg_len = NLMSG_HDRLEN;
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	add_msg(&answer, "a reason");
	parse(&answer, &ext);
	assert_non_null(ext.msg);

	/* a number that is too short */
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	add_attr(&answer, NLMSGERR_ATTR_OFFS, &offset, 3);
	parse(&answer, &ext);
	assert_int_equal(ext.offset, 0);
}

static void error_codes(void **state)
{
	static const struct {
		int	error;
		int	errnum;
	} codes[] = {
		{ 0, 0 }, { -1, 1 }, { -4095, 4095 }, { -4096, EBADMSG }, { 5, 0 },
	};
	struct message request, answer;
	struct hyptrace_extack ext;
	size_t i;

	(void)state;
	begin_request(&request, HYPTRACE_CMD_START);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		begin_error(&answer, codes[i].error, &request, 0);
		parse(&answer, &ext);
		assert_int_equal(ext.errnum, codes[i].errnum);
	}
	/* EACCES has the same text as EPERM */
	for (i = 0; i < 2; i++) {
		struct hyptrace_error err;

		ext = (struct hyptrace_extack){ .errnum = i ? EACCES : EPERM };
		hyptrace_extack_error(&ext, &request.nlh, &err);
		assert_non_null(strstr(err.text, "CAP_PERFMON"));
	}
}

/*
 * For each request that may have a wrong name, the error quotes the name, and no other
 * attribute.
 */
static void names_at_fault(void **state)
{
	static const struct {
		int		cmd;
		uint16_t	type;
		bool		is_name;
	} attrs[] = {
		{ HYPTRACE_CMD_REMOTE_GET, HYPTRACE_A_REMOTE_NAME, true },
		{ HYPTRACE_CMD_REMOTE_GET, HYPTRACE_A_REMOTE_STATE, false },
		{ HYPTRACE_CMD_EVENT_GET, HYPTRACE_A_EVENT_REMOTE, true },
		{ HYPTRACE_CMD_EVENT_GET, HYPTRACE_A_EVENT_NAME, true },
		{ HYPTRACE_CMD_EVENT_GET, HYPTRACE_A_EVENT_ID, false },
		{ HYPTRACE_CMD_EVENT_SET, HYPTRACE_A_EVENT_REMOTE, true },
		{ HYPTRACE_CMD_EVENT_SET, HYPTRACE_A_EVENT_NAMES, true },
		{ HYPTRACE_CMD_EVENT_SET, HYPTRACE_A_EVENT_ENABLED, false },
		{ HYPTRACE_CMD_CPU_GET, HYPTRACE_A_CPU_REMOTE, true },
		{ HYPTRACE_CMD_LOAD, HYPTRACE_A_CONTROL_REMOTE, true },
		{ HYPTRACE_CMD_LOAD, HYPTRACE_A_CONTROL_SIZE, false },
	};
	struct message request;
	uint32_t offset;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		begin_request(&request, attrs[i].cmd);
		offset = add_attr(&request, attrs[i].type, "name", 5);
		refused(&request, offset, 0, attrs[i].is_name ? "name" : "");
	}
}

/* Names of the maximal length and one that is longer; a short name, a blank, an empty name. */
static void long_names(void **state)
{
	char name[HYPTRACE_EVENT_NAME_MAX + 3];
	struct message request;
	uint32_t offset;
	size_t len;

	(void)state;
	for (len = HYPTRACE_EVENT_NAME_MAX; len <= HYPTRACE_EVENT_NAME_MAX + 1; len++) {
		memset(name, 'n', len);
		name[len] = '\0';
		begin_request(&request, HYPTRACE_CMD_EVENT_SET);
		offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, name, len + 1);
		refused(&request, offset, 0, len == HYPTRACE_EVENT_NAME_MAX ? name : "");
	}
	begin_request(&request, HYPTRACE_CMD_EVENT_SET);
	offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "a b", 4);
	refused(&request, offset, 0, "");
	begin_request(&request, HYPTRACE_CMD_EVENT_SET);
	offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "\177", 2);
	refused(&request, offset, 0, "");
	begin_request(&request, HYPTRACE_CMD_EVENT_SET);
	offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "", 1);
	refused(&request, offset, 0, "");
	begin_request(&request, HYPTRACE_CMD_EVENT_SET);
	offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "!~", 3);
	refused(&request, offset, 0, "!~");
	begin_request(&request, HYPTRACE_CMD_EVENT_SET);
	offset = add_attr(&request, HYPTRACE_A_EVENT_NAMES, "e", 2);
	refused(&request, offset, 0, "e");
}

/* The end of a dump, truncated at each length; ASan reports reads beyond it. */
static void end_of_dump_cut_off(void **state)
{
	struct message answer = {};
	struct hyptrace_extack ext;
	struct nlmsghdr *exact;
	int error = -EPERM;
	uint32_t len;

	(void)state;
	answer.nlh.nlmsg_type = NLMSG_DONE;
	answer.nlh.nlmsg_flags = NLM_F_ACK_TLVS;
	answer.nlh.nlmsg_len = NLMSG_HDRLEN;
	add(&answer, &error, sizeof(error));
	add_msg(&answer, "a reason");
	for (len = NLMSG_HDRLEN; len <= answer.nlh.nlmsg_len; len++) {
		exact = malloc(len);
		memcpy(exact, &answer, len);
		exact->nlmsg_len = len;
		assert_int_equal(hyptrace_extack_parse(exact, len, &ext), 0);
		assert_int_equal(ext.errnum, len < NLMSG_HDRLEN + sizeof(error) ? 0 : EPERM);
		assert_int_equal(!!ext.msg, len == answer.nlh.nlmsg_len);
		/* its length must not exceed that of the received data */
		assert_int_equal(hyptrace_extack_parse(exact, len - 1, &ext), -EBADMSG);
		free(exact);
	}
}

static void nonsense(void **state)
{
	struct message request, answer;
	struct hyptrace_extack ext;
	char *exact;
	uint32_t len;
	int ret;

	(void)state;
	begin_request(&request, HYPTRACE_CMD_START);
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	add_msg(&answer, "a reason");

	assert_int_equal(hyptrace_extack_parse(&answer.nlh, 8, &ext), -EBADMSG);
	assert_int_equal(hyptrace_extack_parse(&request.nlh, sizeof(request), &ext), -EBADMSG);
	/* all attributes of an error, but another message type */
	answer.nlh.nlmsg_type = NLMSG_NOOP;
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), -EBADMSG);
	answer.nlh.nlmsg_type = NLMSG_ERROR;

	/* truncated at each length; ASan reports reads beyond it */
	for (len = NLMSG_HDRLEN; len <= answer.nlh.nlmsg_len; len++) {
		exact = malloc(len);
		memcpy(exact, answer.bytes, len);
		((struct nlmsghdr *)exact)->nlmsg_len = len;
		ret = hyptrace_extack_parse((struct nlmsghdr *)exact, len, &ext);
		assert_int_equal(ret, len < NLMSG_HDRLEN + sizeof(struct nlmsgerr) ? -EBADMSG : 0);
		if (ext.msg)
			assert_true(ext.msg + ext.msg_len <= exact + len);
		free(exact);
	}

	/* the end of a dump that is shorter than its own header */
	begin_error(&answer, -EINVAL, &request, 0);
	answer.nlh.nlmsg_type = NLMSG_DONE;
	answer.nlh.nlmsg_len = NLMSG_HDRLEN - 1;
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), -EBADMSG);

	/* the quoted request has an absurd length */
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	((struct nlmsgerr *)NLMSG_DATA(&answer.nlh))->msg.nlmsg_len = 0xfffffff0;
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_null(ext.msg);

	/* or one that is too short: bytes of it must not be taken for an attribute */
	begin_error(&answer, -EINVAL, &request, NLM_F_ACK_TLVS);
	((struct nlmsgerr *)NLMSG_DATA(&answer.nlh))->msg.nlmsg_len = 8;
	((struct nlmsgerr *)NLMSG_DATA(&answer.nlh))->msg.nlmsg_seq = 8 | NLMSGERR_ATTR_MSG << 16;
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_null(ext.msg);

	/* an invalid error code */
	begin_error(&answer, INT32_MIN, &request, 0);
	assert_int_equal(hyptrace_extack_parse(&answer.nlh, sizeof(answer), &ext), 0);
	assert_int_equal(ext.errnum, EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(granted),
		cmocka_unit_test(message_and_offset),
		cmocka_unit_test(offset_inside_a_nest), cmocka_unit_test(offset_of_no_attribute),
		cmocka_unit_test(not_a_name),
		cmocka_unit_test(end_of_dump),
		cmocka_unit_test(without_words),
		cmocka_unit_test(attributes),
		cmocka_unit_test(error_codes),
		cmocka_unit_test(names_at_fault),
		cmocka_unit_test(long_names),
		cmocka_unit_test(end_of_dump_cut_off),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
