/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs page and leaks, and what their views share.
 */
#ifndef WHO_H
#define WHO_H

#include "output/columns.h"
#include "output/printer.h"
#include "session/session.h"
#include "page_history.h"
#include "page_leaks.h"

/* Both events are needed. */
#define WHO_ENABLE	"use \"hyptrace enable mem_transition host_hcall\" and \"hyptrace start\""

struct who {
	struct session		session;	/* its argument is this struct */
	/* the options */
	bool			is_leaks;
	bool			has_page;
	uint64_t		page;
	bool			is_address;
	bool			is_live;	/* "live" in place of a file */
	bool			csv;
	uint64_t		last;		/* print only so many changes; 0: all */

	uint64_t		lost_before;	/* time of the last loss */
	/* of page */
	uint8_t			owner;		/* the hypervisor's answer */
	struct page_history	history;
	/* of leaks */
	struct page_leaks	leaks;
	struct page_leak	*list;
	uint64_t		nr;
	struct leak_counts	counts;
	/* pages that have come back since the history was read */
	uint64_t		back;
	bool			incomplete;	/* events are missing */
};

/* A change of a page, or the leak that it has made */
struct who_row {
	const struct page_change	*change;
	/* for leaks only */
	uint64_t			page, pages;	/* the first one, and their number */
	const char			*owner;
	const struct leak_vm		*vm;	/* or NULL */
	uint64_t			gone;	/* when the VM was gone, or the last one */
};

/* page_view.c, leaks_view.c: return an exit code */
int page_run(struct who *who);
int leaks_run(struct who *who);

/* who_rows.c */
void who_begin_rows(const struct who *who);
void who_put_row(const struct who *who, const struct who_row *row);
void who_end_rows(const struct who *who);
void who_note_losses(const struct who *who);

#endif /* WHO_H */
