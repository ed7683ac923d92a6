#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Print the path of a part of the cache: path.sh tree|build|out|guest|sysroot [SERIES].

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel "${2:-}"
case ${1:-} in
tree) echo "$tree" ;;		# the kernel source
build) echo "$build" ;;		# the kernel's objects
out) echo "$out" ;;		# Image, System.map, .config, lib/modules
guest) echo "$guest" ;;		# programs built for the guest
sysroot) "$vm/rootfs.sh" --path ;;
*) die "usage: ${0##*/} tree|build|out|guest|sysroot [SERIES]" ;;
esac
