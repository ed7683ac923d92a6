#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does run.sh tell of tests that fail, die and hang? With programs made for that, in a folder of their own.

set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/unit"
cp "$here/Makefile" "$here/run.sh" "$work/tests/unit"
bad=0

# program NAME STATEMENT: tests "first", which passes, and "second", which does this
program()
{
	cat >"$work/tests/unit/test_$1.c" <<-EOF
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

# tells NAME LIMIT PATTERN...: so it says, in lines that match
tells()
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
tells passes 600 '^ok - test_passes: 2 tests$' '^2 passed, 0 failed$'
tells fails 600 '^1 passed, 1 failed$'
tells dies 600 '^not ok - test_dies: ended with code 7 in second' '^1 passed, 1 failed$'
tells ends 600 '^not ok - test_ends: ended with code 0 in second' '^1 passed, 1 failed$'
tells hangs 2 '^not ok - test_hangs: second hangs' '^1 passed, 1 failed$'
tells spoiled 600 'test_spoiled: does not build' '^0 passed, 1 failed$'
exit "$bad"
