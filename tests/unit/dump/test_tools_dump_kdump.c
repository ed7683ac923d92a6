// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps that libkdumpfile reads: how they are opened, searched and closed, and what their files do
 * not have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef KDUMPFILE

#include <elf.h>
#include <endian.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <linux/magic.h>

#include "dump_image.h"
#include "fake_kdumpfile.h"
#include "lib/dump/dump.h"
#include "lib/hyptrace_file.h"

/* An address that no dump has */
#define NOWHERE	(BASE + (UINT64_C(1) << 30))

static struct dump_image image;
/* The first page of the file, before the pages of the image */
static _Alignas(8) unsigned char head[PAGE];
static struct hyptrace_error err;
static char notes[1024];

/* The lowest descriptor that is free before a test */
static int lowest;

static int build(void **state)
{
	(void)state;
	image_build(&image, 2, 2);
	memset(head, 0, sizeof(head));
	lib = (struct fake_kdumpfile){
		.line = "1000000", .policy = KDUMP_MMAP_TRY, .page_size = PAGE,
		.map = { .from = BASE / PAGE, .to = BASE / PAGE + image.nr },
		.mode = S_IFREG, .magic = TMPFS_MAGIC,
	};
	lowest = dup(2);
	return close(lowest);
}

static int all_is_closed(void **state)
{
	(void)state;
	assert_int_equal(dup(2), lowest);
	return close(lowest);
}

static void take_note(void *arg, const char *text)
{
	(void)arg;
	strcat(notes, text);
	strcat(notes, "\n");
}

static uint64_t file_size(void)
{
	return (1 + image.nr) * PAGE;
}

/* Make a file; return its descriptor. */
static int dump_file(char path[static 32])
{
	int fd = memfd_create("dump", MFD_CLOEXEC);

	assert_int_equal(write(fd, head, PAGE), PAGE);
	assert_int_equal(write(fd, image.data, image.nr * PAGE), image.nr * PAGE);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static struct hyptrace *open_dump(void)
{
	struct hyptrace *h;
	char path[32];
	int fd = dump_file(path);

	notes[0] = 0;
	memset(&err, 0, sizeof(err));
	h = hyptrace_open_dump(path, NULL, take_note, NULL, &err);
	close(fd);
	return h;
}

static void refused(int errnum, const char *said)
{
	assert_null(open_dump());
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

static void accepted(const char *said)
{
	struct hyptrace *h = open_dump();

	if (!h)
		fail_msg("%s", err.text);
	assert_string_equal(notes, said);
	assert_int_equal(lib.nr_open, 1);
	hyptrace_close(h);
	assert_int_equal(lib.nr_open, 0);
	assert_int_equal(lib.map.users, 0);
}

static void the_library(void **state)
{
	const char *said = "cannot read dumps: it is not there (install libkdumpfile10)";
	unsigned int i;

	(void)state;
	accepted("");
	lib.missing = "";
	refused(EOPNOTSUPP, said);
	for (i = 0; fake_kdumpfile_functions[i]; i++) {
		lib.missing = fake_kdumpfile_functions[i];
		refused(EOPNOTSUPP, said);
	}
}

static void what_cannot_be_opened(void **state)
{
	const char *odd = "cannot read the dump \"/proc/self/fd/";
	const char *flat = "is flattened: first make a file of it: makedumpfile -R FILE </proc/";

	(void)state;
	lib.has_no_memory = true;
	refused(ENOMEM, "");
	lib.has_no_memory = false;
	lib.refused = KDUMP_ATTR_FILE_MMAP_POLICY;
	refused(EBADMSG, odd);
	lib.refused = NULL;
	lib.cannot_open = true;
	refused(EBADMSG, odd);
	assert_non_null(strstr(err.text, "\": it is odd"));
	strcpy((char *)head, "makedumpfil");
	refused(EBADMSG, odd);
	strcpy((char *)head, "makedumpfile");
	refused(EOPNOTSUPP, flat);
	/* the library may crash when it frees these */
	assert_int_equal(lib.nr_open, 4);
}

/* All of a ring is what the dump has. */
static void a_ring(void **state)
{
	const struct hyptrace_map_meta *meta;
	struct hyptrace_reader *reader;
	struct hyptrace *h = open_dump();
	struct hyptrace_cpu *cpu;

	(void)state;
	assert_non_null(h);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 1, &cpu, &err), 0);
	assert_int_equal(cpu->overrun, 101);
	assert_int_equal(cpu->dropped, 201);
	assert_int_equal(cpu->unreported, 101 + 201 - 51);
	hyptrace_free_cpu(cpu);
	reader = h->backend->map(h->backend_arg, 1, &err);
	assert_non_null(reader);
	assert_false(reader->is_image);
	meta = (const void *)reader->meta;
	assert_int_equal(meta->begin, 7001);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	assert_string_equal(notes, "");
}

