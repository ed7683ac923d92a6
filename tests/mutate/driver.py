#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Change one statement at a time of driver/, and check that a test fails: driver.py [FILE...]

driver.py tries a random sample of the mutants: MUTANTS= of them (300; "all" for every one), chosen by SEED=, for at most
MINUTES=. MACHINE=um (the default) tries those that a kernel in user mode can execute, the other machines of machine.sh others
of the sample (ELSEWHERE), and those that have survived elsewhere. These need RESULTS= of a run with MACHINE=um. ONLY=TEXT
tries only mutants whose printed name contains TEXT. VERBOSE=1 prints each mutant that was tried.
RESULTS=FILE keeps the result of each mutant: a later run with that file goes on where this one has stopped, and AGAIN=1 tries
those again that have survived, AGAIN=rest only those for which there are more tests. At its end, such a run writes all of
them into "results-driver", with which it begins, too.
RESULTS=FILE also keeps what each test executes, in FILE.lines, as long as driver/, hyp/ and tests/kselftest do not change:
remove it after other changes. A mutant that was killed is not tried again: to begin anew, remove what results-driver lists.
machine.sh says what must have been built.

The output lists the mutants that survived, then the percentage of killed mutants. The exit code is 1 if that is below the
goal, or if a test has failed without a change. "equivalent-driver" lists mutants that change nothing that a test can
observe, with the reason; #2 is the second one of that name. "survivors-driver" lists those that a test could observe but
none does: they count as survived, and are neither tried nor printed.

