/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of times by stack. For export_collapsed.c.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdint.h>

struct out;
struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);
void stacks_add(struct stacks *stacks, const char *stack, uint64_t time);
struct stacks *stacks_join(struct stacks *to, struct stacks *from);
void stacks_print(const struct stacks *stacks, struct out *out);

#endif /* STACKS_H */
