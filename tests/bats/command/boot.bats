#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The words that start a trace from the boot on, here as the parameter of hyptrace_test: tests/bats/boot has a kernel that
# gets them on its command line.

load ../helper

setup()
{
	# shellcheck disable=SC2034 # ht reads it
	REMOTE="test"
	modprobe -r hyptrace_test
}

teardown()
{
	tidy
	modprobe -r hyptrace_test
	modprobe hyptrace_test
}

# boots WORDS: load the module with these words, and keep what the kernel says of them, without what comes before.
boots()
{
	local lines
	lines=$(dmesg | wc -l)
	modprobe hyptrace_test trace="\"$1\""
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*hyptrace: remote "test": //p' >"$BATS_TEST_TMPDIR/said"
}

# is FILTER WHAT: check the state of the remote, or of its events.
is()
{
	ht status -j | jq -e ".[0] | $1"
}

events()
{
	ht list -j | jq -e ".[0].events | $1"
}

complains()
{
	same "$(cat "$BATS_TEST_TMPDIR/said")" "\"$1\" in the words of the boot is ignored: $2"
}

@test "a trace begins with the module" {
	boots "selftest"
	same "$(cat "$BATS_TEST_TMPDIR/said")" ""
	is '.state == "tracing" and .mode == "overwrite" and .size_requested == 1048576'
	events 'map(select(.enabled) | .name) == ["selftest"]'
	ht mark 7
	same "$(ht show -q | sed 's/.*: //')" "id=7"
	# it stays as if it was started by hand
	ht stop
	is '.state == "loaded"'
}

@test "all words are used" {
	boots "h[y]p_*,host_hca?l:size=64K:mode=discard:stop=selftest:after=0x2:filter=id == 0x10 || ( id > 3 && id <= 5 )"
	same "$(cat "$BATS_TEST_TMPDIR/said")" ""
	is '.state == "tracing" and .mode == "discard" and .size_requested == 65536'
	events 'all(.enabled == (.name | startswith("hyp_") or IN("host_hcall", "selftest")))'
	events '.[] | select(.name == "selftest") | .trigger == "stop" and .after == 2 and (.filter | contains("0x10"))'
	events '.[] | select(.name == "hyp_enter") | .filter == null'
	events '.[] | select(.name == "host_hcall") | .filter != null'
}

@test "the filter chooses as that of enable does" {
	local filter
	for filter in "id == 3" "id >= 2 && id < 4 || id == 0x9" "(id == 1 || id == 4) && id != 4" "id & 4" "id > 8"; do
		boots "selftest:filter=$filter"
		same "$(cat "$BATS_TEST_TMPDIR/said")" ""
		ht mark 0 --count 10
		ht show -q | sed 's/.*=//' >"$BATS_TEST_TMPDIR/boot"
		ht reset
		ht enable -F "$filter" selftest
		ht start
		ht mark 0 --count 10
		ht show -q | sed 's/.*=//' >"$BATS_TEST_TMPDIR/enable"
		[[ -s $BATS_TEST_TMPDIR/enable ]]
		cmp "$BATS_TEST_TMPDIR/boot" "$BATS_TEST_TMPDIR/enable"
		modprobe -r hyptrace_test
	done
}

# bats test_tags=slow
@test "values have names, times have units, as in other filters" {
	local filter
	for filter in "duration > 1.204 us" "duration >= 20ms" "ret == -EPERM" "ret == -ENOTTY" "ret < -1" "ret == -22" "ret & 0x8000000000000000" \
		"ret == -9223372036854775808"; do
		boots "host_hcall:filter=$filter"
		same "$(cat "$BATS_TEST_TMPDIR/said")" ""
		events '.[] | select(.name == "host_hcall") | .filter != null'
		modprobe -r hyptrace_test
	done
	boots "hyp_enter:filter=reason == hvc"
	same "$(cat "$BATS_TEST_TMPDIR/said")" ""
}

