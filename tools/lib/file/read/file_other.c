// SPDX-License-Identifier: GPL-2.0-only
/*
 * Say what a file is that is no trace file. For file_head.c, and for the exports.
 */
#include <errno.h>
#include <string.h>

#include "file.h"

/* The field "packet" of a Perfetto trace, and the bytes of a length at most */
#define PERFETTO_PACKET	0x0a
#define LENGTH_MAX	5

/* Files that are taken for trace files */
static const struct {
	unsigned int	offset;
	const char	*magic;
	const char	*what;
} others[] = {
	{ 0, "\177ELF", "an ELF file" },
	{ 0, "PERFILE2", "a file of perf: use \"perf script\"" },
	{ 0, "\x1f\x8b", "a file of gzip: decompress it first" },
	{ 0, "\x28\xb5\x2f\xfd", "a file of zstd: decompress it first" },
	{ 0, "\xc1\x1f\xfc\xc1", "a stream of CTF: use \"babeltrace2\"" },
	{ 257, "ustar", "a TAR" },
};

/**
 * hyptrace_file_is_perfetto - is a file a Perfetto trace?
 * @fd:		the file
 *
 * Return: true if another packet, or the end of the file, follows the first packet.
 */
bool hyptrace_file_is_perfetto(int fd)
{
	unsigned char head[1 + LENGTH_MAX] = {}, next;
	uint64_t length = 0;
	unsigned int i = 1;
	int64_t n;

	if (hyptrace_file_pread(fd, head, sizeof(head), 0) < 2 || head[0] != PERFETTO_PACKET)
		return false;
	do {
		length |= (uint64_t)(head[i] & 0x7f) << 7 * (i - 1);
	} while (head[i++] & 0x80 && i < sizeof(head));
	n = hyptrace_file_pread(fd, &next, 1, i + length);
	if (n)
		return n == 1 && next == PERFETTO_PACKET;
	return length && hyptrace_file_pread(fd, &next, 1, i + length - 1) == 1;
}

/* For the file of a CPU of an unfinished recording: return where the main file's name ends. */
static const char *end_of_main(const char *path)
{
	static const char part[] = ".part";
	const char *dot = strrchr(path, '.');
	size_t word = dot ? strcspn(dot, "0123456789") : 0;

	if (!dot || dot - path < (int)strlen(part) ||
	    strncmp(dot - strlen(part), part, strlen(part)) ||
	    (strncmp(dot, ".cpu", word) && strncmp(dot, "." HYPTRACE_FILE_HOST, word)))
		return NULL;
	return dot;
}

/* Say what a file is instead of a trace file. Return -EBADMSG. */
int hyptrace_file_refuse(const struct hyptrace_file *f, struct hyptrace_error *err)
{
	const char *end = end_of_main(f->path), *what = NULL;
	char begin[512] = {};
	unsigned int i;

	if (end)
		return hyptrace_error_set(err, EBADMSG, "it has one CPU of an unfinished recording: read \"%.*s\", which finds this file, too",
					  (int)(end - f->path), f->path);
	if (!f->size)
		what = "empty";
	hyptrace_file_pread(f->fd, begin, sizeof(begin), 0);
	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !what; i++)
		if (!memcmp(begin + others[i].offset, others[i].magic, strlen(others[i].magic)))
			what = others[i].what;
	if (!what && hyptrace_file_is_perfetto(f->fd))
		what = "a Perfetto trace: open it in https://ui.perfetto.dev";
	return hyptrace_error_set(err, EBADMSG, "it is not a trace file%s%s", what ? ", but " : "",
				  what ? what : "");
}
