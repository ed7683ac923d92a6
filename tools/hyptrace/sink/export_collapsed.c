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

/* Timed events between an entry and an exit: the time of more of them is that of the visit */
#define PARTS_MAX	16
/* Stays in guests that a CPU remembers one by one, to subtract them from a call */
#define GUESTS_MAX	64
/* Bytes of a stack, and of a frame */
#define STACK_MAX	2048
#define FRAME_MAX	72

/* A timed event */
struct timed {
	uint64_t	begin;
	uint64_t	end;
	char		frame[FRAME_MAX];
};

/* A stay in a guest */
struct guest_stay {
	uint64_t	begin;
	uint64_t	time;
};

/* The stacks of a CPU */
struct collapsed {
	struct hyptrace_formats	*formats;
	struct stacks	*stacks;
	struct stacks	*alone;			/* of timed events without a hyp_enter before */
	bool		has_enters;
	bool		is_open;		/* the CPU is at EL2 */
	uint64_t	begin;			/* since when */
	char		reason[FRAME_MAX];	/* why it has entered EL2 */
	char		class[FRAME_MAX];	/* why it has left the guest; or empty */
	uint64_t	left;			/* when it has entered a guest; 0: not known */
	uint64_t	in_guest;		/* time in the guest since the last guest_exit */
	bool		has_gap;		/* a part of that time is not known */
	unsigned int	nr;
	struct timed	parts[PARTS_MAX];	/* in the order of their ends */
	unsigned int	nr_guests;
	struct guest_stay	guests[GUESTS_MAX];	/* the first one has all before it, too */
};

/* The stacks of all CPUs */
struct all_stacks {
	struct stacks	*stacks;
	struct stacks	*alone;			/* they count if there is no hyp_enter at all */
	bool		has_enters;
};

/* Get the value of a field; return false if the event has none. */
static bool get(const struct hyptrace_event *event, const struct hyptrace_record *rec,
		const char *name, uint64_t *value)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, name);

	*value = 0;
	return field && !hyptrace_field_value(field, rec, value);
}

/* Write the name of a field's value as a frame; return false if it has none. */
static bool put_name(const struct collapsed *visit, const struct hyptrace_event *event,
		     const struct hyptrace_record *rec, const char *field_name, char *frame,
		     size_t size)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, field_name);
	const char *name = field ? hyptrace_formats_name(visit->formats, event, field, rec) : NULL;

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
static void name_part(const struct collapsed *visit, const struct hyptrace_event *event,
		      const struct hyptrace_record *rec, char *frame)
{
	static const char *const fields[] = { "id", "func", "func_id", "esr" };
	unsigned int i;
	size_t len;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (put_name(visit, event, rec, fields[i], frame, FRAME_MAX))
			return;
	len = snprintf(frame, FRAME_MAX, "%s", event->name);
	if (hyptrace_event_field(event, "ec") && len + 1 < FRAME_MAX) {
		frame[len] = ' ';
		if (!put_name(visit, event, rec, "ec", frame + len + 1, FRAME_MAX - len - 1))
			frame[len] = '\0';
	}
}

/* Return the part around a part: the first one that ended later, and began no later. */
static unsigned int around(const struct collapsed *visit, unsigned int part)
{
	unsigned int i = part + 1;

	while (i < visit->nr && visit->parts[i].begin > visit->parts[part].begin)
		i++;
	return i;
}

/* Write the frames of a part and of all around it, the outermost first. */
static size_t put_frames(const struct collapsed *visit, unsigned int part, char *stack, size_t len)
{
	unsigned int outer = around(visit, part);

	if (outer < visit->nr)
		len = put_frames(visit, outer, stack, len);
	return len + snprintf(stack + len, STACK_MAX - len, ";%s", visit->parts[part].frame);
}

