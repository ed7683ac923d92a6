// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decode a Perfetto trace into lines of text. It asserts that all is well-formed: lengths, names
 * that are known before their use, sequences that begin with their state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfetto_text.h"

#define MAX_NAMES	4096
#define MAX_TABLES	30
#define MAX_SEQUENCES	256
#define MAX_TRACKS	256
#define NAME_SIZE	600

struct message {
	const uint8_t	*at;
	const uint8_t	*end;
};

/* A field of a message: its number, and its value or what it contains */
struct field {
	unsigned int	number;
	uint64_t	value;
	struct message	content;
};

struct sequence {
	bool		begun;
	uint64_t	track;
	uint64_t	time;
	bool		has_time;
	char		*names[MAX_TABLES][MAX_NAMES];
};

static struct {
	uint64_t	uuid;
	char		name[NAME_SIZE];
} tracks[MAX_TRACKS];
static unsigned int nr_tracks;
static struct sequence *sequences[MAX_SEQUENCES];
static FILE *out;

static uint64_t varint(struct message *m)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		assert_true(m->at < m->end && shift < 70);
		byte = *m->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	/* not longer than it must be */
	assert_true(byte || shift == 7);
	return value;
}

static bool next(struct message *m, struct field *f)
{
	uint64_t tag, len;

	if (m->at == m->end)
		return false;
	tag = varint(m);
	f->number = tag >> 3;
	f->value = 0;
	switch (tag & 7) {
	case 0:
		f->value = varint(m);
		break;
	case 1:
		assert_true(m->end - m->at >= 8);
		memcpy(&f->value, m->at, 8);
		m->at += 8;
		break;
	case 2:
		len = varint(m);
		assert_true(len <= (uint64_t)(m->end - m->at));
		f->content = (struct message){ m->at, m->at + len };
		m->at += len;
		break;
	default:
		fail_msg("wire type %d", (int)(tag & 7));
	}
	return true;
}

static bool find(struct message m, unsigned int number, struct field *f)
{
	while (next(&m, f))
		if (f->number == number)
			return true;
	return false;
}

static uint64_t get(struct message m, unsigned int number)
{
	struct field f;

	return find(m, number, &f) ? f.value : 0;
}

static const char *track_name(uint64_t uuid)
{
	unsigned int i;

	for (i = 0; i < nr_tracks; i++)
		if (tracks[i].uuid == uuid)
			return tracks[i].name;
	return "?";
}

/* Tracks may be described after their events. */
static void add_track(struct message m)
{
	struct field f;

	assert_true(find(m, 2, &f));
	assert_in_range(nr_tracks, 0, MAX_TRACKS - 1);
	tracks[nr_tracks].uuid = get(m, 1);
	snprintf(tracks[nr_tracks++].name, NAME_SIZE, "%.*s",
		 (int)(f.content.end - f.content.at), f.content.at);
}

static void print_track(struct message m)
{
	uint64_t parent = get(m, 5);

	fprintf(out, "track %s%s%s\n", parent ? track_name(parent) : "", parent ? "/" : "",
		track_name(get(m, 1)));
}

static const char *message_name(unsigned int number)
{
	static const char *const names[] = {
		[578 - 578] = "host_ffa_call", [582 - 578] = "host_hcall",
		[583 - 578] = "host_smc", [584 - 578] = "hyp_exit",
		[587 - 578] = "host_mem_abort", [588 - 578] = "hyp_enter",
		[590 - 578] = "vcpu_illegal_trap",
	};

	assert_in_range(number, 578, 590);
	assert_non_null(names[number - 578]);
	return names[number - 578];
}

static void print_bundle(struct message m)
{
	unsigned int cpu = get(m, 1);
	struct field event, f;

	if (get(m, 3))
		fprintf(out, "CPU %u lost\n", cpu);
	while (next(&m, &event)) {
		struct message body = event.content, details = { NULL, NULL };

		if (event.number != 2)
			continue;
		fprintf(out, "CPU %u: %" PRIu64, cpu, get(body, 1));
		while (next(&body, &f)) {
			if (f.number == 1)
				continue;
			fprintf(out, " %s", message_name(f.number));
			details = f.content;
		}
		while (next(&details, &f))
			fprintf(out, " %u=0x%" PRIx64, f.number, f.value);
		fputc('\n', out);
	}
}

static const char *name_of(const struct sequence *s, unsigned int table, uint64_t iid)
{
	assert_in_range(iid, 1, MAX_NAMES - 1);
	assert_non_null(s->names[table][iid]);
	return s->names[table][iid];
}

