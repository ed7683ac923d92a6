// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a dump, by libkdumpfile: vmcore files of kdump, also compressed by makedumpfile,
 * what QEMU's dump-guest-memory writes, and /proc/kcore.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dump.h"

/**
 * hyptrace_crc - the CRC-32 of zlib
 * @sum:	of the data before, first 0
 * @data:	the data
 * @size:	its bytes
 *
 * Return: the sum.
 */
uint32_t hyptrace_crc(uint32_t sum, const void *data, size_t size)
{
	const uint8_t *at = data, *end = at + size;
	int bit;

	for (sum = ~sum; at < end; at++)
		for (sum ^= *at, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
	return ~sum;
}

#ifdef KDUMPFILE
#include <libkdumpfile/kdumpfile.h>

/* Of the machines that hyptrace runs on */
#define PAGE_SIZE_MIN	4096
#define PAGE_SIZE_MAX	65536

/* What makedumpfile writes to a pipe, and QEMU always, begins with this. */
#define FLATTENED	"makedumpfile"

struct dump_memory {
	int		fd;
	kdump_ctx_t	*ctx;
};

/**
 * hyptrace_memory_open - open a dump
 * @path:	the file
 * @err:	the reason if it fails
 *
 * Return: the dump, for hyptrace_memory_close(), or NULL.
 */
struct dump_memory *hyptrace_memory_open(const char *path, struct hyptrace_error *err)
{
	struct dump_memory *mem = calloc(1, sizeof(*mem));
	char head[sizeof(FLATTENED) - 1];

	if (!mem)
		return hyptrace_error_null(hyptrace_error_memory(err));
	mem->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (mem->fd < 0) {
		hyptrace_error_set(err, errno, "cannot open \"%s\": %m", path);
		goto fail;
	}
	mem->ctx = kdump_new();
	if (!mem->ctx) {
		hyptrace_error_memory(err);
		goto fail;
	}
	if (kdump_open_fd(mem->ctx, mem->fd) != KDUMP_OK) {
		/* libkdumpfile before 0.5.2 does not read them */
		if (pread(mem->fd, head, sizeof(head), 0) == sizeof(head) &&
		    !memcmp(head, FLATTENED, sizeof(head)))
			hyptrace_error_set(err, EOPNOTSUPP, "the dump \"%s\" is flattened: first make a file of it: makedumpfile -R FILE <%s",
					   path, path);
		else
			hyptrace_error_set(err, EBADMSG, "cannot read the dump \"%s\": %s", path,
					   kdump_get_err(mem->ctx));
		goto fail;
	}
	return mem;

fail:
	hyptrace_memory_close(mem);
	return NULL;
}

/**
 * hyptrace_memory_close - close a dump
 * @mem:	the dump, or NULL
 */
void hyptrace_memory_close(struct dump_memory *mem)
{
	if (!mem)
		return;
	if (mem->ctx)
		kdump_free(mem->ctx);
	if (mem->fd >= 0)
		close(mem->fd);
	free(mem);
}

/**
 * hyptrace_memory_read - read memory
 * @mem:	the dump
 * @address:	physical address
 * @to:		destination
 * @size:	number of bytes
 *
 * Return: true; false if the dump does not have all of it.
 */
bool hyptrace_memory_read(struct dump_memory *mem, uint64_t address, void *to, size_t size)
{
	size_t got = size;

	return kdump_read(mem->ctx, KDUMP_MACHPHYSADDR, address, to, &got) == KDUMP_OK &&
	       got == size;
}

/* Read the page at an address, if it is the one. Else *@page stays as it is. */
static bool try_at(struct dump_memory *mem, uint64_t address, struct hyptrace_dump **page)
{
	struct hyptrace_dump head, *whole;
	uint32_t sum;

	if (!hyptrace_memory_read(mem, address, &head, offsetof(struct hyptrace_dump, id)) ||
	    memcmp(head.magic, HYPTRACE_DUMP_MAGIC, sizeof(head.magic)) ||
	    head.page_size < sizeof(head) || head.page_size > PAGE_SIZE_MAX)
		return false;
	whole = malloc(head.page_size);
	if (whole && hyptrace_memory_read(mem, address, whole, head.page_size)) {
		sum = whole->sum;
		whole->sum = 0;
		if (hyptrace_crc(0, whole, head.page_size) == sum) {
			*page = whole;
			return true;
		}
	}
	free(whole);
	return false;
}

/* Where VMCOREINFO says that it is */
static bool find_by_name(struct dump_memory *mem, struct hyptrace_dump **page)
{
	char *line;
	bool found = false;

	if (kdump_vmcoreinfo_line(mem->ctx, HYPTRACE_DUMP_KEY, &line) == KDUMP_OK) {
		found = try_at(mem, strtoull(line, NULL, 16), page);
		free(line);
	}
	return found;
}

/* At the beginning of any page that the dump has. Its own pages may be larger, as QEMU's are. */
static bool find_anywhere(struct dump_memory *mem, struct hyptrace_dump **page)
{
	kdump_num_t size = PAGE_SIZE_MIN;
	kdump_addr_t pfn = 0, at;
	kdump_attr_t map;
	bool found = false;

	if (kdump_get_number_attr(mem->ctx, KDUMP_ATTR_PAGE_SIZE, &size) != KDUMP_OK &&
	    kdump_set_number_attr(mem->ctx, KDUMP_ATTR_PAGE_SIZE, size) != KDUMP_OK)
		return false;
	if (kdump_get_attr(mem->ctx, KDUMP_ATTR_MEMORY_PAGEMAP, &map) != KDUMP_OK ||
	    map.type != KDUMP_BITMAP)
		return false;
	/* reading may replace the attribute */
	kdump_bmp_incref(map.val.bitmap);
	for (; !found && kdump_bmp_find_set(map.val.bitmap, &pfn) == KDUMP_OK; pfn++)
		for (at = 0; !found && at < size; at += PAGE_SIZE_MIN)
			found = try_at(mem, pfn * size + at, page);
	kdump_bmp_decref(map.val.bitmap);
	return found;
}

/**
 * hyptrace_memory_find - find the page by which the driver describes everything
 * @mem:	the dump
 * @page:	out: the page, to be freed
 *
 * Return: true; false if there is none.
 */
bool hyptrace_memory_find(struct dump_memory *mem, struct hyptrace_dump **page)
{
	return find_by_name(mem, page) || find_anywhere(mem, page);
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct dump_memory *hyptrace_memory_open(const char *path, struct hyptrace_error *err)
{
	hyptrace_error_set(err, EOPNOTSUPP, "cannot read the dump \"%s\": this hyptrace was built without libkdumpfile",
			   path);
	return NULL;
}

void hyptrace_memory_close(struct dump_memory *mem) { }

bool hyptrace_memory_read(struct dump_memory *mem, uint64_t address, void *to, size_t size)
{
	return false;
}

bool hyptrace_memory_find(struct dump_memory *mem, struct hyptrace_dump **page)
{
	return false;
}

#endif
