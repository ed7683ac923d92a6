// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sub-buffers of a CPU in a trace file, and their events.
 *
 * Sub-buffers of machines with another byte order, or with a commit word of 32 bits, are converted
 * to those of this machine. So the decoder, the print steps, the filters and the exports see only
 * sub-buffers and payloads of this machine.
 */
#include "file.h"

#define WORD	sizeof(uint32_t)

/* ns */
#define MINUTE	(UINT64_C(60) * 1000000000)
#define YEAR	(365 * 24 * 60 * MINUTE)

/* Only what has the size of a number is one. */
static void swap_number(char *at, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size / 2 && (size == 2 || size == 4 || size == 8); i++) {
		char byte = at[i];

		at[i] = at[size - 1 - i];
		at[size - 1 - i] = byte;
	}
}

static void swap_field(const struct hyptrace_field *field, char *data, uint32_t size)
{
	/* what describes a dynamic array is one number; its elements stay as they are */
	const char *array = strstr(field->type, "_loc ") ? NULL : strchr(field->type, '[');
	const unsigned long nr = array ? strtoul(array + 1, NULL, 0) : 1;
	uint32_t element, at;

	if (field->size > size || field->offset > size - field->size)
		return;
	/* the bytes of an element are not known if the length of the array is not in its type */
	element = nr && field->size % nr == 0 ? field->size / nr : 1;
	for (at = 0; element > 1 && at < field->size; at += element)
		swap_number(data + field->offset + at, element);
}

static void swap_payload(const struct hyptrace_file *f, char *data, uint32_t size)
{
	const struct hyptrace_record rec = { .data = data, .size = size };
	const struct hyptrace_event *event;
	unsigned int i;

	if (size < sizeof(uint16_t))
		return;
	swap_number(data, sizeof(uint16_t));
	event = hyptrace_formats_event(f->meta.info.formats, &rec);
	for (i = 0; event && i < event->nr_fields; i++)
		swap_field(event->fields[i], data, size);
}

/* Convert a record. Return its bytes; 0 if it is not valid: then the decoder says so. */
static uint32_t swap_record(const struct hyptrace_file *f, char *at, uint32_t room)
{
	uint32_t head = hyptrace_file_u32(f, at), type, delta, len;

	/* the first bit-field takes the high bits on a big-endian machine */
	if (f->meta.info.big_endian) {
		type = head >> HYPTRACE_DELTA_BITS;
		delta = head & ((1U << HYPTRACE_DELTA_BITS) - 1);
	} else {
		type = head & ((1U << HYPTRACE_TYPE_LEN_BITS) - 1);
		delta = head >> HYPTRACE_TYPE_LEN_BITS;
	}
	head = hyptrace_record_header(type, delta);
	memcpy(at, &head, sizeof(head));
	if (type > HYPTRACE_TYPE_LENGTH_WORD && type <= HYPTRACE_TYPE_MAX_WORDS) {
		len = type * WORD;
		if (len > room - WORD)
			return 0;
		swap_payload(f, at + WORD, len);
		return WORD + len;
	}
	if ((type == HYPTRACE_TYPE_PADDING && !delta) || room < 2 * WORD)
		return 0;
	len = hyptrace_file_u32(f, at + WORD);
	memcpy(at + WORD, &len, sizeof(len));
	if (type == HYPTRACE_TYPE_TIME_EXTEND || type == HYPTRACE_TYPE_TIME_ABSOLUTE)
		return 2 * WORD;
	if (len < WORD || len > room - WORD || len % WORD)
		return 0;
	if (type == HYPTRACE_TYPE_LENGTH_WORD)
		swap_payload(f, at + 2 * WORD, len - WORD);
	return WORD + len;
}

/* A commit word, and the number of lost events after the data */
static uint64_t long_at(const struct hyptrace_file *f, const char *at)
{
	return f->long_size == sizeof(uint32_t) ? hyptrace_file_u32(f, at) :
						  hyptrace_file_u64(f, at);
}

