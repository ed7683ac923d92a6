// SPDX-License-Identifier: GPL-2.0-only
/* The counters of a remote: see counters.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "counters.h"
#include "module.h"

#define NSEC_PER_SEC	1000000000ULL

const char *counters_remote = "hypervisor";

static struct nl_answer answer;
static struct nl_msg msg;

/* Load the remote "test" anew, with counters. Return 0 on success. */
int counters_load_test(void)
{
	return module_reload("hyptrace_test", "counts=1");
}

/* Count an event, or cease to. */
int counters_set(struct nl *nl, const char *event, bool count)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_COUNT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, counters_remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, count);
	return nl_do(nl, &msg, &answer);
}

/* Hold the counting of an event by this socket, or release it. */
int counters_hold(struct nl *nl, const char *event, bool hold)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_COUNT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, counters_remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, hold);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	return nl_do(nl, &msg, &answer);
}

/* Hold the counting of an event, and have the PMU count during it. @message: why it cannot */
int counters_measure(struct nl *nl, const char *event, const uint32_t *pmu, unsigned int nr,
		     char message[COUNTER_MESSAGE])
{
	unsigned int i;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_COUNT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, counters_remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	for (i = 0; i < nr; i++)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_PMU, pmu[i]);
	err = nl_do(nl, &msg, &answer);
	snprintf(message, COUNTER_MESSAGE, "%s", answer.message);
	return err;
}

/* Set the counters of a CPU, or of CPU_ALL, to 0. */
int counters_reset(struct nl *nl, int cpu)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_COUNT_RESET);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, counters_remote);
	if (cpu != CPU_ALL)
		nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	return nl_do(nl, &msg, &answer);
}

static uint64_t u64_of(const struct nlmsghdr *hdr, uint16_t type)
{
	const struct nlattr *attr = nl_attr(hdr, type);

	return attr ? nl_u64(attr) : 0;
}

static int parse(const struct nlmsghdr *hdr, struct counter *counter)
{
	const struct nlattr *buckets = nl_attr(hdr, HYPTRACE_A_COUNTER_BUCKETS);
	const struct nlattr *pmu = nl_attr(hdr, HYPTRACE_A_COUNTER_PMU);

	*counter = (struct counter) {
		.cpu		= nl_u32(nl_attr(hdr, HYPTRACE_A_COUNTER_CPU)),
		.is_others	= !nl_attr(hdr, HYPTRACE_A_COUNTER_VALUE),
		.value		= u64_of(hdr, HYPTRACE_A_COUNTER_VALUE),
		.count		= u64_of(hdr, HYPTRACE_A_COUNTER_COUNT),
		.has_time	= nl_attr(hdr, HYPTRACE_A_COUNTER_TOTAL),
		.total		= u64_of(hdr, HYPTRACE_A_COUNTER_TOTAL),
		.longest	= u64_of(hdr, HYPTRACE_A_COUNTER_LONGEST),
		.frequency	= u64_of(hdr, HYPTRACE_A_COUNTER_FREQUENCY),
		.now		= u64_of(hdr, HYPTRACE_A_COUNTER_NOW),
		.measured	= u64_of(hdr, HYPTRACE_A_COUNTER_MEASURED),
	};
	if (!pmu != !counter->measured ||
	    (pmu && pmu->nla_len != NLA_HDRLEN + sizeof(counter->pmu)))
		return -EBADMSG;
	if (pmu)
		memcpy(counter->pmu, nl_data(pmu), sizeof(counter->pmu));
	snprintf(counter->event, sizeof(counter->event), "%s",
		 nl_str(nl_attr(hdr, HYPTRACE_A_COUNTER_EVENT)));
	snprintf(counter->field, sizeof(counter->field), "%s",
		 nl_str(nl_attr(hdr, HYPTRACE_A_COUNTER_FIELD)));
	if (strcmp(nl_str(nl_attr(hdr, HYPTRACE_A_COUNTER_REMOTE)), counters_remote))
		return -EBADMSG;
	if (!counter->has_time || counter->now)
		return buckets ? -EBADMSG : 0;
	if (!buckets || buckets->nla_len != NLA_HDRLEN + sizeof(counter->buckets))
		return -EBADMSG;
	memcpy(counter->buckets, nl_data(buckets), sizeof(counter->buckets));
	return 0;
}

/* Get the counters that are not 0 of a CPU, or of CPU_ALL. Return their number. */
ssize_t counters_get(struct nl *nl, int cpu, struct counter *counters, size_t room)
{
	const struct nlmsghdr *hdr;
	size_t nr = 0;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_COUNT_GET);
	nl_put_str(&msg, HYPTRACE_A_COUNTER_REMOTE, counters_remote);
	if (cpu != CPU_ALL)
		nl_put_u32(&msg, HYPTRACE_A_COUNTER_CPU, cpu);
	err = nl_dump(nl, &msg, &answer);
	if (err)
		return err;
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr)) {
		if (nr == room)
			return -EMSGSIZE;
		err = parse(hdr, &counters[nr++]);
		if (err)
			return err;
	}
	return nr;
}

/* Why the last request has failed, or an empty string */
const char *counters_message(void)
{
	return answer.message;
}

/* Find the counter of a value, or return NULL: it has counted nothing. */
const struct counter *counters_find(const struct counter *counters, size_t nr, uint32_t cpu,
				    const char *event, const char *field, uint64_t value)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (counters[i].cpu == cpu && !counters[i].is_others &&
		    counters[i].value == value && !strcmp(counters[i].event, event) &&
		    !strcmp(counters[i].field, field))
			return &counters[i];
	}
	return NULL;
}

/* Return whether the values of a counter agree: the count, the sum and the histogram. */
bool counter_is_plausible(const struct counter *counter)
{
	unsigned __int128 least = 0, most = 0, ticks = counter->total;
	uint64_t count = 0;
	unsigned int i;

	if (!counter->has_time)
		return counter->count;
	if (counter->now)
		return counter->total && counter->total <= counter->now && !counter->count;
	for (i = 0; i < COUNTER_BUCKETS; i++) {
		count += counter->buckets[i];
		least += i ? (unsigned __int128)counter->buckets[i] << (i - 1) : 0;
		most += (unsigned __int128)counter->buckets[i] * ((1ULL << i) - 1);
	}
	if (!count || count != counter->count || !counter->frequency)
		return false;
	/* ns were rounded down */
	if ((ticks + 1) * counter->frequency < least * NSEC_PER_SEC)
		return false;
	return counter->buckets[COUNTER_BUCKETS - 1] ||
	       ticks * counter->frequency <= most * NSEC_PER_SEC;
}
