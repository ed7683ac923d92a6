#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a Perfetto export with the events of the same file.

usage: perfetto.py DECODED EVENTS

DECODED is the output of "protoc --decode=Trace perfetto.proto", EVENTS that of
"hyptrace export -f jsonl". Prints what it has compared; exits with 1 after a difference. It is also
strict about what Perfetto's trace processor skips or only counts as an error: see Sequence and count().
"""
import collections
import json
import re
import sys

BOOT, SEQUENCE = 6, 64
CLEARED = 1
CALLS = {"host_hcall", "host_smc", "host_mem_abort"}
GUEST = {"guest_fixup", "vcpu_illegal_trap"}
# the symbols that name an event, and what is before them
NAMED = {
    "host_hcall": [("id", "")], "host_smc": [("id", "")], "psci_call": [("func", "")], "host_ffa_call": [("func_id", "")],
    "guest_exit": [("ec", ""), ("code", "")], "guest_fixup": [("ec", "guest_fixup ")],
    "host_mem_abort": [("esr", "host_mem_abort ")], "vcpu_illegal_trap": [("esr", "vcpu_illegal_trap ")],
    "tlbi": [("op", "tlbi ")], "hyp_pool": [("op", "hyp_pool ")],
    "lock_wait": [("lock", "lock_wait ")],
}
errors = 0


def wrong(text):
    global errors
    errors += 1
    if errors <= 20:
        print("perfetto.py: " + text, file=sys.stderr)


def parse(lines):
    """Parse protobuf's text format: each message is a dictionary of lists."""
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
            if len(stack) == 1:
                yield stack[0]["packet"].pop()
        elif line:
            key, value = line.split(": ", 1)
            stack[-1][key].append(value)


def text(value):
    return re.sub(r"\\(.)", r"\1", value[1:-1])


def number(message, key, default=0):
    return int(message[key][0]) if key in message else default


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Sequence:
    """A sequence of packets: its clock, its track, and its names."""

    TABLES = {"event_names": "name", "debug_annotation_names": "name", "debug_annotation_string_values": "str"}

    def __init__(self, packet):
        defaults = packet["trace_packet_defaults"][0]
        if number(defaults, "timestamp_clock_id") != SEQUENCE:
            wrong("a sequence has no clock of its own")
        if packet["first_packet_on_sequence"] != ["true"]:
            wrong("a sequence does not say that it begins")
        self.track = number(defaults["track_event_defaults"][0], "track_uuid")
        self.time = None
        self.names = {table: {} for table in self.TABLES}

    def intern(self, data):
        for table, entries in data.items():
            for entry in entries:
                iid, name = number(entry, "iid"), text(entry[self.TABLES[table]][0])
                if not iid or self.names[table].setdefault(iid, name) != name:
                    wrong(f"{name!r} of {table} has the number {iid}, which is not its own")

    def name(self, table, message, key):
        iid = number(message, key)
        if iid not in self.names[table]:
            wrong(f"{table} {iid} is used before it has a name")
        return self.names[table].get(iid)

    def advance(self, delta):
        """Add a difference to the clock: it must have been set, and it must not go back."""
        if self.time is None:
            wrong("a sequence has no time")
        self.time = (self.time or 0) + delta
        if signed(delta) < 0:
            wrong(f"the time of a sequence goes back by {-signed(delta)} ns")
        return self.time


