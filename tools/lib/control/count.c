// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get and reset the writer's counters of events. control_event.c has it count.
 */
#include <string.h>

#include <linux/netlink.h>

#include "message.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)

/**
 * hyptrace_reset_counters - set counters to 0
 * @h:		the connection
 * @remote:	the remote's name
 * @cpu:	the CPU, or HYPTRACE_CPU_ALL: if no event is counted, the driver then frees their
 *		memory
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count.
 */
int hyptrace_reset_counters(struct hyptrace *h, const char *remote, int cpu,
			    struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_RESET, 0,
					     HYPTRACE_A_CONTROL_REMOTE, remote);

	if (cpu != HYPTRACE_CPU_ALL)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_free_counters - free a list of counters
 * @counters:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_counters(struct hyptrace_event_counter **counters)
{
	hyptrace_nl_free_all(&hyptrace_counter_type, counters);
}

static const struct hyptrace_field *find_field(struct hyptrace_event *const *events,
					       const struct hyptrace_event_counter *counter)
{
	for (; *events; events++)
		if (!strcmp((*events)->name, counter->event))
			return hyptrace_event_field(*events, counter->field);
	return NULL;
}

static int name_values(struct hyptrace *h, const char *remote,
		       struct hyptrace_event_counter *const *counters, unsigned int nr,
		       struct hyptrace_error *err)
{
	const struct hyptrace_field *field;
	struct hyptrace_event **events;
	const char *name;
	unsigned int i;
	int ret;

	ret = hyptrace_get_events(h, remote, &events, &i, err);
	for (i = 0; i < nr && !ret; i++) {
		if (counters[i]->is_others)
			continue;
		field = find_field(events, counters[i]);
		name = field ? hyptrace_symbol_name(field, counters[i]->value) : NULL;
		if (!name)
			continue;
		counters[i]->name = strdup(name);
		if (!counters[i]->name)
			ret = hyptrace_error_memory(err);
	}
	hyptrace_free_events(events);
	return ret;
}

/**
 * hyptrace_get_counters - get the counters of a remote that are not 0
 * @h:		the connection
 * @remote:	the remote's name
 * @cpu:	the CPU, or HYPTRACE_CPU_ALL
 * @counters:	out: a list that ends with NULL, for hyptrace_free_counters(); NULL on failure
 * @nr:		out: number of @counters; 0 is not an error
 * @err:	the reason if it fails; may be NULL
 *
 * This does not disturb the writer. The values of each counter belong together.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count, -ENXIO if it has no
 * such CPU.
 */
int hyptrace_get_counters(struct hyptrace *h, const char *remote, int cpu,
			  struct hyptrace_event_counter ***counters, unsigned int *nr,
			  struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_GET, NLM_F_DUMP,
					     HYPTRACE_A_COUNTER_REMOTE, remote);
	int ret;

	if (cpu != HYPTRACE_CPU_ALL)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_COUNTER_CPU, cpu);
	ret = hyptrace_nl_get_all(h, &hyptrace_counter_type, msg, counters, nr, err);
	if (!ret && *nr)
		ret = name_values(h, remote, *counters, *nr, err);
	if (!ret)
		return 0;
	hyptrace_free_counters(*counters);
	*counters = NULL;
	*nr = 0;
	return ret;
}

/**
 * hyptrace_counter_bucket - the shortest time of a bucket
 * @counter:	the counter, which has times
 * @bucket:	number of the bucket, below @counter->nr_buckets
 *
 * Return: the time in ns. That of the next bucket is its end; the last one has no end.
 */
uint64_t hyptrace_counter_bucket(const struct hyptrace_event_counter *counter, unsigned int bucket)
{
	uint64_t ticks = bucket ? UINT64_C(1) << (bucket - 1) : 0;

	if (!counter->frequency)
		return 0;
	/* the product of all ticks could overflow */
	return ticks / counter->frequency * NSEC_PER_SEC +
	       ticks % counter->frequency * NSEC_PER_SEC / counter->frequency;
}
