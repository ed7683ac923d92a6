/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Show on a terminal how much of a file was read, while that takes more than a second.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

struct hyptrace_file;

void progress_begin(const struct hyptrace_file *file, bool wanted);
void progress_end(void);
bool is_stdout_file(void);

#endif /* PROGRESS_H */
