// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay a history, and find the pages that have not come back after the teardown of a VM: see
 * page_leaks.h.
 *
 * Events of pages of a guest have the handle of its VM. Others were recorded while a hypercall
 * ran: some hypercalls name the VM. The rest is what the host shares with EL2 for a VM, such as
 * KVM's structs: it could be of any VM, and several VMs may use one page. Such a page is a leak if
 * a VM is gone since it was taken, and no VM is left that may use it.
 *
 * A transition that no hypercall has made is hyptrace's own, whose hypercalls leave no events.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/hyptrace_netlink.h>

#include "output/die.h"
#include "page_leaks.h"

/* The event's time and the hypercall's begin are rounded down to ns, each by itself. */
#define ROUNDING_NSEC	1

/* A take waits no more for its hypercall. */
static void end_wait(struct page_leaks *leaks, struct page_take *take, enum take_cause cause)
{
	if (take->prev)
		take->prev->next = take->next;
	else
		leaks->waiting[take->cpu] = take->next;
	if (take->next)
		take->next->prev = take->prev;
	take->next = NULL;
	take->prev = NULL;
	take->cause = cause;
}

static void free_take(struct page_take *take, void *arg)
{
	struct page_leaks *leaks = arg;

	if (take->cause == TAKE_WAITS)
		end_wait(leaks, take, TAKE_NONE);
	if (take->vm) {
		take->vm->takes--;
		leak_vm_put(take->vm);
	}
	free(take->event);
	free(take->call);
	free(take);
}

/*
 * Begin with no pages and no VMs, to remember @max_pages at a time. Return false if the replay
 * cannot work: an event is missing, or hypercalls have no names. page_leaks_free() in any case.
 */
bool page_leaks_init(struct page_leaks *leaks, size_t max_pages, struct hyptrace_formats *formats)
{
	*leaks = (struct page_leaks){
		.formats = formats, .model = hyptrace_model_new(formats, NULL),
	};
	if (!leaks->model)
		die_no_memory();
	page_takes_init(&leaks->takes, max_pages, free_take, leaks);
	leaks->transition = hyptrace_model_of_kind(leaks->model, HYPTRACE_KIND_TRANSITION);
	leaks->call = hyptrace_model_of_kind(leaks->model, HYPTRACE_KIND_HYPERCALL);
	return leaks->transition && leaks->call && leak_vm_knows_teardown(leaks);
}

void page_leaks_free(struct page_leaks *leaks)
{
	struct leak_vm *vm;

	page_takes_free(&leaks->takes);
	free(leaks->waiting);
	while ((vm = leaks->vms)) {
		leaks->vms = vm->next;
		free(vm);
	}
	hyptrace_model_free(leaks->model);
}

static bool is_named(const struct page_leaks *leaks, enum hyptrace_role role,
		     const struct hyptrace_record *rec, const char *name)
{
	const uint64_t value = hyptrace_meaning_value(leaks->transition, role, rec);
	const char *found = hyptrace_meaning_value_name(leaks->transition, role, value);

	return found && !strcmp(found, name);
}

/* A value of a transition */
static uint64_t value_of(const struct page_leaks *leaks, enum hyptrace_role role,
			 const struct hyptrace_record *rec)
{
	return hyptrace_meaning_value(leaks->transition, role, rec);
}

static void *copy_of(const struct hyptrace_record *rec)
{
	void *copy = malloc(rec->size);

	if (!copy)
		die_no_memory();
	return memcpy(copy, rec->data, rec->size);
}

/* Get the list of the takes of a CPU that wait for their hypercall. */
static struct page_take **waiting_of(struct page_leaks *leaks, unsigned int cpu)
{
	if (cpu >= leaks->nr_cpus) {
		leaks->waiting = reallocarray(leaks->waiting, (size_t)cpu + 1,
					      sizeof(*leaks->waiting));
		if (!leaks->waiting)
			die_no_memory();
		memset(leaks->waiting + leaks->nr_cpus, 0,
		       ((size_t)cpu + 1 - leaks->nr_cpus) * sizeof(*leaks->waiting));
		leaks->nr_cpus = cpu + 1;
	}
	return &leaks->waiting[cpu];
}

static void set_vm(struct page_take *take, struct leak_vm *vm)
{
	take->vm = vm;
	if (vm)
		vm->takes++;
}

/* Pages go to an owner, or are shared with it. */
static void take_pages(struct page_leaks *leaks, unsigned int cpu,
		       const struct hyptrace_record *rec, uint8_t owner, struct leak_vm *vm)
{
	const uint64_t pfn = value_of(leaks, HYPTRACE_ROLE_PAGE, rec);
	const uint64_t nr = value_of(leaks, HYPTRACE_ROLE_COUNT, rec);
	struct page_take **waiting = waiting_of(leaks, cpu);
	struct page_take *take = calloc(1, sizeof(*take));

	if (!take)
		die_no_memory();
	*take = (struct page_take){
		.next = *waiting,
		.ts = rec->ts,
		.order = leaks->order++,
		.cpu = cpu,
		.owner = owner,
		.shift = value_of(leaks, HYPTRACE_ROLE_GUEST_PAGE, rec) - pfn,
		.event = copy_of(rec),
		.event_size = rec->size,
	};
	set_vm(take, vm);
	if (take->next)
		take->next->prev = take;
	*waiting = take;
	leaks->too_many += page_takes_add(&leaks->takes, pfn, nr, take);
	if (!take->pages)
		free_take(take, leaks);
}

