#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own tracer as the source, with a folder in place of that of tracefs. run.sh sets HYPTRACE.

bats_require_minimum_version 1.5.0

# event NAME ID FIELDS FORMAT
event()
{
	mkdir "$d/events/hypervisor/$1"
	echo 0 >"$d/events/hypervisor/$1/enable"
	printf 'name: %s\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n%b\nprint fmt: %s\n' \
		"$@" >"$d/events/hypervisor/$1/format"
}

setup()
{
	d=$BATS_TEST_TMPDIR/tracer
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p "$d"/per_cpu/cpu{0,1} "$d"/events/hypervisor
	echo 0 >"$d/tracing_on"
	echo "7 (unloaded)" >"$d/buffer_size_kb"
	: >"$d/trace"
	event hyp_enter 2 '' '" ", '
	event host_hcall 4 '\tfield:unsigned int id;\toffset:2;\tsize:4;\tsigned:0;\n\tfield:u8 invalid;\toffset:6;\tsize:1;\tsigned:0;\n' \
		'"id=%u invalid=%u", REC->id, REC->invalid'
	event hyp_exit 5 '\tfield:u8 reason;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:pid_t vcpu;\toffset:3;\tsize:4;\tsigned:1;\n' \
		'"reason=%s vcpu=%d", __hyp_enter_exit_reason_str(REC->reason), REC->vcpu'
	event __hyp_printk 6 '\tfield:u8 fmt_id;\toffset:2;\tsize:1;\tsigned:0;\n' 'Unknown'
	: >"$d/per_cpu/cpu0/trace_pipe"
	: >"$d/per_cpu/cpu1/trace_pipe"
}

ht()
{
	"$HYPTRACE" -r "tracefs:$d" "$@"
}

# calls CPU NR: lines of NR hypercalls
calls()
{
	awk -v cpu="$1" -v nr="$2" 'BEGIN {
		for (i = 1; i <= nr; i++)
			printf "[%03d]\t %4d.%06d: host_hcall id=%d invalid=0\n", cpu, i / 1000, i % 1000, i % 7
	}'
}

# state: print what reading must not change.
state()
{
	(cd "$d" && grep . tracing_on events/*/*/enable)
}

@test "each line is an event, each loss is counted, and all is put back" {
	state >before
	{
		calls 0 3000
		echo 'CPU:0 [LOST 7 EVENTS]'
		calls 0 1
		echo 'half a li'
	} >"$d/per_cpu/cpu0/trace_pipe"
	calls 1 2000 >"$d/per_cpu/cpu1/trace_pipe"
	ht stream --duration 2s all >lines 2>said
	[[ $(tail -n 1 said) == "hyptrace: 5001 events printed, 0 discarded, 8 lost" ]]
	[[ $(grep -c '^\[000\].* host_hcall: id=' lines) == 3001 ]]
	[[ $(grep -c '^\[001\].* host_hcall: id=' lines) == 2000 ]]
	[[ $(sed -n 's/.*LOST \([0-9]*\) event.*/\1/p' lines | awk '{ n += $1 } END { print n }') == 8 ]]
	grep -qx '\[001\]     1.000999: host_hcall: id=4 invalid=0' lines
	state | cmp - before
}

@test "what was on stays on" {
	echo 1 >"$d/tracing_on"
	echo 1 >"$d/events/hypervisor/hyp_enter/enable"
	state >before
	ht stream -q --duration 2s all
	state | cmp - before
	"$HYPTRACE" -r "tracefs:$d" stream -q all >/dev/null 3>&- &
	until [[ $(cat "$d/events/hypervisor/host_hcall/enable") == 1 ]]; do sleep 0.05; done
	kill -KILL $!
	wait $! || true
	for ((i = 0; i < 100; i++)); do
		[[ $(cat "$d/events/hypervisor/host_hcall/enable") != 0* ]] || break
		sleep 0.05
	done
	sleep 0.2
	state | cmp - before
}

@test "lines that come later, and -n" {
	rm "$d/per_cpu/cpu1/trace_pipe"
	mkfifo "$d/per_cpu/cpu1/trace_pipe"
	(sleep 0.3; calls 1 10 >"$d/per_cpu/cpu1/trace_pipe") &
	ht stream -n 4 all >lines
	[[ $(wc -l <lines) == 4 ]]
	[[ $(cat "$d/tracing_on") == 0 ]]
}

