#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put the hooks of hyptrace into files of a kernel tree, as the rules in hyp/linux describe them.

  hooks.py files             print the files that have hooks in some tree, or are probed
  hooks.py check TREE        say where each hook belongs in the tree, and change nothing
  hooks.py patch TREE        add the hooks, the header and the link drivers/hyptrace to a user's tree, or update them
  hooks.py undo TREE         take all that out again
  hooks.py apply DIR [CACHE] add the hooks and the header to the files in DIR, which are copies of original ones

A hook is described by a line before its rule, in *.cocci with "//#" in front of it:

  hook NAME FILE NEED [if REGEX | unless REGEX]: WHAT IT LOOKS FOR

FILE without a folder is in arch/arm64/kvm/hyp/nvhe. NEED is "required", or the event that EL2 cannot record without the
hook, or "guest_memory", or "-". With "if", the hook is needed only if the file has a line that matches. The added code
names its hook: in "hyptrace_cpu_on__at_psci_entry();" the part from "__at_" on is removed, and says that the hook
psci_entry was found. A name may occur in several rules, for several kinds of trees.

The generated header says what the tree has (probes), and what is missing. The exit code is 2 if a required hook has no
place; nothing is changed then.
"""

import concurrent.futures
import difflib
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

REPO = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
RULES = os.path.join(REPO, "hyp/linux")
NVHE = "arch/arm64/kvm/hyp/nvhe/"
HEADER = "arch/arm64/include/asm/hyptrace_tree.h"
LINK = "drivers/hyptrace"
# What "undo" needs, in the user's tree: {file: [original text, text before the last change, text with hooks]}, where null is
# no file. It is written first, so that "patch" and "undo" can continue what was interrupted. .gitignore of the kernel
# ignores it.
STATE = ".hyptrace"
MARK = re.compile(r"__at_([a-z0-9_]+)")


class Refused(Exception):
    """What was asked for is not possible; nothing was changed."""


class Hook:
    """A hook, and after hook_files() where it went: (file, line, function)."""

    def __init__(self, name, files, need, condition, looks_for):
        self.name, self.files, self.need = name, files, need
        self.condition, self.looks_for = condition, looks_for
        self.ops, self.places, self.needed, self.because = [], [], False, ""


def full_path(name):
    return name if "/" in name else NVHE + name


def read_hook(line, where):
    found = re.match(r"hook ([a-z0-9_]+) (\S+) (\S+)(?: (if|unless) (.+?))?: (.+)", line)
    if not found:
        raise Refused(f"{where}: \"{line}\" is not understood")
    name, files, need, kind, regex, looks_for = found.groups()
    condition = (kind == "if", re.compile(regex, re.M)) if kind else None
    return Hook(name, [full_path(file) for file in files.split(",")], need, condition, looks_for)


def read_rules(folder=RULES):
    """Return the hooks, the probes and {file: [semantic patch]}."""
    hooks, probes, patches = [], [], {}
    for path in sorted(glob.glob(os.path.join(folder, "*.cocci"))):
        with open(path, encoding="utf-8") as rules:
            for number, line in enumerate(rules, 1):
                if line.startswith("//# "):
                    hook = read_hook(line[4:].strip(), f"{path}:{number}")
                    hooks.append(hook)
                    if path not in patches.setdefault(hook.files[0], []):
                        patches[hook.files[0]].append(path)
    path = os.path.join(folder, "files.hooks")
    with open(path, encoding="utf-8") as rules:
        for number, line in enumerate(rules, 1):
            line = line.rstrip("\n")
            op = line.split(" ", 1)
            if line.startswith("\t"):
                hooks[-1].ops[-1][2].append("" if line == "\t." else line[1:])
            elif op[0] == "hook":
                hooks.append(read_hook(line, f"{path}:{number}"))
            elif op[0] == "probe":
                name, file, regex = op[1].split(" ", 2)
                probes.append((name, full_path(file), re.compile(regex, re.M)))
            elif op[0] in ("before", "after", "change", "include", "append"):
                hooks[-1].ops.append((op[0], op[1] if len(op) > 1 else "", []))
            elif line and not line.startswith("#"):
                raise Refused(f"{path}:{number}: \"{line}\" is not understood")
    return hooks, probes, patches


def files_to_read():
    """Return the files that have hooks in some tree, and those that are probed."""
    hooks, probes, _ = read_rules()
    return sorted({file for hook in hooks for file in hook.files} | {probe[1] for probe in probes})


def read_file(root, path):
    """Return the text of a file of the tree, or None."""
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_file(root, path, text):
    """Replace a file, or remove it if the text is None: hard links to it keep the old contents, and a link stays."""
    path = os.path.realpath(os.path.join(root, path))
    if text is None:
        if os.path.lexists(path):
            os.unlink(path)
        return
    folder, name = os.path.split(path)
    new = os.path.join(folder, f".{name}.hyptrace")
    os.makedirs(folder, exist_ok=True)
    try:
        with open(new, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        if os.path.exists(path):
            shutil.copymode(path, new)
        os.replace(new, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        if os.path.lexists(new):
            os.unlink(new)


def run_spatch(patch, text, suffix):
    """Return the text, changed by a semantic patch. A rule that cannot be applied is left out."""
    rules = read_file("", patch)
    with tempfile.TemporaryDirectory() as work:
        before, after = os.path.join(work, "before" + suffix), os.path.join(work, "after" + suffix)
        write_file(work, "before" + suffix, text)
        while True:
            write_file(work, "rules.cocci", rules)
            ran = subprocess.run(["spatch", "--very-quiet", "--no-includes", "--no-show-diff", "--max-width", "200",
                                  "--sp-file", "rules.cocci", "-o", after, before], cwd=work, text=True,
                                 errors="replace", stdin=subprocess.DEVNULL, capture_output=True, check=False)
            if not ran.returncode:
                return read_file(work, "after" + suffix) or text
            said = ran.stderr + ran.stdout
            # no rule has found its place
            if "there are no modified files" in said:
                return text
            failed = re.search(r"rule starting on line (\d+): node", said)
            rest = without_hook(rules, int(failed.group(1))) if failed else rules
            if rest == rules:
                raise Refused(f"spatch cannot apply {os.path.relpath(patch, REPO)}:\n{said.strip()[-2000:]}")
            rules = rest


def without_hook(rules, number):
    """Return the rules with empty lines instead of those of the hook that has this line."""
    lines = rules.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("//# hook")] + [len(lines)]
    for begin, end in zip(starts, starts[1:]):
        if begin < number <= end:
            lines[begin:end] = [""] * (end - begin)
    return "\n".join(lines)


def include_line(path, header):
    up = "../" * (path.count("/"))
    return f'#include "{up}{LINK}/hyp/{header}"'


def add_include(lines, path, header, mark=""):
    """Add an #include after the last one that is not conditional."""
    depth, last = 0, None
    for number, (line, _) in enumerate(lines):
        if re.match(r"#\s*if", line) and not (number < 40 and re.match(r"#\s*ifndef __\w+_H", line)):
            depth += 1
        elif re.match(r"#\s*endif", line):
            depth -= 1
        elif re.match(r"#\s*include\b", line) and depth <= 0:
            last = number
    if last is None:
        return False
    lines[last + 1:last + 1] = [("", ""), (include_line(path, header), mark)]
    return True


