// SPDX-License-Identifier: GPL-2.0-only
/* Memory that has outlived a reset: each number and each byte is what the image has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "dump_image.h"
#include "fail_alloc.h"
#include "lib/hyptrace_file.h"
#include "lib/internal.h"

#define UNSEALED "1 of 2 sub-buffers of CPU 0 were not finished, or their checksum is wrong: " \
	"their events are missing\n"

static struct dump_image image;
static struct hyptrace_error err;
static char notes[1024];

static void take_note(void *arg, const char *text)
{
	assert_ptr_equal(arg, &image);
	strcat(notes, text);
	strcat(notes, "\n");
}

static struct hyptrace *open_image(struct hyptrace_error *why)
{
	struct hyptrace *h;
	char path[32];
	int fd;

	fail_alloc_pause(true);
	fd = image_open(&image, path);
	assert_true(fd >= 0);
	fail_alloc_pause(false);
	notes[0] = 0;
	memset(&err, 0, sizeof(err));
	h = hyptrace_open_dump(path, NULL, take_note, &image, why);
	close(fd);
	return h;
}

static struct hyptrace *open_good(void)
{
	struct hyptrace *h = open_image(&err);

	if (!h || notes[0])
		fail_msg("%s%s", err.text, notes);
	return h;
}

static void description(void **state)
{
	struct hyptrace_remote **remotes;
	struct hyptrace_hypercall **calls;
	struct hyptrace_event **events, *event;
	unsigned int nr;
	struct hyptrace *h;

	(void)state;
	image_build(&image, 2, 2);
	h = open_good();
	assert_int_equal(hyptrace_get_remotes(h, &remotes, &nr, &err), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(remotes[0]->name, "hypervisor");
	assert_int_equal(remotes[0]->subbuf_size, PAGE);
	hyptrace_free_remotes(remotes);
	assert_int_equal(hyptrace_get_events(h, NULL, &events, &nr, &err), 0);
	assert_int_equal(nr, 3);
	assert_string_equal(events[0]->name, "hyp_enter");
	assert_string_equal(events[2]->name, "selftest");
	hyptrace_free_events(events);
	assert_int_equal(hyptrace_get_event(h, NULL, "hyp_exit", &event, &err), 0);
	assert_string_equal(event->name, "hyp_exit");
	hyptrace_free_event(event);
	assert_int_equal(hyptrace_get_event(h, NULL, "hyp_exi", &event, &err), -ENOENT);
	assert_string_equal(err.text, "no such event");
	assert_int_equal(hyptrace_get_hypercalls(h, NULL, &calls, &nr, &err), 0);
	hyptrace_free_hypercalls(calls);
	assert_int_equal(hyptrace_mark(h, NULL, 0, 1, 1, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "a dump of memory can only be read");
	hyptrace_close(h);
}

/* Take the messages of an answer until they are too many. */
struct answer {
	unsigned int	nr;
	unsigned int	max;
};

static int take_message(const struct nlmsghdr *msg, void *arg)
{
	struct answer *a = arg;

	assert_true(msg->nlmsg_len > sizeof(*msg));
	return ++a->nr < a->max ? 0 : -EINTR;
}

/* Ask for all, or for what the attributes say. */
static int ask(struct hyptrace *h, int cmd, struct answer *a, const void *attrs, size_t size)
{
	union {
		struct nlmsghdr	hdr;
		char		data[64];
	} msg = { .hdr = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + size } };
	const struct hyptrace_request r = { &msg.hdr, take_message, a, &err };

	if (size)
		memcpy(NLMSG_DATA(&msg.hdr) + GENL_HDRLEN, attrs, size);
	a->nr = 0;
	return h->backend->request(h->backend_arg, &r, cmd);
}

