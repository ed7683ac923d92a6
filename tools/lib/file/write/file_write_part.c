// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a trace file that is being written: make them, and append sub-buffers to them.
 *
 * If the disk is full, the data that it had no room for stays in memory. hyptrace_file_finish()
 * tries to write it to the room that the reserve has kept.
 */
#include <fcntl.h>
#include <sys/file.h>

#include "file_write.h"

/* Only its owner may read a trace: it contains addresses. */
#define FILE_MODE	0600

/* Bytes that a pipe should hold, and what it holds if that is refused */
#define PIPE_SIZE	(1 << 20)
#define PIPE_SIZE_MIN	(64 << 10)

/* Use the room on the disk that was kept for the end. */
bool hyptrace_file_release_reserve(struct hyptrace_file_writer *w)
{
	if (w->reserve < 0)
		return false;
	close(w->reserve);
	w->reserve = -1;
	return true;
}

/* Note that nothing more can be written. Only the thread that writes the parts calls it. */
int hyptrace_file_fail(struct hyptrace_file_writer *w, const struct hyptrace_error *why,
		       struct hyptrace_error *err)
{
	if (!w->errnum) {
		w->err = *why;
		/* (A) Order the text before the errno. Pairs with (A) in hyptrace_file_failed(). */
		__atomic_store_n(&w->errnum, why->errnum, __ATOMIC_RELEASE);
	}
	if (err)
		*err = *why;
	return -why->errnum;
}

/**
 * hyptrace_file_failed - can nothing more be written?
 * @w:		the writer
 * @err:	why; may be NULL
 * Return: 0 or a negative errno: then the file can only be finished or abandoned.
 */
int hyptrace_file_failed(const struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	/* (A) Order the errno before the text. Pairs with (A) in hyptrace_file_fail(). */
	const int errnum = __atomic_load_n(&w->errnum, __ATOMIC_ACQUIRE);

	if (errnum && err)
		*err = w->err;
	return -errnum;
}

/**
 * hyptrace_file_size - get the size of the file so far
 * @w:		the writer
 * Return: the bytes. Data that waits for its compression does not count.
 */
uint64_t hyptrace_file_size(const struct hyptrace_file_writer *w)
{
	return __atomic_load_n(&w->size, __ATOMIC_RELAXED);
}

/* Count the events of sub-buffers that the disk had no room for. */
uint64_t hyptrace_file_count_events(const struct hyptrace_file_writer *w, const char *data,
				    size_t size)
{
	const size_t subbuf = w->meta.info.subbuf_size;
	struct hyptrace_decoder dec = {};
	struct hyptrace_record rec;
	uint64_t events = 0;

	for (; size >= subbuf; data += subbuf, size -= subbuf) {
		/* one that is damaged has no events */
		hyptrace_decoder_load(&dec, data, subbuf, NULL);
		while (hyptrace_decoder_next(&dec, &rec, NULL) > 0)
			events++;
	}
	return events;
}

void hyptrace_file_add_unwritten(const struct hyptrace_file_writer *w, struct file_part *part,
				 const char *data, size_t size)
{
	/* the reading thread calls it, and that which compresses */
	__atomic_add_fetch(&part->unwritten, hyptrace_file_count_events(w, data, size),
			   __ATOMIC_RELAXED);
}

/* Make a file without a name. Return its descriptor; -1 with errno. */
int hyptrace_file_create_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	char *path;

	/* not all file systems can do that */
	if (fd >= 0 || asprintf(&path, "%s/hyptrace.XXXXXX", folder) < 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* Make a part. Its lock, as long as it is open, shows that its recording has not ended. */
int hyptrace_file_part_create(const char *path, struct hyptrace_error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE) :
		 hyptrace_file_create_unnamed(folder && *folder ? folder : "/tmp");

	/* a recording that finds the name taken may try the lock: wait until it has */
	if (fd >= 0 && path)
		TEMP_FAILURE_RETRY(flock(fd, LOCK_EX));
	if (fd >= 0)
		return fd;
	if (!path || errno != EEXIST)
		return hyptrace_error_set(err, errno, "cannot make %s: %m",
					  path ?: "a temporary file");
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		hyptrace_error_set(err, EBUSY, "another recording is writing %s", path);
	else
		hyptrace_error_set(err, EEXIST,
				   "a recording that was not finished is in %s (read it with \"hyptrace report\", or remove it)",
				   path);
	if (fd >= 0)
		close(fd);
	return -EEXIST;
}

static int open_part(struct file_part *part, struct hyptrace_error *err)
{
	if (part->fd < 0)
		part->fd = hyptrace_file_part_create(part->path, err);
	return part->fd < 0 ? part->fd : 0;
}

