// SPDX-License-Identifier: GPL-2.0-only
/* The clock, with TSan, under which less takes longer. See hyp.mk. */
#define READS		100000
#define UPDATES		100000
#include "test_clock.c"
