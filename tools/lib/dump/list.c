// SPDX-License-Identifier: GPL-2.0-only
/* The lists of addresses in a dump. All that they say is checked: the memory may be damaged. */
#include "dump.h"

/* More than this, and a list is damaged: 4 GiB of sub-buffers */
#define ADDRESSES_MAX	(1U << 20)

/* Read a page of a list, and check it. */
static int read_part(struct dump_memory *mem, uint64_t address, uint32_t page_size, bool has_sum,
		     uint32_t cpu, struct hyptrace_dump_list *part)
{
	const uint32_t max = (page_size - sizeof(*part)) / sizeof(*part->at);
	uint32_t sum;

	if (!hyptrace_memory_read(mem, address, part, page_size))
		return -ENODATA;
	sum = part->sum;
	part->sum = 0;
	if (part->nr > max || part->cpu != cpu ||
	    (has_sum && !hyptrace_has_crc(part, page_size, sum)))
		return -EBADMSG;
	return 0;
}

/*
 * Read a list whose first page is at an address. @has_sum: its pages have sums. list->cpu says
 * whose list it must be, 0 for others; the caller frees list->at. Return 0; -ENODATA if the dump
 * does not have all of it, -EBADMSG if it is damaged, or -ENOMEM.
 */
int hyptrace_list_read(struct dump_memory *mem, uint64_t address, uint32_t page_size, bool has_sum,
		       struct dump_list *list)
{
	auto_free struct hyptrace_dump_list *part = malloc(page_size);
	/* all pages but the last one are full */
	unsigned int pages = ADDRESSES_MAX / (page_size / sizeof(uint64_t)) + 2;
	uint64_t *at;
	int ret = part ? 0 : -ENOMEM;

	*list = (struct dump_list){ .cpu = list->cpu };
	for (; !ret && address; address = part->next) {
		ret = read_part(mem, address, page_size, has_sum, list->cpu, part);
		/* a list that leads back to itself ends here, too */
		if (!ret && (!part->nr || !pages-- || part->nr > ADDRESSES_MAX - list->nr))
			ret = -EBADMSG;
		if (ret)
			break;
		at = reallocarray(list->at, list->nr + part->nr, sizeof(*at));
		if (!at) {
			ret = -ENOMEM;
			break;
		}
		memcpy(at + list->nr, part->at, part->nr * sizeof(*at));
		list->at = at;
		list->nr += part->nr;
	}
	if (ret) {
		free(list->at);
		list->at = NULL;
	}
	return ret;
}