static void convert(const struct hyptrace_file *f, const char *subbuf, char *to)
{
	const uint32_t head = sizeof(uint64_t) + f->long_size;
	const uint32_t room = f->meta.info.subbuf_size - head;
	const uint64_t time = hyptrace_file_u64(f, subbuf);
	const uint64_t commit = long_at(f, subbuf + sizeof(time));
	uint32_t used, at, len;
	uint64_t lost;

	memcpy(to, &time, sizeof(time));
	memcpy(to + sizeof(time), &commit, sizeof(commit));
	to += HYPTRACE_SUBBUF_HEADER;
	memcpy(to, subbuf + head, room);

	used = commit & HYPTRACE_COMMIT_MASK;
	/* the decoder refuses such a sub-buffer */
	if (used > room)
		return;
	for (at = 0; f->swap && used - at >= WORD; at += len) {
		len = swap_record(f, to + at, used - at);
		if (!len)
			break;
	}
	if (!(commit & HYPTRACE_COMMIT_STORED) || room - used < f->long_size)
		return;
	lost = long_at(f, subbuf + head + used);
	memcpy(to + used, &lost, sizeof(lost));
}

/* Are the sub-buffers of another machine? */
bool hyptrace_file_is_converted(const struct hyptrace_file *f)
{
	return f->swap || f->long_size != sizeof(uint64_t);
}

static size_t converted_size(const struct hyptrace_file *f)
{
	return f->meta.info.subbuf_size + sizeof(uint64_t) - f->long_size;
}

/* Return the sub-buffer at @pos as the decoder has it. */
static char *subbuf_at(const struct file_source *src, size_t pos)
{
	const struct hyptrace_file *f = src->file;
	size_t index = pos / f->meta.info.subbuf_size;

	return src->buf->data + (hyptrace_file_is_converted(f) ?
				 src->size + index * converted_size(f) : pos);
}

/* Bytes of a buffer for @room bytes of sub-buffers */
size_t hyptrace_file_buffer_size(const struct hyptrace_file *f, size_t room)
{
	if (hyptrace_file_is_converted(f))
		room += room / f->meta.info.subbuf_size * converted_size(f);
	return room + FILE_SLACK;
}

static struct file_buffer *new_buffer(const struct hyptrace_file *reader)
{
	return malloc(sizeof(struct file_buffer) + reader->buffer_size);
}

/* Prepare to read a CPU. After a failure, too, hyptrace_file_rewind() frees the buffer. */
int hyptrace_file_source_open(struct hyptrace_file *f, struct hyptrace_file *reader,
			      unsigned int index, size_t room, struct hyptrace_error *err)
{
	struct file_source *src = &reader->sources[reader->nr_sources++];

	src->file = f;
	src->reader = reader;
	src->cpu = f->meta.info.cpus[index];
	src->data = &f->data[index];
	src->event.cpu = src->cpu->id;
	src->event.is_host = f->is_host;
	src->size = room;
	src->buf = new_buffer(reader);
	return src->buf ? 0 : hyptrace_error_memory(err);
}

void hyptrace_file_source_seek(struct file_source *src, uint64_t to)
{
	char nothing[HYPTRACE_SUBBUF_HEADER] = {};

	/* a decoder that has finished a sub-buffer, and has no losses to report */
	hyptrace_decoder_load(&src->dec, nothing, sizeof(nothing), NULL);
	hyptrace_decoder_lost(&src->dec);
	src->next = to;
	src->start = to;
	src->counted = 0;
	src->len = 0;
	src->pos = 0;
	src->over = false;
}

/* Say where the reason is: the CPU, and the offset in the file. */
static int blame(const struct file_source *src, uint64_t at, int ret, struct hyptrace_error *err)
{
	struct hyptrace_error why;
	uint64_t where;
	bool own;

	if (!err)
		return ret;
	why = *err;
	where = hyptrace_data_where(src->data, at, &own);
	return hyptrace_error_set(err, -ret, "CPU %u, offset %" PRIu64 "%s: %.250s", src->cpu->id,
				  where, own ? " of its own file" : "", why.text);
}

