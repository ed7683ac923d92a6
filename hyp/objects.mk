# SPDX-License-Identifier: GPL-2.0-only
# The objects of hyptrace at EL2, for arch/arm64/kvm/hyp/nvhe/Makefile

hyptrace := ../../../../../drivers/hyptrace/hyp
hyptrace-functions := $(hyptrace)/function/function.o $(hyptrace)/function/text.o
hyptrace-objects := $(addprefix $(hyptrace)/, ring.o seal.o resize.o clock.o load.o hcall.o select.o filter.o \
	 count.o pmu.o pmu_read.o trigger.o trace.o calls.o lock.o owner.o)
hyp-obj-$(CONFIG_HYPTRACE_EL2) += $(hyptrace-objects)
# No function tracer has a place in them, neither Android's nor the project's own.
$(foreach object,$(hyptrace-objects) $(hyptrace-functions),\
	$(eval CFLAGS_REMOVE_$(object:.o=.nvhe.o) := -fpatchable-function-entry=3 -fpatchable-function-entry=1))
# Test in one chain of comparisons whether an event can be recorded at once.
CFLAGS_$(hyptrace)/trace.nvhe.o := $(call cc-option,-fno-tree-reassoc)

ifdef CONFIG_HYPTRACE_EL2_FUNCTIONS
hyp-obj-y += $(hyptrace-functions) $(hyptrace)/function/function_entry.o
# No caller may know which registers a function leaves alone: function_entry.S uses others.
ccflags-y += -fpatchable-function-entry=1 $(call cc-option,-fno-ipa-ra)

quiet_cmd_hyptrace_functions = GEN     $@
      cmd_hyptrace_functions = { $(NM) $<; $(OBJDUMP) -r $<; \
	$(OBJDUMP) -dr --no-show-raw-insn -j .hyp.text $<; } | \
	LC_ALL=C $(AWK) -f $(filter %.awk,$^) >$@
targets += hyptrace-functions.S hyptrace-functions.o
$(obj)/hyptrace-functions.S: $(obj)/kvm_nvhe.tmp.o $(srctree)/drivers/hyptrace/hyp/function/functions.awk FORCE
	$(call if_changed,hyptrace_functions)
$(obj)/kvm_nvhe.rel.o: $(obj)/hyptrace-functions.o
endif
