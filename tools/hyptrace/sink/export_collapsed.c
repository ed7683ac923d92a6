// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as collapsed stacks, for flame graphs: "el2;hvc;__pkvm_host_share_hyp 1204". A line has
 * what a CPU did, from the outside to the inside, and the sum of its times in ns.
 *
 * Time at EL2 is that between hyp_enter and hyp_exit. Timed events in between are parts of it. One
 * that began before, such as the hypercall that runs a guest, counts from hyp_enter on: its start
 * is in "el2;hvc;eret_guest", the way into the guest. Time in guests has stacks of its own:
 * "guest;VM 0x1000;vCPU 0;DABT_LOW". It is that from each hyp_exit to the next hyp_enter:
 * guest_exit also has the time that EL2 took for the exit.
 *
 * In a file without hyp_enter, a timed event has its duration without the time in guests. Else one
 * whose hyp_enter was lost does not count: nobody knows since when the CPU was at EL2.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "output/die.h"
#include "output/out.h"
#include "export.h"
#include "stacks.h"

/* Timed events between an entry and an exit; of those that are more the visit has the time */
#define PARTS_MAX	16
/* Stays in guests that a CPU remembers one by one, to subtract them from a call */
#define GUESTS_MAX	64
/* Bytes of a stack, and of a frame */
#define STACK_MAX	2048
#define FRAME_MAX	72

/**
 * struct part - a timed event
 * @begin:	when it began
 * @end:	when it ended
 * @frame:	its name
 */
struct part {
	uint64_t	begin;
	uint64_t	end;
	char		frame[FRAME_MAX];
};

/* A stay in a guest */
struct guest_stay {
	uint64_t	begin;
	uint64_t	time;
};

/**
 * struct visit - what a CPU does at EL2
 * @cpu:	the CPU
 * @is_open:	it is at EL2
 * @begin:	since when
 * @reason:	why it has entered EL2
 * @class:	why it has left the guest; empty if it has not
 * @left:	when it was left for a guest; 0 if it was not, or nobody knows
 * @in_guest:	time in the guest since the last guest_exit
 * @has_gap:	a part of that time is not known
 * @nr:		number of @parts
 * @parts:	the timed events, in the order of their ends
 * @nr_guests:	number of @guests
 * @guests:	the last stays in guests; the first one has all before it, too
 */
struct visit {
	unsigned int	cpu;
	bool		is_open;
	uint64_t	begin;
	char		reason[FRAME_MAX];
	char		class[FRAME_MAX];
	uint64_t	left;
	uint64_t	in_guest;
	bool		has_gap;
	unsigned int	nr;
	struct part	parts[PARTS_MAX];
	unsigned int	nr_guests;
	struct guest_stay	guests[GUESTS_MAX];
};

/**
 * struct collapsed - the state of the export
 * @stacks:	the stacks
 * @alone:	stacks of timed events without a hyp_enter before them
 * @has_enters:	the file has hyp_enter: @alone does not count
 * @visits:	one for each CPU
 * @nr:		number of @visits
 */
struct collapsed {
	struct stacks	*stacks;
	struct stacks	*alone;
	bool		has_enters;
	struct visit	*visits;
	unsigned int	nr;
};

static struct visit *visit_of(struct collapsed *state, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < state->nr; i++)
		if (state->visits[i].cpu == cpu)
			return &state->visits[i];
	state->visits = reallocarray(state->visits, state->nr + 1, sizeof(*state->visits));
	if (!state->visits)
		die_no_memory();
	memset(&state->visits[state->nr], 0, sizeof(*state->visits));
	state->visits[state->nr].cpu = cpu;
	return &state->visits[state->nr++];
}

/* Get the value of a field; return false if the event has none. */
static bool get(const struct hyptrace_event *event, const struct hyptrace_record *rec,
		const char *name, uint64_t *value)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, name);

	*value = 0;
	return field && !hyptrace_field_value(field, rec, value);
}

