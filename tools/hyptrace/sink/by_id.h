/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What belongs to the events, by their ids. Each CPU has such a table, and a hostile file has few
 * events with large ids, and many CPUs: so there are only those blocks of ids that have something.
 */
#ifndef BY_ID_H
#define BY_ID_H

#include <stdint.h>

#include "output/die.h"

#define BY_ID_BLOCK	256
#define BY_ID_BLOCKS	((UINT16_MAX + 1) / BY_ID_BLOCK)

/* All 0 is an empty table. */
struct by_id {
	void	**blocks[BY_ID_BLOCKS];
};

/* NULL if the id has nothing */
static inline void *by_id_find(const struct by_id *table, uint16_t id)
{
	void *const *block = table->blocks[id / BY_ID_BLOCK];

	return block ? block[id % BY_ID_BLOCK] : NULL;
}

static inline void by_id_add(struct by_id *table, uint16_t id, void *ptr)
{
	void ***block = &table->blocks[id / BY_ID_BLOCK];

	*block = *block ?: xcalloc(BY_ID_BLOCK, sizeof(**block));
	(*block)[id % BY_ID_BLOCK] = ptr;
}

/* Free the table, and with a function all that is in it. */
static inline void by_id_free(struct by_id *table, void (*free_one)(void *ptr))
{
	unsigned int id;

	for (id = 0; id <= UINT16_MAX; id++)
		if (by_id_find(table, id))
			free_one(by_id_find(table, id));
	for (id = 0; id < BY_ID_BLOCKS; id++)
		free(table->blocks[id]);
}

#endif /* BY_ID_H */
