// SPDX-License-Identifier: GPL-2.0-only
/* Open a trace file, or say what else it is; say what it has, and choose what to read of it. */
#include "file.h"

/* The field "packet" of a Perfetto trace, and the bytes of a length at most */
#define PERFETTO_PACKET	0x0a
#define LENGTH_MAX	5

/* Files that are taken for trace files */
static const struct {
	unsigned int	offset;
	const char	*magic;
	const char	*what;
} others[] = {
	{ 0, "\177ELF", "an ELF file" },
	{ 0, "PERFILE2", "a file of perf: use \"perf script\"" },
	{ 0, "\x1f\x8b", "a file of gzip: decompress it first" },
	{ 0, "\x28\xb5\x2f\xfd", "a file of zstd: decompress it first" },
	{ 0, "\xc1\x1f\xfc\xc1", "a stream of CTF: use \"babeltrace2\"" },
	{ 257, "ustar", "a TAR" },
};

/**
 * hyptrace_file_is_perfetto - is a file a Perfetto trace?
 * @fd:		the file
 * Return: true if another packet, or the end of the file, follows the first packet.
 */
bool hyptrace_file_is_perfetto(int fd)
{
	unsigned char head[1 + LENGTH_MAX] = {}, next;
	uint64_t length = 0;
	unsigned int i = 1;
	int64_t n;

	hyptrace_file_pread(fd, head, sizeof(head), 0);
	if (head[0] != PERFETTO_PACKET)
		return false;
	do {
		length |= (uint64_t)(head[i] & 0x7f) << 7 * (i - 1);
	} while (head[i++] & 0x80 && i < sizeof(head));
	n = hyptrace_file_pread(fd, &next, 1, i + length);
	if (n)
		return n == 1 && next == PERFETTO_PACKET;
	return length && hyptrace_file_pread(fd, &next, 1, i + length - 1) == 1;
}

/* For the file of a CPU of an unfinished recording: return where the main file's name ends. */
static const char *end_of_main(const char *path)
{
	static const char part[] = ".part";
	const char *dot = strrchr(path, '.');
	size_t word = dot ? strcspn(dot, "0123456789") : 0;

	if (!dot || dot - path < (int)strlen(part) ||
	    strncmp(dot - strlen(part), part, strlen(part)) ||
	    (!hyptrace_is(dot, word, ".cpu") && !hyptrace_is(dot, word, "." HYPTRACE_FILE_HOST)))
		return NULL;
	return dot;
}

static int refuse(const struct hyptrace_file *f, struct hyptrace_error *err)
{
	const char *end = end_of_main(f->path), *what = NULL;
	char begin[512] = {};
	unsigned int i;

	if (end)
		return hyptrace_error_set(err, EBADMSG, "it has one CPU of an unfinished recording: read \"%.*s\", which finds this file, too",
					  (int)(end - f->path), f->path);
	if (!f->size)
		what = "empty";
	hyptrace_file_pread(f->fd, begin, sizeof(begin), 0);
	for (i = 0; i < COUNT(others) && !what; i++)
		if (!memcmp(begin + others[i].offset, others[i].magic, strlen(others[i].magic)))
			what = others[i].what;
	if (!what && hyptrace_file_is_perfetto(f->fd))
		what = "a Perfetto trace: open it in https://ui.perfetto.dev";
	return hyptrace_error_set(err, EBADMSG, "it is not a trace file%s%s", what ? ", but " : "",
				  what ? what : "");
}

/**
 * hyptrace_file_close - close a file
 * @file:	the file, or NULL
 */
