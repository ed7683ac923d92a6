#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The verbs report and dump, on files that hyptrace record and trace-cmd would have written. They need no driver.
#
# shellcheck disable=SC2154,SC2030,SC2031 # run sets variables that shellcheck does not see
#
#   HYPTRACE=FILE	the command (hyptrace)
#   MAKE_FILE=FILE	make_file of this folder

load files

@test "report prints all events, and says so" {
	made -n 20000 -c 3
	hyptrace report t.dat >lines 2>note
	[[ $(wc -l <lines) == "$(awk '{ n += $2 } END { print n }' made)" ]]
	[[ $(<note) == "hyptrace: $(wc -l <lines) events printed, 0 lost" ]]
	# they are in order
	awk '{ print $2 }' lines | sort -c -n
}

@test "report -C, --count, --from and --to choose lines" {
	made -n 20000 -c 3
	report --ns >lines
	grep -F '[001] ' lines | cmp - <(report --ns -C 1)
	tail -n 50 lines | cmp - <(report --ns --count 50)
	# in nanoseconds
	awk '{ t = $2; gsub(/[.:]/, "", t); t += 0; if (!from) from = t } t >= from + 1000000 && t <= from + 2000000' lines >some
	[[ -s some ]]
	cmp some <(report --ns --from=+1ms --to=+2ms)
	last=$(tail -n 1 lines | awk '{ sub(":", "", $2); print $2 }')
	tail -n 1 lines | cmp - <(report --ns --from="$last")
	run hyptrace report -C 7 t.dat
	((status == 2))
	[[ $output == 'hyptrace: cannot read "t.dat": it has no CPU 7' ]]
	run hyptrace report --from=soon t.dat
	((status == 1))
	[[ $output == *'bad time "soon"'* ]]
}

@test "report -e and -F choose events" {
	made -n 20000
	report >lines
	grep ': hyp_enter: ' lines | cmp - <(report -e hyp_enter)
	grep -E ': hyp_(enter|exit): ' lines | cmp - <(report -e 'hyp_e*')
	grep 'vcpu=701\b' lines | grep ': hyp_enter: ' | cmp - <(report -e hyp_enter -F 'vcpu == 701')
	hyptrace report -e hyp_enter t.dat 2>note >/dev/null
	grep -q "$(grep -vc ': hyp_enter: ' lines) filtered, 0 lost" note
	# the marks have an id without names, too
	run -1 hyptrace report -F 'id == __kvm_nosuch' t.dat
	[[ ${lines[0]} == 'hyptrace: wrong filter: the field "id" has no value "__kvm_nosuch"' ]]
	# other events have this field
	run -1 hyptrace report -e hyp_exit -F 'pfn == 1' t.dat
	[[ ${lines[0]} == 'hyptrace: wrong filter: '*'no field "pfn"'* ]]
	run hyptrace report -e hyp_entr t.dat
	((status == 2))
	[[ $output == *'did you mean "hyp_enter"?'* ]]
}

@test "report -j and --csv have the same events" {
	command -v jq >/dev/null || skip "there is no jq"
	made -n 5000
	report -j | jq -r '[.cpu, .ts, .event] | @csv' | tr -d '"' >json
	report --csv | tail -n +2 | awk -F , '{ print $2 "," $1 "," $3 }' | cmp - json
	run -1 hyptrace report -j --csv t.dat
	[[ $output == *'--csv and --json exclude each other' ]]
}

@test "report marks losses where they are" {
	made -n 20000 -l 10
	lost=$(awk '{ n += $3 } END { print n }' made)
	[[ $(report | sed -n 's/.*: LOST \([0-9]*\) events*$/\1/p' | awk '{ n += $1 } END { print n }') == "$lost" ]]
	hyptrace report -q t.dat 2>&1 >/dev/null | grep -q " $lost lost"
}

@test "a compressed file has the same events" {
	made -n 20000 -c 3
	report >plain
	made -n 20000 -c 3 -z
	report | cmp - plain
	tail -n 7 plain | cmp - <(report -n 7)
}

@test "report prints what a killed recording has left" {
	made -n 20000 -c 3 -k
	hyptrace report t.dat.part >lines 2>note
	[[ $(wc -l <lines) == "$(awk '{ n += $2 } END { print n }' made)" ]]
	grep -q 'was not finished' note
}

