// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deliver the events of a trace file in the order of time. In a binary tree over the sources, two
 * of them play at each node, and the earlier one goes up; of equal times, that of the lower CPU. A
 * node keeps the loser, and players[0] the winner of all. After an event, its source plays again on
 * its way up, without a branch that depends on the times, which the processor could not predict.
 */
#include "file.h"

static inline bool is_earlier(struct file_player a, struct file_player b)
{
	return a.key < b.key + (a.source < b.source);
}

/* Let the winner, whose time is @key now, play again. */
static inline void play(struct hyptrace_file *f, uint64_t key)
{
	struct file_player *players = f->players;
	struct file_player up = { key, players[0].source };
	unsigned int node;

	for (node = (f->nr_leaves + up.source) / 2; node; node /= 2) {
		struct file_player other = players[node];
		/* all bits set if @up loses: the two are then swapped, without a branch */
		uint64_t loses = -(uint64_t)is_earlier(other, up);
		uint64_t keys = (up.key ^ other.key) & loses;
		uint32_t sources = (up.source ^ other.source) & loses;

		players[node].key = other.key ^ keys;
		players[node].source = other.source ^ sources;
		up.key ^= keys;
		up.source ^= sources;
	}
	players[0] = up;
}

/* Play all games. The leaves have the sources; return the winner of a node. */
static struct file_player play_all(struct hyptrace_file *f, unsigned int node)
{
	struct file_player left, right;
	bool is_right;

	if (node >= f->nr_leaves)
		return f->players[node];
	left = play_all(f, 2 * node);
	right = play_all(f, 2 * node + 1);
	is_right = is_earlier(right, left);
	f->players[node] = is_right ? left : right;
	return is_right ? right : left;
}

/* At its end, a source may have to report losses: deliver them like an event. */
static bool has_loss(struct hyptrace_file *f, struct file_source *src)
{
	const struct hyptrace_file_info *info = &src->file->meta.info;
	struct hyptrace_record *rec = &src->event.record;
	uint64_t ts = src->dec.ts, unseen;

	rec->lost = hyptrace_decoder_lost(&src->dec);
	rec->data = NULL;
	rec->size = 0;
	/* the time of the last sub-buffer, which has no events */
	if (ts > rec->ts && ts <= f->options.to)
		rec->ts = ts;
	/* of a CPU without any sub-buffer, only the begin of the recording is known */
	if (!rec->ts && info->offset)
		rec->ts = info->begin - info->offset;
	if (rec->ts < f->floor)
		rec->lost = 0;
	/* those at the end of the recording may have happened at any time after the last event */
	if (rec->lost != HYPTRACE_LOST_UNKNOWN && f->options.to == UINT64_MAX) {
		unseen = hyptrace_file_source_unseen(src);
		if (unseen && rec->ts < f->options.from && !f->options.last)
			rec->ts = f->options.from;
		rec->lost += unseen;
	}
	return rec->lost && rec->ts >= f->floor;
}

static int advance(struct hyptrace_file *f, struct file_source *src, uint64_t *key,
		   struct hyptrace_error *err)
{
	struct hyptrace_record *rec = &src->event.record;
	int ret;

	do {
		ret = hyptrace_file_source_next(src, err);
	} while (ret > 0 && rec->ts < f->floor);
	if (ret < 0)
		return ret;
	*key = FILE_KEY_NONE;
	if (ret ? rec->ts <= f->options.to : has_loss(f, src))
		*key = MIN(rec->ts, FILE_KEY_NONE - 1);
	else
		src->over = true;
	return 0;
}

/* Get the first events of all sources. Return 0 or a negative errno; call it again after that. */
static int prime(struct hyptrace_file *f, struct hyptrace_error *err)
{
	int ret;

	for (; f->nr_primed < f->nr_sources; f->nr_primed++) {
		ret = advance(f, &f->sources[f->nr_primed],
			      &f->players[f->nr_leaves + f->nr_primed].key, err);
		if (ret)
			return ret;
	}
	f->players[0] = play_all(f, 1);
	return 0;
}

/* Is the event delivered? One that is refused becomes a loss, if events were lost before it. */
static bool is_delivered(struct hyptrace_file *f, struct hyptrace_stream_event *event)
{
	struct hyptrace_record *rec = &event->record;

	/* what is refused between the events that are skipped does not count either */
	if (f->skip && (!rec->data || !hyptrace_file_accepts(f, event) || --f->skip))
		return false;
	if (rec->lost == HYPTRACE_LOST_UNKNOWN)
		f->counts.lost_more = 1;
	else
		f->counts.lost += rec->lost;
	if (rec->data && hyptrace_file_accepts(f, event)) {
		f->counts.delivered++;
		return true;
	}
	f->counts.filtered += !!rec->data;
	rec->data = NULL;
	rec->size = 0;
	return rec->lost;
}

