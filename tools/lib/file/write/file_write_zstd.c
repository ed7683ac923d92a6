// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compress sub-buffers, in a thread of its own: the thread that reads the rings only fills
 * chunks. For file_write.c and file_write_finish.c.
 *
 * A part is a u32 with the number of its chunks, 0 until the file is finished, and the chunks:
 * a u32 with the compressed bytes, a u32 with the bytes of the sub-buffers, and the compressed
 * bytes. Each chunk is a frame of zstd that needs no other chunk.
 */
#include <pthread.h>
#include <signal.h>
#include <zstd.h>

#include "file_write.h"

/*
 * Bytes of sub-buffers in a chunk. Larger ones hardly get smaller by compression. A reader, and
 * this writer, may have a chunk of each CPU in memory: many CPUs have smaller ones.
 */
#define CHUNK_SIZE	(256 << 10)
#define CHUNK_SIZE_ALL	(16 << 20)

/* The level that is fast enough for several busy CPUs */
#define LEVEL		1

/* Bytes that wait for the thread at most. They hide a disk that is slow for a while. */
#define WAITING_MAX	(32 << 20)

/*
 * A chunk is compressed after this time, full or not, once the ring is empty: a crash loses what
 * came since the recorder looked at the ring, twice a second, as without compression.
 */
#define CHUNK_NSEC	(400 * NSEC_PER_MSEC)
#define CLOCK		CLOCK_MONOTONIC_COARSE

#define CHUNK_HEADER	(2 * sizeof(uint32_t))
/* Bytes of the number of chunks, which comes before the first one */
#define NUMBER		sizeof(uint32_t)

/* Sub-buffers that are not compressed yet */
struct file_chunk {
	struct file_chunk	*next;
	struct file_part	*part;
	uint64_t		since;	/* when its part took it to be filled */
	size_t			size;	/* used bytes of @data */
	char			data[];
};

/* The thread and what it shares with the reading thread */
struct file_compressor {
	struct hyptrace_file_writer	*w;
	pthread_t			thread;		/* once it @is_running */
	bool				is_running;
	/* protects what follows but @nr, @filling, @zstd, @out */
	pthread_mutex_t			lock;
	pthread_cond_t			work;	/* there are chunks, or the thread must end */
	pthread_cond_t			room;	/* a chunk is free, and fewer bytes are pending */
	struct file_chunk		*first;		/* to compress, the oldest first */
	struct file_chunk		**last;		/* where the next one is appended */
	struct file_chunk		*free;		/* to fill */
	unsigned int			nr;		/* of all chunks */
	unsigned int			max;		/* the same at most */
	uint64_t			pending;	/* bytes of sub-buffers to compress */
	/* bytes in the chunks of the parts, for the reader */
	uint64_t			filling;
	bool				ending;	/* the thread must end when no chunk is left */
	bool				dropping;	/* chunks are not compressed any more */
	ZSTD_CCtx			*zstd;		/* for the thread */
	char				*out;	/* NUMBER, which is 0, and a chunk */
};

static void compress(struct file_compressor *c, struct file_chunk *chunk)
{
	const size_t room = ZSTD_compressBound(c->w->chunk_size);
	struct file_part *part = chunk->part;
	const size_t left = part->left_size, before = part->size || left ? 0 : NUMBER;
	char *out = c->out + NUMBER;
	struct hyptrace_error err;
	uint32_t header[2];
	size_t size = ZSTD_compressCCtx(c->zstd, out + CHUNK_HEADER, room, chunk->data,
					chunk->size, LEVEL);

	if (ZSTD_isError(size)) {
		hyptrace_error_set(&err, ENOMEM, "cannot compress: %s", ZSTD_getErrorName(size));
		hyptrace_file_add_unwritten(c->w, part, chunk->data, chunk->size);
		hyptrace_file_fail(c->w, &err, NULL);
		return;
	}
	header[0] = size;
	header[1] = chunk->size;
	memcpy(out, header, sizeof(header));
	/* also after a failure: what cannot be written is kept, or there is no memory for that */
	if (hyptrace_file_part_write(c->w, part, out - before, before + CHUNK_HEADER + size,
				     NULL) && part->left_size == left)
		hyptrace_file_add_unwritten(c->w, part, chunk->data, chunk->size);
}

