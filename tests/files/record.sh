#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test "hyptrace record", and what stream and show say, on the host, with the driver of fake_driver.c: record.sh [FOLDER], which is where to build.
# trace-cmd reads the files, if it is there. Prints a line for each test; the last is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(realpath -m "${1:-$here/build}")
make -s -C "$here" O="$bin" >/dev/null || exit
hyptrace=$bin/hyptrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

# same A B WHAT
same()
{
	[[ $1 == "$2" ]] && return
	echo "# $3: \"$1\" is not \"$2\""
	return 1
}

# record [NAME=VALUE...] -- ARGUMENT...: run the verb; set $code, $said
record()
{
	local settings=()
	while [[ $1 != -- ]]; do
		settings+=("$1")
		shift
	done
	shift
	code=0
	said=$(env "${settings[@]}" timeout 60 "$hyptrace" record "$@" 2>&1) || code=$?
}

# counts: the sum of the counts in the summary: "RECORDED LOST"
counts()
{
	sed -nE 's/^hyptrace: ([0-9]+) events? recorded(, [0-9]+ filtered)?, ([0-9]+)( or more)? lost; .*/\1 \3/p' <<<"$said"
}

# written FILE: the counts that the file has of all CPUs: "EVENTS LOST"
written()
{
	LC_ALL=C grep -aE '^cpu [0-9]+ 1 ' "$1" | awk '{ events += $4; lost += $5 } END { print events + 0, lost + 0 }'
}

# lines FILE: how many events trace-cmd prints
lines()
{
	trace-cmd report "$1" 2>/dev/null | grep -c '\[0[0-9][0-9]\]'
}

# dropped FILE: how many lost events trace-cmd prints
dropped()
{
	trace-cmd report "$1" 2>/dev/null | sed -n 's/^CPU:[0-9]* \[\([0-9]*\) EVENTS DROPPED\]$/\1/p' |
		awk '{ n += $1 } END { print n + 0 }'
}

# without_last_losses: leave out losses of a CPU that no event of it follows. Only the description of the file has them,
# which other programs do not read.
without_last_losses()
{
	tac | awk '/: (host )?LOST / && !seen[$1, $3 == "host"] { next } { seen[$1, $3 == "host"] = 1; print }' | tac
}

# reported FILE [between]: how many lost events "report" prints; "between": without those after the last event of a CPU
reported()
{
	"$hyptrace" report -q "$1" 2>/dev/null | if [[ ${2-} == between ]]; then without_last_losses; else cat; fi | sed -n 's/.*: LOST \([0-9]*\) events\{0,1\}$/\1/p' |
		awk '{ n += $1 } END { print n + 0 }'
}

# marks FILE [damaged]: print how many marks of each CPU "report" prints; fail if one is missing in between, or if the file
# is damaged and need not be
marks()
{
	"$hyptrace" report -q "$1" >lines 2>/dev/null || [[ $? == 2 && ${2-} == damaged ]] || return
	awk '
		/selftest/ { cpu = $1; sub(/.*id=/, ""); if ($0 != n[cpu]++) exit 1 }
		END { for (cpu in n) print cpu, n[cpu] }' lines | sort
}

# agrees FILE: the summary, the counts in the file, and "report" agree; and trace-cmd, as far as it can know.
agrees()
{
	same "$(written "$1")" "$(counts)" "counts in $1" || return
	same "$(reported "$1")" "$(counts | cut -d ' ' -f 2)" "losses that are reported of $1" || return
	command -v trace-cmd >/dev/null || return 0
	same "$(lines "$1")" "$(counts | cut -d ' ' -f 1)" "lines of $1" || return
	same "$(dropped "$1")" "$(reported "$1" between)" "losses of $1"
}

