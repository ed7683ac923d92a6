// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to CTF 1.8, for babeltrace2 and Trace Compass: a folder with a file "metadata" and a
 * stream per CPU. By hand, for speed.
 *
 * Readers take the lost events of a packet as lost between the end of the packet before and its
 * own end. So a loss is a packet without events, which ends when the next event happened.
 */
#include <sys/param.h>

#include "output/die.h"
#include "sink/export.h"
#include "sink/row.h"
#include "export_ctf.h"

/* Bytes of a packet at least, if there are as many events */
#define PACKET_MIN	4096
#define PACKET_MAX	(64 << 10)

#define NAME_SIZE	32

/* The low bits of a time tell it apart from others within this time */
#define TIME_RANGE	(UINT64_C(1) << 32)

/* How all events are written */
struct ctf {
	struct ctf_event	*by_id[CHOICE_IDS];
	struct ctf_event	**events;	/* the same, in the order of the export's events */
	unsigned int		nr_events;
	uint16_t		unknown;	/* id of the events that nobody knows */
	size_t			packet_size;	/* a packet of so many bytes ends */
	uint64_t		guessed;	/* losses whose number is not known */
	int			code;		/* a file could not be created or written */
};

/* The stream of a CPU */
struct ctf_stream {
	const struct ctf	*ctf;
	const struct hyptrace_model	*model;
	struct hyptrace_formats	*formats;
	unsigned int		cpu;
	char			name[NAME_SIZE];
	int			code;		/* its file could not be created or written */
	struct out		out;
	char			*packet;	/* that is being made, in memory of @size bytes */
	size_t			size;
	size_t			len;		/* its bytes so far; 0 if it is not begun */
	uint64_t		begin;		/* when it begins */
	uint64_t		last;		/* time of the last event */
	uint64_t		nr_packets;
	uint64_t		discarded;	/* lost events */
	uint64_t		guessed;
};

/* Make room for @size bytes after the packet's events. */
static inline void make_room(struct ctf_stream *stream, size_t size)
{
	if (__builtin_expect(stream->size - stream->len >= size, 1))
		return;
	stream->size = 2 * (stream->len + size);
	stream->packet = xreallocarray(stream->packet, stream->size, 1);
}

static void begin_packet(struct ctf_stream *stream, uint64_t ts)
{
	make_room(stream, sizeof(struct ctf_packet));
	stream->begin = ts;
	stream->len = sizeof(struct ctf_packet);
}

static void end_packet(struct ctf_stream *stream, uint64_t ts)
{
	const struct ctf_packet head = {
		.magic = CTF_MAGIC,
		.timestamp_begin = stream->begin,
		.timestamp_end = ts,
		.content_size = stream->len * 8,
		.packet_size = stream->len * 8,
		.packet_seq_num = stream->nr_packets++,
		.events_discarded = stream->discarded,
		.cpu_id = stream->cpu,
	};

	memcpy(stream->packet, &head, sizeof(head));
	out_write(&stream->out, stream->packet, stream->len);
	stream->len = 0;
}

/* End the packet, if one is begun. */
static void end_events(struct ctf_stream *stream)
{
	if (stream->len)
		end_packet(stream, stream->last);
}

static int begin(struct export *x)
{
	auto_free char *text = NULL;
	static const char name[] = "metadata";
	struct ctf *ctf = xcalloc(1, sizeof(*ctf));
	struct out out;
	unsigned int i;
	int code;

	x->state = ctf;
	ctf->packet_size = MIN(MAX(x->info->subbuf_size, PACKET_MIN), PACKET_MAX);
	ctf->events = xcalloc(x->nr_events + 1, sizeof(struct ctf_event *));
	for (i = 0; i < x->nr_events; i++) {
		/* no record has a larger id */
		if (x->events[i]->id >= CHOICE_IDS)
			continue;
		ctf->events[ctf->nr_events] = ctf_event_new(x, x->events[i]);
		ctf->by_id[x->events[i]->id] = ctf->events[ctf->nr_events++];
	}
	/* an id that no event has */
	for (ctf->unknown = UINT16_MAX; ctf->unknown && ctf->by_id[ctf->unknown]; ctf->unknown--)
		;
	code = export_open(x, name, &out);
	if (code)
		return code;
	text = ctf_meta_text(x, ctf->events, ctf->nr_events, ctf->unknown);
	out_puts(&out, text);
	return export_close(x, name, &out);
}

