#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Change one statement at a time of what only EL2 has of hyp/, and check that a test in a machine fails: el2.py

These are the statements that no unit test compiles, but the newest kernel does; bodies of macros are not among them. Each mutant
is a kernel of its own, which takes a minute to build and test, and several if it survives. What then survives is built into the
default kernel, whose machine panics and is reset (tests/blackbox). el2.py tries MUTANTS= of them (60, or "all"), chosen by SEED=,
for at most MINUTES=. ONLY=TEXT tries only mutants whose printed name contains TEXT. VERBOSE=1 prints each mutant that was tried.
RESULTS=FILE keeps the results, as for run.py: a run with the file goes on from there, and tries again what has survived. SUITES=
are other suites of the machine (see tests/vm/boot.sh), for survivors of an earlier run.

The output lists the mutants that survived, then the percentage of killed mutants. The exit code is 1 if that is below the goal.
"equivalent-el2" lists mutants that change nothing that a test can observe, with the reason.
"""

import collections
import glob
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutants as generator
from outcomes import KILLED, SURVIVED, hash_of, read_results, write_results
from programs import QUICK, list_programs
from source import TOP, copy_tree, read_list

EQUIVALENTS = "tests/mutate/equivalent-el2"
GOAL = 95
EQUIVALENT, INVALID = "equivalent", "does not compile"
SETTINGS = "HYPTRACE_EL2_ONLY=1", "ROUNDS=70", "FIRST_FAILURE=1"
OTHERS = "kselftest:test_firmware kselftest:test_times bats:watch/hypervisor.bats bats:watch/stat.bats " \
         "bats:remote/filter_el2.bats kselftest:test_host.sh"
BLACKBOX = [f"tests/blackbox/{name}.sh" for name in ("panic", "previous", "kdump")]
NEWEST, BUILTIN = {"KERNEL": "newest"}, {"KERNEL": "", "LLVM": "", "FLAVOUR": "builtin"}
LIMIT_S = 300
# A word of gcc and clang: the number of the next line, and its file
MARKER = re.compile(r'# (\d+) "([^"]*)"')


class Tree:
    """A copy of the repository with its own machine"""

    def __init__(self, folder):
        self.folder = folder
        copy_tree(folder)
        said = self.shell('LLVM= FLAVOUR=builtin set_kernel 6.12; made=$out; set_kernel ""; FULL= ; '
                          'echo "$build" "$made" "$out" "$guest"; echo "${of_el2[@]}"').splitlines()
        self.build, *self.made = said[0].split()
        self.suites = os.environ.get("SUITES", f"{said[1]} {OTHERS}").split()
        self.seconds, self.kills = {}, collections.Counter()
        if any(self.run(f"tests/vm/{script}", of).returncode for of in (NEWEST, BUILTIN)
               for script in ("kernel.sh", "rootfs.sh", "guest.sh --tests")):
            raise SystemExit("the kernel or what runs in it does not compile without a mutant: run tests/vm/kernel.sh")
        self.original = self.code()

    def shell(self, command):
        return subprocess.run(["bash", "-c", f". tests/vm/lib.sh; {command}"], cwd=self.folder, check=True, capture_output=True,
                              text=True, env=os.environ | NEWEST).stdout

    def run(self, command, environment=NEWEST):
        return subprocess.run(command, shell=True, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env=os.environ | environment)

    def make(self):
        return not self.run("tests/vm/kernel.sh").returncode

    def code(self):
        """Return EL2's code without its debug information."""
        self.run(f"llvm-strip -g -o el2.o {self.build}/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o || "
                 f"aarch64-linux-gnu-objcopy -g {self.build}/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o el2.o")
        with open(os.path.join(self.folder, "el2.o"), "rb") as file:
            return file.read()

    def lines(self, text, base):
        """Return which lines of the files of hyp/ are in the output of a preprocessor that ran in this folder."""
        found, path, number = collections.defaultdict(set), None, 0
        for line in text.split("\n"):
            if marker := MARKER.match(line):
                number = int(marker[1])
                path = os.path.realpath(os.path.join(base, marker[2]))
                path = os.path.relpath(path, self.folder) if path.startswith(self.folder + "/hyp/") else None
            else:
                if path and line.strip():
                    found[path].add(number)
                number += 1
        return found

    def preprocess(self, command, base):
        result = subprocess.run(command, cwd=base, shell=isinstance(command, str), capture_output=True, text=True, check=False)
        if result.returncode:
            raise SystemExit(f"this fails: {command}: {result.stderr[:500]}")
        return self.lines(result.stdout, base)

    def lines_of_el2(self):
        """Return the lines of each file that EL2 has, and no unit test."""
        unit, host, el2 = os.path.join(self.folder, "tests/unit"), collections.defaultdict(set), collections.defaultdict(set)
        commands = {(*program.cc.split(), "-E", *program.flags_of(QUICK), source)
                    for program in list_programs(self.folder) if any("hyp/" in source for source in program.sources)
                    for source in program.sources}
        for command in commands:
            for path, lines in self.preprocess(command, unit).items():
                host[path] |= lines
        for path in glob.glob(f"{self.build}/**/.*nvhe.o.cmd", recursive=True):
            with open(path, encoding="utf-8") as file:
                saved = file.read()
            if "hyptrace/hyp" in saved:
                command = re.match(r"savedcmd_\S+ := (?:ccache )?(.*)", saved)[1].split(";")[0].replace("\\#", "#")
                command = re.sub(r" -c -o \S+ ", " -E -o - ", re.sub(r"-Wp,-MMD,\S+", "", command))
                for path, lines in self.preprocess(command, self.build).items():
                    el2[path] |= lines
        return {path: lines - host[path] for path, lines in el2.items()}

    def write(self, path, source):
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
            file.write(source)

    def limit(self, child, seconds):
        timer = threading.Timer(seconds, os.killpg, (child.pid, signal.SIGTERM))
        timer.start()
        return timer

    def test(self):
        """Return the suite that fails, also because EL2 hangs, or None."""
        suites = sorted(self.suites, key=lambda name: (1 + self.kills[name]) / self.seconds.get(name, 1), reverse=True)
        child = subprocess.Popen(["tests/vm/boot.sh", "mutant", "", f"TEST_TIMEOUT={LIMIT_S}", *SETTINGS, "--", *suites, "--",
                                  "--require-protected"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                                 env=os.environ | NEWEST)
        suite, begin, failed, timer = "the boot", time.monotonic(), None, self.limit(child, LIMIT_S)
        for line in child.stdout:
            if line.startswith("not ok "):
                failed = failed or f"{suite} ({line[7:].rstrip()})"
                os.killpg(child.pid, signal.SIGTERM)
            elif match := re.match(r"== (\S+)$", line):
                timer.cancel()
                # the first time without a mutant
                self.seconds.setdefault(suite, time.monotonic() - begin)
                suite, begin = match[1], time.monotonic()
                timer = self.limit(child, 30 + 6 * self.seconds.get(suite, LIMIT_S))
        timer.cancel()
        self.seconds.setdefault(suite, time.monotonic() - begin)
        return failed or (suite if child.wait() else None)

    def test_builtin(self, mutant):
        """Return the test with a built-in driver that fails with the mutant, and only with it, or None."""
        if self.run("tests/vm/kernel.sh", BUILTIN).returncode:
            return None
        failed = next((script for script in BLACKBOX if self.run(script, BUILTIN).returncode), None)
        if failed:
            self.write(mutant.path, mutant.original)
            if any(self.run(script, BUILTIN).returncode for script in ("tests/vm/kernel.sh", failed)):
                raise SystemExit(f"without a mutant, this fails: {failed}")
        return failed

    def judge(self, mutant):
        self.write(mutant.path, mutant.source)
        try:
            if not self.make():
                return INVALID, "the compiler"
            if self.code() == self.original:
                return EQUIVALENT, "the compiler"
            failed = self.test() or self.test_builtin(mutant)
        finally:
            self.write(mutant.path, mutant.original)
        self.kills[failed and failed.split()[0]] += 1
        return (KILLED, failed) if failed else (SURVIVED, "the machine")


def list_mutants(tree):
    """Return the mutants of what only EL2 has."""
    found = []
    for path, lines in sorted(tree.lines_of_el2().items()):
        if path.endswith((".c", ".h")):
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                found += [mutant for mutant in generator.mutants_of(path, file.read()) if lines.intersection(mutant.lines)]
    return [mutant for mutant in found if os.environ.get("ONLY", "") in mutant.name]


def main():
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    size, file = os.environ.get("MUTANTS") or "60", os.environ.get("RESULTS")
    deadline = time.monotonic() + 60 * float(os.environ.get("MINUTES") or 600)
    print(f"SEED={seed}", flush=True)
    known, equivalents, done = read_results(file or os.devnull), read_list(EQUIVALENTS), {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(os.path.realpath(folder))
        try:
            everything = list_mutants(tree)
            chosen = sorted(everything, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
            chosen = chosen if size == "all" else chosen[:int(size)]
            print(f"hyp: {len(chosen)} of {len(everything)} mutants of what only EL2 has", flush=True)
            if failed := tree.test():
                raise SystemExit(f"without a mutant, this fails: {failed}")
            for mutant in chosen:
                result, by = known.get(hash_of(mutant.key), (SURVIVED, None))
                if not equivalents.isdisjoint((mutant.name, mutant.key)):
                    result, by = EQUIVALENT, "the list"
                elif time.monotonic() < deadline and result == SURVIVED:
                    result, by = tree.judge(mutant)
                    if os.environ.get("VERBOSE"):
                        print(f"{result} by {by} - {mutant}", flush=True)
                elif not by and result == SURVIVED:
                    continue
                done[mutant.key] = result, by or "an earlier run"
                if file:
                    write_results(file, done)
        finally:
            subprocess.run(["rm", "-rf", *tree.made], check=False)
    for mutant in chosen:
        if done.get(mutant.key, (None,))[0] == SURVIVED:
            print(f"survived - {mutant}")
    counts = collections.Counter(result for result, _ in done.values())
    percent = 100 * counts[KILLED] / max(counts[KILLED] + counts[SURVIVED], 1)
    print(f"hyp: {counts[KILLED]} killed, {counts[SURVIVED]} survived, {counts[EQUIVALENT]} equivalent: {percent:.1f} % "
          f"(goal {GOAL} %; {counts[INVALID]} did not compile, {len(chosen) - len(done)} were not tried)")
    return percent < GOAL


if __name__ == "__main__":
    sys.exit(main())
