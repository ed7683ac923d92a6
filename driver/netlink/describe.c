// SPDX-License-Identifier: GPL-2.0-only
/* Describe remotes in a dump by netlink messages: linux/hyptrace_dump.h. Called by notify.c. */
#include <linux/sizes.h>
#include <net/genetlink.h>

#include "../core/dump.h"
#include "netlink.h"

#define MESSAGE_BYTES_MAX	SZ_64K	/* as for an answer */

static void add(struct hyptrace_dump_text *text, const struct hyptrace_remote *remote, u8 cmd,
		hyptrace_fill_fn fill, unsigned int nr)
{
	size_t size = SZ_4K;
	struct sk_buff *skb;
	unsigned int i = 0;
	void *header;

	while (i < nr && size <= MESSAGE_BYTES_MAX) {
		skb = genlmsg_new(size, GFP_KERNEL);
		if (!skb)
			break;
		header = genlmsg_put(skb, 0, 0, &hyptrace_nl_family, 0, cmd);
		if (header && !fill(skb, remote, &i)) {
			genlmsg_end(skb, header);
			hyptrace_dump_text_add(text, skb->data, NLMSG_ALIGN(skb->len));
			i++;
		} else {
			size *= 2;
		}
		nlmsg_free(skb);
	}
	text->failed |= i < nr;
}

static void describe(const struct hyptrace_remote *remote)
{
	struct hyptrace_dump_text text = {};

	add(&text, remote, HYPTRACE_CMD_REMOTE_GET, hyptrace_fill_remote, 1);
	add(&text, remote, HYPTRACE_CMD_EVENT_GET, hyptrace_fill_event, remote->nr_events);
	add(&text, remote, HYPTRACE_CMD_HYPERCALL_GET, hyptrace_fill_hypercall,
	    remote->desc->nr_hypercalls);
	hyptrace_dump_text_end(remote, &text);
}

static struct hyptrace_remote *get_from(unsigned long serial)
{
	struct hyptrace_remote *remote;

	guard(mutex)(&hyptrace_remotes_lock);
	remote = hyptrace_remote_find_from(serial);
	if (remote)
		kref_get(&remote->refs);
	return remote;
}

/* A request may change many events: describe the remote once after that. */
static void describe_all(struct work_struct *work)
{
	struct hyptrace_remote *remote;
	unsigned long serial = 0;

	while ((remote = get_from(serial))) {
		scoped_guard(mutex, &remote->control)
			if (remote->desc)
				describe(remote);
		serial = remote->serial + 1;
		hyptrace_remote_put(remote);
	}
}

/* To describe a remote takes a million instructions: do it once after changes that come together */
#define DELAY_MS	20

static DECLARE_DELAYED_WORK(work, describe_all);

/**
 * hyptrace_describe - describe all remotes soon
 */
void hyptrace_describe(void)
{
	queue_delayed_work(hyptrace_wq, &work, msecs_to_jiffies(DELAY_MS));
}

/**
 * hyptrace_describe_exit - wait until nothing is described any more; no remote is registered
 */
void hyptrace_describe_exit(void)
{
	cancel_delayed_work_sync(&work);
}
