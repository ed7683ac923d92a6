/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files model*.c share.
 */
#ifndef HYPTRACE_EVENT_MODEL_H
#define HYPTRACE_EVENT_MODEL_H

#include "hyptrace_model.h"
#include "sentence.h"

struct meaning {
	struct hyptrace_meaning		public;		/* the first member */
	const struct sentence_names	*values;	/* hypercalls and exception classes */
	const struct sentence		*sentence;	/* NULL if the event has none */
	struct sentence_symbols		*names;		/* names of the event by its key; or NULL */
};

/* model_names.c; false if there is no memory */
bool hyptrace_meaning_make_names(struct meaning *meaning);

#endif /* HYPTRACE_EVENT_MODEL_H */