def apply_op(lines, path, hook, op, argument, added):
    """Apply one operation of files.hooks to [(line, hook name)]; return whether it had a place."""
    if op == "append":
        lines += [(line, hook.name) for line in added]
        return True
    if op == "include":
        header, regex = argument.split(" if ")
        return bool(re.search(regex, "\n".join(line for line, _ in lines))) and \
            add_include(lines, path, header, hook.name)
    each = argument.startswith("each ")
    regex = re.compile(argument[5:] if each else argument)
    found = [number for number, (line, _) in enumerate(lines) if regex.search(line)]
    if not found or (len(found) > 1 and not each):
        return False
    for number in reversed(found):
        new = [(regex.sub(line, lines[number][0]) if op == "change" and "\\" in line else line, hook.name)
               for line in added]
        if op == "before":
            lines[number:number] = new
        elif op == "after":
            lines[number + 1:number + 1] = new
        else:
            lines[number:number + 1] = new
    return True


def function_at(lines, number):
    """Return the name of the function, struct, enum or table around a line, or an empty string."""
    for line in (line for line, _ in reversed(lines[:number])):
        if line.startswith("}"):
            break
        found = re.match(r"(?:struct|enum|union) (\w+) \{", line) or re.match(r"#\s*define (\w+).*\\$", line) or \
            re.match(r"[A-Za-z_][^;=#]*?(\w+)\s*\([^;]*$", line) or re.match(r"[A-Za-z_].*?(\w+)\[.*= \{$", line)
        if found and not re.match(r"\s*(source|endmenu|obj|hyp-obj)", line):
            return found.group(1)
    return ""


