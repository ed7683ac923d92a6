#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Make the picture of README.md again: boot the machine, record all events while a guest runs, open the file in
# KernelShark, and zoom in to the guest. Not part of make check: the times differ in each run, and so does the place of
# the guest: look at the picture.
#
# Needed besides what make demo needs: kernelshark, xvfb, xdotool, imagemagick.

set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$repo/tests/vm/kernel.sh"
"$repo/tests/vm/guest.sh"
"$repo/tests/vm/run.sh" --require-protected --share "$work" -- sh -c 'modprobe hyptrace_pkvm &&
	hyptrace record -o /mnt/share/demo.dat -e all -- workload --mmio 30 --psci 30'

export WORK=$work HOME=$work
# shellcheck disable=SC2016 # the shell inside expands them
xvfb-run -s "-screen 0 1280x800x24" bash -euc '
	kernelshark -i "$WORK/demo.dat" &
	sleep 6
	# the button of a note, if KernelShark runs as root
	xdotool mousemove 758 408 click 1
	sleep 4
	window=$(xdotool search --onlyvisible --name Kernel | tail -n 1)
	xdotool windowmove "$window" 0 0 windowsize "$window" 1200 545
	sleep 2
	# the guest runs between these places of the graph
	xdotool mousemove 440 170 mousedown 1 sleep 1 mousemove 480 175 sleep 1 mousemove 526 175 sleep 1 mouseup 1
	sleep 3
	import -window root "$WORK/demo.png"
	kill $!'
convert "$work/demo.png" -crop 1200x545+0+0 +repage +dither -colors 64 -strip "PNG8:$repo/tools/doc/demo.png"
