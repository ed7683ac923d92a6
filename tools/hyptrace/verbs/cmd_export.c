// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace export: write the events of a file in the format of another program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "output/progress.h"
#include "output/text.h"
#include "session/choice.h"
#include "session/gaps.h"
#include "session/moment.h"
#include "session/signals.h"
#include "sink/export_output.h"
#include "sink/host_events.h"
#include "sink/perfetto/export_perfetto.h"

enum {
	OPT_FROM = 0x400,
	OPT_TO,
	OPT_WITH,
};

#define FORMAT_HELP \
	"Write this format; without the option, the name of OUT says which"

#define WITH_HELP \
	"Write a TAR of the Perfetto export and of this trace of the host, which Perfetto opens as one"

#define FROM_HELP \
	"Export no event before this time: seconds of the file's clock, \"+10ms\" (after the first event) or \"-1s\" (before the last one)"

#define EVENT_HELP \
	"Export only these events: names, globs or all, with commas between them; may be repeated"

#define FILTER_HELP \
	"Export only events that meet the condition, such as \"ret == -EPERM || duration > 50us\""

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read this file, as without the option", 0 },
	{ "format", 'f', "FORMAT", 0, FORMAT_HELP, 0 },
	{ "out", 'o', "OUT", 0, "Write to this file or folder, or to stdout (-, the default)", 0 },
	{ "with", OPT_WITH, "HOST", 0, WITH_HELP, 0 },
	{ "event", 'e', "EVENT", 0, EVENT_HELP, 0 },
	{ "filter", 'F', "FILTER", 0, FILTER_HELP, 0 },
	{ "from", OPT_FROM, "TIME", 0, FROM_HELP, 0 },
	{ "to", OPT_TO, "TIME", 0, "Export no event after this time, likewise", 0 },
	{ "quiet", 'q', NULL, 0, "Print no notes; losses and errors are still printed", 0 },
	{ 0 }
};

/* The options and the state of the verb */
struct job {
	struct context			*ctx;
	const char			*file;
	const struct export_format	*format;
	struct export_output		output;
	struct moment			from;
	struct moment			to;
	struct choice			choice;		/* the events that are exported */
	struct host_events		host;		/* the host's events of the file */
	bool				need_tar;	/* the name of the output says so */
	bool				quiet;
	bool				is_damaged;	/* parts of the file could not be read */
	struct hyptrace_file		*in;
	struct export			x;
};

static error_t unknown_format(const char *name)
{
	const struct export_format *const *format;
	size_t len;
	char *list;
	FILE *f = text_open(&list, &len);

	for (format = export_formats; *format; format++)
		fprintf(f, "%s%s", format == export_formats ? "" : ", ", (*format)->name);
	text_close(f);
	cmd_note("unknown format \"%s\": use one of %s", name, list);
	free(list);
	return -EINVAL;
}

static bool is_folder(const char *name)
{
	const size_t len = strlen(name);
	struct stat st;

	return (len && name[len - 1] == '/') || (!stat(name, &st) && S_ISDIR(st.st_mode));
}

/* The format for a folder is the first one that writes only folders. */
static const struct export_format *find_folder_format(void)
{
	const struct export_format *const *format = export_formats;

	while (*format && (*format)->targets != EXPORT_TO_FOLDER)
		format++;
	return *format;
}

static bool is_tar(const char *name)
{
	static const char ending[] = ".tar";
	const size_t len = strlen(name);

	return len > strlen(ending) && !strcmp(name + len - strlen(ending), ending);
}

