// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export several files at once, as many as there are CPUs, each in a process of its own: an error
 * of one of them does not end the others.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "output/die.h"
#include "session/loop.h"
#include "export.h"

/* What hyptrace record puts at the end of names; an output has the ending of its format. */
#define RECORDED	".dat"

/* A file, and the process that exports it */
struct one {
	const char	*file;
	char		*out;
	pid_t		pid;	/* 0: it does not run */
};

/* The length of the folders that all files are in */
static size_t common_len(const struct export_many *many)
{
	size_t len = 0, i;
	unsigned int f;

	for (i = 0; many->files[0][i]; i++) {
		for (f = 1; f < many->nr && many->files[f][i] == many->files[0][i]; f++)
			;
		if (f < many->nr)
			break;
		if (many->files[0][i] == '/')
			len = i + 1;
	}
	return len;
}

/* An output is named after its file, and after those of its folders that are not common to all. */
static char *name_output(const struct export_many *many, const char *name)
{
	const size_t folder = strlen(many->folder);
	const size_t len = strlen(name) - (export_ends_with(name, RECORDED) ? strlen(RECORDED) : 0);
	char *out = xasprintf("%s%s%.*s%s", many->folder,
			      folder && many->folder[folder - 1] == '/' ? "" : "/",
			      (int)len, name, many->ending);
	char *at = out + strlen(out) - strlen(many->ending) - len;

	for (; *at; at++)
		if (*at == '/')
			*at = '-';
	return out;
}

static int name_outputs(const struct export_many *many, struct one *list)
{
	const size_t common = common_len(many);
	unsigned int i, j;

	for (i = 0; i < many->nr; i++) {
		list[i].file = many->files[i];
		list[i].out = name_output(many, many->files[i] + common);
		for (j = 0; j < i; j++)
			if (!strcmp(list[i].out, list[j].out))
				return cmd_fail("\"%s\" and \"%s\" would have the same output \"%s\"",
						list[j].file, list[i].file, list[i].out);
	}
	return EXIT_DONE;
}

static int start(const struct export_many *many, struct one *one)
{
	one->pid = fork();
	if (one->pid < 0) {
		one->pid = 0;
		return cmd_fail("cannot export \"%s\": %s", one->file, strerror(errno));
	}
	if (one->pid)
		return EXIT_DONE;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(many->one(many->arg, one->file, one->out));
}

/* Wait until one of them has ended. Return its exit code. */
static int wait_for_one(const struct export_many *many, struct one *list)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
		for (i = 0; i < many->nr && signals_stop; i++)
			if (list[i].pid)
				kill(list[i].pid, signals_stop);
	for (i = 0; i < many->nr; i++) {
		if (list[i].pid != pid)
			continue;
		list[i].pid = 0;
		if (WIFSIGNALED(status))
			return cmd_fail("cannot export \"%s\": signal %d has ended it",
					list[i].file, WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}

static int run(const struct export_many *many, struct one *list)
{
	cpu_set_t set;
	const unsigned int nr_cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
	unsigned int next = 0, running = 0;
	int code = EXIT_DONE;

	while ((next < many->nr && !signals_stop) || running) {
		if (next < many->nr && running < nr_cpus && !signals_stop) {
			code |= start(many, &list[next]);
			running += !!list[next++].pid;
		} else {
			code |= wait_for_one(many, list);
			running--;
		}
	}
	if (signals_stop)
		return cmd_fail("the export was interrupted");
	return code ? EXIT_REFUSED : EXIT_DONE;
}

/* Return an exit code: EXIT_REFUSED if a file could not be exported. */
int export_many(const struct export_many *many)
{
	auto_free struct one *list = xcalloc(many->nr, sizeof(*list));
	int code = name_outputs(many, list);
	unsigned int i;

	/* like the recordings, nobody else may read them */
	if (!code && mkdir(many->folder, 0700) && errno != EEXIST)
		code = cmd_fail("cannot create the folder \"%s\": %s", many->folder,
				strerror(errno));
	if (!code)
		code = run(many, list);
	for (i = 0; i < many->nr; i++)
		free(list[i].out);
	return code;
}
