#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: all kselftest programs and scripts, or those that are named: run.sh [NAME]... Ends with
# "N passed, N failed".
#
# Both remotes are tested, but where HYPTRACE_REFUSED says by a regular expression why hyptrace_pkvm must refuse.

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
	names+=(test_leak.sh)
	# last: it loses memory
	[[ -n $HYPTRACE_REFUSED ]] || names+=(test_leftover.sh)
fi

options=() modules=(hyptrace_test)
declare -A remotes=([hyptrace_test]=test [hyptrace_pkvm]=hypervisor)
if [[ -n $HYPTRACE_REFUSED ]]; then
	# names of variants
	options=(-V hypervisor -V hypervisor_overwrite -V hypervisor_discard)
else
	modules+=(hyptrace_pkvm)
fi

for name in "${names[@]}"; do
	case $name in
	test_guest)
		# without a hypervisor nothing is traced of guests
		[[ -z $HYPTRACE_REFUSED ]] || continue
		;;&
	*.sh) tap "$name" bash "$here/$name" ;;
	test_kernel_map)
		# the kernel's own: one remote at a time; a sub-buffer is a page, and there are no snapshots
		for module in "${modules[@]}"; do
			modprobe "$module" || echo "not ok # modprobe $module: $?"
			tap "$name with $module" env HYPTRACE_REMOTE="${remotes[$module]}" \
				"$programs/$name" -V subbuf_size_8k -F snapshot
		done
		;;
	*)
		modprobe -a "${modules[@]}" || echo "not ok # modprobe ${modules[*]}: $?"
		tap "$name" "$programs/$name" "${options[@]}"
		;;
	esac
done
tap_total
