/* SPDX-License-Identifier: GPL-2.0-only */
/* A hash map from two numbers to a number or a pointer. All 0 is an empty map. */
#ifndef MAP_H
#define MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t	key, minor;
	union {			/* never 0: that is a free slot */
		uint64_t	value;
		void		*ptr;
	};
};

struct map {
	struct map_entry	*slots;
	uint32_t		nr_slots;	/* a power of two, at most half of them taken */
	uint32_t		nr;
};

/* The high bits of a product with an odd number that has random bits */
static inline uint32_t map_hash(uint64_t key, uint64_t minor)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

	return (key * factor ^ minor) * factor >> 32;
}

/* The slot of a key, or the free one that it can take; the map must have slots */
static inline struct map_entry *map_slot(const struct map *map, uint64_t key, uint64_t minor)
{
	uint32_t i = map_hash(key, minor) & (map->nr_slots - 1);

	while (map->slots[i].value && (map->slots[i].key != key || map->slots[i].minor != minor))
		i = (i + 1) & (map->nr_slots - 1);
	return &map->slots[i];
}

/* NULL if there is none; valid until the next map_add() or map_remove() */
static inline struct map_entry *map_find(const struct map *map, uint64_t key, uint64_t minor)
{
	struct map_entry *entry = map->nr ? map_slot(map, key, minor) : NULL;

	return entry && entry->value ? entry : NULL;
}

/* If the key is new, the value is 0, and the caller must set it before the next call. */
struct map_entry *map_add(struct map *map, uint64_t key, uint64_t minor);
/* The value of a key: if it is new, @size bytes of 0, for map_free_values() */
void *map_get(struct map *map, uint64_t key, uint64_t minor, size_t size);
void map_remove(struct map *map, struct map_entry *entry);
void map_free(struct map *map);
void map_free_values(struct map *map);

/* The first entry after NULL, NULL after the last one; none may be added or removed meanwhile */
struct map_entry *map_next(const struct map *map, struct map_entry *entry);

#endif /* MAP_H */
