#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Let CBMC check hyp/ for all values at once: filters, the clock, the sizes of records, counting; CBMC must also find each of
# some mutants. The conversion of filters and counting only with FULL=1: they take minutes. Prints "ok" and "not ok" lines with
# the seconds; "skip" if CBMC is not to be had.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

root=$(cd ../.. && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# verify HYP FILE FUNCTION OPTION...: run CBMC on a proof, with its output in $work/out; HYP is the folder of the code
verify()
{
	"$cbmc" --function "$3" -I"$1" -DHYPTRACE_ENV_HOST --bounds-check --pointer-check --div-by-zero-check \
		--undefined-shift-check --signed-overflow-check --unwinding-assertions --no-standard-checks --drop-unused-functions \
		"${@:4}" "cbmc/$2.c" >"$work/out" 2>&1
}

# prove TITLE FILE FUNCTION OPTION...
prove()
{
	local start=$SECONDS
	if verify "$root/hyp" "${@:2}"; then
		echo "ok - CBMC: $1: $((SECONDS - start)) s"
	else
		echo "not ok - CBMC: $1"
		grep -aE 'FAILURE|rror' "$work/out" | head -n 10
	fi
}

# find_mutant TITLE HYP-FILE SED-COMMAND FILE FUNCTION OPTION...: CBMC must find what the command changes.
find_mutant()
{
	rm -rf "$work/hyp"
	cp -r "$root/hyp" "$work/hyp"
	ln -sfn "$root/uapi" "$work/uapi"
	sed -i "$3" "$work/hyp/$2"
	if cmp -s "$root/hyp/$2" "$work/hyp/$2"; then
		echo "not ok - CBMC: mutant: $1: the code has nothing to change"
	elif verify "$work/hyp" "${@:4}"; then
		echo "not ok - CBMC: mutant: $1: is not found"
	elif grep -q 'VERIFICATION FAILED' "$work/out"; then
		echo "ok - CBMC: mutant: $1: is found"
	else
		echo "not ok - CBMC: mutant: $1: CBMC has failed: $(tail -n 1 "$work/out")"
	fi
}

if ! cbmc=$(./program.sh trixie cbmc cbmc libstdc++6 libgcc-s1 minisat zlib1g -- 2>"$work/err"); then
	echo "skip - CBMC: $(tail -n 1 "$work/err")"
	exit 0
fi

[[ -z ${FULL:-} ]] ||
	prove "a term is evaluated as it reads, from the payload alone, and leads to later ones" filters conversion --unwind 9
prove "an evaluation ends inside of the filter" filters evaluation --unwind 9
prove "a record ends inside of its sub-buffer, and says its length" records record --unwind 2
# ns per cycle of counters of 1 GHz and 62.5 MHz, times 2^32
for rate in 4294967296 68719476736; do
	prove "a CPU's copy of the clock is right: $rate" times copy -DMULT="${rate}ULL" --unwind 2
	prove "time does not step back: $rate" times order -DMULT="${rate}ULL" --unwind 2
done
[[ -z ${FULL:-} ]] || prove "an event counts once, with its time, in its bucket" counting one_event --unwind 33

find_mutant "a field may end behind the payload" filter.c 's/term->offset + term->width <= size/term->offset < size/' \
	filters conversion --unwind 9
find_mutant "a signed field is compared as an unsigned one" filter.c 's/u64 bias = term->is_signed ? SIGN_BIT : 0/u64 bias = 0/' \
	filters conversion --unwind 9
find_mutant "a term may lead to itself" filter.c 's/target > number \&\& target < nr_terms/target >= number \&\& target < nr_terms/' \
	filters conversion --unwind 9
find_mutant "an evaluation goes on behind the filter" filter.h 's/next >= HYPTRACE_FILTER_MAX_TERMS)/next > HYPTRACE_FILTER_RECORD)/' \
	filters evaluation --unwind 9
find_mutant "the length word is not counted" ring.h 's/(data <= HYPTRACE_MAX_SHORT_BYTES ? 1 : 2)/1/' records record --unwind 2
find_mutant "a delta may be too large" ring.h 's/!(delta >> HYPTRACE_DELTA_BITS)/!(delta >> 28)/' records record --unwind 2
find_mutant "64 bits are used for too long" clock.c 's/u64 cycles = ~0ULL \/ mult/u64 cycles = ~0ULL \/ (mult >> 1)/' \
	times copy -DMULT=68719476736ULL --unwind 2
find_mutant "a counter before the epoch is after it" clock.c 's/if (cycles >= 0)/if (1)/' times order -DMULT=68719476736ULL --unwind 2
[[ -z ${FULL:-} ]] || find_mutant "a full word is not emptied" count.h 's/if (unlikely((s64)sum < 0))/if (0)/' \
	counting one_event --unwind 33
