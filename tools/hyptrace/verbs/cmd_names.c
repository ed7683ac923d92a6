// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace names: print the names of the hypercalls of a kernel tree, for the tracers in tracefs,
 * which record only numbers.
 */
#include "cli/cli.h"
#include "output/die.h"

#define HEADER		"arch/arm64/include/asm/kvm_asm.h"
#define ENUM		"enum __kvm_host_smccc_func {"
#define FUNC		"__KVM_HOST_SMCCC_FUNC_"
/* Android: modules register the hypercalls from here on, in the order in which they are loaded. */
#define DYNAMIC		"__dynamic_hcalls"
#define NR_DYNAMIC	128

static const struct argp_option options[] = {
	{ "from", 'f', "TREE", 0, "Read the sources of the kernel in this folder", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const char **tree = state->input;

	switch (key) {
	case 'f':
		*tree = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*tree)
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

/* The release, as far as the sources know it: the configuration may add to it. */
static void print_release(FILE *to, const char *tree)
{
	auto_free char *path = xasprintf("%s/Makefile", tree);
	char extra[64] = "";
	FILE *f = fopen(path, "re");
	int version, patchlevel, sublevel;

	if (f && fscanf(f, "#%*[^\n] VERSION = %d PATCHLEVEL = %d SUBLEVEL = %d EXTRAVERSION =%*[ ]%63[^\n]",
			&version, &patchlevel, &sublevel, extra) >= 3)
		fprintf(to, NAMES_RELEASE "%d.%d.%d%s\n", version, patchlevel, sublevel, extra);
	if (f)
		fclose(f);
}

/* A line of the enum. Return false if the number of a hypercall cannot be told. */
static bool print_line(FILE *to, const char *line, int *id)
{
	char name[64];
	int len = 0, i;

	if (sscanf(line, " " FUNC "%63[A-Za-z0-9_]%n", name, &len) != 1)
		/* with a directive, the configuration decides */
		return line[strspn(line, " \t")] != '#';
	++*id;
	/* the first hypercall has the number 0, and the second one refers to it */
	if (line[len + strspn(line + len, " ")] == '=' &&
	    sscanf(line + len, " = %i", id) != 1 &&
	    sscanf(line + len, " = " FUNC "__kvm_hyp_init + %i", id) != 1)
		return false;
	if (strcmp(name, DYNAMIC)) {
		fprintf(to, "%d %s\n", *id, name);
		return true;
	}
	for (i = 0; i < NR_DYNAMIC; i++)
		fprintf(to, "%d module_hcall_%d\n", *id + i, i);
	return true;
}

static int cmd_names(struct context *ctx, int argc, char **argv)
{
	const char *tree = NULL;
	auto_free char *line = NULL, *path = NULL, *table = NULL;
	bool is_inside = false, is_good = true;
	size_t size = 0;
	FILE *from, *to;
	int id = 0;

	cmd_parse(ctx, &argp, argc, argv, &tree, NULL, NULL);
	path = xasprintf("%s/" HEADER, tree);
	from = fopen(path, "re");
	if (!from)
		return cmd_fail("cannot read %s: %s", path, strerror(errno));
	to = text_open(&table);
	print_release(to, tree);
	fputs("0 __kvm_hyp_init\n", to);
	while (is_good && getline(&line, &size, from) > 0 && !(is_inside && strchr(line, '}'))) {
		is_good = !is_inside || print_line(to, line, &id);
		is_inside |= !strncmp(line, ENUM, strlen(ENUM));
	}
	text_close(to);
	if (is_good && id)
		out_puts(&ctx->out, table);
	fclose(from);
	if (!is_good || !id)
		return cmd_fail("%s: cannot tell the numbers of the hypercalls", path);
	return EXIT_DONE;
}

static const struct verb verbs[] VERBS = {
	{ "names", cmd_names, "Print the names of the hypercalls of a kernel tree.",
	  VERB_CONTROL + 13, false },
};
