#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test a driver that was changed, in a copy of a kernel that was built before. MACHINE says which:
#
#   um (default)		the kernel in user mode, by tests/um/build.sh
#   pkvm			Linux 6.12 with protected KVM and all that the project can have at EL2, in QEMU:
#				KERNEL=6.12 FLAVOUR=coverage tests/vm/kernel.sh and guest.sh --tests
#   kernel			the newest Linux, whose EL2 also has a tracer of its own, in QEMU:
#				KERNEL=newest LLVM=1 tests/vm/kernel.sh and guest.sh --tests
#   debug			the newest Linux that checks itself, and lets allocations fail, in QEMU:
#				KERNEL=newest FLAVOUR=debug tests/vm/kernel.sh and guest.sh --tests
#   nvhe			the same without protection
#
#   machine.sh begin TREE	prepare that; TREE is a copy of this repository. The exit code is 1 if there is no such kernel
#   machine.sh modules TREE [VARIABLE=VALUE]...
#				build the modules of the tree; not 0 if they do not compile
#   machine.sh test TREE [SETTING]... -- SUITE...
#				run these suites with them, as tests/vm/boot.sh does, for 3000 s at most
#   machine.sh run TREE SHARE SCRIPT [ARGUMENT]...
#				run this script with them, and with that folder as /mnt/share, for 3000 s at most
#				(MACHINE=um only)
#   machine.sh end TREE		remove what begin has made outside of the tree

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

verb=$1 copy=$2 machine=${MACHINE:-um}
shift 2
refused='' options=(--require-protected) settings=()
case $machine in
um)
	export KERNEL=newest
	refused='not found' options=()
	;;
pkvm) export KERNEL=6.12 FLAVOUR=coverage ;;
kernel) export KERNEL=newest LLVM=1 ;;
debug) export KERNEL=newest FLAVOUR=debug ;;
nvhe)
	export KERNEL=newest FLAVOUR=debug
	options=(--mode nvhe) settings=(HYPTRACE_UNPROTECTED=1)
	;;
*) die "there is no MACHINE=$machine" ;;
esac
set_kernel ''
if [[ $machine == um ]]; then
	set_um
	compiler=(ARCH=um SUBARCH=x86_64 LLVM= CC="$(command -v ccache >/dev/null && echo ccache) gcc")
else
	set_compiler
fi

begin()
{
	local copy_out copy_guest
	[[ -x $out/linux || -f $out/Image ]] || return
	read -r copy_out copy_guest < <(cd "$copy" && . tests/vm/lib.sh && set_kernel '' &&
		{ [[ $machine != um ]] || set_um; } && echo "$out" "$guest")
	rm -rf "$copy_out" "$copy_guest"
	cp -a "$out" "$copy_out"
	ln -s "$guest" "$copy_guest"
	echo "$copy_out $copy_guest" >"$copy/.machine"
}

modules()
{
	local flags="-pipe -Wno-misleading-indentation"
	[[ -n $llvm ]] || flags+=" -ftrack-macro-expansion=0"
	make -s -C "$tree" O="$build" "${compiler[@]}" KCFLAGS="$flags" M="$copy" "$@" modules
}

install()
{
	local copy_out file
	read -r copy_out _ <"$copy/.machine"
	for file in "$copy"/hyptrace*.ko; do
		find "$copy_out/lib/modules" -name "${file##*/}" -exec cp "$file" {} \;
	done
}

# options_for SECONDS WORD...: set the options of run.sh for these suites or tests
options_for()
{
	options+=(--timeout "$1")
	[[ " $* " != *test_kept.sh* ]] || options+=(--append reserve_mem=2M:4096:hyptrace)
	[[ " $* " != *test_misfit.sh* ]] || options+=(--append "reserve_mem=${misfits[0]}:hyptrace")
}

run_tests()
{
	local memory
	install
	[[ $machine != um ]] || export RUN=$copy/tests/um/run.sh
	if [[ " $* " == *test_misfit.sh* ]]; then
		for memory in "${misfits[@]}"; do
			"$copy/tests/vm/boot.sh" changed "$refused" "${settings[@]}" "$@" -- --append "reserve_mem=$memory:hyptrace" || return
		done
		return
	fi
	options_for 3000 "$@"
	"$copy/tests/vm/boot.sh" changed "$refused" "${settings[@]}" "$@" -- "${options[@]}"
}

case $verb in
begin) begin ;;
modules) modules "$@" ;;
test) run_tests "$@" ;;
run)
	install
	options_for 3000 "${@:3}"
	"$copy/tests/um/run.sh" --share "$1" "${options[@]}" -- bash -c "$2" run "${@:3}"
	;;
end)
	read -r copy_out copy_guest <"$copy/.machine"
	rm -rf "$copy_out" "$copy_guest" "$copy/.machine"
	;;
*) die "machine.sh: no verb \"$verb\"" ;;
esac
