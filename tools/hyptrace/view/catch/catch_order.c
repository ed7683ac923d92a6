// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the events of several rings in the order of time, though the rings are read one after the
 * other.
 *
 * While one ring is read, the other CPUs record. So a young event is held until the other rings
 * were read once more: else what these CPUs recorded before it would be taken after it.
 */
#include <stdlib.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "catch_order.h"

/**
 * struct held - the next event of a ring, which was decoded and not taken
 * @is_held:	there is one
 * @ts:		its time
 * @since:	when it was there at the latest: earlier than @ts if EL2's clock is ahead of ours
 */
struct held {
	bool		is_held;
	uint64_t	ts;
	uint64_t	since;
};

/**
 * struct catch_order - the order
 * @nr:		number of rings
 * @ops:	what to do with them
 * @arg:	the argument of @ops
 * @ahead:	EL2's clock is ahead of ours by at most this, as far as the events show
 * @held:	of each ring
 */
struct catch_order {
	unsigned int			nr;
	const struct catch_order_ops	*ops;
	void				*arg;
	uint64_t			ahead;
	struct held			held[];
};

/**
 * catch_order_new - begin with no events
 * @nr:		number of rings
 * @ops:	what to do with them
 * @arg:	the argument of @ops
 *
 * Return: the order.
 */
struct catch_order *catch_order_new(unsigned int nr, const struct catch_order_ops *ops, void *arg)
{
	struct catch_order *order = calloc(1, sizeof(*order) + nr * sizeof(order->held[0]));

	if (!order)
		die_no_memory();
	order->nr = nr;
	order->ops = ops;
	order->arg = arg;
	order->ahead = CATCH_AHEAD_NSEC;
	return order;
}

/**
 * catch_order_free - forget the events that are held
 * @order:	the order, or NULL
 */
void catch_order_free(struct catch_order *order)
{
	free(order);
}

/* Look for the next event of a ring, at a time. Return 0 or a negative errno. */
static int ask(struct catch_order *order, struct hyptrace_merge *merge, unsigned int index,
	       uint64_t now)
{
	struct held *held = &order->held[index];
	uint64_t there;
	int ret = order->ops->next(order->arg, index, &held->ts, &there);

	held->is_held = ret > 0;
	if (ret > 0) {
		held->since = held->ts < now ? held->ts : now;
		if (held->ts > there && held->ts - there > order->ahead)
			order->ahead = held->ts - there;
		hyptrace_merge_pending(merge, index, held->ts, held->since);
	} else if (!ret) {
		hyptrace_merge_empty(merge, index, now);
	}
	return ret < 0 ? ret : 0;
}

/**
 * catch_order_drain - take what the rings hold, in the order of time
 * @order:	the order
 * @now:	the time by the clock of the events, before the first ring is read
 * @all:	also take young events, before which others may be missing
 *
 * Return: 0, or the negative errno of a ring.
 */
int catch_order_drain(struct catch_order *order, uint64_t now, bool all)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(order->nr, CATCH_ORDER_NSEC);
	enum hyptrace_merge_step step;
	unsigned int i;
	int ret = 0;

	if (!merge)
		die_no_memory();
	for (i = 0; i < order->nr; i++)
		if (order->held[i].is_held)
			hyptrace_merge_pending(merge, i, order->held[i].ts, order->held[i].since);
	if (all)
		hyptrace_merge_finish(merge);
	while (!ret && (step = hyptrace_merge_step(merge, &i)) != HYPTRACE_MERGE_WAIT) {
		if (step == HYPTRACE_MERGE_EMIT) {
			order->held[i].is_held = false;
			order->ops->take(order->arg, i);
		} else {
			ret = ask(order, merge, i, now);
		}
	}
	hyptrace_merge_free(merge);
	return ret;
}

/**
 * catch_order_holds - is an event of a ring held?
 * @order:	the order
 * @index:	index of the ring
 *
 * Return: true if one is: then the last catch_order_drain() has not read the ring to its end.
 */
bool catch_order_holds(const struct catch_order *order, unsigned int index)
{
	return order->held[index].is_held;
}

/**
 * catch_order_ahead - how far can EL2's clock be ahead of the host's one?
 * @order:	the order
 *
 * What was in a ring at a time has no event that is later than that time and this together. The
 * result grows when an event shows that it was too small.
 *
 * Return: ns.
 */
uint64_t catch_order_ahead(const struct catch_order *order)
{
	return order->ahead;
}

/**
 * catch_order_is_past - were all events of a ring taken that it had at a time?
 * @order:	the order
 * @index:	index of the ring
 * @time:	the time, before the last catch_order_drain()
 *
 * Return: true if they were.
 */
bool catch_order_is_past(const struct catch_order *order, unsigned int index, uint64_t time)
{
	const struct held *held = &order->held[index];

	return !held->is_held || held->since > time + CATCH_ORDER_NSEC + order->ahead;
}
