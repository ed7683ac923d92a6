/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export to Perfetto: how the events are exported. For export_perfetto.c and
 * export_perfetto_kind.c.
 */
#ifndef EXPORT_PERFETTO_KIND_H
#define EXPORT_PERFETTO_KIND_H

#include "export_perfetto.h"

/* Fields that have a meaning for the export, beside being arguments */
enum perfetto_role {
	ROLE_DURATION,
	ROLE_FROM,
	ROLE_HANDLE,
	ROLE_INDEX,
	ROLE_INVALID,
	ROLE_NR,
	ROLE_OP,
	ROLE_PFN,
	ROLE_RET,
	ROLE_TO,
	ROLE_VCPU,
	NR_ROLES
};

/**
 * struct perfetto_field - a field that is an argument
 * @field:	the field
 * @name:	its name; 0 before its first use
 * @type:	type of its numbers
 * @arg:	1 for the first argument of a hypercall, and so on; else 0
 * @is_optional: it is left out if it is 0
 * @is_result:	its values have names that depend on the event
 */
struct perfetto_field {
	const struct hyptrace_field	*field;
	perfetto_name_t			name;
	enum perfetto_arg_type		type;
	unsigned int			arg;
	bool				is_optional;
	bool				is_result;
};

/**
 * struct perfetto_kind - how to export an event
 * @event:	the event; NULL if there is none with this id
 * @message:	its message on Perfetto's own track; 0 if it has none
 * @details:	fields of the message
 * @put:	put it on a track of hyptrace; NULL for none
 * @names:	the fields whose value gives the name of its slices, the first one that has a name;
 *		may be NULL
 * @roles:	its fields by their roles, or NULL
 * @fields:	the arguments
 * @nr_fields:	number of @fields
 */
struct perfetto_kind {
	const struct hyptrace_event	*event;
	unsigned int			message;
	const struct hyptrace_field	*details[PERFETTO_FTRACE_FIELDS];
	void				(*put)(struct perfetto *p, struct perfetto_cpu *cpu,
					       const struct perfetto_kind *kind,
					       const struct hyptrace_record *rec);
	const struct hyptrace_field	*names[2];
	const struct hyptrace_field	*roles[NR_ROLES];
	struct perfetto_field		*fields;
	unsigned int			nr_fields;
};

/* export_perfetto.c */
uint64_t perfetto_cpu_track(struct perfetto *p, const struct perfetto_cpu *cpu,
			    enum perfetto_group group, const char *prefix);

/* export_perfetto_kind.c */
void perfetto_kinds(struct perfetto *p);
void perfetto_free_kinds(struct perfetto *p);

/* export_perfetto_event.c: the functions for the member put */
void perfetto_put_call(struct perfetto *p, struct perfetto_cpu *cpu,
		       const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_inner_call(struct perfetto *p, struct perfetto_cpu *cpu,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_guest_enter(struct perfetto *p, struct perfetto_cpu *cpu,
			      const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_guest_exit(struct perfetto *p, struct perfetto_cpu *cpu,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_guest_trap(struct perfetto *p, struct perfetto_cpu *cpu,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_transition(struct perfetto *p, struct perfetto_cpu *cpu,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_other(struct perfetto *p, struct perfetto_cpu *cpu,
			const struct perfetto_kind *kind, const struct hyptrace_record *rec);
void perfetto_put_unknown(struct perfetto *p, struct perfetto_cpu *cpu,
			  const struct perfetto_kind *kind, const struct hyptrace_record *rec);

#endif /* EXPORT_PERFETTO_KIND_H */
