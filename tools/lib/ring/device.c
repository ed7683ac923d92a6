// SPDX-License-Identifier: GPL-2.0-only
/* Attach to a ring as its consumer or as an observer: of /dev/hyptrace, or of another source. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "internal.h"

static int open_error(int errnum, struct hyptrace_error *err)
{
	struct stat st;

	switch (errnum) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return hyptrace_error_set(err, errnum,
					  "the driver is not loaded (modprobe hyptrace_pkvm, or hyptrace_test)");
	case EACCES:
		if (!stat(HYPTRACE_DEVICE, &st))
			return hyptrace_error_set(err, errnum,
				"permission denied: %s is of user %u, group %u, mode %04o",
				HYPTRACE_DEVICE, st.st_uid, st.st_gid, st.st_mode & 07777);
		return hyptrace_error_set(err, errnum, "permission denied on %s", HYPTRACE_DEVICE);
	case EPERM:
		return hyptrace_error_set(err, errnum,
			"permission denied: CAP_PERFMON or CAP_SYS_ADMIN is needed, and no kernel lockdown");
	}
	return hyptrace_error_set(err, errnum, "%s: %m", HYPTRACE_DEVICE);
}

static int attach_error(int errnum, struct hyptrace_error *err)
{
	static const struct {
		int		errnum;
		const char	*text;
	} reasons[] = {
		{ ENODEV, "no such remote" },
		{ ENXIO, "no such CPU" },
		{ EBUSY, "another process is reading it" },
		{ EALREADY, "another tracer, such as tracefs, has loaded its buffer" },
		{ ENOMEM, "no memory for rings of the size that is set" },
		{ EDQUOT,
		  "rings of the size that is set exceed your limit (RLIMIT_MEMLOCK, mlock_kb): load smaller ones"
		},
		{ ENODATA, "nothing is loaded" },
	};
	unsigned int i;

	if (errnum == EPERM)
		return open_error(errnum, err);
	for (i = 0; i < COUNT(reasons); i++)
		if (reasons[i].errnum == errnum)
			return hyptrace_error_set(err, errnum, "%s", reasons[i].text);
	return hyptrace_error_set(err, errnum, "%m");
}

static struct hyptrace_reader *attach(const char *remote, int cpu, int open_flags,
				      uint32_t flags, struct hyptrace_error *err)
{
	struct hyptrace_attach attach = { .size = sizeof(attach), .flags = flags, .cpu = cpu };
	struct hyptrace_reader *reader;

	if (strlen(remote) >= sizeof(attach.remote))
		return hyptrace_error_null(attach_error(ENODEV, err));
	strcpy(attach.remote, remote);

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return hyptrace_error_null(hyptrace_error_memory(err));
	reader->fd = open(HYPTRACE_DEVICE, O_RDONLY | O_CLOEXEC | open_flags);
	if (reader->fd < 0)
		open_error(errno, err);
	else if (ioctl(reader->fd, HYPTRACE_IOC_ATTACH, &attach))
		attach_error(errno, err);
	else if (attach.subbuf_size <= HYPTRACE_SUBBUF_HEADER)
		hyptrace_error_set(err, EPROTO, "the driver has sub-buffers of %u bytes",
				   attach.subbuf_size);
	else
		reader->subbuf_size = attach.subbuf_size;
	if (reader->subbuf_size)
		return reader;
	hyptrace_reader_close(reader);
	return NULL;
}

/**
 * hyptrace_reader_open - become the consumer of a ring
 * @remote:	name of the remote
 * @cpu:	the CPU, or HYPTRACE_CPU_ALL
 * @flags:	0 or O_NONBLOCK
 * @err:	the reason if it fails; may be NULL
 *
 * The driver loads the rings if they are not loaded.
 *
 * Return: the reader, for hyptrace_reader_close(), or NULL. The errno is EBUSY if the ring has
 * a consumer already, ENXIO if the remote has no ring for this CPU.
 */
