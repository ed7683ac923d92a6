// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print what is in a trace file: each event's number, and the sum and the maximum of its
 * durations: read-file FILE. The file may be of any machine.
 *
 *	cc read-file.c $(pkg-config --cflags --libs hyptrace)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hyptrace_file.h>

struct total {
	uint64_t	nr;
	uint64_t	sum;
	uint64_t	longest;
};

static void add(struct total *total, const struct hyptrace_event *type,
		const struct hyptrace_record *rec)
{
	const struct hyptrace_field *duration = hyptrace_event_field(type, "duration");
	uint64_t nsec;

	total->nr++;
	if (!duration || hyptrace_field_value(duration, rec, &nsec))
		return;
	total->sum += nsec;
	if (nsec > total->longest)
		total->longest = nsec;
}

/* Read all events; return 0 or a negative errno. */
static int read_events(const char *name, struct hyptrace_file *file, struct total *totals)
{
	struct hyptrace_formats *formats = hyptrace_file_info(file)->formats;
	const struct hyptrace_stream_event *event;
	const struct hyptrace_event *type;
	struct hyptrace_error err;
	int ret;

	/* parts of a file may be damaged: the rest is still there */
	while ((ret = hyptrace_file_next(file, &event, &err)) > 0 || ret == -EBADMSG) {
		if (ret < 0) {
			fprintf(stderr, "%s: %s\n", name, err.text);
			continue;
		}
		type = event->record.data ? hyptrace_formats_event(formats, &event->record) : NULL;
		if (type)
			add(&totals[type->id], type, &event->record);
	}
	if (ret && ret != -ENODATA)
		fprintf(stderr, "%s: %s\n", name, err.text);
	return ret == -ENODATA ? 0 : ret;
}

static void print(struct hyptrace_file *file, const struct total *totals)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);
	struct hyptrace_file_counts counts;
	unsigned int i;

	for (i = 0; i < info->nr_events; i++) {
		const struct hyptrace_event *event = info->events[i];
		const struct total *total = &totals[(uint16_t)event->id];

		if (total->nr)
			printf("%-20s %10" PRIu64 " events %14" PRIu64 " ns %10" PRIu64 " ns at most\n",
			       event->name, total->nr, total->sum, total->longest);
	}
	counts = *hyptrace_file_counts(file);
	printf("%" PRIu64 " events, %" PRIu64 "%s lost\n", counts.delivered, counts.lost,
	       counts.lost_more ? " or more" : "");
}

int main(int argc, char **argv)
{
	/* the id of an event has 16 bits */
	struct total *totals = (struct total *)calloc(UINT16_MAX + 1, sizeof(*totals));
	const char *path = argc > 1 ? argv[1] : "hyptrace.dat";
	struct hyptrace_file *file;
	struct hyptrace_error err;
	int ret = -1;

	file = hyptrace_file_open(path, &err);
	if (!file)
		fprintf(stderr, "%s: cannot read \"%s\": %s\n", argv[0], path, err.text);
	else if (totals)
		ret = read_events(argv[0], file, totals);
	if (!ret)
		print(file, totals);
	hyptrace_file_close(file);
	free(totals);
	return ret ? 1 : 0;
}
