// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dump of a machine's memory in place of a file: "record --snapshot" saves what its rings hold,
 * in a file that has no name once it is open. So all verbs that read files read dumps.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/die.h"
#include "child.h"
#include "session.h"
#include "signals.h"

/* Make a folder for the file. Return its name, for free(), or NULL. */
static char *make_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/hyptrace-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	cmd_fail("cannot make a folder for what the dump has: %s: %s", folder, strerror(errno));
	free(folder);
	return NULL;
}

/* Open the events of the dump as a file. Return an exit code. */
int session_open_dump(struct session *s, struct hyptrace_error *err)
{
	const char *remote = s->ctx->remote;
	char *folder = make_folder(), *path, *source, full[PATH_MAX];
	const bool is_caught = signals_fd() >= 0;
	int code = EXIT_REFUSED;

	if (!folder)
		return code;
	/* a signal does not keep the folder from being removed */
	signals_catch();
	path = xasprintf("%s/events.dat", folder);
	/* a name with a colon must not begin like that of a remote */
	source = xasprintf(DUMP_PREFIX "%s%s%s", remote ? remote : "", remote ? ":" : "",
			   realpath(s->path, full) ? full : s->path);
	if (child_save_snapshot(source, path)) {
		s->file = hyptrace_file_open(path, err);
		code = s->file ? EXIT_DONE : session_fail(s, err);
	}
	unlink(path);
	rmdir(folder);
	if (!is_caught) {
		signals_end_program(true);
		if (signals_stop)
			raise(signals_stop);
	}
	free(source);
	free(path);
	free(folder);
	return code;
}
