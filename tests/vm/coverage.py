#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print how many instructions of the project's EL2 objects were executed, and which were not: see coverage.sh.

coverage.py keep BUILD FOLDER: a kernel was built in BUILD; copy to FOLDER what "report" needs of it. The objects are
compiled once more, with the lines of their source.
coverage.py report FOLDER LIMIT FILE...: each FILE is what run.sh has collected in a boot of that kernel. The exit code
is 1 if less than LIMIT percent of the instructions were executed, without those in the file "unreachable".
"""
import collections
import functools
import os
import re
import struct
import shutil
import subprocess
import sys

OBJECTS = "drivers/hyptrace/hyp"
CROSS = "aarch64-linux-gnu-"
NR_LISTED = 4       # lines of the source that are printed of a range

# size: in bytes
Function = collections.namedtuple("Function", "section offset size name")


def die(text):
    sys.exit(f"coverage.py: {text}")


def said_by(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


class Text:
    """EL2's text, where the kernel is linked to"""

    def __init__(self, folder):
        vmlinux = os.path.join(folder, "vmlinux")
        self.places = collections.defaultdict(list)
        for line in said_by(CROSS + "nm", vmlinux).splitlines():
            address, _, name = line.split(None, 2)
            self.places[name].append(int(address, 16))
        self.begin, = self.places["__hyp_text_start"]
        self.end, = self.places["__hyp_text_end"]
        for numbers in re.findall(r"PROGBITS +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) ",
                                  said_by(CROSS + "readelf", "-SW", vmlinux)):
            address, offset, size = (int(number, 16) for number in numbers)
            if address <= self.begin < address + size:
                with open(vmlinux, "rb") as file:
                    file.seek(offset + self.begin - address)
                    self.bytes = file.read(self.end - self.begin)

    def executed(self, file):
        """Return the addresses to which the instructions of a boot were linked.

        EL2 runs in a mapping of its own. Most instructions are not changed at boot: they tell its distance.
        """
        with open(file, encoding="ascii") as lines:
            # The last line is incomplete if the boot was killed.
            pairs = [(int(words[0].rstrip(":"), 16), int(words[1], 16)) for words in map(str.split, lines)
                     if len(words) == 2]
        at = collections.defaultdict(list)
        for offset in range(0, len(self.bytes) & ~3, 4):
            address = self.begin + offset
            at[address & 0xfff, struct.unpack_from("<I", self.bytes, offset)[0]].append(address)
        votes = collections.Counter(address - linked for address, word in pairs
                                    for linked in at[address & 0xfff, word])
        if not votes:
            return set()
        (distance, nr), = votes.most_common(1)
        found = {address - distance for address, _ in pairs if self.begin <= address - distance < self.end}
        if nr < len(found) * 0.8:
            die(f"{file}: only {nr} of {len(found)} instructions are EL2's: is it of another kernel?")
        return found


def compile_with_lines(build, file, new):
    """Compile an object as the kernel's build has, but with the lines of its source."""
    with open(os.path.join(os.path.dirname(file), f".{os.path.basename(file)}.cmd"), encoding="utf-8") as lines:
        command = lines.readline().split(" := ", 1)[1]
    command, nr = re.subn(r" -o \S+\.nvhe\.o ", f" -g -o {new} ", re.sub(r"-Wp,-MMD,\S+", "", command))
    if nr != 1:
        die(f"{file}: how was it compiled?")
    os.makedirs(os.path.dirname(new), exist_ok=True)
    subprocess.run(["sh", "-c", command], cwd=build, check=True)


def keep(build, folder):
    source = os.path.join(build, OBJECTS)
    os.makedirs(folder, exist_ok=True)
    for file in objects_in(source):
        compile_with_lines(build, file, os.path.abspath(os.path.join(folder, os.path.relpath(file, source))))
    shutil.copy(os.path.join(build, "vmlinux"), folder)


def objects_in(folder):
    objects = [os.path.join(inside, name) for inside, _, names in sorted(os.walk(folder))
               for name in sorted(names) if name.endswith(".nvhe.o")]
    if not objects:
        die(f"there are no objects in {folder}")
    return objects