/* Nobody knows how many events a damaged sub-buffer had. */
static void count_damage(struct file_source *src)
{
	hyptrace_decoder_lose(&src->dec, HYPTRACE_LOST_UNKNOWN);
	src->reader->counts.damaged++;
}

static int fail(struct file_source *src, int ret, struct hyptrace_error *err)
{
	count_damage(src);
	return blame(src, src->next - src->len + src->pos - src->file->meta.info.subbuf_size, ret,
		     err);
}

/* Use buffers again: the batches that have payloads in them are not used any more. */
void hyptrace_file_reuse(struct hyptrace_file *f, struct file_buffer **emptied)
{
	struct file_buffer *buf;

	while ((buf = *emptied)) {
		*emptied = buf->next;
		buf->next = f->spare;
		f->spare = buf;
	}
}

/* A batch has payloads in the buffer: go on with another one. */
static bool replace_buffer(struct file_source *src)
{
	struct hyptrace_file *reader = src->reader;
	struct file_buffer *buf = reader->spare ?: new_buffer(reader);

	if (!buf)
		return false;
	if (buf == reader->spare)
		reader->spare = buf->next;
	src->buf->next = reader->emptied;
	reader->emptied = src->buf;
	reader->emptied_size += reader->buffer_size;
	src->buf = buf;
	src->is_lent = false;
	return true;
}

/* Read the next sub-buffers. Return 1, 0 at the end, or a negative errno. */
static int refill(struct file_source *src, struct hyptrace_error *err)
{
	int64_t n;

	if (src->is_lent && !replace_buffer(src))
		return hyptrace_error_memory(err);
	n = hyptrace_data_read(src->file, src->data, src->next, src->buf->data, src->size, err);
	if (n > 0) {
		src->next += n;
		src->len = n;
		src->pos = 0;
		return 1;
	}
	if (n)
		n = blame(src, src->next, n, err);
	/* after a damaged chunk, the next one can be read */
	src->over = n != -EBADMSG || !src->data->compressed || src->data->at.from <= src->next;
	if (!src->over)
		src->next = src->data->at.from;
	if (n == -EBADMSG)
		count_damage(src);
	return n;
}

/* Get the time at which the sub-buffer after the next one begins; 0 if it is not known. */
static uint64_t time_after(const struct file_source *src)
{
	const struct hyptrace_file *f = src->file;
	const uint64_t at = src->pos + f->meta.info.subbuf_size;
	char time[sizeof(uint64_t)];

	if (at < src->len)
		return hyptrace_file_u64(f, src->buf->data + at);
	if (src->data->compressed ||
	    hyptrace_data_pread(f, src->data, time, sizeof(time), src->next) < 8)
		return 0;
	return hyptrace_file_u64(f, time);
}

/*
 * Find the latest time that the next sub-buffer can have: if it is damaged, it can have one that is
 * hundreds of years later. The sub-buffer after it is not earlier, unless that is damaged.
 */
static uint64_t find_latest(const struct file_source *src)
{
	const struct hyptrace_file_info *info = &src->file->meta.info;
	const uint64_t time = hyptrace_file_u64(src->file, src->buf->data + src->pos);
	uint64_t after = time_after(src), latest = UINT64_MAX;

	if (after)
		latest = after + (after < time ? YEAR : MINUTE);
	else if (info->offset)
		latest = info->begin - info->offset + YEAR;
	return latest > after ? latest : UINT64_MAX;
}

