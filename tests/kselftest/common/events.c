// SPDX-License-Identifier: GPL-2.0-only
/* Events with their fields by name: see events.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "events.h"
#include "page.h"
#include "subbuf.h"

static struct nl_answer answer;
static struct nl_msg msg;

static int event_type(struct nl *nl, const char *remote, const char *name,
		      struct event_type *type)
{
	const struct nlattr *attr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, name);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	type->name = name;
	type->id = nl_u32(nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_ID));
	type->nr_fields = 0;
	for (attr = nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_FIELD); attr;
	     attr = nl_attr_next(nl_first(&answer), attr, HYPTRACE_A_EVENT_FIELD)) {
		const char *field = nl_str(nl_nested(attr, HYPTRACE_A_FIELD_NAME));
		unsigned int i = type->nr_fields++;

		if (i == EVENT_MAX_FIELDS || strlen(field) >= sizeof(type->fields[i].name))
			return -E2BIG;
		strcpy(type->fields[i].name, field);
		type->fields[i].offset = nl_u32(nl_nested(attr, HYPTRACE_A_FIELD_OFFSET));
		type->fields[i].size = nl_u32(nl_nested(attr, HYPTRACE_A_FIELD_SIZE));
		type->fields[i].is_signed =
			*(const uint8_t *)nl_data(nl_nested(attr, HYPTRACE_A_FIELD_SIGNED));
		if (type->fields[i].offset + type->fields[i].size > EVENT_MAX_PAYLOAD)
			return -E2BIG;
	}
	return 0;
}

/**
 * event_types - learn events from the driver, and enable them
 * @nl:		the socket
 * @remote:	name
 * @names:	names of the events
 * @types:	filled in
 * @nr:		number of @names
 *
 * Return: 0 or a negative errno.
 */
int event_types(struct nl *nl, const char *remote, const char *const *names,
		struct event_type *types, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		err = event_type(nl, remote, names[i], &types[i]) ?:
		      control_enable(nl, remote, names[i], true);
	}
	return err;
}

static const struct event_type *type_of(const struct event_type *types, unsigned int nr, int id)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (types[i].id == id)
			return &types[i];
	}
	return NULL;
}

/**
 * events_read - read all events of a CPU, after tracing has stopped
 * @remote:	name
 * @cpu:	its number
 * @types:	the events that are enabled
 * @nr_types:	number of @types
 * @events:	filled in
 * @room:	size of @events
 *
 * Return: the number of events; -1 if some were lost, are of another type, or find no room.
 */
ssize_t events_read(const char *remote, unsigned int cpu, const struct event_type *types,
		    unsigned int nr_types, struct event *events, size_t room)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	int fd = open_attached(remote, cpu, O_NONBLOCK);
	struct record record;
	struct subbuf sub = { .bad = NULL };
	size_t nr = 0;

	while (fd >= 0 && !sub.bad && read(fd, page, PAGE) == PAGE) {
		subbuf_begin(&sub, page, PAGE);
		if (sub.missed)
			sub.bad = "events were lost before a sub-buffer";
		while (!sub.bad && subbuf_next(&sub, &record)) {
			struct event *event = &events[nr];

			if (nr++ == room) {
				sub.bad = "there are too many events";
				break;
			}
			event->time = record.time;
			event->nr = nr;
			event->cpu = cpu;
			event->type = type_of(types, nr_types, record.event);
			if (!event->type || record.size > sizeof(event->payload))
				sub.bad = "an event that is not enabled, or is too large";
			else
				memcpy(event->payload, record.payload, record.size);
		}
	}
	if (sub.bad)
		printf("# CPU %u: %s after %zu events\n", cpu, sub.bad, nr);
	if (fd >= 0)
		close(fd);
	return fd < 0 || sub.bad ? -1 : (ssize_t)nr;
}

static int compare_times(const void *a, const void *b)
{
	const struct event *first = a, *second = b;

	if (first->time != second->time)
		return first->time < second->time ? -1 : 1;
	return first->nr < second->nr ? -1 : 1;
}

/**
 * events_read_all - as events_read(), of all CPUs in the order of their times
 * @nr_cpus:	number of CPUs
 */
ssize_t events_read_all(const char *remote, unsigned int nr_cpus, const struct event_type *types,
			unsigned int nr_types, struct event *events, size_t room)
{
	size_t nr = 0;
	unsigned int cpu;
	ssize_t more;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		more = events_read(remote, cpu, types, nr_types, events + nr, room - nr);
		if (more < 0)
			return more;
		nr += more;
	}
	qsort(events, nr, sizeof(*events), compare_times);
	return nr;
}

/**
 * event_field - get the value of a field
 * @event:	the event
 * @field:	its name; there must be such a field
 *
 * Return: the value, with its sign.
 */
int64_t event_field(const struct event *event, const char *field)
{
	const struct event_type *type = event->type;
	uint64_t value = 0;
	unsigned int i, unused;

	for (i = 0; strcmp(type->fields[i].name, field); i++) {
		if (i + 1 >= type->nr_fields) {
			fprintf(stderr, "%s has no field %s\n", type->name, field);
			abort();
		}
	}
	/* the low bytes of the value, on a little-endian machine */
	memcpy(&value, event->payload + type->fields[i].offset, type->fields[i].size);
	unused = 64 - 8 * type->fields[i].size;
	return type->fields[i].is_signed ? (int64_t)(value << unused) >> unused :
					   (int64_t)(value << unused >> unused);
}
