/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: in how many calls a call is. For cmd_strace.c.
 *
 * A call is recorded when it ends. The call that it is in ends later, so calls wait in a queue
 * until it is known that none that they are in can follow. They leave it in the order in which they
 * have come.
 */
#ifndef STRACE_NEST_H
#define STRACE_NEST_H

#include "strace.h"

/* So many calls and losses wait at most. */
#define STRACE_NEST_MAX	65536

struct strace_nest;

/**
 * struct strace_item - a call or a loss that leaves the queue
 * @is_loss:	it is a loss
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 * @call:	the call; of a loss, only its cpu and ts are valid
 */
struct strace_item {
	bool			is_loss;
	uint64_t		lost;
	struct strace_call	call;
};

struct strace_nest *strace_nest_new(const uint32_t parents[NR_STRACE_KINDS]);
void strace_nest_free(struct strace_nest *nest);
void strace_nest_call(struct strace_nest *nest, const struct strace_call *call, bool is_shown,
		      uint64_t now);
void strace_nest_loss(struct strace_nest *nest, unsigned int cpu, uint64_t ts, uint64_t lost,
		      uint64_t now);
const struct strace_item *strace_nest_next(struct strace_nest *nest, uint64_t until);
void strace_nest_end(struct strace_nest *nest);
bool strace_nest_waits(const struct strace_nest *nest, uint64_t *since);

#endif /* STRACE_NEST_H */
