// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace names: print the names of the hypercalls of a kernel tree, for the tracers in tracefs,
 * which record only numbers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "output/die.h"
#include "output/text.h"

#define HEADER		"arch/arm64/include/asm/kvm_asm.h"
#define RELEASE		"include/config/kernel.release"
#define FUNC		"__KVM_HOST_SMCCC_FUNC_"
/* A marker is the number of the next hypercall, too. */
#define MARKER		"MARKER("
/* Android: modules register the hypercalls from here on, in the order in which they are loaded. */
#define DYNAMIC		"__dynamic_hcalls"
#define NR_DYNAMIC	128
#define ID_MAX		4096

struct names {
	const char	*tree;
};

static const struct argp_option options[] = {
	{ "from", 'f', "TREE", 0, "Read the sources of the kernel in this folder", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct names *names = state->input;

	switch (key) {
	case 'f':
		names->tree = arg;
		return 0;
	case ARGP_KEY_END:
		if (!names->tree)
			return cmd_usage("no kernel tree given: use --from");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Print the names of the hypercalls of a kernel, for HYPTRACE_NAMES.",
};

/* Read a file of the tree, for free(); NULL if there is none. */
static char *read_file(const char *tree, const char *name)
{
	char *path = xasprintf("%s/%s", tree, name), *text = NULL;
	FILE *f = fopen(path, "re");
	size_t size = 0;

	free(path);
	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* "NAME = VALUE" of the Makefile; "" without it */
static char *variable(const char *makefile, const char *name)
{
	const char *at = makefile;
	size_t len = strlen(name), blanks;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len))
			continue;
		blanks = strspn(at + len, " \t");
		if (at[len + blanks] != '=')
			continue;
		at += len + blanks + 1;
		at += strspn(at, " \t");
		return xstrndup(at, strcspn(at, " \t\n"));
	}
	return xstrdup("");
}

/* The release, as far as the tree knows it: one that was built knows all of it. For free() */
static char *release_of(const char *tree)
{
	static const char *const parts[] = {
		"VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION",
	};
	char *built = read_file(tree, RELEASE), *makefile, *part[4];
	unsigned int i;

	if (built) {
		built[strcspn(built, "\n")] = '\0';
		return built;
	}
	makefile = read_file(tree, "Makefile");
	for (i = 0; i < 4; i++)
		part[i] = variable(makefile ? makefile : "", parts[i]);
	built = xasprintf("%s.%s.%s%s", part[0], part[1], part[2], part[3]);
	for (i = 0; i < 4; i++)
		free(part[i]);
	free(makefile);
	return built;
}

/* Make comments and directives blank. */
static void strip(char *text)
{
	char *at, *end;

	while ((at = strstr(text, "/*"))) {
		end = strstr(at, "*/");
		memset(at, ' ', end ? end + 2 - at : (ptrdiff_t)strlen(at));
	}
	while ((at = strstr(text, "//")))
		memset(at, ' ', strcspn(at, "\n"));
}

/* "NAME = 128", "NAME = OTHER + 1" or "NAME". Return false if the value cannot be told. */
static bool evaluate(const char *text, int *value)
{
	const char *plus = strchr(text, '+');
	char *end;

	text += strspn(text, "= \t\n");
	/* the first hypercall has the number 0, and the second one refers to it */
	if (!strncmp(text, FUNC "__kvm_hyp_init", strlen(FUNC "__kvm_hyp_init")) && plus) {
		*value = strtol(plus + 1, &end, 0);
		return end != plus + 1;
	}
	*value = strtol(text, &end, 0);
	return end != text && !end[strspn(end, " \t\n")];
}

static void print_name(FILE *to, int id, const char *name, size_t len)
{
	int i;

	if (len != strlen(DYNAMIC) || strncmp(name, DYNAMIC, len)) {
		fprintf(to, "%d %.*s\n", id, (int)len, name);
		return;
	}
	for (i = 0; i < NR_DYNAMIC; i++)
		fprintf(to, "%d dynamic_hcall_%d\n", id + i, i);
}

/* Print the constants of the enum. Return the number of hypercalls; -1 if one has no number. */
static int print_enum(FILE *to, char *at)
{
	int value = 0, nr = 0;
	char *next, *name;
	bool is_marker;
	size_t len;

	for (; at; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		at += strspn(at, " \t\n");
		is_marker = !strncmp(at, MARKER, strlen(MARKER));
		if (!*at || is_marker)
			continue;
		if (strncmp(at, FUNC, strlen(FUNC)))
			return -1;
		name = at + strlen(FUNC);
		for (len = 0; isalnum((unsigned char)name[len]) || name[len] == '_';)
			len++;
		value++;
		if (strchr(name + len, '=') && !evaluate(name + len, &value))
			return -1;
		if (value < 0 || value > ID_MAX)
			return -1;
		print_name(to, value, name, len);
		nr++;
	}
	return nr;
}

static int cmd_names(struct context *ctx, int argc, char **argv)
{
	struct names names = {};
	char *text, *release, *begin, *end, *table;
	size_t size;
	int nr = -1;
	FILE *to;

	cmd_parse(ctx, &argp, argc, argv, &names);
	text = read_file(names.tree, HEADER);
	if (!text)
		return cmd_fail("cannot read %s/" HEADER ": %s", names.tree, strerror(errno));
	strip(text);
	begin = strstr(text, "enum __kvm_host_smccc_func");
	begin = begin ? strchr(begin, '{') : NULL;
	end = begin ? strchr(begin, '}') : NULL;
	/* with a directive, the configuration decides */
	if (end && !memchr(begin, '#', end - begin)) {
		*end = '\0';
		release = release_of(names.tree);
		to = text_open(&table, &size);
		fprintf(to, NAMES_RELEASE "%s\n0 __kvm_hyp_init\n", release);
		nr = print_enum(to, begin + 1);
		text_close(to);
		if (nr > 0)
			out_write(&ctx->out, table, size);
		free(table);
		free(release);
	}
	free(text);
	if (nr > 0)
		return EXIT_DONE;
	return cmd_fail("%s/" HEADER ": cannot tell the numbers of the hypercalls", names.tree);
}

static const struct verb verbs[] VERBS = {
	{ "names", cmd_names, "Print the names of the hypercalls of a kernel tree.",
	  VERB_CONTROL + 13, false },
};
