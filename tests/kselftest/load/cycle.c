// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_leak.sh: in each round load the modules, trace with each remote, and unload
 * the modules. This is a program because a shell starts many processes in each round,
 * which takes minutes under emulation.
 *
 *	cycle ROUNDS REMOTE,... MODULE-FILE...
 *
 * The modules are loaded in that order and unloaded in the opposite order. The program
 * stops at the first failure, prints it, and ends with 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"
#include "page.h"

#define RING_SIZE	(256 << 10)
#define EVENTS		1000

static unsigned int round_number;

static void must(int err, const char *what, const char *of)
{
	if (!err)
		return;
	printf("round %u: %s %s: %s\n", round_number, what, of, strerror(-err));
	exit(EXIT_FAILURE);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd < 0 || syscall(SYS_finit_module, fd, "", 0) ? -errno : 0, "loading", path);
	close(fd);
}

static void unload_module(const char *path)
{
	const char *file = strrchr(path, '/');
	char name[64];

	file = file ? file + 1 : path;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(file, "."), file);
	must(syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0, "unloading", name);
}

/* Make the remote release its rings in every way: by unload, and by module removal. */
static void trace(struct nl *nl, const char *remote)
{
	static char buffer[4 * (PAGE_MAX + sizeof(struct hyptrace_frame))];
	int fd;

	must(control_load(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE), "load", remote);
	must(control_enable(nl, remote, "selftest", true), "enable", remote);
	must(control_enable(nl, remote, "hyp_enter", true), "enable", remote);
	must(control(nl, HYPTRACE_CMD_START, remote), "start", remote);
	must(control_mark(nl, remote, CPU_CURRENT, 0, EVENTS), "mark", remote);
	fd = open_attached(remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	must(fd < 0 ? fd : 0, "attach", remote);
	must(read(fd, buffer, sizeof(buffer)) < 0 ? -errno : 0, "read", remote);
	must(control(nl, HYPTRACE_CMD_STOP, remote), "stop", remote);
	close(fd);
	/* Unload while there are unread events. */
	must(control(nl, HYPTRACE_CMD_UNLOAD, remote), "unload", remote);
	/* Leave tracing on, so that removing the module must stop it. */
	must(control(nl, HYPTRACE_CMD_START, remote), "start", remote);
}

int main(int argc, char **argv)
{
	unsigned int rounds;
	struct nl nl;
	char *remotes;
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: cycle ROUNDS REMOTE,... MODULE-FILE...\n");
		return 2;
	}
	rounds = strtoul(argv[1], NULL, 0);
	for (round_number = 0; round_number < rounds; round_number++) {
		char *remote, *rest;

		for (i = 3; i < argc; i++)
			load_module(argv[i]);
		must(nl_open(&nl), "finding", "the netlink family");
		remotes = strdup(argv[2]);
		for (remote = strtok_r(remotes, ",", &rest); remote;
		     remote = strtok_r(NULL, ",", &rest))
			trace(&nl, remote);
		free(remotes);
		nl_close(&nl);
		for (i = argc; i-- > 3;)
			unload_module(argv[i]);
	}
	return EXIT_SUCCESS;
}
