/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folder with the files of a tracer, in place of one of tracefs, and a connection to it. It has
 * the CPUs 0, 1 and 3, and the events hyp_enter, hyp_exit and host_hcall.
 */
#ifndef TRACEFS_FOLDER_H
#define TRACEFS_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/internal.h"

#define ENTER	"events/hypervisor/hyp_enter/enable"
#define EXIT	"events/hypervisor/hyp_exit/enable"
#define HCALL	"events/hypervisor/host_hcall/enable"

static char folder[64];
static struct hyptrace *h;
static struct hyptrace_error err;

static inline const char *path_of(const char *file)
{
	static char path[640];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return path;
}

static inline void put(const char *file, const char *text)
{
	FILE *f = fopen(path_of(file), "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static inline const char *get(const char *file)
{
	static char text[512];
	FILE *f = fopen(path_of(file), "re");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static inline void new_folder(const char *name)
{
	assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static inline void event(const char *system, const char *name, unsigned int id, const char *fields,
			 const char *print)
{
	char file[512], text[1024];

	snprintf(file, sizeof(file), "events/%s/%s", system, name);
	new_folder(file);
	strcat(file, "/enable");
	put(file, "0\n");
	strcpy(strrchr(file, '/'), "/format");
	snprintf(text, sizeof(text), "name: %s\nID: %u\nformat:\n%s\nprint fmt: %s\n", name, id,
		 fields, print);
	put(file, text);
}

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ht.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	new_folder("per_cpu");
	new_folder("per_cpu/cpu0");
	new_folder("per_cpu/cpu1");
	new_folder("per_cpu/cpu3");
	new_folder("events");
	new_folder("events/hypervisor");
	put("tracing_on", "0\n");
	put("trace", "old");
	put("buffer_size_kb", "7 (unloaded)\n");
	put("per_cpu/cpu0/trace_pipe", "");
	put("per_cpu/cpu1/trace_pipe", "");
	event("hypervisor", "hyp_enter", 2,
	      "\tfield:u8 reason;\toffset:2;\tsize:1;\tsigned:0;\n"
	      "\tfield:pid_t vcpu;\toffset:3;\tsize:4;\tsigned:1;\n",
	      "\"reason=%s vcpu=%d\", __hyp_enter_exit_reason_str(REC->reason), REC->vcpu");
	event("hypervisor", "host_hcall", 4,
	      "\tfield:unsigned int id;\toffset:2;\tsize:4;\tsigned:0;\n"
	      "\tfield:u8 invalid;\toffset:6;\tsize:1;\tsigned:0;\n",
	      "\"id=%u invalid=%u\", REC->id, REC->invalid");
	event("hypervisor", "hyp_exit", 5, "", "\" \", ");
	return 0;
}

static inline void open_with(const char *names)
{
	hyptrace_close(h);
	h = hyptrace_open_tracefs(folder, names, &err);
	if (!h)
		fail_msg("%s", err.text);
}

static inline int setup(void **state)
{
	if (make_folder(state))
		return -1;
	open_with(NULL);
	return 0;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	hyptrace_close(h);
	h = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* Lines of hypercalls, from a time in us on */
static inline void lines(const char *file, unsigned int from, unsigned int nr)
{
	FILE *f = fopen(path_of(file), "ae");
	unsigned int i;

	for (i = from; i < from + nr; i++)
		fprintf(f, "[001]\t    1.%06u: host_hcall id=%u invalid=0\n", i, i);
	fclose(f);
}

/* Count the events and the losses that the reader has left. */
static inline unsigned int drain(struct hyptrace_reader *reader, uint64_t *lost)
{
	static char subbuf[65536] __attribute__((aligned(8)));
	struct hyptrace_decoder dec = {};
	struct hyptrace_record rec;
	unsigned int nr = 0;

	*lost = 0;
	while (read(hyptrace_reader_fd(reader), subbuf, getpagesize()) == getpagesize()) {
		assert_int_equal(hyptrace_decoder_load(&dec, subbuf, getpagesize(), &err), 0);
		while (hyptrace_decoder_next(&dec, &rec, &err) == 1) {
			*lost += rec.lost;
			nr++;
		}
		*lost += hyptrace_decoder_lost(&dec);
	}
	return nr;
}

static inline void wait_for(struct hyptrace_reader *reader)
{
	struct pollfd from = { .fd = hyptrace_reader_fd(reader), .events = POLLIN };

	assert_int_equal(poll(&from, 1, 10000), 1);
}

#endif /* TRACEFS_FOLDER_H */
