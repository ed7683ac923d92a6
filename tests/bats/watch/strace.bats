#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# strace on the hypervisor: its lines against the log of random hypercalls and against the guest's own counts, and what
# it leaves behind.

load ../helper

export REMOTE=hypervisor

random=/usr/local/libexec/hyptrace-kselftest/random_calls

# settings: print what strace must leave as it was.
settings()
{
	ht list -j | jq -c '.[0].events[] | [.name, .enabled, .filter, .trigger]'
	of '[.state, .readers, .size_requested] | @csv'
}

# strace_begin [OPTION...]: start a trace in the background. Sets $out and $err to the files of its output, $strace to
# its pid.
strace_begin()
{
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	hyptrace -r "$REMOTE" strace "$@" >"$out" 2>"$err" 3>&- &
	strace=$!
	within "$patience" is_consumer "$strace"
	within "$patience" is_tracing
}

# strace_end [SIGNAL [CODE]]
strace_end()
{
	kill -"${1:-INT}" "$strace"
	ended "$strace"
	same "$code" "${2:-0}" "exit code of strace"
}

settings_are()
{
	[[ $(settings) == "$1" ]]
}

# random_begin NUMBER: prepare random hypercalls; their log goes to $log.
random_begin()
{
	log=$BATS_TEST_TMPDIR/log
	mkfifo "$BATS_TEST_TMPDIR/in"
	"$random" "$1" "${SEED:-$RANDOM}" <"$BATS_TEST_TMPDIR/in" >"$log" 3>&- &
	calls=$!
	exec 7>"$BATS_TEST_TMPDIR/in"
	within "$patience" grep -qx ready "$log"
}

# random_make: make the calls. Then $log has only their lines.
random_make()
{
	echo >&7
	within "$patience" grep -qx 'done' "$log"
	sed -i -e /^ready$/d -e /^done$/d "$log"
}

random_end()
{
	exec 7>&-
	ended "$calls"
	same "$code" 0 "exit code of random_calls"
}

teardown()
{
	exec 7>&- || true
	tidy
}

@test "10,000 random hypercalls: name, arguments, result and order are those of the module's log" {
	[[ -x $random ]] || skip "random_calls is not installed"
	ht set --size 16M
	random_begin 10000
	strace_begin -j -e host_hcall
	random_make
	strace_end
	random_end
	none '"lost":' "$out"
	grep -q ', 0 events lost$' "$err"
	(($(wc -l <"$log") >= 10000))
	python3 "$BATS_TEST_DIRNAME/strace.py" "$log" "$out"
}

@test "events from before the trace are not of it" {
	ht enable all
	ht start
	workload --cpu 0 --mmio 300 >/dev/null
	hyptrace -r "$REMOTE" strace -cj -- true >"$BATS_TEST_TMPDIR/out"
	same "$(jq '[.[] | select(.name == "DABT_LOW")] | length' "$BATS_TEST_TMPDIR/out")" 0
	hyptrace -r "$REMOTE" strace -cj -- workload --cpu 0 --mmio 300 >"$BATS_TEST_TMPDIR/out"
	same "$(jq '.[] | select(.name == "DABT_LOW").calls' "$BATS_TEST_TMPDIR/out")" 300
}

@test "-c has the sums of the lines of the same calls" {
	[[ -x $random ]] || skip "random_calls is not installed"
	ht set --size 16M
	# the same seed makes the same calls
	export SEED=7
	random_begin 5000
	strace_begin -j -e host_hcall
	random_make
	strace_end
	random_end
	cp "$out" "$BATS_TEST_TMPDIR/lines"
	rm "$BATS_TEST_TMPDIR/in"
	random_begin 5000
	strace_begin -cj -e host_hcall
	random_make
	strace_end
	random_end
	diff <(jq -sc 'group_by(.name)[] | [.[0].name, length, (map(select(.error)) | length)]' "$BATS_TEST_TMPDIR/lines") \
		<(jq -c 'sort_by(.name)[] | [.name, .calls, .errors]' "$out")
	jq -e 'all(.[]; .kind == "host_hcall" and (.total | tonumber) >= 0)' "$out"
	(($(jq 'length' "$out") > 20))
}

