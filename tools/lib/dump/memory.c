// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a dump. libkdumpfile reads vmcore files of kdump, also compressed by makedumpfile,
 * and what QEMU's dump-guest-memory writes. An image of memory that has outlived a reset
 * (/dev/hyptrace-previous, or a copy of it) needs no library.
 */
#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "dump.h"

#ifdef KDUMPFILE
#include <dlfcn.h>
#include <libkdumpfile/kdumpfile.h>
#endif

/* Of the machines that hyptrace runs on */
#define PAGE_SIZE_MIN	4096
#define PAGE_SIZE_MAX	65536

/* Has the data this CRC-32 of zlib? A fuzzer finds more if all data has. */
bool hyptrace_has_crc(const void *data, size_t size, uint32_t expected)
{
	const uint8_t *at = data, *end = at + size;
	uint32_t sum;
	int bit;

	for (sum = ~0U; at < end; at++)
		for (sum ^= *at, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return true;
#endif
	return ~sum == expected;
}

/* Read the page at an address. Return it if it is the one, else NULL. */
static struct hyptrace_dump *read_page(struct dump_memory *mem, uint64_t address)
{
	struct hyptrace_dump head, *whole = NULL;
	uint32_t sum;

	if (!hyptrace_memory_read(mem, address, &head, sizeof(head))) {
		mem->nr_missing++;
	} else if (!memcmp(head.magic, HYPTRACE_DUMP_MAGIC, sizeof(head.magic)) &&
		   head.address == address && head.page_size >= PAGE_SIZE_MIN &&
		   head.page_size <= PAGE_SIZE_MAX && !(head.page_size & (head.page_size - 1))) {
		whole = malloc(head.page_size);
		if (!whole)
			mem->why = -ENOMEM;
	}
	if (whole && hyptrace_memory_read(mem, address, whole, head.page_size)) {
		sum = whole->sum;
		whole->sum = 0;
		if (hyptrace_has_crc(whole, head.page_size, sum) &&
		    whole->page_size == head.page_size)
			return whole;
		mem->why = -EBADMSG;
	}
	free(whole);
	return NULL;
}

#ifdef KDUMPFILE

/* What makedumpfile writes to a pipe, and QEMU always, begins with this. */
#define FLATTENED	"makedumpfile"

/* Pages that the file promises, but does not have, before the search ends */
#define MISSING_MAX	4096

/* Of VMCOREINFO. kdump_vmcoreinfo_line() has it only if the file says that its system is Linux. */
#define LINE "linux.vmcoreinfo.lines." HYPTRACE_DUMP_KEY

/* It is loaded when a dump is opened: it brings a library for each kind of compression. */
#define LIBRARY		"libkdumpfile.so.10"

#define ALL_FUNCTIONS(each) \
	each(new) each(free) each(open_fdset) each(get_err) each(read) each(get_typed_attr) \
	each(set_attr) each(bmp_incref) each(bmp_decref) each(bmp_find_set)
#define MEMBER(name)	typeof(kdump_##name) *name;
#define NAME(name)	"kdump_" #name,

static struct { ALL_FUNCTIONS(MEMBER) } kdump;
static const char *const functions[] = { ALL_FUNCTIONS(NAME) };

static bool load_library(struct hyptrace_error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *found;
	unsigned int i;

	for (i = 0; library && i < COUNT(functions); i++) {
		found = dlsym(library, functions[i]);
		if (!found)
			break;
		memcpy((void **)&kdump + i, &found, sizeof(found));
	}
	if (i == COUNT(functions))
		return true;
	hyptrace_error_set(err, EOPNOTSUPP, "cannot read dumps: %s (install libkdumpfile10)",
			   dlerror());
	return false;
}

/*
 * Read the head of an ELF file, if that is what the dump is. libkdumpfile 0.5.1 trusts the sizes
 * and offsets in it, and may crash. Return false if it must not read the file. Format: elf(5),
 * System V ABI
 */
static bool read_elf_head(const struct dump_memory *mem, Elf64_Ehdr *head, uint64_t *file_size)
{
	const int data = htole16(1) == 1 ? ELFDATA2LSB : ELFDATA2MSB;
	struct stat file;

	if (mem->is_live || fstat(mem->fd, &file) || !S_ISREG(file.st_mode) ||
	    pread(mem->fd, head, sizeof(*head), 0) != sizeof(*head) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG)) {
		head->e_phnum = 0;
		return true;
	}
	*file_size = file.st_size;
	/* arm64 has no other class; the byte order is that of all numbers in the dump */
	return head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == data &&
	       head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phoff <= *file_size &&
	       head->e_shoff <= *file_size &&
	       ((!head->e_shoff && !head->e_shnum) || head->e_shentsize == sizeof(Elf64_Shdr));
}

