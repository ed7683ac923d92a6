// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace file of a connection: what the connection says is in the file. The connection is one to
 * memory that has outlived a reset, which answers as a driver does. And the limit of its size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>

#include <cmocka.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "dump_image.h"
#include "fail_alloc.h"
#include "file_remote.h"
#include "lib/hyptrace_file.h"
#include "lib/internal.h"

static struct dump_image image;

static struct hyptrace *connect_to_memory(void)
{
	struct hyptrace *h;
	char path[32];
	int fd;

	image_build(&image, 2, 1);
	fd = image_open(&image, path);
	assert_true(fd >= 0);
	h = hyptrace_open_dump(path, NULL, NULL, NULL, &err);
	close(fd);
	if (!h)
		fail_msg("%s", err.text);
	return h;
}

/* How many descriptors are open; no test has a larger one */
static unsigned int count_open(void)
{
	unsigned int nr = 0;
	int fd;

	for (fd = 0; fd < 100; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static struct hyptrace_file_writer *create(struct hyptrace *h, const char *command)
{
	return hyptrace_file_create("a.dat", h, NULL, 0, command, NULL, 0, &err);
}

/* Without tasks of the host, other programs get the names of all events as those of tasks. */
static void check_tasks(const struct hyptrace_file_info *info)
{
	char tasks[256] = "", *file;
	unsigned int i;
	size_t size;

	for (i = 0; i < info->nr_events; i++)
		sprintf(tasks + strlen(tasks), "%u %s\n", info->events[i]->id,
			info->events[i]->name);
	file = slurp("a.dat", &size);
	assert_non_null(memmem(file, size, tasks, strlen(tasks)));
	free(file);
}

static void contents(void **state)
{
	const unsigned int nr_open = count_open();
	struct hyptrace *h = connect_to_memory();
	const struct hyptrace_file_info *info;
	struct hyptrace_file_writer *w;
	struct hyptrace_file *file;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		w = create(h, i ? "the command" : NULL);
		assert_non_null(w);
		assert_int_equal(hyptrace_file_finish(w, &err), 0);
		file = hyptrace_file_open("a.dat", &err);
		assert_non_null(file);
		info = hyptrace_file_info(file);
		assert_string_equal(info->remote, "hypervisor");
		assert_string_equal(info->clock, "boot");
		assert_string_equal(info->recorder, "hyptrace 1");
		if (i)
			assert_string_equal(info->command, "the command");
		else
			assert_null(info->command);
		assert_int_equal(info->subbuf_size, PAGE);
		/* what the memory says of its machine */
		assert_string_equal(info->uname, "Linux (none) 6.12 #1 aarch64");
		assert_string_equal(info->boot, "the boot");
		assert_int_equal(info->offset, 12345);
		assert_int_equal(info->begin, 0);
		assert_int_equal(info->nr_cpus, 2);
		assert_int_equal(info->cpus[1]->id, 1);
		assert_int_equal(info->nr_events, 3);
		assert_string_equal(info->events[2]->name, "selftest");
		check_tasks(info);
		hyptrace_file_close(file);
		unlink("a.dat");
	}
	hyptrace_close(h);
	assert_int_equal(count_open(), nr_open);
}

/* A connection to a driver, which does not say of which machine it is, and what it answers */
static struct hyptrace_backend driver;
static int (*real_request)(void *arg, const struct hyptrace_request *r, int cmd);

static struct hyptrace *connect_to_driver(void)
{
	struct hyptrace *h = connect_to_memory();

	driver = *h->backend;
	real_request = driver.request;
	driver.identify = NULL;
	h->backend = &driver;
	return h;
}

/* Of a driver, it is this machine and this boot. */
static void this_machine(void **state)
{
	struct hyptrace *h = connect_to_driver();
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	char boot[64] = "";
	FILE *f;

	(void)state;
	assert_int_equal(hyptrace_file_finish(create(h, NULL), &err), 0);
	file = hyptrace_file_open("a.dat", &err);
	assert_non_null(file);
	info = hyptrace_file_info(file);
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		assert_int_equal(fscanf(f, "%63s", boot), 1);
		fclose(f);
		assert_string_equal(info->boot, boot);
	}
	assert_int_equal(strncmp(info->uname, "Linux ", 6), 0);
	assert_true(info->begin > UINT64_C(1600000000000000000));
	assert_true(info->offset > INT64_C(1500000000000000000));
	hyptrace_file_close(file);
	hyptrace_close(h);
}

/* What the driver says of its sub-buffers and its clock; without a name, it says nothing. */
static uint32_t said_size;
static const char *said_clock;

static int change(const struct nlmsghdr *answer, void *arg)
{
	const struct hyptrace_request *r = arg;
	union {
		struct nlmsghdr	msg;
		char		data[4096];
	} copy;
	struct nlattr *size, *clock;

	assert_in_range(answer->nlmsg_len, 0, sizeof(copy));
	memcpy(&copy, answer, answer->nlmsg_len);
	size = nlmsg_find_attr(&copy.msg, GENL_HDRLEN, HYPTRACE_A_REMOTE_SUBBUF_SIZE);
	clock = nlmsg_find_attr(&copy.msg, GENL_HDRLEN, HYPTRACE_A_REMOTE_CLOCK);
	assert_non_null(size);
	assert_non_null(clock);
	memcpy(nla_data(size), &said_size, sizeof(said_size));
	if (said_clock)
		strcpy(nla_data(clock), said_clock);
	else
		clock->nla_type = HYPTRACE_A_REMOTE_MAX + 1;
	return r->fn(&copy.msg, r->arg);
}

static int request(void *arg, const struct hyptrace_request *r, int cmd)
{
	const struct hyptrace_request changed = { r->msg, change, (void *)r, r->err };

	return real_request(arg, cmd == HYPTRACE_CMD_REMOTE_GET ? &changed : r, cmd);
}

