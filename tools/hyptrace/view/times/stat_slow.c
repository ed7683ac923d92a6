// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the slowest samples of a row, with the events that they are made of.
 */
#include "output/die.h"
#include "stat.h"

/* Bytes of an event that are kept: those that EL2 records are smaller */
#define KEPT_SIZE	256

/* The last event of a CPU or a vCPU */
struct kept {
	struct stat_key	owner;	/* stat_slow_cpu(), or the key of the vCPU */
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

static struct kept *find(const struct stat_slow *slow, struct stat_key owner)
{
	unsigned int i;

	for (i = 0; i < slow->nr_kept; i++)
		if (stat_key_is(slow->kept[i].owner, owner))
			return &slow->kept[i];
	return NULL;
}

void stat_slow_keep(struct stat_cpu *cpu, struct stat_key owner, const struct hyptrace_record *rec)
{
	struct stat_slow *slow = cpu->slow;
	struct kept *kept = find(slow, owner);

	if (rec->size > KEPT_SIZE)
		return;
	if (!kept) {
		slow->kept = xreallocarray(slow->kept, slow->nr_kept + 1, sizeof(*slow->kept));
		kept = &slow->kept[slow->nr_kept++];
		kept->owner = owner;
	}
	kept->size = rec->size;
	memcpy(kept->data, rec->data, rec->size);
}

static void put_text(const struct stat_slow *slow, const struct hyptrace_record *rec, char *to)
{
	auto_free char *line = NULL, *plain = NULL;
	struct hyptrace_formats *formats = slow->stat->session.formats;
	const struct hyptrace_event *event = hyptrace_formats_event(formats, rec);
	const char *text;
	size_t len;

	*to = '\0';
	if (!event)
		return;
	text = hyptrace_formats_text(formats, event, rec, &len);
	line = xasprintf("%s: %.*s", event->name, (int)len, text);
	/* it may hold control characters */
	plain = text_copy_plain(line);
	snprintf(to, STAT_SLOW_TEXT, "%.*s", STAT_SLOW_TEXT - 1, plain);
}

void stat_slow_add(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
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
	slow->samples[place].time = time;
	slow->samples[place].cpu = cpu->id;
	slow->samples[place].text[0] = '\0';
	if (rec)
		put_text(slow, rec, slow->samples[place].text);
}

void stat_slow_add_kept(struct stat_cpu *cpu, struct stat_key key, uint64_t time,
			struct stat_key owner)
{
	const struct kept *kept = find(cpu->slow, owner);
	struct hyptrace_record rec = {};

	if (kept) {
		rec.size = kept->size;
		rec.data = kept->data;
	}
	stat_slow_add(cpu, key, time, kept ? &rec : NULL);
}

void stat_slow_free(struct stat_slow *slow)
{
	free(slow->kept);
	*slow = (struct stat_slow){};
}