@test "report names damage and prints the rest" {
	made -n 20000 -c 1
	report >lines
	truncate -s -5000 t.dat
	run hyptrace report -q t.dat
	((status == 2))
	[[ $output == *'CPU 0, offset '*'the file was cut: '* ]]
	hyptrace report -q t.dat 2>/dev/null | cmp -n 100000 - lines
	run hyptrace report /dev/null
	((status == 2))
	[[ $output == 'hyptrace: cannot read "/dev/null": it is not a regular file' ]]
}

@test "losses of CPUs without events have no time from the boot" {
	made -n 20000 -c 3
	truncate -s 100000 t.dat
	report 2>/dev/null >lines || true
	grep -q ' 1000\.000000: LOST events$' lines
	hyptrace stat -j -i t.dat 2>/dev/null >numbers || true
	jq -e '.wall < 1000000000 and all(.cpus[]; .unknown == .wall or (.cpu == 0 and .unknown < .wall / 10))' numbers
}

@test "stat fits the terminal, and says where the events are if --from is too late" {
	made -n 20000 -c 3
	pty='import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
	for by in exit hcall memory; do
		COLUMNS=80 TERM=dumb python3 -c "$pty" "$hyptrace" stat -i t.dat --by "$by" </dev/null >lines
		(($(wc -L < <(tr -d '\r' <lines)) <= 80))
		grep -q '^  NAME .*SAMPLES' lines
	done
	hyptrace stat -i t.dat --by exit 2>&1 | grep -q 'SAMPLES  SAMPLES%  TIMED .*P99.9 .*GUEST'
	[[ $(hyptrace stat -i t.dat --from 5000 2>&1 >/dev/null) == *'has no event at these times, but from 1000.0'* ]]
}

@test "page says what it takes a number as, if it knows nothing about the page" {
	made -n 20000
	pfn=$(report -e mem_transition | sed -n '1s/.*pfn=\(0x[0-9a-f]*\).*/\1/p')
	run -0 hyptrace page -q "${pfn}000" t.dat
	[[ $output == *"${pfn}000 is taken as a page frame number: if it is an address, use --address" ]]
	run -0 hyptrace page --address "${pfn}000" t.dat
	[[ $output == *"pfn=$pfn"* ]]
	[[ $output != *'--address'* ]]
	run -0 hyptrace who -a "${pfn}000" -i t.dat
	[[ $output == *"pfn=$pfn"* ]]
}

@test "page and leaks take a file by its place or with -i, once" {
	made -n 20000
	hyptrace page -q 0x80100 t.dat >history
	hyptrace who -q 0x80100 t.dat | cmp history -
	hyptrace who -q -i t.dat 0x80100 | cmp history -
	run -3 hyptrace leaks -q t.dat
	same=$output
	for words in "leaks -i t.dat" "who --leaks t.dat" "who -l -i t.dat" "who t.dat --leaks"; do
		# shellcheck disable=SC2086 # they are several words
		run -3 hyptrace $words -q
		[[ $output == "$same" ]]
	done
	for words in "page 1 t.dat t.dat" "page 1 -i t.dat t.dat" "page 1 live t.dat" "leaks -i t.dat live" "leaks t.dat 1"; do
		# shellcheck disable=SC2086 # they are several words
		run -1 hyptrace $words
		[[ ${lines[0]} == 'hyptrace: unexpected argument "'* ]]
	done
	run -1 hyptrace who --leaks -C 0 t.dat
	[[ ${lines[0]} == 'hyptrace: --cpu cannot be combined with --leaks, which looks at all events' ]]
	run -1 hyptrace leaks -C 0 t.dat
	[[ ${lines[0]} == 'hyptrace: the verb "leaks" does not take --cpu' ]]
	run -1 hyptrace who --leaks -n 1 t.dat
	[[ ${lines[0]} == 'hyptrace: --count cannot be combined with --leaks, which looks at all events' ]]
	run -1 hyptrace page 1 --from +1ms
	[[ ${lines[0]} == 'hyptrace: --from and --to choose times of a file: name it with --input' ]]
	run -1 hyptrace page 1 --csv -j t.dat
	[[ ${lines[0]} == 'hyptrace: --csv and --json exclude each other' ]]
}

