/* SPDX-License-Identifier: GPL-2.0-only */
/* How the events of a remote are printed. For format.c and model.c. */
#ifndef HYPTRACE_FORMAT_H
#define HYPTRACE_FORMAT_H

#include <event-parse.h>
#include <trace-seq.h>

#include "meaning.h"

/* How to print an event */
struct format {
	const struct hyptrace_event	*event;
	struct tep_event		*tep_event;	/* its print format, or NULL */
	struct meaning			*meaning;	/* NULL if a file has described the event */
	const struct meaning		*sentence;	/* the same if it has one */
	/* text before it in a line, and DIGITS_SLACK bytes; NULL if there is no room for both */
	char				*lead;
	size_t				lead_len;
};

/* How to print the events of a remote */
struct hyptrace_formats {
	struct print		**prints;	/* the steps of a line, by the event's id */
	struct format		*by_id;	/* how to print an event, by its id */
	unsigned int		nr_ids;	/* number of prints and of by_id */
	struct sentence_names	names;	/* names of values for all sentences */
	bool			is_foreign;	/* the kernel has described the events */
	struct tep_handle	*tep;	/* libtraceevent's state */
	struct trace_seq	seq;	/* the last text that is not a sentence */
	char			text[SENTENCE_MAX];	/* the last sentence */
	struct memo_line	*memo;	/* lines that were printed */
};

/* format_foreign.c */
struct tep_event *hyptrace_safe_event(struct tep_event *event);
bool hyptrace_foreign_print(struct tep_handle *tep, struct trace_seq *s,
			    struct tep_event *tep_event, const struct hyptrace_event *event,
			    const struct hyptrace_record *rec);

/* print.c: print formats, compiled to short lists of steps */
struct print *hyptrace_print_new(struct tep_event *event, uint32_t size, const char *lead);
void hyptrace_print_free(struct print *print);
char *hyptrace_print_run(const struct print *print, const struct hyptrace_record *rec, char *to);

#endif /* HYPTRACE_FORMAT_H */
