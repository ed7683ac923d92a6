// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/hyptrace.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/hyptrace_netlink.h>

/* Integer value ranges */
static const struct netlink_range_validation hyptrace_a_event_pmu_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation hyptrace_a_control_count_range = {
	.min	= 1ULL,
	.max	= HYPTRACE_MARK_COUNT_MAX,
};

static const struct netlink_range_validation hyptrace_a_control_rate_range = {
	.max	= HYPTRACE_RATE_MAX,
};

/* Common nested types */
const struct nla_policy hyptrace_filter_nl_policy[HYPTRACE_A_FILTER_TERM + 1] = {
	[HYPTRACE_A_FILTER_TEXT] = { .type = NLA_NUL_STRING, .len = HYPTRACE_FILTER_TEXT_MAX, },
	[HYPTRACE_A_FILTER_TERM] = NLA_POLICY_NESTED(hyptrace_term_nl_policy),
};

const struct nla_policy hyptrace_term_nl_policy[HYPTRACE_A_TERM_ON_FALSE + 1] = {
	[HYPTRACE_A_TERM_FIELD] = { .type = NLA_NUL_STRING, .len = HYPTRACE_EVENT_NAME_MAX, },
	[HYPTRACE_A_TERM_OP] = NLA_POLICY_MAX(NLA_U32, 6),
	[HYPTRACE_A_TERM_VALUE] = { .type = NLA_U64, },
	[HYPTRACE_A_TERM_ON_TRUE] = { .type = NLA_U8, },
	[HYPTRACE_A_TERM_ON_FALSE] = { .type = NLA_U8, },
};

