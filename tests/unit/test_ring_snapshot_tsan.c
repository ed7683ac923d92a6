// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots in a storm, under TSan: tools.mk has the flags. */
#include "test_ring_snapshot.c"
