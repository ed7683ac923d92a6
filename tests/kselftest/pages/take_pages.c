// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give pages of the module hyptrace_calls to EL2 by real hypercalls, for a while:
 *
 *	take_pages leak NUMBER		share so many pages, as if KVM forgot to take them back
 *	take_pages random NUMBER	make so many random hypercalls: see page_calls.c
 *
 * It prints "ready" once the module is loaded, waits for a line of standard input, makes the calls
 * and prints the numbers of the pages, which are hexadecimal, and "done". At the end of standard
 * input it gives all pages back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_calls.h"

/* Make the calls. Return the number of pages to print, or -1. */
static int make_calls(struct page_calls *pages, bool leak, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (leak ? page_calls_share(pages, i, true) : page_calls_step(pages))
			return -1;
	return leak ? nr : CALLS_FRESH_PAGES;
}

int main(int argc, char **argv)
{
	unsigned int nr = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	bool leak = argc == 3 && !strcmp(argv[1], "leak");
	struct page_calls pages;
	struct calls calls = {};
	int touched = 0, i;

	if (!nr || (!leak && strcmp(argv[1], "random")) || (leak && nr > CALLS_FRESH_PAGES)) {
		fputs("usage: take_pages leak|random NUMBER\n", stderr);
		return 1;
	}
	/* A reserved handle would be of a VM, for which the host could have shared the pages. */
	pages = (struct page_calls){ .calls = &calls };
	if (calls_open_without_vm(&calls) || (!leak && page_calls_begin(&pages, &calls))) {
		perror("take_pages");
		return 2;
	}
	puts("ready");
	fflush(stdout);
	if (getchar() != EOF)
		touched = make_calls(&pages, leak, nr);
	for (i = 0; i < touched; i++)
		printf("0x%" PRIx64 "\n", (uint64_t)calls.info.fresh_pfn + i);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	if (page_calls_end(&pages) || calls_close(&calls) || touched < 0) {
		fputs("take_pages: the calls could not be made\n", stderr);
		return 2;
	}
	return 0;
}
