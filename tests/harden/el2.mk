# SPDX-License-Identifier: GPL-2.0-only
# The attack on EL2 as a host program, under ASan with UBSan and under TSan; and the one of silence.sh, without them, which
# has much to compare. The sources of hyp/, the fake host that they run in, and the model of the ring are those of the
# unit tests.

O ?= build
PKG_CONFIG ?= pkg-config
unit := ../unit
tests :=

include $(unit)/hyp.mk

vpath %.c $(unit)/host
where = $(foreach source,$(1),$(firstword $(wildcard $(source) $(unit)/host/$(source))))
srcs := $(wildcard el2/*.c) $(call where,$(hyp-srcs) ring_decode.c ring_model.c)
silence-srcs := $(wildcard silence/*.c) $(addprefix el2/,argument.c call.c event.c script.c) $(call where,$(hyp-srcs))
headers := $(wildcard *.h el2/*.h silence/*.h $(unit)/host/*.h $(hyp)/*.h $(hyp)/*/*.h ../../uapi/linux/*.h) el2.mk $(unit)/hyp.mk
cflags := -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-iquote el2 -iquote $(unit)/host $(hyp-cflags) $(shell $(PKG_CONFIG) --cflags cmocka)
libs := $(hyp-libs) $(shell $(PKG_CONFIG) --libs cmocka)

.DEFAULT_GOAL := all
all: $(O)/el2-asan $(O)/el2-tsan $(O)/silence

$(O)/el2-tsan: cflags += $(hyp-tsan)
$(O)/el2-asan $(O)/el2-tsan: $(srcs) $(O)/headers
	objects=$$($(unit)/compile.sh $(O) $(srcs) -- $(CC) $(cflags) $(CFLAGS)) && \
		$(CC) $(cflags) $(CFLAGS) -o $@ $$objects $(libs)

$(O)/silence: cflags += -O2 -fno-sanitize=all
$(O)/silence: $(silence-srcs) $(O)/headers
	objects=$$($(unit)/compile.sh $(O) $(silence-srcs) -- $(CC) $(cflags) $(CFLAGS)) && \
		$(CC) $(cflags) $(CFLAGS) -o $@ $$objects $(libs)

# for compile.sh
$(O)/headers: $(headers)
	@mkdir -p $(@D)
	@touch $@

clean:
	rm -rf $(O)

.PHONY: all clean