/* A machine that has not been reset has each ring whole: nothing of it is sealed. */
static void an_odd_ring(void **state)
{
	struct hyptrace_dump_list *rings = image_page(&image, image_head(&image)->remotes->rings);
	__u64 *pages = ((struct hyptrace_dump_list *)image_page(&image, rings->at[1]))->at;
	uint64_t *reported = image_page(&image, pages[HYPTRACE_DUMP_REPORTED]);
	struct hyptrace_map_meta *meta = image_page(&image, pages[HYPTRACE_DUMP_MAP_META]);
	struct hyptrace_subbuf *subbuf = image_page(&image, pages[HYPTRACE_DUMP_SUBBUFS]);
	struct hyptrace_reader *reader;
	struct hyptrace_cpu *cpu;
	struct hyptrace *h;

	(void)state;
	/* they change while the dump is written */
	*reported = 101 + 201 + 1;
	/* a clear was in progress */
	meta->begin = UINT64_MAX;
	subbuf->data[0]++;
	subbuf->commit += 4;
	h = open_dump();
	assert_non_null(h);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 1, &cpu, &err), 0);
	assert_int_equal(cpu->unreported, 0);
	hyptrace_free_cpu(cpu);
	reader = h->backend->map(h->backend_arg, 1, &err);
	assert_non_null(reader);
	meta = (void *)reader->meta;
	assert_int_equal(meta->begin, 0);
	assert_int_equal(meta->buffer.meta_struct_len, sizeof(*meta));
	assert_memory_equal(reader->data, subbuf, PAGE);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	assert_string_equal(notes, "");
}

/* Rings of which no sub-buffer is there, or no rings */
static void no_rings(void **state)
{
	struct hyptrace_dump_list *rings = image_page(&image, image_head(&image)->remotes->rings);
	__u64 *pages = ((struct hyptrace_dump_list *)image_page(&image, rings->at[0]))->at;
	struct hyptrace_cpu **cpus;
	struct hyptrace *h;
	unsigned int nr;

	(void)state;
	pages[HYPTRACE_DUMP_SUBBUFS] = pages[HYPTRACE_DUMP_SUBBUFS + 1] = NOWHERE;
	image_sign_list(&image, rings->at[0]);
	rings->at[1] = 0;
	h = open_dump();
	assert_non_null(h);
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, 1);
	hyptrace_free_cpus(cpus);
	hyptrace_reader_close(h->backend->map(h->backend_arg, 0, &err));
	assert_string_equal(notes, "2 of 2 sub-buffers of CPU 0 are not in the dump: their events are missing\n");
	hyptrace_close(h);
	rings->at[0] = 0;
	accepted("");
}

