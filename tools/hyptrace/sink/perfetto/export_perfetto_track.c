// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: tracks, also of virtual CPUs, and the packets of slices and instants.
 *
 * Each track has a sequence of packets of its own. So its number and the full time are written
 * once, and a packet has only the nanoseconds since the one before, and numbers instead of names.
 * Packets do not have the flag that they need this state: a reader drops those that have it if
 * packets before them were lost, but a file has all its packets.
 */
#include "output/die.h"
#include "export_perfetto.h"

/* Trace */
#define TRACE_PACKET		1

/* TracePacket */
#define CLOCK_SNAPSHOT		6
#define TIMESTAMP		8
#define SEQUENCE_ID		10
#define TRACK_EVENT		11
#define INTERNED_DATA		12
#define SEQUENCE_FLAGS		13
#define DEFAULTS		59
#define TRACK_DESCRIPTOR	60
#define FIRST_ON_SEQUENCE	87

#define STATE_CLEARED		1	/* in SEQUENCE_FLAGS */

/* ClockSnapshot, its message Clock, and numbers of clocks: from 64 on they are a sequence's own */
#define CLOCKS			1
#define PRIMARY_CLOCK		2
#define CLOCK_ID		1
#define CLOCK_TIMESTAMP		2
#define CLOCK_IS_INCREMENTAL	3
#define CLOCK_REAL		1
#define CLOCK_BOOT		6
#define CLOCK_SEQUENCE		64

/* TracePacketDefaults */
#define DEFAULT_CLOCK_ID	58
#define DEFAULT_TRACK_EVENT	11

/* TrackDescriptor */
#define DESCRIPTOR_UUID		1
#define DESCRIPTOR_NAME		2
#define DESCRIPTOR_PARENT	5

/* TrackEvent, and its message for the defaults */
#define DEBUG_ANNOTATIONS	4
#define TYPE			9
#define NAME_IID		10
#define TRACK_UUID		11
#define NAME			23
#define FLOW_IDS		47

#define TYPE_SLICE_BEGIN	1
#define TYPE_SLICE_END		2
#define TYPE_INSTANT		3

/* DebugAnnotation, and the messages in InternedData */
#define ANNOTATION_NAME_IID	1
#define INTERNED_IID		1
#define INTERNED_TEXT		2

/* Bytes of a name at most; what follows is cut off */
#define NAME_MAX_BYTES		512

/* Bytes of a packet at most: numbers with their tags, flows, and a text */
#define PACKET_MAX \
	(256 + PERFETTO_ARGS_MAX * 32 + PERFETTO_FLOWS_MAX * 16 + PERFETTO_TEXT_MAX + \
	 NAME_MAX_BYTES)

/* High bits of all numbers of tracks, so that they differ from those of other programs: "hyp" */
#define UUID_PREFIX		(UINT64_C(0x687970) << 40)
#define UUID_GROUP_SHIFT	36

#define NAMES_MIN		128

/* Clocks start so long before the first event: slices can have begun before it, in ns. */
#define BASE_BEFORE		UINT64_C(1000000000)

/* More virtual CPUs than this share a track */
#define VCPUS_MAX	16384

/* Tracks of VMs have this and the handle, those of virtual CPUs the other one and 35 bits. */
#define UUID_OF_VM	(UINT64_C(1) << 32)
#define UUID_OF_VCPU	(UINT64_C(1) << 35)

/* Bytes of the name of a track that is made here */
#define NAME_SIZE	64

static const char *const group_names[] = {
	[PERFETTO_CALLS] = "Calls of EL2",
	[PERFETTO_GUESTS] = "Guests",
	[PERFETTO_MEMORY] = "Memory of EL2 and guests",
	[PERFETTO_EVENTS] = "Events of EL2",
	[PERFETTO_LOSSES] = "Lost events",
	[PERFETTO_FUNCTIONS] = "Functions of EL2",
};

/* The number of a name, which must stay at its address: that identifies it */
perfetto_name_t perfetto_name(struct perfetto *p, const char *name)
{
	struct perfetto_names *names = &p->names;
	struct map_entry *entry = map_find(&names->numbers, (uintptr_t)name, 0);

	if (entry)
		return entry->value;
	if (names->nr == names->size) {
		names->size = names->size ? 2 * names->size : NAMES_MIN;
		names->texts = xreallocarray(names->texts, names->size, sizeof(*names->texts));
	}
	names->texts[names->nr++] = name;
	map_add(&names->numbers, (uintptr_t)name, 0)->value = names->nr;
	return names->nr;
}

