// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a CPU's sub-buffers: where they are, in the file or in the files that a recording
 * leaves if it is killed, and compressed or not. hyptrace.dat(5) says how a recording ends.
 *
 * The compressed sub-buffers of a CPU, of version 7, are a u32 with the number of chunks, which is
 * 0 before a recording has ended, and the chunks: a u32 with the compressed bytes, a u32 with the
 * bytes of the sub-buffers, and a frame of zstd. A chunk does not need the chunks before it. To
 * find one, the headers of those before it are read; where some of them are is remembered.
 */
#include <byteswap.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include "file.h"

#define COUNT_SIZE	sizeof(uint32_t)
#define HEAD_SIZE	(2 * sizeof(uint32_t))

/* Chunks of all CPUs whose places are remembered at most, and of a CPU at least */
#define CHUNKS_MAX	(256U << 10)
#define CHUNKS_MIN	16

uint32_t hyptrace_file_u32(const struct hyptrace_file *f, const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return f->swap ? bswap_32(value) : value;
}

uint64_t hyptrace_file_u64(const struct hyptrace_file *f, const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return f->swap ? bswap_64(value) : value;
}

int hyptrace_file_open_fd(const char *path, uint64_t *size, struct hyptrace_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), errnum = errno;

	*size = 0;
	if (fd < 0 && errnum == ENOENT && !strcmp(path, "-"))
		return hyptrace_error_set(err, EINVAL, "a pipe cannot be read, as files are read from their end, too: write it to a file first");
	if (fd < 0)
		return hyptrace_error_set(err, errnum, "%m");
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

/* The sub-buffers of a CPU are in a file of their own, if it is there. */
static int place_part(struct hyptrace_file *f, struct file_data *data, unsigned int cpu,
		      const struct file_place *place, struct hyptrace_error *err)
{
	const char *kind = f->is_host ? HYPTRACE_FILE_HOST : "cpu";
	off_t at;
	char *path;
	int fd;

	if (asprintf(&path, "%s.%s%u", f->path, kind, cpu) < 0)
		return hyptrace_error_memory(err);
	fd = hyptrace_file_open_fd(path, &data->size, err);
	free(path);
	/* it has no events, or they were moved */
	if (fd == -ENOENT)
		place_here(f, data, place->offset, place->size);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	data->fd = fd;
	data->own_fd = true;
	if (place->size) {
		/* the end was interrupted: what has this part given up? */
		at = lseek(fd, 0, SEEK_DATA);
		data->moved = at < 0 && errno == ENXIO ? data->size : MAX(at, 0);
		data->to = place->offset;
		/* a power cut may have taken what was not on the disk */
		data->missing = place->size > data->size ? place->size - data->size : 0;
	}
	return 0;
}

