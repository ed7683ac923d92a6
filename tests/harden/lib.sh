# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For parts that run kselftests in machines: what these have tried and found. Several machines may run at once.

# shellcheck disable=SC2034 # of the parts
seed=${SEED:-1} times=${TIMES:-100}
passed=0 failed=0 logs=() names=()
attack_folder=$(mktemp -d)
trap 'rm -rf "$attack_folder"' EXIT

# attack NAME COMMAND...: begin to run a test in a machine; NAME is before what it has tried, or ''
attack()
{
	logs+=("$attack_folder/${#logs[@]}")
	names+=("${1:+$1: }")
	"${@:2}" >"${logs[-1]}" 2>&1 &
}

# Wait until all machines have ended, print what they have said, and count.
wait_for_attacks()
{
	local i good bad
	wait
	for i in "${!logs[@]}"; do
		good=0 bad=1
		cat "${logs[i]}"
		sed -n "s/^# tried: /tried: ${names[i]}/p" "${logs[i]}"
		[[ ! $(tail -n 1 "${logs[i]}") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] ||
			good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		((passed += good, failed += bad)) || true
	done
	logs=() names=()
}
