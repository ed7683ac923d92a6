// SPDX-License-Identifier: GPL-2.0-only
/* The storm under TSan: hyp.mk has the flags. */
#define EVENTS	10000000
#include "test_ring_storm.c"
