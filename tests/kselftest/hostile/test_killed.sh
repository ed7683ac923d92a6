#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # the shell that runs a command below expands its variables
# In the machine: the command on the remote "test" when it is killed at any moment, when the disk is full, and when its files
# may not grow. HYPTRACE_HOSTILE_KILLS (20) is how often it is killed, and HYPTRACE_HOSTILE_SEED (1) chooses what it does then.
#
# Afterwards the remote is as before, nobody holds anything, and each file can be read up to where it was cut. The next
# recording says what was left. A full disk ends with a sentence that names the file, and with an exit code.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

kills=${HYPTRACE_HOSTILE_KILLS:-20}
RANDOM=$((${HYPTRACE_HOSTILE_SEED:-1} % 32768))
# Only a test that fails waits so long.
patience=20
work=$(mktemp -d)
# IN, OUT and DISK are in the commands below.
export IN=$work/in.dat OUT DISK=$work/disk
states=(fresh tracing)
mkdir "$DISK" "$work/out"
trap 'umount -l "$DISK" 2>/dev/null; rm -rf "$work"' EXIT

# Those that write until they are ended, and much.
floods=(
	'record -q -o "$OUT.dat"'
	'record -q -z -o "$OUT.dat"'
	'record -q -F "id != 3" -o "$OUT.dat"'
	'stream -q >"$OUT"'
	'stream -q -j >"$OUT"'
	'stream -q --csv >"$OUT"'
	'export -q -f perfetto -o "$OUT"'
	'export -q -f ctf -o "$OUT"'
	'export -q -f chrome -o "$OUT"'
	'export -q -f jsonl -o "$OUT"'
	'export -q -f csv -o "$OUT"'
	'catch -q -n 100000 "selftest && id >= 0" >"$OUT"'
)

# Those that write less, or are soon done.
writers=(
	'record -q --limit 96K --rotate 3 -o "$OUT.dat"'
	'record -q --duration 300ms -o - >"$OUT.dat"'
	'record -q --snapshot -o "$OUT.dat"'
	'record -q -z --snapshot -o "$OUT.dat"'
	'record -q --size 256K -o "$OUT.dat" -- sleep 0.1'
	'record -q --host sched:sched_switch --duration 100ms -o "$OUT.dat"'
	'catch -q -n 3 -o "$OUT.dat" "selftest && id > 100"'
	'strace -c --duration 100ms >"$OUT"'
	'stat -q --exact -d 20ms -n 5 >"$OUT"'
	'stat -q --openmetrics >"$OUT"'
	'top -b -d 100ms -n 3 >"$OUT"'
	'show -q >"$OUT"'
	'show -q --csv >"$OUT"'
	'report -q "$IN" >"$OUT"'
	'report -q -j "$IN" >"$OUT"'
	'export -q -f perfetto -o "$OUT" "$IN"'
	'export -q -f ctf -o "$OUT" "$IN"'
	'export -q -f chrome -o "$OUT" "$IN"'
	'export -q -f jsonl -o "$OUT" "$IN"'
	'export -q -f csv -o "$OUT" "$IN"'
	'dump --subbufs "$IN" >"$OUT"'
	'stat -q -i "$IN" >"$OUT"'
	'list -v >"$OUT"'
	'status >"$OUT"'
)

# This one goes on when it cannot write.
box='catch -q -n 3 --rate 600/min --keep 2 --snapshot="$OUT" "selftest && id > 100"'

# Those that change the remote, or only look: they leave it in the one state or in the other.
changers=(
	'monitor'
	'wait --timeout 100ms'
	'enable selftest hyp_enter'
	'enable selftest -F "id < 9" --stop'
	'disable all'
	'start'
	'stop'
	'load --size 1M'
	'unload'
	'set --size 2M'
	'clear'
	'mark 1 --count 100000'
	'reset'
)

# command_of VERB: print it with its remote, unless it reads a file
command_of()
{
	[[ $1 == *'"$IN"'* ]] || printf -- '-r test '
	printf '%s' "$1"
}

ht()
{
	timeout "$patience" hyptrace -r test "$@"
}

# fresh: events happen all the time, on each CPU.
fresh()
{
	ht reset && ht set --rate 20000
}

