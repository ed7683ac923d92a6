// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose the format of an export, and where it is written to: stdout, a file, or a folder. A file
 * and a folder have a temporary name until they are complete.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "output/die.h"
#include "export.h"

/* The linker puts the formats of all files together. */
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

/* Write what is left for a file, and close it. */
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

static char *temporary_name(const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && name[len - 1] == '/')
		len--;
	return xasprintf("%.*s.XXXXXX", (int)len, name);
}

static int fail_create(struct export_output *output)
{
	int code = cmd_fail("cannot create \"%s\": %s", output->name, strerror(errno));

	free(output->part);
	output->part = NULL;
	return code;
}

static bool is_empty_folder(const char *name)
{
	const struct dirent *entry;
	DIR *dir = opendir(name);
	bool empty = dir;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = false;
	if (dir)
		closedir(dir);
	return empty;
}

static int open_file(struct export_output *output)
{
	const char *name = output->name;
	struct stat st;
	int fd;

	/* a device or a pipe is written as it is */
	if (stat(name, &st) || S_ISREG(st.st_mode)) {
		output->part = temporary_name(name);
		name = output->part;
		fd = mkostemp(output->part, O_CLOEXEC);
	} else {
		fd = open(name, O_RDWR | O_CLOEXEC);
		/* such as a device that can only be written */
		if (fd < 0)
			fd = open(name, O_WRONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return fail_create(output);
	out_init(&output->out, fd);
	return EXIT_DONE;
}

int export_output_open(struct export_output *output)
{
	struct stat st;
	int fail;

	output->fd = -1;
	if (!output->is_folder && strcmp(output->name, "-"))
		return open_file(output);
	out_init(&output->out, STDOUT_FILENO);
	if (!output->is_folder)
		return EXIT_DONE;
	if (!stat(output->name, &st) && !is_empty_folder(output->name))
		return cmd_fail("cannot create the folder \"%s\": %s (remove it, or name another one)",
				output->name, S_ISDIR(st.st_mode) ? "it is not empty" :
				"a file has this name");
	output->part = temporary_name(output->name);
	/* like the recording, nobody else may read it: it tells addresses */
	if (!mkdtemp(output->part))
		return fail_create(output);
	output->fd = open(output->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->fd >= 0)
		return EXIT_DONE;
	fail = errno;
	rmdir(output->part);
	errno = fail;
	return fail_create(output);
}

/* Write what is left, and give the output its name. */
int export_output_finish(struct export_output *output)
{
	struct out *out = &output->out;

	if (!output->is_folder) {
		out_flush(out);
		if (out->fd != STDOUT_FILENO && close(out->fd) && !out->error)
			out->error = errno;
		out->fd = -1;
		/* a pipe that is closed: its reader has seen enough */
		if (out->error && (out->error != EPIPE || output->part))
			return cmd_fail("cannot write \"%s\": %s", output->name,
					strerror(out->error));
	}
	out_free(out);
	if (!output->part)
		return EXIT_DONE;
	if (rename(output->part, output->name))
		return cmd_fail("cannot create \"%s\": %s", output->name, strerror(errno));
	if (output->is_folder)
		close(output->fd);
	free(output->part);
	output->part = NULL;
	return EXIT_DONE;
}

void export_output_abandon(struct export_output *output)
{
	const bool is_made = output->is_folder && output->fd >= 0;
	DIR *dir = is_made ? fdopendir(output->fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (is_made)
		rmdir(output->part);
	else if (output->part)
		unlink(output->part);
	if (!output->is_folder && output->out.fd > STDERR_FILENO)
		close(output->out.fd);
	out_free(&output->out);
	free(output->part);
	output->part = NULL;
}
