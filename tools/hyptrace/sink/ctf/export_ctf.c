// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to CTF 1.8, for babeltrace2 and Trace Compass: a folder with a file "metadata" and a
 * stream per CPU. By hand, for speed.
 *
 * Readers take the lost events of a packet as lost between the end of the packet before and its
 * own end. So a loss is a packet without events, which ends when the next event happened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "sink/export.h"
#include "export_ctf.h"

#define NR_IDS		(UINT16_MAX + 1)

/* Bytes of a packet at least, if there are as many events */
#define PACKET_MIN	4096
#define PACKET_MAX	(64 << 10)

#define NAME_SIZE	32

/* The low bits of a time tell it apart from others within this time */
#define TIME_RANGE	(UINT64_C(1) << 32)

/**
 * struct ctf - the state of the export
 * @by_id:	how to write an event, by its id
 * @events:	the same, in the order of the export's events
 * @nr_events:	number of @events
 * @unknown:	id of the events that nobody knows
 * @packet_size: a packet of so many bytes ends
 * @is_open:	a stream is open
 * @cpu:	its CPU
 * @name:	name of its file
 * @out:	the file
 * @packet:	the packet that is being made
 * @size:	bytes of @packet
 * @len:	its bytes so far; 0 if it is not begun
 * @begin:	when the packet begins
 * @last:	time of the last event of the stream
 * @nr_packets:	packets of the stream
 * @discarded:	lost events of the stream
 * @guessed:	losses whose number is not known
 * @code:	exit code: a file could not be created or written
 */
struct ctf {
	struct ctf_event	*by_id[NR_IDS];
	struct ctf_event	**events;
	unsigned int		nr_events;
	uint16_t		unknown;
	size_t			packet_size;
	bool			is_open;
	unsigned int		cpu;
	char			name[NAME_SIZE];
	struct out		out;
	char			*packet;
	size_t			size;
	size_t			len;
	uint64_t		begin;
	uint64_t		last;
	uint64_t		nr_packets;
	uint64_t		discarded;
	uint64_t		guessed;
	int			code;
};

/* Make room for @size bytes after the packet's events. */
static inline void make_room(struct ctf *ctf, size_t size)
{
	if (__builtin_expect(ctf->size - ctf->len >= size, 1))
		return;
	ctf->size = ctf->len + size + PACKET_MAX;
	ctf->packet = realloc(ctf->packet, ctf->size);
	if (!ctf->packet)
		die_no_memory();
}

static void begin_packet(struct ctf *ctf, uint64_t ts)
{
	make_room(ctf, sizeof(struct ctf_packet));
	ctf->begin = ts;
	ctf->len = sizeof(struct ctf_packet);
}

static void end_packet(struct ctf *ctf, uint64_t ts)
{
	const struct ctf_packet head = {
		.magic = CTF_MAGIC,
		.timestamp_begin = ctf->begin,
		.timestamp_end = ts,
		.content_size = ctf->len * 8,
		.packet_size = ctf->len * 8,
		.packet_seq_num = ctf->nr_packets++,
		.events_discarded = ctf->discarded,
		.cpu_id = ctf->cpu,
	};

	memcpy(ctf->packet, &head, sizeof(head));
	out_write(&ctf->out, ctf->packet, ctf->len);
	ctf->len = 0;
}

/* End the packet, if one is begun. */
static void end_events(struct ctf *ctf)
{
	if (ctf->len)
		end_packet(ctf, ctf->last);
}

static void close_stream(struct export *x)
{
	struct ctf *ctf = x->state;
	int code;

	if (!ctf->is_open)
		return;
	ctf->is_open = false;
	end_events(ctf);
	code = export_close(x, ctf->name, &ctf->out);
	if (!ctf->code)
		ctf->code = code;
}

/* Open the stream of a CPU if it is not open; return false if it cannot be created. */
static bool open_stream(struct export *x, unsigned int cpu)
{
	struct ctf *ctf = x->state;

	if (ctf->is_open && ctf->cpu == cpu)
		return true;
	close_stream(x);
	if (ctf->code)
		return false;
	ctf->cpu = cpu;
	ctf->last = 0;
	ctf->nr_packets = 0;
	ctf->discarded = 0;
	snprintf(ctf->name, sizeof(ctf->name), "cpu%u", cpu);
	ctf->code = export_open(x, ctf->name, &ctf->out);
	ctf->is_open = !ctf->code;
	return ctf->is_open;
}

/* Find an id that no event has. */
static uint16_t find_id(const struct export *x)
{
	uint16_t id = UINT16_MAX;
	unsigned int i = 0;

	while (id && i < x->nr_events) {
		if (x->events[i++]->id != id)
			continue;
		id--;
		i = 0;
	}
	return id;
}

