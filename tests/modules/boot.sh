# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot a stock kernel in a machine of this machine's architecture. Source lib.sh and stock.sh first.

: "${stock_machine:?source stock.sh first}" "${stock_root:?}"

# stock_boot VERSION FOLDER [TESTS]: boot the stock kernel with FOLDER/initramfs.cpio and these tests, or all, and print what its
# /init writes to the serial line that said= names. The kernel's messages are in FOLDER/console.
stock_boot()
{
	local line port console try code second pid
	case $stock_machine in
	amd64)
		# QEMU 7.2 corrupts the flags of cmpxchg16b if CPUs run concurrently; the kernel works without it
		line=(qemu-system-x86_64 -cpu "Nehalem,-cx16" -serial "file:$2/console" -serial "file:$2/said")
		port=ttyS1 console=ttyS0
		;;
	arm64)
		line=(qemu-system-aarch64 -M virt -cpu max -serial "file:$2/console"
			-chardev "file,id=said,path=$2/said" -device "pci-serial,chardev=said")
		port=ttyS0 console=ttyAMA0
		;;
	*) die "cannot boot a kernel for $stock_machine: only amd64 and arm64 are supported here" ;;
	esac
	need "${line[0]}"
	: >"$2/said"
	: >"$2/console"
	# not KVM: a virtual machine may have a KVM that cannot run this. One thread for both CPUs: with one for each, QEMU 7.2
	# may go on to run code that the kernel has patched.
	line+=(-accel "tcg,thread=single" -smp 2 -m 1024 -nic none -no-reboot -display none -monitor none
		-kernel "$stock_root/kernels/$1" -initrd "$2/initramfs.cpio"
		-append "console=$console panic=-1 loglevel=8 norandmaps said=$port${3:+ tests=$3} rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=60")
	# QEMU may hang while the kernel starts its CPUs, long before there is a module: try that again.
	for try in 1 2 3; do
		code=0
		setpriv --pdeathsig TERM timeout --foreground -k 5 1200 "${line[@]}" </dev/null 2>"$2/qemu" &
		pid=$!
		for ((second = 0; second < 120; second++)); do
			[[ ! -s $2/said ]] || break
			kill -0 "$pid" 2>/dev/null || break
			sleep 1
		done
		((try == 3 || second < 120)) || kill "$pid" || true
		wait "$pid" || code=$?
		[[ ! -s $2/said && $second == 120 ]] || break
		echo "# the kernel $1 did not get to its first program within 120 s, at try $try"
	done
	((!code)) || echo "not ok QEMU ended with code $code: $(tail -n 3 "$2/qemu")"
	tr -d '\r' <"$2/said"
}