void hyptrace_file_close(struct hyptrace_file *file)
{
	unsigned int i;

	if (!file)
		return;
	hyptrace_formats_free(file->meta.info.formats);
	for (i = 0; file->data && i < file->meta.info.nr_cpus; i++) {
		if (file->data[i].own_fd)
			close(file->data[i].fd);
		free(file->data[i].chunks);
	}
	free(file->data);
	hyptrace_file_close(file->host);
	for (i = 0; i < file->meta.info.nr_pieces; i++) {
		free(file->meta.info.pieces[i]->text);
		free(file->meta.info.pieces[i]);
	}
	free(file->meta.info.pieces);
	free(file->places);
	free(file->chosen);
	hyptrace_file_meta_free(&file->meta);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	hyptrace_file_part_free(file);
}

/* Without a description, the CPUs are those of the headers. */
static int add_cpus(struct hyptrace_file *f, struct hyptrace_error *err)
{
	struct hyptrace_file_info *info = &f->meta.info;
	unsigned int i;

	if (f->is_ours || f->is_host)
		return 0;
	f->meta.state = FILE_COMPLETE;
	if (!hyptrace_file_make_cpus(&info->cpus, &info->nr_cpus, f->nr_places))
		return hyptrace_error_memory(err);
	for (i = 0; i < f->nr_places; i++)
		info->cpus[i]->id = f->places[i].cpu;
	return 0;
}

struct hyptrace_formats *hyptrace_file_make_formats(const struct hyptrace_file *f,
						    struct hyptrace_error *err)
{
	const struct hyptrace_file_info *info = &f->meta.info;
	struct hyptrace_formats *formats = hyptrace_formats_new(info->events, info->nr_events, err);

	if (formats &&
	    !hyptrace_formats_set_hypercalls(formats, info->calls, info->nr_calls, err))
		return formats;
	hyptrace_formats_free(formats);
	return NULL;
}

static int by_offset(const void *a, const void *b)
{
	const struct hyptrace_file_piece *x = *(struct hyptrace_file_piece *const *)a;
	const struct hyptrace_file_piece *y = *(struct hyptrace_file_piece *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->size < y->size) - (x->size > y->size);
}

/* Leave of the description what belongs to the host. */
static void become_host(struct hyptrace_file *f)
{
	struct hyptrace_file_meta *meta = &f->meta;
	struct hyptrace_file_meta rest = {
		.info.cpus = meta->info.cpus, .info.nr_cpus = meta->info.nr_cpus,
		.info.events = meta->info.events, .info.calls = meta->info.calls,
	};

	meta->info.cpus = meta->host_cpus;
	meta->info.nr_cpus = meta->nr_host_cpus;
	meta->host_cpus = NULL;
	meta->nr_host_cpus = 0;
	meta->info.events = NULL;
	meta->info.nr_events = 0;
	meta->info.calls = NULL;
	meta->info.nr_calls = 0;
	hyptrace_file_meta_free(&rest);
	/* libtraceevent reads the formats, as those of trace-cmd */
	f->is_ours = false;
}

/* A recording that has not ended has another name. */
static int missing(const char *path, struct hyptrace_error *err)
{
	char *part;

	if (asprintf(&part, "%s.part", path) < 0)
		return hyptrace_error_memory(err);
	if (!access(part, F_OK))
		hyptrace_error_set(err, ENOENT,
				   "%m, but the recording has left \"%.200s\": read that", part);
	free(part);
	return -ENOENT;
}

static int open_file(struct hyptrace_file *f, const char *path, struct hyptrace_error *err)
{
	struct hyptrace_file_info *info = &f->meta.info;
	int ret;

	f->path = strdup(path);
	if (!f->path)
		return hyptrace_error_memory(err);
	f->fd = hyptrace_file_open_fd(path, &f->size, err);
	if (f->fd < 0)
		return f->fd == -ENOENT ? missing(path, err) : f->fd;
	ret = hyptrace_file_read_headers(f, err);
	if (ret)
		return ret == -ENOEXEC ? refuse(f, err) : ret;
	if (f->is_host)
		become_host(f);
	ret = add_cpus(f, err) ?: hyptrace_file_place(f, err);
	if (!ret)
		info->formats = f->is_ours ? hyptrace_file_make_formats(f, err) :
					     hyptrace_file_read_formats(f, err);
	if (ret || !info->formats)
		return ret ?: -err->errnum;
	if (!info->compression)
		info->compression = strdup("none");
	if (!info->compression)
		return hyptrace_error_memory(err);
	info->is_complete = f->meta.state == FILE_COMPLETE;
	if (info->nr_pieces)
		qsort(info->pieces, info->nr_pieces, sizeof(*info->pieces), by_offset);
	return 0;
}

