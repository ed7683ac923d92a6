// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the writer count events, and get the counters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)

/* A growing list, which ends with NULL */
struct list {
	struct hyptrace_event_counter	**counters;
	unsigned int		nr;
};

static int set_events(struct hyptrace *h, const char *remote, const char *const *names,
		      unsigned int nr, bool count, bool hold, struct hyptrace_error *err)
{
	struct nl_msg *msg;
	int put;

	if (nr > HYPTRACE_EVENT_LIST_MAX)
		return hyptrace_error_set(err, E2BIG, "at most %u events can be named at once",
					  HYPTRACE_EVENT_LIST_MAX);

	msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_SET, 0);
	put = hyptrace_nl_put_events(msg, remote, names, nr, count);
	if (msg && !put && hold)
		put = nla_put_flag(msg, HYPTRACE_A_EVENT_HOLD);
	return hyptrace_nl_transact(h, msg, put, err);
}

/**
 * hyptrace_count_events - have the writer count events, or cease to
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @count:	true to count them, false to cease
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Counting needs no rings and no tracing. The counters keep their values.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count one of them; on failure
 * nothing has changed.
 */
int hyptrace_count_events(struct hyptrace *h, const char *remote, const char *const *names,
			  unsigned int nr, bool count, struct hyptrace_error *err)
{
	return set_events(h, remote, names, nr, count, false, err);
}

/**
 * hyptrace_hold_counting - have the writer count events until the connection is closed
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @hold:	true to hold them, false to release them
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * The writer counts an event while any connection holds it, or after hyptrace_count_events(). If
 * the process ends in any way, so does the hold. hyptrace_count_events() with false as @count
 * overrides it.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count one of them; on failure
 * nothing has changed.
 */
int hyptrace_hold_counting(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, bool hold, struct hyptrace_error *err)
{
	return set_events(h, remote, names, nr, hold, true, err);
}

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
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_RESET, 0);
	int put = msg ? nla_put_string(msg, HYPTRACE_A_CONTROL_REMOTE, remote) : 0;

	if (msg && !put && cpu != HYPTRACE_CPU_ALL)
		put = nla_put_u32(msg, HYPTRACE_A_CONTROL_CPU, cpu);
	return hyptrace_nl_transact(h, msg, put, err);
}

static void free_counter(struct hyptrace_event_counter *counter)
{
	free(counter->field);
	free(counter->name);
	free(counter->buckets);
	free(counter);
}

static void clear(struct list *list)
{
	while (list->nr)
		free_counter(list->counters[--list->nr]);
	list->counters[0] = NULL;
}

/**
 * hyptrace_free_counters - free a list of counters
 * @counters:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_counters(struct hyptrace_event_counter **counters)
{
	unsigned int i;

	for (i = 0; counters && counters[i]; i++)
		free_counter(counters[i]);
	free(counters);
}

static int parse_times(struct nlattr **tb, struct hyptrace_event_counter *counter)
{
	struct nlattr *buckets = tb[HYPTRACE_A_COUNTER_BUCKETS];

	counter->has_time = tb[HYPTRACE_A_COUNTER_TOTAL];
	counter->total = nla_get_u64(tb[HYPTRACE_A_COUNTER_TOTAL]);
	counter->longest = nla_get_u64(tb[HYPTRACE_A_COUNTER_LONGEST]);
	counter->frequency = nla_get_u64(tb[HYPTRACE_A_COUNTER_FREQUENCY]);
	counter->now = nla_get_u64(tb[HYPTRACE_A_COUNTER_NOW]);
	if (!buckets)
		return 0;
	counter->nr_buckets = nla_len(buckets) / sizeof(*counter->buckets);
	/* shifts by the number of a bucket must be possible */
	if (counter->nr_buckets > 64)
		return -EBADMSG;
	counter->buckets = calloc(counter->nr_buckets + 1, sizeof(*counter->buckets));
	if (!counter->buckets)
		return -ENOMEM;
	memcpy(counter->buckets, nla_data(buckets),
	       counter->nr_buckets * sizeof(*counter->buckets));
	return 0;
}

static int parse_counter(const struct nlmsghdr *answer, struct hyptrace_event_counter *counter)
{
	struct nlattr *tb[HYPTRACE_A_COUNTER_MAX + 1], *field;

	if (genlmsg_parse((struct nlmsghdr *)answer, 0, tb, HYPTRACE_A_COUNTER_MAX, NULL) < 0)
		return -EBADMSG;

	hyptrace_parse_name(counter->remote, sizeof(counter->remote),
			    tb[HYPTRACE_A_COUNTER_REMOTE]);
	hyptrace_parse_name(counter->event, sizeof(counter->event), tb[HYPTRACE_A_COUNTER_EVENT]);
	counter->cpu = hyptrace_parse_u32(tb[HYPTRACE_A_COUNTER_CPU]);
	counter->value = nla_get_u64(tb[HYPTRACE_A_COUNTER_VALUE]);
	counter->is_others = !tb[HYPTRACE_A_COUNTER_VALUE];
	counter->count = nla_get_u64(tb[HYPTRACE_A_COUNTER_COUNT]);
	field = tb[HYPTRACE_A_COUNTER_FIELD];
	counter->field = field ? strndup(nla_data(field), nla_len(field)) : strdup("");
	return counter->field ? parse_times(tb, counter) : -ENOMEM;
}

static int add_counter(const struct nlmsghdr *answer, void *arg)
{
	struct list *list = arg;
	struct hyptrace_event_counter **counters;

	if (!answer) {
		clear(list);
		return 0;
	}

	counters = reallocarray(list->counters, list->nr + 2, sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	list->counters = counters;
	counters[list->nr] = calloc(1, sizeof(**counters));
	if (!counters[list->nr])
		return -ENOMEM;
	counters[++list->nr] = NULL;
	return parse_counter(answer, counters[list->nr - 1]);
}

static const struct hyptrace_field *find_field(struct hyptrace_event *const *events,
					       const struct hyptrace_event_counter *counter)
{
	unsigned int i, j;

	for (i = 0; events[i]; i++) {
		if (strcmp(events[i]->name, counter->event))
			continue;
		for (j = 0; j < events[i]->nr_fields; j++)
			if (!strcmp(events[i]->fields[j]->name, counter->field))
				return events[i]->fields[j];
	}
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
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_GET, NLM_F_DUMP);
	struct list list = { .counters = calloc(1, sizeof(*list.counters)) };
	int ret;

	*counters = NULL;
	*nr = 0;
	if (!msg || !list.counters || nla_put_string(msg, HYPTRACE_A_COUNTER_REMOTE, remote) ||
	    (cpu != HYPTRACE_CPU_ALL && nla_put_u32(msg, HYPTRACE_A_COUNTER_CPU, cpu))) {
		nlmsg_free(msg);
		free(list.counters);
		return hyptrace_error_memory(err);
	}
	ret = hyptrace_nl_send(h, msg, add_counter, &list, err);
	if (!ret && list.nr)
		ret = name_values(h, remote, list.counters, list.nr, err);
	if (ret) {
		hyptrace_free_counters(list.counters);
		return ret;
	}
	*counters = list.counters;
	*nr = list.nr;
	return 0;
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