@test "page -C and -n choose changes" {
	made -n 20000 -c 2
	pfn=$(report -e mem_transition | sed -n 's/.*\(pfn=0x[0-9a-f]*\).*/\1/p' | sort | uniq -c | sort -n | sed -n '$s/.*=//p')
	hyptrace page -q "$pfn" t.dat | tail -n +2 >lines
	(($(wc -l <lines) > 2))
	for cpu in 0 1; do
		grep -F "[00$cpu] " lines | cmp - <(hyptrace page -q -C "$cpu" "$pfn" t.dat | tail -n +2)
	done
	tail -n 2 lines | cmp - <(hyptrace page -q -n 2 "$pfn" t.dat | tail -n +2)
	run hyptrace page -C 7 "$pfn" t.dat
	((status == 2))
	[[ $output == 'hyptrace: cannot read "t.dat": it has no CPU 7' ]]
}

@test "strace -o writes the lines to a file, but not over the file that it reads" {
	made -n 20000
	hyptrace strace -q -T -i t.dat >lines
	grep -q ': __kvm_vcpu_run(host_vcpu=.*) = irq <' lines
	hyptrace strace -q -T -i t.dat -o file >said
	[[ ! -s said ]]
	cmp file lines
	run -2 hyptrace strace -i t.dat -o ./t.dat
	[[ $output == *'"./t.dat": it is the file to read' ]]
	hyptrace strace -q -T -i t.dat | cmp - lines
	# no error
	! hyptrace strace -q -j -i t.dat | grep '"error":"irq"' || false
	for verb in strace stat record; do
		run -1 hyptrace "$verb" workload --mmio 1
		[[ $output == *'unexpected argument "workload"'*'"--"'* ]]
	done
}

# refuses FILE WHY: report cannot read the file.
refuses()
{
	run -2 hyptrace report "$1"
	[[ $output == "hyptrace: cannot read \"$1\": $2" ]] || { echo "$output"; false; }
}

@test "what is no trace file is named" {
	made -n 2000 -c 2
	hyptrace export -q -o t.pftrace t.dat
	refuses t.pftrace 'it is not a trace file, but a Perfetto trace: open it in https://ui.perfetto.dev'
	refuses "$MAKE_FILE" 'it is not a trace file, but an ELF file'
	printf 'PERFILE2 and more' >perf.data
	refuses perf.data 'it is not a trace file, but a file of perf: use "perf script"'
	printf '\n\nlines of text\n' >text
	refuses text 'it is not a trace file'
	: >nothing
	refuses nothing 'it is not a trace file, but empty'
	rm t.dat
	made -n 20000 -c 3 -k
	refuses t.dat.part.cpu1 'it has one CPU of an unfinished recording: read "t.dat.part", which finds this file, too'
	refuses t.dat 'No such file or directory, but the recording has left "t.dat.part": read that'
	refuses none.dat 'No such file or directory'
}

@test "an export that is interrupted exits with 130" {
	local status=0
	made -n 20000
	mkfifo pipe
	exec 4<>pipe
	"$hyptrace" export -q -f jsonl -o pipe t.dat 2>said 3>&- &
	# it has begun, and the pipe has no room for all
	read -r -n 1 <&4
	kill -INT $!
	wait $! || status=$?
	exec 4<&-
	((status == 130))
	[[ $(<said) == 'hyptrace: the export was interrupted' ]]
}

