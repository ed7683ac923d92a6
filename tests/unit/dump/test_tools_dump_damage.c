// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that has outlived a reset, and is damaged or cut: what is wrong is said, and the rest is
 * read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "dump_image.h"
#include "lib/hyptrace_file.h"
#include "lib/internal.h"

#define NO_RING	"the rings of 1 CPUs are not in the image: it was cut, or they did not fit in the " \
	"memory that outlives a reset\n"
#define NO_SUBBUF "1 of 2 sub-buffers of CPU 0 are not in the dump: their events are missing\n"

#define CPUS	2
#define SUBBUFS	2
/* An address that no image has */
#define NOWHERE	(BASE + (UINT64_C(1) << 30))

static struct dump_image image;
static struct hyptrace_error err;
static char notes[1024];

static void take_note(void *arg, const char *text)
{
	(void)arg;
	strcat(notes, text);
	strcat(notes, "\n");
}

static struct hyptrace *open_image(const char *remote)
{
	struct hyptrace *h;
	char path[32];
	int fd = image_open(&image, path);

	assert_true(fd >= 0);
	notes[0] = 0;
	memset(&err, 0, sizeof(err));
	h = hyptrace_open_dump(path, remote, take_note, NULL, &err);
	close(fd);
	return h;
}

static void refused(const char *remote, int errnum, const char *said)
{
	assert_null(open_image(remote));
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

/* It is read, with these CPUs, and the notes are these. */
static struct hyptrace *accepted(const char *remote, unsigned int nr_cpus, const char *said)
{
	struct hyptrace *h = open_image(remote);
	struct hyptrace_cpu **cpus;
	unsigned int nr;

	if (!h)
		fail_msg("%s", err.text);
	assert_string_equal(notes, said);
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, nr_cpus);
	hyptrace_free_cpus(cpus);
	return h;
}

static struct hyptrace_dump_remote *remotes(void)
{
	return image_head(&image)->remotes;
}

static struct hyptrace_dump_list *list_at(uint64_t address)
{
	return image_page(&image, address);
}

static struct hyptrace_dump_list *ring_list(unsigned int cpu)
{
	return list_at(list_at(remotes()->rings)->at[cpu]);
}

static int build(void **state)
{
	(void)state;
	image_build(&image, CPUS, SUBBUFS);
	return 0;
}

static void first_page(void **state)
{
	static const uint32_t sizes[] = { 0, 2048, 4095, 4097, 12288, 131072 };
	const char *nothing = " has nothing of hyptrace: its driver was not loaded";
	struct hyptrace_dump *head = image_head(&image);
	unsigned int i, nr = image.nr;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		head->page_size = sizes[i];
		image_sign(&image);
		refused(NULL, ENOENT, nothing);
	}
	/* the largest: all lists are wrong then */
	head->page_size = 65536;
	head->sum = 0;
	head->sum = image_crc(image.data, head->page_size);
	image.nr = IMAGE_PAGES;
	refused(NULL, EBADMSG, "the description of remote \"hypervisor\" is damaged");
	image.nr = nr;
	head->page_size = PAGE;
	image_sign(&image);
	/* cut */
	image.nr = 0;
	refused(NULL, EOPNOTSUPP, "this hyptrace was built without libkdumpfile");
	image.nr = nr;
	image.data[PAGE - 1]++;
	refused(NULL, EBADMSG, "is damaged, or was just being changed");
	image.data[PAGE - 1]--;
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* all addresses are now those of the next page */
	head->address = BASE - PAGE;
	image_sign(&image);
	refused(NULL, EBADMSG, "the description of remote \"hypervisor\" is damaged");
	head->magic[15] = 1;
	refused(NULL, EOPNOTSUPP, "cannot read the dump \"/proc/self/fd/");
}

static void cut(void **state)
{
	char path[32];
	int fd = image_open(&image, path);

	(void)state;
	assert_int_equal(ftruncate(fd, PAGE - 1), 0);
	assert_null(hyptrace_open_dump(path, NULL, take_note, NULL, &err));
	assert_int_equal(err.errnum, ENOENT);
	/* not even the head of it */
	assert_int_equal(ftruncate(fd, sizeof(struct hyptrace_dump) - 1), 0);
	assert_null(hyptrace_open_dump(path, NULL, take_note, NULL, &err));
	assert_int_equal(err.errnum, EOPNOTSUPP);
	close(fd);
	assert_null(hyptrace_open_dump("/proc/self/no", NULL, take_note, NULL, &err));
	assert_int_equal(err.errnum, ENOENT);
	assert_non_null(strstr(err.text, "cannot open \"/proc/self/no\": No such file"));
	/* the reason is not needed */
	assert_null(hyptrace_open_dump("/proc/self/no", NULL, take_note, NULL, NULL));
}

