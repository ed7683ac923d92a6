#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test that run.py distinguishes killed, surviving and equivalent mutants. It runs on a tree with two functions
# and one test, made here.

set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
mkdir -p "$work"/{hyp,driver,uapi,tools/lib,tests/unit/some,tests/mutate}
cp "$here/../unit/Makefile" "$work/tests/unit"
echo 'test_small-srcs := ../../hyp/small.c' >"$work/tests/unit/small.mk"
cat >"$work/hyp/small.c" <<'END'
int sum(const volatile int *numbers, int nr)
{
	int ret = 0;

	if (nr == 1)
		return *numbers;
	while (nr > 0) {
		ret += numbers[--nr];
		if (nr == 1)
			ret += 10;
	}
	return ret;
}

int next(int x)
{
	x += 1;
	return x;
}

#ifdef NEVER
int never(int x)
{
	x = 3;
}
#endif
END

# test_calls STATEMENT...: write a unit test that runs the statements
test_calls()
{
	cat >"$work/tests/unit/some/test_small.c" <<-END
	#include <setjmp.h>
	#include <stdarg.h>
	#include <stddef.h>
	#include <stdint.h>
	#include <cmocka.h>

	int sum(const volatile int *numbers, int nr);
	int next(int x);

	static void all(void **state)
	{
		const int numbers[] = { 3, 4, 5 };

		assert_null(*state);
		$*
	}

	int main(void)
	{
		const struct CMUnitTest tests[] = { cmocka_unit_test(all) };

		return cmocka_run_group_tests(tests, NULL, NULL);
	}
	END
}

# ends CODE PATTERN...: run.py must end with CODE and print a line that matches each PATTERN
ends()
{
	local said pattern code=0
	said=$(TOP=$work SEED=1 MUTANTS=all MINUTES=10 "$here/run.py" 2>&1) || code=$?
	((code == $1)) || { printf '%s\n' "run.py ended with $code, not $1" "$said" && bad=1; }
	for pattern in "${@:2}"; do
		grep -qE "$pattern" <<<"$said" || { printf '%s\n' "no line with \"$pattern\" in" "$said" && bad=1; }
	done
}

echo '# SPDX-License-Identifier: GPL-2.0-only' |
	tee "$work/tests/mutate/survivors" "$work/tests/mutate/equivalent-lib" >"$work/tests/mutate/equivalent-hyp"
test_calls 'assert_int_equal(sum(numbers, 3), 22); assert_int_equal(sum(numbers, 1), 3);'
ends 1 '^survived - hyp/small.c:5: sum\(\): if \(nr == 1\) => if \(0\)$' \
	'^survived - hyp/small.c:17: next\(\): x \+= 1; => x -= 1;$' '^hyp: [0-9]+ killed, [0-9]+ survived, 0 equivalent: [1-8]'

cat >>"$work/tests/mutate/equivalent-hyp" <<'END'

# With one number the loop computes the same.
hyp/small.c: sum(): if (nr == 1) => if (0) #1
hyp/small.c: sum(): if (nr == 1) => if (nr == 2)
hyp/small.c: sum(): return *numbers; => {}
END
test_calls 'assert_int_equal(sum(numbers, 3), 22); assert_int_equal(sum(numbers, 1), 3); assert_int_equal(next(7), 8);' \
	'assert_int_equal(sum(numbers, 2), 17); assert_int_equal(sum(numbers, 0), 0);'
ends 1 '^killed by test_small, but listed in tests/mutate/equivalent-hyp - .*nr == 2' '^hyp: [0-9]+ killed, 0 survived, 2 equivalent: 100.0 %'

sed -i '/nr == 2/d' "$work/tests/mutate/equivalent-hyp"
ends 0 '^hyp: [0-9]+ killed, 0 survived, 2 equivalent: 100.0 % .* 2 are in no host program'

printf '%s\n' '# for a test' 'hyp/small.c: next(): x += 1; => x -= 1;' >>"$work/tests/mutate/survivors"
ends 1 '^killed by test_small, but listed in tests/mutate/survivors - .*x -= 1'
sed -i '/x -= 1/d' "$work/tests/mutate/survivors"
echo 'hyp/small.c: sum(): if (nr == 1) => if (nr == 7)' >>"$work/tests/mutate/equivalent-hyp"
ends 1 'the code has no such mutant any more: .*nr == 7'

test_calls 'assert_int_equal(next(7), 9);'
ends 1 '^test_small fails without a mutant'
exit "$bad"
