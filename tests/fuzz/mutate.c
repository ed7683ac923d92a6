// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change a trace file, in ways that know how it is made: a change that only breaks the first
 * header finds nothing behind it. For libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <linux/hyptrace_dump.h>
#include <linux/hyptrace_record.h>

#include "fuzz.h"

#define ZSTD_FRAME	0xfd2fb528U
#define ZSTD_SKIP	0x184d2a50U
#define CHUNK_MAX	(64 << 10)

/* In a compressed dump: where the number of blocks with bitmaps is, and bytes of a block */
#define DUMP_BITMAPS_AT	436
#define DUMP_BLOCK	4096

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Words of the description, of formats and of print formats */
static const char *const words[] = {
	"event 1 8 \"a\" \"\\\"%d\\\", REC->b\"\n", "field 0 2 0 \"u16\" \"b\"\n",
	"field 0 65535 1 \"char[3]\" \"b\"\n", "symbol 18446744073709551615 \"c\"\n",
	"hypercall 4294967295 1 1 \"d\"\n", "hypercall 4 1 1 \"e\"\n", "arg \"u64\" \"f\"\n",
	"cpu 1 1 5 6 7\n", "cpu 65535 0 0 0 0\n", "complete 0\n", "complete 1\n", "complete 2\n",
	"end\n", "remote \"x\"\n", "clock \"boot\"\n", "offset -9223372036854775807\n",
	"instance \"x\"\n", "\"", "\\", "\\000", "\\377", "\n", " ", "-1", "0", "8", "65536",
	"4294967295", "18446744073709551615", "99999999999999999999", "REC->", "REC->id", "(", ")",
	"{", "}", "[", "]", ",", ";", "?", ":", "+", "-", "*", "/", "%", "<<", "&&", "!", "~",
	"\"%s\"", "%d", "%*.*s", "%pS", "%pM", "%pI6c", "%pUb", "%lln", "%c", "%x",
	"__print_symbolic(", "__print_flags(", "__get_str(", "__get_dynamic_array(",
	"__get_dynamic_array_len(", "__print_array(", "__print_hex(", "__get_bitmask(",
	"__builtin_expect(", "(void *)", "(unsigned long)", "sizeof(", "field:", "offset:", "size:",
	"signed:", "print fmt:", "format:", "name:", "ID:", "__data_loc char[] a", "__rel_loc u8[] a",
	"unsigned", "long", "char", "common_pid", "common_type", "struct", "ffff800080010000 T f\n",
	"5 bash\n", "\"f\\n\"", "duration", "vcpu", "reason", "id", "arg1", "ret",
};

static const uint64_t numbers[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 28, 29, 30, 31, 32, 0x7f, 0x80, 0xff, 0x100, 0x3ff, 0x400,
	0xfff, 0x1000, 0xffff, 0x10000, 0xfffff, 0x100000, 0x7fffffff, 0x80000000, 0xfffffff8,
	0xffffffff, UINT64_C(0x100000000), UINT64_C(0x7fffffffffffffff),
	UINT64_C(0x8000000000000000), UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 1023,
};

static uint32_t below(struct fuzz_input *in, uint32_t limit)
{
	in->random = in->random * 6364136223846793005 + 1442695040888963407;
	return limit ? (in->random >> 33) % limit : 0;
}

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint64_t number(struct fuzz_input *in)
{
	uint64_t value = numbers[below(in, COUNT(numbers))];

	switch (below(in, 4)) {
	case 0:
		return __builtin_bswap64(value);
	case 1:
		return (uint64_t)__builtin_bswap32(value);
	case 2:
		return below(in, 1 << 16);
	}
	return value;
}

/* Where the headers end, more or less: most of the numbers that matter are before. */
static size_t head_size(const struct fuzz_input *in)
{
	return in->size < 8192 ? in->size : 8192;
}

/* Is there a text? A number in the middle of a description only has the file refused. */
static bool is_text(const struct fuzz_input *in, size_t at)
{
	size_t i;

	for (i = at; i < in->size && i < at + 8; i++)
		if (in->data[i] != '\n' && (in->data[i] < ' ' || in->data[i] > '~'))
			return false;
	return true;
}

/* Mostly not in a text, which has changes of its own */
static size_t any_place(struct fuzz_input *in)
{
	unsigned int tries = below(in, 16);
	size_t at;

	do
		at = below(in, below(in, 3) ? head_size(in) : in->size);
	while (tries-- && is_text(in, at));
	return at;
}

