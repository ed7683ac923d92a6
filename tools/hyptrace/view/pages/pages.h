/* SPDX-License-Identifier: GPL-2.0-only */
/* The verbs page and leaks: both read the events mem_transition and host_hcall. */
#ifndef PAGES_H
#define PAGES_H

#include "lib/hyptrace_model.h"
#include "output/columns.h"
#include "output/map.h"
#include "output/printer.h"
#include "session/session.h"

/* page_history.c */

/* A change of a page's owner, or of those it is shared with */
struct page_change {
	uint64_t	ts;
	unsigned int	cpu;
	const char	*op;		/* "share", "unshare", "donate" or "reclaim" */
	const char	*from;		/* the owner before: "host", "hyp", "guest" or "ffa" */
	const char	*to;		/* who gets or loses the page */
	uint64_t	pfn;		/* first page of the change */
	uint64_t	nr;
	uint64_t	handle;		/* of the VM; 0 if there is none */
	uint64_t	gfn;		/* first page in the guest */
	int64_t		ret;		/* 0, or a negative errno and nothing has changed */
	char		*text;		/* the event as text */
	char		*call;		/* the hypercall that made it, as text; or NULL */
	bool		waits;		/* the hypercall may still be added */
};

struct page_history {
	uint64_t			pfn;
	struct hyptrace_formats		*formats;
	struct hyptrace_model		*model;
	struct page_change		*changes;
	unsigned int			nr;
	unsigned int			nr_waiting;
};

/* Read a transition; text and call are then NULL. */
void page_change_read(struct page_change *change, const struct hyptrace_meaning *meaning,
		      unsigned int cpu, const struct hyptrace_record *rec);
void page_change_free(struct page_change *change);
/* The text of a transition or of a hypercall, for free() */
char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec);
/* enum hyptrace_ownership of a page that was given to somebody, or shared with one */
bool page_change_is_of_module(const struct page_change *change);
uint32_t page_change_owner(const struct page_change *change);

/* Has a hypercall that ended with this event made a change at this time on its CPU? */
bool page_call_made(const struct hyptrace_meaning *meaning, const struct hyptrace_record *call,
		    uint64_t ts);

void page_history_init(struct page_history *history, uint64_t pfn,
		       struct hyptrace_formats *formats);
void page_history_free(struct page_history *history);
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec);
bool page_history_owner(const struct page_history *history, uint32_t *owner);

/* Pages to remember at most: 4 GiB of memory. In the worst case this takes some 350 MB. */
#define PAGE_LEAKS_MAX_PAGES	(1U << 20)

/* VMs that live at the same time; pKVM has fewer than 256 */
#define PAGE_LEAKS_MAX_VMS	1024

enum leak_vm_state {
	LEAK_VM_LIVES,
	LEAK_VM_IS_TORN_DOWN,	/* the teardown has begun, and is not over */
	LEAK_VM_IS_GONE,
};

struct leak_vm {
	struct leak_vm		*next;		/* the next one that is not gone */
	uint32_t		handle;		/* at EL2; a later VM may have it again */
	enum leak_vm_state	state;
	bool			has_run;	/* EL2 has more of it than a reserved handle */
	uint64_t		gone;		/* time at which the teardown was over */
	size_t			takes;		/* of its pages */
};

enum take_cause {
	TAKE_WAITS,	/* its event, the next one of the CPU, may still be added */
	TAKE_KNOWN,	/* it is in the take */
	TAKE_NONE,	/* hyptrace itself, or another hypercall that is not about VMs */
	TAKE_LOST,	/* its event may be among those that were lost */
};

/* An event by which the host gave pages away, or shared them */
struct page_take {
	size_t			pages;	/* pages of it that have not come back */
	struct page_take	*next;	/* the next take of the CPU that waits for its hypercall */
	struct page_take	*prev;	/* the one before, or NULL if this one is the first */
	uint64_t		order;	/* how many takes there were before */
	unsigned int		cpu;
	uint8_t			owner;	/* enum hyptrace_ownership of the pages since then */
	uint8_t			cause;	/* enum take_cause */
	struct leak_vm		*vm;	/* the VM that took them, or NULL */
	uint64_t		shift;	/* number of a page in the guest minus its number */
	struct hyptrace_record	event;	/* a copy */
	struct hyptrace_record	call;	/* a copy of the hypercall's; without data: none */
};

/* Neighbouring pages that were taken at once and are missing */
struct page_leak {
	uint64_t		pfn;
	uint64_t		nr;
	const struct page_take	*take;
};

struct page_leaks {
	struct hyptrace_model		*model;
	const struct hyptrace_meaning	*transition;	/* or NULL */
	const struct hyptrace_meaning	*call;		/* or NULL */
	/* takes by page; the minor key numbers those of a page that several guests share */
	struct map			pages;
	size_t				max_pages;
	struct leak_vm			*vms;		/* that are not gone */
	unsigned int			nr_vms;
	struct page_take		**waiting;	/* takes of each CPU without a hypercall */
	unsigned int			nr_cpus;
	uint64_t			order;		/* number of takes */
	uint64_t			transitions;	/* also those that have failed */
	uint64_t			calls;
	uint64_t			last_gone;	/* when the last teardown was over */
	uint64_t			nr_gone;	/* teardowns that are over */
	uint64_t			too_many;	/* pages that there was no room for */
	uint64_t			too_many_vms;
};

/* What became of the pages that have not come back */
struct leak_counts {
	uint64_t	leaked;		/* their VM is gone */
	uint64_t	pending;	/* their VM is being torn down */
	uint64_t	undecided;	/* nobody knows which VM has them, and one still lives */
	uint64_t	unknown;	/* the hypercall that has taken them was lost */
};

/* page_leaks.c: the replay, and what is a leak */
bool page_leaks_init(struct page_leaks *leaks, size_t max_pages, struct hyptrace_formats *formats);
void page_leaks_free(struct page_leaks *leaks);
void page_leaks_add(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec);
struct page_leak *page_leaks_list(const struct page_leaks *leaks, struct leak_counts *counts);
uint64_t page_leaks_merge(struct page_leak *list, uint64_t nr);

/* Both events are needed. */
#define WHO_ENABLE	"use \"hyptrace enable mem_transition host_hcall\" and \"hyptrace start\""

struct who {
	struct session		session;	/* its argument is this struct */
	/* the options */
	bool			is_leaks;
	bool			has_page;
	uint64_t		page;
	bool			is_address;
	bool			is_live;	/* "live" in place of a file */
	bool			csv;
	uint64_t		last;		/* print only so many changes; 0: all */

	uint64_t		lost_before;	/* time of the last loss */
	/* of page */
	uint8_t			owner;		/* the hypervisor's answer */
	struct page_history	history;
	/* of leaks */
	struct page_leaks	leaks;
	struct page_leak	*list;
	uint64_t		nr;
	struct leak_counts	counts;
	/* pages that have come back since the history was read */
	uint64_t		back;
	bool			incomplete;	/* events are missing */
};

/* A change of a page, or the leak that it has made */
struct who_row {
	struct page_change		change;
	/* for leaks only */
	uint64_t			page, pages;	/* the first one, and their number */
	const char			*owner;
	const struct leak_vm		*vm;	/* or NULL */
	uint64_t			gone;	/* when the VM was gone, or the last one */
};

/* pages_view.c: return an exit code */
int page_run(struct who *who);
int leaks_run(struct who *who);

#endif /* PAGES_H */
