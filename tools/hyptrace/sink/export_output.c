// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where an export is written to: stdout, a file, or a folder. A file and a folder have a temporary
 * name until they are complete.
 *
 * A TAR has the export and another trace: Perfetto opens both as one timeline. In it each file
 * follows a header of 512 bytes and is padded to a multiple of them (ustar).
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "output/die.h"
#include "session/loop.h"
#include "export.h"

#define TAR_BLOCK	512
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
	char	rest[TAR_BLOCK - 265];	/* names of the owner, numbers of a device, a folder */
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
	auto_close const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return cmd_fail("cannot read \"%s\": %s", name, strerror(errno));
	return hyptrace_file_is_perfetto(fd) ? EXIT_DONE :
	       cmd_fail("\"%s\" is not a Perfetto trace: --with takes one of the host", name);
}

static int begin_tar(struct export_output *output)
{
	static const struct tar_header header;
	int fd;

	/* the output cannot be written backwards: output->fd becomes the real one */
	if (!output->part) {
		fd = export_open_unnamed();
		if (fd < 0)
			return cmd_fail("cannot create a temporary file: %s", strerror(errno));
		output->fd = output->out.fd;
		output->out.fd = fd;
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
	auto_close const int fd = output->tar_fd < 0 ? open(output->tar, O_RDONLY | O_CLOEXEC) :
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

static int end_tar(struct export_output *output)
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

static char *temporary_name(const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && name[len - 1] == '/')
		len--;
	return xasprintf("%.*s.XXXXXX", (int)len, name);
}

static int fail_create(struct export_output *output)
{
	int code = cmd_fail("cannot create \"%s\": %s", output->name, strerror(errno));

	free(output->part);
	output->part = NULL;
	return code;
}

/* Return why a folder cannot be put there, or NULL: nothing is there, or an empty folder. */
static const char *refuse_place(const char *name)
{
	const struct dirent *entry;
	DIR *dir = opendir(name);
	const char *why = dir || errno == ENOENT ? NULL : errno == ENOTDIR ?
			  "a file has this name" : strerror(errno);

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			why = "it is not empty";
	if (dir)
		closedir(dir);
	return why;
}

static int open_file(struct export_output *output)
{
	const char *name = output->name;
	struct stat st;
	int fd;

	/* a device or a pipe is written as it is */
	if (stat(name, &st) || S_ISREG(st.st_mode)) {
		output->part = temporary_name(name);
		fd = mkostemp(output->part, O_CLOEXEC);
	} else {
		fd = open(name, O_RDWR | O_CLOEXEC);
		/* such as a device that can only be written */
		if (fd < 0)
			fd = open(name, O_WRONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return fail_create(output);
	out_init(&output->out, fd);
	return output->tar ? begin_tar(output) : EXIT_DONE;
}

int export_output_open(struct export_output *output)
{
	const char *why;
	int fail;

	output->fd = -1;
	if (!output->is_folder && strcmp(output->name, "-"))
		return open_file(output);
	out_init(&output->out, STDOUT_FILENO);
	if (!output->is_folder)
		return output->tar ? begin_tar(output) : EXIT_DONE;
	why = refuse_place(output->name);
	if (why)
		return cmd_fail("cannot create the folder \"%s\": %s (remove it, or name another one)",
				output->name, why);
	output->part = temporary_name(output->name);
	/* like the recording, nobody else may read it: it contains addresses */
	if (!mkdtemp(output->part))
		return fail_create(output);
	output->fd = open(output->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->fd >= 0)
		return EXIT_DONE;
	fail = errno;
	rmdir(output->part);
	errno = fail;
	return fail_create(output);
}

/* Write what is left, and give the output its name. */
int export_output_finish(struct export_output *output)
{
	struct out *out = &output->out;
	int code = output->tar ? end_tar(output) : EXIT_DONE;

	if (code)
		return code;
	if (!output->is_folder) {
		out_flush(out);
		if (out->fd != STDOUT_FILENO && close(out->fd) && !out->error)
			out->error = errno;
		out->fd = -1;
		/* a pipe that is closed: its reader has seen enough */
		if (out->error && (out->error != EPIPE || output->part))
			return cmd_fail("cannot write \"%s\": %s", output->name,
					strerror(out->error));
	}
	out_free(out);
	if (!output->part)
		return EXIT_DONE;
	if (rename(output->part, output->name))
		return cmd_fail("cannot create \"%s\": %s", output->name, strerror(errno));
	if (output->is_folder)
		close(output->fd);
	free(output->part);
	output->part = NULL;
	return EXIT_DONE;
}

void export_output_abandon(struct export_output *output)
{
	const bool is_made = output->is_folder && output->fd >= 0;
	DIR *dir = is_made ? fdopendir(output->fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (is_made)
		rmdir(output->part);
	else if (output->part)
		unlink(output->part);
	if (!output->is_folder && output->out.fd > STDERR_FILENO)
		close(output->out.fd);
	out_free(&output->out);
	free(output->part);
	output->part = NULL;
}
