// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as Chrome's JSON trace events, for chrome://tracing, speedscope and Perfetto. The process
 * "pKVM Hypervisor" has a thread per CPU: what happens at EL2 is a slice from hyp_enter to
 * hyp_exit, and timed events are slices inside. Slices of a thread must nest, so a call that runs
 * a guest, which leaves EL2 and comes back, is on another thread. The process "Guests" has a
 * thread per vCPU.
 */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "export_chrome.h"
#include "out.h"
#include "text.h"

/* Threads of the hypervisor from this number on have the calls that span several stays at EL2. */
#define LONG_CALLS	(1U << 20)

/**
 * struct chrome_cpu - a CPU
 * @is_named:	its thread has a name: it has had events
 * @has_long:	its thread for long calls has a name
 * @is_open:	it is at EL2
 * @enter:	the hyp_enter with which that began; its data is a copy
 * @last:	time of its last event
 */
struct chrome_cpu {
	bool			is_named;
	bool			has_long;
	bool			is_open;
	struct hyptrace_record	enter;
	uint64_t		last;
};

/* The state of the export */
struct chrome {
	struct out		*out;
	bool			any;
	struct chrome_cpu	*cpus;		/* by their numbers */
	unsigned int		nr_cpus;
	void			*vcpus;		/* tree of the threads of vCPUs that have a name */
};

/* Begin an object of the list: its phase, process, thread and time. */
static void begin_object(struct chrome *chrome, char phase, unsigned int pid, uint64_t tid,
			 uint64_t ts)
{
	out_printf(chrome->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%" PRIu64 ",\"ts\":",
		   chrome->any ? ",\n" : "", phase, pid, tid);
	chrome_put_usec(chrome->out, ts);
	chrome->any = true;
}

static void end_object(struct chrome *chrome)
{
	out_putc(chrome->out, '}');
}

static void put_name(struct chrome *chrome, const char *name)
{
	out_puts(chrome->out, ",\"name\":");
	text_put_json(chrome->out, name);
}

/* Give a process or a thread its name. */
static void name_track(struct chrome *chrome, const char *what, unsigned int pid, uint64_t tid,
		       const char *name)
{
	out_printf(chrome->out, "%s{\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu64 ",\"name\":\"%s\",\"args\":{\"name\":",
		   chrome->any ? ",\n" : "", pid, tid, what);
	text_put_json(chrome->out, name);
	out_puts(chrome->out, "}}");
	chrome->any = true;
}

/* Name a thread of the hypervisor, and say where it is among the others. */
static void name_cpu(struct chrome *chrome, unsigned int id, const char *kind, unsigned int tid)
{
	char name[48];

	snprintf(name, sizeof(name), "CPU %u%s", id, kind);
	name_track(chrome, "thread_name", CHROME_HYPERVISOR, tid, name);
	out_printf(chrome->out,
		   ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
		   CHROME_HYPERVISOR, tid, 2 * id + (tid != id));
}

static struct chrome_cpu *cpu_of(struct chrome *chrome, unsigned int id)
{
	struct chrome_cpu *cpu;

	if (id >= chrome->nr_cpus) {
		chrome->cpus = reallocarray(chrome->cpus, id + 1, sizeof(*cpu));
		if (!chrome->cpus)
			die_no_memory();
		memset(chrome->cpus + chrome->nr_cpus, 0,
		       (id + 1 - chrome->nr_cpus) * sizeof(*cpu));
		chrome->nr_cpus = id + 1;
	}
	cpu = &chrome->cpus[id];
	if (!cpu->is_named)
		name_cpu(chrome, id, "", id);
	cpu->is_named = true;
	return cpu;
}

