// SPDX-License-Identifier: GPL-2.0-only
/*
 * Join sub-buffers of a ring that was read before it was full: a slow writer fills its sub-buffer
 * in many steps, and a file must not have a sub-buffer for each of them. For file_write_part.c and
 * file_write_zstd.c.
 *
 * The driver delivers what the writer has added as a sub-buffer of its own, whose time stamp is
 * the time of the record before it. So its records can be appended as they are.
 */
#include <string.h>

#include "file_write.h"

/* Find the time of the last record. Return false if the sub-buffer cannot be decoded. */
static bool last_time(struct hyptrace_decoder *dec, const struct hyptrace_subbuf *subbuf,
		      size_t size, uint64_t *time)
{
	struct hyptrace_record rec;
	int ret = hyptrace_decoder_load(dec, subbuf, size, NULL);

	while (!ret && (ret = hyptrace_decoder_next(dec, &rec, NULL)) > 0) {
		*time = rec.ts;
		ret = 0;
	}
	/* nobody asks for them */
	hyptrace_decoder_lost(dec);
	return !ret;
}

/*
 * Append the records of a sub-buffer to the one before. Return true; false if from does not
 * continue to, or does not fit.
 */
bool hyptrace_file_join(struct hyptrace_file_writer *w, void *to, const void *from)
{
	const size_t size = w->meta.info.subbuf_size;
	const struct hyptrace_subbuf *next = from;
	struct hyptrace_subbuf *subbuf = to;
	uint64_t used = subbuf->commit & HYPTRACE_COMMIT_MASK;
	uint64_t more = next->commit & HYPTRACE_COMMIT_MASK, time = subbuf->time_stamp, lost = 0;
	bool stored = subbuf->commit & HYPTRACE_COMMIT_STORED;
	size_t room = size - sizeof(*subbuf) - (stored ? sizeof(lost) : 0);

	if (next->commit & HYPTRACE_COMMIT_MISSED || used + more > room || !used || !more)
		return false;
	if (!last_time(w->join, subbuf, size, &time) || time != next->time_stamp)
		return false;
	/* the number of lost events is behind the data */
	if (stored)
		memcpy(&lost, subbuf->data + used, sizeof(lost));
	memcpy(subbuf->data + used, next->data, more);
	if (stored)
		memcpy(subbuf->data + used + more, &lost, sizeof(lost));
	subbuf->commit += more;
	return true;
}
