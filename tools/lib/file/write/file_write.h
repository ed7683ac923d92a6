/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace file that is being written. Each CPU has a part: the lowest one the main file, NAME.part,
 * behind its head, the others files of their own, NAME.part.cpuN, made with their first data. The
 * host's events of a CPU have another one, NAME.part.hostN. In the end the parts are moved to the
 * main file, which is then renamed to NAME. hyptrace.dat(5) describes the parts.
 */
#ifndef HYPTRACE_FILE_WRITE_H
#define HYPTRACE_FILE_WRITE_H

#include "file/file_meta.h"
#include "internal.h"

/* A part on a full disk gives up its room in blocks of so many bytes. */
#define HYPTRACE_FILE_BLOCK	(64 << 10)

/* If a ring is read before it holds so many sub-buffers, they are joined. */
#define HYPTRACE_FILE_SLOW	16

struct file_chunk;
struct file_compressor;

struct file_part {
	struct hyptrace_file_cpu	*cpu;		/* in the file's description */
	bool				is_host;	/* the part has events of the host */
	int				fd;		/* -1 as long as the part has no data */
	char				*path;		/* NULL: the main file, or no name */
	uint64_t			begin;		/* where its data begins */
	uint64_t			size;		/* bytes of its data */
	char				*left;		/* data that the disk had no room for */
	size_t				left_size;
	uint64_t			unwritten;	/* events that are not in the file then */
	uint64_t			drained;	/* bytes since the ring was empty */
	bool				is_slow;	/* fewer than HYPTRACE_FILE_SLOW */
	struct file_chunk		*chunk;		/* what is not compressed yet; or NULL */
};

struct hyptrace_file_writer {
	struct hyptrace_file_meta	meta;
	struct file_part		*parts;		/* of @meta.cpus, then of @meta.host_cpus */
	unsigned int			nr_parts;
	struct hyptrace_file_host	host;		/* if the file @has_host */
	bool				has_host;
	char				*host_tasks;	/* NULL if they are not known */
	char				*path;	/* of the finished file; NULL if it goes to @out */
	char				*part_path;	/* of the main file, if it has a name */
	int				fd;		/* the main file */
	int				out;	/* gets the finished file; -1 if that has a name */
	uint64_t			head_size;	/* bytes before the data in the main file */
	unsigned int			flags;		/* HYPTRACE_FILE_* */
	int				pipe[2];	/* from a ring to a part; -1 at first */
	size_t				pipe_size;
	char				*pipe_data;	/* for a sub-buffer, and what is in it */
	int				reserve;	/* keeps room on the disk; or -1 */
	struct hyptrace_decoder		join;
	uint64_t			limit;	/* bytes of the file; UINT64_MAX without a limit */
	uint64_t			size;		/* bytes so far. Several threads use it. */
	bool				data_ended;	/* all data was written that waited */
	int				data_ret;	/* or a negative errno */
	int				errnum;		/* why nothing can be written; as @size */
	struct hyptrace_error		err;		/* the same as text */
	struct file_compressor		*compressor;	/* NULL without compression */
	size_t				chunk_size;	/* bytes of sub-buffers in a chunk */
};

/* file_write.c */
struct hyptrace_file_writer *hyptrace_file_writer_new(const char *path,
						      struct hyptrace_file_meta *meta,
						      unsigned int flags,
						      const struct hyptrace_file_host *host,
						      struct hyptrace_error *err);
void hyptrace_file_writer_free(struct hyptrace_file_writer *w);
struct file_part *hyptrace_file_find_part(const struct hyptrace_file_writer *w, unsigned int cpu,
					  struct hyptrace_error *err);

/* file_write_head.c: what comes before the data */
int hyptrace_file_write_head(struct hyptrace_file_writer *w, struct hyptrace_error *err);

/* file_write_part.c: the parts */
bool hyptrace_file_release_reserve(struct hyptrace_file_writer *w);
int hyptrace_file_fail(struct hyptrace_file_writer *w, const struct hyptrace_error *why,
		       struct hyptrace_error *err);
uint64_t hyptrace_file_count_events(const struct hyptrace_file_writer *w, const char *data,
				    size_t size);
void hyptrace_file_add_unwritten(const struct hyptrace_file_writer *w, struct file_part *part,
				 const char *data, size_t size);
int hyptrace_file_create_unnamed(const char *folder);
int hyptrace_file_part_create(const char *path, struct hyptrace_error *err);
int hyptrace_file_part_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const void *data, size_t size, struct hyptrace_error *err);
int64_t hyptrace_file_part_splice(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				  struct hyptrace_error *err);
int64_t hyptrace_file_part_join(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err);
bool hyptrace_file_join(struct hyptrace_file_writer *w, void *to, const void *from);
int64_t hyptrace_file_read_ring(int fd, void *to, size_t size, struct hyptrace_error *err);
size_t hyptrace_file_pwrite(int fd, const void *data, size_t size, uint64_t offset);

/* file_write_zstd.c: compression */
int hyptrace_file_zstd_begin(struct hyptrace_file_writer *w, struct hyptrace_error *err);
bool hyptrace_file_zstd_is_full(struct hyptrace_file_writer *w);
int hyptrace_file_zstd_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const char *data, size_t size, struct hyptrace_error *err);
int64_t hyptrace_file_zstd_read(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err);
void hyptrace_file_zstd_end(struct hyptrace_file_writer *w, bool drop);
void hyptrace_file_zstd_free(struct hyptrace_file_writer *w);
size_t hyptrace_file_zstd_count(const struct hyptrace_file_writer *w, const char *data,
				uint64_t *events);

#endif /* HYPTRACE_FILE_WRITE_H */