/* Begin a packet. Return its start, in room for it. */
static uint8_t *open_packet(struct out *out)
{
	return protobuf_open((uint8_t *)out_room(out, PACKET_MAX), TRACE_PACKET);
}

static void put_packet(struct out *out, uint8_t *start, uint8_t *end)
{
	out_put_to(out, (char *)protobuf_close(start, end));
}

/* The number of a track: @id is 0 for the group itself, else below 2^36. */
static uint64_t uuid_in(enum perfetto_group group, uint64_t id)
{
	return UUID_PREFIX | (uint64_t)(group + 1) << UUID_GROUP_SHIFT | id;
}

/* Name a track; @parent is 0 if it is below no other one. */
static void describe(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name)
{
	uint8_t *start = open_packet(p->out);
	uint8_t *descriptor = protobuf_open(start, TRACK_DESCRIPTOR), *to;

	to = protobuf_uint(descriptor, DESCRIPTOR_UUID, uuid);
	to = protobuf_text(to, DESCRIPTOR_NAME, name, NAME_MAX_BYTES);
	if (parent)
		to = protobuf_uint(to, DESCRIPTOR_PARENT, parent);
	put_packet(p->out, start, protobuf_close(descriptor, to));
}

/* The number of a group of tracks, which is described the first time */
uint64_t perfetto_group(struct perfetto *p, enum perfetto_group group)
{
	const uint64_t uuid = uuid_in(group, 0);

	if (!(p->groups & 1U << group))
		describe(p, uuid, 0, group_names[group]);
	p->groups |= 1U << group;
	return uuid;
}

/* Describe a track of the CPU; call this once for each. Return its number. */
uint64_t perfetto_cpu_track(struct perfetto *p, enum perfetto_group group, const char *prefix)
{
	const uint64_t uuid = uuid_in(group, p->cpu + 1);
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s CPU %u", prefix, p->cpu);
	describe(p, uuid, perfetto_group(p, group), name);
	return uuid;
}

static uint8_t *put_clock(uint8_t *to, unsigned int id, uint64_t time)
{
	uint8_t *clock = protobuf_open(to, CLOCKS);

	to = protobuf_uint(clock, CLOCK_ID, id);
	to = protobuf_uint(to, CLOCK_TIMESTAMP, time);
	if (id == CLOCK_SEQUENCE)
		to = protobuf_uint(to, CLOCK_IS_INCREMENTAL, 1);
	return protobuf_close(clock, to);
}

/* The time from which the clocks of all sequences start */
static uint64_t base_of(const struct export *x)
{
	return x->first > BASE_BEFORE ? x->first - BASE_BEFORE : 1;
}

/* Write the first packet of all. */
void perfetto_put_clocks(const struct export *x)
{
	const uint64_t base = base_of(x);
	uint8_t *start = open_packet(x->out), *message = protobuf_open(start, CLOCK_SNAPSHOT);
	uint8_t *to = put_clock(message, CLOCK_BOOT, base);

	if (x->info->offset)
		to = put_clock(to, CLOCK_REAL, base + x->info->offset);
	to = protobuf_uint(to, PRIMARY_CLOCK, CLOCK_BOOT);
	put_packet(x->out, start, protobuf_close(message, to));
}

/* Write the first packets of a sequence: its defaults, and the time from which its clock starts. */
static void begin_sequence(struct perfetto *p, struct perfetto_track *track)
{
	uint8_t *start = open_packet(p->out), *message, *events, *to;

	/* no other part has this number */
	track->sequence = p->nr_sequences++ * (p->x->nr_cpus + 1) + p->index + 1;
	track->time = base_of(p->x);
	to = protobuf_uint(start, SEQUENCE_ID, track->sequence);
	to = protobuf_uint(to, SEQUENCE_FLAGS, STATE_CLEARED);
	to = protobuf_uint(to, FIRST_ON_SEQUENCE, 1);
	message = protobuf_open(to, DEFAULTS);
	to = protobuf_uint(message, DEFAULT_CLOCK_ID, CLOCK_SEQUENCE);
	events = protobuf_open(to, DEFAULT_TRACK_EVENT);
	to = protobuf_close(events, protobuf_uint(events, TRACK_UUID, track->uuid));
	put_packet(p->out, start, protobuf_close(message, to));

	start = open_packet(p->out);
	to = protobuf_uint(start, SEQUENCE_ID, track->sequence);
	message = protobuf_open(to, CLOCK_SNAPSHOT);
	to = put_clock(message, CLOCK_BOOT, track->time);
	to = put_clock(to, CLOCK_SEQUENCE, track->time);
	to = protobuf_uint(to, PRIMARY_CLOCK, CLOCK_BOOT);
	put_packet(p->out, start, protobuf_close(message, to));
}

