#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare where hyp/ and the driver bound an index also for a CPU that speculates with the list "nospec": nospec.py [ROOT].

A barrier that is missing changes no result, so no other test would find that. Each line that differs is printed; the exit
code is 1 then.
"""

import collections
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "model"))
import csource  # noqa: E402

BARRIER = "array_index_nospec"
# They define it, or the environment that hyp/ is tested in
LEFT_OUT = {"hyp/env_host.h"}


def count(root):
    """Return how often each (path, function) has a barrier; a macro is the function "-"."""
    found = collections.Counter()
    for path in sorted(glob.glob("hyp/**/*.[ch]", root_dir=root, recursive=True) +
                       glob.glob("driver/**/*.[ch]", root_dir=root, recursive=True)):
        if path in LEFT_OUT:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        left = csource.tokens_of(csource.without_comments(text)).count(BARRIER)
        if not left:
            continue
        for name, function in csource.functions_of(path, text).items():
            nr = function.text.count(BARRIER)
            if nr:
                found[path, name] = nr
                left -= nr
        if left:
            found[path, "-"] = left
    return found


def read_list(root):
    listed = {}
    with open(os.path.join(root, "tests/lint/nospec"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                path, name, nr = line.split(maxsplit=3)[:3]
                listed[path, name] = int(nr)
    return listed


def main(root):
    found, listed = count(root), read_list(root)
    bad = sorted(key for key in found.keys() | listed.keys() if found.get(key, 0) != listed.get(key, 0))
    for path, name in bad:
        print(f"{path}: {name}: {found.get((path, name), 0)} barriers, but {listed.get((path, name), 0)} in tests/lint/nospec")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..")))
