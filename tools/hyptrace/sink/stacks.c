// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of times by stack, in a hash table: its size doubles when it is half full. For
 * export_collapsed.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/out.h"
#include "stacks.h"

#define SIZE_MIN	64

/* Stacks at most, so that no file takes all memory: more than these are summed as "(other)" */
#define STACKS_MAX	16384
#define OTHER		"(other)"
#define OTHER_MAX	80

struct sum {
	char		*stack;		/* NULL: unused */
	uint64_t	hash;
	uint64_t	time;
};

struct stacks {
	struct sum	*sums;
	size_t		size;		/* a power of two */
	size_t		nr;
};

static struct sum *new_sums(size_t size)
{
	struct sum *sums = calloc(size, sizeof(*sums));

	if (!sums)
		die_no_memory();
	return sums;
}

/**
 * stacks_new - make an empty set of sums
 *
 * Return: the set.
 */
struct stacks *stacks_new(void)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		die_no_memory();
	stacks->sums = new_sums(SIZE_MIN);
	stacks->size = SIZE_MIN;
	return stacks;
}

/**
 * stacks_free - free a set of sums
 * @stacks:	the set
 */
void stacks_free(struct stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->size; i++)
		free(stacks->sums[i].stack);
	free(stacks->sums);
	free(stacks);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static struct sum *find(struct sum *sums, size_t size, const char *stack, uint64_t hash)
{
	size_t at = hash & (size - 1);

	while (sums[at].stack && (sums[at].hash != hash || strcmp(sums[at].stack, stack)))
		at = (at + 1) & (size - 1);
	return &sums[at];
}

static void grow(struct stacks *stacks)
{
	struct sum *old = stacks->sums;
	size_t i, size = 2 * stacks->size;

	stacks->sums = new_sums(size);
	for (i = 0; i < stacks->size; i++)
		if (old[i].stack)
			*find(stacks->sums, size, old[i].stack, old[i].hash) = old[i];
	stacks->size = size;
	free(old);
}

/**
 * stacks_add - add a time to the sum of a stack
 * @stacks:	the set
 * @stack:	the stack
 * @time:	the time in ns
 *
 * If there are too many stacks, the time of a new one is added to "(other)" of its first frame.
 */
void stacks_add(struct stacks *stacks, const char *stack, uint64_t time)
{
	uint64_t hash = hash_of(stack);
	struct sum *sum = find(stacks->sums, stacks->size, stack, hash);
	char other[OTHER_MAX];

	if (!sum->stack && stacks->nr >= STACKS_MAX) {
		snprintf(other, sizeof(other), "%.*s;" OTHER, (int)strcspn(stack, ";"), stack);
		stack = other;
		hash = hash_of(stack);
		sum = find(stacks->sums, stacks->size, stack, hash);
	}
	if (!sum->stack) {
		sum->stack = strdup(stack);
		if (!sum->stack)
			die_no_memory();
		sum->hash = hash;
		stacks->nr++;
	}
	sum->time += time;
	if (2 * stacks->nr > stacks->size)
		grow(stacks);
}

static int compare(const void *a, const void *b)
{
	const struct sum *const *x = a, *const *y = b;

	return strcmp((*x)->stack, (*y)->stack);
}

/* The names are those of a file: a terminal must not obey them. */
static void put_plain(struct out *out, const char *text)
{
	for (; *text; text++)
		out_putc(out, *text >= ' ' && *text <= '~' ? *text : '?');
}

/**
 * stacks_print - print a line per stack, sorted
 * @stacks:	the set
 * @out:	the output
 */
void stacks_print(const struct stacks *stacks, struct out *out)
{
	const struct sum **sorted = calloc(stacks->nr + 1, sizeof(*sorted));
	size_t i, nr = 0;

	if (!sorted)
		die_no_memory();
	for (i = 0; i < stacks->size; i++)
		if (stacks->sums[i].stack && stacks->sums[i].time)
			sorted[nr++] = &stacks->sums[i];
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (i = 0; i < nr; i++) {
		put_plain(out, sorted[i]->stack);
		out_printf(out, " %" PRIu64 "\n", sorted[i]->time);
	}
	free(sorted);
}
