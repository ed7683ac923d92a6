// SPDX-License-Identifier: GPL-2.0-only
/* Choose the format of an export, and write the files of a folder. */
#include <fcntl.h>

#include "output/die.h"
#include "export.h"

extern const struct export_format __start_export_formats[], __stop_export_formats[];

/* The next format in the order of the help, after the last one; NULL at the end */
const struct export_format *export_next_format(const struct export_format *last)
{
	const struct export_format *format, *next = NULL;

	for (format = __start_export_formats; format < __stop_export_formats; format++)
		if ((!last || format->place > last->place) &&
		    (!next || format->place < next->place))
			next = format;
	return next;
}

const struct export_format *export_find_format(const char *name)
{
	const struct export_format *format = NULL;

	while ((format = export_next_format(format)) && strcmp(format->name, name))
		;
	return format;
}

bool export_ends_with(const char *name, const char *ending)
{
	const size_t len = strlen(name), end = strlen(ending);

	return len > end && !strcmp(name + len - end, ending);
}

/* The format whose files have such names; NULL if there is none, or if the name ends with "/" */
const struct export_format *export_guess_format(const char *out)
{
	const struct export_format *format = NULL;
	const char *const *ending;

	while ((format = export_next_format(format)))
		for (ending = format->endings; *ending; ending++)
			if (export_ends_with(out, *ending))
				return format;
	return NULL;
}

/* Begin a file of the folder. */
int export_open(struct export *x, const char *name, struct out *out)
{
	const int fd = openat(x->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return cmd_fail("cannot create \"%s/%s\": %s", x->name, name, strerror(errno));
	out_init(out, fd);
	return EXIT_DONE;
}

int export_close(struct export *x, const char *name, struct out *out)
{
	out_flush(out);
	if (close(out->fd) && !out->error)
		out->error = errno;
	out_free(out);
	if (!out->error)
		return EXIT_DONE;
	return cmd_fail("cannot write \"%s/%s\": %s", x->name, name, strerror(out->error));
}