test_all_events_are_recorded()
{
	for option in -q -z; do
		record FAKE_WAITS=20 FAKE_CPUS=3 -- $option
		same "$code" 0 "code" || return
		record FAKE_WAITS=20 FAKE_CPUS=3 -- ${option#-q}
		agrees hyptrace.dat || return
		same "$(counts | cut -d ' ' -f 2)" 0 lost || return
	done
}

test_counts_are_exact_with_losses()
{
	for discard in 0 1; do
		for option in '' -z; do
			# shellcheck disable=SC2086 # no option, or one
			record FAKE_WAITS=20 FAKE_STEP=20000 FAKE_MARKS=1 FAKE_DISCARD=$discard -- $option
			agrees hyptrace.dat || return
			same "$(counts | awk '{ print $1 + $2, ($2 > 0) }')" "800000 1" "events" || return
		done
	done
}

test_snapshot()
{
	record FAKE_BEFORE=5000 -- --snapshot
	same "$code" 0 code || return
	agrees hyptrace.dat || return
	(($(counts | cut -d ' ' -f 1) >= 10000)) || return
	for discard in 0 1; do
		for option in '' -z; do
			# shellcheck disable=SC2086 # no option, or one
			record FAKE_BEFORE=100000 FAKE_MARKS=1 FAKE_DISCARD=$discard -- --snapshot $option
			agrees hyptrace.dat || return
			same "$(counts | awk '{ print $1 + $2, ($2 > 0) }')" "200000 1" "events" || return
		done
	done
}

test_exit_code_of_the_command()
{
	record -- -q -- sh -c 'exit 7'
	same "$code" 7 code || return
	# shellcheck disable=SC2016 # the shell inside expands it
	record -- -q -- sh -c 'kill -KILL $$'
	same "$code" 137 code || return
	rm hyptrace.dat
	record -- -q -- ./none
	same "$code $said" '2 hyptrace: cannot run "./none": No such file or directory' 'code' || return
	[[ ! -e hyptrace.dat && ! -e hyptrace.dat.part ]]
}

test_command_that_runs_on()
{
	local option note='hyptrace: the tracing has ended; waiting for "sh", which still runs (Ctrl-C ends it)'
	for option in --duration=10ms --limit=200K; do
		record FAKE_SLEEP=1000 -- "$option" -- sh -c 'sleep 0.5; exit 3'
		same "$code $(grep -cxF "$note" <<<"$said")" '3 1' "with $option" || return
	done
	record -- -- true
	[[ $said != *waiting* ]] || return
}

test_signal_ends_the_command()
{
	record FAKE_WAITS=5 -- -q -- sleep 100
	same "$code" 143 code && [[ -e hyptrace.dat ]]
}

test_filter_is_put_back()
{
	record FAKE_WAITS=3 FAKE_LOG=log -- -e 'hyp_e*' -F 'reason == hvc'
	same "$(paste -sd ' ' log)" \
		"hold hyp_enter enabled hold hyp_exit enabled hold 2 events and tracing hold 0 events release" log || return
	rm log
	record FAKE_WAITS=3 FAKE_LOG=log FAKE_ENABLED=0 -- --size 1M -- ./none
	same "$(paste -sd ' ' log)" "set hold 2 events and tracing set" log
}

test_limit()
{
	local size
	record FAKE_WAITS=100 FAKE_STEP=5000 -- --limit 1M
	same "$code" 0 code || return
	size=$(stat -c %s hyptrace.dat)
	((size <= 1048576 && size > 1040000)) || return
	agrees hyptrace.dat || return
	# each CPU has a chunk that is not compressed yet
	record FAKE_WAITS=200 FAKE_STEP=5000 FAKE_CPUS=8 -- -z --limit 1M
	size=$(stat -c %s hyptrace.dat)
	((size <= 1048576 + 262144 && size > 1000000)) || { echo "# compressed: $size bytes" && return 1; }
	agrees hyptrace.dat
}

test_rotation_loses_nothing()
{
	local option n last
	for option in '' -z; do
		rm -f hyptrace.dat*
		# shellcheck disable=SC2086 # no option, or one
		record FAKE_WAITS=200 FAKE_STEP=5000 FAKE_CPUS=1 FAKE_MARKS=1 -- $option --limit 1M --rotate 1000
		same "$code" 0 code || return
		[[ -e hyptrace.dat.2 && ! -e hyptrace.dat.next && ! -e hyptrace.dat.part ]] || return
		last=$(find . -name 'hyptrace.dat.*' | wc -l)
		for ((n = last; n; n--)); do
			written "hyptrace.dat.$n"
		done >sums
		written hyptrace.dat >>sums
		same "$(awk '{ events += $1; lost += $2 } END { print events, lost }' sums)" "1000000 0" "events of all files" || return
		command -v trace-cmd >/dev/null || continue
		for ((n = last; n; n--)); do
			trace-cmd report "hyptrace.dat.$n"
		done | sed -n 's/.*selftest: .*id=//p' >ids
		trace-cmd report hyptrace.dat | sed -n 's/.*selftest: .*id=//p' >>ids
		seq 0 999999 | cmp - ids || return
	done
	rm -f hyptrace.dat*
	record FAKE_WAITS=200 FAKE_STEP=5000 -- --limit 1M --rotate 3
	same "$(echo hyptrace.dat*)" "hyptrace.dat hyptrace.dat.1 hyptrace.dat.2" files
}

test_output_to_a_pipe()
{
	local code
	FAKE_WAITS=5 "$hyptrace" record -q -o - | cat >piped.dat
	record FAKE_WAITS=5 -- -o named.dat
	same "$(written piped.dat)" "$(counts)" counts || return
	cmp -s <(tail -c 100000 piped.dat) <(tail -c 100000 named.dat) || return
	code=0
	FAKE_WAITS=500 "$hyptrace" record -o - 2>err | true
	code=${PIPESTATUS[0]}
	same "$code $(<err)" "2 hyptrace: cannot write the output: Broken pipe" "closed pipe"
}

test_command_beside_the_output()
{
	"$hyptrace" record -q -o - -- sh -c 'echo mixed' 2>err | cat >piped.dat
	same "$(<err)" mixed "standard error" || return
	"$hyptrace" report -q piped.dat >/dev/null || return
	"$hyptrace" record -j -o /dev/stdout 2>err | cat >piped.dat
	same "${PIPESTATUS[0]} $(stat -c %s piped.dat)" "1 0" "code, bytes"
}

test_filter_and_size_are_put_back_before_the_end()
{
	FAKE_WAITS=3 FAKE_LOG=log FAKE_ENABLED=0 "$hyptrace" record -q -e 'hyp_e*' -F 'reason == hvc' --size 1M -o - 2>err | true
	same "$(tail -n 3 log | paste -sd ' ')" "hold 0 events release set" log
}

test_remote_that_goes_away()
{
	record FAKE_GONE=5 --
	same "$code" 2 code || return
	[[ $said == *'the remote "hypervisor" was unregistered: the recording ends'* ]] || return
	[[ -e hyptrace.dat && ! -e hyptrace.dat.part ]] || return
	! command -v trace-cmd >/dev/null || same "$(lines hyptrace.dat)" 8005 lines
}

test_clear_is_noticed()
{
	record FAKE_WAITS=10 FAKE_CLEAR=9 FAKE_SLEEP=100000 --
	[[ $said == *'hyptrace: the number of events is not known; '*' in hyptrace.dat'* ]] || return
	[[ $said == *'CPU 0: the ring was cleared: events that were not read yet are missing'* ]]
}

test_early_clear_is_noticed()
{
	record FAKE_WAITS=4 FAKE_CLEAR=2 --
	[[ $said == *'hyptrace: the number of events is not known; '*' in hyptrace.dat'* ]] || return
	[[ $said == *'CPU 0: the ring was cleared: events that were not read yet are missing'* ]]
}

# A clear before anything was recorded leaves the counters as they were.
test_clear_of_nothing_is_noticed()
{
	record FAKE_WAITS=4 FAKE_CLEAR=1 FAKE_BEFORE=0 --
	[[ $said == *'CPU 0: the ring was cleared: events that were not read yet are missing'* ]]
}

test_busy()
{
	record FAKE_BUSY=$$ -- -o busy.dat
	same "$code" 2 code || return
	[[ $said == *'cannot read CPU 1 of "hypervisor": process '"$$"' ('*') is reading it (stop it, or use "hyptrace record --snapshot")' ]] || return
	[[ ! -e busy.dat && ! -e busy.dat.part ]]
}

# wait_for FILE: wait up to ten seconds until it is there, or $pid has ended
wait_for()
{
	local i
	for ((i = 0; i < 1000; i++)); do
		[[ ! -e $1 ]] && kill -0 "$pid" || return 0
		sleep 0.01
	done
	return 1
}

# Kill a recording at a random moment, 50 times. Each whole sub-buffer that its files have is read, and no event before
# the last one is missing.
test_killed_recording_leaves_its_parts()
{
	local pid i option file parts=0
	for ((i = 0; i < 50; i++)); do
		rm -f hyptrace.dat*
		((i % 2)) && option=-z || option=-q
		FAKE_MARKS=1 FAKE_CPUS=3 FAKE_STEP=$((i % 3 ? 200 : 5)) FAKE_WAITS=$((i % 5 ? 100000 : 30)) \
			"$hyptrace" record -q $option &
		pid=$!
		((i < 25)) || wait_for hyptrace.dat.part
		sleep "0.$(printf %03d $((RANDOM % 120 + 5)))"
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		# it was not killed while nothing was there, nor when all was done
		file=hyptrace.dat
		if [[ -s $file.part ]]; then
			((++parts))
			file+=.part
			"$here/cut.py" "$hyptrace" "$file" || return
		fi
		# the last chunk may be there in part, which "report" says
		[[ ! -s $file ]] || marks "$file" damaged >/dev/null || return
	done 2>/dev/null
	((parts > 10)) || return
	rm -f hyptrace.dat*
	FAKE_CPUS=3 "$hyptrace" record -q &
	pid=$!
	wait_for hyptrace.dat.part || return
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	record FAKE_WAITS=1 --
	same "$code" 2 code || return
	[[ $said == *'a recording that was not finished is in hyptrace.dat.part'* ]] || return
	rm -f hyptrace.dat*
}

# crash CALL: kill a recording at each of its calls of CALL in turn. What was recorded before can be read.
crash()
{
	local nth file due=$'[000] 16000\n[001] 16000\n[002] 16000'
	for ((nth = 1; nth < 50; nth++)); do
		rm -f hyptrace.dat*
		code=0
		# shellcheck disable=SC2086 # no option, or one
		FAKE_MARKS=1 FAKE_CPUS=3 FAKE_STEP=4000 FAKE_WAITS=4 strace -f -o /dev/null -e "trace=$1" \
			-e "inject=$1:signal=KILL:when=$nth" "$hyptrace" record -q ${2-} 2>/dev/null || code=$?
		((code == 137)) || break
		# the first call may come before there is any data
		file=hyptrace.dat.part
		[[ -e $file ]] || file=hyptrace.dat
		[[ $1 != rename && $1 != fsync && $1 != fdatasync && $1 != copy_file_range && $1 != unlink ]] || same "$(marks "$file")" "$due" "$1 $nth" || return
		((nth == 1)) || marks "$file" >/dev/null || return
	done 2>/dev/null
	((nth > 1)) && same "$code" 0 "last $1"
}

test_killed_while_finishing()
{
	local call
	command -v strace >/dev/null || { echo "# strace is missing" && return 1; }
	# all calls that change files: between them, nothing changes
	for call in pwrite64 fdatasync copy_file_range unlink rename fsync; do
		crash "$call" || return
		crash "$call" -z || return
	done
}

test_full_disk()
{
	local size option
	unshare -rm true || { echo "# this needs user namespaces, or root" && return 1; }
	for size in 512K 1M 4M; do
		for option in '' -z; do
			# shellcheck disable=SC2016 # the shell inside expands it
			said=$(FAKE_CPUS=3 FAKE_STEP=3000 unshare -rm bash -c '
				mkdir -p disk && mount -t tmpfs -o "size=$1" none disk && cd disk || exit 1
				"$2" record $3
				echo "code $?"
				[[ ! -e hyptrace.dat.part ]] && cp hyptrace.dat ..' - "$size" "$hyptrace" "$option" 2>&1) || return
			[[ $said == *': No space left on device: the recording ends'* && $said == *'code 2'* ]] || return
			agrees hyptrace.dat || return
		done
	done
}

# on_disk SIZE [NAME=VALUE...] -- ARGUMENT...: run the verb on a disk of this size; set $said, and copy the files
on_disk()
{
	# shellcheck disable=SC2016 # the shell inside expands it
	said=$(env "${@:2}" unshare -rm bash -c '
		mkdir -p disk && mount -t tmpfs -o "size=$1" none disk && cd disk || exit 1
		shift
		"$@"
		echo "code $?"
		cp hyptrace.dat* ..' - "$1" "$hyptrace" record "${arguments[@]}" 2>&1)
}

# Nothing was consumed, so an incomplete file is of no use. What waits for the compression is written only at the end.
test_snapshot_on_a_full_disk()
{
	local size arguments=(--snapshot)
	for size in 100K 140K 180K; do
		[[ $size == 100K ]] || arguments=(-z --snapshot)
		on_disk "$size" FAKE_BEFORE=40000 FAKE_CPUS=2 FAKE_PAGES=256
		[[ $said == *'No space left on device'*'code 2'* && ! -e hyptrace.dat && ! -e hyptrace.dat.part ]] || return
	done
}

# says NOTE: the recording has said it once, and "report" and "stat" say it of the file, but not with -q
says()
{
	same "$(grep -cF "hyptrace: $1" <<<"$said")" 1 "said \"$1\"" || return
	for verb in report "stat -i"; do
		# shellcheck disable=SC2086 # words
		"$hyptrace" $verb hyptrace.dat 2>&1 >/dev/null | grep -qF "hyptrace: \"hyptrace.dat\": ${1% (use *}" || return
		# shellcheck disable=SC2086 # words
		! "$hyptrace" $verb hyptrace.dat -q 2>&1 >/dev/null | grep -F "${1% (use *}" || return
	done
}

# Why events are missing although none was lost
test_gaps()
{
	local resume=' (use "hyptrace start" to resume it)'
	record FAKE_WAITS=5 --
	[[ $said != *missing* ]] || return
	record FAKE_WAITS=5 FAKE_FILTER='reason == "x\y"' --
	says "\"hyp_exit\" has the filter \"reason == \"x\\y\"\" at EL2: the other ones are missing" || return
	"$hyptrace" dump -j hyptrace.dat | jq -e '.notes | length == 1' >/dev/null || return
	record FAKE_WAITS=5 FAKE_FILTER='reason == 1' FAKE_FILTERED=7 --
	[[ $said == *' recorded, 14 filtered, 0 lost; '* ]] || return
	"$hyptrace" report hyptrace.dat 2>&1 | grep -q '"hyptrace.dat": filters at EL2 have kept 14 events from being recorded' || return
	# not if others than the chosen ones have it
	record FAKE_WAITS=5 FAKE_FILTER='reason == 1' -- -e hyp_enter
	[[ $said != *missing* ]] || return
	# its own is not said, but is in the file
	record FAKE_WAITS=5 FAKE_FILTER='reason == 1' -- -e hyp_exit -F 'reason == 1'
	[[ $said != *missing* ]] || return
	"$hyptrace" report hyptrace.dat 2>&1 | grep -q 'has the filter "reason == 1" at EL2' || return
	record FAKE_WAITS=5 FAKE_DISABLED=3 -- -z
	says '"hyp_enter" was disabled: later ones are missing' || return
	record FAKE_WAITS=5 FAKE_STOP=3 --
	says "tracing was switched off: later events are missing$resume" || return
	record FAKE_WAITS=20 FAKE_SLEEP=60000 FAKE_STOP=1 FAKE_START=12 --
	says "tracing was switched off: later events are missing$resume" || return
	record FAKE_WAITS=5 FAKE_FIRED=3 --
	says "the trigger of \"hyp_enter\" has stopped the recording: later events are missing$resume" || return
	# each file of a rotation has it
	record FAKE_WAITS=20 FAKE_FILTER='reason == 1' -- --limit 300K --rotate 2
	says '"hyp_exit" has the filter "reason == 1" at EL2: the other ones are missing' || return
	"$hyptrace" report hyptrace.dat.1 2>&1 | grep -q 'has the filter' || return
	# and so have a snapshot and what a killed recording leaves
	record FAKE_BEFORE=5000 FAKE_FILTER='reason == 1' -- --snapshot
	says '"hyp_exit" has the filter "reason == 1" at EL2: the other ones are missing' || return
	{ FAKE_WAITS=1000 FAKE_SLEEP=1000 FAKE_FILTER='reason == 1' timeout -s KILL 1 "$hyptrace" record -o killed.dat; } >/dev/null 2>&1
	"$hyptrace" report killed.dat.part 2>&1 | grep -q 'has the filter'
}

# stream [NAME=VALUE...]: stream for a second; set $said
stream()
{
	said=$(env FAKE_BEFORE=20 "$@" timeout -s INT 1 "$hyptrace" stream 2>&1 >/dev/null)
}

test_stream_says_what_is_missing()
{
	stream FAKE_FILTER='reason == 1'
	[[ $said == 'hyptrace: "hyp_exit" has the filter "reason == 1" at EL2: the other ones are missing
hyptrace: '*' events printed, '* ]] || return
	stream FAKE_NOTIFY=100 FAKE_STOP=1
	[[ $said == 'hyptrace: tracing was switched off: later events are missing (use "hyptrace start" to resume it)
hyptrace: '*' events printed, '* ]] || return
	stream FAKE_NOTIFY=100 FAKE_CLEAR=1
	[[ $said == 'hyptrace: the rings were cleared: events that were not read yet are missing
hyptrace: '*' events printed, '* ]] || return
	stream FAKE_NOTIFY=100
	[[ $said == 'hyptrace: '*' events printed, '* && $said != *missing* ]]
}

test_stream_takes_events_and_a_command()
{
	code=0
	said=$(FAKE_BEFORE=20 timeout -s INT 20 "$hyptrace" stream -q hyp_enter hyp_exit -- sh -c 'exit 7' 2>&1 >/dev/null) || code=$?
	same "$code $said" '7 ' "code"
}

# Each loss after the last event of a CPU has the time and the place of that event, among the lines of other CPUs.
test_show_orders_losses()
{
	FAKE_BEFORE=60000 FAKE_CPUS=3 FAKE_DISCARD=1 "$hyptrace" show -q --ns >lines 2>/dev/null
	sort -s -k 2,2 lines | cmp - lines || return
	same "$(awk '$3 == "LOST" && $2 == last[$1] { n++ } { last[$1] = $2 } END { print n + 0 }' lines)" 3 losses
}

test_a_closed_output_is_not_counted_as_printed()
{
	for verb in stream show; do
		said=$(FAKE_BEFORE=20000 timeout -s INT 20 "$hyptrace" "$verb" 2>&1 >/dev/full | tail -n 1)
		[[ $said == 'hyptrace: cannot write the output: No space left on device' ]] || return
		said=$({ FAKE_BEFORE=20000 timeout -s INT 20 "$hyptrace" "$verb" | head -n 2 >/dev/null; } 2>&1)
		[[ $said == *' events read until the output was closed, '* ]] || return
	done
}

# Each live verb says the same of what others have left behind, or do meanwhile. hyp_enter and hyp_exit are no events of
# strace.
test_each_live_verb_says_the_same()
{
	local state verb expected wrong=0
	declare -A says=(
		[FAKE_FILTER=reason == 1]='"hyp_exit" has the filter "reason == 1" at EL2: the other ones are missing'
		[FAKE_DISABLED=1]='"hyp_enter" was disabled: later ones are missing'
		[FAKE_STOP=1]='tracing was switched off: later events are missing (use "hyptrace start" to resume it)'
		[FAKE_CLEAR=1]='the rings were cleared: events that were not read yet are missing'
		[FAKE_FILTER=reason == 1 strace]=''
		[FAKE_DISABLED=1 strace]=''
		[FAKE_CLEAR=1 record]='the number of events is not known; '
		[FAKE_PAGES=64]=''
	)
	for state in "FAKE_FILTER=reason == 1" FAKE_DISABLED=1 FAKE_STOP=1 FAKE_CLEAR=1 FAKE_PAGES=64; do
		for verb in stream stat 'top -b -d 300ms' strace record 'export -f jsonl'; do
			# shellcheck disable=SC2086 # options
			said=$(env FAKE_BEFORE=20 FAKE_NOTIFY=100 "$state" timeout -s INT 1 "$hyptrace" $verb 2>&1 >/dev/null |
				sed -n 's/^hyptrace: //p' | grep -E '^(".*" (has|was)|tracing|the (rings|number|trigger))' | head -n 1)
			expected=${says[$state ${verb%% *}]-${says[$state]}}
			[[ $said == "$expected"* && (-n $expected || -z $said) ]] && continue
			echo "# $state, $verb: \"$said\""
			wrong=1
		done
	done
	return "$wrong"
}

. "$here/record_host.sh"

mapfile -t tests < <(declare -F | sed -n 's/^declare -f test_//p')
for test in "${tests[@]}"; do
	rm -rf "${work:?}"/*
	"test_$test"
	case $? in
	0)
		echo "ok - record: ${test//_/ }"
		passed=$((passed + 1))
		;;
	*)
		echo "not ok - record: ${test//_/ }"
		echo "# ${said:-}"
		failed=$((failed + 1))
		;;
	esac
done
echo "$passed passed, $failed failed"
((failed == 0))
