#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build each flavour of the kernel, and run the tests below on it, or only the named ones:
# flavours.sh [FLAVOUR | FLAVOUR@SERIES | the last of its tests]... That takes hours, so only "make check FULL=1" runs this script.
#
# This script keeps the newest result of each flavour in flavours.txt. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

results=$vm/flavours.txt

# FLAVOUR@SERIES, --clang if clang builds it, --cpu MODEL unless it is the default, then what runs on it: suites in the machine, scripts, or
# nothing (build only).
plan=(
	"16k@6.12 --cpu max kselftest bats"
	"16k@6.12 --cpu max blackbox/dump.sh"
	# Not on the newest CPU: with 52-bit physical addresses, a guest of QEMU 7.2 takes the same fault forever.
	"64k@6.12 --cpu neoverse-n1 kselftest bats"
	"64k@6.12 --cpu neoverse-n1 blackbox/dump.sh"
	"builtin@6.12 blackbox/kdump.sh"
	"builtin@6.12 blackbox/previous.sh"
	"builtin@newest blackbox/panic.sh blackbox/kdump.sh blackbox/previous.sh"
	"builtin@6.12 vm/functions.sh"
	"builtin@newest --clang vm/functions.sh"
	"coverage@6.12 vm/coverage.sh"
	"rt@6.12 kselftest"
	"el2debug@6.12 kselftest"
	"4096cpus@6.12 kselftest"
	"be@6.12 vm/big-endian.sh"
	"debug@6.12 kselftest"
	"debug@newest kselftest"
	"kcsan@6.12 kselftest"
	"llvm@6.12 kselftest"
	"gki@6.12 --cpu max kselftest bats"
	"gki@newest --cpu max kselftest bats"
)

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# parts WORD...: print what to run for the words of a line of the plan, a line each: scripts, and all suites by one
parts()
{
	local word suites=''
	for word; do
		if [[ $word == *.sh ]]; then
			echo "$repo/tests/$word"
		else
			suites+=" $word"
		fi
	done
	(($# == 0)) || [[ -z $suites ]] || echo "$vm/suite.sh$suites"
}

# record KERNEL FLAVOUR PASSED FAILED WHAT: replace the result of these tests of that flavour and series in flavours.txt.
record()
{
	local row
	row=$(printf '%-10s  %-10s  %-10s  %6d  %6d  %s' "$2" "$1" "$(date -u +%F)" "$3" "$4" "$5")
	{
		printf '# SPDX-License-Identifier: GPL-2.0-only\n'
		printf '# Written by flavours.sh: the newest result of each flavour\n'
		printf '%-10s  %-10s  %-10s  %6s  %6s  %s\n' flavour kernel date passed failed tests
		{
			[[ ! -f $results ]] || awk -v flavour="$2" -v series="${1%.*}" -v what="${5#FULL=1 }" '
				/^#/ || $1 == "flavour" { next }
				{ of = $2; sub(/\.[0-9]+$/, "", of); tests = $0 }
				{ for (i = 0; i < 5; i++) sub(/^[^ ]+ +/, "", tests); sub(/^FULL=1 /, "", tests) }
				$1 != flavour || of != series || tests != what' "$results"
			printf '%s\n' "$row"
		} | sort
	} >"$results.new"
	mv "$results.new" "$results"
}

passed=0 failed=0 clang=${LLVM:-}
for line in "${plan[@]}"; do
	read -r name words <<<"$line"
	[[ $# == 0 || " $* " == *" $name "* || " $* " == *" ${name%@*} "* || " $* " == *" ${words##* } "* ]] || continue
	export FLAVOUR=${name%@*} KERNEL=${name#*@}
	read -ra words <<<"$words"
	echo "== $name: ${words[*]:-build}"
	tests=("${words[@]}")
	unset HYPTRACE_CPU
	export LLVM=$clang
	if [[ ${tests[0]:-} == --clang ]]; then
		export LLVM=1
		tests=("${tests[@]:1}")
	fi
	if [[ ${tests[0]:-} == --cpu ]]; then
		export HYPTRACE_CPU=${tests[1]}
		tests=("${tests[@]:2}")
	fi
	good=0 bad=0
	if "$vm/kernel.sh" && "$vm/rootfs.sh" && "$vm/guest.sh" --tests; then
		[[ ${tests[*]} ]] || good=1
	else
		echo "not ok # $name could not be built"
		((++failed))
		continue
	fi
	while read -r part; do
		code=0
		# shellcheck disable=SC2086 # it may have several words
		BOOTS="protected bats-3" $part </dev/null 2>&1 | tee "$log" || code=$?
		if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
			((good += BASH_REMATCH[1], bad += BASH_REMATCH[2])) || true
			((code == 0 || BASH_REMATCH[2])) || ((++bad))
		else
			echo "not ok # $name could not run ${part##*/}: it ended with $code"
			((++bad))
		fi
	done < <(parts "${tests[@]}")
	record "$(<"$("$vm/path.sh" build)/include/config/kernel.release")" "$FLAVOUR" "$good" "$bad" \
		"${FULL:+FULL=1 }${words[*]:-build}"
	((passed += good, failed += bad)) || true
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