static error_t choose_format(struct job *job)
{
	struct export_output *output = &job->output;
	const bool folder = is_folder(output->name);

	job->need_tar = !job->format && is_tar(output->name);
	if (!job->format && (output->tar || job->need_tar))
		job->format = &export_perfetto;
	if (!job->format)
		job->format = folder ? find_folder_format() : export_guess_format(output->name);
	if (!job->format && !strcmp(output->name, "-"))
		return cmd_usage("name an output with --out or a format with --format");
	if (!job->format)
		return cmd_usage("the name \"%s\" stands for no format: use --format",
				 output->name);
	if (output->tar && job->format != &export_perfetto)
		return cmd_usage("--with is for the format \"%s\"", export_perfetto.name);

	output->is_folder = folder || job->format->targets == EXPORT_TO_FOLDER;
	if (output->is_folder && !(job->format->targets & EXPORT_TO_FOLDER))
		return cmd_usage("\"%s\" is a folder: the format \"%s\" is one file", output->name,
				 job->format->name);
	if (output->is_folder && !strcmp(output->name, "-"))
		return cmd_usage("the format \"%s\" is a folder: name it with --out",
				 job->format->name);
	if ((job->format->is_binary || output->tar) && !strcmp(output->name, "-") &&
	    isatty(STDOUT_FILENO))
		return cmd_usage("the format \"%s\" is not for a terminal: use --out",
				 job->format->name);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct job *job = state->input;

	switch (key) {
	case 'f':
		job->format = export_find_format(arg);
		return job->format ? 0 : unknown_format(arg);
	case 'o':
		job->output.name = arg;
		return *arg ? 0 : cmd_usage("the name of the output is empty");
	case OPT_WITH:
		job->output.tar = arg;
		return 0;
	case 'e':
		return cmd_add_words(&job->choice.words, arg);
	case 'F':
		job->choice.filter = arg;
		return 0;
	case OPT_FROM:
	case OPT_TO:
		if (!moment_parse(arg, key == OPT_FROM ? &job->from : &job->to))
			return cmd_usage("bad time \"%s\": use seconds, +TIME (after the first event) or -TIME (before the last one), such as 12.5, +10ms or -1s",
					 arg);
		return 0;
	case 'q':
		job->quiet = true;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		if (job->file)
			return cmd_usage("unexpected argument \"%s\"", arg);
		job->file = arg;
		return 0;
	case ARGP_KEY_END:
		return job->file ? choose_format(job) : cmd_usage("a file is missing");
	}
	return ARGP_ERR_UNKNOWN;
}

/* List the formats after the options. */
static char *list_formats(int key, const char *text, void *input)
{
	const struct export_format *const *format;
	const char *const *ending;
	size_t len;
	char *list;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = text_open(&list, &len);
	fputs("Formats:\n", f);
	for (format = export_formats; *format; format++) {
		fprintf(f, "  %-10s %s", (*format)->name, (*format)->help);
		for (ending = (*format)->endings; *ending; ending++)
			fprintf(f, "%s%s", ending == (*format)->endings ? " (" : ", ", *ending);
		fputs(*(*format)->endings ? ")\n" : "\n", f);
	}
	text_close(f);
	return list;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE",
	.doc = "Write the events of FILE, which \"hyptrace record\" has made, in the format of another program.",
	.help_filter = list_formats,
};

static int fail_read(const struct job *job, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", job->file, err->text);
}

/* Keep the CPUs that --cpu names. */
static int choose_cpus(struct job *job, unsigned int **cpus)
{
	const struct cpu_list *list = &job->ctx->cpus;
	const bool all = !job->ctx->have_cpus || list->all;
	const struct hyptrace_file_cpu *const *have;
	unsigned int nr, i, j, kept = 0;
	struct hyptrace_error err;

	have = hyptrace_file_cpus(job->in, &nr);
	for (i = 0; !all && i < list->nr; i++) {
		for (j = 0; j < nr && have[j]->id != list->ids[i]; j++)
			;
		if (j == nr)
			return cmd_fail("\"%s\" has no CPU %u", job->file, list->ids[i]);
	}
	*cpus = calloc(nr + 1, sizeof(**cpus));
	if (!*cpus)
		die_no_memory();
	for (i = 0; i < nr; i++)
		if (all || cpu_list_has(list, have[i]->id))
			(*cpus)[kept++] = have[i]->id;
	job->x.cpus = *cpus;
	job->x.nr_cpus = kept;
	if (kept && hyptrace_file_set_cpus(job->in, *cpus, kept, &err))
		return fail_read(job, &err);
	if (moment_set_times(job->in, &job->from, &job->to, &err))
		return fail_read(job, &err);
	return EXIT_DONE;
}

