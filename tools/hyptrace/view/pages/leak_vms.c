// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMs of a history, from the hypercalls that create and destroy them. For page_leaks.c.
 *
 * A VM lives from the first hypercall or event that has its handle. It is gone when the hypercall
 * has succeeded that ends its teardown: __pkvm_teardown_vm() before Linux 7, since then
 * __pkvm_finalize_teardown_vm(). __pkvm_start_teardown_vm() begins the teardown.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "pages.h"

/* What a hypercall means for a VM */
enum role {
	ROLE_NONE,
	ROLE_RESERVE,	/* returns the handle of a VM that may be created later */
	ROLE_UNRESERVE,
	ROLE_INIT,	/* returns the handle of the VM that it has created, or 0 */
	ROLE_INIT_VCPU,
	ROLE_BEGIN_TEARDOWN,
	ROLE_TEARDOWN,
	ROLE_FOREIGN,	/* takes pages, but not for VMs */
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
};

static enum role role_named(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	return ROLE_NONE;
}

bool leak_vm_knows_teardown(const struct page_leaks *leaks)
{
	const struct hyptrace_field *id = leaks->call->places[HYPTRACE_ROLE_ID].field;
	unsigned int i;

	for (i = 0; i < id->nr_symbols; i++)
		if (role_named(id->symbols[i]->name) == ROLE_TEARDOWN)
			return true;
	return false;
}

/* Find a VM that is not gone. Return the VM or NULL. */
struct leak_vm *leak_vm_find(const struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm;

	for (vm = leaks->vms; vm && vm->handle != handle; vm = vm->next)
		;
	return vm;
}

/* Find a VM that EL2 has, or add it. Return the VM, or NULL if there are too many. */
struct leak_vm *leak_vm_get(struct page_leaks *leaks, uint32_t handle)
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

/* Free a VM that is gone, unless pages of it are missing. */
void leak_vm_put(struct leak_vm *vm)
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

bool leak_vm_call(struct page_leaks *leaks, const struct hyptrace_record *rec, struct leak_vm **vm)
{
	const struct hyptrace_meaning *call = leaks->call;
	const uint32_t arg = hyptrace_meaning_value(call, HYPTRACE_ROLE_ARG1, rec);
	const int64_t ret = hyptrace_meaning_value(call, HYPTRACE_ROLE_RESULT, rec);
	struct leak_vm *old;
	enum role role;

	*vm = NULL;
	role = role_named(hyptrace_meaning_name(call, hyptrace_meaning_key(call, rec)));
	if (role == ROLE_FOREIGN)
		return false;
	if (hyptrace_meaning_value(call, HYPTRACE_ROLE_INVALID, rec))
		return true;
	old = leak_vm_find(leaks, arg);
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
