/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail, one place after the other:
 *
 *	for (nth = 1; failed; nth++) {
 *		fail_alloc(nth);
 *		... what allocates ...
 *		failed = fail_alloc_end();
 *		... its error if failed, its success if not ...
 *	}
 *
 * A test that is linked with $(fail-alloc) of tools.mk has what it calls in fail_alloc.c.
 */
#ifndef FAIL_ALLOC_H
#define FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Called whenever malloc() is, which may be when others change what is looked at */
extern void (*on_alloc)(void);

void fail_alloc(unsigned int nth);
bool fail_alloc_end(void);
void fail_alloc_pause(bool pause);
void *alloc_surely(size_t size);

#endif /* FAIL_ALLOC_H */
