// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace record: write events to a file. */
#include "output/die.h"
#include "view/record/record.h"

/* Files that --rotate keeps at most */
#define ROTATE_MAX	1000000

enum {
	OPT_HOST = 0x200,
	OPT_SIZE,
	OPT_LIMIT,
	OPT_ROTATE,
};

static const struct argp_option options[] = {
	{ "file", 'o', "FILE", 0, "Write to FILE (" FILE_DEFAULT "); - is standard output", 0 },
	{ "host", OPT_HOST, "EVENT", 0,
	  "Record these events of the host's own tracing, too: \"kvm:kvm_exit\", a system such as kvm, or a glob, with commas between them; may be repeated",
	  0 },
	{ "size", OPT_SIZE, "BYTES", 0,
	  "Use rings of this size, in bytes, or units of 1024 with K, M, G or T", 0 },
	{ "limit", OPT_LIMIT, "BYTES", 0, "End when the file has so many bytes", 0 },
	{ "rotate", OPT_ROTATE, "N", 0,
	  "At the limit, begin the next file, and keep N: FILE, FILE.1 and so on, the newest first",
	  0 },
	{ "compress", 'z', NULL, 0, "Compress the file by zstd", 0 },
	{ "snapshot", OPTION_FLAG(struct record, snapshot), NULL, 0,
	  "Save what the rings hold, and consume nothing", 0 },
	{ 0 }
};

static error_t check_options(const struct record *r)
{
	const struct session *s = &r->session;

	if (s->ctx->json && record_is_stdout(r))
		return cmd_usage("--json prints to the standard output, so the file cannot go there");
	if (r->rotate && !r->limit)
		return cmd_usage("--rotate needs --limit");
	if (r->rotate && record_is_stream(r))
		return cmd_usage("--rotate needs a file");
	if (r->snapshot && r->host.words.nr)
		return cmd_usage("--snapshot saves what the rings hold: it does not record the host");
	/* --file, --compress and --quiet go with it */
	if (r->snapshot && (s->choice.words.nr || s->choice.filter || s->pmu.nr || r->size ||
			    s->duration || r->limit || s->child.argv))
		return cmd_usage("--snapshot saves what is there: it takes no events, no filter, no counters, no limits and no command");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record *r = state->input;
	uint64_t *bytes;

	switch (key) {
	case 'o':
		r->path = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case OPT_HOST:
		if (!arg[strspn(arg, ",")])
			return cmd_usage("no event given: use \"kvm:kvm_exit\", a system such as kvm, or a glob");
		return cmd_add_words(&r->host.words, arg);
	case OPT_SIZE:
	case OPT_LIMIT:
		bytes = key == OPT_SIZE ? &r->size : &r->limit;
		return parse_size(arg, bytes) && *bytes ? 0 :
		       cmd_usage("bad %s \"%s\": use bytes, or K, M, G or T",
				 key == OPT_SIZE ? "size" : "limit", arg);
	case OPT_ROTATE:
		return parse_number(arg, ROTATE_MAX, &r->rotate) && r->rotate ? 0 :
		       cmd_usage("bad number \"%s\": use a number of files from 1 to %d", arg,
				 ROTATE_MAX);
	case 'z':
		r->compress = true;
		return 0;
	case ARGP_KEY_END:
		return check_options(r);
	}
	return ARGP_ERR_UNKNOWN;
}

static int cmd_record(struct context *ctx, int argc, char **argv)
{
	static struct record r = { .path = FILE_DEFAULT, .epoll = -1 };
	struct session *s = &r.session;
	int code;

	session_parse(s, ctx, NULL, argc, argv, &r);
	s->takes |= r.snapshot ? SESSION_SNAPSHOT : SESSION_OWN_RINGS;
	s->child.no_stdout = record_is_stdout(&r);
	code = session_open(s) ?: record_choose(&r) ?:
	       (r.snapshot ? record_snapshot(&r) : record_live(&r));
	if (r.epoll >= 0)
		close(r.epoll);
	free(r.host.words.words);
	free(r.chosen);
	free(r.rings);
	return session_close(s, code);
}

static const struct verb verbs[] VERBS = {
	{ "record", cmd_record, "Write events to a file, and consume them.",
	  VERB_FILES + 1, true,
	  .takes = SESSION_QUIET | SESSION_EVENT | SESSION_FILTER | SESSION_DURATION |
		   SESSION_COMMAND | SESSION_PMU,
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = ARGS_COMMAND,
		.doc = "Write events to a file until a signal comes, or COMMAND has ended. --event enables events, and --filter has EL2 record only those that meet it. Events that are enabled are recorded, too. \"hyptrace report\" and trace-cmd read the file. When the recording ends, the kernel undoes what it has enabled and started. With COMMAND, its exit code is returned.",
	  } },
};
