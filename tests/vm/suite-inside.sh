#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: run the named suites. SUITE:TEST runs one test of a suite. Each suite ends with the line
# "N passed, N failed"; the last line of this script is their sum.

passed=0 failed=0
cd /mnt/repo/tests || exit
# It keeps the emulator from hanging guests, and says whether it could.
keys=/sys/module/hyptrace_keys/parameters/missed
[[ ! -c /dev/kvm ]] || modprobe hyptrace_keys
for suite in "$@"; do
	echo "== $suite"
	last='' test=''
	[[ $suite != *:* ]] || test=${suite#*:}
	while IFS= read -r line; do
		printf '%s\n' "$line"
		last=$line
	done < <("./${suite%%:*}/run.sh" ${test:+"$test"} 2>&1)
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2]))
	else
		echo "not ok # $suite could not run: its last line is not \"N passed, N failed\""
		((failed++))
	fi
done
if [[ -c /dev/kvm ]]; then
	missed=$(<"$keys")
	if [[ $missed == 0 ]]; then
		echo "ok - KVM's notifiers of preemption are called on each CPU"
		((++passed))
	else
		echo "not ok - KVM's notifiers of preemption are called on each CPU: ${missed:-unknown} calls were missed"
		((++failed))
	fi
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
