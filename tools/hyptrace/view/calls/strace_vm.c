// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace -p: which calls belong to a VM.
 *
 * An exit names the thread of its vCPU. A call of the host does not: it belongs to the VM if a vCPU
 * of the VM was loaded on its CPU, or has exited there, while it ran. vcpu_load, vcpu_put and
 * guest_exit say so.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "strace_vm.h"

/* Ids of threads are lower. */
#define THREAD_MAX	INT32_MAX

/* A thread of another process is looked up again after so many ns: its id may be used again. */
#define FORGET_TIME	NSEC_PER_SEC

struct strace_vm_cpu {
	bool		is_loaded;	/* a vCPU is loaded, ... */
	bool		is_chosen;	/* and is one of a chosen VM */
	bool		was_chosen;	/* a vCPU of a chosen VM was there, ... */
	uint64_t	last;		/* and was last seen then */
};

struct strace_vm_thread {
	uint64_t	id;
	bool		is_of_process;	/* of a process that -p names */
	bool		is_of_vm;	/* of a vCPU of a VM whose handle -p names */
};

/* Add an argument of -p: a process, or the handle of a VM in hexadecimal; else return false. */
bool strace_vms_add(struct strace_vms *vms, const char *arg)
{
	struct strace_vm_target target = { .pidfd = -1 };
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	target.is_handle = !strncmp(arg, "0x", 2);
	errno = 0;
	target.value = strtoull(arg, &end, target.is_handle ? 16 : 10);
	if (errno || *end || !target.value || target.value > (target.is_handle ? UINT32_MAX :
							      THREAD_MAX))
		return false;
	vms->targets = reallocarray(vms->targets, vms->nr + 1, sizeof(*vms->targets));
	if (!vms->targets)
		die_no_memory();
	vms->targets[vms->nr++] = target;
	return true;
}

static struct strace_vm_thread *remember(struct strace_vms *vms, uint64_t id, bool is_of_process)
{
	struct strace_vm_thread *thread;

	vms->threads = reallocarray(vms->threads, vms->nr_threads + 1, sizeof(*vms->threads));
	if (!vms->threads)
		die_no_memory();
	thread = &vms->threads[vms->nr_threads++];
	*thread = (struct strace_vm_thread){ .id = id, .is_of_process = is_of_process };
	return thread;
}

/* Remember the threads that a process has: they may end before their last events are read. */
static int list_threads(struct strace_vms *vms, uint64_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%llu/task", (unsigned long long)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	for (entry = readdir(dir); entry; entry = readdir(dir))
		if (entry->d_name[0] != '.')
			remember(vms, strtoull(entry->d_name, NULL, 10), true);
	closedir(dir);
	return 0;
}

/* Find the processes of the VMs. Return an exit code. */
int strace_vms_open(struct strace_vms *vms)
{
	unsigned int i;

	vms->is_live = true;
	for (i = 0; i < vms->nr; i++) {
		struct strace_vm_target *target = &vms->targets[i];

		if (target->is_handle)
			continue;
		target->pidfd = syscall(SYS_pidfd_open, (pid_t)target->value, 0);
		if (target->pidfd < 0 || list_threads(vms, target->value))
			return cmd_fail("there is no process %llu: -p takes the process that runs the VM, or the handle of the VM, such as 0x1000",
					(unsigned long long)target->value);
	}
	return EXIT_DONE;
}

/* Have all processes of the VMs ended? Not if a VM was named by its handle. */
bool strace_vms_have_ended(const struct strace_vms *vms)
{
	unsigned int i;

	for (i = 0; i < vms->nr; i++) {
		struct pollfd fd = { .fd = vms->targets[i].pidfd, .events = POLLIN };

		if (fd.fd < 0 || poll(&fd, 1, 0) <= 0)
			return false;
	}
	return vms->nr;
}

static bool is_thread_of(const struct strace_vm_target *target, uint64_t id, bool is_live)
{
	char path[64];

	if (!is_live)
		return target->value == id;
	snprintf(path, sizeof(path), "/proc/%llu/task/%llu", (unsigned long long)target->value,
		 (unsigned long long)id);
	return !access(path, F_OK);
}

