// SPDX-License-Identifier: GPL-2.0-only
/* Write a trace file: see hyptrace_file.h. file_write.h has the parts that it is made of. */
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "common/boot_id.h"
#include "file_write.h"

/* The reserve is this part of the free room, but at most RESERVE_MAX bytes. */
#define RESERVE_PART	4
#define RESERVE_MAX	(16 << 20)

static int compare_cpus(const void *a, const void *b)
{
	const struct hyptrace_file_cpu *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* Take over the description, and begin with the parts of its CPUs. */
static int describe(struct hyptrace_file_writer *w, struct hyptrace_file_meta *meta,
		    struct hyptrace_error *err)
{
	struct hyptrace_file_info *info = &w->meta.info;
	unsigned int i;

	w->meta = *meta;
	memset(meta, 0, sizeof(*meta));
	info->version = w->flags & HYPTRACE_FILE_ZSTD ? 7 : 6;
	info->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	info->compression = strdup(w->flags & HYPTRACE_FILE_ZSTD ? "zstd" : "none");
	w->parts = calloc(info->nr_cpus + w->host.nr_cpus, sizeof(*w->parts));
	if (!info->compression || !w->parts ||
	    !hyptrace_file_make_cpus(&w->meta.host_cpus, &w->meta.nr_host_cpus, w->host.nr_cpus))
		return hyptrace_error_memory(err);
	for (i = 0; i < w->host.nr_cpus; i++)
		w->meta.host_cpus[i]->id = w->host.cpus[i];
	qsort(info->cpus, info->nr_cpus, sizeof(*info->cpus), compare_cpus);
	w->nr_parts = info->nr_cpus + w->meta.nr_host_cpus;
	for (i = 0; i < w->nr_parts; i++) {
		const bool is_host = i >= info->nr_cpus;

		w->parts[i] = (struct file_part){
			.cpu = is_host ? w->meta.host_cpus[i - info->nr_cpus] : info->cpus[i],
			.is_host = is_host, .fd = -1,
		};
	}
	return 0;
}

/* Is the output something that cannot be renamed? */
static bool is_stream(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* Name the parts. One that an older recording has left would be taken for one of this. */
static int make_paths(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	struct file_part *part;

	for (part = w->parts; part < w->parts + w->nr_parts; part++) {
		if (asprintf(&part->path, "%s.%s%u", w->part_path,
			     part->is_host ? HYPTRACE_FILE_HOST : "cpu", part->cpu->id) < 0) {
			part->path = NULL;
			return hyptrace_error_memory(err);
		}
		if (!access(part->path, F_OK))
			return hyptrace_error_set(err, EEXIST,
						  "%s is left of a recording that was not finished: remove it",
						  part->path);
	}
	/* the first one is in the main file */
	free(w->parts->path);
	w->parts->path = NULL;
	return 0;
}

static int open_output(struct hyptrace_file_writer *w, const char *path,
		       struct hyptrace_error *err)
{
	if (is_stream(path)) {
		w->out = !strcmp(path, "-") ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) :
			 open(path, O_WRONLY | O_CLOEXEC);
		if (w->out < 0)
			return hyptrace_error_set(err, errno, "cannot open %s: %m", path);
	} else {
		w->path = strdup(path);
		if (!w->path || asprintf(&w->part_path, "%s.part", path) < 0) {
			w->part_path = NULL;
			return hyptrace_error_memory(err);
		}
	}
	w->fd = hyptrace_file_part_create(w->part_path, err);
	if (w->fd < 0)
		return w->fd;
	return w->part_path ? make_paths(w, err) : 0;
}

/* Keep room on the disk, so that the file can be finished when the disk is full. */
static void make_reserve(struct hyptrace_file_writer *w)
{
	auto_free char *path = NULL;
	struct statvfs vfs;
	uint64_t size;

	if (!w->part_path || fstatvfs(w->fd, &vfs))
		return;
	size = MIN((uint64_t)vfs.f_bavail * vfs.f_frsize / RESERVE_PART, RESERVE_MAX);
	path = size < HYPTRACE_FILE_BLOCK ? NULL : strdup(w->part_path);
	if (!path)
		return;
	w->reserve = hyptrace_file_create_unnamed(dirname(path));
	if (w->reserve >= 0 && TEMP_FAILURE_RETRY(fallocate(w->reserve, 0, 0, size)))
		hyptrace_file_release_reserve(w);
}

struct hyptrace_file_writer *hyptrace_file_writer_new(const char *path,
						      struct hyptrace_file_meta *meta,
						      unsigned int flags,
						      const struct hyptrace_file_host *host,
						      struct hyptrace_error *err)
{
	struct hyptrace_file_writer *w = meta->info.nr_cpus ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		hyptrace_error_memory(err);
		if (!meta->info.nr_cpus)
			hyptrace_error_set(err, ENXIO, "the remote has no CPUs");
		hyptrace_file_meta_free(meta);
		return NULL;
	}
	*w = (struct hyptrace_file_writer){
		.fd = -1, .out = -1, .pipe = { -1, -1 }, .reserve = -1, .limit = UINT64_MAX,
		.flags = flags, .has_host = host,
	};
	if (host)
		w->host = *host;
	if (describe(w, meta, err) || open_output(w, path, err) ||
	    hyptrace_file_write_head(w, err) ||
	    (flags & HYPTRACE_FILE_ZSTD && hyptrace_file_zstd_begin(w, err))) {
		hyptrace_file_abandon(w);
		return NULL;
	}
	w->parts[0].fd = w->fd;
	w->parts[0].begin = w->head_size;
	w->size = w->head_size;
	make_reserve(w);
	return w;
}

