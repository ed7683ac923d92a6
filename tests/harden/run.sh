#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Attack what is there: run.sh [PART]... runs all parts, or the named ones. SEED= chooses what they do: without it, each run
# is another one. TIMES=N does N percent of the usual number of tries. Each part can be run alone with the seed that
# is printed here.
#
# A part is a script PART.sh, run with SEED and TIMES in its environment. A line "tried: NUMBER WHAT" says how much was tried,
# after "# " in the output of a job of jobs.sh, whose name is printed, too; a line "not ok - WHAT" is something found; the
# last line is "N passed, N failed". The table at the end is written to results.txt if all parts have run. The last line is
# "N passed, N failed".

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

parts=()
for part in "${@:-}"; do
	[[ -n $part ]] || continue
	[[ -x $part.sh && $part != run ]] || { echo "there is no part \"$part\"" >&2; exit 1; }
	parts+=("$part")
done
all=''
if ((!${#parts[@]})); then
	all=y
	for part in *.sh; do
		[[ $part == run.sh ]] || parts+=("${part%.sh}")
	done
fi

# tried LOG: what was tried, with the names of jobs
tried()
{
	awk '/^=== / && NF == 2 { job = $2 ": " } /^the slowest files:/ { job = "" } sub(/^(# )?tried: /, "") { print job $0 }' "$1"
}

export SEED=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')} TIMES=${TIMES:-100}
log=$(mktemp) table=$(mktemp)
trap 'rm -f "$log" "$table"' EXIT
printf '%-12s %10s %8s %8s  %s\n' part seed seconds found tried >"$table"
passed=0 failed=0
for part in "${parts[@]}"; do
	echo "== $part, with SEED=$SEED TIMES=$TIMES"
	start=$SECONDS good=0 bad=1
	"./$part.sh" 2>&1 | tee "$log"
	code=${PIPESTATUS[0]}
	if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		if ((!bad && (code || !good))); then
			echo "not ok - $part passed $good tests, and ended with $code"
			bad=1
		fi
	else
		echo "not ok - $part ended without the line \"N passed, N failed\""
	fi
	printf '%-12s %10s %8s %8s  %s\n' "$part" "$SEED" $((SECONDS - start)) "$bad" \
		"$(tried "$log" | paste -s | sed 's/\t/; /g')" >>"$table"
	((passed += good, failed += bad))
done
cat "$table"
if [[ -n $all && $TIMES == 100 ]]; then
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# Written by run.sh on $(date -u +%F): the last whole run, of commit $(git describe --always --dirty)"
		cat "$table"
	} >results.txt
fi
echo "$passed passed, $failed failed"
((failed == 0))