static int compare_threads(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Name the thread of a vCPU, the first time. */
static void name_vcpu(struct chrome *chrome, const struct chrome_event *event)
{
	uint64_t *thread;
	char name[96];

	if (tfind(&event->vcpu, &chrome->vcpus, compare_threads))
		return;
	thread = malloc(sizeof(*thread));
	if (!thread)
		die_no_memory();
	*thread = event->vcpu;
	if (!tsearch(thread, &chrome->vcpus, compare_threads))
		die_no_memory();
	snprintf(name, sizeof(name), "VM 0x%" PRIx64 " vCPU %" PRIu64, event->handle, event->index);
	name_track(chrome, "thread_name", CHROME_GUESTS, event->vcpu, name);
}

/* Put a slice. */
static void put_complete(struct export *x, unsigned int pid, uint64_t tid, uint64_t duration,
			 uint64_t begin, const struct chrome_event *event)
{
	struct chrome *chrome = x->state;

	begin_object(chrome, 'X', pid, tid, begin);
	out_puts(chrome->out, ",\"dur\":");
	chrome_put_usec(chrome->out, duration);
	put_name(chrome, event->name);
	chrome_put_args(chrome->out, x->formats, event);
	end_object(chrome);
}

/* Put the slice of a CPU that is at EL2, as one object: some viewers need the name at the end. */
static void close_slice(struct export *x, struct chrome_cpu *cpu, uint64_t ts)
{
	struct chrome *chrome = x->state;
	struct chrome_event event;

	if (!cpu->is_open)
		return;
	chrome_event_init(&event, x->formats, &cpu->enter);
	put_complete(x, CHROME_HYPERVISOR, cpu - chrome->cpus, ts - cpu->enter.ts, cpu->enter.ts,
		     &event);
	cpu->is_open = false;
}

static void open_slice(struct export *x, struct chrome_cpu *cpu, const struct hyptrace_record *rec)
{
	void *copy;

	/* a hyp_exit is missing, though no loss was reported: slices must nest */
	close_slice(x, cpu, rec->ts);
	copy = realloc((void *)cpu->enter.data, rec->size);
	if (!copy)
		die_no_memory();
	cpu->enter = *rec;
	cpu->enter.data = memcpy(copy, rec->data, rec->size);
	cpu->is_open = true;
}

/* Find the thread of a call: that of its CPU if the call has begun during this stay at EL2. */
static unsigned int thread_of_call(struct chrome *chrome, struct chrome_cpu *cpu,
				   const struct chrome_event *event)
{
	const unsigned int id = cpu - chrome->cpus;

	if (cpu->is_open && event->rec->ts - event->duration >= cpu->enter.ts)
		return id;
	if (!cpu->has_long)
		name_cpu(chrome, id, ", long calls", LONG_CALLS + id);
	cpu->has_long = true;
	return LONG_CALLS + id;
}

/* Put the slice of an event that has a duration. */
static void put_slice(struct export *x, struct chrome_cpu *cpu, const struct chrome_event *event)
{
	const unsigned int pid = event->kind == CHROME_CALL ? CHROME_HYPERVISOR : CHROME_GUESTS;
	struct chrome *chrome = x->state;
	uint64_t tid = event->vcpu;

	if (event->kind == CHROME_GUEST)
		name_vcpu(chrome, event);
	else if (event->kind == CHROME_CALL)
		tid = thread_of_call(chrome, cpu, event);
	put_complete(x, pid, tid, event->duration, event->rec->ts - event->duration, event);
}

static void put_instant(struct export *x, const struct chrome_cpu *cpu,
			const struct chrome_event *event)
{
	struct chrome *chrome = x->state;

	begin_object(chrome, 'i', CHROME_HYPERVISOR, cpu - chrome->cpus, event->rec->ts);
	out_puts(chrome->out, ",\"s\":\"t\"");
	put_name(chrome, event->name);
	chrome_put_args(chrome->out, x->formats, event);
	end_object(chrome);
}

/* The free pages of a pool. */
static void put_counter(struct chrome *chrome, const struct chrome_event *event)
{
	char name[48];

	snprintf(name, sizeof(name), "pool 0x%" PRIx64, event->pool);
	begin_object(chrome, 'C', CHROME_HYPERVISOR, 0, event->rec->ts);
	put_name(chrome, name);
	out_printf(chrome->out, ",\"args\":{\"free pages\":%" PRIu64 "}", event->left);
	end_object(chrome);
}

static void put_event(struct export *x, unsigned int id, const struct hyptrace_record *rec)
{
	struct chrome *chrome = x->state;
	struct chrome_cpu *cpu = cpu_of(chrome, id);
	struct chrome_event event;

	chrome_event_init(&event, x->formats, rec);
	cpu->last = rec->ts;
	switch (event.kind) {
	case CHROME_ENTER:
		open_slice(x, cpu, rec);
		break;
	case CHROME_EXIT:
		close_slice(x, cpu, rec->ts);
		break;
	case CHROME_CALL:
	case CHROME_GUEST:
	case CHROME_FIXUP:
		put_slice(x, cpu, &event);
		break;
	case CHROME_POOL:
		put_counter(chrome, &event);
		put_instant(x, cpu, &event);
		break;
	case CHROME_INSTANT:
		put_instant(x, cpu, &event);
		break;
	}
}

static void put_loss(struct export *x, unsigned int id, uint64_t ts, uint64_t lost)
{
	struct chrome *chrome = x->state;
	struct chrome_cpu *cpu = cpu_of(chrome, id);

	/* nobody knows when the CPU has left EL2 */
	close_slice(x, cpu, cpu->last);
	cpu->last = ts;
	begin_object(chrome, 'i', CHROME_HYPERVISOR, id, ts);
	out_puts(chrome->out, ",\"s\":\"t\",\"name\":\"LOST\",\"args\":{\"lost\":");
	if (lost == HYPTRACE_LOST_UNKNOWN)
		out_puts(chrome->out, "null}");
	else
		out_printf(chrome->out, "%" PRIu64 "}", lost);
	end_object(chrome);
}

static int begin(struct export *x)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		die_no_memory();
	x->state = chrome;
	chrome->out = x->out;
	out_puts(chrome->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":");
	text_put_json(chrome->out, x->info->clock ? x->info->clock : "unknown");
	out_puts(chrome->out, "},\"traceEvents\":[\n");
	name_track(chrome, "process_name", CHROME_HYPERVISOR, 0, "pKVM Hypervisor");
	name_track(chrome, "process_name", CHROME_GUESTS, 0, "Guests");
	return EXIT_DONE;
}

static int end(struct export *x)
{
	struct chrome *chrome = x->state;
	unsigned int i;

	if (!chrome)
		return EXIT_DONE;
	for (i = 0; i < chrome->nr_cpus; i++) {
		close_slice(x, &chrome->cpus[i], chrome->cpus[i].last);
		free((void *)chrome->cpus[i].enter.data);
	}
	out_puts(chrome->out, "\n]}\n");
	free(chrome->cpus);
	tdestroy(chrome->vcpus, free);
	free(chrome);
	return EXIT_DONE;
}

static const char *const endings[] = { ".json", NULL };

const struct export_format export_chrome = {
	.name = "chrome",
	.endings = endings,
	.help = "Chrome's JSON trace events",
	.targets = EXPORT_TO_FILE,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