static unsigned int known_bit(unsigned int table)
{
	return 1U << (table == PERFETTO_ARG_VALUES ? 0 : table);
}

static __attribute__((noinline)) void intern(struct perfetto *p, struct perfetto_track *track,
					     unsigned int table, perfetto_name_t name)
{
	uint8_t *start, *data, *entry, *to;

	if (name >= track->nr_known) {
		/* the names' numbers begin with 1 */
		track->known = xreallocarray(track->known, p->names.size + 1, 1);
		memset(track->known + track->nr_known, 0, p->names.size + 1 - track->nr_known);
		track->nr_known = p->names.size + 1;
	}
	track->known[name] |= known_bit(table);
	start = open_packet(p->out);
	to = protobuf_uint(start, SEQUENCE_ID, track->sequence);
	data = protobuf_open(to, INTERNED_DATA);
	entry = protobuf_open(data, table);
	to = protobuf_uint(entry, INTERNED_IID, name);
	to = protobuf_text(to, INTERNED_TEXT, p->names.texts[name - 1], NAME_MAX_BYTES);
	put_packet(p->out, start, protobuf_close(data, protobuf_close(entry, to)));
}

static inline void know(struct perfetto *p, struct perfetto_track *track, unsigned int table,
			perfetto_name_t name)
{
	if (name >= track->nr_known || !(track->known[name] & known_bit(table)))
		intern(p, track, table, name);
}

static inline uint8_t *put_arg(uint8_t *to, const struct perfetto_arg *arg, const char *text)
{
	uint8_t *start = protobuf_open(to, DEBUG_ANNOTATIONS);

	to = protobuf_uint(start, ANNOTATION_NAME_IID, arg->name);
	if (arg->type == PERFETTO_TEXT)
		to = protobuf_text(to, PERFETTO_TEXT, text, PERFETTO_TEXT_MAX);
	else
		to = protobuf_uint(to, arg->type, arg->value);
	return protobuf_close(start, to);
}

/* Begin a packet of a track: all that is before the TrackEvent. Return the TrackEvent's start. */
static inline uint8_t *begin_packet(struct perfetto *p, struct perfetto_track *track,
				    uint64_t time, uint8_t **start)
{
	uint8_t *to;

	*start = open_packet(p->out);
	to = protobuf_uint(*start, TIMESTAMP, time - track->time);
	track->time = time;
	to = protobuf_uint(to, SEQUENCE_ID, track->sequence);
	return protobuf_open(to, TRACK_EVENT);
}

static void put_begin(struct perfetto *p, struct perfetto_track *track,
		      const struct perfetto_event *event)
{
	uint8_t *start, *message = begin_packet(p, track, event->begin, &start), *to;
	unsigned int i;

	to = protobuf_uint(message, TYPE, event->is_instant ? TYPE_INSTANT : TYPE_SLICE_BEGIN);
	if (event->name)
		to = protobuf_uint(to, NAME_IID, event->name);
	else
		to = protobuf_text(to, NAME, event->text, NAME_MAX_BYTES);
	for (i = 0; i < event->nr_args; i++)
		to = put_arg(to, &event->args[i], event->text);
	for (i = 0; i < event->nr_flows; i++)
		to = protobuf_fixed64(to, FLOW_IDS, event->flows[i]);
	put_packet(p->out, start, protobuf_close(message, to));
}

static void put_end(struct perfetto *p, struct perfetto_track *track, uint64_t time)
{
	uint8_t *start, *message = begin_packet(p, track, time, &start);

	put_packet(p->out, start,
		   protobuf_close(message, protobuf_uint(message, TYPE, TYPE_SLICE_END)));
}

void perfetto_put(struct perfetto *p, struct perfetto_track *track,
		  const struct perfetto_event *event)
{
	unsigned int i;

	if (!track->sequence)
		begin_sequence(p, track);
	if (event->name)
		know(p, track, PERFETTO_EVENT_NAMES, event->name);
	for (i = 0; i < event->nr_args; i++) {
		know(p, track, PERFETTO_ARG_NAMES, event->args[i].name);
		if (event->args[i].type == PERFETTO_NAME)
			know(p, track, PERFETTO_ARG_VALUES, event->args[i].value);
	}
	put_begin(p, track, event);
	if (event->is_instant)
		return;
	put_end(p, track, event->end);
	track->end = event->end;
}