/* Count the parts of a visit by their own times: without those of the parts inside. */
static void end_visit(struct collapsed *visit,
		      const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	uint64_t left[PARTS_MAX + 1];
	char stack[STACK_MAX], to[FRAME_MAX];
	unsigned int i, outer;
	size_t len;

	len = snprintf(stack, sizeof(stack), "el2;%s", visit->reason);
	if (visit->class[0])
		len += snprintf(stack + len, sizeof(stack) - len, ";%s", visit->class);
	/* what it has done is known only after the guest */
	visit->left = 0;
	if (put_name(visit, event, rec, "reason", to, sizeof(to)) && !strcmp(to, "eret_guest")) {
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
	stacks_add(visit->stacks, stack, left[visit->nr]);
	for (i = 0; i < visit->nr; i++) {
		put_frames(visit, i, stack, len);
		stacks_add(visit->stacks, stack, left[i]);
	}
	visit->is_open = false;
}

static void begin_visit(struct collapsed *visit,
			const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	visit->has_enters = true;
	if (visit->left)
		visit->in_guest += rec->ts - visit->left;
	visit->left = 0;
	visit->is_open = true;
	visit->begin = rec->ts;
	visit->nr = 0;
	visit->class[0] = '\0';
	if (!put_name(visit, event, rec, "reason", visit->reason, FRAME_MAX))
		strcpy(visit->reason, "unknown");
}

static void add_guest(struct collapsed *visit, uint64_t begin, uint64_t time)
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
static uint64_t time_in_guests(const struct collapsed *visit, uint64_t begin)
{
	uint64_t time = 0;
	unsigned int i;

	for (i = visit->nr_guests; i && visit->guests[i - 1].begin >= begin; i--)
		time += visit->guests[i - 1].time;
	return time;
}

static void put_guest(struct collapsed *visit, const struct hyptrace_event *event,
		      const struct hyptrace_record *rec, uint64_t duration)
{
	char stack[STACK_MAX], class[FRAME_MAX] = "unknown";
	uint64_t handle, index;

	if (!put_name(visit, event, rec, "ec", class, FRAME_MAX))
		put_name(visit, event, rec, "code", class, FRAME_MAX);
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
	stacks_add(visit->stacks, stack, duration);
	strcpy(visit->class, class);
}

static void put_part(struct collapsed *visit, const struct hyptrace_event *event,
		     const struct hyptrace_record *rec, uint64_t duration)
{
	struct timed part = { .begin = rec->ts - duration, .end = rec->ts };
	uint64_t in_guests;
	char stack[STACK_MAX];

	name_part(visit, event, rec, part.frame);
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
		stacks_add(visit->alone, stack, duration - in_guests);
	}
}

static void put_event(struct collapsed *visit, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(visit->formats, rec);
	uint64_t duration;

	if (!event)
		return;
	if (!strcmp(event->name, "hyp_enter"))
		begin_visit(visit, event, rec);
	else if (!strcmp(event->name, "hyp_exit") && visit->is_open)
		end_visit(visit, event, rec);
	else if (!get(event, rec, "duration", &duration) || duration > rec->ts)
		return;
	else if (hyptrace_event_field(event, "code"))
		put_guest(visit, event, rec, duration);
	else
		put_part(visit, event, rec, duration);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct collapsed *visit = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		/* nobody knows how long the CPU was at EL2 */
		if (event->record.lost) {
			visit->is_open = false;
			visit->left = 0;
			visit->has_gap = true;
		}
		if (event->record.data)
			put_event(visit, &event->record);
	}
}

static void begin_part(struct export_part *part)
{
	struct collapsed *visit = calloc(1, sizeof(*visit));

	if (!visit)
		die_no_memory();
	visit->formats = part->formats;
	visit->stacks = stacks_new();
	visit->alone = stacks_new();
	part->state = visit;
}

static void end_part(struct export_part *part)
{
	struct collapsed *visit = part->state;
	struct all_stacks *all = part->x->state;

	all->stacks = stacks_join(all->stacks, visit->stacks);
	all->alone = stacks_join(all->alone, visit->alone);
	all->has_enters |= visit->has_enters;
	free(visit);
}

static int begin(struct export *x)
{
	struct all_stacks *all = calloc(1, sizeof(*all));

	if (!all)
		die_no_memory();
	x->state = all;
	return EXIT_DONE;
}

static int end(struct export *x)
{
	struct all_stacks *all = x->state;

	if (all->stacks)
		stacks_print(all->stacks, x->out);
	if (all->alone && !all->has_enters)
		stacks_print(all->alone, x->out);
	stacks_free(all->stacks);
	stacks_free(all->alone);
	free(all);
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
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
