# SPDX-License-Identifier: GPL-2.0-only
"""Build the unit tests with a mutant and run them. Called by run.py.

A mutant is tried first without sanitizers, since this takes a third of the time and kills most mutants. If it survives, it
is tried again with the build options of tests/unit.
"""

import hashlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import threading
import time

UNIT = "tests/unit"
COPIED = ("hyp", "driver", "uapi", "tools", "tests/unit")
# For the tests of the command; tests of this folder's own do without.
COPIED_TOO = ("tests/files", "tests/fuzz", "tests/mutate", "tests/checks.sh")
# Limits of CPU time and of wall-clock time, relative to the original's.
CPU_FACTOR, CPU_MORE = 10, 10
WALL_FACTOR, WALL_MORE = 10, 60
# Warnings that merely follow from a removed piece of code, or from another stage, must not fail the build.
LENIENT = ["-Wno-unused", "-Wno-parentheses", "-Wno-maybe-uninitialized"]
# Limits of a program's output and, without sanitizers (which reserve a huge address space), of its memory
FILE_BYTES, MEMORY_BYTES = 1 << 26, 1 << 36
# The same of the command, and how long its tests may take without a mutant
COMMAND_FILE_BYTES, COMMAND_MEMORY_BYTES, COMMAND_MAX_S = 1 << 30, 1 << 33, 900

QUICK, FULL = "quick", "full"
# Short runs of the tests with random sequences: they kill nearly as many mutants. An entry also holds for the
# test's _tsan variant.
SHORT = {
    "test_ring_model": ("HYPTRACE_TEST_ROUNDS", 3000),
    "test_ring_resize": ("HYPTRACE_TEST_ROUNDS", 1000),
    "test_load_race": ("HYPTRACE_TEST_ROUNDS", 1500),
    "test_ring_storm": ("HYPTRACE_TEST_EVENTS", 60000),
    "test_ring_snapshot": ("HYPTRACE_TEST_SNAPSHOTS", 300),
}


class Program:
    """A test_*.c with the compiler command that make uses for it."""

    def __init__(self, name, command):
        words = shlex.split(command)
        self.name = name
        self.cc = words[0]
        self.sources, self.flags, self.libs = [], [], []
        words = iter(words[1:])
        for word in words:
            if word == "-o":
                next(words)
            elif word.endswith(".c"):
                self.sources.append(word)
            elif word.startswith("-l"):
                self.libs.append(word)
            else:
                self.flags.append(word)

    def flags_of(self, stage):
        if stage == FULL:
            return self.flags + LENIENT
        return [flag for flag in self.flags if not flag.startswith(("-fsanitize", "-fno-sanitize")) and flag != "-g"] + LENIENT

    def environment(self, stage):
        name, number = SHORT.get(self.name.removesuffix("_tsan"), (None, None))
        # in the full stage sequences have their whole length, except with TSan
        return {name: str(number)} if name and (stage == QUICK or self.only_full) else {}

    @property
    def only_full(self):
        """Whether the program differs from another one only by its sanitizer."""
        return self.name.endswith("_tsan")


def list_programs(top):
    names = sorted(path.stem for path in pathlib.Path(top, UNIT).glob("*/test_*.c"))
    programs = []
    for name in names:
        said = subprocess.run(["make", "--no-print-directory", "-C", os.path.join(top, UNIT), "O=build", f"command-{name}"],
                              check=True, capture_output=True, text=True).stdout
        command = [line for line in said.splitlines() if f" -o build/{name} " in line]
        if len(command) != 1:
            raise SystemExit(f"make does not print the command that builds {name}")
        programs.append(Program(name, command[0]))
    return programs


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode


class Tree:
    """A copy of the sources, for one mutant at a time. All copies share the objects of the original."""

    def __init__(self, top, folder, originals):
        self.folder, self.originals = folder, originals
        self.unit = os.path.join(folder, UNIT)
        for name in COPIED:
            shutil.copytree(os.path.join(top, name), os.path.join(folder, name), symlinks=True,
                            ignore=shutil.ignore_patterns("*.o", "*.a", "*.so*", "build"))
        os.makedirs(os.path.join(self.unit, "tmp"))
        self.command = Command(top, folder, originals)

    def write(self, path, source):
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
            file.write(source)

    def compile(self, program, source, stage, target):
        return run([program.cc, *program.flags_of(stage), "-c", "-o", target, source], self.unit) == 0

    def link(self, program, objects, stage, target):
        return run([program.cc, *program.flags_of(stage), "-o", target, *objects, *program.libs], self.unit) == 0

    def start(self, binary, program, stage, limits):
        """Run it; return its exit code (None if it took too long), the CPU seconds and the wall-clock seconds."""
        command = ["prlimit", "--core=0", f"--fsize={FILE_BYTES}"]
        if stage == QUICK:
            command.append(f"--as={MEMORY_BYTES}")
        if limits:
            command.append(f"--cpu={int(limits[0])}")
        begin, late, pid = time.monotonic(), False, 0
        env = dict(os.environ, **program.environment(stage), CMOCKA_MESSAGE_OUTPUT="TAP", TMPDIR=os.path.join(self.unit, "tmp"))
        # A mutant may send a signal to process 0, which is its group.
        child = subprocess.Popen([*command, binary], cwd=self.unit, env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while not pid:
            if limits and not late and time.monotonic() - begin > limits[1]:
                late = True
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(0.01)
            # not Popen.wait(): it does not return the CPU time
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        return None if late else child.returncode, usage.ru_utime + usage.ru_stime, time.monotonic() - begin


class Originals:
    """The unmodified programs, which are built and run when first needed."""

    def __init__(self, top, folder):
        self.folder = os.path.join(folder, "original")
        os.makedirs(self.folder)
        self.tree = Tree(top, os.path.join(folder, "sources"), self)
        self.locks, self.lock, self.done = {}, threading.Lock(), {}

    def once(self, key, make):
        """Return the result of make(), which is called only once per key."""
        with self.lock:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self.done:
                self.done[key] = make()
            return self.done[key]

    def depends(self, program, source):
        """Return the files that @source includes, and itself, relative to the top of the tree."""

        def make():
            said = subprocess.run([program.cc, *program.flags_of(QUICK), "-MM", source], cwd=self.tree.unit, check=True,
                                  capture_output=True, text=True).stdout
            words = said.replace("\\\n", " ").split(":", 1)[1].split()
            return {os.path.relpath(os.path.normpath(os.path.join(self.tree.unit, word)), self.tree.folder)
                    for word in words if not os.path.isabs(word)}

        return self.once(("depends", program.name, source), make)

    def needs(self, program, path):
        return any(path in self.depends(program, source) for source in program.sources)

    @staticmethod
    def object_name(program, source, stage):
        key = "\0".join([source, program.cc, *program.flags_of(stage)])
        return f"{os.path.basename(source)[:-2]}-{stage}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.o"

    def object(self, program, source, stage):
        target = os.path.join(self.folder, self.object_name(program, source, stage))

        def make():
            if not self.tree.compile(program, source, stage, target):
                raise SystemExit(f"{source} of {program.name} does not compile without a mutant")
            return target

        return self.once(target, make)

    def seconds(self, program, stage):
        """Return the CPU seconds and the wall-clock seconds of a run."""

        def make():
            objects = [self.object(program, source, stage) for source in program.sources]
            binary = os.path.join(self.folder, f"{program.name}-{stage}")
            if not self.tree.link(program, objects, stage, binary):
                raise SystemExit(f"{program.name} does not link without a mutant")
            code, *seconds = self.tree.start(binary, program, stage, None)
            if code:
                raise SystemExit(f"{program.name} fails without a mutant ({stage}, code {code})")
            return seconds

        return self.once((program.name, stage), make)


class Command:
    """The command of a tree, and its tests on the host: commands.sh. They take long, and are run for what unit tests miss."""

    def __init__(self, top, folder, originals):
        self.top, self.folder, self.originals, self.seconds = top, folder, originals, None
        self.script = os.path.join(folder, "tests/mutate/commands.sh")

    def test(self, path, seconds):
        """Run the tests with a changed file. Return the exit code, and the test that fails."""
        # all that the tests have started ends with them; a shell's background job ignores SIGINT, which tests send
        command = ["timeout", "--signal=KILL", str(int(seconds)), "env", "--default-signal=INT,QUIT",
                   "prlimit", "--core=0", f"--fsize={COMMAND_FILE_BYTES}", f"--as={COMMAND_MEMORY_BYTES}", self.script, path]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        return done.returncode, done.stdout.strip() or ("its time" if done.returncode == -signal.SIGKILL else "none")

    def prepare(self):
        """Get what the tests need. Return False if there is none. The first tree runs them without a mutant."""
        if self.seconds is not None:
            return self.seconds > 0
        self.seconds = 0
        if not os.path.exists(os.path.join(self.top, "tests/files")):
            return False
        for name in COPIED_TOO:
            source, target = os.path.join(self.top, name), os.path.join(self.folder, name)
            if os.path.isdir(source):
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("build", "__pycache__"))
            else:
                shutil.copy(source, target)

        def make():
            begin = time.monotonic()
            code, name = self.test("", COMMAND_MAX_S)
            if code:
                raise SystemExit(f"commands.sh ends with {code} without a mutant: {name}")
            return time.monotonic() - begin

        self.seconds = self.originals.once("the command", make)
        return True

    def kills(self, path):
        """Test the mutant in this file. Return whether one of the tests kills it (None: it does not compile), and which."""
        # what it takes without a mutant has all of the build, too
        code, name = self.test(path, 2 * self.seconds + WALL_MORE)
        return None if code == 3 else code != 0, name


class Attempt:
    """A mutant in a tree: its objects, and the programs that are linked with them."""

    def __init__(self, tree, mutant):
        self.tree, self.mutant, self.originals = tree, mutant, tree.originals
        self.folder = os.path.join(tree.unit, "mutant")
        self.objects = {}   # original's object: mutant's object, None if it does not compile
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def object_of(self, program, source, stage):
        original = self.originals.object(program, source, stage)
        if self.mutant.path not in self.originals.depends(program, source):
            return original
        if original not in self.objects:
            target = os.path.join(self.folder, os.path.basename(original))
            self.objects[original] = target if self.tree.compile(program, source, stage, target) else None
        return self.objects[original]

    def objects_of(self, program, stage):
        """Return the program's objects; None if one does not compile."""
        objects = [self.object_of(program, source, stage) for source in program.sources]
        return None if None in objects else objects

    def differ(self, program, stage):
        """Whether an object differs from the original's."""

        def content(path):
            with open(path, "rb") as file:
                return file.read()

        for source in program.sources:
            original, mutant = self.originals.object(program, source, stage), self.object_of(program, source, stage)
            if original != mutant and content(original) != content(mutant):
                return True
        return False

    def link(self, program, objects, stage):
        """Return the linked program; None if it cannot be linked."""
        binary = os.path.join(self.folder, f"{program.name}-{stage}")
        return binary if self.tree.link(program, objects, stage, binary) else None

    def kills(self, program, binary, stage):
        cpu, wall = self.originals.seconds(program, stage)
        limits = cpu * CPU_FACTOR + CPU_MORE, wall * WALL_FACTOR + WALL_MORE
        return self.tree.start(binary, program, stage, limits)[0] != 0
