/* SPDX-License-Identifier: GPL-2.0-only */
/* hyptrace strace: its settings and its state. */
#ifndef STRACE_H
#define STRACE_H

#include <inttypes.h>

#include "lib/hyptrace_model.h"
#include "output/map.h"
#include "session/session.h"
#include "sink/lines.h"

/* The kinds of events that are calls, from the outer to the inner ones */
#define STRACE_FIRST	HYPTRACE_KIND_HYPERCALL
#define STRACE_LAST	HYPTRACE_KIND_GUEST_FIXUP

/* Bits of the events that say which vCPU is on a CPU */
#define STRACE_WITNESSES \
	(HYPTRACE_KIND_BIT(HYPTRACE_KIND_VCPU_LOAD) | HYPTRACE_KIND_BIT(HYPTRACE_KIND_VCPU_PUT) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_GUEST_EXIT))

/* Bytes of a call's name at most, if its number has none */
#define STRACE_NUMBER_SIZE	24

static inline const char *strace_name(const char *name, uint64_t key,
				      char number[STRACE_NUMBER_SIZE])
{
	if (name)
		return name;
	snprintf(number, STRACE_NUMBER_SIZE, "0x%" PRIx64, key & ~HYPTRACE_KEY_TRAP);
	return number;
}

struct strace_known {
	enum hyptrace_kind	kind;
	bool			is_code;	/* of an exit: a code, not the class of a trap */
	uint64_t		value;
	const char		*name;
};

struct strace_word {
	const char	*text;		/* name or glob of calls or of events */
	bool		is_negated;	/* it excludes them */
};

/* strace_choice.c: which calls -e chooses, and the filters at EL2 that follow from it */
struct strace_choice {
	struct strace_word		*words;
	unsigned int			nr;
	bool				has_names;	/* a word chooses calls; else all are */
	/* from strace_choice_begin() on */
	const struct hyptrace_model	*model;
	struct strace_known		*known;
	unsigned int			nr_known;
};

bool strace_choice_add(struct strace_choice *choice, char *list);
int strace_choice_begin(struct strace_choice *choice, const struct hyptrace_model *model,
			struct hyptrace_hypercall *const *calls, unsigned int nr);
void strace_choice_free(struct strace_choice *choice);
bool strace_choice_accept(const struct strace_choice *choice,
			  const struct hyptrace_meaning *meaning, uint64_t key);
bool strace_choice_kind(const struct strace_choice *choice, enum hyptrace_kind kind);
bool strace_choice_name(const struct strace_choice *choice, enum hyptrace_kind kind,
			const char *name);
char *strace_choice_filter(const struct strace_choice *choice, enum hyptrace_kind kind);

struct strace_vm_target {
	bool		is_handle;	/* it is the handle of a VM at EL2 */
	bool		was_seen;	/* so was one of its vCPUs */
	uint64_t	value;		/* handle, or id of a process or of a vCPU's thread */
	int		pidfd;		/* readable once the process has ended; or -1 */
};

/* strace_vm.c: which calls belong to the VMs of -p */
struct strace_vms {
	struct strace_vm_target	*targets;
	unsigned int		nr;
	bool			is_live;	/* the processes exist now: look up their threads */
	struct map		threads;	/* by their ids */
	struct map		cpus;		/* the vCPU on each CPU */
};

bool strace_vms_add(struct strace_vms *vms, const char *arg);
int strace_vms_open(struct strace_vms *vms);
bool strace_vms_have_ended(const struct strace_vms *vms);
bool strace_vms_accept(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		       unsigned int cpu, const struct hyptrace_record *rec);
void strace_vms_note(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		     unsigned int cpu, const struct hyptrace_record *rec);
void strace_vms_end(const struct strace_vms *vms, const char *of);
void strace_vms_free(struct strace_vms *vms);

struct strace_sum {
	enum hyptrace_kind	kind;
	const char		*name;		/* NULL if @key has none */
	uint64_t		key;
	uint64_t		calls;
	uint64_t		errors;
	uint64_t		total;		/* in ns */
};

/* The calls by name, for -c. All 0 has none. */
struct strace_summary {
	struct strace_sum	*sums;
	unsigned int		nr;
	struct map		unnamed;	/* by key and kind: place + 1, if unnamed */
	uint64_t		outer;		/* ns of the calls that are in no other one */
};

/* The record of a call that the PMU has measured has what it has counted at its end. */
#define STRACE_PMU_OFFSET	(HYPTRACE_SPAN_PAYLOAD - PMU_MAX * sizeof(uint64_t))

/* strace_print.c: a call as text or JSON, and the summary; @times: text has the duration */
void strace_print(struct lines *lines, const struct hyptrace_span *call, bool times,
		  const struct pmu *pmu);
void strace_summary_add(struct strace_summary *summary, const struct hyptrace_span *call,
			bool has_failed);
void strace_summary_sort(struct strace_summary *summary);
void strace_summary_free(struct strace_summary *summary);
void strace_summary_print(struct strace_summary *summary, struct printer *p);

struct strace {
	struct session		session;
	const char		*output;	/* argument of --file, or NULL */
	bool			summarize;	/* print the summary, and no lines */
	bool			csv;
	bool			times;		/* print the time of each call */
	struct strace_choice	choice;		/* of -e */
	struct strace_vms	vms;		/* of -p */
	struct lines		lines;		/* heads of lines, and losses */
	struct hyptrace_model	*model;
	uint32_t		needed;		/* bits of the chosen kinds */
	struct hyptrace_nest	*nest;		/* the calls that wait */
	uint64_t		begin;		/* events from before are not of this trace */
	uint64_t		now;		/* by CLOCK_MONOTONIC; 0 with a file */
	uint64_t		nr_waiting;	/* calls in @nest */
	bool			has_dropped;	/* calls before the last ones of a file */
	struct strace_summary	summary;
	struct map		pmu;		/* struct pmu_counts of each CPU */
	char			measured[HYPTRACE_SPAN_PAYLOAD];	/* a call and its counts */
	uint64_t		nr_printed;	/* or in the summary */
	uint64_t		nr_filtered;
};

/* strace_run.c */
extern const struct session_ops strace_ops;

int strace_begin(struct strace *s);
void strace_finish(struct strace *s);
void strace_free(struct strace *s);

#endif /* STRACE_H */
