// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finish a trace file: move the parts of the CPUs to the main file, write its head again, and
 * rename it. Or write all of it to a pipe.
 *
 * A crash must not lose data, and a power cut may leave any sector of what was not synced. So the
 * head gets the places of all data, which a reader ignores; once they are on the disk, one digit of
 * the text changes, which tells the reader to use them. The parts are moved only after that: the
 * reader then takes from the main file what a part does not have any more. A part is removed once
 * its data is on the disk in the main file. If the disk is full, the part gives up its room block
 * by block, each of which was synced in the main file before.
 */
#include <fcntl.h>
#include <libgen.h>
#include <sys/statvfs.h>

#include "file_write.h"

/* Store why the file cannot be finished: @ret is a negative errno. */
static int fail(struct hyptrace_file_writer *w, int ret, struct hyptrace_error *err)
{
	if (!w->part_path)
		return hyptrace_error_set(err, -ret, "cannot write the output: %m");
	return hyptrace_error_set(err, -ret,
				  "cannot finish %s: %m (\"hyptrace report\" reads what is in %s and the files beside it)",
				  w->path, w->part_path);
}

/* Count the events that are not whole in the first @written bytes. Return where these begin. */
static size_t count_unwritten(struct hyptrace_file_writer *w, struct file_part *part,
			      size_t written)
{
	const bool has_number = w->compressor && !part->size;
	size_t at = has_number ? sizeof(uint32_t) : 0, kept = 0, len = w->meta.info.subbuf_size;
	uint64_t events;

	/* whole sub-buffers or chunks */
	for (; at < part->left_size; at += len) {
		if (w->compressor)
			len = hyptrace_file_zstd_count(w, part->left + at, &events);
		else
			events = hyptrace_file_count_events(w, part->left + at, len);
		if (at + len <= written)
			kept = at + len;
		else
			part->unwritten += events;
	}
	return kept;
}

/* Bytes that may be written and leave the room that move_parts() needs. */
static uint64_t room_on_disk(const struct hyptrace_file_writer *w)
{
	uint64_t room, kept = 2 * HYPTRACE_FILE_BLOCK;
	struct statvfs vfs;

	if (fstatvfs(w->fd, &vfs))
		return UINT64_MAX;
	room = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return room > kept ? room - kept : 0;
}

/* Write what the disk had no room for, as far as there is room now. */
static void write_left(struct hyptrace_file_writer *w, struct file_part *part)
{
	size_t size = part->left_size, done;

	if (!part->left_size)
		return;
	hyptrace_file_release_reserve(w);
	if (part->fd < 0)
		part->fd = hyptrace_file_part_create(part->path, NULL);
	/* if it was only the name that could not be made */
	if (part->fd < 0) {
		free(part->path);
		part->path = NULL;
		part->fd = hyptrace_file_part_create(NULL, NULL);
	}
	size = MIN(size, room_on_disk(w));
	/* without a file, nothing is written */
	done = hyptrace_file_pwrite(part->fd, part->left, size, part->begin + part->size);
	done = count_unwritten(w, part, done);
	part->size += done;
	(void)!ftruncate(part->fd, part->begin + part->size);
	free(part->left);
	part->left = NULL;
	part->left_size = 0;
}

static int write_number(struct file_part *part)
{
	uint64_t at = sizeof(uint32_t);
	uint32_t nr = 0, header[2];

	while (at < part->size) {
		if (pread(part->fd, header, sizeof(header), part->begin + at) != sizeof(header))
			return -EIO;
		at += sizeof(header) + header[0];
		nr++;
	}
	return pwrite(part->fd, &nr, sizeof(nr), part->begin) == sizeof(nr) ? 0 : -errno;
}

/* Decide where the data of each CPU is in the finished file. */
static void place(struct hyptrace_file_writer *w)
{
	const uint32_t subbuf = w->meta.info.subbuf_size;
	uint64_t at = w->head_size;
	struct file_part *part;

	for (part = w->parts; part < w->parts + w->nr_parts; part++) {
		part->cpu->size = part->size;
		/* that of the first one has been there from the beginning */
		part->cpu->offset = part->size || part == w->parts ? at : 0;
		at += (part->size + subbuf - 1) / subbuf * subbuf;
		if (part->cpu->has_counts && part->unwritten) {
			part->cpu->events -= MIN(part->unwritten, part->cpu->events);
			part->cpu->lost += part->unwritten;
			part->unwritten = 0;
		}
	}
}

/* Copy up to @size bytes of a part to the main file. Return their number or -1 with errno. */
static ssize_t copy_some(struct hyptrace_file_writer *w, struct file_part *part, uint64_t done,
			 size_t size)
{
	auto_free char *buffer = NULL;
	loff_t from = part->begin + done, to = part->cpu->offset + done;
	ssize_t n = copy_file_range(part->fd, &from, w->fd, &to, size, 0);

	if (n > 0 || (n < 0 && errno != EXDEV && errno != ENOSYS && errno != EINVAL &&
		      errno != EOPNOTSUPP))
		return n;
	buffer = malloc(size);
	if (!buffer)
		return -1;
	n = pread(part->fd, buffer, size, from);
	if (n > 0)
		n = hyptrace_file_pwrite(w->fd, buffer, n, to);
	else if (!n)
		errno = EIO;
	return n > 0 ? n : -1;
}

/* Give up the room that a part takes up to @done, which is in the main file. */
static bool give_up(struct hyptrace_file_writer *w, struct file_part *part, uint64_t done)
{
	uint64_t blocks = done / HYPTRACE_FILE_BLOCK * HYPTRACE_FILE_BLOCK;

	return blocks && !TEMP_FAILURE_RETRY(fdatasync(w->fd)) &&
	       !TEMP_FAILURE_RETRY(fallocate(part->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					     part->begin, blocks));
}

