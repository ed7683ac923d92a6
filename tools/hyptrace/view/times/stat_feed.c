// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs of stat and top, and their numbers from events. A file may have billions of them, so a
 * field is read at its offset, and nothing is looked up by name.
 */
#include "output/die.h"
#include "stat.h"

#define unlikely(condition)	__builtin_expect(!!(condition), 0)

/* Bytes of an event that are kept: those that EL2 records are smaller */
#define KEPT_SIZE	256

/* The last event of a CPU or a vCPU, by stat_slow_cpu() or the key of the vCPU */
struct kept {
	uint32_t	size;	/* bytes of data */
	char		data[KEPT_SIZE] __attribute__((aligned(8)));
};

/* The events that say what happened in a visit of EL2; those of other rows have arguments. */
bool stat_slow_needs(enum stat_by by, enum hyptrace_kind kind)
{
	return (by == STAT_BY_REASON || by == STAT_BY_CPU) &&
	       HYPTRACE_CALL_KINDS & HYPTRACE_KIND_BIT(kind) &&
	       kind != HYPTRACE_KIND_GUEST_FIXUP;
}

static void keep_slow(struct stat_cpu *cpu, struct stat_key owner,
		      const struct hyptrace_record *rec)
{
	struct kept *kept;

	if (rec->size > KEPT_SIZE)
		return;
	kept = map_get(&cpu->slow->kept, owner.major, owner.minor, sizeof(*kept));
	kept->size = rec->size;
	memcpy(kept->data, rec->data, rec->size);
}

/* @to is empty, and stays so if the event is unknown. */
static void put_text(const struct stat_slow *slow, const struct hyptrace_record *rec, char *to)
{
	auto_free char *line = NULL, *plain = NULL;
	struct hyptrace_formats *formats = slow->stat->session.formats;
	const struct hyptrace_event *event = hyptrace_formats_event(formats, rec);
	const char *text;
	size_t len;

	if (!event)
		return;
	text = hyptrace_formats_text(formats, event, rec, &len);
	line = xasprintf("%s: %.*s", event->name, (int)len, text);
	/* it may hold control characters */
	plain = text_copy_plain(line);
	snprintf(to, STAT_SLOW_TEXT, "%.*s", STAT_SLOW_TEXT - 1, plain);
}

static void add_slow(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
		     const struct hyptrace_record *rec)
{
	struct stat_slow *slow = cpu->slow;
	unsigned int place = slow->nr, i;

	if (!stat_key_is(key, slow->key))
		return;
	while (place && slow->samples[place - 1].time < time)
		place--;
	if (place == STAT_SLOW_SAMPLES)
		return;
	if (slow->nr < STAT_SLOW_SAMPLES)
		slow->nr++;
	for (i = slow->nr - 1; i > place; i--)
		slow->samples[i] = slow->samples[i - 1];
	slow->samples[place] = (struct stat_slow_sample){ .time = time, .cpu = cpu->id };
	if (rec)
		put_text(slow, rec, slow->samples[place].text);
}

static void add_kept_slow(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
			  struct stat_key owner)
{
	const struct map_entry *entry = map_find(&cpu->slow->kept, owner.major, owner.minor);
	const struct kept *kept = entry ? entry->ptr : NULL;

	add_slow(cpu, key, time, kept ?
		 &(struct hyptrace_record){ .size = kept->size, .data = kept->data } : NULL);
}

void stat_slow_free(struct stat_slow *slow)
{
	map_free_values(&slow->kept);
	*slow = (struct stat_slow){};
}

/* Add what the PMU has counted during a sample, whose event has this time. */
static inline void add_measured(struct stat_cpu *cpu, struct stat_row *row, uint64_t ts)
{
	unsigned int i;

	if (!unlikely(cpu->pmu_counts.has) ||
	    !pmu_take(cpu->pmu, &cpu->pmu_counts, stat_by[cpu->by].measured, ts))
		return;
	row->measured++;
	for (i = 0; i < PMU_MAX; i++)
		row->pmu[i] += cpu->pmu_counts.n[i];
}

static inline void add_sample(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
			      uint64_t ts)
{
	struct stat_row *row = stat_rows_get(&cpu->rows, key);

	row->samples++;
	loglin_add(&row->times, time);
	add_measured(cpu, row, ts);
}

