// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a ring of the remote of a connection, which the driver or another source has.
 */
#include "internal.h"

/**
 * hyptrace_reader_open_on - become the consumer of a ring of a connection's remote
 * @h:		the connection, which must stay open longer than the reader
 * @remote:	name of the remote
 * @cpu:	the CPU; or, of a connection to the driver, HYPTRACE_CPU_ALL
 * @flags:	0 or O_NONBLOCK; a reader of tracefs never blocks
 * @err:	the reason if it fails; may be NULL
 *
 * Return: as hyptrace_reader_open(). The descriptor of a reader of tracefs is not that of a device.
 */
struct hyptrace_reader *hyptrace_reader_open_on(struct hyptrace *h, const char *remote, int cpu,
						int flags, struct hyptrace_error *err)
{
	const struct hyptrace_backend *backend;
	struct hyptrace_reader *reader;
	void *arg;

	backend = hyptrace_backend_of(h, &arg);
	if (!backend)
		return hyptrace_reader_open(remote, cpu, flags, err);
	reader = backend->open(arg, cpu, err);
	if (reader)
		reader->backend = backend;
	return reader;
}
