#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build what the benchmarks run inside the machine: module.sh FOLDER puts hyptrace_bench.ko, for the kernel that
# the environment chooses, and the program "inside" into FOLDER.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

to=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

set_kernel ''
mkdir -p "$work/tests/bench"
cp "$repo/tests/bench/el2.c" "$work/tests/bench/"
cp -r "$repo/driver" "$repo/hyp" "$repo/uapi" "$work/"
printf '%s\n' 'obj-m := hyptrace_bench.o' 'hyptrace_bench-y := tests/bench/el2.o' >"$work/Kbuild"
set_compiler
make -s -C "$build" M="$work" "${compiler[@]}" modules
cp "$work/hyptrace_bench.ko" "$to/"

. "$(dirname "${BASH_SOURCE[0]}")/../vm/cross-env.sh"
# shellcheck disable=SC2086 # CC has arguments
$CC -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I"$repo/uapi" -I"$repo/uapi/compat" \
	-o "$to/inside" "$repo/tests/bench/inside.c"
