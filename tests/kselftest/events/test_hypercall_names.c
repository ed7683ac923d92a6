// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypercalls that the driver lists are those of the kernel tree with which this test was
 * built: the compiler has read their numbers from the enum in asm/kvm_asm.h.
 */
#include <string.h>

#include "kselftest_harness.h"
#include "remotes.h"

/* Made by the Makefile: tree_calls */
#include "hypercalls_of_tree.h"

#define ARGS_MAX	4

REMOTE_FIXTURE(hypercalls);

static struct nl_answer answer;
static struct nl_msg msg;

static int dump(struct nl *nl, const char *remote)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_HYPERCALL_GET);
	nl_put_str(&msg, HYPTRACE_A_HYPERCALL_REMOTE, remote);
	return nl_dump(nl, &msg, &answer);
}

/* Find a hypercall in the dump. */
static const struct nlmsghdr *find(const char *name)
{
	const struct nlmsghdr *hdr;

	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr)) {
		if (!strcmp(nl_str(nl_attr(hdr, HYPTRACE_A_HYPERCALL_NAME)), name))
			return hdr;
	}
	return NULL;
}

/* Whether a hypercall in the dump has a number of EL2's modules, which Android has */
static bool is_of_module(const struct nlmsghdr *hdr)
{
	return strstr(nl_str(nl_attr(hdr, HYPTRACE_A_HYPERCALL_NAME)), "_hcall_");
}

/* Get the types and names of the arguments, and return their number. */
static unsigned int get_args(const struct nlmsghdr *hdr, const char *types[ARGS_MAX],
			     const char *names[ARGS_MAX])
{
	const struct nlattr *arg = nl_attr(hdr, HYPTRACE_A_HYPERCALL_ARGS);
	unsigned int nr;

	for (nr = 0; arg && nr < ARGS_MAX; nr++) {
		types[nr] = nl_str(nl_nested(arg, HYPTRACE_A_HYPERCALL_ARG_TYPE));
		names[nr] = nl_str(nl_nested(arg, HYPTRACE_A_HYPERCALL_ARG_NAME));
		arg = nl_attr_next(hdr, arg, HYPTRACE_A_HYPERCALL_ARGS);
	}
	return arg ? ARGS_MAX + 1 : nr;
}

TEST_F(hypercalls, numbers_and_names_are_those_of_the_tree)
{
	const struct nlmsghdr *hdr;
	unsigned int i, nr = 0;

	ASSERT_EQ(0, dump(&self->nl, variant->remote));
	if (!answer.nr) {
		/* It has no hypervisor. */
		EXPECT_STREQ("test", variant->remote);
		return;
	}
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr))
		nr += !is_of_module(hdr);
	EXPECT_EQ(ARRAY_SIZE(tree_calls), nr);
	for (i = 0; i < ARRAY_SIZE(tree_calls); i++) {
		hdr = find(tree_calls[i].name);
		ASSERT_NE(NULL, hdr) TH_LOG("%s", tree_calls[i].name);
		EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_HYPERCALL_REMOTE)));
		EXPECT_EQ(tree_calls[i].id, nl_u32(nl_attr(hdr, HYPTRACE_A_HYPERCALL_ID)))
			TH_LOG("%s", tree_calls[i].name);
	}
	/* The print format has the same names. */
	for (i = 0; i < ARRAY_SIZE(tree_calls); i++) {
		EXPECT_EQ((int)tree_calls[i].id,
			  control_symbol(&self->nl, variant->remote, "host_hcall", "id",
					 tree_calls[i].name))
			TH_LOG("%s", tree_calls[i].name);
	}
}

/* These are the same in all series. */
TEST_F(hypercalls, arguments_are_those_of_the_handlers)
{
	const char *types[ARGS_MAX], *names[ARGS_MAX];
	const struct nlmsghdr *hdr;

	ASSERT_EQ(0, dump(&self->nl, variant->remote));
	if (!answer.nr) {
		EXPECT_STREQ("test", variant->remote);
		return;
	}

	hdr = find("__pkvm_host_share_hyp");
	ASSERT_EQ(1, get_args(hdr, types, names));
	EXPECT_STREQ("u64", types[0]);
	EXPECT_STREQ("pfn", names[0]);
	EXPECT_NE(NULL, nl_attr(hdr, HYPTRACE_A_HYPERCALL_RETURNS));

	hdr = find("__kvm_tlb_flush_vmid_ipa");
	ASSERT_EQ(3, get_args(hdr, types, names));
	EXPECT_STREQ("struct kvm_s2_mmu *", types[0]);
	EXPECT_STREQ("mmu", names[0]);
	EXPECT_STREQ("phys_addr_t", types[1]);
	EXPECT_STREQ("ipa", names[1]);
	EXPECT_STREQ("int", types[2]);
	EXPECT_STREQ("level", names[2]);
	EXPECT_EQ(NULL, nl_attr(hdr, HYPTRACE_A_HYPERCALL_RETURNS));

	EXPECT_EQ(0, get_args(find("__pkvm_prot_finalize"), types, names));

	/* The script that makes the list understands all handlers but these two of Android. */
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr)) {
		const char *name = nl_str(nl_attr(hdr, HYPTRACE_A_HYPERCALL_NAME));

		EXPECT_EQ(is_of_module(hdr) || !strcmp(name, "__pkvm_selftest_event") ||
			  !strcmp(name, "__pkvm_stage2_snapshot"),
			  !!nl_attr(hdr, HYPTRACE_A_HYPERCALL_RAW))
			TH_LOG("%s", name);
	}
}

TEST_HARNESS_MAIN
