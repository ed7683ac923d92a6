# SPDX-License-Identifier: GPL-2.0-only
"""The files "results-*" in this folder: what has become of mutants. Called by driver.py, run.py and el2.py."""

import collections
import hashlib
import os

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results-driver")
HEAD = """# SPDX-License-Identifier: GPL-2.0-only
# Written by the programs of this folder: what has become of mutants, of which each has the first digits of its name's SHA-256.
"""
KILLED, SURVIVED = "killed", "survived"


def hash_of(key):
    return hashlib.sha256(key.encode()).hexdigest()[:8]


def read_results(path):
    """Return {hash of a mutant: (result, by)}; none if there is no such file."""
    results = {}
    with open(path if os.path.exists(path) else os.devnull, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                _, result, *hashes = line.split()
                result, _, by = result.partition("-in-")
                results |= dict.fromkeys(hashes, (result.replace("_", " "), by.replace("_", " ")))
    return results


def write_results(path, done):
    """Write {key of a mutant: (result, by)}."""
    rows = collections.defaultdict(list)
    for key, (result, by) in done.items():
        where = f"-in-{by}" if result == SURVIVED else ""
        rows[key.split(":")[0], (result + where).replace(" ", "_")].append(hash_of(key))
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(HEAD)
        for (of, result), hashes in sorted(rows.items()):
            for i in range(0, len(hashes), 8):
                print(of, result, *sorted(hashes)[i:i + 8], file=file)
    os.replace(path + ".new", path)
