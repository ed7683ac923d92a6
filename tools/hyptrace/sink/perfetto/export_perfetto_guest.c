// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: virtual CPUs, and the time in their guests. For export_perfetto.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/die.h"
#include "export_perfetto.h"

/* More virtual CPUs than this share a track */
#define VCPUS_MAX	65536

/* Tracks of VMs have this and the handle, those of virtual CPUs smaller numbers. */
#define UUID_OF_VM	(UINT64_C(1) << 32)

/* Bytes of the name of a track */
#define NAME_SIZE	64

static struct perfetto_vcpu **get_bucket(struct perfetto *p, uint32_t pid)
{
	return &p->vcpus[pid % PERFETTO_VCPU_BUCKETS];
}

static struct perfetto_vcpu *new_vcpu(struct perfetto *p, uint32_t pid)
{
	struct perfetto_vcpu *vcpu = calloc(1, sizeof(*vcpu));

	if (!vcpu)
		die_no_memory();
	vcpu->pid = pid;
	vcpu->nest.outer.uuid = perfetto_uuid(PERFETTO_GUESTS, ++p->nr_vcpus);
	vcpu->nest.inner.uuid = vcpu->nest.outer.uuid;
	return vcpu;
}

static bool is_vcpu(const struct perfetto_vcpu *vcpu, uint32_t handle, uint32_t index)
{
	return !vcpu->is_known || (vcpu->handle == handle && vcpu->index == index);
}

/* Find the last used virtual CPU of a thread, that of a VM if @is_known; or make it. */
static struct perfetto_vcpu *get_vcpu(struct perfetto *p, uint32_t pid, bool is_known,
				      uint32_t handle, uint32_t index)
{
	struct perfetto_vcpu **bucket = get_bucket(p, pid), **at = bucket, *vcpu;

	while ((vcpu = *at) && (vcpu->pid != pid || (is_known && !is_vcpu(vcpu, handle, index))))
		at = &vcpu->next;
	if (vcpu)
		*at = vcpu->next;
	else if (p->nr_vcpus < VCPUS_MAX)
		vcpu = new_vcpu(p, pid);
	else
		return p->vcpus[0] ? p->vcpus[0] : (p->vcpus[0] = new_vcpu(p, pid));
	vcpu->next = *bucket;
	*bucket = vcpu;
	return vcpu;
}

/**
 * perfetto_vcpu - get a virtual CPU
 * @p:		the export
 * @pid:	its thread
 * @handle:	its VM
 * @index:	its number in the VM
 *
 * Return: the virtual CPU.
 */
struct perfetto_vcpu *perfetto_vcpu(struct perfetto *p, uint32_t pid, uint32_t handle,
				    uint32_t index)
{
	struct perfetto_vcpu *vcpu = *get_bucket(p, pid);

	if (!vcpu || vcpu->pid != pid || !vcpu->is_known || vcpu->handle != handle ||
	    vcpu->index != index)
		vcpu = get_vcpu(p, pid, true, handle, index);
	if (!vcpu->is_known) {
		vcpu->is_known = true;
		vcpu->handle = handle;
		vcpu->index = index;
	}
	return vcpu;
}

/**
 * perfetto_vcpu_of_thread - get the virtual CPU that a thread has used last
 * @p:		the export
 * @pid:	the thread
 *
 * Return: the virtual CPU.
 */
struct perfetto_vcpu *perfetto_vcpu_of_thread(struct perfetto *p, uint32_t pid)
{
	return get_vcpu(p, pid, false, 0, 0);
}

/**
 * perfetto_guest_enter - a CPU enters a guest
 * @p:		the export
 * @cpu:	the CPU
 * @vcpu:	the virtual CPU
 * @ts:		the time
 */
void perfetto_guest_enter(struct perfetto *p, struct perfetto_cpu *cpu,
			  struct perfetto_vcpu *vcpu, uint64_t ts)
{
	perfetto_guest_close(p, cpu);
	cpu->entered = vcpu;
	cpu->entered_at = ts;
}

/**
 * perfetto_guest_close - write the slice of a guest whose exit is missing, up to the CPU's last
 *			  event
 * @p:		the export
 * @cpu:	the CPU
 */
void perfetto_guest_close(struct perfetto *p, struct perfetto_cpu *cpu)
{
	struct perfetto_event event = {
		.begin = cpu->entered_at,
		.end = cpu->last,
		.text = "guest (exit not recorded)",
	};

	if (cpu->entered)
		perfetto_put_outer(p, &cpu->entered->nest, &event);
	cpu->entered = NULL;
}

static void describe(struct perfetto *p, const struct perfetto_vcpu *vcpu)
{
	const uint64_t parent = perfetto_group(p, PERFETTO_GUESTS);
	const uint64_t vm = perfetto_uuid(PERFETTO_GUESTS, UUID_OF_VM | vcpu->handle);
	char name[NAME_SIZE];

	if (!vcpu->is_known) {
		snprintf(name, sizeof(name), "vCPU (thread %" PRIu32 ")", vcpu->pid);
		perfetto_describe(p, vcpu->nest.outer.uuid, parent, name);
		return;
	}
	/* several descriptions of a track are no error */
	snprintf(name, sizeof(name), "VM 0x%" PRIx32, vcpu->handle);
	perfetto_describe(p, vm, parent, name);
	snprintf(name, sizeof(name), "vCPU %" PRIu32 " (thread %" PRIu32 ")", vcpu->index,
		 vcpu->pid);
	perfetto_describe(p, vcpu->nest.outer.uuid, vm, name);
}

/**
 * perfetto_guest_describe - name the tracks of the virtual CPUs, after the last event
 * @p:		the export
 *
 * Not before: an event that comes later can say to which VM a thread belongs.
 */
void perfetto_guest_describe(struct perfetto *p)
{
	const struct perfetto_vcpu *vcpu;
	unsigned int i;

	for (i = 0; i < PERFETTO_VCPU_BUCKETS; i++)
		for (vcpu = p->vcpus[i]; vcpu; vcpu = vcpu->next)
			if (vcpu->nest.outer.sequence || vcpu->nest.inner.sequence)
				describe(p, vcpu);
}

/**
 * perfetto_guest_free - free the virtual CPUs
 * @p:		the export
 */
void perfetto_guest_free(struct perfetto *p)
{
	struct perfetto_vcpu *vcpu;
	unsigned int i;

	for (i = 0; i < PERFETTO_VCPU_BUCKETS; i++) {
		while ((vcpu = p->vcpus[i])) {
			p->vcpus[i] = vcpu->next;
			free(vcpu->nest.outer.known);
			free(vcpu->nest.inner.known);
			free(vcpu);
		}
	}
}