/* Begin a slice of a track in which each packet is no earlier than the one before. */
void perfetto_begin_slice(struct perfetto *p, struct perfetto_track *track, uint64_t time,
			  perfetto_name_t name)
{
	struct perfetto_event event;

	if (!track->sequence)
		begin_sequence(p, track);
	know(p, track, PERFETTO_EVENT_NAMES, name);
	perfetto_begin_event(&event, MAX(time, track->time), 0, false);
	event.name = name;
	put_begin(p, track, &event);
}

/* End the last slice of such a track that has not ended. */
void perfetto_end_slice(struct perfetto *p, struct perfetto_track *track, uint64_t time)
{
	put_end(p, track, MAX(time, track->time));
}

/* It may contain those of perfetto_put_inner(). Its begin is changed if it would not nest. */
void perfetto_put_outer(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event)
{
	/* viewers sort by time and keep the order of packets with the same one: inner ones first */
	if (nest->end > event->begin && nest->begin <= event->begin)
		event->begin = nest->begin - 1;
	nest->end = 0;
	/* a duration is rounded: slices that follow each other must not overlap */
	event->begin = MAX(event->begin, nest->outer.end);
	event->end = MAX(event->end, event->begin);
	perfetto_put(p, &nest->outer, event);
}

/* Write a slice or an instant that may be inside one of perfetto_put_outer(); likewise. */
void perfetto_put_inner(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event)
{
	event->begin = MAX(event->begin, MAX(nest->outer.end, nest->inner.end));
	event->end = MAX(event->end, event->begin);
	if (!nest->end)
		nest->begin = event->begin;
	nest->end = event->end;
	perfetto_put(p, &nest->inner, event);
}

/* Virtual CPUs, and the time in their guests */

/*
 * A virtual CPU that was on several CPUs has the same number in all their parts. But a number of a
 * part's own if its VM is not known yet: then viewers join tracks of the same name.
 */
static struct perfetto_vcpu *new_vcpu(struct perfetto *p, uint32_t pid, bool is_known,
				      uint32_t handle, uint32_t index)
{
	const uint64_t minor = is_known ? (uint64_t)handle << 32 | index :
					  ~((uint64_t)p->nr_vcpus << 32 | p->index);
	const uint64_t hash = (uint64_t)map_hash(pid, minor) << 3 | (map_hash(minor, pid) & 7);
	const uint64_t uuid = uuid_in(PERFETTO_GUESTS, UUID_OF_VCPU | hash);
	struct perfetto_vcpu *vcpu = xcalloc(1, sizeof(*vcpu));

	*vcpu = (struct perfetto_vcpu){
		.pid = pid, .is_known = is_known, .handle = handle, .index = index,
		.nest = { .outer.uuid = uuid, .inner.uuid = uuid },
	};
	p->nr_vcpus++;
	return vcpu;
}

/* The last used virtual CPU of a thread, or that of a VM if @is_known: found, or a new one */
struct perfetto_vcpu *perfetto_vcpu(struct perfetto *p, uint32_t pid, bool is_known,
				    uint32_t handle, uint32_t index)
{
	struct map_entry *entry = map_find(&p->vcpus, pid, 0);
	struct perfetto_vcpu *first = entry ? entry->ptr : NULL, **at = &first, *vcpu;

	while ((vcpu = *at) && is_known && vcpu->is_known &&
	       (vcpu->handle != handle || vcpu->index != index))
		at = &vcpu->next;
	if (vcpu)
		*at = vcpu->next;
	else if (p->nr_vcpus < VCPUS_MAX)
		vcpu = new_vcpu(p, pid, is_known, handle, index);
	else
		p->other = p->other ?: new_vcpu(p, pid, is_known, handle, index);
	if (vcpu) {
		vcpu->next = first;
		if (!entry)
			entry = map_add(&p->vcpus, pid, 0);
		entry->ptr = vcpu;
	}
	vcpu = vcpu ?: p->other;
	/* its VM is known only now */
	if (is_known && !vcpu->is_known) {
		vcpu->is_known = true;
		vcpu->handle = handle;
		vcpu->index = index;
	}
	return vcpu;
}

