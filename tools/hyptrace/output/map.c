// SPDX-License-Identifier: GPL-2.0-only
/* A hash map with linear probing: see map.h. */
#include "die.h"
#include "map.h"

#define SLOTS_MIN	64

struct map_entry *map_next(const struct map *map, struct map_entry *entry)
{
	/* an empty map may have no slots */
	if (!map->nr)
		return NULL;
	entry = entry ? entry + 1 : map->slots;
	while (entry < map->slots + map->nr_slots && !entry->value)
		entry++;
	return entry < map->slots + map->nr_slots ? entry : NULL;
}

static void grow(struct map *map)
{
	struct map larger = { .nr_slots = map->nr_slots ? 2 * map->nr_slots : SLOTS_MIN };
	struct map_entry *entry = NULL;

	larger.slots = xcalloc(larger.nr_slots, sizeof(*larger.slots));
	larger.nr = map->nr;
	while ((entry = map_next(map, entry)))
		*map_slot(&larger, entry->key, entry->minor) = *entry;
	free(map->slots);
	*map = larger;
}

struct map_entry *map_add(struct map *map, uint64_t key, uint64_t minor)
{
	struct map_entry *entry;

	if (2 * map->nr >= map->nr_slots)
		grow(map);
	entry = map_slot(map, key, minor);
	if (!entry->value) {
		entry->key = key;
		entry->minor = minor;
		map->nr++;
	}
	return entry;
}

void *map_get(struct map *map, uint64_t key, uint64_t minor, size_t size)
{
	struct map_entry *entry = map_add(map, key, minor);

	if (!entry->value)
		entry->ptr = xcalloc(1, size);
	return entry->ptr;
}

/* Free a slot, and move those behind it that would not be found any more. */
void map_remove(struct map *map, struct map_entry *entry)
{
	const uint32_t mask = map->nr_slots - 1;
	uint32_t hole = entry - map->slots, at = hole;

	for (;;) {
		at = (at + 1) & mask;
		if (!map->slots[at].value)
			break;
		/* the slot where its search begins must not be between the hole and it */
		if (((at - map_hash(map->slots[at].key, map->slots[at].minor)) & mask) <
		    ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].value = 0;
	map->nr--;
}

void map_free_values(struct map *map)
{
	struct map_entry *entry = NULL;

	while ((entry = map_next(map, entry)))
		free(entry->ptr);
	map_free(map);
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){};
}
