// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_register.c and test_lacks.c: register a remote whose description is wrong, or lacks
 * something, in the way that the parameter "what" names. The module does not load if the driver
 * refuses it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

#include "hyp_events.h"

static char *what;
module_param(what, charp, 0400);
MODULE_PARM_DESC(what, "which field is wrong; none: nothing is");

/* Of the callback that "what" names with _error, if it is one of these */
static int load_error, enable_error, clear_error, rate_error, unload_error;

static int load(struct hyptrace_buffer *buf, void *priv)
{
	unsigned int cpu;

	if (load_error)
		return load_error;
	for_each_possible_cpu(cpu) {
		struct hyptrace_meta *meta = page_address(buf->ring[cpu].meta);

		meta->state = HYPTRACE_RING_DETACHED;
		meta->reader_id = buf->ring[cpu].nr_pages - 1;
	}
	return 0;
}

static int on_buffer(struct hyptrace_buffer *buf, void *priv)
{
	return unload_error;
}

static int enable_tracing(bool enable, void *priv)
{
	return enable ? enable_error : 0;
}

static int clear(unsigned int cpu, void *priv)
{
	return cpu == 1 ? clear_error : 0;
}

static int set_rate(u32 rate, void *priv)
{
	return rate_error;
}

static int swap_reader_page(unsigned int cpu, u32 consumed, struct hyptrace_swap *swap, void *priv)
{
	return -EAGAIN;
}

static int on_cpu(unsigned int cpu, void *priv)
{
	return 0;
}

static int enable_event(u16 id, bool enable, void *priv)
{
	return 0;
}

static int exchange_ring(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
			 struct hyptrace_ring_pages *new, void *priv)
{
	return -EIO;
}

static int set_filter(u16 id, const struct hyptrace_term *terms, unsigned int nr, void *priv)
{
	return 0;
}

static int set_trigger(u16 id, enum hyptrace_trigger trigger, u32 after, void *priv)
{
	return 0;
}

static int on_remote(void *priv)
{
	return 0;
}

static int get_fired(enum hyptrace_trigger trigger, struct hyptrace_fired *fired,
		     unsigned int *cpu, void *priv)
{
	return -EAGAIN;
}

static bool has_ended(void *priv)
{
	return true;
}

static int failing_init(struct hyptrace_remote *remote, void *priv)
{
	return -EIO;
}

static u64 frequency(void *priv)
{
	return NSEC_PER_SEC;
}

static int count(u64 events, void *priv)
{
	return 0;
}

static int read_counter(unsigned int cpu, unsigned int number,
			struct hyptrace_event_counter *counter, void *priv)
{
	return 0;
}

static void end_counting(void *priv)
{
}

/* of "second" */
static const struct hyptrace_count_keys keys[] = { { .event = 1, .nr = 1 } };

/* It has no PMU. */
static const struct hyptrace_counting counting = {
	.keys		= keys,
	.nr_keys	= ARRAY_SIZE(keys),
	.frequency	= frequency,
	.set_events	= count,
	.reset		= on_cpu,
	.read		= read_counter,
	.free		= end_counting,
};

static struct hyptrace_remote_ops ops = {
	.load_trace_buffer	= load,
	.unload_trace_buffer	= on_buffer,
	.enable_tracing		= enable_tracing,
	.swap_reader_page	= swap_reader_page,
	.sync			= on_cpu,
	.reset			= clear,
	.enable_event		= enable_event,
	.prepare_resize		= load,
	.exchange_ring		= exchange_ring,
	.finish_resize		= on_buffer,
	.set_filter		= set_filter,
	.set_trigger		= set_trigger,
	.pause			= on_remote,
	.arm			= on_remote,
	.get_fired		= get_fired,
	.has_ended		= has_ended,
};

static struct hyptrace_field fields[] = {
	{ "value", "u16", 2, 2 },
	{ "other", "u32", 4, 4 },
	{ "text", "char[3]", 8, 3 },
};

static struct hyptrace_event first = {
	.name = "first", .print_fmt = "\"\"", .size = 2, .id = HYPTRACE_MAX_EVENT_ID - 1,
};

static struct hyptrace_event second = {
	.name = "second", .print_fmt = "\"\"", .fields = fields, .nr_fields = 3, .size = 11,
	.id = 1,
};

/* "length=" uses the end of it. An attribute has room for 65,530 characters. */
static char long_format[70001] = { [0 ... 69999] = ' ' };

static const struct hyptrace_event *first_event(void)
{
	return &first;
}

static const struct hyptrace_event *second_event(void)
{
	return &second;
}

static const struct hyptrace_event *no_event(void)
{
	return NULL;
}

static hyptrace_event_fn events[] = { first_event, second_event };

