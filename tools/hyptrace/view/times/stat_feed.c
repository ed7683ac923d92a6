// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of hyptrace stat from events. A file may have billions of them, so a field is
 * read at its offset, and nothing is looked up by name.
 */
#include <string.h>

#include "stat.h"
#include "stat_slow.h"

#define unlikely(condition)	__builtin_expect(!!(condition), 0)

/* Places of the fields in struct stat_kind: see the table in stat_kinds.c */
enum {
	FIELD_REASON = 0,
	FIELD_HCALL_DURATION = 0,
	FIELD_HCALL_ID,
	FIELD_HANDLE = 0,
	FIELD_INDEX,
	FIELD_VCPU,
	FIELD_GUEST_DURATION,
	FIELD_CODE,
	FIELD_CLASS,
	FIELD_OP = 0,
	FIELD_FROM,
	FIELD_TO,
};

static inline uint64_t read_field(const struct stat_kind *kind, unsigned int field,
				  const void *data)
{
	const char *from = (const char *)data + kind->fields[field].offset;
	uint64_t value64;
	uint32_t value32;
	uint16_t value16;

	switch (kind->fields[field].size) {
	case sizeof(uint8_t):
		return (uint8_t)*from;
	case sizeof(value16):
		memcpy(&value16, from, sizeof(value16));
		return value16;
	case sizeof(value32):
		memcpy(&value32, from, sizeof(value32));
		return value32;
	default:
		memcpy(&value64, from, sizeof(value64));
		return value64;
	}
}

static inline void add_sample(struct stat_cpu *cpu, struct stat_key key, uint64_t time)
{
	struct stat_row *row = stat_rows_get(&cpu->rows, key);

	row->samples++;
	loglin_add(&row->times, time);
}

static inline void enter(struct stat_cpu *cpu, uint64_t ts, uint64_t reason)
{
	if (cpu->times.now == STAT_GUEST && ts > cpu->times.since)
		cpu->in_guest += ts - cpu->times.since;
	stat_times_enter(&cpu->times, ts);
	cpu->is_inside = true;
	cpu->entered = ts;
	cpu->reason = reason;
}

static inline void leave(struct stat_cpu *cpu, uint64_t ts, uint64_t reason)
{
	struct stat_key key = { .major = cpu->reason };
	uint64_t time = ts > cpu->entered ? ts - cpu->entered : 0;

	stat_times_exit(&cpu->times, ts, reason == cpu->kinds->eret_guest);
	if (!cpu->is_inside)
		return;
	cpu->is_inside = false;
	if (cpu->by == STAT_BY_CPU)
		key.major = cpu->id;
	else if (cpu->by != STAT_BY_REASON)
		return;
	add_sample(cpu, key, time);
	if (unlikely(cpu->slow))
		stat_slow_add_kept(cpu, key, time, stat_slow_cpu(cpu));
}

static struct stat_key vcpu_of(const struct stat_kind *kind, const void *data)
{
	struct stat_key key = {
		.major = read_field(kind, FIELD_HANDLE, data) << 32 |
			 (uint32_t)read_field(kind, FIELD_INDEX, data),
		.minor = read_field(kind, FIELD_VCPU, data),
	};

	return key;
}

/* A vCPU enters its guest: the time since its last exit is that of the exit. */
static void enter_guest(struct stat_cpu *cpu, const struct stat_kind *kind,
			const struct hyptrace_record *rec)
{
	struct stat_row *vcpu;

	if (!cpu->vcpus)
		return;
	vcpu = stat_rows_get(cpu->vcpus, vcpu_of(kind, rec->data));
	if (vcpu->exit && rec->ts >= vcpu->since) {
		loglin_add(&vcpu->exit->times, rec->ts - vcpu->since);
		if (unlikely(cpu->slow))
			stat_slow_add_kept(cpu, vcpu->exit->key, rec->ts - vcpu->since, vcpu->key);
	}
	vcpu->exit = NULL;
}

static void exit_guest(struct stat_cpu *cpu, const struct stat_kind *kind,
		       const struct hyptrace_record *rec)
{
	uint64_t duration = read_field(kind, FIELD_GUEST_DURATION, rec->data);
	uint64_t code = read_field(kind, FIELD_CODE, rec->data);
	struct stat_key key = vcpu_of(kind, rec->data);
	struct stat_row *vcpu, *row;

	if (cpu->by == STAT_BY_VM) {
		key.major >>= 32;
		key.minor = 0;
	}
	if (cpu->by == STAT_BY_VM || cpu->by == STAT_BY_VCPU) {
		add_sample(cpu, key, duration);
		if (unlikely(cpu->slow))
			stat_slow_add(cpu, key, duration, rec);
	}
	if (cpu->by != STAT_BY_EXIT || !cpu->vcpus)
		return;
	vcpu = stat_rows_get(cpu->vcpus, key);
	if (unlikely(cpu->slow))
		stat_slow_keep(cpu, key, rec);
	key.major = code;
	key.minor = code == cpu->kinds->trap ? read_field(kind, FIELD_CLASS, rec->data) : 0;
	row = stat_rows_get(&cpu->rows, key);
	row->samples++;
	row->guest += cpu->in_guest;
	row->run += duration;
	cpu->in_guest = 0;
	vcpu->exit = row;
	vcpu->since = rec->ts;
}

