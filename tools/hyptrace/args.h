/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, sizes and lists as people write them, and lists of event names. For
 * the verbs.
 */
#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct hyptrace_event;

/* CPU numbers are smaller. */
#define CPU_LIMIT	65536

/**
 * struct cpu_list - CPUs as they were asked for
 * @all:	all there are; the rest is empty then
 * @ids:	their numbers, ascending and each once
 * @nr:		how many
 */
struct cpu_list {
	bool		all;
	unsigned int	*ids;
	unsigned int	nr;
};

/* "hyptrace: out of memory", exit 2 */
void die_no_memory(void) __attribute__((noreturn));

bool parse_number(const char *s, uint64_t max, uint64_t *value);
bool parse_size(const char *s, uint64_t *bytes);
bool parse_mode(const char *s, uint32_t *mode);
bool parse_cpu_list(const char *s, struct cpu_list *list);
bool cpu_list_has(const struct cpu_list *list, unsigned int cpu);
void cpu_list_free(struct cpu_list *list);

const char **select_events(const struct hyptrace_event *events, unsigned int nr_events,
			   char *const *patterns, unsigned int nr_patterns, unsigned int *nr,
			   const char **unmatched);
const char *nearest(const char *word, const char *const *words, unsigned int nr);

#endif /* ARGS_H */