/* Deliver the earliest event. Return 1, 0 if it is not delivered, or a negative errno. */
static int deliver(struct hyptrace_file *f, const struct hyptrace_stream_event **event)
{
	struct file_source *src = &f->sources[f->players[0].source];

	if (f->players[0].key == FILE_KEY_NONE) {
		f->last_source = NULL;
		f->ended = true;
		return -ENODATA;
	}
	f->last_source = src;
	*event = &src->event;
	return is_delivered(f, &src->event);
}

/**
 * hyptrace_file_next - get the next event
 * @f:		the file
 * @event:	out: the event, or a loss; valid until the next call
 * @err:	the reason if it fails; may be NULL
 * Return: 1; -ENODATA at the end; -EBADMSG if something is damaged, after which the caller may
 * continue; another negative errno if the file cannot be read.
 */
int hyptrace_file_next(struct hyptrace_file *f, const struct hyptrace_stream_event **event,
		       struct hyptrace_error *err)
{
	uint64_t key;
	int ret = 0;

	if (!f->begun)
		ret = hyptrace_file_begin(f, err);
	if (f->ended)
		return -ENODATA;
	while (!ret) {
		/* events that are refused empty buffers, too */
		if (f->can_end && f->emptied_size >= FILE_BATCH_BUFFERS)
			return -EAGAIN;
		if (!f->last_source) {
			ret = prime(f, err);
		} else {
			ret = advance(f, f->last_source, &key, err);
			if (!ret)
				play(f, key);
		}
		if (!ret)
			ret = deliver(f, event);
	}
	return ret;
}

/* Find the time before which all events are those of the source that has delivered the last one. */
static uint64_t limit_of_run(const struct hyptrace_file *f)
{
	uint64_t limit = f->options.to < UINT64_MAX ? f->options.to + 1 : UINT64_MAX;
	unsigned int node;

	for (node = (f->nr_leaves + f->players[0].source) / 2; node; node /= 2)
		limit = MIN(limit, f->players[node].key);
	return limit;
}

/* Get the next events of one CPU, as long as its sub-buffer has them and nothing is special. */
static unsigned int fill_run(struct hyptrace_file *f, struct hyptrace_stream_event *events,
			     unsigned int max)
{
	struct file_source *src = f->last_source;
	unsigned int nr;

	if (!src || f->options.filter || f->skip)
		return 0;
	nr = hyptrace_decoder_run(&src->dec, &src->event, limit_of_run(f), events, max);
	if (nr) {
		src->event.record = events[nr - 1].record;
		src->is_lent = true;
	}
	f->counts.delivered += nr;
	return nr;
}

/* As hyptrace_file_batch(), but with memory of the caller */
int hyptrace_file_fill(struct hyptrace_file *f, struct hyptrace_stream_event *events,
		       unsigned int max, struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error *late = &f->late_err;
	unsigned int nr = 0;
	int ret = f->late;

	hyptrace_file_reuse(f, &f->emptied);
	f->emptied_size = 0;
	while (ret >= 0 && nr < max) {
		nr += fill_run(f, events + nr, max - nr);
		if (nr == max)
			break;
		f->can_end = nr;
		ret = hyptrace_file_next(f, &event, late);
		if (ret > 0) {
			events[nr++] = *event;
			f->last_source->is_lent = true;
		}
	}
	f->can_end = false;
	f->late = nr && ret != -EAGAIN ? ret : 0;
	if (nr)
		return nr;
	if (err)
		*err = *late;
	return ret;
}

/**
 * hyptrace_file_batch - get the next events
 * @f:		the file
 * @events:	out: the events and losses, in order; valid until the next call, also one that fails
 * @err:	the reason if it fails; may be NULL
 *
 * A caller that has begun with this function uses hyptrace_file_next() only after
 * hyptrace_file_options().
 *
 * Return: the number of events; else as hyptrace_file_next().
 */
int hyptrace_file_batch(struct hyptrace_file *f, const struct hyptrace_stream_event **events,
			struct hyptrace_error *err)
{
	if (!f->events)
		f->events = calloc(FILE_BATCH_EVENTS, sizeof(*f->events));
	*events = f->events;
	if (!f->events)
		return hyptrace_error_memory(err);
	return hyptrace_file_fill(f, f->events, FILE_BATCH_EVENTS, err);
}