@test "a wrong word is named, and the rest is done" {
	local words word why
	while IFS='|' read -r words word why; do
		boots "$words"
		complains "$word" "$why"
		is '.state == "tracing"'
		modprobe -r hyptrace_test
	done <<-END
		selftest,nothing|nothing|there is no such event
		selftest:size=2X|size=2X|a size is a number, perhaps with K, M or G
		selftest:size=|size=|a size is a number, perhaps with K, M or G
		selftest:mode=none|mode=none|a mode is overwrite or discard
		selftest:stop=nothing|stop=nothing|there is no such event
		selftest:after=3|after|it needs stop=EVENT
		selftest:stop=hyp_exit:after=x|after=x|it takes a number of sub-buffers
		selftest:colour=red|colour=red|there is no such option
		selftest:discard|discard|there is no such option
		selftest:size=64K:size=1M|size=1M|it was given before
		selftest:filter=duration > 1|duration > 1|no event of the list has this field
		selftest,hyp_enter,host_hcall:filter=id == x|x|the field has no value of this name
		selftest:filter=id =|=|an operator is missing: use ==, !=, <, <=, >, >= or &
		selftest:filter=id == x|x|the field has no value of this name
		selftest:filter=id == 1us|1us|only the field duration takes a unit of time
		selftest:filter=id == 99999999999999999999|99999999999999999999|this is no number of 64 bits
		selftest:filter=id == -1|-1|the field has no such value
		selftest:filter=(id == 1|(id == 1|a parenthesis is not closed before this
		selftest:filter=id == 1 id|id|&& or || is missing before this
		selftest:filter=|filter=|a filter is missing
	END
}

@test "an event with a wrong filter does not stop the recording" {
	boots "selftest:stop=selftest:filter=id ="
	complains "=" "an operator is missing: use ==, !=, <, <=, >, >= or &"
	events 'map(select(.enabled) | .trigger) == [null]'
}

@test "rings that memory cannot give are replaced by small ones" {
	boots "selftest:size=9999G"
	grep -q '^cannot load rings of 10736344498176 bytes: ' "$BATS_TEST_TMPDIR/said"
	is '.state == "tracing" and .size_requested == 1048576'
}

@test "without an event nothing is traced" {
	boots "nothing:size=64K"
	complains nothing "there is no such event"
	is '.state == "unloaded"'
}

@test "words without an event are named" {
	local words
	for words in "" ":size=64K"; do
		boots "$words"
		grep -q 'remote "test" is not traced: the words of the boot name no event$' <<<"$(dmesg | tail -n 3)"
		is '.state == "unloaded"'
		modprobe -r hyptrace_test
	done
}

# bats test_tags=slow
@test "status prints the words that begin the same trace" {
	boots "selftest"
	ht reset
	run -2 ht status --boot
	says 'no event of "test" is enabled'
	ht enable selftest hyp_enter
	ht enable -F 'duration > 20us' host_hcall
	ht enable --stop --after 3 hyp_exit
	ht set --size 128K --mode discard
	run -0 ht status --boot
	local words=$output
	[[ $words == 'hyptrace_test.trace="'*'"' ]]
	run -0 ht status --boot="$words"
	same "$output" ""
	ht status --boot -j | jq -e '.[0].remote == "test" and (.[0].boot | startswith("hyptrace_test.trace="))'
	ht list -j | jq '.[0].events' >"$BATS_TEST_TMPDIR/before"
	modprobe -r hyptrace_test
	words=${words#*\"}
	boots "${words%\"}"
	same "$(cat "$BATS_TEST_TMPDIR/said")" ""
	is '.mode == "discard" and .size_requested == 131072'
	ht list -j | jq '.[0].events' | cmp - "$BATS_TEST_TMPDIR/before"
	# there may be no other event than the one that stops
	ht reset
	ht enable --stop selftest
	run -0 ht status --boot
	words=${output#*=}
	[[ $words == :size=* ]]
	modprobe -r hyptrace_test
	boots "$words"
	same "$(cat "$BATS_TEST_TMPDIR/said")" ""
	events 'map(select(.enabled) | [.name, .trigger]) == [["selftest", "stop"]]'
}

@test "status names wrong words, and what no words describe" {
	boots "selftest"
	while IFS='|' read -r words why; do
		run -1 ht status --boot="$words"
		says "$why"
	done <<-END
		selftest:size=x|wrong word "size=x"
		selftest:size=999T|wrong word "size=999T": so much of each CPU exceeds the memory of this machine
		selftest:mode=x|wrong word "mode=x"
		selftest:stop=x|wrong word "stop=x": there is no such event
		selftest:after=1|wrong word "after": it needs stop=EVENT
		selftest:what=1|wrong word "what=1": the options are
		selftest:size=1M:size=1M|it was given before
		selftest:filter=id ==|wrong filter
	END
	run -2 ht status --boot=size=1M
	says 'cannot trace "size=1M": no such event'
	ht enable --start hyp_enter
	run -2 ht status --boot
	says 'the trigger of "hyp_enter" is not stop'
	ht enable -F 'id == 1' selftest
	ht enable -F 'id == 2' host_hcall
	ht disable hyp_enter
	run -2 ht status --boot
	says 'have different filters'
}
