/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each op of __hyptrace() may answer: the errnos that hyp/abi.h documents for it. Included by
 * the attack on EL2 as a host program, and by the module that attacks the real EL2, after a header
 * that has PAGE_SIZE.
 */
#ifndef HYPTRACE_ANSWERS_H
#define HYPTRACE_ANSWERS_H

#include <linux/errno.h>

#include "abi.h"

#define HYPTRACE_MAX_ERRNOS	8

/**
 * struct hyptrace_answer - what an op may answer
 * @max:	the largest answer that is no error
 * @errnos:	all errors, as positive numbers
 */
struct hyptrace_answer {
	__s64 max;
	int errnos[HYPTRACE_MAX_ERRNOS];
};

static const struct hyptrace_answer hyptrace_answers[HYPTRACE_NR_OPS] = {
	[HYPTRACE_OP_INFO] = { ~0ULL >> 1, { EINVAL } },
	[HYPTRACE_OP_RING_BEGIN] = { 0, { EINVAL, EBUSY, E2BIG, ENXIO } },
	[HYPTRACE_OP_RING_DIR] = { 0, { EINVAL, EPERM, ENOMEM, ENXIO } },
	[HYPTRACE_OP_RING_TABLE] = { 1, { EINVAL, EPERM, ENOMEM, ENXIO } },
	[HYPTRACE_OP_RING_READY] = { 0, { EINVAL, EPERM, ENOMEM, ENXIO } },
	[HYPTRACE_OP_RING_FREE] = { 1, { EBUSY, ENOMEM, ENXIO } },
	[HYPTRACE_OP_ATTACH] = { 0, { EINVAL, EBUSY, ENODEV, ENXIO } },
	[HYPTRACE_OP_DETACH] = { 0, { EBUSY, ENODEV, ENXIO } },
	[HYPTRACE_OP_SWAP] = {
		HYPTRACE_RING_MAX_PAGES(PAGE_SIZE) - 1, { EAGAIN, ESTALE, EBUSY, ENODEV, ENXIO }
	},
	[HYPTRACE_OP_RESET] = { 1, { EBUSY, ENODEV, ENXIO } },
	[HYPTRACE_OP_SYNC] = { 0, { ENODEV, ENXIO } },
	[HYPTRACE_OP_EXCHANGE] = { 0, { EBUSY, ENODEV, ENXIO } },
	[HYPTRACE_OP_MOVE] = { HYPTRACE_MOVE_MOVED, { ENODEV, ENXIO } },
	[HYPTRACE_OP_CLOCK] = { 0, { EINVAL } },
	[HYPTRACE_OP_WRITE] = { 0, { EINVAL, ENODATA } },
	[HYPTRACE_OP_FILTER] = { 0, { EINVAL, EBUSY, ENODEV, ENXIO } },
	[HYPTRACE_OP_TRIGGER] = { 0, { EINVAL } },
	[HYPTRACE_OP_PAUSE] = { 0, { 0 } },
	[HYPTRACE_OP_ARM] = { 0, { EINVAL } },
	[HYPTRACE_OP_COUNT_PAGE] = {
		0, { EINVAL, EBUSY, EPERM, ENOMEM, ENOTRECOVERABLE, ENXIO }
	},
	[HYPTRACE_OP_COUNT_FREE] = { 1, { EBUSY, ENOMEM, ENXIO } },
	[HYPTRACE_OP_COUNT] = { 0, { EINVAL, EBUSY, ENODATA, ENXIO } },
	[HYPTRACE_OP_COUNT_RESET] = { 1, { EINVAL, EBUSY, ENODATA, ENXIO } },
	[HYPTRACE_OP_PAGE] = { HYPTRACE_NR_PAGE_OWNERS - 1, { 0 } },
	[HYPTRACE_OP_VOID_HCALLS] = { 0, { EINVAL } },
	[HYPTRACE_OP_FUNCTION] = { 0, { EINVAL, EOPNOTSUPP } },
	[HYPTRACE_OP_PMU] = { 0, { EINVAL, EBUSY, ENODATA, EOPNOTSUPP, ENXIO } },
};

/**
 * hyptrace_may_answer() - check whether an op may give this answer
 * @op:		the op, which need not exist
 * @ret:	the answer
 *
 * Return: false if abi.h has no such answer of the op.
 */
static inline _Bool hyptrace_may_answer(__u64 op, __s64 ret)
{
	const struct hyptrace_answer *answer;
	int i;

	if (op >= HYPTRACE_NR_OPS)
		return ret == -EOPNOTSUPP || ret == -ENXIO;
	answer = &hyptrace_answers[op];
	if (ret >= 0)
		return ret <= answer->max;
	for (i = 0; i < HYPTRACE_MAX_ERRNOS && answer->errnos[i]; i++)
		if (ret == -answer->errnos[i])
			return 1;

	return 0;
}

#endif /* HYPTRACE_ANSWERS_H */
