/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace file that is read: its structure, and the sub-buffers of its CPUs. For the files
 * file_*.c, and for the command, which prints the structure.
 */
#ifndef HYPTRACE_FILE_INTERNAL_H
#define HYPTRACE_FILE_INTERNAL_H

#include <stdatomic.h>

#include "file/file_meta.h"
#include "hyptrace_file.h"
#include "internal.h"

struct tep_handle;

/* Bytes that the sub-buffers of all CPUs take in memory at most */
#define FILE_BUFFERS		(32U << 20)
/* Bytes to read at once of a CPU, unless there are many CPUs or a sub-buffer is larger */
#define FILE_READ_SIZE		(64U << 10)
/* Events of a batch at most */
#define FILE_BATCH_EVENTS	256
/* Bytes of the payload of a short record at most; a longer one has a length word */
#define FILE_SHORT_EVENT	112
/* Bytes of a description and of a compressed section at most */
#define FILE_META_MAX		(4U << 20)
#define FILE_SECTION_MAX	(24U << 20)
/* Bytes of a chunk of sub-buffers at most, and sub-buffers if these are large */
#define FILE_CHUNK_MAX		(1U << 20)
#define FILE_CHUNK_SUBBUFS	16
/* All CPU numbers are below this limit. */
#define FILE_CPU_LIMIT		65536
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

/* Headers with the formats of events, and what libtraceevent needs to print them */
enum file_section_kind {
	FILE_SECTION_FTRACE,
	FILE_SECTION_EVENTS,
	FILE_SECTION_KALLSYMS,
	FILE_SECTION_PRINTK,
	FILE_SECTION_CMDLINES,
	NR_FILE_SECTIONS
};

/**
 * struct file_section - where such a header is
 * @offset:	where its content starts
 * @size:	bytes of its content in the file; 0 if it is missing
 * @compressed:	its content is compressed
 */
struct file_section {
	uint64_t	offset;
	uint64_t	size;
	bool		compressed;
};

/* Where a compressed chunk is */
struct file_chunk {
	uint64_t	offset;		/* among the compressed bytes of the CPU */
	uint64_t	from;		/* of its first byte among those of the sub-buffers */
};

/**
 * struct file_place - where the headers say that the sub-buffers of a CPU are
 * @cpu:	the CPU
 * @offset:	where they start in the file
 * @size:	bytes that they take
 */
struct file_place {
	uint32_t	cpu;
	uint64_t	offset;
	uint64_t	size;
};

/**
 * struct file_data - the sub-buffers of a CPU
 * @fd:		the file that has them
 * @own_fd:	@fd is that of a part of an unfinished recording
 * @offset:	where they start in it
 * @size:	bytes that they take
 * @moved:	so many of them were moved from @fd to the file itself already
 * @to:		where they start there
 * @missing:	more bytes that the headers promise, but that are not in the file
 * @compressed:	they are compressed, in chunks
 * @counted:	all chunks are known
 * @length:	bytes of all sub-buffers, if they are compressed and @counted
 * @chunks:	where some of the compressed chunks are
 * @nr_chunks:	number of @chunks
 * @passed:	chunks whose headers were read so far
 * @stride:	so many chunks are from one of @chunks to the next
 * @at:		the chunk to read next; all 0 before the first
 * @here:	where the chunk is that was read last
 * @needed:	bytes of the sub-buffers of the chunk that did not fit
 */
struct file_data {
	int			fd;
	bool			own_fd;
	uint64_t		offset;
	uint64_t		size;
	uint64_t		moved;
	uint64_t		to;
	uint64_t		missing;
	bool			compressed;
	bool			counted;
	uint64_t		length;
	struct file_chunk	*chunks;
	unsigned int		nr_chunks;
	uint64_t		passed;
	unsigned int		stride;
	struct file_chunk	at;
	uint64_t		here;
	size_t			needed;
};

/**
 * struct file_source - a CPU whose events are read
 * @event:	its next event, or the one that was delivered last
 * @dec:	decodes a sub-buffer of @buf
 * @file:	the file, or the reader of its events of the host
 * @cpu:	what the file says about the CPU
 * @data:	its sub-buffers
 * @buf:	sub-buffers that were read
 * @copy:	a sub-buffer that was converted; NULL if that is never necessary
 * @size:	room in @buf
 * @max:	the same at most
 * @len:	bytes in @buf
 * @pos:	where the next sub-buffer starts in @buf
 * @nr_loaded:	sub-buffers that were taken of @buf
 * @next:	which byte of @data to read next
 * @first:	sub-buffer to begin with
 * @end:	a reader of a part stops before this byte of @data; else UINT64_MAX
 * @start:	byte of @data from which on sub-buffers were taken
 * @counted:	losses that these sub-buffers report
 * @before:	losses that no sub-buffer need report again: those of the parts before, or all
 * @index:	of this source among those of the file
 * @damaged:	a sub-buffer could not be decoded, and its other events are lost
 * @over:	there are no more events
 */
