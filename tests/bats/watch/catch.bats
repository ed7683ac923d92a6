#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# catch on the hypervisor: outliers among many calls against the log of the program that makes them, what it prints and
# saves, and what it leaves behind.
#
# HYPTRACE_CALLS: the number of calls among which the outliers are (100000)

load ../helper

export REMOTE=hypervisor

outliers=/usr/local/libexec/hyptrace-kselftest/outliers
calls=${HYPTRACE_CALLS:-100000}

# The number of pages that outliers invalidates with a long call is at least this.
long='host_hcall && id == __kvm_tlb_flush_vmid_range && arg3 >= 1000'

# settings: print what catch must leave as it was.
settings()
{
	ht list -j | jq -c '.[0].events[] | [.name, .enabled, .filter, .trigger, .counted]'
	of '[.state, .readers, .size_requested] | @csv'
}

is_armed()
{
	[[ $(ht list -j | jq -r '[.[0].events[] | select(.trigger == "notify")] | length') == 1 ]]
}

# catch_begin ARGUMENT...: begin to catch in the background. Sets $out and $err to the files of its output, $catch to
# its pid.
catch_begin()
{
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	hyptrace -r "$REMOTE" catch "$@" >"$out" 2>"$err" 3>&- &
	catch=$!
	within "$patience" is_armed || { cat "$err" >&2 && return 1; }
	within "$patience" is_tracing
}

# catch_end [SIGNAL [CODE]]
catch_end()
{
	kill -"${1:-INT}" "$catch"
	ended "$catch"
	same "$code" "${2:-0}" "exit code of catch"
}

settings_are()
{
	[[ $(settings) == "$1" ]]
}

# outliers_begin NUMBER LONG: prepare calls; the numbers of the long ones go to $log.
outliers_begin()
{
	log=$BATS_TEST_TMPDIR/log
	mkfifo "$BATS_TEST_TMPDIR/in"
	taskset -c 0 "$outliers" "$1" "$2" "${SEED:-$RANDOM}" <"$BATS_TEST_TMPDIR/in" >"$log" 3>&- &
	maker=$!
	exec 7>"$BATS_TEST_TMPDIR/in"
	within "$patience" grep -qxE 'ready|refused' "$log"
	none refused "$log" || skip "EL2 refuses the long call"
}

# outliers_make: make the calls. Then $log has only the numbers.
outliers_make()
{
	echo >&7
	within 600 grep -qx 'done' "$log"
	sed -i -e /^ready$/d -e /^done$/d "$log"
}

outliers_end()
{
	exec 7>&-
	ended "$maker"
	same "$code" 0 "exit code of outliers"
}

setup()
{
	fresh
	[[ -x $outliers ]] || skip "outliers is not installed"
}

teardown()
{
	exec 7>&- || true
	tidy
}

@test "100 outliers at random among many calls: 100 caught, none invented, each with its surroundings in the file" {
	file=$BATS_TEST_TMPDIR/slow.dat
	ht set --size 16M
	outliers_begin "$calls" 100
	catch_begin -j -o "$file" "$long && duration > 1us"
	outliers_make
	catch_end
	outliers_end
	same "$(wc -l <"$log")" 100 "outliers"
	hyptrace report -j -C 0 "$file" | python3 "$BATS_TEST_DIRNAME/catch.py" "$log" "$out" 0
	grep -qx 'hyptrace: 100 events caught, 0 missed' "$err"
	# the same by the tools for files
	same "$(hyptrace report -qj -F 'arg3 >= 1000' -e host_hcall "$file" | jq -r 'select(.event).fields.arg4' | sort -n)" \
		"$(sort -n "$log")"
}

# bats test_tags=slow
@test "by the duration alone: what is caught is what is longer" {
	file=$BATS_TEST_TMPDIR/slow.dat
	ht set --size 16M
	outliers_begin 5000 10
	catch_begin -j -o "$file" "host_hcall && id == __kvm_tlb_flush_vmid_range && duration > 100us"
	outliers_make
	catch_end
	outliers_end
	none '"missed":' "$out"
	diff <(hyptrace report -qj -F 'id == __kvm_tlb_flush_vmid_range && duration > 100us' -e host_hcall "$file" |
		jq -c 'select(.event) | [.cpu, .ts, .fields]') <(jq -c '.event | [.cpu, .ts, .fields]' "$out")
	# the same afterwards, with the same surroundings
	around='[.event.ts, [.before[].ts], [.earlier[] | .cpu, .ts], [.meanwhile[] | .cpu, .ts]]'
	diff <(hyptrace catch -qj -i "$file" "host_hcall && id == __kvm_tlb_flush_vmid_range && duration > 100us" |
		jq -c "$around") <(jq -c "$around" "$out")
	# the long ones are among them, and not all calls are
	diff <(sort "$log") <(jq -r '.event.fields | select(.arg3 != "1" and .arg3 != 1).arg4' "$out" | sort)
	(($(wc -l <"$out") < 5000))
}

