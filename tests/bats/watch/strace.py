#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the lines of strace -j with the log of random_calls: strace.py LOG LINES

Name, arguments, result, error and order of each call must be equal."""

import json
import sys


def main():
    with open(sys.argv[1], encoding="ascii") as log:
        calls = [line.rstrip("\n").split(" ") for line in log]
    with open(sys.argv[2], encoding="ascii") as out:
        lines = [json.loads(line) for line in out]
    if len(calls) != len(lines):
        sys.exit(f"{len(lines)} lines of {len(calls)} calls")
    named = 0
    for at, (call, line) in enumerate(zip(calls, lines)):
        cpu, number, invalid = int(call[0]), int(call[1], 16), call[2] == "1"
        args, ret, name = [int(word, 16) for word in call[3:7]], int(call[7], 16), call[8]
        ret = ret - (1 << 64) if ret >> 63 else ret
        where = f"call {at}: {call}: {line}"
        if line["cpu"] != cpu or line["kind"] != "host_hcall" or line["depth"]:
            sys.exit(f"CPU or kind: {where}")
        # the driver does not name this one, which only the boot may call
        if name == "__kvm_hyp_init":
            name = ""
        if line["name"] != (name or hex(number)):
            sys.exit(f"name: {where}")
        values = [int(value) for value in line["args"].values()]
        # a hypercall may have fewer arguments than the event has registers
        if values != args[: len(values)] or (not name and len(values) != 4):
            sys.exit(f"arguments: {where}")
        named += bool(name)
        if line["result"] is not None and int(line["result"]) != ret:
            sys.exit(f"result: {where}")
        if (line["error"] == "invalid") != invalid or (invalid and line["result"] is not None):
            sys.exit(f"invalid: {where}")
        if line["error"] and not invalid and not -4096 < ret < 0:
            sys.exit(f"error: {where}")
    if not len(calls) // 2 < named < len(calls):
        sys.exit(f"{named} of {len(calls)} calls have a name")


main()
