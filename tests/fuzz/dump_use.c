// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done with each dump and each image: read all its rings. For dump.c and images.c.
 */
#include "../../tools/lib/dump/dump.h"
#include "fuzz.h"

/* Return the number of events. */
static unsigned int read_ring(struct hyptrace *h, const char *remote, unsigned int cpu,
			      struct hyptrace_formats *fmts, uint64_t seed)
{
	struct hyptrace_reader *reader = hyptrace_reader_open_snapshot_on(h, remote, cpu, NULL);
	struct hyptrace_snapshot *snap;
	const struct hyptrace_event *event;
	struct hyptrace_record rec;
	unsigned int nr = 0;
	size_t len;
	int ret;

	if (!reader)
		return 0;
	snap = hyptrace_snapshot_take(reader, seed % 2, seed % 3 ? 0 : 10, NULL);
	hyptrace_reader_close(reader);
	while (snap && (ret = hyptrace_snapshot_next(snap, &rec, NULL))) {
		if (ret < 0)
			continue;
		nr++;
		/* the texts of some are enough: they take most of the time */
		event = fmts && nr % 16 == seed % 16 ? hyptrace_formats_event(fmts, &rec) : NULL;
		if (event)
			hyptrace_formats_text(fmts, event, &rec, &len);
	}
	if (snap)
		hyptrace_snapshot_free(snap);
	return nr;
}

/* Do what "record --snapshot" and "show" do; a seed chooses how. Return the number of events. */
unsigned int dump_use(const char *path, uint64_t seed)
{
	struct hyptrace *h = hyptrace_open_dump(path, NULL, NULL, NULL, NULL);
	struct hyptrace_remote **remotes = NULL;
	struct hyptrace_event **events = NULL;
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_formats *fmts;
	struct hyptrace_cpu **cpus = NULL;
	unsigned int nr_remotes = 0, nr_events = 0, nr_calls = 0, nr_cpus = 0, i, nr = 0;

	if (!h)
		return 0;
	if (!hyptrace_get_remotes(h, &remotes, &nr_remotes, NULL) && nr_remotes &&
	    !hyptrace_get_events(h, remotes[0]->name, &events, &nr_events, NULL) &&
	    !hyptrace_get_cpus(h, remotes[0]->name, &cpus, &nr_cpus, NULL)) {
		/* most of the time is that of the parser of libtraceevent */
		fmts = seed % 16 ? NULL : hyptrace_formats_new(events, nr_events, NULL);
		if (fmts && !hyptrace_get_hypercalls(h, remotes[0]->name, &calls, &nr_calls, NULL))
			hyptrace_formats_set_hypercalls(fmts, calls, nr_calls, NULL);
		for (i = 0; i < nr_cpus; i++)
			nr += read_ring(h, remotes[0]->name, cpus[i]->id, fmts, seed);
		hyptrace_formats_free(fmts);
	}
	hyptrace_free_hypercalls(calls);
	hyptrace_free_cpus(cpus);
	hyptrace_free_events(events);
	hyptrace_free_remotes(remotes);
	hyptrace_close(h);
	return nr;
}