struct hyptrace_reader *hyptrace_reader_open(const char *remote, int cpu, int flags,
					     struct hyptrace_error *err)
{
	return attach(remote, cpu, flags, 0, err);
}

/* @open: NULL if the source has no such readers; @why says so */
static struct hyptrace_reader *open_backend(struct hyptrace *h, hyptrace_open_fn open, int cpu,
					    const char *why, struct hyptrace_error *err)
{
	struct hyptrace_reader *reader;

	if (!open)
		return hyptrace_error_null(hyptrace_error_set(err, EOPNOTSUPP, "%s", why));
	reader = open(h->backend_arg, cpu, err);
	if (reader)
		reader->backend = h->backend;
	return reader;
}

/**
 * hyptrace_reader_open_on - become the consumer of a ring of a connection's remote
 * @h:		the connection, which must stay open longer than the reader
 * @remote:	name of the remote
 * @cpu:	the CPU; or, of a connection to the driver, HYPTRACE_CPU_ALL
 * @flags:	0 or O_NONBLOCK; a reader of tracefs never blocks
 * @err:	the reason if it fails; may be NULL
 * Return: as hyptrace_reader_open(). The descriptor of a reader of tracefs is not that of a device.
 */
struct hyptrace_reader *hyptrace_reader_open_on(struct hyptrace *h, const char *remote, int cpu,
						int flags, struct hyptrace_error *err)
{
	return h->backend ? open_backend(h, h->backend->open, cpu, "it has no new events", err) :
			    hyptrace_reader_open(remote, cpu, flags, err);
}

/* While a ring is being resized it cannot be mapped: look again after a millisecond, so often */
#define RESIZE_LOOKS	1000

static const void *map_part(int fd, size_t size, size_t offset)
{
	unsigned int looks = 0;
	const void *map;

	while (!(map = hyptrace_map(size, PROT_READ, MAP_SHARED, fd, offset)) &&
	       errno == EBUSY && ++looks < RESIZE_LOOKS)
		usleep(1000);
	return map;
}

/* After a failure, too, hyptrace_reader_close() unmaps it. */
static int map_ring(struct hyptrace_reader *reader, struct hyptrace_error *err)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	reader->meta_size = page;
	reader->meta = map_part(reader->fd, page, 0);
	/* the meta page holds its own size, which may be more than a page */
	if (reader->meta && reader->meta->meta_page_size > page) {
		reader->meta_size = reader->meta->meta_page_size;
		munmap((void *)reader->meta, page);
		reader->meta = map_part(reader->fd, reader->meta_size, 0);
	}
	if (reader->meta) {
		reader->data_size = (size_t)reader->meta->subbuf_size * reader->meta->nr_subbufs;
		reader->data = map_part(reader->fd, reader->data_size, reader->meta_size);
	}
	return reader->data ? 0 : hyptrace_error_set(err, errno, "cannot map the ring: %m");
}

/**
 * hyptrace_reader_open_snapshot - become an observer of a ring, and map it
 * @remote:	name of the remote
 * @cpu:	the CPU
 * @err:	the reason if it fails; may be NULL
 * Return: the reader, for hyptrace_reader_close(), or NULL. The errno is ENODATA if the rings
 * are not loaded, ENXIO if the remote has no ring for this CPU.
 */
struct hyptrace_reader *hyptrace_reader_open_snapshot(const char *remote, int cpu,
						      struct hyptrace_error *err)
{
	struct hyptrace_reader *reader = attach(remote, cpu, 0, HYPTRACE_ATTACH_SNAPSHOT, err);

	if (reader && map_ring(reader, err)) {
		hyptrace_reader_close(reader);
		return NULL;
	}
	return reader;
}

/**
 * hyptrace_reader_open_snapshot_on - become an observer of a ring of a connection's remote
 * @h:		the connection, which must stay open longer than the reader
 * @remote:	name of the remote
 * @cpu:	the CPU
 * @err:	the reason if it fails; may be NULL
 * Return: as hyptrace_reader_open_snapshot().
 */
