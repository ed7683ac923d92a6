// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a CPU: those that the end of a recording has moved and those that are still in a
 * file of their own; what the headers of compressed chunks may say; and which of these headers are
 * read to find a chunk.
 */
#include <zstd.h>

#include "lib/file/read/file.h"
#include "file_case.h"

#define SUBBUF		1024
#define HEAD		8
#define FIRST		4	/* the offset of the first chunk */
#define CHUNKS		300
#define PACKED		20

/* Places of the file and of the CPU's part, in which all bytes are different */
#define TO		5
#define OFFSET		3
#define MOVED		10
#define SIZE		25

static char names[2][80];
static atomic_ullong bytes_read;
static char chunks[1 << 20];

/* A file of sub-buffers that this test describes */
static struct hyptrace_file plain(void)
{
	bytes_read = 0;
	return (struct hyptrace_file){
		.bytes_read = &bytes_read, .meta.info.subbuf_size = SUBBUF, .meta.info.nr_cpus = 1,
	};
}

static void write_bytes(unsigned int which, unsigned char first, size_t size)
{
	unsigned char bytes[64];
	unsigned int i;

	for (i = 0; i < size; i++)
		bytes[i] = first + i;
	write_file(names[which], bytes, size);
}

static unsigned char byte_at(uint64_t at)
{
	return at < MOVED ? 100 + TO + at : 200 + OFFSET + at;
}

/* Read all ranges of a part of which this is there of what was moved and of the rest. */
static void read_ranges(uint64_t moved, uint64_t kept)
{
	struct hyptrace_file f = plain();
	struct file_data data = { .to = TO, .moved = MOVED, .offset = OFFSET, .size = SIZE };
	uint64_t at, size, all, there, i;
	unsigned char to[SIZE + 5];

	write_bytes(0, 100, TO + moved);
	write_bytes(1, 200, OFFSET + kept);
	f.fd = open(names[0], O_RDONLY);
	data.fd = open(names[1], O_RDONLY);
	for (at = 0; at < SIZE + 3; at++)
		for (size = 0; size < SIZE + 3; size++) {
			all = bytes_read;
			memset(to, 0, sizeof(to));
			for (there = 0; there < size && at + there < SIZE; there++)
				if (at + there >= (at + there < MOVED ? moved : kept))
					break;
			assert_int_equal(hyptrace_data_pread(&f, &data, to, size, at), there);
			for (i = 0; i < sizeof(to); i++)
				assert_int_equal(to[i], i < there ? byte_at(at + i) : 0);
			assert_int_equal(bytes_read - all, there);
		}
	close(f.fd);
	close(data.fd);
}

static void moved_bytes(void **state)
{
	(void)state;
	read_ranges(MOVED, SIZE);
	/* one of the two files is too short */
	read_ranges(MOVED - 1, SIZE);
	read_ranges(0, SIZE);
	read_ranges(MOVED, SIZE - 1);
	read_ranges(MOVED, 0);
}

/* Each of the two files that cannot be read fails only reads that need it. */
static void unreadable_bytes(void **state)
{
	struct hyptrace_file f = plain();
	struct file_data data = { .to = TO, .moved = MOVED, .offset = OFFSET, .size = SIZE };
	char to[SIZE];

	(void)state;
	write_bytes(0, 100, TO + MOVED);
	write_bytes(1, 200, OFFSET + SIZE);
	f.fd = open(names[0], O_RDONLY);
	data.fd = open(folder, O_RDONLY);
	assert_int_equal(hyptrace_data_pread(&f, &data, to, MOVED, 0), MOVED);
	assert_int_equal(hyptrace_data_pread(&f, &data, to, MOVED + 1, 0), -EISDIR);
	assert_int_equal(hyptrace_data_pread(&f, &data, to, 1, MOVED), -EISDIR);
	close(data.fd);
	close(f.fd);
	f.fd = -1;
	data.fd = open(names[1], O_RDONLY);
	assert_int_equal(hyptrace_data_pread(&f, &data, to, 1, MOVED - 1), -EBADF);
	assert_int_equal(hyptrace_data_pread(&f, &data, to, 1, MOVED), 1);
	/* what fails does not count */
	assert_int_equal(bytes_read, MOVED + 1);
	close(data.fd);
}

