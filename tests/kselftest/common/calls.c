// SPDX-License-Identifier: GPL-2.0-only
/* Hypercalls and SMCs that a test makes: see calls.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "calls.h"
#include "cpus.h"
#include "module.h"

/* Create a VM that EL2 knows. Return its descriptor or a negative errno. */
int calls_create_vm(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, vcpu, err;
	struct kvm_vcpu_init init;
	struct kvm_run *run;

	vm = ioctl(kvm, KVM_CREATE_VM, 0UL);
	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0UL);
	if (vcpu < 0 || ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init) ||
	    ioctl(vcpu, KVM_ARM_VCPU_INIT, &init))
		return -errno;
	run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0UL), PROT_READ | PROT_WRITE,
		   MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return -errno;
	/* KVM creates the VM at EL2 for the first run, which then executes nothing. */
	run->immediate_exit = 1;
	err = ioctl(vcpu, KVM_RUN, 0UL) && errno == EINTR ? 0 : -errno;
	munmap(run, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0UL));
	close(vcpu);
	close(kvm);
	return err ?: vm;
}

static int open_device(struct calls *calls, uint32_t vm_fd)
{
	calls->info.vm_fd = vm_fd;
	calls->fd = open(CALLS_DEVICE, O_RDWR | O_CLOEXEC);
	return calls->fd < 0 || ioctl(calls->fd, CALLS_INFO, &calls->info) ? -errno : 0;
}

static int load(void)
{
	int err = module_load("hyptrace_calls", "");

	/* others may use it at the same time */
	return err == -EEXIST ? 0 : err;
}

/* Load the module. Return 0 or a negative errno. */
int calls_open(struct calls *calls)
{
	int vm, err = load();

	if (err)
		return err;
	vm = calls_create_vm();
	if (vm < 0)
		return vm;
	err = open_device(calls, vm);
	close(vm);
	return err;
}

/* The same, but no VM lives on until calls_close(). */
int calls_open_without_vm(struct calls *calls)
{
	return load() ?: open_device(calls, CALLS_NO_VM);
}

/* Remove the module. Return 0 or a negative errno. */
int calls_close(struct calls *calls)
{
	close(calls->fd);
	return module_unload("hyptrace_calls");
}

/**
 * calls_make - make calls on this CPU
 * @calls:	the module
 * @list:	the calls, whose results are filled in
 * @nr:		number of calls, at most CALLS_BATCH
 *
 * Return: 0 or a negative errno.
 */
int calls_make(const struct calls *calls, struct calls_one *list, size_t nr)
{
	struct calls_make request = { .calls = (uintptr_t)list, .nr = nr };

	return ioctl(calls->fd, CALLS_MAKE, &request) ? -errno : 0;
}

/* Find a hypercall of this kernel; NULL if there is none of that name. */
const struct calls_known *calls_find(const struct calls *calls, const char *name)
{
	unsigned int i;

	for (i = 0; i < calls->info.nr_known; i++) {
		if (!strcmp(calls->info.known[i].name, name))
			return &calls->info.known[i];
	}
	return NULL;
}

/* Whether the host asks EL2 to map the pages of guests: since Linux 7, and on Android */
bool calls_for_guest_memory(const struct calls *calls)
{
	return calls_find(calls, "__pkvm_host_share_guest") ||
	       calls_find(calls, "__pkvm_host_map_guest");
}

/*
 * Whether EL2 takes the memory of VMs and vCPUs from a heap, for which it keeps pages of the host:
 * on Android
 */
bool calls_for_heap(const struct calls *calls)
{
	return calls_find(calls, "__pkvm_hyp_alloc_mgt_refill");
}

/* Return a hypercall to make; this kernel must have it. */
struct calls_one calls_hvc(const struct calls *calls, const char *name, uint64_t x1, uint64_t x2,
			   uint64_t x3)
{
	const struct calls_known *known = calls_find(calls, name);

	if (!known) {
		fprintf(stderr, "there is no hypercall %s\n", name);
		abort();
	}
	return (struct calls_one) {
		.x = { calls->info.base + known->number, x1, x2, x3 },
		.how = CALLS_HVC,
	};
}

/* Make two calls on a CPU, again and again. EL2 must return 0 for each. */
static int repeat(const struct calls *calls, unsigned int cpu, const struct calls_one pair[2],
		  unsigned int nr_batches)
{
	static struct calls_one list[CALLS_BATCH];
	unsigned int i, j;

	if (pin_to(cpu))
		return -1;
	for (i = 0; i < nr_batches; i++) {
		for (j = 0; j < CALLS_BATCH; j++)
			list[j] = pair[j % 2];
		if (calls_make(calls, list, CALLS_BATCH))
			return -1;
		for (j = 0; j < CALLS_BATCH; j++)
			if (list[j].ret[0] || list[j].ret[1])
				return -1;
	}
	return 0;
}

static int wait_for(unsigned int nr)
{
	int status, ret = 0;

	while (nr--)
		if (wait(&status) < 0 || status)
			ret = -1;
	return ret;
}

/*
 * Have the first CPUs share a page each with EL2 and take it back, at the same time and again and
 * again. Return 0, or -1 if EL2 has refused a call.
 */
int calls_share_on(const struct calls *calls, unsigned int nr_cpus, unsigned int nr_batches)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		const uint64_t pfn = calls->info.fresh_pfn + cpu;
		const struct calls_one pair[] = {
			calls_hvc(calls, "__pkvm_host_share_hyp", pfn, 0, 0),
			calls_hvc(calls, "__pkvm_host_unshare_hyp", pfn, 0, 0),
		};

		if (!fork())
			_exit(repeat(calls, cpu, pair, nr_batches) ? 1 : 0);
	}
	return wait_for(nr_cpus);
}

/* Have them make the same call, which must change nothing. */
int calls_repeat_on(const struct calls *calls, unsigned int nr_cpus, unsigned int nr_batches,
		    struct calls_one call)
{
	const struct calls_one pair[] = { call, call };
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (!fork())
			_exit(repeat(calls, cpu, pair, nr_batches) ? 1 : 0);
	return wait_for(nr_cpus);
}
