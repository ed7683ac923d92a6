/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of all that hyp/ keeps, while no CPU is in it. For the tests of hyp/. */
#ifndef HYP_BOOKS_H
#define HYP_BOOKS_H

#include "hyp_env.h"

/* @nr_kept: pages that EL2 keeps for good: see -ENOTRECOVERABLE in hyp/abi.h */
void books_check(u32 nr_kept);

#endif /* HYP_BOOKS_H */
