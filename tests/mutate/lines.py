# SPDX-License-Identifier: GPL-2.0-only
"""Find out which lines of driver/ each test executes, in the kernel in user mode. Called by driver.py.

The modules of a tree are built for gcov. The kernel gives what they have counted in debugfs (CONFIG_GCOV_KERNEL).
"""

import glob
import json
import os
import shutil
import subprocess
import tempfile

IN_MACHINE = r"""
gcov=/sys/kernel/debug/gcov
for test; do
	# so that each test executes what happens when they are loaded
	modprobe -r hyptrace_test hyptrace
	echo 1 >$gcov/reset
	TEST_TIMEOUT=60 HYPTRACE_REFUSED="not found" /mnt/repo/tests/vm/suite-inside.sh "kselftest:$test"
	cd $gcov
	find . -name '*.gcda' | grep /driver/ | while read -r file; do
		mkdir -p "/mnt/share/$test"
		cat "$file" >"/mnt/share/$test/$(echo "${file##*/driver/}" | tr / :)"
	done
	cd /
done
true
"""


def read_counts(folder, counts, data):
    """Return {path: lines executed} of what one test has counted."""
    found = {}
    for name in os.listdir(data):
        path = "driver/" + name.replace(":", "/")[:-len(".gcda")]
        for source, suffix in ((os.path.join(folder, path + ".gcno"), ".gcno"), (os.path.join(data, name), ".gcda")):
            shutil.copy(source, os.path.join(counts, "x" + suffix))
        said = subprocess.run(["gcov", "-t", "-j", "x.gcda"], cwd=counts, check=True, capture_output=True).stdout
        for file in json.loads(said)["files"]:
            if file["file"].endswith(path + ".c"):
                found[path + ".c"] = {line["line_number"] for line in file["lines"] if line["count"]}
    return found


def known_lines(folder, counts):
    """Return {path: lines that have code}."""
    found = {}
    for gcno in glob.glob("driver/**/*.gcno", root_dir=folder, recursive=True):
        for file in os.listdir(counts):
            os.unlink(os.path.join(counts, file))
        shutil.copy(os.path.join(folder, gcno), os.path.join(counts, "x.gcno"))
        said = subprocess.run(["gcov", "-t", "-j", "x.gcno"], cwd=counts, check=True, capture_output=True).stdout
        path = gcno[:-len("gcno")] + "c"
        for file in json.loads(said)["files"]:
            if file["file"].endswith(path):
                found[path] = {line["line_number"] for line in file["lines"]}
    return found


def lines_of(tree, names):
    """Return {test: {path: set of its lines that the test executes}}, and {path: set of lines that have code}."""
    tree.build("GCOV_PROFILE=y")
    with tempfile.TemporaryDirectory() as share, tempfile.TemporaryDirectory() as counts:
        if tree.machine("run", share, IN_MACHINE, *names).returncode:
            raise SystemExit("the tests with gcov did not run to their end")
        executed = {name: read_counts(tree.folder, counts, os.path.join(share, name))
                    for name in names if os.path.isdir(os.path.join(share, name))}
        return executed, known_lines(tree.folder, counts)