/* A dump may have descriptor 0, and gives it back. */
static void no_standard_input(void **state)
{
	const int input = dup(0);
	struct hyptrace *h;
	char path[32];
	int fd = image_open(&image, path);

	(void)state;
	close(0);
	assert_true(hyptrace_is_dump(path));
	h = hyptrace_open_dump(path, NULL, NULL, NULL, &err);
	assert_non_null(h);
	assert_int_equal(fcntl(0, F_GETFD), FD_CLOEXEC);
	hyptrace_close(h);
	assert_int_equal(dup(input), 0);
	close(input);
	close(fd);
}

static void description(void **state)
{
	const char *damaged = "the description of remote \"hypervisor\" is damaged";
	const char *missing = "the description of remote \"hypervisor\" is not in the dump";
	struct hyptrace_dump_remote good = *remotes(), *remote = remotes();
	struct hyptrace_dump_list *list = list_at(good.text);
	unsigned char *text = image_page(&image, list->at[0]);
	const uint64_t first = list->at[0];

	(void)state;
	remote->text_sum++;
	image_sign(&image);
	refused(NULL, EBADMSG, damaged);
	*remote = good;
	remote->text = 0;
	image_sign(&image);
	refused(NULL, ENODATA, missing);
	*remote = good;
	remote->text_bytes += PAGE;
	image_sign(&image);
	refused(NULL, EBADMSG, damaged);
	/* only a text of a sensible size is looked for */
	remote->text = NOWHERE;
	remote->text_bytes = 16 << 20;
	image_sign(&image);
	refused(NULL, ENODATA, missing);
	remote->text_bytes++;
	image_sign(&image);
	refused(NULL, EBADMSG, damaged);
	*remote = good;
	image_sign(&image);
	text[20]++;
	refused(NULL, EBADMSG, damaged);
	text[20]--;
	list->at[0] = NOWHERE;
	image_sign_list(&image, good.text);
	refused(NULL, ENODATA, missing);
	list->at[0] = first;
	list->cpu = 1;
	image_sign_list(&image, good.text);
	refused(NULL, EBADMSG, damaged);
	list->cpu = 0;
	list->sum++;
	refused(NULL, EBADMSG, damaged);
	/* a list of no page */
	list->nr = 0;
	image_sign_list(&image, good.text);
	refused(NULL, EBADMSG, damaged);
}

/* Replace the description. */
static void describe(const unsigned char *text, size_t bytes)
{
	uint64_t at[2];
	unsigned int nr;

	for (nr = 0; nr * PAGE < bytes; nr++)
		at[nr] = image_add(&image, text + nr * PAGE, PAGE);
	remotes()->text = image_list(&image, at, nr, 0, 0);
	remotes()->text_bytes = bytes;
	remotes()->text_sum = image_crc(text, bytes);
	image_sign(&image);
}

