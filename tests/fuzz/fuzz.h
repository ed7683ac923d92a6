/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzzers: libFuzzer has mutate.c change files, and gives them to target.c, images.c or
 * verbs.c.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file at most */
#define FUZZ_SIZE_MAX	(512 << 10)

/*
 * A target has this number of bytes at the end of each input, which are no part of the file: they
 * choose what the target does with it.
 */
extern const size_t fuzz_tail;

/* The linker puts the counters of libFuzzer together: one for each edge. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

/* mutate.c */

/**
 * struct fuzz_input - a file that is changed
 * @data:	its bytes, with room for FUZZ_SIZE_MAX
 * @size:	number of bytes
 * @random:	state of the random numbers
 */
struct fuzz_input {
	uint8_t		*data;
	size_t		size;
	uint64_t	random;
};

void fuzz_mutate(struct fuzz_input *in, const uint8_t *other, size_t other_size);
void fuzz_refused(void);

/* A file may take so many seconds of a CPU. */
#define FUZZ_SECONDS_MAX	5

/* memory.c: memory in bytes at most, and seconds of a CPU, since fuzz_memory_begin() */
void fuzz_memory_begin(void);
size_t fuzz_memory_peak(void);
unsigned int fuzz_seconds(void);

/* folder.c: the files of a run, and the end of a run that has failed */
void fuzz_check(bool good, const char *what);
const char *fuzz_folder(void);
void fuzz_write(const char *name, const uint8_t *data, size_t size);
void fuzz_remove(const char *name);

/* dump_use.c */
unsigned int dump_use(const char *path, uint64_t seed);

/* commands.c */

/* A command line has so many words at most. */
#define FUZZ_WORDS_MAX	24
/* Bytes of the input that choose a command line and its filter */
#define FUZZ_CHOICE	4

unsigned int fuzz_command(const uint8_t *choice, char **words);

/* process.c */

/**
 * struct fuzz_end - how a process has ended
 * @code:	its exit code; negative if a signal has ended it
 * @memory:	bytes that it, or a process of its own, has allocated at most
 * @bad:	a process of its own ended as no verb ends
 */
struct fuzz_end {
	int	code;
	size_t	memory;
	bool	bad;
};

struct fuzz_end fuzz_run(int (*run)(int argc, char **argv), int argc, char **argv, int out,
			 int log);

#endif /* FUZZ_H */
