// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of record_host.c without libtracefs: the host's own tracing cannot be recorded. For
 * cmd_record.c.
 */
#include <stdlib.h>

#include "output/die.h"
#include "output/message.h"
#include "record.h"

int record_host_begin(struct record *r)
{
	if (!r->host.words.nr)
		return EXIT_DONE;
	return cmd_fail("cannot record the host: this hyptrace was built without libtracefs");
}

int record_host_start(struct record *r)
{
	(void)r;
	return EXIT_DONE;
}

void record_host_stop(struct record *r)
{
	(void)r;
}

void record_host_end(struct record *r)
{
	free(r->host.words.words);
}

int record_host_drain(struct record *r, bool partial, struct hyptrace_error *err)
{
	(void)r;
	(void)partial;
	(void)err;
	return 0;
}

void record_host_count(struct record *r)
{
	(void)r;
}
