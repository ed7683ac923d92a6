#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is every sub-buffer read that a file holds? For run.sh and record.sh.

    cut.py HYPTRACE FILE            count the whole sub-buffers of an unfinished recording, and compare what is read
    cut.py HYPTRACE FILE CUTS       cut FILE, or a part beside it, at so many places, and read what is left each time

After a cut, all events before it are printed, and a message says where it is.
"""

import glob
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SUBBUF = 4096
LINE = re.compile(r"\[(\d+)\] +(\d+)( of its own file)? +\d+\.\d+: +\d+ bytes, +(\d+) events")
HYPTRACE, PATH = sys.argv[1:3]


def run(*args):
    return subprocess.run([HYPTRACE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def subbufs(path, files):
    """Return file, end and number of events of each sub-buffer or compressed chunk."""
    packed = files[path][10:11] == b"7"
    result = {}
    for line in run("dump", "--subbufs", path).stdout.decode().splitlines():
        match = LINE.match(line)
        if not match:
            continue
        name = f"{path}.cpu{int(match[1])}" if match[3] else path
        at = int(match[2])
        end = at + (8 + struct.unpack_from("<I", files[name], at)[0] if packed else SUBBUF)
        result[name, end] = result.get((name, end), 0) + int(match[4])
    return [(name, end, events) for (name, end), events in result.items()]


def whole(path, files):
    """Count the whole sub-buffers of an unfinished recording, from the sizes of its files."""
    main = files[path]
    packed = main[10:11] == b"7"
    begin = main.index(b"hyptrace 1\n")
    end = main.index(b"\nend\n", begin) + 5
    if packed:
        options, = struct.unpack_from("<Q", main, begin - 8)
        end = options + 16 + struct.unpack_from("<Q", main, options + 8)[0] + 16
    nr = 0
    for name, data in files.items():
        at = (end + SUBBUF - 1) // SUBBUF * SUBBUF if name == path else 0
        if not packed:
            nr += max(len(data) - at, 0) // SUBBUF
            continue
        at += 4
        while at + 8 <= len(data):
            size, full = struct.unpack_from("<II", data, at)
            if at + 8 + size > len(data):
                break
            nr += full // SUBBUF
            at += 8 + size
    return nr


def check_whole(path, files):
    # while parts are moved, some sub-buffers are there twice
    if b"\ncomplete 0\n" not in files[path]:
        return
    lines = run("dump", "--subbufs", path).stdout.decode().splitlines()
    found = sum(1 for line in lines if LINE.match(line))
    damaged = sum(1 for line in lines if "no whole" in line)
    if found - damaged != whole(path, files):
        sys.exit(f"{found} sub-buffers with {damaged} damaged ones, not {whole(path, files)}")


def check_cut(path, name, files, at, known):
    expected = sum(events for file, end, events in known if file != name or end <= at)
    total = sum(events for _, _, events in known)
    left = run("report", path)
    said = left.stderr.decode().strip()
    match = re.search(r"(\d+) events? printed", said)
    where = f"cut of {os.path.basename(name)} at {at} of {len(files[name])}"
    if left.returncode not in (0, 2) or not said.startswith("hyptrace: "):
        sys.exit(f"{where}: code {left.returncode}: {said}")
    first = min((end for file, end, _ in known if file == path), default=len(files[path]) + SUBBUF) - SUBBUF if name == path else 0
    # without the headers nothing is known
    if match is None:
        if name != path or at >= first or "offset" not in said and "not a trace file" not in said:
            sys.exit(f"{where}: {said}")
        return
    if int(match[1]) < expected:
        sys.exit(f"{where}: {match[1]} events, not {expected}: {said}")
    is_between = path.endswith(".part") and any(file == name and end == at for file, end, _ in known)
    if int(match[1]) < total and not is_between and (left.returncode != 2 or "offset" not in said) and at > first + SUBBUF:
        sys.exit(f"{where}: {match[1]} of {total} events, without a message: {said}")


def cut(count):
    names = [PATH, *sorted(glob.glob(glob.escape(PATH) + ".cpu*"))]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(PATH))
        for name in names:
            shutil.copy(name, folder)
        files = {os.path.join(folder, os.path.basename(name)): read(name) for name in names}
        known = subbufs(path, files)
        chance = random.Random(1)
        for i in range(count):
            name = chance.choice(list(files))
            size = len(files[name])
            at = min(size - 1, size * i // count + i % 7)
            with open(name, "wb") as file:
                file.write(files[name][:at])
            check_cut(path, name, files, at, known)
            with open(name, "wb") as file:
                file.write(files[name])


if len(sys.argv) > 3:
    cut(int(sys.argv[3]))
else:
    check_whole(PATH, {name: read(name) for name in [PATH, *glob.glob(glob.escape(PATH) + ".cpu*")]})
