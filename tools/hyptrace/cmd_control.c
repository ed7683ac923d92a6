// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace start, stop, load, unload, clear, reset, set: control a remote.
 */
#include <stdlib.h>

#include "cmd.h"

enum {
	OPT_SIZE = 0x200,
	OPT_MODE,
	OPT_RATE,
};

#define SIZE_HELP \
	"Bytes of each CPU's ring; K, M, G, T stand for powers of 1024"
#define MODE_HELP \
	"What goes when a ring is full: overwrite (the oldest events) or discard (the new ones)"
#define RATE_HELP \
	"Selftest events that the test remote writes per second and CPU; 0 is none"

static const struct argp_option load_options[] = {
	{ "size", OPT_SIZE, "SIZE", 0, SIZE_HELP, 0 },
	{ "mode", OPT_MODE, "MODE", 0, MODE_HELP, 0 },
	{ 0 }
};

static const struct argp_option set_options[] = {
	{ "size", OPT_SIZE, "SIZE", 0, SIZE_HELP, 0 },
	{ "mode", OPT_MODE, "MODE", 0, MODE_HELP, 0 },
	{ "rate", OPT_RATE, "N", 0, RATE_HELP, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct hyptrace_request *req = state->input;
	uint64_t rate;

	switch (key) {
	case OPT_SIZE:
		if (!parse_size(arg, &req->size))
			argp_error(state, "bad size \"%s\": write a number, or one with K, M, G or T",
				   arg);
		req->attrs |= HYPTRACE_REQUEST_SIZE;
		return 0;
	case OPT_MODE:
		if (!parse_mode(arg, &req->mode))
			argp_error(state, "bad mode \"%s\": write overwrite or discard", arg);
		req->attrs |= HYPTRACE_REQUEST_MODE;
		return 0;
	case OPT_RATE:
		if (!parse_number(arg, HYPTRACE_RATE_MAX, &rate))
			argp_error(state, "bad rate \"%s\": write a number of events per second, up to %u",
				   arg, HYPTRACE_RATE_MAX);
		req->rate = rate;
		req->attrs |= HYPTRACE_REQUEST_RATE;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
	struct hyptrace_request *req = state->input;

	if (key == ARGP_KEY_END && !req->attrs) {
		argp_error(state, "set what? --size, --mode or --rate");
		return 0;
	}
	return parse(key, arg, state);
}

static int control(struct context *ctx, int cmd, const char *verb, struct hyptrace_request *req)
{
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code;

	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;

	req->remote = remote->name;
	if (hyptrace_control(ctx->nl, cmd, req, &err))
		code = cmd_fail_verb(verb, remote->name, &err);
	hyptrace_free_remotes(remote, 1);
	return code;
}

int cmd_start(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_request req = {};

	cmd_no_arguments(ctx, "start", argc, argv);
	return control(ctx, HYPTRACE_CMD_START, "start", &req);
}

int cmd_stop(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_request req = {};

	cmd_no_arguments(ctx, "stop", argc, argv);
	return control(ctx, HYPTRACE_CMD_STOP, "stop", &req);
}

int cmd_load(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = {
		.options = load_options,
		.parser = parse,
		.args_doc = "load",
		.doc = "Allocate the rings and hand them to the writer. Without options the remote's settings are used.",
	};
	struct hyptrace_request req = {};

	cmd_parse(ctx, &argp, argc, argv, &req);
	return control(ctx, HYPTRACE_CMD_LOAD, "load", &req);
}

int cmd_unload(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_request req = {};

	cmd_no_arguments(ctx, "unload", argc, argv);
	return control(ctx, HYPTRACE_CMD_UNLOAD, "unload", &req);
}

int cmd_reset(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_request req = {};

	cmd_no_arguments(ctx, "reset", argc, argv);
	return control(ctx, HYPTRACE_CMD_RESET, "reset", &req);
}

int cmd_set(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = {
		.options = set_options,
		.parser = parse_set,
		.args_doc = "set",
		.doc = "Change settings. Rings that are loaded are resized and keep the events that fit; the mode can be set while they are not loaded.",
	};
	struct hyptrace_request req = {};

	cmd_parse(ctx, &argp, argc, argv, &req);
	return control(ctx, HYPTRACE_CMD_SET, "set", &req);
}

static int clear_cpus(struct context *ctx, const char *remote)
{
	struct hyptrace_request req = { .remote = remote, .attrs = HYPTRACE_REQUEST_CPU };
	struct hyptrace_error err;
	struct hyptrace_cpu *cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(ctx, remote, &cpus, &nr);
	for (i = 0; i < nr && !code; i++) {
		req.cpu = cpus[i].id;
		if (hyptrace_control(ctx->nl, HYPTRACE_CMD_CLEAR, &req, &err))
			code = cmd_fail("cannot clear CPU %u of \"%s\": %s", req.cpu, remote,
					err.text);
	}
	hyptrace_free_cpus(cpus, nr);
	return code;
}

int cmd_clear(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_request req = {};
	struct hyptrace_remote *remote;
	int code;

	cmd_no_arguments(ctx, "clear", argc, argv);
	if (!ctx->have_cpus || ctx->cpus.all)
		return control(ctx, HYPTRACE_CMD_CLEAR, "clear", &req);

	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	code = clear_cpus(ctx, remote->name);
	hyptrace_free_remotes(remote, 1);
	return code;
}