static void intern(struct sequence *s, struct message m)
{
	struct field entry, f;

	while (next(&m, &entry)) {
		uint64_t iid = get(entry.content, 1);

		assert_in_range(entry.number, 1, MAX_TABLES - 1);
		assert_in_range(iid, 1, MAX_NAMES - 1);
		assert_true(find(entry.content, 2, &f));
		/* once is enough */
		assert_null(s->names[entry.number][iid]);
		s->names[entry.number][iid] = strndup((const char *)f.content.at,
						      f.content.end - f.content.at);
	}
}

static void print_arg(const struct sequence *s, struct message m)
{
	struct field f;

	fprintf(out, " %s=", name_of(s, 3, get(m, 1)));
	if (find(m, 17, &f))
		fputs(name_of(s, 29, f.value), out);
	else if (find(m, 6, &f))
		fprintf(out, "\"%.*s\"", (int)(f.content.end - f.content.at), f.content.at);
	else if (find(m, 7, &f))
		fprintf(out, "0x%" PRIx64, f.value);
	else if (find(m, 4, &f))
		fprintf(out, "%" PRId64, (int64_t)f.value);
	else
		fprintf(out, "%" PRIu64, get(m, 3));
}

static void print_event(struct sequence *s, struct message m)
{
	static const char types[] = "?BEI";
	uint64_t type = get(m, 9);
	struct message rest = m;
	struct field f;

	assert_true(s->has_time);
	assert_in_range(type, 1, 3);
	fprintf(out, "[%s] %" PRIu64 " %c", track_name(s->track), s->time, types[type]);
	if (find(m, 10, &f))
		fprintf(out, " %s", name_of(s, 2, f.value));
	if (find(m, 23, &f))
		fprintf(out, " %.*s", (int)(f.content.end - f.content.at), f.content.at);
	while (next(&rest, &f)) {
		if (f.number == 4)
			print_arg(s, f.content);
		else if (f.number == 47)
			fprintf(out, " flow=%" PRIu64, f.value);
	}
	fputc('\n', out);
}

static void begin_sequence(struct sequence *s, struct message m)
{
	struct field f;

	assert_false(s->begun);
	s->begun = true;
	assert_true(find(m, 59, &f));
	assert_int_equal(get(f.content, 58), 64);
	assert_true(find(f.content, 11, &f));
	s->track = get(f.content, 11);
	assert_true(s->track);
}

static void set_clock(struct sequence *s, struct message m)
{
	struct field f;

	assert_int_equal(get(m, 2), 6);
	while (next(&m, &f)) {
		uint64_t id = f.number == 1 ? get(f.content, 1) : 0;

		if (id == 64) {
			assert_int_equal(get(f.content, 3), 1);
			assert_int_equal(get(f.content, 2), s->time);
			s->has_time = true;
		} else if (id) {
			assert_int_equal(id, 6);
			s->time = get(f.content, 2);
		}
	}
}

/* The clocks of the trace, before its sequences */
static void print_clocks(struct message m)
{
	struct field f;

	assert_int_equal(get(m, 2), 6);
	fputs("clocks", out);
	while (next(&m, &f))
		if (f.number == 1)
			fprintf(out, " %d=%" PRIu64, (int)get(f.content, 1), get(f.content, 2));
	fputc('\n', out);
}

static void print_packet(struct message m)
{
	uint64_t id = get(m, 10);
	struct sequence *s;
	struct field f;

	assert_in_range(id, 0, MAX_SEQUENCES - 1);
	if (!sequences[id])
		sequences[id] = calloc(1, sizeof(**sequences));
	s = sequences[id];
	if (find(m, 1, &f))
		print_bundle(f.content);
	if (find(m, 60, &f))
		print_track(f.content);
	if (get(m, 13) & 1)
		begin_sequence(s, m);
	if (id && find(m, 6, &f))
		set_clock(s, f.content);
	else if (find(m, 6, &f))
		print_clocks(f.content);
	if (find(m, 12, &f))
		intern(s, f.content);
	if (!find(m, 11, &f))
		return;
	assert_true(id && s->begun);
	s->time += get(m, 8);
	print_event(s, f.content);
}

char *perfetto_text(const void *trace, size_t size)
{
	struct message m = { trace, (const uint8_t *)trace + size }, all = m;
	struct field f, track;
	unsigned int i, j, k;
	size_t len;
	char *text;

	out = open_memstream(&text, &len);
	assert_non_null(out);
	nr_tracks = 0;
	while (next(&all, &f))
		if (find(f.content, 60, &track))
			add_track(track.content);
	while (next(&m, &f)) {
		assert_int_equal(f.number, 1);
		print_packet(f.content);
	}
	fclose(out);
	for (i = 0; i < MAX_SEQUENCES; i++) {
		for (j = 0; sequences[i] && j < MAX_TABLES; j++)
			for (k = 0; k < MAX_NAMES; k++)
				free(sequences[i]->names[j][k]);
		free(sequences[i]);
		sequences[i] = NULL;
	}
	return text;
}
