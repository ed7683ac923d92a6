#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a file of a flattened dump, which QEMU writes: unflatten.py FROM TO. makedumpfile -R does the same.

The format is that of makedumpfile: a header of 4096 bytes, then pieces, each with its offset and its size in front, 64 bits
each, big-endian. The last one has the offset -1.
"""

import struct
import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    source.seek(4096)
    while True:
        offset, size = struct.unpack(">qq", source.read(16))
        if offset < 0:
            break
        target.seek(offset)
        target.write(source.read(size))
