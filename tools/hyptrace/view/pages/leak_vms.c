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
#include "page_leaks.h"

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

/**
 * leak_vm_knows_teardown - can the replay see when a VM is gone?
 * @leaks:	the replay
 *
 * Return: true if the events have a name for the hypercall.
 */
bool leak_vm_knows_teardown(const struct page_leaks *leaks)
{
	const struct hyptrace_field *id = leaks->call_fields[LEAK_CALL_ID];
	unsigned int i;

	for (i = 0; id && i < id->nr_symbols; i++)
		if (role_named(id->symbols[i]->name) == ROLE_TEARDOWN)
			return true;
	return false;
}

/**
 * leak_vm_find - find a VM that is not gone
 * @leaks:	the replay
 * @handle:	its handle
 *
 * Return: the VM or NULL.
 */
struct leak_vm *leak_vm_find(const struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm;

	for (vm = leaks->vms; vm && vm->handle != handle; vm = vm->next)
		;
	return vm;
}

/**
 * leak_vm_get - find a VM that is not gone, or add it
 * @leaks:	the replay
 * @handle:	its handle
 *
 * Return: the VM, or NULL if there are too many.
 */
struct leak_vm *leak_vm_get(struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm = leak_vm_find(leaks, handle);

	if (vm)
		return vm;
	if (leaks->nr_vms == PAGE_LEAKS_MAX_VMS) {
		leaks->too_many_vms++;
		return NULL;
	}
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		die_no_memory();
	*vm = (struct leak_vm){ .next = leaks->vms, .handle = handle, .has_run = true };
	leaks->vms = vm;
	leaks->nr_vms++;
	return vm;
}

/**
 * leak_vm_put - free a VM that is gone, unless pages of it are missing
 * @vm:		the VM
 */
void leak_vm_put(struct leak_vm *vm)
{
	if (vm->state == LEAK_VM_IS_GONE && !vm->takes)
		free(vm);
}

/* Remove a VM from those that live. */
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

/* The teardown of a VM is over. */
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

/* A reserved handle that was not used is given back: there was no VM. */
static void unreserve(struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm = leak_vm_find(leaks, handle);

	if (vm && !vm->has_run)
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

/* EL2 has a VM with this handle. */
static struct leak_vm *run(struct page_leaks *leaks, uint32_t handle)
{
	struct leak_vm *vm = leak_vm_get(leaks, handle);

	if (vm)
		vm->has_run = true;
	return vm;
}

/**
 * leak_vm_call - follow a hypercall
 * @leaks:	the replay
 * @rec:	its event
 * @vm:		out: the VM that has taken the pages of the hypercall, or NULL if it does not say
 *
 * Return: false if the hypercall takes pages, but not for VMs.
 */
bool leak_vm_call(struct page_leaks *leaks, const struct hyptrace_record *rec, struct leak_vm **vm)
{
	const uint64_t id = leak_call_value(leaks, LEAK_CALL_ID, rec);
	const int64_t ret = leak_call_value(leaks, LEAK_CALL_RET, rec);
	const uint32_t arg = leak_call_value(leaks, LEAK_CALL_ARG, rec);
	enum role role;

	*vm = NULL;
	role = role_named(hyptrace_symbol_name(leaks->call_fields[LEAK_CALL_ID], id));
	if (role == ROLE_FOREIGN)
		return false;
	if (leak_call_value(leaks, LEAK_CALL_INVALID, rec))
		return true;
	if (role == ROLE_UNRESERVE)
		unreserve(leaks, arg);
	else if (role == ROLE_RESERVE && ret > 0)
		begin(leaks, ret, rec->ts, false);
	else if (role == ROLE_INIT && ret > 0)
		*vm = begin(leaks, ret, rec->ts, true);
	else if (role == ROLE_INIT_VCPU && !ret)
		*vm = run(leaks, arg);
	else if (role == ROLE_TEARDOWN && !ret)
		tear_down(leaks, arg, rec->ts);
	else if (role == ROLE_BEGIN_TEARDOWN && !ret && run(leaks, arg))
		leak_vm_find(leaks, arg)->state = LEAK_VM_IS_TORN_DOWN;
	return true;
}
