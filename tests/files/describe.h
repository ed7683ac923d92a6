/* SPDX-License-Identifier: GPL-2.0-only */
/* The events and hypercalls of hyp/, as the driver describes them. For make_file.c. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

struct hyptrace_file_meta;

void describe_remote(struct hyptrace_file_meta *meta);

#endif /* DESCRIBE_H */
