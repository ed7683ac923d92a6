# SPDX-License-Identifier: GPL-2.0-only
# What hyptrace stat must say of a file, from all lines of "report -j". A line of the output is what the rows are, and a
# row: name, CPU, samples, samples with a time, sum of times, shortest, longest, time in guests, time of their runs.

def row(by; cpu):
	[by, .[0].name, cpu, ([.[] | select(.late | not)] | length),
		([.[].time | values] | length, add // 0, min // 0, max // 0), ([.[].guest // 0] | add), ([.[].run // 0] | add)] | @tsv;
def rows(by): group_by(.name)[] | row(by; "all");
def time: .fields.duration | tonumber;
def vm: "vm=0x" + (.fields.handle | tonumber | [recurse(if . > 15 then (. / 16 | floor) else empty end) % 16] | reverse |
	map("0123456789abcdef"[. : . + 1]) | add);
def vcpu: "vcpu=\(.fields.vcpu) \(vm).\(.fields.index)";
def of(event): [.[] | select(.event == event)];

# The intervals of a CPU between its events hyp_enter and hyp_exit: places, and visits of EL2
def interval($e; was; now):
	was as $was | .out = [{name: $was, time: ($e.ts - .since)}] | .since = $e.ts | .now = now;
def intervals($from; $to):
	[foreach (.[], {ts: $to, event: "last"}) as $e ({since: $from, now: "unknown", open: null};
		.out = [] |
		if $e.lost then .now = "unknown" | .open = null else . end |
		if $e.event == "hyp_enter" then
			interval($e; if .now == "el2" then "unknown" else .now end; "el2") |
			.open = {visit: $e.symbols.reason, ts: $e.ts}
		elif $e.event == "hyp_exit" then
			interval($e; if .now == "el2" then "el2" else "unknown" end;
				if $e.symbols.reason == "eret_guest" then "guest" else "host" end) |
			(if .open then .out += [{visit: .open.visit, time: ($e.ts - .open.ts)}] else . end) | .open = null
		elif $e.event == "last" then interval($e; .now; "none")
		else . end; .out[])];

# The exits of vCPUs, with what their CPUs were in guests before; then the times from them to the next entries, which are
# late
def exits:
	[foreach .[] as $e ({open: {}, guest: {}, since: {}};
		.out = null | ($e.cpu | tostring) as $cpu |
		if $e.lost then .open = {} | .guest[$cpu] = 0 | .since[$cpu] = null else . end |
		if $e.event == "hyp_exit" then
			.since[$cpu] = if $e.symbols.reason == "eret_guest" then $e.ts else null end
		elif $e.event == "hyp_enter" then
			.guest[$cpu] += (if .since[$cpu] then $e.ts - .since[$cpu] else 0 end) | .since[$cpu] = null
		elif $e.event == "guest_exit" then
			.out = {name: (if $e.symbols.code == "trap" then $e.symbols.ec else $e.symbols.code end), run: ($e | time),
				guest: (.guest[$cpu] // 0)} |
			.guest[$cpu] = 0 |
			.open[$e | vcpu] = {name: .out.name, ts: $e.ts}
		elif $e.event == "guest_enter" and .open[$e | vcpu] then
			.open[$e | vcpu] as $o | .out = {name: $o.name, time: ($e.ts - $o.ts), late: true} | .open[$e | vcpu] = null
		else . end; .out | values)];

map(if .ts then .ts |= tonumber else . end) |
([.[] | select(.event).ts] | min // 0) as $first | ([.[] | select(.event).ts] | max // 0) as $last |
(group_by(.cpu)[] | .[0].cpu as $cpu | intervals($first; $last) as $i |
	([$i[] | select(.visit) | .name = .visit] | (group_by(.name)[] | row("reason"; $cpu)),
		(map(.name = "CPU \($cpu)") | rows("cpu"))),
	(["times", $cpu, (("host", "el2", "guest", "unknown") as $place | [$i[] | select(.name == $place).time] | add // 0),
		([.[] | select(.event)] | length), ([.[] | .lost // 0 | tonumber] | add)] | @tsv)),
(of("host_hcall") | map({name: .symbols.id, time: time}) | rows("hcall")),
(exits | rows("exit")),
(of("guest_exit") | (map({name: vcpu, time: time}) | rows("vcpu")), (map({name: vm, time: time}) | rows("vm"))),
(of("mem_transition") | map({name: "\(.symbols.op) \(.symbols.from) -> \(.symbols.to)"}) | rows("memory"))
