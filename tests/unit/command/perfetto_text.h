/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decode a Perfetto trace into lines of text, for tests.
 */
#ifndef PERFETTO_TEXT_H
#define PERFETTO_TEXT_H

#include <stddef.h>

/*
 * Return the lines for free():
 *	clocks 6=1000 1=5000			the clocks at a time
 *	CPU 1: 2000 hyp_enter			an event of a bundle
 *	CPU 1 lost				a bundle that follows a loss
 *	track Parent/Name			a track, when it is described
 *	[Name] 2000 B name key=value		the begin of a slice, E its end, I an instant
 */
char *perfetto_text(const void *trace, size_t size);

#endif /* PERFETTO_TEXT_H */
