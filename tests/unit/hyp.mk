# SPDX-License-Identifier: GPL-2.0-only
# What the tests of hyp/ need: hyp/ itself, the host it runs in, and the model.

hyp := ../../hyp
hyp-tests := $(filter test_ring% test_load% test_clock% test_events%,$(tests))
hyp-srcs := $(addprefix $(hyp)/,ring.c resize.c select.c trace.c clock.c load.c hcall.c) hyp_env.c hyp_load.c
hyp-ring-srcs := ring_decode.c ring_model.c ring_run.c
hyp-cflags := -DHYPTRACE_ENV_HOST -fno-strict-aliasing -I$(hyp) \
	$(shell $(PKG_CONFIG) --cflags libtraceevent)
hyp-libs := $(shell $(PKG_CONFIG) --libs libtraceevent) -lpthread

$(foreach test,$(hyp-tests),\
	$(eval $(test)-srcs := $(hyp-srcs) $(if $(filter test_ring% test_events%,$(test)),$(hyp-ring-srcs)))\
	$(eval $(test)-cflags := $(hyp-cflags))\
	$(eval $(test)-libs := $(hyp-libs)))

# One sanitizer at a time; a fence is no news to TSan, which sees the atomics.
hyp-tsan := -fno-sanitize=address,undefined -fsanitize=thread -Wno-tsan
test_ring_storm_tsan-cflags += $(hyp-tsan)
$(O)/test_ring_storm_tsan: test_ring_storm.c
test_clock_tsan-cflags += $(hyp-tsan)
$(O)/test_clock_tsan: test_clock.c
test_load_race-cflags += $(hyp-tsan)
