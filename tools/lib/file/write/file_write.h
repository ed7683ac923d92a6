/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace file that is being written. For the files file_write*.c, and for programs that have
 * the description of a remote from elsewhere than from the driver.
 *
 * Each CPU has a part: the lowest one the main file, NAME.part, behind its head, the others
 * files of their own, NAME.part.cpuN, made with their first data. The host's events of a CPU have
 * another one, NAME.part.hostN. In the end the parts are moved to the main file, which is then
 * renamed to NAME. hyptrace.dat(5) describes the parts.
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

/**
 * struct hyptrace_file_format - the format of an event of the host
 * @system:	the system of the event
 * @text:	its format file, with the id that the file's records have
 */
struct hyptrace_file_format {
	char	*system;
	char	*text;
};

/**
 * struct hyptrace_file_host - the host's tracing, whose events a file has, too
 * @cpus:	numbers of the CPUs, in their order
 * @nr_cpus:	number of @cpus
 * @formats:	formats of the events: those of a system follow each other
 * @nr_formats:	number of @formats
 */
struct hyptrace_file_host {
	unsigned int			*cpus;
	unsigned int			nr_cpus;
	struct hyptrace_file_format	*formats;
	unsigned int			nr_formats;
};

/**
 * struct file_part - the part of a CPU
 * @cpu:	the CPU, in the file's description
 * @is_host:	the part has events of the host
 * @fd:		descriptor; -1 as long as the part has no data
 * @path:	its name; NULL if it is the main file, or has no name
 * @begin:	where its data begins
 * @size:	bytes of its data
 * @left:	data that the disk had no room for
 * @left_size:	bytes of @left
 * @unwritten:	events that are not in the file because of that
 * @drained:	bytes that were read since the ring was empty
 * @is_slow:	fewer than HYPTRACE_FILE_SLOW sub-buffers were read before the ring was empty, and
 *		nothing since
 * @chunk:	sub-buffers that are not compressed yet; NULL if there are none
 */
struct file_part {
	struct hyptrace_file_cpu	*cpu;
	bool				is_host;
	int				fd;
	char				*path;
	uint64_t			begin;
	uint64_t			size;
	char				*left;
	size_t				left_size;
	uint64_t			unwritten;
	uint64_t			drained;
	bool				is_slow;
	struct file_chunk		*chunk;
};

/**
 * struct hyptrace_file_writer - a file that is being written
 * @meta:	what the file says
 * @parts:	one for each of @meta.cpus, in the same order, and then of @meta.host_cpus
 * @nr_parts:	number of @parts
 * @host:	the host's tracing; NULL without it
 * @host_tasks:	names of its tasks; NULL if they are not known
 * @path:	name of the finished file; NULL if it goes to @out
 * @part_path:	name of the main file; NULL if it has none
 * @fd:		the main file
 * @out:	where the finished file is written to; -1 if it has a name
 * @head_size:	bytes before the data in the main file
 * @flags:	HYPTRACE_FILE_*
 * @pipe:	carries sub-buffers from a ring to a part; -1 before the first
 * @pipe_size:	bytes that it holds
 * @reserve:	a file without a name that keeps room on the disk; -1 if there is none
 * @join:	decodes the sub-buffers that are joined
 * @limit:	bytes that the file may have; UINT64_MAX without a limit
 * @size:	bytes that it has so far. Several threads use it.
 * @data_ended:	hyptrace_file_end_data() was called
 * @data_ret:	0, or a negative errno if that has failed
 * @errnum:	why nothing more can be written; 0 as long as all is well. Several threads use it.
 * @err:	the same as text
 * @compressor:	the thread that compresses; NULL without compression
 * @chunk_size:	bytes of sub-buffers in a compressed chunk
 */
struct hyptrace_file_writer {
	struct hyptrace_file_meta	meta;
	struct file_part		*parts;
	unsigned int			nr_parts;
	const struct hyptrace_file_host	*host;
	char				*host_tasks;
	char				*path;
	char				*part_path;
	int				fd;
	int				out;
	uint64_t			head_size;
	unsigned int			flags;
	int				pipe[2];
	size_t				pipe_size;
	int				reserve;
	struct hyptrace_decoder		*join;
	uint64_t			limit;
	uint64_t			size;
	bool				data_ended;
	int				data_ret;
	int				errnum;
	struct hyptrace_error		err;
	struct file_compressor		*compressor;
	size_t				chunk_size;
};

