// SPDX-License-Identifier: GPL-2.0-only
/* Get remotes, CPUs, events, hypercalls, counters, owners of pages and the time of visits. */
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "message.h"

/* A growing list, which ends with NULL */
struct list {
	const struct nl_type	*type;
	void			**items;
	unsigned int		nr;
};

static int add_item(const struct nlmsghdr *answer, void *arg)
{
	struct list *list = arg;
	void *item;

	if (!answer) {
		while (list->nr)
			hyptrace_nl_free(list->type, list->items[--list->nr]);
		list->items[0] = NULL;
		return 0;
	}

	item = hyptrace_list_add(&list->items, &list->nr, list->type->size);
	return item ? hyptrace_nl_parse(list->type, answer, item) : -ENOMEM;
}

static void free_all(const struct nl_type *type, void *items)
{
	void **item;

	for (item = items; item && *item; item++)
		hyptrace_nl_free(type, *item);
	free(items);
}

/* Send a request, and collect its answer; @items points to the list. */
static int collect(struct hyptrace *h, const struct nl_type *type, struct nl_msg *msg, void *items,
		   unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = { .type = type, .items = calloc(1, sizeof(*list.items)) };
	int ret;

	hyptrace_nl_check(&msg, !list.items);
	ret = hyptrace_nl_send(h, msg, add_item, &list, err);
	if (ret) {
		free_all(type, list.items);
		list.items = NULL;
		list.nr = 0;
	}
	*(void **)items = list.items;
	*nr = list.nr;
	return ret;
}

static int get_all(struct hyptrace *h, int cmd, const struct nl_type *type, const char *remote,
		   void *items, unsigned int *nr, struct hyptrace_error *err)
{
	return collect(h, type, hyptrace_nl_msg(h, cmd, NLM_F_DUMP, remote), items, nr, err);
}

static int get_one(struct hyptrace *h, const struct nl_type *type, struct nl_msg *msg, void *item,
		   struct hyptrace_error *err)
{
	unsigned int nr;
	void **items;
	int ret = collect(h, type, msg, &items, &nr, err);

	*(void **)item = NULL;
	if (!ret && nr == 1) {
		*(void **)item = items[0];
		items[0] = NULL;
	} else if (!ret) {
		ret = hyptrace_error_set(err, EBADMSG, "the kernel's answer makes no sense");
	}
	free_all(type, items);
	return ret;
}

/**
 * hyptrace_get_remotes - get all remotes
 * @h:		the connection
 * @remotes:	out: a list that ends with NULL, for hyptrace_free_remotes(); NULL on failure
 * @nr:		out: number of @remotes; 0 is not an error
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_get_remotes(struct hyptrace *h, struct hyptrace_remote ***remotes,
			 unsigned int *nr, struct hyptrace_error *err)
{
	return get_all(h, HYPTRACE_CMD_REMOTE_GET, &hyptrace_remote_type, NULL, remotes, nr, err);
}

/**
 * hyptrace_get_remote - get one remote
 * @h:		the connection
 * @name:	its name
 * @remote:	out: the remote, for hyptrace_free_remote(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -ENODEV if there is no such remote.
 */
int hyptrace_get_remote(struct hyptrace *h, const char *name, struct hyptrace_remote **remote,
			struct hyptrace_error *err)
{
	return get_one(h, &hyptrace_remote_type,
		       hyptrace_nl_msg(h, HYPTRACE_CMD_REMOTE_GET, 0, name), remote, err);
}

/**
 * hyptrace_get_cpus - get the CPUs of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @cpus:	out: a list that ends with NULL, for hyptrace_free_cpus(); NULL on failure
 * @nr:		out: number of @cpus
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_get_cpus(struct hyptrace *h, const char *remote, struct hyptrace_cpu ***cpus,
		      unsigned int *nr, struct hyptrace_error *err)
{
	return get_all(h, HYPTRACE_CMD_CPU_GET, &hyptrace_cpu_type, remote, cpus, nr, err);
}

/**
 * hyptrace_get_cpu - get one CPU of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @id:		number of the CPU
 * @cpu:	out: the CPU, for hyptrace_free_cpu(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -ENXIO if the remote has no such CPU.
 */
int hyptrace_get_cpu(struct hyptrace *h, const char *remote, unsigned int id,
		     struct hyptrace_cpu **cpu, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_CPU_GET, 0, remote);

	hyptrace_nl_put_u32(&msg, HYPTRACE_A_CPU_ID, id);
	return get_one(h, &hyptrace_cpu_type, msg, cpu, err);
}

/**
 * hyptrace_get_events - get the events of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @events:	out: a list that ends with NULL, for hyptrace_free_events(); NULL on failure
 * @nr:		out: number of @events
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_get_events(struct hyptrace *h, const char *remote, struct hyptrace_event ***events,
			unsigned int *nr, struct hyptrace_error *err)
{
	return get_all(h, HYPTRACE_CMD_EVENT_GET, &hyptrace_event_type, remote, events, nr, err);
}

/**
 * hyptrace_get_event - get one event of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @name:	the event's name
 * @event:	out: the event, for hyptrace_free_event(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -ENOENT if the remote has no such event.
 */
int hyptrace_get_event(struct hyptrace *h, const char *remote, const char *name,
		       struct hyptrace_event **event, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_EVENT_GET, 0, remote);

	hyptrace_nl_put_string(&msg, HYPTRACE_A_EVENT_NAME, name);
	return get_one(h, &hyptrace_event_type, msg, event, err);
}

