#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine by kdump.sh, twice: record events, print them, and have the host or EL2 panic; then, in the crash
# kernel, read them from the memory of the first one: kdump-inside.sh host|copy|reserve|commit|swap|user|user-kpti.
# "copy" also copies that memory. From "reserve" on, EL2 panics at this point.

# guest-init would go on
trap 'echo o >/proc/sysrq-trigger; read -rt 100 <> <(:)' EXIT
cd /mnt/share || exit
if [[ -e /proc/vmcore ]]; then
	hyptrace report --ns /proc/vmcore >vmcore.events 2>vmcore.counts || exit
	if [[ $1 == copy ]]; then
		cp --sparse=always /proc/vmcore vmcore.elf && makedumpfile -d 31 -z /proc/vmcore vmcore.zlib
	fi
	exit
fi
line=$(sed 's/hyptrace=[^ ]*//; s/crashkernel=[^ ]*//' /proc/cmdline)
kexec -p -s Image --command-line="$line kvm-arm.mode=none reset_devices maxcpus=1" || exit
sync
case $1 in
reserve | commit | swap | user*)
	workload
	points=(none reserve commit swap user)
	for point in "${!points[@]}"; do
		[[ ${points[point]} != "${1%-kpti}" ]] || modprobe hyptrace_calls fault="$point"
	done
	# the first access to this address: an abort of stage 2 in user space
	[[ $1 != user* ]] || python3 -c 'import mmap, os
mmap.mmap(os.open("/dev/mem", os.O_RDWR | os.O_SYNC), 4096, offset=0x8000000000)[:4]'
	workload
	# the ring that is locked then is that of the CPU that panics
	taskset -c 0 hyptrace stream --cpu 0 --count 1
	;;
*)
	workload >/dev/null && hyptrace stop && hyptrace show --ns >show.events 2>show.counts || exit
	hyptrace show --ns -i /proc/kcore >kcore.events 2>kcore.counts || exit
	echo c >/proc/sysrq-trigger
	;;
esac
echo "there was no panic" >&2
