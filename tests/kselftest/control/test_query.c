// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver says of a remote whose answers are known: owners of pages, times of visits,
 * hypercalls, and the files in debugfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "page.h"

#define DEBUGFS		"/sys/kernel/debug/hyptrace/"
#define TEST_REMOTE	"test"

FAULTY_FIXTURE(query);

static struct nl_answer answer;
static struct nl_msg msg;

static int get_owners(struct nl *nl, const char *remote, uint64_t pfn, uint32_t count)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_PAGE_GET);
	nl_put_str(&msg, HYPTRACE_A_PAGE_REMOTE, remote);
	nl_put_u64(&msg, HYPTRACE_A_PAGE_PFN, pfn);
	if (count)
		nl_put_u32(&msg, HYPTRACE_A_PAGE_COUNT, count);
	return nl_do(nl, &msg, &answer);
}

static int get_visits(struct nl *nl, const char *remote, uint32_t count)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_VISIT_GET);
	nl_put_str(&msg, HYPTRACE_A_VISIT_REMOTE, remote);
	if (count)
		nl_put_u32(&msg, HYPTRACE_A_VISIT_COUNT, count);
	return nl_do(nl, &msg, &answer);
}

/* Does the answer have the owners of so many pages? */
static bool has_owners(uint64_t pfn, unsigned int nr)
{
	const struct nlattr *owners = nl_attr(nl_first(&answer), HYPTRACE_A_PAGE_OWNERS);
	const struct nlattr *first = nl_attr(nl_first(&answer), HYPTRACE_A_PAGE_PFN);
	unsigned int i;

	if (!owners || owners->nla_len != NLA_HDRLEN + nr || !first || nl_u64(first) != pfn)
		return false;
	for (i = 0; i < nr; i++)
		if (((const uint8_t *)nl_data(owners))[i] != (pfn + i) % 3)
			return false;
	return true;
}

TEST_F(query, owners_are_those_of_the_pages)
{
	ASSERT_EQ(0, get_owners(&self->nl, REMOTE, 100, 0));
	EXPECT_TRUE(has_owners(100, 1));
	ASSERT_EQ(0, get_owners(&self->nl, REMOTE, 0, 3));
	EXPECT_TRUE(has_owners(0, 3));
	ASSERT_EQ(0, get_owners(&self->nl, REMOTE, 1ULL << 40, HYPTRACE_PAGE_COUNT_MAX));
	EXPECT_TRUE(has_owners(1ULL << 40, HYPTRACE_PAGE_COUNT_MAX));
	EXPECT_STREQ(REMOTE, nl_str(nl_attr(nl_first(&answer), HYPTRACE_A_PAGE_REMOTE)));
	/* the last page, and one more */
	ASSERT_EQ(0, get_owners(&self->nl, REMOTE, UINT64_MAX - 1, 1));
	EXPECT_TRUE(has_owners(UINT64_MAX - 1, 1));
	EXPECT_EQ(-ERANGE, get_owners(&self->nl, REMOTE, UINT64_MAX - 1, 2));
	EXPECT_STREQ("page numbers this large do not exist", answer.message);
	EXPECT_EQ(-ERANGE, get_owners(&self->nl, REMOTE, 0, HYPTRACE_PAGE_COUNT_MAX + 1));
}

TEST_F(query, a_remote_that_does_not_exist_is_answered_with_those_that_do)
{
	ASSERT_EQ(0, module_reload("hyptrace_faulty", "remotes=2"));
	EXPECT_EQ(-ENODEV, get_owners(&self->nl, "gone", 0, 0));
	EXPECT_NE(NULL, strstr(answer.message, "no such remote \"gone\"; registered: "));
	EXPECT_NE(NULL, strstr(answer.message, "faulty, faulty2")) TH_LOG("%s", answer.message);
}

