// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give mutated files to the reader, as many as are wanted:
 *
 *	fuzz [-s SEED] [-n RUNS] FILE...
 *
 * Run number N has the random numbers of SEED + N, so that a finding can be repeated alone. The
 * FILEs are corpus files, compressed or not. Each is read once as it is, before all others.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <sanitizer/common_interface_defs.h>

#include "fuzz.h"

/* A run takes less than a ms. */
#define SECONDS_MAX	20
#define FILES_MAX	256

static struct file {
	uint8_t	*data;
	size_t	size;
} files[FILES_MAX];

static unsigned int nr_files;
static struct fuzz_input in;
static uint64_t seed = 1;

/* Most of the time would be for the stacks of allocations: ASAN_OPTIONS can ask for them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "malloc_context_size=0:quarantine_size_mb=2";
}

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "fuzz: %s%s\n", what, name);
	exit(2);
}

static void load(const char *name)
{
	static uint8_t packed[FUZZ_SIZE_MAX];
	struct file *to = &files[nr_files++];
	FILE *f = fopen(name, "r");
	size_t size, full;

	if (!f)
		fail("cannot read ", name);
	size = fread(packed, 1, sizeof(packed), f);
	fclose(f);
	to->data = malloc(FUZZ_SIZE_MAX);
	full = ZSTD_decompress(to->data, FUZZ_SIZE_MAX, packed, size);
	if (ZSTD_isError(full)) {
		memcpy(to->data, packed, size);
		full = size;
	}
	to->size = full;
}

/* Say how to repeat it, and keep the file. */
static void say_run(void)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "fuzz-%" PRIu64 ".dat", seed);
	fprintf(stderr, "fuzz: seed %" PRIu64 ": the file is %s\n", seed, name);
	f = fopen(name, "w");
	if (!f)
		return;
	fwrite(in.data, in.size, 1, f);
	fclose(f);
}

static void ended(int sig)
{
	static const char text[] = "fuzz: it hangs\n";

	if (sig == SIGALRM)
		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	say_run();
	_exit(3);
}

/* Small files are chosen more often: their runs take less time. */
static const struct file *choose(uint64_t *random)
{
	const struct file *file;

	do {
		*random = *random * 6364136223846793005 + 1442695040888963407;
		file = &files[(*random >> 33) % nr_files];
	} while (file->size > 32 << 10 && (*random >> 20) % 16);
	return file;
}

static void run(void)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15;
	const struct file *file = choose(&random), *other = choose(&random);

	memcpy(in.data, file->data, file->size);
	in.size = file->size;
	in.random = random;
	fuzz_mutate(&in, other->data, other->size);
	alarm(SECONDS_MAX);
	fuzz_use(in.data, in.size);
	alarm(0);
}

int main(int argc, char **argv)
{
	uint64_t runs = 1000;
	unsigned int i;
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			runs = strtoull(optarg, NULL, 0);
		else
			return 1;
	}
	if (optind == argc || argc - optind > FILES_MAX)
		fail("usage: fuzz [-s SEED] [-n RUNS] FILE...", "");
	while (optind < argc)
		load(argv[optind++]);
	in.data = malloc(FUZZ_SIZE_MAX);
	signal(SIGALRM, ended);
	signal(SIGABRT, ended);
	__sanitizer_set_death_callback(say_run);
	for (i = 0; i < nr_files; i++) {
		memcpy(in.data, files[i].data, files[i].size);
		in.size = files[i].size;
		fuzz_use(in.data, in.size);
	}
	for (; runs; runs--, seed++)
		run();
	return 0;
}