static void missing_parts(void **state)
{
	const char *counters = "counters of CPU 0 are not in the dump: more events may be lost\n";
	struct hyptrace_dump_list *rings = image_page(&image, image_head(&image)->remotes->rings);
	__u64 *pages = ((struct hyptrace_dump_list *)image_page(&image, rings->at[0]))->at;
	const uint64_t counts = pages[HYPTRACE_DUMP_COUNTS];
	const uint64_t reported = pages[HYPTRACE_DUMP_REPORTED];
	struct hyptrace_reader *reader;
	struct hyptrace *h;

	(void)state;
	pages[HYPTRACE_DUMP_COUNTS] = NOWHERE;
	image_sign_list(&image, rings->at[0]);
	accepted(counters);
	pages[HYPTRACE_DUMP_COUNTS] = counts;
	pages[HYPTRACE_DUMP_REPORTED] = NOWHERE;
	image_sign_list(&image, rings->at[0]);
	accepted(counters);
	pages[HYPTRACE_DUMP_REPORTED] = reported;
	image_sign_list(&image, rings->at[0]);
	/* what is read is whole, or is not there */
	h = open_dump();
	assert_non_null(h);
	assert_string_equal(notes, "");
	lib.is_short = true;
	reader = h->backend->map(h->backend_arg, 0, &err);
	assert_non_null(reader);
	assert_int_equal(((const struct hyptrace_map_meta *)reader->meta)->begin, 0);
	assert_int_equal(((const struct hyptrace_subbuf *)reader->data)->commit, 0);
	assert_string_equal(notes, "what was read of CPU 0 is not known: its events may be read before\n"
			    "2 of 2 sub-buffers of CPU 0 are not in the dump: their events are missing\n");
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	refused(ENOENT, " has nothing of hyptrace: its driver was not loaded");
}

/* Put the head of an ELF file before the pages. Return the heads of its parts. */
static Elf64_Phdr *put_elf(unsigned int nr_parts)
{
	*(Elf64_Ehdr *)head = (Elf64_Ehdr){
		.e_ident = {
			ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			htole16(1) == 1 ? ELFDATA2LSB : ELFDATA2MSB,
		},
		.e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = nr_parts,
	};
	return (Elf64_Phdr *)((Elf64_Ehdr *)head + 1);
}

#define is_damaged(member, value) do {						\
	typeof((member)) was = (member);					\
										\
	(member) = (value);							\
	refused(EBADMSG, "its ELF header is damaged, or that of another kind");	\
	(member) = was;								\
} while (0)

static void heads_of_elf_files(void **state)
{
	Elf64_Ehdr *elf = (void *)head;

	(void)state;
	put_elf(0);
	accepted("");
	is_damaged(elf->e_ident[EI_CLASS], ELFCLASS32);
	is_damaged(elf->e_ident[EI_DATA], ELFDATA2LSB + ELFDATA2MSB - elf->e_ident[EI_DATA]);
	is_damaged(elf->e_phentsize, sizeof(Elf64_Phdr) - 1);
	is_damaged(elf->e_phentsize, sizeof(Elf64_Phdr) + 1);
	is_damaged(elf->e_phoff, file_size() + 1);
	is_damaged(elf->e_shoff, 1);
	is_damaged(elf->e_shnum, 1);
	elf->e_shentsize = sizeof(Elf64_Shdr);
	is_damaged(elf->e_shoff, file_size() + 1);
	elf->e_shoff = file_size();
	elf->e_phoff = file_size();
	elf->e_shnum = 1;
	accepted("");
	/* of no regular file the size is known, and that of what a machine has now is none */
	elf->e_phoff = file_size() + 1;
	lib.mode = S_IFBLK;
	accepted("");
	lib.mode = S_IFREG;
	lib.no_stat = -1;
	accepted("");
	lib.no_stat = 0;
	lib.magic = PROC_SUPER_MAGIC;
	accepted("");
	lib.no_statfs = -1;
	refused(EBADMSG, "its ELF header is damaged, or that of another kind");
	/* no ELF file */
	head[3]++;
	accepted("");
}

/* Add a part of so many bytes, of which the file has some. */
static void put_part(Elf64_Phdr *part, uint64_t address, uint64_t bytes, uint64_t has)
{
	*part = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = file_size() - has, .p_paddr = address,
		.p_filesz = bytes,
	};
}

