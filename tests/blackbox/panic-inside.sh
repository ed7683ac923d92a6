#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine by panic.sh: have the host or EL2 panic: panic-inside.sh host|hyp. After the reboot, copy what
# pstore has kept to the share.

# guest-init would start the machine again
trap 'echo o >/proc/sysrq-trigger; sleep 100' EXIT
mount -t pstore pstore /sys/fs/pstore || exit
if compgen -G "/sys/fs/pstore/dmesg-ramoops-*" >/dev/null; then
	cat /sys/fs/pstore/dmesg-ramoops-* >/mnt/share/pstore
	exit
fi
workload >/dev/null || exit
case $1 in
host)
	hyptrace disable hyp_enter hyp_exit && modprobe hyptrace_calls message=77 && hyptrace stop &&
		hyptrace show -q --ns >/mnt/share/shown || exit
	echo c >/proc/sysrq-trigger
	;;
hyp)
	modprobe hyptrace_calls panics=1
	;;
esac
echo "there was no panic" >&2
