/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace -p: which calls belong to a VM. For cmd_strace.c.
 */
#ifndef STRACE_VM_H
#define STRACE_VM_H

#include <sys/types.h>

#include "strace.h"

struct strace_vm_cpu;
struct strace_vm_thread;

/**
 * struct strace_vm_target - an argument of -p
 * @is_handle:	it is the handle of a VM at EL2
 * @value:	the handle, or the id of a process or of a vCPU's thread
 * @pidfd:	readable once the process has ended; -1 if there is none
 */
struct strace_vm_target {
	bool		is_handle;
	uint64_t	value;
	int		pidfd;
};

/**
 * struct strace_vms - the VMs whose calls are printed
 * @targets:	the arguments of -p
 * @nr:		number of @targets
 * @is_live:	the processes of the VMs exist now: their threads are looked up
 * @cpus:	the vCPUs on each CPU
 * @nr_cpus:	number of @cpus
 * @threads:	threads that were looked up
 * @nr_threads:	number of @threads
 * @forgotten:	when threads of other processes were last forgotten, by the events' clock
 */
struct strace_vms {
	struct strace_vm_target	*targets;
	unsigned int		nr;
	bool			is_live;
	struct strace_vm_cpu	*cpus;
	unsigned int		nr_cpus;
	struct strace_vm_thread	*threads;
	unsigned int		nr_threads;
	uint64_t		forgotten;
};

bool strace_vms_add(struct strace_vms *vms, const char *arg);
int strace_vms_open(struct strace_vms *vms);
bool strace_vms_have_ended(const struct strace_vms *vms);
bool strace_vms_accept(struct strace_vms *vms, const struct strace_events *events,
		       const struct strace_call *call);
void strace_vms_note(struct strace_vms *vms, const struct strace_events *events, unsigned int cpu,
		     const struct hyptrace_record *rec);
void strace_vms_lost(struct strace_vms *vms, unsigned int cpu);
void strace_vms_free(struct strace_vms *vms);

#endif /* STRACE_VM_H */
