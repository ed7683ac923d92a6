#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run a command in the kernel in user mode that build.sh has built: run.sh [--cpus N] [--share FOLDER] [--append WORDS]
# [--timeout SECONDS] -- COMMAND [ARGUMENT]... The words are for the kernel's command line. It ends as tests/vm/run.sh does.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/console.sh"

cpus=2 share='' words=() timeout=600
while [[ ${1:-} == --* ]]; do
	case $1 in
	--cpus) cpus=$2 && shift 2 ;;
	--share) share=$2 && shift 2 ;;
	--append) read -ra words <<<"$2" && shift 2 ;;
	--timeout) timeout=$2 && shift 2 ;;
	--) shift && break ;;
	*) die "there is no option $1" ;;
	esac
done
(($#)) || die "no command is given"
set_kernel newest
set_um
[[ -x $out/linux ]] || die "there is no kernel ${out##*/} yet: run tests/um/build.sh"
root=$(guest_machine=amd64 "$vm/rootfs.sh" --path)

work=$(mktemp -d)
linux=
# shellcheck disable=SC2317 # the trap calls it
cleanup()
{
	[[ -z $linux ]] || kill -TERM "$linux" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' INT TERM HUP

mkdir "$work/control"
cp "$vm/guest-init" "$work/control/init"
printf '%q ' "$@" >"$work/control/command"
: >"$work/control/out"
: >"$work/control/err"
# folder TAG PATH: a folder that guest-init mounts
folder()
{
	echo "$1=$2" >>"$work/control/folders"
}
folder modules "$out/lib/modules"
folder guest "$local_root/usr/local"
folder repo "$repo"
if [[ -n $share ]]; then
	folder share "$(cd "$share" && pwd -P)"
	: >"$work/control/share"
fi
tail -q -f -n +1 -s 0.2 --pid=$$ "$work/control/out" &
tails=($!)
tail -q -f -n +1 -s 0.2 --pid=$$ "$work/control/err" >&2 &
tails+=($!)

# The kernel must not report a stall because the host is busy.
code=0
TMPDIR=$work setpriv --pdeathsig TERM timeout -k 5 "$timeout" "$out/linux" seccomp=on "mem=1024M" "ncpus=$cpus" \
	root=/dev/root rootfstype=hostfs "rootflags=$root" ro "share=$work/control" con=null con0=null,fd:1 \
	rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=60 panic=-1 umid="hyptrace$$" uml_dir="$work/" "${words[@]}" \
	</dev/null >"$work/console" 2>&1 &
linux=$!
wait "$linux" || code=$?
linux=
sleep 0.4
kill "${tails[@]}" 2>/dev/null
wait "${tails[@]}" 2>/dev/null || true

if ((code == 124)); then
	echo "${0##*/}: the command did not end within $timeout s" >&2
	console_complaints "$work/console" >&2 || true
	exit 124
fi
if [[ ! -s $work/control/exit ]]; then
	echo "${0##*/}: the kernel in user mode died, or did not start; its last lines:" >&2
	tail -n 40 "$work/console" >&2
	exit 125
fi
code=$(<"$work/control/exit")
if console_complaints "$work/console" >"$work/complaints"; then
	echo "${0##*/}: the kernel complained:" >&2
	console_around_complaint "$work/console" >&2
	((code)) || code=125
fi
exit "$code"