@test "what is overwritten before it can be read is counted exactly" {
	ht set --size "$(pages 3)"
	outliers_begin 20000 100
	catch_begin -j "$long"
	kill -STOP "$catch"
	outliers_make
	kill -CONT "$catch"
	catch_end
	outliers_end
	caught=$(jq -s 'map(select(.caught)) | length' "$out")
	missed=$(jq -s 'map(.missed // 0) | add' "$out")
	((missed > 0))
	same "$((caught + missed))" 100 "caught and missed"
	grep -q "^hyptrace: $caught events\? caught, $missed missed (use larger rings" "$err"
	# those that were caught are the last ones, after the first ones if EL2 was writing to the reader page
	jq -r 'select(.caught).event.fields.arg4' "$out" >"$out.caught"
	first=$(paste "$log" "$out.caught" | awk '$1 != $2 { exit } { nr++ } END { print nr + 0 }')
	diff <(head -n "$first" "$log" && tail -n "$((caught - first))" "$log") "$out.caught"
}

# notified: print how many events have fired, as the monitor has said last.
notified()
{
	sed -n 's/.*"notified":"\?\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/monitor" | tail -n 1
}

# is_over: succeed if the monitor has said that tracing ended. Then it has said the last number, too.
is_over()
{
	grep -o '"state":"[a-z]*"' "$BATS_TEST_TMPDIR/monitor" | tail -n 1 | grep -q 'loaded"'
}

# have_fired NUMBER: succeed if outliers has made so many long calls.
have_fired()
{
	(($(wc -l <"$log") > $1))
}

# bats test_tags=slow
@test "with --count, what is overwritten while the CPU goes on to fire is counted exactly, too" {
	file=$BATS_TEST_TMPDIR/slow.dat
	ht set --size "$(pages 3)"
	hyptrace -r "$REMOTE" monitor -j >"$BATS_TEST_TMPDIR/monitor" 3>&- &
	monitor=$!
	# all calls are long
	outliers_begin 20000 20000
	catch_begin -j --count 1 -o "$file" "$long"
	kill -STOP "$catch"
	echo >&7
	within "$patience" have_fired 2000
	kill -CONT "$catch"
	ended "$catch"
	same "$code" 0 "exit code of catch"
	kill "$maker"
	within "$patience" is_over
	kill "$monitor"
	fired=$(notified)
	same "$(jq -s 'map(select(.caught)) | length' "$out")" 1 "caught"
	missed=$(jq -s 'map(.missed // 0) | add' "$out")
	((missed > 0))
	# those after the first one are in the file
	saved=$(hyptrace report -qj -F 'arg3 >= 1000' -e host_hcall "$file" | jq -r 'select(.event).event' | wc -l)
	same "$((saved + missed))" "$fired" "saved and missed"
	grep -q "^hyptrace: 1 event caught, $missed missed (use larger rings" "$err"
}

@test "the usual time has no calls from before, even if others switch the counters off" {
	ht set --size 16M
	# skips if the long call is refused
	outliers_begin 10 1
	outliers_make
	outliers_end
	ht count host_hcall
	taskset -c 0 "$outliers" 5000 1 <<<go >/dev/null
	ht count --off host_hcall
	catch_begin -j "$long"
	ht count --off host_hcall
	# the first one has it counted again
	taskset -c 0 "$outliers" 1 1 <<<go >/dev/null
	within "$patience" grep -q '"caught":1' "$out"
	taskset -c 0 "$outliers" 500 5 <<<go >/dev/null
	within "$patience" grep -q '"caught":6' "$out"
	catch_end
	usual=$(tail -n 1 "$out" | jq .usual.count)
	((usual > 0 && usual <= 501))
}

@test "text: the event, its usual time, what was before, meanwhile and after" {
	ht set --size 16M
	# with this seed there are 20 calls before each outlier, and 5 after each
	SEED=2 outliers_begin 1000 3
	catch_begin --after 5 "$long"
	outliers_make
	catch_end
	outliers_end
	same "$(grep -c '^caught [1-3]:$' "$out")" 3
	same "$(grep -cE '^\[000\] +[0-9]+\.[0-9]{6}: host_hcall: __kvm_tlb_flush_vmid_range\(.*<.*>$' "$out")" 3
	same "$(grep -cE '^usual time of __kvm_tlb_flush_vmid_range: [0-9.]+ [mu]s, the average of [0-9]+ others; half of them took less than [0-9.]+ [mu]s$' "$out")" 3
	same "$(grep -cx 'before on CPU 0:' "$out")" 3
	same "$(grep -cx 'after on CPU 0:' "$out")" 3
	# 20 lines before and 5 after each, all of CPU 0
	same "$(awk '/^before/ { on = 1; next } /^[a-z]/ { on = 0 } on && /^  \[000\]/ && !/LOST/' "$out" | wc -l)" 60
	same "$(awk '/^after/ { on = 1; next } /^[a-z]|^$/ { on = 0 } on && /^  \[000\]/ && !/LOST/' "$out" | wc -l)" 15
	same "$(awk '/^meanwhile/ { on = 1; next } /^[a-z]|^$/ { on = 0 } on && /^  \[000\]/' "$out")" ''
	grep -qx 'hyptrace: 3 events caught, 0 missed' "$err"
}