# tracing: the rings are loaded, and somebody has enabled the event before.
tracing()
{
	fresh && ht enable selftest && ht start
}

# state: print who reads or holds anything of the remote; then, on a line of its own, what a command that was killed must leave as
# it was.
state()
{
	{ hyptrace -r test -j list && hyptrace -r test -j status; } | jq -sc '.[0][0].events as $events | .[1][0] as $remote |
		[$remote.readers, ($events[] | .holder // empty)],
		[($events[] | [.name, .enabled, .filter, .trigger, .holder]), ($remote | .state, .readers, .size_requested, .mode)]'
}

# is_as STATE: nobody reads or holds anything, and what is left of the host's tracing is nothing. The remote has that state, unless
# it is empty.
is_as()
{
	now=$(state)
	[[ $now == '[0]'$'\n'* && ${now#*$'\n'} == "${1:-"${now#*$'\n'}"}" && -z $(compgen -G '/sys/kernel/tracing/instances/*') ]]
}

soon()
{
	local end=$((SECONDS + patience))
	until "$@"; do
		((SECONDS < end)) || return
		sleep 0.02
	done
}

# readable FILE: it can be read, up to where it was cut. Nothing is in it if the command was killed before its head was written.
readable()
{
	local code=0
	hyptrace report -q "$1" >"$work/report" 2>"$work/said" || code=$?
	((code == 0)) && return
	((code == 2)) && grep -qE '^hyptrace: .*the file was cut' "$work/said" && return
	((code == 2)) && (($(stat -c %s "$1") < 4096)) && return
	echo "report of ${1##*/}, $(stat -c %s "$1") bytes, ended with $code: $(head -c 300 "$work/said")"
	return 1
}

# files_are_good COMMAND: look at all that a command has left in the folder of its output.
files_are_good()
{
	readable_all "$work/out" || return
	[[ -e $OUT.dat.part && $1 == record* ]] || return 0
	# The next recording says what was left, and does not touch it.
	if ht record -q --duration 10ms -o "$OUT.dat" 2>"$work/said"; then
		echo "the next recording ends with 0"
		return 1
	fi
	grep -q 'not finished' "$work/said" || { cat "$work/said" && return 1; }
	find "$work/out" -name '*.part*' -delete
	ht record -q --duration 10ms -o "$OUT.dat"
}

# killed_after PID MILLISECONDS: kill it then, and wait for its end.
killed_after()
{
	sleep "$(printf '0.%03d' "$2")"
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# readable_all FOLDER
readable_all()
{
	local file
	while IFS= read -r file; do
		readable "$file" || return
	done < <(find "$1" -name '*.dat*' -type f ! -name '*.part.*')
}

# cleaned_up FOLDER: a command that has not been killed leaves no temporary file.
cleaned_up()
{
	readable_all "$1" || return
	[[ -z $(find "$1" -name 'file.??????') ]] || { ls -l "$1" && return 1; }
}

# has_host_buffer PID: the process has made the buffer of the host's events, or has ended.
has_host_buffer()
{
	[[ -n $(compgen -G '/sys/kernel/tracing/instances/*') ]] || ! kill -0 "$1" 2>/dev/null
}

# kill_one COMMAND STATE MILLISECONDS KEEPS: kill the command in that state of the remote after that time. With an empty KEEPS, the
# remote must have the state of before.
kill_one()
{
	local before
	"$2" && before=$(state) || return
	before=${before#*$'\n'}
	rm -rf "$work/out"/*
	bash -c "exec hyptrace $(command_of "$1")" >/dev/null 2>"$work/stderr" &
	# If a process is killed while the kernel makes such a buffer for it, the kernel warns, and may hang (Linux 7.3).
	[[ $1 != *' --host '* ]] || soon has_host_buffer $!
	killed_after $! "$3"
	[[ -z $4 ]] || before=''
	# The command gives the rings their old size, not the kernel: hyptrace-record(1).
	[[ $1 != *' --size '* ]] || { soon is_as '' && ht set --size 1M; } || return
	soon is_as "$before" || { printf 'it still holds something, or was:\n%s\nis:\n%s\n' "$before" "$now" && return 1; }
	files_are_good "$1"
}

kill_all()
{
	local number commands=("${floods[@]}" "${writers[@]}" "$box" "${changers[@]}")
	local pick ms state keeps
	OUT=$work/out/file
	for ((number = 0; number < kills; number++)); do
		pick=$((RANDOM % ${#commands[@]})) ms=$((RANDOM % 30 * (RANDOM % 8 + 1)))
		state=${states[RANDOM % 2]} keeps=''
		((pick <= ${#floods[@]} + ${#writers[@]})) || keeps=y
		if ! kill_one "${commands[pick]}" "$state" "$ms" "$keeps"; then
			echo "${commands[pick]}, $state, killed after $ms ms"
			return 1
		fi
	done
}

# disk KILOBYTES: make an empty disk of that size; 0: a full one
disk()
{
	umount -l "$DISK" 2>/dev/null
	mount -t tmpfs -o "size=$(($1 ? $1 : 4))K" none "$DISK" || return
	(($1)) || head -c 4096 /dev/zero >"$DISK/fill"
}

# says_why COMMAND REASON: a command has failed, and its sentence names the file, or the output of the shell.
says_why()
{
	local name=$OUT
	[[ $1 != *'>"$OUT'* ]] || name='the output'
	((code == 1 || code == 2)) && grep -q "^hyptrace: .*$name.*$2" "$work/stderr" && return
	echo "it ended with $code and said:"
	cat "$work/stderr"
	return 1
}

# fails_on_full_disk COMMAND KILOBYTES
fails_on_full_disk()
{
	code=0
	disk "$2" && tracing || return
	timeout "$patience" bash -c "exec hyptrace $(command_of "$1")" >/dev/null 2>"$work/stderr" || code=$?
	says_why "$1" 'No space left on device' && soon is_as '' && cleaned_up "$DISK"
}

# fails_at_limit COMMAND KILOBYTES
fails_at_limit()
{
	code=0
	rm -rf "$work/out"/*
	tracing || return
	timeout "$patience" bash -c "ulimit -f $2; exec hyptrace $(command_of "$1")" >/dev/null 2>"$work/stderr" || code=$?
	says_why "$1" 'File too large' && soon is_as '' && cleaned_up "$work/out"
}

# each FUNCTION KILOBYTES COMMAND...: 0 KILOBYTES are 0, others the least and the range of a number at random
each()
{
	local function=$1 least=$2 range=$3 command size bad=0
	shift 3
	for command; do
		size=$((least + (range ? RANDOM % range : 0)))
		if ! "$function" "$command" "$size"; then
			echo "$command, $size KiB"
			bad=1
		fi
		echo "$command" >>"$work/tried"
	done
	return "$bad"
}

ended_full()
{
	OUT=$DISK/file
	each fails_on_full_disk 0 0 "${floods[@]}" "${writers[@]}"
}

ended_nearly_full()
{
	OUT=$DISK/file
	each fails_on_full_disk 8 200 "${floods[@]}"
}

ended_at_limit()
{
	OUT=$work/out/file
	each fails_at_limit 1 200 "${floods[@]}"
}

# All is as if nothing had happened.
works()
{
	rm -rf "$work/out"/*
	fresh && ht record -q --duration 200ms -e selftest -o "$work/out/last.dat" &&
		(($(hyptrace report -q "$work/out/last.dat" | grep -c selftest) > 1000)) && ht reset &&
		[[ $(ht -j status | jq -r '.[0].state') == unloaded ]]
}

# tried WHAT: print how many were tried since the last time. A check is a process of its own.
tried()
{
	echo "# tried: $(wc -l <"$work/tried") $1"
	: >"$work/tried"
}

plan 6
check "a recording to read from" eval 'modprobe hyptrace_test && tracing && ht record -q --duration 300ms -o "$IN"'
check "killed at any moment, it leaves nothing but what can be read" kill_all
echo "# tried: $kills kills"
check "on a full disk it says so" ended_full
check "on a disk that gets full it says so" ended_nearly_full
tried "full disks"
check "at the limit of a file's size it says so" ended_at_limit
tried "limits of size"
check "the command works as before" works
