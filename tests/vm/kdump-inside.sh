#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine by kdump.sh, twice: record events, print them, and have the kernel panic; then, in the crash
# kernel, read them from the memory of the first one. With the word "copy", also copy that memory.

# guest-init would go on
trap 'echo o >/proc/sysrq-trigger; read -rt 100 <> <(:)' EXIT
cd /mnt/share || exit
if [[ -e /proc/vmcore ]]; then
	hyptrace report /proc/vmcore >vmcore.events 2>vmcore.counts || exit
	if [[ ${1:-} == copy ]]; then
		cp --sparse=always /proc/vmcore vmcore.elf && makedumpfile -d 31 -z /proc/vmcore vmcore.zlib
	fi
	exit
fi
workload >/dev/null || exit
hyptrace stop && hyptrace show >show.events 2>show.counts || exit
hyptrace show -i /proc/kcore >kcore.events 2>kcore.counts || exit
line=$(sed 's/hyptrace=[^ ]*//; s/crashkernel=[^ ]*//' /proc/cmdline)
kexec -p -s Image --command-line="$line kvm-arm.mode=none reset_devices maxcpus=1" || exit
sync
echo c >/proc/sysrq-trigger