class Timeline:
    """The slices and instants of the tracks, made as a viewer makes them."""

    def __init__(self, packets):
        self.names = {}         # of tracks
        self.parents = {}
        self.points = collections.defaultdict(list)     # per track: (time, order, type, name, args, flows)
        self.bundles = collections.defaultdict(list)    # per CPU: (time, message, fields)
        self.lost_bundles = 0
        self.sequences = {}
        self.release = ""
        self.origin = {}
        for packet in packets:
            self.add(packet)

    def add(self, packet):
        sequence = number(packet, "trusted_packet_sequence_id")
        if "ftrace_events" in packet:
            self.add_bundle(packet["ftrace_events"][0])
        if "system_info" in packet:
            self.release = text(packet["system_info"][0]["utsname"][0]["release"][0])
        for attributes in packet["trace_attributes"]:
            for attribute in attributes["attribute"]:
                self.origin[text(attribute["key"][0])] = text(attribute["string_value"][0])
        if "track_descriptor" in packet:
            track = packet["track_descriptor"][0]
            name = text(track["name"][0])
            if self.names.setdefault(number(track, "uuid"), name) != name:
                wrong("a track has two names")
            self.parents[number(track, "uuid")] = number(track, "parent_uuid")
        if number(packet, "sequence_flags") & CLEARED:
            if not sequence or sequence in self.sequences:
                wrong(f"the sequence {sequence} begins twice, or has no number")
            self.sequences[sequence] = Sequence(packet)
        if "clock_snapshot" in packet:
            self.add_clocks(sequence, packet["clock_snapshot"][0])
        if ("interned_data" in packet or "track_event" in packet) and sequence not in self.sequences:
            wrong(f"a packet of the sequence {sequence} is before its begin")
            return
        for data in packet["interned_data"]:
            self.sequences[sequence].intern(data)
        if "track_event" in packet:
            self.add_event(self.sequences[sequence], number(packet, "timestamp"), packet["track_event"][0])

    def add_clocks(self, sequence, snapshot):
        times = {number(c, "clock_id"): number(c, "timestamp") for c in snapshot["clocks"]}
        if number(snapshot, "primary_trace_clock") != BOOT or BOOT not in times:
            wrong("the clock of the trace is not that of the boot")
        if not sequence and self.sequences:
            wrong("the clock of the trace is set after the first sequence")
        if sequence and times[BOOT] != times[SEQUENCE]:
            wrong("the clock of a sequence is not that of the boot")
        if sequence:
            self.sequences[sequence].time = times[SEQUENCE]

    def add_bundle(self, bundle):
        cpu = number(bundle, "cpu")
        self.lost_bundles += "lost_events" in bundle
        for event in bundle["event"]:
            kinds = [key for key in event if key != "timestamp"]
            if len(kinds) != 1:
                wrong(f"an event of a bundle has the messages {kinds}")
                continue
            fields = {key: int(value[0]) for key, value in event[kinds[0]][0].items()}
            self.bundles[cpu].append((number(event, "timestamp"), kinds[0].replace("hypervisor_", ""), fields))

    def add_event(self, sequence, delta, event):
        time = sequence.advance(delta)
        if "name_iid" in event:
            name = sequence.name("event_names", event, "name_iid")
        else:
            name = text(event["name"][0]) if "name" in event else None
        if (name is None) != (event["type"][0] == "TYPE_SLICE_END"):
            wrong(f"the {event['type'][0]} at {time} has the name {name}")
        args = {}
        for arg in event["debug_annotations"]:
            key = sequence.name("debug_annotation_names", arg, "name_iid")
            if key in args:
                wrong(f"{name} at {time} has two arguments {key}")
            if "string_value_iid" in arg:
                args[key] = sequence.name("debug_annotation_string_values", arg, "string_value_iid")
            elif "string_value" in arg:
                args[key] = text(arg["string_value"][0])
            else:
                args[key] = next(int(arg[kind][0]) for kind in ("uint_value", "int_value", "pointer_value")
                                 if kind in arg)
        points = self.points[sequence.track]
        points.append((time, len(points), event["type"][0], name, args,
                       [int(flow) for flow in event["flow_ids"]]))

    def check_descriptions(self):
        """Each track with events, and each parent, has a description; no track is its own ancestor."""
        for track in self.points:
            seen = set()
            while track:
                if track not in self.names or track in seen:
                    wrong(f"the track {track:#x} has no description, or is its own ancestor")
                    break
                seen.add(track)
                track = self.parents[track]

    def slices(self, track):
        """The slices and instants of a track: (begin, end, name, args, flows)."""
        found, stack, last = [], [], None
        for time, _, kind, name, args, flows in sorted(self.points[track], key=lambda point: point[:2]):
            if kind == "TYPE_INSTANT":
                found.append((time, time, name, args, flows))
            elif kind == "TYPE_SLICE_BEGIN":
                stack.append((time, name, args, flows))
            elif not stack:
                wrong(f"a slice ends on {self.names[track]} at {time} that has not begun")
            else:
                begin, name, args, flows = stack.pop()
                found.append((begin, time, name, args, flows))
                if last and begin < last and not stack:
                    wrong(f"slices overlap on {self.names[track]} at {begin}")
                last = time if not stack else last
        for begin, name, _, _ in stack:
            wrong(f"the slice {name} of {self.names[track]} at {begin} does not end")
        return found


