// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters that the kernel refuses. Each test checks the errno, the message, the attribute that
 * the answer points at, and that nothing has changed: neither events nor their filters.
 */
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"
#include "filter.h"
#include "remotes.h"

#define TERMS_MAX	9
#define ACCEPT		FILTER_ACCEPT
#define REJECT		FILTER_REJECT

static struct nl_answer answer;
static struct nl_msg msg;
static struct snapshot before, after;

REMOTE_FIXTURE(filter);

/**
 * struct wrong - a filter that the kernel must refuse
 * @what:	description for the test's output
 * @error:	expected errno
 * @word:	text in the message
 * @blamed:	number of the term that the answer must point at, or NO_TERM
 * @terms:	the terms
 */
struct wrong {
	const char		*what;
	int			error;
	const char		*word;
	int			blamed;
	struct filter_term	terms[TERMS_MAX];
};

#define NO_TERM		(-1)

static unsigned int nr_terms(const struct wrong *wrong)
{
	unsigned int nr = 0;

	while (nr < TERMS_MAX && wrong->terms[nr].field)
		nr++;
	return nr;
}

/* Begin a request for events, and for selftest. */
static void begin(struct nl *nl, const char *remote, const char *other, uint8_t enabled)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	if (other)
		nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, other);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, enabled);
}

#define EXPECT_REFUSED(expected, description, word)					\
	do {										\
		ASSERT_EQ(0, control_snapshot(&self->nl, &before));			\
		EXPECT_EQ(-(expected), nl_do(&self->nl, &msg, &answer))			\
			TH_LOG("%s: \"%s\"", description, answer.message);		\
		EXPECT_NE(NULL, strstr(answer.message, word))				\
			TH_LOG("%s: \"%s\"", description, answer.message);		\
		ASSERT_EQ(0, control_snapshot(&self->nl, &after));			\
		EXPECT_TRUE(snapshot_equal(&before, &after)) TH_LOG("%s", description);	\
	} while (0)

#define EQ_TERM(on_true, on_false) \
	{ "id", HYPTRACE_FILTER_OP_EQ, 1, on_true, on_false }