static void other_description(void **state)
{
	static unsigned char text[2 * PAGE];
	struct hyptrace_dump_list *list = list_at(remotes()->text);
	struct hyptrace_event **events, *event;
	struct nlmsghdr *more;
	struct hyptrace *h;
	char path[32];
	uint32_t len, *at;
	unsigned int i, nr;

	(void)state;
	/* nothing about a remote */
	describe(text, PAGE);
	refused(NULL, EBADMSG, "the description of remote \"hypervisor\" is damaged");
	assert_true(image_open(&image, path) >= 0);
	assert_null(hyptrace_open_dump(path, NULL, NULL, NULL, NULL));
	/* the remote's message, and its size, which is not that of a page */
	memcpy(text, image_page(&image, list->at[0]), PAGE);
	memcpy(&len, text, sizeof(len));
	memset(text + len, 0, PAGE - len);
	describe(text, PAGE);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* a byte more takes a page more */
	describe(text, PAGE + 1);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* an event without a name, and a message without a command, behind which is one */
	more = (void *)(text + NLMSG_ALIGN(len));
	more->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	((struct genlmsghdr *)NLMSG_DATA(more))->cmd = HYPTRACE_CMD_EVENT_GET;
	describe(text, PAGE);
	h = accepted(NULL, CPUS, "");
	assert_int_equal(hyptrace_get_event(h, NULL, "mark", &event, &err), -ENOENT);
	assert_int_equal(hyptrace_get_events(h, NULL, &events, &nr, &err), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(events[0]->name, "");
	hyptrace_free_events(events);
	hyptrace_close(h);
	more->nlmsg_len = NLMSG_HDRLEN;
	describe(text, PAGE);
	h = accepted(NULL, CPUS, "");
	assert_int_equal(hyptrace_get_events(h, NULL, &events, &nr, &err), 0);
	assert_int_equal(nr, 0);
	hyptrace_free_events(events);
	hyptrace_close(h);
	memset(more, 0, NLMSG_LENGTH(GENL_HDRLEN));
	for (i = 0; i + 8 < len; i += 4) {
		at = (void *)(text + i);
		if (at[0] == (8 | HYPTRACE_A_REMOTE_SUBBUF_SIZE << 16) && at[1] == PAGE)
			at[1] = 2 * PAGE;
	}
	describe(text, PAGE);
	refused(NULL, EBADMSG, "the description of remote \"hypervisor\" is damaged");
	/* twice */
	memcpy(text, image_page(&image, list->at[0]), len);
	memcpy(text + NLMSG_ALIGN(len), text, len);
	describe(text, PAGE);
	refused(NULL, EBADMSG, "the description of remote \"hypervisor\" is damaged");
}

static void choice(void **state)
{
	const char *also = "remote \"hypervisor\" has rings, too: choose it by --remote\n";
	struct hyptrace_dump_remote *remote = remotes();
	const uint64_t none = 0, nowhere[] = { NOWHERE, NOWHERE, NOWHERE, NOWHERE };
	struct hyptrace_dump_list *list;
	uint64_t ring;

	(void)state;
	refused("hyp", ENODEV, "no such remote \"hyp\"");
	hyptrace_close(accepted("hypervisor", CPUS, ""));
	/* the first one has no rings; the list of the second one changes, with any sum */
	list_at(remote[0].rings)->sum++;
	remote[1] = remote[0];
	strcpy(remote[0].name, "first");
	remote[0].rings = image_list(&image, &none, 1, 0, 0);
	image_head(&image)->nr_remotes = 2;
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, ""));
	hyptrace_close(accepted("hypervisor", CPUS, ""));
	refused("first", ENODATA, "no ring of \"first\" is in the memory");
	/* its list is not whole */
	remote[0].rings = image_list(&image, &none, 1, 0, NOWHERE);
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* no page of its ring is there */
	ring = image_list(&image, nowhere, HYPTRACE_DUMP_SUBBUFS + 1, 0, 0);
	remote[0].rings = image_list(&image, &ring, 1, 0, 0);
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* its ring is damaged */
	list = list_at(list_at(remote[1].rings)->at[0]);
	ring = image_list(&image, (const void *)list->at, list->nr, 0, 0);
	list_at(ring)->sum++;
	list_at(remote[0].rings)->at[0] = ring;
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* its list is not there, and the other remote has only a ring of CPU 1 */
	list_at(remote[0].rings)->at[0] = NOWHERE;
	ring = list_at(remote[1].rings)->at[0];
	list_at(remote[1].rings)->at[0] = 0;
	hyptrace_close(accepted(NULL, CPUS - 1, ""));
	list_at(remote[1].rings)->at[0] = ring;
	/* only the first one has some */
	ring = remote[0].rings;
	remote[0].rings = remote[1].rings;
	remote[1].rings = ring;
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* both have some */
	remote[1].rings = remote[0].rings;
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, also));
	hyptrace_close(accepted("hypervisor", CPUS, ""));
	/* none has */
	remote[0].rings = remote[1].rings = image_list(&image, &none, 1, 0, 0);
	image_sign(&image);
	refused(NULL, ENODATA, "no ring of \"first\" is in the memory");
	/* unregistered */
	remote[0].name[0] = 0;
	image_sign(&image);
	refused(NULL, ENODATA, "no ring of \"hypervisor\" is in the memory");
	image_head(&image)->nr_remotes = 1;
	image_sign(&image);
	refused(NULL, ENODEV, "no remote was registered");
	/* there can be so many */
	image_head(&image)->nr_remotes = HYPTRACE_DUMP_REMOTES;
	strcpy(remote[HYPTRACE_DUMP_REMOTES - 1].name, "eighth");
	image_sign(&image);
	refused("eight", ENODEV, "no such remote \"eight\"");
	refused("eighth", ENODATA, "the description of remote \"eighth\" is not in the dump");
	image_head(&image)->nr_remotes--;
	image_sign(&image);
	refused("eighth", ENODEV, "no such remote \"eighth\"");
	/* not more than there can be */
	memset(remote, 0, HYPTRACE_DUMP_REMOTES * sizeof(*remote));
	image_head(&image)->nr_remotes = 9;
	strcpy(remote[HYPTRACE_DUMP_REMOTES].name, "ninth");
	image_sign(&image);
	refused("ninth", ENODEV, "no such remote \"ninth\"");
}

