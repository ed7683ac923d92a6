#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot a kernel that kernel.sh has built (lib.sh says which) under QEMU, and run a command in it.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/console.sh"

usage()
{
	cat <<-END
	usage: ${0##*/} [option]... -- COMMAND [ARGUMENT]...
	       ${0##*/} [option]... --interactive
	  --kernel SERIES      boot this kernel instead of the one that the environment chooses
	  --cpus N             number of CPUs (2)
	  --mem MB             memory of the guest (1024)
	  --cpu MODEL          neoverse-n1 (default), cortex-a72, max; HYPTRACE_CPU sets another default
  --root DIR           root of the guest instead of Debian's; its /sbin/init must do what guest-init does
	  --mode MODE          protected (default), nvhe, vhe (the kernel's default on a CPU with VHE), none (no KVM)
	  --require-protected  fail unless the hypervisor has started in protected mode
	  --clock-frequency HZ frequency of the counter in the device tree
	  --reserve ADDRESS:SIZE memory (hexadecimal) that the device tree reserves for hyptrace
	  --icount             each instruction takes a nanosecond of guest time; needs --cpus 1
	  --share DIR          folder that the guest can read and write at /mnt/share; it can always read the repository
                       at /mnt/repo and what guest.sh built at /usr/local
	  --console FILE       write the kernel's console to this file
	  --append WORDS       more words for the kernel's command line
	  --timeout SECONDS    end the guest after this time (600)
	  --qmp SOCKET         QEMU listens there for commands (QMP)
	  --reboot             let the guest start again when its kernel has panicked
  --interactive        run a shell on this terminal, without a timeout
	With HYPTRACE_COVERAGE=DIR in the environment, DIR gets a file of the instructions that EL2 has executed: see coverage.sh.
	stdout, stderr and the exit code are those of the command. Exit code 124: timeout. 125: the guest failed; it did not
	start, or died, or its kernel complained although the command succeeded.
	END
}

guest_failed()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	if console_complaints "$console" >/dev/null; then
		printf '%s: its console around the first complaint:\n' "${0##*/}" >&2
		console_around_complaint "$console" >&2
	fi
	printf '%s: the last lines of its console:\n' "${0##*/}" >&2
	tail -n 25 "$console" >&2 || true
	exit 125
}

reboot=-no-reboot
series='' cpus=2 mem=1024 cpu=${HYPTRACE_CPU:-neoverse-n1} mode=protected share='' console='' append='' timeout=600
require='' icount='' interactive='' frequency='' reserve='' root='' qmp=''
while (($#)); do
	case $1 in
	--kernel | --cpus | --mem | --cpu | --mode | --share | --console | --append | --timeout | --root | --clock-frequency | --reserve | \
		--qmp)
		(($# > 1)) || die "$1 needs a value"
		;;&
	--kernel) series=$2 && shift 2 ;;
	--cpus) cpus=$2 && shift 2 ;;
	--mem) mem=$2 && shift 2 ;;
	--cpu) cpu=$2 && shift 2 ;;
	--root) root=$2 && shift 2 ;;
	--mode) mode=$2 && shift 2 ;;
	--share) share=$2 && shift 2 ;;
	--console) console=$2 && shift 2 ;;
	--append) append=$2 && shift 2 ;;
	--clock-frequency) frequency=$2 && shift 2 ;;
	--reserve) reserve=$2 && shift 2 ;;
	--timeout) timeout=$2 && shift 2 ;;
	--qmp) qmp=$2 && shift 2 ;;
	--require-protected) require=1 && shift ;;
	--icount) icount=1 && shift ;;
	--reboot) reboot='' && shift ;;
	--interactive) interactive=1 && shift ;;
	-h | --help) usage && exit ;;
	--) shift && break ;;
	-*) die "there is no option $1: see --help" ;;
	*) break ;;
	esac
