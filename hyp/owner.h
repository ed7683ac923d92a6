/* SPDX-License-Identifier: GPL-2.0-only */
/* The owner of a page. Included by owner.c and hcall.c. */
#ifndef __HYPTRACE_OWNER_H
#define __HYPTRACE_OWNER_H

/* owner.c */
s64 hyptrace_page_owner(u64 pfn);

#endif /* __HYPTRACE_OWNER_H */