@test "a file of record has the same events, and formats without functions of the kernel" {
	calls 0 20000 >"$d/per_cpu/cpu0/trace_pipe"
	printf '[001]\t    1.000000: hyp_enter  \n[001]\t    1.000001: hyp_exit reason=eret_host vcpu=0\n[001]\t    1.000002: __hyp_printk at 7 of 0x9\n' \
		>"$d/per_cpu/cpu1/trace_pipe"
	ht record -e all --duration 2s -o t.dat 2>said
	grep -q '^hyptrace: 20003 events recorded, 0 lost' said
	"$HYPTRACE" report -q t.dat >lines
	[[ $(grep -c 'host_hcall: id=' lines) == 20000 ]]
	grep -q 'hyp_enter: reason=unknown$' lines
	grep -q 'hyp_exit: reason=eret_host vcpu=0$' lines
	"$HYPTRACE" stat -i t.dat >rows
	grep -q '^ *unknown  *1 .* 1.000 us ' rows
	[[ $("$HYPTRACE" strace -q -i t.dat | grep -c 'host_hcall: id=') == 20000 ]]
	grep -q '__hyp_printk: at 7 of 0x9$' lines
	run ! grep -aq __hyp_enter_exit_reason_str t.dat
	"$HYPTRACE" export -f csv -o t.csv t.dat
	[[ $(grep -c ',host_hcall,' t.csv) == 20000 ]]
}