/* Replace bytes by a number, or change one a little. */
static void change_number(struct fuzz_input *in)
{
	size_t at = any_place(in), bytes = (size_t)1 << below(in, 4);
	uint64_t value = number(in);

	if (bytes > in->size - at)
		return;
	if (!below(in, 3)) {
		memcpy(&value, in->data + at, bytes);
		value += (int)below(in, 33) - 16;
	}
	memcpy(in->data + at, &value, bytes);
}

/* Replace a number of what describes a dump, mostly one of its first. */
static void change_dump(struct fuzz_input *in)
{
	const uint8_t *dump = memmem(in->data, in->size, HYPTRACE_DUMP_MAGIC,
				    sizeof(HYPTRACE_DUMP_MAGIC) - 1);
	size_t at = dump ? dump - in->data + 4 * below(in, below(in, 2) ? 16 : 256) : in->size;

	if (at + sizeof(uint32_t) <= in->size)
		put_u32(in->data + at, number(in));
	else
		change_number(in);
}

static void flip_bit(struct fuzz_input *in)
{
	in->data[any_place(in)] ^= 1 << below(in, 8);
}

/* Copy bytes within the file. */
static void copy_bytes(struct fuzz_input *in)
{
	size_t from = any_place(in), to = any_place(in), len = 1 + below(in, 64);

	if (len <= in->size - from && len <= in->size - to)
		memmove(in->data + to, in->data + from, len);
}

static void take_other(struct fuzz_input *in, const uint8_t *other, size_t size)
{
	size_t at = any_place(in), len = 1 + below(in, 1024);

	if (at < size && len <= size - at && len <= in->size - at)
		memcpy(in->data + at, other + at, len);
}

static void cut(struct fuzz_input *in)
{
	in->size = below(in, 4) ? in->size - below(in, in->size < 3000 ? in->size : 3000) :
		   below(in, in->size);
}

/*
 * Put a text to a place, instead of @drop bytes there. Zeros behind the headers give or take the
 * difference, so that all that follows stays where it is.
 */
static void replace(struct fuzz_input *in, size_t at, size_t drop, const void *text, size_t len)
{
	size_t zeros = len > drop ? len - drop : 1, end;
	const uint8_t *found;
	static const uint8_t nothing[256];

	if (drop > in->size - at || len > sizeof(nothing))
		return;
	found = zeros > sizeof(nothing) ? NULL :
		memmem(in->data + at + drop, in->size - at - drop, nothing, zeros);
	if (!found) {
		if (len <= in->size - at)
			memcpy(in->data + at, text, len);
		return;
	}
	end = found - in->data;
	memmove(in->data + at + len, in->data + at + drop, end - at - drop);
	if (drop > len)
		memset(in->data + end - (drop - len), 0, drop - len);
	memcpy(in->data + at, text, len);
}

/* A place within a text: after the first @key, or at some line of it. */
static size_t text_place(struct fuzz_input *in, const char *key, size_t len_max)
{
	const uint8_t *from = memmem(in->data, in->size, key, strlen(key)), *line;
	size_t at;

	if (!from)
		return any_place(in);
	at = from - in->data;
	if (len_max > in->size - at)
		len_max = in->size - at;
	at += below(in, len_max);
	line = memchr(in->data + at, '\n', in->size - at);
	return line && line[1] && below(in, 2) ? (size_t)(line + 1 - in->data) : at;
}

/* Change a text: the description, a format, names of functions. */
static void change_text(struct fuzz_input *in)
{
	static const char *const keys[] = {
		"hyptrace 1\n", "hyptrace 1\n", "hyptrace 1\n", "name: ", "print fmt:", "field:",
		"ffff8000", "0xffff8", "100 task",
	};
	static const size_t sizes[] = { 4000, 4000, 1000, 800, 300, 600, 100, 60, 60 };
	unsigned int key = below(in, COUNT(keys));
	size_t at = text_place(in, keys[key], sizes[key]), drop = 0;
	const char *word = words[below(in, COUNT(words))];
	const uint8_t *line;

	if (!in->size)
		return;
	switch (below(in, 4)) {
	case 0:
		drop = strlen(word);
		break;
	case 1:
		/* the rest of the line, or a line */
		line = memchr(in->data + at, '\n', in->size - at);
		drop = line ? line + 1 - (in->data + at) : 0;
		break;
	case 2:
		drop = below(in, 8);
	}
	replace(in, at, drop, word, below(in, 8) ? strlen(word) : 0);
}

