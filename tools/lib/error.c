// SPDX-License-Identifier: GPL-2.0-only
/* Texts for people: why something has failed, the word that was meant, a process's name. */
#include <stdarg.h>
#include <strings.h>

#include "internal.h"

int hyptrace_error_set(struct hyptrace_error *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -errnum;

	err->errnum = errnum;
	errno = errnum;
	err->subject[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -errnum;
}

int hyptrace_error_memory(struct hyptrace_error *err)
{
	return hyptrace_error_set(err, ENOMEM, "out of memory");
}

void hyptrace_error_subject(struct hyptrace_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->subject, sizeof(err->subject), fmt, ap);
	va_end(ap);
}

/* Suggest a word if at most so many letters are wrong: 1 in words of up to NEAREST_SHORT. */
#define NEAREST_MAX	2
#define NEAREST_SHORT	4
#define NEAREST_WORD	32

/* Return the number of letters to insert, delete, replace, or swap with the next one. */
static unsigned int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int d[NEAREST_WORD + 1][NEAREST_WORD + 1], i, j;

	for (i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (j = 1; j <= b_len; j++) {
		d[0][j] = j;
		for (i = 1; i <= a_len; i++) {
			d[i][j] = MIN(d[i - 1][j], d[i][j - 1]) + 1;
			d[i][j] = MIN(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[a_len][b_len];
}

/* Return the number of wrong letters; more than NEAREST_MAX if the name is not near. */
static unsigned int count_wrong(const char *word, size_t word_len, const char *name)
{
	size_t len = strlen(name);
	unsigned int wrong;

	if (word_len > NEAREST_WORD || len > NEAREST_WORD)
		return NEAREST_MAX + 1;
	wrong = distance(word, word_len, name, len);
	/* the beginning of a word is near, whatever its length, and so is another case */
	if (wrong > 1 && word_len > 1 && word_len <= len && !strncasecmp(word, name, word_len))
		wrong = 1;
	return wrong < len && (wrong <= 1 || len > NEAREST_SHORT) ? wrong : NEAREST_MAX + 1;
}

const char *hyptrace_nearest_of(const char *word, size_t len, const char *best, const char *name)
{
	unsigned int wrong = best ? count_wrong(word, len, best) : NEAREST_MAX + 1;

	return count_wrong(word, len, name) < wrong ? name : best;
}

/**
 * hyptrace_nearest - find the word that the user probably meant
 * @word:	the unknown word
 * @best:	the nearest valid word so far; NULL if none is near
 * @name:	another valid word
 * Return: @name if it is nearer than @best, else @best.
 */
const char *hyptrace_nearest(const char *word, const char *best, const char *name)
{
	return hyptrace_nearest_of(word, strlen(word), best, name);
}

/**
 * hyptrace_process_name - name a process, such as the consumer of a ring
 * @pid:	its process id
 * @name:	out: the name
 * Return: @name, such as "process 66 (hyptrace)".
 */
const char *hyptrace_process_name(uint32_t pid, char name[HYPTRACE_PROCESS_NAME_SIZE])
{
	char path[32], comm[32];
	FILE *f;

	snprintf(name, HYPTRACE_PROCESS_NAME_SIZE, "process %u", pid);
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return name;
	if (fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		snprintf(name, HYPTRACE_PROCESS_NAME_SIZE, "process %u (%s)", pid, comm);
	}
	fclose(f);
	return name;
}
