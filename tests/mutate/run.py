#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Change one statement at a time of hyp/ and tools/lib, and see whether the unit tests notice: run.py [FILE...]

Of all such mutants a sample is tried: MUTANTS= of each folder (all: every one), chosen by SEED=, for at most MINUTES=.
ONLY= takes those with that text in what is printed of them, behind the line; VERBOSE=1 prints the others too.

Those that no test notices are listed, then the share that is killed. The exit code is 1 if that is less than a folder's
goal. Mutants that change nothing that anybody can see stand in the file "equivalent", with the reason; those of which
the compiler makes the same code are found without it.
"""

import glob
import os
import queue
import random
import sys
import tempfile
import threading
import time

import mutants as generator
from programs import FULL, QUICK, Attempt, Originals, Tree, list_programs

# The tree that is tested: this one
TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EQUIVALENTS = "tests/mutate/equivalent"
# Folder: what of it is mutated, and how many percent have to be killed
FOLDERS = {
    "hyp": (("hyp/*.c", "hyp/*.h"), 99),
    "tools/lib": (("tools/lib/*.c", "tools/lib/*.h"), 95),
}
# What hyp/ runs on: the tests have their own.
LEFT_OUT = {"hyp/env.h", "hyp/env_host.h"}
MUTANTS, MINUTES = 600, 55
KILLED, SURVIVED, EQUIVALENT, INVALID = "killed", "survived", "equivalent", "does not compile"


def folder_of(path):
    return max((folder for folder in FOLDERS if path.startswith(folder + "/")), key=len)


def read_equivalents():
    """Names of mutants. A comment above gives the reason."""
    names, reason = set(), False
    with open(os.path.join(TOP, EQUIVALENTS), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line:
                reason = bool(line)
            elif not reason:
                raise SystemExit(f"{EQUIVALENTS}:{number}: no reason is given above")
            else:
                names.add(line)
    return names


def list_mutants(only):
    found = []
    for globs, _ in FOLDERS.values():
        for path in sorted({path for pattern in globs for path in glob.glob(pattern, root_dir=TOP)}):
            if path in LEFT_OUT or only and path not in only:
                continue
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                found += generator.mutants_of(path, file.read())
    return [mutant for mutant in found if os.environ.get("ONLY", "") in mutant.name]


class Run:
    def __init__(self, originals, programs, equivalents, deadline):
        self.originals, self.programs = originals, programs
        self.equivalents, self.deadline = equivalents, deadline
        self.error = None
        self.wrong = 0      # mutants that are on the list, and should not
        self.lock = threading.Lock()
        self.results = {folder: {} for folder in FOLDERS}
        self.kills = {}     # (file, program): how many
        self.tried = 0

    def likely(self, mutant, stage):
        """Programs that it is in: first those that have killed most of the file's in the least time."""

        def worth(program):
            return (1 + self.kills.get((mutant.path, program.name), 0)) / (0.1 + self.originals.seconds(program, stage)[0])

        able = [program for program in self.programs if (stage == FULL or not program.only_full) and
                self.originals.needs(program, mutant.path)]
        # the workers are not to wait for the same original
        random.shuffle(able)
        return sorted(able, key=worth, reverse=True)

    def try_stage(self, attempt, mutant, stage):
        """How it ended, if that is known by now, and what killed it."""
        able = self.likely(mutant, stage)
        same = bool(able)
        for program in able:
            objects = attempt.objects_of(program, stage)
            if not objects:
                return INVALID, program.name
            if not attempt.differ(program, stage):
                continue
            same = False
            binary = attempt.link(program, objects, stage)
            if not binary:
                return INVALID, program.name
            if attempt.kills(program, binary, stage):
                with self.lock:
                    key = mutant.path, program.name
                    self.kills[key] = self.kills.get(key, 0) + 1
                return KILLED, program.name
        return (EQUIVALENT, "the compiler") if same else (None, None)

    def judge(self, tree, mutant):
        tree.write(mutant.path, mutant.source)
        attempt = Attempt(tree, mutant)
        listed = mutant.name in self.equivalents
        try:
            for stage in (QUICK,) if listed else (QUICK, FULL):
                result, by = self.try_stage(attempt, mutant, stage)
                if result:
                    break
        finally:
            tree.write(mutant.path, mutant.original)
        if not result:
            result, by = (EQUIVALENT, "the list") if listed else (SURVIVED, None)
        return result, by, stage

    def work(self, tree, todo):
        try:
            while time.monotonic() < self.deadline and not self.error:
                mutant = todo.get_nowait()
                self.note(mutant, *self.judge(tree, mutant))
        except queue.Empty:
            pass
        except BaseException as error:  # of any kind: the others are to end too
            self.error = error

    def note(self, mutant, result, by, stage):
        with self.lock:
            counts = self.results[folder_of(mutant.path)]
            counts[result] = counts.get(result, 0) + 1
            self.tried += 1
            if result == SURVIVED:
                print(f"survived - {mutant}", flush=True)
            elif result == KILLED and mutant.name in self.equivalents:
                print(f"killed by {by}, though on the list - {mutant}", flush=True)
                self.wrong += 1
            elif os.environ.get("VERBOSE"):
                print(f"{result} by {by} ({stage}) - {mutant}", flush=True)


