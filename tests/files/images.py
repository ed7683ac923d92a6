#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Memory that has outlived a reset, and dumps of a machine's memory: what is whole is read, and what is not is named: images.py
HYPTRACE. Dumps are left out without libkdumpfile. The format is that of linux/hyptrace_dump.h."""

import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
from corpus_image import BASE, INFO, PAGE, Image, kdump, messages, vmcore  # pylint: disable=wrong-import-position

HYPTRACE = sys.argv[1]
SELFTEST, DATA, SEAL = 3, PAGE - 16, 16
# The command is built to read dumps if there is the header, and can if there is the library, which its package brings.
READS_DUMPS = not subprocess.run(["pkg-config", "--exists", "libkdumpfile"], check=False).returncode
failed = 0


def fnv(stamp, data):
    total = ((0xcbf29ce484222325 ^ len(data)) ^ stamp) * 0x100000001b3 & (1 << 64) - 1
    for at in range(0, len(data), 8):
        total = (total ^ int.from_bytes(data[at:at + 8], "little")) * 0x100000001b3 & (1 << 64) - 1
    return total


class Ring:
    """A ring of selftest events. Each sub-buffer is a list of (time in ns, id)."""

    def __init__(self, *subbufs, **changes):
        self.subbufs, self.counts = subbufs, [0, 0, 0, 0]
        self.reported, self.sealed, self.own_cpu, self.per_page = 0, True, None, None
        self.read, self.begin, self.extra, self.circle = 0, 0, [], False
        for name, value in changes.items():
            setattr(self, name, value)

    def page_of(self, events):
        if not events:
            return bytes(PAGE)
        stamp, data, last = events[0][0], b"", events[0][0]
        for time, number in events:
            data += struct.pack("<IHHIQ", 4 | (time - last) << 5, SELFTEST, 0, 0, number)
            last = time
        page = struct.pack("<QQ", stamp, len(data)) + data.ljust(DATA - SEAL, b"\0")
        return page + struct.pack("<QII", fnv(stamp, data) ^ (not self.sealed), len(data), 0)

    def add_to(self, image, cpu):
        counts = struct.pack("<4Q", *self.counts)
        # struct hyptrace_map_meta, which an image does not have: the first sub-buffer is the reader's
        begin = self.begin or (self.subbufs[0][0][0] if self.subbufs else 0)
        meta = struct.pack("<28xI48xQQ", self.read, begin, 0)
        pages = [image.add(counts), image.add(struct.pack("<Q", self.reported)), image.add(meta)]
        pages += [image.add(self.page_of(events)) for events in self.subbufs] + self.extra
        cpu = cpu if self.own_cpu is None else self.own_cpu
        if not self.per_page:
            return image.list(pages, cpu, BASE + len(image.pages) * PAGE if self.circle else 0)
        following = 0
        for at in range((len(pages) - 1) // self.per_page * self.per_page, -1, -self.per_page):
            following = image.list(pages[at:at + self.per_page], cpu, following)
        return following


def build(rings, **changes):
    """Return an image with these rings; None: the CPU has none."""
    image, text = Image(), messages()
    texts = image.list([image.add(text[at:at + PAGE]) for at in range(0, len(text), PAGE)])
    data = image.finish(texts, image.list([ring.add_to(image, cpu) if ring else 0 for cpu, ring in enumerate(rings)]))
    for at, new in changes.get("at", {}).items():
        data = data[:at] + new + data[at + len(new):]
    if changes.get("sign"):
        data = data[:24] + struct.pack("<I", zlib.crc32(data[:24] + bytes(4) + data[28:PAGE])) + data[28:]
    return data


def lines(*rings):
    """Return what report prints of the rings' events, which are (time, id)."""
    found = sorted((time, cpu, number) for cpu, events in enumerate(rings) for time, number in events)
    return [f"[{cpu:03}] {time // 10**9:5}.{time // 1000 % 10**6:06}: selftest: id={number}" for time, cpu, number in found]