def hook_file(root, path, hooks, patches):
    """Return the text of one file with its hooks, and record in the hooks where they went."""
    text = original = read_file(root, path)
    if text is None:
        return None, None
    if "hyptrace" in text:
        raise Refused(f"{path} has the word hyptrace already, but patch-tree has no {STATE} of it: take the "
                      f"hooks out first, for example by git checkout -- {path}")
    if "\r" in text:
        raise Refused(f"{path} has carriage returns: check the tree out with the line ends of Linux")
    for hook in hooks:
        found = hook.condition and hook.condition[1].search(text)
        if not hook.condition or bool(found) == hook.condition[0]:
            hook.needed = True
            hook.because = f' ("{found.group(0).partition(chr(10))[0].strip()}")' if found else ""
    for patch in patches.get(path, []):
        text = run_spatch(patch, text, os.path.splitext(path)[1])
    lines = [(MARK.sub("", line), (MARK.findall(line) or [""])[0]) for line in text.removesuffix("\n").split("\n")]
    named = {hook.name: hook for hook in hooks}
    for name in {name for _, name in lines if name} - set(named):
        raise Refused(f"a rule for {path} names the hook {name}, which has no line \"//# hook\"")
    calls = any("hyptrace_" in line or "hyptrace(" in line for line, name in lines if name)
    for hook in hooks:
        if hook.ops and hook.needed:
            trial = list(lines)
            if all(apply_op(trial, path, hook, *op) for op in hook.ops):
                lines = trial
                calls = calls or any("hyptrace_smc" in line for op in hook.ops for line in op[2])
    if calls and path.endswith((".c", "arm-smccc.h")) and not any("drivers/hyptrace" in line for line, _ in lines):
        add_include(lines, path, "hooks.h")
    for number, (_, name) in enumerate(lines):
        if name and not (number and lines[number - 1][1] == name):
            named[name].places.append((path, number + 1, function_at(lines, number)))
    if not any(name for _, name in lines):
        return original, original
    return original, "\n".join(line for line, _ in lines) + "\n"


def make_header(hooks, probes, root):
    """Return the text of the generated header."""
    has = [name for name, path, regex in probes if regex.search(read_file(root, path) or "")]
    placed = sorted({hook.name for hook in hooks if hook.places})
    lacks = sorted({hook.need for hook in missing_hooks(hooks) if hook.need not in ("required", "-")})
    lines = ["/* SPDX-License-Identifier: GPL-2.0-only */",
             "/* Generated by hyptrace's \"make patch-tree\": what this tree has, and the hooks in it */",
             "#ifndef __ASM_HYPTRACE_TREE_H", "#define __ASM_HYPTRACE_TREE_H", ""]
    lines += [f"#define HYPTRACE_TREE_{name}" for name in has]
    lines += [f"#define HYPTRACE_HOOK_{name}" for name in placed]
    lines += ["", "/* what cannot be recorded */",
              "#define HYPTRACE_TREE_LACKS(what)" + "".join(f" what({name})" for name in lacks)]
    return "\n".join(lines + ["", "#endif", ""])


def missing_hooks(hooks):
    """Return the hooks that are needed and have no place; of those with the same name, the first."""
    missing = {}
    for hook in hooks:
        others = [other for other in hooks if other.name == hook.name]
        if any(other.places for other in others) or not any(other.needed for other in others):
            continue
        missing.setdefault(hook.name, hook)
    return list(missing.values())


