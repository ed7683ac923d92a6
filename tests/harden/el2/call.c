// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hypercall __hyptrace(), as the kernel's EL2 code handles it. Its answer must be one that the op
 * documents, it must be bounded, and it must leave no event.
 */
#include "el2.h"
#include "../answers.h"

/* Twice per data page of a call, and a few more */
#define MANY_CALLS	24
#define FEW_CALLS	12
/* One per CPU that there could be, and a few more */
#define CPU_CALLS	(HYPTRACE_NR_CPUS + 8)

/* How often an op may call its environment; 0 for the others */
static const u32 most_calls[HYPTRACE_NR_OPS] = {
	[HYPTRACE_OP_RING_BEGIN] = FEW_CALLS,
	[HYPTRACE_OP_RING_DIR] = FEW_CALLS,
	[HYPTRACE_OP_RING_TABLE] = MANY_CALLS,
	[HYPTRACE_OP_RING_READY] = FEW_CALLS,
	[HYPTRACE_OP_RING_FREE] = MANY_CALLS,
	[HYPTRACE_OP_ATTACH] = FEW_CALLS,
	[HYPTRACE_OP_DETACH] = FEW_CALLS,
	[HYPTRACE_OP_SWAP] = FEW_CALLS,
	[HYPTRACE_OP_RESET] = FEW_CALLS,
	[HYPTRACE_OP_SYNC] = FEW_CALLS,
	[HYPTRACE_OP_EXCHANGE] = FEW_CALLS,
	[HYPTRACE_OP_MOVE] = FEW_CALLS,
	[HYPTRACE_OP_CLOCK] = CPU_CALLS,
	[HYPTRACE_OP_WRITE] = FEW_CALLS,
	[HYPTRACE_OP_FILTER] = FEW_CALLS,
	[HYPTRACE_OP_COUNT_PAGE] = FEW_CALLS,
	[HYPTRACE_OP_COUNT_FREE] = FEW_CALLS,
	[HYPTRACE_OP_COUNT] = FEW_CALLS,
	[HYPTRACE_OP_COUNT_RESET] = FEW_CALLS,
	[HYPTRACE_OP_PAGE] = FEW_CALLS,
	[HYPTRACE_OP_PMU] = FEW_CALLS,
};

static void check_answer(u64 op, s64 ret, u64 calls)
{
	require(hyptrace_may_answer(op, ret));
	require(op >= HYPTRACE_NR_OPS || calls <= most_calls[op]);
	/* The host program has no list of functions. */
	require(op != HYPTRACE_OP_FUNCTION || ret == -EOPNOTSUPP);
}

/*
 * Pages change hands: EL2 records that, unless this CPU runs a protected guest. All other events
 * are silent. The calls of the environment that this makes are not those of the op.
 */
void call_pages_hook(void)
{
	static const u32 memory[] = {
		HYPTRACE_EVENT_mem_transition, HYPTRACE_EVENT_tlbi, HYPTRACE_EVENT_hyp_pool
	};
	struct seen before = look();
	u64 calls = env_thread_calls;

	if (!self)
		return;
	hyptrace(mem_transition, HYPTRACE_MEM_DONATE, HYPTRACE_OWNER_HOST, HYPTRACE_OWNER_HYP,
		 1, 1, 0, 0, 0);
	expect_event(self, memory[0], before);
	self->recorded_inside += seen_since(before);
	before = look();
	hyptrace(tlbi, 0, 1, 2, 3);
	expect_event(self, memory[1], before);
	self->recorded_inside += seen_since(before);
	before = look();
	hyptrace(selftest, 1);
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	require(!seen_since(before));
	env_thread_calls = calls;
}

/* Some ops begin to count anew. */
static bool keeps_counts(u64 op)
{
	return op != HYPTRACE_OP_RESET && op != HYPTRACE_OP_RING_READY;
}

static bool changes_pages(u64 op)
{
	return (op >= HYPTRACE_OP_RING_BEGIN && op <= HYPTRACE_OP_RING_FREE) ||
	       op == HYPTRACE_OP_COUNT_PAGE || op == HYPTRACE_OP_COUNT_FREE;
}

/*
 * The host can write to commit of a sub-buffer, but has no say in what EL2 counts. TSan would take
 * the lock for an order of what it is to find.
 */
static void check_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
	struct hyptrace_ring *ring = hyptrace_this_ring();

	hyptrace_guard(&ring->lock);
	if (ring->state != HYPTRACE_RING_ATTACHED)
		return;
	require(ring->unread <= ring->nr_pages * HYPTRACE_SUBBUF_DATA_SIZE);
	require(ring->reader_commit <= HYPTRACE_SUBBUF_DATA_SIZE);
#endif
}

s64 call(struct attack *attack, u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	static const u64 regs[31];
	struct seen before = look();
	u64 calls, new;
	s64 ret;

	attack->op = op;
	attack->recorded_inside = 0;
	{
		hyptrace_host_call(0, true, regs);
		hyptrace_silence_own_call();
		attack->silent = changes_pages(op) ? HYPTRACE_SILENT_LOAD : HYPTRACE_SILENT_CALL;
		calls = env_thread_calls;
		ret = hyptrace_hcall(op, arg1, arg2, arg3);
		calls = env_thread_calls - calls;
		attack->silent = HYPTRACE_SILENT_CALL;
	}
	check_answer(op, ret, calls);
	new = seen_since(before);
	if (op == HYPTRACE_OP_WRITE)
		require(new <= 1 && (new || !before.attached || ret || !rules.calm));
	else if (keeps_counts(op))
		require(new == attack->recorded_inside);
	before = look();
	hyptrace_host_exit();
	require(!seen_since(before));
	attack->silent = 0;
	attack->answers = attack->answers * 31 + ret;

	if (arg1 == attack->cpu && !ret &&
	    (op == HYPTRACE_OP_ATTACH || op == HYPTRACE_OP_DETACH))
		attack->attached = op == HYPTRACE_OP_ATTACH;
	require(look().attached == attack->attached);
	check_bytes();
	attack->nr_ops++;
	attack->nr_kept += ret == -ENOTRECOVERABLE;
	if (ret >= 0 && op < HYPTRACE_NR_OPS) {
		attack->nr_accepted++;
		attack->accepted[op]++;
	}
	attack->op = HYPTRACE_NR_OPS;

	return ret;
}
