// SPDX-License-Identifier: GPL-2.0-only
/* Open the chosen CPUs of a trace file, and find where to begin: by a binary search for a time. */
#include "file.h"

/* A sub-buffer of usual size has about so many events. */
#define EVENTS_PER_SUBBUF	256

static int time_of(struct file_source *src, uint64_t subbuf, uint64_t *ts,
		   struct hyptrace_error *err)
{
	const uint32_t size = src->file->meta.info.subbuf_size;
	int64_t n = hyptrace_data_read(src->file, src->data, subbuf * size, src->buf->data,
				       src->data->compressed ? src->size : size, err);

	if (n < size)
		return n < 0 ? n : hyptrace_error_set(err, EBADMSG, "the file has become shorter");
	*ts = hyptrace_file_u64(src->file, src->buf->data);
	return 0;
}

/*
 * Find the first of @nr sub-buffers that begins at @ts or later; @nr if there is none. It is from
 * @low to @high: these differ only if a sub-buffer on the way there is damaged.
 */
static int find_time(struct file_source *src, uint64_t ts, uint64_t nr, uint64_t *low,
		     uint64_t *high, struct hyptrace_error *err)
{
	uint64_t begin = 0, middle;
	int ret = 0;

	*low = 0;
	*high = nr;
	while (*low < *high && !ret) {
		middle = *low + (*high - *low) / 2;
		ret = time_of(src, middle, &begin, err);
		if (!ret && begin < ts)
			*low = middle + 1;
		else if (!ret)
			*high = middle;
	}
	return ret == -EBADMSG ? 0 : ret;
}

/* Find the sub-buffers of a CPU that can have events of the chosen times: [@first, @end). */
static int find_range(struct hyptrace_file *f, struct file_source *src, uint64_t *end,
		      struct hyptrace_error *err)
{
	uint64_t nr = 0, low, high;
	int ret;

	src->first = 0;
	/* the whole file needs no number of sub-buffers */
	if (!f->options.from && !f->options.last)
		return 0;
	ret = hyptrace_data_count(src->file, src->data, &nr, err);
	*end = nr;
	if (!ret && f->options.last && f->options.to < UINT64_MAX)
		ret = find_time(src, f->options.to + 1, nr, &low, end, err);
	if (ret || !f->options.from)
		return ret;
	ret = find_time(src, f->options.from, *end, &low, &high, err);
	/* the one before it has events of that time, too */
	if (!ret && low)
		src->first = low - 1;
	return ret;
}

static void start_at(struct file_source *src)
{
	hyptrace_file_source_seek(src, src->first * src->file->meta.info.subbuf_size);
}

/* Add the events of a source. What is damaged is named when it is read. */
static int count_events(struct hyptrace_file *f, struct file_source *src, uint64_t *nr,
			struct hyptrace_error *err)
{
	const struct hyptrace_record *rec = &src->event.record;
	int ret;

	do {
		ret = hyptrace_file_source_next(src, err);
		if (ret > 0 && rec->ts > f->options.to)
			break;
		*nr += ret > 0 && rec->ts >= f->floor && hyptrace_file_accepts(f, &src->event);
	} while (ret && !(ret < 0 && src->over));
	return ret < 0 && ret != -EBADMSG ? ret : 0;
}

/* Go back, in growing steps, to a sub-buffer whose time can be read. Return 1, 0 if none can. */
static int find_whole(struct file_source *src, uint64_t begin, uint64_t *ts,
		      struct hyptrace_error *err)
{
	uint64_t step;
	int ret;

	for (step = 1;; step *= 2) {
		ret = time_of(src, src->first, ts, err);
		if (ret != -EBADMSG)
			return ret ? ret : 1;
		if (src->first == begin)
			return 0;
		src->first = src->first - begin > step ? src->first - step : begin;
	}
}

/*
 * Place each source about @back sub-buffers before its end. Set @back to how far that is, @floor to
 * the time from which on they have all events. Return 1 if that is the beginning, or 0.
 */
static int place(struct hyptrace_file *f, uint64_t *back, struct hyptrace_error *err)
{
	uint64_t begin, end, ts = 0, most = *back;
	unsigned int i;
	int whole = 1, ret;

	f->floor = f->options.from;
	for (i = 0; i < f->nr_sources; i++) {
		struct file_source *src = &f->sources[i];

		ret = find_range(f, src, &end, err);
		if (ret)
			return ret;
		if (end - src->first <= *back)
			continue;
		begin = src->first;
		src->first = end - *back;
		ret = find_whole(src, begin, &ts, err);
		if (ret < 0)
			return ret;
		most = MAX(most, end - src->first);
		if (!ret)
			continue;
		f->floor = MAX(f->floor, ts);
		whole = 0;
	}
	*back = most;
	return whole;
}

/* Find the last events: look at twice as many sub-buffers until they have enough of them. */
static int seek_last(struct hyptrace_file *f, struct hyptrace_error *err)
{
	const uint64_t last = f->options.last;
	uint64_t back = last / EVENTS_PER_SUBBUF / (f->nr_sources ? f->nr_sources : 1) + 1, nr;
	unsigned int i;
	int whole, ret;

	do {
		whole = place(f, &back, err);
		ret = whole;
		for (i = 0, nr = 0; i < f->nr_sources && ret >= 0; i++) {
			start_at(&f->sources[i]);
			ret = count_events(f, &f->sources[i], &nr, err);
		}
		if (ret < 0)
			return ret;
		back = back < UINT64_MAX / 2 ? 2 * back : back;
	} while (nr < last && !whole);
	f->skip = nr >= last ? nr - last + 1 : 0;
	return 0;
}

