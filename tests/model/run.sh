#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check that the models match the code, then run herd7 on the litmus tests, Spin on its models and CBMC on its proofs. The last line is
# "N passed, N failed".

cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

passed=0
failed=0
for part in check-sync.sh litmus.sh spin.sh cbmc.sh; do
	ended=
	while IFS= read -r line; do
		case $line in
		"ok - "*) passed=$((passed + 1)) ;;
		"not ok - "*) failed=$((failed + 1)) ;;
		"end "*)
			ended=${line#end }
			continue
			;;
		esac
		printf '%s\n' "$line"
	done < <(nice -n 19 "./$part" 2>&1; echo "end $?")
	if [[ $ended != 0 ]]; then
		echo "not ok - $part ended with ${ended:-nothing}"
		failed=$((failed + 1))
	fi
done

echo "$passed passed, $failed failed"
((failed == 0))
