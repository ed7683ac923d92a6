// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace -p: which calls belong to a VM. An exit names the thread of its vCPU. A call of
 * the host belongs to the VM if vcpu_load, vcpu_put and guest_exit say that a vCPU of the VM was
 * loaded on its CPU, or has exited there, while it ran.
 */
#include <glob.h>
#include <poll.h>
#include <sys/syscall.h>

#include "output/clock.h"
#include "output/die.h"
#include "strace.h"

/* Ids of threads are lower. */
#define THREAD_MAX	INT32_MAX

/* A thread of another process is looked up again after so many ns: its id may be used again. */
#define LOOKUP_TIME	NSEC_PER_SEC

struct on_cpu {
	bool		is_chosen;	/* it is loaded, and one of a chosen VM */
	uint64_t	last;		/* when one of a chosen VM was last seen there; or 0 */
};

struct thread {
	struct strace_vm_target	*process;	/* whose thread it is, or NULL */
	struct strace_vm_target	*vm;		/* whose vCPU it runs, or NULL */
	uint64_t		looked_up;	/* when, by the events' clock; or 0 */
};

/* Add an argument of -p: a process, or the handle of a VM in hexadecimal; else return false. */
bool strace_vms_add(struct strace_vms *vms, const char *arg)
{
	struct strace_vm_target target = { .pidfd = -1 };
	unsigned int i;
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	target.is_handle = !strncmp(arg, "0x", 2);
	errno = 0;
	target.value = strtoull(arg, &end, target.is_handle ? 16 : 10);
	if (errno || *end || !target.value || target.value > (target.is_handle ? UINT32_MAX :
							      THREAD_MAX))
		return false;
	for (i = 0; i < vms->nr; i++)
		if (vms->targets[i].is_handle == target.is_handle &&
		    vms->targets[i].value == target.value)
			return true;
	*xappend(vms->targets, vms->nr) = target;
	return true;
}

int strace_vms_open(struct strace_vms *vms)
{
	struct strace_vm_target *target;
	struct thread *thread;
	char pattern[64];
	glob_t found;
	uint64_t id;
	size_t i;

	vms->is_live = true;
	for (target = vms->targets; target < vms->targets + vms->nr; target++) {
		if (target->is_handle)
			continue;
		target->pidfd = syscall(SYS_pidfd_open, (pid_t)target->value, 0);
		if (target->pidfd < 0)
			return cmd_fail("there is no process %" PRIu64 ": -p takes the process that runs the VM, or the handle of the VM, such as 0x1000",
					target->value);
		/* remember its threads: they may end before their last events are read */
		snprintf(pattern, sizeof(pattern), "/proc/%" PRIu64 "/task/*", target->value);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (i = 0; i < found.gl_pathc; i++) {
			id = strtoull(strrchr(found.gl_pathv[i], '/') + 1, NULL, 10);
			thread = map_get(&vms->threads, id, 0, sizeof(*thread));
			thread->process = target;
		}
		globfree(&found);
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

/* Is a thread that of a vCPU of a chosen VM? @handle is 0 if the event does not say it. */
static bool is_chosen(struct strace_vms *vms, uint64_t id, uint64_t handle, uint64_t ts)
{
	struct thread *thread = map_get(&vms->threads, id, 0, sizeof(*thread));
	const bool looks_up = !thread->process &&
			      (!thread->looked_up ||
			       (vms->is_live && ts - thread->looked_up >= LOOKUP_TIME));
	unsigned int i;
	char path[64];

	if (looks_up)
		thread->looked_up = ts;
	if (handle)
		thread->vm = NULL;
	for (i = 0; i < vms->nr; i++) {
		struct strace_vm_target *target = &vms->targets[i];

		if (looks_up && !target->is_handle) {
			snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64,
				 target->value, id);
			if (vms->is_live ? !access(path, F_OK) : target->value == id)
				thread->process = target;
		}
		if (handle && target->is_handle && target->value == handle)
			thread->vm = target;
	}
	if (thread->process)
		thread->process->was_seen = true;
	if (thread->vm)
		thread->vm->was_seen = true;
	return thread->process || thread->vm;
}

/* Learn from an event which vCPU is on a CPU, before strace_vms_accept() of the same event. */
void strace_vms_note(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		     unsigned int cpu, const struct hyptrace_record *rec)
{
	const uint64_t handle = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec);
	const enum hyptrace_kind kind = meaning->kind;
	struct on_cpu *on = map_get(&vms->cpus, cpu, 0, sizeof(*on));
	bool chosen;

	if (rec->lost)
		*on = (struct on_cpu){};
	if (!(STRACE_WITNESSES & HYPTRACE_KIND_BIT(kind)) ||
	    !hyptrace_meaning_has(meaning, HYPTRACE_ROLE_VCPU))
		return;
	chosen = is_chosen(vms, hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VCPU, rec), handle,
			   rec->ts);
	/* without pKVM the handle is 0, and nothing says when the vCPU is put */
	on->is_chosen = chosen && handle && kind != HYPTRACE_KIND_VCPU_PUT;
	if (chosen)
		on->last = rec->ts;
}

bool strace_vms_accept(struct strace_vms *vms, const struct hyptrace_meaning *meaning,
		       unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct on_cpu *on = map_get(&vms->cpus, cpu, 0, sizeof(*on));

	if (hyptrace_meaning_has(meaning, HYPTRACE_ROLE_VCPU))
		return is_chosen(vms, hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VCPU, rec),
				 hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec), rec->ts);
	if (on->is_chosen)
		return true;
	return on->last &&
	       on->last >= rec->ts - hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION, rec);
}

/* Say which VMs have no vCPU among the events of @of. */
void strace_vms_end(const struct strace_vms *vms, const char *of)
{
	unsigned int i;

	for (i = 0; i < vms->nr; i++) {
		const struct strace_vm_target *target = &vms->targets[i];

		if (target->was_seen)
			continue;
		cmd_note(target->is_handle ?
			 "\"%s\" has no call of the VM 0x%" PRIx64 ": none of its vCPUs has run" :
			 vms->is_live ?
			 "\"%s\" has no call of the process %" PRIu64 ": it has run no vCPU" :
			 "\"%s\" has no call of the thread %" PRIu64 ": use that of a vCPU, as in \"vcpu=7\", or the handle of a VM",
			 of, target->value);
	}
}

void strace_vms_free(struct strace_vms *vms)
{
	unsigned int i;

	for (i = 0; i < vms->nr; i++)
		if (vms->targets[i].pidfd >= 0)
			close(vms->targets[i].pidfd);
	map_free_values(&vms->threads);
	map_free_values(&vms->cpus);
	free(vms->targets);
}