static void places(void **state)
{
	struct file_data data = { .to = 1000, .moved = 10, .offset = 50, .own_fd = true };
	bool own;

	(void)state;
	assert_int_equal(hyptrace_data_where(&data, 9, &own), 1009);
	assert_false(own);
	assert_int_equal(hyptrace_data_where(&data, 10, &own), 60);
	assert_true(own);
	data.compressed = true;
	data.here = 3;
	assert_int_equal(hyptrace_data_where(&data, 10, &own), 1003);
	assert_false(own);
	data.own_fd = false;
	data.here = 11;
	assert_int_equal(hyptrace_data_where(&data, 0, &own), 61);
	assert_false(own);
}

/* Sub-buffers that are not compressed: @size of them are there, and more may be missing. */
static int64_t read_plain(uint64_t size, uint64_t missing, uint64_t at, size_t room)
{
	struct hyptrace_file f = plain();
	struct file_data data = { .size = size, .missing = missing };
	static char to[4 * SUBBUF];
	uint64_t nr;
	int64_t n;

	data.fd = open(names[0], O_RDONLY);
	err.text[0] = '\0';
	assert_int_equal(hyptrace_data_count(&f, &data, &nr, &err), 0);
	assert_int_equal(nr, size / SUBBUF);
	n = hyptrace_data_read(&f, &data, at, to, room, &err);
	close(data.fd);
	return n;
}

static void plain_sub_buffers(void **state)
{
	(void)state;
	write_file(names[0], chunks, 3 * SUBBUF);
	assert_int_equal(read_plain(3 * SUBBUF, 0, 0, 4 * SUBBUF - 1), 3 * SUBBUF);
	assert_int_equal(read_plain(3 * SUBBUF, 0, 0, 3 * SUBBUF - 1), 2 * SUBBUF);
	assert_int_equal(read_plain(3 * SUBBUF, 0, 2 * SUBBUF, SUBBUF), SUBBUF);
	assert_int_equal(read_plain(3 * SUBBUF, 0, 3 * SUBBUF, SUBBUF), 0);
	assert_int_equal(read_plain(3 * SUBBUF, 0, 4 * SUBBUF, SUBBUF), 0);
	assert_int_equal(read_plain(0, 0, 0, SUBBUF), 0);
	assert_int_equal(read_plain(2 * SUBBUF + 7, 0, SUBBUF, 2 * SUBBUF), SUBBUF);
	assert_int_equal(read_plain(2 * SUBBUF + 7, 0, 2 * SUBBUF, 2 * SUBBUF), -EBADMSG);
	assert_string_equal(err.text, "the last 7 bytes are no whole sub-buffer");
	assert_int_equal(read_plain(2 * SUBBUF, 9, SUBBUF, SUBBUF), SUBBUF);
	assert_int_equal(read_plain(2 * SUBBUF, 9, 2 * SUBBUF, SUBBUF), -EBADMSG);
	assert_string_equal(err.text, "the file was cut: 9 bytes are missing");
	assert_int_equal(read_plain(3 * SUBBUF - 1, 1, 2 * SUBBUF, SUBBUF), -EBADMSG);
	assert_string_equal(err.text, "the file was cut: 1 bytes are missing");
	assert_int_equal(read_plain(0, 1, 0, SUBBUF), -EBADMSG);
	assert_string_equal(err.text, "the file was cut: 1 bytes are missing");
	/* what the headers promise is not there any more */
	assert_int_equal(read_plain(4 * SUBBUF, 0, 3 * SUBBUF, SUBBUF), -EBADMSG);
	assert_string_equal(err.text, "the last 0 bytes are no whole sub-buffer");
	unlink(names[0]);
	assert_int_equal(read_plain(SUBBUF, 0, 0, SUBBUF), -EBADF);
	assert_string_equal(err.text, strerror(EBADF));
}

/* A file of three CPUs, which is there up to byte 9000, and where its headers say that they are */
static struct hyptrace_file_cpu cpus[3] = { { .id = 2 }, { .id = 4 }, { .id = 7 } };
static struct hyptrace_file_cpu *cpu_list[] = { &cpus[0], &cpus[1], &cpus[2] };
static struct file_place three[] = {
	{ .cpu = 1, .offset = 77, .size = 1 }, { .cpu = 2, .offset = 6000, .size = 2000 },
	{ .cpu = 3, .offset = 77, .size = 1 }, { .cpu = 4, .offset = 8000, .size = 2000 },
	{ .cpu = 7, .offset = 9000, .size = 500 },
};

