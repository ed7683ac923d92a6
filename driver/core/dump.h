/* SPDX-License-Identifier: GPL-2.0-only */
/* What a reader of a dump of the memory finds: see dump.c. */
#ifndef __HYPTRACE_DUMP_H
#define __HYPTRACE_DUMP_H

#include <linux/types.h>

struct hyptrace_dump_list;
struct hyptrace_reader;
struct hyptrace_remote;

/* register.c calls these */
int hyptrace_dump_init(void);
void hyptrace_dump_exit(void);
void hyptrace_dump_add(struct hyptrace_remote *remote);
void hyptrace_dump_remove(struct hyptrace_remote *remote);

/* reader.c calls these, with the reader's lock held */
void hyptrace_dump_ring(struct hyptrace_reader *reader);
void hyptrace_dump_ring_end(struct hyptrace_reader *reader);

/* The description of a remote, while it is made */
struct hyptrace_dump_text {
	struct hyptrace_dump_list	*first;	/* list of its pages */
	struct hyptrace_dump_list	*last;	/* the last page of the list */
	void				*page;	/* the last page of the description */
	u32				bytes;	/* bytes of the description */
	u32				sum;	/* its CRC, not complemented */
	bool				failed;	/* something is missing: it must not be used */
};

/* device/previous.c calls this */
const void *hyptrace_keep_previous(size_t *size);

/* netlink/describe.c calls these, with the control mutex held */
void hyptrace_dump_text_add(struct hyptrace_dump_text *text, const void *data, size_t size);
void hyptrace_dump_text_end(const struct hyptrace_remote *remote, struct hyptrace_dump_text *text);

#endif /* __HYPTRACE_DUMP_H */
