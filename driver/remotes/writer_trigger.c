// SPDX-License-Identifier: GPL-2.0-only
/* Set a writer's triggers, and find which has fired. Called as callbacks; writer.c arms them. */
#include <linux/export.h>
#include <linux/mm.h>

#include "writer.h"

int hyptrace_writer_set_trigger(u16 id, enum hyptrace_trigger trigger, u32 after, void *priv)
{
	return hyptrace_writer_call(priv, HYPTRACE_OP_TRIGGER, id, trigger, after);
}

/* Copy what the writer has published, if it is of the number @arm. */
static bool read_fired(const struct hyptrace_fired *from, u64 arm, struct hyptrace_fired *to)
{
	/* (T) Order arm before event and time. Pairs with (T) in hyp/trigger.c:publish(). */
	if (smp_load_acquire(&from->arm) != arm)
		return false;
	to->time = READ_ONCE(from->time);
	to->event = READ_ONCE(from->event);

	return true;
}

int hyptrace_writer_get_fired(enum hyptrace_trigger trigger, struct hyptrace_fired *fired,
			      unsigned int *cpu, void *priv)
{
	struct hyptrace_writer *writer = priv;
	const struct hyptrace_meta *meta;
	unsigned int i;

	for_each_possible_cpu(i) {
		meta = page_address(writer->buf->ring[i].meta);
		if (read_fired(trigger == HYPTRACE_TRIGGER_START ? &meta->started : &meta->stopped,
			       writer->arm, fired)) {
			*cpu = i;
			return 0;
		}
	}

	return -EAGAIN;
}

bool hyptrace_writer_has_ended(void *priv)
{
	struct hyptrace_writer *writer = priv;
	const struct hyptrace_meta *meta;
	unsigned int i;

	for_each_possible_cpu(i) {
		meta = page_address(writer->buf->ring[i].meta);
		if (READ_ONCE(meta->ended) == writer->arm)
			return true;
	}

	return false;
}