/* Only of the clock of the boot it is known when it was 0. */
static void clocks(void **state)
{
	static const char *const names[] = { "boot", "bool", NULL };
	struct hyptrace *h = connect_to_driver();
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	unsigned int i;

	(void)state;
	driver.request = request;
	said_size = PAGE;
	for (i = 0; i < 3; i++) {
		said_clock = names[i];
		assert_int_equal(hyptrace_file_finish(create(h, NULL), &err), 0);
		file = hyptrace_file_open("a.dat", &err);
		assert_non_null(file);
		info = hyptrace_file_info(file);
		assert_string_equal(info->clock, names[i] ? names[i] : "");
		assert_int_equal(!info->offset, i > 0);
		hyptrace_file_close(file);
	}
	hyptrace_close(h);
}

/* A sub-buffer is longer than its header. */
static void sizes(void **state)
{
	struct hyptrace *h = connect_to_driver();
	struct hyptrace_file_writer *w;

	(void)state;
	driver.request = request;
	said_clock = "boot";
	said_size = HYPTRACE_SUBBUF_HEADER;
	assert_null(create(h, NULL));
	assert_int_equal(err.errnum, EPROTO);
	assert_string_equal(err.text, "the driver has sub-buffers of 16 bytes");
	assert_false(exists("a.dat.part"));
	said_size++;
	w = create(h, NULL);
	assert_non_null(w);
	hyptrace_file_abandon(w);
	hyptrace_close(h);
}

static void refused(void **state)
{
	struct hyptrace *h = connect_to_memory();

	(void)state;
	assert_null(hyptrace_file_create("a.dat", h, NULL, 2, NULL, NULL, 0, &err));
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.text, "unknown flags 0x2");
	assert_null(hyptrace_file_create("a.dat", h, NULL, HYPTRACE_FILE_OF_HOST, NULL, NULL, 0,
					 &err));
	assert_string_equal(err.text, "unknown flags 0x80000000");
	assert_null(hyptrace_file_create("none/a.dat", h, NULL, 0, NULL, NULL, 0, &err));
	assert_int_equal(err.errnum, ENOENT);
	assert_false(exists("a.dat") || exists("a.dat.part"));
	hyptrace_close(h);
}

/* A later version's struct is longer, an earlier one's is shorter. */
static void host_of_other_versions(void **state)
{
	static const unsigned int cpus[] = { 7 };
	const struct {
		struct hyptrace_file_host	host;
		uint64_t			more[4];
	} later = { .host = { .cpus = cpus, .nr_cpus = 1 }, .more = { 1, 2, 3, 4 } };
	struct hyptrace *h = connect_to_memory();
	struct hyptrace_file_writer *w;

	(void)state;
	w = hyptrace_file_create("a.dat", h, NULL, 0, NULL, &later.host, sizeof(later), &err);
	assert_non_null(w);
	assert_int_equal(w->meta.nr_host_cpus, 1);
	assert_int_equal(w->meta.host_cpus[0]->id, 7);
	hyptrace_file_abandon(w);
	w = hyptrace_file_create("a.dat", h, NULL, 0, NULL, &later.host, 0, &err);
	assert_non_null(w);
	assert_true(w->has_host);
	assert_int_equal(w->meta.nr_host_cpus, 0);
	hyptrace_file_abandon(w);
	hyptrace_close(h);
}

static void fail_each_alloc(struct hyptrace *h)
{
	struct hyptrace_file_writer *w;
	bool failed = true;
	unsigned int nth;

	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		w = create(h, "command");
		failed = fail_alloc_end();
		/* only the names of the hypercalls may be missing */
		assert_true(w || failed);
		if (w) {
			const struct hyptrace_file_info *info = &w->meta.info;

			assert_true(info->remote && info->clock && info->recorder && info->command);
			assert_non_null(info->uname);
			hyptrace_file_abandon(w);
		} else {
			assert_int_equal(err.errnum, ENOMEM);
		}
		assert_false(exists("a.dat") || exists("a.dat.part"));
	}
	assert_true(nth > 100);
	hyptrace_close(h);
}

static void no_memory(void **state)
{
	(void)state;
	fail_each_alloc(connect_to_memory());
	fail_each_alloc(connect_to_driver());
}

/* Compressed data reaches the limit when it is compressed, not before. */
static void compressed_limit(void **state)
{
	struct hyptrace_file_writer *w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	const uint64_t begun = hyptrace_file_size(w);
	unsigned int i, nr = 0;
	char subbuf[SUBBUF];
	struct stat st;

	(void)state;
	assert_false(hyptrace_file_is_full(w, SUBBUF));
	hyptrace_file_set_limit(w, begun + 20000);
	srandom(1);
	for (i = 0; i < 100 && !hyptrace_file_is_full(w, SUBBUF); i++, nr++) {
		unsigned int at;

		fill(subbuf, 1000 * (i + 1), 0, 300);
		/* it cannot be compressed to less than half */
		for (at = 16; at < 16 + 3600; at += 12)
			*(uint32_t *)(subbuf + at + 8) = random();
		assert_int_equal(hyptrace_file_write(w, 2, subbuf, SUBBUF, &err), 0);
	}
	/* more than fits uncompressed */
	assert_in_range(nr, 6, 30);
	assert_true(hyptrace_file_size(w) >= begun + 20000 - SUBBUF);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_int_equal(stat("a.dat", &st), 0);
	assert_in_range(st.st_size, begun + 20000 - SUBBUF, begun + 20000 + 3 * SUBBUF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(contents, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(this_machine, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(clocks, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(sizes, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(refused, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(host_of_other_versions, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(no_memory, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(compressed_limit, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
