# SPDX-License-Identifier: GPL-2.0-only
"""Find out which lines of driver/ each test executes, in the kernel in user mode. Called by driver.py.

The modules of a tree are built for gcov. The kernel gives what they have counted in debugfs (CONFIG_GCOV_KERNEL).
"""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

IN_MACHINE = r"""
gcov=/sys/kernel/debug/gcov
for test; do
	# so that each test executes what happens when they are loaded
	modprobe -r hyptrace_test hyptrace
	echo 1 >$gcov/reset
	TEST_TIMEOUT=180 HYPTRACE_REFUSED="not found" /mnt/repo/tests/vm/suite-inside.sh "kselftest:$test"
	mkdir "/mnt/share/$test"
	cd $gcov
	find . -path '*/driver/*.gcda' -exec cp --parents -t "/mnt/share/$test" {} +
	cd /
done
true
"""


def said_of(counts, suffix):
    """Return what gcov says of all such files in a folder: (path, [line])."""
    files = glob.glob("*" + suffix, root_dir=counts)
    # a test may load no module
    said = subprocess.run(["gcov", "-t", "-j", *files], cwd=counts, check=True, capture_output=True,
                          text=True).stdout if files else ""
    decoder = json.JSONDecoder()
    while said := said.lstrip():
        document, end = decoder.raw_decode(said)
        said = said[end:]
        for file in document["files"]:
            if match := re.search(r"(?:^|/)(driver/\S+\.c)$", file["file"]):
                yield match[1], file["lines"]


def name_of(path):
    """Return the same name without folders for a file .gcda and for its .gcno, which is in another folder."""
    return path[path.rindex("driver/"):].replace("/", ":")


def read_counts(counts, data):
    """Return {path: lines executed} of what one test has counted; @counts has the files .gcno."""
    for path in glob.glob(os.path.join(counts, "*.gcda")):
        os.unlink(path)
    for path in glob.glob("**/*.gcda", root_dir=data, recursive=True):
        shutil.copy(os.path.join(data, path), os.path.join(counts, name_of(path)))
    found = {}
    for path, known in said_of(counts, ".gcda"):
        found.setdefault(path, set()).update(line["line_number"] for line in known if line["count"])
    return found


def lines_of(tree, names):
    """Return {test: {path: set of its lines that the test executes}}, and {path: set of lines that have code}."""
    tree.build("GCOV_PROFILE=y")
    with tempfile.TemporaryDirectory() as share, tempfile.TemporaryDirectory() as counts:
        if tree.machine("run", share, IN_MACHINE, *names).returncode:
            raise SystemExit("the tests with gcov did not run to their end")
        with_code = {}
        for path in glob.glob("driver/**/*.gcno", root_dir=tree.folder, recursive=True):
            shutil.copy(os.path.join(tree.folder, path), os.path.join(counts, name_of(path)))
        for path, known in said_of(counts, ".gcno"):
            with_code.setdefault(path, set()).update(line["line_number"] for line in known)
        return {name: read_counts(counts, os.path.join(share, name)) for name in names}, with_code