static struct hyptrace_file three_cpus(unsigned int state)
{
	struct hyptrace_file f = plain();
	unsigned int i;

	f.path = path;
	f.fd = 1000;
	f.size = 9000;
	f.meta.state = state;
	f.meta.info.cpus = cpu_list;
	f.meta.info.nr_cpus = 3;
	f.places = three;
	f.nr_places = COUNT(three);
	for (i = 0; i < 3; i++)
		cpus[i].has_counts = true;
	return f;
}

/* The bytes of a CPU, which are in the file itself or in one of its own */
static void placed(const struct hyptrace_file *f, unsigned int index, bool own, uint64_t offset,
		   uint64_t size, uint64_t missing)
{
	const struct file_data *data = &f->data[index];

	assert_int_equal(data->own_fd, own);
	assert_int_equal(data->fd == 1000, !own);
	assert_int_equal(data->offset, offset);
	assert_int_equal(data->size, size);
	assert_int_equal(data->missing, missing);
	assert_int_equal(cpus[index].own_file, own);
	assert_int_equal(cpus[index].offset, offset);
	assert_int_equal(cpus[index].size, size);
	assert_int_equal(cpus[index].missing, missing);
	if (own)
		close(data->fd);
}

/* A finished recording has all in one file, which may end too early. */
static void complete(void **state)
{
	struct hyptrace_file f = three_cpus(FILE_COMPLETE);

	(void)state;
	f.compressed = true;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 0, false, 6000, 2000, 0);
	placed(&f, 1, false, 8000, 1000, 1000);
	placed(&f, 2, false, 9000, 0, 500);
	assert_true(f.data[2].compressed && cpus[0].has_counts);
	free(f.data);
	/* a CPU that the headers do not name has nothing */
	f.nr_places = 4;
	f.compressed = false;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 1, false, 8000, 1000, 1000);
	placed(&f, 2, false, 0, 0, 0);
	assert_false(f.data[0].compressed);
	free(f.data);
}

/* Before the end, the first CPU is in the file, up to its end, in whole sub-buffers. */
static void first_cpu(void **state)
{
	static const struct {
		uint64_t	header_end, offset, from;
	} cases[] = {
		{ 6000, 6000, 5120 }, { 6001, 6000, 6144 }, { 5120, 5120, 5120 }, { 5121, 0, 6144 },
		{ 5120, 0, 5120 }, { 8193, 0, 9216 }, { 5000, 7168, 7168 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hyptrace_file f = three_cpus(FILE_RECORDING);
		struct file_place place = { .cpu = 2, .offset = cases[i].offset, .size = 1 };
		const uint64_t from = cases[i].from;

		f.header_end = cases[i].header_end;
		f.places = &place;
		f.nr_places = 1;
		assert_int_equal(hyptrace_file_place(&f, &err), 0);
		placed(&f, 0, false, from, from < 9000 ? 9000 - from : 0, 0);
		placed(&f, 1, false, 0, 0, 0);
		assert_false(cpus[0].has_counts || cpus[2].has_counts);
		free(f.data);
	}
}

/* Make a part that has so many bytes, of which the first ones were given up. */
static void make_part(const char *kind, unsigned int cpu, uint64_t given_up, uint64_t size)
{
	char name[100];
	int fd;

	snprintf(name, sizeof(name), "%s.%s%u", path, kind, cpu);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(ftruncate(fd, size), 0);
	if (given_up < size)
		assert_int_equal(pwrite(fd, chunks, size - given_up, given_up), size - given_up);
	close(fd);
}

/* All but the first CPU are in files of their own. */
static void parts(void **state)
{
	struct hyptrace_file f = three_cpus(FILE_RECORDING);
	char name[100];

	(void)state;
	make_part("cpu", 4, 0, 1500);
	make_part("cpu", 7, 1 << 16, 70000);
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 1, true, 0, 1500, 0);
	placed(&f, 2, true, 0, 70000, 0);
	/* nothing was moved so far */
	assert_int_equal(f.data[2].moved, 0);
	free(f.data);

	f = three_cpus(FILE_PLACED);
	three[4].size = 70001;
	errno = ENXIO;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 0, false, 6000, 2000, 0);
	placed(&f, 1, true, 0, 1500, 500);
	placed(&f, 2, true, 0, 70000, 1);
	assert_int_equal(f.data[1].moved, 0);
	assert_int_equal(f.data[1].to, 8000);
	assert_int_equal(f.data[2].moved, 1 << 16);
	assert_int_equal(f.data[2].to, 9000);
	assert_true(cpus[2].has_counts);
	free(f.data);
	/* all of it was moved; one that is not there any more, too */
	make_part("cpu", 7, 70000, 70000);
	snprintf(name, sizeof(name), "%s.cpu4", path);
	unlink(name);
	three[4].size = 70000;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 1, false, 8000, 1000, 1000);
	placed(&f, 2, true, 0, 70000, 0);
	assert_int_equal(f.data[2].moved, 70000);
	free(f.data);
	three[4].size = 500;
	/* it cannot be read */
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(hyptrace_file_place(&f, &err), -EINVAL);
	assert_string_equal(err.text, "it is not a regular file");
	assert_int_equal(f.data[2].size, 0);
	free(f.data);
	rmdir(name);
}

