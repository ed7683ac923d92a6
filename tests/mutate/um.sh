#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test a driver that was changed, in a copy of the kernel in user mode that tests/um/build.sh has built:
#
#   um.sh begin TREE		prepare that; TREE is a copy of this repository. The exit code is 1 if there is no such kernel
#   um.sh modules TREE [VARIABLE=VALUE]...
#				build the modules of the tree; not 0 if they do not compile
#   um.sh test TREE [SETTING]... -- SUITE...
#				run these suites with them, as tests/vm/boot.sh does, for 1000 s at most
#   um.sh run TREE SHARE SCRIPT [ARGUMENT]...
#				run this script with them, and with that folder as /mnt/share
#   um.sh end TREE		remove what begin has made outside of the tree

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

verb=$1 copy=$2
shift 2
set_kernel newest
set_um

begin()
{
	local copy_out copy_guest
	[[ -x $out/linux ]] || return
	read -r copy_out copy_guest < <(cd "$copy" && . tests/vm/lib.sh && set_kernel newest && set_um && echo "$out" "$guest")
	rm -rf "$copy_out" "$copy_guest"
	cp -a "$out" "$copy_out"
	ln -s "$guest" "$copy_guest"
	echo "$copy_out $copy_guest" >"$copy/.um"
}

modules()
{
	make -s -C "$tree" O="$build" ARCH=um SUBARCH=x86_64 LLVM= CC="$(command -v ccache >/dev/null && echo ccache) gcc" \
		KCFLAGS="-pipe -ftrack-macro-expansion=0 -Wno-misleading-indentation" M="$copy" "$@" modules
}

install()
{
	local copy_out
	read -r copy_out _ <"$copy/.um"
	cp "$copy"/hyptrace.ko "$copy"/hyptrace_test.ko "$copy_out"/lib/modules/*/kernel/drivers/hyptrace/
}

# options_for WORD...: set the options of run.sh for these suites or tests
options_for()
{
	options=(--timeout 1000)
	[[ " $* " != *test_kept.sh* ]] || options+=(--append reserve_mem=2M:4096:hyptrace)
}

run_tests()
{
	install
	options_for "$@"
	RUN=$copy/tests/um/run.sh "$copy/tests/vm/boot.sh" changed "not found" "$@" -- "${options[@]}"
}

case $verb in
begin) begin ;;
modules) modules "$@" ;;
test) run_tests "$@" ;;
run)
	install
	options_for "${@:3}"
	"$copy/tests/um/run.sh" --share "$1" "${options[@]}" -- bash -c "$2" run "${@:3}"
	;;
end)
	read -r copy_out copy_guest <"$copy/.um"
	rm -rf "$copy_out" "$copy_guest" "$copy/.um"
	;;
*) die "um.sh: no verb \"$verb\"" ;;
esac
