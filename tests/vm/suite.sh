#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The suites that run in the machine, on the hypervisor: build what they need, boot, run them. With names, only
# these: suite.sh [kselftest|bats|ynl]...

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
(($#)) || set -- kselftest bats ynl
"$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

# the kernel tree's YNL client, for those who need it
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
mkdir -p "$share/ynl" "$share/specs"
cp -r "$tree/tools/net/ynl/." "$share/ynl/"
cp "$tree/Documentation/netlink/genetlink.yaml" "$share/"
cp "$repo/uapi/hyptrace.yaml" "$share/specs/"

result=$share/result
code=0
"$vm/run.sh" --require-protected --share "$share" --timeout 1800 -- \
	/mnt/repo/tests/vm/suite-inside.sh "$@" | tee "$result" || code=$?
last=$(tail -n 1 "$result")
if [[ ! $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
	# it did not get to its end
	echo "0 passed, 1 failed"
	exit 1
fi
if ((code && BASH_REMATCH[2] == 0)); then
	echo "the tests passed but the machine failed: see above"
	echo "${BASH_REMATCH[1]} passed, 1 failed"
	exit 1
fi
exit "$code"