/* Begin an event that takes up to @room bytes after its head; return where these go. */
static inline char *put_head(struct ctf_stream *stream, uint16_t id, uint64_t ts, size_t room)
{
	struct ctf_head head = { .id = id };

	/* a damaged file may go back in time, but a stream must not */
	ts = MAX(ts, stream->last);
	head.timestamp = ts;
	room += sizeof(head);
	if (stream->len + room > stream->ctf->packet_size || ts - stream->last >= TIME_RANGE)
		end_events(stream);
	if (!stream->len)
		begin_packet(stream, ts);
	make_room(stream, room);
	stream->last = ts;
	return mempcpy(stream->packet + stream->len, &head, sizeof(head));
}

static void put_unknown(struct ctf_stream *stream, const struct hyptrace_record *rec)
{
	const struct ctf_unknown unknown = { .id = row_record_id(rec), .size = rec->size };
	char *to = put_head(stream, stream->ctf->unknown, rec->ts, sizeof(unknown) + rec->size);

	to = mempcpy(to, &unknown, sizeof(unknown));
	stream->len = (char *)mempcpy(to, rec->data, rec->size) - stream->packet;
}

static inline void put_event(struct ctf_stream *stream, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_model_meaning(stream->model, rec)->event;
	const struct ctf_event *how = event ? stream->ctf->by_id[event->id] : NULL;
	char *to;

	if (!how) {
		put_unknown(stream, rec);
		return;
	}
	to = put_head(stream, event->id, rec->ts, how->room + (how->nr_any ?
		      how->nr_any * sizeof(uint32_t) + rec->size : 0));
	stream->len = ctf_event_put(how, stream->formats, rec, to) - stream->packet;
}

static void put_loss(struct ctf_stream *stream, uint64_t ts, uint64_t lost)
{
	/* readers cannot know how many events were lost before the first packet */
	if (!stream->nr_packets && !stream->len) {
		begin_packet(stream, ts);
		end_packet(stream, ts);
		stream->last = ts;
	}
	ts = MAX(ts, stream->last);
	if (lost == HYPTRACE_LOST_UNKNOWN) {
		stream->guessed++;
		lost = 1;
	}
	end_events(stream);
	stream->discarded += lost;
	begin_packet(stream, stream->last);
	end_packet(stream, ts);
	stream->last = ts;
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct ctf_stream *stream = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr && !stream->code; event++) {
		if (event->record.lost)
			put_loss(stream, event->record.ts, event->record.lost);
		if (event->record.data)
			put_event(stream, &event->record);
	}
}

static void begin_part(struct export_part *part)
{
	struct ctf_stream *stream = xcalloc(1, sizeof(*stream));

	part->state = stream;
	stream->ctf = part->x->state;
	stream->model = part->x->model;
	stream->formats = part->formats;
	stream->cpu = part->cpu;
	snprintf(stream->name, sizeof(stream->name), "cpu%u", stream->cpu);
	stream->code = export_open(part->x, stream->name, &stream->out);
}

static int flush(struct export_part *part)
{
	struct ctf_stream *stream = part->state;

	if (!stream->code && !part->batch)
		out_flush(&stream->out);
	return stream->code ? EBADF : stream->out.error;
}

static void end_part(struct export_part *part)
{
	struct ctf_stream *stream = part->state;
	struct ctf *ctf = part->x->state;

	if (!stream->code) {
		end_events(stream);
		stream->code = export_close(part->x, stream->name, &stream->out);
	}
	if (!ctf->code)
		ctf->code = stream->code;
	ctf->guessed += stream->guessed;
	free(stream->packet);
	free(stream);
}

static int end(struct export *x)
{
	struct ctf *ctf = x->state;
	unsigned int i;
	int code = ctf->code;

	if (!code && ctf->guessed)
		cmd_note("the number of lost events is not known in %" PRIu64 " place%s: each counts as 1 event",
			 ctf->guessed, ctf->guessed == 1 ? "" : "s");
	for (i = 0; i < ctf->nr_events; i++)
		ctf_event_free(ctf->events[i]);
	free(ctf->events);
	free(ctf);
	return code;
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "ctf",
	.place = 2,
	.endings = (const char *const[]){ ".ctf", NULL },
	.help = "CTF 1.8 for babeltrace2 and Trace Compass: a folder",
	.targets = EXPORT_TO_FOLDER,
	.is_binary = true,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.flush = flush,
	.end_part = end_part,
	.end = end,
};