TEST_F(query, owners_that_are_not_known_are_an_error)
{
	ASSERT_EQ(0, set_parameter(PARAMETERS "owner_error", -EIO));
	ASSERT_EQ(0, get_owners(&self->nl, REMOTE, 990, 10));
	EXPECT_EQ(-EIO, get_owners(&self->nl, REMOTE, 990, 11));
	EXPECT_STREQ("the remote does not say who owns page 0x3e8: -5", answer.message);
	EXPECT_EQ(-EOPNOTSUPP, get_owners(&self->nl, "faulty2", 1, 1));
	EXPECT_STREQ("\"faulty2\" protects no memory: the host owns all pages", answer.message);
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_PAGE_GET);
	nl_put_str(&msg, HYPTRACE_A_PAGE_REMOTE, REMOTE);
	EXPECT_EQ(-EINVAL, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("the attribute \"pfn\" is missing", answer.message);
}

TEST_F(query, visits_take_the_time_that_the_remote_says)
{
	const uint32_t counts[] = { 0, 1, 7, HYPTRACE_VISIT_COUNT_MAX };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ASSERT_EQ(0, get_visits(&self->nl, REMOTE, counts[i]));
		EXPECT_EQ(1000 * (counts[i] ?: 1),
			  nl_u64(nl_attr(nl_first(&answer), HYPTRACE_A_VISIT_TIME)));
		EXPECT_STREQ(REMOTE, nl_str(nl_attr(nl_first(&answer), HYPTRACE_A_VISIT_REMOTE)));
	}
	EXPECT_EQ(-ERANGE, get_visits(&self->nl, REMOTE, HYPTRACE_VISIT_COUNT_MAX + 1));
	ASSERT_EQ(0, set_parameter(PARAMETERS "visit_error", -EIO));
	EXPECT_EQ(-EIO, get_visits(&self->nl, REMOTE, 1));
	EXPECT_STREQ("remote \"faulty\" failed to time visits (error 5)", answer.message);
	EXPECT_EQ(-EOPNOTSUPP, get_visits(&self->nl, "faulty2", 1));
	EXPECT_STREQ("remote \"faulty2\" is no hypervisor: it has no visits", answer.message);
}

static bool is_arg(const struct nlattr *arg, const char *type, const char *name)
{
	return arg && !strcmp(nl_str(nl_nested(arg, HYPTRACE_A_HYPERCALL_ARG_TYPE)), type) &&
	       !strcmp(nl_str(nl_nested(arg, HYPTRACE_A_HYPERCALL_ARG_NAME)), name);
}

TEST_F(query, hypercalls_are_listed_as_described)
{
	const struct nlmsghdr *call;
	const struct nlattr *arg;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_HYPERCALL_GET);
	nl_put_str(&msg, HYPTRACE_A_HYPERCALL_REMOTE, REMOTE);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	ASSERT_EQ(3, answer.nr);
	call = nl_first(&answer);
	EXPECT_EQ(7, nl_u32(nl_attr(call, HYPTRACE_A_HYPERCALL_ID)));
	EXPECT_STREQ("seven", nl_str(nl_attr(call, HYPTRACE_A_HYPERCALL_NAME)));
	EXPECT_STREQ(REMOTE, nl_str(nl_attr(call, HYPTRACE_A_HYPERCALL_REMOTE)));
	EXPECT_FALSE(nl_attr(call, HYPTRACE_A_HYPERCALL_ARGS));
	EXPECT_FALSE(nl_attr(call, HYPTRACE_A_HYPERCALL_RETURNS));
	EXPECT_FALSE(nl_attr(call, HYPTRACE_A_HYPERCALL_RAW));
	call = nl_next(&answer, call);
	EXPECT_STREQ("eight", nl_str(nl_attr(call, HYPTRACE_A_HYPERCALL_NAME)));
	EXPECT_TRUE(nl_attr(call, HYPTRACE_A_HYPERCALL_RETURNS));
	EXPECT_FALSE(nl_attr(call, HYPTRACE_A_HYPERCALL_RAW));
	arg = nl_attr(call, HYPTRACE_A_HYPERCALL_ARGS);
	EXPECT_TRUE(is_arg(arg, "u64", "pfn"));
	arg = nl_attr_next(call, arg, HYPTRACE_A_HYPERCALL_ARGS);
	EXPECT_TRUE(is_arg(arg, "struct kvm *", "kvm"));
	EXPECT_FALSE(nl_attr_next(call, arg, HYPTRACE_A_HYPERCALL_ARGS));
	call = nl_next(&answer, call);
	EXPECT_EQ(9, nl_u32(nl_attr(call, HYPTRACE_A_HYPERCALL_ID)));
	EXPECT_FALSE(nl_attr(call, HYPTRACE_A_HYPERCALL_RETURNS));
	EXPECT_TRUE(nl_attr(call, HYPTRACE_A_HYPERCALL_RAW));
}

