#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the exports of a file with its report.

usage: exports.py FOLDER

exports.sh has filled the folder. Prints what was compared; exits with 1 after a difference.
"""
import collections
import decimal
import csv
import json
import pathlib
import re
import sqlite3
import sys

LINE = re.compile(r"\[(\d+)\] +(\d+)\.(\d{9}): (?:LOST (?:(\d+) )?events?|(\w+): (.*))$")
PAIR = re.compile(r"(\w+)=(\S+)")
CTF_LINE = re.compile(r"\[(\d+)\] \(\+\S+\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{ (.*) \}$")
CTF_PAIR = re.compile(r'(\w+) = (?:\( (?:"([^"]*)"|<unknown>) : container = (-?\d+) \)|"([^"]*)"|(-?\w+)|\{ \{ ?(.*?) ?\} \})')
DISCARDED = re.compile(r"discarded (\d+) event")
ORIGIN = ("machine", "boot", "kernel")
errors = 0


def wrong(text):
    global errors
    errors += 1
    if errors <= 20:
        print("exports.py: " + text, file=sys.stderr)


def same(what, found, expected):
    if found != expected:
        wrong(f"{what}: {found!r}, not {expected!r}")


def number(text):
    """A number, or None if it is a name."""
    try:
        return int(text, 0)
    except ValueError:
        return None


def read_origin(path):
    """What the file itself says about its machine, boot and kernel."""
    said = json.loads(path.read_text())
    words = (said["uname"] or "  ").split(" ")
    return dict(zip(ORIGIN, (words[1], said["boot"] or "", words[2])))


def same_origin(what, found):
    same(f"the origin of {what}", {key: found.get(key, "") for key in ORIGIN}, origin)


class Event:
    """An event, or a loss, whose name is "lost"."""

    def __init__(self, ts, cpu, name, fields=None, names=None, args=None, lost=0):
        self.ts, self.cpu, self.name, self.lost = ts, cpu, name, lost
        self.fields, self.names, self.args = fields or {}, names or {}, args or {}

    def __str__(self):
        return f"{self.name} of CPU {self.cpu} at {self.ts}"


def read_report(path):
    """The events in their print formats: fields are numbers or names as they are printed."""
    events = []
    for line in path.open():
        cpu, sec, nsec, lost, name, text = LINE.match(line).groups()
        fields = dict(PAIR.findall(text or ""))
        # the hypercall has no key
        if name == "host_hcall":
            fields["id"] = text.split()[0]
        events.append(Event(int(sec) * 10**9 + int(nsec), int(cpu), name or "lost", fields, lost=int(lost or 0)))
    return events


def read_json(path):
    events = []
    for line in path.open():
        data = json.loads(line)
        same_origin("a line of JSON", data)
        events.append(Event(int(data["ts"]), data["cpu"], data.get("event") or "lost",
                            {k: int(v) for k, v in data.get("fields", {}).items()}, data.get("symbols"),
                            {k: int(v) for k, v in data.get("args", {}).items()}, data.get("lost") or 0))
    return events


def compare_report(events, report):
    """What the report prints in the print formats is what JSON has."""
    same("lines of JSON", len(events), len(report))
    for event, other in zip(events, report):
        same("the time of " + str(event), (event.ts, event.cpu, event.name, event.lost),
             (other.ts, other.cpu, other.name, other.lost))
        for key, text in other.fields.items():
            # what the register has after a hypercall without a result
            if key == "ret" and key not in event.fields:
                continue
            value = number(text)
            # a name in a print format is one in JSON, if the value has a meaning
            if value is None and event.names.get(key, text) != text and key != "id":
                wrong(f"{key} of {event}: {event.names}, not {text}")
            elif value is not None:
                same(f"{key} of {event}", event.fields[key], value)


def compare_csv(events, path):
    """The one table has all values and names."""
    rows = list(csv.DictReader(path.open()))
    same("rows of CSV", len(rows), len(events))
    for event, row in zip(events, rows):
        expected = {"ts": str(event.ts), "cpu": str(event.cpu)}
        if event.name == "lost":
            expected["lost"] = str(event.lost)
        else:
            expected["event"] = event.name
        expected.update({key: str(value) for key, value in event.fields.items()})
        expected.update({key + "_name": name for key, name in event.names.items()})
        expected.update({key: value for key, value in origin.items() if value})
        same(f"the row of {event}", {key: value for key, value in row.items() if value}, expected)


def compare_tables(events, folder):
    """Each table, loaded into a database with the types of load.sql, has the sums of all numbers."""
    sums = collections.defaultdict(collections.Counter)
    for event in events:
        sums[event.name]["rows"] += 1
        for key, value in event.fields.items():
            sums[event.name][key] += value
        if event.name == "lost":
            sums["lost"]["lost"] += event.lost
    database = sqlite3.connect(":memory:")
    tables = set()
    for line in (folder / "load.sql").open():
        if not line.startswith("CREATE TABLE"):
            continue
        table = line.split('"')[1]
        tables.add(table)
        database.execute(line)
        with (folder / (table + ".csv")).open() as file:
            rows = list(csv.reader(file))
        columns = [info[1] for info in database.execute(f'PRAGMA table_info("{table}")')]
        same(f"columns of {table}", rows[0], columns)
        # sums of numbers above 2^63 are compared as halves
        database.executemany(f'INSERT INTO "{table}" VALUES ({",".join("?" * len(columns))})', rows[1:])
        same(f"rows of {table}", len(rows) - 1, sums[table]["rows"])
        for row in rows[1:]:
            same_origin(table, dict(zip(columns, row)))
        for index, key in enumerate(columns):
            if key in sums[table]:
                same(f"the sum of {key} in {table}", sum(int(row[index] or 0) for row in rows[1:]), sums[table][key])
        if "duration" in columns:
            same(f"SQL: the sum of duration in {table}",
                 database.execute(f'SELECT sum(duration) FROM "{table}"').fetchone()[0], sums[table]["duration"])
    same("tables", tables, set(sums) | {"lost"})


def ctf_fields(text):
    """The fields of an event as babeltrace2 prints them: numbers, names and arguments."""
    fields, names, args = {}, {}, {}
    for key, label, container, string, plain, inner in CTF_PAIR.findall(text):
        if key == "args":
            args = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (\w+)", inner)}
        elif container:
            fields[key] = int(container)
            if label:
                names[key] = label
        elif plain:
            fields[key] = int(plain, 0)
        elif string:
            names[key.removesuffix("_name")] = string
    return fields, names, args


def compare_ctf(events, path, notes):
    """babeltrace2 reads the same events, in the order of time, and as many are discarded."""
    # events of the same time may be in any order of CPUs
    expected = collections.defaultdict(list)
    for event in events:
        if event.name != "lost":
            expected[event.cpu].append(event)
    last, nr = 0, 0
    for line in path.open():
        ts, name, cpu, text = CTF_LINE.match(line).groups()
        nr += 1
        if int(ts) < last:
            wrong(f"babeltrace2 goes back in time at {ts}")
        last = int(ts)
        if not expected[int(cpu)]:
            wrong("babeltrace2 has more events of CPU " + cpu)
            continue
        event = expected[int(cpu)].pop(0)
        fields, names, args = ctf_fields(text)
        # what the register has after a hypercall without a result
        if "ret" not in event.fields:
            fields.pop("ret", None)
        same(f"babeltrace2: {event}", (int(ts), name, fields, args), (event.ts, event.name, event.fields, event.args))
        for key, value in event.names.items():
            same(f"babeltrace2: name of {key} of {event}", names.get(key), value)
    same("events of babeltrace2", nr, sum(event.name != "lost" for event in events))
    discarded = [int(n) for n in DISCARDED.findall(notes.read_text())]
    same("discarded events of babeltrace2", sorted(discarded),
         sorted(event.lost for event in events if event.name == "lost"))
    if "may have discarded" in notes.read_text():
        wrong("babeltrace2 does not know how many events were discarded")


def check_nesting(slices, what):
    """Slices of a thread lie inside each other, or apart."""
    stack = []
    for begin, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while stack and stack[-1] <= begin:
            stack.pop()
        if stack and end > stack[-1]:
            wrong(f"{what}: the slice {name} at {begin} ends after the one around it")
        stack.append(end)


def stays(events):
    """How long each stay at EL2 was: up to the exit, or to the last event before a loss or the end."""
    entered, last = {}, {}
    for event in events:
        if event.name in ("hyp_enter", "hyp_exit", "lost") and event.cpu in entered:
            yield (last[event.cpu] if event.name == "lost" else event.ts) - entered.pop(event.cpu)
        if event.name == "hyp_enter":
            entered[event.cpu] = event.ts
        last[event.cpu] = event.ts
    yield from (last[cpu] - ts for cpu, ts in entered.items())


def check_sums(objects, path):
    """Slices that end together do so in doubles, too, as viewers add."""
    with path.open() as file:
        doubles = json.load(file)["traceEvents"]
    ends = collections.defaultdict(set)
    for item, double in zip(objects, doubles):
        if item["ph"] == "X":
            ends[item["ts"] + item["dur"]].add(double["ts"] + double["dur"])
    same("ends of slices that differ as doubles", sum(len(each) > 1 for each in ends.values()), 0)


def compare_chrome(events, path):
    """Each event is in Chrome's JSON, slices nest, and durations are the same."""
    with path.open() as file:
        whole = json.load(file, parse_float=lambda text: round(decimal.Decimal(text) * 1000))
    objects = whole["traceEvents"]
    same_origin("Chrome's JSON", whole["otherData"])
    check_sums(objects, path)
    counts, durations, lost = collections.Counter(), collections.Counter(), 0
    threads = collections.defaultdict(list)
    for item in objects:
        thread = (item["pid"], item["tid"])
        name = item.get("args", {}).get("event", item["name"] if item["ph"] == "i" else None) if "name" in item else None
        if item["ph"] == "X":
            counts[name] += 1
            durations[name] += item["dur"]
            threads[thread].append((item["ts"], item["ts"] + item["dur"], item["name"]))
        elif item["ph"] == "i":
            counts[name] += 1
            if name == "LOST":
                lost += item["args"]["lost"]
    expected = collections.Counter(event.name for event in events if event.name != "hyp_exit")
    expected["LOST"] = expected.pop("lost", 0)
    same("events in Chrome's JSON", +counts, +expected)
    same("lost events in Chrome's JSON", lost, sum(event.lost for event in events))
    same("stays at EL2", durations.pop("hyp_enter", 0), sum(stays(events)))
    for name in durations:
        same(f"durations of {name}", durations[name], sum(e.fields["duration"] for e in events if e.name == name))
    for thread, slices in threads.items():
        check_nesting(slices, f"thread {thread}")
    return len(objects)