static void move_memory(struct stat_cpu *cpu, const struct stat_kind *kind, const void *data)
{
	struct stat_key key = {
		.major = read_field(kind, FIELD_OP, data),
		.minor = read_field(kind, FIELD_FROM, data) << 32 |
			 (uint32_t)read_field(kind, FIELD_TO, data),
	};

	if (cpu->by == STAT_BY_MEMORY)
		stat_rows_get(&cpu->rows, key)->samples++;
}

static void call(struct stat_cpu *cpu, const struct stat_kind *kind,
		 const struct hyptrace_record *rec)
{
	struct stat_key key = { .major = read_field(kind, FIELD_HCALL_ID, rec->data) };
	uint64_t duration;

	if (cpu->by != STAT_BY_HCALL)
		return;
	duration = read_field(kind, FIELD_HCALL_DURATION, rec->data);
	add_sample(cpu, key, duration);
	if (unlikely(cpu->slow))
		stat_slow_add(cpu, key, duration, rec);
}

/* Events were lost: the interval since the last event is broken. */
static __attribute__((noinline)) void lose(struct stat_cpu *cpu, uint64_t lost)
{
	unsigned int i;

	if (lost == HYPTRACE_LOST_UNKNOWN)
		cpu->lost_more = true;
	else
		cpu->lost += lost;
	cpu->is_inside = false;
	cpu->in_guest = 0;
	stat_times_lose(&cpu->times);
	/* any vCPU may have entered its guest here */
	for (i = 0; cpu->vcpus && i < cpu->vcpus->nr; i++)
		cpu->vcpus->rows[i]->exit = NULL;
}

static inline void feed(struct stat_cpu *cpu, const struct hyptrace_record *rec)
{
	const struct stat_kinds *kinds = cpu->kinds;
	const struct stat_kind *kind;
	uint16_t id;

	if (rec->size < sizeof(id))
		return;
	memcpy(&id, rec->data, sizeof(id));
	if (id >= kinds->nr)
		return;
	kind = &kinds->by_id[id];
	if (rec->size < kind->size)
		return;
	cpu->seen[kind->event]++;
	switch (kind->event) {
	case STAT_ENTER:
		enter(cpu, rec->ts, read_field(kind, FIELD_REASON, rec->data));
		break;
	case STAT_EXIT:
		leave(cpu, rec->ts, read_field(kind, FIELD_REASON, rec->data));
		break;
	case STAT_HCALL:
		call(cpu, kind, rec);
		break;
	case STAT_GUEST_ENTER:
		enter_guest(cpu, kind, rec);
		break;
	case STAT_GUEST_EXIT:
		exit_guest(cpu, kind, rec);
		break;
	case STAT_MEMORY:
		move_memory(cpu, kind, rec->data);
		break;
	default:
		break;
	}
}

static inline void see_time(struct stat_cpu *cpu, uint64_t ts)
{
	if (!cpu->has_time)
		cpu->first = ts;
	cpu->has_time = true;
	cpu->last = ts;
}

/* Keep the event that says most of a visit of EL2: the last one before hyp_exit. */
static void keep_visit(struct stat_cpu *cpu, const struct hyptrace_record *rec)
{
	const struct stat_kinds *kinds = cpu->kinds;
	enum stat_event event = STAT_NONE;
	uint16_t id;

	if ((cpu->by != STAT_BY_REASON && cpu->by != STAT_BY_CPU) || rec->size < sizeof(id))
		return;
	memcpy(&id, rec->data, sizeof(id));
	if (id < kinds->nr)
		event = kinds->by_id[id].event;
	if (event != STAT_EXIT && event != STAT_GUEST_ENTER)
		stat_slow_keep(cpu, stat_slow_cpu(cpu), rec);
}

/* Take the numbers from an event, or from a loss. */
void stat_feed(struct stat_cpu *cpu, const struct hyptrace_record *rec)
{
	if (rec->lost)
		lose(cpu, rec->lost);
	if (!rec->data)
		return;
	see_time(cpu, rec->ts);
	cpu->events++;
	if (unlikely(cpu->slow))
		keep_visit(cpu, rec);
	feed(cpu, rec);
}

/* Take the numbers from several events of a CPU. */
void stat_feed_run(struct stat_cpu *cpu, const struct hyptrace_stream_event *events,
		   unsigned int nr)
{
	unsigned int i;

	if (!nr)
		return;
	see_time(cpu, events[0].record.ts);
	cpu->last = events[nr - 1].record.ts;
	cpu->events += nr;
	for (i = 0; i < nr; i++)
		feed(cpu, &events[i].record);
}