def sample(mutants, seed, size):
    """So many of each folder, in an order that is good for stopping early."""
    choice = random.Random(seed)
    chosen = []
    for folder in FOLDERS:
        mine = [mutant for mutant in mutants if folder_of(mutant.path) == folder]
        chosen += choice.sample(mine, min(size, len(mine))) if size else mine
        print(f"{folder}: {min(size or len(mine), len(mine))} of {len(mine)} mutants")
    choice.shuffle(chosen)
    return chosen


def main(only):
    begin = time.monotonic()
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    size = os.environ.get("MUTANTS") or MUTANTS
    size = 0 if size == "all" else int(size)
    deadline = begin + 60 * float(os.environ.get("MINUTES") or MINUTES)
    jobs = os.cpu_count() or 1
    print(f"SEED={seed}")
    everything = list_mutants(only)
    if not everything:
        raise SystemExit(f"there is nothing to mutate in {' '.join(only)}")
    equivalents = read_equivalents()
    gone = equivalents - {mutant.name for mutant in everything} if not only and not os.environ.get("ONLY") else set()
    chosen = sample(everything, seed, size)

    with tempfile.TemporaryDirectory() as folder:
        originals = Originals(TOP, folder)
        run = Run(originals, list_programs(TOP), equivalents, deadline)
        todo = queue.Queue()
        for mutant in chosen:
            todo.put(mutant)
        threads = [threading.Thread(target=run.work, args=(Tree(TOP, os.path.join(folder, str(i)), originals), todo))
                   for i in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if run.error:
            raise run.error

    return report(run, chosen, gone, begin)


def report(run, chosen, gone, begin):
    code = 1 if run.wrong else 0
    for name in sorted(gone):
        print(f"{EQUIVALENTS}: there is no such mutant any more: {name}")
        code = 1
    if run.tried < len(chosen):
        print(f"time is up: {run.tried} of {len(chosen)} were tried")
    for folder, (_, goal) in FOLDERS.items():
        counts = run.results[folder]
        killed, survived = counts.get(KILLED, 0), counts.get(SURVIVED, 0)
        if not killed + survived:
            continue
        percent = 100 * killed / (killed + survived)
        print(f"{folder}: {killed} killed, {survived} survived, {counts.get(EQUIVALENT, 0)} equivalent: {percent:.1f} % "
              f"(goal {goal} %; {counts.get(INVALID, 0)} did not compile)")
        if percent < goal:
            code = 1
    print(f"{time.monotonic() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
