// SPDX-License-Identifier: GPL-2.0-only
/* Find the remotes and CPUs of a verb. */
#include <ctype.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include "output/die.h"
#include "output/printer.h"
#include "select.h"

/* The remote of a verb if there are several and --remote is not given */
#define DEFAULT_REMOTE	"hypervisor"
#define TRACEFS_PREFIX	"tracefs:"
#define HYPERVISOR_MODULE	"hyptrace_pkvm"

#define KERNEL_LOG	"/dev/kmsg"
/* Bytes of a record at most, as the kernel has it */
#define RECORD_MAX	8192
#define LEVEL_MASK	7
#define LEVEL_ERROR	3

void cmd_make_printer(struct context *ctx)
{
	enum printer_format format = ctx->csv ? PRINTER_CSV : PRINTER_TEXT;

	if (ctx->json)
		format = ctx->pretty ? PRINTER_PRETTY : PRINTER_JSON;
	if (!ctx->p)
		ctx->p = printer_new(&ctx->out, format, ctx->color && !ctx->csv);
}

static void check_names(const char *path)
{
	char release[sizeof(((struct utsname *)0)->release) + 1] = "";
	struct utsname kernel;
	FILE *f = fopen(path, "re");

	if (f && fscanf(f, NAMES_RELEASE "%64s", release) == 1 && !uname(&kernel) &&
	    (strncmp(release, kernel.release, strlen(release)) ||
	     isdigit((unsigned char)kernel.release[strlen(release)])))
		cmd_note("\"%s\" has the names of hypercalls of %s, but this is %s: they may be wrong",
			 path, release, kernel.release);
	if (f)
		fclose(f);
}

static void note_missing(void *arg, const char *text)
{
	struct context *ctx = arg;
	unsigned int i;

	/* a ring may be read more than once */
	for (i = 0; i < ctx->nr_missing; i++)
		if (!strcmp(ctx->missing[i], text))
			return;
	cmd_note("\"%s\": %s", ctx->dump, text);
	*xappend(ctx->missing, ctx->nr_missing) = xstrdup(text);
}

