#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine, with --icount: what reading costs, and how large records are. read-inside.sh FOLDER, which has the
# module and the program "inside"; prints lines "NAME PEER OURS" as el2-inside.sh does.

set -euo pipefail
shopt -s inherit_errexit

bench=/sys/module/hyptrace_bench/parameters
mainline=/sys/kernel/tracing/remotes/hypervisor
inside=$1/inside
events=100000
singles=1000
subbufs=200
size_mib=16

# row NAME PEER OURS BY
row()
{
	awk -v name="$1" -v peer="$2" -v ours="$3" -v by="$4" 'BEGIN {
		printf "%s %s %.2f\n", name, peer ? sprintf("%.2f", peer / by) : "-", ours / by }'
}

# least COMMAND...: what it takes when nothing comes between, after a first time that touches all memory
least()
{
	"$@" >/dev/null
	for _ in 1 2 3 4 5; do
		"$@"
	done | sort -n | head -n 1
}

# difference LARGE SMALL COMMAND...: how much more it takes of the former than of the latter
difference()
{
	local large small
	large=$(least "${@:3}" "$1")
	small=$(least "${@:3}" "$2")
	echo $((large - small))
}

enable_peer()
{
	echo 1 >"$mainline/events/hypervisor/$1/enable"
}

disable_peer()
{
	echo 0 >"$mainline/events/hypervisor/$1/enable"
}

# stream N: what it takes from its start to its end, with so many events that are there, into a file whose pages are
stream()
{
	echo "$1" >"$bench/ours"
	# no lines of before
	[[ ! -s /tmp/stream ]] || head -c "$(stat -c %s /tmp/stream)" /dev/zero 1<>/tmp/stream
	# shellcheck disable=SC2016 # the shell inside expands it
	"$inside" run sh -c 'exec hyptrace stream --cpu 0 --count "$1" 1<>/tmp/stream' - "$1"
	(($(wc -l </tmp/stream) >= $1))
}

# peer_stream N: what so many events that are there take
peer_stream()
{
	enable_peer selftest
	echo "$1" >"$bench/mainline"
	disable_peer selftest
	"$inside" lines "$1" "$mainline/trace_pipe"
}

# drain HOW: ns for so many sub-buffers of hyp_enter and hyp_exit records
drain()
{
	hyptrace clear
	hyptrace enable hyp_enter hyp_exit
	echo "$events" >"$bench/refused"
	hyptrace disable all
	"$inside" "$1" "$subbufs" /tmp/drained
}

latency()
{
	local stream
	mkfifo /tmp/lines
	hyptrace clear
	hyptrace stream --cpu 0 >/tmp/lines &
	stream=$!
	"$inside" latency "$singles" "$bench/ours" /tmp/lines
	# nobody reads its lines any more: it may have ended by that
	kill -INT "$stream" 2>/dev/null || true
	wait "$stream" || true
}

peer_latency()
{
	[[ -d $mainline ]] || { echo 0 && return; }
	enable_peer selftest
	"$inside" latency "$singles" "$bench/mainline" "$mainline/trace_pipe"
	disable_peer selftest
}

# load MIB: to make rings of that size and to give them up
load()
{
	"$inside" run sh -c "hyptrace load --size $1M && hyptrace unload"
}

# The buffers are loaded with the first that uses them, and go with the last.
peer_load()
{
	echo $(($1 << 10)) >"$mainline/buffer_size_kb"
	"$inside" run sh -c "cd $mainline && echo 1 >tracing_on && echo 0 >tracing_on && echo >trace"
}

# capacity KIB: how many hyp_enter events rings of that size hold, the last sub-buffer full
capacity()
{
	hyptrace load --size "$1K" --mode discard
	hyptrace enable hyp_enter
	hyptrace start
	echo "$events" >"$bench/refused"
	hyptrace stop
	hyptrace -j status | grep -o '"unread":[ "]*[0-9]*' | grep -o '[0-9]*' | sort -n | tail -n 1
	hyptrace unload
	hyptrace set --mode overwrite
	hyptrace disable all
}

peer_capacity()
{
	echo "$1" >"$mainline/buffer_size_kb"
	enable_peer hyp_enter
	echo 1 >"$mainline/tracing_on"
	echo "$events" >"$bench/refused"
	disable_peer hyp_enter
	# reading blocks when all was read: this is the last
	enable_peer selftest
	echo 1 >"$bench/mainline"
	disable_peer selftest
	echo 0 >"$mainline/tracing_on"
	"$inside" until selftest "$mainline/trace_pipe"
	echo >"$mainline/trace"
}

insmod "$1/hyptrace_bench.ko"
modprobe hyptrace_pkvm

# what does not depend on the size goes out of the difference; mainline refuses larger ones
ours=$(difference 9 1 load)
peer=0
[[ ! -d $mainline ]] || peer=$(difference 9 1 peer_load)
row load_us_per_mib "$peer" "$ours" 8000

# so many sub-buffers more hold so many events more; all but 16 bytes of each are data
large=$(capacity 512)
small=$(capacity 256)
more=$((large - small))
data=$((64 * 4080))
peer=0
if [[ -d $mainline ]]; then
	large=$(peer_capacity 512)
	small=$(peer_capacity 256)
	peer=$((data * more / (large - small)))
fi
row bytes_per_hyp_enter "$peer" "$data" "$more"

[[ ! -d $mainline ]] || {
	echo $((size_mib << 10)) >"$mainline/buffer_size_kb"
	echo 1 >"$mainline/tracing_on"
}
hyptrace load --size ${size_mib}M
hyptrace enable selftest
hyptrace start
# its start and end are not what is asked
peer=0
[[ ! -d $mainline ]] || peer=$(difference "$events" $((events / 2)) peer_stream)
ours=$(difference "$events" $((events / 2)) stream)
row stream_insns_per_event "$peer" "$ours" $((events / 2))

ours=$(least drain read)
row read_insns_per_event 0 "$ours" $((subbufs * 340))
ours=$(least drain splice)
row drain_insns_per_event 0 "$ours" $((subbufs * 340))
peer=$(peer_latency)
hyptrace enable selftest
ours=$(latency)
row stream_latency_ms "$peer" "$ours" 1000000
