// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers of other machines: with any records, whole and damaged, they yield what those of this
 * machine yield; and of a payload, just the numbers are converted.
 */
#include <byteswap.h>

#include "lib/file/read/file.h"
#include "file_case.h"

#define SUBBUF	1024
/* Data that also a sub-buffer with a longer commit word has room for, in words */
#define ROOM	((SUBBUF - HYPTRACE_SUBBUF_HEADER) / 4)
#define SUBBUFS	400
#define TYPE_MAX	31

/* What a machine writes: numbers in its byte order, bit-fields from one end, and a long */
struct machine {
	bool	swap;
	bool	high_first;
	size_t	long_size;
};

static const struct machine machines[] = {
	{ false, false, 8 }, { true, true, 8 }, { true, false, 8 }, { false, false, 4 },
	{ true, true, 4 },
};

static struct image image;
static uint32_t seed;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static void put_u32(const struct machine *m, char *at, uint32_t value)
{
	value = m->swap ? bswap_32(value) : value;
	memcpy(at, &value, 4);
}

static void put_u64(const struct machine *m, char *at, uint64_t value)
{
	value = m->swap ? bswap_64(value) : value;
	memcpy(at, &value, 8);
}

static void put_long(const struct machine *m, char *at, uint64_t value)
{
	if (m->long_size == 4)
		put_u32(m, at, value);
	else
		put_u64(m, at, value);
}

static void put_head(const struct machine *m, char *at, uint32_t type, uint32_t delta)
{
	put_u32(m, at, m->high_first ? type << HYPTRACE_DELTA_BITS | delta :
				       type | delta << HYPTRACE_TYPE_LEN_BITS);
}

static void put_payload(const struct machine *m, char *at, uint64_t value)
{
	const uint16_t id = m->swap ? bswap_16(IMAGE_ID) : IMAGE_ID;

	memcpy(at, &id, 2);
	put_u64(m, at + 8, value);
}

/* Put a record, which mostly fits into so many bytes. Return its size. */
static size_t put_record(const struct machine *m, char *at, size_t room, uint64_t value)
{
	const uint32_t delta = below(3), kind = below(8);
	static const uint32_t bad[] = { 0, 1, 2, 3, 5, 6, 0x10000, 0x7ffffff0, UINT32_MAX };
	uint32_t len;

	if (kind < 4 && room >= IMAGE_RECORD) {
		put_head(m, at, 4, delta);
		put_payload(m, at + 4, value);
		return IMAGE_RECORD;
	}
	if (room < 8) {
		put_head(m, at, below(4) ? HYPTRACE_TYPE_PADDING : below(TYPE_MAX + 1), 0);
		return 4;
	}
	switch (kind) {
	case 5:
		put_head(m, at, HYPTRACE_TYPE_TIME_EXTEND, delta);
		put_u32(m, at + 4, 0);
		return 8;
	case 6:
		/* of any length that fits, also none; the first word of the payload is the event */
		len = 4 * (1 + below(MIN(room / 4 - 1, 20U)));
		put_head(m, at, HYPTRACE_TYPE_LENGTH_WORD, delta);
		put_u32(m, at + 4, len);
		if (len > 16)
			put_payload(m, at + 8, value);
		return 4 + len;
	case 7:
		if (!below(30)) {
			/* damage: nothing after it counts */
			put_head(m, at, below(2) ? HYPTRACE_TYPE_LENGTH_WORD :
						   HYPTRACE_TYPE_PADDING, 1);
			len = below(3) ? bad[below(COUNT(bad))] : room;
			put_u32(m, at + 4, len);
			return 8;
		}
		len = 4 * (1 + below(MIN(room / 4 - 1, 9U)));
		put_head(m, at, HYPTRACE_TYPE_PADDING, 1);
		put_u32(m, at + 4, len);
		return 4 + len;
	}
	/* an event of one word */
	put_head(m, at, 1, delta);
	put_u32(m, at + 4, 0);
	return 8;
}

/* Fill CPU 0 with the sub-buffers that this machine writes. All machines have the same records. */
static void make(const struct machine *m)
{
	const size_t header = 8 + m->long_size;
	uint32_t used, whole, flags;
	size_t at, len;
	unsigned int i;
	char *subbuf;

	seed = 1;
	image_init(&image, IMAGE_VERSION_6, m->swap, SUBBUF, 1);
	for (i = 0; i < SUBBUFS; i++) {
		image_subbuf(&image, 0, 0);
		subbuf = image.cpus[0].data + i * SUBBUF;
		memset(subbuf, 0, SUBBUF);
		whole = 4 * (below(4) ? below(ROOM - 1) : ROOM);
		for (used = 0; used < whole; used += len)
			len = put_record(m, subbuf + header + used, whole - used, i * 1000 + used);
		/* the end of the records is inside one, or wrong */
		at = used;
		if (!below(5))
			used -= MIN(used, 4 * below(4));
		if (!below(30))
			used += below(3) + 1;
		flags = below(4) ? 0 : HYPTRACE_COMMIT_MISSED;
		flags |= below(2) ? 0 : HYPTRACE_COMMIT_STORED;
		if (used % 4 == 0 && used <= 4 * ROOM - 8 && at == used)
			put_long(m, subbuf + header + used, 1 + below(100));
		else
			flags &= ~HYPTRACE_COMMIT_STORED;
		if (!below(30))
			used = 0xffffc;
		put_u64(m, subbuf, 1000 * (i + 1));
		put_long(m, subbuf + 8, used | flags);
	}
}

/* All that is said of the file */
struct said {
	FILE			*out;
	const struct hyptrace_file_info	*info;
	unsigned int		nr;
	unsigned int		damaged;
};

