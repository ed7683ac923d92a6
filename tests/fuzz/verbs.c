// SPDX-License-Identifier: GPL-2.0-only
/*
 * All verbs that read files, with the options of commands.c, each in a process of its own. A verb
 * may refuse a file, but must end, and take no more than its time and memory. For libFuzzer.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Of one verb, in bytes */
#define MEMORY_MAX	((size_t)100 << 20)

/* Of what a verb has said, in bytes */
#define LOG_MAX		16384

/* Bytes of the output to look at, at once */
#define PIECE		65536

/* Of what looks like the Perfetto trace of a host, in bytes */
#define HOST_SIZE	4096

const size_t fuzz_tail = FUZZ_CHOICE;

/* main() of the command */
int hyptrace_main(int argc, char **argv);

/* The end of what it has said, which has the report of a sanitizer */
static void print_log(int log)
{
	static char text[LOG_MAX];
	const off_t size = lseek(log, 0, SEEK_END);
	const ssize_t n = pread(log, text, sizeof(text),
				size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0);

	if (n > 0)
		fwrite(text, 1, n, stderr);
}

static void print_command(char **words)
{
	fputs("fuzz:", stderr);
	for (; *words; words++)
		fprintf(stderr, " '%s'", *words);
	fputc('\n', stderr);
}

static bool has_word(char **words, const char *word)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words;
}

/*
 * A terminal must not obey what is in a file: all that is printed is printable, but for colours. A
 * file can have these, too: half of the commands print none.
 */
static bool is_printable(int fd, bool has_colours)
{
	enum { TEXT, ESCAPE, NUMBERS } state = TEXT;
	static unsigned char piece[PIECE];
	off_t at = 0;
	ssize_t n, i;

	for (; (n = pread(fd, piece, sizeof(piece), at)) > 0; at += n)
		for (i = 0; i < n; i++) {
			const unsigned char c = piece[i];

			if (state == ESCAPE && c == '[')
				state = NUMBERS;
			else if (state == NUMBERS && c == 'm')
				state = TEXT;
			else if (state == TEXT && has_colours && c == '\033')
				state = ESCAPE;
			else if (state == TEXT ? c != '\n' && (c < ' ' || c > '~') :
				 state == ESCAPE || (!isdigit(c) && c != ';'))
				return false;
		}
	return state == TEXT;
}

/* A file that is empty, with this name and descriptor, in memory */
static void begin_file(int *fd, const char *name)
{
	if (*fd < 0)
		*fd = memfd_create(name, MFD_CLOEXEC);
	fuzz_check(*fd >= 0 && !ftruncate(*fd, 0) && !lseek(*fd, 0, SEEK_SET),
		   "there is no memory");
}

/* The file, and what it may be a part of: the parts of an unfinished recording, another file */
static void write_files(const uint8_t *data, size_t size)
{
	/* a sub-buffer of the smallest size begins there */
	const size_t half = (size - size / 2) & ~(size_t)1023;
	/* a packet of a Perfetto trace, and the begin of another one */
	static const uint8_t perfetto[] = { 0x0a, 0x02, 0x42, 0x00, 0x0a };
	static uint8_t host[HOST_SIZE];

	fuzz_write("f", data, size);
	fuzz_write("f.cpu1", data + half, size - half);
	fuzz_write("f.host0", data + half, size - half);
	fuzz_write("f.host1", data + half, size - half);
	fuzz_write("g", data, size);
	memcpy(host, data, size < sizeof(host) ? size : sizeof(host));
	/* mostly it looks like a trace of a host */
	if (size % 4 == 0)
		memcpy(host, perfetto, sizeof(perfetto));
	fuzz_write("h", host, sizeof(host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int out = -1, log = -1;
	char *words[FUZZ_WORDS_MAX];
	struct fuzz_end end;
	bool is_shown = getenv("FUZZ_SHOW");
	bool has_colours, is_good;
	unsigned int nr;

	if (size < fuzz_tail)
		return 0;
	size -= fuzz_tail;
	begin_file(&out, "out");
	begin_file(&log, "log");
	/* the folders of temporary files, and no bars of UTF-8 */
	setenv("TMPDIR", fuzz_folder(), 1);
	setenv("LC_ALL", "C", 1);
	write_files(data, size < FUZZ_SIZE_MAX ? size : FUZZ_SIZE_MAX);
	nr = fuzz_command(data + size, words);
	end = fuzz_run(hyptrace_main, nr, words, out, log);
	fuzz_remove("out");
	fuzz_remove("out.tar");
	has_colours = has_word(words, "always");
	is_good = is_printable(log, has_colours) &&
		  (has_word(words, "perfetto") || is_printable(out, has_colours));
	if (end.code && !lseek(out, 0, SEEK_END))
		fuzz_refused();
	if (!end.bad && end.memory < MEMORY_MAX && is_good && !is_shown)
		return 0;
	print_command(words);
	print_log(log);
	fprintf(stderr, "fuzz: code %d, %zu bytes of memory, %lld of output%s\n", end.code,
		end.memory, (long long)lseek(out, 0, SEEK_END),
		is_good ? "" : ", which are not all printable");
	if (is_shown)
		return 0;
	abort();
}
