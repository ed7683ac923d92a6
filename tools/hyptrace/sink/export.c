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

/* The format whose files have such names; NULL if there is none, or if the name ends with "/" */
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

int export_open(struct export *x, const char *name, struct out *out)
{
	const int fd = openat(x->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return cmd_fail("cannot create \"%s/%s\": %s", x->name, name, strerror(errno));
	out_init(out, fd);
	return EXIT_DONE;
}

/* Write what is left for a file, and close it. */
int export_close(struct export *x, const char *name, struct out *out)
{
	out_flush(out);
	if (close(out->fd) && !out->error)
		out->error = errno;
	if (!out->error)
		return EXIT_DONE;
	return cmd_fail("cannot write \"%s/%s\": %s", x->name, name, strerror(out->error));
}
