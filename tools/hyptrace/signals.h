/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ending on a signal what goes on for ever. For stream and monitor.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/* A signal has come: come to an end. */
extern volatile sig_atomic_t signals_stop;
/* It has come again, or a while ago: whoever reads the output does not read on. */
extern volatile sig_atomic_t signals_abandon;

int signals_catch(void);

#endif /* SIGNALS_H */
