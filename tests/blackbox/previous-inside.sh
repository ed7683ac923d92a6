#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine by previous.sh: reset the machine, and save what the next boot finds of this one:
# previous-inside.sh reboot|panic|hyp|unload|clear|slow, or "cut" to write marks until somebody else resets it.

# shellcheck disable=SC2094 # the verbs have the names of files
# guest-init would start the machine again
trap 'echo o >/proc/sysrq-trigger; sleep 100' EXIT
cd /mnt/share || exit

if [[ $1 == cut ]]; then
	round=$(cat round 2>/dev/null || echo 0)
	[[ ! -e /dev/hyptrace-previous ]] || cat /dev/hyptrace-previous >"image.$round" || exit
	echo $((round + 1)) >round
	dmesg | sed -n 's/.*hyptrace: \([0-9]*\) KB at \(0x[0-9a-f]*\) outlive a reset$/\2 \1/p' >place
	: >"ready.$((round + 1))"
	for cpu in 0 1; do
		for ((first = 1; first < 1000000000; first += 1000000)); do
			hyptrace mark --cpu $cpu -n 1000000 $first || break
		done &
	done
	wait
	exit
fi
if [[ -e shown ]]; then
	cat /dev/hyptrace-previous >image
	hyptrace report --previous-boot --ns >report 2>report.said
	hyptrace -r previous show --ns >show 2>show.said
	hyptrace -r previous record --snapshot -q -o record.dat 2>record.said && hyptrace report -q --ns record.dat >record
	hyptrace -r previous stat >stat 2>stat.said
	exit
fi
hyptrace report --previous-boot >none 2>none.said
workload >/dev/null || exit
case $1 in
clear) hyptrace stream -q -n 100 >streamed && hyptrace clear && workload >/dev/null || exit ;;
slow)
	# its sub-buffers are overwritten while it stands still
	hyptrace stream -q >streamed 2>&1 &
	for round in 1 2 3 4 5; do
		sleep 0.3
		kill -STOP $!
		workload >/dev/null
		kill -CONT $!
	done
	sleep 0.3
	kill -INT $!
	wait $!
	;;
esac
hyptrace show --ns >shown 2>shown.said || exit
dmesg | grep hyptrace: >log
case $1 in
reboot | clear | slow) perl -e 'syscall(142, 0xfee1dead, 672274793, 0x1234567)' ;;
panic) echo c >/proc/sysrq-trigger ;;
hyp) modprobe hyptrace_calls panics=1 ;;
unload) hyptrace stream -q -n 100 >streamed && hyptrace stop && hyptrace unload && echo b >/proc/sysrq-trigger ;;
esac
sleep 100
echo "there was no reset" >&2
