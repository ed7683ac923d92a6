#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine with --icount and one CPU: have a hostile host make hypercalls __hyptrace() of all kinds, and print
# the line "NAME PEER OURS" with the instructions of the longest one. Interrupts are off meanwhile.

set -euo pipefail

parameters=/sys/module/hyptrace_hostile/parameters
for module in hyptrace_pkvm hyptrace; do
	[[ ! -d /sys/module/$module ]] || rmmod "$module"
done
modprobe hyptrace_hostile seed=1 calls=20000 limit_ms=60000
while (($(<"$parameters/left") > 0)); do
	echo 1 >"$parameters/look"
	sleep 1
done
echo 1 >"$parameters/finish"
(($(<"$parameters/failures") == 0)) || { cat "$parameters/failed" >&2 && exit 1; }
# By the number of the op
IFS=, read -ra longest <"$parameters/worst_ns"
echo "the longest call of each op: ${longest[*]}" >&2
printf '%s\n' "${longest[@]}" | sort -n | awk 'END { if (!$1) exit 1; print "el2_insns_longest_op -", $1 }'
