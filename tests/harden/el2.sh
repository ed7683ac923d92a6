#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# EL2 as a host program: four CPUs make any hypercalls, have any events and run guests at the same time, while a fifth
# thread scribbles over all pages that the host can write: el2/el2.c. Once under ASan with UBSan, and once under TSan.
# SEED= and TIMES=: see run.sh.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

seed=${SEED:-1} times=${TIMES:-100}
out=${O:-build}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

not_ok()
{
	echo "not ok - $1"
	((failed++))
}

# attack SANITIZER ROUNDS: a program that ends early, hangs or is refused by its sanitizer has found something
attack()
{
	local name=$1 rounds=$(($2 * times / 100 + 1)) program=$out/el2-$1 code

	if ! make --no-print-directory -s -f el2.mk O="$out" "$program"; then
		not_ok "el2 under $name: does not build"
		return
	fi
	ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=halt_on_error=1:history_size=7 UBSAN_OPTIONS=print_stacktrace=1 \
		timeout --kill-after=10 "${LIMIT:-1800}" "$program" "$seed" "$rounds" >"$log" 2>&1
	code=$?
	if ((code)); then
		sed 's/^not ok/# &/' "$log"
		((code != 124 && code != 137)) || echo "# it did not end"
		not_ok "el2 under $name: seed $seed, $rounds rounds: $(sed -n 's/^not ok - //p; s/^SUMMARY: //p' "$log" | head -n 1)"
		return
	fi
	sed 's/^/# /' "$log"
	sed -n "s/^\([0-9]*\) ops, .*/tried: \1 ops under ${name^^}/p;
		s/^\([0-9]*\) guest runs, .*/tried: \1 guest runs under ${name^^}/p" "$log" |
		sed 's/ASAN$/ASan/; s/TSAN$/TSan/'
	echo "ok - el2 under $name"
	((passed++))
}

attack asan 1500000
attack tsan 240000
echo "$passed passed, $failed failed"
((failed == 0))