/* The rest of the file can still be read. */
static void note_damage(const struct hyptrace_error *err, void *arg)
{
	struct job *job = arg;

	job->is_damaged = true;
	cmd_note("\"%s\": %s", job->file, err->text);
}

/* After a signal, deliver the next event, whatever it is: that ends reading. */
static bool accept_event(const struct hyptrace_stream_event *event, void *choice)
{
	return signals_stop || choice_accept_event(event, choice);
}

/* Only events of the host were chosen. */
static bool accept_none(const struct hyptrace_stream_event *event, void *arg)
{
	(void)event;
	(void)arg;
	return false;
}

static int read_events(struct job *job, const struct export_format *format, struct export *x,
		       struct hyptrace_file *file)
{
	struct hyptrace_error err;
	int ret = export_file(format, x, file, note_damage, job, &err);

	if (signals_stop)
		return cmd_fail("the export was interrupted");
	/* who closes the pipe has seen enough; another error is reported later */
	return ret < 0 ? fail_read(job, &err) : EXIT_DONE;
}

static int export_remote(struct job *job)
{
	struct hyptrace_file *file = job->in;

	if (job->host.no_remote)
		hyptrace_file_set_filter(file, accept_none, NULL);
	else if (choice_is_made(&job->choice))
		hyptrace_file_set_filter(file, accept_event, &job->choice);
	return read_events(job, job->format, &job->x, file);
}

static int run_format(struct job *job)
{
	struct export_output *output = &job->output;
	struct export *x = &job->x;
	int code = EXIT_DONE, ended;

	x->name = output->name;
	x->folder_fd = -1;
	if (output->is_folder) {
		x->folder_fd = output->fd;
	} else {
		x->out = &output->out;
		x->out->abandon = &signals_abandon;
	}
	if (output->tar)
		code = export_tar_begin(output);
	if (code)
		return code;
	code = job->format->begin(x);
	if (!code)
		code = export_remote(job);
	ended = job->format->end(x);
	if (!code)
		code = ended;
	if (output->tar && !code)
		code = export_tar_end(output);
	return code;
}

/* @what: " of the host", or nothing */
static void note_counts(const struct job *job, const struct hyptrace_file_counts *counts,
			const struct choice *choice, const char *what)
{
	const char *s = counts->delivered == 1 ? "" : "s";
	char filtered[FILTER_COUNT_SIZE];

	filter_count(choice_is_made(choice), counts->filtered, filtered);
	if (counts->lost || counts->lost_more)
		cmd_note("%" PRIu64 " event%s%s exported%s, %" PRIu64 "%s lost in between",
			 counts->delivered, s, what, filtered, counts->lost,
			 counts->lost_more ? " or more" : "");
	else if (!job->quiet)
		cmd_note("%" PRIu64 " event%s%s exported%s", counts->delivered, s, what, filtered);
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
	struct hyptrace_file_counts counts;
	struct out *out;
	struct export x;
	int code;

	if (!h->file || h->no_host)
		return EXIT_DONE;
	code = host_events_choose(h, "export");
	if (code || h->no_host)
		return code;
	out = malloc(sizeof(*out));
	if (!out)
		die_no_memory();
	job->output.tar = "host.pftrace";
	job->output.tar_fd = export_open_unnamed();
	out_init(out, job->output.tar_fd);
	x = job->x;
	x.events = hyptrace_file_events(h->file, &x.nr_events);
	x.formats = hyptrace_file_formats(h->file);
	x.out = out;
	code = export_perfetto_host.begin(&x);
	if (!code)
		code = read_events(job, &export_perfetto_host, &x, h->file);
	export_perfetto_host.end(&x);
	if (!code && (out->error || lseek(out->fd, 0, SEEK_SET) < 0))
		code = cmd_fail("cannot write a temporary file: %s",
				strerror(out->error ? out->error : errno));
	free(out);
	hyptrace_file_counts(h->file, &counts, sizeof(counts));
	if (!code)
		note_counts(job, &counts, &h->choice, " of the host");
	return code;
}