static void lists_of_rings(void **state)
{
	uint64_t at[2] = { list_at(remotes()->rings)->at[0], list_at(remotes()->rings)->at[1] };
	uint64_t next;

	(void)state;
	/* it changes, so it may have any sum */
	list_at(remotes()->rings)->sum++;
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* of several pages */
	next = image_list(&image, &at[1], 1, 0, 0);
	remotes()->rings = image_list(&image, &at[0], 1, 0, next);
	image_sign(&image);
	hyptrace_close(accepted(NULL, CPUS, ""));
	remotes()->rings = image_list(&image, &at[0], 1, 0, NOWHERE);
	image_sign(&image);
	refused(NULL, ENODATA, "the list of the rings is not in the dump");
	remotes()->rings = image_list(&image, &at[0], 1, 1, 0);
	image_sign(&image);
	refused(NULL, EBADMSG, "the list of the rings is damaged");
	/* empty */
	remotes()->rings = 0;
	image_sign(&image);
	refused(NULL, ENODATA, "no ring of \"hypervisor\" is in the memory");
}

static void a_ring(void **state)
{
	const char *damaged = "the ring of CPU 1 is damaged\n";
	struct hyptrace_dump_list *list = ring_list(1), good = *list;
	uint64_t address = list_at(remotes()->rings)->at[1];
	const uint64_t nowhere[] = { NOWHERE, NOWHERE, NOWHERE, NOWHERE };
	uint64_t own[HYPTRACE_DUMP_SUBBUFS + SUBBUFS];
	struct hyptrace_cpu *cpu;
	struct hyptrace *h;
	char path[32];
	int fd;

	(void)state;
	memcpy(own, list->at, sizeof(own));
	list->sum++;
	hyptrace_close(accepted(NULL, 1, damaged));
	list->cpu = 0;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, damaged));
	list->cpu = 1;
	list->nr = (PAGE - sizeof(*list)) / 8 + 1;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, damaged));
	list->nr = UINT32_MAX;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, damaged));
	list->nr = 0;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, damaged));
	/* without a sub-buffer */
	list->nr = HYPTRACE_DUMP_SUBBUFS;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, damaged));
	list->nr++;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* a full page */
	list->nr = (PAGE - sizeof(*list)) / 8;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, CPUS, ""));
	list->nr = good.nr;
	list->next = NOWHERE;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, "the ring of CPU 1 is not in the dump\n"));
	list->next = 0;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, CPUS, ""));
	/* CPU 1 has none, which is no loss */
	list_at(remotes()->rings)->at[1] = 0;
	h = accepted(NULL, 1, "");
	assert_null(h->backend->map(h->backend_arg, 1, &err));
	assert_int_equal(err.errnum, ENXIO);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 1, &cpu, &err), -ENXIO);
	hyptrace_close(h);
	list_at(remotes()->rings)->at[1] = address;
	/* no page of it is there */
	list->at[HYPTRACE_DUMP_SUBBUFS] = NOWHERE;
	list->at[HYPTRACE_DUMP_SUBBUFS + 1] = BASE - 8;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, 1, NO_RING));
	/* nobody wants to know that */
	fd = image_open(&image, path);
	h = hyptrace_open_dump(path, NULL, NULL, NULL, NULL);
	assert_non_null(h);
	hyptrace_close(h);
	close(fd);
	/* the ring of CPU 0 is not there, either */
	list_at(remotes()->rings)->at[0] = 0;
	refused(NULL, ENODATA, "no ring of \"hypervisor\" is in the memory");
	list_at(remotes()->rings)->at[0] = image_list(&image, nowhere, 4, 0, 0);
	refused(NULL, ENODATA, "no ring of \"hypervisor\" is in the memory");
	list_at(list_at(remotes()->rings)->at[0])->sum++;
	refused(NULL, EBADMSG, "no ring of \"hypervisor\" can be read: what is left of them is damaged");
}

