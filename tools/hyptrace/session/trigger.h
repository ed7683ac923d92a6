/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print triggers and what has fired. For status, wait, monitor, stream and list.
 */
#ifndef TRIGGER_H
#define TRIGGER_H

#include <stdbool.h>

#include "lib/hyptrace.h"
#include "output/printer.h"

bool trigger_is_armed(const struct hyptrace_remote *remote, const struct hyptrace_event *event);
char *trigger_text(const struct hyptrace_event *event);
void trigger_print_keys(struct printer *p, const struct hyptrace_event *event);
void firing_note(const struct hyptrace_remote *remote, unsigned int which, uint32_t after);
bool firing_goes_on(const struct hyptrace_remote *remote, unsigned int which);
char *firing_text(const struct hyptrace_remote *remote, unsigned int which);
void firing_print_keys(struct printer *p, const struct hyptrace_remote *remote,
		       unsigned int which);

#endif /* TRIGGER_H */
