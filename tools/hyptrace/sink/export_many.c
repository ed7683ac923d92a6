// SPDX-License-Identifier: GPL-2.0-only
/* Export several files at once, each in a process: an error of one does not end the others. */
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

/* An output is named after its file, and after those of its folders that are not common to all. */
static int name_outputs(const struct export_many *many, struct one *list)
{
	const size_t folder = strlen(many->folder);
	unsigned int common = 0, i, j;
	char *at;

	for (i = 0; many->files[0][i]; i++) {
		for (j = 1; j < many->nr && many->files[j][i] == many->files[0][i]; j++)
			;
		if (j < many->nr)
			break;
		if (many->files[0][i] == '/')
			common = i + 1;
	}
	for (i = 0; i < many->nr; i++) {
		const char *name = many->files[i] + common;
		const size_t ending = export_ends_with(name, RECORDED) ? strlen(RECORDED) : 0;
		const size_t len = strlen(name) - ending;

		list[i].file = many->files[i];
		list[i].out = xasprintf("%s%s%.*s%s", many->folder,
					folder && many->folder[folder - 1] == '/' ? "" : "/",
					(int)len, name, many->ending);
		at = list[i].out + strlen(list[i].out) - strlen(many->ending) - len;
		while ((at = strchr(at, '/')))
			*at = '-';
		for (j = 0; j < i; j++)
			if (!strcmp(list[i].out, list[j].out))
				return cmd_fail("\"%s\" and \"%s\" would have the same output \"%s\"",
						list[j].file, list[i].file, list[i].out);
	}
	return EXIT_DONE;
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
	struct one *next = list, *const end = list + many->nr;
	unsigned int running = 0;
	int code = EXIT_DONE;

	while ((next < end && !signals_stop) || running) {
		if (next == end || running == nr_cpus || signals_stop) {
			code |= wait_for_one(many, list);
			running--;
			continue;
		}
		next->pid = fork();
		if (!next->pid) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			_exit(many->one(many->arg, next->file, next->out));
		}
		if (next->pid < 0)
			code |= cmd_fail("cannot export \"%s\": %s", next->file, strerror(errno));
		else
			running++;
		next->pid = next->pid < 0 ? 0 : next->pid;
		next++;
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
