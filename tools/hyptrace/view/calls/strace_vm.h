/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace -p: which calls belong to a VM.
 */
#ifndef STRACE_VM_H
#define STRACE_VM_H

#include <sys/types.h>

#include "strace.h"

struct strace_vm_cpu;
struct strace_vm_thread;

/* An argument of -p */
struct strace_vm_target {
	bool		is_handle;	/* it is the handle of a VM at EL2 */
	uint64_t	value;		/* handle, or id of a process or of a vCPU's thread */
	int		pidfd;		/* readable once the process has ended; or -1 */
};

struct strace_vms {
	struct strace_vm_target	*targets;
	unsigned int		nr;
	bool			is_live;	/* the processes exist now: look up their threads */
	struct strace_vm_cpu	*cpus;		/* the vCPUs on each CPU */
	unsigned int		nr_cpus;
	struct strace_vm_thread	*threads;	/* that were looked up */
	unsigned int		nr_threads;
	uint64_t		forgotten;	/* when others were, by the events' clock */
};

bool strace_vms_add(struct strace_vms *vms, const char *arg);
int strace_vms_open(struct strace_vms *vms);
bool strace_vms_have_ended(const struct strace_vms *vms);
bool strace_vms_accept(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		       unsigned int cpu, const struct hyptrace_record *rec);
void strace_vms_note(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		     unsigned int cpu, const struct hyptrace_record *rec);
void strace_vms_lost(struct strace_vms *vms, unsigned int cpu);
void strace_vms_free(struct strace_vms *vms);

#endif /* STRACE_VM_H */
