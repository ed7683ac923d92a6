#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print how many instructions of the project's EL2 objects were executed, and which were not.

coverage.py BUILD LIMIT FILE...: BUILD is the folder in which the kernel was built, each FILE is what run.sh has
collected in a boot of it. coverage.sh says more. The exit code is 1 if less than LIMIT percent were executed.
"""
import collections
import os
import re
import struct
import subprocess
import sys

OBJECTS = "drivers/hyptrace/hyp"
CROSS = "aarch64-linux-gnu-"
NR_LISTED = 4       # lines of the source that are printed of a range


def die(text):
    sys.exit(f"coverage.py: {text}")


def said_by(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def objects_of(build):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(build, OBJECTS))
                  for name in names if name.endswith(".nvhe.o"))


def functions_of(file):
    """Return (section, offset, size, name) of each function of an object. What ALTERNATIVE() may put in their place is in
    the same section, but is not executed there: it is in no function."""
    line = re.compile(r"^([0-9a-f]{16}) .{7} (\.text\S*)\t([0-9a-f]{16}) (?:\.\S+ )?(\S+)$", re.M)
    return [(section, int(offset, 16), int(size, 16), name)
            for offset, section, size, name in line.findall(said_by(CROSS + "objdump", "-t", file)) if int(size, 16)]


class Text:
    """EL2's text, where the kernel is linked to"""

    def __init__(self, build):
        vmlinux = os.path.join(build, "vmlinux")
        self.places = collections.defaultdict(list)
        for line in said_by(CROSS + "nm", vmlinux).splitlines():
            address, _, name = line.split(None, 2)
            self.places[name].append(int(address, 16))
        self.begin, = self.places["__hyp_text_start"]
        self.end, = self.places["__hyp_text_end"]
        for line in said_by(CROSS + "readelf", "-SW", vmlinux).splitlines():
            found = re.search(r"PROGBITS +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) ", line)
            if not found:
                continue
            section, offset, size = (int(number, 16) for number in found.groups())
            if section <= self.begin < section + size:
                with open(vmlinux, "rb") as file:
                    file.seek(offset + self.begin - section)
                    self.bytes = file.read(self.end - self.begin)

    def word(self, address):
        return struct.unpack_from("<I", self.bytes, address - self.begin)[0]

    def bases(self, functions):
        """Return where the sections of an object are: a function whose name is unique tells."""
        bases = {}
        for section, offset, _, name in functions:
            places = self.places["__kvm_nvhe_" + name]
            if len(places) == 1:
                bases.setdefault(section, places[0] - offset)
        return bases

    def executed(self, file):
        """Return the addresses at which the instructions of a boot were linked.

        EL2 runs in a mapping of its own. Most instructions are not changed at boot: they tell its distance.
        """
        with open(file, encoding="ascii") as lines:
            pairs = [(int(address.rstrip(":"), 16), int(word, 16)) for address, word in map(str.split, lines)]
        at = collections.defaultdict(list)
        for address in range(self.begin, self.end, 4):
            at[address & 0xfff, self.word(address)].append(address)
        votes = collections.Counter(address - linked for address, word in pairs
                                    for linked in at[address & 0xfff, word])
        if not votes:
            return set()
        (distance, nr), = votes.most_common(1)
        found = {address - distance for address, _ in pairs if self.begin <= address - distance < self.end}
        if nr < len(found) * 0.8:
            die(f"{file}: only {nr} of {len(found)} instructions are EL2's: is it of another kernel?")
        return found


class Unreachable:
    """What this kernel, or the emulator, cannot execute"""

    def __init__(self, file):
        self.entries = []
        with open(file, encoding="ascii") as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    function, text, _ = (part.strip() for part in line.split("|"))
                    self.entries.append([function, text, 0])

    def has(self, function, lines):
        for entry in self.entries:
            if entry[0] == function and (entry[1] == "*" or any(entry[1] in line for line in lines)):
                entry[2] += 1
                return True
        return False


def sources(file, section, offsets):
    """Return for each offset its lines of the source, as (place, text), the innermost inlined function first."""
    said = said_by(CROSS + "addr2line", "-a", "-i", "-j", section, "-e", file, text="".join(f"{o:#x}\n" for o in offsets))
    result, read = [], {}
    for line in said.splitlines():
        if line.startswith("0x"):
            result.append([])
            continue
        path, number = line.split(" (")[0].rsplit(":", 1)
        if path not in read:
            try:
                with open(path, encoding="utf-8") as text:
                    read[path] = text.read().splitlines()
            except OSError:
                read[path] = []
        number = int(number) if number.isdigit() else 0
        text = read[path][number - 1].strip() if 0 < number <= len(read[path]) else ""
        result[-1].append((f"{os.path.basename(path)}:{number}", text))
    return result


def report_missed(file, function, offsets, unreachable):
    """Print the ranges of a function that were not executed, with the lines that they are of. Return how many of
    their instructions can be."""
    section, begin, size, name = function
    lines = dict(zip(offsets, sources(file, section, offsets)))
    reachable = [offset for offset in offsets if not unreachable.has(name, [text for _, text in lines[offset]])]
    if reachable:
        print(f"  {name}(): {len(offsets)} of {size // 4} were not reached")
    while reachable:
        run = [reachable.pop(0)]
        while reachable and reachable[0] == run[-1] + 4:
            run.append(reachable.pop(0))
        print(f"    +{run[0] - begin:#x}: {len(run)} instructions")
        seen = dict.fromkeys(lines[offset][-1] if lines[offset] else ("?", "") for offset in run)
        for place, text in list(seen)[:NR_LISTED]:
            print(f"      {place}: {text}")
    return len([offset for offset in offsets if not unreachable.has(name, [text for _, text in lines[offset]])])


def main():
    build, limit, files = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    text = Text(build)
    executed = set()
    for file in files:
        of_boot = text.executed(file)
        print(f"# {file}: {len(of_boot)} instructions of EL2, of which {len(of_boot - executed)} are new")
        executed |= of_boot
    unreachable = Unreachable(os.path.join(os.path.dirname(os.path.abspath(__file__)), "unreachable"))
    rows, total, covered, excused = [], 0, 0, 0
    objects = objects_of(build)
    if not objects:
        die(f"there are no objects in {build}/{OBJECTS}")
    for file in objects:
        name = os.path.relpath(file, os.path.join(build, OBJECTS))
        functions = functions_of(file)
        bases = text.bases(functions)
        nr = done = 0
        print(f"{name}:")
        for function in functions:
            section, offset, size, _ = function
            if section not in bases:
                die(f"{name}: where is {section}?")
            missed = [at for at in range(offset, offset + size, 4) if bases[section] + at not in executed]
            nr += size // 4
            done += size // 4 - len(missed)
            if missed:
                excused += len(missed) - report_missed(file, function, missed, unreachable)
        rows.append((name, nr, done))
        total += nr
        covered += done
    for function, part, nr in unreachable.entries:
        if not nr:
            print(f"# the list of what cannot be reached has {function} | {part}: it was reached, or is not there")
    print(f"\n{'object':24} {'instructions':>12} {'executed':>9}       %")
    for name, nr, done in rows + [("all", total, covered)]:
        print(f"{name:24} {nr:12} {done:9}  {100 * done / nr:6.2f}")
    print(f"{'of those that can be':24} {total - excused:12} {covered:9}  {100 * covered / (total - excused):6.2f}")
    if 100 * covered < limit * total:
        print(f"less than {limit} % were executed")
        sys.exit(1)


main()
