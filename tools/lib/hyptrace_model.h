/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the events of EL2 mean: their kinds, fields, names and arguments, and how calls, visits of
 * EL2 and runs of guests nest. Part of libhyptrace; hyptrace.h says what holds for all its
 * functions.
 *
 * A model is compiled once from the formats of events. It never changes, so several threads may
 * use it. What it returns stays valid until the model, its formats or their events are freed.
 */
#ifndef HYPTRACE_MODEL_H
#define HYPTRACE_MODEL_H

#include <string.h>

#include "hyptrace.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* model.c: kinds, fields and names of events */

enum hyptrace_kind {
	HYPTRACE_KIND_UNKNOWN,		/* the event has no description, or is too short */
	HYPTRACE_KIND_OTHER,
	HYPTRACE_KIND_ENTER,		/* hyp_enter: a visit of EL2 begins */
	HYPTRACE_KIND_EXIT,		/* hyp_exit */
	HYPTRACE_KIND_HYPERCALL,	/* host_hcall */
	HYPTRACE_KIND_SMC,		/* host_smc */
	HYPTRACE_KIND_PSCI,		/* psci_call */
	HYPTRACE_KIND_FFA,		/* host_ffa_call */
	HYPTRACE_KIND_GUEST_EXIT,
	HYPTRACE_KIND_GUEST_FIXUP,	/* EL2 has handled a trap, or looked at it */
	HYPTRACE_KIND_MEM_ABORT,	/* host_mem_abort */
	HYPTRACE_KIND_GUEST_ENTER,
	HYPTRACE_KIND_ILLEGAL_TRAP,	/* vcpu_illegal_trap */
	HYPTRACE_KIND_VCPU_LOAD,
	HYPTRACE_KIND_VCPU_PUT,
	HYPTRACE_KIND_TRANSITION,	/* mem_transition */
	HYPTRACE_KIND_TLBI,
	HYPTRACE_KIND_POOL,		/* hyp_pool */
	HYPTRACE_KIND_PRINTK,		/* hyp_printk */
	HYPTRACE_KIND_MARK,		/* selftest: see hyptrace_mark() */
	HYPTRACE_KIND_LOSS,		/* only of a span: events were lost */
	HYPTRACE_KIND_FUNCTION,		/* func: a function of EL2 has returned */
	HYPTRACE_KIND_LOCK_WAIT,	/* EL2 had to wait for a spinlock */
	HYPTRACE_KIND_PMU,		/* pmu: what the PMU has counted during an event */
	HYPTRACE_NR_KINDS		/* grows: the library relies on no program's */
};

