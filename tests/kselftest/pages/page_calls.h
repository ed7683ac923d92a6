/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random hypercalls that share pages of the module hyptrace_calls with EL2, take them back, and
 * donate them to EL2 for a VM that is created and torn down: see page_calls.c.
 */
#ifndef __PAGE_CALLS_H
#define __PAGE_CALLS_H

#include <stdbool.h>

#include "calls.h"

enum page_vm_state { PAGE_VM_NONE, PAGE_VM_CREATED, PAGE_VM_DYING };

/**
 * struct page_calls - the calls so far
 * @calls:	the module
 * @only_shares: EL2 does not take pages of its caller for a VM, but those of a heap
 * @two_steps:	a teardown takes two hypercalls, and a handle must be reserved: since Linux 7
 * @vm:		what has become of the VM
 * @handle:	its handle
 * @has_vcpu:	it has its vCPU
 * @nr:		number of hypercalls
 * @shares:	pages that were shared
 * @unshares:	pages that were taken back
 * @vms:	VMs that were created
 * @vcpus:	vCPUs that were created
 * @teardowns:	VMs that were torn down
 */
struct page_calls {
	const struct calls	*calls;
	bool			only_shares;
	bool			two_steps;
	enum page_vm_state	vm;
	uint64_t		handle;
	bool			has_vcpu;
	unsigned int		nr;
	unsigned int		shares, unshares;
	unsigned int		vms, vcpus, teardowns;
};

int page_calls_begin(struct page_calls *pages, const struct calls *calls);
int page_calls_step(struct page_calls *pages);
int page_calls_end(struct page_calls *pages);
int page_calls_share(struct page_calls *pages, unsigned int page, bool share);

#endif /* __PAGE_CALLS_H */
