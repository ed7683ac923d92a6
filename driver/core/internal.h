/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that only the files of core share. */
#ifndef __HYPTRACE_INTERNAL_H
#define __HYPTRACE_INTERNAL_H

#include <linux/minmax.h>
#include <linux/sizes.h>

#include "core.h"
#include "socket.h"
#include "subbuf.h"

/* The settings of a new remote. */
#define HYPTRACE_DEFAULT_SIZE		SZ_1M
#define HYPTRACE_DEFAULT_MODE		HYPTRACE_MODE_OVERWRITE

/* keep.c */
enum hyptrace_keep {
	HYPTRACE_KEEP_DESCRIPTION,
	HYPTRACE_KEEP_RING,
};

bool hyptrace_keep_exists(void);
u64 hyptrace_keep_ring_bytes(void);
bool hyptrace_keep_has_room(unsigned long nr);
struct page *hyptrace_keep_alloc(enum hyptrace_keep what);
void hyptrace_keep_free(struct page *page);
void hyptrace_keep_clean(const void *at, size_t size);
void hyptrace_keep_init(void);
void hyptrace_keep_exit(void);

static inline u64 hyptrace_remote_default_size(const struct hyptrace_remote_desc *desc)
{
	u64 size = desc->is_kept ? hyptrace_keep_ring_bytes() : U64_MAX;

	if (desc->max_pages)
		size = min_t(u64, size,
			     (u64)(desc->max_pages - HYPTRACE_READER_SUBBUFS) << PAGE_SHIFT);
	return min_t(u64, size, HYPTRACE_DEFAULT_SIZE);
}

#define HYPTRACE_MIN_SUBBUFS		2	/* the smallest ring, without the reader page */

/* Call a function of the listener, if there is one: see there, also for the locks. */
#define hyptrace_announce(what, ...)					\
	do {								\
		if (hyptrace_listener)					\
			hyptrace_listener->what(__VA_ARGS__);		\
	} while (0)

#define hyptrace_announce_remote(remote)	hyptrace_announce(remote_changed, remote)
#define hyptrace_announce_remote_removed(remote) hyptrace_announce(remote_removed, remote)

/* announce.c */
void hyptrace_wake_waiters(const struct hyptrace_remote *remote);

/* remote.c: hyptrace_remotes_lock held, except when the kernel panics */
extern struct list_head hyptrace_remotes;
struct list_head *hyptrace_locked_remotes(void);
struct hyptrace_remote *hyptrace_remote_find(const char *name);

/* losses.c */
void hyptrace_loss_work(struct work_struct *work);
void hyptrace_remote_watch_losses(struct hyptrace_remote *remote);

