/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export several files at once, each to an output of its own in a folder. For export.
 */
#ifndef EXPORT_MANY_H
#define EXPORT_MANY_H

#include <stdbool.h>

/*
 * One file in a process of its own: @out is the name of its output. Returns an exit code, after a
 * message that names the file.
 */
typedef int (*export_one_fn)(void *arg, const char *file, const char *out);

struct export_many {
	char		**files;
	unsigned int	nr;
	const char	*folder;	/* of the outputs; it is made if it does not exist */
	const char	*ending;	/* of their names */
	export_one_fn	one;
	void		*arg;
};

int export_many(const struct export_many *many);

#endif /* EXPORT_MANY_H */