def compare_collapsed(events, path):
    """Times at EL2 are those from hyp_enter to hyp_exit, times in guests those of guest_exit."""
    sums = collections.Counter()
    for line in path.open():
        stack, time = line.rsplit(" ", 1)
        sums[stack.split(";")[0]] += int(time)
    entered, left, stay, gaps, at_el2, in_guests = {}, {}, collections.Counter(), set(), 0, 0
    fixups = collections.defaultdict(list)
    for event in events:
        if event.name == "lost":
            entered.pop(event.cpu, None)
            left.pop(event.cpu, None)
            gaps.add(event.cpu)
        elif event.name == "hyp_enter":
            stay[event.cpu] += event.ts - left.pop(event.cpu, event.ts)
            entered[event.cpu] = event.ts
        elif event.name == "hyp_exit":
            at_el2 += event.ts - entered[event.cpu] if event.cpu in entered else 0
            if entered.pop(event.cpu, None) and event.fields["reason"] == 7:
                left[event.cpu] = event.ts
        elif event.name == "guest_fixup" and event.cpu not in entered:
            fixups[event.cpu].append(event)
        elif event.name == "guest_exit":
            known = stay.pop(event.cpu, 0) if event.cpu not in gaps else 0
            stay.pop(event.cpu, None)
            gaps.discard(event.cpu)
            # else without what EL2 took for the exit, and for fixups whose hyp_enter was lost
            duration = event.fields["duration"]
            fixed = sum(e.fields["duration"] for e in fixups.pop(event.cpu, []) if e.ts >= event.ts - duration)
            at_exit = event.ts - entered.get(event.cpu, event.ts)
            in_guests += known or max(duration - at_exit - (fixed if event.cpu not in entered else 0), 0)
    same("time at EL2", sums["el2"], at_el2)
    same("time in guests", sums["guest"], in_guests)