def hook_tree(root):
    """Return the hooks and {file: (original text, text with the hooks)} of a tree without hooks."""
    hooks, probes, patches = read_rules()
    for hook in hooks:
        # A file that does not exist cannot have a condition that is met.
        hook.needed = not hook.condition and not any(os.path.exists(os.path.join(root, file)) for file in hook.files)
    texts = {}
    paths = sorted({file for hook in hooks for file in hook.files})
    # Of hooks with the same name, the first that fits counts: its file comes first.
    later = {file for number, hook in enumerate(hooks) for file in hook.files
             if any(other.name == hook.name and other.files != hook.files for other in hooks[:number])}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for batch in ([path for path in paths if path not in later], [path for path in paths if path in later]):
            names = {hook.name for hook in hooks if hook.places}
            jobs = {path: pool.submit(hook_file, root, path,
                                      [hook for hook in hooks if path in hook.files and
                                       (path not in later or hook.name not in names)], patches)
                    for path in batch}
            for path, job in jobs.items():
                texts[path] = job.result()
    changed = {path: pair for path, pair in texts.items() if pair[0] is not None and pair[0] != pair[1]}
    changed[HEADER] = (None, make_header(hooks, probes, root))
    return hooks, changed


def say_places(hooks):
    """Print where each hook went; return the required ones that are missing."""
    for hook in hooks:
        for path, line, function in hook.places:
            print(f"{hook.name}: {path}:{line}" + (f" in {function}" if function else ""))
    missing = missing_hooks(hooks)
    for hook in missing:
        if hook.need == "-":
            print(f"{hook.name}: not in this tree, and not needed")
            continue
        what = {"required": "is required", "guest_memory":
                "is missing: memory of guests is not followed"}.get(hook.need, f"is missing: this kernel has no event {hook.need}")
        print(f"{hook.name}: NOT FOUND in {', '.join(hook.files)}: {hook.looks_for}{hook.because}. It {what}",
              file=sys.stderr)
    return [hook for hook in missing if hook.need == "required"]


def check_path(root, path):
    """Refuse a file that is not in the tree: what the tree itself says of its files is not trusted."""
    inside = os.path.realpath(os.path.join(root, path)).startswith(root.rstrip("/") + "/")
    if not inside or os.path.normpath(path) != path:
        raise Refused(f"{os.path.join(root, path)} is not a file of this tree: nothing was changed")


def original_text(root, path, known):
    """Return the text of a file without the hooks, but with what the user has changed."""
    original, before, hooked = known
    now = read_file(root, path)
    if now in (original, before, hooked):
        return original
    # Another version, as git checks it out
    if now is not None and "hyptrace" not in now:
        return now
    if None in (now, original, hooked):
        raise Refused(f"{path} was changed, removed or added since the hooks were added: undo that first")
    with tempfile.TemporaryDirectory() as work:
        for name, text in (("now", now), ("hooked", hooked), ("original", original)):
            write_file(work, name, text)
        ran = subprocess.run(["diff3", "-a", "-E", "-m", "now", "hooked", "original"], cwd=work, check=False,
                             capture_output=True, encoding="utf-8", errors="surrogateescape")
        if not ran.returncode:
            return ran.stdout
    said = "\n".join(difflib.unified_diff(hooked.split("\n"), now.split("\n"), "with hooks", "now", "", "", 1, ""))
    raise Refused(f"{path} was changed at the hooks since they were added, so they cannot be taken out. Undo such "
                  f"changes first:\n{said}".encode(errors="replace").decode())


def read_state(root):
    """Return {file: text without hooks} of the files that patch-tree has changed; None if it has changed nothing."""
    for path in [STATE, os.path.dirname(LINK), HEADER] + files_to_read():
        check_path(root, path)
    text = read_file(root, STATE)
    if text is None:
        return None
    try:
        state = {path: (original, before, hooked) for path, (original, before, hooked) in json.loads(text).items()}
        if any(not isinstance(text, (str, type(None))) for known in state.values() for text in known):
            raise ValueError("a text is missing")
    except (AttributeError, TypeError, ValueError) as error:
        raise Refused(f"{os.path.join(root, STATE)} is damaged ({error}): take the hooks out by hand") from error
    for path in state:
        check_path(root, path)
    return {path: original_text(root, path, known) for path, known in state.items()}


def is_ours(link):
    return os.path.realpath(link) == os.path.realpath(REPO)