/**
 * hyptrace_get_hypercalls - get the hypercalls of the kernel that a remote traces
 * @h:		the connection
 * @remote:	the remote's name
 * @calls:	out: a list that ends with NULL, for hyptrace_free_hypercalls(); NULL on failure,
 *		and if the driver is older than this request
 * @nr:		out: number of @calls; 0 is not an error
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_get_hypercalls(struct hyptrace *h, const char *remote,
			    struct hyptrace_hypercall ***calls, unsigned int *nr,
			    struct hyptrace_error *err)
{
	int ret = get_all(h, HYPTRACE_CMD_HYPERCALL_GET, &hyptrace_hypercall_type, remote, calls,
			  nr, err);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

/**
 * hyptrace_free_remotes - free a list of remotes
 * @remotes:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_remotes(struct hyptrace_remote **remotes)
{
	free_all(&hyptrace_remote_type, remotes);
}

/**
 * hyptrace_free_cpus - free a list of CPUs
 * @cpus:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_cpus(struct hyptrace_cpu **cpus)
{
	free_all(&hyptrace_cpu_type, cpus);
}

/**
 * hyptrace_free_events - free a list of events
 * @events:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_events(struct hyptrace_event **events)
{
	free_all(&hyptrace_event_type, events);
}

/**
 * hyptrace_free_hypercalls - free a list of hypercalls
 * @calls:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_hypercalls(struct hyptrace_hypercall **calls)
{
	free_all(&hyptrace_hypercall_type, calls);
}

/**
 * hyptrace_free_counters - free a list of counters
 * @counters:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_counters(struct hyptrace_event_counter **counters)
{
	free_all(&hyptrace_counter_type, counters);
}

static int name_values(struct hyptrace *h, const char *remote,
		       struct hyptrace_event_counter *const *counters, unsigned int nr,
		       struct hyptrace_error *err)
{
	const struct hyptrace_field *field;
	struct hyptrace_event **events, **event;
	const char *name;
	unsigned int i;
	int ret = hyptrace_get_events(h, remote, &events, &i, err);

	for (i = 0; i < nr && !ret; i++) {
		if (counters[i]->is_others)
			continue;
		for (event = events; *event && strcmp((*event)->name, counters[i]->event); event++)
			;
		field = *event ? hyptrace_event_field(*event, counters[i]->field) : NULL;
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
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_COUNT_GET, NLM_F_DUMP, remote);
	int ret;

	if (cpu != HYPTRACE_CPU_ALL)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_COUNTER_CPU, cpu);
	ret = collect(h, &hyptrace_counter_type, msg, counters, nr, err);
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

/* The attribute that the driver answers with, and where it goes */
struct answer {
	int		attr;
	void		*to;
	int		size;
	bool		found;
};

static int parse_answer(const struct nlmsghdr *msg, void *arg)
{
	struct answer *answer = arg;
	struct nlattr *attr;

	if (!msg)
		return 0;
	attr = nlmsg_find_attr((struct nlmsghdr *)msg, GENL_HDRLEN, answer->attr);
	if (!attr || nla_len(attr) != answer->size)
		return -EBADMSG;
	memcpy(answer->to, nla_data(attr), answer->size);
	answer->found = true;
	return 0;
}

/* Ask for an attribute of exactly @size bytes. */
static int ask(struct hyptrace *h, struct nl_msg *msg, int attr, void *to, int size,
	       struct hyptrace_error *err)
{
	struct answer answer = { .attr = attr, .to = to, .size = size };
	int ret = hyptrace_nl_send(h, msg, parse_answer, &answer, err);

	return ret || answer.found ? ret :
	       hyptrace_error_set(err, EBADMSG, "the driver has not answered");
}

/**
 * hyptrace_get_page_owners - ask who owns pages now
 * @h:		the connection
 * @remote:	name of the remote, a protected hypervisor
 * @pfn:	page frame number of the first page
 * @nr:		number of pages, from 1 to HYPTRACE_PAGE_COUNT_MAX
 * @owners:	out: enum hyptrace_ownership of linux/hyptrace_netlink.h for each page
 * @err:	the reason if it fails; may be NULL
 *
 * The pages are asked for one after the other. This needs no rings, and disturbs nobody.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote protects no memory, -EBADMSG if the
 * driver does not answer for each page.
 */
int hyptrace_get_page_owners(struct hyptrace *h, const char *remote, uint64_t pfn,
			     unsigned int nr, uint8_t *owners, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_PAGE_GET, 0, remote);

	hyptrace_nl_put_u64(&msg, HYPTRACE_A_PAGE_PFN, pfn);
	hyptrace_nl_put_u32(&msg, HYPTRACE_A_PAGE_COUNT, nr);
	return ask(h, msg, HYPTRACE_A_PAGE_OWNERS, owners, nr, err);
}

/**
 * hyptrace_time_visits - have a CPU enter EL2 and return at once, and measure this
 * @h:		the connection
 * @remote:	name of the remote, a hypervisor
 * @nr:		number of visits, from 1 to HYPTRACE_VISIT_COUNT_MAX
 * @nsec:	out: the time that all of them have taken together, in ns; undefined if it fails
 * @err:	the reason if it fails; may be NULL
 *
 * Each visit causes one event hyp_enter, host_hcall and hyp_exit, if these are enabled or counted.
 * So the difference of two measurements, without and with them, is the time that they take.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote is no hypervisor, -EBADMSG if the
 * driver does not answer.
 */
int hyptrace_time_visits(struct hyptrace *h, const char *remote, unsigned int nr, uint64_t *nsec,
			 struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_VISIT_GET, 0, remote);

	hyptrace_nl_put_u32(&msg, HYPTRACE_A_VISIT_COUNT, nr);
	return ask(h, msg, HYPTRACE_A_VISIT_TIME, nsec, sizeof(*nsec), err);
}
