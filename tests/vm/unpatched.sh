#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On a kernel without the hooks, with the modules built out of tree: hyptrace_pkvm refuses and says what is missing,
# and the test remote works.

export HYPTRACE_UNPATCHED=1
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

passed=0 failed=0
# check TITLE COMMAND...: in the machine
check()
{
	local title=$1
	shift
	if "$vm/run.sh" --timeout 120 -- bash -c "$*"; then
		echo "ok $title"
		((++passed))
	else
		echo "not ok $title"
		((++failed))
	fi
}

"$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh"
# shellcheck disable=SC2016 # the machine expands them
check "hyptrace_pkvm refuses a kernel without the hooks and says what is missing" \
	'modprobe hyptrace_pkvm && exit 1
	dmesg | grep -i "hyptrace_pkvm: .*hook" || { echo "no word about the hooks:"; dmesg | tail -n 5; exit 1; }'
# shellcheck disable=SC2016
check "the test remote works out of tree" \
	'modprobe hyptrace_test && hyptrace -r test enable selftest && hyptrace -r test start &&
	hyptrace -r test mark 7 && hyptrace -r test stream --count 1 | grep "selftest: id=7"'
echo "$passed passed, $failed failed"
((failed == 0))
