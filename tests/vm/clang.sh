#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Compile the hypervisor with clang, link its object, and fail if there is a warning: the kernels of Android are built
# with clang. Run kernel.sh first. Its configuration is used, in a folder that keeps the objects. The last line is
# "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
need clang
from=$build
build=$cache/build/$kernel-clang
export CCACHE_DEPEND=1 CCACHE_INODECACHE=1

# clang_make TARGET...
clang_make()
{
	make -C "$tree" O="$build" ARCH=arm64 CROSS_COMPILE="$cross" LOCALVERSION= -j"$(nproc)" \
		CC="$(command -v ccache >/dev/null && echo ccache) clang" "$@"
}

lock "kernel-$kernel"
least=$("$tree/scripts/min-tool-version.sh" llvm)
version=$(clang -dumpversion)
if [[ $(printf '%s\n' "$least" "$version" | sort -V | head -n 1) != "$least" ]]; then
	say "Linux $series needs clang $least: not compiled with $version"
	echo "0 passed, 0 failed"
	exit
fi
mkdir -p "$build"
if ! cmp -s "$from/.config" "$build/.config.gcc"; then
	cp "$from/.config" "$build/.config"
	step "configuring $series for clang" clang_make olddefconfig
	cp "$from/.config" "$build/.config.gcc"
fi
step "compiling the hypervisor with clang" clang_make KCFLAGS=-Werror arch/arm64/kvm/hyp/nvhe/
[[ -f $build/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o ]] || die "there is no kvm_nvhe.o in $build"
echo "ok - clang $version compiles the hypervisor of Linux $series"
echo "1 passed, 0 failed"