static struct hyptrace_file *open_as(const char *path, bool host, struct hyptrace_error *err)
{
	struct hyptrace_file *f = calloc(1, sizeof(*f));
	struct hyptrace_error own;

	if (!f)
		return hyptrace_error_null(hyptrace_error_memory(err));
	f->fd = -1;
	f->options.to = UINT64_MAX;
	f->options.sides = HYPTRACE_SIDE_REMOTE;
	f->bytes_read = &f->own_bytes;
	f->is_host = host;
	if (!open_file(f, path, err ? err : &own))
		return f;
	hyptrace_file_close(f);
	return NULL;
}

/**
 * hyptrace_file_open - open a trace file
 * @path:	its name
 * @err:	the reason if it fails; may be NULL
 *
 * A file that trace-cmd has recorded is read, too, and the file NAME.part of a recording that
 * was not finished, with the files of its CPUs beside it.
 *
 * Return: the file, for hyptrace_file_close(), or NULL.
 */
struct hyptrace_file *hyptrace_file_open(const char *path, struct hyptrace_error *err)
{
	return open_as(path, false, err);
}

static int copy_cpus(struct hyptrace_file *file, const unsigned int *cpus, unsigned int nr,
		     struct hyptrace_error *err)
{
	unsigned int *copy = calloc(nr ? nr : 1, sizeof(*copy));

	if (!copy)
		return hyptrace_error_memory(err);
	memcpy(copy, cpus, nr * sizeof(*copy));
	free(file->chosen);
	file->chosen = copy;
	file->nr_chosen = nr;
	hyptrace_file_rewind(file);
	return 0;
}

/**
 * hyptrace_file_host - get the events of the host that a file has, too
 * @file:	the file
 * @err:	the reason if it fails; may be NULL
 *
 * They can be read alone, as those of a file that trace-cmd has recorded, of the CPUs and times
 * that were chosen of @file; or together with those of the remote: see struct
 * hyptrace_file_options.
 *
 * Return: their reader, which belongs to @file; NULL with the errno ENODATA if there are none, or
 * with another one.
 */
struct hyptrace_file *hyptrace_file_host(struct hyptrace_file *file, struct hyptrace_error *err)
{
	struct hyptrace_file *host = file->host;
	struct hyptrace_file_options *options;

	if (!file->meta.nr_host_cpus)
		return hyptrace_error_null(hyptrace_error_set(err, ENODATA,
							      "it has no events of the host"));
	if (!host)
		host = open_as(file->path, true, err);
	file->host = host;
	if (!host || (file->chosen && copy_cpus(host, file->chosen, file->nr_chosen, err)))
		return NULL;
	host->bytes_read = file->bytes_read;
	options = hyptrace_file_options(host);
	options->from = file->options.from;
	options->to = file->options.to;
	options->last = file->options.last;
	return host;
}

/**
 * hyptrace_file_info - get what a file says about itself
 * @file:	the file
 * Return: valid as long as the file is open.
 */
const struct hyptrace_file_info *hyptrace_file_info(const struct hyptrace_file *file)
{
	return &file->meta.info;
}

/**
 * hyptrace_file_set_cpus - choose the CPUs to read
 * @file:	the file; reading starts again
 * @cpus:	their numbers
 * @nr:		number of @cpus, at least 1
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -ENXIO if the file has no such CPU.
 */