struct file_source {
	struct hyptrace_stream_event	event;
	struct hyptrace_decoder		*dec;
	struct hyptrace_file		*file;
	struct hyptrace_file_cpu	*cpu;
	struct file_data		*data;
	char				*buf;
	char				*copy;
	size_t				size;
	size_t				max;
	size_t				len;
	size_t				pos;
	uint64_t			nr_loaded;
	uint64_t			next;
	uint64_t			first;
	uint64_t			end;
	uint64_t			start;
	uint64_t			counted;
	uint64_t			before;
	unsigned int			index;
	bool				damaged;
	bool				over;
};

/* A source, and the time of its next event or FILE_KEY_NONE */
struct file_player {
	uint64_t	key;
	uint32_t	source;
};

/**
 * struct hyptrace_file - a trace file that is read
 * @last_source: the source that has delivered the last event; NULL before that
 * @sources:	the chosen CPUs, in the order of their numbers
 * @nr_sources:	number of @sources
 * @nr_leaves:	the same, rounded up to a power of two
 * @nr_primed:	sources whose first event is known
 * @players:	a tree: see file_next.c
 * @to:		the last time to deliver
 * @counts:	what became of the events
 * @filter:	decides which events are delivered; may be NULL
 * @filter_arg:	its argument
 * @from:	the first time to deliver
 * @floor:	the same, or that of the last events
 * @skip:	events to skip after @floor
 * @begun:	the sources are open and in their places
 * @ended:	all events were delivered
 * @keep:	buffers have payloads of the batch: use no other sub-buffers of them
 * @late:	what ended the last batch, and is returned by the next one; else 0
 * @late_err:	its reason
 * @events:	the last batch of hyptrace_file_batch(), or NULL
 * @last:	deliver only the last so many events; 0 for all
 * @chosen:	numbers of the CPUs to deliver; NULL for all
 * @nr_chosen:	number of @chosen
 * @host:	the same file for its events of the host, or NULL
 * @sides:	HYPTRACE_SIDE_REMOTE and HYPTRACE_SIDE_HOST: whose events are read
 * @bytes_read:	bytes of sub-buffers that were read, with those of @host and of parts
 * @own_bytes:	what @bytes_read points to, unless another reader has it
 * @path:	name of the file
 * @fd:		the file
 * @size:	its bytes
 * @swap:	its byte order is not that of this machine
 * @long_size:	bytes of a commit word
 * @has_page:	version 7: the format of a page is known
 * @user_long_size: bytes of a long in the traced programs
 * @meta:	what the file says
 * @by_id:	the events by their ids; only if @swap
 * @data:	the sub-buffers of each CPU of @meta
 * @places:	where the headers say that the sub-buffers are
 * @nr_places:	number of @places
 * @instance:	version 6: where the table of another trace buffer is; 0 if there is none
 * @nr_skipped:	trace buffers with events that are not read
 * @compressed:	the sub-buffers are compressed
 * @is_ours:	the file has a description, and the events are those of the remote
 * @is_host:	the events are those of the host, beside which the file has those of a remote
 * @packed:	memory for a compressed chunk
 * @packed_size: its bytes
 * @chunk:	a chunk that no source has room for; the sources take parts of it
 * @chunk_size:	its bytes
 * @chunk_of:	the CPU whose chunk it is; NULL if there is none
 * @chunk_here:	where it is, among the compressed bytes of the CPU
 * @header_end:	where the headers end, of version 6, or the description
 * @sections:	where the formats are
 * @pieces:	the structure
 * @nr_pieces:	number of @pieces
 * @formats:	formats of the events
 * @tep:	libtraceevent's state, if the file has no description; owned by @formats
 */
