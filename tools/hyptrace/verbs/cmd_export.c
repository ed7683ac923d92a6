// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace export: write events of a file or of a live remote in formats of other programs. */
#include <sys/stat.h>
#include <sys/utsname.h>

#include "common/boot_id.h"
#include "output/clock.h"
#include "output/die.h"
#include "session/session.h"
#include "sink/export.h"

#define OPT_WITH	0x200

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0,
	  "Write this format; without the option, the name of OUT says which", 0 },
	{ "out", 'o', "OUT", 0, "Write to this file or folder, or to stdout (-, the default)", 0 },
	{ "with", OPT_WITH, "HOST", 0,
	  "Write a TAR of the Perfetto export of a file and of this trace of the host, which Perfetto opens as one",
	  0 },
	{ 0 }
};

struct job {
	struct session			session;
	struct export_output		output;
	struct words			more;		/* files after the first one */
	bool				need_tar;	/* the name of the output says so */
	struct host_events		host;		/* the host's events of the file */
	struct hyptrace_file_info	info;		/* of a live remote */
	struct export			x;
	bool				has_begun;	/* the format has */
	int				code;		/* why the format could not begin */
};

static bool is_folder(const char *name)
{
	const size_t len = strlen(name);
	struct stat st;

	return (len && name[len - 1] == '/') || (!stat(name, &st) && S_ISDIR(st.st_mode));
}

/* For a TAR the first format that writes the host's events, too; else that writes only folders */
static const struct export_format *find_format(bool is_tar)
{
	const struct export_format *format = NULL;

	while ((format = export_next_format(format)) &&
	       (is_tar ? !format->host : format->targets != EXPORT_TO_FOLDER))
		;
	return format;
}