static void *run(void *arg)
{
	struct file_compressor *c = arg;
	struct file_chunk *chunk;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->first && !c->ending)
			pthread_cond_wait(&c->work, &c->lock);
		chunk = c->first;
		if (!chunk)
			break;
		c->first = chunk->next;
		if (!c->first)
			c->last = &c->first;
		if (!c->dropping) {
			pthread_mutex_unlock(&c->lock);
			compress(c, chunk);
			pthread_mutex_lock(&c->lock);
		}
		c->pending -= chunk->size;
		chunk->next = c->free;
		c->free = chunk;
		pthread_cond_signal(&c->room);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Begin to compress. After a failure, too, hyptrace_file_zstd_free() is called. */
int hyptrace_file_zstd_begin(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	struct file_compressor *c = calloc(1, sizeof(*c));
	const size_t subbuf = w->meta.info.subbuf_size;
	const size_t size = MIN(CHUNK_SIZE, CHUNK_SIZE_ALL / w->nr_parts);
	sigset_t all, old;
	int errnum;

	if (!c)
		return hyptrace_error_memory(err);
	w->compressor = c;
	c->w = w;
	c->last = &c->first;
	/* whole sub-buffers, at least one */
	w->chunk_size = MAX(size - size % subbuf, subbuf);
	c->max = WAITING_MAX / w->chunk_size + w->nr_parts;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, NULL);
	pthread_cond_init(&c->room, NULL);
	c->zstd = ZSTD_createCCtx();
	c->out = calloc(1, NUMBER + CHUNK_HEADER + ZSTD_compressBound(w->chunk_size));
	if (!c->zstd || !c->out)
		return hyptrace_error_memory(err);
	/* the thread gets no signals: they must interrupt the reading thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	errnum = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	c->is_running = !errnum;
	return errnum ? hyptrace_error_set(err, errnum, "cannot start a thread: %m") : 0;
}

static void put_chunk(struct file_compressor *c, struct file_part *part)
{
	struct file_chunk *chunk = part->chunk;

	part->chunk = NULL;
	c->filling -= chunk->size;
	pthread_mutex_lock(&c->lock);
	c->pending += chunk->size;
	*c->last = chunk;
	c->last = &chunk->next;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
}

static void put_chunks(struct hyptrace_file_writer *w)
{
	unsigned int i;

	for (i = 0; i < w->nr_parts; i++)
		if (w->parts[i].chunk && w->parts[i].chunk->size)
			put_chunk(w->compressor, &w->parts[i]);
}

/* Make sure that a part has a chunk with room: wait for the thread if it is too slow. */
static int prepare(struct file_compressor *c, struct file_part *part, struct hyptrace_error *err)
{
	struct file_chunk *chunk;

	if (part->chunk)
		return 0;
	pthread_mutex_lock(&c->lock);
	while (!c->free && c->nr == c->max)
		pthread_cond_wait(&c->room, &c->lock);
	chunk = c->free;
	if (chunk)
		c->free = chunk->next;
	pthread_mutex_unlock(&c->lock);
	if (!chunk) {
		chunk = malloc(sizeof(*chunk) + c->w->chunk_size);
		if (!chunk)
			return hyptrace_error_memory(err);
		c->nr++;
	}
	*chunk = (struct file_chunk){ .part = part, .since = hyptrace_now(CLOCK) };
	part->chunk = chunk;
	return 0;
}

static void added(struct hyptrace_file_writer *w, struct file_part *part, size_t size)
{
	part->chunk->size += size;
	w->compressor->filling += size;
	if (part->chunk->size == w->chunk_size)
		put_chunk(w->compressor, part);
}

