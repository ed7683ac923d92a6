/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding sub-buffers: a decoder apart from those of the driver and of the tools, so that
 * the tests find a mistake that these two share. For the programs in this folder.
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
 * @lost:	events missing before it, where it says so itself
 * @missed:	it says that events are missing before it
 * @stored:	and how many
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
 * struct sequence - the numbers of selftest events of one CPU, as they come
 * @event:	id of the event "selftest"; others are passed over
 * @next:	the number that has to come next, but for losses
 * @seen:	events that came
 * @lost:	events that were said to be lost
 * @time:	of the last one
 * @bad:	what was wrong first, or an empty string
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