static error_t choose_format(struct job *job)
{
	struct export_output *output = &job->output;
	const bool folder = is_folder(output->name);
	const char *path = job->session.path;

	job->need_tar = !job->x.format && export_ends_with(output->name, ".tar");
	if (!job->x.format && (output->tar || job->need_tar))
		job->x.format = find_format(true);
	if (!job->x.format)
		job->x.format = folder ? find_format(false) : export_guess_format(output->name);
	if (!job->x.format && !strcmp(output->name, "-"))
		return cmd_usage("name an output with --out or a format with --format");
	if (!job->x.format)
		return cmd_usage("the name \"%s\" stands for no format: use --format",
				 output->name);
	if (output->tar && !job->x.format->host)
		return cmd_usage("--with is for the format \"%s\"", find_format(true)->name);
	if (!path && (output->tar || job->need_tar))
		return cmd_usage("a TAR has a trace of the host: use \"hyptrace record --host\" first, and name the file");

	output->is_folder = folder || job->x.format->targets == EXPORT_TO_FOLDER;
	if (output->is_folder && !(job->x.format->targets & EXPORT_TO_FOLDER))
		return cmd_usage("\"%s\" is a folder: the format \"%s\" is one file", output->name,
				 job->x.format->name);
	if (output->is_folder && !strcmp(output->name, "-"))
		return cmd_usage("the format \"%s\" is a folder: name it with --out",
				 job->x.format->name);
	if ((job->x.format->is_binary || output->tar) && !strcmp(output->name, "-") &&
	    isatty(STDOUT_FILENO))
		return cmd_usage("the format \"%s\" is not for a terminal: use --out",
				 job->x.format->name);
	job->session.child.no_stdout = !strcmp(output->name, "-");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	auto_free char *list = NULL;
	const struct export_format *format = NULL;
	struct job *job = state->input;
	FILE *f;

	switch (key) {
	case 'f':
		job->x.format = export_find_format(arg);
		if (job->x.format)
			return 0;
		f = text_open(&list);
		while ((format = export_next_format(format)))
			fprintf(f, "%s%s", ftell(f) ? ", " : "", format->name);
		text_close(f, &list);
		return cmd_usage("unknown format \"%s\": use one of %s", arg, list);
	case 'o':
		job->output.name = arg;
		return *arg ? 0 : cmd_usage("the name of the output is empty");
	case OPT_WITH:
		job->output.tar = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (job->session.path)
			cmd_add_word(&job->more, arg);
		else
			job->session.path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!job->more.nr)
			return choose_format(job);
		/* each of several files has an output in the folder OUT */
		if (!is_folder(job->output.name))
			return cmd_usage("several files need a folder for their outputs: use \"--out FOLDER/\"");
		if (!job->x.format)
			return cmd_usage("several files need a format: use --format");
		return job->output.tar ? cmd_usage("--with is for one file") : 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *list_formats(int key, const char *text, void *input)
{
	const struct export_format *format = NULL;
	const char *const *ending;
	char *list;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = text_open(&list);
	fputs("Formats:\n", f);
	while ((format = export_next_format(format))) {
		fprintf(f, "  %-10s %s", format->name, format->help);
		for (ending = format->endings; *ending; ending++)
			fprintf(f, "%s%s", ending == format->endings ? " (" : ", ", *ending);
		fputs(")\n", f);
	}
	text_close(f, &list);
	return list;
}

/* Find out which numbers CPUs have. Return an exit code. */
static int count_cpus(struct job *job)
{
	auto_cpus struct hyptrace_cpu **of_remote = NULL;
	struct session *s = &job->session;
	const struct hyptrace_file_info *info = s->file ? hyptrace_file_info(s->file) : NULL;
	unsigned int nr = info ? info->nr_cpus : 0, i;
	int code = info ? EXIT_DONE : cmd_get_cpus(s->ctx, s->name, &of_remote, &nr);

	for (i = 0; !code && i < nr; i++) {
		const unsigned int id = info ? info->cpus[i]->id : of_remote[i]->id;

		if (id >= job->x.nr_cpus)
			job->x.nr_cpus = id + 1;
	}
	return code;
}

/* Say about a live remote what a file says about itself. */
static void make_info(struct job *job)
{
	struct session *s = &job->session;
	static struct utsname u;
	static char text[sizeof(u)], boot[BOOT_ID_SIZE];

	uname(&u);
	snprintf(text, sizeof(text), "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
		 u.machine);
	job->info = (struct hyptrace_file_info){
		.remote = s->remote->name,
		.clock = s->remote->clock,
		.recorder = (char *)PROGRAM " " HYPTRACE_VERSION,
		.uname = text,
		.offset = strcmp(s->clock, "boot") ? 0 : clock_offset(),
		.subbuf_size = s->remote->subbuf_size,
		.boot = read_boot_id(boot) ? boot : NULL,
	};
}

/* What all formats need to know. Return an exit code. */
static int prepare(struct job *job)
{
	struct session *s = &job->session;
	struct hyptrace_error err;
	struct hyptrace_event **events;
	struct export *x = &job->x;
	unsigned int i;

	if (!s->file)
		make_info(job);
	else
		hyptrace_file_times(s->file, &x->first, NULL, NULL);
	x->info = s->file ? hyptrace_file_info(s->file) : &job->info;
	x->origin = origin_new(x->info);
	x->is_alone = job->more.nr;
	x->damage = session_note_damage;
	x->damage_arg = s;
	x->formats = s->formats;
	x->calls = s->calls;
	x->nr_calls = s->nr_calls;
	x->model = hyptrace_model_new(s->formats, &err);
	if (!x->model)
		return session_fail(s, &err);
	/* the formats know their own events, and no copies of them */
	events = xcalloc(s->nr_events + 1, sizeof(*events));
	for (i = 0; i < s->nr_events; i++)
		if (s->events[i]->id < x->model->nr && x->model->by_id[s->events[i]->id]->event)
			events[x->nr_events++] =
				(struct hyptrace_event *)x->model->by_id[s->events[i]->id]->event;
	x->events = events;
	if (job->output.tar && (!x->info->clock || strcmp(x->info->clock, "boot")))
		cmd_note("the clock of \"%s\" is not \"boot\": its times are not those of \"%s\"",
			 s->path, job->output.tar);
	return count_cpus(job);
}

/* Only events of the host were chosen. */
static bool accept_none(const struct hyptrace_stream_event *event __attribute__((unused)),
			void *arg __attribute__((unused)))
{
	return false;
}

static int read_events(struct job *job, struct export *x, struct hyptrace_file *file)
{
	struct hyptrace_error err;
	int ret = export_file(x, file, &err);

	/* a closed pipe is no error; any other is reported later */
	return ret < 0 && !signals_stop ? session_fail(&job->session, &err) : EXIT_DONE;
}

static void begin_format(struct job *job)
{
	job->has_begun = true;
	job->code = job->x.format->begin(&job->x);
	job->session.loop.is_over |= job->code;
}

static void put_batch(struct session *s, const struct hyptrace_stream_event *events,
		      unsigned int nr)
{
	struct job *job = s->arg;

	if (!job->x.first)
		job->x.first = events->record.ts;
	if (!job->has_begun)
		begin_format(job);
	if (!job->code)
		export_put(&job->x, events, nr);
}

/* Write what there is so far; once a write has failed, end. */
static uint64_t write_events(struct loop *l, uint64_t now)
{
	struct job *job = ((struct session *)l->arg)->arg;

	(void)now;
	l->is_over |= !!export_flush(&job->x);
	return UINT64_MAX;
}

static const struct session_ops ops = {
	.batch = put_batch,
	.tick = write_events,
};

/* If there are several files, the process that waits for all reports this once. */
static int fail_interrupted(const struct job *job)
{
	return job->more.nr ? EXIT_REFUSED : cmd_fail("the export was interrupted");
}

static int run_format(struct job *job)
{
	struct export_output *output = &job->output;
	struct session *s = &job->session;
	struct export *x = &job->x;
	int code, ended;

	x->name = output->name;
	x->folder_fd = output->fd;
	x->out = output->is_folder ? NULL : &output->out;
	output->out.abandon = &signals_abandon;
	if (s->file && job->host.no_remote)
		hyptrace_file_options(s->file)->filter = accept_none;
	/* several threads read a file; but one reads its last events, or those that are live */
	if (!s->file || s->count) {
		code = session_run(s);
	} else {
		begin_format(job);
		code = job->code ?: read_events(job, x, s->file);
		session_count_file(s);
	}
	code = s->file && signals_stop ? fail_interrupted(job) : code;
	if (!job->has_begun)
		begin_format(job);
	export_end_parts(x);
	ended = x->format->end(x);
	return code ?: job->code ?: ended;
}

/* The output takes the place of an older file of its name: that must not be what is read. */
static bool replaces(const struct job *job, const char *input)
{
	struct stat in, out;

	return input && strcmp(job->output.name, "-") && !stat(input, &in) &&
	       !stat(job->output.name, &out) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* Export the host's events to a file without a name, which becomes a part of the TAR. */
static int export_host(struct job *job)
{
	struct host_events *h = &job->host;
	struct session host = {
		.ctx = job->session.ctx, .quiet = job->session.quiet, .file = h->file,
		.name = job->session.path, .is_one_of_many = job->session.is_one_of_many,
	};
	const struct hyptrace_file_info *info;
	struct export x = job->x;
	struct out out;
	int code;

	if (!h->file || h->no_host)
		return EXIT_DONE;
	code = host_events_choose(h, "export");
	if (code || h->no_host)
		return code;
	job->output.tar = "host.pftrace";
	job->output.tar_fd = export_open_unnamed();
	if (job->output.tar_fd < 0)
		return cmd_fail("cannot create a temporary file: %s", strerror(errno));
	out_init(&out, job->output.tar_fd);
	x.format = x.format->host;
	info = hyptrace_file_info(h->file);
	x.events = info->events;
	x.nr_events = info->nr_events;
	x.formats = info->formats;
	x.out = &out;
	code = x.format->begin(&x) ?: read_events(job, &x, h->file);
	x.format->end(&x);
	if (!code && signals_stop)
		code = fail_interrupted(job);
	if (!code && (out.error || lseek(out.fd, 0, SEEK_SET) < 0))
		code = cmd_fail("cannot write a temporary file: %s",
				strerror(out.error ? out.error : errno));
	out_free(&out);
	if (code)
		return code;
	host.choice = h->choice;
	session_count_file(&host);
	session_note_counts(&host, "event", host.counts.delivered, "of the host exported");
	return EXIT_DONE;
}

static int prepare_host(struct job *job)
{
	struct host_events *h = &job->host;
	struct session *s = &job->session;
	int code = s->file ? host_events_open(h, s->file, s->path) : EXIT_DONE;

	if (code)
		return code;
	if (job->need_tar && !h->file && !job->output.tar)
		return cmd_fail("\"%s\" has no events of the host: use --with, or another name than \"%s\"",
				s->path, job->output.name);
	if (!h->file)
		return job->output.tar ? export_tar_check(job->output.tar) : EXIT_DONE;
	if (job->output.tar)
		return cmd_fail("\"%s\" has events of the host: it needs no --with", s->path);
	h->no_host = !job->x.format->host;
	if (h->no_host && !s->quiet)
		cmd_note("\"%s\": the format \"%s\" leaves out the events of the host", s->path,
			 job->x.format->name);
	host_events_share(h, &s->choice, s->file);
	return EXIT_DONE;
}

static int export_to_output(struct job *job)
{
	struct session *s = &job->session;
	const bool is_stdout = !strcmp(job->output.name, "-");
	int code;

	if (replaces(job, s->path) || replaces(job, job->output.tar))
		return cmd_fail("\"%s\" is read: give the output another name", job->output.name);
	code = export_output_open(&job->output);
	if (code)
		return code;
	s->loop.ignores_output = !is_stdout;
	if (s->file && !s->count && !job->more.nr)
		progress_begin(s->file, !s->quiet && (!is_stdout || is_stdout_file()));
	code = run_format(job) ?: export_output_finish(&job->output);
	progress_end();
	if (code) {
		export_output_abandon(&job->output);
		return code;
	}
	/* for its words only: the export has its own buffer */
	s->ctx->out.error = job->output.out.error;
	session_note_counts(s, "event", s->counts.delivered, "exported");
	s->ctx->out.error = 0;
	return EXIT_DONE;
}

static int export_session(struct job *job)
{
	struct session *s = &job->session;
	int code = session_open(s) ?: prepare(job) ?: prepare_host(job) ?: session_choose(s);

	if (!code && !s->file)
		code = session_hold_chosen(s, NULL);
	job->x.wanted = s->choice.wanted;
	code = code ?: export_host(job) ?: export_to_output(job);
	if (job->output.tar_fd >= 0)
		close(job->output.tar_fd);
	choice_free(&job->host.choice);
	hyptrace_model_free((struct hyptrace_model *)job->x.model);
	free((struct hyptrace_event **)job->x.events);
	origin_free(job->x.origin);
	return session_close(s, code);
}

/* In a process of its own */
static int export_one(void *arg, const char *file, const char *out)
{
	struct job *job = arg;

	job->session.path = file;
	job->session.is_one_of_many = true;
	job->output.name = out;
	job->output.is_folder = !(job->x.format->targets & EXPORT_TO_FILE);
	return export_session(job);
}

static int cmd_export(struct context *ctx, int argc, char **argv)
{
	static struct job job = { .output = { .name = "-", .tar_fd = -1 } };
	struct export_many many = { .one = export_one, .arg = &job };
	auto_free char **files = NULL;
	struct session *s = &job.session;
	unsigned int i;
	int code;

	session_parse(s, ctx, &ops, argc, argv, &job);
	if (ctx->json) {
		cmd_note("--json is not an option of export: use --format=jsonl");
		return EXIT_USAGE;
	}
	if (s->path && signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	if (!job.more.nr) {
		code = export_session(&job);
	} else {
		*xappend(files, many.nr) = (char *)s->path;
		for (i = 0; i < job.more.nr; i++)
			*xappend(files, many.nr) = (char *)job.more.words[i];
		many.files = files;
		many.folder = job.output.name;
		many.ending = job.x.format->endings[0];
		code = export_many(&many);
	}
	/* as if the signal had ended the program, which has removed the output */
	return code && signals_stop && s->path ? 128 + signals_stop : code;
}

static const struct verb verbs[] VERBS = {
	{ "export", cmd_export, "Write events for another program, of a file or as they happen.",
	  VERB_FILES + 3, true,
	  .takes = SESSION_QUIET | SESSION_EVENT | SESSION_FILTER | SESSION_INPUT | SESSION_TIMES |
		   SESSION_FIRST | SESSION_LAST | SESSION_DURATION | SESSION_COMMAND |
		   SESSION_BOUND | SESSION_NO_START | SESSION_WORDS,
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE...]\n[-- COMMAND...]",
		.doc = "Write the events of FILE, which \"hyptrace record\" has made, in the format of another program. Of several files each has an output in the folder OUT. Without FILE, write events as they happen, until a signal comes, or COMMAND has ended: if none is enabled, the export enables those of --event until its end.",
		.help_filter = list_formats,
	  } },
};