/* HYPTRACE_CMD_REMOTE_GET - do */
static const struct nla_policy hyptrace_remote_get_nl_policy[HYPTRACE_A_REMOTE_NAME + 1] = {
	[HYPTRACE_A_REMOTE_NAME] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_CPU_GET - do */
static const struct nla_policy hyptrace_cpu_get_do_nl_policy[HYPTRACE_A_CPU_ID + 1] = {
	[HYPTRACE_A_CPU_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CPU_ID] = { .type = NLA_U32, },
};

/* HYPTRACE_CMD_CPU_GET - dump */
static const struct nla_policy hyptrace_cpu_get_dump_nl_policy[HYPTRACE_A_CPU_REMOTE + 1] = {
	[HYPTRACE_A_CPU_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_EVENT_GET - do */
static const struct nla_policy hyptrace_event_get_do_nl_policy[HYPTRACE_A_EVENT_NAME + 1] = {
	[HYPTRACE_A_EVENT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_EVENT_NAME] = { .type = NLA_NUL_STRING, .len = HYPTRACE_EVENT_NAME_MAX, },
};

/* HYPTRACE_CMD_EVENT_GET - dump */
static const struct nla_policy hyptrace_event_get_dump_nl_policy[HYPTRACE_A_EVENT_REMOTE + 1] = {
	[HYPTRACE_A_EVENT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_EVENT_SET - do */
static const struct nla_policy hyptrace_event_set_nl_policy[HYPTRACE_A_EVENT_HOLD + 1] = {
	[HYPTRACE_A_EVENT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_EVENT_NAMES] = { .type = NLA_STRING, .len = HYPTRACE_EVENT_NAME_MAX, },
	[HYPTRACE_A_EVENT_ENABLED] = NLA_POLICY_MAX(NLA_U8, 1),
	[HYPTRACE_A_EVENT_FILTER] = NLA_POLICY_NESTED(hyptrace_filter_nl_policy),
	[HYPTRACE_A_EVENT_TRIGGER] = NLA_POLICY_MAX(NLA_U32, 4),
	[HYPTRACE_A_EVENT_AFTER] = { .type = NLA_U32, },
	[HYPTRACE_A_EVENT_HOLD] = { .type = NLA_FLAG, },
};

/* HYPTRACE_CMD_LOAD - do */
static const struct nla_policy hyptrace_load_nl_policy[HYPTRACE_A_CONTROL_MODE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CONTROL_SIZE] = { .type = NLA_U64, },
	[HYPTRACE_A_CONTROL_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* HYPTRACE_CMD_UNLOAD - do */
static const struct nla_policy hyptrace_unload_nl_policy[HYPTRACE_A_CONTROL_REMOTE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_START - do */
static const struct nla_policy hyptrace_start_nl_policy[HYPTRACE_A_CONTROL_REMOTE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_STOP - do */
static const struct nla_policy hyptrace_stop_nl_policy[HYPTRACE_A_CONTROL_REMOTE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_CLEAR - do */
static const struct nla_policy hyptrace_clear_nl_policy[HYPTRACE_A_CONTROL_CPU + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CONTROL_CPU] = { .type = NLA_U32, },
};

/* HYPTRACE_CMD_RESET - do */
static const struct nla_policy hyptrace_reset_nl_policy[HYPTRACE_A_CONTROL_REMOTE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_SET - do */
static const struct nla_policy hyptrace_set_nl_policy[HYPTRACE_A_CONTROL_RATE + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CONTROL_SIZE] = { .type = NLA_U64, },
	[HYPTRACE_A_CONTROL_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
	[HYPTRACE_A_CONTROL_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &hyptrace_a_control_rate_range),
};

/* HYPTRACE_CMD_MARK - do */
static const struct nla_policy hyptrace_mark_nl_policy[HYPTRACE_A_CONTROL_COUNT + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CONTROL_CPU] = { .type = NLA_U32, },
	[HYPTRACE_A_CONTROL_VALUE] = { .type = NLA_U64, },
	[HYPTRACE_A_CONTROL_COUNT] = NLA_POLICY_FULL_RANGE(NLA_U32, &hyptrace_a_control_count_range),
};

/* HYPTRACE_CMD_HYPERCALL_GET - dump */
static const struct nla_policy hyptrace_hypercall_get_nl_policy[HYPTRACE_A_HYPERCALL_REMOTE + 1] = {
	[HYPTRACE_A_HYPERCALL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* HYPTRACE_CMD_COUNT_SET - do */
static const struct nla_policy hyptrace_count_set_nl_policy[HYPTRACE_A_EVENT_PMU + 1] = {
	[HYPTRACE_A_EVENT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_EVENT_NAMES] = { .type = NLA_STRING, .len = HYPTRACE_EVENT_NAME_MAX, },
	[HYPTRACE_A_EVENT_ENABLED] = NLA_POLICY_MAX(NLA_U8, 1),
	[HYPTRACE_A_EVENT_HOLD] = { .type = NLA_FLAG, },
	[HYPTRACE_A_EVENT_PMU] = NLA_POLICY_FULL_RANGE(NLA_U32, &hyptrace_a_event_pmu_range),
};

/* HYPTRACE_CMD_COUNT_GET - dump */
static const struct nla_policy hyptrace_count_get_nl_policy[HYPTRACE_A_COUNTER_CPU + 1] = {
	[HYPTRACE_A_COUNTER_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_COUNTER_CPU] = { .type = NLA_U32, },
};

/* HYPTRACE_CMD_COUNT_RESET - do */
static const struct nla_policy hyptrace_count_reset_nl_policy[HYPTRACE_A_CONTROL_CPU + 1] = {
	[HYPTRACE_A_CONTROL_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_CONTROL_CPU] = { .type = NLA_U32, },
};

/* HYPTRACE_CMD_PAGE_GET - do */
static const struct nla_policy hyptrace_page_get_nl_policy[HYPTRACE_A_PAGE_COUNT + 1] = {
	[HYPTRACE_A_PAGE_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_PAGE_PFN] = { .type = NLA_U64, },
	[HYPTRACE_A_PAGE_COUNT] = NLA_POLICY_RANGE(NLA_U32, 1, HYPTRACE_PAGE_COUNT_MAX),
};

/* HYPTRACE_CMD_VISIT_GET - do */
static const struct nla_policy hyptrace_visit_get_nl_policy[HYPTRACE_A_VISIT_COUNT + 1] = {
	[HYPTRACE_A_VISIT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
	[HYPTRACE_A_VISIT_COUNT] = NLA_POLICY_RANGE(NLA_U32, 1, HYPTRACE_VISIT_COUNT_MAX),
};

/* HYPTRACE_CMD_EVENT_RELEASE - do */
static const struct nla_policy hyptrace_event_release_nl_policy[HYPTRACE_A_EVENT_REMOTE + 1] = {
	[HYPTRACE_A_EVENT_REMOTE] = { .type = NLA_NUL_STRING, .len = HYPTRACE_REMOTE_NAME_MAX, },
};

/* Ops table for hyptrace */
static const struct genl_split_ops hyptrace_nl_ops[] = {
	{
		.cmd		= HYPTRACE_CMD_REMOTE_GET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_remote_get_doit,
		.policy		= hyptrace_remote_get_nl_policy,
		.maxattr	= HYPTRACE_A_REMOTE_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= HYPTRACE_CMD_REMOTE_GET,
		.start	= hyptrace_nl_dump_start,
		.dumpit	= hyptrace_nl_remote_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= HYPTRACE_CMD_CPU_GET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_cpu_get_doit,
		.policy		= hyptrace_cpu_get_do_nl_policy,
		.maxattr	= HYPTRACE_A_CPU_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_CPU_GET,
		.start		= hyptrace_nl_dump_start,
		.dumpit		= hyptrace_nl_cpu_get_dumpit,
		.policy		= hyptrace_cpu_get_dump_nl_policy,
		.maxattr	= HYPTRACE_A_CPU_REMOTE,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= HYPTRACE_CMD_EVENT_GET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_event_get_doit,
		.policy		= hyptrace_event_get_do_nl_policy,
		.maxattr	= HYPTRACE_A_EVENT_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_EVENT_GET,
		.start		= hyptrace_nl_dump_start,
		.dumpit		= hyptrace_nl_event_get_dumpit,
		.policy		= hyptrace_event_get_dump_nl_policy,
		.maxattr	= HYPTRACE_A_EVENT_REMOTE,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= HYPTRACE_CMD_EVENT_SET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_event_set_doit,
		.policy		= hyptrace_event_set_nl_policy,
		.maxattr	= HYPTRACE_A_EVENT_HOLD,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_LOAD,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_load_doit,
		.policy		= hyptrace_load_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_MODE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_UNLOAD,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_unload_doit,
		.policy		= hyptrace_unload_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_REMOTE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_START,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_start_doit,
		.policy		= hyptrace_start_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_REMOTE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_STOP,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_stop_doit,
		.policy		= hyptrace_stop_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_REMOTE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_CLEAR,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_clear_doit,
		.policy		= hyptrace_clear_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_CPU,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_RESET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_reset_doit,
		.policy		= hyptrace_reset_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_REMOTE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_SET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_set_doit,
		.policy		= hyptrace_set_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_RATE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_MARK,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_mark_doit,
		.policy		= hyptrace_mark_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_COUNT,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_HYPERCALL_GET,
		.start		= hyptrace_nl_dump_start,
		.dumpit		= hyptrace_nl_hypercall_get_dumpit,
		.policy		= hyptrace_hypercall_get_nl_policy,
		.maxattr	= HYPTRACE_A_HYPERCALL_REMOTE,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= HYPTRACE_CMD_COUNT_SET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_count_set_doit,
		.policy		= hyptrace_count_set_nl_policy,
		.maxattr	= HYPTRACE_A_EVENT_PMU,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_COUNT_GET,
		.start		= hyptrace_nl_count_start,
		.dumpit		= hyptrace_nl_count_get_dumpit,
		.policy		= hyptrace_count_get_nl_policy,
		.maxattr	= HYPTRACE_A_COUNTER_CPU,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= HYPTRACE_CMD_COUNT_RESET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_count_reset_doit,
		.policy		= hyptrace_count_reset_nl_policy,
		.maxattr	= HYPTRACE_A_CONTROL_CPU,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_PAGE_GET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_page_get_doit,
		.policy		= hyptrace_page_get_nl_policy,
		.maxattr	= HYPTRACE_A_PAGE_COUNT,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_VISIT_GET,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_visit_get_doit,
		.policy		= hyptrace_visit_get_nl_policy,
		.maxattr	= HYPTRACE_A_VISIT_COUNT,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= HYPTRACE_CMD_EVENT_RELEASE,
		.pre_doit	= hyptrace_nl_pre_doit,
		.doit		= hyptrace_nl_event_release_doit,
		.policy		= hyptrace_event_release_nl_policy,
		.maxattr	= HYPTRACE_A_EVENT_REMOTE,
		.flags		= GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group hyptrace_nl_mcgrps[] = {
	[HYPTRACE_NLGRP_NOTIFY] = { "notify", },
};

struct genl_family hyptrace_nl_family __ro_after_init = {
	.name		= HYPTRACE_FAMILY_NAME,
	.version	= HYPTRACE_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= hyptrace_nl_ops,
	.n_split_ops	= ARRAY_SIZE(hyptrace_nl_ops),
	.mcgrps		= hyptrace_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(hyptrace_nl_mcgrps),
};
