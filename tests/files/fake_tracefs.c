// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder in place of tracefs: the linker has these calls of libtracefs come here (--wrap), for
 * "hyptrace record --host" in the program of fake_driver.c. An instance gets its files when it is
 * made, and loses them when it is removed. The environment says what it has:
 *
 *	FAKE_TRACEFS	the folder; without it, there is no tracefs
 *	FAKE_HOST	events of each CPU: kvm_exit, kvm_entry and fake_event in turn (999)
 *	FAKE_HOST_LOST	events of each CPU that were lost before them (0)
 *	FAKE_HOST_STUCK	1: an instance cannot be removed
 *	FAKE_HOST_EMPTY	1: nothing is mounted at the folder
 *	FAKE_CPUS	number of CPUs (2)
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracefs.h>

#include <linux/hyptrace_record.h>

#define BOOT_TIME	UINT64_C(1000000000000)
#define PAGE		4096
#define STEP		1000		/* ns between two events */
#define PID		42

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* The ids are also those of events of the remote. */
static const struct fake_event {
	const char	*system;
	const char	*name;
	const char	*format;
	uint16_t	id;
} events[] = {
	{ "kvm", "kvm_exit", "name: kvm_exit\nID: 2\n" COMMON
	  "\tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned int esr_ec;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned long vcpu_pc;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"%s: HSR_EC: 0x%04x, PC: 0x%016lx\", __print_symbolic(REC->ret, {0, \"IRQ\" }, {2, \"TRAP\" }), REC->esr_ec, REC->vcpu_pc\n",
	  2 },
	{ "kvm", "kvm_entry", "name: kvm_entry\nID: 3\n" COMMON
	  "\tfield:unsigned long vcpu_pc;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"PC: 0x%016lx\", REC->vcpu_pc\n", 3 },
	{ "fake", "fake_event", "name: fake_event\nID: 310\n" COMMON
	  "\tfield:char name[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	  "print fmt: \"%s %d\", REC->name, REC->nr\n", 310 },
};

#define NR_EVENTS	(sizeof(events) / sizeof(events[0]))

struct payload {
	uint16_t	type;
	uint8_t		flags;
	uint8_t		preempt_count;
	int32_t		pid;
	union {
		struct {
			int32_t		ret;
			uint32_t	esr_ec;
			uint64_t	vcpu_pc;
		} exit;
		uint64_t	entry_pc;
		struct {
			char		name[8];
			int32_t		nr;
		} fake;
	};
};

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Open a file, and make its folders. */
static FILE *__attribute__((format(printf, 1, 2))) create(const char *fmt, ...)
{
	char path[4096], *slash;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	for (slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!f)
		abort();
	return f;
}

static void write_events(const char *dir)
{
	unsigned int i;
	FILE *f;

	for (i = 0; i < NR_EVENTS; i++) {
		f = create("%s/events/%s/%s/format", dir, events[i].system, events[i].name);
		fputs(events[i].format, f);
		fclose(f);
		fclose(create("%s/events/%s/%s/enable", dir, events[i].system, events[i].name));
		fclose(create("%s/events/%s/enable", dir, events[i].system));
	}
}

/* Make the payload of an event. Return its bytes. */
static uint32_t make_payload(struct payload *p, uint64_t nr)
{
	const struct fake_event *event = &events[nr % NR_EVENTS];

	memset(p, 0, sizeof(*p));
	p->type = event->id;
	p->pid = PID;
	if (nr % NR_EVENTS == 1) {
		p->entry_pc = nr;
		return 16;
	}
	if (nr % NR_EVENTS == 2) {
		strcpy(p->fake.name, "fake");
		p->fake.nr = -(int32_t)nr;
		return 20;
	}
	p->exit.ret = 2;
	p->exit.esr_ec = 0x24;
	p->exit.vcpu_pc = nr;
	return 24;
}

static void write_pages(FILE *f, uint64_t nr, uint64_t lost)
{
	static char page[PAGE];
	struct hyptrace_subbuf *s = (void *)page;
	uint32_t header, size, used;
	struct payload payload;
	uint64_t at = 0;

	while (at < nr) {
		memset(page, 0, sizeof(page));
		s->time_stamp = BOOT_TIME + at * STEP;
		for (used = 0; at < nr; at++, used += sizeof(header) + size) {
			size = make_payload(&payload, at);
			if (sizeof(*s) + used + sizeof(header) + size + sizeof(lost) > PAGE)
				break;
			header = hyptrace_record_header(size / 4, used ? STEP : 0);
			memcpy(s->data + used, &header, sizeof(header));
			memcpy(s->data + used + sizeof(header), &payload, size);
		}
		s->commit = used;
		if (lost) {
			s->commit |= HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
			memcpy(s->data + used, &lost, sizeof(lost));
		}
		lost = 0;
		fwrite(page, sizeof(page), 1, f);
	}
}

static void write_instance(const char *dir)
{
	const uint64_t nr = number("FAKE_HOST", 999), lost = number("FAKE_HOST_LOST", 0);
	unsigned int cpu;
	FILE *f;

	write_events(dir);
	fclose(create("%s/tracing_on", dir));
	fclose(create("%s/trace_clock", dir));
	for (cpu = 0; cpu < number("FAKE_CPUS", 2); cpu++) {
		f = create("%s/per_cpu/cpu%u/trace_pipe_raw", dir, cpu);
		write_pages(f, nr, lost);
		fclose(f);
		f = create("%s/per_cpu/cpu%u/stats", dir, cpu);
		fprintf(f, "entries: 0\noverrun: %" PRIu64 "\ncommit overrun: 0\nbytes: 0\ndropped events: 0\nread events: 0\n",
			lost);
		fclose(f);
	}
}

const char *__wrap_tracefs_tracing_dir(void)
{
	const char *dir = getenv("FAKE_TRACEFS");
	FILE *f;

	if (!dir)
		return NULL;
	tracefs_set_tracing_dir((char *)dir);
	if (number("FAKE_HOST_EMPTY", 0))
		return dir;
	write_events(dir);
	f = create("%s/saved_cmdlines", dir);
	fprintf(f, "%d workload\n", PID);
	fclose(f);
	return dir;
}

/* The last instance was not there before. */
static bool is_new;

bool __wrap_tracefs_instance_is_new(struct tracefs_instance *instance)
{
	(void)instance;
	return is_new;
}

struct tracefs_instance *__real_tracefs_instance_create(const char *name);

struct tracefs_instance *__wrap_tracefs_instance_create(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/instances/%s", getenv("FAKE_TRACEFS"), name);
	if (access(getenv("FAKE_TRACEFS"), W_OK)) {
		errno = EACCES;
		return NULL;
	}
	is_new = access(path, F_OK);
	if (is_new)
		write_instance(path);
	return __real_tracefs_instance_create(name);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int __wrap_tracefs_instance_destroy(struct tracefs_instance *instance)
{
	char *path;
	int ret;

	if (number("FAKE_HOST_STUCK", 0)) {
		errno = EBUSY;
		return -1;
	}
	path = tracefs_instance_get_dir(instance);
	ret = nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);

	free(path);
	return ret;
}