Among the mutants the driver is sometimes tested without a change: if a test fails then, it may have killed mutants by accident.
"""

import collections
import concurrent.futures
import glob
import hashlib
import os
import pickle
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases
import lines
import mutants as generator
import outcomes
from outcomes import KILLED, SURVIVED
from source import TOP, copy_tree, read_list

MACHINE_SH = os.path.join(TOP, "tests/mutate/machine.sh")
MACHINE = os.environ.get("MACHINE", "um")
OBJCOPY = "objcopy" if MACHINE == "um" else "aarch64-linux-gnu-objcopy"
EQUIVALENTS = "tests/mutate/equivalent-driver"
KNOWN = "tests/mutate/survivors-driver"
GOAL = 95
EQUIVALENT, INVALID = "equivalent", "does not compile"
# These tests take long, find little that others do not, or need what this machine has not.
LEFT_OUT = {"test_killed.sh", "test_lockdown.sh", "test_kernel.sh", "test_host.sh", "test_on_demand.sh"}
# Each of these needs machines of its own.
OWN_MACHINE = {"test_kept.sh", "test_misfit.sh"}
# ... and this one must be the last one in its machine. It is for statements near such a line.
LOCKDOWN, OF_LOCKDOWN = "test_lockdown.sh", "locked_down"
# Files that a unit test executes on the host
UNIT = {"driver/core/subbuf.c": "test_record_little"}
LIMIT_S = 180 if MACHINE == "um" else 300
# What tests those files, and those statements, that the kernel in user mode does not execute, or not with a hypervisor, and
# where. print_event() of pkvm.c is for a panic: tests/blackbox/panic.sh noticed its mutants, which were tried by hand.
ELSEWHERE = {
    "pkvm": {
        "driver/core/reader.c": ["test_idle"],
        "driver/netlink/control.c": ["test_control", "bats:remote/hotplug.bats"],
        "driver/remotes/formats.c": ["test_hypercall_names", "bats:remote/list.bats", "test_firmware",
                                     "bats:boot/functions.bats"],
        "driver/remotes/functions.c": ["bats:boot/functions.bats"],
        "driver/remotes/pkvm.c": ["test_modules.sh", "test_hypercall_names", "test_hypercalls", "test_exits", "test_guest",
                                  "bats:boot/pmu.bats", "bats:remote/list.bats", "test_firmware", "test_memory",
                                  "test_visits", "test_query", "test_register", "test_leftover.sh", "bats:remote/hotplug.bats",
                                  "bats:boot/functions.bats"],
        "driver/remotes/writer.c": ["bats:remote/hotplug.bats", "test_leftover.sh", "test_counters"],
        "driver/remotes/writer_call.c": ["test_control", "bats:remote/hotplug.bats"],
        "driver/remotes/writer_count.c": ["bats:remote/hotplug.bats", "test_leftover.sh", "test_counters"],
        "driver/remotes/writer_pmu.c": ["test_pmu", "bats:boot/pmu.bats", "test_counters"],
        "driver/remotes/writer_recover.c": ["test_leftover.sh"],
    },
    "kernel": {path: ["test_kernel_rings", "test_kernel_faults", "test_register", "kernel/test_read", "kernel/test_count",
                      "kernel/test_unrest", "kernel/test_mmap", "kernel/test_snapshot", "kernel/test_poll", "kernel/test_clock",
                      "kernel/test_wakeup", "test_kernel.sh"]
               for path in ("driver/core/look.c", "driver/core/reader.c", "driver/remotes/kernel.c",
                            "driver/remotes/kernel_load.c", "driver/remotes/kernel_ring.c")} |
              # without functions
              {"driver/remotes/pkvm.c": ["test_control", "test_register", "bats:remote/list.bats", "test_leftover.sh"]},
    "nvhe": {
        "driver/remotes/kernel.c": ["test_modules.sh"],
        "driver/remotes/pkvm.c": ["test_leftover.sh"],
    },
    # It checks locks and addresses, and lets allocations fail with a hypervisor, too.
    "debug": {
        "driver/core/debugfs.c": ["test_query"],
        "driver/core/dump.c": ["test_modules.sh"],
        "driver/core/event_set.c": ["test_filter"],
        "driver/core/look.c": ["test_poll"],
        "driver/core/losses.c": ["test_notify"],
        "driver/core/reader.c": ["test_poll"],
        "driver/core/remote.c": ["test_modules.sh"],
        "driver/netlink/filter.c": ["test_filter"],
        "driver/remotes/kernel_load.c": ["test_fail_load"],
        "driver/remotes/pkvm.c": ["test_modules.sh", "test_visits", "test_firmware", "bats:watch/hypervisor.bats"],
        "driver/remotes/writer_pmu.c": ["test_pmu", "test_fail_load"],
    },
}
# The kernel has it in itself, so each mutant would be a new kernel.
NO_MODULE = "driver/remotes/el2.c"
# Without AGAIN=, if more cases than these execute a statement, those that take longer than this are left out, unless they
# execute a line of the file that at most FEW cases do.
ENOUGH, SLOW_S, FEW = 10, 5, 3
# ... or the statement may belong to an error, and the test has allocations fail.
OF_ERRORS = re.compile(r"\berr|\bret\b|-E[A-Z]|ERR_PTR|return|free|put|if \(!")
FAULTS = {"test_fail_load", "test_fail_nth"}
# ... or it allocates or frees something, and the test looks for what is not freed.
OF_FREEING, LEAKS = re.compile(r"alloc|free|put"), "test_leak.sh"
# The compiler moves the code of a statement by a few lines at most.
NEAR = 3
# Most tests sleep a lot in user mode, so there are more workers than CPUs.
WORKERS = (2 if MACHINE == "um" else 1) * (os.cpu_count() or 1)
# The best of these come one by one, the others by program. Without AGAIN= at most so many are tried: at first so many of each
# program.
ONE_BY_ONE, MOST, SOME = 8, 80, 2
# How many mutants there are to a test without a change
UNCHANGED = 150


def words_of(path):
    """The words in the name of a test or a file"""
    return set(re.findall(r"[a-z]+", os.path.splitext(os.path.basename(path))[0])) - {"test"}


def state_of(*folders):
    """Return a hash of all files in these folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(TOP, folder, "**"), recursive=True)):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()


class Cut(Exception):
    """The machine had no time for all tests."""


