// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring that only its own CPU uses, while the others attack theirs: its shadow is the model of the
 * unit tests, and each sub-buffer must be what the model has.
 */
#include "el2.h"
#include "ring_model.h"

#define META		(SHADOW_FIRST + 10)
#define DIR		(SHADOW_FIRST + 11)
#define TABLE		(SHADOW_FIRST + 12)
#define NR_MIN		3
#define NR_MAX		9

static const u32 sizes[] = { 2, 5, 8, 16, 60, 113, 114, 250, 1000, 2033, 4049 };

struct shadow {
	struct attack *attack;
	struct hyptrace_ring *ring;
	struct model *model;
	u64 next;	/* number of the next event */
	u64 now;
	u64 read, lost;
};

static const struct hyptrace_subbuf *reader_page(const struct shadow *shadow)
{
	return env_page(SHADOW_FIRST + hyptrace_reader_slot(shadow->ring)->id);
}

static s64 ask(const struct shadow *shadow, u64 op, u64 arg)
{
	return call(shadow->attack, op, shadow->attack->cpu, arg, 0);
}

static void start(struct shadow *shadow, u32 nr, u32 flags)
{
	struct hyptrace_table_entry entries[NR_MAX] = { };
	u64 cpu = shadow->attack->cpu;
	u32 i;

	for (i = 0; i < nr; i++)
		entries[i].pfn = env_pfn(SHADOW_FIRST + i);
	require(env_host_try_write(TABLE, 0, entries, sizeof(entries), false));
	require(!call(shadow->attack, HYPTRACE_OP_RING_BEGIN, cpu, nr, flags));
	require(!ask(shadow, HYPTRACE_OP_RING_DIR, env_pfn(DIR)));
	require(ask(shadow, HYPTRACE_OP_RING_TABLE, env_pfn(TABLE)) == 1);
	for (i = 0; ask(shadow, HYPTRACE_OP_RING_TABLE, 0); i++)
		require(i < nr);
	require(!ask(shadow, HYPTRACE_OP_RING_READY, env_pfn(META)));
	require(!ask(shadow, HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS));
	shadow->model = model_new(nr, flags & HYPTRACE_RING_DISCARD);
}

/* All pages come back wiped. */
static void stop(struct shadow *shadow)
{
	u32 i;

	require(!ask(shadow, HYPTRACE_OP_DETACH, 0));
	for (i = 0; ask(shadow, HYPTRACE_OP_RING_FREE, 0); i++)
		require(i < POOL);
	for (i = SHADOW_FIRST; i < POOL; i++)
		require(env_owner(i) == ENV_HOST && env_is_wiped(i));
	model_delete(shadow->model);
}

static void write_event(struct shadow *shadow, u64 random)
{
	struct model_event event = {
		.number = shadow->next++, .payload = sizes[random % ENV_NR(sizes)],
		.kind = MODEL_RAW,
	};
	struct hyptrace_ring *ring = shadow->ring;
	u64 before = ring->recorded, at;
	void *to;

	shadow->now += random >> 8 & 0xfff;
	if (!(random >> 20 & 127))
		shadow->now += BIT_ULL(28);
	event.time = shadow->now - (random >> 32 & 15 ? 0 : random >> 36 & 0xffff);
	at = event.time;
	to = hyptrace_ring_reserve(ring, &at, event.payload);
	if (to) {
		model_fill(to, event.number, event.payload);
		hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, at,
				     event.payload);
	}
	require(model_write(shadow->model, &event) == !!to);
	require(ring->recorded == before + !!to);
	shadow->attack->nr_shadow++;
}

static void compare(const struct shadow *shadow)
{
	const struct hyptrace_meta *meta = env_page(META);
	const struct model *model = shadow->model;

	require(meta->written == model->recorded + model->dropped);
	require(meta->overrun == model->overrun && meta->dropped == model->dropped);
	require(meta->nr_entered == model->touched);
	require(meta->nr_overwritten == model->overwritten);
	require(meta->reader_lost == model->reader->lost);
	require(meta->writer_in_reader_page == model->following);
	require(meta->nr_unread == (model->following ? 0 : model->nr_unread - 1));
	require(meta->reader_id == hyptrace_reader_slot(shadow->ring)->id);
}

/* Read the reader's page, and swap it. False if there is no other one. */
static bool swap_page(struct shadow *shadow)
{
	struct model_page *page = shadow->model->reader;
	u64 read = page->nr;
	u32 used = page->used;
	int due;

	model_check_page(page, reader_page(shadow));
	if (!shadow->model->following && used)
		require(ask(shadow, HYPTRACE_OP_SWAP, used - 1) == -ESTALE);
	due = model_swap(shadow->model, used);
	if (due) {
		require(ask(shadow, HYPTRACE_OP_SWAP, used) == due);
		return false;
	}
	require(ask(shadow, HYPTRACE_OP_SWAP, used) ==
		(s64)hyptrace_reader_slot(shadow->ring)->id);
	shadow->read += read;
	shadow->lost += shadow->model->reader->lost;
	compare(shadow);

	return true;
}

static void step(struct shadow *shadow)
{
	u64 random = attack_random(shadow->attack);

	switch (random >> 56) {
	case 0 ... 3:
		swap_page(shadow);
		break;
	case 4:
		require(!ask(shadow, HYPTRACE_OP_SYNC, 0));
		compare(shadow);
		break;
	case 5:
		hyptrace_cpu_off();
		hyptrace_cpu_on();
		break;
	case 6:
		require(!ask(shadow, HYPTRACE_OP_DETACH, 0));
		require(!ask(shadow, HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS));
		break;
	default:
		write_event(shadow, random);
	}
}

/* In the end each event was read, or reported as lost. */
void shadow_run(struct attack *attack, u32 steps)
{
	struct shadow shadow = { .attack = attack, .ring = hyptrace_this_ring(), .now = 1000 };
	u64 random = attack_random(attack);

	start(&shadow, NR_MIN + random % (NR_MAX - NR_MIN + 1),
	      random >> 8 & HYPTRACE_RING_DISCARD);
	while (steps--)
		step(&shadow);
	while (swap_page(&shadow))
		;
	shadow.read += shadow.model->reader->nr;
	require(shadow.model->recorded == shadow.read + shadow.model->overrun);
	require(shadow.lost + shadow.model->pending ==
		shadow.model->overrun + shadow.model->dropped);
	require(shadow.next == shadow.read + shadow.lost + shadow.model->pending);
	stop(&shadow);
}
