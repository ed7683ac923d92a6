// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TAR of an export and of another trace, for cmd_export.c: Perfetto opens both as one timeline.
 *
 * Each file follows a header of 512 bytes and is padded to a multiple of them (ustar).
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "output/die.h"
#include "session/loop.h"
#include "export.h"

#define TAR_BLOCK	512
/* Blocks of zeros at the end */
#define TAR_END_BLOCKS	2

/* Names in the TAR: of the export, and of another file that would have that name */
#define HOST_NAME	"host.pftrace"
#define EXPORT_NAME	"hyptrace.pftrace"

/* A size of more octal digits is written in binary, as GNU tar does */
#define OCTAL_MAX	((UINT64_C(1) << 33) - 1)
#define BINARY_MARK	0x80

/* The header: all numbers are octal digits */
struct tar_header {
	char	name[100];
	char	mode[8];
	char	uid[8];
	char	gid[8];
	char	size[12];
	char	mtime[12];
	char	sum[8];
	char	type;
	char	link[100];
	char	magic[6];
	char	version[2];
	char	user[32];
	char	group[32];
	char	major[8];
	char	minor[8];
	char	prefix[155];
	char	padding[12];
};

static void make_header(struct tar_header *header, const char *name, uint64_t size)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned int sum = 0, i;

	*header = (struct tar_header){
		.mode = "0000644", .uid = "0000000", .gid = "0000000", .mtime = "00000000000",
		.type = '0', .magic = "ustar", .version = { '0', '0' },
	};
	memcpy(header->name, name, strnlen(name, sizeof(header->name) - 1));
	if (size <= OCTAL_MAX) {
		snprintf(header->size, sizeof(header->size), "%011" PRIo64, size);
	} else {
		for (i = sizeof(header->size) - 1; i; i--, size >>= 8)
			header->size[i] = size;
		header->size[0] = (char)BINARY_MARK;
	}
	/* the sum is over the header with blanks in place of the sum */
	memset(header->sum, ' ', sizeof(header->sum));
	for (i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->sum, sizeof(header->sum), "%06o", sum);
}

static void pad(struct out *out, uint64_t size)
{
	static const char zeros[TAR_BLOCK];

	out_write(out, zeros, -size % TAR_BLOCK);
}

/* Open a file that has no name. Return its descriptor; -1 with errno. */
int export_open_unnamed(void)
{
	FILE *f = tmpfile();
	const int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;

	if (f)
		fclose(f);
	return fd;
}

/* Can Perfetto read the file that goes into the TAR? Return an exit code. */
int export_tar_check(const char *name)
{
	const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool is_good = fd >= 0 && hyptrace_file_is_perfetto(fd);

	if (fd < 0)
		return cmd_fail("cannot read \"%s\": %s", name, strerror(errno));
	close(fd);
	return is_good ? EXIT_DONE :
	       cmd_fail("\"%s\" is not a Perfetto trace: --with takes one of the host", name);
}

int export_tar_begin(struct export_output *output)
{
	static const struct tar_header header;

	/* the output cannot be written backwards */
	if (!output->part) {
		output->fd = export_open_unnamed();
		if (output->fd < 0)
			return cmd_fail("cannot create a temporary file: %s", strerror(errno));
		/* from here on, fd is the real output */
		const int fd = output->out.fd;

		output->out.fd = output->fd;
		output->fd = fd;
	}
	/* its size is written at the end */
	out_write(&output->out, &header, sizeof(header));
	return EXIT_DONE;
}

static int copy(struct out *out, int fd, uint64_t *size)
{
	ssize_t n;

	*size = 0;
	for (;;) {
		if (signals_stop)
			return -EINTR;
		n = read(fd, out_room(out, OUT_BUFFER / 2), OUT_BUFFER / 2);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		out_put_to(out, out->buf + out->len + n);
		*size += n;
		if (out->error)
			return 0;
	}
}

static int add_file(struct export_output *output)
{
	const char *slash = strrchr(output->tar, '/'), *name = slash ? slash + 1 : output->tar;
	const int fd = output->tar_fd < 0 ? open(output->tar, O_RDONLY | O_CLOEXEC) :
		       fcntl(output->tar_fd, F_DUPFD_CLOEXEC, 0);
	struct tar_header header;
	uint64_t size = 0;
	struct stat st;
	int ret;

	if (fd < 0 || fstat(fd, &st)) {
		ret = -errno;
	} else {
		make_header(&header, strcmp(name, EXPORT_NAME) ? name : HOST_NAME,
			    st.st_size);
		out_write(&output->out, &header, sizeof(header));
		ret = copy(&output->out, fd, &size);
	}
	if (fd >= 0)
		close(fd);
	if (ret == -EINTR)
		return cmd_fail("the export was interrupted");
	if (ret)
		return cmd_fail("cannot read \"%s\": %s", output->tar, strerror(-ret));
	if (size != (uint64_t)st.st_size && !output->out.error)
		return cmd_fail("cannot read \"%s\": its size has changed, or it is no file",
				output->tar);
	pad(&output->out, size);
	return EXIT_DONE;
}

int export_tar_end(struct export_output *output)
{
	static const char end[TAR_END_BLOCKS * TAR_BLOCK];
	struct out *out = &output->out;
	const int fd = out->fd;
	struct tar_header header;
	uint64_t copied;
	int code, ret;
	off_t size;

	out_flush(out);
	size = lseek(out->fd, 0, SEEK_CUR) - (off_t)sizeof(header);
	if (size < 0 && !out->error)
		out->error = errno;
	pad(out, size);
	code = add_file(output);
	out_write(out, end, sizeof(end));
	out_flush(out);
	make_header(&header, EXPORT_NAME, size);
	if (!out->error && pwrite(out->fd, &header, sizeof(header), 0) != sizeof(header))
		out->error = errno;
	if (output->fd < 0 || code)
		return code;
	/* copy the TAR from its unnamed file to the output */
	out->fd = output->fd;
	output->fd = -1;
	if (!out->error) {
		ret = lseek(fd, 0, SEEK_SET) < 0 ? -errno : copy(out, fd, &copied);
		out->error = ret ? -ret : out->error;
	}
	close(fd);
	return EXIT_DONE;
}