static struct hyptrace_remote_desc desc = {
	.name		= "bad",
	.description	= "for tests",
	.owner		= THIS_MODULE,
	.ops		= &ops,
	.events		= events,
	.nr_events	= ARRAY_SIZE(events),
	.busy		= "somebody else has it",
};

static struct hyptrace_remote *remote;

#define WITHOUT(callback)	if (!strcmp(what, #callback)) ops.callback = NULL

static void make_unresizable(void)
{
	ops.prepare_resize = NULL;
	ops.exchange_ring = NULL;
	ops.finish_resize = NULL;
}

static void make_bad(void)
{
	unsigned int length;

	WITHOUT(load_trace_buffer);
	WITHOUT(unload_trace_buffer);
	WITHOUT(enable_tracing);
	WITHOUT(swap_reader_page);
	WITHOUT(sync);
	WITHOUT(reset);
	WITHOUT(enable_event);
	WITHOUT(prepare_resize);
	WITHOUT(exchange_ring);
	WITHOUT(finish_resize);
	WITHOUT(set_filter);
	WITHOUT(pause);
	WITHOUT(arm);
	WITHOUT(get_fired);
	WITHOUT(has_ended);
	WITHOUT(set_trigger);
	if (!strcmp(what, "resize"))
		make_unresizable();
	if (!strcmp(what, "max_pages"))
		desc.max_pages = 8;
	if (!strcmp(what, "only_overwrites"))
		desc.only_overwrites = true;
	if (!strcmp(what, "missing"))
		desc.missing = BIT_ULL(1);
	if (!strcmp(what, "incomplete"))
		desc.incomplete = BIT_ULL(1);
	if (!strcmp(what, "busy"))
		load_error = -EBUSY;
	if (!strcmp(what, "load_error"))
		load_error = -EIO;
	if (!strcmp(what, "counting"))
		desc.counting = &counting;
	if (!strcmp(what, "enable_error"))
		enable_error = -EIO;
	if (!strcmp(what, "clear_error"))
		clear_error = -EIO;
	if (!strcmp(what, "unload_error"))
		unload_error = -EIO;
	if (strstarts(what, "rate"))
		ops.set_rate = set_rate;
	if (!strcmp(what, "rate_error"))
		rate_error = -EIO;
	if (!strcmp(what, "ops"))
		desc.ops = NULL;
	if (!strcmp(what, "init"))
		ops.init = failing_init;
	if (!strcmp(what, "nr_events"))
		desc.nr_events = HYPTRACE_MAX_EVENT_ID;
	if (!strcmp(what, "no_events"))
		desc.events = NULL;
	if (!strcmp(what, "no_function"))
		events[1] = NULL;
	if (!strcmp(what, "no_event"))
		events[1] = no_event;
	if (!strcmp(what, "id_large"))
		first.id = HYPTRACE_MAX_EVENT_ID;
	if (!strcmp(what, "id_twice"))
		first.id = 1;
	if (!strcmp(what, "name_twice"))
		second.name = "first";
	if (!strcmp(what, "size_small"))
		first.size = 1;
	if (!strcmp(what, "size_large"))
		first.size = HYPTRACE_SUBBUF_DATA_SIZE / 2 + 1;
	if (!strcmp(what, "size_largest"))
		first.size = HYPTRACE_SUBBUF_DATA_SIZE / 2;
	if (!strcmp(what, "print_fmt"))
		first.print_fmt = NULL;
	if (!strcmp(what, "fields"))
		second.fields = NULL;
	if (!strcmp(what, "field_type"))
		fields[1].type = NULL;
	if (!strcmp(what, "field_offset"))
		fields[0].offset = 1;
	if (!strcmp(what, "field_size"))
		fields[1].size = 0;
	if (!strcmp(what, "field_end"))
		second.size = 10;
	if (!strncmp(what, "format=", 7))
		second.print_fmt = what + 7;
	if (sscanf(what, "length=%u", &length) == 1 && length < sizeof(long_format))
		second.print_fmt = long_format + sizeof(long_format) - 1 - length;
	if (!strncmp(what, "name=", 5))
		desc.name = what + 5;
	if (!strncmp(what, "event=", 6))
		second.name = what + 6;
	if (!strncmp(what, "field=", 6))
		fields[1].name = what + 6;
	if (!strcmp(what, "no_name"))
		desc.name = NULL;
	if (!strcmp(what, "no_event_name"))
		second.name = NULL;
}

static int __init bad_init(void)
{
	if (what)
		make_bad();
	remote = hyptrace_remote_register(&desc);
	return PTR_ERR_OR_ZERO(remote);
}
module_init(bad_init);

static void __exit bad_exit(void)
{
	hyptrace_remote_unregister(remote);
}
module_exit(bad_exit);

MODULE_DESCRIPTION("for tests: a remote with a wrong description");
MODULE_LICENSE("GPL");
