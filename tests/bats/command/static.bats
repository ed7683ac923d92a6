#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The static command, which Android gets: it needs no other file but the device.

load ../helper

# alone ARGUMENT...: run the static command in a root that has nothing else.
alone()
{
	chroot "$root" /hyptrace "$@"
}

@test "the static command traces in a root with nothing else" {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/dev"
	cp /usr/local/libexec/static/hyptrace "$root/"
	cp -a /dev/hyptrace "$root/dev/"
	same "$(cd "$root" && find . -mindepth 1 | sort | xargs)" "./dev ./dev/hyptrace ./hyptrace"
	run -0 alone --version
	run -0 alone list
	says hypervisor
	alone -r test enable selftest
	alone -r test start
	alone -r test mark 5 --count 3 -C 0
	same "$(alone -r test stream -n 3 --time=rel | ids | tr '\n' ' ')" "5 6 7 "
	alone -r test mark 8 -C 0
	run -0 alone -r test show
	says 'id=8'
	run -0 alone -r test status
	says tracing
	same "$(alone -r test status -j | jq -r '.[0].state')" tracing
	run -2 alone enable hyp_entr
	says 'did you mean "hyp_enter"?'
}
