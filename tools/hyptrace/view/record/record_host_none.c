// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of record_host.c without libtracefs: the host's own tracing cannot be recorded. For
 * cmd_record.c.
 */
#include <stdlib.h>

#include "output/die.h"
#include "output/message.h"
#include "record.h"

/**
 * record_host_begin - refuse to record the host
 * @r:		the recording
 *
 * Return: an exit code.
 */
int record_host_begin(struct record *r)
{
	if (!r->host.words.nr)
		return EXIT_DONE;
	return cmd_fail("cannot record the host: this hyptrace was built without libtracefs");
}

/**
 * record_host_start - do nothing
 * @r:		the recording
 *
 * Return: 0.
 */
int record_host_start(struct record *r)
{
	(void)r;
	return EXIT_DONE;
}

/**
 * record_host_stop - do nothing
 * @r:		the recording
 */
void record_host_stop(struct record *r)
{
	(void)r;
}

/**
 * record_host_end - free the words
 * @r:		the recording
 */
void record_host_end(struct record *r)
{
	free(r->host.words.words);
}

/**
 * record_host_drain - do nothing
 * @r:		the recording
 * @partial:	ignored
 * @err:	ignored
 *
 * Return: 0.
 */
int record_host_drain(struct record *r, bool partial, struct hyptrace_error *err)
{
	(void)r;
	(void)partial;
	(void)err;
	return 0;
}

/**
 * record_host_count - do nothing
 * @r:		the recording
 */
void record_host_count(struct record *r)
{
	(void)r;
}
