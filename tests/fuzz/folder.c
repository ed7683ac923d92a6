// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a run, in memory, and the end of a run that has failed.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"

/* Descriptors that nftw() may have open at once */
#define DEPTH_MAX	8

static char folder[32] = "/dev/shm/hyptrace-fuzz-XXXXXX";
static bool is_made;
static pid_t owner;

/* Both forget some memory of what they cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so\nleak:libkdumpfile.so";
}

void fuzz_check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_all(void)
{
	if (getpid() == owner)
		nftw(folder, remove_one, DEPTH_MAX, FTW_DEPTH | FTW_PHYS);
}

/* The folder of this process, which goes when that ends. */
const char *fuzz_folder(void)
{
	if (is_made)
		return folder;
	fuzz_check(mkdtemp(folder), "cannot make a folder in /dev/shm");
	is_made = true;
	owner = getpid();
	atexit(remove_all);
	return folder;
}

/* Remove a file of the folder, or a folder in it with all that it has. */
void fuzz_remove(const char *name)
{
	char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	nftw(path, remove_one, DEPTH_MAX, FTW_DEPTH | FTW_PHYS);
}

/* Write a file of the folder. */
void fuzz_write(const char *name, const uint8_t *data, size_t size)
{
	char path[sizeof(folder) + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size, "cannot write to /dev/shm");
	close(fd);
}