/* What a field means; it means the same in each event that has it */
enum hyptrace_role {
	HYPTRACE_ROLE_ID,		/* number of a hypercall or function: id, func, func_id */
	HYPTRACE_ROLE_RESULT,		/* ret, err; see hyptrace_meaning_result() */
	HYPTRACE_ROLE_DURATION,		/* in ns */
	HYPTRACE_ROLE_REASON,		/* why a CPU has entered or left EL2 */
	HYPTRACE_ROLE_CODE,		/* why a guest has exited */
	HYPTRACE_ROLE_CLASS,		/* ec: exception class, if the code is that of a trap */
	HYPTRACE_ROLE_ESR,		/* ESR_EL2; may be 0 */
	HYPTRACE_ROLE_ADDRESS,		/* addr */
	HYPTRACE_ROLE_IPA,
	HYPTRACE_ROLE_PC,
	HYPTRACE_ROLE_VCPU,		/* thread of the vCPU */
	HYPTRACE_ROLE_VM,		/* handle of the VM */
	HYPTRACE_ROLE_INDEX,		/* of the vCPU in its VM */
	HYPTRACE_ROLE_OP,
	HYPTRACE_ROLE_FROM,
	HYPTRACE_ROLE_TO,
	HYPTRACE_ROLE_PAGE,		/* pfn */
	HYPTRACE_ROLE_COUNT,		/* nr: number of pages */
	HYPTRACE_ROLE_GUEST_PAGE,	/* gfn */
	HYPTRACE_ROLE_INVALID,		/* EL2 has refused the call */
	HYPTRACE_ROLE_HANDLED,		/* EL2 has handled it, and not passed it on */
	HYPTRACE_ROLE_FORWARDED,
	HYPTRACE_ROLE_POOL,
	HYPTRACE_ROLE_LEFT,		/* free pages of the pool */
	HYPTRACE_ROLE_ARG1,		/* the arguments: arg1 or arg, and up to three others */
	HYPTRACE_ROLE_ARG2,
	HYPTRACE_ROLE_ARG3,
	HYPTRACE_ROLE_ARG4,
	HYPTRACE_ROLE_RETURNED1,	/* x0 to x3 after the call: res_a1 to res_a4 */
	HYPTRACE_ROLE_RETURNED2,
	HYPTRACE_ROLE_RETURNED3,
	HYPTRACE_ROLE_RETURNED4,
	HYPTRACE_ROLE_FORMAT,		/* fmt_id: format of hyp_printk, and its numbers a to d */
	HYPTRACE_ROLE_NUMBER1,
	HYPTRACE_ROLE_NUMBER2,
	HYPTRACE_ROLE_NUMBER3,
	HYPTRACE_ROLE_NUMBER4,
	HYPTRACE_ROLE_ORDER,		/* of pages of a pool */
	HYPTRACE_ROLE_VMID,
	HYPTRACE_ROLE_DEPTH,		/* traced functions that a function was called in */
	HYPTRACE_ROLE_AGO,		/* ns from when it ended to the event */
	HYPTRACE_ROLE_LOCK,
	HYPTRACE_ROLE_OWNER,		/* CPU that held the lock; -1: not known */
	HYPTRACE_ROLE_COUNTER,		/* what a counter of the PMU counts */
	HYPTRACE_ROLE_EVENT,		/* during which event */
	HYPTRACE_ROLE_COUNTED,		/* count: the number that it has counted */
	HYPTRACE_NR_ROLES		/* grows, too */
};

/* Roles that later versions can have */
#define HYPTRACE_ROLES_MAX	48

/**
 * struct hyptrace_place - where the field of a role is in the payload
 * @field:	the field, a number; NULL if the event has none
 * @sign:	the highest bit of a signed number; else 0
 * @offset:	bytes from the start of the payload
 * @size:	bytes: 1, 2, 4 or 8; 0 if the event has no such field
 */
struct hyptrace_place {
	const struct hyptrace_field	*field;
	uint64_t			sign;
	uint32_t			offset;
	uint32_t			size;
};

/**
 * struct hyptrace_meaning - what an event means
 * @kind:	its kind. An event that lacks a field that its kind needs is of another kind
 * @event:	the event; NULL if it is unknown
 * @size:	bytes of its payload at least
 * @named_by:	the role whose value gives it its name; HYPTRACE_ROLES_MAX if several do
 * @nr_args:	number of its roles from HYPTRACE_ROLE_ARG1 on
 * @into_guest:	of hyp_exit: the reason if the CPU enters a guest; else UINT64_MAX
 * @trap:	of guest_exit: the code that has a class; else UINT64_MAX
 * @places:	its fields, by enum hyptrace_role
 */
struct hyptrace_meaning {
	enum hyptrace_kind		kind;
	const struct hyptrace_event	*event;
	uint32_t			size;
	uint32_t			named_by;
	uint32_t			nr_args;
	uint64_t			into_guest;
	uint64_t			trap;
	struct hyptrace_place		places[HYPTRACE_ROLES_MAX];
};

/**
 * struct hyptrace_model - what all events of a remote or of a file mean
 * @nr:		number of @by_id
 * @by_id:	by the ids of events; none is NULL
 * @unknown:	what unknown events mean
 */
struct hyptrace_model {
	uint32_t				nr;
	const struct hyptrace_meaning *const	*by_id;
	const struct hyptrace_meaning		*unknown;
};

struct hyptrace_model *hyptrace_model_new(const struct hyptrace_formats *fmts,
					  struct hyptrace_error *err);
