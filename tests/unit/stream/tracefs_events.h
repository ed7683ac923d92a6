/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tracer in tracefs with an event of each kind, and a page of its records. Its sub-buffers are
 * written to a pipe, from which next() decodes them.
 */
#ifndef TRACEFS_EVENTS_H
#define TRACEFS_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/hyptrace_record.h>

#include "tracefs/tracefs.h"

#define PAGE	4096
#define HEAD	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
#define FIELD(type, name, offset, size, sign) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const struct {
	const char	*name;
	const char	*format;
} formats[] = {
	{ "hyp_enter", "name: hyp_enter\nID: 0\n" HEAD
	  FIELD("u8", "reason", 2, 1, 0) FIELD("pid_t", "vcpu", 3, 4, 1)
	  "\nprint fmt: \"reason=%s vcpu=%d\", "
	  "__hyp_enter_exit_reason_str(REC->reason), REC->vcpu\n" },
	{ "selftest", "name: selftest\nID: 1\n" HEAD FIELD("u64", "id", 2, 8, 0)
	  "\nprint fmt: \"\"id=%llu\", REC->id\"," },
	{ "host_hcall", "name: host_hcall\nID: 2\n" HEAD
	  FIELD("unsigned int", "id", 2, 4, 0) FIELD("u8", "invalid", 6, 1, 0)
	  "\nprint fmt: \"id=%u invalid=%u\", REC->id, REC->invalid\n" },
	{ "host_ffa_call", "name: host_ffa_call\nID: 3\n" HEAD
	  FIELD("u64", "func_id", 2, 8, 0) FIELD("u64", "res_a4", 10, 8, 0)
	  FIELD("int", "err", 18, 4, 1)
	  "\nprint fmt: \"ffa_func=0x%llx a4=%llx err=%d\", "
	  "REC->func_id, REC->res_a4, REC->err\n" },
	{ "hyp_exit", "name: hyp_exit\nID: 4\n" HEAD "print fmt: \" \"," },
	{ "__hyp_printk", "name: __hyp_printk\nID: 5\n" HEAD FIELD("u8", "fmt_id", 2, 1, 0)
	  "\nprint fmt: Unknown\n" },
	{ "func", "name: func\nID: 6\n" HEAD FIELD("unsigned long", "ip", 2, 8, 0)
	  "\nprint fmt: \"%ps\", (void *)REC->ip\n" },
};

#define NR	(sizeof(formats) / sizeof(formats[0]))

static struct {
	struct tracefs		tracefs;
	struct tracefs_event	events[NR];
	struct tracefs_event	*list[NR];
	struct tracefs_shared	shared;
	struct tracefs_page	page;
	int			pipe[2];
	struct hyptrace_decoder	dec;
	char			subbuf[PAGE] __attribute__((aligned(8)));
} t;

static inline int setup(void **state)
{
	unsigned int i;

	(void)state;
	memset(&t, 0, sizeof(t));
	for (i = 0; i < NR; i++) {
		strcpy(t.events[i].name, formats[i].name);
		t.events[i].format = (char *)formats[i].format;
		assert_true(hyptrace_tracefs_parse_format(&t.events[i], false));
		t.list[i] = &t.events[i];
	}
	t.tracefs.events = t.list;
	t.tracefs.nr_events = NR;
	assert_int_equal(pipe(t.pipe), 0);
	t.page = (struct tracefs_page){
		.fd = t.pipe[1], .shared = &t.shared, .data = calloc(1, PAGE), .size = PAGE,
	};
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	free(t.page.data);
	close(t.pipe[0]);
	close(t.pipe[1]);
	return 0;
}

static inline void line(const char *text)
{
	hyptrace_tracefs_line(&t.tracefs, &t.page, text, strlen(text));
}

/* Get the next record, of the next sub-buffer if need be. */
static inline struct hyptrace_record next(void)
{
	struct hyptrace_record rec = {};
	int ret = hyptrace_decoder_next(&t.dec, &rec, NULL);

	/* a sub-buffer may have only losses */
	while (!ret) {
		assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), PAGE);
		assert_int_equal(hyptrace_decoder_load(&t.dec, t.subbuf, PAGE, NULL), 0);
		ret = hyptrace_decoder_next(&t.dec, &rec, NULL);
	}
	assert_int_equal(ret, 1);
	return rec;
}

static inline uint64_t field(const struct hyptrace_record *rec, const char *name)
{
	uint64_t value = 0;
	uint16_t id;
	unsigned int i;

	memcpy(&id, rec->data, sizeof(id));
	for (i = 0; strcmp(t.events[id].fields[i].name, name); i++)
		assert_true(i + 1 < t.events[id].nr_fields);
	memcpy(&value, (const char *)rec->data + t.events[id].fields[i].offset,
	       t.events[id].fields[i].size);
	return value;
}

/* Add a record of Android's EL2 to a raw page: packed, and not rounded up. Return its end. */
static inline size_t put_raw(char *page, size_t at, uint32_t delta, const void *payload,
			     uint32_t size)
{
	uint32_t word[2] = { hyptrace_record_header(HYPTRACE_TYPE_LENGTH_WORD, delta), size + 4 };

	memcpy(page + at, word, sizeof(word));
	memcpy(page + at + sizeof(word), payload, size);
	return at + sizeof(word) + size;
}

#endif /* TRACEFS_EVENTS_H */
