/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an export is written to. For cmd_export.c.
 */
#ifndef EXPORT_OUTPUT_H
#define EXPORT_OUTPUT_H

#include "export.h"

/* The output of an export */
struct export_output {
	const char	*name;	/* its name; "-" is stdout */
	bool		is_folder;	/* it is a folder */
	const char	*tar;	/* write a TAR of it and of this file, or NULL */
	int		tar_fd;	/* descriptor of that file; -1 to open it by its name */
	char		*part;	/* its temporary name until it is complete; NULL if it has none */
	struct out	out;	/* the buffer of a file */
	/* descriptor of the folder, or of the file that a TAR for stdout is copied from; or -1 */
	int		fd;
};

/* export_output.c */
int export_output_open(struct export_output *output);
int export_output_finish(struct export_output *output);
void export_output_abandon(struct export_output *output);

/* export_tar.c */
int export_tar_check(const char *name);
int export_tar_begin(struct export_output *output);
int export_tar_end(struct export_output *output);
int export_open_unnamed(void);

#endif /* EXPORT_OUTPUT_H */
