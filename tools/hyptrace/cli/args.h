/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse numbers, sizes, CPU lists and event names of the command line. For the verbs.
 */
#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct hyptrace_event;

/* All CPU numbers are below this limit. */
#define CPU_LIMIT	65536

/* The CPUs that --cpu names */
struct cpu_list {
	bool		all;		/* @ids is then empty */
	unsigned int	*ids;		/* ascending and each once */
	unsigned int	nr;
};

/* The events that words name; auto_choice: event_choice_free() at the end of the scope */
#define auto_choice	__attribute__((cleanup(event_choice_free)))

struct event_choice {
	const char	**names;	/* of the matching events, each once */
	const struct hyptrace_event	**events;	/* likewise */
	unsigned int	nr;
	const char	**unknown;	/* words that match no event, each once */
	unsigned int	nr_unknown;
};

bool parse_number(const char *s, uint64_t max, uint64_t *value);
bool parse_size(const char *s, uint64_t *bytes);
bool parse_time(const char *text, uint64_t *nsec);
bool parse_duration(const char *text, uint64_t *nsec);
bool parse_mode(const char *s, uint32_t *mode);
bool parse_cpu_list(const char *s, struct cpu_list *list);
bool cpu_list_has(const struct cpu_list *list, unsigned int cpu);
void cpu_list_free(struct cpu_list *list);

void select_events(struct hyptrace_event *const *events, unsigned int nr_events,
		   const char *const *words, unsigned int nr_words, struct event_choice *choice);
void event_choice_free(struct event_choice *choice);

static inline bool has_name(const char *const *names, unsigned int nr, const char *name)
{
	while (nr && strcmp(names[nr - 1], name))
		nr--;
	return nr;
}

static inline bool event_choice_has(const struct event_choice *choice, const char *name)
{
	return has_name(choice->names, choice->nr, name);
}

#endif /* ARGS_H */
