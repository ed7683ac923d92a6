// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command lines of verbs.c: all verbs that read files, with their options. In a word, FILE is
 * the file that was changed, OTHER the same file by another name, HOST a trace of a host, OUT a
 * folder of outputs, and FILTER a filter.
 * "~" stands for a blank within a word.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Bytes of the text of a command line at most */
#define TEXT_MAX	1024

static const char *const commands[] = {
	/* the first one is that of the recorded files */
	"report FILE",
	"report -F FILTER FILE",
	"report --raw --ns FILE",
	"report --raw -F FILTER --time rel FILE",
	"report -j FILE",
	"report -j -F FILTER FILE",
	"report --pretty --raw -n 3 FILE",
	"report --csv FILE",
	"report --csv -F FILTER --ns FILE",
	"report --time delta -n 20 -F FILTER FILE",
	"report --from +1us --to -1us FILE",
	"report -j -C 0 --to +1ms FILE",
	"report -e all,hyp_* FILE",
	"report -e guest_* -e host_* -F FILTER FILE",
	"report -e sched_*,irq_* --ns FILE",
	"show -i FILE",
	"show -j -n 5 -F FILTER -i FILE",
	"dump FILE",
	"dump -j FILE",
	"dump --subbufs FILE",
	"dump --subbufs -j -C 0 FILE",
	"stat -i FILE",
	"stat -F FILTER -i FILE",
	"stat --per-cpu --histogram -i FILE",
	"stat -j --histogram -i FILE",
	"stat --csv -d 1ms -i FILE",
	"stat --by hcall --per-cpu -k p99 -i FILE",
	"stat --by hcall -j -d 1ms -i FILE",
	"stat --by exit --histogram -k guest -i FILE",
	"stat --by exit -F FILTER -d 1s -n 3 -i FILE",
	"stat --by vcpu --csv -i FILE",
	"stat --by vm -j -i FILE",
	"stat --by cpu -d 1ms --from +1us -i FILE",
	"stat --by memory -i FILE",
	"stat --by memory -j --per-cpu -i FILE",
	"stat --by lock --histogram -i FILE",
	"stat --by lock -j -F FILTER -i FILE",
	"stat --pmu r11,r8 -i FILE",
	"stat --by hcall --pmu r11 -j -i FILE",
	"strace -i FILE",
	"strace -T --ns -F FILTER -i FILE",
	"strace -j -i FILE",
	"strace --pretty -T -n 4 -i FILE",
	"strace -c -i FILE",
	"strace -c -j -F FILTER -i FILE",
	"strace -c --csv -i FILE",
	"strace -p 0x1000 -T -i FILE",
	"strace -p 82 -p 700 -c -i FILE",
	"strace -e !__kvm_vcpu_run -i FILE",
	"strace -e __pkvm_*,guest_exit -j -i FILE",
	"strace --pmu r11,r8 -T -i FILE",
	"top -b -i FILE",
	"top -b --by hcall -d 1ms -i FILE",
	"top -b --by exit -d 1ms -n 50 -i FILE",
	"top -b --by vcpu -F FILTER -i FILE",
	"top -b --by lock -d 1ms -i FILE",
	"top -j --by vm -d 1ms -i FILE",
	"catch -i FILE host_hcall",
	"catch -i FILE host_hcall~&&~FILTER",
	"catch -j -n 2 -i FILE guest_exit~&&~FILTER",
	"catch --after 3 --ns -i FILE mem_transition",
	"catch --after 1000 -n 3 -F FILTER -i FILE hyp_enter",
	"catch --graph -i FILE host_hcall",
	"catch --graph -n 2 -i FILE guest_exit",
	"graph -i FILE",
	"graph --flat -i FILE",
	"graph --tree -i FILE",
	"graph -j -i FILE",
	"graph --flat -j -i FILE",
	"graph --tree -j -i FILE",
	"graph -D 2 -m 1us -i FILE",
	"graph -e handle_* --from +1us -i FILE",
	"page 0x80000 FILE",
	"page -j -a 0x40000000 FILE",
	"page --csv -n 3 0x42470 FILE",
	"leaks FILE",
	"leaks -j FILE",
	"leaks --csv FILE",
	"export -f perfetto FILE",
	"export -f perfetto -F FILTER FILE",
	"export -f perfetto -n 7 FILE",
	"export -f perfetto --with HOST -o OUT.tar FILE",
	"export -o OUT.tar FILE",
	"export -f chrome FILE",
	"export -f chrome -F FILTER FILE",
	"export -f collapsed FILE",
	"export -f collapsed -C 1 FILE",
	"export -f jsonl FILE",
	"export -f jsonl -n 9 -F FILTER FILE",
	"export -f csv FILE",
	"export -f csv -o OUT/ FILE",
	"export -f ctf -o OUT/ FILE",
	"export -f ctf -o OUT/ -F FILTER --to -1us FILE",
	"export -f csv -o OUT/ FILE OTHER",
	"export -f jsonl -o OUT/ -F FILTER FILE OTHER",
	"export -f perfetto -o OUT/ FILE OTHER",
	"export -f ctf -o OUT/ FILE OTHER",
	"export -f chrome -o OUT/ FILE OTHER",
	"export -f collapsed -o OUT/ FILE OTHER",
};