static struct dump_memory *open_memory(void)
{
	struct dump_memory *mem;
	char path[32];
	int fd = dump_file(path);

	mem = hyptrace_memory_open(path, &err);
	close(fd);
	assert_non_null(mem);
	return mem;
}

/* Only of these bytes nothing can be read. */
static void is_gap(struct dump_memory *mem, uint64_t from, uint64_t to)
{
	uint64_t word;

	assert_true(hyptrace_memory_read(mem, from - 8, &word, 8));
	assert_false(hyptrace_memory_read(mem, from - 7, &word, 8));
	assert_false(hyptrace_memory_read(mem, to - 1, &word, 8));
	assert_true(hyptrace_memory_read(mem, to, &word, 8));
}

/* What a cut file does not have is not read as zeros. */
static void gaps(void **state)
{
	Elf64_Phdr *parts = put_elf(4);
	struct dump_memory *mem;

	(void)state;
	put_part(&parts[0], BASE, PAGE, 0);
	parts[0].p_type = PT_NOTE;
	put_part(&parts[1], BASE, PAGE, PAGE);
	put_part(&parts[2], BASE + 2 * PAGE, PAGE, 100);
	put_part(&parts[3], BASE + 4 * PAGE, 200, 0);
	parts[3].p_offset++;
	mem = open_memory();
	assert_int_equal(mem->nr_gaps, 2);
	assert_int_equal(mem->missing, PAGE - 100 + 200);
	is_gap(mem, BASE + 2 * PAGE + 100, BASE + 3 * PAGE);
	is_gap(mem, BASE + 4 * PAGE, BASE + 4 * PAGE + 200);
	hyptrace_memory_close(mem);
	/* no part is behind the end of the file */
	memcpy(image.data + image.nr * PAGE - sizeof(*parts), &parts[3], sizeof(*parts));
	((Elf64_Ehdr *)head)->e_phoff = file_size() - sizeof(*parts);
	mem = open_memory();
	assert_int_equal(mem->nr_gaps, 1);
	assert_int_equal(mem->missing, 200);
	hyptrace_memory_close(mem);
	/* of a file whose size says nothing, none is known */
	lib.mode = S_IFBLK;
	mem = open_memory();
	assert_int_equal(mem->nr_gaps, 0);
	assert_int_equal(mem->missing, 0);
	hyptrace_memory_close(mem);
}

static void many_gaps(void **state)
{
	Elf64_Phdr *parts = put_elf(GAPS_MAX + 2);
	struct dump_memory *mem;
	unsigned int i;

	(void)state;
	for (i = 0; i < GAPS_MAX + 2; i++)
		put_part(&parts[i], BASE + 100 * i + 100, 10, 0);
	mem = open_memory();
	assert_int_equal(mem->nr_gaps, GAPS_MAX);
	assert_int_equal(mem->missing, 10 * (GAPS_MAX + 2));
	for (i = 0; i < GAPS_MAX - 1; i++)
		is_gap(mem, BASE + 100 * i + 100, BASE + 100 * i + 110);
	is_gap(mem, BASE + 100 * GAPS_MAX, BASE + 100 * (GAPS_MAX + 2) + 10);
	hyptrace_memory_close(mem);
	/* the last ones are before the one that covers them */
	put_part(&parts[GAPS_MAX], BASE + 50, 10, 0);
	put_part(&parts[GAPS_MAX + 1], BASE + 60, 10, 0);
	mem = open_memory();
	assert_int_equal(mem->nr_gaps, GAPS_MAX);
	is_gap(mem, BASE + 50, BASE + 100 * GAPS_MAX + 10);
	hyptrace_memory_close(mem);
}

static void a_cut_file(void **state)
{
	Elf64_Phdr *parts = put_elf(1);

	(void)state;
	put_part(parts, BASE + image.nr * PAGE, 500, 0);
	accepted("the file was cut: 500 bytes of memory are missing at its end\n");
	put_part(parts, BASE, PAGE, 0);
	refused(ENOENT, " has nothing of hyptrace: the file was cut, 4096 bytes of memory are missing at its end");
}

