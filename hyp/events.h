/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one list of events. EL2 and the driver include it several times, each time with
 * another definition of HYP_EVENT(), so it has no include guard.
 *
 *	HYP_EVENT(name, HE_PROTO(arguments), HE_STRUCT(he_field(type, name) ...),
 *		  HE_ASSIGN(code), HE_PRINTK(format, ...))
 *
 * defines hyptrace(name, arguments), to be called at EL2, and the event <name>, to be
 * enabled by the host. In HE_ASSIGN(), __entry is the payload and ring the CPU's struct
 * hyptrace_ring. Add new events at the end: the ids count from the top. A silent CPU
 * (struct hyptrace_ring) records no event, so that events reveal nothing about a
 * protected guest.
 */

/* Why a CPU enters or leaves EL2 */
#ifndef HYPTRACE_REASON_SMC
#define HYPTRACE_REASON_SMC		0
#define HYPTRACE_REASON_HVC		1
#define HYPTRACE_REASON_SYS		2
#define HYPTRACE_REASON_PSCI		3
#define HYPTRACE_REASON_HOST_ABORT	4
#define HYPTRACE_REASON_GUEST_EXIT	5
#define HYPTRACE_REASON_ERET_HOST	6
#define HYPTRACE_REASON_ERET_GUEST	7
#define HYPTRACE_REASON_UNKNOWN		8

#define HYPTRACE_REASON_NAMES					\
	{ HYPTRACE_REASON_SMC,		"smc" },		\
	{ HYPTRACE_REASON_HVC,		"hvc" },		\
	{ HYPTRACE_REASON_SYS,		"sys" },		\
	{ HYPTRACE_REASON_PSCI,		"psci" },		\
	{ HYPTRACE_REASON_HOST_ABORT,	"host_abort" },		\
	{ HYPTRACE_REASON_GUEST_EXIT,	"guest_exit" },		\
	{ HYPTRACE_REASON_ERET_HOST,	"eret_host" },		\
	{ HYPTRACE_REASON_ERET_GUEST,	"eret_guest" },		\
	{ HYPTRACE_REASON_UNKNOWN,	"unknown" }
#endif

/* A CPU has entered EL2; vcpu is the thread of the vCPU that it runs, or 0. */
HYP_EVENT(hyp_enter,
	HE_PROTO(u8 reason),
	HE_STRUCT(
		he_field(u8, reason)
		he_field(pid_t, vcpu)
	),
	HE_ASSIGN(
		__entry->reason = reason;
		__entry->vcpu = ring->vcpu;
	),
	HE_PRINTK("reason=%s vcpu=%d",
		  __print_symbolic(__entry->reason, HYPTRACE_REASON_NAMES),
		  __entry->vcpu)
)

/* A CPU is about to leave EL2. */
HYP_EVENT(hyp_exit,
	HE_PROTO(u8 reason),
	HE_STRUCT(
		he_field(u8, reason)
		he_field(pid_t, vcpu)
	),
	HE_ASSIGN(
		__entry->reason = reason;
		__entry->vcpu = ring->vcpu;
	),
	HE_PRINTK("reason=%s vcpu=%d",
		  __print_symbolic(__entry->reason, HYPTRACE_REASON_NAMES),
		  __entry->vcpu)
)

/* Written on request; id is the number that the request named. */
HYP_EVENT(selftest,
	HE_PROTO(u64 id),
	HE_STRUCT(
		he_field(u64, id)
	),
	HE_ASSIGN(
		__entry->id = id;
	),
	HE_PRINTK("id=%llu", __entry->id)
)
