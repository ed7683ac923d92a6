// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of export formats, and the files of a format that writes several. For cmd_export.c
 * and export_*.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "export.h"

/* In the order of the help */
const struct export_format *const export_formats[] = {
	&export_perfetto,
	&export_ctf,
	&export_chrome,
	&export_collapsed,
	&export_jsonl,
	&export_csv,
	NULL
};

/**
 * export_find_format - find a format
 * @name:	its name
 *
 * Return: the format, or NULL.
 */
const struct export_format *export_find_format(const char *name)
{
	const struct export_format *const *format;

	for (format = export_formats; *format; format++)
		if (!strcmp((*format)->name, name))
			return *format;
	return NULL;
}

static bool ends_with(const char *name, const char *ending)
{
	const size_t len = strlen(name), end = strlen(ending);

	return len > end && !strcmp(name + len - end, ending);
}

/**
 * export_guess_format - find the format of an output
 * @out:	name of the output
 *
 * Return: the format whose files have such names; NULL if there is none. A name that ends with
 * "/" has no format.
 */
const struct export_format *export_guess_format(const char *out)
{
	const struct export_format *const *format;
	const char *const *ending;

	for (format = export_formats; *format; format++)
		for (ending = (*format)->endings; *ending; ending++)
			if (ends_with(out, *ending))
				return *format;
	return NULL;
}

/**
 * export_open - make a file in the folder of an export
 * @x:		the export
 * @name:	name of the file
 * @out:	out: its buffer
 *
 * Return: an exit code.
 */
int export_open(struct export *x, const char *name, struct out *out)
{
	const int fd = openat(x->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return cmd_fail("cannot create \"%s/%s\": %s", x->name, name, strerror(errno));
	out_init(out, fd);
	return EXIT_DONE;
}

/**
 * export_close - write what is left for a file, and close it
 * @x:		the export
 * @name:	name of the file
 * @out:	its buffer, from export_open()
 *
 * Return: an exit code; EXIT_REFUSED if this or an earlier write has failed.
 */
int export_close(struct export *x, const char *name, struct out *out)
{
	out_flush(out);
	if (close(out->fd) && !out->error)
		out->error = errno;
	if (!out->error)
		return EXIT_DONE;
	return cmd_fail("cannot write \"%s/%s\": %s", x->name, name, strerror(out->error));
}
