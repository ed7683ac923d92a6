#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build mainline's writer for the host: mainline.sh PROGRAM. Its source comes unchanged from the tree of the
# newest kernel. mainline.h replaces the kernel's headers.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

here=$repo/tests/bench
set_kernel newest
"$vm/fetch.sh" "$series" >&2
from=$tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work"/{linux,asm}
touch "$work"/linux/{atomic,list,ring_buffer}.h "$work"/asm/{barrier,local}.h
cp "$from"/include/linux/{simple_ring_buffer,ring_buffer_types}.h "$from/include/uapi/linux/trace_mmap.h" "$work/linux/"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -flto -Wall -fno-strict-aliasing -I"$work" -include "$here/mainline.h" \
	-include "$work/linux/trace_mmap.h" -o "$1" "$here/mainline.c" "$from/kernel/trace/simple_ring_buffer.c"
