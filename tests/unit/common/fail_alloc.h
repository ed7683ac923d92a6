/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Let each allocation fail in turn:
 *
 *	for (nth = 1; failed; nth++) {
 *		fail_alloc(nth);
 *		... the code that allocates ...
 *		failed = fail_alloc_end();
 *		... if failed check for its error, otherwise for its success ...
 *	}
 *
 * Link the test with $(fail-alloc) of tools.mk: then its sources call fail_alloc.c.
 */
#ifndef FAIL_ALLOC_H
#define FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* If set, malloc() calls it first. A test uses it to change memory that the code is reading. */
extern void (*on_alloc)(void);

void fail_alloc(unsigned int nth);
bool fail_alloc_end(void);
void fail_alloc_pause(bool pause);
void *alloc_surely(size_t size);

#endif /* FAIL_ALLOC_H */
