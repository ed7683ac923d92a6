#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine with --icount: count the instructions that reading costs, and the bytes of a record.
# read-inside.sh FOLDER, which has the module and the program "inside". Prints lines "NAME PEER OURS" like
# el2-inside.sh.

set -euo pipefail
shopt -s inherit_errexit

bench=/sys/module/hyptrace_bench/parameters
mainline=/sys/kernel/tracing/remotes/hypervisor
inside=$1/inside
events=100000
singles=1000
subbufs=200
size_mib=16

# row NAME PEER OURS BY: print the line NAME, with both figures divided by BY
row()
{
	awk -v name="$1" -v peer="$2" -v ours="$3" -v by="$4" 'BEGIN {
		printf "%s %s %.2f\n", name, peer ? sprintf("%.2f", peer / by) : "-", ours / by }'
}

# least COMMAND...: print the smallest figure of five runs, after a first run that touches all memory
least()
{
	"$@" >/dev/null
	for _ in 1 2 3 4 5; do
		"$@"
	done | sort -n | head -n 1
}

# difference LARGE SMALL COMMAND...: print how much more the command takes for LARGE than for SMALL
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

# stream N: print what hyptrace stream takes in all for N recorded events, into a file whose pages exist
stream()
{
	echo "$1" >"$bench/ours"
	# Remove the lines of the last run, but keep the pages of the file.
	[[ ! -s /tmp/stream ]] || head -c "$(stat -c %s /tmp/stream)" /dev/zero 1<>/tmp/stream
	# shellcheck disable=SC2016 # the shell inside expands it
	"$inside" run sh -c 'exec hyptrace stream --cpu 0 --count "$1" 1<>/tmp/stream' - "$1"
	(($(wc -l </tmp/stream) >= $1))
}

# peer_stream N: print what mainline takes for N recorded events
peer_stream()
{
	enable_peer selftest
	echo "$1" >"$bench/mainline"
	disable_peer selftest
	"$inside" lines "$1" "$mainline/trace_pipe"
}

# record N: print what hyptrace record takes in all for a ring that holds N hyp_enter and N hyp_exit records, which it
# writes to a new file: to replace the last one would also free that
record()
{
	hyptrace clear
	hyptrace enable hyp_enter hyp_exit
	echo "$1" >"$bench/refused"
	hyptrace disable all
	rm -f /tmp/recorded
	"$inside" run hyptrace record -q -C 0 -e selftest -o /tmp/recorded --duration 1ms
}

# lost_at_rate N: print how many events a recording of 2 seconds loses, with the default ring, if each CPU writes N in a
# second
lost_at_rate()
{
	modprobe hyptrace_test
	hyptrace -r test set --rate "$1"
	hyptrace -r test record -j -q -e selftest -o /tmp/recorded --duration 2s >/tmp/summary
	hyptrace -r test set --rate 0
	awk -F '[:,]' '{
		for (i = 1; i < NF; i++)
			if ($i == "\"events\"" && !events)
				events = $(i + 1)
			else if ($i == "\"lost\"" && lost == "")
				lost = $(i + 1)
		if (events < n * 1.9 || events > n * 2.1)
			exit 1
		print lost
	}' n="$1" /tmp/summary
}

# drain REMOTE HOW: print what it takes to read $subbufs sub-buffers of hyp_enter and hyp_exit records
drain()
{
	hyptrace -r "$1" clear
	hyptrace -r "$1" enable hyp_enter hyp_exit
	echo "$events" >"$bench/refused"
	hyptrace -r "$1" disable all
	"$inside" "$2" "$subbufs" /tmp/drained "$1"
}

# top N: print what hyptrace top takes for N intervals of the default length, on a terminal of 80x24
top()
{
	# shellcheck disable=SC2016 # the shell inside expands it
	TERM=xterm "$inside" run sh -c 'exec script -qec "hyptrace top -n $1" /dev/null </dev/null' - "$1"
}

latency()
{
	local stream
	mkfifo /tmp/lines
	hyptrace clear
	hyptrace stream --cpu 0 >/tmp/lines &
	stream=$!
	"$inside" latency "$singles" "$bench/ours" /tmp/lines
	# Nobody reads the pipe any more, so the stream may have ended already.
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

# load MIB: print what it takes to load and unload rings of that size
load()
{
	"$inside" run sh -c "hyptrace load --size $1M && hyptrace unload"
}

# Mainline loads the buffers with their first use, and unloads them with the last.
peer_load()
{
	echo $(($1 << 10)) >"$mainline/buffer_size_kb"
	"$inside" run sh -c "cd $mainline && echo 1 >tracing_on && echo 0 >tracing_on && echo >trace"
}

# capacity KIB: print how many hyp_enter events a ring of that size holds when its last sub-buffer is full
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
	# Reading blocks once everything has been read, so mark the end with a selftest event.
	enable_peer selftest
	echo 1 >"$bench/mainline"
	disable_peer selftest
	echo 0 >"$mainline/tracing_on"
	"$inside" until selftest "$mainline/trace_pipe"
	echo >"$mainline/trace"
}

insmod "$1/hyptrace_bench.ko"
modprobe hyptrace_pkvm

# The difference removes the cost that does not depend on the size. Mainline refuses larger sizes.
ours=$(difference 9 1 load)
peer=0
[[ ! -d $mainline ]] || peer=$(difference 9 1 peer_load)
row load_us_per_mib "$peer" "$ours" 8000

# The larger ring has 64 sub-buffers more. All but 16 bytes of each hold events.
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
# The difference removes the cost of the stream's start and end.
peer=0
[[ ! -d $mainline ]] || peer=$(difference "$events" $((events / 2)) peer_stream)
ours=$(difference "$events" $((events / 2)) stream)
row stream_insns_per_event "$peer" "$ours" $((events / 2))

ours=$(least drain hypervisor read)
row read_insns_per_event 0 "$ours" $((subbufs * 340))
ours=$(least drain hypervisor splice)
row drain_insns_per_event 0 "$ours" $((subbufs * 340))
# Two events for each hypercall. The cost of a start and an end varies by some ten thousand instructions.
ours=$(difference $((6 * events)) "$events" record)
row record_insns_per_event 0 "$ours" $((10 * events))
peer=$(peer_latency)
hyptrace enable selftest
ours=$(latency)
row stream_latency_ms "$peer" "$ours" 1000000
ours=$(lost_at_rate 1000000)
row record_lost_at_1m_per_s 0 "$ours" 1
# ns of 10 s, in percent
ours=$(difference 11 1 top)
row top_cpu_percent 0 "$ours" 100000000

# Mainline's own tracer as the remote "kernel": its records take 16 bytes. tracefs must not have it.
if modinfo hyptrace_kernel >/dev/null 2>&1; then
	echo 0 >"$mainline/tracing_on"
	echo >"$mainline/trace"
	modprobe hyptrace_kernel
	hyptrace -r kernel load --size ${size_mib}M
	hyptrace -r kernel start
	ours=$(least drain kernel splice)
	row drain_kernel_insns_per_event 0 "$ours" $((subbufs * 255))
fi
