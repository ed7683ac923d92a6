// SPDX-License-Identifier: GPL-2.0-only
/*
 * For scripts that need many notifications in a short time: enable and disable an
 * event, TIMES requests in all.
 *
 *	toggle REMOTE EVENT TIMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

int main(int argc, char **argv)
{
	unsigned long times, i;
	struct nl nl;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: toggle REMOTE EVENT TIMES\n");
		return 2;
	}
	times = strtoul(argv[3], NULL, 0);
	err = nl_open(&nl);
	for (i = 0; !err && i < times; i++)
		err = control_enable(&nl, argv[1], argv[2], !(i & 1));
	if (err) {
		fprintf(stderr, "toggle: %s: %s\n", argv[1], strerror(-err));
		return EXIT_FAILURE;
	}
	nl_close(&nl);
	return EXIT_SUCCESS;
}
