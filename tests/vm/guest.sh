#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build what runs in the guest, from a copy of the sources, so that objects of the host stay out of it: the tools,
# the kselftest programs and the guest workload. The guest sees the result as /usr/local.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
lock
"$vm/rootfs.sh"
. "$vm/cross-env.sh"
work=$guest/source
mkdir -p "$work" "$guest/root/usr/local/bin"

# What the objects were built against decides whether they are still good.
stamp=$SYSROOT
if [[ $(cat "$guest/stamp" 2>/dev/null) != "$stamp" ]]; then
	rm -rf "$work" "$guest/root"
	mkdir -p "$work" "$guest/root/usr/local/bin"
	echo "$stamp" >"$guest/stamp"
fi

build()
{
	rsync -a --delete --exclude-from="$repo/.gitignore" "$repo"/{hyp,uapi,tools,tests} "$work/"
	# shellcheck disable=SC2086 # CC has arguments
	$CC -std=gnu11 -O2 -Wall -Wextra -Werror -o "$guest/root/usr/local/bin/workload" "$work/tests/vm/workload.c"
	if [[ -f $work/tools/Makefile ]]; then
		make -C "$work/tools" -j"$(nproc)"
		make -C "$work/tools" install DESTDIR="$guest/root" PREFIX=/usr/local
	fi
	if [[ -f $work/tests/kselftest/Makefile ]]; then
		make -C "$work/tests/kselftest" -j"$(nproc)" KSELFTEST="$tree/tools/testing/selftests"
		make -C "$work/tests/kselftest" install DESTDIR="$guest/root" PREFIX=/usr/local
	fi
}
step "building the tools for the guest" build