/* An answer ends with the first message that is not wanted. */
static void answers(void **state)
{
	const struct {
		struct nlattr	attr;
		uint32_t	id;
	} cpu = { { sizeof(cpu), HYPTRACE_A_CPU_ID }, 1 };
	struct answer a = { .max = 2 };
	struct hyptrace *h;

	(void)state;
	image_build(&image, 3, 1);
	h = open_good();
	assert_int_equal(ask(h, HYPTRACE_CMD_EVENT_GET, &a, NULL, 0), -EINTR);
	assert_int_equal(a.nr, 2);
	assert_int_equal(ask(h, HYPTRACE_CMD_CPU_GET, &a, NULL, 0), -EINTR);
	assert_int_equal(a.nr, 2);
	a.max = 1;
	assert_int_equal(ask(h, HYPTRACE_CMD_CPU_GET, &a, &cpu, sizeof(cpu)), -EINTR);
	a.max = 4;
	assert_int_equal(ask(h, HYPTRACE_CMD_EVENT_GET, &a, NULL, 0), 0);
	assert_int_equal(a.nr, 3);
	assert_int_equal(ask(h, HYPTRACE_CMD_REMOTE_GET, &a, NULL, 0), 0);
	assert_int_equal(a.nr, 1);
	assert_int_equal(ask(h, HYPTRACE_CMD_CPU_GET, &a, &cpu, sizeof(cpu)), 0);
	assert_int_equal(a.nr, 1);
	hyptrace_close(h);
}

static void identity(void **state)
{
	struct hyptrace_file_info info = {};
	struct hyptrace *h;

	(void)state;
	image_build(&image, 1, 1);
	h = open_good();
	h->backend->identify(h->backend_arg, &info);
	assert_string_equal(info.boot, "the boot");
	assert_string_equal(info.uname, "Linux (none) 6.12 #1 aarch64");
	assert_int_equal(info.offset, 12345);
	free(info.boot);
	free(info.uname);
	/* without a NUL */
	hyptrace_close(h);
	memset(image_head(&image)->boot, 'b', 40);
	memset(image_head(&image)->machine, 'm', 72);
	image_sign(&image);
	h = open_good();
	h->backend->identify(h->backend_arg, &info);
	assert_int_equal(strlen(info.boot), 40);
	assert_int_equal(strlen(info.uname), strlen("Linux (none) 6.12 #1 ") + 72);
	free(info.boot);
	free(info.uname);
	hyptrace_close(h);
}

static void counters(void **state)
{
	struct hyptrace_cpu **cpus, *cpu;
	struct hyptrace *h;
	unsigned int nr, i;

	(void)state;
	image_build(&image, 3, 2);
	h = open_good();
	assert_int_equal(hyptrace_get_cpus(h, NULL, &cpus, &nr, &err), 0);
	assert_int_equal(nr, 3);
	for (i = 0; i < nr; i++) {
		assert_string_equal(cpus[i]->remote, "hypervisor");
		assert_int_equal(cpus[i]->id, i);
		assert_int_equal(cpus[i]->state, HYPTRACE_CPU_STATE_DETACHED);
		assert_int_equal(cpus[i]->nr_subbufs, 2);
		assert_int_equal(cpus[i]->overrun, 100 + i);
		assert_int_equal(cpus[i]->dropped, 200 + i);
		assert_int_equal(cpus[i]->filtered, 300 + i);
		/* the image does not say what was reported */
		assert_int_equal(cpus[i]->unreported, 300 + 2 * i);
	}
	hyptrace_free_cpus(cpus);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 2, &cpu, &err), 0);
	assert_int_equal(cpu->id, 2);
	assert_int_equal(cpu->overrun, 102);
	hyptrace_free_cpu(cpu);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 3, &cpu, &err), -ENXIO);
	assert_string_equal(err.text, "no such CPU");
	hyptrace_close(h);
}

static struct hyptrace_reader *map(struct hyptrace *h, int cpu)
{
	return h->backend->map(h->backend_arg, cpu, &err);
}

