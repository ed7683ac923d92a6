// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the word that the user probably meant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "lib/internal.h"

static const char *const words[] = {
	"list", "load", "unload", "start", "status", "stream", "DABT_LOW", "top", "-EIO",
};

static const char *nearest(const char *word, unsigned int nr)
{
	const char *near = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++)
		near = hyptrace_nearest(word, near, words[i]);
	return near;
}

static void nearest_words(void **state)
{
	static const char long_word[] = "startstartstartstartstartstartstartstart";

	(void)state;
	assert_string_equal(nearest("strem", 7), "stream");
	assert_string_equal(nearest("lsit", 7), "list");
	assert_string_equal(nearest("unlod", 7), "unload");
	assert_string_equal(nearest("statu", 7), "status");
	assert_string_equal(nearest("str", 7), "stream");
	assert_string_equal(nearest("un", 7), "unload");
	/* the first of two */
	assert_string_equal(nearest("sta", 7), "start");
	assert_string_equal(nearest("strea", 7), "stream");
	assert_string_equal(nearest("dabt_low", 7), "DABT_LOW");
	assert_string_equal(nearest("LIST", 7), "list");
	assert_null(nearest("xyzzy", 7));
	/* three letters are wrong */
	assert_null(nearest("xyzeam", 7));
	assert_string_equal(nearest("xyream", 7), "stream");
	/* in a short word, two are too many; two that are swapped are one */
	assert_null(nearest("foo", 9));
	assert_null(nearest("-EFOO", 9));
	assert_string_equal(nearest("tpo", 9), "top");
	assert_string_equal(nearest("-EOI", 9), "-EIO");
	assert_null(nearest("", 7));
	assert_null(nearest("s", 7));
	assert_null(nearest(long_word, 7));
	assert_null(nearest("list", 0));
}

/* The word may be a part of a text. */
static void part_of_a_text(void **state)
{
	(void)state;
	assert_string_equal(hyptrace_nearest_of("strem == 1", 5, NULL, "stream"), "stream");
	/* one letter is wrong, two are */
	assert_string_equal(hyptrace_nearest_of("strem == 1", 5, "xtream", "stream"), "stream");
}

/* The letters to insert, delete, replace, or swap with the next one; see hyptrace_nearest_of(). */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int least, other;

	if (!*a || !*b)
		return strlen(*a ? a : b);
	if (*a == *b)
		return distance(a + 1, b + 1);
	least = distance(a + 1, b);
	other = distance(a, b + 1);
	least = other < least ? other : least;
	other = distance(a + 1, b + 1);
	least = other < least ? other : least;
	if (a[1] && a[0] == b[1] && a[1] == b[0]) {
		other = distance(a + 2, b + 2);
		least = other < least ? other : least;
	}
	return least + 1;
}

/* How near a name is: 3 if it is not */
static unsigned int wrong_letters(const char *word, const char *name)
{
	const size_t len = strlen(word), name_len = strlen(name);
	unsigned int wrong = distance(word, name);

	if (len > 1 && len <= name_len && !strncasecmp(word, name, len) && wrong > 1)
		wrong = 1;
	return wrong > 2 || wrong >= name_len || (wrong == 2 && name_len <= 4) ? 3 : wrong;
}

/* The next word of these letters, which come in the order of @letters; first the shorter ones */
static void next_word(char *word, const char *letters)
{
	for (; *word && !strchr(letters, *word)[1]; word++)
		*word = *letters;
	if (*word)
		*word = strchr(letters, *word)[1];
	else
		*word = *letters;
}

/* Of two names that are near, it is the one of which fewer letters are wrong, else the first. */
static void all_words(void **state)
{
	char word[8] = "", name[8], best[8];

	(void)state;
	for (; strlen(word) < 5; next_word(word, "abA")) {
		memset(name, 0, sizeof(name));
		best[0] = 0;
		for (; strlen(name) < 6; next_word(name, "ab")) {
			const unsigned int wrong = wrong_letters(word, name);

			if (hyptrace_nearest(word, NULL, name) != (wrong > 2 ? NULL : name))
				fail_msg("%s: %s", word, name);
			if (*best && hyptrace_nearest(word, best, name) !=
				     (wrong < wrong_letters(word, best) ? name : best))
				fail_msg("%s: %s or %s", word, best, name);
			if (wrong <= 2)
				strcpy(best, name);
		}
	}
}

/* A word of which no letter is right is not near. */
static void short_words(void **state)
{
	(void)state;
	assert_null(hyptrace_nearest("xy", NULL, "ec"));
	assert_null(hyptrace_nearest("x", NULL, "e"));
	assert_null(hyptrace_nearest("", NULL, "e"));
	assert_string_equal(hyptrace_nearest("e", NULL, "e"), "e");
	assert_string_equal(hyptrace_nearest("xy", NULL, "ey"), "ey");
}

/* A valid word that is too long is never near. */
static void long_words(void **state)
{
	(void)state;
	assert_null(hyptrace_nearest("FFA_NOTIFICATION", NULL,
				     "FFA_NOTIFICATION_BITMAP_DESTROY_64"));
	assert_non_null(hyptrace_nearest("FFA_NOTIFICATION", NULL,
					 "FFA_NOTIFICATION_BITMAP_DESTROY_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(part_of_a_text),
		cmocka_unit_test(all_words),
		cmocka_unit_test(short_words),
		cmocka_unit_test(long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