def flows_of(events):
    """Which transitions each one is connected with, page by page."""
    owners, last, found = {}, 0, []
    for event in events:
        fields, flows = event["fields"], set()
        if not fields["ret"]:
            op, begins = event["symbols"]["op"], False
            shared = op in ("share", "unshare")
            begins = op == "share" or (op == "donate" and event["symbols"]["from"] == "host")
            ends = op in ("unshare", "reclaim") or (op == "donate" and event["symbols"]["to"] == "host")
            if begins:
                last += 1
                flows.add(last)
            for pfn in range(int(fields["pfn"]), int(fields["pfn"]) + int(fields["nr"])):
                page = (pfn, fields["handle"]) if shared else (pfn, None)
                if begins:
                    owners[page] = last
                elif page in owners:
                    flows.add(owners.pop(page) if ends else owners[page])
        found.append(flows)
    return found


def check_hypervisor(timeline, events):
    """Entries and exits alternate, and what is between them is as recorded."""
    compared = 0
    expected = collections.defaultdict(list)
    for event in events:
        if event.get("event") in CALLS | {"hyp_enter", "host_ffa_call", "vcpu_illegal_trap"}:
            expected[event["cpu"]].append(event)
    for cpu, bundle in timeline.bundles.items():
        inside, last, entries = False, 0, []
        for time, kind, fields in bundle:
            if time < last:
                wrong(f"CPU {cpu}: the time of {kind} goes back at {time}")
            if kind == "hyp_enter" and inside or kind != "hyp_enter" and not inside:
                wrong(f"CPU {cpu}: {kind} at {time} does not nest")
            inside = kind != "hyp_exit"
            last = time
            if kind == "hyp_enter":
                entries.append(time)
                compared += 1
            elif kind != "hyp_exit":
                match = [e for e in by_time[cpu, time] if e["event"] == kind]
                compared += 1
                if not match or any(int(match[0]["fields"][key]) != value for key, value in fields.items()):
                    wrong(f"CPU {cpu}: there is no {kind} with {fields} at {time}")
        if inside:
            wrong(f"CPU {cpu} does not leave EL2")
        if entries != [int(e["ts"]) for e in expected[cpu] if e["event"] == "hyp_enter"]:
            wrong(f"CPU {cpu}: the entries differ")
    return compared


def same(value, arg):
    """Is an argument the value of a field? Names are compared elsewhere."""
    return isinstance(arg, str) or signed(int(value) & (1 << 64) - 1) == signed(arg & (1 << 64) - 1)


def name_of(event):
    """The name of the slice or instant of an event."""
    kind, symbols = event["event"], event.get("symbols", {})
    if kind == "mem_transition":
        return f"{symbols['op']} {symbols['from']} -> {symbols['to']}"
    # what an event is named by is not enough for some: "tlbi vmid"
    for key, prefix in NAMED.get(kind, []):
        if key in symbols:
            return prefix + symbols[key]
    return kind


def check_event(event, found):
    """Check the slice or instant of an event."""
    _, end, _, args, _ = found
    kind, fields, symbols = event["event"], event["fields"], event.get("symbols", {})
    for key, value in event.get("args", {}).items():
        if args.get(key) != int(value):
            wrong(f"{kind} at {event['ts']}: {key} is {args.get(key)}, not {value}")
    for key, value in fields.items():
        if key in args and not same(value, args[key]):
            wrong(f"{kind} at {event['ts']}: {key} is {args[key]}, not {value}")
        if key in args and isinstance(args[key], str) and args[key] != symbols.get(key):
            wrong(f"{kind} at {event['ts']}: {key} is {args[key]}, not {symbols.get(key)}")
    if end != int(event["ts"]):
        wrong(f"{kind} at {event['ts']} ends at {end}")


def track_of(event):
    """The name of the track of an event, and that of its parent."""
    kind, fields = event["event"], event["fields"]
    if kind in CALLS or kind in ("psci_call", "host_ffa_call"):
        return f"Calls CPU {event['cpu']}", "Calls of EL2"
    if kind == "guest_exit":
        return f"vCPU {fields['index']} (thread {fields['vcpu']})", f"VM {fields['handle']:#x}"
    if kind in GUEST:
        return f"(thread {fields['vcpu']})", None
    if kind == "mem_transition":
        return "Memory of EL2 and guests", None
    return f"Events CPU {event['cpu']}", "Events of EL2"


