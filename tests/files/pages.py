#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare hyptrace page and leaks with the report of the same file: pages.py HYPTRACE FILE

The changes of some pages with their hypercalls, the owner that they imply, and losses; the pages that were not given
back; all as text, JSON and CSV, and of a part of the file."""

import collections
import csv
import io
import json
import re
import subprocess
import sys

TEARDOWN = "__pkvm_teardown_vm"
PAGES = 12


def run(code, *words):
    done = subprocess.run([hyptrace, *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != code:
        sys.exit(f"{words}: exit code {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def same(what, left, right):
    if left != right:
        sys.exit(f"{what}: {left} is not {right}")


def field(event, name):
    return event.get("symbols", {}).get(name, event["fields"].get(name))


def read():
    """The changes with their hypercalls, and the ends of VMs, in the order of time."""
    text, note = run(0, "report", "-j", "-e", "mem_transition,host_hcall", *times)
    found, waiting = [], collections.defaultdict(list)
    for event in lines(text):
        cpu = event.get("cpu")
        if event.get("event") == "mem_transition":
            event["call"] = None
            found.append(event)
            waiting[cpu].append(event)
        elif event.get("event") == "host_hcall":
            begin = int(event["ts"]) - int(event["fields"]["duration"])
            for change in waiting.pop(cpu, []):
                if int(change["ts"]) + 1 >= begin:
                    change["call"] = event["text"]
            found.append(event)
        elif cpu is not None and "lost" in event:
            # the page's history does not mind, but leaks does
            for change in waiting[cpu]:
                change["is_lost"] = True
    lost, more = re.search(r"(\d+)( or more)? lost", note).groups()
    return found, lost, bool(more)


def check_page(pfn, changes, lost, more, last):
    words = ["-n", str(last)] if last else []
    first, *rows = lines(run(0, "page", "-q", "-j", *words, *times, pfn)[0])
    done = [c for c in changes if not c["fields"]["ret"]]
    implied = None if not done else "guest" if field(done[-1], "op") == "donate" else "host"
    same(f"page {pfn}", [first[key] for key in ("pfn", "owner", "implied", "changes", "lost", "lost_more")],
         [pfn, None, implied, len(changes), lost, more])
    changes = changes[-last:] if last else changes
    same(f"changes of {pfn}", [[r["cpu"], r["ts"], r["op"], r["to"], r["ret"], r["text"], r["call"]] for r in rows],
         [[c["cpu"], c["ts"], field(c, "op"), field(c, "to"), c["fields"]["ret"], c["text"], c["call"]] for c in changes])
    text, note = run(0, "page", *words, *times, pfn)
    same(f"lines of {pfn}", [line.split(" by ")[0].split(": ", 1)[1].removeprefix("failed: ")
                             for line in text.splitlines()[1:]], [c["text"] for c in changes])
    if f"{len(changes)} change{'' if len(changes) == 1 else 's'} printed, {lost}" not in note:
        sys.exit(f"page {pfn}: {note}")
    table = list(csv.DictReader(io.StringIO(run(0, "who", "-q", "--csv", *words, *times, pfn)[0])))
    same(f"table of {pfn}", table, [{key: "" if value is None else str(value) for key, value in r.items()} for r in rows])


def find_leaks(events):
    """Replay: the takes of pages of VMs that are gone."""
    pages, living, gone = {}, {}, 0
    for event in events:
        fields = event["fields"]
        if event["event"] == "host_hcall":
            if field(event, "id") == TEARDOWN and not fields["invalid"] and not int(fields["ret"]):
                gone += 1
                vm = living.pop(int(fields["arg1"]), None)
                if vm:
                    vm["gone"] = event["ts"]
        elif not fields["ret"]:
            pages.pop(fields["pfn"], None)
            if field(event, "op") == "donate":
                handle = fields["handle"]
                pages[fields["pfn"]] = (event, living.setdefault(handle, {"handle": handle}))
    return [take for take in pages.values() if "gone" in take[1]], gone, len(living)


def check_leaks(events, lost, more):
    if not any(event["event"] == "host_hcall" for event in events):
        said = run(2, "leaks", *times)[1]
        if "it holds no event host_hcall" not in said and "has no event at these times" not in said:
            sys.exit("leaks: it says nothing of the missing event")
        return
    takes, gone, living = find_leaks(events)
    code = 3 if takes else 0
    first, *rows = lines(run(code, "leaks", "-q", "-j", *times)[0])
    same("leaks", [first[key] for key in ("pages", "torn_down", "living", "lost", "lost_more")],
         [str(len(takes)), str(gone), living, lost, more])
    if first["complete"] and (lost != "0" or more):
        sys.exit("leaks: it says that nothing was lost")
    takes.sort(key=lambda take: int(take[0]["ts"]))
    same("pages of leaks",
         [[r["page"], r["vm"], r["gone"], r["ts"], r["text"], r["owner"]] for r in rows],
         [[e["fields"]["pfn"], vm["handle"], vm["gone"], e["ts"], e["text"], "guest"] for e, vm in takes])
    same("hypercalls of leaks", [r["call"] for r, (e, _) in zip(rows, takes) if "is_lost" not in e],
         [e["call"] for e, _ in takes if "is_lost" not in e])
    same("lines of leaks", len(run(code, "who", "--leaks", "-q", *times)[0].splitlines()), len(takes) + 1)
    table = list(csv.DictReader(io.StringIO(run(code, "leaks", "-q", "--csv", *times)[0])))
    same("table of leaks", table, [{key: "" if value is None else str(value) for key, value in r.items()} for r in rows])


hyptrace, path = sys.argv[1:]
for times in [], ["--from", "+5ms", "--to=-5ms"]:
    all_events, nr_lost, lost_more = read()
    of_page = collections.defaultdict(list)
    for one in all_events:
        if one["event"] == "mem_transition":
            of_page[one["fields"]["pfn"]].append(one)
    for number in sorted(of_page, key=lambda pfn: len(of_page[pfn]))[-PAGES:]:
        check_page(number, of_page[number], nr_lost, lost_more, 0)
    for number in list(of_page)[:1]:
        check_page(number, of_page[number], nr_lost, lost_more, 2)
    check_leaks(all_events, nr_lost, lost_more)
