// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay a history, and find the pages that have not come back after the teardown of a VM.
 *
 * Events of pages of a guest have the handle of its VM. Others were recorded while a hypercall
 * ran: some hypercalls name the VM. The rest is what the host shares with EL2 for a VM, such as
 * KVM's structs: it could be of any VM, and several VMs may use one page. Such a page is a leak if
 * a VM is gone since it was taken, and no VM is left that may use it.
 *
 * A transition that no hypercall has made is hyptrace's own, whose hypercalls leave no events.
 *
 * A VM lives from the first hypercall or event that has its handle. It is gone when the hypercall
 * has succeeded that ends its teardown: __pkvm_teardown_vm() before Linux 7, since then
 * __pkvm_finalize_teardown_vm(). __pkvm_start_teardown_vm() begins the teardown.
 */
#include <limits.h>

#include "output/die.h"
#include "pages.h"

#define OWNER(owner)	(1U << HYPTRACE_OWNERSHIP_##owner)
#define ALL		UINT_MAX

enum role {
	ROLE_NONE,
	ROLE_RESERVE,	/* returns the handle of a VM that may be created later */
	ROLE_UNRESERVE,
	ROLE_INIT,	/* returns the handle of the VM that it has created, or 0 */
	ROLE_INIT_VCPU,
	ROLE_BEGIN_TEARDOWN,
	ROLE_TEARDOWN,
	ROLE_FOREIGN,	/* takes pages, but not for a VM with which they come back */
};

static const struct {
	const char	*name;
	enum role	role;
} roles[] = {
	{ "__pkvm_reserve_vm",			ROLE_RESERVE },
	{ "__pkvm_unreserve_vm",		ROLE_UNRESERVE },
	{ "__pkvm_init_vm",			ROLE_INIT },
	{ "__pkvm_init_vcpu",			ROLE_INIT_VCPU },
	{ "__pkvm_start_teardown_vm",		ROLE_BEGIN_TEARDOWN },
	{ "__pkvm_teardown_vm",			ROLE_TEARDOWN },
	{ "__pkvm_finalize_teardown_vm",	ROLE_TEARDOWN },
	{ "__tracing_load",			ROLE_FOREIGN },
	{ "__pkvm_load_tracing",		ROLE_FOREIGN },
	{ "__pkvm_hyp_alloc_mgt_refill",	ROLE_FOREIGN },
};

static enum role role_named(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	return ROLE_NONE;
}

/* Find a VM that is not gone. Return the VM or NULL. */
static struct leak_vm *leak_vm_find(const struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm;

	for (vm = leaks->vms; vm && vm->handle != handle; vm = vm->next)
		;
	return vm;
}

/* Find a VM that EL2 has, or add it. Return the VM, or NULL if there are too many. */
static struct leak_vm *leak_vm_get(struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm = leak_vm_find(leaks, handle);

	if (vm) {
		vm->has_run = true;
		return vm;
	}
	if (leaks->nr_vms == PAGE_LEAKS_MAX_VMS) {
		leaks->too_many_vms++;
		return NULL;
	}
	vm = xcalloc(1, sizeof(*vm));
	*vm = (struct leak_vm){ .next = leaks->vms, .handle = handle, .has_run = true };
	leaks->vms = vm;
	leaks->nr_vms++;
	return vm;
}

static void leak_vm_put(struct leak_vm *vm)
{
	if (vm->state == LEAK_VM_IS_GONE && !vm->takes)
		free(vm);
}

static void remove_vm(struct page_leaks *leaks, struct leak_vm *vm)
{
	struct leak_vm **at;

	for (at = &leaks->vms; *at != vm; at = &(*at)->next)
		;
	*at = vm->next;
	leaks->nr_vms--;
	vm->state = LEAK_VM_IS_GONE;
	leak_vm_put(vm);
}

static void tear_down(struct page_leaks *leaks, uint32_t handle, uint64_t ts)
{
	struct leak_vm *vm = leak_vm_find(leaks, handle);

	leaks->nr_gone++;
	leaks->last_gone = ts;
	if (!vm)
		return;
	vm->gone = ts;
	remove_vm(leaks, vm);
}