/* Is the limit reached? If what waits may be too much, wait until it is compressed. */
bool hyptrace_file_zstd_is_full(struct hyptrace_file_writer *w)
{
	struct file_compressor *c = w->compressor;
	bool reached;

	if (w->limit == UINT64_MAX)
		return false;
	pthread_mutex_lock(&c->lock);
	reached = hyptrace_file_size(w) + c->pending + c->filling >= w->limit;
	pthread_mutex_unlock(&c->lock);
	if (!reached)
		return false;
	put_chunks(w);
	pthread_mutex_lock(&c->lock);
	while (c->pending && hyptrace_file_size(w) + c->pending >= w->limit)
		pthread_cond_wait(&c->room, &c->lock);
	pthread_mutex_unlock(&c->lock);
	return hyptrace_file_size(w) >= w->limit;
}

/* Give a part's chunk to the thread if it waits for long. */
static void put_old_chunk(struct file_compressor *c, struct file_part *part)
{
	if (part->chunk && part->chunk->size &&
	    hyptrace_now(CLOCK) - part->chunk->since >= CHUNK_NSEC)
		put_chunk(c, part);
}

int hyptrace_file_zstd_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const char *data, size_t size, struct hyptrace_error *err)
{
	size_t n;
	int ret;

	while (size) {
		ret = prepare(w->compressor, part, err);
		if (ret) {
			hyptrace_file_add_unwritten(w, part, data, size);
			return ret;
		}
		n = MIN(w->chunk_size - part->chunk->size, size);
		memcpy(part->chunk->data + part->chunk->size, data, n);
		added(w, part, n);
		data += n;
		size -= n;
	}
	put_old_chunk(w->compressor, part);
	return hyptrace_file_failed(w, err);
}

/* As hyptrace_file_part_splice() */
int64_t hyptrace_file_zstd_read(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err)
{
	const size_t subbuf = w->meta.info.subbuf_size;
	int ret = prepare(w->compressor, part, err);
	size_t size;
	int64_t n;
	char *to;

	if (ret)
		return ret;
	size = part->is_slow ? subbuf : w->chunk_size - part->chunk->size;
	to = part->chunk->data + part->chunk->size;
	n = hyptrace_file_read_ring(fd, to, size, err);
	if (!n)
		put_old_chunk(w->compressor, part);
	if (n <= 0)
		return n;
	if (!part->is_slow || !part->chunk->size || !hyptrace_file_join(w, to - subbuf, to))
		added(w, part, n);
	return n;
}

/* Compress what waits, or @drop it, and end the thread. After that no part is made any more. */
void hyptrace_file_zstd_end(struct hyptrace_file_writer *w, bool drop)
{
	struct file_compressor *c = w->compressor;

	if (!c || !c->is_running)
		return;
	put_chunks(w);
	pthread_mutex_lock(&c->lock);
	c->dropping = drop;
	c->ending = true;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->is_running = false;
}

/* After hyptrace_file_zstd_end() */
void hyptrace_file_zstd_free(struct hyptrace_file_writer *w)
{
	struct file_compressor *c = w->compressor;
	struct file_chunk *chunk;
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < w->nr_parts; i++)
		free(w->parts[i].chunk);
	while ((chunk = c->free)) {
		c->free = chunk->next;
		free(chunk);
	}
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->room);
	pthread_mutex_destroy(&c->lock);
	ZSTD_freeCCtx(c->zstd);
	free(c->out);
	free(c);
}

/* Count the events of the first of some chunks; 0 without memory. Return its bytes. */
size_t hyptrace_file_zstd_count(const struct hyptrace_file_writer *w, const char *data,
				uint64_t *events)
{
	auto_free char *subbufs = malloc(w->chunk_size);
	uint32_t header[2];

	memcpy(header, data, sizeof(header));
	*events = 0;
	/* zstd needs memory, too */
	if (subbufs && ZSTD_decompress(subbufs, header[1], data + CHUNK_HEADER, header[0]) ==
			header[1])
		*events = hyptrace_file_count_events(w, subbufs, header[1]);
	return CHUNK_HEADER + header[0];
}
