// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begin a trace file: ask the driver what the file says about a remote. Called by programs, as
 * hyptrace_file.h says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "file_write.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static bool set_uname(struct hyptrace_file_info *info)
{
	struct utsname u;

	if (uname(&u))
		return true;
	if (asprintf(&info->uname, "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
		     u.machine) >= 0)
		return true;
	info->uname = NULL;
	return false;
}

static int get_info(struct hyptrace_file_info *info, struct hyptrace *h, const char *remote,
		    const char *command, struct hyptrace_error *err)
{
	struct hyptrace_remote *r;
	int ret = hyptrace_get_remote(h, remote, &r, err);

	if (ret)
		return ret;
	info->remote = strdup(r->name);
	info->clock = strdup(r->clock ? r->clock : "");
	info->subbuf_size = r->subbuf_size;
	if (r->clock && !strcmp(r->clock, "boot"))
		info->offset = now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
	hyptrace_free_remote(r);
	info->recorder = strdup("hyptrace " HYPTRACE_VERSION);
	info->command = command ? strdup(command) : NULL;
	info->begin = now(CLOCK_REALTIME);
	if (!info->remote || !info->clock || !info->recorder || (command && !info->command) ||
	    !set_uname(info))
		return hyptrace_error_memory(err);
	if (info->subbuf_size <= HYPTRACE_SUBBUF_HEADER)
		return hyptrace_error_set(err, EPROTO, "the driver has sub-buffers of %u bytes",
					  info->subbuf_size);
	return 0;
}

static int get_cpus(struct hyptrace_file_meta *meta, struct hyptrace *h, const char *remote,
		    struct hyptrace_error *err)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(h, remote, &cpus, &nr, err);

	if (ret)
		return ret;
	meta->cpus = calloc(nr + 1, sizeof(*meta->cpus));
	for (i = 0; meta->cpus && i < nr; i++) {
		meta->cpus[i] = calloc(1, sizeof(**meta->cpus));
		if (!meta->cpus[i])
			break;
		meta->cpus[i]->id = cpus[i]->id;
		meta->nr_cpus++;
	}
	hyptrace_free_cpus(cpus);
	return meta->nr_cpus == nr && meta->cpus ? 0 : hyptrace_error_memory(err);
}

/**
 * hyptrace_file_create - begin to write a trace file
 * @path:	its name; "-" for the standard output
 * @h:		the connection; only this function uses it
 * @remote:	name of the remote whose events the file will have
 * @flags:	0 or HYPTRACE_FILE_ZSTD
 * @command:	the command line, for the file to tell; may be NULL
 * @err:	the reason if it fails; may be NULL
 *
 * Until hyptrace_file_finish() the data is in files beside it, whose names begin with @path and
 * ".part". If the program ends before that, they stay, and hyptrace_file_open() reads them. If
 * @path is a pipe or a device, the file is written to it in the end, and the data is in the
 * folder for temporary files until then.
 *
 * Return: the writer, for hyptrace_file_finish() or hyptrace_file_abandon(), or NULL. The errno is
 * EEXIST if there are such files, EBUSY if another process is writing them.
 */
struct hyptrace_file_writer *hyptrace_file_create(const char *path, struct hyptrace *h,
						  const char *remote, unsigned int flags,
						  const char *command, struct hyptrace_error *err)
{
	return hyptrace_file_create_host(path, h, remote, flags, command, NULL, 0, err);
}

/**
 * hyptrace_file_create_host - begin to write a trace file that has the host's events, too
 * @path:	its name; "-" for the standard output
 * @h:		the connection; only this function uses it
 * @remote:	name of the remote whose events the file will have
 * @flags:	0 or HYPTRACE_FILE_ZSTD
 * @command:	the command line, for the file to tell; may be NULL
 * @host:	the host's tracing; what it points to must stay valid until the file is finished. Or
 *		NULL
 * @size:	sizeof(*@host)
 * @err:	the reason if it fails; may be NULL
 *
 * hyptrace_file_write(), hyptrace_file_set_counts() and hyptrace_file_unwritten() are for the
 * host's events of a CPU if its number is given with HYPTRACE_FILE_OF_HOST.
 *
 * Return: as hyptrace_file_create().
 */
struct hyptrace_file_writer *hyptrace_file_create_host(const char *path, struct hyptrace *h,
						       const char *remote, unsigned int flags,
						       const char *command,
						       const struct hyptrace_file_host *host,
						       size_t size, struct hyptrace_error *err)
{
	struct hyptrace_file_meta meta = {};
	struct hyptrace_file_host all = {};

	if (flags & ~HYPTRACE_FILE_ZSTD) {
		hyptrace_error_set(err, EINVAL, "unknown flags 0x%x", flags);
		return NULL;
	}
	if (get_info(&meta.info, h, remote, command, err) || get_cpus(&meta, h, remote, err) ||
	    hyptrace_get_events(h, remote, &meta.events, &meta.nr_events, err)) {
		hyptrace_file_meta_free(&meta);
		return NULL;
	}
	/* without them, numbers are printed */
	hyptrace_get_hypercalls(h, remote, &meta.calls, &meta.nr_calls, NULL);
	if (host)
		memcpy(&all, host, size < sizeof(all) ? size : sizeof(all));
	return hyptrace_file_writer_new(path, &meta, flags, host ? &all : NULL, err);
}
