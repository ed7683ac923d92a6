# shellcheck shell=bash
# shellcheck disable=SC2034 # its variables are for those who source it
# SPDX-License-Identifier: GPL-2.0-only
# Shared by all scripts of the test bed: paths, messages, progress, the lock. To be sourced.
#
# The environment chooses the kernel:
#   KERNEL=SERIES          a series whose source Debian has (default: 6.12), or "newest"
#   KSRC=PATH              any other tree; it is copied into the cache and not changed
#   FLAVOUR=NAME           add the configuration config/NAME, such as debug; llvm is LLVM=1, and gki implies it
#   LLVM=1                 build the kernel with clang instead of gcc; LLVM=-22 chooses clang 22
#   HYPTRACE_UNPATCHED=1   a kernel without the hooks, with the modules built out of tree
#   HYPTRACE_CACHE=PATH    folder for all that is fetched and built ($XDG_CACHE_HOME/hyptrace or ~/.cache/hyptrace)

set -euo pipefail

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
repo=$(cd "$vm/../.." && pwd -P)

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

say()
{
	printf '== %s\n' "$*" >&2
}

need()
{
	command -v "$1" >/dev/null || die "the program $1 is missing: run \"make deps\""
}

# hash_of PATH: print a short name that stands for the path.
hash_of()
{
	printf '%s' "$1" | sha256sum | cut -c 1-12
}

# set_kernel SERIES: set the variables for the folders of that kernel. With an empty SERIES, the environment chooses it.
set_kernel()
{
	if [[ -z $1 && -n ${KSRC:-} ]]; then
		[[ -f $KSRC/Kconfig ]] || die "KSRC=$KSRC is not a kernel tree: it has no file Kconfig"
		ksrc=$(cd "$KSRC" && pwd -P)
		series=$(awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { print v "." $3; exit }' "$ksrc/Makefile")
		kernel=tree-$(hash_of "$ksrc")
	else
		ksrc=
		series=${1:-${KERNEL:-6.12}}
		if [[ $series == newest ]]; then
			series=$("$vm/fetch.sh" --newest)
			# The scripts that this one calls must use the same series.
			[[ -n $1 ]] || export KERNEL=$series
		fi
		kernel=$series
	fi
	flavour=${FLAVOUR:-} llvm=${LLVM:-}
	[[ $flavour != llvm && $flavour != gki ]] || llvm=${llvm:-1}
	[[ $flavour != llvm ]] || flavour=
	[[ $llvm =~ ^(|1|-[0-9]+)$ ]] || die "LLVM=$llvm is neither 1 nor a version such as -19"
	unpatched=${HYPTRACE_UNPATCHED:-}
	pristine=$cache/src/$kernel
	# what the guest mounts as /usr/local; the kselftest programs depend on the kernel
	local_root=$guest/root-$kernel
	[[ -z $unpatched ]] || kernel=$kernel-unpatched
	tree=$cache/src/$kernel
	compiled=$kernel${llvm:+-llvm${llvm#1}}
	build=$cache/build/$compiled${flavour:+-$flavour}
	# Each clone boots from a folder of its own, because another clone may build at the same time.
	out=$cache/out/$compiled${flavour:+-$flavour}-$(hash_of "$repo")
}

# the kselftests whose result depends most on what EL2 does, or all of them
of_el2=(kselftest)
[[ -n ${FULL:-} ]] ||
	of_el2=(kselftest:test_{modules.sh,clock,control,count,count_hold,counters,event_hold,exits,guest,hold,hypercalls,locks}
		kselftest:test_{marks,memory,pages,pmu,read,ring_pages,storm,visits,ways})

# sizes and alignments of reserved memory for test_misfit.sh
misfits=(620K:4096 624K:4096 2097000:4096)

# set_own_tracer SERIES: set the list of what tests the tracer that this series has at EL2 itself.
set_own_tracer()
{
	own_tracer=()
	! grep -qs NVHE_EL2_TRACING "$vm/config/$1" || own_tracer=(bats:watch/tracefs.bats kselftest:test_kernel.sh)
}

# Choose a version of clang from those on stdin: the newest one that compiles all configurations. With clang 21 and later, Linux
# has no BTI, and 7.2 needs clang 17. If there is none, choose the newest one.
llvm_choose()
{
	awk '$1 >= 17 && $1 > newest { newest = $1 } $1 >= 17 && $1 < 21 && $1 > best { best = $1 }
		END { if (newest) print best ? best : newest }'
}

# Print the version of clang that LLVM=1 uses, or nothing if this machine has none with its linker and tools.
llvm_version()
{
	local version
	for version in $(compgen -c clang- | sed -nE 's/^clang-([0-9]+)$/\1/p'); do
		command -v "ld.lld-$version" >/dev/null && command -v "llvm-ar-$version" >/dev/null && echo "$version"
	done | llvm_choose
}

# set_compiler: after set_kernel, set the words that tell a kernel's make which compiler to use. A folder of objects keeps
# the compiler that built it.
set_compiler()
{
	local cc
	cc=$(cat "$build/.cc" 2>/dev/null) || true
	if [[ -z $cc ]] || ! command -v "${cc##* }" >/dev/null; then
		case $llvm in
		'') cc=${cross}gcc ;;
		1) cc=clang-$(llvm_version) ;;
		*) cc=clang$llvm ;;
		esac
		need "$cc"
		cc="$(command -v ccache >/dev/null && echo ccache) $cc"
		mkdir -p "$build"
		echo "$cc" >"$build/.cc"
	fi
	compiler=(ARCH=arm64 CROSS_COMPILE="$cross" LLVM= CC="$cc")
	[[ -z $llvm ]] || compiler=(ARCH=arm64 LLVM="-${cc##*-}" CC="$cc" HOSTCC="$cc")
}