int hyptrace_file_place(struct hyptrace_file *f, struct hyptrace_error *err)
{
	const bool is_complete = f->meta.state == FILE_COMPLETE;
	const bool is_placed = f->meta.state == FILE_PLACED;
	const struct file_place none = {};
	unsigned int i, at = 0;
	int ret = 0;

	f->data = calloc(f->meta.info.nr_cpus ? f->meta.info.nr_cpus : 1, sizeof(*f->data));
	if (!f->data)
		return hyptrace_error_memory(err);
	for (i = 0; i < f->meta.info.nr_cpus && !ret; i++) {
		struct hyptrace_file_cpu *cpu = f->meta.info.cpus[i];
		struct file_data *data = &f->data[i];
		const bool is_first = !i && !f->is_host;
		const struct file_place *place;
		uint64_t from;

		/* both lists are in the order of the CPUs */
		while (at < f->nr_places && f->places[at].cpu < cpu->id)
			at++;
		place = at < f->nr_places && f->places[at].cpu == cpu->id ? &f->places[at] : &none;
		data->fd = f->fd;
		data->compressed = f->compressed;
		/* the end may have been interrupted: what is there of the sizes is not all */
		if (f->meta.state == FILE_RECORDING)
			cpu->has_counts = false;
		if (is_complete || (is_first && is_placed)) {
			place_here(f, data, place->offset, place->size);
		} else if (is_first) {
			/* it is in the file itself, up to its end */
			from = place->offset < f->header_end ?
			       f->header_end + f->meta.info.subbuf_size - 1 : place->offset;
			from -= from % f->meta.info.subbuf_size;
			place_here(f, data, from, f->size > from ? f->size - from : 0);
		} else {
			ret = place_part(f, data, cpu->id, is_placed ? place : &none, err);
		}
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

	size = MIN(size, left);
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

static int fail_cut(const struct file_data *data, struct hyptrace_error *err)
{
	return hyptrace_error_set(err, EBADMSG, "the file was cut: %" PRIu64 " bytes are missing",
				  data->missing);
}

size_t hyptrace_data_chunk_max(const struct hyptrace_file *f)
{
	return MAX((size_t)FILE_CHUNK_SUBBUFS * f->meta.info.subbuf_size, FILE_CHUNK_MAX);
}

/* What the header of a chunk says */
struct head {
	uint32_t	packed;
	uint32_t	full;
};

/* Does the CPU's size lack the number of chunks, which trace-cmd up to 3.1.6 does not count? */
static bool is_count_missing(const struct hyptrace_file *f, const struct file_data *data,
			     uint64_t offset, uint32_t packed)
{
	return !f->is_ours && packed == data->size - offset - HEAD_SIZE + COUNT_SIZE &&
	       f->size - data->offset - data->size >= COUNT_SIZE;
}

/* Read the header of a chunk. Return 1, 0 at the end, or a negative errno. */
static int read_head(const struct hyptrace_file *f, struct file_data *data,
		     uint64_t offset, struct head *head, struct hyptrace_error *err)
{
	char raw[HEAD_SIZE];
	bool is_whole;
	int64_t n = hyptrace_data_pread(f, data, raw, sizeof(raw), offset);

	if (n < 0)
		return hyptrace_error_set(err, -n, "%m");
	if (!n)
		return data->missing ? fail_cut(data, err) : 0;
	if (n == (int64_t)sizeof(raw)) {
		head->packed = hyptrace_file_u32(f, raw);
		head->full = hyptrace_file_u32(f, raw + sizeof(uint32_t));
		if (is_count_missing(f, data, offset, head->packed))
			data->size += COUNT_SIZE;
	}
	is_whole = n == (int64_t)sizeof(raw) && head->packed <= data->size - offset - HEAD_SIZE;
	if (!is_whole && data->missing)
		return fail_cut(data, err);
	if (!is_whole)
		return hyptrace_error_set(err, EBADMSG, "the last %" PRIu64 " bytes are no whole chunk",
					  data->size - offset);
	if (!head->full || head->full % f->meta.info.subbuf_size ||
	    head->full > hyptrace_data_chunk_max(f) ||
	    head->packed > ZSTD_compressBound(head->full))
		return hyptrace_error_set(err, EBADMSG, "a compressed chunk has no whole sub-buffers");
	return 1;
}

/* Remember where a chunk is, unless one was remembered right before it. */
static void remember(const struct hyptrace_file *f, struct file_data *data,
		     const struct file_chunk *chunk)
{
	const unsigned int max = MAX(CHUNKS_MAX / f->meta.info.nr_cpus, CHUNKS_MIN);

	/* without memory, finding a chunk takes longer */
	if (!data->chunks)
		data->chunks = malloc(max * sizeof(*data->chunks));
	if (!data->chunks || data->nr_chunks == max)
		return;
	if (!data->nr_chunks ||
	    chunk->offset > data->chunks[data->nr_chunks - 1].offset + data->size / max)
		data->chunks[data->nr_chunks++] = *chunk;
}

/* Go to the last remembered chunk that is not after a byte, unless the next one is nearer. */
static void go_back(struct file_data *data, uint64_t at)
{
	unsigned int low = 0, high = data->nr_chunks;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (data->chunks[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && (data->at.from > at || data->at.from < data->chunks[low - 1].from))
		data->at = data->chunks[low - 1];
	if (!low && data->at.from > at)
		data->at = (struct file_chunk){ .offset = 0 };
	if (!data->at.offset)
		data->at.offset = COUNT_SIZE;
}

/* Find the chunk that has a byte of a CPU, for @data->at. Return 1, or 0 at the end. */
static int find_chunk(const struct hyptrace_file *f, struct file_data *data, uint64_t at,
		      struct head *head, struct hyptrace_error *err)
{
	int ret;

	go_back(data, at);
	for (;;) {
		data->here = data->at.offset;
		ret = read_head(f, data, data->at.offset, head, err);
		if (ret <= 0)
			return ret;
		remember(f, data, &data->at);
		if (at - data->at.from < head->full)
			return 1;
		data->at.offset += HEAD_SIZE + head->packed;
		data->at.from += head->full;
	}
}

static bool make_room(char **room, size_t *size, size_t needed)
{
	if (needed <= *size)
		return true;
	free(*room);
	*room = malloc(needed);
	*size = *room ? needed : 0;
	return *room;
}

static int64_t inflate(struct hyptrace_file *f, const struct file_data *data,
		       const struct head *head, char *to, struct hyptrace_error *err)
{
	int64_t n;

	if (!make_room(&f->packed, &f->packed_size, head->packed))
		return hyptrace_error_memory(err);
	n = hyptrace_data_pread(f, data, f->packed, head->packed, data->here + HEAD_SIZE);
	if (n < 0)
		return hyptrace_error_set(err, -n, "%m");
	if (n < head->packed ||
	    ZSTD_decompress(to, head->full, f->packed, head->packed) != head->full)
		return hyptrace_error_set(err, EBADMSG, "a chunk of %" PRIu32 " bytes cannot be decompressed: its events are lost",
					  head->packed);
	return head->full;
}

/*
 * Decompress sub-buffers of a CPU, to @to if it has room for a whole chunk. Else the CPUs share the
 * memory for one: it is decompressed again for each part of it that a CPU takes, if another CPU has
 * used the memory since. If a chunk is damaged, data->at is that after it.
 */
static int64_t inflate_chunk(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			     char *to, size_t room, struct hyptrace_error *err)
{
	struct head head;
	uint64_t skip;
	int64_t n;
	int ret = find_chunk(f, data, at, &head, err);

	if (ret <= 0)
		return ret;
	skip = at - data->at.from;
	data->at.offset += HEAD_SIZE + head.packed;
	data->at.from += head.full;
	if (head.full <= room) {
		n = inflate(f, data, &head, to, err);
		if (n > 0)
			memmove(to, to + skip, n - skip);
		return n > 0 ? n - (int64_t)skip : n;
	}
	if (f->chunk_of != data || f->chunk_here != data->here) {
		f->chunk_of = NULL;
		if (!make_room(&f->chunk, &f->chunk_size, head.full))
			return hyptrace_error_memory(err);
		n = inflate(f, data, &head, f->chunk, err);
		if (n < 0)
			return n;
		f->chunk_of = data;
		f->chunk_here = data->here;
	}
	n = room - room % f->meta.info.subbuf_size;
	if (n > head.full - (int64_t)skip)
		n = head.full - skip;
	memcpy(to, f->chunk + skip, n);
	return n;
}

uint64_t hyptrace_data_where(const struct file_data *data, uint64_t at, bool *own)
{
	if (data->compressed)
		at = data->here;
	*own = data->own_fd && at >= data->moved;
	return at < data->moved ? data->to + at : data->offset + at;
}

/* Count the sub-buffers of a CPU, without a chunk that is not whole and those after it. */
int hyptrace_data_count(const struct hyptrace_file *f, struct file_data *data, uint64_t *nr,
			struct hyptrace_error *err)
{
	struct head head;
	int ret = 0;

	if (data->compressed && !data->counted)
		ret = find_chunk(f, data, UINT64_MAX, &head, err);
	if (ret && ret != -EBADMSG)
		return ret;
	if (!data->counted)
		data->length = data->compressed ? data->at.from : data->size;
	data->counted = true;
	*nr = data->length / f->meta.info.subbuf_size;
	return 0;
}

/* Read sub-buffers. Return their bytes, 0 at the end, -EBADMSG if something is not a whole one. */
int64_t hyptrace_data_read(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			   char *to, size_t room, struct hyptrace_error *err)
{
	const uint32_t subbuf = f->meta.info.subbuf_size;
	uint64_t left = at < data->size ? data->size - at : 0;
	int64_t n;

	if (data->compressed)
		return inflate_chunk(f, data, at, to, room, err);
	if (left < subbuf && data->missing)
		return fail_cut(data, err);
	if (!left)
		return 0;
	n = hyptrace_data_pread(f, data, to, room - room % subbuf, at);
	if (n < 0)
		return hyptrace_error_set(err, -n, "%m");
	if (n < subbuf)
		return hyptrace_error_set(err, EBADMSG, "the last %" PRId64 " bytes are no whole sub-buffer",
					  n);
	return n - n % subbuf;
}
