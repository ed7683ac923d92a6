// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs of hyptrace stat.
 */
#include <stdlib.h>

#include "output/die.h"
#include "stat.h"

/* Unless it is there */
struct stat_cpu *stat_add_cpu(struct stat *stat, unsigned int id)
{
	struct stat_cpu *cpu = stat_find_cpu(stat, id);
	unsigned int place;

	if (cpu)
		return cpu;
	cpu = calloc(1, sizeof(*cpu));
	stat->cpus = reallocarray(stat->cpus, stat->nr_cpus + 1, sizeof(*stat->cpus));
	if (!cpu || !stat->cpus)
		die_no_memory();
	for (place = stat->nr_cpus++; place && stat->cpus[place - 1]->id > id; place--)
		stat->cpus[place] = stat->cpus[place - 1];
	stat->cpus[place] = cpu;
	map_add(&stat->by_id, id, 0)->ptr = cpu;
	cpu->id = id;
	cpu->by = stat->by;
	cpu->model = stat->model;
	cpu->has_buckets = stat->has_buckets;
	cpu->slow = stat->slow;
	if (stat->by == STAT_BY_EXIT)
		cpu->vcpus = &stat->vcpus;
	return cpu;
}

/*
 * Make all events lie between the begin and the end of the time. If both are 0, the time is that
 * from the first event of all CPUs to the last one.
 */
void stat_limits(struct stat *stat)
{
	const bool is_open = !stat->begin && !stat->end;
	unsigned int i;

	if (is_open)
		stat->begin = UINT64_MAX;
	for (i = 0; i < stat->nr_cpus; i++) {
		const struct stat_cpu *cpu = stat->cpus[i];

		stat->seen |= cpu->seen;
		if (!cpu->events)
			continue;
		if (cpu->first < stat->begin)
			stat->begin = cpu->first;
		if (cpu->last > stat->end)
			stat->end = cpu->last;
	}
	if (stat->begin > stat->end)
		stat->begin = stat->end;
}

bool stat_has_guest(const struct stat *stat)
{
	return stat->seen & HYPTRACE_KIND_BIT(HYPTRACE_KIND_ENTER) &&
	       stat->seen & HYPTRACE_KIND_BIT(HYPTRACE_KIND_EXIT);
}

/* Begin to count again. A sample that has begun is counted when it ends. */
void stat_cut(struct stat *stat, uint64_t at)
{
	unsigned int i, j;

	for (i = 0; i < stat->nr_cpus; i++) {
		struct stat_cpu *cpu = stat->cpus[i];

		if (cpu->times.now == STAT_GUEST && at > cpu->times.since)
			cpu->in_guest += at - cpu->times.since;
		stat_times_cut(&cpu->times, at);
		stat_rows_free(&cpu->rows);
		cpu->events = 0;
		cpu->lost = 0;
		cpu->lost_more = false;
		cpu->seen = 0;
	}
	/* their exits are those of rows that are freed */
	for (j = 0; j < stat->vcpus.nr; j++)
		stat->vcpus.rows[j]->exit = NULL;
	stat->begin = at;
	stat->end = at;
}

void stat_free(struct stat *stat)
{
	unsigned int i;

	for (i = 0; i < stat->nr_cpus; i++) {
		stat_rows_free(&stat->cpus[i]->rows);
		free(stat->cpus[i]);
	}
	free(stat->cpus);
	stat->cpus = NULL;
	stat->nr_cpus = 0;
	stat_rows_free(&stat->vcpus);
	map_free(&stat->by_id);
	hyptrace_model_free(stat->model);
	stat->model = NULL;
}
