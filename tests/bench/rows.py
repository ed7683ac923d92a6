#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the table and results.json from lines "KERNEL CPU NAME PEER OURS" on stdin: rows.py RESULTS MACHINE VERSION...

A row without a goal is only information. The exit code is 1 if a row misses its goal, or if a row with a goal is missing.
Rows that only a full run measures keep their last figures.
"""

import datetime
import json
import sys

# name: (unit, goal): the largest good figure, or "N peer" for N times the peer's figure
GOALS = {
    "el2_insns_enter_exit": ("instructions", 40),
    "el2_insns_selftest": ("instructions", 50),
    "el2_insns_disabled": ("instructions", 4),
    "el2_insns_filtered": ("instructions", 40),
    "el2_insns_caught": ("instructions", 300),
    "el2_insns_host_hcall": ("instructions", 80),
    "el2_insns_guest_exit": ("instructions", 70),
    "el2_insns_guest_abort": ("instructions", 70),
    "el2_insns_count_enter": ("instructions", 25),
    "el2_insns_count_hcall": ("instructions", 25),
    "el2_insns_count_exit": ("instructions", 25),
    "el2_insns_untraced_refused": ("instructions", "1.01 peer"),
    "el2_insns_function": ("instructions", 60),
    "el2_insns_pmu_read": ("instructions", 12),
    "el2_insns_longest_op": ("instructions", 20000),
    "bytes_per_hyp_enter": ("bytes", 12),
    "writer_ns_const": ("ns", "1.2 peer"),
    "stream_insns_per_event": ("instructions", 220),
    "drain_insns_per_event": ("instructions", 10),
    # 10 of ours for 12 bytes are 13.3 for 16
    "drain_kernel_insns_per_event": ("instructions", 15.5),
    "record_insns_per_event": ("instructions", 14),
    "record_lost_at_1m_per_s": ("events", 0),
    "stream_latency_ms": ("ms", 10),
    # each call of EL2 shares 8 pages at most: el2_insns_longest_op
    "load_us_per_mib": ("us", 450),
    "demo_first_event_s": ("s", 10),
    "report_ns_4_cpus": ("ns", "0.025 peer"),
    "report_ns_1_cpu": ("ns", "0.0125 peer"),
    "report_ns_json": ("ns", 100),
    "stat_insns_per_event": ("instructions", "0.1 peer"),
    # perf kvm stat report: 87 ns per event of as many events
    "stat_ns_4_cpus": ("ns", 8.7),
    "stat_ns_exit": ("ns", 87),
    "export_ns_perfetto": ("ns", 100),
    "export_ns_ctf": ("ns", 66.7),
    "export_ns_csv": ("ns", 66.7),
    "perfetto_bytes_per_event": ("bytes", 30),
    "zstd_percent": ("%", 25),
    "report_last_100_ms": ("ms", 50),
    "report_peak_mib": ("MiB", 64),
    "stat_peak_mib": ("MiB", 64),
    "top_cpu_percent": ("%", 1),
    "export_peak_mib": ("MiB", 64),
}
UNITS = {"ns": "ns", "insns": "instructions", "us": "us", "s": "s"}
# rows whose figure must also be at most half of mainline's in the same boot
HALF_OF_PEER = {"el2_insns_enter_exit"}
ONLY_IN_FULL = {"kernel_build_s", "demo_source_s", "demo_rootfs_s", "demo_tools_s"}


def unit_of(name):
    if name in GOALS:
        return GOALS[name][0]
    return next((unit for part, unit in UNITS.items() if f"_{part}_" in f"{name}_"), "")


def number(text):
    return None if text == "-" else float(text)


def is_met(row):
    goal, ours, peer = row["goal"], row["ours"], row["peer"]
    if goal is None:
        return True
    if isinstance(goal, str):
        return peer is not None and ours <= float(goal.split()[0]) * peer
    if row["name"] in HALF_OF_PEER and peer is not None and ours * 2 > peer:
        return False
    return ours <= goal


def read_rows(lines):
    rows = []
    for line in lines:
        kernel, cpu, name, peer, ours = line.split()
        goal = goal_of(name)
        # a goal relative to the peer needs a peer, which not every kernel has
        if isinstance(goal, str) and peer == "-":
            goal = None
        rows.append({"name": name, "kernel": kernel, "cpu": cpu, "peer": number(peer),
                     "ours": number(ours), "goal": goal, "unit": unit_of(name)})
    return rows


def goal_of(name):
    return GOALS[name][1] if name in GOALS else None


def keep_last(rows, path):
    """Return the rows that were not measured this time, with the present goals."""
    try:
        with open(path, encoding="utf-8") as file:
            before = json.load(file)["rows"]
    except FileNotFoundError:
        return []
    names = {row["name"] for row in rows}
    return [row | {"goal": goal_of(row["name"])} for row in before if row["name"] in ONLY_IN_FULL - names]


def show(rows):
    print(f"{'row':<28} {'kernel':<10} {'cpu':<12} {'peer':>9} {'ours':>9} {'ratio':>7} {'goal':>8}")
    for row in rows:
        peer = "-" if row["peer"] is None else f"{row['peer']:.2f}"
        ratio = f"{row['peer'] / row['ours']:.2f}" if row["peer"] and row["ours"] else "-"
        goal = "-" if row["goal"] is None else row["goal"]
        miss = "" if is_met(row) else "  MISSED"
        print(f"{row['name']:<28} {row['kernel']:<10} {row['cpu']:<12} {peer:>9} {row['ours']:>9.2f} "
              f"{ratio:>7} {goal:>8}{miss}")


def main():
    path, machine, *versions = sys.argv[1:]
    rows = read_rows(sys.stdin)
    rows += keep_last(rows, path)
    show(rows)
    with open(path, "w", encoding="utf-8") as file:
        head = {"license": "SPDX-License-Identifier: GPL-2.0-only", "machine": machine,
                "date": datetime.date.today().isoformat(),
                "versions": dict(version.split("=", 1) for version in versions)}
        # a line for each row
        file.write(json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n')
        file.write(",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n")
    missed = [row["name"] for row in rows if not is_met(row)]
    missing = set(GOALS) - {row["name"] for row in rows}
    for name in missed:
        print(f"{name} misses its goal", file=sys.stderr)
    for name in sorted(missing):
        print(f"{name} was not measured", file=sys.stderr)
    sys.exit(bool(missed or missing))


main()
