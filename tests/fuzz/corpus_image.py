#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the images of corpus/images again, if formats have changed: corpus_image.py FOLDER

An image is what a boot leaves in memory that outlives a reset: see linux/hyptrace_dump.h. Its description is what a driver
has answered (tests/unit/data/conversation.txt), its events are recorded ones (corpus/recorded-plain.zst). The sums of
sub-buffers are 0: the fuzzer is built without checks of sums.
"""

import os
import struct
import subprocess
import sys
import zlib

PAGE = 4096
BASE = 0x80000000
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

    def list(self, addresses, cpu=0):
        data = struct.pack("<QIIII", 0, 0, len(addresses), cpu, 0) + struct.pack(f"<{len(addresses)}Q", *addresses)
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


def main():
    packed = f"{HERE}/corpus/recorded-plain.zst"
    data = subprocess.run(["zstd", "-q", "-d", "-c", packed], stdout=subprocess.PIPE, check=True).stdout
    end = data.index(b"\nend\n")
    subbufs = [data[at:at + PAGE] for at in range((end + PAGE - 1) // PAGE * PAGE, len(data) - PAGE + 1, PAGE)]
    subbufs = [page for page in subbufs if 16 <= struct.unpack_from("<Q", page, 8)[0] & 0xfffff <= PAGE - 16]
    for number, per_cpu in ((1, 2), (2, 4)):
        image, text, rings = Image(), messages(), []
        texts = image.list([image.add(text[at:at + PAGE]) for at in range(0, len(text), PAGE)])
        for cpu in range(number):
            mine = subbufs[cpu * per_cpu:(cpu + 1) * per_cpu]
            pages = [image.add(struct.pack("<4Q", 3, 0, 0, 0)), image.add(b""), image.add(b"")]
            rings.append(image.list(pages + [image.add(seal(page)) for page in mine], cpu))
        with open(f"{sys.argv[1]}/image-{number}.zst", "wb") as file:
            file.write(subprocess.run(["zstd", "-q", "-19", "-c"], input=image.finish(texts, image.list(rings)),
                                      stdout=subprocess.PIPE, check=True).stdout)


main()
