#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# enable and disable: by name, by glob, or all. A request with an unknown event changes nothing.

load ../helper

all_events()
{
	ht -j list | jq -r '[.[0].events[].name | select(. != "func")] | join(" ")'
}

@test "enable by name enables that event only" {
	run -0 ht enable hyp_exit
	same "$output" ""
	same "$(enabled)" hyp_exit
}

@test "enable takes several names, and the same name twice" {
	run -0 ht enable selftest hyp_enter selftest
	same "$(enabled)" "hyp_enter selftest"
}

@test "enable takes a glob" {
	run -0 ht enable 'hyp_e*'
	same "$(enabled)" "hyp_enter hyp_exit"
}

@test "enable and disable take the word all for all events" {
	run -0 ht enable all
	same "$(enabled)" "$(all_events)"
	run -0 ht disable 'hyp_e*'
	same "hyp_enter hyp_exit $(enabled)" "$(all_events)"
	run -0 ht disable all
	same "$(enabled)" ""
}

@test "enabling an enabled event and disabling a disabled one succeed" {
	ht enable selftest
	run -0 ht enable selftest
	same "$(enabled)" selftest
	ht disable selftest
	run -0 ht disable selftest
	same "$(enabled)" ""
}

@test "enable changes one remote only" {
	((${#remotes[@]} > 1)) || skip "there is one remote only"
	other=$([[ $REMOTE == test ]] && echo hypervisor || echo test)
	ht enable hyp_enter
	same "$(enabled)" hyp_enter
	same "$(enabled "$other")" ""
}

@test "an unknown event is refused, and the message names it" {
	run -2 ht enable foo
	says 'hyptrace: cannot enable "foo": no such event'
	run -2 ht disable foo
	says 'cannot disable "foo"'
}

@test "an unknown event is refused, and the message suggests a similar one" {
	run -2 ht enable hyp_entr
	says 'cannot enable "hyp_entr": no such event; did you mean "hyp_enter"?'
	run -2 ht disable slftest
	says 'did you mean "selftest"?'
	run -2 ht enable nonsense
	[[ $output != *"did you mean"* ]]
	run -2 ht enable 'hyp_entr*x'
	says 'no event matches'
	[[ $output != *"did you mean"* ]]
}

@test "one unknown event among known ones changes nothing" {
	ht enable selftest
	run -2 ht enable hyp_enter nonsense hyp_exit
	says '"nonsense"'
	same "$(enabled)" selftest
	run -2 ht disable selftest nonsense
	says '"nonsense"'
	same "$(enabled)" selftest
	run -2 ht enable 'hyp_*' nonsense
	same "$(enabled)" selftest
}

@test "one message names all unknown events" {
	run -2 ht enable foo hyp_enter 'bar*' foo
	says 'cannot enable "foo", "bar*": no such events'
	run -2 ht disable foo hyp_exit bar
	says 'cannot disable "foo", "bar": no such events'
	same "$(enabled)" ""
}

@test "a glob that matches nothing is refused, also with other names" {
	run -2 ht enable 'zzz*'
	says '"zzz*"'
	run -2 ht enable hyp_enter 'zzz*'
	says '"zzz*"'
	same "$(enabled)" ""
}

@test "a name that is too long is refused" {
	run -2 ht enable "$(printf 'x%.0s' {1..64})"
	run -2 ht enable "$(printf 'x%.0s' {1..2000})"
	same "$(enabled)" ""
}

@test "an empty name is refused" {
	run -2 ht enable ''
	same "$(enabled)" ""
}

@test "enable and disable without a name are usage errors" {
	run -1 ht enable
	run -1 ht disable
}

@test "enabling while tracing takes effect at once" {
	tracing_marks
	ht mark 1
	ht disable selftest
	run -2 ht mark 2
	says 'not enabled'
	ht enable selftest
	ht mark 3
	drain >"$BATS_TEST_TMPDIR/out"
	same "$(ids <"$BATS_TEST_TMPDIR/out" | xargs)" "1 3"
}
