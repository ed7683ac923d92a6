// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of times by stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/map.h"
#include "output/out.h"
#include "stacks.h"

/* Stacks at most, so that no file takes all memory: more than these are summed as "(other)" */
#define STACKS_MAX	16384
#define OTHER		"(other)"
#define OTHER_MAX	80

struct sum {
	char		*stack;
	uint64_t	time;
	struct sum	*next;		/* with the same hash */
};

struct stacks {
	struct map	sums;		/* by the hash of the stack */
	size_t		nr;
};

struct stacks *stacks_new(void)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		die_no_memory();
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	struct map_entry *entry = NULL;
	struct sum *sum, *next;

	if (!stacks)
		return;
	while ((entry = map_next(&stacks->sums, entry))) {
		for (sum = entry->ptr; sum; sum = next) {
			next = sum->next;
			free(sum->stack);
			free(sum);
		}
	}
	map_free(&stacks->sums);
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

static struct sum *find(const struct stacks *stacks, const char *stack)
{
	const struct map_entry *entry = map_find(&stacks->sums, hash_of(stack), 0);
	struct sum *sum = entry ? entry->ptr : NULL;

	while (sum && strcmp(sum->stack, stack))
		sum = sum->next;
	return sum;
}

static struct sum *add(struct stacks *stacks, const char *stack)
{
	struct map_entry *entry = map_add(&stacks->sums, hash_of(stack), 0);
	struct sum *sum = malloc(sizeof(*sum));

	if (!sum)
		die_no_memory();
	*sum = (struct sum){ .stack = strdup(stack), .next = entry->ptr };
	if (!sum->stack)
		die_no_memory();
	entry->ptr = sum;
	stacks->nr++;
	return sum;
}

/* If there are too many stacks, the time of a new one is added to "(other)" of its first frame. */
void stacks_add(struct stacks *stacks, const char *stack, uint64_t time)
{
	struct sum *sum = find(stacks, stack);
	char other[OTHER_MAX];

	if (!sum && stacks->nr >= STACKS_MAX) {
		snprintf(other, sizeof(other), "%.*s;" OTHER, (int)strcspn(stack, ";"), stack);
		stack = other;
		sum = find(stacks, stack);
	}
	if (!sum)
		sum = add(stacks, stack);
	sum->time += time;
}

/* Add all sums of other stacks, which are freed; @to may be NULL. Return where they are now. */
struct stacks *stacks_join(struct stacks *to, struct stacks *from)
{
	struct map_entry *entry = NULL;
	const struct sum *sum;

	if (!to)
		return from;
	while ((entry = map_next(&from->sums, entry)))
		for (sum = entry->ptr; sum; sum = sum->next)
			stacks_add(to, sum->stack, sum->time);
	stacks_free(from);
	return to;
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

/* A line per stack, sorted */
void stacks_print(const struct stacks *stacks, struct out *out)
{
	const struct sum **sorted = calloc(stacks->nr + 1, sizeof(*sorted)), *sum;
	struct map_entry *entry = NULL;
	size_t i, nr = 0;

	if (!sorted)
		die_no_memory();
	while ((entry = map_next(&stacks->sums, entry)))
		for (sum = entry->ptr; sum; sum = sum->next)
			if (sum->time)
				sorted[nr++] = sum;
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (i = 0; i < nr; i++) {
		put_plain(out, sorted[i]->stack);
		out_printf(out, " %" PRIu64 "\n", sorted[i]->time);
	}
	free(sorted);
}