/* As hyptrace_meaning_value(), whose branches cost more than the rest: EL2 has @size bytes. */
static inline uint64_t value_of(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
				const struct hyptrace_record *rec, size_t size)
{
	const struct hyptrace_place *place = &meaning->places[role];
	const uint8_t *at = (const uint8_t *)rec->data + place->offset;
	uint64_t value;
	uint32_t value32;

	if (unlikely(place->size != size))
		return hyptrace_meaning_value(meaning, role, rec);
	if (size == sizeof(*at))
		return *at;
	if (size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	memcpy(&value32, at, sizeof(value32));
	return value32;
}

/* @visits: the rows are of visits of EL2 */
static inline void leave(struct stat_cpu *cpu, uint64_t ts, bool to_guest, bool visits)
{
	const bool was_inside = cpu->times.now == STAT_EL2;
	struct stat_key key = {};
	uint64_t time;

	stat_times_exit(&cpu->times, ts, to_guest);
	if (!visits || !was_inside)
		return;
	key.major = cpu->by == STAT_BY_CPU ? cpu->id : cpu->reason;
	time = ts > cpu->entered ? ts - cpu->entered : 0;
	add_sample(cpu, key, time, ts);
	if (unlikely(cpu->slow))
		add_kept_slow(cpu, key, time, stat_slow_cpu(cpu));
}

static inline struct stat_key vcpu_of(const struct hyptrace_meaning *meaning,
				      const struct hyptrace_record *rec)
{
	return (struct stat_key){
		.major = value_of(meaning, HYPTRACE_ROLE_VM, rec, 4) << 32 |
			 (uint32_t)value_of(meaning, HYPTRACE_ROLE_INDEX, rec, 4),
		.minor = (uint32_t)value_of(meaning, HYPTRACE_ROLE_VCPU, rec, 4),
	};
}

static inline struct stat_row *find_vcpu(struct stat_cpu *cpu,
					 const struct hyptrace_meaning *meaning,
					 const struct hyptrace_record *rec)
{
	struct stat_key key = vcpu_of(meaning, rec);

	if (unlikely(!cpu->vcpu || !stat_key_is(cpu->vcpu->key, key)))
		cpu->vcpu = stat_rows_get(cpu->vcpus, key);
	return cpu->vcpu;
}

/* A vCPU enters its guest: the time since its last exit is that of the exit. */
static inline void enter_guest(struct stat_cpu *cpu, const struct hyptrace_meaning *meaning,
			       const struct hyptrace_record *rec, bool has_slow)
{
	struct stat_row *vcpu = find_vcpu(cpu, meaning, rec);

	if (vcpu->exit && rec->ts >= vcpu->since) {
		loglin_add(&vcpu->exit->times, rec->ts - vcpu->since);
		if (has_slow)
			add_kept_slow(cpu, vcpu->exit->key, rec->ts - vcpu->since, vcpu->key);
	}
	vcpu->exit = NULL;
}

static inline void exit_guest(struct stat_cpu *cpu, const struct hyptrace_meaning *meaning,
			      const struct hyptrace_record *rec, bool has_slow)
{
	struct stat_row *vcpu = find_vcpu(cpu, meaning, rec), *row;
	struct stat_key key = {};

	/* as hyptrace_meaning_key(): most exits are traps */
	if (meaning->named_by == HYPTRACE_ROLES_MAX &&
	    value_of(meaning, HYPTRACE_ROLE_CODE, rec, 1) == meaning->trap)
		key.major = HYPTRACE_KEY_TRAP |
			    (uint32_t)value_of(meaning, HYPTRACE_ROLE_CLASS, rec, 1);
	else
		key.major = hyptrace_meaning_key(meaning, rec);
	if (has_slow)
		keep_slow(cpu, vcpu->key, rec);
	row = stat_rows_get(&cpu->rows, key);
	row->samples++;
	row->guest += cpu->times.ns[STAT_GUEST] - cpu->guest_before;
	row->run += value_of(meaning, HYPTRACE_ROLE_DURATION, rec, 8);
	add_measured(cpu, row, rec->ts);
	cpu->guest_before = cpu->times.ns[STAT_GUEST];
	vcpu->exit = row;
	vcpu->since = rec->ts;
}

static void add_row(struct stat_cpu *cpu, const struct hyptrace_meaning *meaning,
		    const struct hyptrace_record *rec)
{
	struct stat_key key = {};
	uint64_t duration;

	switch (cpu->by) {
	case STAT_BY_MEMORY:
		key.major = hyptrace_meaning_key(meaning, rec);
		stat_rows_get(&cpu->rows, key)->samples++;
		return;
	case STAT_BY_VCPU:
		key = vcpu_of(meaning, rec);
		break;
	case STAT_BY_VM:
		key.major = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec);
		break;
	default:
		key.major = hyptrace_meaning_key(meaning, rec);
		break;
	}
	duration = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION, rec);
	add_sample(cpu, key, duration, rec->ts);
	if (unlikely(cpu->slow))
		add_slow(cpu, key, duration, rec);
}