@test "an export shows its progress on a terminal; SIGINT ends a report and a stat" {
	made -n 20000
	mkfifo shown quiet piped
	python3 - "$hyptrace" 3>&- <<'EOF'
import fcntl, os, pty, signal, subprocess, sys
pipes, ends = {}, {}
for name in "quiet", "piped", "shown":
    # no export ends before its pipe is read
    pipes[name] = os.open(name, os.O_RDWR)
    ends[name], err = os.pipe() if name == "piped" else pty.openpty()
    command = [sys.argv[1], "export", "-f", "jsonl", "-o", name, "t.dat"] + (["-q"] if name == "quiet" else [])
    program = subprocess.Popen(command, stderr=err)
    os.close(err)
said = os.read(ends["shown"], 100)
assert said.startswith(b"\rhyptrace: ") and said.rstrip(b"\r").endswith(b" % read"), said
for name in "quiet", "piped":
    os.set_blocking(ends[name], False)
    try:
        raise AssertionError(os.read(ends[name], 100))
    except BlockingIOError:
        pass
for name in pipes:
    subprocess.Popen(["cat", name], stdout=subprocess.DEVNULL)
    os.close(pipes[name])
assert not program.wait()
said = b""
while not said.endswith(b"\n"):
    # each write is a read of its own, and the end is EIO
    said += os.read(ends["shown"], 9999)
assert b"\r\033[Khyptrace: " in said and said.endswith(b" events exported, 0 lost\r\n"), said

read, write = os.pipe()
size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
os.write(write, bytes(size))
for verb in ["report", "-q"], ["stat", "-q", "-i"]:
    # it cannot end: the pipe is full
    program = subprocess.Popen([sys.argv[1], *verb, "t.dat"], stdout=write)
    program.send_signal(signal.SIGINT)
    assert program.wait() == -signal.SIGINT, verb
EOF
}

@test "export --with takes a Perfetto trace, and nothing else" {
	made -n 2000 -c 2
	hyptrace export -q -o host.pftrace t.dat
	hyptrace export -q --with=host.pftrace -o out.tar t.dat
	for other in t.dat "$MAKE_FILE" made; do
		run -2 hyptrace export --with="$other" -o other.tar t.dat
		[[ $output == "hyptrace: \"$other\" is not a Perfetto trace: --with takes one of the host" ]]
		[[ ! -e other.tar ]]
	done
}

@test "report prints files of trace-cmd like trace-cmd" {
	for options in '' '--version 7' '--big-endian' '--big-endian --long 4 --page 65536' '--version 7 --long 4'; do
		# shellcheck disable=SC2086 # words
		host $options
		report >lines
		[[ $(wc -l <lines) == 2000 ]]
		grep -q '^         task100-100   \[001\]     5.000001: irq_handler_entry: irq=1 name=virtio1-input.0$' lines
		grep -q ' print: do_something: marker 7$' lines
		if command -v trace-cmd >/dev/null; then
			# without the times, which trace-cmd rounds, and with one blank between all words
			trace-cmd report -N t.dat 2>/dev/null | sed -n 's/ *[0-9]*\.[0-9]*: */ /p' | tr -s ' ' >theirs
			sed 's/ *[0-9]*\.[0-9]*: */ /' lines | tr -s ' ' | cmp - theirs
		fi
	done
}

@test "report filters the events of trace-cmd, and prints them as JSON and CSV" {
	host
	[[ $(report -F 'irq == 9 && common_pid == 300' | wc -l) -gt 0 ]]
	report -e irq_handler_entry -j | head -n 1 | grep -q '"name":"virtio'
	[[ $(report -e irq_handler_entry --csv | head -n 1) == *,irq,name ]]
}

@test "an export does not replace the file that it reads" {
	made -n 1000
	cp t.dat before.dat
	ln -s t.dat link.dat
	for out in t.dat link.dat; do
		run -2 hyptrace export -f csv -o "$out" t.dat
		[[ $output == "hyptrace: \"$out\" is read: give the output another name" ]]
	done
	run -2 hyptrace export -f perfetto --with before.dat -o before.dat t.dat
	cmp t.dat before.dat
}

@test "dump prints what a file says" {
	made -n 20000 -c 3
	hyptrace dump t.dat >text
	grep -q 'remote *hypervisor$' text
	grep -q 'description of the remote' text
	[[ $(hyptrace dump --subbufs t.dat | sed 's/.* bytes, *\([0-9]*\) events.*/\1/' | awk '{ n += $1 } END { print n }') == \
		"$(awk '{ n += $2 } END { print n }' made)" ]]
	if command -v jq >/dev/null; then
		[[ $(hyptrace dump -j t.dat | jq '[.cpus[].events] | add') == "$(awk '{ n += $2 } END { print n }' made)" ]]
	fi
}

@test "a pager prints the lines on a terminal" {
	command -v script >/dev/null || skip "there is no script(1)"
	host
	HYPTRACE_PAGER='head -n 2' script -qec "$hyptrace report t.dat" /dev/null >lines </dev/null
	[[ $(grep -c task lines) == 1 || $(grep -c 'sched_switch\|irq' lines) == 2 ]]
}