static int seek(struct hyptrace_file *f, struct hyptrace_error *err)
{
	unsigned int i;
	uint64_t end;
	int ret = 0;

	f->floor = f->options.from;
	if (f->options.last)
		ret = seek_last(f, err);
	for (i = 0; i < f->nr_sources && !f->options.last && !ret; i++)
		ret = find_range(f, &f->sources[i], &end, err);
	for (i = 0; i < f->nr_sources && !ret; i++)
		start_at(&f->sources[i]);
	return ret;
}

bool hyptrace_file_is_chosen(const struct hyptrace_file *f, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < f->nr_chosen; i++)
		if (f->chosen[i] == cpu)
			return true;
	return !f->chosen;
}

/* Read the chosen events from the beginning again. */
void hyptrace_file_rewind(struct hyptrace_file *f)
{
	struct file_buffer *next;
	unsigned int i;

	for (i = 0; i < f->nr_sources; i++)
		free(f->sources[i].buf);
	hyptrace_file_reuse(f, &f->emptied);
	for (; f->spare; f->spare = next) {
		next = f->spare->next;
		free(f->spare);
	}
	free(f->sources);
	free(f->players);
	memset(f, 0, offsetof(struct hyptrace_file, events));
}

/* Is there something to read of a CPU of one side, or to say that it is missing or was lost? */
static bool is_read(const struct hyptrace_file *f, const struct hyptrace_file *side,
		    unsigned int index)
{
	const struct hyptrace_file_cpu *cpu = side->meta.info.cpus[index];
	const struct file_data *data = &side->data[index];

	/* other threads read the CPUs that are not chosen */
	if (!hyptrace_file_is_chosen(f, cpu->id))
		return false;
	return data->size || cpu->missing || (cpu->has_counts && cpu->lost);
}

/* Return how many bytes a source can have in memory, 0 if that is too little. */
static size_t room_of(const struct hyptrace_file *f, unsigned int nr)
{
	const uint32_t subbuf = f->meta.info.subbuf_size;
	const unsigned int parts = (nr ? nr : 1) * (hyptrace_file_is_converted(f) ? 2 : 1);
	/* memory that is not used is not allocated */
	const size_t most = f->compressed ? hyptrace_data_chunk_max(f) : FILE_READ_SIZE;
	size_t room = MIN(FILE_BUFFERS_USUAL / parts, most);

	if (room < subbuf && FILE_BUFFERS / parts >= subbuf)
		room = subbuf;
	return room - room % subbuf;
}

/* The host's sources come second, also of equal times: what they cause comes first. */
static int open_sources(struct hyptrace_file *f, struct hyptrace_error *err)
{
	struct hyptrace_file *const sides[] = {
		f->options.sides & HYPTRACE_SIDE_REMOTE ? f : NULL,
		f->options.sides & HYPTRACE_SIDE_HOST ? f->host : NULL,
	};
	unsigned int nr = 0, side, i;
	size_t room[2] = {}, size;
	int ret = 0;

	for (side = 0; side < 2; side++)
		for (i = 0; sides[side] && i < sides[side]->meta.info.nr_cpus; i++)
			nr += is_read(f, sides[side], i);
	for (side = 0; side < 2; side++) {
		if (!sides[side])
			continue;
		room[side] = room_of(sides[side], nr);
		if (!room[side])
			return hyptrace_error_set(err, E2BIG, "the sub-buffers of %u CPUs do not fit into memory: choose some of the CPUs",
						  nr);
		size = hyptrace_file_buffer_size(sides[side], room[side]);
		f->buffer_size = MAX(f->buffer_size, size);
	}
	f->sources = calloc(nr ? nr : 1, sizeof(*f->sources));
	if (!f->sources)
		return hyptrace_error_memory(err);
	for (side = 0; side < 2; side++)
		for (i = 0; sides[side] && i < sides[side]->meta.info.nr_cpus && !ret; i++)
			if (is_read(f, sides[side], i))
				ret = hyptrace_file_source_open(sides[side], f, i, room[side], err);
	return ret;
}

int hyptrace_file_begin(struct hyptrace_file *f, struct hyptrace_error *err)
{
	unsigned int i;
	int ret;

	hyptrace_file_rewind(f);
	ret = open_sources(f, err);
	if (ret)
		return ret;
	for (f->nr_leaves = 1; f->nr_leaves < f->nr_sources; f->nr_leaves *= 2)
		;
	f->players = calloc(2 * f->nr_leaves, sizeof(*f->players));
	if (!f->players)
		return hyptrace_error_memory(err);
	for (i = 0; i < f->nr_leaves; i++)
		f->players[f->nr_leaves + i] = (struct file_player){ FILE_KEY_NONE, i };
	ret = seek(f, err);
	/* the search for the beginning does not count */
	memset(&f->counts, 0, sizeof(f->counts));
	f->begun = !ret;
	return ret;
}

/* Free a reader of a thread, or of a file whose structure is freed already. */
void hyptrace_file_part_free(struct hyptrace_file *part)
{
	if (!part)
		return;
	hyptrace_file_rewind(part);
	free(part->events);
	free(part->packed);
	free(part->chunk);
	free(part);
}
