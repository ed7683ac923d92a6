/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace file that is read: its structure, and the sub-buffers of its CPUs. */
#ifndef HYPTRACE_FILE_INTERNAL_H
#define HYPTRACE_FILE_INTERNAL_H

#include <stdatomic.h>

#include "file/file_meta.h"
#include "internal.h"

/* Bytes that the sub-buffers of all CPUs take in memory at most: of very many CPUs, and usually */
#define FILE_BUFFERS		(32U << 20)
#define FILE_BUFFERS_USUAL	(16U << 20)
/* Bytes behind a buffer: a number of lost events is converted from 4 bytes to 8. */
#define FILE_SLACK		4
/* Bytes to read at once of a CPU, unless there are many CPUs or a sub-buffer is larger */
#define FILE_READ_SIZE		(64U << 10)
/* Events of a batch at most */
#define FILE_BATCH_EVENTS	256
/* A batch ends when buffers of so many bytes are emptied, which keep its payloads. */
#define FILE_BATCH_BUFFERS	(1U << 20)
/* Bytes of a description and of a compressed section at most */
#define FILE_META_MAX		(4U << 20)
#define FILE_SECTION_MAX	(24U << 20)
/* Bytes of a chunk of sub-buffers at most, and sub-buffers if these are large */
#define FILE_CHUNK_MAX		(1U << 20)
#define FILE_CHUNK_SUBBUFS	16
/* Bytes of a sub-buffer: a power of two */
#define FILE_SUBBUF_MIN		1024
#define FILE_SUBBUF_MAX		(1U << 20)
/* Bytes of a text in the headers at most, its NUL included */
#define FILE_NAME_MAX		256

/* Formats of events, their systems, and options at most, each */
#define FILE_COUNT_MAX		65536

/* Parts of the structure that are kept for the command at most */
#define FILE_PIECES_MAX		4096

/* The key of a source that has no more events; those of all others are below it */
#define FILE_KEY_NONE		(UINT64_MAX - 1)

/* Where a header with formats is */
struct file_section {
	uint64_t	offset;	/* where its content starts */
	uint64_t	size;	/* bytes of its content in the file; 0 if it is missing */
	bool		compressed;	/* its content is compressed */
};

struct file_chunk {
	uint64_t	offset;		/* among the compressed bytes of the CPU */
	uint64_t	from;		/* of its first byte among those of the sub-buffers */
};

/* Where the headers say that the sub-buffers of a CPU are */
struct file_place {
	uint32_t	cpu;
	uint64_t	offset;	/* where they start in the file */
	uint64_t	size;	/* bytes that they take */
};

struct file_data {
	int			fd;
	bool			own_fd;	/* fd is that of a part of an unfinished recording */
	uint64_t		offset;	/* where they start in it */
	uint64_t		size;	/* bytes that they take */
	uint64_t		moved;	/* bytes that the file itself has already */
	uint64_t		to;	/* where they start there */
	uint64_t		missing;	/* more bytes that the headers promise */
	bool			compressed;	/* they are compressed, in chunks */
	bool			counted;	/* length is known */
	uint64_t		length;	/* bytes of all sub-buffers */
	struct file_chunk	*chunks;	/* where some of the compressed chunks are */
	unsigned int		nr_chunks;
	struct file_chunk	at;	/* the chunk to read next; all 0 before the first */
	uint64_t		here;	/* where the chunk is that was read last */
};

/* Memory of a source: sub-buffers that were read; those that were converted come behind them */
struct file_buffer {
	struct file_buffer	*next;
	char			data[];
};

/* A CPU whose events are read */
struct file_source {
	struct hyptrace_stream_event	event;	/* the next one, or the last that was delivered */
	struct hyptrace_decoder		dec;	/* decodes a sub-buffer of buf */
	struct hyptrace_file		*reader;	/* merges this source with others */
	struct hyptrace_file		*file;	/* or that of its events of the host alone */
	struct hyptrace_file_cpu	*cpu;	/* what the file says about the CPU */
	struct file_data		*data;	/* its sub-buffers */
	struct file_buffer		*buf;
	bool				is_lent;	/* a batch has payloads in buf */
	size_t				size;	/* bytes of sub-buffers that buf has room for */
	size_t				len;	/* bytes that were read */
	size_t				pos;	/* where the next sub-buffer starts in buf */
	uint64_t			nr_loaded;	/* sub-buffers that were taken of buf */
	uint64_t			next;	/* which byte of data to read next */
	uint64_t			first;	/* sub-buffer to begin with */
	uint64_t			start;	/* byte of data with which reading began */
	uint64_t			counted;	/* losses that sub-buffers have reported */
	uint64_t			before;	/* losses that need not be reported again */
	bool				over;	/* there are no more events */
};