/* How many hypercalls a remote has, or all have; or an errno */
static int nr_hypercalls(struct nl *nl, const char *remote)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_HYPERCALL_GET);
	if (remote)
		nl_put_str(&msg, HYPTRACE_A_HYPERCALL_REMOTE, remote);
	return nl_dump(nl, &msg, &answer) ?: (int)answer.nr;
}

TEST_F(query, hypercalls_are_those_of_one_remote_or_of_all)
{
	int nr;

	EXPECT_EQ(3, nr_hypercalls(&self->nl, REMOTE));
	EXPECT_EQ(0, nr_hypercalls(&self->nl, "faulty2"));
	EXPECT_EQ(3, nr_hypercalls(&self->nl, "faulty4"));
	nr = nr_hypercalls(&self->nl, "hypervisor");
	EXPECT_TRUE(nr >= 0 || nr == -ENODEV);
	EXPECT_EQ(6 + (nr > 0 ? nr : 0), nr_hypercalls(&self->nl, NULL));
}

/* Read a file of debugfs. Return the number behind the name of a line, or -1. */
static long long number_of(const char *file, const char *section, const char *name)
{
	char path[128], line[128];
	long long value = -1;
	bool is_in = !section;
	FILE *stream;

	snprintf(path, sizeof(path), DEBUGFS "%s", file);
	stream = fopen(path, "r");
	while (stream && value < 0 && fgets(line, sizeof(line), stream)) {
		if (section && line[0] != ' ')
			is_in = !strncmp(line, section, strlen(section));
		if (is_in && !strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ":%lld", &value);
	}
	if (stream)
		fclose(stream);
	return value;
}

/* Does the file have this line? */
static bool has_line(const char *file, const char *text)
{
	char path[128], line[128];
	bool found = false;
	FILE *stream;

	snprintf(path, sizeof(path), DEBUGFS "%s", file);
	stream = fopen(path, "r");
	while (stream && fgets(line, sizeof(line), stream))
		found |= !strncmp(line, text, strlen(text)) && line[strlen(text)] == '\n';
	if (stream)
		fclose(stream);
	return found;
}