/* Write the name of a field's value as a frame; return false if it has none. */
static bool put_name(const struct export *x, const struct hyptrace_event *event,
		     const struct hyptrace_record *rec, const char *field_name, char *frame,
		     size_t size)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, field_name);
	const char *name = field ? hyptrace_formats_name(x->formats, event, field, rec) : NULL;

	if (!name)
		return false;
	snprintf(frame, size, "%s", name);
	/* what separates frames */
	for (; *frame; frame++)
		if (*frame == ';')
			*frame = ':';
	return true;
}

/* Name a timed event: by the first field whose value has a name, else by the event. */
static void name_part(const struct export *x, const struct hyptrace_event *event,
		      const struct hyptrace_record *rec, char *frame)
{
	static const char *const fields[] = { "id", "func", "func_id", "esr" };
	unsigned int i;
	size_t len;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (put_name(x, event, rec, fields[i], frame, FRAME_MAX))
			return;
	len = snprintf(frame, FRAME_MAX, "%s", event->name);
	if (hyptrace_event_field(event, "ec") && len + 1 < FRAME_MAX) {
		frame[len] = ' ';
		if (!put_name(x, event, rec, "ec", frame + len + 1, FRAME_MAX - len - 1))
			frame[len] = '\0';
	}
}

/* Return the part around a part: the first one that ended later, and began no later. */
static unsigned int around(const struct visit *visit, unsigned int part)
{
	unsigned int i = part + 1;

	while (i < visit->nr && visit->parts[i].begin > visit->parts[part].begin)
		i++;
	return i;
}

/* Write the frames of a part and of all around it, the outermost first. */
static size_t put_frames(const struct visit *visit, unsigned int part, char *stack, size_t len)
{
	unsigned int outer = around(visit, part);

	if (outer < visit->nr)
		len = put_frames(visit, outer, stack, len);
	return len + snprintf(stack + len, STACK_MAX - len, ";%s", visit->parts[part].frame);
}

/* Count the parts of a visit by their own times: without those of the parts inside. */
static void end_visit(const struct export *x, struct visit *visit,
		      const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	struct collapsed *state = x->state;
	uint64_t left[PARTS_MAX + 1];
	char stack[STACK_MAX], to[FRAME_MAX];
	unsigned int i, outer;
	size_t len;

	len = snprintf(stack, sizeof(stack), "el2;%s", visit->reason);
	if (visit->class[0])
		len += snprintf(stack + len, sizeof(stack) - len, ";%s", visit->class);
	/* what it has done is known only after the guest */
	visit->left = 0;
	if (put_name(x, event, rec, "reason", to, sizeof(to)) && !strcmp(to, "eret_guest")) {
		visit->left = rec->ts;
		len += snprintf(stack + len, sizeof(stack) - len, ";%s", to);
	}
	for (i = 0; i < visit->nr; i++)
		left[i] = visit->parts[i].end - visit->parts[i].begin;
	left[visit->nr] = rec->ts - visit->begin;
	for (i = 0; i < visit->nr; i++) {
		const uint64_t time = visit->parts[i].end - visit->parts[i].begin;

		outer = around(visit, i);
		left[outer] -= time < left[outer] ? time : left[outer];
	}
	stacks_add(state->stacks, stack, left[visit->nr]);
	for (i = 0; i < visit->nr; i++) {
		put_frames(visit, i, stack, len);
		stacks_add(state->stacks, stack, left[i]);
	}
	visit->is_open = false;
}

static void begin_visit(const struct export *x, struct visit *visit,
			const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	((struct collapsed *)x->state)->has_enters = true;
	if (visit->left)
		visit->in_guest += rec->ts - visit->left;
	visit->left = 0;
	visit->is_open = true;
	visit->begin = rec->ts;
	visit->nr = 0;
	visit->class[0] = '\0';
	if (!put_name(x, event, rec, "reason", visit->reason, FRAME_MAX))
		strcpy(visit->reason, "unknown");
}

static void add_guest(struct visit *visit, uint64_t begin, uint64_t time)
{
	if (visit->nr_guests == GUESTS_MAX) {
		visit->guests[0].time += visit->guests[1].time;
		memmove(&visit->guests[1], &visit->guests[2],
			(GUESTS_MAX - 2) * sizeof(visit->guests[0]));
		visit->nr_guests--;
	}
	visit->guests[visit->nr_guests++] = (struct guest_stay){ begin, time };
}