static void rings(void **state)
{
	const struct hyptrace_map_meta *meta;
	const struct hyptrace_subbuf *subbuf;
	struct hyptrace_reader *reader;
	struct hyptrace *h;
	int cpu, i;

	(void)state;
	image_build(&image, 2, 3);
	h = open_good();
	for (cpu = 0; cpu < 2; cpu++) {
		reader = map(h, cpu);
		assert_non_null(reader);
		assert_int_equal(reader->fd, -1);
		assert_int_equal(reader->subbuf_size, PAGE);
		assert_int_equal(reader->meta_size, PAGE);
		assert_int_equal(reader->data_size, 3 * PAGE);
		assert_true(reader->is_image);
		meta = (const void *)reader->meta;
		assert_int_equal(meta->begin, 400 + cpu);
		assert_int_equal(meta->buffer.meta_struct_len, sizeof(*meta));
		for (i = 0; i < 3; i++) {
			subbuf = reader->data + i * PAGE;
			assert_int_equal(subbuf->time_stamp, 1000 * (i + 1));
			assert_int_equal(subbuf->commit, 16);
			assert_int_equal(subbuf->data[0], 0x10 * cpu + i);
			assert_int_equal(subbuf->data[15], 0x10 * cpu + i);
		}
		hyptrace_reader_close(reader);
	}
	for (cpu = -1; cpu <= 2; cpu += 3) {
		assert_null(map(h, cpu));
		assert_int_equal(err.errnum, ENXIO);
		assert_string_equal(err.text, "no such CPU");
	}
	assert_string_equal(notes, "");
	hyptrace_close(h);
}

/* It is observed as a ring of the driver is; there are no new events. */
static void readers(void **state)
{
	struct hyptrace_reader *reader;
	struct hyptrace *h;

	(void)state;
	image_build(&image, 1, 2);
	h = open_good();
	reader = hyptrace_reader_open_snapshot_on(h, NULL, 0, &err);
	assert_non_null(reader);
	assert_int_equal(hyptrace_reader_fd(reader), -1);
	assert_ptr_equal(hyptrace_reader_subbuf(reader, 1), reader->data + PAGE);
	assert_null(hyptrace_reader_subbuf(reader, 2));
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, true, &err), -EOPNOTSUPP);
	hyptrace_reader_close(reader);
	assert_null(hyptrace_reader_open_snapshot_on(h, NULL, 1, &err));
	assert_int_equal(err.errnum, ENXIO);
	assert_null(hyptrace_reader_open_on(h, NULL, 0, 0, &err));
	assert_int_equal(err.errnum, EOPNOTSUPP);
	assert_string_equal(err.text, "it has no new events");
	hyptrace_close(h);
}

/* The first sub-buffer of CPU 0 after a change, and how much of it was taken. */
static uint64_t taken(void (*change)(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal),
		      bool is_broken)
{
	struct hyptrace_reader *reader;
	struct hyptrace_subbuf *subbuf;
	struct hyptrace *h;
	uint64_t commit;

	image_build(&image, 1, 2);
	subbuf = image_page(&image, BASE + (image.nr - 4) * PAGE);
	change(subbuf, (void *)subbuf + PAGE - sizeof(struct hyptrace_seal));
	h = open_good();
	reader = map(h, 0);
	assert_non_null(reader);
	assert_string_equal(notes, is_broken ? UNSEALED : "");
	commit = ((const struct hyptrace_subbuf *)reader->data)->commit;
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	return commit;
}

static void leave(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	assert_int_equal(seal->bytes, subbuf->commit);
}

static void write_more(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	(void)seal;
	subbuf->commit += 8;
}

static void wrong_sum(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	(void)subbuf;
	seal->sum++;
}

static void other_data(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	(void)seal;
	subbuf->data[15]++;
}

static void other_time(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	(void)seal;
	subbuf->time_stamp++;
}

static void odd_bytes(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	seal->bytes = 14;
	seal->sum = hyptrace_seal_sum(subbuf, seal->bytes);
}

static void empty(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	subbuf->commit = 0;
	seal->sum++;
}

static void full(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	(void)seal;
	subbuf->commit = PAGE - sizeof(*subbuf) - sizeof(*seal);
	image_seal(subbuf);
}

static void too_full(struct hyptrace_subbuf *subbuf, struct hyptrace_seal *seal)
{
	seal->bytes = PAGE - sizeof(*subbuf) - sizeof(*seal) + 4;
	seal->sum = hyptrace_seal_sum(subbuf, seal->bytes);
}

