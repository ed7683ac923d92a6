/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --pmu: what the PMU of each CPU counts at EL2 during events, for all verbs that take it.
 *
 * The session parses the words, finds their numbers when it opens, and has the PMU count while it
 * holds events. A verb that reads events gives those of the kind HYPTRACE_KIND_PMU to pmu_note();
 * pmu_take() has their counts when the event comes that they belong to, right after them.
 */
#ifndef PMU_H
#define PMU_H

#include "lib/hyptrace_model.h"
#include "cli/cli.h"

#define PMU_MAX		HYPTRACE_PMU_COUNTER_MAX

struct pmu {
	const char	*words[PMU_MAX];	/* as the user has typed them */
	uint32_t	numbers[PMU_MAX];	/* what they stand for */
	unsigned int	nr;			/* 0 without --pmu */
	uint32_t	id;			/* of the event pmu */
	/* the only event to measure; NULL: all that are chosen and can be measured */
	const char	*only;
	const char	**held;			/* events that are held, for free() */
	unsigned int	nr_held;
};

/* What the last events pmu of a CPU say; all 0 is nothing */
struct pmu_counts {
	uint64_t	ts;			/* their time */
	uint64_t	event;			/* the value of their field of */
	const struct hyptrace_meaning *meaning;
	unsigned int	has;			/* a bit for each of @n */
	uint64_t	n[PMU_MAX];		/* in the order of the words */
};

error_t pmu_parse(struct pmu *pmu, char *list);
void pmu_note(const struct pmu *pmu, struct pmu_counts *counts,
	      const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec);
bool pmu_take(const struct pmu *pmu, struct pmu_counts *counts, enum hyptrace_kind kind,
	      uint64_t ts);

#endif /* PMU_H */
