/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a finished recording: what is in it, and what it says is lost. */
#ifndef FILE_COUNT_H
#define FILE_COUNT_H

#include <errno.h>

#include "lib/hyptrace_file.h"

/* Count the events of a file, and those that it says are lost. */
static inline uint64_t count_events(const char *path, uint64_t *lost)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error why = {};
	struct hyptrace_file *file = hyptrace_file_open(path, &why);
	uint64_t nr = 0;
	int ret;

	if (!file)
		fail_msg("%s", why.text);
	assert_true(hyptrace_file_info(file)->is_complete);
	*lost = 0;
	while ((ret = hyptrace_file_next(file, &event, &why)) == 1) {
		assert_true(event->record.lost != HYPTRACE_LOST_UNKNOWN);
		*lost += event->record.lost;
		nr += !!event->record.data;
	}
	assert_int_equal(ret, -ENODATA);
	hyptrace_file_close(file);
	return nr;
}

#endif /* FILE_COUNT_H */
