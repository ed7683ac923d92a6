# shellcheck shell=bash
# shellcheck disable=SC2154 # record.sh sets the variables
# SPDX-License-Identifier: GPL-2.0-only
# Tests of "hyptrace record --host", with the folder of fake_tracefs.c in place of tracefs. For record.sh, which runs them.

# The host's events come from the folder of fake_tracefs.c.
host()
{
	record FAKE_TRACEFS="$work/tracefs" FAKE_WAITS=20 "${@:1:$#-1}" -- --host kvm,fake:* ${!#}
	same "$code" 0 code || return
	same "$(ls tracefs/instances)" "" "instances that are left"
}

# said_of_host: the counts of the host in the summary: "RECORDED LOST"
said_of_host()
{
	sed -nE 's/^hyptrace: ([0-9]+) events of the host recorded, ([0-9]+) lost$/\1 \2/p' <<<"$said"
}

# events_of_host FILE [OPTION...]: how many events of the host "report" prints
events_of_host()
{
	"$hyptrace" report -q "${@:2}" "$1" | grep -c ': host workload-42 .*\(kvm_exit\|kvm_entry\|fake_event\): '
}

test_host_beside_the_remote()
{
	local option
	for option in -q -z; do
		host FAKE_HOST_LOST=0 "${option#-q}" || return
		same "$(said_of_host)" "1998 0" summary || return
		same "$(events_of_host hyptrace.dat)" 1998 "events of the host" || return
		same "$("$hyptrace" report -q hyptrace.dat | grep -vc ': host ')" "$(counts | cut -d ' ' -f 1)" "other events" || return
		"$hyptrace" report -q --ns hyptrace.dat | sed -E 's/^\[0[0-9]+\] +([0-9.]+):.*/\1/' | sort -c -g || return
		command -v trace-cmd >/dev/null || continue
		trace-cmd report -t hyptrace.dat 2>/dev/null |
			sed -nE 's/^.*\[([0-9]+)\] +([0-9]+\.[0-9]+): ([a-z_]+): .*/\1 \2 \3/p' | sort >theirs
		"$hyptrace" report -q --ns --raw hyptrace.dat |
			sed -nE 's/^\[([0-9]+)\] +([0-9]+\.[0-9]+): (host [^ ]+ +)?([a-z_]+): .*/\1 \2 \4/p' | sort >ours
		cmp theirs ours || return
	done
}

test_host_losses_are_counted()
{
	host FAKE_HOST_LOST=7 "" || return
	same "$(said_of_host)" "1998 14" summary || return
	same "$("$hyptrace" report -q hyptrace.dat | grep -c ': host LOST 7 events$')" 2 "losses" || return
	same "$(LC_ALL=C grep -aE '^host-cpu [0-9]+ 1 ' hyptrace.dat | awk '{ print $4 + 0, $5 + 0 }' | uniq)" "999 7" counts || return
	[[ $("$hyptrace" report hyptrace.dat 2>&1 >/dev/null) == *', 14 lost' ]] || return
	same "$("$hyptrace" report -n 30000 hyptrace.dat 2>&1 >/dev/null)" "hyptrace: 30000 events printed, 0 lost" "losses of the last events" || return
	same "$("$hyptrace" dump -j hyptrace.dat | jq -c '[.host_cpus[] | [.cpu, .events, .lost]]')" "[[0,999,7],[1,999,7]]" dump
}

test_host_choice()
{
	local all
	host FAKE_HOST_LOST=0 "" || return
	same "$(events_of_host hyptrace.dat -C 1)" 999 "one CPU" || return
	same "$("$hyptrace" report -q -e kvm_exit -e hyp_enter hyptrace.dat | awk '{ print ($3 == "host") ? $5 : $3 }' | sort -u | xargs)" \
		"hyp_enter: kvm_exit:" events || return
	same "$("$hyptrace" report -q -F 'esr_ec == 0x24 && vcpu_pc < 6' hyptrace.dat | grep -c 'kvm_exit')" 4 filter || return
	"$hyptrace" report -q hyptrace.dat >all
	all=$(wc -l <all)
	same "$("$hyptrace" report -q -n 30000 hyptrace.dat | cmp - <(tail -n 30000 all))" "" "last events" || return
	same "$("$hyptrace" report -q -j hyptrace.dat | jq -c 'select(.host) | .event' | sort | uniq -c | xargs)" \
		"666 fake_event 666 kvm_entry 666 kvm_exit" JSON || return
	same "$("$hyptrace" report -q --csv hyptrace.dat | wc -l)" "$((all - 1998 + 1))" CSV || return
	"$hyptrace" report -q -C 5 hyptrace.dat 2>err
	same "$(<err)" "hyptrace: cannot read \"hyptrace.dat\": it has no CPU 5" CPU
}

test_host_is_refused()
{
	record FAKE_TRACEFS="$work/tracefs" -- --host kvm,nothing
	same "$code $said" '2 hyptrace: cannot record the host: tracefs has no event "nothing"' unknown || return
	record FAKE_TRACEFS="$work/tracefs" -- --host kvm_exiit
	same "$code $said" '2 hyptrace: cannot record the host: tracefs has no event "kvm_exiit"; did you mean "kvm:kvm_exit"?' "a wrong letter" || return
	record FAKE_TRACEFS="$work/tracefs" -- --host fak,kvn
	same "$code $said" '2 hyptrace: cannot record the host: tracefs has no event "fak"; did you mean "fake"?' "a system" || return
	record FAKE_TRACEFS="$work/none" FAKE_HOST_EMPTY=1 -- --host kvm
	same "$code $said" '2 hyptrace: cannot record the host: this kernel has no tracefs, or it is not mounted' "an empty folder" || return
	record -- --host kvm
	same "$code $said" '2 hyptrace: cannot record the host: this kernel has no tracefs, or it cannot be mounted' tracefs || return
	record FAKE_TRACEFS="$work/tracefs" -- --host kvm --snapshot
	same "$code ${said%%$'\n'*}" "1 hyptrace: --snapshot saves what the rings hold: it does not record the host" snapshot || return
	record FAKE_TRACEFS="$work/tracefs" -- --host ,
	same "$code ${said%%$'\n'*}" '1 hyptrace: no event given: use "kvm:kvm_exit", a system such as kvm, or a glob' "no event" || return
	record FAKE_TRACEFS="$work/tracefs" -- --host kvm -- ./none
	same "$code" 2 command || return
	same "$(ls hyptrace.dat* tracefs/instances 2>/dev/null)" tracefs/instances: "what is left"
}

test_host_instance()
{
	local name said
	# shellcheck disable=SC2016 # the shell inside expands it
	said=$(FAKE_TRACEFS=$work/tracefs FAKE_WAITS=3 bash -c '
		mkdir -p "$FAKE_TRACEFS/instances/hyptrace-$$/mine" && exec "$1" record -q --host kvm' - "$hyptrace" 2>&1) || return
	same "$said" "" "what it says" || return
	name=$(ls tracefs/instances)
	same "$(ls "tracefs/instances/$name")" mine "the other instance" || return
	rm -r tracefs/instances
	record FAKE_TRACEFS="$work/tracefs" FAKE_WAITS=3 FAKE_HOST_STUCK=1 -- -q --host kvm
	same "$code $said" "0 hyptrace: cannot remove the instance of tracefs: remove $(echo "$work"/tracefs/instances/hyptrace-*)" note
}

test_host_limit_and_rotation()
{
	local option
	for option in '--limit 300K' '-z --limit 100K'; do
		rm -f hyptrace.dat*
		host FAKE_HOST=30000 FAKE_HOST_LOST=3 "$option --rotate 1000" || return
		[[ -e hyptrace.dat.1 ]] || return
		same "$(said_of_host)" "60000 6" summary || return
		same "$(for file in hyptrace.dat*; do events_of_host "$file"; done | awk '{ n += $1 } END { print n }')" 60000 "events of all files" || return
	done
	rm -f hyptrace.dat*
	host FAKE_HOST=30000 FAKE_STEP=10 "--limit 300K" || return
	(($(stat -c %s hyptrace.dat) <= 307200))
}

# A recording ends although reading makes events, and takes all that is there then.
test_reading_makes_events()
{
	local option
	for option in -q -z; do
		# shellcheck disable=SC2086 # no option, or one
		record FAKE_WAITS=20 FAKE_MARKS=1 FAKE_PACE=1 FAKE_STEP=100 -- ${option#-q}
		same "$code" 0 code || return
		agrees hyptrace.dat || return
		same "$(counts | cut -d ' ' -f 2)" 0 lost || return
		# shellcheck disable=SC2086 # no option, or one
		record FAKE_WAITS=20 FAKE_PACE=1 FAKE_SLEEP=5000 FAKE_TRACEFS="$work/tracefs" -- --host kvm ${option#-q}
		same "$code" 0 "code with the host" || return
		(($(said_of_host | cut -d ' ' -f 1) > 2000)) || return
	done
}

# is_empty FOLDER, within 10 s
is_empty()
{
	local i
	for ((i = 0; i < 100; i++)); do
		[[ -n $(ls "$1") ]] || return 0
		sleep 0.1
	done
	echo "# left: $(ls "$1")"
	return 1
}

test_host_after_a_kill()
{
	local pid option
	for option in -q -z; do
		FAKE_TRACEFS=$work/tracefs FAKE_SLEEP=10000 FAKE_WAITS=2000 "$hyptrace" record -q $option --host kvm,fake &
		pid=$!
		while [[ $(find . -name 'hyptrace.dat.part.host*' -size +1 | wc -l) != 2 ]]; do
			kill -0 "$pid" || return
			sleep 0.05
		done
		kill -KILL "$pid"
		wait "$pid" 2>/dev/null
		is_empty tracefs/instances || return
		# only a finished file has the names of the tasks
		(($("$hyptrace" report -q hyptrace.dat.part | grep -c ': host <...>-42 .*\(kvm\|fake\)') >= 1000)) || return
		rm -f hyptrace.dat*
	done
}

test_host_in_perfetto()
{
	host FAKE_HOST_LOST=7 "" || return
	"$hyptrace" export -q -o both.tar hyptrace.dat || return
	same "$(tar tf both.tar | xargs)" "hyptrace.pftrace host.pftrace" TAR || return
	tar xf both.tar
	protoc -I "$here" --decode=Trace perfetto.proto <host.pftrace >host.txt || return
	same "$(grep -cE '^ +kvm_exit \{' host.txt) $(grep -c 'kvm_entry {' host.txt) $(grep -c 'event_name: "fake_event"' host.txt)" "666 666 666" events || return
	same "$(grep -c 'pid: 42' host.txt) $(grep -c 'lost_events: true' host.txt)" "1998 2" "processes, losses" || return
	same "$(grep -A 5 -m 1 'event_name: "fake_event"' host.txt | tr -d ' \n')" \
		'event_name:"fake_event"field{name:"name"str_value:"fake"}field{' "a generic event" || return
	same "$(grep -o 'int_value: -[0-9]*' host.txt | head -n 2 | xargs)" "int_value: -2 int_value: -5" "its number" || return
	"$hyptrace" export -q -e 'hyp_*' -o one.pftrace hyptrace.dat || return
	protoc -I "$here" --decode=Trace perfetto.proto <one.pftrace | grep -c hypervisor_hyp_enter >hits || return
	"$hyptrace" export -q --with=host.pftrace -o no.tar hyptrace.dat 2>err
	same "$(<err)" 'hyptrace: "hyptrace.dat" has events of the host: it needs no --with' "--with" || return
	record FAKE_WAITS=3 -- -o plain.dat
	"$hyptrace" export -q -o no.tar plain.dat 2>err
	[[ $(<err) == *'has no events of the host: use --with'* && ! -e no.tar ]]
}

# damage_host FILE: make a sub-buffer of the host have more bytes than it can
damage_host()
{
	python3 - "$1" <<-'END'
		import sys
		with open(sys.argv[1], "r+b") as f:
		    page = f.read().index(b"fake\0\0\0\0") & ~4095
		    f.seek(page + 8)
		    f.write(b"\xff\xff\x0f\0")
	END
}

test_host_damage_and_losses_in_perfetto()
{
	host FAKE_HOST_LOST=7 "" || return
	"$hyptrace" export -o both.tar hyptrace.dat 2>err || return
	same "$(grep ' host ' err)" "hyptrace: 1998 events of the host exported, 14 lost" note || return
	"$hyptrace" export -q -o both.tar hyptrace.dat 2>err || return
	same "$(grep ' host ' err)" "hyptrace: 1998 events of the host exported, 14 lost" "note with -q" || return
	damage_host hyptrace.dat || return
	code=0
	"$hyptrace" export -q -o both.tar hyptrace.dat 2>err || code=$?
	same "$code $(grep -c '^hyptrace: "hyptrace.dat": ' err)" "2 1" "code, messages" || return
	tar tf both.tar >list
}