/* The rings of CPUs 0 and 1 of 3 are not there. */
static void missing_rings(void **state)
{
	unsigned int cpu;

	(void)state;
	image_build(&image, 3, 1);
	for (cpu = 0; cpu < 2; cpu++) {
		ring_list(cpu)->at[HYPTRACE_DUMP_SUBBUFS] = NOWHERE;
		image_sign_list(&image, list_at(remotes()->rings)->at[cpu]);
	}
	hyptrace_close(accepted(NULL, 1, "the rings of 2 CPUs are not in the image: it was cut, or "
				"they did not fit in the memory that outlives a reset\n"));
}

static void missing_parts(void **state)
{
	const char *counters = "counters of CPU 0 are not in the dump: more events may be lost\n";
	struct hyptrace_dump_list *list = ring_list(0);
	struct hyptrace_dump *head = image_head(&image);
	uint64_t address = list_at(remotes()->rings)->at[0];
	uint16_t *const offsets[] = {
		&head->overrun, &head->dropped, &head->filtered, &head->begin
	};
	struct hyptrace_reader *reader;
	uint64_t good[2] = { list->at[0], list->at[HYPTRACE_DUMP_SUBBUFS] };
	struct hyptrace *h;
	unsigned int i;
	uint16_t was;

	(void)state;
	list->at[HYPTRACE_DUMP_COUNTS] = NOWHERE;
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, CPUS, counters));
	list->at[HYPTRACE_DUMP_COUNTS] = good[0];
	/* an image does not need these */
	list->at[HYPTRACE_DUMP_REPORTED] = list->at[HYPTRACE_DUMP_MAP_META] = NOWHERE;
	image_sign_list(&image, address);
	h = accepted(NULL, CPUS, "");
	reader = h->backend->map(h->backend_arg, 0, &err);
	assert_non_null(reader);
	assert_string_equal(notes, "");
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	for (i = 0; i < 4; i++) {
		was = *offsets[i];
		*offsets[i] = PAGE - 7;
		image_sign(&image);
		h = open_image(NULL);
		assert_non_null(h);
		assert_non_null(strstr(notes, counters));
		hyptrace_close(h);
		*offsets[i] = was;
	}
	image_sign(&image);
	/* a sub-buffer */
	list->at[HYPTRACE_DUMP_SUBBUFS] = NOWHERE;
	image_sign_list(&image, address);
	h = accepted(NULL, CPUS, "");
	reader = h->backend->map(h->backend_arg, 0, &err);
	assert_non_null(reader);
	assert_string_equal(notes, NO_SUBBUF);
	assert_int_equal(((const struct hyptrace_subbuf *)reader->data)->commit, 0);
	assert_int_equal(((const struct hyptrace_subbuf *)(reader->data + PAGE))->commit, 16);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	/* half of one: the image ends in it */
	list->at[HYPTRACE_DUMP_SUBBUFS] = BASE + image.nr * PAGE - 2048;
	image_sign_list(&image, address);
	h = accepted(NULL, CPUS, "");
	reader = h->backend->map(h->backend_arg, 0, &err);
	assert_non_null(reader);
	assert_string_equal(notes, NO_SUBBUF);
	for (i = 0; i < PAGE; i++)
		assert_int_equal(((const char *)reader->data)[i], 0);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	list->at[HYPTRACE_DUMP_SUBBUFS] = good[1];
	image_sign_list(&image, address);
	hyptrace_close(accepted(NULL, CPUS, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(first_page, build),
		cmocka_unit_test_setup(cut, build),
		cmocka_unit_test_setup(no_standard_input, build),
		cmocka_unit_test_setup(description, build),
		cmocka_unit_test_setup(other_description, build),
		cmocka_unit_test_setup(choice, build),
		cmocka_unit_test_setup(lists_of_rings, build),
		cmocka_unit_test_setup(a_ring, build),
		cmocka_unit_test(missing_rings),
		cmocka_unit_test_setup(missing_parts, build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
