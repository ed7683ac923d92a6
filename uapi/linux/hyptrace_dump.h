/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What a reader of a dump of the machine's memory finds of hyptrace: one page that describes all
 * remotes and their rings. It needs neither the kernel's image nor debug information.
 *
 * VMCOREINFO names the page by its physical address, as HYPTRACE_DUMP_KEY=address in hexadecimal,
 * if hyptrace is built in: a module cannot add to VMCOREINFO. Else look for the magic at the
 * beginning of each page. What a boot has left in memory that outlives a reset begins with it:
 * there each sub-buffer ends with struct hyptrace_seal.
 *
 * All addresses are physical, all numbers have the byte order of the machine. A sum is the CRC-32
 * of zlib over what is said, in which the field sum is 0.
 */
#ifndef _UAPI_LINUX_HYPTRACE_DUMP_H
#define _UAPI_LINUX_HYPTRACE_DUMP_H

#include <linux/types.h>

#include <linux/hyptrace_netlink.h>

#define HYPTRACE_DUMP_KEY	"HYPTRACE"
/* 16 bytes, the NUL included. The number is the version of all structs here. */
#define HYPTRACE_DUMP_MAGIC	"hyptrace dump 3"

#define HYPTRACE_DUMP_REMOTES	8

/**
 * struct hyptrace_dump_list - a list of addresses: a page of it
 * @next:	address of the next page of the list, 0 at the end
 * @sum:	of the page
 * @nr:		number of addresses in this page
 * @cpu:	of a ring: its CPU
 * @reserved:	0
 * @at:		the addresses
 */
struct hyptrace_dump_list {
	__u64	next;
	__u32	sum;
	__u32	nr;
	__u32	cpu;
	__u32	reserved;
	__u64	at[];
};

/* What the list of a ring begins with; the sub-buffers follow, in the order of their ids. */
enum {
	HYPTRACE_DUMP_COUNTS,	/* the page with the writer's counters */
	HYPTRACE_DUMP_REPORTED,	/* a __u64: lost events that consumers know of */
	HYPTRACE_DUMP_MAP_META,	/* struct hyptrace_map_meta */
	HYPTRACE_DUMP_SUBBUFS,
};

/**
 * struct hyptrace_dump_remote - a remote
 * @name:	its name
 * @text:	list of the pages of its description: the messages that answer
 *		HYPTRACE_CMD_REMOTE_GET, EVENT_GET and HYPERCALL_GET, one behind the other, each
 *		aligned to NLMSG_ALIGNTO; 0 if there is none
 * @text_bytes:	bytes of the description
 * @text_sum:	its sum
 * @rings:	list with an address per CPU: of the list of its ring, 0 while unloaded. These
 *		addresses change, so its sum is 0
 */
struct hyptrace_dump_remote {
	char	name[HYPTRACE_REMOTE_NAME_MAX + 1];
	__u64	text;
	__u32	text_bytes;
	__u32	text_sum;
	__u64	rings;
};

/**
 * struct hyptrace_dump - the page that describes everything
 * @magic:	HYPTRACE_DUMP_MAGIC
 * @address:	its own address: a copy of the page elsewhere is none
 * @sum:	of the page
 * @page_size:	bytes of a page, and of a sub-buffer
 * @real_offset: CLOCK_REALTIME minus the clock of the events, CLOCK_BOOTTIME, when the page was
 *		last changed, ns
 * @changed:	CLOCK_REALTIME of that, ns: if there are several pages, as after a kexec, the last
 *		one is valid
 * @overrun:	where the writer's counters are in their page, each a __u64: events overwritten ...
 * @dropped:	... events dropped ...
 * @filtered:	... and events that filters have refused
 * @nr_remotes:	number of @remotes; one without a name was unregistered
 * @begin:	as @overrun: sub-buffers with an earlier time stamp were cleared
 * @reserved:	0
 * @boot:	UUID as text that the driver has made when it was loaded. If the memory outlives a
 *		reset, the kernel's log has it, too. It is not that of
 *		/proc/sys/kernel/random/boot_id, which a driver cannot know
 * @release:	of the kernel, as in struct utsname, with NULs up to a multiple of 8
 * @version:	the same
 * @machine:	the same
 * @remotes:	the remotes
 */
struct hyptrace_dump {
	char	magic[16];
	__u64	address;
	__u32	sum;
	__u32	page_size;
	__s64	real_offset;
	__s64	changed;
	__u16	overrun;
	__u16	dropped;
	__u16	filtered;
	__u16	nr_remotes;
	__u16	begin;
	__u16	reserved[3];
	char	boot[40];
	char	release[72];
	char	version[72];
	char	machine[72];
	struct hyptrace_dump_remote remotes[HYPTRACE_DUMP_REMOTES];
};

#endif /* _UAPI_LINUX_HYPTRACE_DUMP_H */