/* Events were lost: the interval since the last event is broken. */
static __attribute__((noinline)) void lose(struct stat_cpu *cpu, uint64_t lost)
{
	unsigned int i;

	if (lost == HYPTRACE_LOST_UNKNOWN)
		cpu->lost_more = true;
	else
		cpu->lost += lost;
	cpu->guest_before = cpu->times.ns[STAT_GUEST];
	stat_times_lose(&cpu->times);
	/* any vCPU may have entered its guest here */
	for (i = 0; cpu->vcpus && i < cpu->vcpus->nr; i++)
		cpu->vcpus->rows[i]->exit = NULL;
}

/* Count the events of a CPU, of which @gone are only losses. */
static void count(struct stat_cpu *cpu, const struct hyptrace_stream_event *begin,
		  const struct hyptrace_stream_event *end, unsigned int gone)
{
	const unsigned int nr = end - begin;

	if (nr == gone)
		return;
	while (!begin->record.data)
		begin++;
	while (!end[-1].record.data)
		end--;
	if (!cpu->events)
		cpu->first = begin->record.ts;
	cpu->last = end[-1].record.ts;
	cpu->events += nr - gone;
}

/* Take the events of a CPU up to one of another CPU, which is returned, or the end. */
static inline __attribute__((always_inline))
const struct hyptrace_stream_event *feed_cpu(struct stat_cpu *cpu,
					     const struct hyptrace_stream_event *event,
					     const struct hyptrace_stream_event *end,
					     bool has_slow)
{
	const struct hyptrace_model *const model = cpu->model;
	const struct hyptrace_stream_event *const begin = event;
	const enum hyptrace_kind kind_of_rows = stat_by[cpu->by].kind;
	const bool visits = cpu->by == STAT_BY_REASON || cpu->by == STAT_BY_CPU;
	const unsigned int id = cpu->id;
	unsigned int gone = 0;
	uint32_t seen = 0;

	for (; event < end && event->cpu == id; event++) {
		const struct hyptrace_record *rec = &event->record;
		const struct hyptrace_meaning *meaning;
		uint64_t reason;

		if (unlikely(rec->lost)) {
			lose(cpu, rec->lost);
			gone += !rec->data;
			if (!rec->data)
				continue;
		}
		meaning = hyptrace_model_meaning(model, rec);
		/* the event that says most of a visit of EL2 is the last one before hyp_exit */
		if (has_slow && visits && meaning->kind != HYPTRACE_KIND_EXIT &&
		    meaning->kind != HYPTRACE_KIND_GUEST_ENTER &&
		    meaning->kind != HYPTRACE_KIND_PMU)
			keep_slow(cpu, stat_slow_cpu(cpu), rec);
		/* most events are these two */
		if (meaning->kind == HYPTRACE_KIND_ENTER) {
			seen |= HYPTRACE_KIND_BIT(HYPTRACE_KIND_ENTER);
			stat_times_enter(&cpu->times, rec->ts);
			cpu->entered = rec->ts;
			cpu->reason = value_of(meaning, HYPTRACE_ROLE_REASON, rec, 1);
			continue;
		}
		if (meaning->kind == HYPTRACE_KIND_EXIT) {
			seen |= HYPTRACE_KIND_BIT(HYPTRACE_KIND_EXIT);
			reason = value_of(meaning, HYPTRACE_ROLE_REASON, rec, 1);
			leave(cpu, rec->ts, reason == meaning->into_guest, visits);
			continue;
		}
		seen |= HYPTRACE_KIND_BIT(meaning->kind);
		if (cpu->vcpus && meaning->kind == HYPTRACE_KIND_GUEST_ENTER)
			enter_guest(cpu, meaning, rec, has_slow);
		else if (meaning->kind == kind_of_rows && cpu->vcpus)
			exit_guest(cpu, meaning, rec, has_slow);
		else if (meaning->kind == kind_of_rows)
			add_row(cpu, meaning, rec);
		else if (meaning->kind == HYPTRACE_KIND_PMU)
			pmu_note(cpu->pmu, &cpu->pmu_counts, meaning, rec);
	}
	cpu->seen |= seen;
	count(cpu, begin, event, gone);
	return event;
}