/* Forget the threads that are not chosen. */
static void forget_others(struct strace_vms *vms, uint64_t ts)
{
	unsigned int i, nr = 0;

	if (ts - vms->forgotten < FORGET_TIME)
		return;
	vms->forgotten = ts;
	for (i = 0; i < vms->nr_threads; i++)
		if (vms->threads[i].is_of_process || vms->threads[i].is_of_vm)
			vms->threads[nr++] = vms->threads[i];
	vms->nr_threads = nr;
}

static struct strace_vm_thread *find_thread(struct strace_vms *vms, uint64_t id)
{
	bool is_of_process = false;
	unsigned int i;

	for (i = 0; i < vms->nr_threads; i++)
		if (vms->threads[i].id == id)
			return &vms->threads[i];
	for (i = 0; i < vms->nr; i++)
		if (!vms->targets[i].is_handle &&
		    is_thread_of(&vms->targets[i], id, vms->is_live))
			is_of_process = true;
	return remember(vms, id, is_of_process);
}

/* Is a thread that of a vCPU of a chosen VM? @handle is 0 if the event does not say it. */
static bool is_chosen(struct strace_vms *vms, uint64_t id, uint64_t handle, uint64_t ts)
{
	struct strace_vm_thread *thread;
	unsigned int i;

	forget_others(vms, ts);
	thread = find_thread(vms, id);
	if (handle)
		thread->is_of_vm = false;
	for (i = 0; i < vms->nr && handle; i++)
		if (vms->targets[i].is_handle && vms->targets[i].value == handle)
			thread->is_of_vm = true;
	return thread->is_of_process || thread->is_of_vm;
}

static struct strace_vm_cpu *cpu_of(struct strace_vms *vms, unsigned int cpu)
{
	if (cpu < vms->nr_cpus)
		return &vms->cpus[cpu];
	vms->cpus = reallocarray(vms->cpus, cpu + 1, sizeof(*vms->cpus));
	if (!vms->cpus)
		die_no_memory();
	memset(vms->cpus + vms->nr_cpus, 0, (cpu + 1 - vms->nr_cpus) * sizeof(*vms->cpus));
	vms->nr_cpus = cpu + 1;
	return &vms->cpus[cpu];
}

/* Learn from an event which vCPU is on a CPU, before strace_vms_accept() of the same event. */
void strace_vms_note(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		     unsigned int cpu, const struct hyptrace_record *rec)
{
	const uint64_t handle = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec);
	const enum hyptrace_kind kind = meaning->kind;
	struct strace_vm_cpu *on = cpu_of(vms, cpu);
	bool chosen;

	if ((kind != HYPTRACE_KIND_VCPU_LOAD && kind != HYPTRACE_KIND_VCPU_PUT &&
	     kind != HYPTRACE_KIND_GUEST_EXIT) ||
	    !hyptrace_meaning_has(meaning, HYPTRACE_ROLE_VCPU))
		return;
	chosen = is_chosen(vms, hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VCPU, rec), handle,
			   rec->ts);
	/* without pKVM the handle is 0, and nothing says when the vCPU is put */
	on->is_loaded = handle && kind != HYPTRACE_KIND_VCPU_PUT;
	on->is_chosen = on->is_loaded && chosen;
	if (chosen) {
		on->was_chosen = true;
		on->last = rec->ts;
	}
}

bool strace_vms_accept(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		       unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct strace_vm_cpu *on = cpu_of(vms, cpu);

	if (hyptrace_meaning_has(meaning, HYPTRACE_ROLE_VCPU))
		return is_chosen(vms, hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VCPU, rec),
				 hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec), rec->ts);
	if (on->is_loaded && on->is_chosen)
		return true;
	return on->was_chosen &&
	       on->last >= rec->ts - hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION, rec);
}

/* Forget which vCPU is on a CPU, after a loss. */
void strace_vms_lost(struct strace_vms *vms, unsigned int cpu)
{
	*cpu_of(vms, cpu) = (struct strace_vm_cpu){};
}

void strace_vms_free(struct strace_vms *vms)
{
	unsigned int i;

	for (i = 0; i < vms->nr; i++)
		if (vms->targets[i].pidfd >= 0)
			close(vms->targets[i].pidfd);
	free(vms->targets);
	free(vms->cpus);
	free(vms->threads);
}