static int write_error(const struct hyptrace_file_writer *w, const struct file_part *part,
		       int errnum, struct hyptrace_error *err)
{
	return hyptrace_error_set(err, errnum, "cannot write %s: %m",
				  part->path ?: w->part_path ?: "a temporary file");
}

/* Keep data in memory that could not be written: whole sub-buffers, or a chunk. */
static int keep(struct file_part *part, const void *data, size_t size)
{
	char *all = realloc(part->left, part->left_size + size);

	if (!all)
		return -ENOMEM;
	memcpy(all + part->left_size, data, size);
	part->left = all;
	part->left_size += size;
	return 0;
}

/* Write all of it. Return the number of bytes written; less than size with errno. */
size_t hyptrace_file_pwrite(int fd, const void *data, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	for (; done < size; done += n) {
		n = TEMP_FAILURE_RETRY(pwrite(fd, (const char *)data + done, size - done,
					      offset + done));
		if (!n)
			errno = ENOSPC;
		if (n <= 0)
			break;
	}
	return done;
}

static void grow(struct hyptrace_file_writer *w, struct file_part *part, size_t size)
{
	part->size += size;
	__atomic_add_fetch(&w->size, size, __ATOMIC_RELAXED);
}

/* Append data. What cannot be written is kept in memory: of compressed data, the whole chunk. */
int hyptrace_file_part_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const void *data, size_t size, struct hyptrace_error *err)
{
	struct hyptrace_error why;
	size_t done = 0;
	int ret = hyptrace_file_failed(w, &why);

	if (!ret)
		ret = open_part(part, &why);
	if (!ret) {
		done = hyptrace_file_pwrite(part->fd, data, size, part->begin + part->size);
		if (done < size) {
			ret = write_error(w, part, errno, &why);
			done -= w->compressor ? done : done % w->meta.info.subbuf_size;
		}
		grow(w, part, done);
	}
	if (!ret)
		return 0;
	if (keep(part, (const char *)data + done, size - done)) {
		hyptrace_error_memory(&why);
		if (!w->compressor)
			hyptrace_file_add_unwritten(w, part, (const char *)data + done,
						    size - done);
	}
	return hyptrace_file_fail(w, &why, err);
}

