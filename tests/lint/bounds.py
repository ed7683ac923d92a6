#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Find what can hang or crash EL2, and compare it with a list that says why it cannot: bounds.py [ROOT]

It looks at hyp/, at the lines that hyp/linux adds to the kernel, and at the header of uapi that EL2 compiles, for
  - loops, unless they are "for (i = 0; i < CONSTANT; i++)" and do not change i, and recursion
  - what spins or waits
  - what makes EL2 panic
  - locks that are taken, and assertions: how many a file has

The list is tests/lint/bounds. Print each place that is not in the list, and each entry that is not in the code. With
--list, print all places in the form of the list.
"""

import collections
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../model"))
import csource  # noqa: E402, pylint: disable=wrong-import-position

LIST = "tests/lint/bounds"

CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*|0x[0-9a-f]+|\d+")
CHANGE = re.compile(r"[-+*/%&|^]?=|<<=|>>=|\+\+|--")
WAIT = re.compile(r"smp_cond_load_\w+|(hyptrace_)?cpu_relax|wf[ei]t?|__cmpwait\w*|sched_yield|[um]?delay|spin_until_cond|"
                  r"read_poll_timeout\w*|\w*spin_is_locked|ld[al]?xr\w*|__atomic_exchange_n|try_cmpxchg\w*")
PANIC = re.compile(r"(__)?(BUG|WARN)(_\w+)?|ASM_BUG|unreachable|__builtin_(unreachable|trap)|brk|udf|abort")
# Panics only if it is called, or branched to: an event has the same name. hyptrace_panic() records that EL2 has panicked.
CALLED_PANIC = re.compile(r"(?!hyptrace_panic)\w*panic(_handler|_bad_stack)?")
LOCK = re.compile(r"hyptrace_(guard|lock|spin_lock)|(hyp|raw)_spin_lock|spin_lock\w*|\w+_lock_component")
ASSERTION = re.compile(r"hyptrace_assert_held|hyp_assert_lock_held|lockdep_assert\w*|assert")
# A branch of assembly to a label with a number before it
BACKWARD = re.compile(r"\b(b|cbn?z|tbn?z|b[.][a-z]+)\b[^\n]*?\b\d+b\b")
# An instruction that waits or traps
INSTRUCTION = re.compile(r"(?:^|[;\s])(wf[ei]t?|brk|udf|ld[al]?xr\w*)\b")


def text_of(tokens):
    """Join tokens as a person would write them."""
    text, before = "", ""
    for token in tokens:
        after_operand = re.search(r"[\w)\]]$", text) is not None
        if token in (")", "]", ",", ";", ".", "->", "++", "--", "[") or not text or text.endswith(("(", "[", ".", "->")):
            space = ""
        elif token == "(":
            space = "" if text.endswith("\0") or (after_operand and before not in ("for", "while")) else " "
        elif text.endswith("\0") and (re.match(r"\w", token) or token in ("*", "!")):
            space = ""
        else:
            space = " "
        text = text.replace("\0", "") + space + token
        # an operator with no operand before it belongs to what follows
        if token in ("*", "&", "!", "-", "~") and not after_operand:
            text += "\0"
        before = token
    return text.replace("\0", "")


def is_counted(header, body):
    """Whether this is for (i = 0; i < CONSTANT; i++) with a body that does not change i."""
    parts = csource.split(header, ";")
    if len(parts) != 3 or any(len(part) < 2 for part in parts):
        return False
    name = parts[0][0]
    if len(parts[0]) != 3 or parts[0][1] != "=" or not CONSTANT.fullmatch(parts[0][2]):
        return False
    if len(parts[1]) != 3 or parts[1][:2] not in ([name, "<"], [name, "<="]) or not CONSTANT.fullmatch(parts[1][2]):
        return False
    if parts[2] not in ([name, "++"], ["++", name]):
        return False
    for before, token, behind in zip([""] + body, body, body[1:] + [""]):
        if token == name and (before in ("++", "--", "&") or CHANGE.fullmatch(behind)):
            return False
    return True


def statement_after(tokens, at):
    """Return the tokens of the statement that begins at an index."""
    if tokens[at:at + 1] == ["{"]:
        return tokens[at:csource.closing(tokens, at) + 1]
    end = at
    while end < len(tokens) and tokens[end] != ";":
        end = csource.closing(tokens, end) + 1 if tokens[end] in csource.OPENING else end + 1
    return tokens[at:end]


def loops_of(tokens):
    """Yield the loops of a function, or of a part of one."""
    labels, ends_of_do = set(), set()
    for at, token in enumerate(tokens):
        if tokens[at + 1:at + 2] == [":"] and re.fullmatch(r"[a-z_]\w*", token) and tokens[at - 1:at] != ["?"]:
            labels.add(token)
        elif token == "goto" and tokens[at + 1] in labels:
            yield f"goto {tokens[at + 1]}"
        elif token == "do" and tokens[at + 1:at + 2] == ["{"]:
            end = csource.closing(tokens, at + 1) + 1
            ends_of_do.add(end)
            condition = tokens[end + 2:csource.closing(tokens, end + 1)] if tokens[end:end + 1] == ["while"] else ["?"]
            if condition != ["0"]:
                yield f"do while ({text_of(condition)})"
        elif token == "do":
            yield "do without braces"
        elif token in ("for", "while") and tokens[at + 1:at + 2] == ["("] and at not in ends_of_do:
            end = csource.closing(tokens, at + 1)
            if token == "while" or not is_counted(tokens[at + 2:end], statement_after(tokens, end + 1)):
                yield text_of(tokens[at:end + 1])
        elif re.fullmatch(r"(hyptrace_|list_|hyp_)*for_each\w*", token) and tokens[at + 1:at + 2] == ["("]:
            yield text_of(tokens[at:csource.closing(tokens, at + 1) + 1])


def regions_of(text):
    """Yield the functions and macros of C text, as a name and tokens. "-" is what is outside of all."""
    text = csource.without_comments(text).replace("\\\n", " ")
    outside = []
    for line in re.findall(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+(?:\([^()]*\))?.*)$", text):
        name = re.match(r"\w+", line).group()
        yield name, csource.tokens_of(re.sub(r"^\w+(\([^()]*\))?", "", line))
    tokens = csource.tokens_of(re.sub(r"(?m)^[ \t]*#.*$", "", text))
    at = 0
    while at < len(tokens):
        if tokens[at] == "(" and at and re.match(r"[A-Za-z_]", tokens[at - 1]):
            end = csource.closing(tokens, at)
            if tokens[end + 1:end + 2] == ["{"]:
                last = csource.closing(tokens, end + 1)
                yield re.sub(r"\s", "", tokens[at - 1]), tokens[end + 2:last]
                at = last + 1
                continue
        outside.append(tokens[at])
        at += 1
    yield "-", outside


def regions_of_assembly(text):
    """Yield the functions of an assembly file, as a name and tokens: a branch back to a name or a number is a loop."""
    name, found = "-", collections.defaultdict(list)
    seen = set()
    for line in csource.without_comments(text).split("\n"):
        start = re.match(r"\s*SYM_\w*START\w*\((\w+)\)", line)
        name = start.group(1) if start else name
        label = re.match(r"\s*(\w+):", line)
        if label:
            seen.add(label.group(1))
        branch = re.search(r"\bb(?:[.]\w+)?\s+(\w+)$|\b[ct]bn?z\s.*?(\w+)$", line.strip())
        target = branch and (branch.group(1) or branch.group(2))
        if target and (target in seen or re.fullmatch(r"\d+b", target)):
            found[name] += ["while", "(", line.strip(), ")", ";"]
        found[name] += csource.tokens_of(line)
    return found.items()


def regions_of_rules(path, text):
    """Yield what the rules of a file add to the kernel, by the name of the hook or the rule."""
    name, found = "-", collections.defaultdict(str)
    for line in text.split("\n"):
        head = re.match(r"//# hook (\w+)|hook (\w+)|@(\w+)(?: depends[^@]*)?@$", line)
        if head:
            name = head.group(1) or head.group(2) or head.group(3)
        added = re.match(r"\t(.*)" if path.endswith(".hooks") else r"\+(.*)", line)
        if added:
            found[name] += re.sub(r"^[.]$", "", added.group(1)) + "\n"
    for name, added in found.items():
        tokens = []
        for _, part in regions_of(added):
            tokens += part
        yield name, tokens


def places_of(path, text):
    """Return how often each place is in a file, as (function, what)."""
    if "/linux/" in path and path.startswith("hyp/"):
        regions = regions_of_rules(path, text)
    elif path.endswith(".S"):
        regions = regions_of_assembly(text)
    else:
        regions = regions_of(text)
    found, calls = collections.Counter(), {}
    for name, tokens in regions:
        found.update((name, what) for what in loops_of(tokens))
        words = list(zip([""] + tokens, tokens, tokens[1:] + [""]))
        for token in tokens:
            # the instructions of asm()
            if token.startswith('"'):
                code = token[1:-1].replace("\\n", "\n").replace("\\t", " ")
                found.update((name, f"asm: {branch.group()}") for branch in BACKWARD.finditer(code))
                words += [("", word, "") for word in INSTRUCTION.findall(code)]
        calls.setdefault(name, set()).update(word for _, word, behind in words if behind == "(")
        for before, word, behind in words:
            is_called = behind == "(" or before in ("b", "bl")
            if WAIT.fullmatch(word) or PANIC.fullmatch(word) or (is_called and CALLED_PANIC.fullmatch(word)):
                found[name, word] += 1
            elif name != "-" and behind == "(" and (LOCK.fullmatch(word) or ASSERTION.fullmatch(word)):
                found["-", word] += 1
    for name in calls:
        if name != "-" and is_recursive(name, calls):
            found[name, "recursion"] += 1
    return found


def is_recursive(name, calls):
    """Whether a function of a file calls itself, maybe by way of other functions of the file."""
    seen, left = set(), list(calls[name])
    while left:
        called = left.pop()
        if called == name:
            return True
        if called in calls and called not in seen:
            seen.add(called)
            left += calls[called]
    return False


def all_places(root):
    """Return all places of the tree: (file, function, what) with how often."""
    found = collections.Counter()
    paths = [path for pattern in ("hyp/*.[chS]", "hyp/function/*.[chS]", "hyp/linux/*")
             for path in sorted(glob.glob(os.path.join(root, pattern)))]
    for path in paths + [os.path.join(root, "uapi/linux/hyptrace_record.h")]:
        with open(path, encoding="utf-8") as file:
            name = os.path.relpath(path, root)
            for (function, what), times in places_of(name, file.read()).items():
                found[name, function, what] = times
    return found


def read_list(root):
    """Return the entries of the list, with how often each one is allowed, and what is wrong with the list."""
    allowed, wrong, where, entry = collections.Counter(), [], None, None
    reasons = {}
    with open(os.path.join(root, LIST), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            depth = len(line) - len(line.lstrip("\t"))
            if depth == 0 and len(line.split()) == 2:
                where = tuple(line.split())
            elif depth == 1 and where:
                what, times = re.fullmatch(r"\t(.*?)(?: \((\d+) times\))?", line).groups()
                entry = (*where, what)
                if entry in allowed:
                    wrong.append(f"{LIST}:{number}: it is there twice: {line.strip()}")
                allowed[entry] += int(times or 1)
                reasons[entry] = ""
            elif depth == 2 and entry:
                reasons[entry] += line.strip()
            else:
                wrong.append(f"{LIST}:{number}: not \"FILE FUNCTION\", a place after one tab or a reason after two: {line}")
    wrong += [f"{LIST}: there is no reason for {' '.join(entry)}" for entry, reason in reasons.items() if len(reason) < 15]
    return allowed, wrong


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    root = arguments[0] if arguments else os.path.join(HERE, "../..")
    found = all_places(root)
    if "--list" in sys.argv:
        where = None
        for (path, function, what), times in found.items():
            if (path, function) != where:
                print(f"\n{path} {function}")
                where = (path, function)
            print(f"\t{what}" + (f" ({times} times)" if times > 1 else ""))
        return 0
    allowed, wrong = read_list(root)
    for entry in sorted(set(found) | set(allowed)):
        place = "{}: {}: {}".format(*entry)
        if not allowed[entry]:
            wrong.append(f"{place}: say in {LIST} why it cannot hang or crash EL2")
        elif not found[entry]:
            wrong.append(f"{place}: it is in {LIST}, but no longer in the code")
        elif found[entry] != allowed[entry]:
            wrong.append(f"{place}: {found[entry]} times in the code, {allowed[entry]} times in {LIST}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
