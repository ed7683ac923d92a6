/* SPDX-License-Identifier: GPL-2.0-only */
/* What a verb works on: remotes, CPUs, events that words choose, their triggers and counters. */
#ifndef SELECT_H
#define SELECT_H

#include "lib/hyptrace.h"
#include "cli/cli.h"

/* As auto_free, of what the library returns */
#define auto_remote	__attribute__((cleanup(free_local_remote)))
#define auto_remotes	__attribute__((cleanup(free_local_remotes)))
#define auto_cpu	__attribute__((cleanup(free_local_cpu)))
#define auto_cpus	__attribute__((cleanup(free_local_cpus)))
#define auto_event	__attribute__((cleanup(free_local_event)))
#define auto_events	__attribute__((cleanup(free_local_events)))
#define auto_counters	__attribute__((cleanup(free_local_counters)))
#define auto_filter	__attribute__((cleanup(free_local_filter)))

#define DEFINE_FREE_LOCAL(name, type, function) \
	static inline void free_local_##name(type at) { function(*at); }

DEFINE_FREE_LOCAL(remote, struct hyptrace_remote **, hyptrace_free_remote)
DEFINE_FREE_LOCAL(remotes, struct hyptrace_remote ***, hyptrace_free_remotes)
DEFINE_FREE_LOCAL(cpu, struct hyptrace_cpu **, hyptrace_free_cpu)
DEFINE_FREE_LOCAL(cpus, struct hyptrace_cpu ***, hyptrace_free_cpus)
DEFINE_FREE_LOCAL(event, struct hyptrace_event **, hyptrace_free_event)
DEFINE_FREE_LOCAL(events, struct hyptrace_event ***, hyptrace_free_events)
DEFINE_FREE_LOCAL(counters, struct hyptrace_event_counter ***, hyptrace_free_counters)
DEFINE_FREE_LOCAL(filter, struct hyptrace_filter **, hyptrace_filter_free)

/* select.c */
void cmd_make_printer(struct context *ctx);
/* A dump of memory in place of a remote: "dump:FILE", or "dump:REMOTE:FILE" */
#define DUMP_PREFIX	"dump:"
/* What the boot before has left, as a remote and as a file */
#define PREVIOUS_REMOTE	"previous"
#define PREVIOUS_PATH	"/dev/hyptrace-previous"

int cmd_connect(struct context *ctx);
int cmd_get_remotes(struct context *ctx, bool all, struct hyptrace_remote ***remotes,
		    unsigned int *nr);
int cmd_get_remote(struct context *ctx, struct hyptrace_remote **remote);
int cmd_list_events(struct context *ctx, const char *remote, struct hyptrace_event ***events,
		    unsigned int *nr);
int cmd_get_events(struct context *ctx, struct hyptrace_remote **remote,
		   struct hyptrace_event ***events, unsigned int *nr);
int cmd_get_cpus(struct context *ctx, const char *remote, struct hyptrace_cpu ***cpus,
		 unsigned int *nr);

/* Request something for one CPU */
typedef int (*cpu_request_fn)(struct hyptrace *h, const char *remote, int cpu, const void *arg,
			      struct hyptrace_error *err);

int cmd_request(struct context *ctx, const char *what, int without, cpu_request_fn request,
		const void *arg);

/* The ids of records have 16 bits: no record has an id of a file that is above. */
#define CHOICE_IDS	(UINT16_MAX + 1)

/* Arguments of a verb; the array is for free() */
struct words {
	const char	**words;
	unsigned int	nr;
};

struct choice {
	struct words		words;		/* arguments of -e */
	const char		*filter;	/* argument of -F, or NULL */
	bool			*wanted;	/* by id, what -e names; NULL: all events */
	struct hyptrace_filter	*parsed;	/* the condition of -F; or NULL */
	uint32_t		also;		/* id of an event that is always chosen; or 0 */
};

/* choice.c */
void cmd_add_word(struct words *words, const char *arg);
error_t cmd_add_words(struct words *words, char *list);
error_t cmd_set_filter(const char **filter, const char *arg);
int cmd_refuse_missing(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		       const struct event_choice *choice);
int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice);
void cmd_leave_out_func(struct event_choice *choice, const struct words *words);
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice);

int filter_fail(const char *text, size_t at, const struct hyptrace_error *err);
bool filter_is_valid(const char *text, const struct hyptrace_event *const *events, unsigned int nr,
		     bool at_el2);
int filter_parse(const char *text, const struct hyptrace_event *const *events, unsigned int nr,
		 const struct hyptrace_formats *formats, bool at_el2,
		 struct hyptrace_filter **parsed);

int choice_make(struct choice *choice, const char *verb, struct hyptrace_event *const *events,
		unsigned int nr, const struct hyptrace_formats *formats);
void choice_free(struct choice *choice);
bool choice_accept_event(const struct hyptrace_stream_event *event, void *choice);
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr);

/* Is an event chosen? @wanted is as in struct choice. */
static inline bool choice_has(const bool *wanted, const struct hyptrace_event *event)
{
	return !wanted || (event->id < CHOICE_IDS && wanted[event->id]);
}

/* Are not all events chosen? */
static inline bool choice_is_made(const struct choice *choice)
{
	return choice->parsed || choice->wanted;
}

/* Have EL2 count the events that words name, or count them no more. Return an exit code. */
int counters_switch(struct context *ctx, const struct words *words, bool on);

/* trigger.c: triggers and what has fired */
bool trigger_is_armed(const struct hyptrace_remote *remote, const struct hyptrace_event *event);
char *trigger_text(const struct hyptrace_event *event);
void trigger_print_keys(struct printer *p, const struct hyptrace_event *event);
void firing_note(const struct hyptrace_remote *remote, unsigned int which, uint32_t after);
bool firing_goes_on(const struct hyptrace_remote *remote, unsigned int which);
char *firing_text(const struct hyptrace_remote *remote, unsigned int which);
void firing_print_keys(struct printer *p, const struct hyptrace_remote *remote,
		       unsigned int which);

/* boot.c: print the words that start this trace at boot, or check @words. Return an exit code. */
int boot_words(struct context *ctx, char *words);

/* counters.c: the counters of a remote, of each CPU or added up */

/* A counter of one CPU, or the sum of those of all CPUs */
struct counter_sum {
	const struct hyptrace_event	*event;
	const struct hyptrace_event_counter	*of;	/* one of the counters; or NULL */
	bool				all_cpus;	/* it is the sum of all CPUs */
	uint64_t			count;
	uint64_t			total;	/* sum of the times, ns */
	uint64_t			longest;	/* the longest time, ns */
	uint64_t			*buckets;	/* events by time: as many as @of has */
};

/* Sums to print, in this order */
struct counter_sums {
	struct counter_sum	*sums;
	unsigned int		nr;
};

bool counters_any_counted(struct hyptrace_event *const *events);
bool counters_have_same_key(const struct hyptrace_event_counter *a,
			    const struct hyptrace_event_counter *b);
void counter_sums_add(struct counter_sums *sums, struct hyptrace_event *const *events,
		      const struct hyptrace_event_counter *counter, bool all_cpus);
void counter_sums_add_unused(struct counter_sums *sums, struct hyptrace_event *const *events);
void counter_sums_sort(struct counter_sums *sums);
void counter_sums_free(struct counter_sums *sums);

#endif /* SELECT_H */
