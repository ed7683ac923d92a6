// SPDX-License-Identifier: GPL-2.0-only
/* The record codec in the other byte order: see records.mk. */
#include "test_record_little.c"
