#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Change one statement at a time of driver/, and check that a kselftest in the kernel in user mode fails: driver.py [FILE...]

driver.py tries a random sample of the mutants of the files that this kernel has: MUTANTS= of them (300; "all" for every one),
chosen by SEED=, for at most MINUTES=. ONLY=TEXT tries only mutants whose printed name contains TEXT. VERBOSE=1 prints each
mutant that was tried. tests/um/build.sh must have built the kernel.

The output lists the mutants that survived, then the percentage of killed mutants. The exit code is 1 if that is below the
goal. "equivalent-driver" lists mutants that change nothing that a test can observe, with the reason.
"""

import glob
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

import mutants as generator

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UM = os.path.join(TOP, "tests/mutate/um.sh")
EQUIVALENTS = "tests/mutate/equivalent-driver"
GOAL = 95
KILLED, SURVIVED, EQUIVALENT, INVALID = "killed", "survived", "equivalent", "does not compile"
# These tests take long, find little that others do not, or need what this machine has not.
LEFT_OUT = {"test_hostile", "test_wakeups", "test_storm", "test_killed.sh", "test_leak.sh", "test_lockdown.sh", "test_kernel.sh", "test_host.sh",
            "test_on_demand.sh"}
LIMIT_S = 60


def read_equivalents():
    with open(os.path.join(TOP, EQUIVALENTS), encoding="utf-8") as file:
        return {line.rstrip("\n") for line in file if not line.startswith("#") and line.strip()}


class Tree:
    """A copy of the repository with its own kernel in user mode"""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                               capture_output=True).stdout
        subprocess.run(["rsync", "-a", "--from0", "--files-from=-", TOP + "/", folder + "/"], input=files, check=True)
        if self.um("begin").returncode:
            raise SystemExit("there is no kernel in user mode: run tests/um/build.sh")
        if self.um("modules").returncode:
            raise SystemExit("the modules do not compile without a mutant")
        self.originals = {}
        for path in glob.glob("driver/**/*.c", root_dir=TOP, recursive=True):
            if os.path.exists(os.path.join(folder, path[:-1] + "o")):
                self.originals[path] = self.code(path)

    def um(self, verb, *arguments):
        return subprocess.run([UM, verb, self.folder, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)

    def write(self, path, source):
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
            file.write(source)

    def code(self, path):
        """Return the object code of a source file, without its debug information."""
        target = os.path.join(self.folder, "code")
        subprocess.run(["objcopy", "-g", os.path.join(self.folder, path[:-1] + "o"), target], check=True)
        with open(target, "rb") as file:
            return file.read()

    def test(self, names):
        """Run the tests until one fails. Return the name of that one, or None, and the seconds of each. A kernel that does
        not get to its end fails the test that it was at, if that has had its time."""
        seconds, begin, name, is_cut = {}, time.monotonic(), None, False
        child = subprocess.Popen([UM, "test", self.folder, f"TEST_TIMEOUT={LIMIT_S}", "FIRST_FAILURE=1", "--",
                                  *(f"kselftest:{name}" for name in names)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in child.stdout:
            match = re.match(r"== kselftest:(\S+)", line)
            is_cut |= "did not end within" in line
            if match:
                if name:
                    seconds[name] = time.monotonic() - begin
                name, begin = match[1], time.monotonic()
        if child.wait() and not name:
            raise SystemExit("the kernel in user mode does not start")
        is_cut &= time.monotonic() - begin < 2 * LIMIT_S
        return (name if child.returncode and not is_cut else None), seconds


class Run:
    def __init__(self, deadline):
        self.deadline, self.equivalents = deadline, read_equivalents()
        self.lock, self.error = threading.Lock(), None
        self.kills, self.seconds, self.counts = {}, {}, {}
        self.names = [name for name in sorted({os.path.splitext(os.path.basename(path))[0] for path in
                                               glob.glob(os.path.join(TOP, "tests/kselftest/*/test_*.c"))} |
                                              {os.path.basename(path) for path in
                                               glob.glob(os.path.join(TOP, "tests/kselftest/*/test_*.sh"))})
                      if name not in LEFT_OUT]

    def begin(self, tree):
        """Keep the tests that are there and pass, and how long each takes."""
        said = tree.um("test", f"TEST_TIMEOUT={LIMIT_S}", "--", *(f"kselftest:{name}" for name in self.names)).stdout
        parts = re.split(r"^== kselftest:(\S+)\n", said, flags=re.MULTILINE)[1:]
        passed = [name for name, text in zip(parts[::2], parts[1::2])
                  if re.search(r"^[1-9]\d* passed, 0 failed$", text, flags=re.MULTILINE)]
        print(f"{len(passed)} tests; left out: {' '.join(sorted(LEFT_OUT | set(self.names) - set(passed)))}")
        self.names = passed
        for name in passed:
            failed, seconds = tree.test([name])
            if failed:
                raise SystemExit(f"{name} fails without a mutant")
            self.seconds[name] = seconds.get(name, 1)

    def likely(self, path):
        """The tests, those first that kill most mutants of this file per second"""
        return sorted(self.names, reverse=True,
                      key=lambda name: (0.1 + self.kills.get((path, name), 0)) / (0.5 + self.seconds[name]))

    def judge(self, tree, mutant):
        if mutant.name in self.equivalents:
            return EQUIVALENT, "the list"
        tree.write(mutant.path, mutant.source)
        try:
            if tree.um("modules").returncode:
                return INVALID, "the compiler"
            if tree.code(mutant.path) == tree.originals[mutant.path]:
                return EQUIVALENT, "the compiler"
            failed, _ = tree.test(self.likely(mutant.path))
        finally:
            # compiled again with the next mutant
            tree.write(mutant.path, mutant.original)
        if not failed:
            return SURVIVED, None
        with self.lock:
            self.kills[mutant.path, failed] = self.kills.get((mutant.path, failed), 0) + 1
        return KILLED, failed

    def work(self, tree, todo):
        try:
            while time.monotonic() < self.deadline and not self.error:
                mutant = todo.get_nowait()
                result, by = self.judge(tree, mutant)
                with self.lock:
                    self.counts[result] = self.counts.get(result, 0) + 1
                if result == SURVIVED or os.environ.get("VERBOSE"):
                    print(f"{result}{' by ' + by if by else ''} - {mutant}", flush=True)
        except queue.Empty:
            pass
        except BaseException as error:  # of any kind: the other workers must end, too
            self.error = error


def list_mutants(tree, only):
    found = []
    for path in sorted(glob.glob("driver/**/*.c", root_dir=TOP, recursive=True)):
        if path not in tree.originals or only and path not in only:
            continue
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            found += generator.mutants_of(path, file.read())
    return [mutant for mutant in found if os.environ.get("ONLY", "") in mutant.name]


def main(only):
    begin = time.monotonic()
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    size = os.environ.get("MUTANTS") or "300"
    run = Run(begin + 60 * float(os.environ.get("MINUTES") or 600))
    print(f"SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        trees = []
        try:
            for i in range(os.cpu_count() or 1):
                trees.append(Tree(os.path.join(folder, str(i))))
            chosen = list_mutants(trees[0], only)
            if not chosen:
                raise SystemExit(f"nothing to mutate in {' '.join(only)}")
            everything = len(chosen)
            random.Random(seed).shuffle(chosen)
            if size != "all":
                chosen = chosen[:int(size)]
            print(f"driver: {len(chosen)} of {everything} mutants", flush=True)
            run.begin(trees[0])
            todo = queue.Queue()
            for mutant in chosen:
                todo.put(mutant)
            threads = [threading.Thread(target=run.work, args=(tree, todo)) for tree in trees]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            for tree in trees:
                tree.um("end")
    if run.error:
        raise run.error
    tried = sum(run.counts.values())
    if tried < len(chosen):
        print(f"stopped after MINUTES: tried {tried} of {len(chosen)} mutants")
    killed, survived = run.counts.get(KILLED, 0), run.counts.get(SURVIVED, 0)
    percent = 100 * killed / max(killed + survived, 1)
    print(f"driver: {killed} killed, {survived} survived, {run.counts.get(EQUIVALENT, 0)} equivalent: {percent:.1f} % "
          f"(goal {GOAL} %; {run.counts.get(INVALID, 0)} did not compile), {time.monotonic() - begin:.0f} s")
    return percent < GOAL


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
