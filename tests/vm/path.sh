#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tell where things are in the cache: path.sh tree|build|out|guest|sysroot [SERIES].

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel "${2:-}"
case ${1:-} in
tree) echo "$tree" ;;		# the kernel source
build) echo "$build" ;;		# its objects
out) echo "$out" ;;		# Image, System.map, .config, lib/modules
guest) echo "$guest" ;;		# what was built for the guest
sysroot) "$vm/rootfs.sh" --path ;;
*) die "usage: ${0##*/} tree|build|out|guest|sysroot [SERIES]" ;;
esac
