/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the events of a remote are printed. For format.c and model.c.
 */
#ifndef HYPTRACE_FORMAT_H
#define HYPTRACE_FORMAT_H

#include <event-parse.h>
#include <trace-seq.h>

#include "meaning.h"

/* How to print an event */
struct format {
	const struct hyptrace_event	*event;
	struct tep_event		*tep_event;	/* its parsed print format */
	struct meaning			*meaning;	/* NULL if a file has described the event */
	/* the same if the event is printed as a sentence, else NULL */
	const struct meaning		*sentence;
	/*
	 * text before the sentence in a line; NULL if a line has no room for both. DIGITS_SLACK
	 * bytes after it are readable
	 */
	char				*lead;
	size_t				lead_len;
};

/* How to print the events of a remote */
struct hyptrace_formats {
	/* the steps of a line, or NULL, by the id of the event */
	struct print		**prints;
	struct format		*by_id;	/* how to print an event, by its id */
	unsigned int		nr_ids;	/* number of prints and of by_id */
	struct sentence_names	names;	/* names of values for all sentences */
	bool			is_foreign;	/* the kernel has described the events */
	/* a file has described the events: format_foreign.c prints them */
	bool			is_of_file;
	struct tep_handle	*tep;	/* libtraceevent's state */
	struct trace_seq	seq;	/* the last text that is not a sentence */
	char			text[SENTENCE_MAX];	/* the last sentence */
	struct memo		*memo;	/* lines that were printed */
};

#endif /* HYPTRACE_FORMAT_H */
