// SPDX-License-Identifier: GPL-2.0-only
/*
 * For scripts that need many notifications in a short time: enable and disable an
 * event, TIMES requests in all.
 *
 *	toggle REMOTE EVENT TIMES [IDS]
 *
 * With IDS, it is enabled each time for some ids only, at random, of those below IDS: with the
 * event func, EL2 then traces other functions each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "filter.h"

#define IDS_AT_ONCE	16

static int enable_some(struct nl *nl, const char *remote, const char *event, unsigned long ids)
{
	const unsigned long first = rand() % ids;
	struct filter_term terms[] = {
		FILTER_TERM("id", GE, first),
		FILTER_TERM("id", LT, first + IDS_AT_ONCE),
	};
	char text[64];

	terms[0].on_true = 1;
	snprintf(text, sizeof(text), "id >= %lu && id < %lu", first, first + IDS_AT_ONCE);
	return filter_enable(nl, remote, event, text, terms, 2);
}

int main(int argc, char **argv)
{
	unsigned long times, ids, i;
	struct nl nl;
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: toggle REMOTE EVENT TIMES [IDS]\n");
		return 2;
	}
	times = strtoul(argv[3], NULL, 0);
	ids = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
	err = nl_open(&nl);
	for (i = 0; !err && i < times; i++)
		err = ids && !(i & 1) ? enable_some(&nl, argv[1], argv[2], ids) :
					control_enable(&nl, argv[1], argv[2], !(i & 1));
	if (err) {
		fprintf(stderr, "toggle: %s: %s\n", argv[1], strerror(-err));
		return EXIT_FAILURE;
	}
	nl_close(&nl);
	return EXIT_SUCCESS;
}
