/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An LTTng-UST event with the payload of hyp_enter. The guard is unusual, since LTTng includes
 * this file more than once.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER hyptrace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng-event.h"

#if !defined(BENCH_LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_EVENT_H

#include <stdint.h>

#include <lttng/tracepoint.h>

#define PAYLOAD_ARGS	LTTNG_UST_TP_ARGS(uint8_t, reason, int32_t, vcpu)
#define PAYLOAD_REASON	lttng_ust_field_integer(uint8_t, reason, reason)
#define PAYLOAD_VCPU	lttng_ust_field_integer(int32_t, vcpu, vcpu)

LTTNG_UST_TRACEPOINT_EVENT(hyptrace_bench, hyp_enter, PAYLOAD_ARGS,
			   LTTNG_UST_TP_FIELDS(PAYLOAD_REASON PAYLOAD_VCPU))

#endif

#include <lttng/tracepoint-event.h>
