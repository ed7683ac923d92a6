#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare hyptrace strace -i with the report of the same file: strace.py HYPTRACE FILE

Name, arguments, result, order, depth and losses of each call, as text and as JSON; and the sums of -c."""

import collections
import json
import re
import subprocess
import sys

CALLS = {
    "host_hcall": "id",
    "host_smc": "id",
    "psci_call": "func",
    "host_ffa_call": "func_id",
    "guest_exit": "ec",
    "guest_fixup": "ec",
}
# What each call can be in
PARENTS = {
    "psci_call": ["host_smc"],
    "host_ffa_call": ["host_smc"],
    "guest_exit": ["host_hcall"],
    "guest_fixup": ["host_hcall", "guest_exit"],
}


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def fail(what, *values):
    sys.exit(f"{what}: {values}")


def name_of(event):
    """The name of an event of the report."""
    fields, symbols = event["fields"], event.get("symbols", {})
    if "code" in fields and symbols.get("code") != "trap":
        return symbols.get("code", hex(int(fields["code"])))
    key = CALLS[event["event"]]
    if event["event"] == "guest_fixup" and key in symbols:
        return f"guest_fixup {symbols[key]}"
    return symbols.get(key, hex(int(fields[key])))


def depths(events):
    """The depth of each call: in how many later ones it is."""
    found = [0] * len(events)
    for at, event in enumerate(events):
        begin = int(event["ts"]) - int(event["fields"].get("duration", 0))
        for before in range(at - 1, -1, -1):
            child = events[before]
            # calls are in the order of their end
            if int(child["ts"]) < begin:
                break
            if child["cpu"] == event["cpu"] and event["event"] in PARENTS.get(child["event"], []):
                found[before] += 1
    return found


def has_result(event):
    text = re.sub(r" <[^<]*>$", "", event["text"])
    return " = " in text


def check_json(events, lines):
    calls = [event for event in events if "event" in event]
    expected = dict(zip(map(id, calls), depths(calls)))
    if len(lines) != len(events):
        fail("lines", len(lines), len(events))
    for event, line in zip(events, lines):
        if "lost" in event:
            if line != event:
                fail("loss", event, line)
            continue
        fields = event["fields"]
        for what, is_there, wanted in (
            ("time", line["time"], event["ts"]),
            ("cpu", line["cpu"], event["cpu"]),
            ("kind", line["kind"], event["event"]),
            ("name", line["name"], name_of(event)),
            ("duration", line["duration"], fields.get("duration")),
            ("vcpu", line["vcpu"], fields.get("vcpu")),
            ("vm", line["vm"], fields.get("handle")),
            ("index", line["index"], fields.get("index")),
            ("depth", line["depth"], expected[id(event)]),
        ):
            if is_there != wanted:
                fail(what, is_there, wanted, event, line)
        if "args" in event and line["args"] != event["args"]:
            fail("args", event, line)
        if "args" not in event:
            for key, value in line["args"].items():
                if fields[key] != value:
                    fail("args", event, line)
        result = fields.get("ret", fields.get("err"))
        if line["result"] is not None and line["result"] != str(result):
            fail("result", event, line)
        if (line["result"] is not None) != has_result(event):
            fail("has a result", event, line)
        if event["event"] == "host_hcall":
            error = "invalid" if fields["invalid"] else event.get("symbols", {}).get("ret")
            # __kvm_vcpu_run returns why the guest has exited
            error = None if int(fields.get("ret", 0)) >= 0 and not fields["invalid"] else error
            if line["error"] != error:
                fail("error", event, line)


def check_text(report, lines, calls, depth_of, times):
    if len(report) != len(lines):
        fail("lines", len(report), len(lines))
    at = 0
    for wanted, line in zip(report, lines):
        if "LOST" not in wanted:
            head, event, text = re.fullmatch(r"(\[\d+\] *\d+\.\d+: )(\w+): (.*)", wanted).groups()
            if not times:
                text = re.sub(r" <[^<]*>$", "", text)
            if event.startswith("guest_"):
                text = f"{event}: {text}"
            wanted = head + "  " * depth_of[at] + text
            at += 1
        if wanted != line:
            fail("text", wanted, line)
    if at != len(calls):
        fail("calls", at, len(calls))


def check_sums(calls, depth_of, table, text):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for call in calls:
        one = sums[(call["kind"], call["name"])]
        one[0] += 1
        one[1] += call["error"] is not None
        one[2] += int(call["duration"] or 0)
    found = {(row["kind"], row["name"]): [row["calls"], row["errors"], int(row["total"])] for row in table}
    if found != dict(sums):
        fail("sums", found, dict(sums))
    times = [int(row["total"]) for row in table]
    if times != sorted(times, reverse=True):
        fail("order of the sums", times)
    rows = text.splitlines()
    total = rows[-1].split()
    outer = sum(int(call["duration"] or 0) for call, depth in zip(calls, depth_of) if not depth)
    if len(rows) != len(table) + 2 or total[-1] != "total" or int(total[3]) != len(calls):
        fail("table", rows[-1])
    if total[1] != f"{outer / 10**9:.6f}":
        fail("total", total, outer)


def main():
    hyptrace, path = sys.argv[1:]
    chosen = ["-e", ",".join(CALLS)]
    # only the command chooses the calls: losses are all there
    report = [json.loads(line) for line in run(hyptrace, "report", "-q", "-j", *chosen, path)[0].splitlines()]
    text = run(hyptrace, "report", "-q", *chosen, path)[0].splitlines()
    out, note = run(hyptrace, "strace", "-j", "-i", path, *chosen)
    lines = [json.loads(line) for line in out.splitlines()]
    check_json(report, lines)
    calls = [line for line in lines if "lost" not in line]
    depth_of = [line["depth"] for line in calls]
    lost = sum(line["lost"] or 0 for line in lines if "lost" in line)
    last = note.splitlines()[-1]
    if last != f"hyptrace: {len(calls)} call{'' if len(calls) == 1 else 's'} printed, {lost} event{'' if lost == 1 else 's'} lost":
        fail("last line", last, len(calls), lost)
    strace = [hyptrace, "strace", "-q", "-i", path, *chosen]
    check_text(text, run(*strace, "-T")[0].splitlines(), calls, depth_of, True)
    check_text(text, run(*strace)[0].splitlines(), calls, depth_of, False)
    check_sums(calls, depth_of, json.loads(run(*strace, "-cj")[0]), run(*strace, "-c")[0])
    # by default without traps
    out = run(hyptrace, "strace", "-qj", "-i", path)[0]
    if sum("lost" not in json.loads(line) for line in out.splitlines()) != sum(c["kind"] != "guest_fixup" for c in calls):
        fail("calls without -e")


main()