TEST_F(query, debugfs_has_the_state_of_a_ring)
{
	static const char writer[] = "reader's page, as the writer has it:";
	static const char driver[] = "reader's page, as the driver has it:";
	static uint8_t page[PAGE_MAX];
	const unsigned int nr = 3 * PER_SUBBUF + 5;
	struct counts counts;
	int fd;

	EXPECT_TRUE(has_line(REMOTE "/calls", "12345"));
	EXPECT_EQ(0, access(DEBUGFS "faulty2/cpu0", F_OK));
	EXPECT_NE(0, access(DEBUGFS "faulty2/calls", F_OK));
	ASSERT_EQ(0, control_fresh(&self->nl, TEST_REMOTE));
	EXPECT_TRUE(has_line(TEST_REMOTE "/cpu0", "state:\t\tunloaded"));
	ASSERT_EQ(0, control_ready(&self->nl, TEST_REMOTE, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_TRUE(has_line(TEST_REMOTE "/cpu0", "state:\t\tattached"));
	ASSERT_EQ(0, control_mark(&self->nl, TEST_REMOTE, 0, 0, nr));
	fd = open_attached(TEST_REMOTE, 0, O_NONBLOCK);
	ASSERT_EQ(PAGE, read(fd, page, PAGE));
	ASSERT_EQ(0, control_counts(&self->nl, TEST_REMOTE, 0, &counts));
	EXPECT_EQ(counts.nr_subbufs, number_of(TEST_REMOTE "/cpu0", NULL, "sub-buffers"));
	EXPECT_EQ(nr, number_of(TEST_REMOTE "/cpu0", NULL, "written"));
	EXPECT_EQ(PER_SUBBUF, number_of(TEST_REMOTE "/cpu0", NULL, "read"));
	EXPECT_EQ(0, number_of(TEST_REMOTE "/cpu0", NULL, "overrun"));
	EXPECT_EQ(0, number_of(TEST_REMOTE "/cpu0", NULL, "dropped"));
	EXPECT_EQ(number_of(TEST_REMOTE "/cpu0", writer, "  id"),
		  number_of(TEST_REMOTE "/cpu0", driver, "  id"));
	EXPECT_LE(0, number_of(TEST_REMOTE "/cpu0", driver, "  id"));
	EXPECT_EQ(PER_SUBBUF * RECORD, number_of(TEST_REMOTE "/cpu0", driver, "  commit"));
	EXPECT_EQ(PER_SUBBUF * RECORD, number_of(TEST_REMOTE "/cpu0", driver, "  consumed"));
	EXPECT_EQ(PER_SUBBUF, number_of(TEST_REMOTE "/cpu0", driver, "  events"));
	EXPECT_EQ(PER_SUBBUF, number_of(TEST_REMOTE "/cpu0", writer, "  events"));
	EXPECT_EQ(0, number_of(TEST_REMOTE "/cpu0", driver, "  lost before"));
	EXPECT_EQ(0, number_of(TEST_REMOTE "/cpu0", writer, "  lost before"));
	EXPECT_LT(0, number_of(TEST_REMOTE "/cpu0", driver, "  time stamp"));
	/* Nobody else has asked for the counts. */
	ASSERT_EQ(0, control_mark(&self->nl, TEST_REMOTE, 0, nr, 1));
	EXPECT_EQ(nr + 1, number_of(TEST_REMOTE "/cpu0", NULL, "written"));

	/* The ring is full several times: the next page follows lost events. */
	ASSERT_EQ(0, control_mark(&self->nl, TEST_REMOTE, 0, nr + 1, 20 * PER_SUBBUF));
	ASSERT_EQ(PAGE, read(fd, page, PAGE));
	ASSERT_EQ(0, control_counts(&self->nl, TEST_REMOTE, 0, &counts));
	EXPECT_EQ(counts.overrun, number_of(TEST_REMOTE "/cpu0", NULL, "overrun"));
	EXPECT_LT(0, counts.overrun);
	EXPECT_EQ(counts.overrun, number_of(TEST_REMOTE "/cpu0", writer, "  lost before"));
	EXPECT_EQ(counts.overrun, number_of(TEST_REMOTE "/cpu0", driver, "  lost before"));
	close(fd);
	ASSERT_EQ(0, control_fresh(&self->nl, TEST_REMOTE));
}

TEST_F(query, debugfs_has_no_files_of_a_remote_that_is_gone)
{
	EXPECT_EQ(0, access(DEBUGFS REMOTE "/cpu0", F_OK));
	ASSERT_EQ(0, set_parameter(PARAMETERS "unregister", 1));
	EXPECT_NE(0, access(DEBUGFS REMOTE, F_OK));
	EXPECT_EQ(0, access(DEBUGFS "faulty2/cpu0", F_OK));
}

TEST_HARNESS_MAIN
