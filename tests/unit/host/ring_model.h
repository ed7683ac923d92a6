/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simple model of the ring: a list of sub-buffers, each a list of events. test_ring_model.c
 * compares it with hyp/ring.c.
 */
#ifndef RING_MODEL_H
#define RING_MODEL_H

#include "ring_decode.h"

enum model_kind {
	MODEL_RAW,	/* any size: the event's number, then a pattern */
	MODEL_ENTER,	/* hyptrace(hyp_enter) */
	MODEL_SELFTEST,	/* hyptrace(selftest) */
};

struct model_event {
	u64 number;
	u64 time;
	u32 payload;
	enum model_kind kind;
};

struct model_page {
	u64 lost;	/* events missing right before it */
	u64 start;	/* its time stamp */
	u64 gap;	/* lost events that its gap record counts */
	u32 used;	/* bytes */
	u32 nr;
	bool closed;	/* an event was dropped: no more events here */
	struct model_event events[DECODE_MAX];
};

struct model {
	bool discard;
	u32 nr_slots;
	u64 last;
	u64 recorded;
	u64 overrun;
	u64 dropped;
	u64 pending;
	u64 begin;	/* time stamp of the first sub-buffer since a reset */
	u64 touched;	/* how often the writer moved to the next one */
	u64 overwritten;	/* sub-buffers lost before they were read */
	struct model_page *reader;
	bool following;	/* the writer is in the reader's page */
	u32 nr_unread;
	struct model_page *unread[];	/* oldest first */
};

struct model *model_new(u32 nr_pages, bool discard);
void model_delete(struct model *model);
bool model_write(struct model *model, const struct model_event *event);
int model_swap(struct model *model, u64 consumed);
void model_reset(struct model *model, u64 now);
struct model_page *model_writing(struct model *model);
u64 model_unread(struct model *model);

void model_fill(u8 *payload, u64 number, u32 size);
bool model_matches(const struct model_event *event, const u8 *payload);
void model_check_page(const struct model_page *page,
		      const struct hyptrace_subbuf *subbuf);

#endif /* RING_MODEL_H */
