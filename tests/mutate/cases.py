# SPDX-License-Identifier: GPL-2.0-only
"""The cases of the kselftest programs. Called by driver.py.

A name is PROGRAM@CASE, or that of a script. A group is PROGRAM@CASE,CASE...: cases that run in one process.
"""

import collections
import glob
import os
import re

CASE = re.compile(r"^TEST(?:_F(?:_\w+)?\(\w+, *|(?:_SIGNAL)?\()(\w+)", re.MULTILINE)


def list_names(top):
    """Return the names of all cases and scripts."""
    names = []
    for path in sorted(glob.glob(os.path.join(top, "tests/kselftest/*/test_*.c"))):
        with open(path, encoding="utf-8") as file:
            cases = dict.fromkeys(CASE.findall(file.read()))
        program = os.path.splitext(os.path.basename(path))[0]
        names += [f"{program}@{case}" for case in cases]
    return names + sorted(map(os.path.basename, glob.glob(os.path.join(top, "tests/kselftest/*/test_*.sh"))))


def program_of(name):
    return name.split("@")[0]


def ranked(names):
    """Yield (how many cases of its program come before it, name)."""
    seen = collections.Counter()
    for name in names:
        yield seen[program_of(name)], name
        seen[program_of(name)] += 1


def names_of(group):
    """Return the names in a group."""
    program, at, cases = group.partition("@")
    return [program + at + case for case in cases.split(",")]


def group(names, nr_ordered):
    """Return groups of these names: the first @nr_ordered of them in their order, the others by program."""
    groups, others = [], {}
    for name in names[:nr_ordered]:
        program, at, case = name.partition("@")
        if at and groups and program_of(groups[-1]) == program:
            groups[-1] += "," + case
        else:
            groups.append(name)
    for name in names[nr_ordered:]:
        program, at, case = name.partition("@")
        others.setdefault(program + at, []).append(case)
    return groups + [program + ",".join(some) for program, some in others.items()]
