// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a trace file for tests, with the writer of hyp/ and the file writer of libhyptrace:
 *
 *	make_file [OPTION...] FILE
 *
 *	-n EVENTS	how many events each CPU tries to record (100000)
 *	-c CPUS		number of CPUs (2), up to 8
 *	-p PAGES	sub-buffers of each ring (64)
 *	-l PERCENT	lose about so many percent of the events
 *	-d		the rings discard, not overwrite
 *	-m		only marks (the event selftest), each CPU with numbers from 0 on
 *	-z		compress
 *	-k		do not finish: leave the parts, as a killed recorder does
 *
 * It prints a line for each CPU: its number, the events in the file, the lost events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/lib/file/write/file_write.h"
#include "describe.h"
#include "rings.h"

/* The time when it begins: 1000 s after the boot, some day in 2026 */
#define BOOT_TIME	UINT64_C(1000000000000)
#define REAL_TIME	UINT64_C(1790000000000000000)

/* Sub-buffers to write at once */
#define BATCH		16

/* Events that fit in a sub-buffer, more or less */
#define PER_SUBBUF	175

struct options {
	const char	*path;
	uint64_t	events;
	unsigned int	cpus;
	unsigned int	pages;
	unsigned int	lose;
	bool		discard;
	unsigned int	flags;
	bool		keep;
};

static void fail(const char *text)
{
	fprintf(stderr, "make_file: %s\n", text);
	exit(2);
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:c:p:l:dmzk")) != -1) {
		switch (c) {
		case 'n':
			o->events = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			o->cpus = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			o->pages = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			o->lose = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			o->discard = true;
			break;
		case 'm':
			scenario_only(true);
			break;
		case 'z':
			o->flags |= HYPTRACE_FILE_ZSTD;
			break;
		case 'k':
			o->keep = true;
			break;
		default:
			exit(1);
		}
	}
	if (optind + 1 != argc || !o->cpus || o->cpus > RINGS_MAX || o->pages < 3 || o->lose > 90)
		fail("usage: make_file [-n EVENTS] [-c CPUS] [-p PAGES] [-l PERCENT] [-dmzk] FILE");
	o->path = argv[optind];
}

static void describe(const struct options *o, struct hyptrace_file_meta *meta)
{
	unsigned int i;

	meta->info.remote = strdup("hypervisor");
	meta->info.clock = strdup("boot");
	meta->info.recorder = strdup("hyptrace 0.1.0");
	meta->info.command = strdup("hyptrace record -e all");
	meta->info.uname = strdup("Linux test 6.12.0 #1 SMP PREEMPT aarch64");
	meta->info.boot = strdup("5f0c8a52-3c0e-4a0e-9b7a-0d6b5e1f2a34");
	meta->info.begin = REAL_TIME;
	meta->info.offset = REAL_TIME - BOOT_TIME;
	meta->info.subbuf_size = RINGS_SUBBUF;
	meta->info.cpus = calloc(o->cpus + 1, sizeof(*meta->info.cpus));
	for (i = 0; meta->info.cpus && i < o->cpus; i++) {
		meta->info.cpus[i] = calloc(1, sizeof(**meta->info.cpus));
		if (!meta->info.cpus[i])
			fail("out of memory");
		meta->info.cpus[i]->id = i;
		meta->info.nr_cpus++;
	}
	describe_remote(meta);
}

/* Write what the ring of a CPU holds to the file. */
static void drain(struct hyptrace_file_writer *w, unsigned int cpu)
{
	static char subbufs[BATCH][RINGS_SUBBUF];
	struct hyptrace_error err;
	unsigned int nr;

	do {
		for (nr = 0; nr < BATCH && rings_take(cpu, subbufs[nr]); nr++)
			;
		if (nr && hyptrace_file_write(w, cpu, subbufs, nr * RINGS_SUBBUF, &err))
			fail(err.text);
	} while (nr == BATCH);
}

static void record(const struct options *o, struct hyptrace_file_writer *w)
{
	/* read when the ring is half full, or when so many more were written that they are lost */
	uint64_t room = (uint64_t)(o->pages - 1) * PER_SUBBUF, step = room / 2, at = 0;
	unsigned int cpu;

	if (o->lose)
		step = room * 100 / (100 - o->lose);
	while (at < o->events) {
		at = at + step < o->events ? at + step : o->events;
		for (cpu = 0; cpu < o->cpus; cpu++) {
			scenario_step(cpu, at);
			drain(w, cpu);
		}
	}
}

static void count(const struct options *o, struct hyptrace_file_writer *w)
{
	struct ring_counts counts;
	unsigned int cpu;

	for (cpu = 0; cpu < o->cpus; cpu++) {
		rings_count(cpu, &counts);
		hyptrace_file_set_counts(w, cpu, counts.read, counts.lost, 0);
		printf("%u %" PRIu64 " %" PRIu64 "\n", cpu, counts.read, counts.lost);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .events = 100000, .cpus = 2, .pages = 64 };
	struct hyptrace_file_meta meta = {};
	struct hyptrace_file_writer *w;
	struct hyptrace_error err;

	parse(&o, argc, argv);
	describe(&o, &meta);
	w = hyptrace_file_writer_new(o.path, &meta, o.flags, NULL, &err);
	if (!w)
		fail(err.text);
	rings_begin(o.cpus, o.pages, o.discard, BOOT_TIME);
	record(&o, w);
	count(&o, w);
	if (o.keep) {
		/* what waits for its compression would be lost */
		hyptrace_file_unwritten(w, 0);
		_exit(fflush(stdout) ? 2 : 0);
	}
	if (hyptrace_file_finish(w, &err))
		fail(err.text);
	return 0;
}
