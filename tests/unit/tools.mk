# SPDX-License-Identifier: GPL-2.0-only
# What the tests of tools/ need.

tools := ../../tools
tools-cflags := -I../../uapi -idirafter $(tools)/lib/compat \
	$(shell $(PKG_CONFIG) --cflags libnl-genl-3.0 libtraceevent)
tools-libs := $(shell $(PKG_CONFIG) --libs libnl-genl-3.0 libtraceevent)

test_tools_args-srcs := $(tools)/hyptrace/args.c
test_tools_args-cflags := $(tools-cflags)

test_tools_decode-srcs := $(tools)/lib/decode.c $(tools)/lib/error.c
test_tools_decode-cflags := $(tools-cflags)
test_tools_decode-libs := $(tools-libs)

test_tools_describe-srcs := $(tools)/lib/describe.c $(tools)/lib/netlink.c $(tools)/lib/extack.c \
	$(tools)/lib/error.c
test_tools_describe-cflags := $(tools-cflags)
test_tools_describe-libs := $(tools-libs)

test_tools_extack-srcs := $(tools)/lib/extack.c $(tools)/lib/error.c
test_tools_extack-cflags := $(tools-cflags)

tools-format-srcs := $(addprefix $(tools)/lib/,format.c print.c print_build.c digits.c error.c)

test_tools_format-srcs := $(tools-format-srcs)
test_tools_format-cflags := $(tools-cflags)
test_tools_format-libs := $(tools-libs)

test_tools_merge-srcs := $(tools)/lib/merge.c
test_tools_merge-cflags := $(tools-cflags)

test_tools_print-srcs := $(tools-format-srcs)
test_tools_print-cflags := $(tools-cflags)
test_tools_print-libs := $(tools-libs)

test_tools_printer-srcs := $(addprefix $(tools)/hyptrace/,printer.c table.c text.c out.c args.c)
test_tools_printer-cflags := $(tools-cflags)

# The real writer, of hyp.mk, and the real snapshots.
snapshot-srcs := $(addprefix $(tools)/lib/,snapshot.c decode.c error.c)
test_tools_snapshot-srcs := $(snapshot-srcs) $(tools)/lib/device.c
test_tools_snapshot-cflags := $(tools-cflags)
test_tools_snapshot-libs := $(tools-libs)

test_ring_snapshot-srcs += $(snapshot-srcs)
test_ring_snapshot-cflags += $(tools-cflags)
test_ring_snapshot_tsan-srcs += $(snapshot-srcs)
test_ring_snapshot_tsan-cflags += $(tools-cflags) $(hyp-tsan)
