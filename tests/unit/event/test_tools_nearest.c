// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the word that the user probably meant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

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
		cmocka_unit_test(short_words),
		cmocka_unit_test(long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
