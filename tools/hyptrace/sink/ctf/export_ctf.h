/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The export to CTF 1.8: a stream is a file per CPU, and has packets of about a sub-buffer. All
 * integers are aligned to bytes, and have the byte order of the machine that exports.
 */
#ifndef EXPORT_CTF_H
#define EXPORT_CTF_H

#include "common/place.h"
#include "lib/hyptrace_model.h"

#define CTF_MAGIC	0xc1fc1fc1U

/* Bytes of a name in an event at most, its NUL included */
#define CTF_NAME_MAX	65

#define CTF_ARGS_MAX	(HYPTRACE_ROLE_ARG4 - HYPTRACE_ROLE_ARG1 + 1)

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

/* Bytes that are copied from the payload */
struct ctf_run {
	uint32_t	offset;	/* where they are in the payload */
	uint32_t	size;
	struct place	place;	/* where they are, if there are up to eight */
};

struct ctf_call {
	uint32_t				id;
	const char				*name;	/* an identifier, and of no other one */
	unsigned int				nr_args;	/* that are written */
	const struct hyptrace_hypercall		*call;	/* NULL if only its name is known */
};

/*
 * How to write an event: its fields without gaps; then the arguments of its hypercall; then the
 * names that depend on more than a value, as strings; then the fields of any length
 */
struct ctf_event {
	const struct hyptrace_event	*event;
	/* bytes that it takes at most, without struct ctf_head and the fields of any length */
	size_t				room;
	unsigned int			nr_runs;
	struct ctf_run			*runs;
	const struct hyptrace_field	*id;	/* the number of a hypercall; or NULL */
	struct ctf_call			*calls;	/* the hypercalls, sorted by number */
	unsigned int			nr_calls;
	unsigned int			nr_args;
	const struct hyptrace_field	*args[CTF_ARGS_MAX];	/* with their arguments */
	unsigned int			nr_named;
	unsigned int			*named;	/* indexes of the fields whose names are written */
	unsigned int			nr_any;
	/* of fields of any length: texts are strings, others a number of bytes and the bytes */
	unsigned int			*any;
};

struct export;

/* export_ctf_event.c */
struct ctf_event *ctf_event_new(const struct export *x, const struct hyptrace_event *event);
void ctf_event_free(struct ctf_event *ctf);
bool ctf_is_written(const struct hyptrace_event *event, unsigned int index);
bool ctf_is_text(const struct hyptrace_field *field);
char *ctf_event_put(const struct ctf_event *ctf, const struct hyptrace_formats *formats,
		    const struct hyptrace_record *rec, char *to);

/* export_ctf_meta.c */
char *ctf_meta_text(const struct export *x, struct ctf_event *const *events, unsigned int nr,
		    uint16_t unknown);

#endif /* EXPORT_CTF_H */
