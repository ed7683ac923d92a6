/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: the calls, and which of them are printed. For cmd_strace.c and the files
 * strace_*.c.
 */
#ifndef STRACE_H
#define STRACE_H

#include "lib/hyptrace.h"

struct lines;

/* Events with a larger payload are not calls: the queue has room for so many bytes. */
#define STRACE_PAYLOAD_MAX	128

/* The hypercall that runs a guest: the exits of the guest are inside it */
#define STRACE_RUN_CALL		"__kvm_vcpu_run"

/* The events that are calls */
enum strace_kind {
	STRACE_HCALL,	/* host_hcall */
	STRACE_SMC,	/* host_smc */
	STRACE_PSCI,	/* psci_call */
	STRACE_FFA,	/* host_ffa_call */
	STRACE_EXIT,	/* guest_exit */
	STRACE_FIXUP,	/* guest_fixup */
	NR_STRACE_KINDS
};

/* The fields that have a meaning for all calls that have them */
enum strace_field {
	STRACE_KEY,		/* what gives the call its name */
	STRACE_CODE,		/* why the guest has exited */
	STRACE_RET,
	STRACE_INVALID,
	STRACE_HANDLED,
	STRACE_DURATION,
	STRACE_VCPU,
	STRACE_VM,
	STRACE_INDEX,
	NR_STRACE_FIELDS
};

/**
 * struct strace_event - an event that is a call, or that says which vCPU is loaded
 * @event:	the event; NULL if the remote does not have it
 * @fields:	its fields by enum strace_field, or NULL
 */
struct strace_event {
	const struct hyptrace_event	*event;
	const struct hyptrace_field	*fields[NR_STRACE_FIELDS];
};

/**
 * struct strace_events - the events of a remote or of a file that are calls
 * @kinds:	the events, by enum strace_kind
 * @load:	vcpu_load
 * @put:	vcpu_put
 * @formats:	print the events
 * @hypercalls:	the hypercalls, or NULL
 * @nr_hypercalls: number of @hypercalls
 */
struct strace_events {
	struct strace_event			kinds[NR_STRACE_KINDS];
	struct strace_event			load;
	struct strace_event			put;
	struct hyptrace_formats			*formats;
	struct hyptrace_hypercall *const	*hypercalls;
	unsigned int				nr_hypercalls;
};

/**
 * struct strace_call - a call
 * @kind:	its kind
 * @cpu:	its CPU
 * @ts:		when it has ended
 * @duration:	how long it took, in ns; 0 if its event does not say it
 * @name:	its name; NULL if its number has none
 * @number:	the number
 * @depth:	number of printed calls that it is in
 * @size:	bytes of @data
 * @data:	the payload of its event
 */
struct strace_call {
	enum strace_kind	kind;
	unsigned int		cpu;
	uint64_t		ts;
	uint64_t		duration;
	const char		*name;
	uint64_t		number;
	unsigned int		depth;
	uint32_t		size;
	unsigned char		data[STRACE_PAYLOAD_MAX] __attribute__((aligned(8)));
};

/* Bytes of a call's name at most, if its number has none */
#define STRACE_NUMBER_SIZE	24

/* strace_event.c: the events */
void strace_events_init(struct strace_events *events, struct hyptrace_event *const *list,
			unsigned int nr, struct hyptrace_formats *formats,
			struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls);
const char *strace_kind_event(enum strace_kind kind);
bool strace_field(const struct strace_event *event, enum strace_field which,
		  const struct hyptrace_record *rec, uint64_t *value);
bool strace_call_read(const struct strace_events *events, unsigned int cpu,
		      const struct hyptrace_record *rec, struct strace_call *call);
struct hyptrace_record strace_call_record(const struct strace_call *call);
const char *strace_call_name(const struct strace_call *call, char number[STRACE_NUMBER_SIZE]);
bool strace_call_result(const struct strace_events *events, const struct strace_call *call,
			uint64_t *value);
const char *strace_call_error(const struct strace_events *events, const struct strace_call *call);

/* strace_print.c: the lines */
void strace_print(const struct strace_events *events, struct lines *lines,
		  const struct strace_call *call, bool times);

#endif /* STRACE_H */
