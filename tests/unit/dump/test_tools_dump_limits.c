// SPDX-License-Identifier: GPL-2.0-only
/* Lists of a dump that are as long as they may be, or longer: memory that is damaged ends soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump_image.h"
#include "lib/hyptrace_file.h"
#include "lib/internal.h"

/* Large pages: there are few in a long list. The image has four. */
#define LARGE		65536
#define RING		(HYPTRACE_DUMP_SUBBUFS + 1)
/* The most addresses of a list, bytes of all rings, and pages of all lists */
#define ADDRESSES_MAX	(1 << 20)
#define RINGS_BYTES_MAX	(1 << 30)
#define LIST_PAGES_MAX	(1 << 16)
/* Lists come after all other pages. */
#define LIST(page)	(BASE + sizeof(image.data) + (page) * (uint64_t)page_size)

static struct dump_image image;
static struct hyptrace_error err;
static char notes[1024], path[32];
static uint32_t page_size;
static int fd;

static struct hyptrace_dump_list *list_at(uint64_t address)
{
	return image_page(&image, address);
}

static int build(void **state)
{
	(void)state;
	page_size = PAGE;
	image_build(&image, 2, 1);
	fd = image_open(&image, path);
	return fd < 0;
}

/* Make the pages of a remote large, of which only the first message of the description is kept. */
static int build_large(void **state)
{
	struct hyptrace_dump *head = image_head(&image);
	uint32_t text[PAGE / 4], len, i;
	int ret = build(state);

	memcpy(text, image_page(&image, list_at(head->remotes->text)->at[0]), PAGE);
	len = text[0];
	for (i = 0; i < len / 4; i++)
		if (text[i] == (8 | HYPTRACE_A_REMOTE_SUBBUF_SIZE << 16))
			text[i + 1] = LARGE;
	memset(image.data + PAGE, 0, sizeof(image.data) - PAGE);
	page_size = LARGE;
	head->page_size = LARGE;
	head->remotes->text = BASE + LARGE;
	head->remotes->text_bytes = len;
	head->remotes->text_sum = image_crc(text, len);
	head->remotes->rings = BASE + 3 * LARGE;
	*list_at(BASE + LARGE) = (struct hyptrace_dump_list){ .nr = 1 };
	list_at(BASE + LARGE)->at[0] = BASE + 2 * LARGE;
	list_at(BASE + LARGE)->sum = image_crc(list_at(BASE + LARGE), LARGE);
	memcpy(image_page(&image, BASE + 2 * LARGE), text, len);
	return ret;
}

static int close_image(void **state)
{
	(void)state;
	return close(fd);
}

static void take_note(void *arg, const char *text)
{
	(void)arg;
	strcat(notes, text);
}

static struct hyptrace *open_dump(void)
{
	image_head(&image)->sum = 0;
	image_head(&image)->sum = image_crc(image.data, page_size);
	assert_int_equal(pwrite(fd, image.data, sizeof(image.data), 0), sizeof(image.data));
	notes[0] = 0;
	return hyptrace_open_dump(path, NULL, take_note, NULL, &err);
}

static void refused(int errnum, const char *said)
{
	assert_null(open_dump());
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

/* It has so many CPUs, the first of which is this one. */
static void accepted(unsigned int nr_cpus, unsigned int first, const char *said)
{
	struct hyptrace *h = open_dump();
	struct hyptrace_cpu **cpus;
	unsigned int nr;

	if (!h)
		fail_msg("%s", err.text);
	assert_string_equal(notes, said);
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, nr_cpus);
	assert_int_equal(cpus[0]->id, first);
	hyptrace_free_cpus(cpus);
	hyptrace_close(h);
}

/* Write the list of a CPU: @nr addresses, @per_page in a page. Those that are not in @at are 0. */
static uint64_t put_list(const uint64_t *at, unsigned int nr, unsigned int per_page,
			 unsigned int cpu)
{
	static union {
		struct hyptrace_dump_list	list;
		char				data[LARGE];
	} page;
	/* a list of CPU 1 is behind the longest one of CPU 0 */
	const unsigned int first = cpu * 3;
	unsigned int done, i, n;

	for (i = first, done = 0; done < nr; i++, done += n) {
		n = nr - done < per_page ? nr - done : per_page;
		memset(&page, 0, page_size);
		page.list.nr = n;
		page.list.cpu = cpu;
		page.list.next = done + n < nr ? LIST(i + 1) : 0;
		if (at) {
			memcpy(page.list.at, at + done, n * sizeof(*at));
			page.list.sum = image_crc(&page, page_size);
		}
		assert_int_equal(pwrite(fd, &page, page_size, LIST(i) - BASE), page_size);
	}
	return LIST(first);
}

