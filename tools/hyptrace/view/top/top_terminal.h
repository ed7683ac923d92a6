/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal of hyptrace top.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include "top_screen.h"

/* What the user has done */
enum top_key {
	TOP_KEY_NONE,		/* nothing more */
	TOP_KEY_REDRAW,		/* the size has changed, or the program was stopped */
	TOP_KEY_GONE,		/* the terminal is gone */
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_ENTER,
	TOP_KEY_BACK,
	TOP_KEY_GROUP,
	TOP_KEY_PER_CPU,
	TOP_KEY_PAUSE,
	TOP_KEY_RESET,
	TOP_KEY_HELP,
	TOP_KEY_QUIT,
	TOP_KEY_OTHER,
};

int top_terminal_begin(void);
void top_terminal_size(struct top_screen *screen);
void top_terminal_show(const struct top_screen *screen);
enum top_key top_terminal_key(void);
void top_terminal_end(void);
bool top_terminal_has_utf8(void);

#endif /* TOP_TERMINAL_H */