/* libkdumpfile reads zeros where an ELF file ends too early. Find these places. */
static void find_gaps(struct dump_memory *mem, const Elf64_Ehdr *head, uint64_t file_size)
{
	Elf64_Phdr part;
	uint64_t has, from, to;
	struct gap *last;
	unsigned int i;

	for (i = 0; i < head->e_phnum; i++) {
		if (pread(mem->fd, &part, sizeof(part),
			  head->e_phoff + (uint64_t)i * sizeof(part)) != sizeof(part))
			break;
		has = file_size > part.p_offset ? file_size - part.p_offset : 0;
		if (part.p_type != PT_LOAD || has >= part.p_filesz)
			continue;
		from = part.p_paddr + has;
		to = part.p_paddr + part.p_filesz;
		if (mem->nr_gaps < GAPS_MAX) {
			mem->gaps[mem->nr_gaps++] = (struct gap){ from, to };
		} else {
			last = &mem->gaps[GAPS_MAX - 1];
			*last = (struct gap){ MIN(last->from, from), MAX(last->to, to) };
		}
		mem->missing += part.p_filesz - has;
	}
}

static bool is_in_gap(const struct dump_memory *mem, uint64_t address, size_t size)
{
	unsigned int i;

	for (i = 0; i < mem->nr_gaps; i++)
		if (address < mem->gaps[i].to && address + size > mem->gaps[i].from)
			return true;
	return false;
}

