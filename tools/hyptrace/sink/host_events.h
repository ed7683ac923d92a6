/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of the host that a file has beside those of the remote. For cmd_report.c and
 * cmd_export.c.
 */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include "session/session.h"
#include "lines.h"

/* The events of the host */
struct host_events {
	struct hyptrace_file	*file;	/* the file, opened for them; NULL if it has none */
	struct lines		lines;	/* their line printer */
	struct choice		choice;	/* which of them are chosen */
	bool			no_remote;	/* print no event of the remote */
	bool			no_host;	/* print no event of the host */
	uint64_t		printed;	/* events of both that were printed */
	uint64_t		lost;	/* losses of both that were printed */
	bool			lost_more;	/* also one of unknown size */
	/* filtered events of both before the first one that was printed */
	uint64_t		skipped;
	struct session		*session;	/* what prints notes about damaged places */
};

/* host_events.c */
int host_events_open(struct host_events *h, struct hyptrace_file *file, const char *path);
void host_events_close(struct host_events *h);
void host_events_share(struct host_events *h, struct choice *choice,
		       const struct hyptrace_file *file);
int host_events_choose(struct host_events *h, const char *verb);

/* report_host.c: print them, for cmd_report.c */
int report_host_configure(struct host_events *h, const struct lines *lines, struct context *ctx,
			  struct hyptrace_error *err);
int report_host_run(struct host_events *h, struct lines *lines, struct session *s,
		    struct hyptrace_error *err);
void report_host_counts(const struct host_events *h, struct session_counts *counts);

#endif /* HOST_EVENTS_H */
