// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions, processes and formats of trace_printk() in files that trace-cmd has
 * recorded, for libtraceevent. For file_formats.c. By hand, because libtraceevent's own parsers
 * trust these texts, which may be damaged.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "file.h"

/*
 * libtraceevent takes up to 200 bytes for a name. A kernel has some 100,000 functions; names beyond
 * these limits are ignored.
 */
#define FUNCTIONS_MAX	(160U << 10)
#define NAMES_MAX	(32U << 10)
#define NAME_MAX_BYTES	512
/* Bytes of all names of a kind at most */
#define TEXT_MAX	(8U << 20)
/* A shorter format has no line end that libtraceevent could cut off. */
#define PRINTK_MIN	4

/* What can still be given to libtraceevent */
struct budget {
	unsigned int	names;
	size_t		bytes;	/* bytes of them */
};

/* Take a name from the budget, and another one that may be NULL. Return false if it is too long. */
static bool spend(struct budget *left, const char *name, const char *other)
{
	size_t len = strlen(name) + (other ? strlen(other) : 0);

	if (!left->names || len > NAME_MAX_BYTES || len > left->bytes)
		return false;
	left->names--;
	left->bytes -= len;
	return true;
}

/* Split a text into lines; return the next one, or NULL. */
static char *next_line(char **text)
{
	char *line;

	do {
		line = strsep(text, "\n");
	} while (line && !*line);
	return line;
}

void hyptrace_file_set_functions(struct tep_handle *tep, char *text)
{
	char *line, *name, *module, *end;
	unsigned long long address;
	struct budget left = { FUNCTIONS_MAX, TEXT_MAX };

	while ((line = next_line(&text))) {
		address = strtoull(line, &end, 16);
		/* "ffff800080010000 T name [module]" */
		if (end == line || end[0] != ' ' || !isalpha((unsigned char)end[1]) ||
		    end[2] != ' ')
			continue;
		name = end + 3;
		name += strspn(name, " \t");
		end = name + strcspn(name, " \t");
		module = *end ? end + strspn(end, " \t[") : NULL;
		*end = '\0';
		if (module)
			module[strcspn(module, "]")] = '\0';
		if (*name && spend(&left, name, module))
			tep_register_function(tep, name, address, module);
	}
}

void hyptrace_file_set_printk(struct tep_handle *tep, char *text)
{
	unsigned long long address;
	struct budget left = { NAMES_MAX, TEXT_MAX };
	char *line, *end;
	size_t len;

	while ((line = next_line(&text))) {
		address = strtoull(line, &end, 16);
		/* 0xffff800081000000 : "format\n" */
		if (end == line || strncmp(end, " : ", 3))
			continue;
		end += 3;
		if (*end == '"')
			end++;
		len = strlen(end);
		if (len && end[len - 1] == '"')
			end[--len] = '\0';
		if (len >= PRINTK_MIN && spend(&left, end, NULL))
			tep_register_print_string(tep, end, address);
	}
}

void hyptrace_file_set_processes(struct tep_handle *tep, char *text)
{
	struct budget left = { NAMES_MAX, TEXT_MAX };
	char *line, *end;
	long pid;

	while ((line = next_line(&text))) {
		pid = strtol(line, &end, 10);
		/* "1234 bash" */
		if (end == line || *end != ' ' || pid < 0 || pid > INT32_MAX ||
		    !spend(&left, end + 1, NULL))
			continue;
		tep_register_comm(tep, end + 1, pid);
	}
}
