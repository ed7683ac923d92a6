/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest samples of a row, with the events that they are made of. For stat_feed.c and top.
 */
#ifndef STAT_SLOW_H
#define STAT_SLOW_H

#include "stat.h"

/* Samples that are kept */
#define STAT_SLOW_SAMPLES	16
/* Bytes of the text of an event, its NUL included */
#define STAT_SLOW_TEXT		200

struct stat_slow_sample {
	uint64_t	time;	/* how long it took, ns */
	unsigned int	cpu;	/* the CPU on which it ended */
	char		text[STAT_SLOW_TEXT];	/* its event: the name and the arguments */
};

struct kept;

/* The slowest samples of a row; all 0 but stat and key are none */
struct stat_slow {
	const struct stat	*stat;	/* the verb whose events they are */
	struct stat_key		key;	/* the key of the row */
	struct stat_slow_sample	samples[STAT_SLOW_SAMPLES];	/* the samples, the slowest first */
	unsigned int		nr;
	struct kept		*kept;	/* the last event of each CPU, or of each vCPU */
	unsigned int		nr_kept;
};

bool stat_slow_needs(enum stat_by by, enum hyptrace_kind kind);
void stat_slow_keep(struct stat_cpu *cpu, struct stat_key owner,
		    const struct hyptrace_record *rec);
void stat_slow_add(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
		   const struct hyptrace_record *rec);
void stat_slow_add_kept(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
			struct stat_key owner);
void stat_slow_free(struct stat_slow *slow);

static inline struct stat_key stat_slow_cpu(const struct stat_cpu *cpu)
{
	struct stat_key key = { .major = UINT64_MAX, .minor = cpu->id };

	return key;
}

#endif /* STAT_SLOW_H */
