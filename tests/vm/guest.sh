#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the programs that run in the guest, into the cache: the tools and the workload, with --tests also the kselftest
# programs. The guest mounts the result as /usr/local. HYPTRACE_LTO=1 builds the tools as a user does: linking them so
# takes longer than all else, and only measurements need it.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
lock tools
"$vm/rootfs.sh"
. "$vm/cross-env.sh"

guest_begin
mkdir -p "$local_root/usr/local/bin"
[[ -n ${HYPTRACE_LTO:-} ]] || export CFLAGS="${CFLAGS:--O2 -g}"

build()
{
	# shellcheck disable=SC2086 # CC has arguments
	$CC -std=gnu11 -O2 -Wall -Wextra -Werror -o "$local_root/usr/local/bin/workload" "$vm/workload.c"
	make -s -C "$repo/tools" -j"$(nproc)" O="$guest/tools${HYPTRACE_LTO:+-lto}" DESTDIR="$local_root" install
}

build_tests()
{
	# the linker warns of functions of the static libnl that hyptrace does not call
	make -s -C "$repo/tools" -j"$(nproc)" O="$guest/static" STATIC=1 2>/dev/null
	install -D -t "$local_root/usr/local/libexec/static" "$guest/static/hyptrace/hyptrace"
	make -s -C "$repo/tests/kselftest" -j"$(nproc)" O="$guest/kselftest-$kernel" DESTDIR="$local_root" \
		KSELFTEST="$tree/tools/testing/selftests" install
}

step "building the tools for the guest" build
if [[ ${1:-} == --tests ]]; then
	step "building the kselftest programs for the guest" build_tests
fi