class Tree:
    """A copy of the repository with its own machine"""

    def __init__(self, folder):
        self.folder = folder
        # what each test takes
        self.seconds = {}
        os.makedirs(folder)
        copy_tree(folder)
        if self.machine("begin").returncode:
            raise SystemExit(f"there is no kernel for MACHINE={MACHINE}: see tests/mutate/machine.sh")
        self.build()
        self.originals = {}
        for path in glob.glob("driver/**/*.c", root_dir=TOP, recursive=True):
            if os.path.exists(os.path.join(folder, path[:-1] + "o")):
                self.originals[path] = self.code(path)

    def machine(self, verb, *arguments):
        return subprocess.run([MACHINE_SH, verb, self.folder, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)

    def build(self, *variables):
        """Build the modules without a mutant."""
        if self.machine("modules", *variables).returncode:
            raise SystemExit("the modules do not compile without a mutant")

    def make(self, target):
        """Make a target as make has done, whose command is kept: make itself takes three times as long."""
        made_by = os.path.join(self.folder, os.path.dirname(target), f".{os.path.basename(target)}.cmd")
        with open(made_by, encoding="utf-8") as file:
            command = re.match(r"savedcmd_\S+ := (?:ccache )?(.*)", file.readline())[1]
        return not subprocess.run(command, shell=True, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  check=False).returncode

    def link(self, target):
        """Link the module that has this object."""
        for name in glob.glob("*.mod", root_dir=self.folder):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                if "./" + target in file.read().split():
                    return self.make(name[:-len("mod")] + "o") and self.make(name[:-len("mod")] + "ko")
        raise SystemExit(f"no module has {target}")

    def change(self, mutant):
        """Build the modules with a mutant. Return whether it compiles."""
        self.write(mutant.path, mutant.source)
        if MACHINE != "um":
            return not self.machine("modules").returncode
        target = mutant.path[:-1] + "o"
        shutil.copy(os.path.join(self.folder, target), os.path.join(self.folder, "original.o"))
        # a mutant imports nothing that the module does not
        return self.make(target) and self.link(target)

    def restore(self, mutant):
        """Undo change(); make undoes it with the next mutant."""
        self.write(mutant.path, mutant.original)
        if MACHINE == "um":
            target = mutant.path[:-1] + "o"
            os.replace(os.path.join(self.folder, "original.o"), os.path.join(self.folder, target))
            os.utime(os.path.join(self.folder, target))
            self.link(target)

    def write(self, path, source):
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
            file.write(source)

    def code(self, path):
        """Return the object code of a source file, without its debug information."""
        target = os.path.join(self.folder, "code")
        subprocess.run([OBJCOPY, "-g", os.path.join(self.folder, path[:-1] + "o"), target], check=True)
        with open(target, "rb") as file:
            return file.read()

    def unit(self, name):
        """Return whether a unit test passes."""
        return not subprocess.run(["tests/unit/run.sh", name], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  check=False,
                                  # as in the kernel, a warning is no error
                                  env=os.environ | {"LIMIT": str(LIMIT_S), "CFLAGS": "-w"}).returncode

    def limit(self, child, group):
        """End these processes if their kernel hangs, which ends no test, or if the test takes much longer than before."""
        expected = sum(self.seconds.get(name, LIMIT_S) for name in cases.names_of(group or ""))
        seconds = min(2 * LIMIT_S, 15 + 6 * expected)
        timer = threading.Timer(seconds, os.killpg, (child.pid, signal.SIGTERM))
        timer.start()
        return timer

    def test(self, names, *settings):
        """Run groups of tests. Return those that passed, the name of the one that failed, or with which the kernel ended,
        or None if they have passed, and the seconds of each."""
        if len(names) > 1 and (alone := next((name for name in names if name in OWN_MACHINE), None)):
            passed, failed, seconds = self.test([name for name in names if name != alone], *settings)
            if failed and settings:
                return passed, failed, seconds
            others, failed_alone, more = self.test([alone], *settings)
            return passed + others, failed or failed_alone, seconds | more
        passed, seconds, begin, name, is_cut = [], {}, time.monotonic(), None, False
        suites = [name if ":" in name else f"kselftest:{name}" for name in names]
        # of a program with all of its cases
        longest = max(sum(self.seconds.get(name, 0) for name in cases.names_of(group)) for group in names)
        settings = (f"TEST_TIMEOUT={max(LIMIT_S, int(6 * longest))}", *settings)
        child = subprocess.Popen([MACHINE_SH, "test", self.folder, *settings, "--", *suites],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", start_new_session=True)
        timer = self.limit(child, None)
        for line in child.stdout:
            is_cut |= "did not end within" in line
            if match := re.match(r"== (?:kselftest:)?(\S+)$", line):
                if name:
                    seconds[name] = time.monotonic() - begin
                name, begin = match[1], time.monotonic()
                timer.cancel()
                timer = self.limit(child, name)
            elif re.match(r"[1-9]\d* passed, 0 failed$", line) and name not in passed:
                passed.append(name)
            elif name and line.startswith("not ok ") and "FIRST_FAILURE=1" in settings:
                if "@" in name and (match := re.match(r"not ok \d+ (?:\w+\.)*(\w+)$", line)):
                    name = f"{cases.program_of(name)}@{match[1]}"
                os.killpg(child.pid, signal.SIGTERM)
                child.stdout.read()
        code = child.wait()
        timer.cancel()
        if code and not name:
            raise SystemExit("the kernel does not start")
        seconds[name] = time.monotonic() - begin
        if code and is_cut and seconds[name] < 2 * LIMIT_S:
            raise Cut
        return passed, cases.names_of(name)[0] if code else None, seconds


class Run:
    def __init__(self, deadline):
        self.deadline, self.equivalents, self.known = deadline, read_list(EQUIVALENTS), read_list(KNOWN)
        self.lock, self.error = threading.Lock(), None
        self.accidents, self.unchanged, self.keys, self.done = [], 0, set(), {}
        # of other machines, which this one tries again
        self.survivors = set()
        self.kills, self.seconds, self.counts, self.nr_tests = {}, {}, {}, collections.Counter()
        self.names = [name for name in cases.list_names(TOP) if cases.program_of(name) not in LEFT_OUT]

    def measure(self, trees):
        """Return what each test executes, which lines have code, which tests pass, and how long each takes."""
        if not all(trees[0].unit(name) for name in UNIT.values()):
            raise SystemExit("a unit test fails without a mutant")
        others = [name for name in self.names if name not in OWN_MACHINE]
        alone = [[name] for name in self.names if name in OWN_MACHINE]
        executed, with_code, passed, seconds = {}, {}, [], {}

        def measure_some(tree, names, *more):
            nonlocal with_code
            for some in (names, *more):
                found, with_code = lines.lines_of(tree, some)
                executed.update(found)
            tree.build()
            for some in (names, *more):
                passed_some, _, seconds_some = tree.test(some)
                passed.extend(passed_some)
                seconds.update(seconds_some)

        # so that each has a CPU
        trees = trees[:os.cpu_count() or 1]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            parts = [pool.submit(measure_some, tree, others[i::len(trees)], *alone[i::len(trees)]) for i, tree in enumerate(trees)]
            try:
                for part in parts:
                    part.result()
            except Cut:
                raise SystemExit("this machine is too slow for all tests") from None
        return executed, with_code, sorted(passed), seconds

    def begin(self, trees, file):
        """Measure, or read from this file what was measured with the same driver and tests."""
        state, before = state_of("driver", "hyp", "tests/kselftest"), None
        if file and os.path.exists(file):
            with open(file, "rb") as stream:
                before = pickle.load(stream)
        if MACHINE != "um":
            if not before:
                raise SystemExit("it is not known what the kernel in user mode executes: run it with MACHINE=um before")
            self.executed, self.with_code = before[1][:2]
            self.count_tests(self.executed)
            self.names = sorted({name for names in ELSEWHERE[MACHINE].values() for name in names})
            passed, _, self.seconds = trees[0].test(self.names)
            if set(passed) != set(self.names):
                raise SystemExit(f"without a mutant, it fails: {' '.join(sorted(set(self.names) - set(passed)))}")
            return
        if not before or before[0] != state:
            before = state, self.measure(trees)
            if file:
                with open(file, "wb") as stream:
                    pickle.dump(before, stream)
        self.executed, self.with_code, passed, self.seconds = before[1]
        print(f"{len(passed)} tests; left out: {' '.join(cases.group(sorted(LEFT_OUT | set(self.names) - set(passed)), 0))}")
        self.names = [name for name in passed if name in self.executed]
        self.count_tests(self.names)
        print(f"executed: {self.percent():.1f} % of the lines")

    def count_tests(self, names):
        """Count which of these tests execute each line."""
        self.nr_tests = collections.Counter((path, line) for name in names for path, executed in self.executed[name].items()
                                            for line in executed)

    def percent(self):
        executed = {path: set().union(*(paths.get(path, ()) for paths in self.executed.values())) for path in self.with_code}
        return 100 * sum(map(len, executed.values())) / sum(map(len, self.with_code.values()))

    def is_listed(self, key):
        return bool((self.equivalents | self.known).intersection((key, key.rpartition(" #")[0])))

    def go_on(self, file, chosen):
        """Read the results of earlier runs from this file. Of the chosen mutants, return the keys of those that it has, and of
        those that need not be tried."""
        hashes = {outcomes.hash_of(key): key for key in self.keys}
        done = {hashes[name]: row for name, row in outcomes.read_results(outcomes.DRIVER).items() if name in hashes}
        with open(file, "a+", encoding="utf-8") as rows:
            rows.seek(0)
            for line in rows:
                columns = line.rstrip("\n").split("\t")
                # the last result of a mutant counts; a row may be cut
                if len(columns) == 3:
                    done[columns[2]] = columns[:2]
        # the lists may have changed
        done = {key: row for key, row in done.items() if key in self.keys and row[1] != "the list" and not self.is_listed(key)}
        self.done = dict(done)
        known = set(done).intersection(mutant.key for mutant in chosen)
        if MACHINE != "um":
            self.survivors = {key for key, (result, by) in done.items() if result == SURVIVED and not by.startswith(MACHINE) and
                              key.split(":")[0] in ELSEWHERE[MACHINE]}
            done = {key: row for key, row in done.items() if key not in self.survivors}
        if again := os.environ.get("AGAIN"):
            done = {key: row for key, row in done.items()
                    if row[0] != SURVIVED or again == "rest" and int((re.findall(r": (\d+) tests", row[1]) or [MOST])[0]) < MOST}
        for key in known.intersection(done):
            self.count(*done[key], key)
        return known, done

    def keep(self, file):
        """Write the results, but not those of tests that have also failed without a change."""
        self.done = {key: row for key, row in self.done.items() if row[0] != KILLED or row[1] not in self.accidents}
        with open(file, "w", encoding="utf-8") as rows:
            for key, (result, by) in self.done.items():
                print(result, by, key, sep="\t", file=rows)
        outcomes.write_results(outcomes.DRIVER, self.done)

    def count(self, result, by, name):
        self.counts[result] = self.counts.get(result, 0) + 1
        if result == KILLED:
            path, function = name.split(": ")[:2]
            for key in ((path, by), (path, function, by)):
                self.kills[key] = self.kills.get(key, 0) + 1

    def lines_of(self, mutant):
        """The lines with the code of the statement; the compiler may move it to a line near it, or not so near."""
        known = self.with_code.get(mutant.path, set())
        own = known.intersection(mutant.lines)
        near = known.intersection(range(mutant.line - NEAR, mutant.line + NEAR + 1))
        if own or any(near & paths.get(mutant.path, set()) for paths in self.executed.values()):
            return own or near
        return known.intersection(range(mutant.line - 4 * NEAR, mutant.line + 4 * NEAR + 1))

    def is_mine(self, mutant):
        """Whether this machine tries the mutant"""
        lines_of = self.lines_of(mutant)
        in_um = mutant.path in self.with_code and (not lines_of or any(
            lines_of & paths.get(mutant.path, set()) for paths in self.executed.values()))
        machines = [machine for machine, paths in ELSEWHERE.items() if mutant.path in paths and not in_um]
        return MACHINE in (machines or ["um"]) or mutant.key in self.survivors

    def best_first(self, mutant, names):
        """Sort tests: those first that kill most mutants of this function and file per second, or have their name."""
        near = set(range(mutant.line - 2 * NEAR, mutant.line + 2 * NEAR + 1))
        words = words_of(mutant.path)

        def worth(name):
            executed = self.executed.get(name, {}).get(mutant.path, set())
            kills = self.kills.get((mutant.path, name), 0) + 3 * self.kills.get((mutant.path, mutant.function + "()", name), 0)
            # how special it is that the test executes these lines
            special = sum(1 / self.nr_tests[mutant.path, line] for line in near & executed)
            named = bool(words & words_of(cases.program_of(name)))
            return (0.1 + kills + special + named) / (0.2 + self.seconds.get(name, 1))

        return sorted(names, reverse=True, key=worth)

    def likely(self, mutant):
        """The tests that execute the statement"""
        if MACHINE != "um":
            return self.best_first(mutant, ELSEWHERE[MACHINE][mutant.path])
        with_code = self.lines_of(mutant)
        names = [name for name in self.names
                 if not with_code or with_code & self.executed[name].get(mutant.path, set())]
        if len(names) > ENOUGH and not os.environ.get("AGAIN"):
            rare = {line for path, line in self.nr_tests if path == mutant.path and self.nr_tests[path, line] <= FEW}
            statement = mutant.name.split(": ", 2)[-1]
            is_error, frees = OF_ERRORS.search(statement), OF_FREEING.search(statement)
            names = [name for name in names if self.seconds.get(name, 0) <= SLOW_S or frees and name == LEAKS or
                     is_error and cases.program_of(name) in FAULTS or rare & self.executed[name].get(mutant.path, set())]
        near = mutant.original.split("\n")[max(mutant.line - NEAR - 1, 0):mutant.line + NEAR]
        names = self.best_first(mutant, names)
        # some of each program
        names = [name for i, name in sorted(cases.ranked(names), key=lambda pair: pair[0] >= SOME)]
        # begin with those that were not tried before
        names = names[MOST:] + names[:MOST] if os.environ.get("AGAIN") else names[:MOST]
        return cases.group(names, ONE_BY_ONE) + ([LOCKDOWN] if any(OF_LOCKDOWN in line for line in near) else [])

    def judge(self, tree, mutant):
        if self.equivalents.intersection((mutant.name, mutant.key)):
            return EQUIVALENT, "the list"
        if self.known.intersection((mutant.name, mutant.key)):
            return SURVIVED, "the list"
        names = self.likely(mutant)
        try:
            if not tree.change(mutant):
                return INVALID, "the compiler"
            if tree.code(mutant.path) == tree.originals[mutant.path]:
                return EQUIVALENT, "the compiler"
            unit = MACHINE == "um" and UNIT.get(mutant.path)
            if unit and not tree.unit(unit):
                return KILLED, unit
            failed = tree.test(names, "FIRST_FAILURE=1")[1] if names else None
        finally:
            tree.restore(mutant)
        return (KILLED, failed) if failed else (SURVIVED, f"{MACHINE}: {sum(map(len, map(cases.names_of, names)))} tests")

    def check(self, tree):
        """Test the driver without a change."""
        tree.build()
        try:
            _, failed, _ = tree.test(cases.group(self.names, 0), "FIRST_FAILURE=1")
        except Cut:
            return
        with self.lock:
            self.unchanged += 1
            if failed:
                self.accidents.append(failed)

    def work(self, tree, todo, results):
        try:
            while time.monotonic() < self.deadline and not self.error:
                mutant = todo.get_nowait()
                if not mutant:
                    self.check(tree)
                    continue
                try:
                    result, by = self.judge(tree, mutant)
                except Cut:
                    continue
                with self.lock:
                    self.count(result, by, mutant.name)
                    self.done[mutant.key] = result, by
                    if results:
                        with open(results, "a", encoding="utf-8") as file:
                            file.write(f"{result}\t{by}\t{mutant.key}\n")
                if os.environ.get("VERBOSE"):
                    print(f"{result} by {by} - {mutant}", flush=True)
        except queue.Empty:
            pass
        except BaseException as error:  # of any kind: the other workers must end, too
            self.error = error


def list_mutants():
    found = []
    for path in sorted(glob.glob("driver/**/*.c", root_dir=TOP, recursive=True)):
        if path != NO_MODULE:
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                found += generator.mutants_of(path, file.read())
    return found


def main(only):
    begin = time.monotonic()
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    size = os.environ.get("MUTANTS") or "300"
    run = Run(begin + 60 * float(os.environ.get("MINUTES") or 600))
    print(f"SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        trees = []
        try:
            for i in range(WORKERS):
                trees.append(Tree(os.path.join(folder, str(i))))
            everything = list_mutants()
            run.keys = {mutant.key for mutant in everything}
            chosen = [mutant for mutant in everything
                      if (not only or mutant.path in only) and os.environ.get("ONLY", "") in mutant.name]
            if not chosen:
                raise SystemExit("nothing to mutate: no mutant is in these files and has the text of ONLY=")
            # a change of the driver leaves the other mutants of the sample as they are
            chosen.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
            results = os.environ.get("RESULTS")
            known, done = run.go_on(results, chosen) if results else ((), ())
            if size != "all":
                # mutants that an earlier run has tried stay part of the sample
                chosen = chosen[:int(size)] + [mutant for mutant in chosen[int(size):] if mutant.key in known]
            print(f"driver: {len(chosen)} of {len(everything)} mutants", flush=True)
            run.begin(trees, results and results + ".lines")
            for tree in trees:
                tree.seconds = run.seconds
            todo = queue.Queue()
            for i, mutant in enumerate(mutant for mutant in chosen
                                       if mutant.key not in done and run.is_mine(mutant)):
                if i % UNCHANGED == UNCHANGED - 1:
                    todo.put(None)
                todo.put(mutant)
            if not todo.empty():
                todo.put(None)
            threads = [threading.Thread(target=run.work, args=(tree, todo, results)) for tree in trees]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            for tree in trees:
                tree.machine("end")
    if results:
        run.keep(results)
    if run.error:
        raise run.error
    for mutant in chosen:
        result, by = run.done.get(mutant.key, (None, None))
        if result == SURVIVED and by != "the list":
            print(f"{result} {by} - {mutant}")
    tried = sum(run.counts.values())
    if tried < len(chosen):
        print(f"tried {tried} of {len(chosen)} mutants; the others need more MINUTES= or another MACHINE=")
    print(f"without a change: tested {run.unchanged} times; failed: {' '.join(run.accidents) or 'never'}")
    killed, survived = run.counts.get(KILLED, 0), run.counts.get(SURVIVED, 0)
    percent = 100 * killed / max(killed + survived, 1)
    print(f"driver: {killed} killed, {survived} survived, {run.counts.get(EQUIVALENT, 0)} equivalent: {percent:.1f} % "
          f"(goal {GOAL} %; {run.counts.get(INVALID, 0)} did not compile), {time.monotonic() - begin:.0f} s")
    return percent < GOAL or bool(run.accidents)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
