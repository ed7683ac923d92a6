/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of events of hyp/, included unchanged: a struct entry_<name> for the payload of each
 * event, and hyp_list[], which describes them all.
 */
#ifndef HYP_LIST_H
#define HYP_LIST_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/hyptrace.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define STRING(...)		STRING_OF(__VA_ARGS__)
#define STRING_OF(...)		#__VA_ARGS__
#define __entry			REC
#define HE_PROTO(...)
#define HE_ASSIGN(...)
#define HE_SAVE(...)
#define HE_STRUCT(fields)	fields
#define HE_PRINTK(...)		STRING(__VA_ARGS__)

#define he_field(type, name)	type name;
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	struct entry_##name {				\
		uint16_t common_type;			\
		fields					\
	};
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	HYP_EVENT(name, , HE_STRUCT(fields), , )
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) HYP_EVENT(name, , HE_STRUCT(fields), , )
#include "../../../hyp/events.h"

#undef he_field
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define he_field(type, name) \
	{ #name, #type, offsetof(ENTRY, name), sizeof(type), (type)-1 < (type)1, NULL, 0 },
#define HYP_FIELDS(entry, ...)						\
	static inline struct hyptrace_field *entry##_fields(unsigned int *nr)	\
	{								\
		typedef struct entry ENTRY;				\
		static struct hyptrace_field list[] = { __VA_ARGS__ };	\
									\
		*nr = sizeof(list) / sizeof(list[0]);			\
		return list;						\
	}
#define HYP_EVENT(name, proto, fields, assign, printk)	HYP_FIELDS(entry_##name, fields)
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	HYP_FIELDS(entry_##name, fields)
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) HYP_FIELDS(entry_##name, fields)
#include "../../../hyp/events.h"

/**
 * struct hyp_event - an event of hyp/
 * @name:	its name
 * @size:	bytes of its payload
 * @print_fmt:	its print format
 * @fields:	returns its fields and their number
 */
struct hyp_event {
	const char		*name;
	uint32_t		size;
	const char		*print_fmt;
	struct hyptrace_field	*(*fields)(unsigned int *nr);
};

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk) \
	{ #name, sizeof(struct entry_##name), printk, entry_##name##_fields },
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	{ #name, sizeof(struct entry_##name), printk, entry_##name##_fields },
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) \
	{ #name, sizeof(struct entry_##name), printk, entry_##name##_fields },
static const struct hyp_event hyp_list[] = {
#include "../../../hyp/events.h"
};

#endif /* HYP_LIST_H */