struct hyptrace_reader *hyptrace_reader_open_snapshot_on(struct hyptrace *h, const char *remote,
							 int cpu, struct hyptrace_error *err)
{
	return h->backend ? open_backend(h, h->backend->map, cpu, "it has no snapshots", err) :
			    hyptrace_reader_open_snapshot(remote, cpu, err);
}

/**
 * hyptrace_reader_close - unmap the ring and detach from it
 * @reader:	the reader, or NULL
 */
void hyptrace_reader_close(struct hyptrace_reader *reader)
{
	if (!reader)
		return;
	if (reader->data)
		munmap((void *)reader->data, reader->data_size);
	if (reader->meta)
		munmap((void *)reader->meta, reader->meta_size);
	if (reader->backend && reader->backend->detach)
		reader->backend->detach(reader);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}

/**
 * hyptrace_reader_fd - get the descriptor, for read(), splice() and poll()
 * @reader:	the reader
 * Return: the descriptor.
 */
int hyptrace_reader_fd(const struct hyptrace_reader *reader)
{
	return reader->fd;
}

/**
 * hyptrace_reader_watermark - let poll() wait until the ring has some data
 * @reader:	the reader
 * @usec:	the longest time until that is noticed: HYPTRACE_LATENCY_MIN_US to
 *		HYPTRACE_LATENCY_MAX_US microseconds
 * @percent:	part of the sub-buffers that must hold data, in percent; 0 for any event
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_reader_watermark(struct hyptrace_reader *reader, uint32_t usec, uint32_t percent,
			      struct hyptrace_error *err)
{
	struct hyptrace_wakeup wakeup = {
		.size = sizeof(wakeup), .latency_us = usec, .percent = percent,
	};

	/* tracefs looks when it wants */
	if (!reader->backend && ioctl(reader->fd, HYPTRACE_IOC_WAKEUP, &wakeup))
		return hyptrace_error_set(err, errno, "cannot set the latency: %m");
	return 0;
}

/**
 * hyptrace_reader_hold - hold events enabled, and tracing on, while the reader is attached
 * @reader:	a consumer
 * @events:	ids of the events
 * @nr:		number of @events
 * @tracing:	hold tracing on, too
 * @err:	the reason if it fails; may be NULL
 *
 * This replaces what the reader held before. See struct hyptrace_hold in linux/hyptrace.h for
 * what happens when it is closed.
 *
 * Return: 0 or a negative errno; on failure nothing has changed.
 */
int hyptrace_reader_hold(struct hyptrace_reader *reader, const uint16_t *events, unsigned int nr,
			 bool tracing, struct hyptrace_error *err)
{
	struct hyptrace_hold hold = {
		.size = sizeof(hold), .flags = tracing ? HYPTRACE_HOLD_TRACING : 0,
		.nr_events = nr, .events = (uintptr_t)events,
	};

	if (reader->backend && !reader->backend->hold)
		return hyptrace_error_set(err, EOPNOTSUPP, "it has no new events");
	if (reader->backend)
		return reader->backend->hold(reader, events, nr, tracing, err);
	if (!ioctl(reader->fd, HYPTRACE_IOC_HOLD, &hold))
		return 0;
	if (errno == ENOENT)
		return hyptrace_error_set(err, ENOENT, "no such event");
	if (errno == EOPNOTSUPP)
		return hyptrace_error_set(err, EOPNOTSUPP, "an event is not in this kernel");
	if (errno == EPERM)
		return hyptrace_error_set(err, EPERM, "it is the trace of another user: to enable events in it, or to start it, needs CAP_SYS_ADMIN");
	return hyptrace_error_set(err, errno, "%m");
}

/* Return a sub-buffer of the mapping, or NULL if there is no such sub-buffer. */
const void *hyptrace_reader_subbuf(const struct hyptrace_reader *reader, uint32_t id)
{
	size_t offset = (size_t)id * reader->subbuf_size;

	return offset < reader->data_size ? (const char *)reader->data + offset : NULL;
}