static int write_meta(struct export *x)
{
	static const char name[] = "metadata";
	struct ctf *ctf = x->state;
	size_t len;
	char *text;
	int code;

	code = export_open(x, name, &ctf->out);
	if (code)
		return code;
	text = ctf_meta_text(x, ctf->events, ctf->unknown, &len);
	out_write(&ctf->out, text, len);
	free(text);
	return export_close(x, name, &ctf->out);
}

static int begin(struct export *x)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	unsigned int i;

	if (!ctf)
		die_no_memory();
	x->state = ctf;
	ctf->unknown = find_id(x);
	ctf->packet_size = x->info->subbuf_size;
	if (ctf->packet_size < PACKET_MIN)
		ctf->packet_size = PACKET_MIN;
	if (ctf->packet_size > PACKET_MAX)
		ctf->packet_size = PACKET_MAX;
	ctf->events = calloc(x->nr_events + 1, sizeof(struct ctf_event *));
	if (!ctf->events)
		die_no_memory();
	for (i = 0; i < x->nr_events; i++) {
		ctf->events[i] = ctf_event_new(x, x->events[i]);
		ctf->nr_events++;
		if (x->events[i]->id < NR_IDS)
			ctf->by_id[x->events[i]->id] = ctf->events[i];
	}
	return write_meta(x);
}

/* Begin an event that takes up to @room bytes after its head; return where these go. */
static inline char *put_head(struct ctf *ctf, uint16_t id, uint64_t ts, size_t room)
{
	struct ctf_head head = { .id = id };
	char *to;

	/* a damaged file may go back in time, but a stream must not */
	if (ts < ctf->last)
		ts = ctf->last;
	head.timestamp = ts;
	room += sizeof(head);
	if (ctf->len + room > ctf->packet_size || ts - ctf->last >= TIME_RANGE)
		end_events(ctf);
	if (!ctf->len)
		begin_packet(ctf, ts);
	make_room(ctf, room);
	ctf->last = ts;
	to = ctf->packet + ctf->len;
	memcpy(to, &head, sizeof(head));
	return to + sizeof(head);
}

static void put_unknown(struct ctf *ctf, const struct hyptrace_record *rec)
{
	struct ctf_unknown unknown = { .size = rec->size };
	char *to = put_head(ctf, ctf->unknown, rec->ts, sizeof(unknown) + rec->size);

	if (rec->size >= sizeof(unknown.id))
		memcpy(&unknown.id, rec->data, sizeof(unknown.id));
	memcpy(to, &unknown, sizeof(unknown));
	memcpy(to + sizeof(unknown), rec->data, rec->size);
	ctf->len = to + sizeof(unknown) + rec->size - ctf->packet;
}

static void put_event(struct export *x, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct ctf *ctf = x->state;
	const struct hyptrace_event *event = hyptrace_formats_event(x->formats, rec);
	const struct ctf_event *how;
	char *to;

	if (!open_stream(x, cpu))
		return;
	how = event ? ctf->by_id[event->id] : NULL;
	if (!how) {
		put_unknown(ctf, rec);
		return;
	}
	to = put_head(ctf, event->id, rec->ts, ctf_event_room(how, rec));
	ctf->len = ctf_event_put(how, x->formats, rec, to) - ctf->packet;
}

static void put_loss(struct export *x, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct ctf *ctf = x->state;

	if (!open_stream(x, cpu))
		return;
	/* readers cannot know how many events were lost before the first packet */
	if (!ctf->nr_packets && !ctf->len) {
		begin_packet(ctf, ts);
		end_packet(ctf, ts);
		ctf->last = ts;
	}
	if (ts < ctf->last)
		ts = ctf->last;
	if (lost == HYPTRACE_LOST_UNKNOWN) {
		ctf->guessed++;
		lost = 1;
	}
	end_events(ctf);
	ctf->discarded += lost;
	begin_packet(ctf, ctf->last);
	end_packet(ctf, ts);
	ctf->last = ts;
}

static int end(struct export *x)
{
	struct ctf *ctf = x->state;
	unsigned int i;
	int code;

	if (!ctf)
		return EXIT_DONE;
	close_stream(x);
	if (!ctf->code && ctf->guessed)
		cmd_note("the number of lost events is not known in %" PRIu64 " place%s: each counts as 1 event",
			 ctf->guessed, ctf->guessed == 1 ? "" : "s");
	for (i = 0; i < ctf->nr_events; i++)
		ctf_event_free(ctf->events[i]);
	code = ctf->code;
	free(ctf->events);
	free(ctf->packet);
	free(ctf);
	return code;
}

static const char *const endings[] = { ".ctf", NULL };

const struct export_format export_ctf = {
	.name = "ctf",
	.endings = endings,
	.help = "CTF 1.8 for babeltrace2 and Trace Compass: a folder",
	.targets = EXPORT_TO_FOLDER,
	.is_binary = true,
	.by_cpu = true,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
