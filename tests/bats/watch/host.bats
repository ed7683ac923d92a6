#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# record --host: the host's own tracing beside that of the hypervisor, of a guest that runs. A kernel without tracefs
# refuses it.

load ../helper

REMOTE=hypervisor
tracefs=/sys/kernel/tracing

setup()
{
	fresh
	cd "$BATS_TEST_TMPDIR" || return
}

needs_tracefs()
{
	[[ -d $tracefs/events/kvm ]] || skip "this kernel has no tracefs"
}

# no_instances: succeed if the recording's instance is gone.
no_instances()
{
	[[ -z $(ls "$tracefs/instances") ]]
}

# state: print what a recording must not change.
state()
{
	(cd "$tracefs" && head -n 1 trace_clock tracing_on buffer_size_kb events/kvm/enable events/sched/enable)
}

@test "without tracefs, the host is not recorded" {
	[[ ! -d $tracefs/events/kvm ]] || skip "this kernel has tracefs"
	run -2 ht record --host kvm -- true
	says 'hyptrace: cannot record the host: this kernel has no tracefs, or it is not mounted'
	[[ ! -e hyptrace.dat ]]
}

@test "each exit of a guest is beside the entry to EL2 that has caused it" {
	needs_tracefs
	state >before
	ht record --host kvm:kvm_entry,kvm_exit -e hyp_enter,hyp_exit -- workload --psci 200 2>said
	state | cmp - before
	no_instances
	grep -q ' events of the host recorded, 0 lost$' said
	hyptrace report -q --ns >lines
	# on each CPU: kvm_entry, EL2 enters the guest, the guest exits to EL2, EL2 returns to the host, kvm_exit
	awk '
		{ cpu = $1 }
		$3 == "host" && $5 == "kvm_entry:" { entry[cpu] = 1; exit_[cpu] = 0; next }
		$3 == "hyp_enter:" && /reason=guest_exit/ { exit_[cpu]++ }
		$3 == "host" && $5 == "kvm_exit:" {
			n++
			if (!entry[cpu] || !exit_[cpu] || last[cpu] !~ /^hyp_exit: reason=eret_host/)
				bad[++nr_bad] = $0
			entry[cpu] = 0
		}
		$3 != "host" { $1 = $2 = ""; sub(/^ +/, ""); last[cpu] = $0 }
		END {
			for (i = 1; i <= nr_bad && i < 5; i++)
				print "alone: " bad[i]
			print n, nr_bad + 0
			exit !(n >= 200 && !nr_bad)
		}' lines >&2
	in_time_order lines
	grep -q ': host workload-[0-9]* *kvm_exit: ' lines
}

# bats test_tags=slow
@test "trace-cmd and Perfetto have the same events of the host" {
	needs_tracefs
	for option in '' -z; do
		# shellcheck disable=SC2086 # no option, or one
		ht record -q $option --host kvm,sched:sched_switch -e hyp_enter,hyp_exit -- workload --psci 100
		hyptrace report -q --ns | sed -nE 's/^\[([0-9]+)\] +([0-9.]+): host .{1,16}-[0-9]+ +([a-z_0-9]+): .*/\1 \2 \3/p' | sort >ours
		(($(grep -c kvm_exit ours) >= 100 && $(grep -c sched_switch ours) >= 1))
		trace-cmd report -t hyptrace.dat 2>/dev/null |
			sed -nE 's/^.*\[([0-9]+)\] +([^ ]+ +)?([0-9]+\.[0-9]+): ((kvm|sched|vgic|timer|trap)_[a-z_0-9]+): .*/\1 \3 \4/p' | sort >theirs
		same "$(grep -cE ' (kvm|sched)_' theirs)" "$(grep -cE ' (kvm|sched)_' ours)"
		hyptrace export -q -o both.tar hyptrace.dat
		same "$(tar tf both.tar | xargs)" "hyptrace.pftrace host.pftrace"
	done
}

@test "a recording that is killed leaves no instance" {
	needs_tracefs
	hyptrace -r "$REMOTE" record -q --host sched -e hyp_enter 3>&- &
	recorder=$!
	within "$patience" test -s hyptrace.dat.part.host0
	[[ $(ls "$tracefs/instances") == "hyptrace-$recorder" ]]
	kill -KILL "$recorder"
	within "$patience" no_instances
	hyptrace report -q hyptrace.dat.part | grep -q ': host .* sched_'
}

@test "an unknown event of the host changes nothing" {
	needs_tracefs
	run -2 ht record --host kvm:kvm_exit,kvm_exxit -- true
	says 'hyptrace: cannot record the host: tracefs has no event "kvm_exxit"'
	no_instances
	[[ ! -e hyptrace.dat && ! -e hyptrace.dat.part ]]
}

@test "only the chosen CPUs of the host are recorded" {
	needs_tracefs
	# an idle CPU may switch to nothing for a second
	ht record -q -C 0 --host sched:sched_switch -e hyp_enter -- taskset -c 0 sh -c 'sleep 0.1; sleep 0.1'
	same "$(hyptrace dump -j | jq -c '[.host_cpus[].cpu]')" "[0]"
	(($(hyptrace report -q -e sched_switch | wc -l) > 0))
}