void stat_feed(struct stat *stat, const struct hyptrace_stream_event *events, unsigned int nr)
{
	const struct hyptrace_stream_event *const end = events + nr;

	while (events < end) {
		struct stat_cpu *cpu = stat_find_cpu(stat, events->cpu) ?:
				       stat_add_cpu(stat, events->cpu);

		events = cpu->slow ? feed_cpu(cpu, events, end, true) :
				     feed_cpu(cpu, events, end, false);
	}
}

/* Unless it is there */
struct stat_cpu *stat_add_cpu(struct stat *stat, unsigned int id)
{
	struct stat_cpu *cpu = stat_find_cpu(stat, id);
	unsigned int place;

	if (cpu)
		return cpu;
	cpu = xcalloc(1, sizeof(*cpu));
	stat->cpus = xreallocarray(stat->cpus, stat->nr_cpus + 1, sizeof(*stat->cpus));
	for (place = stat->nr_cpus++; place && stat->cpus[place - 1]->id > id; place--)
		stat->cpus[place] = stat->cpus[place - 1];
	stat->cpus[place] = cpu;
	map_add(&stat->by_id, id, 0)->ptr = cpu;
	cpu->id = id;
	cpu->by = stat->by;
	cpu->model = stat->model;
	cpu->slow = stat->slow;
	cpu->pmu = &stat->session.pmu;
	if (stat->by == STAT_BY_EXIT)
		cpu->vcpus = &stat->vcpus;
	return cpu;
}

void stat_input(struct loop *l)
{
	struct stat *stat = ((struct session *)l->arg)->arg;

	stat->input(stat);
	l->is_over |= stat->is_over;
}

/* If both limits are 0, the time is that from the first event of all CPUs to the last one. */
void stat_limits(struct stat *stat)
{
	unsigned int i;

	if (!stat->begin && !stat->end)
		stat->begin = UINT64_MAX;
	for (i = 0; i < stat->nr_cpus; i++) {
		const struct stat_cpu *cpu = stat->cpus[i];

		stat->seen |= cpu->seen;
		if (!cpu->events)
			continue;
		if (cpu->first < stat->begin)
			stat->begin = cpu->first;
		if (cpu->last > stat->end)
			stat->end = cpu->last;
	}
	if (stat->begin > stat->end)
		stat->begin = stat->end;
}

bool stat_has_guest(const struct stat *stat)
{
	return stat->seen & HYPTRACE_KIND_BIT(HYPTRACE_KIND_ENTER) &&
	       stat->seen & HYPTRACE_KIND_BIT(HYPTRACE_KIND_EXIT);
}

/* Begin to count again. A sample that has begun is counted when it ends. */
void stat_cut(struct stat *stat, uint64_t at)
{
	unsigned int i;

	for (i = 0; i < stat->nr_cpus; i++) {
		struct stat_cpu *cpu = stat->cpus[i];

		/* what was before the cut belongs to the next exit, too: the number wraps around */
		cpu->guest_before -= cpu->times.ns[STAT_GUEST];
		if (cpu->times.now == STAT_GUEST && at > cpu->times.since)
			cpu->guest_before -= at - cpu->times.since;
		stat_times_cut(&cpu->times, at);
		stat_rows_free(&cpu->rows);
		cpu->events = 0;
		cpu->lost = 0;
		cpu->lost_more = false;
		cpu->seen = 0;
	}
	/* their exits are those of rows that are freed */
	for (i = 0; i < stat->vcpus.nr; i++)
		stat->vcpus.rows[i]->exit = NULL;
	stat->begin = at;
	stat->end = at;
}

void stat_free(struct stat *stat)
{
	unsigned int i;

	for (i = 0; i < stat->nr_cpus; i++) {
		stat_rows_free(&stat->cpus[i]->rows);
		free(stat->cpus[i]);
	}
	free(stat->cpus);
	stat_rows_free(&stat->vcpus);
	map_free(&stat->by_id);
	hyptrace_model_free(stat->model);
}