#define WITHOUT(type) \
	{ "id", HYPTRACE_FILTER_OP_EQ, 1, ACCEPT, REJECT, HYPTRACE_A_TERM_##type }
#define NEXT(term)	EQ_TERM(ACCEPT, (term) + 1)

static const struct wrong wrongs[] = {
	{ "no field", EINVAL, "a term needs field", NO_TERM, { WITHOUT(FIELD) } },
	{ "no operator", EINVAL, "a term needs", NO_TERM, { WITHOUT(OP) } },
	{ "no value", EINVAL, "a term needs", NO_TERM, { NEXT(0), WITHOUT(VALUE) } },
	{ "no on-true", EINVAL, "a term needs", NO_TERM, { WITHOUT(ON_TRUE) } },
	{ "no on-false", EINVAL, "a term needs", NO_TERM, { WITHOUT(ON_FALSE) } },
	{ "an unknown field", ENOENT, "\"selftest\" has no field \"idd\"", 1,
	  { NEXT(0), { "idd", HYPTRACE_FILTER_OP_EQ, 1, ACCEPT, REJECT } } },
	{ "the event id", ENOENT, "no field \"common_type\"", 0,
	  { { "common_type", HYPTRACE_FILTER_OP_EQ, 1, ACCEPT, REJECT } } },
	{ "an empty name", ENOENT, "no field \"\"", 0,
	  { { "", HYPTRACE_FILTER_OP_EQ, 1, ACCEPT, REJECT } } },
	{ "a term that follows itself", EINVAL, "term 0 is not a later term", 0,
	  { EQ_TERM(0, REJECT) } },
	{ "a term that follows a later one", EINVAL, "term 1 is not a later term", 1,
	  { NEXT(0), EQ_TERM(ACCEPT, 0) } },
	{ "a term behind the last one", EINVAL, "term 1 is not a later term", 1,
	  { NEXT(0), EQ_TERM(2, REJECT) } },
	{ "a target that is no number", EINVAL, "254 or 255", 0, { EQ_TERM(ACCEPT, 253) } },
	{ "nine terms", E2BIG, "more than 8 terms", 8,
	  { NEXT(0), NEXT(1), NEXT(2), NEXT(3), NEXT(4), NEXT(5), NEXT(6), NEXT(7),
	    EQ_TERM(ACCEPT, REJECT) } },
};

TEST_F(filter, malformed_terms)
{
	uint32_t offsets[TERMS_MAX];
	const struct wrong *wrong;
	unsigned int with;

	/* without and with a filter, and with events that are recorded */
	for (with = 0; with < 2; with++) {
		for (wrong = wrongs; wrong < wrongs + ARRAY_SIZE(wrongs); wrong++) {
			begin(&self->nl, variant->remote, NULL, 1);
			filter_put(&msg, "x", wrong->terms, nr_terms(wrong), offsets);
			EXPECT_REFUSED(wrong->error, wrong->what, wrong->word);
			EXPECT_EQ(wrong->blamed == NO_TERM ? 0 : offsets[wrong->blamed],
				  answer.offset) TH_LOG("%s", wrong->what);
		}
		ASSERT_EQ(0, filter_enable_id(&self->nl, variant->remote, 7));
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	}
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	EXPECT_STREQ("id == 7", filter_text(&self->nl, variant->remote, "selftest"));
}

/* The policy of the family refuses these. */
TEST_F(filter, malformed_attributes)
{
	static const struct filter_term good = FILTER_TERM("id", EQ, 1);
	static const struct filter_term bad_op = { "id", 7, 1, ACCEPT, REJECT };
	char text[HYPTRACE_FILTER_TEXT_MAX + 2];
	struct filter_term long_name = good;
	char name[HYPTRACE_EVENT_NAME_MAX + 2];
	uint32_t nest;

	begin(&self->nl, variant->remote, NULL, 1);
	filter_put(&msg, "x", &bad_op, 1, NULL);
	EXPECT_REFUSED(ERANGE, "operator 7", "");

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = 0;
	long_name.field = name;
	begin(&self->nl, variant->remote, NULL, 1);
	filter_put(&msg, "x", &long_name, 1, NULL);
	EXPECT_REFUSED(EINVAL, "a name of 64 characters", "");

	begin(&self->nl, variant->remote, NULL, 1);
	filter_put(&msg, NULL, &good, 1, NULL);
	EXPECT_REFUSED(EINVAL, "no text", "a filter needs its text");
	EXPECT_EQ(HYPTRACE_A_FILTER_TEXT, answer.missing);

	begin(&self->nl, variant->remote, NULL, 1);
	filter_put(&msg, "x", NULL, 0, NULL);
	EXPECT_REFUSED(EINVAL, "no terms", "at least one term");
	EXPECT_EQ(HYPTRACE_A_FILTER_TERM, answer.missing);

	begin(&self->nl, variant->remote, NULL, 1);
	nest = nl_nest_begin(&msg, HYPTRACE_A_EVENT_FILTER);
	nl_put_str(&msg, HYPTRACE_A_FILTER_TEXT, "x");
	nl_put_u32(&msg, HYPTRACE_A_FILTER_TERM + 1, 1);
	nl_nest_end(&msg, nest);
	EXPECT_REFUSED(EINVAL, "an unknown attribute", "");

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	begin(&self->nl, variant->remote, NULL, 1);
	filter_put(&msg, text, &good, 1, NULL);
	EXPECT_REFUSED(EINVAL, "a text of 1024 characters", "");
	text[sizeof(text) - 2] = 0;
	ASSERT_EQ(0, filter_enable(&self->nl, variant->remote, "selftest", text, &good, 1));
	EXPECT_STREQ(text, filter_text(&self->nl, variant->remote, "selftest"));
}

TEST_F(filter, of_a_disabled_event)
{
	static const struct filter_term good = FILTER_TERM("id", EQ, 1);
	uint32_t offset;

	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	begin(&self->nl, variant->remote, NULL, 0);
	offset = msg.hdr.nlmsg_len;
	filter_put(&msg, "x", &good, 1, NULL);
	EXPECT_REFUSED(EINVAL, "enabled is 0", "a disabled event has no filter");
	EXPECT_EQ(NLMSG_ALIGN(offset), answer.offset);
}

/* The filter must fit all events, in whatever order they are named. */
TEST_F(filter, that_fits_only_one_of_two_events)
{
	static const struct filter_term good = FILTER_TERM("id", EQ, 1);
	static const struct filter_term other = FILTER_TERM("reason", EQ, 1);
	uint32_t offset;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	begin(&self->nl, variant->remote, "hyp_enter", 1);
	filter_put(&msg, "x", &good, 1, &offset);
	EXPECT_REFUSED(ENOENT, "selftest and hyp_enter", "\"hyp_enter\" has no field \"id\"");
	EXPECT_EQ(offset, answer.offset);

	begin(&self->nl, variant->remote, "hyp_enter", 1);
	filter_put(&msg, "x", &other, 1, &offset);
	EXPECT_REFUSED(ENOENT, "selftest and hyp_enter", "\"selftest\" has no field \"reason\"");
	EXPECT_EQ(offset, answer.offset);

	begin(&self->nl, variant->remote, "no-such", 1);
	filter_put(&msg, "x", &good, 1, NULL);
	EXPECT_REFUSED(ENOENT, "an unknown event", "no such event \"no-such\"");
}

TEST_HARNESS_MAIN
