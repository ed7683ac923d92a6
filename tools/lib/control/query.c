// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get remotes, CPUs and events from the driver, one or all of them, and all hypercalls.
 */
#include <errno.h>
#include <stdlib.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "internal.h"

struct kind {
	int	cmd;	/* HYPTRACE_CMD_*_GET */
	int	remote;	/* attribute of the remote's name */
	/* makes an item from a message */
	int	(*parse)(const struct nlmsghdr *answer, void **item);
	void	(*free)(void *item);	/* frees an item */
};

/* A growing list, which ends with NULL */
struct list {
	const struct kind	*kind;
	void			**items;
	unsigned int		nr;
};

static int parse_remote(const struct nlmsghdr *answer, void **item)
{
	struct hyptrace_remote *remote;
	int ret = hyptrace_parse_remote(answer, &remote);

	*item = remote;
	return ret;
}

static void free_remote(void *item)
{
	hyptrace_free_remote(item);
}

static int parse_cpu(const struct nlmsghdr *answer, void **item)
{
	struct hyptrace_cpu *cpu;
	int ret = hyptrace_parse_cpu(answer, &cpu);

	*item = cpu;
	return ret;
}

static void free_cpu(void *item)
{
	hyptrace_free_cpu(item);
}

static int parse_event(const struct nlmsghdr *answer, void **item)
{
	struct hyptrace_event *event;
	int ret = hyptrace_parse_event(answer, &event);

	*item = event;
	return ret;
}

static void free_event(void *item)
{
	hyptrace_free_event(item);
}

static int parse_hypercall(const struct nlmsghdr *answer, void **item)
{
	struct hyptrace_hypercall *call;
	int ret = hyptrace_parse_hypercall(answer, &call);

	*item = call;
	return ret;
}

static void free_hypercall(void *item)
{
	hyptrace_free_hypercall(item);
}

static const struct kind remotes_kind = {
	HYPTRACE_CMD_REMOTE_GET, HYPTRACE_A_REMOTE_NAME, parse_remote, free_remote,
};

static const struct kind cpus_kind = {
	HYPTRACE_CMD_CPU_GET, HYPTRACE_A_CPU_REMOTE, parse_cpu, free_cpu,
};

static const struct kind events_kind = {
	HYPTRACE_CMD_EVENT_GET, HYPTRACE_A_EVENT_REMOTE, parse_event, free_event,
};

static const struct kind hypercalls_kind = {
	HYPTRACE_CMD_HYPERCALL_GET, HYPTRACE_A_HYPERCALL_REMOTE, parse_hypercall, free_hypercall,
};

static void clear(void **items, const struct kind *kind)
{
	unsigned int i;

	for (i = 0; items[i]; i++)
		kind->free(items[i]);
	items[0] = NULL;
}

static void free_list(void **items, const struct kind *kind)
{
	if (items)
		clear(items, kind);
	free(items);
}

static int add_item(const struct nlmsghdr *answer, void *arg)
{
	struct list *list = arg;
	void **items;
	int ret;

	if (!answer) {
		clear(list->items, list->kind);
		list->nr = 0;
		return 0;
	}

	items = reallocarray(list->items, list->nr + 2, sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	ret = list->kind->parse(answer, &items[list->nr]);
	if (!ret)
		items[++list->nr] = NULL;
	return ret;
}

/* Make a request; return NULL if there is no memory. */
static struct nl_msg *request(struct hyptrace *h, const struct kind *kind, int flags,
			      const char *remote)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, kind->cmd, flags);

	if (!msg || !remote || !nla_put_string(msg, kind->remote, remote))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Send a request, which may be NULL, and collect its answer. */
static int get_all(struct hyptrace *h, const struct kind *kind, struct nl_msg *msg,
		   void ***items, unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = { .kind = kind, .items = calloc(1, sizeof(*list.items)) };
	int ret;

	*items = NULL;
	*nr = 0;
	if (!msg || !list.items) {
		nlmsg_free(msg);
		free(list.items);
		return hyptrace_error_memory(err);
	}
	ret = hyptrace_nl_send(h, msg, add_item, &list, err);
	if (ret) {
		free_list(list.items, kind);
		return ret;
	}
	*items = list.items;
	*nr = list.nr;
	return 0;
}

static int get_one(struct hyptrace *h, const struct kind *kind, struct nl_msg *msg, void **item,
		   struct hyptrace_error *err)
{
	unsigned int nr;
	void **items;
	int ret = get_all(h, kind, msg, &items, &nr, err);

	*item = NULL;
	if (ret)
		return ret;
	if (nr == 1) {
		*item = items[0];
		items[0] = NULL;
	} else {
		ret = hyptrace_error_set(err, EBADMSG, "the kernel's answer makes no sense");
	}
	free_list(items, kind);
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
	struct nl_msg *msg = request(h, &remotes_kind, NLM_F_DUMP, NULL);
	void **items;
	int ret = get_all(h, &remotes_kind, msg, &items, nr, err);

	*remotes = (struct hyptrace_remote **)items;
	return ret;
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
	void *item;
	int ret = get_one(h, &remotes_kind, request(h, &remotes_kind, 0, name), &item, err);

	*remote = item;
	return ret;
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
	struct nl_msg *msg = request(h, &cpus_kind, NLM_F_DUMP, remote);
	void **items;
	int ret = get_all(h, &cpus_kind, msg, &items, nr, err);

	*cpus = (struct hyptrace_cpu **)items;
	return ret;
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
	struct nl_msg *msg = request(h, &cpus_kind, 0, remote);
	void *item;
	int ret;

	if (msg && nla_put_u32(msg, HYPTRACE_A_CPU_ID, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = get_one(h, &cpus_kind, msg, &item, err);
	*cpu = item;
	return ret;
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
	struct nl_msg *msg = request(h, &events_kind, NLM_F_DUMP, remote);
	void **items;
	int ret = get_all(h, &events_kind, msg, &items, nr, err);

	*events = (struct hyptrace_event **)items;
	return ret;
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
	struct nl_msg *msg = request(h, &events_kind, 0, remote);
	void *item;
	int ret;

	if (msg && nla_put_string(msg, HYPTRACE_A_EVENT_NAME, name)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = get_one(h, &events_kind, msg, &item, err);
	*event = item;
	return ret;
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
	struct nl_msg *msg = request(h, &hypercalls_kind, NLM_F_DUMP, remote);
	void **items;
	int ret = get_all(h, &hypercalls_kind, msg, &items, nr, err);

	*calls = (struct hyptrace_hypercall **)items;
	return ret == -EOPNOTSUPP ? 0 : ret;
}

/**
 * hyptrace_free_remotes - free a list of remotes
 * @remotes:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_remotes(struct hyptrace_remote **remotes)
{
	free_list((void **)remotes, &remotes_kind);
}

/**
 * hyptrace_free_cpus - free a list of CPUs
 * @cpus:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_cpus(struct hyptrace_cpu **cpus)
{
	free_list((void **)cpus, &cpus_kind);
}

/**
 * hyptrace_free_events - free a list of events
 * @events:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_events(struct hyptrace_event **events)
{
	free_list((void **)events, &events_kind);
}

/**
 * hyptrace_free_hypercalls - free a list of hypercalls
 * @calls:	the list, which ends with NULL; or NULL
 */
void hyptrace_free_hypercalls(struct hyptrace_hypercall **calls)
{
	free_list((void **)calls, &hypercalls_kind);
}