def patch_tree(root, only_check):
    originals = read_state(root)
    link = os.path.join(root, LINK)
    if os.path.lexists(link) and not (os.path.islink(link) and (originals is not None or is_ours(link))):
        raise Refused(f"{link} is there already, and patch-tree has not made it: nothing was changed")
    if os.path.exists(os.path.join(root, HEADER)) and originals is None:
        raise Refused(f"{root} has a file {HEADER} already: nothing was changed. If patch-tree has made it, but {STATE} "
                      "was lost, remove both it and the hooks, for example by git")
    wanted = dict(originals or {})
    with tempfile.TemporaryDirectory() as work:
        for path in files_to_read():
            text = wanted.get(path, read_file(root, path))
            if text is not None:
                write_file(work, path, text)
        hooks, changed = hook_tree(work)
    if say_places(hooks):
        raise Refused(f"required hooks have no place in {root}, see above: nothing was changed")
    if only_check:
        print(f"All required hooks have a place in {root}; nothing was changed")
        return
    state = {path: (text, read_file(root, path), text) for path, text in wanted.items()}
    state |= {path: (before, read_file(root, path), after) for path, (before, after) in changed.items()}
    write_file(root, STATE, json.dumps(state))
    for path, (_, now, after) in sorted(state.items()):
        if now != after:
            write_file(root, path, after)
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(REPO, link)
    is_new = originals is not None and any(now != after for _, now, after in state.values())
    print(f"{root} has {'new' if is_new else 'the'} hooks, and {LINK}. "
          "Configure it with CONFIG_HYPTRACE=m and CONFIG_HYPTRACE_PKVM=m")


def undo_tree(root):
    originals = read_state(root)
    if originals is None:
        raise Refused(f"{root} has no hooks that patch-tree has added, or their record {STATE} was lost")
    for path, text in sorted(originals.items()):
        if text != read_file(root, path):
            write_file(root, path, text)
    if os.path.islink(os.path.join(root, LINK)):
        os.unlink(os.path.join(root, LINK))
    write_file(root, STATE, None)
    print(f"{root} has no hooks any more")


def apply_to(root, cache):
    """Add the hooks to the files in a folder. A cache keeps the results of the last runs."""
    sources = [os.path.abspath(__file__)] + sorted(glob.glob(os.path.join(RULES, "*")))
    sources += [os.path.join(root, file) for file in files_to_read()]
    digest = hashlib.sha256()
    for path in sources:
        digest.update((read_file("", path) or "").encode(errors="surrogateescape") + b"\0")
    kept = os.path.join(cache, digest.hexdigest()[:24]) if cache else None
    if kept and os.path.isdir(kept):
        os.utime(kept)
        shutil.copytree(kept, root, dirs_exist_ok=True)
        return
    hooks, changed = hook_tree(root)
    if say_places(hooks):
        raise Refused("required hooks have no place, see above")
    for path, (_, after) in changed.items():
        write_file(root, path, after)
    if kept:
        for path, (_, after) in changed.items():
            write_file(kept + ".new", path, after)
        shutil.rmtree(kept, ignore_errors=True)
        os.replace(kept + ".new", kept)
        for old in sorted(glob.glob(os.path.join(cache, "*")), key=os.path.getmtime)[:-16]:
            shutil.rmtree(old)


def main(arguments):
    verb, *rest = arguments or [""]
    try:
        if verb == "files" and not rest:
            print("\n".join(files_to_read()))
        elif verb in ("check", "patch") and len(rest) == 1:
            patch_tree(os.path.realpath(rest[0]), verb == "check")
        elif verb == "undo" and len(rest) == 1:
            undo_tree(os.path.realpath(rest[0]))
        elif verb == "apply" and len(rest) in (1, 2):
            apply_to(rest[0], rest[1] if len(rest) > 1 else None)
        else:
            print(__doc__.strip(), file=sys.stderr)
            return 1
    except Refused as reason:
        print(f"hooks.py: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hooks.py: interrupted: run it again, to add the hooks or to undo", file=sys.stderr)
        return 130
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename == "spatch":
            error = "the program spatch is missing: install the package coccinelle"
        named = isinstance(error, OSError) and error.filename
        print(f"hooks.py: {error.filename}: {error.strerror}" if named else f"hooks.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
