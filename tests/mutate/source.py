# SPDX-License-Identifier: GPL-2.0-only
"""The source tree that is mutated, and the lists of its mutants in this folder. Called by driver.py, run.py and el2.py."""

import os
import subprocess

# selftest.sh sets another one
TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read_list(path):
    """Return the names in the list. A comment above each group must give the reason."""
    names, reason = set(), False
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line:
                reason = bool(line)
            elif not reason:
                raise SystemExit(f"{path}:{number}: add a comment above with the reason why no test kills this mutant")
            else:
                names.add(line)
    return names


def copy_tree(folder):
    """Copy what the repository has, with what is not committed yet, into a folder."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                           capture_output=True).stdout
    subprocess.run(["rsync", "-a", "--from0", "--files-from=-", TOP + "/", folder + "/"], input=files, check=True)