@test "strace -i: -e, -F and -p choose calls, and wrong ones are refused" {
	made -n 20000 -c 2
	hyptrace strace -qj -i t.dat >all
	hyptrace strace -qj -i t.dat -e '__pkvm_host_*,WFx' >some
	jq -c 'select((.name | startswith("__pkvm_host_")) or .name == "WFx")' all >expected
	[[ -s some ]]
	cmp some <(jq -c . expected)
	hyptrace strace -qj -i t.dat -e 'trace=!__pkvm_host_*,WFx' | cmp - <(grep -vxFf expected all)
	hyptrace strace -qj -i t.dat -F 'duration > 50us' | cmp - <(jq -c 'select((.duration // "0" | tonumber) > 50000)' all)
	# the VM of CPU 1, by its handle and by the thread of its vCPU
	hyptrace strace -qj -i t.dat -e guest_exit -p 0x1001 | cmp - <(jq -c 'select(.vm == 4097)' all)
	hyptrace strace -qj -i t.dat -e guest_exit -p 704 -p 705 | cmp - <(jq -c 'select(.vm == 4097)' all)
	run hyptrace strace -i t.dat -e '!__pkvm_host_shar_hyp'
	((status == 2))
	[[ $output == *'no such call; did you mean "__pkvm_host_share_hyp"?' ]]
	run hyptrace strace -i t.dat -e '!*'
	((status == 2))
	[[ $output == *'--trace excludes all calls' ]]
	run hyptrace strace -i t.dat -F 'pfn == 1'
	((status == 1))
	[[ $output == *'no event has a field "pfn"'* ]]
	run hyptrace strace -i t.dat -p 0x
	((status == 1))
	[[ $output == *'bad VM "0x"'* ]]
	run hyptrace strace -i t.dat -e ,
	((status == 1))
	run hyptrace strace -i t.dat -- true
	((status == 1))
	run hyptrace strace -i missing.dat
	((status == 2))
}

@test "strace -i: --from, --to, -n and -C mean what they mean in report, and the last line says what was left out" {
	made -n 20000 -c 2
	hyptrace strace -qj -i t.dat >all
	first=$(hyptrace report -q -j t.dat | head -n 1 | jq -r .ts)
	# of these times, and as report chooses them
	hyptrace strace -qj -i t.dat --from +20ms --to +30ms >some
	[[ -s some ]]
	cmp <(jq -c '[.time, .name, .result]' some) <(jq -c "select((.time | tonumber) as \$t | \$t >= $first + 20000000 and
		\$t <= $first + 30000000) | [.time, .name, .result]" all)
	for options in '' '-p 0x1001' '-T -e *,guest_fixup' '-C 1 -F duration>50us'; do
		# shellcheck disable=SC2086 # words
		(set -f && hyptrace strace -q -i t.dat $options >lines && hyptrace strace -q -i t.dat $options -n 7 >last)
		cmp last <(tail -n 7 lines)
	done
	(($(hyptrace strace -qcj -i t.dat -n 50 | jq 'map(.calls) | add') == 50))
	# losses before the last calls are not printed
	made -n 20000 -c 2 -p 8 -l 20
	hyptrace strace -q -i t.dat -n 30 >last
	[[ $(head -n 1 last) != *LOST* && $(grep -vc LOST last) == 30 ]]
	made -n 20000 -c 2
	calls=$(wc -l <all) some=$(grep -c '"kind":"host_hcall"' all)
	hyptrace strace -i t.dat -e host_hcall 2>&1 >/dev/null | grep -qx "hyptrace: $some calls printed, $((calls - some)) filtered, 0 events lost"
	hyptrace strace -c -i t.dat 2>&1 >/dev/null | grep -qx "hyptrace: $calls calls counted, 0 events lost"
	for options in '--duration 1s' '--from 1s --to x' '-n 0'; do
		# shellcheck disable=SC2086 # words
		run -1 hyptrace strace -i t.dat $options
	done
	run -1 hyptrace strace --from 1
	[[ $output == *'name it with --input'* ]]
}