def check(what, data, expected, notes=(), code=0, options=()):
    """Read a file with this content: it prints just the lines, and of each note some words."""
    global failed
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "image")
        with open(path, "wb") as file:
            file.write(data)
        said = subprocess.run([HYPTRACE, "report", "-q", *options, path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)
    if not READS_DUMPS and "libkdumpfile" in said.stderr:
        print(f"note: {what}: left out: there is no libkdumpfile")
        return
    errors = said.stderr.splitlines()
    wrong = [note for note in notes if not any(note in line for line in errors)]
    if said.returncode == code and said.stdout.splitlines() == list(expected) and not wrong and len(errors) == len(notes):
        return
    print(f"{what}: code {said.returncode}, missing {wrong}", *said.stdout.splitlines()[:20], "instead of", *list(expected)[:20],
          *errors, sep="\n  ")
    failed = 1


S = 10**9
A = [[(S, 1), (S + 5000, 2)], [(2 * S, 3)], []]
B = [[(S + 1000, 11)], [(3 * S, 12), (3 * S + 900, 13)]]


def flat(subbufs):
    return [event for events in subbufs for event in events]


def images():
    both = lines(flat(A), flat(B))
    check("two CPUs", build([Ring(*A), Ring(*B)]), both)
    check("a CPU without a ring", build([None, Ring(*B)]), lines([], flat(B)))
    check("a list of several pages", build([Ring(*A, per_page=2), Ring(*B, per_page=4)]), both)
    check("a full sub-buffer", build([Ring([(S + i, i) for i in range((DATA - SEAL) // 20)])]),
          lines([(S + i, i) for i in range((DATA - SEAL) // 20)]))
    check("what was cleared", build([Ring(*A, counts=[0, 0, 0, 2 * S]), Ring(*B)]), lines([(2 * S, 3)], flat(B)))
    check("a clear in progress", build([Ring(*A, counts=[0, 0, 0, (1 << 64) - 1])]), lines(flat(A)))
    check("no seal", build([Ring(*A, sealed=False), Ring(*B)]), lines([], flat(B)),
          ["2 of 3 sub-buffers of CPU 0 were not finished, or their checksum is wrong"])
    check("a list of another CPU", build([Ring(*A, own_cpu=1), Ring(*B)]), lines([], flat(B)), ["the ring of CPU 0 is damaged"])
    check("a ring without sub-buffers", build([Ring(), Ring(*B)]), lines([], flat(B)), ["the ring of CPU 0 is damaged"])
    check("a list that leads back to itself", build([Ring(*A, extra=[BASE] * 500, circle=True), Ring(*B)]), lines([], flat(B)),
          ["the ring of CPU 0 is damaged"])
    check("a page that the image does not have", build([Ring(*A, extra=[BASE - PAGE, BASE + (1 << 30)]), Ring(*B)]), both,
          ["2 of 5 sub-buffers of CPU 0 are not in the dump: their events are missing"])


def damage():
    good = build([Ring(*A), Ring(*B)])
    pages = [good[at:at + PAGE] for at in range(0, len(good), PAGE)]
    remote = struct.calcsize("<16sQIIqqHHHHH6x40s72s72s72s")
    text_bytes, text_sum = struct.unpack_from("<II", good, remote + 40)
    check("the page that describes all", build([Ring(*A)], at={100: b"x"}), [], ["is damaged, or was just being changed"], 2)
    check("it is not where it says", build([Ring(*A)], at={16: struct.pack("<Q", BASE + PAGE)}), [], ["is damaged"], 2)
    check("no remote", build([Ring(*A)], at={54: struct.pack("<H", 0)}, sign=True), [], ["no remote was registered"], 2)
    check("a remote without a name", build([Ring(*A)], at={remote: b"\0"}, sign=True), [], ["no remote was registered"], 2)
    check("the sum of the description", build([Ring(*A)], at={remote + 44: struct.pack("<I", text_sum ^ 1)}, sign=True), [],
          ['the description of remote "hypervisor" is damaged'], 2)
    check("the size of the description", build([Ring(*A)], at={remote + 40: struct.pack("<I", text_bytes + PAGE)}, sign=True), [],
          ['the description of remote "hypervisor" is damaged'], 2)
    check("no description", build([Ring(*A)], at={remote + 32: bytes(8)}, sign=True), [],
          ['the description of remote "hypervisor" is not in the dump'], 2)
    check("the list of the rings", build([Ring(*A)], at={remote + 48: struct.pack("<Q", BASE - PAGE)}, sign=True), [],
          ["the list of the rings is not in the dump"], 2)
    check("another remote", good, [], ['no such remote "other"'], 2, ["-r", "other"])
    check("the remote by its name", good, lines(flat(A), flat(B)), options=["-r", "hypervisor"])
    check("no ring", build([None, None]), [], ['no ring of "hypervisor" is in the memory'], 2)
    # the list of CPU 0's ring is the first page whose entries are addresses of the pages before it
    first = next(i for i, page in enumerate(pages) if struct.unpack_from("<QIII", page)[2] == 6)
    for what, at, new in (("the sum", 8, b"xxxx"), ("the number of addresses", 12, bytes(4)), ("too many", 12, b"\xff\xff\0\0"),
                          ("the next page", 0, struct.pack("<Q", BASE))):
        at += first * PAGE
        check(f"a list of a ring: {what}", good[:at] + new + good[at + len(new):], lines([], flat(B)),
              ["the ring of CPU 0 is damaged"])


def dumps():
    """A ring of a machine that has crashed: the writer was about to overwrite the oldest sub-buffer, unless one is free."""
    free = [*B, []]
    both = lines(flat(A), flat(B))
    for make in (vmcore, kdump):
        what = make.__name__
        check(what, make(build([Ring(*A, sealed=False, reported=7, counts=[4, 3, 2, 0]),
                                Ring(*free, reported=8, counts=[4, 3, 2, 0])])), both)
        check(f"{what}: losses", make(build([Ring(*A, reported=6, counts=[4, 3, 2, 0]), Ring(*free)])),
              ["[000]     1.000000: LOST events", *both], ["6 events printed, 0 or more lost"])
        check(f"{what}: none is free", make(build([Ring(*A), Ring(*B)])), lines(flat(A), flat(B[1:])))
        check(f"{what}: what was cleared", make(build([Ring(*A, begin=2 * S), Ring(*free)])), lines([(2 * S, 3)], flat(B)))
        check(f"{what}: what was read", make(build([Ring(*A, read=20), Ring(*free)])), lines(flat(A)[1:], flat(B)))
        check(f"{what}: a clear in progress", make(build([Ring(*A, begin=(1 << 64) - 1)])), lines([(2 * S, 3)]))


def elf_heads():
    """libkdumpfile does not get a file whose head is that of no such dump, or leads behind its end."""
    good = vmcore(build([Ring(*A), Ring(*B, [])]))
    size = len(good)
    for what, at, new in (("32 bits", 4, b"\1"), ("the other byte order", 5, b"\2"), ("the size of a segment's head", 54, b"\x37"),
                          ("segments behind the end", 32, struct.pack("<Q", size + 1)),
                          ("sections behind the end", 40, struct.pack("<Q", size + 1) + good[48:58] + struct.pack("<HH", 64, 1)),
                          ("the size of a section's head", 40, struct.pack("<Q", 64) + good[48:58] + struct.pack("<HH", 63, 1)),
                          ("no sections, but their number", 60, struct.pack("<H", 1))):
        check(f"an ELF file: {what}", good[:at] + new + good[at + len(new):], [],
              ["its ELF header is damaged, or that of another kind of machine"], 2)
    check("an ELF file: half a head", good[:40], [], ["cannot read the dump"], 2)
    # where an ELF file has the place and the number of its segments, another one has the name of the system
    other = kdump(build([Ring(*A), Ring(*B, [])]))
    segment = struct.pack("<IIQQQQQQ", 1, 0, len(other) + PAGE, 0, BASE, PAGE, PAGE, 0)
    check("no ELF file", other[:32] + struct.pack("<Q", len(other)) + other[40:56] + b"\1" + other[57:] + segment,
          lines(flat(A), flat(B)))
    check("a flattened dump", b"makedumpfile".ljust(PAGE, b"\0"), [], ["is flattened: first make a file of it"], 2)


def cut_dumps():
    """What a cut file does not have is missing: it is not zeros."""
    data = build([Ring(*A, []), Ring(*B, [])])
    pages = len(data) // PAGE
    both, name = lines(flat(A), flat(B)), "CPU 0 are not in the dump"
    last = lines([], flat(B))
    # the first sub-buffer of CPU 0
    first = next(at for at in range(pages) if struct.unpack_from("<Q", data, at * PAGE) == (S,))

    def cut(gone, *parts):
        """Return a dump whose file ends with these parts, after all other pages, but for so many bytes."""
        known = {page for part in parts for page in range(part[0], sum(part))}
        others = [(page, 1) for page in range(pages) if page not in known]
        whole = vmcore(data, [*others, *parts])
        return whole[:len(whole) - gone]

    check("a dump of many parts", cut(0, (first, 1)), both)
    for gone in 1, 100, PAGE:
        check(f"without {gone} bytes of a sub-buffer", cut(gone, (first, 1)), lines(flat(A[1:]), flat(B)),
              [f"the file was cut: {gone} bytes of memory are missing at its end", f"1 of 4 sub-buffers of {name}"])
    check("without the second page of a part", cut(PAGE, (first, 2)), lines(flat(A[:1]), flat(B)),
          [f"the file was cut: {PAGE} bytes", f"1 of 4 sub-buffers of {name}"])
    check("without two parts", cut(2 * PAGE, (first, 1), (first + 1, 1)), last,
          [f"the file was cut: {2 * PAGE} bytes", f"2 of 4 sub-buffers of {name}"])
    check("without the list of the rings", cut(1, (pages - 1, 1)), [], ["the list of the rings is not in the dump"], 2)
    check("without the first page", cut(1, (0, 1)), [], ["has nothing of hyptrace: the file was cut, 1 bytes of memory are missing"], 2)
    # more gaps than are kept
    many = 70
    data = build([Ring(*[[(S + i, i)] for i in range(many)]), Ring(*B, [])])
    pages = len(data) // PAGE
    check("without many parts", cut(many * PAGE, *((first + i, 1) for i in range(many))), last,
          [f"the file was cut: {many * PAGE} bytes", f"{many} of {many} sub-buffers of {name}"])


def searched():
    """Without its address in VMCOREINFO the page is looked for; the newest is the one."""
    info = INFO[:INFO.index(b"HYPTRACE")]
    both = lines(flat(A), flat(B))

    data = build([Ring(*A, []), Ring(*B, [])])

    def signed(address, changed, nr_remotes):
        page = bytearray(data[:PAGE])
        struct.pack_into("<QI", page, 16, address, 0)
        struct.pack_into("<q", page, 40, changed)
        struct.pack_into("<H", page, 54, nr_remotes)
        struct.pack_into("<I", page, 24, zlib.crc32(page))
        return bytes(page)

    own = BASE + len(data)
    for make in vmcore, kdump:
        what = f"{make.__name__}: without an address"
        check(what, make(data, info=info), both)
        check(f"{what}, damaged", make(data[:100] + b"x" + data[101:], info=info), [], ["is damaged, or was just being changed"], 2)
        check(f"{what}, nothing", make(bytes(16 * PAGE), info=info), [], ["has nothing of hyptrace: its driver was not loaded"], 2)
        check(f"{what}, an older one behind it", make(signed(BASE, 5, 1) + data[PAGE:] + signed(own, 4, 0), info=info), both)
        check(f"{what}, an older one before it", make(signed(BASE, 4, 0) + data[PAGE:] + signed(own, 5, 1), info=info), both)


images()
damage()
dumps()
elf_heads()
cut_dumps()
searched()
sys.exit(failed)
