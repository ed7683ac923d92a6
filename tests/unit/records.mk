# SPDX-License-Identifier: GPL-2.0-only
# For the tests of the record codec: the writer, the driver's walk over records and the decoder of tools/lib.

record-srcs := $(hyp-srcs) driver_walk.c ../../driver/core/subbuf.c ../../tools/lib/ring/decode.c ../../tools/lib/error.c
# Expanded late (=), since tools.mk is included after this file.
record-cflags = $(hyp-cflags) $(tools-cflags) -Idriver/kernel -Wno-builtin-macro-redefined -U__BYTE_ORDER__

test_record_little-srcs := $(record-srcs)
test_record_little-cflags = $(record-cflags) -D__BYTE_ORDER__=__ORDER_LITTLE_ENDIAN__
test_record_little-libs := $(hyp-libs)
test_record_big-srcs := $(record-srcs)
test_record_big-cflags = $(record-cflags) -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__
test_record_big-libs := $(hyp-libs)
$(O)/test_record_big: test_record_little.c