@test "strace -p says that no call of the VM is in the file" {
	made -n 5000 -c 2
	run -0 hyptrace strace -q -i t.dat -p 99999 -p 700
	[[ $(grep 'has no call' <<<"$output") == 'hyptrace: "t.dat" has no call of the thread 99999: use that of a vCPU, as in "vcpu=7", or the handle of a VM' ]]
	run -0 hyptrace strace -q -i t.dat -p 0xabc
	[[ $output == 'hyptrace: "t.dat" has no call of the VM 0xabc: none of its vCPUs has run' ]]
	# it is there, but it has made no such call
	run -0 hyptrace strace -q -i t.dat -p 700 -F 'ret == 4711'
	[[ -z $output ]]
}

@test "strace -c --csv has the sums of --json" {
	made -n 5000 -c 2
	hyptrace strace -qc --csv -i t.dat >csv
	[[ $(head -n 1 csv) == calls,errors,kind,name,total ]]
	cmp <(tail -n +2 csv) <(hyptrace strace -qcj -i t.dat | jq -r '.[] | [.calls, .errors, .kind, .name, .total] | @csv' | tr -d '"')
	run -1 hyptrace strace --csv -i t.dat
	run -1 hyptrace strace -c -j --csv -i t.dat
}

@test "stat prints the times of CPUs and a row of each reason" {
	made -n 20000 -c 3
	hyptrace stat -i t.dat >text 2>note
	[[ $(<note) == "hyptrace: $(awk '{ n += $2 } END { print n }' made) events read, 0 lost" ]]
	[[ $(awk 'NF { print $1 }' text | xargs) == "CPU 0 1 2 NAME "* ]]
	hyptrace stat -q -j -i t.dat >json
	jq -e 'all(.cpus[]; .unknown < .wall / 1000 and .host + .el2 + .guest + .unknown == .wall)' json
	[[ $(jq -r '.rows | sort_by(-.total)[].name' json) == "$(jq -r '.rows[].name' json)" ]]
	hyptrace stat -q -j -i t.dat -k name >sorted
	[[ $(jq -r '.rows[].name' sorted) == "$(jq -r '.rows[].name' json | LC_ALL=C sort)" ]]
	# the rows of each CPU, of some CPUs, of some time
	hyptrace stat -q -j -i t.dat --per-cpu >cpus
	[[ $(jq -c '[.rows[].samples] | add' cpus) == "$(jq -c '[.rows[].samples] | add' json)" ]]
	[[ $(hyptrace stat -q -j -i t.dat -C 1 | jq -c '[.rows[] | [.name, .samples]] | sort') == \
		"$(jq -c '[.rows[] | select(.cpu == 1) | [.name, .samples]] | sort' cpus)" ]]
	[[ $(hyptrace stat -q -j -i t.dat --from=+1ms --to=+2ms | jq '[.cpus[].events] | add') == \
		$(report --from=+1ms --to=+2ms | wc -l) ]]
}

@test "stat says which events to record, and refuses what it cannot do" {
	made -n 2000 -c 2 -m
	run -0 --separate-stderr hyptrace stat -i t.dat --by hcall
	[[ $stderr == *'"hyptrace record -e hyp_enter,hyp_exit,host_hcall"'* ]]
	hyptrace stat -q -i t.dat 2>note
	[[ ! -s note ]]
	for arguments in '-i t.dat --duration 1' '-i t.dat -- true' '--from 1 --duration 1' '-i t.dat --csv -j' '--by this' \
		'-k this' 't.dat' '--interval 0' '-i t.dat --from x'; do
		# shellcheck disable=SC2086 # they are several words
		run -1 --separate-stderr hyptrace stat $arguments
		[[ -z $output && $stderr == hyptrace:* ]]
	done
	run -2 --separate-stderr hyptrace stat -i none.dat
	[[ $stderr == 'hyptrace: cannot read "none.dat": No such file or directory' ]]
	run -2 --separate-stderr hyptrace stat -i t.dat -C 5
	[[ $stderr == *'it has no CPU 5' ]]
}

