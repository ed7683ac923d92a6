/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A decoder of sub-buffers apart from those of the driver and of the tools, so that the
 * tests find a mistake that these two share. For the kselftest programs.
 */
#ifndef __SUBBUF_H
#define __SUBBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record {
	uint64_t	time;
	uint16_t	event;
	uint32_t	size;		/* of the payload, the event id included */
	const void	*payload;
};

/**
 * struct subbuf - a walk over the records of a sub-buffer
 * @lost:	number of events lost before it, if the sub-buffer stores that number
 * @missed:	events were lost before it (HYPTRACE_COMMIT_MISSED)
 * @stored:	their number is stored (HYPTRACE_COMMIT_STORED)
 * @end:	bytes of data
 * @bad:	why the walk ended early, or NULL
 */
struct subbuf {
	const uint8_t	*data;
	uint64_t	time;
	uint64_t	lost;
	bool		missed;
	bool		stored;
	uint32_t	pos;
	uint32_t	end;
	const char	*bad;
};

void subbuf_begin(struct subbuf *sub, const void *page, uint32_t size);
bool subbuf_next(struct subbuf *sub, struct record *record);

/**
 * struct sequence - checks that the selftest events of one CPU have increasing numbers
 * @event:	id of the event "selftest"; events with another id are skipped
 * @next:	expected number of the next event, if none is lost before it
 * @seen:	events read so far
 * @lost:	events reported as lost so far
 * @time:	time of the last event
 * @bad:	the first error, or an empty string
 */
struct sequence {
	uint16_t	event;
	uint64_t	next;
	uint64_t	seen;
	uint64_t	lost;
	uint64_t	time;
	char		bad[128];
};

void sequence_feed(struct sequence *seq, const void *page, uint32_t size);
void sequence_frames(struct sequence *seqs, unsigned int nr, const void *data, size_t len);
void sequence_records(struct sequence *seq, struct subbuf *sub);

#endif /* __SUBBUF_H */