/* A source, and the time of its next event or FILE_KEY_NONE */
struct file_player {
	uint64_t	key;
	uint32_t	source;
};

struct hyptrace_file {
	/*
	 * What is read. A thread's reader has this for itself, up to @options. Up to @events, all
	 * is 0 when reading starts again.
	 */
	struct file_source		*last_source;	/* has delivered the last event; or NULL */
	struct file_source		*sources;	/* of the chosen CPUs, in their order */
	unsigned int			nr_sources;
	unsigned int			nr_leaves;	/* the same, rounded up to a power of two */
	unsigned int			nr_primed;	/* sources whose first event is known */
	bool				begun;	/* the sources are open and in their places */
	bool				ended;	/* all events were delivered */
	struct file_player		*players;	/* a tree: see file_next.c */
	struct hyptrace_file_counts	counts;
	uint64_t			floor;	/* @from, or the time of the last events */
	uint64_t			skip;	/* after floor, this event is the first one; or 0 */
	int				late;	/* the next batch returns it; else 0 */
	size_t				buffer_size;	/* bytes of a source's buffer */
	struct file_buffer		*emptied;	/* have payloads of the last batch */
	size_t				emptied_size;	/* bytes of them */
	bool				can_end;	/* the batch has events */
	struct file_buffer		*spare;
	struct hyptrace_stream_event	*events;	/* the last batch, or NULL */
	struct hyptrace_error		late_err;
	struct hyptrace_file		*host;	/* the same file for its events of the host */
	char				*packed;	/* a compressed chunk */
	size_t				packed_size;
	char				*chunk;	/* sources take parts, which they have room for */
	size_t				chunk_size;
	const struct file_data		*chunk_of;	/* whose chunk it is, or NULL */
	uint64_t			chunk_here;	/* where it is in the compressed bytes */

	/* What is chosen */
	struct hyptrace_file_options	options;
	unsigned int			*chosen;	/* numbers of the CPUs; NULL for all */
	unsigned int			nr_chosen;

	/* What the file is */
	atomic_ullong			*bytes_read;	/* also by threads, and of host */
	atomic_ullong			own_bytes;	/* unless another reader has them */
	char				*path;
	int				fd;
	uint64_t			size;
	bool				swap;	/* its byte order is not that of this machine */
	unsigned int			long_size;	/* bytes of a commit word */
	bool				has_page;	/* version 7: its format is known */
	struct hyptrace_file_meta	meta;
	struct file_data		*data;	/* the sub-buffers of each CPU of meta */
	struct file_place		*places;	/* where the headers say that they are */
	unsigned int			nr_places;
	uint64_t			instance;	/* version 6: table of another buffer */
	bool				compressed;	/* the sub-buffers are compressed */
	bool				is_ours;	/* a description has the remote's events */
	bool				is_host;	/* the events are those of the host */
	uint64_t			header_end;	/* where the description ends */
	struct file_section		sections[NR_FILE_SECTIONS];	/* by enum file_option */
	struct tep_handle		*tep;	/* without a description; owned by the formats */
};

static inline bool hyptrace_file_accepts(const struct hyptrace_file *f,
					 const struct hyptrace_stream_event *event)
{
	return !f->options.filter || f->options.filter(event, f->options.filter_arg);
}

/* A position in the headers */
struct file_cursor {
	struct hyptrace_file	*f;
	char			*mem;	/* a content that was decompressed; NULL to read the file */
	uint64_t		pos;	/* offset of the next byte, in the file or in mem */
	uint64_t		end;	/* where the file, the section or mem ends */
	const char		*what;	/* what is read, for an error */
	struct hyptrace_error	*err;	/* the first error */
	int			ret;	/* 0, or its negative errno: what follows is 0 */
};

/* file_read.c: formats of the events */
struct hyptrace_formats *hyptrace_file_make_formats(const struct hyptrace_file *f,
						    struct hyptrace_error *err);