class Object:
    """An object of the project"""

    def __init__(self, folder, file):
        self.file = file
        self.name = os.path.relpath(file, folder)
        # What ALTERNATIVE() may put in its place at boot is in the same section, but in no function.
        line = re.compile(r"^([0-9a-f]{16}) .{7} (\.text\S*)\t([0-9a-f]{16}) (?:\.\S+ )?(\S+)$", re.M)
        self.functions = [Function(section, int(offset, 16), int(size, 16), name)
                          for offset, section, size, name in line.findall(said_by(CROSS + "objdump", "-t", file))
                          if int(size, 16)]

    def bases(self, text):
        """Return where the sections are linked to: a function whose name is unique tells."""
        bases = {}
        for function in self.functions:
            places = text.places["__kvm_nvhe_" + function.name]
            if len(places) == 1:
                bases.setdefault(function.section, places[0] - function.offset)
        return bases

    def sources(self, section, offsets):
        """Return for each offset its lines of the source, as (place, text), the innermost inlined function first."""
        said = said_by(CROSS + "addr2line", "-a", "-i", "-j", section, "-e", self.file,
                       text="".join(f"{offset:#x}\n" for offset in offsets))
        result = []
        for line in said.splitlines():
            if line.startswith("0x"):
                result.append([])
                continue
            path, number = line.split(" (")[0].rsplit(":", 1)
            result[-1].append((f"{os.path.basename(path)}:{number}", line_of(path, number)))
        return dict(zip(offsets, result))


@functools.cache
def lines_of(path):
    try:
        with open(path, encoding="utf-8") as lines:
            return lines.read().splitlines()
    except OSError:
        return []


def line_of(path, number):
    lines = lines_of(path)
    return lines[int(number) - 1].strip() if number.isdigit() and 0 < int(number) <= len(lines) else ""


class Unreachable:
    """What this kernel, or the emulator, cannot execute"""

    def __init__(self, file):
        self.entries = collections.Counter()
        with open(file, encoding="ascii") as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    function, part, _ = (word.strip() for word in line.split("|"))
                    self.entries[function, part] = 0

    def has(self, function, lines):
        for name, part in self.entries:
            if name in (function, "*") and (part == "*" or any(part in text for _, text in lines)):
                self.entries[name, part] += 1
                return True
        return False


def report_function(function, sources, unreachable):
    """Print the ranges that were not executed, with the lines that they are of, without what cannot be. Return the
    number of instructions that cannot be."""
    left = [offset for offset in sources if not unreachable.has(function.name, sources[offset])]
    excused = len(sources) - len(left)
    if left:
        print(f"  {function.name}(): {len(left)} of {function.size // 4} were not executed")
    while left:
        run = [left.pop(0)]
        while left and left[0] == run[-1] + 4:
            run.append(left.pop(0))
        print(f"    +{run[0] - function.offset:#x}: {len(run)} instructions")
        seen = dict.fromkeys(sources[offset][at] for offset in run for at in (-1, 0) if sources[offset])
        for place, text in list(seen)[:NR_LISTED]:
            print(f"      {place}: {text}")
    return excused


def report_object(item, text, executed, unreachable):
    """Print what was not executed of an object. Return the numbers of its instructions, of those that were executed,
    and of those that cannot be."""
    bases = item.bases(text)
    total = done = excused = 0
    print(f"{item.name}:")
    for function in item.functions:
        if function.section not in bases:
            die(f"{item.name}: where is {function.section}?")
        offsets = range(function.offset, function.offset + function.size, 4)
        missed = [offset for offset in offsets if bases[function.section] + offset not in executed]
        total += len(offsets)
        done += len(offsets) - len(missed)
        if missed:
            excused += report_function(function, item.sources(function.section, missed), unreachable)
    return total, done, excused


def report(folder, limit, files):
    text = Text(folder)
    executed = set()
    for file in files:
        of_boot = text.executed(file)
        print(f"# {os.path.basename(file)}: {len(of_boot)} instructions of EL2, {len(of_boot - executed)} of them new")
        executed |= of_boot
    unreachable = Unreachable(os.path.join(os.path.dirname(os.path.abspath(__file__)), "unreachable"))
    objects = [Object(folder, file) for file in objects_in(folder)]
    rows = [(item.name,) + report_object(item, text, executed, unreachable) for item in objects]
    for (function, part), nr in unreachable.entries.items():
        print(f"# cannot be executed: {nr} instructions of {function}(): {part}")
    total, done, excused = (sum(row[at] for row in rows) for at in (1, 2, 3))
    print(f"\n{'object':28} {'instructions':>12} {'executed':>9}       %")
    for name, nr, part in [row[:3] for row in rows] + [("all", total, done), ("all that can be", total - excused, done)]:
        print(f"{name:28} {nr:12} {part:9}  {100 * part / nr:6.2f}")
    if 100 * done < limit * (total - excused):
        print(f"less than {limit:g} % of those that can be executed were")
        return 1
    return 0


if sys.argv[1] == "keep":
    keep(*sys.argv[2:])
else:
    sys.exit(report(sys.argv[2], float(sys.argv[3]), sys.argv[4:]))