/* EL2 has given a handle to a new VM. If another one has it, the end of that one was lost. */
static struct leak_vm *begin(struct page_leaks *leaks, uint32_t handle, uint64_t ts, bool has_run)
{
	struct leak_vm *vm = leak_vm_find(leaks, handle);

	if (vm && vm->has_run)
		tear_down(leaks, handle, ts);
	vm = leak_vm_get(leaks, handle);
	if (vm)
		vm->has_run = has_run;
	return vm;
}

static bool leak_vm_call(struct page_leaks *leaks, const struct hyptrace_record *rec,
			 struct leak_vm **vm)
{
	const struct hyptrace_meaning *call = leaks->call;
	const uint32_t arg = hyptrace_meaning_value(call, HYPTRACE_ROLE_ARG1, rec);
	const int64_t ret = hyptrace_meaning_value(call, HYPTRACE_ROLE_RESULT, rec);
	struct leak_vm *old = leak_vm_find(leaks, arg);
	enum role role;

	*vm = NULL;
	role = role_named(hyptrace_meaning_name(call, hyptrace_meaning_key(call, rec)));
	if (role == ROLE_FOREIGN)
		return false;
	if (hyptrace_meaning_value(call, HYPTRACE_ROLE_INVALID, rec))
		return true;
	/* a handle that was not used is given back: there was no VM */
	if (role == ROLE_UNRESERVE && old && !old->has_run)
		remove_vm(leaks, old);
	else if (role == ROLE_RESERVE && ret > 0)
		begin(leaks, ret, rec->ts, false);
	else if (role == ROLE_INIT && ret > 0)
		*vm = begin(leaks, ret, rec->ts, true);
	else if (role == ROLE_INIT_VCPU && !ret)
		*vm = leak_vm_get(leaks, arg);
	else if (role == ROLE_TEARDOWN && !ret)
		tear_down(leaks, arg, rec->ts);
	else if (role == ROLE_BEGIN_TEARDOWN && !ret && leak_vm_get(leaks, arg))
		leak_vm_find(leaks, arg)->state = LEAK_VM_IS_TORN_DOWN;
	return true;
}

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

static void free_take(struct page_leaks *leaks, struct page_take *take)
{
	if (take->cause == TAKE_WAITS)
		end_wait(leaks, take, TAKE_NONE);
	if (take->vm) {
		take->vm->takes--;
		leak_vm_put(take->vm);
	}
	free((void *)take->event.data);
	free((void *)take->call.data);
	free(take);
}

/* A take of a page is over. The last take of the page gets its place. */
static void drop(struct page_leaks *leaks, uint64_t pfn, uint64_t minor)
{
	struct map_entry *entry = map_find(&leaks->pages, pfn, minor), *last = entry, *next;
	struct page_take *take = entry->ptr;

	while ((next = map_find(&leaks->pages, pfn, last->minor + 1)))
		last = next;
	entry->ptr = last->ptr;
	map_remove(&leaks->pages, last);
	if (!--take->pages)
		free_take(leaks, take);
}

static void drop_page(struct page_leaks *leaks, uint64_t pfn, unsigned int owners)
{
	const struct map_entry *entry;
	uint64_t minor = 0;

	while ((entry = map_find(&leaks->pages, pfn, minor))) {
		const struct page_take *take = entry->ptr;

		if (owners & 1U << take->owner)
			drop(leaks, pfn, minor);
		else
			minor++;
	}
}

/* The takes of these pages are over that have made one of these the owner. */
static void drop_pages(struct page_leaks *leaks, const struct page_change *change,
		       unsigned int owners)
{
	struct map_entry *entry = NULL;
	uint64_t i, nr;

	if (change->nr <= leaks->pages.nr_slots) {
		for (i = 0; i < change->nr; i++)
			drop_page(leaks, change->pfn + i, owners);
		return;
	}
	/* Look at the slots: there are fewer. This may miss pages that move to slots before. */
	do {
		nr = leaks->pages.nr;
		while ((entry = map_next(&leaks->pages, entry)))
			if (entry->key >= change->pfn && entry->key - change->pfn < change->nr)
				drop_page(leaks, entry->key, owners);
	} while (leaks->pages.nr < nr);
}

