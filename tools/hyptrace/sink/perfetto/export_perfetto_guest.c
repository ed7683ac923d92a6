// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: virtual CPUs, and the time in their guests.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/die.h"
#include "export_perfetto.h"

/* More virtual CPUs than this share a track */
#define VCPUS_MAX	16384

/* Tracks of VMs have this and the handle, those of virtual CPUs the other one and 35 bits. */
#define UUID_OF_VM	(UINT64_C(1) << 32)
#define UUID_OF_VCPU	(UINT64_C(1) << 35)

/* Bytes of the name of a track */
#define NAME_SIZE	64

/*
 * A virtual CPU that was on several CPUs has the same number in all their parts. But a number of a
 * part's own if its VM is not known yet: then viewers join tracks of the same name.
 */
static uint64_t uuid_of(const struct perfetto *p, const struct perfetto_vcpu *vcpu)
{
	const uint64_t minor = vcpu->is_known ? (uint64_t)vcpu->handle << 32 | vcpu->index :
						~((uint64_t)p->nr_vcpus << 32 | p->index);
	const uint64_t hash = (uint64_t)map_hash(vcpu->pid, minor) << 3 |
			      (map_hash(minor, vcpu->pid) & 7);

	return perfetto_uuid(PERFETTO_GUESTS, UUID_OF_VCPU | hash);
}

static struct perfetto_vcpu *new_vcpu(struct perfetto *p, uint32_t pid, bool is_known,
				      uint32_t handle, uint32_t index)
{
	struct perfetto_vcpu *vcpu = xcalloc(1, sizeof(*vcpu));

	vcpu->pid = pid;
	vcpu->is_known = is_known;
	vcpu->handle = handle;
	vcpu->index = index;
	vcpu->nest.outer.uuid = uuid_of(p, vcpu);
	vcpu->nest.inner.uuid = vcpu->nest.outer.uuid;
	p->nr_vcpus++;
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
	struct map_entry *entry = map_find(&p->vcpus, pid, 0);
	struct perfetto_vcpu *first = entry ? entry->ptr : NULL, **at = &first, *vcpu;

	while ((vcpu = *at) && is_known && !is_vcpu(vcpu, handle, index))
		at = &vcpu->next;
	if (vcpu) {
		*at = vcpu->next;
	} else if (p->nr_vcpus < VCPUS_MAX) {
		vcpu = new_vcpu(p, pid, is_known, handle, index);
	} else {
		if (!p->other)
			p->other = new_vcpu(p, pid, is_known, handle, index);
		return p->other;
	}
	vcpu->next = first;
	if (!entry)
		entry = map_add(&p->vcpus, pid, 0);
	entry->ptr = vcpu;
	return vcpu;
}

struct perfetto_vcpu *perfetto_vcpu(struct perfetto *p, uint32_t pid, uint32_t handle,
				    uint32_t index)
{
	const struct map_entry *entry = map_find(&p->vcpus, pid, 0);
	struct perfetto_vcpu *vcpu = entry ? entry->ptr : NULL;

	if (!vcpu || !vcpu->is_known || vcpu->handle != handle || vcpu->index != index)
		vcpu = get_vcpu(p, pid, true, handle, index);
	if (!vcpu->is_known) {
		vcpu->is_known = true;
		vcpu->handle = handle;
		vcpu->index = index;
	}
	return vcpu;
}

/* The virtual CPU that a thread has used last */
struct perfetto_vcpu *perfetto_vcpu_of_thread(struct perfetto *p, uint32_t pid)
{
	return get_vcpu(p, pid, false, 0, 0);
}

void perfetto_guest_enter(struct perfetto *p, struct perfetto_vcpu *vcpu, uint64_t ts)
{
	perfetto_guest_close(p);
	p->entered = vcpu;
	p->entered_at = ts;
}

/* Write the slice of a guest whose exit is missing, up to the CPU's last event. */
void perfetto_guest_close(struct perfetto *p)
{
	struct perfetto_event event = {
		.begin = p->entered_at,
		.end = p->last,
		.text = "guest (exit not recorded)",
	};

	if (p->entered)
		perfetto_put_outer(p, &p->entered->nest, &event);
	p->entered = NULL;
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

static void end_vcpu(struct perfetto *p, struct perfetto_vcpu *vcpu)
{
	if (vcpu->nest.outer.sequence || vcpu->nest.inner.sequence)
		describe(p, vcpu);
	free(vcpu->nest.outer.known);
	free(vcpu->nest.inner.known);
	free(vcpu);
}

/* Name the tracks, after the last event: a later one can say to which VM a thread belongs. */
void perfetto_guest_end(struct perfetto *p)
{
	struct perfetto_vcpu *vcpu, *next;
	struct map_entry *entry = NULL;

	perfetto_guest_close(p);
	while ((entry = map_next(&p->vcpus, entry))) {
		for (vcpu = entry->ptr; vcpu; vcpu = next) {
			next = vcpu->next;
			end_vcpu(p, vcpu);
		}
	}
	if (p->other)
		end_vcpu(p, p->other);
	map_free(&p->vcpus);
}