@test "stat counts a damaged place, and all other events" {
	made -n 20000 -c 1
	# a record that is longer than its sub-buffer
	python3 - <<-'PYTHON'
		data = bytearray(open("t.dat", "rb").read())
		at = len(data) // 2 // 4096 * 4096 + 16
		data[at:at + 8] = b"\0\0\0\0\xf0\xff\xff\xff"
		open("t.dat", "wb").write(data)
	PYTHON
	run -2 --separate-stderr hyptrace stat -i t.dat
	[[ $stderr == *'bad record'*' or more lost' ]]
	[[ $(hyptrace stat -q -j -i t.dat 2>/dev/null | jq '.cpus[0] | .events, .lost_more, .unknown > 0' | xargs) == \
		"$(report 2>/dev/null | grep -vc LOST) true true" ]]
}

@test "of a file, -n N chooses the last N events in each verb" {
	made -n 20000 -c 3
	last=$(report -e guest_exit | tail -n 7)
	[[ $(wc -l <<<"$last") == 7 && $(report -e guest_exit -n 7) == "$last" ]]
	diff <(hyptrace report -q -j -e guest_exit -n 7 t.dat) \
		<(hyptrace export -q -f jsonl -e guest_exit -n 7 t.dat | sed 's/,"machine":.*/}/')
	diff <(hyptrace strace -q -i t.dat -n 5) <(hyptrace strace -q -i t.dat | tail -n 5)
	hyptrace export -n 7 -e guest_exit -o seven.json t.dat 2>note
	[[ $(<note) == 'hyptrace: 7 events exported, '*' filtered, 0 lost' ]]
	[[ $(jq '[.traceEvents[] | select(.ph == "X")] | length' seven.json) == 7 ]]
}

@test "catch -i finds the events that report prints with the same filter, and what surrounds them" {
	made -n 20000 -c 3
	hyptrace catch -j -i t.dat 'guest_exit && duration > 2us' --after 2 >caught 2>note
	diff <(report -j -e guest_exit -F 'duration > 2us' | jq -c 'select(.event) | [.cpu, .ts, .fields]') \
		<(jq -c '.event | [.cpu, .ts, .fields]' caught)
	grep -qx "hyptrace: $(wc -l <caught) events caught, 0 lost" note
	# of its CPU right before and after it, and of the others while it lasted
	report -j | jq -c 'select(.event) | [.cpu, .ts]' >all
	tail -n 20 caught | head -n 1 | jq -c '.event.cpu as $cpu | (.before + [.event] + .after)[] | [$cpu, .ts]' >around
	cpu=$(head -n 1 around | cut -c2)
	grep "^\[$cpu," all | grep -m 1 -F -A 22 -x "$(head -n 1 around)" | diff - around
	jq -es 'all(.event as $e | .meanwhile | all(.cpu != $e.cpu and (.ts | tonumber) <= ($e.ts | tonumber)))' caught
	# limits and times
	diff <(hyptrace catch -qj -i t.dat -n 3 guest_exit | jq -c .event) \
		<(hyptrace catch -qj -i t.dat guest_exit | tail -n 3 | jq -c .event)
	[[ $(hyptrace catch -qj -i t.dat --from +1ms --to +2ms guest_exit | wc -l) == $(report --from +1ms --to +2ms -e guest_exit | wc -l) ]]
	[[ $(hyptrace catch -qj -i t.dat -C 1 guest_exit | jq '.event.cpu' | sort -u) == 1 ]]
	# what is around them is chosen, and all of them are caught as before
	hyptrace catch -j -i t.dat -e hyp_enter,hyp_exit -F 'reason == eret_host' 'guest_exit && duration > 2us' >chosen 2>note
	diff <(jq -c '.event | [.cpu, .ts, .fields]' chosen) <(jq -c '.event | [.cpu, .ts, .fields]' caught)
	grep -qxE "hyptrace: $(wc -l <caught) events caught, [1-9][0-9]* filtered, 0 lost" note
	[[ $(jq -r '(.before + .meanwhile)[] | .event, .symbols.reason // empty' chosen | sort -u | xargs) == 'eret_host guest_exit hyp_exit' ]]
	run -2 hyptrace catch -i /nonexistent guest_exit
	[[ $output == 'hyptrace: cannot read "/nonexistent": '* ]]
	run -1 hyptrace catch -i t.dat -o x guest_exit
	run -1 hyptrace catch --from 1 guest_exit
}
