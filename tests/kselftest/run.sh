#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: run all kselftest programs and scripts, or the named ones: run.sh [NAME]... PROGRAM@CASE,CASE... runs
# some cases of a program, kernel/PROGRAM the tests of "hypervisor" on the remote "kernel", and "kernel" all of
# these. The last line is "N passed, N failed".
#
# Both remotes are tested. If HYPTRACE_REFUSED is set, only the remote "test" is: hyptrace_pkvm must then refuse to
# load, and HYPTRACE_REFUSED is a regular expression for the reason that it prints.
#
# If HYPTRACE_EL2_ONLY is set, the tests of the remote "test" are left out: they do not depend on EL2, and a kernel in user
# mode runs them faster.
#
# If HYPTRACE_UNPROTECTED is set, EL2 trusts the host: the tests that make random hypercalls are left out.

set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/tap.sh"

programs=/usr/local/libexec/hyptrace-kselftest
export PATH=$programs:$PATH
export HYPTRACE_REFUSED=${HYPTRACE_REFUSED:-}

# mainline's own tracer, which needs protected mode
own_tracer='' of_own_tracer=(kernel/test_{clock,count,drain,marks,mmap,poll,read,snapshot,splice,storm,unrest,wakeup})
[[ -n ${HYPTRACE_UNPROTECTED:-} ]] || ! modinfo hyptrace_kernel >/dev/null 2>&1 || own_tracer=1

names=("$@")
[[ $* != kernel ]] || names=("${of_own_tracer[@]}")
if ((!$#)); then
	names=(test_modules.sh)
	for program in "$programs"/test_*; do
		names+=("${program##*/}")
	done
	[[ -z $(command -v hyptrace) || -z $own_tracer ]] || names+=(test_kernel.sh "${of_own_tracer[@]}")
	names+=(test_leak.sh)
	# Run these last: one leaks the memory of the rings on purpose, after the other nothing works any more.
	[[ -n $HYPTRACE_REFUSED ]] || names+=(test_leftover.sh)
	# A stock kernel has no command. The machine's kernel is built without lockdown, which takes a tenth of the time:
	# the kernel in user mode and the flavour "debug" have it.
	[[ -z $(command -v hyptrace) || ! -d /sys/kernel/security ]] || names+=(test_lockdown.sh)
fi

options=() el2_only=(-V test -V test_overwrite -V test_discard -V test_writer) modules=(hyptrace_test)
declare -A remotes=([hyptrace_test]=test [hyptrace_pkvm]=hypervisor)
if [[ -n $HYPTRACE_REFUSED ]]; then
	# leave out the variants of the remote "hypervisor"
	options=(-V hypervisor -V hypervisor_overwrite -V hypervisor_discard -V hypervisor_kernel)
else
	modules+=(hyptrace_pkvm)
	[[ -z ${HYPTRACE_EL2_ONLY:-} ]] || options=("${el2_only[@]}")
fi

for name in "${names[@]}"; do
	cases=()
	if [[ $name == *@* ]]; then
		IFS=, read -ra cases <<<"${name#*@}"
		cases=("${cases[@]/#/-t}")
		name=${name%@*}
	fi
	case $name in
	test_counters | test_hypercalls | test_locks | test_memory | test_pages | test_page_storm | test_pmu | \
		test_ring_pages | test_firmware | test_full_counters | test_ways)
		[[ -z $HYPTRACE_REFUSED && -z ${HYPTRACE_UNPROTECTED:-} ]] || continue
		;;&
	test_guest | test_exits | test_times | test_visits)
		# Without a hypervisor there is nothing to trace.
		[[ -z $HYPTRACE_REFUSED ]] || continue
		;;&
	test_kernel_rings)
		[[ -n $own_tracer ]] || continue
		;;&
	test_kernel_faults)
		[[ -n $own_tracer && -z $HYPTRACE_REFUSED ]] || continue
		;;&
	test_panic)
		# It loads the driver anew. With a hypervisor, tests/blackbox panics.
		[[ -n $HYPTRACE_REFUSED && $(modinfo -n hyptrace) == /* ]] || continue
		;;&
	kernel/*)
		# It has neither discard mode nor another size while loaded.
		((${#cases[@]})) || cases=(-V hypervisor_discard -T entries_are_what_was_kept -T shows_the_gap_of_discard_mode
			-T shows_the_losses_from_before_a_resize -T a_full_ring_reaches_any_watermark)
		modprobe hyptrace_kernel || echo "not ok # modprobe hyptrace_kernel: $?"
		tap "$name" env HYPTRACE_REMOTE=kernel "$programs/${name#*/}" "${el2_only[@]}" "${cases[@]}"
		rmmod hyptrace_kernel
		;;
	*.sh) tap "$name" bash "$here"/*/"$name" ;;
	test_kernel_map)
		# The kernel's own test: it knows one remote at a time. Leave out what hyptrace does not have:
		# sub-buffers of 8 KB and the file "snapshot" of tracefs.
		for module in "${modules[@]}"; do
			modprobe "$module" || echo "not ok # modprobe $module: $?"
			tap "$name with $module" env HYPTRACE_REMOTE="${remotes[$module]}" \
				"$programs/$name" -V subbuf_size_8k -F snapshot
		done
		;;
	*)
		modprobe -a "${modules[@]}" || echo "not ok # modprobe ${modules[*]}: $?"
		tap "$name" "$programs/$name" "${options[@]}" "${cases[@]}"
		;;
	esac
done
tap_total
