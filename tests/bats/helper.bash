# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions for all tests: the command on one remote, its counters, streams in the background, waiting with a timeout.
# Each test file sources it. hyptrace, workload and the modules must be installed.

bats_require_minimum_version 1.5.0

# Before each command, bats takes down the stack, for the message if it fails: under emulation that takes longer than most
# commands. Take it down where a command has failed instead.
bats_setup=$(declare -f bats_setup_tracing)
eval "${bats_setup/bats_setup_tracing/bats_setup_all}"
bats_setup_tracing()
{
	bats_setup_all
	trap - DEBUG
}

bats_error_trap()
{
	bats_check_status_from_trap
	bats_capture_stack_trace
	# shellcheck disable=SC2034 # bats reads it
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# The remote to test. run.sh runs the tests of remote/ once for each remote.
: "${REMOTE:=test}"

# The longest wait in seconds. Only a failing test waits so long.
patience=60

# The remotes of this machine: without a hypervisor to trace, HYPTRACE_REFUSED is set.
remotes=(test)
[[ -n ${HYPTRACE_REFUSED:-} ]] || remotes+=(hypervisor)
# A kernel without hooks may have a tracer of its own at EL2.
[[ $REMOTE != kernel ]] || remotes+=(kernel)

# Load the modules and reset all remotes.
fresh()
{
	local remote
	for remote in "${remotes[@]}"; do
		[[ -d /sys/module/hyptrace_${remote/hypervisor/pkvm} ]] || modprobe "hyptrace_${remote/hypervisor/pkvm}"
		hyptrace -r "$remote" reset
	done
}

# Kill the background jobs of a test, and bring all CPUs online.
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

# ht ARGUMENT...: run hyptrace on the remote to test.
ht()
{
	timeout "$patience" hyptrace -r "$REMOTE" "$@"
}

# needs WHAT: skip the test unless the remote has this. Mainline's tracer at EL2 has no filters, triggers and counters, its
# rings only overwrite, and keep their size while they are loaded.
needs()
{
	[[ $REMOTE != kernel ]] || skip "the remote \"kernel\" has no $1"
}

# within SECONDS COMMAND...: repeat the command until it succeeds, fail after that time.
within()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		if ((SECONDS > end)); then
			echo "did not succeed in time: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# same A B [WHAT]: if they differ, print both and fail.
same()
{
	[[ $1 == "$2" ]] || {
		printf '%s: "%s" is not "%s"\n' "${3:-here}" "$1" "$2" >&2
		return 1
	}
}

# is_android: the kernel is one of Android's: it has the tracer of their EL2.
is_android()
{
	[[ -d /sys/kernel/tracing/hypervisor || -d /sys/kernel/tracing/hyp ]]
}

# says TEXT: succeed if the text is in the output of "run", stderr included.
says()
{
	[[ $output$'\n'${stderr:-} == *"$1"* ]] || {
		printf '"%s" is not in the output: %s\n' "$1" "$output ${stderr:-}" >&2
		return 1
	}
}

# of FILTER: print what the jq filter finds in the remote's status.
of()
{
	ht -j status | jq -r ".[0] | $1"
}

# total COUNTER: print the sum of the counter over all CPUs.
total()
{
	of "[.cpus[].$1] | add"
}

# counts_add_up: succeed if written = read + lost + unread on each CPU.
counts_add_up()
{
	of 'all(.cpus[]; .written == .read + .lost + .unread and .lost == .overrun + .dropped)' | grep -qx true ||
		{ of '.cpus[]' >&2 && return 1; }
}

# enabled [REMOTE]: print the names of the enabled events in one line.
enabled()
{
	hyptrace -r "${1:-$REMOTE}" -j list | jq -r '[.[0].events[] | select(.enabled) | .name] | join(" ")'
}

cpu_ids()
{
	of '.cpus[].cpu'
}

# A sub-buffer is as large as a page of the running kernel, so tests count in pages.
page_size()
{
	of .subbuf_size
}

# pages N: print the bytes of N pages.
pages()
{
	echo $(($1 * $(page_size)))
}

# fill N: print the number of marks that fill N sub-buffers. A mark takes 20 bytes, and 24 in the kernel's own format.
fill()
{
	local bytes=20
	[[ $REMOTE != kernel ]] || bytes=24
	echo $(($1 * (($(page_size) - 16) / bytes)))
}

# tracing_marks [LOAD-OPTION...]: load the rings and start tracing, so that "mark" works.
tracing_marks()
{
	ht load "$@"
	ht enable selftest
	ht start
}

# ids: read the text output of "stream", print the number of each mark on a line of its own.
ids()
{
	sed -n 's/.*: selftest: id=\([0-9]*\)$/\1/p'
}

# numbered FIRST LAST: succeed if stdin has all numbers from FIRST to LAST, in order.
numbered()
{
	diff <(seq "$1" "$2") - | head -n 20 >&2
	same "${PIPESTATUS[0]}" 0 "numbers from $1 to $2"
}

# drain [OPTION...]: stream the events that are unread now.
drain()
{
	local unread
	unread=$(total unread)
	((unread)) || return 0
	ht stream --count "$unread" "$@"
}

# is_consumer PID: succeed if the process reads a ring of the remote.
is_consumer()
{
	of "any(.cpus[]; .consumer == $1)" | grep -qx true
}

is_tracing()
{
	same "$(of .state)" tracing 2>/dev/null
}

# stream_begin [OPTION...]: start a stream in the background. Sets $out and $err to the files of its output, $stream to
# its pid.
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

# ended PID: wait until the process ends, with a timeout. Sets $code to its exit code.
ended()
{
	within "$patience" is_gone "$1"
	code=0
	wait "$1" || code=$?
}

# stream_end [SIGNAL]: end the stream with the signal, succeed if its exit code is 0.
stream_end()
{
	kill -"${1:-INT}" "$stream"
	ended "$stream"
	same "$code" 0 "exit code of stream"
}

# has_lines N FILE: succeed if the file has at least N lines.
has_lines()
{
	(($(wc -l <"$2") >= $1))
}

# none PATTERN FILE: succeed if no line matches. (In bats a failed "! grep" does not fail the test.)
none()
{
	if grep -E "$@"; then
		return 1
	fi
}

# in_time_order FILE: succeed if the times of its lines never decrease.
in_time_order()
{
	sed -n 's/^\[[0-9]*\] *\([0-9]*\)\.\([0-9]*\): .*/\1\2/p' "$1" | sort -n -c
}

# last_cpu: print the number of the last CPU, which tests may take offline.
last_cpu()
{
	of '.cpus | last | .cpu'
}

# cpu_set CPU 0|1: take a CPU offline or online, if the kernel can: one in user mode cannot, and does not run hotplug.bats.
cpu_set()
{
	local file=/sys/devices/system/cpu/cpu$1/online
	[[ ! -e $file ]] || echo "$2" >"$file"
}

cpus_on()
{
	local file
	for file in /sys/devices/system/cpu/cpu*/online; do
		[[ ! -e $file || $(<"$file") == 1 ]] || echo 1 >"$file"
	done
}

# boot_ms: print CLOCK_BOOTTIME in milliseconds, with a resolution of 10 ms.
boot_ms()
{
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}