/* The parts of the host have other names, also that of its first CPU. */
static void parts_of_host(void **state)
{
	struct hyptrace_file f = three_cpus(FILE_RECORDING);

	(void)state;
	make_part("cpu", 2, 0, 100);
	make_part("host", 2, 0, 200);
	make_part("host", 4, 0, 300);
	f.is_host = true;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 0, true, 0, 200, 0);
	placed(&f, 1, true, 0, 300, 0);
	placed(&f, 2, false, 0, 0, 0);
	free(f.data);
	/* the headers have places for them, too */
	f.meta.state = FILE_PLACED;
	assert_int_equal(hyptrace_file_place(&f, &err), 0);
	placed(&f, 0, true, 0, 200, 1800);
	placed(&f, 1, true, 0, 300, 1700);
	placed(&f, 2, false, 9000, 0, 500);
	free(f.data);
}

/* Put the header of a chunk, whose bytes are 0. Return the offset of the next one. */
static size_t put_chunk(size_t at, uint32_t packed, uint32_t full)
{
	memcpy(chunks + at, &packed, 4);
	memcpy(chunks + at + 4, &full, 4);
	return at + HEAD + packed;
}

/*
 * The last of two chunks, of which the headers say @less bytes less than it has, and behind which
 * the file has @more bytes.
 */
