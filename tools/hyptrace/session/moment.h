/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arguments of --from and --to. For the verbs that read files.
 */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct hyptrace_error;
struct hyptrace_file;

enum moment_kind {
	MOMENT_NONE,		/* not given */
	MOMENT_ABSOLUTE,	/* of the file's clock */
	MOMENT_AFTER_FIRST,	/* after the first event */
	MOMENT_BEFORE_LAST,	/* before the last event */
};

/* A time that the user has given */
struct moment {
	enum moment_kind	kind;
	uint64_t		ns;
};

bool moment_parse(const char *text, struct moment *moment);
int moment_set_times(struct hyptrace_file *file, const struct moment *from,
		     const struct moment *to, struct hyptrace_error *err);

#endif /* MOMENT_H */
