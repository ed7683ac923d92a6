#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare what catch -j has printed with the log of outliers, and with the events of the file:
hyptrace report -j -C CPU FILE | catch.py LOG LINES CPU

LOG has the number of each long call, which is its fourth argument. All calls were made on CPU. Each
long call must be caught once, and no other call. The file must have each of them, before it,
without a gap, what is printed before, and all calls between two of them unless it says that some
were lost. The lines of the file are not kept in memory."""

import json
import sys
from collections import deque

BEFORE = 20


def number(event):
    return int(event["fields"]["arg4"])


def key(event):
    return event["cpu"], event["ts"], event["event"], json.dumps(event["fields"], sort_keys=True)


def check_caught(line, cpu):
    """Check a line of catch without the file."""
    event, before = line["event"], line["before"]
    # The first calls have fewer events before them.
    if len(before) > BEFORE or len(before) < min(BEFORE, number(event) - 1):
        sys.exit(f"{len(before)} events before {event}")
    # the outlier follows the call before it; the first of a batch follows other events
    times = [int(one["ts"]) for one in before + [event]]
    if times != sorted(times) or any(one["cpu"] != cpu for one in before + [event]):
        sys.exit(f"order or CPU before {event}")
    begin = int(event["ts"]) - int(event["fields"]["duration"])
    if any(int(one["ts"]) < begin for one in line["meanwhile"]) or any(int(one["ts"]) >= begin for one in line["earlier"]):
        sys.exit(f"not meanwhile, or not earlier: {line}")
    if any(one["cpu"] == cpu for one in line["meanwhile"] + line["earlier"]):
        sys.exit(f"the same CPU meanwhile {event}")
    if not line["usual"] or line["usual"]["name"] != event["symbols"]["id"]:
        sys.exit(f"the usual time of {event}: {line['usual']}")
    if line["usual"]["average"] >= int(event["fields"]["duration"]):
        sys.exit(f"not longer than usual: {event}: {line['usual']}")


def check_saved(line, saved):
    """Compare what is printed before an event with the lines before it in the file."""
    events = [json.loads(one) for one in saved]
    if any("lost" in one for one in events) or [*map(key, events)] != [*map(key, line["before"])]:
        sys.exit(f"the events before {line['event']} differ:\n{line['before']}\n{events}")


def key_of(text):
    line = json.loads(text)
    return key(line) if "event" in line else None


def check_file(lines, caught):
    """Look for each event that was caught, in order, among the lines of the file.

    A line is parsed only if it may be the event: it has the time of it."""
    saved = deque(maxlen=BEFORE)
    waiting = deque(caught)
    call = f'"{caught[0]["event"]["symbols"]["id"]}"'
    calls, last = 0, None
    for text in lines:
        if waiting and str(waiting[0]["event"]["ts"]) in text:
            event = waiting[0]["event"]
            if key_of(text) == key(event):
                check_saved(waiting.popleft(), saved)
                if last is not None and number(event) - last - 1 != calls:
                    sys.exit(f"{calls} calls in the file between {last} and {number(event)}")
                calls, last = -1, number(event)
        if call in text:
            calls += 1
        if '"lost"' in text:
            last = None
        saved.append(text)
    if waiting:
        sys.exit(f"not in the file, or not in order: {waiting[0]['event']}")


def main():
    cpu = int(sys.argv[3])
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
    for line in caught:
        check_caught(line, cpu)
    check_file(sys.stdin, caught)


main()