static void seals(void **state)
{
	(void)state;
	assert_int_equal(taken(leave, false), 16);
	assert_int_equal(taken(write_more, false), 16);
	assert_int_equal(taken(full, false), PAGE - 32);
	assert_int_equal(taken(empty, false), 0);
	assert_int_equal(taken(wrong_sum, true), 0);
	assert_int_equal(taken(other_data, true), 0);
	assert_int_equal(taken(other_time, true), 0);
	assert_int_equal(taken(odd_bytes, true), 0);
	assert_int_equal(taken(too_full, true), 0);
}

static void clear_in_progress(void **state)
{
	struct hyptrace_reader *reader;
	struct hyptrace *h;
	uint64_t *counts;

	(void)state;
	image_build(&image, 1, 1);
	counts = image_page(&image, BASE + (image.nr - 1 - RING_PAGES(1)) * PAGE);
	assert_int_equal(counts[AT_BEGIN / 8], 400);
	counts[AT_BEGIN / 8] = UINT64_MAX;
	h = open_good();
	reader = map(h, 0);
	assert_non_null(reader);
	assert_int_equal(((const struct hyptrace_map_meta *)reader->meta)->begin, 0);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
}

static void no_memory(void **state)
{
	struct hyptrace_file_info info;
	struct hyptrace_reader *reader;
	struct hyptrace_cpu **cpus;
	struct hyptrace *h;
	bool failed = true;
	unsigned int nth, nr, failures = 0;
	int ret;

	(void)state;
	image_build(&image, 2, 2);
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		h = open_image(&err);
		failed = fail_alloc_end();
		if (!h) {
			assert_true(failed);
			assert_int_equal(err.errnum, ENOMEM);
			failures++;
			continue;
		}
		/* without the ring for which there was no memory */
		assert_int_equal(failed, !!strstr(notes, " takes too much memory"));
		fail_alloc(failed ? 0 : nth);
		hyptrace_close(h);
	}
	assert_true(failures > 5);
	/* the reason is not needed */
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		h = open_image(NULL);
		failed = fail_alloc_end();
		assert_true(h || failed);
		hyptrace_close(h);
	}

	h = open_good();
	for (nth = 1, failed = true; failed; nth++) {
		memset(&info, 0, sizeof(info));
		fail_alloc(nth);
		h->backend->identify(h->backend_arg, &info);
		failed = fail_alloc_end();
		assert_int_equal(failed, !info.boot || !info.uname);
		free(info.boot);
		free(info.uname);
	}
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_get_cpus(h, NULL, &cpus, &nr, &err);
		if (!ret)
			hyptrace_free_cpus(cpus);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 20);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		reader = map(h, 0);
		failed = fail_alloc_end();
		assert_int_equal(failed, !reader);
		if (failed)
			assert_int_equal(err.errnum, ENOMEM);
		else
			hyptrace_reader_close(reader);
	}
	hyptrace_close(h);
}

static void is_dump(void **state)
{
	static const struct {
		const char *head;
		bool is_dump;
	} files[] = {
		{ HYPTRACE_DUMP_MAGIC "\0..", true }, { "hyptrace dump 2\0..", false },
		{ "hyptrace dump 3...", false },
		{ "KDUMP             ", true }, { "DISKDUMP..........", true },
		{ "makedumpfile......", true },
		{ "KDUMP   ", false }, { "KDUMP.............", false },
		{ "\177ELF............\4\0", true }, { "\177ELF............\0\4", true },
		{ "\177ELF............\1\0", false }, { "\177ELG............\4\0", false },
	};
	char path[] = "/tmp/hyptrace-dump.XXXXXX";
	unsigned int i;
	int fd;

	(void)state;
	fd = mkstemp(path);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t size = files[i].head[8] ? 18 : strlen(files[i].head);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, files[i].head, size, 0), size);
		if (hyptrace_is_dump(path) != files[i].is_dump)
			fail_msg("%s", files[i].head);
	}
	close(fd);
	unlink(path);
	assert_false(hyptrace_is_dump(path));
	/* it does not wait for a writer */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(hyptrace_is_dump(path));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(description),
		cmocka_unit_test(answers),
		cmocka_unit_test(identity),
		cmocka_unit_test(counters),
		cmocka_unit_test(rings),
		cmocka_unit_test(readers),
		cmocka_unit_test(seals),
		cmocka_unit_test(clear_in_progress),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(is_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
