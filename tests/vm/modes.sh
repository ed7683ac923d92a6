#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests in the machine's other modes. With a hypervisor, hyptrace traces it. Without one, or without the hooks,
# hyptrace_pkvm refuses to load and says why. The kernel without the hooks, which only FULL=1 builds, is one of the newest
# series, whose hypervisor has a tracer of its own, unless KSRC or FLAVOUR chooses a kernel. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/console.sh"

. "$repo/tests/jobs.sh"

kselftest=/mnt/repo/tests/kselftest/run.sh
programs=/usr/local/libexec/hyptrace-kselftest

# run_suspend MODPROBE ARGUMENT...: load modules, and run the program suspend. It prints its results on the console and
# switches the machine off.
run_suspend()
{
	local console more=0
	console=$(mktemp)
	"$vm/run.sh" --require-protected --timeout 300 --console "$console" -- \
		sh -c "modprobe $1 && exec $programs/suspend ${*:2}" >/dev/null 2>&1 || true
	if console_complaints "$console"; then
		echo "not ok - suspend: the kernel complained: see above"
		more=1
	fi
	tr -d '\r' <"$console" | grep -aE '^((not )?ok - |# |[0-9]+ passed, )' |
		awk -v more="$more" '/^[0-9]+ passed, / { $3 += more } { print }' || true
	rm -f "$console"
}

if [[ ${1:-} == suspend ]]; then
	run_suspend "${@:2}"
	exit
fi

# mode SECONDS NAME OPTION... -- COMMAND...
mode()
{
	job "$1" "$2" "$vm/run.sh" "${@:3}"
}

# no_hooks: test a kernel without the hooks
no_hooks()
{
	local without=(env HYPTRACE_UNPATCHED=1) of=$series
	if [[ -z $ksrc && -z $flavour && $series != "$newest" ]]; then
		# the compiler that vm/newest.sh uses
		without+=(KERNEL="$newest" LLVM="$([[ -n $llvm ]] || echo 1)")
		of=$newest
	fi
	"${without[@]}" "$vm/kernel.sh"
	# some of the programs depend on the series
	"${without[@]}" env -u HYPTRACE_UNPATCHED "$vm/guest.sh" --tests
	set_own_tracer "$of"
	job 90 no-hooks "${without[@]}" "$vm/boot.sh" no-hooks 'no hooks' -- \
		kselftest:test_modules.sh kselftest:test_read "${own_tracer[@]}" -- --require-protected
}

"$vm/kernel.sh"
set_kernel ''
newest=$("$vm/fetch.sh" --newest)
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

[[ -z ${FULL:-} ]] || no_hooks
mode 20 vhe-refused --mode vhe -- env HYPTRACE_REFUSED="no hypervisor to trace" "$kselftest" test_modules.sh
mode 60 on-demand --mode nvhe --append kvm.enable_virt_at_load=0 -- \
	"$kselftest" test_modules.sh test_guest test_exits test_on_demand.sh test_leftover.sh
# a CPU without VHE, another frequency of the counter
mode 60 frequency --cpu cortex-a72 --require-protected --clock-frequency 50000000 -- \
	"$kselftest" test_guest test_exits test_hypercalls test_clock
mode 60 newest-cpu --cpu max --require-protected -- \
	"$kselftest" test_guest test_exits test_hypercalls test_memory
builtin=(env FLAVOUR=builtin "$vm/boot.sh")
words=hyptrace=host_hcall,hyp_enter,hyp_exit:size=1M:mode=discard
if [[ -z $flavour ]]; then
	FLAVOUR=builtin "$vm/kernel.sh"
	job 120 builtin "${builtin[@]}" builtin '' -- bats:boot/{boot,functions,pmu}.bats -- --require-protected --append "$words:colour=red"
	job 30 builtin-nvhe "${builtin[@]}" builtin-nvhe '' HYPTRACE_UNPROTECTED=1 -- bats:boot/boot.bats -- --mode nvhe \
		--append "$words:colour=red"
	job 90 builtin-pmu "${builtin[@]}" builtin-pmu '' HYPTRACE_ICOUNT=1 BATS_FILE_TIMEOUT=1000000 -- bats:boot/pmu.bats -- --require-protected --cpus 1 --icount
	job 60 panic "$repo/tests/blackbox/panic.sh"
	job 45 dump "$repo/tests/blackbox/dump.sh"
	[[ -z ${FULL:-} ]] || job 300 kdump "$repo/tests/blackbox/kdump.sh"
	job 60 previous "$repo/tests/blackbox/previous.sh"
	job 60 text "$repo/tests/blackbox/text.sh"
fi
job 20 suspend "$vm/modes.sh" suspend '-a hyptrace_test hyptrace_pkvm' hypervisor test
jobs_run
