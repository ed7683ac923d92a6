# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What the tests share: one remote to work on, its counts, streams in the background, waiting with a bound. To be
# sourced by each file of tests; hyptrace, workload and the modules are expected to be installed.

bats_require_minimum_version 1.5.0

# run.sh runs the tests of remote/ once for each remote.
: "${REMOTE:=test}"

# Longest wait for anything; reached only by what fails.
patience=60

# The event lists and rings of all remotes as they are registered.
fresh()
{
	[[ -d /sys/module/hyptrace_pkvm && -d /sys/module/hyptrace_test ]] || modprobe -a hyptrace_pkvm hyptrace_test
	hyptrace -r hypervisor reset
	hyptrace -r test reset
}

# End what a test has left behind, whatever it was.
tidy()
{
	local job
	for job in $(jobs -p); do
		kill -KILL "$job" 2>/dev/null || true
	done
	wait 2>/dev/null || true
	cpus_on
}

setup()
{
	fresh
}

teardown()
{
	tidy
}

# The command on the remote that is being tested.
ht()
{
	timeout "$patience" hyptrace -r "$REMOTE" "$@"
}

# within SECONDS COMMAND...: until it succeeds.
within()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		if ((SECONDS > end)); then
			echo "never came true: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# same A B [WHAT]: fail with both, if they differ.
same()
{
	[[ $1 == "$2" ]] || {
		printf '%s: "%s" is not "%s"\n' "${3:-here}" "$1" "$2" >&2
		return 1
	}
}

# says TEXT: the output of "run", errors included, has it.
says()
{
	[[ $output$'\n'${stderr:-} == *"$1"* ]] || {
		printf 'nothing says "%s": %s\n' "$1" "$output ${stderr:-}" >&2
		return 1
	}
}

# of FILTER: what jq finds in the remote's status.
of()
{
	ht -j status | jq -r ".[0] | $1"
}

# total COUNTER: summed up over the CPUs.
total()
{
	of "[.cpus[].$1] | add"
}

# counts_add_up: written = read + lost + unread on each CPU.
counts_add_up()
{
	of 'all(.cpus[]; .written == .read + .lost + .unread and .lost == .overrun + .dropped)' | grep -qx true ||
		{ of '.cpus[]' >&2 && return 1; }
}

# enabled [REMOTE]: names of the enabled events, in one line.
enabled()
{
	hyptrace -r "${1:-$REMOTE}" -j list | jq -r '[.[0].events[] | select(.enabled) | .name] | join(" ")'
}

cpu_ids()
{
	of '.cpus[].cpu'
}

# Sub-buffers are as large as the kernel's pages, so tests count in pages.
page_size()
{
	of .subbuf_size
}

# pages N: bytes of so many pages
pages()
{
	echo $(($1 * $(page_size)))
}

# fill N: marks that fill so many sub-buffers; a record takes 20 bytes.
fill()
{
	echo $(($1 * (($(page_size) - 16) / 20)))
}

# tracing_marks [LOAD-OPTION...]: ready for "mark".
tracing_marks()
{
	ht load "$@"
	ht enable selftest
	ht start
}

# ids: of the marks in the text that "stream" has printed, one a line.
ids()
{
	sed -n 's/.*: selftest: id=\([0-9]*\)$/\1/p'
}

# numbered FIRST LAST: stdin is all these numbers, in order.
numbered()
{
	diff <(seq "$1" "$2") - | head -n 20 >&2
	same "${PIPESTATUS[0]}" 0 "numbers from $1 to $2"
}

# drain [OPTION...]: print all that is unread, and no more.
drain()
{
	local unread
	unread=$(total unread)
	((unread)) || return 0
	ht stream --count "$unread" "$@"
}

# is_consumer PID: it reads a ring of the remote.
is_consumer()
{
	of "any(.cpus[]; .consumer == $1)" | grep -qx true
}

is_tracing()
{
	same "$(of .state)" tracing 2>/dev/null
}

# stream_begin [OPTION...]: in the background, what it prints in $out and $err, its process in $stream.
stream_begin()
{
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	hyptrace -r "$REMOTE" stream "$@" >"$out" 2>"$err" 3>&- &
	stream=$!
	within "$patience" is_consumer "$stream"
	within "$patience" is_tracing
}

is_gone()
{
	! kill -0 "$1" 2>/dev/null
}

# ended PID: wait for it, with a bound; $code is its exit code.
ended()
{
	within "$patience" is_gone "$1"
	code=0
	wait "$1" || code=$?
}

# stream_end [SIGNAL]: and its exit code is to be 0.
stream_end()
{
	kill -"${1:-INT}" "$stream"
	ended "$stream"
	same "$code" 0 "exit code of stream"
}

# has_lines N FILE
has_lines()
{
	(($(wc -l <"$2") >= $1))
}

# none PATTERN FILE: no line is like this. ("! grep" would not fail a test.)
none()
{
	if grep -E "$@"; then
		return 1
	fi
}

# in_time_order FILE: the times of its lines never go back.
in_time_order()
{
	sed -n 's/^\[[0-9]*\] *\([0-9]*\)\.\([0-9]*\): .*/\1\2/p' "$1" | sort -n -c
}

# last_cpu: the one that tests may take off.
last_cpu()
{
	of '.cpus | last | .cpu'
}

# cpu_set CPU 0|1
cpu_set()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

cpus_on()
{
	local file
	for file in /sys/devices/system/cpu/cpu*/online; do
		[[ ! -e $file || $(<"$file") == 1 ]] || echo 1 >"$file"
	done
}

# boot_ms: CLOCK_BOOTTIME in milliseconds (to 10).
boot_ms()
{
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}