int hyptrace_file_set_cpus(struct hyptrace_file *file, const unsigned int *cpus, unsigned int nr,
			   struct hyptrace_error *err)
{
	const struct hyptrace_file_info *info = &file->meta.info;
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < info->nr_cpus && info->cpus[j]->id != cpus[i]; j++)
			;
		if (j == info->nr_cpus)
			return hyptrace_error_set(err, ENXIO, "it has no CPU %u", cpus[i]);
	}
	return copy_cpus(file, cpus, nr, err);
}

/**
 * hyptrace_file_options - get the options of a file; reading starts again
 * @file:	the file
 * Return: the options, for the caller to change before it reads.
 */
struct hyptrace_file_options *hyptrace_file_options(struct hyptrace_file *file)
{
	hyptrace_file_rewind(file);
	return &file->options;
}

/* Find the time of the first event of all times, or of the first one of the @last events. */
static int find_edge(struct hyptrace_file *file, uint64_t last, uint64_t *ts,
		     struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event = NULL;
	int ret;

	*hyptrace_file_options(file) = (struct hyptrace_file_options){
		.to = UINT64_MAX, .last = last, .sides = file->options.sides,
	};
	do {
		ret = hyptrace_file_next(file, &event, err);
	} while (ret == -EBADMSG || (ret > 0 && !event->record.data));
	if (ret == -ENODATA)
		return hyptrace_error_set(err, ENODATA, "it has no events");
	if (ret < 0)
		return ret;
	*ts = event->record.ts;
	return 0;
}

/**
 * hyptrace_file_times - get the times of the first and the last event of the chosen CPUs
 * @file:	the file; reading starts again
 * @first:	out: the time of the first event; or NULL
 * @last:	out: the time of the last event; or NULL
 * @err:	the reason if it fails; may be NULL
 * Return: 0; -ENODATA if there are no events; or another negative errno.
 */
int hyptrace_file_times(struct hyptrace_file *file, uint64_t *first, uint64_t *last,
			struct hyptrace_error *err)
{
	const struct hyptrace_file_options options = file->options;
	int ret = first ? find_edge(file, 0, first, err) : 0;

	if (!ret && last)
		ret = find_edge(file, 1, last, err);
	*hyptrace_file_options(file) = options;
	return ret;
}

/**
 * hyptrace_file_walk - call a function for each sub-buffer of the chosen CPUs
 * @f:		the file; reading starts again
 * @fn:		the function
 * @arg:	its second argument
 * @err:	the reason if it fails; not NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_file_walk(struct hyptrace_file *f, hyptrace_file_subbuf_fn fn, void *arg,
		       struct hyptrace_error *err)
{
	unsigned int i;
	int ret = hyptrace_file_begin(f, err);

	for (i = 0; i < f->nr_sources && !ret; i++)
		ret = hyptrace_file_source_walk(&f->sources[i], fn, arg, err);
	hyptrace_file_rewind(f);
	return ret;
}

/**
 * hyptrace_file_counts - get what became of the events that were looked at
 * @file:	the file
 * Return: the counts so far, until reading starts again.
 */
const struct hyptrace_file_counts *hyptrace_file_counts(const struct hyptrace_file *file)
{
	return &file->counts;
}

/**
 * hyptrace_file_progress - get how much of a file was read; any thread may call it
 * @file:	the file
 * @bytes:	out: bytes of sub-buffers that were read
 * @all:	out: all of them, of both sides
 *
 * Places where reading starts are read more than once.
 */
void hyptrace_file_progress(const struct hyptrace_file *file, uint64_t *bytes, uint64_t *all)
{
	unsigned int i;

	*bytes = *file->bytes_read;
	*all = 0;
	for (i = 0; i < file->meta.info.nr_cpus; i++)
		*all += file->meta.info.cpus[i]->size;
	for (i = 0; file->host && i < file->host->meta.info.nr_cpus; i++)
		*all += file->host->meta.info.cpus[i]->size;
}