void hyptrace_model_free(struct hyptrace_model *model);
const struct hyptrace_meaning *hyptrace_model_of_kind(const struct hyptrace_model *model,
						      enum hyptrace_kind kind);
const char *hyptrace_kind_event(enum hyptrace_kind kind);
uint64_t hyptrace_meaning_compound_key(const struct hyptrace_meaning *meaning,
				       const struct hyptrace_record *rec);
const char *hyptrace_meaning_name(const struct hyptrace_meaning *meaning, uint64_t key);
const char *hyptrace_meaning_value_name(const struct hyptrace_meaning *meaning,
					enum hyptrace_role role, uint64_t value);
const struct hyptrace_hypercall *hyptrace_meaning_hypercall(const struct hyptrace_meaning *meaning,
							    uint64_t id);
unsigned int hyptrace_meaning_named_args(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_hypercall *call);
bool hyptrace_meaning_result(const struct hyptrace_meaning *meaning,
			     const struct hyptrace_record *rec, int64_t *result);
const char *hyptrace_meaning_result_name(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_record *rec);
const char *hyptrace_meaning_error(const struct hyptrace_meaning *meaning,
				   const struct hyptrace_record *rec);

/**
 * hyptrace_model_meaning - find out what an event means
 * @model:	the model
 * @rec:	a record
 * Return: its meaning, never NULL.
 */
static inline const struct hyptrace_meaning *
hyptrace_model_meaning(const struct hyptrace_model *model, const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning;
	uint16_t id;

	if (rec->size < sizeof(id))
		return model->unknown;
	memcpy(&id, rec->data, sizeof(id));
	if (id >= model->nr)
		return model->unknown;
	meaning = model->by_id[id];
	return rec->size >= meaning->size ? meaning : model->unknown;
}

/**
 * hyptrace_meaning_has - has an event a field of a role?
 * @meaning:	what the event means
 * @role:	the role
 * Return: true if it has one.
 */
static inline bool hyptrace_meaning_has(const struct hyptrace_meaning *meaning,
					enum hyptrace_role role)
{
	return meaning->places[role].size;
}

/**
 * hyptrace_meaning_value - get the value of a role
 * @meaning:	what the event means, from hyptrace_model_meaning()
 * @role:	the role
 * @rec:	the event's record
 * Return: the value, sign-extended if the field is signed; 0 if the event has no such field.
 */
static inline uint64_t hyptrace_meaning_value(const struct hyptrace_meaning *meaning,
					      enum hyptrace_role role,
					      const struct hyptrace_record *rec)
{
	const struct hyptrace_place *place = &meaning->places[role];
	const char *at = (const char *)rec->data + place->offset;
	uint64_t value;
	uint32_t value32;
	uint16_t value16;

	switch (place->size) {
	case sizeof(uint64_t):
		memcpy(&value, at, sizeof(value));
		return value;
	case sizeof(uint32_t):
		memcpy(&value32, at, sizeof(value32));
		value = value32;
		break;
	case sizeof(uint16_t):
		memcpy(&value16, at, sizeof(value16));
		value = value16;
		break;
	case sizeof(uint8_t):
		value = (uint8_t)*at;
		break;
	default:
		return 0;
	}
	return (value ^ place->sign) - place->sign;
}

/**
 * hyptrace_meaning_key - get what gives an event its name
 * @meaning:	what the event means
 * @rec:	the event's record
 * Return: a number for hyptrace_meaning_name(). Events of a kind that have the same one are alike:
 * the same reason, hypercall, exit of a guest, or transition between two owners.
 */
static inline uint64_t hyptrace_meaning_key(const struct hyptrace_meaning *meaning,
					    const struct hyptrace_record *rec)
{
	if (meaning->named_by == HYPTRACE_ROLES_MAX)
		return hyptrace_meaning_compound_key(meaning, rec);
	return hyptrace_meaning_value(meaning, (enum hyptrace_role)meaning->named_by, rec);
}

/* The key of a guest's exit: of a trap, its class with this bit; else the code */
#define HYPTRACE_KEY_TRAP	(UINT64_C(1) << 32)

