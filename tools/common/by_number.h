/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pointers by numbers below 65536, of which few have one: ids of events, and CPUs. A hostile file
 * has large numbers: so there is memory only for those blocks of numbers that have a pointer.
 */
#ifndef BY_NUMBER_H
#define BY_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define BY_NUMBER_BLOCK	256

/* All 0 is an empty table. */
struct by_number {
	void	**blocks[(UINT16_MAX + 1) / BY_NUMBER_BLOCK];
};

/* NULL if the number has none */
static inline void *by_number_find(const struct by_number *table, unsigned int number)
{
	void *const *block = number <= UINT16_MAX ? table->blocks[number / BY_NUMBER_BLOCK] : NULL;

	return block ? block[number % BY_NUMBER_BLOCK] : NULL;
}

/* Return false if there is no memory, or the number is too large. */
static inline bool by_number_set(struct by_number *table, unsigned int number, void *ptr)
{
	void ***block;

	if (number > UINT16_MAX)
		return false;
	block = &table->blocks[number / BY_NUMBER_BLOCK];
	if (!*block)
		*block = calloc(BY_NUMBER_BLOCK, sizeof(**block));
	if (*block)
		(*block)[number % BY_NUMBER_BLOCK] = ptr;
	return *block;
}

/* The first pointer from a number on, which becomes its number; NULL after the last one */
static inline void *by_number_next(const struct by_number *table, unsigned int *number)
{
	void *ptr;

	for (; *number <= UINT16_MAX; ++*number) {
		ptr = by_number_find(table, *number);
		if (ptr)
			return ptr;
		if (!table->blocks[*number / BY_NUMBER_BLOCK])
			*number |= BY_NUMBER_BLOCK - 1;
	}
	return NULL;
}

/* Free the table, but not what its pointers point to. */
static inline void by_number_free(struct by_number *table)
{
	unsigned int i;

	for (i = 0; i < sizeof(table->blocks) / sizeof(table->blocks[0]); i++)
		free(table->blocks[i]);
}

#endif /* BY_NUMBER_H */