/* The host shares pages: it owns them, and has not shared them with EL2 before. */
static void share(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	const uint64_t pfn = value_of(leaks, HYPTRACE_ROLE_PAGE, rec);
	const uint64_t nr = value_of(leaks, HYPTRACE_ROLE_COUNT, rec);
	struct leak_vm *vm = NULL;
	bool with_guest = is_named(leaks, HYPTRACE_ROLE_TO, rec, "guest");

	if (!with_guest && !is_named(leaks, HYPTRACE_ROLE_TO, rec, "hyp"))
		return;
	/* If events were lost, older takes of these pages may still be there. */
	page_takes_drop(&leaks->takes, pfn, nr, HYPTRACE_OWNERSHIP_HYP);
	page_takes_drop(&leaks->takes, pfn, nr, HYPTRACE_OWNERSHIP_GUEST);
	page_takes_drop(&leaks->takes, pfn, nr, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP);
	if (with_guest)
		vm = leak_vm_get(leaks, value_of(leaks, HYPTRACE_ROLE_VM, rec));
	take_pages(leaks, cpu, rec, with_guest ? HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST :
		   HYPTRACE_OWNERSHIP_HOST_SHARED_HYP, vm);
}

static void unshare(struct page_leaks *leaks, const struct hyptrace_record *rec)
{
	const uint64_t pfn = value_of(leaks, HYPTRACE_ROLE_PAGE, rec);
	const uint64_t nr = value_of(leaks, HYPTRACE_ROLE_COUNT, rec);
	struct leak_vm *vm;

	if (is_named(leaks, HYPTRACE_ROLE_TO, rec, "hyp"))
		page_takes_drop(&leaks->takes, pfn, nr, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP);
	if (!is_named(leaks, HYPTRACE_ROLE_TO, rec, "guest"))
		return;
	vm = leak_vm_find(leaks, value_of(leaks, HYPTRACE_ROLE_VM, rec));
	if (vm)
		page_takes_drop_shared(&leaks->takes, pfn, nr, vm,
				       value_of(leaks, HYPTRACE_ROLE_GUEST_PAGE, rec) - pfn);
}

/* Pages change their owner: nobody shares them before and afterwards. */
static void donate(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	page_takes_drop(&leaks->takes, value_of(leaks, HYPTRACE_ROLE_PAGE, rec),
			value_of(leaks, HYPTRACE_ROLE_COUNT, rec), PAGE_TAKES_ALL);
	if (is_named(leaks, HYPTRACE_ROLE_TO, rec, "hyp"))
		take_pages(leaks, cpu, rec, HYPTRACE_OWNERSHIP_HYP, NULL);
	else if (is_named(leaks, HYPTRACE_ROLE_TO, rec, "guest"))
		take_pages(leaks, cpu, rec, HYPTRACE_OWNERSHIP_GUEST,
			   leak_vm_get(leaks, value_of(leaks, HYPTRACE_ROLE_VM, rec)));
}

static void change(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	leaks->transitions++;
	if (value_of(leaks, HYPTRACE_ROLE_RESULT, rec))
		return;
	if (is_named(leaks, HYPTRACE_ROLE_OP, rec, "share"))
		share(leaks, cpu, rec);
	else if (is_named(leaks, HYPTRACE_ROLE_OP, rec, "unshare"))
		unshare(leaks, rec);
	else if (is_named(leaks, HYPTRACE_ROLE_OP, rec, "donate") ||
		 is_named(leaks, HYPTRACE_ROLE_OP, rec, "reclaim"))
		donate(leaks, cpu, rec);
}

/* A hypercall has ended: it has made the transitions of the CPU since its begin. */
static void end_call(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	const uint64_t begin = rec->ts - hyptrace_meaning_value(leaks->call, HYPTRACE_ROLE_DURATION,
								rec);
	struct page_take **waiting = waiting_of(leaks, cpu), *take;
	struct leak_vm *vm;
	bool for_vms;

	leaks->calls++;
	for_vms = leak_vm_call(leaks, rec, &vm);
	/* A hypercall that shares a page with a guest also takes pages for the guest's tables. */
	for (take = *waiting; take && !vm; take = take->next)
		if (take->ts + ROUNDING_NSEC >= begin)
			vm = take->vm;
	while ((take = *waiting)) {
		end_wait(leaks, take, TAKE_NONE);
		if (!for_vms || take->ts + ROUNDING_NSEC < begin || take->ts > rec->ts)
			continue;
		take->cause = TAKE_KNOWN;
		take->call = copy_of(rec);
		take->call_size = rec->size;
		take->call_ts = rec->ts;
		if (!take->vm)
			set_vm(take, vm);
	}
}

static void note_loss(struct page_leaks *leaks, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct page_take **waiting, *take;

	if (!lost)
		return;
	if (lost == HYPTRACE_LOST_UNKNOWN)
		leaks->lost_more = true;
	else
		leaks->lost += lost;
	if (ts > leaks->lost_before)
		leaks->lost_before = ts;
	waiting = waiting_of(leaks, cpu);
	while ((take = *waiting))
		end_wait(leaks, take, TAKE_LOST);
}

/* Replay an event or a loss. They must come in the order of time. */
void page_leaks_add(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning;

	note_loss(leaks, cpu, rec->ts, rec->lost);
	if (!rec->data)
		return;
	meaning = hyptrace_model_meaning(leaks->model, rec);
	if (meaning == leaks->transition)
		change(leaks, cpu, rec);
	else if (meaning == leaks->call)
		end_call(leaks, cpu, rec);
}
