#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: run all kselftest programs and scripts, or the named ones: run.sh [NAME]... PROGRAM@CASE,CASE... runs
# some cases of a program. The last line is "N passed, N failed".
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

names=("$@")
if ((!$#)); then
	names=(test_modules.sh)
	for program in "$programs"/test_*; do
		names+=("${program##*/}")
	done
	# mainline's own tracer, which needs protected mode
	[[ -z $(command -v hyptrace) || -n ${HYPTRACE_UNPROTECTED:-} ]] || ! modinfo hyptrace_kernel >/dev/null 2>&1 ||
		names+=(test_kernel.sh)
	names+=(test_leak.sh)
	# Run these last: one leaks the memory of the rings on purpose, after the other nothing works any more.
	[[ -n $HYPTRACE_REFUSED ]] || names+=(test_leftover.sh)
	# A stock kernel has no command. The machine's kernel is built without lockdown, which takes a tenth of the time:
	# the kernel in user mode and the flavour "debug" have it.
	[[ -z $(command -v hyptrace) || ! -d /sys/kernel/security ]] || names+=(test_lockdown.sh)
fi

options=() modules=(hyptrace_test)
declare -A remotes=([hyptrace_test]=test [hyptrace_pkvm]=hypervisor)
if [[ -n $HYPTRACE_REFUSED ]]; then
	# leave out the variants of the remote "hypervisor"
	options=(-V hypervisor -V hypervisor_overwrite -V hypervisor_discard)
else
	modules+=(hyptrace_pkvm)
	[[ -z ${HYPTRACE_EL2_ONLY:-} ]] || options=(-V test -V test_overwrite -V test_discard -V test_writer)
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
	test_panic)
		# It loads the driver anew. With a hypervisor, tests/blackbox panics.
		[[ -n $HYPTRACE_REFUSED && $(modinfo -n hyptrace) == /* ]] || continue
		;;&
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
