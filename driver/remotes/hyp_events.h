/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares the events of hyp/events.h for a remote, once per module, with a hash of their list. */
#ifndef __HYPTRACE_HYP_EVENTS_H
#define __HYPTRACE_HYP_EVENTS_H

#include "../../hyp/abi.h"
#include "../core/remote_event.h"

#define HE_PROTO(...)
#define HE_STRUCT(fields)	RE_STRUCT(fields)
#define he_field(type, name)	re_field(type, name)
#define HE_ASSIGN(...)
#define HE_PRINTK(...)		RE_PRINTK(__VA_ARGS__)

#define HYP_EVENT(name, proto, fields, assign, printk)	HYPTRACE_EVENT_##name,
enum {
	HYPTRACE_EVENT_NONE,
#include "../../hyp/events.h"
};

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	REMOTE_EVENT(name, HYPTRACE_EVENT_##name, fields, printk);
#include "../../hyp/events.h"

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	hyptrace_event_##name,
static const hyptrace_event_fn hyp_events[] = {
#include "../../hyp/events.h"
};

/* Print the fields of an event as its print format says, for a panic. */
struct hyptrace_symbol {
	u64		value;
	const char	*name;
};

static const char *hyptrace_symbol(u64 value, const struct hyptrace_symbol *names, size_t nr)
{
	/* An event has at most four of them, and only one CPU prints. */
	static char unknown[4][sizeof("0x0123456789abcdef")];
	static unsigned int next;
	size_t i;

	for (i = 0; i < nr; i++)
		if (names[i].value == value)
			return names[i].name;
	next = (next + 1) % ARRAY_SIZE(unknown);
	snprintf(unknown[next], sizeof(unknown[next]), "0x%llx", value);
	return unknown[next];
}

#define __print_symbolic(value, ...)					\
	({								\
		static const struct hyptrace_symbol names[] = { __VA_ARGS__ }; \
									\
		hyptrace_symbol(value, names, ARRAY_SIZE(names));	\
	})
#undef __entry
#undef HE_PRINTK
#define HE_PRINTK(...)		scnprintf(text, size, __VA_ARGS__)
#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	static void hyptrace_print_##name(const struct hyptrace_entry_##name *__entry, \
					  char *text, size_t size)	\
	{								\
		printk;							\
	}
#include "../../hyp/events.h"
#undef __print_symbolic

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	case HYPTRACE_EVENT_##name:					\
		hyptrace_print_##name(payload, text, size);		\
		break;
static void __maybe_unused hyptrace_print_event(const void *payload, char *text, size_t size)
{
	switch (*(const u16 *)payload) {
#include "../../hyp/events.h"
	}
}

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	#name " " #fields "\n"
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	#name " " #fields "\n"
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) \
	#name " " #fields "\n"
static const char hyp_event_list[] =
#include "../../hyp/events.h"
	;
#undef HYP_EVENT

#endif /* __HYPTRACE_HYP_EVENTS_H */