/* False: an event is missing, or hypercalls have no names; page_leaks_free() in any case */
bool page_leaks_init(struct page_leaks *leaks, size_t max_pages, struct hyptrace_formats *formats)
{
	const struct hyptrace_field *id;
	unsigned int i;

	*leaks = (struct page_leaks){
		.model = or_die(hyptrace_model_new(formats, NULL)), .max_pages = max_pages,
	};
	leaks->transition = hyptrace_model_of_kind(leaks->model, HYPTRACE_KIND_TRANSITION);
	leaks->call = hyptrace_model_of_kind(leaks->model, HYPTRACE_KIND_HYPERCALL);
	if (!leaks->transition || !leaks->call)
		return false;
	id = leaks->call->places[HYPTRACE_ROLE_ID].field;
	for (i = 0; i < id->nr_symbols; i++)
		if (role_named(id->symbols[i]->name) == ROLE_TEARDOWN)
			return true;
	return false;
}

void page_leaks_free(struct page_leaks *leaks)
{
	struct map_entry *entry = NULL;
	struct leak_vm *vm;

	while ((entry = map_next(&leaks->pages, entry))) {
		struct page_take *take = entry->ptr;

		if (!--take->pages)
			free_take(leaks, take);
	}
	map_free(&leaks->pages);
	free(leaks->waiting);
	while ((vm = leaks->vms)) {
		leaks->vms = vm->next;
		free(vm);
	}
	hyptrace_model_free(leaks->model);
}

static struct hyptrace_record copy_of(const struct hyptrace_record *rec)
{
	struct hyptrace_record copy = *rec;

	copy.data = memcpy(xmalloc(rec->size), rec->data, rec->size);
	return copy;
}

