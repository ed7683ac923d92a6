#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the newest kernel in user mode (ARCH=um) with the driver and the remote "test", its root, and the programs that
# run in it. Only for an x86-64 host: a kernel in user mode with several CPUs exists for no other.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/tree.sh"

um=$repo/tests/um
unset FLAVOUR HYPTRACE_UNPATCHED
set_kernel newest
set_um

kmake()
{
	make -C "$tree" O="$build" ARCH=um SUBARCH=x86_64 LLVM= CC="$(command -v ccache >/dev/null && echo ccache) gcc" \
		LOCALVERSION= KCFLAGS="-pipe -ftrack-macro-expansion=0 -Wno-misleading-indentation" \
		KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=hyptrace KBUILD_BUILD_HOST=hyptrace "$@"
}

configure()
{
	local line
	KCONFIG_ALLCONFIG=$um/config kmake allnoconfig
	while read -r line; do
		[[ $line == '#'* ]] || grep -qxF "$line" "$build/.config" || die "the configuration does not have $line"
	done <"$um/config"
	cp "$um/config" "$build/.fragment"
}

install_kernel()
{
	local test_modules=$build/hyptrace-tests
	rm -rf "$out.new"
	mkdir -p "$out.new/lib/modules" "$test_modules"
	cp "$build/linux" "$out.new/"
	kmake -s INSTALL_MOD_PATH="$out.new" modules_install
	rsync -a "$repo/tests/kselftest/modules/" "$test_modules/"
	kmake -j"$(nproc)" M="$test_modules" HYPTRACE="$tree/drivers/hyptrace" modules
	kmake -s M="$test_modules" INSTALL_MOD_PATH="$out.new" HYPTRACE="$tree/drivers/hyptrace" modules_install
	rm -f "$out.new"/lib/modules/*/build
	rm -rf "$out"
	mv "$out.new" "$out"
}

build_programs()
{
	CFLAGS="${CFLAGS:--O2 -g}" make -s -C "$repo/tools" -j"$(nproc)" O="$guest/tools" DESTDIR="$local_root" install
	make -s -C "$repo/tests/kselftest" -j"$(nproc)" O="$guest/kselftest" DESTDIR="$local_root" \
		KSELFTEST="$tree/tools/testing/selftests" install
}

(lock sources && "$vm/fetch.sh" "$series" && tree_patch "$tree" && tree_link "$tree")
lock "kernel-$kernel"
mkdir -p "$build"
cmp -s "$um/config" "$build/.fragment" || step "configuring Linux $series in user mode" configure
step "building Linux $series in user mode" kmake -j"$(nproc)" linux modules
step "installing Linux $series in user mode" install_kernel
lock tools
export guest_machine=amd64
"$vm/rootfs.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/cross-env.sh"
guest_begin
step "building the programs for Linux in user mode" build_programs