static void say(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	struct said *said = arg;
	char offset[64];

	assert_int_equal(subbuf->offset, said->info->cpus[0]->offset + said->nr++ * SUBBUF);
	fprintf(said->out, "%llu: %u, %llu, %llu, %s\n", (unsigned long long)subbuf->ts,
		subbuf->used, (unsigned long long)subbuf->events,
		(unsigned long long)subbuf->lost, subbuf->damage ? subbuf->damage : "good");
	if (!subbuf->damage)
		return;
	snprintf(offset, sizeof(offset), "CPU 0, offset %llu: ",
		 (unsigned long long)subbuf->offset);
	assert_memory_equal(subbuf->damage, offset, strlen(offset));
	said->damaged++;
}

static char *read_all(const struct machine *m, unsigned int *nr)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	uint64_t value = 0;
	struct said said;
	size_t size;
	char *text;
	int ret;

	make(m);
	file = open_image(&image);
	file->long_size = m->long_size;
	file->meta.info.big_endian = m->high_first;
	said = (struct said){ open_memstream(&text, &size), hyptrace_file_info(file), 0, 0 };
	assert_int_equal(hyptrace_file_walk(file, say, &said, &err), 0);
	assert_int_equal(said.nr, SUBBUFS);
	assert_in_range(said.damaged, SUBBUFS / 20, SUBBUFS / 2);
	*nr = 0;
	while ((ret = hyptrace_file_next(file, &event, &err)) != -ENODATA) {
		if (ret != 1) {
			fprintf(said.out, "%d: %s\n", ret, err.text);
			continue;
		}
		value = 0;
		if (event->record.size >= 16)
			memcpy(&value, (const char *)event->record.data + 8, 8);
		fprintf(said.out, "%llu: %u bytes, %llu, lost %llu\n",
			(unsigned long long)event->record.ts, event->record.size,
			(unsigned long long)value, (unsigned long long)event->record.lost);
		++*nr;
	}
	fclose(said.out);
	hyptrace_file_close(file);
	image_free(&image);
	return text;
}

static void any_records(void **state)
{
	unsigned int i, nr, nr_whole;
	char *whole, *text;
	size_t at;

	(void)state;
	whole = read_all(&machines[0], &nr_whole);
	assert_in_range(nr_whole, 10 * SUBBUFS, 50 * SUBBUFS);
	for (i = 1; i < COUNT(machines); i++) {
		text = read_all(&machines[i], &nr);
		for (at = 0; text[at] && text[at] == whole[at]; at++)
			;
		if (text[at] || whole[at]) {
			while (at && text[at - 1] != '\n')
				at--;
			fail_msg("machine %u: \"%.*s\" instead of \"%.*s\"", i,
				 (int)strcspn(text + at, "\n"), text + at,
				 (int)strcspn(whole + at, "\n"), whole + at);
		}
		free(text);
	}
	free(whole);
}

/* Elements of so many bytes are converted of the field; 0: none */
static void fields(void **state)
{
	static const struct {
		const char	*type;
		uint32_t	offset, size, element;
	} cases[] = {
		{ "u8", 8, 1, 0 }, { "u16", 8, 2, 2 }, { "u24", 8, 3, 0 }, { "u32", 12, 4, 4 },
		{ "u40", 8, 5, 0 }, { "struct six", 8, 6, 0 }, { "u64", 8, 8, 8 },
		{ "struct ten", 4, 10, 0 }, { "u16[4]", 8, 8, 2 }, { "u16[7]", 2, 14, 2 },
		{ "u16[8]", 0, 16, 2 },
		{ "u32[0x2]", 4, 8, 4 }, { "u8[8]", 8, 8, 0 }, { "u64[1]", 4, 8, 8 },
		{ "char[]", 8, 8, 0 }, { "u16[3]", 8, 8, 0 }, { "u16[16]", 8, 8, 0 },
		{ "__data_loc char[]", 8, 4, 4 }, { "__rel_loc u16[4]", 8, 8, 8 },
		/* it is not inside the payload */
		{ "u32", 13, 4, 0 }, { "u32", 16, 4, 0 }, { "u32", UINT32_MAX - 1, 4, 0 },
		{ "u32[5]", 0, 20, 0 }, { "u64", 9, 8, 0 },
	};
	const struct hyptrace_stream_event *event;
	const unsigned char *data;
	struct hyptrace_file *file;
	struct hyptrace_field *field;
	unsigned int i, j, place;
	char *payload;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		image_init(&image, IMAGE_VERSION_6, true, SUBBUF, 1);
		image_subbuf(&image, 0, 1000);
		image_event(&image, 0, 0, 0);
		payload = image.cpus[0].data + HYPTRACE_SUBBUF_HEADER + 4;
		for (j = 2; j < 16; j++)
			payload[j] = j;
		file = open_image(&image);
		field = hyptrace_file_info(file)->events[0]->fields[0];
		free(field->type);
		field->type = strdup(cases[i].type);
		field->offset = cases[i].offset;
		field->size = cases[i].size;
		assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
		data = event->record.data;
		for (j = 2; j < 16; j++) {
			place = j - cases[i].offset;
			if (j < cases[i].offset || place >= cases[i].size || !cases[i].element)
				place = j;
			else
				place = cases[i].offset + place - place % cases[i].element +
					cases[i].element - 1 - place % cases[i].element;
			if (data[j] != place)
				fail_msg("%s: byte %u is that of %u", cases[i].type, j, data[j]);
		}
		hyptrace_file_close(file);
		image_free(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_records), cmocka_unit_test(fields),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
