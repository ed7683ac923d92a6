/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the export to CTF 1.8: export_ctf.c writes the streams, export_ctf_event.c the
 * events, and export_ctf_meta.c the text that describes both.
 *
 * A stream is a file per CPU, and has packets of about a sub-buffer. All integers are aligned to
 * bytes, and have the byte order of the machine that exports.
 */
#ifndef EXPORT_CTF_H
#define EXPORT_CTF_H

#include "lib/event/place.h"
#include "lib/hyptrace.h"

#define CTF_MAGIC	0xc1fc1fc1U

/* Bytes of a name in an event at most, its NUL included */
#define CTF_NAME_MAX	65

/* What a packet begins with */
struct ctf_packet {
	uint32_t	magic;
	uint32_t	stream_id;
	uint64_t	timestamp_begin;
	uint64_t	timestamp_end;
	uint64_t	content_size;		/* bits */
	uint64_t	packet_size;		/* bits */
	uint64_t	packet_seq_num;
	uint64_t	events_discarded;	/* from the first packet to the end of this one */
	uint32_t	cpu_id;
} __attribute__((packed));

/* What an event begins with */
struct ctf_head {
	uint16_t	id;
	uint32_t	timestamp;		/* the low bits */
} __attribute__((packed));

/* What an event that nobody knows has before its bytes */
struct ctf_unknown {
	uint16_t	id;
	uint32_t	size;
} __attribute__((packed));

/**
 * struct ctf_run - bytes that are copied from the payload
 * @offset:	where they are in the payload
 * @size:	number of bytes
 * @place:	where they are, if there are up to eight
 */
struct ctf_run {
	uint32_t	offset;
	uint32_t	size;
	struct place	place;
};

/**
 * struct ctf_call - a hypercall
 * @id:		its number
 * @name:	its name, which is an identifier, and that of no other one
 * @nr_args:	number of arguments that are written
 * @call:	the hypercall; NULL if only its name is known
 */
struct ctf_call {
	uint32_t				id;
	const char				*name;
	unsigned int				nr_args;
	const struct hyptrace_hypercall		*call;
};

/**
 * struct ctf_event - how to write an event: its fields without gaps; then the arguments of its
 * hypercall; then the names that depend on more than a value, as strings; then the fields of any
 * length
 * @event:	the event
 * @room:	bytes that it takes at most, without struct ctf_head and the fields of any length
 * @nr_runs:	number of @runs
 * @runs:	the fields
 * @id:		the field with the number of the hypercall; NULL if the event has none
 * @calls:	the hypercalls, sorted by number
 * @nr_calls:	number of @calls
 * @nr_args:	number of @args
 * @args:	the fields with their arguments
 * @nr_named:	number of @named
 * @named:	the fields whose names are written
 * @nr_any:	number of @any
 * @any:	the fields of any length, which the kernel's events have: texts as strings, others
 *		as a number of bytes and the bytes
 */
struct ctf_event {
	const struct hyptrace_event	*event;
	size_t				room;
	unsigned int			nr_runs;
	struct ctf_run			*runs;
	const struct hyptrace_field	*id;
	struct ctf_call			*calls;
	unsigned int			nr_calls;
	unsigned int			nr_args;
	const struct hyptrace_field	**args;
	unsigned int			nr_named;
	const struct hyptrace_field	**named;
	unsigned int			nr_any;
	const struct hyptrace_field	**any;
};

struct export;

/* export_ctf_event.c */
struct ctf_event *ctf_event_new(const struct export *x, const struct hyptrace_event *event);
void ctf_event_free(struct ctf_event *ctf);
bool ctf_is_written(const struct hyptrace_event *event, unsigned int index);
bool ctf_is_any(const struct hyptrace_field *field);
bool ctf_is_text(const struct hyptrace_field *field);
size_t ctf_event_room(const struct ctf_event *ctf, const struct hyptrace_record *rec);
char *ctf_event_put(const struct ctf_event *ctf, const struct hyptrace_formats *formats,
		    const struct hyptrace_record *rec, char *to);

/* export_ctf_calls.c: for export_ctf_event.c */
void ctf_find_calls(struct ctf_event *ctf, const struct export *x);

/* export_ctf_meta.c */
char *ctf_meta_text(const struct export *x, struct ctf_event *const *events, uint16_t unknown,
		    size_t *len);

#endif /* EXPORT_CTF_H */
