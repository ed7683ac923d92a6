// SPDX-License-Identifier: GPL-2.0-only
/* The storm, under TSan: hyp.mk has the flags. */
#include "test_ring_storm.c"
