// SPDX-License-Identifier: GPL-2.0-only
/* The simple model of the ring. For test_ring_model.c. */
#include "ring_model.h"

#define PAGE_DATA	4080
#define MAX_STEP	((1ULL << 59) - 1)
#define EXTEND_FROM	(1ULL << 27)
#define GAP_BYTES	16

static struct model_page *new_page(u64 lost)
{
	struct model_page *page = calloc(1, sizeof(*page));

	assert_non_null(page);
	page->lost = lost;

	return page;
}

struct model *model_new(u32 nr_pages, bool discard)
{
	struct model *model;

	model = calloc(1, sizeof(*model) + nr_pages * sizeof(model->unread[0]));
	assert_non_null(model);
	model->discard = discard;
	model->nr_slots = nr_pages - 1;
	model->reader = new_page(0);
	model->unread[model->nr_unread++] = new_page(0);

	return model;
}

static void drop_unread(struct model *model)
{
	while (model->nr_unread)
		free(model->unread[--model->nr_unread]);
}

void model_delete(struct model *model)
{
	drop_unread(model);
	free(model->reader);
	free(model);
}

struct model_page *model_writing(struct model *model)
{
	return model->following ? model->reader :
				  model->unread[model->nr_unread - 1];
}

static struct model_page *take_oldest(struct model *model)
{
	struct model_page *page = model->unread[0];

	memmove(model->unread, model->unread + 1,
		--model->nr_unread * sizeof(model->unread[0]));

	return page;
}

static bool next_page(struct model *model)
{
	struct model_page *old;

	if (model->nr_unread == model->nr_slots && model->discard)
		return false;

	if (model->nr_unread == model->nr_slots) {
		old = take_oldest(model);
		model->unread[0]->lost += old->lost + old->nr;
		model->overrun += old->nr;
		model->overwritten++;
		free(old);
	}
	model->following = false;
	model->unread[model->nr_unread++] = new_page(model->pending);
	model->touched++;

	return true;
}

/* Each time stamp is larger than the one before. A gap record takes one nanosecond. */
static void start_page(struct model *model, u64 before, u64 time)
{
	struct model_page *page = model_writing(model);
	u64 gap = !!model->pending;

	if (time < before + 1 + gap)
		time = before + 1 + gap;
	page->start = time - gap;
	page->gap = model->pending;
	page->used = gap * GAP_BYTES;
	model->pending = 0;
	model->last = time;
}

/* Record an event. False if it was dropped. Its time becomes the stored time. */
bool model_write(struct model *model, const struct model_event *event)
{
	struct model_page *page = model_writing(model);
	u64 time = event->time, room;
	u32 data = (event->payload + 3) / 4 * 4;
	u32 size = data + (data <= 112 ? 4 : 8);
	u32 extend = 0;

	if (time < model->last)
		time = model->last;
	if (time - model->last > MAX_STEP)
		time = model->last + MAX_STEP;
	if (page->nr && time - model->last >= EXTEND_FROM)
		extend = 8;

	/* In an empty sub-buffer a large delta goes into the page's time stamp. */
	if (!page->used && (event->time < model->last || time - model->last >= EXTEND_FROM))
		page->start = time;
	room = page->closed ? 0 : PAGE_DATA - page->used;
	if (size + extend > room) {
		if (!next_page(model)) {
			page->closed = true;
			model->dropped++;
			model->pending++;
			return false;
		}
		start_page(model, page->start, time);
		page = model_writing(model);
		time = model->last;
		extend = 0;
	}

	page->used += size + extend;
	page->events[page->nr] = *event;
	page->events[page->nr++].time = time;
	model->last = time;
	model->recorded++;

	return true;
}

int model_swap(struct model *model, u64 consumed)
{
	if (model->following)
		return -EAGAIN;
	if (consumed < model->reader->used)
		return -ESTALE;
	if (model->nr_unread == 1 && !model->unread[0]->nr)
		return -EAGAIN;

	free(model->reader);
	model->following = model->nr_unread == 1;
	model->reader = take_oldest(model);

	return 0;
}

/* If the last record is too far ahead of the clock, the ring's time is set back. */
void model_reset(struct model *model, u64 now)
{
	u64 before = model_writing(model)->start;

	if (now && now < model->last && model->last - now > HYPTRACE_MAX_LEAD_NS) {
		model->last = now;
		before = ~0ULL;
	}

	drop_unread(model);
	free(model->reader);
	model->reader = new_page(0);
	model->unread[model->nr_unread++] = new_page(0);
	model->following = false;
	model->pending = 0;
	start_page(model, before, model->last);
	model->begin = model_writing(model)->start;
	model->touched = 0;
	model->overwritten = 0;
	model->recorded = 0;
	model->overrun = 0;
	model->dropped = 0;
}

/* Unread events in the ring, without those in the reader's page. */
u64 model_unread(struct model *model)
{
	u64 nr = 0;
	u32 i;

	for (i = 0; i < model->nr_unread; i++)
		nr += model->unread[i]->nr;

	return nr;
}

/*
 * The payload of a raw event: its number, truncated if need be, then a pattern that depends on
 * it.
 */
void model_fill(u8 *payload, u64 number, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++)
		payload[i] = i < 8 ? number >> 8 * i : (number + i) * 167;
}

bool model_matches(const struct model_event *event, const u8 *payload)
{
	u8 raw[HYPTRACE_MAX_PAYLOAD_BYTES];
	u64 id = event->number;
	pid_t vcpu = event->number >> 8 & 0x7fffffff;
	u16 type;

	memcpy(&type, payload, sizeof(type));
	switch (event->kind) {
	case MODEL_ENTER:
		return type == HYPTRACE_EVENT_hyp_enter &&
		       payload[2] == (u8)id && !memcmp(payload + 4, &vcpu, 4);
	case MODEL_SELFTEST:
		return type == HYPTRACE_EVENT_selftest &&
		       !memcmp(payload + 8, &id, 8);
	default:
		model_fill(raw, event->number, event->payload);
		return !memcmp(raw, payload, event->payload);
	}
}

/* The sub-buffer must hold exactly what the model's page holds. */
void model_check_page(const struct model_page *page,
		      const struct hyptrace_subbuf *subbuf)
{
	struct decoded events[DECODE_MAX];
	u32 i;

	assert_int_equal(subbuf->commit, page->used);
	if (page->used)
		assert_int_equal(subbuf->time_stamp, page->start);
	assert_int_equal(decode_gap(subbuf, subbuf->commit), page->gap);
	assert_int_equal(decode_both(subbuf, events), page->nr);
	for (i = 0; i < page->nr; i++) {
		assert_int_equal(events[i].size, (page->events[i].payload + 3) / 4 * 4);
		assert_int_equal(events[i].time, page->events[i].time);
		assert_true(model_matches(&page->events[i],
					  subbuf->data + events[i].offset));
	}
}