static int open_kdump(struct dump_memory *mem, const char *path, struct hyptrace_error *err)
{
	/* what is mapped would count as memory of this process: all that was searched */
	const kdump_attr_t never = { .type = KDUMP_NUMBER, .val.number = KDUMP_MMAP_NEVER };
	char head[sizeof(FLATTENED) - 1];
	uint64_t file_size = 0;
	Elf64_Ehdr elf;
	struct statfs fs;
	int ret;

	if (!load_library(err))
		return -EOPNOTSUPP;
	mem->is_live = !fstatfs(mem->fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	if (!read_elf_head(mem, &elf, &file_size))
		return hyptrace_error_set(err, EBADMSG, "cannot read the dump \"%s\": its ELF header is damaged, or that of another kind of machine",
					  path);
	find_gaps(mem, &elf, file_size);
	mem->ctx = kdump.new();
	if (!mem->ctx)
		return hyptrace_error_memory(err);
	if (kdump.set_attr(mem->ctx, KDUMP_ATTR_FILE_MMAP_POLICY, &never) == KDUMP_OK &&
	    kdump.open_fdset(mem->ctx, 1, &mem->fd) == KDUMP_OK)
		return 0;
	/* libkdumpfile before 0.5.2 does not read them */
	if (pread(mem->fd, head, sizeof(head), 0) == sizeof(head) &&
	    !memcmp(head, FLATTENED, sizeof(head)))
		ret = hyptrace_error_set(err, EOPNOTSUPP, "the dump \"%s\" is flattened: first make a file of it: makedumpfile -R FILE <%s",
					 path, path);
	else
		ret = hyptrace_error_set(err, EBADMSG, "cannot read the dump \"%s\": %s", path,
					 kdump.get_err(mem->ctx));
	/* libkdumpfile 0.5.1 may crash when it frees what it could not open */
	mem->ctx = NULL;
	return ret;
}

static void close_kdump(struct dump_memory *mem)
{
	if (mem->ctx)
		kdump.free(mem->ctx);
}

static bool read_kdump(struct dump_memory *mem, uint64_t address, void *to, size_t size)
{
	size_t got = size;

	return !is_in_gap(mem, address, size) &&
	       kdump.read(mem->ctx, KDUMP_MACHPHYSADDR, address, to, &got) == KDUMP_OK &&
	       got == size;
}

/*
 * At the beginning of any page that the dump has. Its own pages may be larger, as QEMU's are. The
 * newest is the one: a kernel that was there before, as before a kexec, may have left its own.
 */
static struct hyptrace_dump *find_anywhere(struct dump_memory *mem)
{
	kdump_attr_t size = { .type = KDUMP_NUMBER }, map = { .type = KDUMP_BITMAP };
	struct hyptrace_dump *page = NULL, *other;
	kdump_addr_t pfn = 0, at;

	if (kdump.get_typed_attr(mem->ctx, KDUMP_ATTR_PAGE_SIZE, &size) != KDUMP_OK) {
		size = (kdump_attr_t){ .type = KDUMP_NUMBER, .val.number = PAGE_SIZE_MIN };
		if (kdump.set_attr(mem->ctx, KDUMP_ATTR_PAGE_SIZE, &size) != KDUMP_OK)
			return NULL;
	}
	if (kdump.get_typed_attr(mem->ctx, KDUMP_ATTR_FILE_PAGEMAP, &map) != KDUMP_OK)
		return NULL;
	/* reading may replace the attribute */
	kdump.bmp_incref(map.val.bitmap);
	mem->nr_missing = 0;
	for (; kdump.bmp_find_set(map.val.bitmap, &pfn) == KDUMP_OK; pfn++) {
		if (mem->nr_missing >= MISSING_MAX)
			break;
		for (at = pfn * size.val.number; at < (pfn + 1) * size.val.number;
		     at += PAGE_SIZE_MIN) {
			other = read_page(mem, at);
			if (other && page && other->changed < page->changed) {
				free(other);
			} else if (other) {
				free(page);
				page = other;
			}
		}
	}
	kdump.bmp_decref(map.val.bitmap);
	return page;
}

static struct hyptrace_dump *find_in_kdump(struct dump_memory *mem)
{
	kdump_attr_t line = { .type = KDUMP_STRING };
	struct hyptrace_dump *page = NULL;

	/* where VMCOREINFO says that it is */
	if (kdump.get_typed_attr(mem->ctx, LINE, &line) == KDUMP_OK)
		page = read_page(mem, strtoull(line.val.string, NULL, 16));
	/* to read a page of the hypervisor may end a machine that runs */
	return page || mem->is_live ? page : find_anywhere(mem);
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int open_kdump(struct dump_memory *mem, const char *path, struct hyptrace_error *err)
{
	return hyptrace_error_set(err, EOPNOTSUPP, "cannot read the dump \"%s\": this hyptrace was built without libkdumpfile",
				  path);
}

static void close_kdump(struct dump_memory *mem) { }

static bool read_kdump(struct dump_memory *mem, uint64_t address, void *to, size_t size)
{
	return false;
}

static struct hyptrace_dump *find_in_kdump(struct dump_memory *mem)
{
	return NULL;
}

#endif

struct dump_memory *hyptrace_memory_open(const char *path, struct hyptrace_error *err)
{
	struct dump_memory *mem = calloc(1, sizeof(*mem));
	struct hyptrace_dump head;

	if (!mem)
		return hyptrace_error_null(hyptrace_error_memory(err));
	mem->why = -ENOENT;
	mem->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (mem->fd < 0) {
		hyptrace_error_set(err, errno, "cannot open \"%s\": %m", path);
	} else if (pread(mem->fd, &head, sizeof(head), 0) == sizeof(head) &&
		   !memcmp(head.magic, HYPTRACE_DUMP_MAGIC, sizeof(head.magic))) {
		mem->is_image = true;
		mem->base = head.address;
		return mem;
	} else if (!open_kdump(mem, path, err)) {
		return mem;
	}
	hyptrace_memory_close(mem);
	return NULL;
}

void hyptrace_memory_close(struct dump_memory *mem)
{
	if (!mem)
		return;
	close_kdump(mem);
	close(mem->fd);
	free(mem);
}

/* Read memory at a physical address. Return false if the dump does not have all of it. */
bool hyptrace_memory_read(struct dump_memory *mem, uint64_t address, void *to, size_t size)
{
	return mem->is_image ? pread(mem->fd, to, size, address - mem->base) == (ssize_t)size :
			       read_kdump(mem, address, to, size);
}

/* Find the driver's page, for free(). Return 0, -ENOENT, -EBADMSG if it is damaged, or -ENOMEM. */
int hyptrace_memory_find(struct dump_memory *mem, struct hyptrace_dump **page)
{
	*page = mem->is_image ? read_page(mem, mem->base) : find_in_kdump(mem);
	return *page ? 0 : mem->why;
}
