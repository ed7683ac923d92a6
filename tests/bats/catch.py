#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare what catch -j has printed with the log of outliers, and with the events of the file:
catch.py LOG LINES FILE-LINES

LOG has the number of each long call, which is its fourth argument. Each must be caught once, and no
other call. The file must have each of them, and before it, without a gap, what is printed before."""

import json
import sys

BEFORE = 20


def number(event):
    return int(event["fields"]["arg4"])


def key(event):
    return event["cpu"], event["ts"], event["event"], json.dumps(event["fields"], sort_keys=True)


def main():
    with open(sys.argv[1], encoding="ascii") as log:
        long = [int(line) for line in log]
    with open(sys.argv[2], encoding="ascii") as out:
        lines = [json.loads(line) for line in out]
    missed = [line for line in lines if "missed" in line]
    caught = [line for line in lines if "caught" in line]
    if missed:
        sys.exit(f"missed: {missed}")
    if [number(line["event"]) for line in caught] != long:
        sys.exit(f"caught {[number(line['event']) for line in caught]}, but long were {long}")
    if [line["caught"] for line in caught] != list(range(1, len(long) + 1)):
        sys.exit("the numbers of what was caught")

    # by CPU: the events of the file, and where a gap is
    cpus, places = {}, {}
    with open(sys.argv[3], encoding="ascii") as file:
        for line in map(json.loads, file):
            events = cpus.setdefault(line["cpu"], [])
            events.append(None if "lost" in line else line)
            if "event" in line:
                places[key(line)] = len(events) - 1
    for line in caught:
        event, before = line["event"], line["before"]
        place = places.get(key(event))
        if place is None:
            sys.exit(f"not in the file: {event}")
        if len(before) != BEFORE:
            sys.exit(f"{len(before)} events before {event}")
        saved = cpus[event["cpu"]][place - BEFORE : place]
        if None in saved or [key(one) for one in saved] != [key(one) for one in before]:
            sys.exit(f"the events before {event} differ:\n{before}\n{saved}")
        # the outlier follows the call before it; the first of a batch follows other events
        times = [int(one["ts"]) for one in before + [event]]
        if times != sorted(times) or any(one["cpu"] != event["cpu"] for one in before):
            sys.exit(f"order or CPU before {event}")
        if any(one["cpu"] == event["cpu"] for one in line["meanwhile"]):
            sys.exit(f"the same CPU meanwhile {event}")
        if not line["usual"] or line["usual"]["name"] != event["symbols"]["id"]:
            sys.exit(f"the usual time of {event}: {line['usual']}")
        if line["usual"]["average"] >= int(event["fields"]["duration"]):
            sys.exit(f"not longer than usual: {event}: {line['usual']}")
    calls = sum(1 for one in cpus[caught[0]["event"]["cpu"]] if one and one["event"] == "host_hcall")
    if calls <= len(long):
        sys.exit("the file has no short calls")


main()