/* file_write.c */
struct hyptrace_file_writer *hyptrace_file_writer_new(const char *path,
						      struct hyptrace_file_meta *meta,
						      unsigned int flags,
						      const struct hyptrace_file_host *host,
						      struct hyptrace_error *err);
void hyptrace_file_writer_free(struct hyptrace_file_writer *w);
bool hyptrace_file_release_reserve(struct hyptrace_file_writer *w);
int hyptrace_file_fail(struct hyptrace_file_writer *w, const struct hyptrace_error *err);
int hyptrace_file_failed(const struct hyptrace_file_writer *w, struct hyptrace_error *err);

bool hyptrace_file_is_full(struct hyptrace_file_writer *w, size_t size);

/* file_write_create.c: begin with what the driver says */
struct hyptrace_file_writer *hyptrace_file_create_host(const char *path, struct hyptrace *h,
						       const char *remote, unsigned int flags,
						       const char *command,
						       const struct hyptrace_file_host *host,
						       struct hyptrace_error *err);

/* file_write_host.c: events of the host */
int hyptrace_file_write_host(struct hyptrace_file_writer *w, unsigned int cpu,
			     const void *subbufs, size_t size, struct hyptrace_error *err);
void hyptrace_file_set_host_counts(struct hyptrace_file_writer *w, unsigned int cpu,
				   uint64_t events, uint64_t lost);
uint64_t hyptrace_file_host_unwritten(struct hyptrace_file_writer *w, unsigned int cpu);
void hyptrace_file_set_host_tasks(struct hyptrace_file_writer *w, const char *tasks);

/* file_write_head.c: what comes before the data */
int hyptrace_file_write_head(struct hyptrace_file_writer *w, struct hyptrace_error *err);

/* file_write_part.c: the parts */
int hyptrace_file_create_unnamed(const char *folder);
int hyptrace_file_part_create(const char *path, struct hyptrace_error *err);
char *hyptrace_file_part_path(const struct hyptrace_file_writer *w, const struct file_part *part);
int hyptrace_file_part_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const void *data, size_t size, struct hyptrace_error *err);
int64_t hyptrace_file_part_splice(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				  struct hyptrace_error *err);
int64_t hyptrace_file_part_join(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err);
size_t hyptrace_file_pwrite(int fd, const void *data, size_t size, uint64_t offset);
int hyptrace_file_fallocate(int fd, int mode, uint64_t offset, uint64_t size);
int hyptrace_file_sync(int fd);

/* file_write_join.c: sub-buffers that were read before they were full */
bool hyptrace_file_join(struct hyptrace_file_writer *w, void *to, const void *from);

/* file_write_zstd.c: compression */
const char *hyptrace_file_zstd_version(void);
int hyptrace_file_zstd_begin(struct hyptrace_file_writer *w, struct hyptrace_error *err);
bool hyptrace_file_zstd_is_full(struct hyptrace_file_writer *w);
int hyptrace_file_zstd_write(struct hyptrace_file_writer *w, struct file_part *part,
			     const char *data, size_t size, struct hyptrace_error *err);
int64_t hyptrace_file_zstd_read(struct hyptrace_file_writer *w, struct file_part *part, int fd,
				struct hyptrace_error *err);
void hyptrace_file_zstd_end(struct hyptrace_file_writer *w);
void hyptrace_file_zstd_drop(struct hyptrace_file_writer *w);
void hyptrace_file_zstd_free(struct hyptrace_file_writer *w);
char *hyptrace_file_zstd_unpack(const struct hyptrace_file_writer *w, const char *data,
				size_t size, size_t *used, size_t *len);

/* file_write_finish.c: the end */
void hyptrace_file_add_unwritten(const struct hyptrace_file_writer *w, struct file_part *part,
				 const char *data, size_t size);
int hyptrace_file_writer_finish(struct hyptrace_file_writer *w, struct hyptrace_error *err);

#endif /* HYPTRACE_FILE_WRITE_H */