/* Read "FILE" or "REMOTE:FILE". */
static struct hyptrace *open_dump(struct context *ctx, const char *source,
				  struct hyptrace_error *err)
{
	auto_free char *remote = NULL;
	const size_t len = strspn(source, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
	const char *path = len && source[len] == ':' ? source + len + 1 : source;

	if (path != source)
		remote = xstrndup(source, len);
	ctx->dump = path;
	return hyptrace_open_dump(path, remote, note_missing, ctx, err);
}

static bool begins_with(const char *text, const char *prefix)
{
	return text && !strncmp(text, prefix, strlen(prefix));
}

int cmd_connect(struct context *ctx)
{
	const char *names = getenv(NAMES_VARIABLE);
	struct hyptrace_error err;
	const char *dump = NULL;

	cmd_make_printer(ctx);
	if (ctx->h)
		return EXIT_DONE;
	if (begins_with(ctx->remote, DUMP_PREFIX))
		dump = ctx->remote + strlen(DUMP_PREFIX);
	else if (ctx->remote && !strcmp(ctx->remote, PREVIOUS_REMOTE))
		dump = PREVIOUS_PATH;
	if (dump && !strcmp(dump, PREVIOUS_PATH) && access(dump, F_OK)) {
		/* The driver offers it; this loads the driver, if the kernel knows where it is. */
		ctx->h = hyptrace_open(&err);
		if (ctx->h && access(dump, F_OK))
			return cmd_fail("this boot has found nothing of the one before (see hyptrace-blackbox(7))");
		if (!ctx->h)
			return cmd_fail("%s", err.text);
		hyptrace_close(ctx->h);
	}
	if (dump) {
		ctx->h = open_dump(ctx, dump, &err);
		ctx->remote = NULL;
	} else if (!begins_with(ctx->remote, TRACEFS_PREFIX)) {
		ctx->h = hyptrace_open(&err);
	} else {
		ctx->h = hyptrace_open_tracefs(ctx->remote + strlen(TRACEFS_PREFIX),
					       names && *names ? names : NULL, &err);
		/* the connection has no other remote */
		ctx->remote = NULL;
		ctx->is_tracefs = true;
		if (ctx->h && names && *names)
			check_names(names);
	}
	return ctx->h ? EXIT_DONE : cmd_fail("%s", err.text);
}

/* The last error of a module in the kernel log: "level,sequence,time,flags;module: message" */
static bool read_refusal(const char *module, char *text, size_t size)
{
	const size_t len = strlen(module);
	char record[RECORD_MAX + 1];
	const char *message;
	bool found = false;
	ssize_t n;
	int fd = open(KERNEL_LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	/* each read gets one record; EPIPE means that older ones were overwritten */
	while ((n = read(fd, record, RECORD_MAX)) > 0 || (n < 0 && errno == EPIPE)) {
		record[n > 0 ? n : 0] = '\0';
		message = strchr(record, ';');
		if (!message || (strtoul(record, NULL, 10) & LEVEL_MASK) > LEVEL_ERROR ||
		    strncmp(++message, module, len) || strncmp(message + len, ": ", 2))
			continue;
		message += len + 2;
		snprintf(text, size, "%.*s", (int)strcspn(message, "\n"), message);
		found = true;
	}
	close(fd);
	return found;
}

/* The caller frees the remotes in any case. */
int cmd_get_remotes(struct context *ctx, bool all, struct hyptrace_remote ***remotes,
		    unsigned int *nr)
{
	const char *const name = ctx->remote ?: DEFAULT_REMOTE;
	auto_free char *list = NULL;
	struct hyptrace_remote *one;
	struct hyptrace_error err;
	char text[512];
	unsigned int i;
	FILE *f;

	if (hyptrace_get_remotes(ctx->h, remotes, nr, &err))
		return cmd_fail("cannot list the remotes: %s", err.text);
	if (!*nr) {
		cmd_note("no remote is registered: load " HYPERVISOR_MODULE " (the hypervisor) or hyptrace_test");
		if (read_refusal(HYPERVISOR_MODULE, text, sizeof(text)))
			cmd_note("the last error of " HYPERVISOR_MODULE ": %s", text);
		else
			cmd_note("if " HYPERVISOR_MODULE " is refused, the kernel log says why: use \"dmesg\"");
		return all && !ctx->remote ? EXIT_DONE : EXIT_REFUSED;
	}

	if (all && !ctx->remote)
		return EXIT_DONE;
	for (i = 0; i < *nr && strcmp((*remotes)[i]->name, name); i++)
		;
	if (*nr == 1 && !ctx->remote)
		i = 0;
	if (i == *nr) {
		f = text_open(&list);
		for (i = 0; i < *nr; i++)
			fprintf(f, "%s%s", i ? ", " : "", (*remotes)[i]->name);
		text_close(f, &list);
		if (ctx->remote)
			return cmd_fail("there is no remote \"%s\" (registered: %s)", name, list);
		return cmd_fail("several remotes are registered: choose one with --remote (registered: %s)",
				list);
	}
	one = (*remotes)[i];
	for (i = 0; i < *nr; i++)
		if ((*remotes)[i] != one)
			hyptrace_free_remote((*remotes)[i]);
	(*remotes)[0] = one;
	(*remotes)[1] = NULL;
	*nr = 1;
	return EXIT_DONE;
}

int cmd_get_remote(struct context *ctx, struct hyptrace_remote **remote)
{
	auto_remotes struct hyptrace_remote **remotes = NULL;
	unsigned int nr;
	int code = cmd_get_remotes(ctx, false, &remotes, &nr);

	*remote = code ? NULL : remotes[0];
	if (!code)
		remotes[0] = NULL;
	return code;
}

/* The remote must have all CPUs of --cpu. The caller frees them in any case. */
int cmd_get_cpus(struct context *ctx, const char *remote, struct hyptrace_cpu ***cpus,
		 unsigned int *nr)
{
	struct hyptrace_error err;
	unsigned int i, j, kept = 0;

	if (hyptrace_get_cpus(ctx->h, remote, cpus, nr, &err))
		return cmd_fail("cannot list the CPUs of \"%s\": %s", remote, err.text);
	if (!ctx->have_cpus)
		return EXIT_DONE;

	for (i = 0; i < ctx->cpus.nr; i++) {
		for (j = 0; j < *nr && (*cpus)[j]->id != ctx->cpus.ids[i]; j++)
			;
		if (j == *nr)
			return cmd_fail("\"%s\" has no CPU %u", remote, ctx->cpus.ids[i]);
	}
	for (i = 0; i < *nr; i++) {
		if (cpu_list_has(&ctx->cpus, (*cpus)[i]->id))
			(*cpus)[kept++] = (*cpus)[i];
		else
			hyptrace_free_cpu((*cpus)[i]);
	}
	(*cpus)[kept] = NULL;
	*nr = kept;
	return EXIT_DONE;
}

/* For each CPU of --cpu, or once for @without; @what: a verb, for messages */
int cmd_request(struct context *ctx, const char *what, int without, cpu_request_fn request,
		const void *arg)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_cpu **cpus auto_cpus = NULL;
	struct hyptrace_error err;
	unsigned int nr, i;
	int code = cmd_connect(ctx) ?: cmd_get_remote(ctx, &remote);

	if (code)
		return code;
	if (!ctx->have_cpus || (ctx->cpus.all && without == HYPTRACE_CPU_ALL))
		return request(ctx->h, remote->name, without, arg, &err) ?
		       cmd_fail_verb(what, remote->name, &err) : EXIT_DONE;
	code = cmd_get_cpus(ctx, remote->name, &cpus, &nr);
	for (i = 0; !code && i < nr; i++)
		if (request(ctx->h, remote->name, cpus[i]->id, arg, &err))
			code = cmd_fail("cannot %s CPU %u of \"%s\": %s", what, cpus[i]->id,
					remote->name, err.text);
	return code;
}

int cmd_list_events(struct context *ctx, const char *remote, struct hyptrace_event ***events,
		    unsigned int *nr)
{
	struct hyptrace_error err;

	if (!hyptrace_get_events(ctx->h, remote, events, nr, &err))
		return EXIT_DONE;
	return cmd_fail("cannot list the events of \"%s\": %s", remote, err.text);
}

/* The remote and its events, of which the caller frees both in any case. Return an exit code. */
int cmd_get_events(struct context *ctx, struct hyptrace_remote **remote,
		   struct hyptrace_event ***events, unsigned int *nr)
{
	return cmd_get_remote(ctx, remote) ?: cmd_list_events(ctx, (*remote)->name, events, nr);
}
