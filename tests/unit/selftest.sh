#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test that run.sh reports tests that fail, end early or hang. The programs for that are made here, in a temporary
# folder.

set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/unit/some"
cp "$here/Makefile" "$here/run.sh" "$here/compile.sh" "$work/tests/unit"
bad=0

# program NAME STATEMENT: write a program with two tests: "first" passes, "second" runs STATEMENT
program()
{
	cat >"$work/tests/unit/some/test_$1.c" <<-EOF
	#include <setjmp.h>
	#include <stdarg.h>
	#include <stddef.h>
	#include <stdint.h>
	#include <stdlib.h>
	#include <unistd.h>
	#include <cmocka.h>

	static void first(void **state)
	{
		assert_null(*state);
	}

	static void second(void **state)
	{
		assert_null(*state);
		$2
	}

	int main(void)
	{
		const struct CMUnitTest tests[] = { cmocka_unit_test(first), cmocka_unit_test(second) };

		return cmocka_run_group_tests(tests, NULL, NULL);
	}
	EOF
}

# reports NAME LIMIT PATTERN...: run.sh must print a line that matches each PATTERN
reports()
{
	local said pattern code=0
	said=$(LIMIT=$2 "$work/tests/unit/run.sh" "test_$1" 2>&1) || code=1
	[[ $1:$code == passes:0 || $1:$code == [!p]*:1 ]] || { echo "$1: run.sh ended with $code" && bad=1; }
	for pattern in "${@:3}"; do
		grep -qE "$pattern" <<<"$said" || { printf '%s\n' "$1: no line with \"$pattern\" in" "$said" && bad=1; }
	done
}

program passes ''
program fails 'fail();'
program dies '_exit(7);'
program ends '_exit(0);'
program hangs 'for (;;) pause();'
program spoiled 'this is not C'
reports passes 600 '^ok - test_passes: 2 tests$' '^2 passed, 0 failed$'
reports fails 600 '^1 passed, 1 failed$'
reports dies 600 '^not ok - test_dies: ended with code 7 in second' '^1 passed, 1 failed$'
reports ends 600 '^not ok - test_ends: ended with code 0 in second' '^1 passed, 1 failed$'
reports hangs 2 '^not ok - test_hangs: second hangs' '^1 passed, 1 failed$'
reports spoiled 600 'test_spoiled: does not build' '^0 passed, 1 failed$'
exit "$bad"
