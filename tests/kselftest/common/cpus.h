/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs: which ones go off and on, and on which one a test runs. */
#ifndef __CPUS_H
#define __CPUS_H

#include <stdbool.h>

/* A kernel in user mode cannot take a CPU offline: see declared_skips in tap.sh. */
bool has_hotplug(void);

/* These return 0 or a negative errno. */
int cpu_set_online(unsigned int cpu, bool online);
int pin_to(unsigned int cpu);

#endif /* __CPUS_H */
