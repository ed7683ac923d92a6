// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the word that the user probably meant. For filters and for the command.
 */
#include <string.h>
#include <strings.h>

#include "internal.h"

/* Suggest a word if at most so many letters are wrong: 1 in words of up to NEAREST_SHORT. */
#define NEAREST_MAX	2
#define NEAREST_SHORT	4
#define NEAREST_WORD	32

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int min = a < b ? a : b;

	return min < c ? min : c;
}

/* Return the number of letters to insert, delete, replace, or swap with the next one. */
static unsigned int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[3][NEAREST_WORD + 1], *row = rows[0], *above, *swap, i, j;

	for (j = 0; j <= b_len; j++)
		row[j] = j;
	for (i = 1; i <= a_len; i++) {
		row = rows[i % 3];
		above = rows[(i + 2) % 3];
		swap = rows[(i + 1) % 3];
		row[0] = i;
		for (j = 1; j <= b_len; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    swap[j - 2] + 1 < row[j])
				row[j] = swap[j - 2] + 1;
		}
	}
	return row[b_len];
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
 *
 * Return: @name if it is nearer than @best, else @best.
 */
const char *hyptrace_nearest(const char *word, const char *best, const char *name)
{
	return hyptrace_nearest_of(word, strlen(word), best, name);
}
