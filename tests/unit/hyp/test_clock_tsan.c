// SPDX-License-Identifier: GPL-2.0-only
/* The clock test under TSan, with fewer rounds because TSan is slow. See hyp.mk. */
#define READS		100000
#define UPDATES		100000
#include "test_clock.c"
