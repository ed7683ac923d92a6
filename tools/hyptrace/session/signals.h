/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * End an endless verb on a signal. For stream, monitor, record and export.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* The signal that has arrived, or 0: the verb must end. */
extern volatile sig_atomic_t signals_stop;
/* Another one has arrived, or a second has passed: give up output that blocks. */
extern volatile sig_atomic_t signals_abandon;

int signals_catch(void);
void signals_give_time(void);
int signals_fd(void);
void signals_end_program(bool end);

#endif /* SIGNALS_H */
