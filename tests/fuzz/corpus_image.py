#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the images and dumps of corpus/images again, if formats have changed: corpus_image.py FOLDER

An image is what a boot leaves in memory that outlives a reset: see linux/hyptrace_dump.h. Its description is what a driver
has answered (tests/unit/data/conversation.txt), its events are recorded ones (corpus/recorded-plain.zst). The sums of
sub-buffers are 0: the fuzzer is built without checks of sums. A dump has the same pages, as kdump and makedumpfile write them.
"""

import os
import struct
import subprocess
import sys
import zlib

PAGE = 4096
BASE = 0x1000000
HERE = os.path.dirname(os.path.abspath(__file__))


def messages():
    """Return the messages about the hypervisor."""
    result = b""
    with open(f"{HERE}/../unit/data/conversation.txt", encoding="ascii") as file:
        for line in file:
            data = bytes.fromhex(line[2:]) if line[0] == "<" else b""
            while data:
                size, kind = struct.unpack_from("<IH", data)
                if kind >= 16 and b"hypervisor\0" in data[:size]:
                    result += data[:size] + bytes(-size % 4)
                data = data[(size + 3) // 4 * 4:]
    return result


def seal(page):
    """End a sub-buffer by the bytes of the records that fit."""
    end, at = 16 + (struct.unpack_from("<Q", page, 8)[0] & 0xfffff), 16
    last = at
    while at < min(end, PAGE - 16):
        last = at
        kind = struct.unpack_from("<I", page, at)[0] & 31
        at += 4 + (struct.unpack_from("<I", page, at + 4)[0] if kind in (0, 29) else 4 if kind > 28 else kind * 4)
    used = (at if at <= PAGE - 16 else last) - 16
    return page[:PAGE - 16] + struct.pack("<QII", 0, used, 0)


class Image:
    """Pages, whose addresses begin at BASE."""

    def __init__(self):
        self.pages = [b""]

    def add(self, page):
        self.pages.append(page.ljust(PAGE, b"\0"))
        return BASE + (len(self.pages) - 1) * PAGE

    def list(self, addresses, cpu=0, following=0):
        data = struct.pack("<QIIII", following, 0, len(addresses), cpu, 0) + struct.pack(f"<{len(addresses)}Q", *addresses)
        data = data.ljust(PAGE, b"\0")
        return self.add(data[:8] + struct.pack("<I", zlib.crc32(data)) + data[12:])

    def finish(self, text, rings):
        bytes_of = messages()
        remote = struct.pack("<32sQIIQ", b"hypervisor", text, len(bytes_of), zlib.crc32(bytes_of), rings)
        page = struct.pack("<16sQIIqqHHHHH6x40s72s72s72s", b"hyptrace dump 3", BASE, 0, PAGE, 0, 0, 0, 8, 16, 1, 24,
                           b"12345678-1234-1234-1234-123456789abc", b"6.12", b"#1", b"aarch64") + remote
        page = page.ljust(PAGE, b"\0")
        self.pages[0] = page[:24] + struct.pack("<I", zlib.crc32(page)) + page[28:]
        return b"".join(self.pages)


# What a crash kernel passes on: the page at BASE is the one that describes everything.
INFO = f"OSRELEASE=6.12.0\nPAGESIZE={PAGE}\nNUMBER(PHYS_OFFSET)=0x{BASE:x}\nHYPTRACE={BASE:x}\n".encode()


def vmcore(data, parts=None, info=INFO):
    """Return an ELF file with the pages, of two segments, or of these: (first page, number of pages), as they are in the file."""
    note = struct.pack("<III", 11, len(info), 0) + b"VMCOREINFO\0\0" + info + bytes(-len(info) % 4)
    pages = len(data) // PAGE
    parts = parts or [(0, pages // 2), (pages // 2, pages - pages // 2)]
    note_at = -(-(64 + 56 * (1 + len(parts))) // (PAGE // 2)) * (PAGE // 2)
    data_at = offset = -(-(note_at + len(note)) // PAGE) * PAGE
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 183, 1, 0, 64, 0, 0, 64, 56, 1 + len(parts), 0, 0, 0)
    head += struct.pack("<IIQQQQQQ", 4, 7, note_at, 0, 0, len(note), len(note), 0)
    content = b""
    for first, nr in parts:
        address, size = BASE + first * PAGE, nr * PAGE
        head += struct.pack("<IIQQQQQQ", 1, 7, offset, address | 0xffff << 48, address, size, size, 0)
        content += data[first * PAGE:][:size]
        offset += size
    return (head.ljust(note_at, b"\0") + note).ljust(data_at, b"\0") + content


def kdump(data, info=INFO):
    """Return a compressed file with the pages, as makedumpfile writes it; no page of it is compressed."""
    first, nr = BASE // PAGE, len(data) // PAGE
    bitmap_blocks = ((first + nr) // 8 + PAGE) // PAGE
    uts = b"".join(text.ljust(65, b"\0") for text in (b"Linux", b"test", b"6.12.0", b"#1", b"aarch64", b""))
    head = struct.pack("<8si390s6xqqIiiIIIIIiI", b"KDUMP   ", 6, uts, 0, 0, 0, PAGE, 1, 2 * bitmap_blocks, first + nr, 0, nr, nr, 0, 0)
    info_at = PAGE + 1024
    sub = struct.pack("<QiiQQQQQQQQQQQ", BASE, 0, 0, 0, 0, info_at, len(info), 0, 0, 0, 0, 0, 0, first + nr)
    bits = bytearray(bitmap_blocks * PAGE)
    for pfn in range(first, first + nr):
        bits[pfn // 8] |= 1 << pfn % 8
    # mutate.c leaves all as it is that comes before the pages
    at = (3 + 2 * bitmap_blocks) * PAGE
    descs = b"".join(struct.pack("<QIIQ", at + i * PAGE, PAGE, 0, 0) for i in range(nr))
    return (head.ljust(PAGE, b"\0") + (sub.ljust(1024, b"\0") + info).ljust(PAGE, b"\0") + bytes(bits) * 2 + descs.ljust(PAGE, b"\0") + data)


def main():
    packed = f"{HERE}/corpus/recorded-plain.zst"
    data = subprocess.run(["zstd", "-q", "-d", "-c", packed], stdout=subprocess.PIPE, check=True).stdout
    end = data.index(b"\nend\n")
    subbufs = [data[at:at + PAGE] for at in range((end + PAGE - 1) // PAGE * PAGE, len(data) - PAGE + 1, PAGE)]
    subbufs = [page for page in subbufs if 16 <= struct.unpack_from("<Q", page, 8)[0] & 0xfffff <= PAGE - 16]
    for name, number, per_cpu in (("image-1", 1, 2), ("image-2", 2, 4), ("vmcore", 2, 2)):
        is_dump = name == "vmcore"
        image, text, rings = Image(), messages(), []
        texts = image.list([image.add(text[at:at + PAGE]) for at in range(0, len(text), PAGE)])
        for cpu in range(number):
            mine = subbufs[cpu * per_cpu:(cpu + 1) * per_cpu]
            pages = [image.add(struct.pack("<4Q", 3, 0, 0, 0)), image.add(b""), image.add(b"")]
            rings.append(image.list(pages + [image.add(page if is_dump else seal(page)) for page in mine], cpu))
        data = image.finish(texts, image.list(rings))
        for kind, content in {"": vmcore(data), "-kdump": kdump(data)}.items() if is_dump else [("", data)]:
            with open(f"{sys.argv[1]}/{name}{kind}.zst", "wb") as file:
                file.write(subprocess.run(["zstd", "-q", "-19", "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout)


if __name__ == "__main__":
    main()
