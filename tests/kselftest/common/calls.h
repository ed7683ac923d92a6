/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls and SMCs that a test makes through the module hyptrace_calls: see
 * modules/hyptrace_calls.h.
 */
#ifndef __CALLS_H
#define __CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../modules/hyptrace_calls.h"

/* The module, loaded, and what it says */
struct calls {
	int			fd;
	struct calls_info	info;
};

int calls_open(struct calls *calls);
int calls_open_without_vm(struct calls *calls);
int calls_close(struct calls *calls);

int calls_make(const struct calls *calls, struct calls_one *list, size_t nr);
const struct calls_known *calls_find(const struct calls *calls, const char *name);
struct calls_one calls_hvc(const struct calls *calls, const char *name, uint64_t x1, uint64_t x2,
			   uint64_t x3);

int calls_share_on(const struct calls *calls, unsigned int nr_cpus, unsigned int nr_batches);
int calls_repeat_on(const struct calls *calls, unsigned int nr_cpus, unsigned int nr_batches,
		    struct calls_one call);

bool calls_for_guest_memory(const struct calls *calls);
bool calls_for_heap(const struct calls *calls);

int calls_create_vm(void);

#endif /* __CALLS_H */
