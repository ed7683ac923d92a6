#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the files of corpus/ again, if formats have changed: corpus.py REAL FOLDER

REAL is a file of tests/files/make_file, whose events are taken: make_file -n 60 -c 2 REAL. The files are small, since
the fuzzer reads each of them many thousand times. They are compressed by zstd, and the fuzzer decompresses them.

Not made here are recorded-*, which "hyptrace record --limit 110K" has written of a small guest on 7.3, with and without
--host and -z, the parts those of a killed one; and trace-cmd-*, of trace-cmd 3.1.6, with an empty /proc/kallsyms.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile

EVENTS = ("hyp_enter", "hyp_exit", "selftest", "host_hcall", "guest_enter", "guest_exit", "mem_transition", "hyp_printk")
FEW = ("selftest", "host_hcall")
# Of visits(): no event that make_file records is one of the last three.
VISIT = ("hyp_enter", "hyp_exit", "host_hcall", "guest_enter", "guest_exit", "mem_transition", "host_smc", "psci_call",
         "host_mem_abort", "tlbi", "hyp_pool", "vcpu_load", "lock_wait", "func", "pmu")
FUNCTIONS = ("handle___kvm_vcpu_run", "__kvm_vcpu_run", "__deactivate_traps", "hyp_spin_lock")
NAMES_MAX = 3
# leaks needs the names of all hypercalls
VISIT_NAMES_MAX = 60
RECORDS = 24
SUBBUFS = 2


def zstd(data, level=1):
    """Compress, with room behind the frame for a mutation that needs more."""
    packed = subprocess.run(["zstd", "-q", f"-{level}", "--no-check", "-c"], input=data, stdout=subprocess.PIPE,
                            check=True).stdout
    return packed + struct.pack("<II", 0x184D2A50, 48) + bytes(48)


def split(data):
    """Return the description of a file, as lines, and its sub-buffers."""
    begin = data.index(b"hyptrace 1\n")
    end = data.index(b"\nend\n", begin)
    at = (end + 4095) // 4096 * 4096
    return data[begin:end].decode().split("\n"), [data[i:i + 4096] for i in range(at, len(data), 4096)]


def shorten(fmt, names_max):
    """Keep the first names of each list in a print format."""
    return re.sub(r"((?:, \{[^}]*\}){%d})(?:, \{[^}]*\})*" % names_max, r"\1", fmt)


def describe(lines, events, names_max=NAMES_MAX):
    """Return the description with these events and few names, and the fields of its events by their ids."""
    result, fields, keep, names = [], {}, True, 0
    for line in lines:
        word = line.split(" ")[0]
        if word == "event":
            number = int(line.split()[1])
            keep = line.split('"')[1] in events
            if keep:
                fields[number] = []
            line = shorten(line, names_max)
        elif word == "field":
            names = 0
            if keep:
                fields[number].append(tuple(int(n) for n in line.split()[1:3]))
        elif word == "symbol":
            names += 1
        elif word in ("hypercall", "arg"):
            keep = True
        if not keep or (word == "symbol" and names > names_max) or word in ("command", "uname"):
            continue
        result.append(line)
    return result, fields


def records(subbufs, fields):
    """Return the times and the payloads of known events."""
    result, kinds = [], {}
    for page in subbufs:
        now, commit = struct.unpack_from("<QQ", page)
        at, end = 16, 16 + (commit & 0xfffff)
        while at < end:
            head, = struct.unpack_from("<I", page, at)
            kind, delta = head & 31, head >> 5
            if kind == 30:
                now += delta + (struct.unpack_from("<I", page, at + 4)[0] << 27)
                at += 8
                continue
            if kind == 0:
                size, start = struct.unpack_from("<I", page, at + 4)[0] - 4, at + 8
            else:
                size, start = kind * 4, at + 4
            now += delta
            data = page[start:start + size]
            number, = struct.unpack_from("<H", data)
            if number in fields and kinds.get(number, 0) < RECORDS // 4:
                kinds[number] = kinds.get(number, 0) + 1
                result.append((now, data))
            at = start + size
    return sorted(result)[:RECORDS]


