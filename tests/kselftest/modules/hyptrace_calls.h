/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/hyptrace_calls, of the test module hyptrace_calls: calls of EL2 that a test chooses,
 * and their results. Included by the module and by the tests.
 */
#ifndef __HYPTRACE_CALLS_H
#define __HYPTRACE_CALLS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLS_DEVICE	"/dev/hyptrace_calls"

/* At most this many calls are made with interrupts off. */
#define CALLS_BATCH	256

/* Pages that the module shares with EL2, and pages that it leaves alone for the tests */
#define CALLS_FRESH_PAGES	64

/* The VMID in the host's struct of the VM whose stage 2 some calls use */
#define CALLS_VMID		0x5e

/* Instead of the descriptor of a VM: no call that uses a stage 2 must be made. */
#define CALLS_NO_VM		(~0U)

enum calls_how {
	CALLS_HVC,
	CALLS_SMC,
	CALLS_READ,	/* no call: read the word at the kernel's address x1; x0 returns an errno */
	CALLS_SET_HANDLE, /* no call: the VM of struct calls_info has the handle x1 */
};

/**
 * struct calls_one - a call and its log
 * @x:		registers x0 to x4 as passed
 * @ret:	x0 and x1 as returned
 * @cycles:	of the physical counter, around the call
 * @cpu:	where it was made
 * @how:	enum calls_how
 */
struct calls_one {
	__u64 x[5];
	__u64 ret[2];
	__u64 cycles;
	__u32 cpu;
	__u32 how;
};

/* CALLS_MAKE: make calls one after another on this CPU, with interrupts off. */
struct calls_make {
	__u64 calls;
	__u32 nr;
	__u32 reserved;
};

/* Properties of a hypercall */
#define CALLS_REFUSED	(1U << 0)	/* EL2 refuses it, since pKVM is initialised */
#define CALLS_OWN	(1U << 1)	/* __hyptrace(), which leaves no event */
#define CALLS_UNSAFE	(1U << 2)	/* must not be made: see the module */
#define CALLS_RESERVES	(1U << 3)	/* returns a handle, for __pkvm_unreserve_vm() */
#define CALLS_UNKNOWN	(1U << 4)	/* the module does not know how to call it */

/**
 * struct calls_known - a hypercall of this kernel
 * @name:	its name
 * @number:	its number
 * @flags:	CALLS_REFUSED and so on
 * @random:	bit per register, x1 being bit 1, that may have any value
 * @x:		x1 to x4 for a call without effect, in [1] to [4]
 */
struct calls_known {
	char name[48];
	__u32 number;
	__u32 flags;
	__u32 random;
	__u32 reserved;
	__u64 x[5];
};

#define CALLS_MAX_KNOWN	96

/**
 * struct calls_info - what the tests need to know of this kernel
 * @vm_fd:	from the caller: a VM that has been run, whose stage 2 some calls use, or
 *		CALLS_NO_VM
 * @base:	the function id of hypercall 0
 * @hints:	bits of a function id that EL2 ignores
 * @rate:	of the counter, in Hz
 * @fresh:	address of CALLS_FRESH_PAGES pages, which the host alone owns
 * @fresh_pfn:	number of the first of them
 * @vm:		address of a struct kvm for __pkvm_init_vm(), with one vCPU; KVM does not know it
 * @vcpu:	address of its struct kvm_vcpu
 * @nr_known:	entries in @known: all hypercalls, with numbers from 0 on
 */
struct calls_info {
	__u32 vm_fd;
	__u32 nr_known;
	__u64 base;
	__u64 hints;
	__u64 rate;
	__u64 fresh;
	__u64 fresh_pfn;
	__u64 vm;
	__u64 vcpu;
	struct calls_known known[CALLS_MAX_KNOWN];
};

#define CALLS_MAKE	_IOW('c', 1, struct calls_make)
/* Once per descriptor: fills in a struct calls_info, too large for the size in the number. */
#define CALLS_INFO	_IO('c', 2)
/* from an address of the caller to the number of its page */
#define CALLS_PFN	_IOWR('c', 3, __u64)

#endif /* __HYPTRACE_CALLS_H */
