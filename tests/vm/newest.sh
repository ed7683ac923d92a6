#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the kselftests, the ynl tests and some tests of the command again, on the newest kernel series: those whose result
# depends on what its EL2 does. The last line is "N passed, N failed".

unset KSRC PATCH
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
chosen=$series
export KERNEL=newest
set_kernel ''
if [[ $series == "$chosen" ]]; then
	echo "Linux $series is the newest series: vm/suite.sh has already run on it"
	echo "0 passed, 0 failed"
	exit
fi
say "the newest series is Linux $series"
BOOTS=protected exec "$vm/suite.sh" kselftest ynl bats:host.bats bats:stat.bats bats:catch.bats bats:who.bats \
	bats:remote/record.bats bats:remote/recorded.bats
