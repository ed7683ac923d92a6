// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print where the time of a trace file goes, as "stack nanoseconds" lines for flame graphs:
 * flame-graph FILE | flamegraph.pl >out.svg
 *
 *	cc flame-graph.c $(pkg-config --cflags --libs hyptrace)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <hyptrace_file.h>
#include <hyptrace_model.h>

/* Print what has ended. The same stack may come several times: readers add the times. */
static void print(struct hyptrace_nest *nest)
{
	const struct hyptrace_span *span;
	char stack[1024];

	while ((span = hyptrace_nest_next(nest, 0)))
		if (hyptrace_span_stack(span, stack, sizeof(stack)))
			printf("%s %" PRIu64 "\n", stack, span->own);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "hyptrace.dat";
	const struct hyptrace_stream_event *event;
	struct hyptrace_model *model = NULL;
	struct hyptrace_nest *nest = NULL;
	struct hyptrace_error err = {};
	struct hyptrace_file *file;
	int ret = -1;

	file = hyptrace_file_open(path, &err);
	if (file)
		model = hyptrace_model_new(hyptrace_file_info(file)->formats, &err);
	if (model)
		nest = hyptrace_nest_new(model, HYPTRACE_VISIT_KINDS);
	/* -EBADMSG: a part of the file is damaged, and the rest is still there */
	while (nest && ((ret = hyptrace_file_next(file, &event, &err)) >= 0 || ret == -EBADMSG)) {
		if (ret > 0 && hyptrace_nest_add(nest, event, true, 0))
			break;
		print(nest);
	}
	if (ret == -ENODATA) {
		hyptrace_nest_end(nest);
		print(nest);
	} else {
		fprintf(stderr, "%s: cannot read \"%s\": %s\n", argv[0], path, err.text);
	}
	hyptrace_nest_free(nest);
	hyptrace_model_free(model);
	hyptrace_file_close(file);
	return ret != -ENODATA;
}
