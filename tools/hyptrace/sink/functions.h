/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that a CPU has called, as trees: EL2 records a function after those inside it. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdio.h>

#include "lib/hyptrace_model.h"

struct function {
	struct hyptrace_span	span;		/* its record has no data */
	uint64_t		recorded_depth;
	unsigned int		first;		/* of those inside; its own number: none */
	unsigned int		next;		/* the next inner one that has the same @first */
};

struct functions {
	const struct hyptrace_model	*model;
	struct hyptrace_nest	*nest;
	struct function		*list;
	unsigned int		nr;
	unsigned int		max;
	/* called when @list has all functions of a visit of EL2, and before it is cleared */
	void			(*show)(void *arg);
	void			*arg;
};

void functions_begin(struct functions *f, const struct hyptrace_model *model,
		     void (*show)(void *arg), void *arg);
void functions_end(struct functions *f);
/* All events of the CPU */
void functions_add(struct functions *f, const struct hyptrace_stream_event *event);
/* No event follows for now: if the CPU's last function has returned to the host, that was all. */
void functions_returned(struct functions *f, unsigned int cpu);
/* No event follows. The functions may not have begun. */
void functions_finish(struct functions *f);
/* Begin and end each function of the list in the order of time. @end may be NULL. */
void functions_walk(struct functions *f,
		    void (*begin)(void *arg, const struct function *function),
		    void (*end)(void *arg, const struct function *function), void *arg);

#define FUNCTION_NAME_SIZE	16

/* Its name, or its number in hexadecimal */
static inline const char *function_name(const struct hyptrace_span *span,
					char number[FUNCTION_NAME_SIZE])
{
	snprintf(number, FUNCTION_NAME_SIZE, "0x%x", (unsigned int)span->key);
	return span->name ? span->name : number;
}

/* Has it called other functions that are traced? */
static inline bool function_is_caller(const struct functions *f, const struct function *function)
{
	return &f->list[function->first] != function;
}

#endif /* FUNCTIONS_H */
