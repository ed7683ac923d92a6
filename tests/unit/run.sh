#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build and run all unit tests, or those named: run.sh [TEST...]. The last line is "N passed, N failed". A program
# may run for LIMIT seconds (600). A test that fails in a hypercall leaves a lock held, and the next test would
# wait for it forever.

cd "$(dirname "$0")" || exit 1

out=${O:-build}
limit=${LIMIT:-600}
passed=0
failed=0

if (($#)); then
	tests=("$@")
else
	tests=(*/test_*.c)
	tests=("${tests[@]##*/}")
	tests=("${tests[@]%.c}")
	# QUICK=1 leaves out those that take longest
	if [[ -n ${QUICK:-} ]]; then
		slow=" test_file_bounds test_ring_storm test_ring_storm_tsan test_ring_snapshot_tsan test_record_big "
		for test in "${!tests[@]}"; do
			[[ $slow != *" ${tests[test]} "* ]] || unset "tests[test]"
		done
	fi
fi

# A program that does not build, or that ends early, counts as one failed test, whatever it printed before.
for test in "${tests[@]}"; do
	start=$SECONDS
	if ! make --no-print-directory -s O="$out" "$test"; then
		echo "not ok - $test: does not build"
		failed=$((failed + 1))
		continue
	fi
	log=$(CMOCKA_MESSAGE_OUTPUT=STDOUT timeout --kill-after=10 "$limit" "$out/$test" 2>&1)
	code=$?
	planned=$(sed -n 's/.*\[==========\] Running \([0-9]*\) test(s).*/\1/p' <<<"$log" | awk '{ n += $1 } END { print n + 0 }')
	begun=$(grep -c '\[ RUN      \] ' <<<"$log")
	ok=$(grep -c '\[       OK \] ' <<<"$log")
	# the test that began but did not end
	last=$(grep -oE '\[ RUN      \] .*|\[       OK \] |\[  FAILED  \] ' <<<"$log" | sed -n '$s/\[ RUN      \] //p')
	not_ok=$((begun - ok))
	if ((code == 124 || code == 137)); then
		echo "not ok - $test: ${last:-no test} hangs: the program did not end within $limit s"
		not_ok=$((not_ok ? not_ok : 1))
	elif [[ -n $last ]] || ((planned != begun || planned == 0 || (code && !not_ok))); then
		echo "not ok - $test: ended with code $code in ${last:-no test} after $ok of $planned tests"
		not_ok=$((not_ok ? not_ok : 1))
	fi
	if ((not_ok)); then
		printf '%s\n' "$log"
	else
		echo "ok - $test: $ok tests"
	fi
	passed=$((passed + ok))
	failed=$((failed + not_ok))
	echo "# time: $((SECONDS - start)) $test"
done

if (($# == 0)); then
	for test in ./selftest.sh driver/hypercalls.sh ../mutate/selftest.sh; do
		if said=$("$test" 2>&1); then
			echo "ok - $test"
			passed=$((passed + 1))
		else
			printf '%s\n' "$said" "not ok - $test"
			failed=$((failed + 1))
		fi
	done
fi

echo "$passed passed, $failed failed"
((failed == 0))
