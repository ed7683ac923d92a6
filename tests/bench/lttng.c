// SPDX-License-Identifier: GPL-2.0-only
/*
 * LTTng-UST on the payload of hyp_enter: nanoseconds per event, the best of some
 * rounds. lttng EVENTS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-event.h"

/* As in writer.c: the best one had the CPU for itself. */
#define EVENTS_IN_ALL	20000000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t events = argc == 2 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t round, start, ns, i, best = UINT64_MAX;

	if (!events) {
		fprintf(stderr, "usage: lttng EVENTS\n");
		return 1;
	}
	if (!lttng_ust_tracepoint_enabled(hyptrace_bench, hyp_enter)) {
		fprintf(stderr, "lttng: no session has the event enabled\n");
		return 1;
	}
	for (round = 0; round < EVENTS_IN_ALL / events; round++) {
		start = now_ns();
		for (i = 0; i < events; i++)
			lttng_ust_tracepoint(hyptrace_bench, hyp_enter, i, 0);
		ns = now_ns() - start;
		if (ns < best)
			best = ns;
	}
	printf("%.2f\n", (double)best / events);
	return 0;
}
