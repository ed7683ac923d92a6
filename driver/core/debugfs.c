// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/hyptrace/REMOTE/cpuN shows a ring as the driver sees it, REMOTE/calls how often
 * it has called the writer. For debugging hyptrace itself; no ABI. Called by register.c.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include "internal.h"
#include "../../hyp/abi.h"

/* The folder hyptrace, which register.c makes */
struct dentry *hyptrace_debugfs;

static const char * const state_names[] = {
	[HYPTRACE_RING_EMPTY]		= "empty",
	[HYPTRACE_RING_BUILDING]	= "building",
	[HYPTRACE_RING_DETACHED]	= "detached",
	[HYPTRACE_RING_ATTACHED]	= "attached",
	[HYPTRACE_RING_PARKED]		= "parked",
};

static void show_ring(struct seq_file *seq, const struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	const struct hyptrace_subbuf *page = page_address(reader->ring->pages[reader->id]);
	u32 state = READ_ONCE(meta->state);
	u64 commit = READ_ONCE(page->commit);

	lockdep_assert_held(&reader->lock);
	seq_printf(seq, "state:		%s\n",
		   state < ARRAY_SIZE(state_names) ? state_names[state] : "?");
	seq_printf(seq, "sub-buffers:	%u\n", reader->ring->nr_pages);
	seq_printf(seq, "written:	%llu\n", READ_ONCE(meta->written));
	seq_printf(seq, "overrun:	%llu\n", READ_ONCE(meta->overrun));
	seq_printf(seq, "dropped:	%llu\n", READ_ONCE(meta->dropped));
	seq_printf(seq, "read:		%llu\n", reader->read);
	seq_puts(seq, "reader's page, as the driver has it:\n");
	seq_printf(seq, "  id:		%u\n", reader->id);
	seq_printf(seq, "  time stamp:	%llu\n", READ_ONCE(page->time_stamp));
	seq_printf(seq, "  commit:	%llu%s%s\n", commit & HYPTRACE_COMMIT_MASK,
		   commit & HYPTRACE_COMMIT_MISSED ? " missed" : "",
		   commit & HYPTRACE_COMMIT_STORED ? " stored" : "");
	seq_printf(seq, "  consumed:	%u\n", reader->consumed);
	seq_printf(seq, "  events:	%u\n", reader->page_events);
	seq_printf(seq, "  lost before:	%llu\n", reader->swap_lost);
	seq_puts(seq, "reader's page, as the writer has it:\n");
	seq_printf(seq, "  id:		%u\n", READ_ONCE(meta->reader_id));
	seq_printf(seq, "  tail:		%u\n", READ_ONCE(meta->writer_in_reader_page));
	seq_printf(seq, "  events:	%u\n", READ_ONCE(meta->reader_entries));
	seq_printf(seq, "  lost before:	%llu\n", READ_ONCE(meta->reader_lost));
}

static int ring_show(struct seq_file *seq, void *unused)
{
	struct hyptrace_reader *reader = seq->private;
	struct hyptrace_counts counts;
	int err;

	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err)
		return err;
	/* This makes the writer publish its counters. */
	hyptrace_reader_counts(reader, &counts);

	guard(mutex)(&reader->lock);
	if (reader->ring)
		show_ring(seq, reader);
	else
		seq_puts(seq, "state:		unloaded\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ring);

static int calls_show(struct seq_file *seq, void *unused)
{
	const struct hyptrace_remote_desc *desc = seq->private;
	int err;

	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err)
		return err;
	seq_printf(seq, "%llu\n", desc->ops->calls(desc->priv));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

/**
 * hyptrace_debugfs_add - create the directory of a remote
 * @remote:	registered
 */
void hyptrace_debugfs_add(struct hyptrace_remote *remote)
{
	char name[16];
	unsigned int cpu;

	remote->debugfs = debugfs_create_dir(remote->name, hyptrace_debugfs);
	if (remote->desc->ops->calls)
		debugfs_create_file("calls", 0400, remote->debugfs, (void *)remote->desc,
				    &calls_fops);
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file(name, 0400, remote->debugfs, remote->readers[cpu],
				    &ring_fops);
	}
}