/* The same with full pages */
static uint64_t put_full_list(const uint64_t *at, unsigned int nr, unsigned int cpu)
{
	const size_t room = page_size - sizeof(struct hyptrace_dump_list);

	return put_list(at, nr, room / sizeof(*at), cpu);
}

static void addresses(void **state)
{
	(void)state;
	image_head(&image)->remotes->rings = put_full_list(NULL, ADDRESSES_MAX, 0);
	refused(ENODATA, "no ring of \"hypervisor\" is in the memory");
	put_full_list(NULL, ADDRESSES_MAX + 1, 0);
	refused(EBADMSG, "the list of the rings is damaged");
}

static void cpus(void **state)
{
	struct hyptrace_dump_list *rings = list_at(image_head(&image)->remotes->rings);
	const void *pages = list_at(rings->at[0])->at;
	static uint64_t at[8193];
	struct hyptrace *h;

	(void)state;
	at[8191] = image_list(&image, pages, RING, 8191, 0);
	at[8192] = image_list(&image, pages, RING, 8192, 0);
	image_head(&image)->remotes->rings = put_full_list(at, 8193, 0);
	accepted(1, 8191, "");
	h = open_dump();
	assert_null(h->backend->map(h->backend_arg, 8192, &err));
	assert_int_equal(err.errnum, ENXIO);
	hyptrace_close(h);
}

static void memory(void **state)
{
	const unsigned int max = RINGS_BYTES_MAX / LARGE;
	struct hyptrace_dump_list *rings = list_at(BASE + 3 * LARGE);
	static uint64_t at[RINGS_BYTES_MAX / LARGE + 1];
	unsigned int i;

	(void)state;
	for (i = 0; i <= max; i++)
		at[i] = BASE;
	rings->nr = 2;
	rings->at[0] = put_full_list(at, max - RING, 0);
	rings->at[1] = put_full_list(at, RING, 1);
	accepted(2, 0, "");
	put_full_list(at, max - RING + 1, 0);
	accepted(1, 0, "the ring of CPU 1 takes too much memory");
	put_full_list(at, max + 1, 0);
	accepted(1, 1, "the ring of CPU 0 takes too much memory");
}

/*
 * The lists of the rings of all remotes are read to choose one: that of the first one 7 times, the
 * others twice. Then the list of the description is read, then that of the rings again.
 */
static void pages_of_lists(void **state)
{
	const unsigned int nr_first = 2975, nr_others = 2981;
	struct hyptrace_dump_remote *remotes = image_head(&image)->remotes;
	unsigned char text[3 * PAGE] = {};
	unsigned int i, nr;

	(void)state;
	assert_int_equal(8 * nr_first + 7 * 2 * nr_others + 2, LIST_PAGES_MAX);
	put_list(NULL, nr_others, 1, 0);
	for (i = 1; i < HYPTRACE_DUMP_REMOTES; i++) {
		remotes[i].name[0] = 'a';
		remotes[i].rings = LIST(0);
	}
	remotes->rings = LIST(nr_others - nr_first);
	image_head(&image)->nr_remotes = HYPTRACE_DUMP_REMOTES;
	/* each page of the description has a page of its list */
	for (nr = 2; nr <= 3; nr++) {
		remotes->text = 0;
		for (i = 0; i < nr; i++) {
			uint64_t at = image_add(&image, text, PAGE);

			remotes->text = image_list(&image, &at, 1, 0, remotes->text);
		}
		remotes->text_bytes = nr * PAGE;
		remotes->text_sum = image_crc(text, nr * PAGE);
		if (nr == 2)
			refused(ENODATA, "no ring of \"hypervisor\" is in the memory");
		else
			refused(EBADMSG, "the list of the rings is damaged");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(addresses, build_large, close_image),
		cmocka_unit_test_setup_teardown(cpus, build, close_image),
		cmocka_unit_test_setup_teardown(memory, build_large, close_image),
		cmocka_unit_test_setup_teardown(pages_of_lists, build, close_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
