/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that VMs have taken and that have not come back after their teardown, from
 * mem_transition and host_hcall events. For who.
 */
#ifndef PAGE_LEAKS_H
#define PAGE_LEAKS_H

#include "lib/hyptrace.h"
#include "page_takes.h"

/* Pages to remember at most: 4 GiB of memory. In the worst case this takes some 350 MB. */
#define PAGE_LEAKS_MAX_PAGES	(1U << 20)

/* VMs that live at the same time; pKVM has fewer than 256 */
#define PAGE_LEAKS_MAX_VMS	1024

enum leak_vm_state {
	LEAK_VM_LIVES,
	LEAK_VM_IS_TORN_DOWN,	/* the teardown has begun, and is not over */
	LEAK_VM_IS_GONE,
};

/**
 * struct leak_vm - a VM
 * @next:	the next one that is not gone
 * @handle:	its handle at EL2, which a later VM may have again
 * @state:	enum leak_vm_state
 * @has_run:	EL2 has more of it than a reserved handle
 * @gone:	time at which the teardown was over
 * @takes:	takes of its pages
 */
struct leak_vm {
	struct leak_vm		*next;
	uint32_t		handle;
	enum leak_vm_state	state;
	bool			has_run;
	uint64_t		gone;
	size_t			takes;
};

/**
 * struct page_leak - neighbouring pages that were taken at once and are missing
 * @pfn:	the first page
 * @nr:		number of pages
 * @take:	how they were taken
 */
struct page_leak {
	uint64_t		pfn;
	uint64_t		nr;
	const struct page_take	*take;
};

/* Fields of mem_transition, and the values of the first three */
enum leak_field { LEAK_OP, LEAK_FROM, LEAK_TO, LEAK_HANDLE, LEAK_RET, LEAK_PFN, LEAK_NR, LEAK_GFN,
		  NR_LEAK_FIELDS };

/* Fields of host_hcall */
enum leak_call_field { LEAK_CALL_ID, LEAK_CALL_INVALID, LEAK_CALL_ARG, LEAK_CALL_DURATION,
		       LEAK_CALL_RET, NR_LEAK_CALL_FIELDS };

/**
 * struct page_leaks - the replay of a history
 * @formats:	formats of the events
 * @transition:	the event mem_transition, or NULL
 * @call:	the event host_hcall, or NULL
 * @fields:	fields of @transition
 * @call_fields: fields of @call
 * @takes:	the pages that have not come back
 * @vms:	the VMs that are not gone
 * @nr_vms:	number of @vms
 * @waiting:	takes of each CPU that wait for their hypercall
 * @nr_cpus:	number of @waiting
 * @order:	number of takes
 * @transitions: mem_transition events, also those that have failed
 * @calls:	host_hcall events
 * @last_gone:	time at which the teardown of the last VM was over
 * @nr_gone:	number of teardowns that are over
 * @lost:	events lost, of any kind
 * @lost_more:	more were lost, but their number is not known
 * @lost_before: time of the last event before which events were lost
 * @too_many:	pages taken that there was no room for
 * @too_many_vms: VMs that there was no room for
 */
struct page_leaks {
	struct hyptrace_formats		*formats;
	const struct hyptrace_event	*transition;
	const struct hyptrace_event	*call;
	const struct hyptrace_field	*fields[NR_LEAK_FIELDS];
	const struct hyptrace_field	*call_fields[NR_LEAK_CALL_FIELDS];
	struct page_takes		takes;
	struct leak_vm			*vms;
	unsigned int			nr_vms;
	struct page_take		**waiting;
	unsigned int			nr_cpus;
	uint64_t			order;
	uint64_t			transitions;
	uint64_t			calls;
	uint64_t			last_gone;
	uint64_t			nr_gone;
	uint64_t			lost;
	bool				lost_more;
	uint64_t			lost_before;
	uint64_t			too_many;
	uint64_t			too_many_vms;
};

/**
 * struct leak_counts - what became of the pages that have not come back
 * @leaked:	their VM is gone
 * @pending:	their VM is being torn down
 * @undecided:	it is not known which VM has taken them, and one still lives
 * @unknown:	the hypercall that has taken them was lost
 */
struct leak_counts {
	uint64_t	leaked;
	uint64_t	pending;
	uint64_t	undecided;
	uint64_t	unknown;
};

/* page_leaks.c: the replay */
bool page_leaks_init(struct page_leaks *leaks, size_t max_pages, struct hyptrace_formats *formats,
		     struct hyptrace_event *const *events, unsigned int nr);
void page_leaks_free(struct page_leaks *leaks);
void page_leaks_add(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec);

/* leak_list.c: what is a leak */
struct page_leak *page_leaks_list(const struct page_leaks *leaks, struct leak_counts *counts);
uint64_t page_leaks_merge(struct page_leak *list, uint64_t nr);

/* leak_vms.c: the VMs, from the hypercalls */
struct leak_vm *leak_vm_find(const struct page_leaks *leaks, uint32_t handle);
struct leak_vm *leak_vm_get(struct page_leaks *leaks, uint32_t handle);
bool leak_vm_knows_teardown(const struct page_leaks *leaks);
bool leak_vm_call(struct page_leaks *leaks, const struct hyptrace_record *rec,
		  struct leak_vm **vm);
void leak_vm_put(struct leak_vm *vm);
uint64_t leak_call_value(const struct page_leaks *leaks, enum leak_call_field field,
			 const struct hyptrace_record *rec);

#endif /* PAGE_LEAKS_H */
