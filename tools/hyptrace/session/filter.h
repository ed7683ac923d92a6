/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The argument of --filter. For the verbs that take it.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hyptrace_error;
struct hyptrace_event;
struct hyptrace_filters;
struct hyptrace_formats;

/* Bytes that filter_count() writes at most */
#define FILTER_COUNT_SIZE	40

int filter_fail(const char *text, size_t at, const struct hyptrace_error *err);
int filter_parse(const char *text, struct hyptrace_event *const *events, unsigned int nr,
		 const struct hyptrace_formats *formats, struct hyptrace_filters **filters);
const char *filter_count(bool filters, uint64_t nr,
			 char text[FILTER_COUNT_SIZE]);

#endif /* FILTER_H */