@test "-e becomes a filter at EL2: other calls leave no events" {
	[[ -x $random ]] || skip "random_calls is not installed"
	ht set --size 16M
	random_begin 2000
	strace_begin -j -e '__pkvm_host_share_hyp,__pkvm_host_unshare_hyp'
	same "$(ht list -j | jq -r '.[0].events[] | select(.name == "host_hcall").filter' | tr -d '0-9')" 'id ==  || id == '
	random_make
	same "$(of '[.cpus[].filtered] | add > 1000')" true
	strace_end
	random_end
	same "$(wc -l <"$out")" "$(grep -c ' __pkvm_host_\(un\)\?share_hyp$' "$log")"
	none -v '"name":"__pkvm_host_(un)?share_hyp"' "$out"
	run -2 ht strace -e __pkvm_host_shar_hyp
	says 'did you mean "__pkvm_host_share_hyp"?'
}

@test "a guest: exits as it counts them, inside the hypercall that runs it" {
	ht set --size 16M
	# the command's own output is on the standard error
	run -0 --separate-stderr ht strace -j -e '*,guest_fixup' -- taskset -c 0 workload --cpu 0 --mmio 300 --psci 200
	[[ $stderr =~ vcpu_pid=([0-9]+) ]]
	pid=${BASH_REMATCH[1]}
	out=$BATS_TEST_TMPDIR/out
	printf '%s\n' "$output" >"$out"
	same "$(jq -c "select(.kind == \"guest_exit\" and .name == \"DABT_LOW\" and .vcpu == $pid and .args.ipa == \"4096\")" "$out" | wc -l)" 300
	same "$(jq -c "select(.kind == \"guest_exit\" and .name == \"HVC64\" and .vcpu == $pid)" "$out" | wc -l)" 200
	# each exit is in a hypercall, and each trap in an exit
	same "$(jq -c 'select(.kind == "guest_exit") | .depth' "$out" | sort | uniq -c | awk '{ print $2 }')" 1
	same "$(jq -c 'select(.kind == "guest_fixup") | .depth' "$out" | sort | uniq -c | awk '{ print $2 }')" 2
	same "$(jq -c 'select(.kind == "host_hcall") | .depth' "$out" | sort | uniq -c | awk '{ print $2 }')" 0
	same "$(jq -r 'select(.kind == "guest_exit") | .name' "$out" | wc -l)" \
		"$(jq -r 'select(.name == "__kvm_vcpu_run") | .name' "$out" | wc -l)" "exits and runs"
}

@test "lines are indented, and -T adds the times" {
	run -0 --separate-stderr ht strace -T -- taskset -c 0 workload --cpu 0 --mmio 10
	grep -qE '^\[000\] +[0-9]+\.[0-9]{6}:   guest_exit: vcpu=[0-9]+ vm=0x[0-9a-f]+\.0 trap DABT_LOW ipa=0x1000 .*since entry>$' <<<"$output"
	grep -qE '^\[000\] +[0-9]+\.[0-9]{6}: __kvm_vcpu_run\(.*\) = [a-z]+ <[0-9.]+ [mun]?s>$' <<<"$output"
	run -0 --separate-stderr ht strace -- taskset -c 0 workload --cpu 0 --mmio 10
	[[ $output == *'guest_exit: '* && $output != *' <'* ]]
}