/* file_cursor.c: read numbers and texts of the headers */
int64_t hyptrace_file_pread(int fd, void *to, size_t size, uint64_t offset);
void hyptrace_cursor_init(struct file_cursor *c, struct hyptrace_file *f, uint64_t pos,
			  const char *what, struct hyptrace_error *err);
int hyptrace_cursor_fail(struct file_cursor *c, const char *why);
void hyptrace_cursor_get(struct file_cursor *c, void *to, size_t size);
void hyptrace_cursor_skip(struct file_cursor *c, uint64_t size);
uint16_t hyptrace_cursor_u16(struct file_cursor *c);
uint32_t hyptrace_cursor_u32(struct file_cursor *c);
uint64_t hyptrace_cursor_u64(struct file_cursor *c);
uint32_t hyptrace_cursor_count(struct file_cursor *c, uint32_t *left);
char *hyptrace_cursor_text(struct file_cursor *c, uint64_t size, uint64_t max);
void hyptrace_cursor_string(struct file_cursor *c, char *to, size_t size);
void hyptrace_file_piece(struct hyptrace_file *f, uint64_t offset, uint64_t size,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void hyptrace_section_open(struct hyptrace_file *f, struct file_cursor *c,
			   const struct file_section *section, const char *what,
			   struct hyptrace_error *err);
void hyptrace_section_find(struct hyptrace_file *f, uint64_t offset, uint16_t expected,
			   const char *what, struct file_section *section, struct file_cursor *c);

/* file_head.c: where all is */
int hyptrace_file_read_headers(struct hyptrace_file *f, struct hyptrace_error *err);

/* file_formats.c: the formats of a file that has no description */
void hyptrace_section_read(struct hyptrace_file *f, struct file_cursor *c, enum file_option id);
struct hyptrace_formats *hyptrace_file_read_formats(struct hyptrace_file *f,
						    struct hyptrace_error *err);

/* file_data.c: the bytes of sub-buffers */
uint32_t hyptrace_file_u32(const struct hyptrace_file *f, const char *at);
uint64_t hyptrace_file_u64(const struct hyptrace_file *f, const char *at);
int64_t hyptrace_data_pread(const struct hyptrace_file *f, const struct file_data *data, void *to,
			    size_t size, uint64_t at);
int hyptrace_file_open_fd(const char *path, uint64_t *size, struct hyptrace_error *err);
int hyptrace_file_place(struct hyptrace_file *f, struct hyptrace_error *err);
uint64_t hyptrace_data_where(const struct file_data *data, uint64_t at, bool *own);
size_t hyptrace_data_chunk_max(const struct hyptrace_file *f);
int hyptrace_data_count(const struct hyptrace_file *f, struct file_data *data, uint64_t *nr,
			struct hyptrace_error *err);
int64_t hyptrace_data_read(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			   char *to, size_t room, struct hyptrace_error *err);

/* file_source.c: the sub-buffers of a CPU, and their events */
bool hyptrace_file_is_converted(const struct hyptrace_file *f);
size_t hyptrace_file_buffer_size(const struct hyptrace_file *f, size_t room);
int hyptrace_file_source_open(struct hyptrace_file *f, struct hyptrace_file *reader,
			      unsigned int index, size_t room, struct hyptrace_error *err);
void hyptrace_file_reuse(struct hyptrace_file *f, struct file_buffer **emptied);
void hyptrace_file_source_seek(struct file_source *src, uint64_t to);
int hyptrace_file_source_next(struct file_source *src, struct hyptrace_error *err);
uint64_t hyptrace_file_source_unseen(struct file_source *src);
int hyptrace_file_source_walk(struct file_source *src, hyptrace_file_subbuf_fn fn, void *arg,
			      struct hyptrace_error *err);

/* file_next.c */
int hyptrace_file_fill(struct hyptrace_file *f, struct hyptrace_stream_event *events,
		       unsigned int max, struct hyptrace_error *err);

/* file_begin.c: open the sources */
bool hyptrace_file_is_chosen(const struct hyptrace_file *f, unsigned int cpu);
void hyptrace_file_rewind(struct hyptrace_file *f);
int hyptrace_file_begin(struct hyptrace_file *f, struct hyptrace_error *err);
void hyptrace_file_part_free(struct hyptrace_file *part);

#endif /* HYPTRACE_FILE_INTERNAL_H */