static int move_part(struct hyptrace_file_writer *w, struct file_part *part,
		     struct hyptrace_error *err)
{
	uint64_t done = 0, given = 0;
	ssize_t n;

	while (done < part->size) {
		n = TEMP_FAILURE_RETRY(copy_some(w, part, done,
						 MIN(part->size - done, HYPTRACE_FILE_BLOCK)));
		if (n > 0) {
			done += n;
			continue;
		}
		if (n < 0 && errno != ENOSPC && errno != EDQUOT)
			return fail(w, -errno, err);
		if (hyptrace_file_release_reserve(w))
			continue;
		if (done - given < HYPTRACE_FILE_BLOCK || !give_up(w, part, done))
			return fail(w, -ENOSPC, err);
		given = done / HYPTRACE_FILE_BLOCK * HYPTRACE_FILE_BLOCK;
	}
	if (TEMP_FAILURE_RETRY(fdatasync(w->fd)))
		return fail(w, -errno, err);
	close(part->fd);
	part->fd = -1;
	if (part->path)
		unlink(part->path);
	return 0;
}

static int sync_head(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	int ret = hyptrace_file_write_head(w, err);

	if (ret || TEMP_FAILURE_RETRY(fdatasync(w->fd)))
		return fail(w, ret ? ret : -errno, err);
	return 0;
}

static void sync_folder(const char *path)
{
	auto_free char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* Give the main file its name, once all of it is on the disk: again one digit changes. */
static int rename_main(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	int ret;

	w->meta.state = FILE_COMPLETE;
	ret = sync_head(w, err);
	if (ret)
		return ret;
	if (rename(w->part_path, w->path))
		return fail(w, -errno, err);
	sync_folder(w->path);
	return 0;
}

static int move_parts(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	unsigned int i;
	int ret = sync_head(w, err);

	/* the part of the first CPU is in the main file already */
	for (i = 1; i < w->nr_parts && !ret; i++) {
		if (!w->parts[i].size)
			continue;
		if (w->meta.state != FILE_PLACED) {
			w->meta.state = FILE_PLACED;
			ret = sync_head(w, err);
			if (ret)
				break;
		}
		ret = move_part(w, &w->parts[i], err);
	}
	hyptrace_file_release_reserve(w);
	return ret ? ret : rename_main(w, err);
}

static int send(struct hyptrace_file_writer *w, int fd, uint64_t from, uint64_t size)
{
	auto_free char *buffer = malloc(HYPTRACE_FILE_BLOCK);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	for (; size; from += n, size -= n) {
		n = pread(fd, buffer, MIN(size, HYPTRACE_FILE_BLOCK), from);
		if (n <= 0)
			return n ? -errno : -EIO;
		if (!hyptrace_write_all(w->out, buffer, n))
			return -errno;
	}
	return 0;
}

/* Write the finished file to a pipe, in the order of the offsets. */
static int send_all(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	auto_free char *zeros = calloc(1, w->meta.info.subbuf_size);
	const uint32_t subbuf = w->meta.info.subbuf_size;
	struct file_part *part;
	int ret;

	if (!zeros)
		return hyptrace_error_memory(err);
	w->meta.state = FILE_COMPLETE;
	ret = hyptrace_file_write_head(w, err);
	if (!ret)
		ret = send(w, w->fd, 0, w->head_size);
	for (part = w->parts; part < w->parts + w->nr_parts && !ret; part++) {
		ret = send(w, part->fd, part->begin, part->size);
		if (!ret && part->size % subbuf &&
		    !hyptrace_write_all(w->out, zeros, subbuf - part->size % subbuf))
			ret = -errno;
	}
	return ret ? fail(w, ret, err) : 0;
}

/* Write all data that waits, once. */
static void end_data(struct hyptrace_file_writer *w)
{
	unsigned int i;

	hyptrace_file_zstd_end(w, false);
	for (i = 0; i < w->nr_parts && !w->data_ended; i++) {
		write_left(w, &w->parts[i]);
		if (w->compressor && w->parts[i].size && !w->data_ret)
			w->data_ret = write_number(&w->parts[i]);
	}
	w->data_ended = true;
}

/**
 * hyptrace_file_unwritten - write all data that waits, and get the events that could not be written
 * @w:		the writer, to which nothing more is written
 * @cpu:	their CPU
 *
 * If the disk is full, the last sub-buffers that were read may be lost. hyptrace_file_finish()
 * reports that the data could not be written.
 *
 * Return: the number of events.
 */
uint64_t hyptrace_file_unwritten(struct hyptrace_file_writer *w, unsigned int cpu)
{
	const struct file_part *part = hyptrace_file_find_part(w, cpu, NULL);

	end_data(w);
	return part ? part->unwritten : 0;
}

/**
 * hyptrace_file_finish - finish the file
 * @w:		the writer, or NULL; it is freed in any case
 * @err:	the reason if it fails; may be NULL
 *
 * The file appears under its name with all its data, and replaces another one of this name.
 *
 * Return: 0 or a negative errno. After a failure the data is still in the files whose names begin
 * with that of the file and ".part", and hyptrace_file_open() reads them.
 */
int hyptrace_file_finish(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	int ret;

	if (!w)
		return 0;
	end_data(w);
	ret = w->data_ret;
	if (ret) {
		fail(w, ret, err);
	} else {
		place(w);
		ret = w->out >= 0 ? send_all(w, err) : move_parts(w, err);
	}
	hyptrace_file_writer_free(w);
	return ret;
}
