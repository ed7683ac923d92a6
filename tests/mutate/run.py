#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Change one statement at a time of hyp/ and tools/lib, and check that a test on the host fails: run.py [FILE...]

The unit tests try each mutant, first without sanitizers. What survives of tools/lib is tried by tests of the command, too:
commands.sh. What is left is tried by the unit tests with sanitizers.

run.py tries a random sample of all mutants: MUTANTS= mutants of each folder ("all" for every one), chosen by SEED=, for at
most MINUTES=, by JOBS= threads. RESULTS=FILE, for example "results-lib" in this folder, keeps what has become of them: a run
with the file goes on from there, with the same mutants, and tries what has survived again. ONLY=TEXT tries only mutants whose
printed name (without the line number) contains TEXT. VERBOSE=1 prints each mutant that was tried. For tests that are new:
PROGRAMS=REGEX tries only these unit tests, and STAGES= only the quick stage; with STAGES=command the one of the command
follows.

The output lists the mutants that survived, then the percentage of killed mutants for each folder. The exit code is 1 if a
folder misses its goal. The files "equivalent-*" list mutants that change no observable behaviour, with the reason. run.py
itself recognizes mutants that the compiler translates to the same object code, and those of code that no host program has:
that of EL2 alone, which only machines test. The file "survivors" lists mutants that no test kills, with the reason: they
count, but are not printed.
"""

import glob
import hashlib
import os
import queue
import random
import re
import sys
import tempfile
import threading
import time

import mutants as generator
from outcomes import hash_of, read_results, write_results
from programs import FULL, QUICK, Attempt, Originals, Tree, list_programs
from source import TOP, read_list

EQUIVALENTS = "tests/mutate/equivalent-hyp", "tests/mutate/equivalent-lib"
SURVIVORS = "tests/mutate/survivors"
# Folder: (globs of the files to mutate, percentage that must be killed)
FOLDERS = {
    "hyp": (("hyp/**/*.c", "hyp/**/*.h"), 99),
    "tools/lib": (("tools/lib/**/*.c", "tools/lib/**/*.h"), 95),
}
# Tests of the command are tests of this folder, too.
COMMAND = "tools/lib"
# The environment of hyp/, and the assembly by which EL2 changes its text: the tests use their own.
LEFT_OUT = {"hyp/env.h", "hyp/env_host.h", "hyp/function/text.c"}
MUTANTS, MINUTES = 600, 55
# What follows the quick stage, and which unit tests there are
STAGES, PROGRAMS = os.environ.get("STAGES", "command full").split(), os.environ.get("PROGRAMS")
# With less than all of them it is not known that no program has a mutant, or that all have the same objects.
PARTIAL = bool(PROGRAMS) or "command" not in STAGES
KILLED, SURVIVED, EQUIVALENT, INVALID = "killed", "survived", "equivalent", "does not compile"
# Only EL2 has it, or nobody calls it.
ELSEWHERE = "in no host program"


def folder_of(path):
    return max((folder for folder in FOLDERS if path.startswith(folder + "/")), key=len)


def list_mutants(only):
    found = []
    for globs, _ in FOLDERS.values():
        for path in sorted({path for pattern in globs for path in glob.glob(pattern, root_dir=TOP, recursive=True)}):
            if path in LEFT_OUT or only and path not in only:
                continue
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                found += generator.mutants_of(path, file.read())
    return [mutant for mutant in found if os.environ.get("ONLY", "") in mutant.name]


class Run:
    def __init__(self, originals, programs, lists, deadline):
        self.originals, self.programs = originals, programs
        self.lists, self.deadline = lists, deadline
        self.error = self.file = None
        self.done = {}      # for the file
        self.wrong = 0      # mutants that a test killed although a list has them
        self.lock = threading.Lock()
        self.results = {folder: {} for folder in FOLDERS}
        self.kills = {}     # (file, program): number of kills
        self.tried = 0

    def likely(self, mutant, stage):
        """Return the programs that contain the mutant, those first that kill most mutants of this file per second."""

        def worth(program):
            return (1 + self.kills.get((mutant.path, program.name), 0)) / (0.1 + self.originals.seconds(program, stage)[0])

        able = [program for program in self.programs if (stage == FULL or not program.only_full) and
                self.originals.needs(program, mutant.path)]
        # so that the workers do not all wait for the same original
        random.shuffle(able)
        return sorted(able, key=worth, reverse=True)

    def try_stage(self, attempt, mutant, stage):
        """Return the result and what decided it; (None, None) if the mutant has survived this stage."""
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

    def try_command(self, tree, mutant, result, by):
        """Return the result of the tests of the command, or the old one if there are none."""
        tree.write(mutant.path, mutant.original)
        if not tree.command.prepare():
            return result, by
        tree.write(mutant.path, mutant.source)
        killed, name = tree.command.kills(mutant.path)
        return (INVALID if killed is None else KILLED if killed else None), name

    def list_of(self, mutant):
        """Return the path of the list that has the mutant, or None."""
        return next((path for path, names in self.lists.items() if not names.isdisjoint((mutant.name, mutant.key))), None)

    def is_compiled(self, tree, mutant):
        tree.write(mutant.path, mutant.broken)
        attempt = Attempt(tree, mutant)
        return any(not attempt.objects_of(program, QUICK) for program in self.likely(mutant, QUICK))

    def judge(self, tree, mutant):
        """Return the result, what decided it, and in which stage: the quick one, that of the command, or the full one."""
        tree.write(mutant.path, mutant.source)
        equivalent, stage = self.list_of(mutant) in EQUIVALENTS, QUICK
        try:
            result, by = self.try_stage(Attempt(tree, mutant), mutant, stage)
            if PARTIAL and result == EQUIVALENT:
                result, by = None, None
            elif not PARTIAL and (result == EQUIVALENT or not self.likely(mutant, stage)) and not self.is_compiled(tree, mutant):
                result, by = ELSEWHERE, "anything"
            if equivalent:
                return result or EQUIVALENT, by or "the list", stage
            if "command" in STAGES and folder_of(mutant.path) == COMMAND and result in (None, ELSEWHERE):
                stage = "command"
                result, by = self.try_command(tree, mutant, result, by)
            if FULL in STAGES and not result:
                stage = FULL
                tree.write(mutant.path, mutant.source)
                result, by = self.try_stage(Attempt(tree, mutant), mutant, stage)
        finally:
            tree.write(mutant.path, mutant.original)
        return result or SURVIVED, by, stage

    def work(self, tree, todo):
        try:
            while time.monotonic() < self.deadline and not self.error:
                mutant = todo.get_nowait()
                self.note(mutant, *self.judge(tree, mutant))
        except queue.Empty:
            pass
        except BaseException as error:  # of any kind: the other workers must end, too
            self.error = error

    def note(self, mutant, result, by, stage):
        with self.lock:
            self.done[mutant.key] = result, f"the {stage} stage"
            if self.file and self.tried % 10 == 0:
                write_results(self.file, self.done)
            counts = self.results[folder_of(mutant.path)]
            counts[result] = counts.get(result, 0) + 1
            self.tried += 1
            listed = self.list_of(mutant)
            if result == SURVIVED and not listed:
                print(f"survived - {mutant}", flush=True)
            elif result == KILLED and listed:
                print(f"killed by {by}, but listed in {listed} - {mutant}", flush=True)
                self.wrong += 1
            elif os.environ.get("VERBOSE"):
                print(f"{result} by {by} ({stage}) - {mutant}", flush=True)


def sample(mutants, seed, size, known):
    """Choose @size mutants of each folder, in random order, so that the run may stop early; first those that are known. A small
    change of the code leaves nearly all the same."""

    def place(mutant):
        return hash_of(mutant.key) not in known, hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    chosen = []
    for folder in FOLDERS:
        mine = sorted((mutant for mutant in mutants if folder_of(mutant.path) == folder), key=place)
        chosen += mine[:size] if size else mine
        print(f"{folder}: {min(size or len(mine), len(mine))} of {len(mine)} mutants")
    return sorted(chosen, key=lambda mutant: place(mutant)[1])


def go_on(run, chosen, known):
    """Count the results that are known. Return the mutants that are to be tried."""
    todo = []
    for mutant in chosen:
        result, by = known.get(hash_of(mutant.key), (SURVIVED, None))
        if result != SURVIVED:
            run.note(mutant, result, by, "known")
            continue
        todo.append(mutant)
        if by:
            run.done[mutant.key] = result, by
    return todo


def main(only):
    begin = time.monotonic()
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    size = os.environ.get("MUTANTS") or MUTANTS
    size = 0 if size == "all" else int(size)
    deadline = begin + 60 * float(os.environ.get("MINUTES") or MINUTES)
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    print(f"SEED={seed}")
    everything = list_mutants(only)
    if not everything:
        raise SystemExit(f"nothing to mutate in {' '.join(only)}")
    lists = {path: read_list(path) for path in (*EQUIVALENTS, SURVIVORS)}
    gone = set().union(*lists.values()).difference(*((mutant.name, mutant.key) for mutant in everything))
    if only or os.environ.get("ONLY"):
        gone = set()
    results = os.environ.get("RESULTS")
    known = read_results(results or os.devnull)
    chosen = sample(everything, seed, size, known)

    with tempfile.TemporaryDirectory() as folder:
        originals = Originals(TOP, folder)
        programs = [program for program in list_programs(TOP) if re.search(PROGRAMS or "", program.name)]
        run = Run(originals, programs, lists, deadline)
        todo = queue.Queue()
        for mutant in go_on(run, chosen, known):
            todo.put(mutant)
        run.file = results
        threads = [threading.Thread(target=run.work, args=(Tree(TOP, os.path.join(folder, str(i)), originals), todo))
                   for i in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if results:
            write_results(results, run.done)
        if run.error:
            raise run.error

    return report(run, chosen, gone, begin)


def report(run, chosen, gone, begin):
    code = 1 if run.wrong else 0
    for name in sorted(gone):
        print(f"tests/mutate: remove this line of a list, the code has no such mutant any more: {name}")
        code = 1
    if run.tried < len(chosen):
        print(f"stopped after MINUTES: tried {run.tried} of {len(chosen)} mutants")
    for folder, (_, goal) in FOLDERS.items():
        counts = run.results[folder]
        killed, survived = counts.get(KILLED, 0), counts.get(SURVIVED, 0)
        if not killed + survived:
            continue
        percent = 100 * killed / (killed + survived)
        print(f"{folder}: {killed} killed, {survived} survived, {counts.get(EQUIVALENT, 0)} equivalent: {percent:.1f} % "
              f"(goal {goal} %; {counts.get(INVALID, 0)} did not compile, {counts.get(ELSEWHERE, 0)} are in no host program)")
        if percent < goal:
            code = 1
    print(f"{time.monotonic() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
