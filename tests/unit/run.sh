#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build and run all unit tests, or those named: run.sh [TEST...]. Ends with "N passed, N failed".

cd "$(dirname "$0")" || exit 1

out=${O:-build}
passed=0
failed=0

if (($#)); then
	tests=("$@")
else
	tests=(test_*.c)
	tests=("${tests[@]%.c}")
fi

# A program that does not build or dies fails as one test, whatever it has printed before.
for test in "${tests[@]}"; do
	if ! make --no-print-directory -s O="$out" "$test"; then
		echo "not ok - $test: does not build"
		failed=$((failed + 1))
		continue
	fi
	log=$(CMOCKA_MESSAGE_OUTPUT=TAP "$out/$test" 2>&1)
	code=$?
	ok=$(grep -c '^ok ' <<<"$log")
	not_ok=$(grep -c '^not ok ' <<<"$log")
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' <<<"$log" | awk '{ n += $1 } END { print n + 0 }')
	if ((planned != ok + not_ok || planned == 0 || (code && !not_ok))); then
		not_ok=$((not_ok + 1))
		echo "not ok - $test: ended with code $code after $ok of $planned tests"
	fi
	if ((not_ok)); then
		printf '%s\n' "$log"
	else
		echo "ok - $test: $ok tests"
	fi
	passed=$((passed + ok))
	failed=$((failed + not_ok))
done

echo "$passed passed, $failed failed"
((failed == 0))
