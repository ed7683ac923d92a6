#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What stat, top, page, leaks and export make of files: times that are far away, losses, and what needs two CPUs.
#
# shellcheck disable=SC2154 # run sets variables that shellcheck does not see

load files

@test "a damaged time far away does not end endless intervals, in stat and in top" {
	made -n 2000 -c 1
	# the time of the last sub-buffer
	offset=$(hyptrace dump --subbufs t.dat | awk 'END { sub("\\[000\\] *", ""); print $1 }')
	for far in 9000000000000000 4611686018427387903; do
		python3 - "$offset" "$far" <<-'PYTHON'
			import struct, sys
			with open("t.dat", "r+b") as file:
			    file.seek(int(sys.argv[1]))
			    file.write(struct.pack("<Q", int(sys.argv[2])))
		PYTHON
		timeout 60 "$hyptrace" stat -q -j -d 1ms -i t.dat >lines || [[ $? == 2 ]]
		(($(wc -l <lines) < 3000))
		# no time is missing
		jq -s -e '[range(1; length) as $i | .[$i].begin == .[$i - 1].begin + .[$i - 1].wall] | all' lines
		[[ $(jq -s '[.[].cpus[].events] | add' lines) == $(report 2>/dev/null | grep -vc LOST) ]]
		timeout 60 "$hyptrace" top -b -d 1ms -i t.dat >blocks 2>/dev/null || [[ $? == 2 ]]
		grep -q '^hyptrace top: ' blocks
	done
}

@test "page and leaks say until when events were lost, with and without events after that" {
	made -n 20000 -c 2 -p 8 -l 20
	last=$(report --ns | sed -n 's/.*\[[0-9]*\] *\([0-9.]*\): LOST.*/\1/p' | sort -n | tail -n 1)
	lost=$(awk '{ n += $3 } END { print n }' made)
	for verb in leaks 'page 0x100'; do
		# shellcheck disable=SC2086 # words
		hyptrace $verb t.dat >lines 2>note || [[ $? == 3 ]]
		grep -qxF "hyptrace: the history may be incomplete: $lost events were lost before $last" note
	done
	# without the events after the last loss, it is that of another CPU or of before
	to=$(report --ns | sed -n '/LOST/h; ${ x; s/.*\] *\([0-9.]*\): LOST.*/\1/p }')
	hyptrace leaks --to "$(awk -v t="$to" 'BEGIN { printf "%.6f", t - 0.000002 }')" t.dat >lines 2>note || [[ $? == 3 ]]
	grep -q 'events were lost before' note
	run -1 grep -F "before $last" note
}

@test "of a kernel without all hooks, leaks and -e refuse a file with the reason, and page says it" {
	FAKE_INCOMPLETE=mem_transition made -n 2000
	run -2 hyptrace leaks t.dat
	[[ $output == *" leaks in \"t.dat\": the memory of guests in mem_transition is not in the file's kernel" ]]
	hyptrace page 0x100 t.dat 2>note
	grep -qxF "hyptrace: the history is incomplete: the memory of guests in mem_transition is not in the file's kernel" note
	FAKE_MISSING=host_hcall made -n 2000
	run -2 hyptrace who --leaks -i t.dat
	[[ $output == *"\"t.dat\": host_hcall is not in the file's kernel" ]]
	for words in host_hcall hyp_enter,host_hcall 'host_hc*'; do
		run -2 hyptrace report -e "$words" t.dat
		[[ $output == "hyptrace: cannot report \"host_hcall\": it is not in the file's kernel" ]]
	done
	# globs leave it out if they name another one
	hyptrace report -q -e 'h*' -n 1 t.dat
	# a file that says nothing of hooks
	made -n 2000
	hyptrace leaks t.dat >lines 2>note || [[ $? == 3 ]]
	run -1 grep -F 'kernel' note
}

