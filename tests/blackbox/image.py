#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check what report has printed of memory that has outlived a reset: image.py IMAGE REPORT.

IMAGE has marks only. Of each CPU, REPORT must have all marks of the sub-buffers that the writer had left, none that was
not committed, each once and in order, and as many must be lost as came before the first one: prints that number.

Without REPORT, print where the image has the second byte of the data of each sub-buffer that is sealed with some.
"""

import re
import struct
import sys

PAGE = 4096
REMOTES = 320
MARK = re.compile(r"\[(\d+)\] +([\d.]+): selftest: id=(\d+)")


class Image:
    """A file that begins with struct hyptrace_dump"""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.base = self.number(16)

    def number(self, at, code="<Q"):
        return struct.unpack_from(code, self.data, at)[0]

    def addresses(self, address):
        while address:
            at = address - self.base
            for i in range(self.number(at + 12, "<I")):
                yield self.number(at + 24 + 8 * i)
            address = self.number(at)

    def marks(self, at):
        """The numbers of the marks of a sub-buffer, and their times"""
        time, end = self.number(at), at + 16 + (self.number(at + 8) & 0xfffff)
        at += 16
        while at < end:
            header = self.number(at, "<I")
            kind, delta = header & 31, header >> 5
            if kind == 30:
                time += delta + (self.number(at + 4, "<I") << 27)
                at += 8
                continue
            assert 1 <= kind <= 28, f"a record of kind {kind} at {at:#x}"
            time += delta
            yield self.number(at + 12), time
            at += 4 + 4 * kind


def main():
    image = Image(sys.argv[1])
    if len(sys.argv) == 2:
        for ring in image.addresses(image.number(REMOTES + 48)):
            for page in list(image.addresses(ring))[3:]:
                if image.number(page - image.base + PAGE - 8, "<I"):
                    print(page - image.base + 17)
        return
    printed = {}
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            mark = MARK.match(line)
            assert mark or " LOST " in line, line
            if not mark:
                continue
            cpu, time, number = mark.groups()
            printed.setdefault(int(cpu), []).append((int(number), int(time.replace(".", ""))))
    rings = image.number(REMOTES + 48)
    lost = 0
    for cpu, ring in enumerate(image.addresses(rings)):
        pages = [address - image.base for address in list(image.addresses(ring))[3:]]
        pages = sorted((page for page in pages if image.number(page)), key=image.number)
        if not pages:
            continue
        got = printed.get(cpu, [])
        finished = [mark for page in pages[:-1] for mark in image.marks(page)]
        committed = finished + list(image.marks(pages[-1]))
        assert got[:len(finished)] == finished, f"CPU {cpu} lacks marks of complete sub-buffers"
        assert got == committed[:len(got)], f"CPU {cpu} has marks that were not committed"
        numbers = [number for number, _ in got]
        assert numbers == list(range(numbers[0], numbers[0] + len(got))) if got else True, f"CPU {cpu} has gaps"
        lost += got[0][0] - 1 if got else 0
    print(lost)


main()
