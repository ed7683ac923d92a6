/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros that declare the events of a remote. Included by modules that register one.
 *
 *	REMOTE_EVENT(boot_done, 1,
 *		RE_STRUCT(
 *			re_field(u32, stage)
 *		),
 *		RE_PRINTK("stage=%u", __entry->stage)
 *	);
 *
 * This defines struct hyptrace_entry_boot_done, the payload that the remote writes. It also defines
 * hyptrace_event_boot_done(), which describes the payload: list it in the @events of struct
 * hyptrace_remote_desc. Fields have their natural alignment. A print format may call
 * __print_symbolic() and __print_flags() with literal values, and no other function.
 */
#ifndef __HYPTRACE_REMOTE_EVENT_H
#define __HYPTRACE_REMOTE_EVENT_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/stringify.h>

#include "remote.h"

/* A struct is a sequence of pairs: (u8, reason)(pid_t, vcpu) */
#define RE_STRUCT(fields)		fields
#define re_field(type, name)		(type, name)

/* Print formats call the record REC. */
#define __entry				REC
#define RE_PRINTK(...)			__stringify(__VA_ARGS__)

/* A and B visit pairs in turn: a macro cannot expand itself. At the end, _END is nothing. */
#define __RE_CLOSE(...)			__RE_PASTE_END(__VA_ARGS__)
#define __RE_PASTE_END(...)		__VA_ARGS__ ## _END

#define __RE_DECLARE_A(type, name)	type name; __RE_DECLARE_B
#define __RE_DECLARE_B(type, name)	type name; __RE_DECLARE_A
#define __RE_DECLARE_A_END
#define __RE_DECLARE_B_END
#define __RE_DECLARE(pairs)		__RE_CLOSE(__RE_DECLARE_A pairs)

#define __RE_DESCRIBE(_type, _name)				\
	{							\
		.name		= __stringify(_name),		\
		.type		= __stringify(_type),		\
		.offset		= offsetof(__RE_ENTRY, _name),	\
		.size		= sizeof(_type),		\
		.is_signed	= is_signed_type(_type),	\
	},
#define __RE_FIELD_A(type, name)	__RE_DESCRIBE(type, name) __RE_FIELD_B
#define __RE_FIELD_B(type, name)	__RE_DESCRIBE(type, name) __RE_FIELD_A
#define __RE_FIELD_A_END
#define __RE_FIELD_B_END
#define __RE_FIELDS(pairs)		__RE_CLOSE(__RE_FIELD_A pairs)

/* Defines a function because the fields name their struct by a local typedef. */
#define REMOTE_EVENT(_name, _id, _struct, _printk)				\
	struct hyptrace_entry_##_name {						\
		u16 common_type;						\
		__RE_DECLARE(_struct)						\
	};									\
	static const struct hyptrace_event *hyptrace_event_##_name(void)	\
	{									\
		typedef struct hyptrace_entry_##_name __RE_ENTRY;		\
		static const struct hyptrace_field fields[] = {			\
			__RE_FIELDS(_struct)					\
		};								\
		static const struct hyptrace_event event = {			\
			.name		= #_name,				\
			.print_fmt	= _printk,				\
			.fields		= fields,				\
			.nr_fields	= ARRAY_SIZE(fields),			\
			.size		= sizeof(__RE_ENTRY),			\
			.id		= _id,					\
		};								\
										\
		return &event;							\
	}									\
	static_assert((_id) < HYPTRACE_MAX_EVENT_ID)

#endif /* __HYPTRACE_REMOTE_EVENT_H */
