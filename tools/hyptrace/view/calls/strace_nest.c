// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: in how many calls a call is. For cmd_strace.c.
 *
 * EL2 handles one thing at a time on a CPU. So a call is in a later one of the same CPU if it has
 * ended after that one began, and if that kind of calls can have it inside. Times alone do not
 * decide: a call may end in the same tick of the clock in which the next one begins.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "strace_nest.h"

/* Places in the queue at first; doubled when they are used up */
#define PLACES_MIN	64

/* No call: the numbers of calls begin with 1 */
#define NONE		0

/**
 * struct place - a place in the queue
 * @item:	the call or the loss
 * @before:	number of the call of the same CPU before it, or NONE
 * @since:	when it has come
 */
struct place {
	struct strace_item	item;
	uint64_t		before;
	uint64_t		since;
};

/**
 * struct nest_cpu - the calls of a CPU
 * @last:	number of the last one, or NONE
 * @final:	the depth is final for calls up to this number
 */
struct nest_cpu {
	uint64_t	last;
	uint64_t	final;
};

/**
 * struct strace_nest - the queue
 * @parents:	by kind: a bit for each kind of calls that it can be in
 * @places:	calls and losses, by number modulo @nr_places, which is a power of two
 * @nr_places:	number of @places
 * @head:	number of the first one
 * @tail:	number of the next one to come
 * @cpus:	the CPUs, by number
 * @nr_cpus:	number of @cpus
 * @has_ended:	no call follows
 */
struct strace_nest {
	uint32_t	parents[NR_STRACE_KINDS];
	struct place	*places;
	uint64_t	nr_places;
	uint64_t	head;
	uint64_t	tail;
	struct nest_cpu	*cpus;
	unsigned int	nr_cpus;
	bool		has_ended;
};

/**
 * strace_nest_new - make the queue
 * @parents:	by kind: a bit, 1 << kind, for each kind of calls that it can be in, of those that
 *		are recorded
 *
 * Return: the queue, for strace_nest_free().
 */
struct strace_nest *strace_nest_new(const uint32_t parents[NR_STRACE_KINDS])
{
	struct strace_nest *nest = calloc(1, sizeof(*nest));

	if (!nest)
		die_no_memory();
	memcpy(nest->parents, parents, sizeof(nest->parents));
	nest->nr_places = PLACES_MIN;
	nest->places = calloc(nest->nr_places, sizeof(*nest->places));
	if (!nest->places)
		die_no_memory();
	nest->head = NONE + 1;
	nest->tail = nest->head;
	return nest;
}

/**
 * strace_nest_free - free the queue
 * @nest:	the queue, or NULL
 */
void strace_nest_free(struct strace_nest *nest)
{
	if (!nest)
		return;
	free(nest->places);
	free(nest->cpus);
	free(nest);
}

static struct place *place_of(const struct strace_nest *nest, uint64_t number)
{
	return &nest->places[number & (nest->nr_places - 1)];
}

static struct nest_cpu *cpu_of(struct strace_nest *nest, unsigned int cpu)
{
	if (cpu < nest->nr_cpus)
		return &nest->cpus[cpu];
	nest->cpus = reallocarray(nest->cpus, cpu + 1, sizeof(*nest->cpus));
	if (!nest->cpus)
		die_no_memory();
	memset(nest->cpus + nest->nr_cpus, 0, (cpu + 1 - nest->nr_cpus) * sizeof(*nest->cpus));
	nest->nr_cpus = cpu + 1;
	return &nest->cpus[cpu];
}

static void grow(struct strace_nest *nest)
{
	struct place *old = nest->places;
	const uint64_t nr = nest->nr_places;
	uint64_t i;

	nest->nr_places = 2 * nr;
	nest->places = calloc(nest->nr_places, sizeof(*nest->places));
	if (!nest->places)
		die_no_memory();
	for (i = nest->head; i < nest->tail; i++)
		*place_of(nest, i) = old[i & (nr - 1)];
	free(old);
}

static struct place *add(struct strace_nest *nest, uint64_t now)
{
	struct place *place;