@test "-p: only the exits and runs of that VM" {
	ht set --size 16M
	workload --cpu 0 --spin 2000000000 >/dev/null 3>&- &
	other=$!
	taskset -c 0 workload --cpu 0 --wfi 1000000 >/dev/null 3>&- &
	pid=$!
	strace_begin -j -p "$pid"
	within "$patience" has_lines 50 "$out"
	# it ends with the process
	kill -KILL "$pid" "$other"
	ended "$strace"
	same "$code" 0 "exit code of strace"
	same "$(jq -r 'select(.vcpu) | .vcpu' "$out" | sort -u)" "$pid"
	(($(jq -r 'select(.name == "__kvm_vcpu_run") | .name' "$out" | wc -l) > 10))
	run -2 ht strace -p 999999999
	says 'there is no process 999999999'
	run -1 ht strace -p me
	says 'bad VM "me"'
}

@test "-F chooses calls by their fields, also those that only some events have" {
	run -0 --separate-stderr ht strace -j -F 'ec == HVC64 || ret == -EPERM' -- taskset -c 0 workload --cpu 0 --psci 50
	same "$(jq -r 'select(.name == "HVC64") | .name' <<<"$output" | wc -l)" 50
	same "$(jq -r 'select(.name != "HVC64" and .error != "-EPERM") | .name' <<<"$output")" ''
	run -1 ht strace -F 'pfn == 1'
	says 'no event has a field "pfn"'
}

@test "-n ends after so many calls, --duration after so long" {
	run -0 --separate-stderr ht strace -j -n 20 -- taskset -c 0 workload --cpu 0 --mmio 300
	same "$(wc -l <<<"$output")" 20
	[[ $stderr == *'20 calls printed, '* ]]
	run -0 --separate-stderr ht strace -c --csv -e guest_exit --duration 300ms
	[[ $output == 'calls,errors,kind,name,total'* ]]
	run -1 ht strace -i t.dat --duration 1s
	# none of its threads runs a vCPU
	run -0 ht strace -p $$ --duration 100ms
	says "\"hypervisor\" has no call of the process $$: it has run no vCPU"
}

@test "events, filters and tracing are as before after each end" {
	ht enable -F 'id == __kvm_vcpu_run' host_hcall
	ht enable --stop --filter 'vcpu == 4711' guest_exit
	before=$(settings)
	strace_begin -e '!__kvm_vcpu_run' -F 'duration > 0'
	[[ $(settings) != "$before" ]]
	strace_end TERM
	same "$(settings)" "$before" "settings after SIGTERM"
	# the kernel restores them
	strace_begin -e '!__kvm_vcpu_run' -F 'duration > 0'
	strace_end KILL 137
	within "$patience" settings_are "$before"
	# a closed pipe
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	hyptrace -r "$REMOTE" strace -e '!irq' >"$BATS_TEST_TMPDIR/pipe" 2>/dev/null 3>&- &
	strace=$!
	exec 5<"$BATS_TEST_TMPDIR/pipe"
	within "$patience" is_consumer "$strace"
	exec 5<&-
	ended "$strace"
	same "$code" 0 "exit code with a closed pipe"
	same "$(settings)" "$before" "settings after a closed pipe"
	# a command, and one that cannot be run
	run -3 ht strace -e WFx -- sh -c 'exit 3'
	same "$(settings)" "$before" "settings after a command"
	run -2 ht strace -- /nonexistent
	says 'cannot run "/nonexistent"'
	same "$(settings)" "$before" "settings after a command that fails"
}

@test "losses are shown where they happened, and counted" {
	[[ -x $random ]] || skip "random_calls is not installed"
	ht set --size "$(pages 3)" --mode discard
	random_begin 5000
	strace_begin -j -e host_hcall -C 0,1
	kill -STOP "$strace"
	random_make
	kill -CONT "$strace"
	strace_end
	random_end
	lost=$(jq -s 'map(.lost // 0) | add' "$out")
	((lost > 0))
	same "$((lost + $(jq -c 'select(.name)' "$out" | wc -l)))" "$(wc -l <"$log")" "calls"
	grep -q ", $lost events lost\$" "$err"
}
