// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of a trace file as KernelShark's library reads them, in the form of
 * "hyptrace report --raw --ns": kernelshark FILE. For readers.sh.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark.h>

#define NSEC_PER_SEC	1000000000

/* KernelShark puts a loss so many ns before the event that follows it. */
#define LOSS_BEFORE	10

static void print_place(const struct kshark_entry *entry, int64_t ts)
{
	printf("[%03d] %" PRId64 ".%09" PRId64 ": ", entry->cpu, ts / NSEC_PER_SEC,
	       ts % NSEC_PER_SEC);
}

static void print_loss(const struct kshark_entry *entry)
{
	char *info = kshark_get_info(entry);
	uint64_t lost = 0;

	if (!info || sscanf(info, "missed_events=%" SCNu64, &lost) != 1)
		errx(2, "KernelShark describes a loss as \"%s\"", info ? info : "");
	print_place(entry, entry->ts + LOSS_BEFORE);
	printf("LOST %" PRIu64 " event%s\n", lost, lost == 1 ? "" : "s");
	free(info);
}

static void print_event(const struct kshark_entry *entry)
{
	char *name = kshark_get_event_name(entry), *info = kshark_get_info(entry);
	const char *slash = name ? strchr(name, '/') : NULL;

	if (!slash || !info)
		errx(2, "KernelShark does not know event %d", entry->event_id);
	print_place(entry, entry->ts);
	printf("%s: %s\n", slash + 1, info);
	free(name);
	free(info);
}

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t nr, i;
	int stream;

	if (argc != 2)
		errx(1, "usage: kernelshark FILE");
	if (!kshark_instance(&ctx))
		errx(2, "libkshark does not start");
	stream = kshark_open(ctx, argv[1]);
	if (stream < 0)
		errx(2, "KernelShark cannot open %s", argv[1]);
	nr = kshark_load_entries(ctx, stream, &entries);
	if (nr < 0)
		errx(2, "KernelShark cannot load %s", argv[1]);
	for (i = 0; i < nr; i++) {
		if (entries[i]->event_id == KS_EVENT_OVERFLOW)
			print_loss(entries[i]);
		else
			print_event(entries[i]);
		free(entries[i]);
	}
	free(entries);
	kshark_free(ctx);
	return 0;
}