	if (nest->tail - nest->head == nest->nr_places)
		grow(nest);
	place = place_of(nest, nest->tail++);
	place->since = now;
	place->before = NONE;
	return place;
}

/* Make the waiting calls deeper that are in a call. */
static void enclose(struct strace_nest *nest, const struct nest_cpu *cpu,
		    const struct strace_call *call)
{
	const uint64_t begin = call->duration < call->ts ? call->ts - call->duration : 0;
	uint64_t number = cpu->last;

	while (number >= nest->head && number > cpu->final) {
		struct place *place = place_of(nest, number);

		if (place->item.call.ts < begin)
			break;
		if (nest->parents[place->item.call.kind] & 1U << call->kind)
			place->item.call.depth++;
		number = place->before;
	}
}

/**
 * strace_nest_call - append a call
 * @nest:	the queue
 * @call:	the call, later than those of its CPU that were appended
 * @is_shown:	it leaves the queue, and counts for the depth; else the queue only learns that no
 *		earlier call is in a later one
 * @now:	the time, by a clock of the caller
 */
void strace_nest_call(struct strace_nest *nest, const struct strace_call *call, bool is_shown,
		      uint64_t now)
{
	struct nest_cpu *cpu = cpu_of(nest, call->cpu);
	struct place *place;

	if (is_shown) {
		enclose(nest, cpu, call);
		place = add(nest, now);
		place->item.is_loss = false;
		place->item.call = *call;
		place->before = cpu->last;
		cpu->last = nest->tail - 1;
	}
	/* nothing that was recorded before it can be in anything that is recorded after it */
	if (!nest->parents[call->kind])
		cpu->final = cpu->last;
}

/**
 * strace_nest_loss - append a loss
 * @nest:	the queue
 * @cpu:	the CPU
 * @ts:		its time
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 * @now:	the time, by a clock of the caller
 */
void strace_nest_loss(struct strace_nest *nest, unsigned int cpu, uint64_t ts, uint64_t lost,
		      uint64_t now)
{
	struct place *place = add(nest, now);

	place->item.is_loss = true;
	place->item.lost = lost;
	place->item.call.cpu = cpu;
	place->item.call.ts = ts;
}

/* In how many calls is a call of a kind if all of them are recorded? */
static unsigned int usual_depth(const struct strace_nest *nest, enum strace_kind kind)
{
	unsigned int depth = 0;

	/* the outer kinds are before the inner ones in enum strace_kind */
	for (; nest->parents[kind]; depth++)
		kind = 31 - __builtin_clz(nest->parents[kind]);
	return depth;
}

/**
 * strace_nest_next - take the first call or loss out of the queue
 * @nest:	the queue
 * @until:	also take one that has come until then, though a call that it is in may follow: it
 *		is as deep as calls of its kind usually are
 *
 * Return: what was taken, valid until the next call or loss is appended; NULL if the first one has
 * to wait.
 */
const struct strace_item *strace_nest_next(struct strace_nest *nest, uint64_t until)
{
	struct strace_item *item;
	struct place *place;

	if (nest->head == nest->tail)
		return NULL;
	place = place_of(nest, nest->head);
	item = &place->item;
	if (!item->is_loss && !nest->has_ended &&
	    cpu_of(nest, item->call.cpu)->final < nest->head) {
		unsigned int usual = usual_depth(nest, item->call.kind);

		if (place->since > until && nest->tail - nest->head < STRACE_NEST_MAX)
			return NULL;
		if (item->call.depth < usual)
			item->call.depth = usual;
	}
	nest->head++;
	return item;
}

/**
 * strace_nest_end - say that no call follows
 * @nest:	the queue
 */
void strace_nest_end(struct strace_nest *nest)
{
	nest->has_ended = true;
}

/**
 * strace_nest_waits - does a call wait?
 * @nest:	the queue
 * @since:	out: when the first one has come
 *
 * Return: true if one waits.
 */
bool strace_nest_waits(const struct strace_nest *nest, uint64_t *since)
{
	if (nest->head == nest->tail)
		return false;
	*since = place_of(nest, nest->head)->since;
	return true;
}