/* The key of a memory transition */
#define HYPTRACE_KEY_TRANSITION(op, from, to) \
	((uint64_t)(op) << 48 | (uint64_t)(uint16_t)(from) << 32 | (uint32_t)(to))

/* nest.c: how calls, visits of EL2 and runs of guests nest */

/* Events with a larger payload are no spans. */
#define HYPTRACE_SPAN_PAYLOAD	128

/* So many spans wait at most for those that they are in. */
#define HYPTRACE_NEST_MAX	32768

/* A bit of hyptrace_nest_new() */
#define HYPTRACE_KIND_BIT(kind)	(1U << (kind))

/* The events that have a duration on a CPU, or happen inside of one that has it */
#define HYPTRACE_CALL_KINDS \
	(HYPTRACE_KIND_BIT(HYPTRACE_KIND_HYPERCALL) | HYPTRACE_KIND_BIT(HYPTRACE_KIND_SMC) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_PSCI) | HYPTRACE_KIND_BIT(HYPTRACE_KIND_FFA) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_GUEST_EXIT) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_GUEST_FIXUP) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_MEM_ABORT))

/* These, and visits of EL2 */
#define HYPTRACE_VISIT_KINDS \
	(HYPTRACE_CALL_KINDS | HYPTRACE_KIND_BIT(HYPTRACE_KIND_ENTER) | \
	 HYPTRACE_KIND_BIT(HYPTRACE_KIND_EXIT))

/* Functions of EL2; together with visits, or with calls, or alone */
#define HYPTRACE_FUNCTION_KINDS	HYPTRACE_KIND_BIT(HYPTRACE_KIND_FUNCTION)

/**
 * struct hyptrace_span - a call, a function, a visit of EL2, a run of a guest, or a loss
 * @kind:	kind of the event that has ended it; HYPTRACE_KIND_ENTER is a visit of EL2,
 *		HYPTRACE_KIND_GUEST_EXIT the run of a guest, HYPTRACE_KIND_LOSS a loss
 * @cpu:	its CPU
 * @depth:	number of spans that it is in
 * @begin:	when it has begun; in a visit of EL2 not before the visit
 * @end:	when it has ended; a function was recorded later
 * @own:	time of it that was in no other span; of a guest, the time in which it ran
 * @key:	what gives it its name: see hyptrace_meaning_key()
 * @name:	its name; NULL if it has none
 * @guest_exit:	of a visit: name of the guest's exit that has begun it, or NULL
 * @guest_entry: of a visit: name of the reason if it has ended in a guest, or NULL
 * @parent:	the span that it is in, which follows; NULL if it is in none
 * @meaning:	what the event means that has ended it; NULL of a loss
 * @lost:	of a loss: number of lost events, or HYPTRACE_LOST_UNKNOWN
 * @record:	the event that has ended it; of a loss only @record.ts is valid
 */
struct hyptrace_span {
	enum hyptrace_kind		kind;
	unsigned int			cpu;
	unsigned int			depth;
	uint64_t			begin;
	uint64_t			end;
	uint64_t			own;
	uint64_t			key;
	const char			*name;
	const char			*guest_exit;
	const char			*guest_entry;
	const struct hyptrace_span	*parent;
	const struct hyptrace_meaning	*meaning;
	uint64_t			lost;
	struct hyptrace_record		record;
};

struct hyptrace_nest;

struct hyptrace_nest *hyptrace_nest_new(const struct hyptrace_model *model, uint32_t kinds);
void hyptrace_nest_free(struct hyptrace_nest *nest);
int hyptrace_nest_add(struct hyptrace_nest *nest, const struct hyptrace_stream_event *event,
		      bool is_counted, uint64_t now);
const struct hyptrace_span *hyptrace_nest_next(struct hyptrace_nest *nest, uint64_t until);
int hyptrace_nest_idle(struct hyptrace_nest *nest, unsigned int cpu);
void hyptrace_nest_end(struct hyptrace_nest *nest);
bool hyptrace_nest_waits(const struct hyptrace_nest *nest, uint64_t *since);
size_t hyptrace_span_stack(const struct hyptrace_span *span, char *text, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* HYPTRACE_MODEL_H */