/* Load the next sub-buffer into the decoder, and count the losses that it reports. */
static int load(struct file_source *src, struct hyptrace_error *err)
{
	struct hyptrace_file *f = src->file;
	uint64_t before, lost;
	char *subbuf;
	int ret;

	if (src->over)
		return 0;
	if (src->pos == src->len) {
		ret = refill(src, err);
		if (ret <= 0)
			return ret;
	}
	src->dec.latest = find_latest(src);
	subbuf = subbuf_at(src, src->pos);
	if (hyptrace_file_is_converted(f))
		convert(f, src->buf->data + src->pos, subbuf);
	src->pos += f->meta.info.subbuf_size;
	src->nr_loaded++;
	before = hyptrace_decoder_lost(&src->dec);
	ret = hyptrace_decoder_load(&src->dec, subbuf, converted_size(f), err);
	lost = hyptrace_decoder_lost(&src->dec);
	if (lost != HYPTRACE_LOST_UNKNOWN)
		src->counted += lost;
	hyptrace_decoder_lose(&src->dec, before);
	hyptrace_decoder_lose(&src->dec, lost);
	return ret ? fail(src, ret, err) : 1;
}

/* Return 1; 0 at the end, and again; or -EBADMSG: a damaged sub-buffer's other events are lost. */
int hyptrace_file_source_next(struct file_source *src, struct hyptrace_error *err)
{
	int ret;

	for (;;) {
		ret = hyptrace_decoder_next(&src->dec, &src->event.record, err);
		if (ret)
			return ret < 0 ? fail(src, ret, err) : 1;
		ret = load(src, err);
		if (ret <= 0)
			return ret;
	}
}

/* Losses after the last event, or of what was not written, are only in the description's sum. */
uint64_t hyptrace_file_source_unseen(struct file_source *src)
{
	struct hyptrace_file_counts *counts = &src->reader->counts;
	const uint64_t sum = src->cpu->has_counts ? src->cpu->lost : 0;
	const uint64_t damaged = counts->damaged, start = src->start;
	uint64_t counted = src->before + src->counted;

	if (sum <= counted)
		return 0;
	/* look at the sub-buffers before the first one that was read, too */
	hyptrace_file_source_seek(src, 0);
	while (src->next - src->len + src->pos < start && !src->over)
		load(src, NULL);
	counted += src->counted;
	counts->damaged = damaged;
	/* their events are not delivered again */
	hyptrace_file_source_seek(src, start);
	src->over = true;
	src->before = sum;
	return counted < sum ? sum - counted : 0;
}

static void describe(const struct file_source *src, struct hyptrace_file_subbuf *subbuf)
{
	const uint32_t size = src->file->meta.info.subbuf_size;
	uint64_t at = src->next - src->len + src->pos - size, commit;
	const char *data = subbuf_at(src, src->pos - size);

	subbuf->offset = hyptrace_data_where(src->data, at, &subbuf->own_file);
	memcpy(&subbuf->ts, data, sizeof(subbuf->ts));
	memcpy(&commit, data + sizeof(subbuf->ts), sizeof(commit));
	subbuf->used = commit & HYPTRACE_COMMIT_MASK;
}

int hyptrace_file_source_walk(struct file_source *src, hyptrace_file_subbuf_fn fn, void *arg,
			      struct hyptrace_error *err)
{
	struct hyptrace_file_subbuf subbuf;
	struct hyptrace_record rec;
	uint64_t at, nr;
	int ret;

	do {
		at = src->next - src->len + src->pos;
		nr = src->nr_loaded;
		/* damage before it is not a loss of this sub-buffer */
		hyptrace_decoder_lost(&src->dec);
		ret = load(src, err);
		if (ret <= 0 && ret != -EBADMSG)
			break;
		subbuf = (struct hyptrace_file_subbuf){ .cpu = src->cpu->id };
		/* what is damaged may be no sub-buffer */
		if (src->nr_loaded > nr)
			describe(src, &subbuf);
		else
			subbuf.offset = hyptrace_data_where(src->data, at, &subbuf.own_file);
		if (ret > 0) {
			subbuf.lost = hyptrace_decoder_lost(&src->dec);
			while ((ret = hyptrace_decoder_next(&src->dec, &rec, err)) > 0)
				subbuf.events++;
			if (ret < 0)
				fail(src, ret, err);
		}
		subbuf.damage = ret < 0 ? err->text : NULL;
		fn(&subbuf, arg);
	} while (!src->over);
	return ret == -EBADMSG ? 0 : ret;
}