/* Find out what becomes of the host's events. */
static int prepare_host(struct job *job)
{
	struct host_events *h = &job->host;
	int code = host_events_open(h, job->in, job->file);

	if (code)
		return code;
	if (job->need_tar && !h->file && !job->output.tar)
		return cmd_fail("\"%s\" has no events of the host: use --with, or another name than \"%s\"",
				job->file, job->output.name);
	if (!h->file)
		return job->output.tar ? export_tar_check(job->output.tar) : EXIT_DONE;
	if (job->output.tar)
		return cmd_fail("\"%s\" has events of the host: it needs no --with", job->file);
	h->no_host = job->format != &export_perfetto;
	if (h->no_host && !job->quiet)
		cmd_note("\"%s\": the format \"%s\" leaves out the events of the host",
			 job->file, job->format->name);
	host_events_share(h, &job->choice, job->in);
	return EXIT_DONE;
}

static int export_to_output(struct job *job, struct hyptrace_file *file)
{
	struct hyptrace_file_counts counts;
	int code;

	if (replaces(job, job->file) || replaces(job, job->output.tar))
		return cmd_fail("\"%s\" is read: give the output another name", job->output.name);
	code = export_output_open(&job->output);
	if (code)
		return code;
	progress_begin(file, !job->quiet && (strcmp(job->output.name, "-") || is_stdout_file()));
	code = run_format(job);
	progress_end();
	if (!code)
		code = export_output_finish(&job->output);
	if (code) {
		export_output_abandon(&job->output);
		return code;
	}
	hyptrace_file_counts(file, &counts, sizeof(counts));
	note_counts(job, &counts, &job->choice, "");
	return job->is_damaged ? EXIT_REFUSED : EXIT_DONE;
}

static int export_chosen(struct job *job, struct hyptrace_file *file)
{
	struct hyptrace_model *model;
	unsigned int *cpus = NULL;
	struct export *x = &job->x;
	struct hyptrace_error err;
	int code;

	job->in = file;
	x->info = hyptrace_file_info(file);
	x->formats = hyptrace_file_formats(file);
	model = hyptrace_model_new(x->formats, &err);
	if (!model)
		return fail_read(job, &err);
	x->model = model;
	x->events = hyptrace_file_events(file, &x->nr_events);
	x->calls = hyptrace_file_hypercalls(file, &x->nr_calls);
	hyptrace_file_first_time(file, &x->first, NULL);
	if (!job->quiet)
		gaps_note_file(file, job->file);
	if (job->output.tar && (!x->info->clock || strcmp(x->info->clock, "boot")))
		cmd_note("the clock of \"%s\" is not \"boot\": its times are not those of \"%s\"",
			 job->file, job->output.tar);
	code = choose_cpus(job, &cpus);
	if (!code)
		code = prepare_host(job);
	if (!code)
		code = choice_make(&job->choice, "export", x->events, x->nr_events,
				   x->formats);
	x->wanted = job->choice.wanted;
	if (!code)
		code = export_host(job);
	if (!code)
		code = export_to_output(job, file);
	if (job->output.tar_fd >= 0)
		close(job->output.tar_fd);
	choice_free(&job->host.choice);
	hyptrace_model_free(model);
	choice_free(&job->choice);
	free(cpus);
	return code;
}

static int cmd_export(struct context *ctx, int argc, char **argv)
{
	static struct job job;
	struct hyptrace_error err;
	struct hyptrace_file *file;
	int code;

	job.ctx = ctx;
	job.output.name = "-";
	job.output.tar_fd = -1;
	cmd_parse(ctx, &argp, argc, argv, &job);
	if (ctx->json) {
		cmd_note("--json is not an option of export: use --format=jsonl");
		return EXIT_USAGE;
	}
	if (signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	/* a limit of the file size is an error of write() */
	signal(SIGXFSZ, SIG_IGN);
	file = hyptrace_file_open(job.file, &err);
	if (!file)
		return fail_read(&job, &err);
	code = export_chosen(&job, file);
	hyptrace_file_close(file);
	/* as if the signal had ended the program, which has removed the output */
	return code && signals_stop ? 128 + signals_stop : code;
}

static const struct verb verbs[] VERBS = {
	{ "export", cmd_export, "Write the events of a file for another program.",
	  VERB_FILES + 3, true },
};
