/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that does what it can with the device and the family, at random: see test_hostile.c. */
#ifndef __HOSTILE_H
#define __HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nl.h"

/**
 * struct hostile_tries - what all processes have tried; in memory that they share
 * @requests:	messages sent to the family
 * @answered:	of these, what was done
 * @ioctls:	ioctls of the device
 * @attached:	of these, what was done
 * @others:	other system calls of the device
 */
struct hostile_tries {
	uint64_t requests;
	uint64_t answered;
	uint64_t ioctls;
	uint64_t attached;
	uint64_t others;
};

/**
 * struct hostile - a process
 * @random:	state of its random numbers
 * @remote:	what it mostly attacks
 * @nl:		its socket
 * @tries:	those of all processes
 */
struct hostile {
	uint64_t		random;
	const char		*remote;
	struct nl		nl;
	struct hostile_tries	*tries;
};

uint64_t hostile_random(struct hostile *h);

static inline uint64_t hostile_below(struct hostile *h, uint64_t limit)
{
	return hostile_random(h) % limit;
}

uint64_t hostile_number(struct hostile *h);
const char *hostile_remote(struct hostile *h);

void hostile_request(struct hostile *h);

void hostile_device(struct hostile *h);

#endif /* __HOSTILE_H */
