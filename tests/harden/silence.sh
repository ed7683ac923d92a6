#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Non-interference: sequences of steps of four CPUs, each done twice with the same host and other protected guests. The host
# must see the same, byte for byte: silence/silence.c. EL2 runs as a host program, in one thread, and only the host's
# sequence advances the clock and the counters of the PMU: so times must be equal, too. Functions of EL2 (function.c) are
# not there. SEED= and TIMES=: see run.sh.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

seed=${SEED:-1} times=${TIMES:-100}
out=${O:-build}
program=$out/silence
sequences=$((4000 * times / 100 + 1))
log=$(mktemp)
trap 'rm -f "$log"' EXIT

not_ok()
{
	echo "not ok - $1"
	echo "0 passed, 1 failed"
	exit 1
}

make --no-print-directory -s -f el2.mk O="$out" "$program" || not_ok "silence: does not build"
if ! timeout --kill-after=10 "${LIMIT:-1800}" "$program" "$seed" "$sequences" >"$log" 2>&1; then
	sed 's/^not ok/# &/' "$log"
	not_ok "silence: seed $seed, $sequences sequences: $(sed -n 's/^not ok - //p' "$log" | tail -n 1)"
fi
sed 's/^/# /' "$log"
sed -n 's/^\([0-9]*\) steps, .*/tried: \1 steps twice/p; s/^\([0-9]*\) runs .*/tried: \1 runs of protected guests/p' "$log"
echo "ok - silence"
echo "1 passed, 0 failed"