# Succeed if this machine can run a kernel in user mode with several CPUs.
has_um()
{
	[[ $(uname -m) == x86_64 ]]
}

# set_um: after set_kernel, set the folders of that kernel in user mode.
set_um()
{
	build=$cache/build/$kernel-um
	out=$cache/out/$kernel-um-$(hash_of "$repo")
	# another sysroot: see guest_begin
	guest+=-um
	local_root=$guest/root
	kernel+=-um
}

# guest_begin: remove what was built for the guest with another sysroot than that of cross-env.sh.
guest_begin()
{
	[[ $(cat "$guest/stamp" 2>/dev/null) != "$SYSROOT" ]] || return 0
	rm -rf "$guest"
	mkdir -p "$guest"
	echo "$SYSROOT" >"$guest/stamp"
}

# lock PART: allow only one run at a time to change this part of the cache. Scripts that the holder calls do not lock
# again.
lock()
{
	local fd
	[[ " ${HYPTRACE_LOCKED:-} " != *" $1 "* ]] || return 0
	exec {fd}>"$cache/$1.lock"
	if ! flock -n "$fd"; then
		say "waiting for another run that uses the $1 in $cache"
		flock "$fd"
	fi
	export HYPTRACE_LOCKED="${HYPTRACE_LOCKED:-} $1"
}

# step TITLE COMMAND...: run the command with its output in a log, and show its progress.
step()
{
	local title=$1 log pid start now rc=0 told=0
	shift
	log=$cache/log/${title//[^A-Za-z0-9.]/-}
	start=$SECONDS
	# Run it in a process group of its own, so that a signal to this script ends all of its processes.
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	trap 'kill -- "-$pid" 2>/dev/null; exit 130' INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		now=$((SECONDS - start))
		if [[ -t 2 ]]; then
			printf '\r   %s: %d s, %d lines of log ' "$title" "$now" "$(wc -l <"$log")" >&2
		elif ((now >= told + 30)); then
			told=$now
			printf '   %s: %d s, %d lines of log\n' "$title" "$now" "$(wc -l <"$log")" >&2
		fi
	done
	wait "$pid" || rc=$?
	trap - INT TERM
	[[ ! -t 2 ]] || printf '\r\033[K' >&2
	if ((rc)); then
		{ grep -iE -m 10 -A 5 'error: |\*\*\*|^[a-z0-9-]+\.sh:' "$log" || tail -n 20 "$log"; } | cut -c 1-200 >&2
		die "$title failed after $((SECONDS - start)) s: see the lines above, and all of the log in $log"
	fi
	say "$title: $((SECONDS - start)) s"
}

cache=${HYPTRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set: set HYPTRACE_CACHE to a folder}/.cache}/hyptrace}
mkdir -p "$cache/log" || die "cannot make the cache folder $cache: set HYPTRACE_CACHE to one that can be written"
cross=aarch64-linux-gnu-
# programs that this clone has built for the guest, which mounts them as /usr/local
guest=$cache/guest/$(hash_of "$repo")
cache=$(cd "$cache" && pwd -P)
