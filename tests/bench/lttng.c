// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time LTTng-UST with the payload of hyp_enter. Prints nanoseconds per event, the best of
 * several rounds. lttng EVENTS
 */
#include <stdio.h>
#include <stdlib.h>

#include "rounds.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-event.h"

static void write_events(uint64_t nr)
{
	while (nr--)
		lttng_ust_tracepoint(hyptrace_bench, hyp_enter, nr, 0);
}

int main(int argc, char **argv)
{
	uint64_t events = argc == 2 ? strtoull(argv[1], NULL, 0) : 0;

	if (!events) {
		fprintf(stderr, "usage: lttng EVENTS\n");
		return 1;
	}
	if (!lttng_ust_tracepoint_enabled(hyptrace_bench, hyp_enter)) {
		fprintf(stderr, "lttng: no session has enabled the event (run lttng.sh)\n");
		return 1;
	}
	printf("%.2f\n", best_round(write_events, events));
	return 0;
}