void hyptrace_file_writer_free(struct hyptrace_file_writer *w)
{
	const int fds[] = { w->reserve, w->pipe[0], w->pipe[1], w->fd, w->out };
	unsigned int i;

	hyptrace_file_zstd_free(w);
	for (i = 0; i < w->nr_parts; i++) {
		if (i && w->parts[i].fd >= 0)
			close(w->parts[i].fd);
		free(w->parts[i].path);
		free(w->parts[i].left);
	}
	free(w->parts);
	for (i = 0; i < COUNT(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(w->pipe_data);
	free(w->host_tasks);
	free(w->path);
	free(w->part_path);
	hyptrace_file_meta_free(&w->meta);
	free(w);
}

static int get_info(struct hyptrace_file_info *info, struct hyptrace *h, const char *remote,
		    const char *command, struct hyptrace_error *err)
{
	struct hyptrace_remote *r;
	char boot[BOOT_ID_SIZE];
	struct utsname u;
	int ret = hyptrace_get_remote(h, remote, &r, err);

	if (ret)
		return ret;
	info->remote = strdup(r->name);
	info->clock = strdup(r->clock ? r->clock : "");
	info->subbuf_size = r->subbuf_size;
	if (r->clock && !strcmp(r->clock, "boot"))
		info->offset = hyptrace_now(CLOCK_REALTIME) - hyptrace_now(CLOCK_BOOTTIME);
	hyptrace_free_remote(r);
	info->recorder = strdup("hyptrace " HYPTRACE_VERSION);
	info->command = command ? strdup(command) : NULL;
	if (h->backend && h->backend->identify) {
		h->backend->identify(h->backend_arg, info);
	} else {
		info->begin = hyptrace_now(CLOCK_REALTIME);
		/* without /proc the boot is not known */
		info->boot = read_boot_id(boot) ? strdup(boot) : NULL;
		if (!uname(&u) && asprintf(&info->uname, "%s %s %s %s %s", u.sysname, u.nodename,
					   u.release, u.version, u.machine) < 0)
			info->uname = NULL;
	}
	if (!info->remote || !info->clock || !info->recorder || (command && !info->command) ||
	    !info->uname)
		return hyptrace_error_memory(err);
	if (info->subbuf_size <= HYPTRACE_SUBBUF_HEADER)
		return hyptrace_error_set(err, EPROTO, "the driver has sub-buffers of %u bytes",
					  info->subbuf_size);
	return 0;
}

static int get_cpus(struct hyptrace_file_meta *meta, struct hyptrace *h, const char *remote,
		    struct hyptrace_error *err)
{
	struct hyptrace_cpu **cpus = NULL;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(h, remote, &cpus, &nr, err);

	if (!ret && !hyptrace_file_make_cpus(&meta->info.cpus, &meta->info.nr_cpus, nr))
		ret = hyptrace_error_memory(err);
	for (i = 0; !ret && i < nr; i++)
		meta->info.cpus[i]->id = cpus[i]->id;
	hyptrace_free_cpus(cpus);
	return ret;
}

/**
 * hyptrace_file_create - begin to write a trace file
 * @path:	its name; "-" for the standard output
 * @h:		the connection; only this function uses it
 * @remote:	name of the remote whose events the file will have
 * @flags:	0 or HYPTRACE_FILE_ZSTD
 * @command:	the command line, for the file to tell; may be NULL
 * @host:	the host's tracing, whose events the file has, too; what it points to must stay
 *		valid until the file is finished. Or NULL
 * @size:	sizeof(*@host)
 * @err:	the reason if it fails; may be NULL
 *
 * Until hyptrace_file_finish() the data is in files beside it, whose names begin with @path and
 * ".part". If the program ends before that, they stay, and hyptrace_file_open() reads them. If
 * @path is a pipe or a device, the file is written to it in the end, and the data is in the
 * folder for temporary files until then.
 *
 * hyptrace_file_write(), hyptrace_file_set_counts() and hyptrace_file_unwritten() are for the
 * host's events of a CPU if its number is given with HYPTRACE_FILE_OF_HOST.
 *
 * Return: the writer, for hyptrace_file_finish() or hyptrace_file_abandon(), or NULL. The errno is
 * EEXIST if there are such files, EBUSY if another process is writing them.
 */
struct hyptrace_file_writer *hyptrace_file_create(const char *path, struct hyptrace *h,
						  const char *remote, unsigned int flags,
						  const char *command,
						  const struct hyptrace_file_host *host,
						  size_t size, struct hyptrace_error *err)
{
	struct hyptrace_file_meta meta = {};
	struct hyptrace_file_host all = {};

	if (flags & ~HYPTRACE_FILE_ZSTD)
		return hyptrace_error_null(hyptrace_error_set(err, EINVAL, "unknown flags 0x%x",
							      flags));
	if (get_info(&meta.info, h, remote, command, err) || get_cpus(&meta, h, remote, err) ||
	    hyptrace_get_events(h, remote, &meta.info.events, &meta.info.nr_events, err)) {
		hyptrace_file_meta_free(&meta);
		return NULL;
	}
	/* without them, numbers are printed */
	hyptrace_get_hypercalls(h, remote, &meta.info.calls, &meta.info.nr_calls, NULL);
	if (host)
		memcpy(&all, host, size < sizeof(all) ? size : sizeof(all));
	return hyptrace_file_writer_new(path, &meta, flags, host ? &all : NULL, err);
}

/**
 * hyptrace_file_is_full - would more data be too much?
 * @w:		the writer
 * @size:	bytes of the data
 *
 * If the file is compressed, this may wait until it is known how large it is.
 *
 * Return: true if the file would be larger than its limit.
 */
bool hyptrace_file_is_full(struct hyptrace_file_writer *w, size_t size)
{
	return w->compressor ? hyptrace_file_zstd_is_full(w) : w->size + size > w->limit;
}

struct file_part *hyptrace_file_find_part(const struct hyptrace_file_writer *w, unsigned int cpu,
					  struct hyptrace_error *err)
{
	const unsigned int id = cpu & ~HYPTRACE_FILE_OF_HOST;
	const bool is_host = id != cpu;
	unsigned int i;

	for (i = 0; i < w->nr_parts; i++)
		if (w->parts[i].cpu->id == id && w->parts[i].is_host == is_host)
			return &w->parts[i];
	hyptrace_error_set(err, ENXIO, "the %s has no CPU %u", is_host ? "host" : "remote", id);
	return NULL;
}

/**
 * hyptrace_file_set_limit - limit the size of the file
 * @w:		the writer
 * @bytes:	its size at most. If it is compressed, it may be larger by 256 KiB.
 *
 * hyptrace_file_splice() and hyptrace_file_write() keep the limit.
 */
void hyptrace_file_set_limit(struct hyptrace_file_writer *w, uint64_t bytes)
{
	w->limit = bytes;
}

/**
 * hyptrace_file_splice - move what a ring holds to the file
 * @w:		the writer
 * @cpu:	the ring's CPU
 * @fd:		descriptor of its reader, which is a consumer and does not block
 * @err:	the reason if it fails; may be NULL
 *
 * One call moves many sub-buffers, but perhaps not all: call it until it returns 0. Sub-buffers
 * that are read before they are full are joined.
 *
 * Return: the bytes that were moved; 0 if the ring is empty; or a negative errno:
 * -EOVERFLOW if the file would become larger than its limit. After -ENOSPC or another error of the
 * file, the file can only be finished: it holds what was read before.
 */
int64_t hyptrace_file_splice(struct hyptrace_file_writer *w, unsigned int cpu, int fd,
			     struct hyptrace_error *err)
{
	struct file_part *part = hyptrace_file_find_part(w, cpu, err);
	int ret = hyptrace_file_failed(w, err);
	int64_t n;

	if (!part || ret)
		return part ? ret : -ENXIO;
	if (hyptrace_file_is_full(w, w->meta.info.subbuf_size))
		return hyptrace_error_set(err, EOVERFLOW, "the file has reached its limit");
	if (w->compressor)
		n = hyptrace_file_zstd_read(w, part, fd, err);
	else if (part->is_slow && part->size)
		n = hyptrace_file_part_join(w, part, fd, err);
	else
		n = hyptrace_file_part_splice(w, part, fd, err);
	if (n > 0)
		part->drained += n;
	part->is_slow = !n && part->drained < HYPTRACE_FILE_SLOW * w->meta.info.subbuf_size;
	if (!n)
		part->drained = 0;
	return n;
}

/**
 * hyptrace_file_write - write sub-buffers to the file
 * @w:		the writer
 * @cpu:	their CPU
 * @subbufs:	the sub-buffers, later than those written before
 * @size:	their bytes, a multiple of the remote's sub-buffer size. With 0, those that wait for
 *		their compression for long are compressed.
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -EOVERFLOW, and nothing is written, if the file would become
 * larger than its limit. The data of a call that fails, because the disk is full, is kept in memory
 * and may still be in the finished file: hyptrace_file_unwritten() counts what is not.
 */
int hyptrace_file_write(struct hyptrace_file_writer *w, unsigned int cpu, const void *subbufs,
			size_t size, struct hyptrace_error *err)
{
	struct file_part *part = hyptrace_file_find_part(w, cpu, err);

	if (!part)
		return -ENXIO;
	if (size % w->meta.info.subbuf_size)
		return hyptrace_error_set(err, EINVAL, "%zu bytes are not whole sub-buffers of %u",
					  size, w->meta.info.subbuf_size);
	if (size && hyptrace_file_is_full(w, size))
		return hyptrace_error_set(err, EOVERFLOW, "the file has reached its limit");
	if (w->compressor)
		return hyptrace_file_zstd_write(w, part, subbufs, size, err);
	return size ? hyptrace_file_part_write(w, part, subbufs, size, err) : 0;
}

/**
 * hyptrace_file_set_counts - set the counts of a CPU
 * @w:		the writer
 * @cpu:	the CPU
 * @events:	events that were read from its ring for this file
 * @lost:	events that were lost meanwhile
 * @filtered:	events that a filter at EL2 has refused meanwhile
 *
 * The file has them when it is finished: until then they can be set again. Events that could not be
 * written, because the disk is full, become lost ones.
 */
void hyptrace_file_set_counts(struct hyptrace_file_writer *w, unsigned int cpu, uint64_t events,
			      uint64_t lost, uint64_t filtered)
{
	struct file_part *part = hyptrace_file_find_part(w, cpu, NULL);

	if (!part)
		return;
	part->cpu->events = events;
	part->cpu->lost = lost;
	part->cpu->filtered = filtered;
	part->cpu->has_counts = true;
}

/**
 * hyptrace_file_add_note - add a sentence that says why events are missing, although none was lost
 * @w:		the writer
 * @text:	the sentence. There is room for some: if it does not fit, the file does not have it.
 *
 * The file has it at once, also if the program is killed.
 */
void hyptrace_file_add_note(struct hyptrace_file_writer *w, const char *text)
{
	struct hyptrace_file_info *info = &w->meta.info;
	char *note = hyptrace_list_add(&info->notes, &info->nr_notes, strlen(text) + 1);

	if (!note)
		return;
	strcpy(note, text);
	/* if this fails, the end of the file does, too, and reports it */
	hyptrace_file_write_head(w, NULL);
}

/**
 * hyptrace_file_set_host_tasks - set the names of the host's tasks
 * @w:		the writer of a file that has the host's events
 * @tasks:	lines with a process id and a name, as tracefs has them in saved_cmdlines
 *
 * Only what fits into the room that the head has for it is written, in whole lines.
 */
void hyptrace_file_set_host_tasks(struct hyptrace_file_writer *w, const char *tasks)
{
	free(w->host_tasks);
	w->host_tasks = strdup(tasks);
}

/**
 * hyptrace_file_abandon - remove what was written
 * @w:		the writer, or NULL; it is freed
 */
void hyptrace_file_abandon(struct hyptrace_file_writer *w)
{
	unsigned int i;

	if (!w)
		return;
	/* its thread makes parts */
	hyptrace_file_zstd_end(w, true);
	for (i = 0; i < w->nr_parts; i++)
		if (w->parts[i].path && w->parts[i].fd >= 0)
			unlink(w->parts[i].path);
	if (w->part_path && w->fd >= 0)
		unlink(w->part_path);
	hyptrace_file_writer_free(w);
}