/* The time in guests since the begin of a call */
static uint64_t time_in_guests(const struct visit *visit, uint64_t begin)
{
	uint64_t time = 0;
	unsigned int i;

	for (i = visit->nr_guests; i && visit->guests[i - 1].begin >= begin; i--)
		time += visit->guests[i - 1].time;
	return time;
}

static void put_guest(const struct export *x, const struct hyptrace_event *event,
		      const struct hyptrace_record *rec, struct visit *visit, uint64_t duration)
{
	struct collapsed *state = x->state;
	char stack[STACK_MAX], class[FRAME_MAX] = "unknown";
	uint64_t handle, index;

	if (!put_name(x, event, rec, "ec", class, FRAME_MAX))
		put_name(x, event, rec, "code", class, FRAME_MAX);
	get(event, rec, "handle", &handle);
	get(event, rec, "index", &index);
	snprintf(stack, sizeof(stack), "guest;VM 0x%" PRIx64 ";vCPU %" PRIu64 ";%s", handle, index,
		 class);
	add_guest(visit, rec->ts - duration, duration);
	if (visit->in_guest && !visit->has_gap)
		duration = visit->in_guest;
	else if (visit->is_open)
		duration -= duration < rec->ts - visit->begin ? duration : rec->ts - visit->begin;
	visit->in_guest = 0;
	visit->has_gap = false;
	stacks_add(state->stacks, stack, duration);
	strcpy(visit->class, class);
}

static void put_part(const struct export *x, const struct hyptrace_event *event,
		     const struct hyptrace_record *rec, struct visit *visit, uint64_t duration)
{
	struct collapsed *state = x->state;
	struct part part = { .begin = rec->ts - duration, .end = rec->ts };
	uint64_t in_guests;
	char stack[STACK_MAX];

	name_part(x, event, rec, part.frame);
	if (visit->is_open && visit->nr == PARTS_MAX)
		return;
	if (visit->is_open) {
		if (duration > rec->ts - visit->begin)
			part.begin = visit->begin;
		visit->parts[visit->nr++] = part;
	} else {
		in_guests = time_in_guests(visit, part.begin);
		snprintf(stack, sizeof(stack), "el2;%s", part.frame);
		if (in_guests > duration)
			in_guests = duration;
		stacks_add(state->alone, stack, duration - in_guests);
	}
}

static void put_event(struct export *x, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(x->formats, rec);
	struct visit *visit;
	uint64_t duration;

	if (!event)
		return;
	visit = visit_of(x->state, cpu);
	if (!strcmp(event->name, "hyp_enter"))
		begin_visit(x, visit, event, rec);
	else if (!strcmp(event->name, "hyp_exit") && visit->is_open)
		end_visit(x, visit, event, rec);
	else if (!get(event, rec, "duration", &duration) || duration > rec->ts)
		return;
	else if (hyptrace_event_field(event, "code"))
		put_guest(x, event, rec, visit, duration);
	else
		put_part(x, event, rec, visit, duration);
}

/* Nobody knows how long the CPU was at EL2. */
static void put_loss(struct export *x, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct visit *visit = visit_of(x->state, cpu);

	(void)ts;
	(void)lost;
	visit->is_open = false;
	visit->left = 0;
	visit->has_gap = true;
}

static int begin(struct export *x)
{
	struct collapsed *state = calloc(1, sizeof(*state));

	if (!state)
		die_no_memory();
	state->stacks = stacks_new();
	state->alone = stacks_new();
	x->state = state;
	return EXIT_DONE;
}

static int end(struct export *x)
{
	struct collapsed *state = x->state;

	if (!state)
		return EXIT_DONE;
	stacks_print(state->stacks, x->out);
	if (!state->has_enters)
		stacks_print(state->alone, x->out);
	stacks_free(state->stacks);
	stacks_free(state->alone);
	free(state->visits);
	free(state);
	return EXIT_DONE;
}

static const char *const endings[] = { ".collapsed", ".folded", NULL };

const struct export_format export_collapsed = {
	.name = "collapsed",
	.endings = endings,
	.help = "stacks with times, for flame graphs",
	.targets = EXPORT_TO_FILE,
	.by_cpu = true,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
