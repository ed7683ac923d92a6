#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Weaken each barrier of the code, one at a time: weaken.py ROOT OUT TEMPLATE...

For each barrier of the folders below, weaken.py writes the litmus tests that change without it to OUT/NUMBER, and prints
"NUMBER<tab>WHAT". An acquire becomes a READ_ONCE(), a release a WRITE_ONCE(), a fence is removed. A barrier that is a
statement of its own is also moved to the beginning, and to the end, of its function. A barrier whose comment has no
label is "not ok".
"""

import os
import re
import sys

from accesses import Code, Mismatch, read
from csource import without_comments
from extract import translate

FILES = re.compile(r"(hyp|driver/\w+)/(?!env)\w+\.[ch]|tools/lib/[\w/]+\.[ch]")
KNOWN = re.compile(r"\b(smp_load_acquire|smp_store_release|smp_mb|smp_rmb|smp_wmb|__atomic_\w+)\s*\(")
# smp_cond_load_acquire() takes a spinlock of the kernel.
OTHERS = re.compile(r"\b(smp_(?!call_function|processor_id|cond_load_acquire)\w+|\w*atomic\w*_(?:acquire|release)|"
                    r"(?:dma|virt|io)_\w*mb|[rw]?mb|xchg\w*|cmpxchg\w*)\s*\(")
# In hyptrace_clock_set() it orders accesses before a call and accesses in the call: its place there does not
# matter.
ANYWHERE = {("hyp/clock.c", "hyptrace_clock_set", "smp_wmb")}


class Barrier:
    """A barrier in the text of a file."""

    def __init__(self, path, text, bare, match):
        self.path, self.text, self.name = path, text, match.group(1)
        self.start, self.end = match.start(), match.end()
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(bare[self.end], 0)
            self.end += 1
        self.args = text[match.end():self.end - 1]
        self.line = text.count("\n", 0, self.start) + 1
        heads = list(re.finditer(r"^\w[^;{}]*?\b(\w+)\([^;{}]*\)\s*\n\{", bare[:self.start], re.MULTILINE))
        self.function = heads[-1].group(1) if heads else "?"
        self.body = heads[-1].end() if heads else 0
        comment = re.search(r"/\*((?:(?!\*/).)*)\*/[^;{}]*$", text[:self.start], re.DOTALL)
        label = re.search(r"\(([A-Z]{1,2})\)", comment.group(1)) if comment else None
        self.label = label.group(1) if label else None

    def is_barrier(self):
        return not (self.name.startswith("__atomic_") and "__ATOMIC_RELAXED" in self.args)

    def what(self):
        return f"{self.path}:{self.function}: ({self.label}) {self.name}()"

    def relaxed(self):
        if self.name.endswith("mb") or self.name == "__atomic_thread_fence":
            new = "(void)0"
        elif self.name == "smp_load_acquire":
            new = f"READ_ONCE(*({self.args}))"
        elif self.name == "smp_store_release":
            pointer, value = self.args.split(",", 1)
            new = f"WRITE_ONCE(*({pointer}), {value})"
        else:
            new = self.name + "(" + re.sub("__ATOMIC_[A-Z_]+", "__ATOMIC_RELAXED", self.args) + ")"
        return self.text[:self.start] + new + self.text[self.end:]

    def moved(self):
        """Return texts with the statement at the beginning, and at the end, of the function."""
        alone = self.text[self.text.rfind("\n", 0, self.start) + 1:self.start].strip() == ""
        if not alone or self.text[self.end] != ";" or (self.path, self.function, self.name) in ANYWHERE:
            return []
        statement = self.text[self.start:self.end + 1]
        last = self.text.index("\n}", self.end)
        at = self.text.rfind("\n\treturn", self.end, last)
        last = at if at >= 0 else last
        return [("at the beginning", self.text[:self.body] + statement + self.text[self.body:self.start] +
                 self.text[self.end + 1:]),
                ("at the end", self.text[:self.start] + self.text[self.end + 1:last] + "\n\t" + statement +
                 self.text[last:])]


def barriers_of(root):
    for folder in ("hyp", "hyp/function", "driver/core", "driver/device", "driver/netlink", "driver/remotes", "tools/lib"):
        for name in sorted(os.listdir(f"{root}/{folder}")):
            path = f"{folder}/{name}"
            if not FILES.fullmatch(path):
                continue
            text = read(f"{root}/{path}")
            bare = without_comments(text)
            for match in OTHERS.finditer(bare):
                if not KNOWN.match(bare, match.start()):
                    print(f"not ok - {path}: add {match.group(1)}() to weaken.py and extract.py, which do not know it")
            for match in KNOWN.finditer(bare):
                barrier = Barrier(path, text, bare, match)
                if barrier.is_barrier():
                    yield barrier


def changed(code, templates, before):
    """Yield the litmus tests that differ, as None if the template no longer fits the code."""
    for template in templates:
        try:
            text = translate(code, read(template), True)
        except Mismatch:
            text = None
        if text != before[template]:
            yield template, text


def main():
    root, out, *templates = sys.argv[1:]
    code = Code(root)
    before = {template: translate(code, read(template), True) for template in templates}
    nr = 0
    for barrier in barriers_of(root):
        if not barrier.label:
            print(f"not ok - {barrier.what()} in line {barrier.line} has no label: add one to the comment before it")
        for how, text in [("", barrier.relaxed())] + barrier.moved():
            tests = list(changed(code.changed(barrier.path, text), templates, before))
            # The barrier has only moved past accesses that no litmus test has.
            if how and not tests:
                continue
            nr += 1
            os.mkdir(f"{out}/{nr}")
            for template, test in tests:
                name = os.path.basename(template).removesuffix(".in")
                with open(f"{out}/{nr}/{name}", "w", encoding="utf-8") as file:
                    file.write(test or "")
            print(f"{nr}\t{barrier.what()} " + (how or "weakened"))


if __name__ == "__main__":
    main()