struct hyptrace_file {
	struct file_source		*last_source;
	struct file_source		*sources;
	unsigned int			nr_sources;
	unsigned int			nr_leaves;
	unsigned int			nr_primed;
	struct file_player		*players;
	uint64_t			to;
	struct hyptrace_file_counts	counts;
	hyptrace_stream_filter_fn	filter;
	void				*filter_arg;
	uint64_t			from;
	uint64_t			floor;
	uint64_t			skip;
	uint64_t			last;
	bool				begun;
	bool				ended;
	bool				keep;
	int				late;
	struct hyptrace_error		late_err;
	struct hyptrace_stream_event	*events;
	unsigned int			*chosen;
	unsigned int			nr_chosen;
	struct hyptrace_file		*host;
	unsigned int			sides;
	atomic_ullong			*bytes_read;
	atomic_ullong			own_bytes;
	char				*path;
	int				fd;
	uint64_t			size;
	bool				swap;
	unsigned int			long_size;
	bool				has_page;
	unsigned int			user_long_size;
	struct hyptrace_file_meta	meta;
	const struct hyptrace_event	**by_id;
	struct file_data		*data;
	struct file_place		*places;
	unsigned int			nr_places;
	uint64_t			instance;
	unsigned int			nr_skipped;
	bool				compressed;
	bool				is_ours;
	bool				is_host;
	char				*packed;
	size_t				packed_size;
	char				*chunk;
	size_t				chunk_size;
	const struct file_data		*chunk_of;
	uint64_t			chunk_here;
	uint64_t			header_end;
	struct file_section		sections[NR_FILE_SECTIONS];
	struct hyptrace_file_piece	**pieces;
	unsigned int			nr_pieces;
	struct hyptrace_formats		*formats;
	struct tep_handle		*tep;
};

/**
 * struct file_cursor - a position in the headers
 * @f:		the file
 * @mem:	a content that was decompressed; NULL to read the file
 * @pos:	offset of the next byte, in the file or in @mem
 * @end:	where the file, the section or @mem ends
 * @what:	what is read, for an error
 * @err:	the first error
 * @ret:	0, or a negative errno: all that is read after an error is 0
 * @buf_pos:	offset of @buf in the file
 * @buf_len:	bytes in @buf
 * @buf:	what was read
 */
struct file_cursor {
	struct hyptrace_file	*f;
	char			*mem;
	uint64_t		pos;
	uint64_t		end;
	const char		*what;
	struct hyptrace_error	*err;
	int			ret;
	uint64_t		buf_pos;
	size_t			buf_len;
	char			buf[4096];
};

/* file_read.c: formats of the events */
struct hyptrace_formats *hyptrace_file_make_formats(const struct hyptrace_file *f,
						    struct hyptrace_error *err);

/* file_cursor.c: read numbers and texts of the headers */
int64_t hyptrace_file_pread(int fd, void *to, size_t size, uint64_t offset);
void hyptrace_cursor_init(struct file_cursor *c, struct hyptrace_file *f, uint64_t pos,
			  struct hyptrace_error *err);
