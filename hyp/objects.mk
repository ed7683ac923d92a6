# SPDX-License-Identifier: GPL-2.0-only
# The objects of hyptrace at EL2, for arch/arm64/kvm/hyp/nvhe/Makefile

hyptrace := ../../../../../drivers/hyptrace/hyp
hyptrace-objects := $(addprefix $(hyptrace)/, ring.o seal.o resize.o clock.o load.o hcall.o select.o filter.o \
	 count.o trigger.o trace.o calls.o owner.o)
hyp-obj-$(CONFIG_HYPTRACE_EL2) += $(hyptrace-objects)
# Android's function tracer of EL2 has no place in them.
$(foreach object,$(hyptrace-objects),$(eval CFLAGS_REMOVE_$(object:.o=.nvhe.o) := -fpatchable-function-entry=3))
# Test in one chain of comparisons whether an event can be recorded at once.
CFLAGS_$(hyptrace)/trace.nvhe.o := $(call cc-option,-fno-tree-reassoc)
