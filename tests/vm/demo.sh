#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: build what is not in the cache, boot a kernel with protected KVM, and trace its hypervisor.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
# Make the root while the source of the kernel is fetched and unpacked. If that fails, the second call says why.
"$vm/rootfs.sh" >/dev/null 2>&1 &
root=$!
trap 'kill "$root" 2>/dev/null || true' EXIT
"$vm/kernel.sh"
wait "$root" || true
trap - EXIT
"$vm/rootfs.sh"
"$vm/guest.sh"
say "booting Linux $series with protected KVM"
start=$SECONDS
"$vm/run.sh" --require-protected --timeout 300 -- /mnt/repo/tests/vm/demo-inside.sh ||
	die "the demo failed: see above"
say "the events above came from a hypervisor in protected mode, in $((SECONDS - start)) s"
