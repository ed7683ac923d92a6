/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Take the events of several rings in the order of time, though the rings are read one after the
 * other. For hyptrace catch.
 */
#ifndef CATCH_ORDER_H
#define CATCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "output/clock.h"

/* An event is taken when each other ring was found empty so much later, or has a later event. */
#define CATCH_ORDER_NSEC	(10 * NSEC_PER_MSEC)

/* EL2's clock is set every 500 ms. Until then it may be ahead of ours by less than this. */
#define CATCH_AHEAD_NSEC	NSEC_PER_MSEC

/**
 * struct catch_order_ops - what the caller does with a ring
 * @next:	decode the next event, set its time, and a time of the host's clock at which it was
 *		in the ring. Return 1, 0 if the ring holds no more, or a negative errno
 * @take:	take the event that @next has decoded
 */
struct catch_order_ops {
	int	(*next)(void *arg, unsigned int index, uint64_t *ts, uint64_t *there);
	void	(*take)(void *arg, unsigned int index);
};

struct catch_order;

struct catch_order *catch_order_new(unsigned int nr, const struct catch_order_ops *ops, void *arg);
void catch_order_free(struct catch_order *order);
int catch_order_drain(struct catch_order *order, uint64_t now, bool all);
bool catch_order_holds(const struct catch_order *order, unsigned int index);
uint64_t catch_order_ahead(const struct catch_order *order);
bool catch_order_is_past(const struct catch_order *order, unsigned int index, uint64_t time);

#endif /* CATCH_ORDER_H */
