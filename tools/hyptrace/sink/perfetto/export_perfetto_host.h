/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export the events of the host to Perfetto. For cmd_export.c.
 */
#ifndef EXPORT_PERFETTO_HOST_H
#define EXPORT_PERFETTO_HOST_H

#include "sink/host_events.h"

int export_perfetto_host(struct host_events *h, int *fd, struct hyptrace_error *err);

#endif /* EXPORT_PERFETTO_HOST_H */