def layouts(lines):
    """Return number, size and fields of each event of a description by its name."""
    result, fields = {}, {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "event":
            fields = {}
            result[line.split('"')[1]] = int(words[1]), int(words[2]), fields
        elif words[0] == "field":
            fields[line.split('"')[-2]] = int(words[1]), int(words[2])
    return result


def name_functions(lines):
    """Return the description with names of functions: the kernel that make_file pretends to be traces none."""
    result, is_func = [], False
    for line in lines:
        if line.startswith("event "):
            is_func = '"func"' in line
        result.append(line)
        if is_func and line.startswith("field ") and line.endswith('"id"'):
            result += [f'symbol {number} "{name}"' for number, name in enumerate(FUNCTIONS)]
    return result


def visits(lines):
    """Return times and payloads of visits of EL2 with functions, waits for locks and counts, the same on both CPUs."""
    known, now, result = layouts(lines), 1000000000, []

    def put(delay, name, **values):
        nonlocal now
        number, size, fields = known[name]
        data = bytearray(struct.pack("<H", number) + bytes(size - 2))
        for field, value in values.items():
            offset, length = fields[field]
            data[offset:offset + length] = (value & (1 << 8 * length) - 1).to_bytes(length, "little")
        now += delay
        result.extend([(now, bytes(data)), (now + 1, bytes(data))])

    for i in range(6):
        put(900, "hyp_enter", reason=1, vcpu=82 * (i % 2))
        put(100, "lock_wait", lock=i, owner=1, duration=60)
        put(30, "mem_transition", op=i, **{"from": 0}, to=2, pfn=0x80000 + i // 2, nr=1, gfn=i, handle=0x1000, ret=-(i == 5))
        put(10, "hyp_pool", op=i % 2, order=0, left=10 - i, pool=0x80000)
        put(5, "tlbi", op=0, vmid=1, ipa=0x9000000, nr=i)
        put(50, "func", id=3, depth=3, duration=40)
        put(20, "func", id=2, depth=2, duration=90)
        if i % 2:
            put(10, "vcpu_load", handle=0x1000, index=0, vcpu=82)
            put(10, "guest_enter", handle=0x1000, index=0, vcpu=82)
            put(790, "pmu", counter=17, of=2, count=5000 + i)
            put(10, "guest_exit", code=2, ec=0x24, handle=0x1000, vcpu=82, duration=700, esr=0x92000047, ipa=0x9000018)
        put(20, "func", id=1, depth=2, duration=30, ago=10)
        put(20, "func", id=0, depth=1, duration=300 + 900 * (i % 2))
        put(1, "pmu", counter=17, of=1, count=9000 + i)
        put(1, "pmu", counter=8, of=1, count=7000 + i)
        put(5, "host_hcall", id=8 if i % 2 else 4, arg1=0x80000 + i, duration=320 + 900 * (i % 2), ret=-(i == 5))
        put(10, "hyp_exit", reason=3)
    put(50, "mem_transition", op=2, **{"from": 0}, to=2, pfn=0x80010, nr=1, handle=0x1000)
    put(90, "host_hcall", id=21, arg1=0x1000, duration=50)
    put(50, "mem_transition", op=3, **{"from": 2}, to=0, pfn=0x80010, nr=1, handle=0x1000)
    put(900, "psci_call", func=0x84000000, duration=50, ret=-2)
    put(90, "host_smc", id=0x80000000, duration=50)
    put(90, "host_mem_abort", esr=0x92000047, addr=0x80000000, duration=70, ret=-1)
    return result


class Image:
    """A file: version 6 or 7, of some byte order and size of sub-buffers."""

    def __init__(self, version, big=False, page=1024, packed=False, complete=True, text=True, sections=False):
        self.version, self.order, self.page = version, ">" if big else "<", page
        self.packed, self.complete, self.text, self.sections = packed, complete, text, sections

    def pack(self, fmt, *values):
        return struct.pack(self.order + fmt, *values)

    def payload(self, data, fields):
        if self.order == "<":
            return data
        data = bytearray(data)
        for offset, size in [(0, 2)] + fields:
            data[offset:offset + size] = data[offset:offset + size][::-1]
        return bytes(data)

    def record(self, delta, data):
        words = len(data) // 4
        if words > 28:
            data, words = self.pack("I", len(data) + 4) + data, 0
        return self.pack("I", words << 27 | delta if self.order == ">" else words | delta << 5) + data

    def subbufs(self, events, fields, cpu):
        """Return the sub-buffers of a CPU: the second one has lost events before it."""
        result, mine = b"", events[cpu::2]
        half = (len(mine) + 1) // SUBBUFS
        for i in range(SUBBUFS):
            last, data = None, b""
            for now, payload in mine[i * half:(i + 1) * half]:
                one = self.record(now - (last or now) & 0x7ffffff, self.payload(payload, fields[payload[0]]))
                if len(data) + len(one) + 24 > self.page:
                    break
                data += one
                start = now if last is None else start
                last = now
            commit = len(data) | (3 << 30 if i else 0)
            page = self.pack("QQ", start, commit) + data + (self.pack("Q", 7) if i else b"")
            result += page + bytes(self.page - len(page))
        return result

    def sized(self, text, fmt="Q"):
        return self.pack(fmt, len(text)) + text

    def data(self, events, fields, cpu):
        data = self.subbufs(events, fields, cpu)
        if not self.packed:
            return data
        result = self.pack("I", SUBBUFS)
        for i in range(SUBBUFS):
            full = data[i * self.page:(i + 1) * self.page]
            result += self.sized(zstd(full), "I")[:4] + self.pack("I", len(full)) + zstd(full)
        return result

    def info(self):
        text = b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        return b"header_page\0" + self.sized(text) + b"header_event\0" + self.sized(b"# compressed entry header\n")

    def formats(self):
        one = (b"name: selftest\nID: 3\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
               b"\tfield:u64 id;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"id=%llu\", REC->id\n")
        return self.pack("I", 1) + b"hyptrace\0" + self.pack("I", 1) + self.sized(one)

    def option(self, number, data):
        return self.pack("HI", number, len(data)) + data

    def section(self, number, data):
        flags = 0
        if self.sections and number in (0, 16, 18, 19):
            data, flags = self.sized(zstd(data), "I")[:4] + self.pack("I", len(data)) + zstd(data), 1
        return self.pack("HHIQ", number, flags, 0, len(data)) + data

    def head(self, text, places):
        initial = b"\x17\x08\x44tracing%d\0" % self.version + bytes([self.order == ">", 8]) + self.pack("I", self.page)
        options = self.option(5, b"Linux\0") + self.option(9, b"hyptrace\0")
        if self.version == 6:
            return (initial + self.info() + self.pack("I", 0) + self.formats() + self.pack("IIQI", 0, 0, 0, 2) +
                    b"options  \0" + options + self.pack("H", 0) + b"flyrecord\0" +
                    b"".join(self.pack("QQ", *place) for place in places) + text)
        result = initial + (b"zstd\0" if self.packed or self.sections else b"none\0") + b"1\0"
        at = len(result) + 8
        body = text
        for number, data in ((16, self.info()), (18, self.formats()),
                             (19, self.sized(b"ffff800080010000 T do_something\n", "I"))):
            options += self.option(number, self.pack("Q", at + len(body)))
            body += self.section(number, data)
        table = self.pack("Q", max(places[0][0], 16) - 16) + b"\0boot\0" + self.pack("II", self.page, 2)
        table += b"".join(self.pack("IQQ", cpu, *place) for cpu, place in enumerate(places))
        options += self.option(3, table) + self.option(0, self.pack("Q", 0))
        return result + self.pack("Q", at + len(body)) + body + self.section(0, options)

    def make(self, lines, fields, events):
        lines = [line.replace("complete 1", "complete %d" % self.complete) for line in lines]
        text = ("\n".join(lines) + "\nend\n").encode() if self.text else b""
        data = [self.data(events, fields, cpu) for cpu in range(2)]
        # compressed options have another size with each other number
        begin = (len(self.head(text, [(0, 0)] * 2)) + 16 + 128 + self.page - 1) // self.page * self.page
        second = begin + (len(data[0]) + self.page - 1) // self.page * self.page
        if self.complete:
            places = [(begin, len(data[0])), (second, len(data[1]))]
        else:
            places = [(begin, 0), (0, 0)]
        result = self.head(text, places)
        if self.version == 7:
            result += bytes(begin - 16 - len(result)) + self.pack("HHIQ", 3, self.packed, 0, second - begin + len(data[1]))
        result += bytes(begin - len(result)) + data[0]
        if self.complete:
            result += bytes(second - len(result)) + data[1]
        return result


IMAGES = {
    "v6": Image(6),
    "v6-big": Image(6, big=True),
    "v6-parts": Image(6, complete=False),
    "v6-16k": Image(6, page=16384),
    "v6-64k": Image(6, page=65536),
    "v6-plain": Image(6, text=False),
    "v7": Image(7),
    "v7-sections": Image(7, sections=True, text=False),
    "zstd": Image(7, packed=True),
    "zstd-big": Image(7, packed=True, big=True),
    "zstd-parts": Image(7, packed=True, complete=False),
    "visits": Image(6, page=4096),
    "visits-zstd": Image(7, packed=True, page=4096, sections=True),
    "visits-big": Image(7, page=4096, big=True),
    "zstd-64k": Image(7, packed=True, page=65536, big=True),
}


HOSTS = {
    "host-v6": (),
    "host-v6-be32": ("--big-endian", "--long", "4"),
    "host-v7": ("--version", "7"),
    "host-v7-16k": ("--version", "7", "--page", "16384", "--big-endian"),
}


def make_host(options):
    """Make a file as trace-cmd records it from a host."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../files/host_trace.py")
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([script, "--events", "9", "--page", "1024", *options, file.name], check=True)
        return file.read()


def main():
    with open(sys.argv[1], "rb") as file:
        lines, subbufs = split(file.read())
    images = {}
    for name, image in IMAGES.items():
        if name.startswith("visits"):
            text, fields = describe(name_functions(lines), VISIT, VISIT_NAMES_MAX)
            images[name] = image.make(text, fields, visits(lines))
            continue
        text, fields = describe(lines, EVENTS if name in ("v6", "zstd-big") else FEW)
        images[name] = image.make(text, fields, records(subbufs, fields))
    images.update({name: make_host(options) for name, options in HOSTS.items()})
    for name, data in images.items():
        with open(f"{sys.argv[2]}/{name}.zst", "wb") as file:
            file.write(subprocess.run(["zstd", "-q", "-19", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout)


main()