/* state.c: both mutexes held */
int hyptrace_tracing_start(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
int hyptrace_tracing_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
void hyptrace_remote_unload_unused(struct hyptrace_remote *remote);
void hyptrace_remote_shut_down(struct hyptrace_remote *remote);

/* attach.c: both mutexes held */
void hyptrace_remote_detach_all(struct hyptrace_remote *remote);

/* hold.c: both mutexes held */
void hyptrace_hold_release(struct hyptrace_remote *remote);

/* wants.c: the control mutex held */
struct hyptrace_socket_hold;

u64 hyptrace_wanted_events(const struct hyptrace_remote *remote);
void hyptrace_hold_override(struct hyptrace_remote *remote, const struct hyptrace_wants *off);
const struct hyptrace_socket_hold *
hyptrace_event_find_hold(const struct hyptrace_remote *remote, u64 events);
void hyptrace_event_hold_forget(struct hyptrace_socket_hold *hold, u64 events);

/* buffer.c */
unsigned long hyptrace_buffer_nr_pages(u64 size);
void hyptrace_buffer_free(struct hyptrace_buffer *buf);
void hyptrace_buffer_leak(struct hyptrace_remote *remote, struct hyptrace_buffer *buf);
int hyptrace_buffer_give(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
			 unsigned int nr_pages, int (*op)(struct hyptrace_buffer *buf, void *priv),
			 struct netlink_ext_ack *extack);

/* release.c: both mutexes held */
void hyptrace_release_init(struct hyptrace_remote *remote);
int hyptrace_release_rings(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
			   int (*op)(struct hyptrace_buffer *buf, void *priv));
int hyptrace_release_wait(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
void hyptrace_release_finish(struct hyptrace_remote *remote);

/* event.c */
const struct hyptrace_event *hyptrace_event_by_id(const struct hyptrace_remote *remote, u32 id);
int hyptrace_event_check(const struct hyptrace_remote_desc *desc,
			 const struct hyptrace_event **events);
int hyptrace_events_replace(struct hyptrace_remote *remote, u64 enabled,
			    struct netlink_ext_ack *extack);

/* event_set.c: the control mutex held */
int hyptrace_events_change(struct hyptrace_remote *remote,
			   const struct hyptrace_event_request *request,
			   struct hyptrace_event_options *options, struct netlink_ext_ack *extack);
int hyptrace_events_set_with(struct hyptrace_remote *remote,
			     const struct hyptrace_event_request *request,
			     struct hyptrace_event_options *options,
			     struct netlink_ext_ack *extack);
int hyptrace_events_exchange(struct hyptrace_remote *remote, u64 mask, u64 enabled,
			     struct hyptrace_event_options *options, bool is_release,
			     struct netlink_ext_ack *extack);

/* filter.c */
struct hyptrace_filter *hyptrace_filter_resolve(const struct hyptrace_event *event,
						const struct hyptrace_filter_request *request,
						struct netlink_ext_ack *extack);
struct hyptrace_event_options *hyptrace_events_alloc_options(struct netlink_ext_ack *extack);
void hyptrace_events_free_options(struct hyptrace_event_options *options);

/* filter_text.c */
int hyptrace_filter_parse(const char *text, const struct hyptrace_event *event,
			  struct hyptrace_filter_request *to, const char **at, const char **why);

/* boot.c: no mutex held */
void hyptrace_remote_boot(struct hyptrace_remote *remote, const char *words);

/* trigger.c: the control mutex held, except for the first one */
void hyptrace_trigger_work(struct work_struct *work);
void hyptrace_triggers_begin(struct hyptrace_remote *remote);
void hyptrace_triggers_end(struct hyptrace_remote *remote);
void hyptrace_triggers_forget(struct hyptrace_remote *remote);
int hyptrace_triggers_restart(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
int hyptrace_triggers_update(struct hyptrace_remote *remote, u64 mask,
			     const struct hyptrace_event_options *before, bool is_release,
			     struct netlink_ext_ack *extack);
void hyptrace_triggers_recover(struct hyptrace_remote *remote, u64 mask,
			       const struct hyptrace_event_options *tried);

/* count.c: the control mutex held */
int hyptrace_count_update(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
void hyptrace_count_end_pmu(struct hyptrace_remote *remote);
void hyptrace_count_free_unused(struct hyptrace_remote *remote);
int hyptrace_count_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);

/* What a socket holds of a remote */
struct hyptrace_socket_hold {
	struct hyptrace_remote		*remote;
	struct list_head		of_remote;	/* in its list */
	/* in the list of all open sockets, protected by sockets_lock */
	struct list_head		of_all;
	/* with a reference; NULL after it was closed. Changes with sockets_lock held. */
	struct sock			*sk;
	u32				portid;		/* its port */
	pid_t				pid;		/* has sent the first request */
	char				comm[TASK_COMM_LEN];	/* its name */
	/* Protected by the control mutex: */
	u64				events;		/* bit per id of an event it holds */
	u64				enabled;	/* those of @events held enabled */
	/* by event id: the options that @events had before, and that they get back */
	struct hyptrace_event_options	before[HYPTRACE_MAX_EVENT_ID];
	u64				counted;	/* bit per id of a counted event */
	/* has held such, and not released them; a request may have switched off all */
	bool				counts;
	bool				has_pmu;	/* the PMU counts for it */
};

/* socket.c: the control mutex held */
struct hyptrace_socket_hold *hyptrace_socket_find_hold(const struct hyptrace_remote *remote,
						       const struct netlink_skb_parms *sender);
struct hyptrace_socket_hold *hyptrace_socket_get_hold(struct hyptrace_remote *remote,
						      const struct netlink_skb_parms *sender,
						      struct netlink_ext_ack *extack);
void hyptrace_socket_put_hold(struct hyptrace_socket_hold *hold);
void hyptrace_socket_remove_hold(struct hyptrace_socket_hold *hold);
void hyptrace_sockets_remove_holds(struct hyptrace_remote *remote);

/* event_hold.c */
void hyptrace_holds_work(struct work_struct *work);

/* reader.c */
int hyptrace_reader_init(struct hyptrace_remote *remote, unsigned int cpu);
void hyptrace_reader_destroy(struct hyptrace_reader *reader);
void hyptrace_reader_load(struct hyptrace_reader *reader,
			  const struct hyptrace_ring_pages *ring,
			  struct hyptrace_map_meta *user_meta);
void hyptrace_reader_unload(struct hyptrace_reader *reader);
int hyptrace_reader_exchange_ring(struct hyptrace_reader *reader, struct hyptrace_ring_pages *old,
				  struct hyptrace_ring_pages *new);
int hyptrace_reader_clear(struct hyptrace_reader *reader);

/* The data in a ring at one moment */
struct hyptrace_look {
	u32	in_page;	/* bytes of the reader page that were not delivered */
	u64	in_ring;	/* bytes in the other sub-buffers */
	u32	nr_subbufs;	/* number of these that hold data */
};

/* look.c */
struct hyptrace_meta;

u64 hyptrace_meta_notified(const struct hyptrace_meta *meta);
u64 hyptrace_reader_notified(struct hyptrace_reader *reader);
void hyptrace_reader_save_losses(struct hyptrace_reader *reader);
bool hyptrace_reader_losses(struct hyptrace_reader *reader, u64 *count, u64 *total);
void hyptrace_reader_refresh(const struct hyptrace_reader *reader);
void hyptrace_reader_look(const struct hyptrace_reader *reader, struct hyptrace_look *look);
void hyptrace_reader_look_again(const struct hyptrace_reader *reader, struct hyptrace_look *look);

/* user_meta.c */
struct hyptrace_map_meta *hyptrace_user_meta_alloc(void);
void hyptrace_user_meta_update(struct hyptrace_reader *reader);
void hyptrace_user_meta_hide(struct hyptrace_reader *reader);
int hyptrace_reader_forbid_mapping(struct hyptrace_reader *reader);
void hyptrace_reader_allow_mapping(struct hyptrace_reader *reader);

/* panic.c */
int hyptrace_panic_init(void);
void hyptrace_panic_exit(void);

/* debugfs.c */
extern struct dentry *hyptrace_debugfs;
void hyptrace_debugfs_add(struct hyptrace_remote *remote);

#endif /* __HYPTRACE_INTERNAL_H */
