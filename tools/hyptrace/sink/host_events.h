/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of the host that a file has beside those of the remote. For report and
 * export.
 */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include "lib/hyptrace_file.h"
#include "session/select.h"

struct host_events {
	struct hyptrace_file	*file;		/* their reader; NULL if the file has none */
	struct choice		choice;		/* which of them are chosen */
	bool			no_remote;	/* no event of the remote is chosen */
	bool			no_host;	/* no event of the host is chosen */
};

int host_events_open(struct host_events *h, struct hyptrace_file *file, const char *path);
void host_events_share(struct host_events *h, struct choice *choice,
		       const struct hyptrace_file *file);
int host_events_choose(struct host_events *h, const char *verb);

#endif /* HOST_EVENTS_H */
