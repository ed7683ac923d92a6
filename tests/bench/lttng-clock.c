// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clock for LTTng-UST (LTTNG_UST_CLOCK_PLUGIN) that costs almost nothing: it increases by
 * one per reading. For one thread only.
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/ust-clock.h>

void lttng_ust_clock_plugin_init(void);

static uint64_t read_clock(void)
{
	static uint64_t now;

	return ++now;
}

static uint64_t frequency(void)
{
	return 1000000000;
}

static int uuid(char *to)
{
	strcpy(to, "00000000-0000-4000-8000-000000000001");
	return 0;
}

static const char *name(void)
{
	return "counting";
}

void lttng_ust_clock_plugin_init(void)
{
	if (lttng_ust_trace_clock_set_read64_cb(read_clock) ||
	    lttng_ust_trace_clock_set_freq_cb(frequency) ||
	    lttng_ust_trace_clock_set_uuid_cb(uuid) ||
	    lttng_ust_trace_clock_set_name_cb(name) ||
	    lttng_ust_trace_clock_set_description_cb(name) ||
	    lttng_ust_enable_trace_clock_override())
		abort();
}
