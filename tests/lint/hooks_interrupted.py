#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Interrupt "patch" and "undo" of tests/vm/hooks.py before each change of a tree: both must be able to continue.

The tree is made here. Its hooks are a line after the first one of each file.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile

REPO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(REPO, "tests/vm"))
import hooks as engine  # noqa: E402, pylint: disable=wrong-import-position

TEXTS = [b"one\ntwo\nthree\nfour\nfive\n", b"no newline\nat the end", b"no\xffUTF-8\n", b"a link\nto it\n"]


class Interrupter:
    """Raise KeyboardInterrupt instead of the Nth change of the tree."""

    def __init__(self, tree):
        self.tree, self.left = tree, -1
        for name in ("replace", "unlink", "symlink"):
            setattr(os, name, self.wrap(getattr(os, name)))

    def wrap(self, change):
        def changed(*paths, **options):
            if self.left >= 0 and str(paths[-1]).startswith(self.tree):
                self.left -= 1
                if self.left < 0:
                    raise KeyboardInterrupt
            return change(*paths, **options)
        return changed


def make_tree(tree):
    shutil.rmtree(tree, ignore_errors=True)
    for path, text in zip(engine.files_to_read(), TEXTS):
        path = os.path.join(tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)
    os.rename(path, path + ".real")
    os.symlink(os.path.basename(path) + ".real", path)
    os.chmod(path, 0o640)
    os.makedirs(os.path.join(tree, "drivers"), exist_ok=True)
    os.makedirs(os.path.join(tree, os.path.dirname(engine.HEADER)), exist_ok=True)


def snapshot(tree):
    """Return all that undo must bring back."""
    found = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            else:
                with open(path, "rb") as file:
                    found[path] = file.read(), os.stat(path).st_mode
    return found


def edit(tree):
    """Change a file as a user does, away from the hooks."""
    with open(os.path.join(tree, engine.files_to_read()[0]), "ab") as file:
        file.write(b"mine\n")


def hooks_of(version):
    """Return what stands for engine.hook_tree(): the hooks of this version."""
    def hook_tree(root):
        changed = {}
        for number, path in enumerate(engine.files_to_read()[:len(TEXTS)]):
            text = engine.read_file(root, path)
            first, rest = text.split("\n", 1)
            # Some files are the same in both versions, and some have no hooks in one.
            hooked = f"{first}\nhyptrace {version if number % 2 else 0}\n{rest}"
            if number != version:
                changed[path] = (text, hooked)
        changed[engine.HEADER] = (None, f"header {version}\n")
        return [], changed
    return hook_tree


def run(tree, verb, version):
    engine.hook_tree = hooks_of(version)
    with contextlib.redirect_stdout(io.StringIO()):
        if verb == "undo":
            engine.undo_tree(tree)
        else:
            engine.patch_tree(tree, False)


def main():
    bad, runs = 0, 0
    with tempfile.TemporaryDirectory() as work:
        work = os.path.realpath(work)
        tree = os.path.join(work, "tree")
        interrupter = Interrupter(tree + "/")
        for start, edited, verb in (("", False, "patch"), ("patch", False, "patch"), ("patch", True, "patch"),
                                    ("patch", False, "undo"), ("patch", True, "undo")):
            for rest in (["undo"], ["patch", "undo"]):
                for number in range(99):
                    make_tree(tree)
                    if start:
                        run(tree, start, 1)
                    if edited:
                        edit(tree)
                    interrupter.left = number
                    try:
                        run(tree, verb, 2)
                    except KeyboardInterrupt:
                        pass
                    complete, interrupter.left = interrupter.left >= 0, -1
                    if complete:
                        break
                    runs += 1
                    try:
                        for step in rest:
                            # There is nothing to undo if not even the state was written, or all was undone.
                            if step != "undo" or engine.read_state(tree) is not None:
                                run(tree, step, 2)
                        now = snapshot(tree)
                    except engine.Refused as reason:
                        now = str(reason)
                    make_tree(tree)
                    if edited:
                        edit(tree)
                    if now != snapshot(tree):
                        print(f"{start} {verb}, edited={edited}, interrupted at change {number}, then {rest}: {now}")
                        bad = 1
    print(f"note: {runs} interruptions")
    return bad or runs < 50


if __name__ == "__main__":
    sys.exit(main())
