// SPDX-License-Identifier: GPL-2.0-only
/* The storm of snapshots under TSan: tools.mk has the flags. */
#include "test_ring_snapshot.c"