/* Change a number in a text. */
static void change_text_number(struct fuzz_input *in)
{
	size_t at = text_place(in, below(in, 4) ? "hyptrace 1\n" : "name: ", 3000), len;
	char text[24];

	while (at < in->size && (in->data[at] < '0' || in->data[at] > '9'))
		at++;
	for (len = 0; at + len < in->size && in->data[at + len] >= '0' &&
	     in->data[at + len] <= '9'; len++)
		;
	if (at + len < in->size)
		replace(in, at, len, text, snprintf(text, sizeof(text), "%llu",
						    (unsigned long long)number(in)));
}

/* Change a size in a format, whose length stays the same: blanks replace the sign of the field. */
static void change_format_size(struct fuzz_input *in)
{
	size_t at = text_place(in, "field:", 8000);
	uint8_t *size = memmem(in->data + at, in->size - at, "\tsize:", 6), *end;
	char text[24];
	int len = snprintf(text, sizeof(text), "%u;", (unsigned int)number(in) & UINT16_MAX);

	if (!size)
		return;
	size += 6;
	end = memchr(size, '\n', in->size - (size - in->data));
	if (!end || end - size < len)
		return;
	memset(size, ' ', end - size);
	memcpy(size, text, len);
}

/* Change a time, a commit word or a record in sub-buffers of any size. */
static void change_subbuf(struct fuzz_input *in, uint8_t *data, size_t size)
{
	/* of records in the order of bytes of most files */
	static const uint8_t types[] = {
		HYPTRACE_TYPE_LENGTH_WORD, HYPTRACE_TYPE_LENGTH_WORD, HYPTRACE_TYPE_PADDING,
		HYPTRACE_TYPE_TIME_EXTEND, HYPTRACE_TYPE_TIME_ABSOLUTE,
	};
	size_t at = (size_t)below(in, size / 1024) * 1024, words_max = 64, i;
	uint64_t value;

	if (size - at < 1024)
		return;
	switch (below(in, 6)) {
	case 0:
		value = number(in);
		memcpy(data + at, &value, sizeof(value));
		return;
	case 1:
		value = number(in);
		memcpy(data + at + 8, &value, below(in, 2) ? 4 : 8);
		return;
	case 2:
		memmove(data + below(in, size / 1024) * 1024, data + at, 1024);
		return;
	}
	/* one of the first words: mostly the header of a record */
	i = at + 16 + 4 * below(in, words_max);
	switch (below(in, 5)) {
	case 0:
	case 1:
		put_u32(data + i, get_u32(data + i) ^ 1u << below(in, 32));
		return;
	case 2:
	case 3:
		put_u32(data + i, number(in));
		return;
	}
	/* a length, padding or a time, with the word that follows it */
	put_u32(data + i, (get_u32(data + i) & ~31u) | types[below(in, COUNT(types))]);
	put_u32(data + i + 4, number(in));
}

/*
 * Change what a compressed frame has. It is compressed again, and a frame that is skipped takes
 * the bytes that it does not need.
 */
static void change_frame(struct fuzz_input *in)
{
	static uint8_t full[CHUNK_MAX], packed[CHUNK_MAX + 1024];
	static ZSTD_CCtx *cctx;
	static ZSTD_DCtx *dctx;
	const uint32_t magic = ZSTD_FRAME;
	size_t at, len, room, n, begin = any_place(in);
	uint8_t *frame;
	unsigned int i;

	frame = memmem(in->data + begin, in->size - begin, &magic, sizeof(magic));
	if (!frame)
		frame = memmem(in->data, in->size, &magic, sizeof(magic));
	if (!frame || frame - in->data < 8)
		return;
	at = frame - in->data;
	/* the sizes may be of either byte order */
	room = get_u32(frame - 8);
	if (room > in->size - at)
		room = __builtin_bswap32(room);
	if (room > in->size - at || room > CHUNK_MAX)
		return;
	if (!dctx) {
		dctx = ZSTD_createDCtx();
		cctx = ZSTD_createCCtx();
	}
	len = ZSTD_decompressDCtx(dctx, full, sizeof(full), frame, room);
	if (ZSTD_isError(len) || !len)
		return;
	for (i = 1 + below(in, 3); i; i--) {
		if (len >= 1024)
			change_subbuf(in, full, len);
		else
			full[below(in, len)] = number(in);
	}
	n = ZSTD_compressCCtx(cctx, packed, sizeof(packed), full, len, 3);
	if (ZSTD_isError(n) || n > room || (n < room && room - n < 8))
		return;
	memcpy(frame, packed, n);
	if (n < room) {
		put_u32(frame + n, ZSTD_SKIP);
		put_u32(frame + n + 4, room - n - 8);
		memset(frame + n + 8, 0, room - n - 8);
	}
}