static void headers(void **state)
{
	static const struct {
		uint32_t	packed, full;
		int		less, more;
		uint64_t	missing;
		bool		is_ours;
		uint32_t	subbuf;
		const char	*said;	/* NULL: it is good */
	} cases[] = {
		{ 100, SUBBUF, 0, 0, 0, true, SUBBUF, NULL },
		{ 0, 2 * SUBBUF, 0, 0, 0, true, SUBBUF, NULL },
		{ 100, 1 << 20, 0, 0, 0, true, SUBBUF, NULL },
		{ 100, (1 << 20) + SUBBUF, 0, 0, 0, true, SUBBUF, "has no whole sub-buffers" },
		/* 16 large ones, or 1 MiB */
		{ 100, 16 << 17, 0, 0, 0, true, 1 << 17, NULL },
		{ 100, 17 << 17, 0, 0, 0, true, 1 << 17, "has no whole sub-buffers" },
		{ 100, 0, 0, 0, 0, true, SUBBUF, "has no whole sub-buffers" },
		{ 100, SUBBUF + 1, 0, 0, 0, true, SUBBUF, "has no whole sub-buffers" },
		{ 100, SUBBUF / 2, 0, 0, 0, true, SUBBUF, "has no whole sub-buffers" },
		{ ZSTD_COMPRESSBOUND(SUBBUF), SUBBUF, 0, 0, 0, true, SUBBUF, NULL },
		{ ZSTD_COMPRESSBOUND(SUBBUF) + 1, SUBBUF, 0, 0, 0, true, SUBBUF,
		  "has no whole sub-buffers" },
		/* it is not whole */
		{ 100, SUBBUF, 1, 4, 0, true, SUBBUF, "the last 107 bytes are no whole chunk" },
		{ 100, SUBBUF, 4, 0, 0, true, SUBBUF, "the last 104 bytes are no whole chunk" },
		{ 100, SUBBUF, 101, 0, 0, true, SUBBUF, "the last 7 bytes are no whole chunk" },
		{ 100, SUBBUF, 1, 0, 9, true, SUBBUF, "the file was cut: 9 bytes are missing" },
		{ 100, SUBBUF, 101, 0, 9, true, SUBBUF, "the file was cut: 9 bytes are missing" },
		/* or only the bytes that name the number of chunks, of an old trace-cmd */
		{ 100, SUBBUF, 4, 0, 0, false, SUBBUF, NULL },
		{ 100, SUBBUF, 4, 10, 0, false, SUBBUF, NULL },
		{ 100, SUBBUF, 3, 4, 0, false, SUBBUF, "the last 105 bytes are no whole chunk" },
		{ 100, SUBBUF, 5, 4, 0, false, SUBBUF, "the last 103 bytes are no whole chunk" },
		{ 100, SUBBUF, 4, -1, 0, false, SUBBUF, "the last 104 bytes are no whole chunk" },
		/* nothing follows, but it should */
		{ 100, SUBBUF, 108, 0, 5, true, SUBBUF, "the file was cut: 5 bytes are missing" },
		{ 100, SUBBUF, 108, 0, 0, true, SUBBUF, "" },
	};
	static char to[4 << 20];
	size_t last, end, offset = 11;
	unsigned int i;
	uint64_t nr;
	int64_t n;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hyptrace_file f = plain();
		struct file_data data = {
			.compressed = true, .offset = offset, .missing = cases[i].missing,
		};
		const uint32_t subbuf = cases[i].subbuf;

		memset(chunks, 0, sizeof(chunks));
		last = put_chunk(offset + FIRST, PACKED, subbuf);
		end = put_chunk(last, cases[i].packed, cases[i].full);
		data.size = end - offset - cases[i].less;
		f.size = end + cases[i].more;
		f.meta.info.subbuf_size = subbuf;
		f.is_ours = cases[i].is_ours;
		write_file(path, chunks, f.size);
		f.fd = open(path, O_RDONLY);
		data.fd = f.fd;
		err.text[0] = '\0';
		assert_int_equal(hyptrace_data_count(&f, &data, &nr, &err), 0);
		if (cases[i].said && !strstr(err.text, cases[i].said))
			fail_msg("case %u: \"%s\" is not in: %s", i, cases[i].said, err.text);
		if (!cases[i].said)
			assert_string_equal(err.text, "");
		assert_int_equal(nr, 1 + (cases[i].said ? 0 : cases[i].full / subbuf));
		/* the number is known now */
		bytes_read = 0;
		assert_int_equal(hyptrace_data_count(&f, &data, &nr, &err), 0);
		assert_int_equal(nr, 1 + (cases[i].said ? 0 : cases[i].full / subbuf));
		assert_int_equal(bytes_read, 0);
		n = hyptrace_data_read(&f, &data, subbuf, to, sizeof(to), &err);
		assert_int_equal(n, cases[i].said && !cases[i].said[0] ? 0 : -EBADMSG);
		close(f.fd);
		assert_int_equal(hyptrace_data_count(&f, &data, &nr, &err), 0);
		data.counted = false;
		data.nr_chunks = 0;
		assert_int_equal(hyptrace_data_read(&f, &data, 0, to, sizeof(to), &err), -EBADF);
		assert_int_equal(hyptrace_data_count(&f, &data, &nr, &err), -EBADF);
		assert_string_equal(err.text, strerror(EBADF));
		free(data.chunks);
		free(f.packed);
	}
}

static size_t offset_of(unsigned int chunk)
{
	return FIRST + chunk * (HEAD + PACKED);
}

/* The last chunk up to this one whose place is remembered, if there is memory for @max of them */
static unsigned int remembered(unsigned int chunk, unsigned int max, unsigned int *nr)
{
	unsigned int i, last = 0;

	*nr = 1;
	for (i = 1; i <= chunk; i++)
		if (offset_of(i) > offset_of(last) + offset_of(CHUNKS) / max) {
			last = i;
			++*nr;
		}
	return last;
}