@test "an export of several MiB of two CPUs is whole, also with -n" {
	made -n 40000 -c 2
	all=$(awk '{ n += $2 } END { print n }' made)
	for option in '-n 35000' "-n $((all - 1))" ''; do
		# shellcheck disable=SC2086 # words
		hyptrace export -q $option -o out.jsonl t.dat
		(($(stat -c %s out.jsonl) > 3 << 20))
		nr=${option#-n }
		jq -c .ts out.jsonl >stamps
		[[ $(wc -l <stamps) == "${nr:-$all}" ]]
		sort -c stamps
		# shellcheck disable=SC2086 # words
		hyptrace export -q $option -f csv -o out.csv t.dat
		[[ $(wc -l <out.csv) == "$((${nr:-$all} + 1))" ]]
		[[ $(grep -cE '^[0-9]+,[01],[a-z_]+,' out.csv) == "${nr:-$all}" ]]
	done
}

# top_shows TEXT: wait until the screen of top has it.
top_shows()
{
	local end=$((SECONDS + 20))
	until tmux -L "$socket" capture-pane -p -t top | grep -qF -- "$1"; do
		((SECONDS < end)) || { tmux -L "$socket" capture-pane -p -t top; return 1; }
		sleep 0.1
	done
}

@test "top -i shows other rows, twice, and those of the end as before" {
	made -n 20000 -c 2
	socket=hyptrace-$$
	LC_ALL=C.UTF-8 tmux -L "$socket" -f /dev/null new-session -d -s top -x 120 -y 30 \
		"'$hyptrace' top -i '$PWD/t.dat' -d 100ms; echo code=\$?; sleep 60" 3>&-
	top_shows 'by reason, '
	for by in hcall exit vcpu; do
		tmux -L "$socket" send-keys -t top g
		top_shows "by $by, "
		top_shows 'events read, 0 lost'
	done
	top_shows '[END]'
	for by in vm cpu; do
		tmux -L "$socket" send-keys -t top g
		top_shows "by $by, "
		top_shows '[END]'
	done
	tmux -L "$socket" send-keys -t top q
	top_shows code=0
	tmux -L "$socket" kill-server
}

@test "a signal ends an export by several threads to a reader that has stalled" {
	made -n 100000 -c 4
	mkfifo pipe
	for format in chrome jsonl; do
		{ head -c 300000 >begin && sleep 60; } <pipe 3>&- &
		reader=$!
		"$hyptrace" export -q -f "$format" t.dat >pipe 2>said 3>&- &
		export=$!
		timeout 20 bash -c 'until [[ -s begin ]]; do sleep 0.1; done; sleep 1'
		kill -TERM "$export"
		timeout 20 tail -f --pid="$export" /dev/null
		code=0
		wait "$export" || code=$?
		[[ $code == 143 && $(<said) == 'hyptrace: the export was interrupted' ]]
		kill "$reader"
		wait "$reader" || true
	done
}

# machines NAME...: make NAME/trace.dat of each machine, and the number of its events as NAME/nr.
machines()
{
	local name nr=500
	for name; do
		mkdir -p "$name"
		made -n "$((nr += 100))" -c 2
		# of the same length, as all in the description
		LC_ALL=C sed "s/^uname \"Linux test /uname \"Linux $name /" t.dat >"$name/trace.dat"
		awk '{ n += $2 } END { print n }' made >"$name/nr"
	done
}

@test "files of several machines become one table, each row with its machine, boot and kernel" {
	machines abcd efgh ijkl mnop
	hyptrace export -f csv -o all/ ./*/trace.dat 2>note
	for name in abcd efgh ijkl mnop; do
		grep -qxF "hyptrace: \"./$name/trace.dat\": $(<"$name/nr") events exported, 0 lost" note
		hyptrace export -q "$name/trace.dat" -o one.csv
		cmp one.csv "all/$name-trace.csv"
	done
	[[ $(wc -l <note) == 4 && $(ls all) == "$(printf '%s-trace.csv\n' abcd efgh ijkl mnop)" ]]
	python3 - <<-'PYTHON'
		import collections, csv, glob
		rows = collections.Counter((row["machine"], row["boot"], row["kernel"])
		                           for name in glob.glob("all/*.csv") for row in csv.DictReader(open(name)))
		boot = "5f0c8a52-3c0e-4a0e-9b7a-0d6b5e1f2a34"
		expected = {(name, boot, "6.12.0"): int(open(name + "/nr").read()) for name in ("abcd", "efgh", "ijkl", "mnop")}
		assert rows == expected, (rows, expected)
	PYTHON
	# a format that is a folder, in one that exists
	hyptrace export -q -f ctf -o all abcd/trace.dat efgh/trace.dat
	[[ -s all/abcd-trace.ctf/metadata && -s all/efgh-trace.ctf/metadata ]]
}

@test "of several files, those that cannot be exported are named, and the others are exported" {
	machines abcd efgh
	echo no trace >bad.dat
	head -c 60000 efgh/trace.dat >cut.dat
	run -2 --separate-stderr hyptrace export -q -f jsonl -o all/ abcd/trace.dat bad.dat efgh/trace.dat missing.dat cut.dat
	[[ $stderr == *'cannot read "bad.dat": it is not a trace file'* && $stderr == *'cannot read "missing.dat": '* ]]
	[[ $(grep -c '"cut.dat"' <<<"$stderr") -ge 1 ]]
	[[ $(wc -l <all/abcd-trace.jsonl) == "$(<abcd/nr)" && $(wc -l <all/efgh-trace.jsonl) == "$(<efgh/nr)" ]]
	[[ ! -e all/bad.jsonl && ! -e all/missing.jsonl ]]
	# what cannot be meant changes nothing
	run -1 hyptrace export -f csv -o none.csv abcd/trace.dat efgh/trace.dat
	run -1 hyptrace export -o none/ abcd/trace.dat efgh/trace.dat
	run -1 hyptrace export -f csv abcd/trace.dat efgh/trace.dat
	run -1 hyptrace export -f perfetto -o none/ --with=x abcd/trace.dat efgh/trace.dat
	run -2 hyptrace export -f csv -o none/ abcd/trace.dat ./abcd/../abcd/trace.dat abcd/trace.dat
	[[ $output == *'would have the same output "none/'* ]]
	[[ ! -e none && ! -e none.csv ]]
}

@test "a signal ends the export of several files, and leaves none that is incomplete" {
	for i in {1..6}; do
		made -n 200000 -c 2
		mv t.dat "$i.dat"
	done
	"$hyptrace" export -q -f jsonl -o all/ {1..6}.dat 2>said 3>&- &
	export=$!
	timeout 20 bash -c 'until compgen -G "all/*.jsonl.??????" >/dev/null; do sleep 0.01; done'
	kill -TERM "$export"
	code=0
	wait "$export" || code=$?
	[[ $code == 143 && $(<said) == 'hyptrace: the export was interrupted' ]]
	run -1 compgen -G "all/*.jsonl.??????"
	for done in all/*.jsonl; do
		[[ ! -e $done ]] || diff -q <(hyptrace export -q -f jsonl "$(basename "$done" .jsonl).dat") "$done"
	done
}

@test "a dump is read, and one with a damaged ELF header is refused" {
	pkg-config --exists libkdumpfile || skip "there is no libkdumpfile"
	zstd -q -d "$BATS_TEST_DIRNAME/../fuzz/corpus/images/vmcore.zst" -o vmcore
	hyptrace report -q vmcore >lines
	grep -q hyp_enter lines
	# class, byte order, e_phoff, e_shoff twice, e_phentsize and e_shnum: libkdumpfile may crash of them
	for place in 4 5 39 40 47 54 60; do
		cp vmcore damaged
		printf '\003' | dd of=damaged bs=1 seek="$place" conv=notrunc status=none
		run -2 hyptrace report damaged
		[[ $output == *'its ELF header is damaged, or that of another kind of machine'* ]]
	done
}