int hyptrace_cursor_fail(struct file_cursor *c, const char *why);
void hyptrace_cursor_get(struct file_cursor *c, void *to, size_t size);
void hyptrace_cursor_skip(struct file_cursor *c, uint64_t size);
uint16_t hyptrace_cursor_u16(struct file_cursor *c);
uint32_t hyptrace_cursor_u32(struct file_cursor *c);
uint64_t hyptrace_cursor_u64(struct file_cursor *c);
uint32_t hyptrace_cursor_count(struct file_cursor *c, uint32_t *left);
void hyptrace_cursor_string(struct file_cursor *c, char *to, size_t size);
void hyptrace_file_piece(struct hyptrace_file *f, uint64_t offset, uint64_t size,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* file_head.c: the headers of version 6, and the description */
int hyptrace_file_read_headers(struct hyptrace_file *f, struct hyptrace_error *err);

/* file_other.c: what is no trace file */
int hyptrace_file_refuse(const struct hyptrace_file *f, struct hyptrace_error *err);

/* file_options.c: options, the sections of version 7, and what both versions have */
void hyptrace_head_subbuf_size(struct hyptrace_file *f, struct file_cursor *c, uint32_t size);
void hyptrace_head_page(struct hyptrace_file *f, struct file_cursor *c);
void hyptrace_head_place(struct hyptrace_file *f, struct file_cursor *c, uint32_t cpu,
			 uint64_t offset, uint64_t size);
void hyptrace_head_option(struct hyptrace_file *f, struct file_cursor *c, uint16_t id,
			  uint32_t size);
void hyptrace_head_compression(struct hyptrace_file *f, struct file_cursor *c, uint64_t *options);
void hyptrace_head_sections(struct hyptrace_file *f, struct file_cursor *c, uint64_t options);
void hyptrace_section_open(struct hyptrace_file *f, struct file_cursor *c,
			   const struct file_section *section, const char *what,
			   struct hyptrace_error *err);
void hyptrace_section_close(struct file_cursor *c);

/* file_zstd.c: compressed sections and chunks */
int hyptrace_data_index(const struct hyptrace_file *f, struct file_data *data, uint64_t *size,
			struct hyptrace_error *err);
int64_t hyptrace_data_inflate(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			      char *to, size_t room, struct hyptrace_error *err);
int64_t hyptrace_data_inflate_part(struct hyptrace_file *f, struct file_data *data, uint64_t at,
				   char *to, size_t room, struct hyptrace_error *err);
int64_t hyptrace_file_inflate(void *to, size_t room, const void *from, size_t size);

/* file_formats.c: the formats of a file that has no description */
int hyptrace_file_read_formats(struct hyptrace_file *f, struct hyptrace_error *err);

/* file_names.c: the names in such a file */
void hyptrace_file_set_functions(struct tep_handle *tep, char *text);
void hyptrace_file_set_printk(struct tep_handle *tep, char *text);
void hyptrace_file_set_processes(struct tep_handle *tep, char *text);

/* file_place.c: where the sub-buffers are */
int64_t hyptrace_data_pread(const struct hyptrace_file *f, const struct file_data *data, void *to,
			    size_t size, uint64_t at);
int hyptrace_file_open_fd(const char *path, uint64_t *size, struct hyptrace_error *err);
int hyptrace_file_place(struct hyptrace_file *f, struct hyptrace_error *err);

/* file_swap.c: sub-buffers of other machines */
int hyptrace_file_swap_init(struct hyptrace_file *f, struct hyptrace_error *err);
uint64_t hyptrace_file_swap_time(const struct hyptrace_file *f, uint64_t time);
void hyptrace_file_swap(const struct hyptrace_file *f, const char *subbuf, char *to);

/* file_data.c: the bytes of sub-buffers */
uint64_t hyptrace_data_where(const struct file_data *data, uint64_t at, bool *own);
int hyptrace_data_size(const struct hyptrace_file *f, struct file_data *data, uint64_t *size,
		       struct hyptrace_error *err);
int64_t hyptrace_data_read(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			   char *to, size_t room, struct hyptrace_error *err);

/* file_source.c: the events of a CPU */
int hyptrace_file_source_open(struct hyptrace_file *f, struct file_source *src,
			      unsigned int index, size_t room, struct hyptrace_error *err);
void hyptrace_file_source_close(struct file_source *src);
int hyptrace_file_source_fail(struct file_source *src, int ret, struct hyptrace_error *err);
void hyptrace_file_source_seek(struct file_source *src, uint64_t to);
int64_t hyptrace_file_source_read(struct file_source *src, uint64_t at, size_t size,
				  struct hyptrace_error *err);
int hyptrace_file_source_load(struct file_source *src, struct hyptrace_error *err);
int hyptrace_file_source_next(struct file_source *src, struct hyptrace_error *err);
uint64_t hyptrace_file_source_unseen(struct file_source *src);

/* file_next.c */
int hyptrace_file_fill(struct hyptrace_file *f, struct hyptrace_stream_event *events,
		       unsigned int max, struct hyptrace_error *err);

/* file_run.c, file_turns.c: several threads */

/* What a batch is part of, for hyptrace_file_wait() */
struct file_batch {
	struct hyptrace_file_batch	batch;
	int				(*wait)(struct file_batch *batch);
};

int hyptrace_file_take_turns(struct hyptrace_file *file, const struct hyptrace_file_work *work,
			     unsigned int nr_threads, struct hyptrace_error *err);

/* file_seek.c: begin in the middle of a file */
int hyptrace_file_seek(struct hyptrace_file *f, struct hyptrace_error *err);
int hyptrace_file_edge(struct hyptrace_file *f, bool last, uint64_t *ts,
		       struct hyptrace_error *err);

/* file_part.c: readers of parts, for the threads of the command */

/**
 * struct file_rest - what the parts so far leave to the next part
 * @ts:		time of their last event
 * @lost:	lost events that no event has reported
 * @counted:	losses that sub-buffers of the parts report
 * @damaged:	the last sub-buffer is damaged
 */
struct file_rest {
	uint64_t	ts;
	uint64_t	lost;
	uint64_t	counted;
	bool		damaged;
};

int hyptrace_file_parts(struct hyptrace_file *f, uint64_t *from, uint64_t *to,
			struct hyptrace_error *err);
struct hyptrace_file *hyptrace_file_part_new(const struct hyptrace_file *f,
					     struct hyptrace_error *err);
void hyptrace_file_part_free(struct hyptrace_file *part);
bool hyptrace_file_part_begin(struct hyptrace_file *part, uint64_t from, uint64_t to);
void hyptrace_file_part_end(struct hyptrace_file *part, struct file_rest *rest);
void hyptrace_file_part_continue(struct hyptrace_file *part, const struct file_rest *rest);
void hyptrace_file_part_count(struct hyptrace_file *f, const struct hyptrace_file *part);

/* file_begin.c: open the sources */
bool hyptrace_file_is_chosen(const struct hyptrace_file *f, unsigned int cpu);
int hyptrace_file_begin(struct hyptrace_file *f, struct hyptrace_error *err);
void hyptrace_file_end(struct hyptrace_file *f);

#endif /* HYPTRACE_FILE_INTERNAL_H */