def compare_jq(events, path):
    """jq counts the same."""
    expected = collections.Counter(event.name for event in events)
    found = {}
    for line in path.open():
        name, count, lost, time = line.split()
        found[name] = int(count)
        same(f"jq: lost events at {name}", int(lost), sum(e.lost for e in events if e.name == name))
        same(f"jq: duration of {name}", int(time), sum(e.fields.get("duration", 0) for e in events if e.name == name))
    same("jq: events", found, dict(expected))


def compare_metadata(path):
    """The metadata of CTF has the origin by the names of other tracers."""
    env = dict(re.findall(r'\t(\w+) = "(.*)";', path.read_bytes().decode("ascii", "replace")))
    same_origin("CTF", {key: env.get(name, "") for key, name in zip(ORIGIN, ("hostname", "boot_id", "kernel_release"))})


def main():
    global origin
    folder = pathlib.Path(sys.argv[1])
    origin = read_origin(folder / "dump.json")
    report = read_report(folder / "report.txt")
    events = read_json(folder / "out.jsonl")
    compare_report(events, report)
    compare_jq(events, folder / "jq.txt")
    compare_csv(events, folder / "out.csv")
    compare_tables(events, folder / "tables")
    compare_ctf(events, folder / "ctf.txt", folder / "ctf.notes")
    compare_metadata(folder / "out.ctf" / "metadata")
    objects = compare_chrome(events, folder / "out.json")
    compare_collapsed(events, folder / "out.collapsed")
    kinds = len({event.name for event in events})
    print(f"{len(events)} lines of {kinds} kinds, {sum(e.lost for e in events)} lost events, "
          f"{objects} objects of Chrome's JSON: {errors} differences")
    sys.exit(bool(errors))


main()