static int open_pipe(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	int size;

	if (w->pipe_data)
		return 0;
	if (w->pipe[0] < 0 && pipe2(w->pipe, O_CLOEXEC))
		return hyptrace_error_set(err, errno, "cannot make a pipe: %m");
	size = fcntl(w->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
	w->pipe_size = size > 0 ? size : PIPE_SIZE_MIN;
	/* not when the disk is full: what is in the pipe then is nowhere else */
	w->pipe_data = malloc(w->meta.info.subbuf_size + w->pipe_size);
	return w->pipe_data ? 0 : hyptrace_error_memory(err);
}

/*
 * Keep what is in the pipe, which was consumed from the ring, and what the part has of its first
 * sub-buffer: nothing more can be written because of @err. Return the negative errno.
 */
static int keep_pipe(struct hyptrace_file_writer *w, struct file_part *part, size_t size,
		     struct hyptrace_error *err)
{
	const size_t begun = part->size % w->meta.info.subbuf_size;
	char *data = w->pipe_data;
	size_t done = begun;
	ssize_t n;

	part->size -= begun;
	__atomic_sub_fetch(&w->size, begun, __ATOMIC_RELAXED);
	size += begun;
	/* without its begin, the sub-buffer is damaged */
	if (begun && pread(part->fd, data, begun, part->begin + part->size) != (ssize_t)begun)
		memset(data, 0, begun);
	for (; done < size; done += n) {
		n = TEMP_FAILURE_RETRY(read(w->pipe[0], data + done, size - done));
		if (n <= 0)
			break;
	}
	if (keep(part, data, done)) {
		hyptrace_error_memory(err);
		hyptrace_file_add_unwritten(w, part, data, done);
	}
	return hyptrace_file_fail(w, err, NULL);
}

static int write_pipe(struct hyptrace_file_writer *w, struct file_part *part, size_t size,
		      struct hyptrace_error *err)
{
	loff_t at = part->begin + part->size;
	ssize_t n;

	for (; size; size -= n) {
		n = TEMP_FAILURE_RETRY(splice(w->pipe[0], NULL, part->fd, &at, size,
					      SPLICE_F_MOVE));
		if (n <= 0) {
			write_error(w, part, n ? errno : ENOSPC, err);
			return keep_pipe(w, part, size, err);
		}
		grow(w, part, n);
	}
	return 0;
}

/* What read() or splice() has returned for a ring: 0 if it is empty, or a negative errno */
static int64_t ring_result(ssize_t n, struct hyptrace_error *err)
{
	if (n < 0 && errno != EAGAIN)
		return hyptrace_error_set(err, errno, "cannot read the ring: %m");
	return n < 0 ? 0 : n;
}

/* Return as read(); 0 if the ring is empty, or a negative errno. */
int64_t hyptrace_file_read_ring(int fd, void *to, size_t size, struct hyptrace_error *err)
{
	return ring_result(TEMP_FAILURE_RETRY(read(fd, to, size)), err);
}

/* Move sub-buffers from a ring to a part. Return their bytes, 0 if the ring is empty. */
int64_t hyptrace_file_part_splice(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				  struct hyptrace_error *err)
{
	struct hyptrace_error own;
	uint64_t room;
	int64_t size;
	int ret;

	if (!err)
		err = &own;
	ret = open_pipe(w, err);
	if (ret)
		return ret;
	/* whole sub-buffers that the pipe and the file have room for; at least one fits */
	room = MIN(w->limit - w->size, w->pipe_size);
	room -= room % w->meta.info.subbuf_size;
	size = ring_result(TEMP_FAILURE_RETRY(splice(fd, NULL, w->pipe[1], NULL, room,
						     SPLICE_F_NONBLOCK)), err);
	if (size <= 0)
		return size;
	/* only now: a ring without events needs no file */
	ret = open_part(part, err) ? keep_pipe(w, part, size, err) :
					write_pipe(w, part, size, err);
	return ret ? ret : size;
}

/* Find the time of the last record. Return false if the sub-buffer cannot be decoded. */
static bool last_time(struct hyptrace_decoder *dec, const struct hyptrace_subbuf *subbuf,
		      size_t size, uint64_t *time)
{
	struct hyptrace_record rec;
	int ret = hyptrace_decoder_load(dec, subbuf, size, NULL);

	while (!ret && (ret = hyptrace_decoder_next(dec, &rec, NULL)) > 0) {
		*time = rec.ts;
		ret = 0;
	}
	/* nobody asks for them */
	hyptrace_decoder_lost(dec);
	return !ret;
}

/*
 * A slow writer fills its sub-buffer in many steps, and the driver delivers each as a sub-buffer of
 * its own. Its time stamp is the time of the record before it, so append its records as they are.
 * Return false if @from does not continue @to or fit.
 */
bool hyptrace_file_join(struct hyptrace_file_writer *w, void *to, const void *from)
{
	const size_t size = w->meta.info.subbuf_size;
	const struct hyptrace_subbuf *next = from;
	struct hyptrace_subbuf *subbuf = to;
	uint64_t used = subbuf->commit & HYPTRACE_COMMIT_MASK;
	uint64_t more = next->commit & HYPTRACE_COMMIT_MASK, time = subbuf->time_stamp;
	/* the number of lost events is behind the data */
	size_t stored = subbuf->commit & HYPTRACE_COMMIT_STORED ? sizeof(uint64_t) : 0;
	size_t room = size - sizeof(*subbuf) - stored;

	if (next->commit & HYPTRACE_COMMIT_MISSED || used + more > room || !used || !more)
		return false;
	if (!last_time(&w->join, subbuf, size, &time) || time != next->time_stamp)
		return false;
	memmove(subbuf->data + used + more, subbuf->data + used, stored);
	memcpy(subbuf->data + used, next->data, more);
	subbuf->commit += more;
	return true;
}

/* Append a sub-buffer, or its records to the part's last one. Behind it is room for two more. */
static int add_subbuf(struct hyptrace_file_writer *w, struct file_part *part, char *subbuf,
		      struct hyptrace_error *err)
{
	const size_t size = w->meta.info.subbuf_size;
	const uint64_t at = part->begin + part->size - size;
	char *last = subbuf + size, *old = last + size;
	struct hyptrace_error why;

	if (pread(part->fd, last, size, at) == (ssize_t)size) {
		memcpy(old, last, size);
		if (hyptrace_file_join(w, last, subbuf)) {
			if (hyptrace_file_pwrite(part->fd, last, size, at) == size)
				return 0;
			/* some of its records may be there now: no record may be there twice */
			if (hyptrace_file_pwrite(part->fd, old, size, at) != size) {
				write_error(w, part, errno, &why);
				hyptrace_file_add_unwritten(w, part, subbuf, size);
				return hyptrace_file_fail(w, &why, err);
			}
		}
	}
	return hyptrace_file_part_write(w, part, subbuf, size, err);
}

int64_t hyptrace_file_part_join(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err)
{
	auto_free char *subbufs = malloc(3 * (size_t)w->meta.info.subbuf_size);
	const size_t size = w->meta.info.subbuf_size;
	int64_t n;
	int ret;

	if (!subbufs)
		return hyptrace_error_memory(err);
	n = hyptrace_file_read_ring(fd, subbufs, size, err);
	ret = n > 0 ? add_subbuf(w, part, subbufs, err) : 0;
	return ret ? ret : n;
}