/* Write the slice of a guest whose exit is missing, up to the CPU's last event. */
void perfetto_guest_close(struct perfetto *p)
{
	struct perfetto_event event = {
		.begin = p->entered_at,
		.end = p->last,
		.text = "guest (exit not recorded)",
	};

	if (p->entered)
		perfetto_put_outer(p, &p->entered->nest, &event);
	p->entered = NULL;
}

static void end_vcpu(struct perfetto *p, struct perfetto_vcpu *vcpu)
{
	const bool is_used = vcpu->nest.outer.sequence || vcpu->nest.inner.sequence;
	uint64_t parent = is_used ? perfetto_group(p, PERFETTO_GUESTS) : 0;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "vCPU (thread %" PRIu32 ")", vcpu->pid);
	if (vcpu->is_known && is_used) {
		/* several descriptions of a track are no error */
		snprintf(name, sizeof(name), "VM 0x%" PRIx32, vcpu->handle);
		describe(p, uuid_in(PERFETTO_GUESTS, UUID_OF_VM | vcpu->handle), parent, name);
		parent = uuid_in(PERFETTO_GUESTS, UUID_OF_VM | vcpu->handle);
		snprintf(name, sizeof(name), "vCPU %" PRIu32 " (thread %" PRIu32 ")", vcpu->index,
			 vcpu->pid);
	}
	if (is_used)
		describe(p, vcpu->nest.outer.uuid, parent, name);
	free(vcpu->nest.outer.known);
	free(vcpu->nest.inner.known);
	free(vcpu);
}

/* Name the tracks, after the last event: a later one can say to which VM a thread belongs. */
void perfetto_guest_end(struct perfetto *p)
{
	struct perfetto_vcpu *vcpu, *next;
	struct map_entry *entry = NULL;

	perfetto_guest_close(p);
	while ((entry = map_next(&p->vcpus, entry))) {
		for (vcpu = entry->ptr; vcpu; vcpu = next) {
			next = vcpu->next;
			end_vcpu(p, vcpu);
		}
	}
	if (p->other)
		end_vcpu(p, p->other);
	map_free(&p->vcpus);
}

/*
 * Which machine, boot and kernel the events are from: Perfetto has them in its table metadata.
 * Versions that do not know attributes yet show the kernel only.
 */

#define SYSTEM_INFO		45
#define TRACE_ATTRIBUTES	126

/* SystemInfo, and its message Utsname */
#define INFO_UTSNAME		1
#define UTSNAME_SYSTEM		1
#define UTSNAME_VERSION		2
#define UTSNAME_RELEASE		3
#define UTSNAME_MACHINE		4

/* TraceAttributes, and its message Attribute */
#define ATTRIBUTE		1
#define ATTRIBUTE_KEY		1
#define ATTRIBUTE_TEXT		3

/* Bytes of a text at most: a packet has four of them */
#define ORIGIN_MAX	256

static uint8_t *put_attribute(uint8_t *to, const char *key, const char *value)
{
	uint8_t *attribute = protobuf_open(to, ATTRIBUTE);

	if (!*value)
		return to;
	to = protobuf_text(attribute, ATTRIBUTE_KEY, key, ORIGIN_MAX);
	return protobuf_close(attribute, protobuf_text(to, ATTRIBUTE_TEXT, value, ORIGIN_MAX));
}

void perfetto_put_origin(const struct export *x)
{
	const struct origin *origin = x->origin;
	uint8_t *start, *info, *names, *to;

	if (!*origin->json)
		return;
	start = open_packet(x->out);
	info = protobuf_open(start, SYSTEM_INFO);
	names = protobuf_open(info, INFO_UTSNAME);
	to = protobuf_text(names, UTSNAME_SYSTEM, origin->system, ORIGIN_MAX);
	to = protobuf_text(to, UTSNAME_VERSION, origin->version, ORIGIN_MAX);
	to = protobuf_text(to, UTSNAME_RELEASE, origin->kernel, ORIGIN_MAX);
	to = protobuf_text(to, UTSNAME_MACHINE, origin->arch, ORIGIN_MAX);
	put_packet(x->out, start, protobuf_close(info, protobuf_close(names, to)));
	start = open_packet(x->out);
	info = protobuf_open(start, TRACE_ATTRIBUTES);
	to = put_attribute(info, "machine", origin->machine);
	to = put_attribute(to, "boot", origin->boot);
	to = put_attribute(to, "kernel", origin->kernel);
	put_packet(x->out, start, protobuf_close(info, to));
}
