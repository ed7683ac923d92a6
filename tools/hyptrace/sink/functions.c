// SPDX-License-Identifier: GPL-2.0-only
/* The functions of EL2 that a CPU has called, as trees. */
#include "output/die.h"
#include "functions.h"

#define NOBODY	UINT32_MAX

void functions_begin(struct functions *f, const struct hyptrace_model *model,
		     void (*show)(void *arg), void *arg)
{
	*f = (struct functions){
		.model = model, .show = show, .arg = arg,
		.nest = or_die(hyptrace_nest_new(model, HYPTRACE_FUNCTION_KINDS)),
	};
}

void functions_end(struct functions *f)
{
	hyptrace_nest_free(f->nest);
	free(f->list);
	*f = (struct functions){};
}

static void append(struct functions *f, const struct hyptrace_span *span)
{
	struct function *function;
	unsigned int first = f->nr;

	if (f->nr == f->max) {
		f->max = f->max ? 2 * f->max : 64;
		f->list = xreallocarray(f->list, f->max, sizeof(*f->list));
	}
	while (first && f->list[first - 1].span.depth > span->depth)
		first = f->list[first - 1].first;
	function = &f->list[f->nr++];
	*function = (struct function){
		.span = *span, .first = first, .next = NOBODY,
		.recorded_depth = hyptrace_meaning_value(span->meaning, HYPTRACE_ROLE_DEPTH,
							 &span->record),
	};
	function->span.record.data = NULL;
	function->span.parent = NULL;
}

static void take(struct functions *f)
{
	const struct hyptrace_span *span;

	while ((span = hyptrace_nest_next(f->nest, 0)))
		if (span->kind == HYPTRACE_KIND_FUNCTION)
			append(f, span);
	if (f->nr)
		f->show(f->arg);
	f->nr = 0;
}

void functions_add(struct functions *f, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;
	/* the time of a call is that of the functions which it is in */
	const bool is_function = rec->data && hyptrace_model_meaning(f->model, rec)->kind ==
					      HYPTRACE_KIND_FUNCTION;

	if (hyptrace_nest_add(f->nest, event, is_function, 0))
		die_no_memory();
	take(f);
}

void functions_returned(struct functions *f, unsigned int cpu)
{
	if (hyptrace_nest_idle(f->nest, cpu))
		die_no_memory();
	take(f);
}

void functions_finish(struct functions *f)
{
	if (!f->nest)
		return;
	hyptrace_nest_end(f->nest);
	take(f);
}

void functions_walk(struct functions *f,
		    void (*begin)(void *arg, const struct function *function),
		    void (*end)(void *arg, const struct function *function), void *arg)
{
	auto_free unsigned int *outer = xcalloc(f->nr + 1, sizeof(*outer));
	unsigned int i, j;

	for (i = 0; i < f->nr; i++)
		outer[i] = NOBODY;
	/* those that begin with the same one: the outermost is the last one of the list */
	for (i = 0; i < f->nr; i++) {
		f->list[i].next = outer[f->list[i].first];
		outer[f->list[i].first] = i;
	}
	for (i = 0; i < f->nr; i++) {
		for (j = outer[i]; j != NOBODY; j = f->list[j].next)
			begin(arg, &f->list[j]);
		if (end)
			end(arg, &f->list[i]);
	}
}
