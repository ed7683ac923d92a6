#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An image in which the list of each ring leads back to itself is refused, and soon: circles.py HYPTRACE"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
from corpus_image import BASE, PAGE, Image, messages  # pylint: disable=wrong-import-position

PER_PAGE = (PAGE - 24) // 8
CPUS = 4096
# Without a limit it takes some minutes.
PATIENCE_S = 60


def build():
    image, text = Image(), messages()
    texts = image.list([image.add(text[at:at + PAGE]) for at in range(0, len(text), PAGE)])
    rings = []
    for cpu in range(CPUS):
        own = BASE + len(image.pages) * PAGE
        rings.append(image.list([BASE] * PER_PAGE, cpu, own))
    following = 0
    for at in range((CPUS - 1) // PER_PAGE * PER_PAGE, -1, -PER_PAGE):
        following = image.list(rings[at:at + PER_PAGE], 0, following)
    return image.finish(texts, following)


with tempfile.NamedTemporaryFile() as file:
    file.write(build())
    file.flush()
    said = subprocess.run([sys.argv[1], "dump", file.name], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)
if said.returncode != 2 or "the ring of CPU 0 is damaged" not in said.stderr or "no ring of \"hypervisor\"" not in said.stderr:
    sys.exit(f"{said.returncode}: {said.stdout}{said.stderr[:2000]}")
