# SPDX-License-Identifier: GPL-2.0-only
# For the tests of hyp/: its sources, the fake host that they run in, and the model of the ring.

hyp := ../../hyp
hyp-tests := $(filter test_ring% test_load% test_clock% test_events% test_count% test_owner% test_lock% test_function%,$(tests))
hyp-srcs := $(addprefix $(hyp)/,ring.c seal.c resize.c select.c filter.c count.c pmu.c trigger.c trace.c calls.c lock.c clock.c load.c hcall.c owner.c) hyp_env.c hyp_books.c hyp_load.c filter_terms.c count_pages.c
hyp-ring-srcs := ring_decode.c ring_model.c ring_run.c
hyp-cflags := -DHYPTRACE_ENV_HOST -fno-strict-aliasing -I$(hyp) \
	$(shell $(PKG_CONFIG) --cflags libtraceevent)
hyp-libs := $(shell $(PKG_CONFIG) --libs libtraceevent) -lpthread

$(foreach test,$(hyp-tests),\
	$(eval $(test)-srcs := $(hyp-srcs) $(if $(filter test_ring% test_events% test_count% test_lock% test_function%,$(test)),$(hyp-ring-srcs)))\
	$(eval $(test)-cflags := $(hyp-cflags))\
	$(eval $(test)-libs := $(hyp-libs)))
# As EL2 has it if it can trace its functions
test_function-srcs += $(hyp)/function/function.c
test_function-cflags += -DCONFIG_HYPTRACE_EL2_FUNCTIONS
test_ring_trigger-srcs += trigger_rings.c
test_ring_trigger_after-srcs += trigger_rings.c
test_ring_trigger_notify-srcs += trigger_rings.c

# TSan excludes the other sanitizers. It ignores fences, which is fine (-Wno-tsan): it sees the atomic accesses.
hyp-tsan := -fno-sanitize=address,undefined -fsanitize=thread -Wno-tsan
test_ring_storm_tsan-cflags += $(hyp-tsan)
$(O)/test_ring_storm_tsan: test_ring_storm.c
test_clock_tsan-cflags += $(hyp-tsan)
$(O)/test_clock_tsan: test_clock.c
test_load_race-cflags += $(hyp-tsan)
test_ring_trigger_race-cflags += $(hyp-tsan)
test_count_race-cflags += $(hyp-tsan)