/**
 * fuzz_mutate - change a file
 * @in:		the file
 * @other:	another one, of which it may get bytes
 * @other_size:	bytes of @other
 */
void fuzz_mutate(struct fuzz_input *in, const uint8_t *other, size_t other_size)
{
	unsigned int nr = 1 + below(in, 3) * below(in, 3);

	while (nr-- && in->size) {
		switch (below(in, 17)) {
		case 0:
		case 1:
		case 2:
		case 3:
			change_number(in);
			break;
		case 4:
			flip_bit(in);
			break;
		case 5:
			copy_bytes(in);
			break;
		case 6:
			take_other(in, other, other_size);
			break;
		case 7:
			if (!below(in, 4))
				cut(in);
			break;
		case 8:
		case 9:
			change_text(in);
			break;
		case 10:
			change_format_size(in);
			break;
		case 11:
			change_text_number(in);
			break;
		case 12:
		case 13:
			change_subbuf(in, in->data, in->size);
			break;
		case 14:
			change_dump(in);
			break;
		default:
			change_frame(in);
		}
	}
}

/**
 * fuzz_refused - a target calls it if a file was refused as a whole
 *
 * libFuzzer then has no reason to keep it: most of what is made of such a file is refused, too.
 */
void fuzz_refused(void)
{
	memset(__start___sancov_cntrs, 0, __stop___sancov_cntrs - __start___sancov_cntrs);
}

/*
 * The bytes at the begin of a dump that stay as they are: libkdumpfile 0.5.1 trusts them, and is
 * not tested here. corpus_image.py makes them. 0: it is no dump.
 */
static size_t dump_head(const uint8_t *data, size_t size)
{
	size_t head = 0;

	if (size > DUMP_BITMAPS_AT + sizeof(uint32_t) && !memcmp(data, "KDUMP   ", 8))
		head = DUMP_BLOCK * (3 + (size_t)get_u32(data + DUMP_BITMAPS_AT));
	else if (size > 4 && !memcmp(data, "\177ELF", 4))
		head = DUMP_BLOCK;
	return head < size ? head : size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

/* Change the bytes that choose what the target does: one of them, or a bit. */
static void change_tail(uint8_t *tail, unsigned int seed)
{
	uint8_t *byte = tail + seed / 2 % fuzz_tail;

	if (seed % 2)
		*byte = seed >> 8;
	else
		*byte ^= 1U << (seed >> 8) % 8;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static uint8_t room[FUZZ_SIZE_MAX], tail[16];
	struct fuzz_input in = { .data = room, .random = seed };
	size_t head;

	fuzz_check(fuzz_tail <= sizeof(tail) && fuzz_tail < max, "a tail is too long");
	if (size < fuzz_tail)
		return LLVMFuzzerMutate(data, size, max);
	size -= fuzz_tail;
	memcpy(tail, data + size, fuzz_tail);
	head = dump_head(data, size);
	max -= fuzz_tail + head;
	in.size = size - head;
	if (fuzz_tail && seed / 4 % 4 == 0)
		change_tail(tail, seed / 16);
	/* sometimes only that */
	if (in.size && seed % 4 == 0 && (!fuzz_tail || seed / 4 % 8)) {
		in.size = LLVMFuzzerMutate(data + head, in.size, max);
	} else if (in.size && (!fuzz_tail || seed / 4 % 8)) {
		memcpy(room, data + head, in.size);
		fuzz_mutate(&in, data + head, in.size);
		in.size = in.size < max ? in.size : max;
		memcpy(data + head, room, in.size);
	}
	memcpy(data + head + in.size, tail, fuzz_tail);
	return head + in.size + fuzz_tail;
}
