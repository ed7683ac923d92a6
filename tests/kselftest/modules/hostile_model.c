// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings and counters of SOLE_CPU, which no other thread touches: each answer must be that of
 * the state machine of hyp/abi.h. Only whether EL2 takes a page follows from its answer.
 */
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "hyptrace_hostile.h"

/* No answer: any that the op documents */
#define ANY		S64_MAX
/* No answer: 0, or an error of a page */
#define PAGES		(S64_MAX - 1)
/* No answer: 1, or an error of a page */
#define TAKEN		(S64_MAX - 2)
/* No answer: 0 or 1, or an error of a page: it depends on which pages are adjacent */
#define PART		(S64_MAX - 3)

static bool is_loaded(const struct ring_model *ring)
{
	return ring->state >= HYPTRACE_RING_DETACHED;
}

static bool is_building(const struct ring_model *ring)
{
	return ring->state == HYPTRACE_RING_BUILDING && !ring->freeing;
}

static u64 most_tables(const struct ring_model *ring)
{
	return ring->nr_dirs * HYPTRACE_TABLES_PER_DIR(PAGE_SIZE);
}

static s64 expect_begin(const struct ring_model *ring, u64 nr_pages, u64 flags)
{
	if (flags & ~(u64)HYPTRACE_RING_FLAGS || nr_pages < HYPTRACE_RING_MIN_PAGES)
		return -EINVAL;
	if (nr_pages > HYPTRACE_RING_MAX_PAGES(PAGE_SIZE))
		return -E2BIG;

	return ring->state == HYPTRACE_RING_EMPTY ? 0 : -EBUSY;
}

static s64 expect_free(const struct model *model, const struct ring_model *ring)
{
	if (ring->state == HYPTRACE_RING_ATTACHED)
		return -EBUSY;
	if (ring->state == HYPTRACE_RING_RETIRED && !model->none_unmoved)
		return ANY;
	if (ring->state == HYPTRACE_RING_EMPTY)
		return 0;
	if (ring->has_meta)
		return ring->nr_dirs || ring->nr_tables;
	/* Each call frees a page at least. */
	if (ring->nr_tables && ring->nr_freed < ring->nr_pages + ring->nr_dirs)
		return PART;

	return !ring->nr_tables && ring->nr_dirs > 1;
}

static s64 expect_load(const struct model *model, const struct ring_model *ring,
		       const struct asked *asked)
{
	u64 needed = DIV_ROUND_UP(ring->nr_pages, (u64)TABLE_SLOTS);

	switch (asked->op) {
	case HYPTRACE_OP_RING_BEGIN:
		return expect_begin(ring, asked->args[1], asked->args[2]);
	case HYPTRACE_OP_RING_DIR:
		return is_building(ring) && ring->nr_tables == most_tables(ring) &&
		       ring->nr_tables != needed ? PAGES : -EINVAL;
	case HYPTRACE_OP_RING_TABLE:
		if (!is_building(ring) || ring->unfinished == !!asked->args[1])
			return -EINVAL;
		if (ring->unfinished)
			return PART;
		return ring->nr_tables != needed && ring->nr_tables != most_tables(ring) ?
		       TAKEN : -EINVAL;
	case HYPTRACE_OP_RING_READY:
		return is_building(ring) && ring->nr_tables == needed && !ring->unfinished ?
		       PAGES : -EINVAL;
	default:
		return expect_free(model, ring);
	}
}

static s64 expect_count(const struct attack *attack, const struct asked *asked)
{
	const struct model *model = &attack->model;
	u64 arg = asked->args[1];

	switch (asked->op) {
	case HYPTRACE_OP_COUNT_PAGE:
		return model->nr_counters == COUNT_PAIRS ? -EBUSY : PAGES;
	case HYPTRACE_OP_COUNT_FREE:
		return attack->counting == YES ? -EBUSY : model->nr_counters > 1;
	case HYPTRACE_OP_COUNT:
		if (arg & ~COUNTABLE)
			return -EINVAL;
		return arg && model->nr_counters != COUNT_PAIRS ? -ENODATA : 0;
	case HYPTRACE_OP_COUNT_RESET:
		if (arg >= COUNT_PARTS)
			return -EINVAL;
		return model->nr_counters == COUNT_PAIRS ? arg + 1 < COUNT_PARTS : -ENODATA;
	default:
		if (arg == HYPTRACE_PMU_NONE)
			return 0;
		if (model->nr_counters != COUNT_PAIRS)
			return -ENODATA;
		return arg == HYPTRACE_PMU_RESET ? 0 : ANY;
	}
}

static s64 expect_ring(const struct model *model, const struct asked *asked)
{
	const struct ring_model *ring = &model->ring, *spare = &model->spare;

	switch (asked->op) {
	case HYPTRACE_OP_ATTACH:
		if (asked->args[1] & ~ALL_EVENTS)
			return -EINVAL;
		return is_loaded(ring) ? 0 : -ENODEV;
	case HYPTRACE_OP_DETACH:
	case HYPTRACE_OP_SYNC:
		return is_loaded(ring) ? 0 : -ENODEV;
	case HYPTRACE_OP_SWAP:
		if (is_loaded(ring) && model->moves_pending)
			return -EBUSY;
		return is_loaded(ring) ? ANY : -ENODEV;
	case HYPTRACE_OP_RESET:
	case HYPTRACE_OP_FILTER:
		return is_loaded(ring) ? ANY : -ENODEV;
	case HYPTRACE_OP_EXCHANGE:
		if (!is_loaded(ring) || !is_loaded(spare))
			return -ENODEV;
		return spare->state == HYPTRACE_RING_RETIRED ? -EBUSY : 0;
	case HYPTRACE_OP_MOVE:
		if (spare->state != HYPTRACE_RING_RETIRED)
			return -ENODEV;
		return model->none_unmoved ? HYPTRACE_MOVE_NONE_LEFT : ANY;
	default:
		return ANY;
	}
}

