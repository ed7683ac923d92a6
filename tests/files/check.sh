# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For run.sh and recorded.sh, which set $here: build the programs and count tests.

# shellcheck disable=SC2154 # the script that sources this sets it
bin=$here/build
hyptrace=$bin/tools/hyptrace/hyptrace
mkdir -p "$bin"
# run.sh and recorded.sh can run at the same time
(
	flock 9
	make -s -C "$here" O="$bin" && make -s -C "$here/../../tools" O="$bin/tools" "$hyptrace"
) >/dev/null 9>"$bin/lock" || exit
. "$here/../checks.sh"