/* Of many CPUs, each remembers fewer chunks. From the last one on, headers are read to find one. */
static void search(void **state)
{
	static const struct {
		unsigned int	nr_cpus, max;
	} cases[] = {
		{ 1, 256 << 10 }, { 2048, 128 }, { 8192, 32 }, { 16384, 16 }, { 16385, 16 },
		{ 65536, 16 },
	};
	struct file_data data = { .compressed = true, .size = offset_of(CHUNKS) };
	unsigned int i, round, chunk, from, next, nr, seed = 1;
	struct hyptrace_file f = plain();
	uint64_t subbufs;
	char to[SUBBUF];

	(void)state;
	memset(chunks, 0, sizeof(chunks));
	for (i = 0; i < CHUNKS; i++)
		put_chunk(offset_of(i), PACKED, SUBBUF);
	write_file(path, chunks, offset_of(CHUNKS));
	f.size = offset_of(CHUNKS);
	data.fd = open(path, O_RDONLY);
	for (i = 0; i < COUNT(cases); i++) {
		f.meta.info.nr_cpus = cases[i].nr_cpus;
		data.counted = false;
		data.nr_chunks = 0;
		data.at = (struct file_chunk){ .offset = 0 };
		assert_int_equal(hyptrace_data_count(&f, &data, &subbufs, &err), 0);
		assert_int_equal(subbufs, CHUNKS);
		remembered(CHUNKS - 1, cases[i].max, &nr);
		assert_int_equal(data.nr_chunks, nr);
		for (round = 0, next = CHUNKS; round < 300; round++) {
			seed = seed * 1664525 + 1013904223;
			/* sometimes the next one, or one of those after it */
			chunk = ((seed >> 16) + (seed & 0x8000 ? next : 0)) % CHUNKS;
			if (!(seed & 0x7000) && next < CHUNKS)
				chunk = next;
			from = remembered(chunk, cases[i].max, &nr);
			if (next <= chunk && next > from)
				from = next;
			bytes_read = 0;
			assert_int_equal(hyptrace_data_read(&f, &data, chunk * SUBBUF, to, SUBBUF,
							    &err), -EBADMSG);
			assert_string_equal(err.text, "a chunk of 20 bytes cannot be decompressed: its events are lost");
			assert_int_equal(bytes_read, (chunk - from + 1) * HEAD + PACKED);
			assert_int_equal(data.here, offset_of(chunk));
			next = chunk + 1;
			assert_int_equal(data.at.offset, offset_of(next));
			assert_int_equal(data.at.from, next * SUBBUF);
		}
		/* without any place, the headers from the first one on are read */
		for (chunk = 6; chunk < 8; chunk++) {
			data.nr_chunks = 0;
			data.at = (struct file_chunk){ offset_of(7), 7 * SUBBUF };
			bytes_read = 0;
			hyptrace_data_read(&f, &data, chunk * SUBBUF, to, SUBBUF, &err);
			assert_int_equal(bytes_read, (chunk < 7 ? chunk + 1 : 1) * HEAD + PACKED);
		}
		free(data.chunks);
		data.chunks = NULL;
	}
	close(data.fd);
	free(f.packed);
}

static void open_files(void **state)
{
	uint64_t size = 7;
	int fd;

	(void)state;
	write_bytes(0, 0, 9);
	fd = hyptrace_file_open_fd(names[0], &size, &err);
	assert_true(fd >= 0);
	assert_int_equal(size, 9);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	/* nobody has the other end open, and nobody waits for that */
	unlink(names[1]);
	assert_int_equal(mkfifo(names[1], 0600), 0);
	assert_int_equal(hyptrace_file_open_fd(names[1], &size, &err), -EINVAL);
	assert_string_equal(err.text, "it is not a regular file");
	assert_int_equal(size, 0);
	unlink(names[1]);
	size = 7;
	assert_int_equal(hyptrace_file_open_fd(names[1], &size, &err), -ENOENT);
	assert_string_equal(err.text, strerror(ENOENT));
	assert_int_equal(size, 0);
	/* both were closed */
	assert_int_equal(open(folder, O_RDONLY), fd);
	close(fd);
}

static int make_names(void **state)
{
	int ret = make_folder(state);

	snprintf(names[0], sizeof(names[0]), "%s/file", folder);
	snprintf(names[1], sizeof(names[1]), "%s/part", folder);
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_bytes), cmocka_unit_test(unreadable_bytes),
		cmocka_unit_test(places), cmocka_unit_test(plain_sub_buffers),
		cmocka_unit_test(headers), cmocka_unit_test(search), cmocka_unit_test(open_files),
		cmocka_unit_test(complete), cmocka_unit_test(first_cpu), cmocka_unit_test(parts),
		cmocka_unit_test(parts_of_host),
	};

	return cmocka_run_group_tests(tests, make_names, remove_folder);
}
