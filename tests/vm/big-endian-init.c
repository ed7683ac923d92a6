// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process 1 of the big-endian guest, for which there is no Debian. It mounts the file
 * systems, runs the commands in the file /commands, stores the exit code as guest-init
 * does, and stops the machine.
 *
 * A command is a line of words separated by blanks. The output has a line
 * "# === begin N" before command N, and "# === ended N CODE" after it.
 *
 * The same program is also "modprobe NAME", "rmmod NAME", and the /bin/sh of system(),
 * which can run only these two.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAMS	"/usr/local/libexec/hyptrace-kselftest"
#define MODULES		"/modules"
#define SHARE		"trans=virtio,version=9p2000.L,msize=512000"
#define WORDS_MAX	32
#define PATIENCE_S	600	/* timeout of a command */

static const struct {
	const char	*source;
	const char	*target;
	const char	*type;
	const char	*options;
} mounts[] = {
	{ "control", "/ctl", "9p", SHARE },
	{ "proc", "/proc", "proc", NULL },
	{ "sysfs", "/sys", "sysfs", NULL },
	{ "debugfs", "/sys/kernel/debug", "debugfs", NULL },
	{ "devtmpfs", "/dev", "devtmpfs", NULL },
	{ "tmpfs", "/tmp", "tmpfs", NULL },
	{ "modules", MODULES, "9p", SHARE ",cache=loose" },
};

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	close(fd);
}

/* The file that find_module() searches, and the path at which it has found it */
static char module_file[80], module_path[4096];

static int is_module(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	if (type != FTW_F || strcmp(path + ftw->base, module_file))
		return 0;
	snprintf(module_path, sizeof(module_path), "%s", path);
	return 1;
}

static bool find_module(const char *name)
{
	snprintf(module_file, sizeof(module_file), "%s.ko", name);
	return nftw(MODULES, is_module, 8, FTW_PHYS) == 1;
}

static int load_module(const char *name)
{
	int fd, err;

	if (!find_module(name)) {
		fprintf(stderr, "modprobe: there is no module %s\n", name);
		return 1;
	}
	fd = open(module_path, O_RDONLY | O_CLOEXEC);
	err = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	if (!err || errno == EEXIST)
		return 0;
	fprintf(stderr, "modprobe: %s: %s\n", module_path, strerror(errno));
	return 1;
}

static int unload_module(const char *name)
{
	if (!syscall(SYS_delete_module, name, O_NONBLOCK))
		return 0;
	fprintf(stderr, "rmmod: %s: %s\n", name, strerror(errno));
	return 1;
}

static int shell(const char *command)
{
	if (!strncmp(command, "rmmod ", 6))
		return unload_module(command + 6);
	if (!strncmp(command, "modprobe ", 9))
		return load_module(command + 9);
	fprintf(stderr, "sh: no such command: %s\n", command);
	return 127;
}

static int other_program(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	name = name ? name + 1 : argv[0];
	if (argc == 2 && !strcmp(name, "modprobe"))
		return load_module(argv[1]);
	if (argc == 2 && !strcmp(name, "rmmod"))
		return unload_module(argv[1]);
	return argc == 3 && !strcmp(argv[1], "-c") ? shell(argv[2]) : 2;
}

/* Send the output to the virtio port "out", as guest-init does. */
static void open_output(void)
{
	const char *const folder = "/sys/class/virtio-ports";
	char path[300], name[32];
	struct dirent *entry;
	DIR *dir = opendir(folder);
	FILE *file;
	int fd;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s/name", folder, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%31s", name) != 1)
			name[0] = 0;
		fclose(file);
		if (strcmp(name, "out"))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_WRONLY);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
}

static int run(char *line)
{
	char *words[WORDS_MAX + 1] = { 0 };
	unsigned int nr = 0;
	int status;
	pid_t child;

	for (char *word = strtok(line, "\n "); word && nr < WORDS_MAX; word = strtok(NULL, "\n "))
		words[nr++] = word;
	if (!nr)
		return 127;
	child = fork();
	if (!child) {
		alarm(PATIENCE_S);
		execvp(words[0], words);
		fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_all(void)
{
	FILE *file = fopen("/commands", "r");
	unsigned int nr = 0;
	char line[1024];
	int code, worst = 0;

	if (!file)
		return 127;
	while (fgets(line, sizeof(line), file)) {
		printf("# === begin %u\n", ++nr);
		fflush(stdout);
		code = run(line);
		printf("# === ended %u %d\n", nr, code);
		fflush(stdout);
		if (code)
			worst = 1;
	}
	fclose(file);
	return worst;
}

int main(int argc, char **argv)
{
	char code[16];

	if (getpid() != 1)
		return other_program(argc, argv);

	for (unsigned int i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (mount(mounts[i].source, mounts[i].target, mounts[i].type, 0,
			  mounts[i].options) && errno != EBUSY)
			fprintf(stderr, "init: %s: %s\n", mounts[i].target, strerror(errno));
	}
	setenv("PATH", PROGRAMS ":/usr/local/bin:/bin", 1);
	setenv("HYPTRACE_REFUSED", "", 1);
	put("/ctl/started", "");
	open_output();
	snprintf(code, sizeof(code), "%d\n", run_all());
	put("/ctl/exit", code);
	put("/proc/sysrq-trigger", "b");
	sleep(10);
	return 0;
}
