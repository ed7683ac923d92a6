/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes and errors on stderr. For all files of the command.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdarg.h>

struct hyptrace_error;

extern void (*cmd_note_to)(const char *text);
void cmd_vnote(const char *fmt, va_list ap);
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cmd_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cmd_fail_verb(const char *verb, const char *subject, const struct hyptrace_error *err);

#endif /* MESSAGE_H */