/* Most of them are right, for files of a remote or of a host. */
static const char *const filters[] = {
	"duration > 1us", "ret == -EPERM", "id == __kvm_vcpu_run", "id == 0xffffffff", "vcpu != 0",
	"pfn & 0x1", "pfn >= 0x80000", "code == trap", "ec == DABT_LOW", "reason == hvc",
	"op == share", "handle == 0x1000", "arg1 < 0x100", "ret < 0", "ret >= -1", "esr & 0xff",
	"ipa <= 18446744073709551615", "depth < 3", "lock == 1", "invalid == 1", "index > 255",
	"cpu == 1", "prev_pid > 0", "name == eth0", "prev_state & 2", "common_pid == 5",
	"duration >= 18446744073709551615", "id == -1", "nosuchfield == 1", "ret == NOSUCHNAME",
	"duration >", "",
};

/* Choose a command line; of those that begin with $FUZZ_VERB, if it is set. */
static const char *pick_command(uint8_t byte)
{
	const char *verb = getenv("FUZZ_VERB") ?: "";
	const char *chosen[COUNT(commands)];
	unsigned int i, nr = 0;

	for (i = 0; i < COUNT(commands); i++)
		if (!strncmp(commands[i], verb, strlen(verb)))
			chosen[nr++] = commands[i];
	fuzz_check(nr, "no command begins with FUZZ_VERB");
	return chosen[byte % nr];
}

/* Take a number below a limit from a byte. */
static unsigned int pick(uint8_t byte, size_t limit)
{
	return byte % limit;
}

/* Two conditions, such as "(ret < 0 || vcpu != 0)" */
static void print_filter(FILE *f, const uint8_t *choice)
{
	const char *one = filters[pick(choice[1], COUNT(filters))];
	const char *two = filters[pick(choice[2], COUNT(filters))];

	switch (choice[3] % 8) {
	case 0:
		fprintf(f, "%s && %s", one, two);
		break;
	case 1:
		fprintf(f, "%s || %s", one, two);
		break;
	case 2:
		fprintf(f, "(%s || %s) && %s", one, two, one);
		break;
	case 3:
		/* as deep as the bits above say */
		fprintf(f, "%.*s%s%.*s", choice[3] / 8, "(((((((((((((((((((((((((((((((", one,
			choice[3] / 8, ")))))))))))))))))))))))))))))))");
		break;
	default:
		fputs(one, f);
	}
}

/* Print a word of a command line, with what its parts stand for. */
static void print_word(FILE *f, const char *word, const uint8_t *choice)
{
	static const struct {
		const char *name, *file;
	} files[] = { { "FILE", "f" }, { "OTHER", "g" }, { "HOST", "h" }, { "OUT", "out" } };
	unsigned int i;

	while (*word) {
		for (i = 0; i < COUNT(files); i++)
			if (!strncmp(word, files[i].name, strlen(files[i].name)))
				break;
		if (i < COUNT(files)) {
			fprintf(f, "%s/%s", fuzz_folder(), files[i].file);
			word += strlen(files[i].name);
		} else if (!strncmp(word, "FILTER", 6)) {
			print_filter(f, choice);
			word += 6;
		} else {
			fputc(*word == '~' ? ' ' : *word, f);
			word++;
		}
	}
	fputc('\0', f);
}

/**
 * fuzz_command - make a command line
 * @choice:	FUZZ_CHOICE bytes that choose it and its filter
 * @words:	where its words go, of which @words[0] is the program; NULL follows the last one
 *
 * The words are valid until the next call.
 *
 * Return: number of words.
 */
unsigned int fuzz_command(const uint8_t *choice, char **words)
{
	static char text[TEXT_MAX], line[256];
	FILE *f = fmemopen(text, sizeof(text), "w");
	unsigned int nr = 1;
	char *word, *rest;

	fuzz_check(f, "there is no memory");
	words[0] = text;
	fputs("hyptrace", f);
	fputc('\0', f);
	/* as for a terminal; the other bits choose a filter */
	snprintf(line, sizeof(line), "%s%s", choice[1] & 0x80 ? "--color always " : "",
		 pick_command(choice[0]));
	for (word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		words[nr++] = text + ftell(f);
		print_word(f, word, choice);
	}
	fuzz_check(ftell(f) < TEXT_MAX && nr < FUZZ_WORDS_MAX, "a command line is too long");
	fclose(f);
	words[nr] = NULL;
	return nr;
}
