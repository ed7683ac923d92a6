#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Measure, print the table and write results.json; README.md explains each row. BENCH=full also times the steps
# before the first event with an empty cache. The exit code is 1 if a row misses its goal.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

here=$repo/tests/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# rows KERNEL CPU COMMAND...: collect the command's lines for rows.py
rows()
{
	local kernel=$1 cpu=$2
	shift 2
	"$@" >"$work/lines"
	sed "s/^/$kernel $cpu /" "$work/lines" >>"$work/rows"
}

# inside CPU SCRIPT ARGUMENT...: run a script of this folder inside the machine
inside()
{
	"$vm/run.sh" --cpus 1 --icount --cpu "$1" --share "$work/share" -- "/mnt/repo/tests/bench/$2" "${@:3}"
}

# functions: print what functions cost that can be traced. Peer: the same kernel without that.
functions()
{
	inside neoverse-n1 functions-inside.sh /mnt/share/hyptrace_bench.ko >"$work/without"
	local FLAVOUR=patchable
	export FLAVOUR
	"$vm/kernel.sh"
	"$here/module.sh" "$work/share"
	inside neoverse-n1 functions-inside.sh /mnt/share/hyptrace_bench.ko >"$work/with"
	awk 'NR == FNR { without[$1] = $2; next }
		/^call_/ { with[$1] = $2; print "el2_insns_untraced_" substr($1, 6), without[$1], $2; next }
		{ with[$1] = $2 }
		END {
			printf "el2_insns_function - %.2f\n", with["function_both"] - with["function_outer"]
			# the hypercalls were made in two rounds
			printf "el2_insns_function_recorded - %.2f\n",
				(with["recorded_all"] - with["call_shared"]) * 2 * 20400 / with["recorded"]
		}' "$work/without" "$work/with"
}

first_event()
{
	local start=${EPOCHREALTIME/./}
	"$vm/run.sh" -- bash -c "modprobe hyptrace_pkvm && hyptrace enable hyp_enter && hyptrace stream --count 1" |
		head -n 1 >"$work/first"
	[[ -s $work/first ]] || die "hyptrace stream printed no event"
	awk -v us="$((${EPOCHREALTIME/./} - start))" 'BEGIN { printf "demo_first_event_s - %.2f\n", us / 1000000 }'
}

# timed NAME COMMAND...: print the line NAME with the seconds that the command takes
timed()
{
	local start=${EPOCHREALTIME/./}
	"${@:2}" >&2
	awk -v name="$1" -v us="$((${EPOCHREALTIME/./} - start))" 'BEGIN { printf "%s - %.2f\n", name, us / 1000000 }'
}

# Time each step before the first event with an empty cache.
from_nothing()
{
	local KERNEL=6.12
	export KERNEL HYPTRACE_CACHE=$work/cache CCACHE_DIR=$work/ccache
	timed demo_source_s "$vm/fetch.sh" "$KERNEL"
	# the build must not wait for pending writes of the source
	sync
	timed kernel_build_s "$vm/kernel.sh"
	timed demo_rootfs_s "$vm/rootfs.sh"
	timed demo_tools_s "$vm/guest.sh"
}

measure()
{
	local KERNEL LLVM newest
	newest=$("$vm/fetch.sh" --newest)
	for KERNEL in "$newest" 6.12; do
		export KERNEL LLVM=
		say "instructions on Linux $KERNEL"
		"$vm/kernel.sh"
		HYPTRACE_LTO=1 "$vm/guest.sh" --tests
		mkdir -p "$work/share"
		"$here/module.sh" "$work/share"
		rows "$KERNEL" - "$here/disabled.sh"
		rows "$KERNEL" neoverse-n1 inside neoverse-n1 el2-inside.sh /mnt/share/hyptrace_bench.ko
		rows "$KERNEL" cortex-a72 inside cortex-a72 el2-inside.sh /mnt/share/hyptrace_bench.ko
		rows "$KERNEL" neoverse-n1 inside neoverse-n1 read-inside.sh /mnt/share
		rows "$KERNEL" neoverse-n1 inside neoverse-n1 stat-inside.sh /mnt/share
		rows "$KERNEL" neoverse-n1 inside neoverse-n1 longest-inside.sh
		rows "$KERNEL" neoverse-n1 functions
	done
	KERNEL=$newest LLVM=1
	say "instructions of EL2 on Linux $KERNEL, built by clang"
	"$vm/kernel.sh"
	"$here/module.sh" "$work/share"
	rows "$KERNEL-clang" - "$here/disabled.sh"
	rows "$KERNEL-clang" neoverse-n1 inside neoverse-n1 el2-inside.sh /mnt/share/hyptrace_bench.ko
	rows "$KERNEL-clang" neoverse-n1 functions
	KERNEL=6.12 LLVM=
	say "the writer on this machine"
	rows - host "$here/writer.sh"
	say "reading files on this machine"
	rows - host "$here/report.sh"
	rows 6.12 neoverse-n1 first_event
	[[ ${BENCH:-} != full ]] || (rows 6.12 host from_nothing)
}

machine=$(awk -F ': *' '$1 ~ /^model name/ { print $2; exit }' /proc/cpuinfo)
measure >&2
"$here/rows.py" "$here/results.json" "${machine:-$(uname -m)}, $(nproc) CPUs" \
	"compiler=$(cc -dumpfullversion)" "cross-compiler=$("${cross}gcc" -dumpfullversion)" \
	"clang=$(llvm_version)" \
	"qemu=$(qemu-system-aarch64 --version | awk 'NR == 1 { print $4 }')" <"$work/rows"