static struct page_take **waiting_of(struct page_leaks *leaks, unsigned int cpu)
{
	if (cpu >= leaks->nr_cpus) {
		leaks->waiting = xreallocarray(leaks->waiting, (size_t)cpu + 1,
					       sizeof(*leaks->waiting));
		while (leaks->nr_cpus <= cpu)
			leaks->waiting[leaks->nr_cpus++] = NULL;
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
static void take_pages(struct page_leaks *leaks, const struct page_change *change,
		       const struct hyptrace_record *rec)
{
	struct page_take **waiting = waiting_of(leaks, change->cpu);
	struct page_take *take = xcalloc(1, sizeof(*take));
	uint64_t i, minor;

	*take = (struct page_take){
		.next = *waiting,
		.order = leaks->order++,
		.cpu = change->cpu,
		.owner = page_change_owner(change),
		.shift = change->gfn - change->pfn,
		.event = copy_of(rec),
	};
	if (!strcmp(change->to, "guest"))
		set_vm(take, leak_vm_get(leaks, change->handle));
	if (take->next)
		take->next->prev = take;
	*waiting = take;
	for (i = 0; i < change->nr && leaks->pages.nr < leaks->max_pages; i++) {
		for (minor = 0; map_find(&leaks->pages, change->pfn + i, minor); minor++)
			;
		map_add(&leaks->pages, change->pfn + i, minor)->ptr = take;
		take->pages++;
	}
	leaks->too_many += change->nr - i;
	if (!take->pages)
		free_take(leaks, take);
}

static void add_change(struct page_leaks *leaks, unsigned int cpu,
		       const struct hyptrace_record *rec)
{
	const struct map_entry *entry;
	const struct leak_vm *vm;
	struct page_change change;
	uint64_t i, minor, found;
	bool to_hyp, to_guest;

	leaks->transitions++;
	page_change_read(&change, leaks->transition, cpu, rec);
	if (change.ret || page_change_is_of_module(&change))
		return;
	to_hyp = !strcmp(change.to, "hyp");
	to_guest = !strcmp(change.to, "guest");
	if (!strcmp(change.op, "unshare") && to_hyp)
		drop_pages(leaks, &change, OWNER(HOST_SHARED_HYP));
	vm = !strcmp(change.op, "unshare") && to_guest ? leak_vm_find(leaks, change.handle) : NULL;
	/* A damaged event may have any number of pages. */
	for (i = 0; vm && i < change.nr && i < leaks->max_pages && leaks->pages.nr; i++) {
		/* a guest has lost a page: one take is over, that of its place there if possible */
		found = UINT64_MAX;
		for (minor = 0; (entry = map_find(&leaks->pages, change.pfn + i, minor)); minor++) {
			const struct page_take *take = entry->ptr;

			if (take->vm != vm || take->owner != HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST)
				continue;
			found = minor;
			if (take->shift == change.gfn - change.pfn)
				break;
		}
		if (found != UINT64_MAX)
			drop(leaks, change.pfn + i, found);
	}
	if (!strcmp(change.op, "unshare"))
		return;
	if (!strcmp(change.op, "donate") || !strcmp(change.op, "reclaim"))
		/* nobody shares the pages before and afterwards */
		drop_pages(leaks, &change, ALL);
	else if (!strcmp(change.op, "share") && (to_hyp || to_guest))
		/* EL2 did not have them before: its older takes are there if events were lost */
		drop_pages(leaks, &change, ALL & ~OWNER(HOST_SHARED_GUEST));
	else
		return;
	if (to_hyp || to_guest)
		take_pages(leaks, &change, rec);
}

/* A hypercall has ended: it has made the transitions of the CPU since its begin. */
static void end_call(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct page_take **waiting = waiting_of(leaks, cpu), *take;
	struct leak_vm *vm;
	bool for_vms;

	leaks->calls++;
	for_vms = leak_vm_call(leaks, rec, &vm);
	/* A hypercall that shares a page with a guest also takes pages for the guest's tables. */
	for (take = *waiting; take && !vm; take = take->next)
		if (page_call_made(leaks->call, rec, take->event.ts))
			vm = take->vm;
	while ((take = *waiting)) {
		end_wait(leaks, take, TAKE_NONE);
		if (!for_vms || !page_call_made(leaks->call, rec, take->event.ts))
			continue;
		take->cause = TAKE_KNOWN;
		take->call = copy_of(rec);
		if (!take->vm)
			set_vm(take, vm);
	}
}

/* Replay an event or a loss. They must come in the order of time. */
void page_leaks_add(struct page_leaks *leaks, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning;
	struct page_take *take;

	while (rec->lost && (take = *waiting_of(leaks, cpu)))
		end_wait(leaks, take, TAKE_LOST);
	if (!rec->data)
		return;
	meaning = hyptrace_model_meaning(leaks->model, rec);
	if (meaning == leaks->transition)
		add_change(leaks, cpu, rec);
	else if (meaning == leaks->call)
		end_call(leaks, cpu, rec);
}

/* Count a page that has not come back. Return whether it is a leak. */
static bool judge(const struct page_leaks *leaks, const struct page_take *take,
		  struct leak_counts *counts)
{
	if (take->vm) {
		counts->pending += take->vm->state == LEAK_VM_IS_TORN_DOWN;
		return take->vm->state == LEAK_VM_IS_GONE;
	}
	/* At the end of the history a take waits if its hypercall still runs, or if it has none. */
	if (take->cause == TAKE_NONE || take->cause == TAKE_WAITS ||
	    leaks->last_gone <= take->event.ts)
		return false;
	if (take->cause == TAKE_LOST)
		counts->unknown++;
	else if (leaks->vms)
		counts->undecided++;
	else
		return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct page_leak *x = a, *y = b;

	if (x->take->order != y->take->order)
		return x->take->order < y->take->order ? -1 : 1;
	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/* For free(): a page in each entry; those taken at once are in the order of their numbers */
struct page_leak *page_leaks_list(const struct page_leaks *leaks, struct leak_counts *counts)
{
	struct page_leak *list = xcalloc((size_t)leaks->pages.nr + 1, sizeof(*list));
	struct map_entry *entry = NULL;

	*counts = (struct leak_counts){ 0 };
	while ((entry = map_next(&leaks->pages, entry)))
		if (judge(leaks, entry->ptr, counts))
			list[counts->leaked++] = (struct page_leak){
				.pfn = entry->key, .nr = 1, .take = entry->ptr,
			};
	qsort(list, counts->leaked, sizeof(*list), compare);
	return list;
}

uint64_t page_leaks_merge(struct page_leak *list, uint64_t nr)
{
	uint64_t i, nr_ranges = 0;

	for (i = 0; i < nr; i++) {
		struct page_leak *last = nr_ranges ? &list[nr_ranges - 1] : NULL;

		if (last && last->take == list[i].take && last->pfn + last->nr == list[i].pfn)
			last->nr += list[i].nr;
		else
			list[nr_ranges++] = list[i];
	}
	return nr_ranges;
}