def check_tracks(timeline, events):
    """Each event is on its track; return how many there are, and of how many the time was moved."""
    tracks = collections.defaultdict(lambda: collections.defaultdict(list))
    compared = moved = 0
    for track in timeline.points:
        name, parent = timeline.names[track], timeline.names.get(timeline.parents[track])
        for found in timeline.slices(track):
            if found[2] == "guest (exit not recorded)":
                continue
            for key in ((name, parent), (name[name.find("("):], None)):
                tracks[key][found[1]].append(found)
    for event in events:
        kind = event.get("event")
        if not kind or kind in ("hyp_enter", "hyp_exit", "guest_enter"):
            continue
        key = track_of(event)
        here = tracks[key if key in tracks else (key[0], "")][int(event["ts"])]
        if not here and key[1] is None:
            here = tracks[key[0], None][int(event["ts"])]
        # several events can have the same time and the same name
        begin = int(event["ts"]) - int(event["fields"].get("duration", 0))
        here.sort(key=lambda found: found[0] != begin)
        found = next((found for found in here if found[2] == name_of(event)), None)
        if not found:
            wrong(f"{kind} at {event['ts']} is not on {key} with the name {name_of(event)}")
            continue
        compared += 1
        here.remove(found)
        check_event(event, found)
        moved += found[0] != begin
    for key, times in tracks.items():
        left = [found for here in times.values() for found in here]
        if left and key[1] is not None and not key[0].startswith(("vCPU", "Losses")):
            wrong(f"{len(left)} slices of {key} are of no event: {left[:3]}")
    return compared, moved


def check_losses(timeline, events):
    expected = [(event["cpu"], int(event["ts"]), event["lost"]) for event in events if "lost" in event]
    found = []
    for track, name in timeline.names.items():
        if name.startswith("Losses CPU"):
            for _, end, label, args, _ in timeline.slices(track):
                found.append((int(name.split()[-1]), end, args.get("lost")))
                if args.get("lost") and label != f"LOST {args['lost']} event{'s' * (args['lost'] != 1)}":
                    wrong(f"a loss has the name {label}")
    if sorted(found, key=str) != sorted(expected, key=str):
        wrong(f"the losses differ: {found} and {expected}")
    return len(found)


def check_origin(timeline, events):
    """The attributes of the trace, and the system's release, are what each line says."""
    for event in events:
        origin = {key: event[key] for key in ("machine", "boot", "kernel") if key in event}
        if (timeline.origin, timeline.release) != (origin, origin.get("kernel", "")):
            wrong(f"the origin is {timeline.origin} with {timeline.release}, not {origin}")
            break


def count(timeline, events):
    """As many slices and instants as events, by name of the event: what SQL would count."""
    found, expected = collections.Counter(), collections.Counter()
    for track in timeline.points:
        group = timeline.names[track].split(" ")[0]
        found[group] += sum(name != "guest (exit not recorded)" for _, _, name, _, _ in timeline.slices(track))
    for event in events:
        if event.get("event") not in ("hyp_enter", "hyp_exit", "guest_enter"):
            name = track_of(event)[0] if event.get("event") else "Losses"
            expected["vCPU" if name.startswith("(") else name.split(" ")[0]] += 1
    if +found != +expected:
        wrong(f"the tracks have {dict(found)}, the file {dict(expected)}")
    entries = sum(kind == "hyp_enter" for bundle in timeline.bundles.values() for _, kind, _ in bundle)
    exits = sum(kind == "hyp_exit" for bundle in timeline.bundles.values() for _, kind, _ in bundle)
    if not entries == exits == sum(event.get("event") == "hyp_enter" for event in events):
        wrong(f"there are {entries} entries and {exits} exits")


def check_flows(timeline, events):
    events = [event for event in events if event.get("event") == "mem_transition"]
    track = next((t for t, name in timeline.names.items() if name == "Memory of EL2 and guests"), None)
    found = [set(flows) for _, _, _, _, flows in timeline.slices(track)] if track else []
    if found != flows_of(events):
        wrong("the flows of memory differ")
    return sum(map(len, found))


with open(sys.argv[1], encoding="ascii") as decoded:
    timeline = Timeline(parse(decoded))
with open(sys.argv[2], encoding="ascii") as lines:
    events = [json.loads(line) for line in lines]
by_time = collections.defaultdict(list)
for event in events:
    if event.get("event"):
        by_time[event["cpu"], int(event["ts"])].append(event)
entries = check_hypervisor(timeline, events)
tracks, moved = check_tracks(timeline, events)
losses = check_losses(timeline, events)
flows = check_flows(timeline, events)
timeline.check_descriptions()
check_origin(timeline, events)
count(timeline, events)
print(f"{len(events)} lines: {entries} on the tracks of the CPUs, {tracks} on others ({moved} begin elsewhere), "
      f"{losses} losses, {flows} ends of flows")
sys.exit(errors > 0)