@test "raw pages, and text by mistake where they should be" {
	mv "$d/per_cpu/cpu1/trace_pipe" "$d/per_cpu/cpu1/trace_pipe_raw"
	calls 1 5 >"$d/per_cpu/cpu1/trace_pipe_raw"
	python3 - "$d/per_cpu/cpu0/trace_pipe_raw" <<-'END'
	import mmap, struct, sys
	records = b"".join(struct.pack("<IIHIB", 10 << 5, 11, 4, i, 0) for i in range(3))
	page = struct.pack("<QQ", 5_000_000_000, len(records)) + records
	open(sys.argv[1], "wb").write(page.ljust(mmap.PAGESIZE, b"\0"))
	END
	ht stream --duration 2s all >lines 2>said
	[[ $(grep -c '^\[001\].* host_hcall: id=' lines) == 5 ]]
	[[ $(grep '^\[000\]' lines) == "[000]     5.000000: host_hcall: id=0 invalid=0
[000]     5.000000: host_hcall: id=1 invalid=0
[000]     5.000000: host_hcall: id=2 invalid=0" ]]
	[[ $(tail -n 1 said) == "hyptrace: 8 events printed, 0 discarded, 0 lost" ]]
}

@test "hypercalls get the names of a kernel tree, and filters know them" {
	mkdir -p linux/arch/arm64/include/asm
	printf '# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\nEXTRAVERSION = -x\n' >linux/Makefile
	cat >linux/arch/arm64/include/asm/kvm_asm.h <<-'END'
	enum __kvm_host_smccc_func {
		/* the first one, */
		__KVM_HOST_SMCCC_FUNC___pkvm_init = __KVM_HOST_SMCCC_FUNC___kvm_hyp_init + 1,
		MARKER(__KVM_HOST_SMCCC_FUNC_MIN_PKVM),
		__KVM_HOST_SMCCC_FUNC___kvm_vcpu_run, // the second
		__KVM_HOST_SMCCC_FUNC___dynamic_hcalls = 128,
	};
	END
	"$HYPTRACE" names --from linux >names.txt
	[[ $(head -n 4 names.txt) == "# hypercalls of Linux 6.12.1-x
0 __kvm_hyp_init
1 __pkvm_init
2 __kvm_vcpu_run" ]]
	[[ $(tail -n 1 names.txt) == "255 module_hcall_127" ]]
	calls 0 7 >"$d/per_cpu/cpu0/trace_pipe"
	HYPTRACE_NAMES=names.txt ht stream --duration 2s -F 'id == __kvm_vcpu_run' host_hcall >lines 2>said
	[[ $(cat lines) == "[000]     0.000002: host_hcall: id=__kvm_vcpu_run invalid=0" ]]
	grep -q '^hyptrace: "names.txt" has the names of hypercalls of 6.12.1-x, but this is .*: they may be wrong$' said
	# strace leaves out what was before its start, and chooses itself
	awk '{ sub(/\t *[0-9]+/, "\t 99999999"); print }' "$d/per_cpu/cpu0/trace_pipe" >later
	cp later "$d/per_cpu/cpu0/trace_pipe"
	HYPTRACE_NAMES=names.txt ht strace -q --duration 2s >lines
	[[ $(wc -l <lines) == 7 ]]
	HYPTRACE_NAMES=names.txt ht strace -q --duration 2s -e '__pkvm_*' -F 'id > 0' >lines
	[[ $(cat lines) == "[000] 99999999.000001: host_hcall: id=__pkvm_init invalid=0" ]]
	echo 'x y' >names.txt
	HYPTRACE_NAMES=names.txt run -2 ht list
	[[ $output == 'hyptrace: "names.txt", line 1: not a number and the name of a hypercall' ]]
	sed -i 's/= 128/= X/' linux/arch/arm64/include/asm/kvm_asm.h
	run -2 "$HYPTRACE" names --from linux
	[[ $output == *'kvm_asm.h: cannot tell the numbers of the hypercalls' ]]
}

@test "what tracefs cannot do is refused with the reason" {
	state >before
	run -2 ht enable -F 'id == 1' host_hcall
	[[ $output == *": the kernel's own tracer has no filters and triggers at EL2" ]]
	run -2 ht count host_hcall
	[[ $output == "hyptrace: remote "*" cannot count events" ]]
	run -2 ht show
	[[ $output == *': tracefs only lets one read them (use "hyptrace stream")' ]]
	run -2 ht mark 1
	[[ $output == *": the kernel's own tracer cannot do it" ]]
	run -2 ht enable foo
	[[ $output == *'"foo"'* ]]
	run -2 "$HYPTRACE" -r tracefs:/nonexistent list
	[[ $output == "hyptrace: cannot open /nonexistent: No such file or directory" ]]
	rm -r "$d/per_cpu"
	run -2 ht list
	[[ $output == *"is no tracer that can be used: No such file or directory" ]]
	state | cmp - before
}

@test "events and tracing are switched by hand, too" {
	ht enable hyp_enter host_hcall
	ht start
	[[ $(cat "$d/tracing_on" "$d"/events/*/{hyp_enter,host_hcall,hyp_exit}/enable | tr -d '\n') == 1110 ]]
	ht disable all
	ht stop
	ht set --size 64K
	[[ $(cat "$d/tracing_on" "$d"/events/*/*/enable | tr -d '\n') == 00000 ]]
	[[ $(cat "$d/buffer_size_kb") == 64 ]]
}

# begins COMMAND...: start a stream in the background, and wait until it traces; readers are its processes for the pipes.
begins()
{
	setsid "$HYPTRACE" -r "tracefs:$d" "$@" >lines 2>said 3>&- &
	stream=$!
	until [[ $(cat "$d/events/hypervisor/hyp_exit/enable") == 1 ]]; do sleep 0.05; done
	readers=$(for fd in /proc/[0-9]*/fd/*; do
		[[ $(readlink "$fd") != "$d"/per_cpu/*/trace_pipe ]] || cut -d / -f 3 <<<"$fd"
	done | sort -u)
	[[ -n $readers ]]
}

@test "what takes long after a signal is not lost" {
	begins stream all
	# shellcheck disable=SC2086 # words
	kill -STOP $readers
	{
		echo 'CPU:0 [LOST 4000 EVENTS]'
		calls 0 3
	} >>"$d/per_cpu/cpu0/trace_pipe"
	kill -INT "$stream"
	sleep 1.5
	# shellcheck disable=SC2086 # words
	kill -CONT $readers
	wait "$stream"
	[[ $(tail -n 1 said) == "hyptrace: 3 events printed, 0 discarded, 4000 lost" ]]
	grep -q 'LOST 4000 events' lines
}

@test "a reader that does not answer is given up, and that is said" {
	begins stream all
	# shellcheck disable=SC2086 # words
	kill -STOP $readers
	kill -INT "$stream"
	wait "$stream"
	[[ $(tail -n 1 said) == "hyptrace: 0 events printed, 0 discarded, 0 or more lost" ]]
}

@test "what was read and not printed is counted" {
	{
		calls 0 3000
		echo 'CPU:0 [LOST 77 EVENTS]'
		calls 0 1
	} >"$d/per_cpu/cpu0/trace_pipe"
	ht stream -n 10 all >lines 2>said
	[[ $(wc -l <lines) == 10 ]]
	[[ $(tail -n 1 said) == "hyptrace: 10 events printed, 2991 discarded, 77 lost" ]]
}

@test "a file has as many events as it says" {
	local file all=0
	calls 0 60000 >"$d/per_cpu/cpu0/trace_pipe"
	ht record -e all --duration 1s --limit 400K -o t.dat 2>said
	same=$("$HYPTRACE" report -q t.dat | wc -l)
	grep -q "^hyptrace: $same events recorded, 0 lost" said
	ht record -q -e all --duration 1s --limit 400K --rotate 9 -o r.dat
	for file in r.dat*; do
		"$HYPTRACE" dump -j "$file" | jq -e --argjson n "$("$HYPTRACE" report -q "$file" | wc -l)" \
			'[.. | .cpus? // empty][0] | (map(.events) | add == $n) and all(.missing == 0)'
		all=$((all + $("$HYPTRACE" report -q "$file" | wc -l)))
	done
	((all == 60000))
}

@test "who kills the process group, or the process that restores, changes nothing for good" {
	local guard
	state >before
	begins stream all
	kill -KILL -- "-$stream"
	wait "$stream" || true
	for ((i = 0; i < 100; i++)); do
		! state | cmp -s - before || break
		sleep 0.05
	done
	state | cmp - before

	begins stream all
	guard=$(pgrep -P "$stream" | while read -r pid; do grep -qx "$pid" <<<"$readers" || echo "$pid"; done)
	kill -KILL "$guard"
	kill -INT "$stream"
	wait "$stream"
	state | cmp - before
}

@test "clear takes a CPU, and --no-start is refused" {
	echo all >"$d/trace"
	echo one >"$d/per_cpu/cpu1/trace"
	ht clear --cpu 1
	[[ $(cat "$d/trace" "$d/per_cpu/cpu1/trace") == "all
0" ]]
	ht clear
	[[ $(cat "$d/trace") == 0 ]]
	run -2 ht stream --no-start
	[[ $output == *"leave --no-start out" ]]
}
