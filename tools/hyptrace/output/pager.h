/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pager on a terminal, and how much of a file was read. For the verbs that read files.
 */
#ifndef PAGER_H
#define PAGER_H

#include <signal.h>
#include <stdbool.h>

struct hyptrace_file;
struct out;

/* The pager has ended: nobody reads what is printed. */
extern volatile sig_atomic_t pager_has_ended;

bool pager_begin(struct out *out);
void pager_end(struct out *out);

/* progress.c: show it while that takes more than a second */
void progress_begin(const struct hyptrace_file *file, bool wanted);
void progress_end(void);
bool is_stdout_file(void);

#endif /* PAGER_H */