@test "--count ends it, a command ends it, and the exit code is that of the command" {
	ht set --size 16M
	outliers_begin 1000 10
	catch_begin -j --count 3 "$long"
	outliers_make
	ended "$catch"
	same "$code" 0 "exit code of catch"
	outliers_end
	same "$(jq -r .caught "$out" | xargs)" '1 2 3'
	diff <(head -n 3 "$log") <(jq -r .event.fields.arg4 "$out")
	run -3 ht catch guest_exit -- sh -c 'exit 3'
	run -0 --separate-stderr ht catch -j 'guest_exit && ec == HVC64' -- taskset -c 0 workload --cpu 0 --psci 20
	same "$(jq -r .event.symbols.ec <<<"$output" | sort | uniq -c | xargs)" '20 HVC64'
	# one event alone has no usual time
	run -0 --separate-stderr ht catch -j 'guest_exit && ec == HVC64' -- taskset -c 0 workload --cpu 0 --psci 1
	same "$(jq -c '[.usual, .event.symbols.ec]' <<<"$output")" '[null,"HVC64"]'
	# -e chooses what is around them
	run -0 --separate-stderr ht catch -j -e guest_enter 'guest_exit && ec == HVC64' -- taskset -c 0 workload --cpu 0 --psci 20
	same "$(jq -r .event.symbols.ec <<<"$output" | sort | uniq -c | xargs)" '20 HVC64'
	same "$(jq -r '(.before + .earlier + .meanwhile)[].event' <<<"$output" | sort -u | xargs)" 'guest_enter guest_exit'
	run -0 ht catch --duration 100ms hyp_printk
	says 'hyptrace: 0 events caught, 0 missed'
	run -2 ht catch host_hcall -- /nonexistent
	says 'cannot run "/nonexistent"'
}

@test "events, filters, triggers, counters and tracing are as before after each end" {
	ht enable -F 'id == __kvm_vcpu_run' host_hcall
	ht enable --stop --filter 'vcpu == 4711' guest_exit
	before=$(settings)
	for what in 'host_hcall && duration > 1s' 'guest_exit && duration > 3600s' hyp_printk; do
		catch_begin "$what"
		[[ $(settings) != "$before" ]]
		catch_end TERM
		same "$(settings)" "$before" "settings after SIGTERM"
		# the kernel restores them
		catch_begin "$what"
		catch_end KILL 137
		within "$patience" settings_are "$before"
	done
	# a closed pipe
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	hyptrace -r "$REMOTE" catch hyp_printk >"$BATS_TEST_TMPDIR/pipe" 2>/dev/null 3>&- &
	catch=$!
	exec 5<"$BATS_TEST_TMPDIR/pipe"
	within "$patience" is_armed
	exec 5<&-
	ended "$catch"
	same "$code" 0 "exit code with a closed pipe"
	same "$(settings)" "$before" "settings after a closed pipe"
	run -2 ht catch -o /nonexistent/file host_hcall
	says 'cannot write to /nonexistent/file'
	same "$(settings)" "$before" "settings after a file that cannot be written"
}

@test "what ends it too early is an error that says why" {
	catch_begin hyp_printk
	run -2 ht catch host_hcall
	says "is reading it"
	ht enable hyp_printk
	ended "$catch"
	same "$code" 2 "exit code after somebody else has changed the trigger"
	grep -q 'somebody else has disabled it or changed its trigger' "$err"
	same "$(enabled)" hyp_printk
	ht disable hyp_printk
	catch_begin hyp_printk
	ht stop
	ended "$catch"
	same "$code" 2 "exit code after a stop"
	grep -q 'tracing was switched off' "$err"
	ht set --mode discard
	run -2 ht catch hyp_printk
	says 'hyptrace set --mode overwrite'
}

@test "bad conditions are refused, and nothing changes" {
	before=$(settings)
	run -1 ht catch 'host_hcall || hyp_enter'
	says 'bad condition "host_hcall || hyp_enter"'
	run -1 ht catch '&& duration > 1us'
	says 'bad condition'
	run -1 ht catch 'host_hcall && durations > 1us'
	says 'wrong filter'
	says '                ^'
	run -2 ht catch 'host_hcal && duration > 1us'
	says 'did you mean "host_hcall"?'
	same "$(settings)" "$before"
}

@test "monitor says how often the trigger has fired" {
	hyptrace -r "$REMOTE" monitor -j >"$BATS_TEST_TMPDIR/monitor" 3>&- &
	monitor=$!
	outliers_begin 1000 10
	catch_begin -j "$long"
	outliers_make
	catch_end
	outliers_end
	within "$patience" grep -q '"trigger":"notify","notified":"10"' "$BATS_TEST_TMPDIR/monitor"
	kill "$monitor"
}