/* Add a page that describes no remote. It was changed at this time. */
static uint64_t add_other(int64_t changed)
{
	uint64_t address = image_add(&image, image.data, PAGE);
	struct hyptrace_dump *other = image_page(&image, address);

	other->address = address;
	other->changed = changed;
	other->nr_remotes = 0;
	other->sum = 0;
	other->sum = image_crc(other, PAGE);
	lib.map.to = lib.map.from + image.nr;
	return address;
}

/* If VMCOREINFO does not say where it is, it is searched; the newest one is the one. */
static void the_search(void **state)
{
	const char *none = " has nothing of hyptrace: its driver was not loaded";
	char line[32];

	(void)state;
	lib.line = NULL;
	accepted("");
	/* not in what a machine has now */
	lib.magic = PROC_SUPER_MAGIC;
	refused(ENOENT, none);
	lib.no_statfs = -1;
	accepted("");
	lib.refused = KDUMP_ATTR_FILE_PAGEMAP;
	refused(ENOENT, none);
	lib.refused = KDUMP_ATTR_PAGE_SIZE;
	refused(ENOENT, none);
	lib.refused = NULL;
	lib.page_size = 0;
	accepted("");
	assert_int_equal(lib.page_size, 4096);
	/* anywhere in a large page */
	lib.page_size = 16 * PAGE;
	lib.map.from = BASE / lib.page_size;
	lib.map.to = lib.map.from + 1;
	accepted("");
	lib.page_size = PAGE;
	lib.map.from = BASE / PAGE;
	/* others; the page at BASE was changed at 1 */
	add_other(0);
	accepted("");
	/* of two from the same time, it is the second one */
	add_other(1);
	refused(ENODEV, "no remote was registered");
	image_head(&image)->changed = 2;
	image_sign(&image);
	accepted("");
	snprintf(line, sizeof(line), "%llx", (unsigned long long)add_other(3));
	refused(ENODEV, "no remote was registered");
	lib.line = "1000000";
	accepted("");
	lib.line = line;
	refused(ENODEV, "no remote was registered");
	/* a page that cannot be right */
	lib.line = "1000008";
	image_head(&image)->changed = 4;
	image_sign(&image);
	accepted("");
	image_head(&image)->sum++;
	refused(ENODEV, "no remote was registered");
}

/* A search ends if too many pages are not there that the file promises. */
static void missing_pages(void **state)
{
	(void)state;
	/* the one by VMCOREINFO does not count */
	lib.line = "0";
	lib.map.from = BASE / PAGE - 4095;
	accepted("");
	lib.map.from--;
	refused(ENOENT, " has nothing of hyptrace: its driver was not loaded");
	assert_int_equal(lib.map.users, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_library, build, all_is_closed),
		cmocka_unit_test_setup_teardown(what_cannot_be_opened, build, all_is_closed),
		cmocka_unit_test_setup_teardown(a_ring, build, all_is_closed),
		cmocka_unit_test_setup_teardown(an_odd_ring, build, all_is_closed),
		cmocka_unit_test_setup_teardown(no_rings, build, all_is_closed),
		cmocka_unit_test_setup_teardown(missing_parts, build, all_is_closed),
		cmocka_unit_test_setup_teardown(heads_of_elf_files, build, all_is_closed),
		cmocka_unit_test_setup_teardown(gaps, build, all_is_closed),
		cmocka_unit_test_setup_teardown(many_gaps, build, all_is_closed),
		cmocka_unit_test_setup_teardown(a_cut_file, build, all_is_closed),
		cmocka_unit_test_setup_teardown(the_search, build, all_is_closed),
		cmocka_unit_test_setup_teardown(missing_pages, build, all_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void without_its_header(void **state)
{
	(void)state;
	print_message("left out: libkdumpfile-dev is not installed\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_its_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
