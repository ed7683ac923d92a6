// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get remotes, CPUs and events from the driver, one or all of them, and all hypercalls.
 */
#include <errno.h>
#include <stdlib.h>

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
	void **items;
	int ret;

	if (!answer) {
		while (list->nr)
			hyptrace_nl_free(list->type, list->items[--list->nr]);
		list->items[0] = NULL;
		return 0;
	}

	items = reallocarray(list->items, list->nr + 2, sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	items[list->nr] = hyptrace_nl_new(list->type, answer, &ret);
	if (!ret)
		items[++list->nr] = NULL;
	return ret;
}

void hyptrace_nl_free_all(const struct nl_type *type, void *items)
{
	void **item;

	for (item = items; item && *item; item++)
		hyptrace_nl_free(type, *item);
	free(items);
}

/* Send a request, and collect its answer; @items points to the list. */
int hyptrace_nl_get_all(struct hyptrace *h, const struct nl_type *type, struct nl_msg *msg,
			void *items, unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = { .type = type, .items = calloc(1, sizeof(*list.items)) };
	int ret;

	if (!list.items) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = hyptrace_nl_send(h, msg, add_item, &list, err);
	if (ret) {
		hyptrace_nl_free_all(type, list.items);
		list.items = NULL;
		list.nr = 0;
	}
	*(void **)items = list.items;
	*nr = list.nr;
	return ret;
}

static int get_one(struct hyptrace *h, const struct nl_type *type, struct nl_msg *msg, void *item,
		   struct hyptrace_error *err)
{
	unsigned int nr;
	void **items;
	int ret = hyptrace_nl_get_all(h, type, msg, &items, &nr, err);

	*(void **)item = NULL;
	if (!ret && nr == 1) {
		*(void **)item = items[0];
		items[0] = NULL;
	} else if (!ret) {
		ret = hyptrace_error_set(err, EBADMSG, "the kernel's answer makes no sense");
	}
	hyptrace_nl_free_all(type, items);
	return ret;
}

/**
 * hyptrace_get_remotes - get all remotes
 * @h:		the connection
 * @remotes:	out: a list that ends with NULL, for hyptrace_free_remotes(); NULL on failure
 * @nr:		out: number of @remotes; 0 is not an error
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_remotes(struct hyptrace *h, struct hyptrace_remote ***remotes,
			 unsigned int *nr, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_REMOTE_GET, NLM_F_DUMP, 0, NULL);

	return hyptrace_nl_get_all(h, &hyptrace_remote_type, msg, remotes, nr, err);
}

/**
 * hyptrace_get_remote - get one remote
 * @h:		the connection
 * @name:	its name
 * @remote:	out: the remote, for hyptrace_free_remote(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -ENODEV if there is no such remote.
 */
int hyptrace_get_remote(struct hyptrace *h, const char *name, struct hyptrace_remote **remote,
			struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_REMOTE_GET, 0,
					     HYPTRACE_A_REMOTE_NAME, name);

	return get_one(h, &hyptrace_remote_type, msg, remote, err);
}

/**
 * hyptrace_get_cpus - get the CPUs of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @cpus:	out: a list that ends with NULL, for hyptrace_free_cpus(); NULL on failure
 * @nr:		out: number of @cpus
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_cpus(struct hyptrace *h, const char *remote, struct hyptrace_cpu ***cpus,
		      unsigned int *nr, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_CPU_GET, NLM_F_DUMP,
					     HYPTRACE_A_CPU_REMOTE, remote);

	return hyptrace_nl_get_all(h, &hyptrace_cpu_type, msg, cpus, nr, err);
}

/**
 * hyptrace_get_cpu - get one CPU of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @id:		number of the CPU
 * @cpu:	out: the CPU, for hyptrace_free_cpu(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -ENXIO if the remote has no such CPU.
 */
int hyptrace_get_cpu(struct hyptrace *h, const char *remote, unsigned int id,
		     struct hyptrace_cpu **cpu, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_CPU_GET, 0, HYPTRACE_A_CPU_REMOTE,
					     remote);

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
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_events(struct hyptrace *h, const char *remote, struct hyptrace_event ***events,
			unsigned int *nr, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_EVENT_GET, NLM_F_DUMP,
					     HYPTRACE_A_EVENT_REMOTE, remote);

	return hyptrace_nl_get_all(h, &hyptrace_event_type, msg, events, nr, err);
}

/**
 * hyptrace_get_event - get one event of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @name:	the event's name
 * @event:	out: the event, for hyptrace_free_event(); NULL on failure
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -ENOENT if the remote has no such event.
 */
int hyptrace_get_event(struct hyptrace *h, const char *remote, const char *name,
		       struct hyptrace_event **event, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_EVENT_GET, 0,
					     HYPTRACE_A_EVENT_REMOTE, remote);

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
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_hypercalls(struct hyptrace *h, const char *remote,
			    struct hyptrace_hypercall ***calls, unsigned int *nr,
			    struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_HYPERCALL_GET, NLM_F_DUMP,
					     HYPTRACE_A_HYPERCALL_REMOTE, remote);
	int ret = hyptrace_nl_get_all(h, &hyptrace_hypercall_type, msg, calls, nr, err);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

/**
 * hyptrace_free_remotes - free a list of remotes
 * @remotes:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_remotes(struct hyptrace_remote **remotes)
{
	hyptrace_nl_free_all(&hyptrace_remote_type, remotes);
}

/**
 * hyptrace_free_cpus - free a list of CPUs
 * @cpus:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_cpus(struct hyptrace_cpu **cpus)
{
	hyptrace_nl_free_all(&hyptrace_cpu_type, cpus);
}

/**
 * hyptrace_free_events - free a list of events
 * @events:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_events(struct hyptrace_event **events)
{
	hyptrace_nl_free_all(&hyptrace_event_type, events);
}

/**
 * hyptrace_free_hypercalls - free a list of hypercalls
 * @calls:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_hypercalls(struct hyptrace_hypercall **calls)
{
	hyptrace_nl_free_all(&hyptrace_hypercall_type, calls);
}
