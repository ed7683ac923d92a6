/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pager on a terminal. For the verbs that print files.
 */
#ifndef PAGER_H
#define PAGER_H

#include <signal.h>
#include <stdbool.h>

struct out;

/* The pager has ended: nobody reads what is printed. */
extern volatile sig_atomic_t pager_has_ended;

bool pager_begin(struct out *out);
void pager_end(struct out *out);

#endif /* PAGER_H */