done
case $mode in
protected | nvhe | none) append="kvm-arm.mode=$mode $append" ;;
vhe) ;;
*) die "there is no mode \"$mode\": it is protected, nvhe, vhe or none" ;;
esac
for number in "$cpus" "$mem" "$timeout" "${frequency:-1}"; do
	[[ $number =~ ^[1-9][0-9]*$ ]] || die "\"$number\" is not a positive number"
done
[[ -z $icount || $cpus == 1 ]] || die "--icount works with one CPU: add --cpus 1"
[[ -z $share || -d $share ]] || die "--share $share: there is no such folder"
if [[ -n $interactive ]]; then
	[[ -t 0 && -t 1 ]] || die "--interactive needs a terminal; without one: ${0##*/} -- COMMAND"
	(($#)) || set -- bash --rcfile /mnt/repo/tests/vm/welcome
	timeout=0
fi
(($#)) || die "no command is given: see --help"

set_kernel "$series"
root=${root:-$("$vm/rootfs.sh" --path)}
[[ -f $out/Image ]] || die "there is no kernel ${out##*/} yet: run \"make kernel\" (with the same KERNEL, KSRC, FLAVOUR)"
need qemu-system-aarch64
mkdir -p "$local_root/usr/local"

work=$(mktemp -d)
qemu=
# shellcheck disable=SC2317 # the trap calls it
cleanup()
{
	[[ -z $qemu ]] || kill "$qemu" 2>/dev/null || true
	rm -rf "$work"
	# the terminal may be gone
	[[ -z $interactive ]] || stty "$terminal" 2>/dev/null || true
}
[[ -z $interactive ]] || terminal=$(stty -g)
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/control"
cp "$vm/guest-init" "$work/control/init"
printf '%q ' "$@" >"$work/control/command"
console=${console:-$work/console}
: >"$console"

# The kernel must not report a stall because the host is busy.
patience="rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=60"
# QEMU translates code again for each address at which it runs: with random addresses programs take three times as long
# to start.
addresses=norandmaps
machine=virt,virtualization=on,gic-version=3
# Counts of instructions must not depend on random numbers or on the time of day.
[[ -z $icount ]] || machine+=,dtb-randomness=off
line=(-M "$machine" -accel tcg -smp "$cpus" -m "$mem" -nic none ${reboot:+"$reboot"}
	-display none -monitor none -kernel "$out/Image" -serial "file:$console"
	-append "console=ttyAMA0 loglevel=8 panic=-1 $patience $addresses root=root rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=loose ro $append"
	-device virtio-serial-device)
[[ $cpu != max ]] || cpu=max,pauth-impdef=on
# With 52-bit addresses and 16 KiB pages, QEMU 7.2 hangs when EL2 enables the host's stage 2.
if [[ $cpu == max,* ]] && grep -qx CONFIG_ARM64_16K_PAGES=y "$out/.config"; then
	cpu+=,lpa2=off
fi
line+=(-cpu "$cpu")
[[ -z $qmp ]] || line+=(-qmp "unix:${qmp//,/,,},server=on,wait=off")
[[ -z $icount ]] || line+=(-icount "shift=0,sleep=off" -rtc "base=2000-01-01,clock=vm")
if [[ -n $frequency$reserve ]]; then
	need fdtput
	described=("${line[@]}")
	described[1]+=,dumpdtb=$work/dtb
	qemu-system-aarch64 "${described[@]}" 2>"$work/qemu" || guest_failed "QEMU cannot dump its device tree"
	[[ -z $frequency ]] || fdtput -t i "$work/dtb" /timer clock-frequency "$frequency"
	if [[ -n $reserve ]]; then
		fdtput -p -t x "$work/dtb" /reserved-memory '#address-cells' 2
		fdtput -t x "$work/dtb" /reserved-memory '#size-cells' 2
		fdtput "$work/dtb" /reserved-memory ranges
		fdtput -p -t x "$work/dtb" "/reserved-memory/hyptrace@${reserve%:*}" reg 0 "0x${reserve%:*}" 0 "0x${reserve#*:}"
		fdtput -t s "$work/dtb" "/reserved-memory/hyptrace@${reserve%:*}" compatible hyptrace
	fi
	line+=(-dtb "$work/dtb")
fi

# folder TAG PATH [OPTION]: add a folder that the guest can mount by its tag.
folder()
{
	line+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap${3:+,$3}"
		-device "virtio-9p-device,fsdev=$1,mount_tag=$1")
}
folder root "$root" readonly=on
folder modules "$out/lib/modules" readonly=on
folder control "$work/control"
folder guest "$local_root/usr/local" readonly=on
folder repo "$repo" readonly=on
if [[ -n $share ]]; then
	folder share "$(cd "$share" && pwd -P)"
	: >"$work/control/share"
fi

readers=()
if [[ -n $interactive ]]; then
	read -r rows columns < <(stty size)
	echo "rows $rows cols $columns" >"$work/control/interactive"
	line+=(-chardev "stdio,id=tty,signal=off" -device "virtconsole,chardev=tty")
	exec 3<&0
else
	mkfifo "$work/out" "$work/err"
	cat "$work/out" &
	readers+=($!)
	cat "$work/err" >&2 &
	readers+=($!)
	line+=(-chardev "file,id=out,path=$work/out" -device "virtserialport,chardev=out,name=out"
		-chardev "file,id=err,path=$work/err" -device "virtserialport,chardev=err,name=err")
	exec 3</dev/null
fi

# QEMU logs each block of code before it executes it for the first time, and again whenever it has dropped the translation.
# Log only addresses that EL2 has for its own memory, in kernels with 48 or 52 bits, and keep each instruction once.
if [[ -n ${HYPTRACE_COVERAGE:-} ]]; then
	mkfifo "$work/blocks"
	covered=$(mktemp "$HYPTRACE_COVERAGE/${out##*/}.XXXXXX")
	awk '/^0x/ && !seen[$1 $2]++ { print $1, $2 }' "$work/blocks" >"$covered" &
	covering=$!
	line+=(-d in_asm -D "$work/blocks" -dfilter "0x800000000000+0x400000000,0x8000000000000+0x400000000")
fi

# The guest must end when this script ends, also when this script is killed.
setpriv --pdeathsig TERM timeout --foreground -k 5 "$timeout" qemu-system-aarch64 "${line[@]}" <&3 2>"$work/qemu" &
qemu=$!
code=0
wait "$qemu" || code=$?
qemu=

if ((${#readers[@]})); then
	# Open and close the pipes for writing, so that cat ends also if QEMU never opened them.
	exec 4<>"$work/out" 5<>"$work/err"
	exec 4>&- 5>&-
	wait "${readers[@]}" || true
fi

if [[ -n ${covering:-} ]]; then
	exec 4<>"$work/blocks"
	exec 4>&-
	wait "$covering" || true
fi

if ((code == 124)); then
	echo "${0##*/}: the command did not end within $timeout s" >&2
	console_complaints "$console" >&2 || true
	exit 124
fi
[[ ! -s $work/qemu ]] || sed 's/^/qemu: /' "$work/qemu" >&2
((code == 0)) || guest_failed "QEMU ended with $code"
[[ -e $work/control/started ]] || guest_failed "the guest did not start its first process"
[[ -s $work/control/exit ]] || guest_failed "the guest died while the command ran"
code=$(<"$work/control/exit")
if console_complaints "$console" >"$work/complaints"; then
	echo "${0##*/}: the guest's kernel complained:" >&2
	cat "$work/complaints" >&2
	((code)) || code=125
fi
if [[ -n $require ]] && ! console_protected "$console"; then
	echo "${0##*/}: the hypervisor did not start in protected mode: the console does not have the line" \
		"\"Protected nVHE mode initialized successfully\" (or hVHE)" >&2
	((code)) || code=125
fi
exit "$code"