/* One more page is given back; or, after an error, only the meta page may have been. */
static void learn_free(struct ring_model *ring, s64 ret)
{
	bool had_meta = ring->has_meta;

	if (ret == -EBUSY || ring->state == HYPTRACE_RING_EMPTY)
		return;
	ring->state = HYPTRACE_RING_BUILDING;
	ring->freeing = true;
	ring->has_meta = false;
	if (ret < 0)
		return;
	if (!ret)
		*ring = (struct ring_model) { .state = HYPTRACE_RING_EMPTY };
	else if (!had_meta)
		ring->nr_freed++;
}

static void learn_load(struct model *model, struct ring_model *ring, const struct asked *asked)
{
	if (asked->op == HYPTRACE_OP_RING_FREE) {
		learn_free(ring, asked->ret);
		return;
	}
	if (asked->op == HYPTRACE_OP_RING_TABLE && asked->ret == 1 && asked->args[1]) {
		ring->nr_tables++;
		ring->unfinished = true;
	}
	if (asked->ret)
		return;
	switch (asked->op) {
	case HYPTRACE_OP_RING_BEGIN:
		*ring = (struct ring_model) {
			.state = HYPTRACE_RING_BUILDING, .nr_pages = asked->args[1],
		};
		break;
	case HYPTRACE_OP_RING_DIR:
		ring->nr_dirs++;
		break;
	case HYPTRACE_OP_RING_TABLE:
		ring->unfinished = false;
		break;
	case HYPTRACE_OP_RING_READY:
		ring->state = HYPTRACE_RING_DETACHED;
		ring->has_meta = true;
		if (ring == &model->ring)
			model->moves_pending = false;
		break;
	}
}

static void learn_exchange(struct model *model)
{
	u32 state = model->ring.state;

	swap(model->ring, model->spare);
	model->ring.state = state;
	model->spare.state = HYPTRACE_RING_RETIRED;
	model->moves_pending = true;
	model->none_unmoved = false;
}

static void learn_ring(struct model *model, const struct asked *asked)
{
	if (asked->ret < 0)
		return;
	switch (asked->op) {
	case HYPTRACE_OP_ATTACH:
		model->ring.state = HYPTRACE_RING_ATTACHED;
		break;
	case HYPTRACE_OP_DETACH:
		model->ring.state = HYPTRACE_RING_DETACHED;
		break;
	case HYPTRACE_OP_RESET:
		model->moves_pending = false;
		break;
	case HYPTRACE_OP_EXCHANGE:
		learn_exchange(model);
		break;
	case HYPTRACE_OP_MOVE:
		if (asked->ret != HYPTRACE_MOVE_NONE_LEFT)
			break;
		model->none_unmoved = true;
		if (is_loaded(&model->ring))
			model->moves_pending = false;
		break;
	}
}

static void learn_count(struct model *model, const struct asked *asked)
{
	if (asked->op == HYPTRACE_OP_COUNT_PAGE && !asked->ret)
		model->nr_counters++;
	else if (asked->op == HYPTRACE_OP_COUNT_FREE && asked->ret >= 0 && model->nr_counters)
		model->nr_counters--;
}

static void compare(struct attack *attack, const struct asked *asked, s64 expected)
{
	s64 ret = asked->ret;

	if (expected == ANY)
		return;
	/* EL2 may have no memory for the page tables. */
	if (ret == -ENOMEM || ret == -ENOTRECOVERABLE)
		return;
	if (expected == PAGES || expected == TAKEN || expected == PART) {
		if ((ret != 0 || expected == TAKEN) && (ret != 1 || expected == PAGES) &&
		    ret != -EINVAL && ret != -EPERM)
			hostile_failed(attack, asked, "no error of a page");
		return;
	}
	if (ret != expected)
		hostile_failed(attack, asked, "not what the model has");
}

/**
 * hostile_model() - check a call about the rings or counters of SOLE_CPU
 * @attack:	its thread
 * @asked:	the call, from SOLE_CPU
 */
void hostile_model(struct attack *attack, const struct asked *asked)
{
	struct model *model = &attack->model;
	struct ring_model *ring = asked->args[0] & HYPTRACE_SPARE_RING ? &model->spare :
									 &model->ring;

	switch (asked->op) {
	case HYPTRACE_OP_RING_BEGIN ... HYPTRACE_OP_RING_FREE:
		compare(attack, asked, expect_load(model, ring, asked));
		learn_load(model, ring, asked);
		break;
	case HYPTRACE_OP_COUNT_PAGE ... HYPTRACE_OP_COUNT_RESET:
	case HYPTRACE_OP_PMU:
		compare(attack, asked, expect_count(attack, asked));
		learn_count(model, asked);
		break;
	default:
		compare(attack, asked, expect_ring(model, asked));
		learn_ring(model, asked);
	}
}
