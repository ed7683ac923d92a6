// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the sub-buffers of each CPU are: in the file, or in the files that a recording leaves if
 * it is killed. For file_read.c. hyptrace.dat(5) says how a recording ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

int hyptrace_file_open_fd(const char *path, uint64_t *size, struct hyptrace_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), errnum = errno;

	*size = 0;
	if (fd < 0 && errnum == ENOENT && !strcmp(path, "-"))
		return hyptrace_error_set(err, EINVAL, "a pipe cannot be read, as files are read from their end, too: write it to a file first");
	if (fd < 0)
		return hyptrace_error_set(err, errnum, "%s", strerror(errnum));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	return hyptrace_error_set(err, EINVAL, "it is not a regular file");
}

/* The sub-buffers of a CPU are in the file itself, but perhaps not all of them. */
static void place_here(struct hyptrace_file *f, struct file_data *data, uint64_t offset,
		       uint64_t size)
{
	uint64_t there = offset < f->size ? f->size - offset : 0;

	data->fd = f->fd;
	data->offset = offset;
	data->size = size < there ? size : there;
	data->missing = size - data->size;
}

/* The end of a recording was interrupted: how many bytes has this part given up? */
static uint64_t bytes_moved(int fd, uint64_t size)
{
	off_t data = lseek(fd, 0, SEEK_DATA);

	if (data >= 0)
		return data;
	return errno == ENXIO ? size : 0;
}

/* The sub-buffers of a CPU are in a file of their own, if it is there. */
static int place_part(struct hyptrace_file *f, struct file_data *data, unsigned int cpu,
		      const struct file_place *place, struct hyptrace_error *err)
{
	const char *kind = f->is_host ? HYPTRACE_FILE_HOST : "cpu";
	char *path;
	int fd;

	if (asprintf(&path, "%s.%s%u", f->path, kind, cpu) < 0)
		return hyptrace_error_memory(err);
	fd = hyptrace_file_open_fd(path, &data->size, err);
	free(path);
	if (fd == -ENOENT) {
		/* it has no events, or they were moved */
		place_here(f, data, place->offset, place->size);
		return 0;
	}
	if (fd < 0)
		return fd;
	data->fd = fd;
	data->own_fd = true;
	if (place->size) {
		data->moved = bytes_moved(fd, data->size);
		data->to = place->offset;
		/* a power cut may have taken what was not on the disk */
		data->missing = place->size > data->size ? place->size - data->size : 0;
	}
	return 0;
}

/* The first CPU of a recording that has not ended is in the file itself, up to its end. */
static void place_first(struct hyptrace_file *f, struct file_data *data, uint64_t from)
{
	if (from < f->header_end)
		from = f->header_end + f->meta.info.subbuf_size - 1;
	from -= from % f->meta.info.subbuf_size;
	place_here(f, data, from, f->size > from ? f->size - from : 0);
}

int hyptrace_file_place(struct hyptrace_file *f, struct hyptrace_error *err)
{
	const struct file_place none = {};
	unsigned int i, at = 0;
	int ret = 0;

	f->data = calloc(f->meta.nr_cpus ? f->meta.nr_cpus : 1, sizeof(*f->data));
	if (!f->data)
		return hyptrace_error_memory(err);
	for (i = 0; i < f->meta.nr_cpus && !ret; i++) {
		struct hyptrace_file_cpu *cpu = f->meta.cpus[i];
		struct file_data *data = &f->data[i];
		const bool is_first = !i && !f->is_host;
		const struct file_place *place;

		/* both lists are in the order of the CPUs */
		while (at < f->nr_places && f->places[at].cpu < cpu->id)
			at++;
		place = at < f->nr_places && f->places[at].cpu == cpu->id ? &f->places[at] : &none;
		data->fd = f->fd;
		data->compressed = f->compressed;
		/* the end may have been interrupted: what is there of the sizes is not all */
		if (!f->meta.complete && !f->meta.placed)
			cpu->has_counts = false;
		if (f->meta.complete || (is_first && f->meta.placed))
			place_here(f, data, place->offset, place->size);
		else if (is_first)
			place_first(f, data, place->offset);
		else
			ret = place_part(f, data, cpu->id, f->meta.placed ? place : &none, err);
		cpu->offset = data->offset;
		cpu->size = data->size;
		cpu->missing = data->missing;
		cpu->own_file = data->own_fd;
	}
	return ret;
}

/* Return the bytes that were read, less than @size at the end; or a negative errno. */
int64_t hyptrace_data_pread(const struct hyptrace_file *f, const struct file_data *data, void *to,
			    size_t size, uint64_t at)
{
	uint64_t left = at < data->size ? data->size - at : 0, part = 0;
	int64_t n = 0, rest;

	if (size > left)
		size = left;
	if (at < data->moved) {
		part = data->moved - at < size ? data->moved - at : size;
		n = hyptrace_file_pread(f->fd, to, part, data->to + at);
		if (n < 0)
			return n;
	}
	if (n == (int64_t)part && part < size) {
		rest = hyptrace_file_pread(data->fd, (char *)to + part, size - part,
					   data->offset + at + part);
		if (rest < 0)
			return rest;
		n += rest;
	}
	*f->bytes_read += n;
	return n;
}

int hyptrace_data_cut(const struct file_data *data, struct hyptrace_error *err)
{
	return hyptrace_error_set(err, EBADMSG, "the file was cut: %" PRIu64 " bytes are missing",
				  data->missing);
}
