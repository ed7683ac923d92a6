#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Take the place of each hook out of a kernel tree, one after the other: tests/vm/hooks.py must name that hook. hooks.py TREE

TREE has the original files; a file is cut down to the functions that have hooks. Print each hook that was not named.
"""

import concurrent.futures
import difflib
import os
import re
import sys
import tempfile

REPO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(REPO, "tests/vm"))
import hooks as engine  # noqa: E402, pylint: disable=wrong-import-position

NOTHING = re.compile(r"\s*(/\*.*|\*.*|//.*|)$")


def cut_down(text, functions):
    """Keep the lines outside of functions, and these functions."""
    kept, inside, keep = [], False, True
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line == "{" and not inside:
            inside = True
            keep = engine.function_at([(before, "") for before in lines[:number + 1]], number) in functions
            if not keep:
                # the head stays as a declaration
                kept[-1] += ";"
        if not inside or keep:
            kept.append(line)
        if line.startswith("}"):
            inside, keep = False, True
    return "\n".join(kept)


def removals(before, after, places):
    """For each hook, by the numbers of its lines in after, return the lines of before around them."""
    old, new = before.split("\n"), after.split("\n")
    found = {}
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            continue
        for name, numbers in places.items():
            if not any(new_first <= number - 1 < new_last for number in numbers):
                continue
            around = set(range(first, last))
            for step, at in ((-1, first - 1), (1, last)):
                while 0 <= at < len(old) and NOTHING.match(old[at]):
                    at += step
                around.add(at)
            found.setdefault(name, set()).update(around)
    return found


def conditions(hook):
    """Return what a file must have if a hook needs no particular line of it; None for other hooks."""
    found = [op[1].split(" if ")[1] for op in hook.ops if op[0] == "include"]
    if any(op[0] == "append" for op in hook.ops):
        found += [hook.condition[1].pattern] if hook.condition else []
    elif not found:
        return None
    return found


def lines_with(lines, patterns):
    """Return the numbers of the lines that match any of these patterns."""
    return {number for number, line in enumerate(lines) if any(re.search(pattern, line) for pattern in patterns)}


def names_without_files():
    """Return the names of the hooks that are missing from a tree without any file."""
    with tempfile.TemporaryDirectory() as work:
        return {hook.name for hook in engine.missing_hooks(engine.hook_tree(work)[0])}


def is_named(name, path, text):
    """Check that the hook is missing from a tree whose file has this text."""
    with tempfile.TemporaryDirectory() as work:
        engine.write_file(work, path, text)
        hooks, _, patches = engine.read_rules()
        own = [hook for hook in hooks if path in hook.files]
        try:
            engine.hook_file(work, path, own, patches)
        except engine.Refused as reason:
            print(f"{name}: {reason}")
            return False
        return any(hook.name == name and not hook.places for hook in own)


def main(root):
    hooks, changed = engine.hook_tree(root)
    patches = engine.read_rules()[2]
    by_file = {}
    for hook in hooks:
        for path, line, function in hook.places:
            by_file.setdefault(path, []).append((hook, line, function))
    jobs, files, bad = [], set(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in by_file.items():
            before, after = changed[path]
            if path.endswith(".c"):
                rules = "".join(engine.read_file("", patch) for patch in patches.get(path, []))
                keep = {function for _, _, function in found} | set(re.findall(r"\w+", rules))
                for number in lines_with(before.split("\n"), [regex for hook, _, _ in found
                                                              for regex in conditions(hook) or []]):
                    keep.add(engine.function_at([(line, "") for line in before.split("\n")], number))
                before = cut_down(before, keep)
                with tempfile.TemporaryDirectory() as work:
                    engine.write_file(work, path, before)
                    own = [hook for hook in engine.read_rules()[0] if path in hook.files]
                    _, after = engine.hook_file(work, path, own, patches)
                    found = [(hook, line, name) for hook in own for _, line, name in hook.places]
            places, out = {}, {}
            lines = before.split("\n")
            for hook, line, _ in found:
                if conditions(hook) is None:
                    places.setdefault(hook.name, []).append(line)
                elif conditions(hook):
                    out[hook.name] = lines_with(lines, conditions(hook))
                else:
                    # its place is the file
                    files.add(hook.name)
            out.update(removals(before, after, places))
            if places:
                # a file in which no rule finds a place
                name = sorted(places)[0]
                jobs.append((name, path, pool.submit(is_named, name, path, "int nothing;\n")))
            for name, around in out.items():
                text = "\n".join(line for number, line in enumerate(lines) if number not in around)
                jobs.append((name, path, pool.submit(is_named, name, path, text)))
        for name, path, job in jobs:
            if not job.result():
                print(f"the place of {name} is not in {path} any more, but the hook is not missing")
                bad = 1
    for name in sorted(files - names_without_files()):
        print(f"the file of {name} is not there, but the hook is not missing")
        bad = 1
    left = {hook.name for hook in hooks if hook.places} - files - {name for name, _, _ in jobs}
    if left:
        print("no lines were taken out for", *sorted(left))
    print(f"note: {len(jobs) + len(files)} places of hooks were taken out, one after the other")
    return bad or bool(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
