# SPDX-License-Identifier: GPL-2.0-only
"""The accesses and barriers of a C function, in the order of one path through it. Used by extract.py and weaken.py."""

import os
import re

from csource import OPENING, closing, functions_of, split

FENCES = {"smp_mb", "smp_rmb", "smp_wmb"}
LOADS = {"READ_ONCE", "smp_load_acquire", "__atomic_load_n"}
STORES = {"WRITE_ONCE", "smp_store_release", "__atomic_store_n"}
C11 = {"__ATOMIC_RELAXED": "once", "__ATOMIC_ACQUIRE": "acquire", "__ATOMIC_RELEASE": "release"}
C11_FENCES = {"__ATOMIC_ACQUIRE": "smp_rmb", "__ATOMIC_RELEASE": "smp_wmb", "__ATOMIC_SEQ_CST": "smp_mb"}
LOCKS = {"hyptrace_lock": "spin_lock", "hyptrace_unlock": "spin_unlock",
         "mutex_lock": "spin_lock", "mutex_unlock": "spin_unlock"}
GUARDS = {"hyptrace_guard": "hyptrace_lock", "guard(mutex)": "mutex_lock"}
ACCESSES = FENCES | LOADS | STORES | set(LOCKS) | {"__atomic_thread_fence", "hyptrace_guard", "guard"}
NO_ACCESS = {"sizeof", "offsetof", "offsetofend", "typeof", "static_assert"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
TYPES = re.compile(r"struct|union|enum|const|volatile|void|bool|char|short|int|long|unsigned|signed|__force|"
                   r"__iomem|__user|[us](8|16|32|64)|__[us](8|16|32|64)|u?int(8|16|32|64)_t|size_t|\*")
WORD = re.compile(r"[A-Za-z_]\w*")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Mismatch(Exception):
    """The template does not fit the code."""


def order_of(orders, tokens):
    order = "".join(tokens)
    if order not in orders:
        raise Mismatch(f"accesses.py does not know the memory order {order}")
    return orders[order]


class Code:
    """The functions of a tree, folder by folder."""

    def __init__(self, root):
        self.root = root
        self.files = {}
        self.folders = {}

    def changed(self, path, text):
        """Return the same code, but with another text in one file."""
        code = Code(self.root)
        code.files = self.files | {path: functions_of(path, text)}
        return code

    def functions(self, path):
        if path not in self.files:
            self.files[path] = functions_of(path, read(f"{self.root}/{path}"))
        return self.files[path]

    def folder(self, path):
        folder = os.path.dirname(path)
        if folder not in self.folders:
            found = self.folders[folder] = {}
            for name in sorted(os.listdir(f"{self.root}/{folder}")):
                # env*.h would define the same functions once for each environment
                if name.endswith((".c", ".h")) and not name.startswith("env"):
                    for function in self.functions(f"{folder}/{name}").values():
                        found.setdefault(function.name, []).append(function)
        return self.folders[folder]

    def find(self, path, name):
        """Find a function by name: in the file, or else in the folder if the name is unique there."""
        found = self.folder(path).get(name, [])
        here = [function for function in found if function.path == path]
        return here[0] if here else found[0] if len(found) == 1 else None


class Walk:
    """One path through a function. It avoids early returns, takes the branch that has accesses, and runs each loop once.

    A subclass implements find(), which lists the entries that match an access. The result is in "events", tuples of a
    kind, what find() returned, the memory order, and the text of what is accessed.
    """

    def __init__(self, code, path, name, branches, names):
        self.code = code
        self.branches = branches
        self.unused = set(branches)
        self.names = names
        self.touching = {}
        self.events = []
        self.guards = []
        function = code.find(path, name)
        if not function or function.path != path:
            raise Mismatch("the code has no such function")
        self.stack = [name, path]
        self.run_all(function.statements)

    def find(self, kind, text):
        raise NotImplementedError

    def access(self, kind, text, order):
        self.events += [(kind, found, order, text) for found in self.find(kind, text)]

    # Statements

    def touches(self, function):
        """Whether a function, or one that it calls, may have accesses that matter here."""
        if function.name not in self.touching:
            self.touching[function.name] = False
            words = set(function.text)
            calls = (self.code.find(function.path, word) for word in words)
            self.touching[function.name] = bool(
                words & (self.names | ACCESSES)
            ) or any(call and self.touches(call) for call in calls)
        return self.touching[function.name]

    def would_access(self, statement):
        events, unused = self.events, set(self.unused)
        self.events = []
        self.run(statement)
        found = any(event[0] != "fence" for event in self.events)
        self.events, self.unused = events, unused
        return found

    def leaves(self, statement):
        if statement[0] == "block":
            return bool(statement[1]) and self.leaves(statement[1][-1])
        return statement[0] in ("return", "goto", "break", "continue")

    def choose(self, condition, then, other):
        text = "".join(condition)
        if text in self.branches:
            self.unused.discard(text)
            return then if self.branches[text] else other
        if self.leaves(then) != self.leaves(other):
            return other if self.leaves(then) else then
        return then if self.would_access(then) or not self.would_access(other) else other

    def run_all(self, statements):
        """Run the statements of a block, then unlock its guards; return the statement that has left it early, or None."""
        outer, self.guards = self.guards, []
        left = self.run_each(statements)
        for lock in reversed(self.guards):
            self.access("lock", lock, "spin_unlock")
        self.guards = outer
        return left

    def run_each(self, statements):
        label = None
        for statement in statements:
            if label:
                if statement == ("label", label):
                    label = None
                continue
            left = self.run(statement)
            if left and left[0] == "goto" and ("label", left[1][0]) in statements:
                label = left[1][0]
            elif left:
                return left
        return None

    def run(self, statement):
        kind = statement[0]
        if kind == "expression":
            self.walk(statement[1])
        elif kind == "block":
            return self.run_all(statement[1])
        elif kind == "if":
            self.walk(statement[1])
            return self.run(self.choose(*statement[1:]))
        elif kind == "loop":
            for part in split(statement[1], ";"):
                self.walk(part)
            left = self.run(statement[2])
            if left and left[0] in ("return", "goto"):
                return left
            self.walk(statement[3])
        elif kind != "label":
            self.walk(statement[1] if kind == "return" else [])
            return statement
        return None

    # Expressions

    def walk(self, tokens):
        for part in split(tokens):
            depth = 0
            for i, token in enumerate(part):
                depth += (token in OPENING) - (token in OPENING.values())
                if depth == 0 and token in ASSIGNMENTS:
                    self.walk(part[i + 1:])
                    self.assign(part[:i], token != "=")
                    break
            else:
                self.scan(part, True)

    def assign(self, tokens, also_load):
        if tokens[:1] == ["."]:
            return
        texts = self.scan(tokens, False)
        if texts and also_load:
            self.access("load", texts[-1], "plain")
        if texts:
            self.access("store", texts[-1], "plain")

    def scan(self, tokens, load):
        """Return the texts of what is accessed, in order. Without @load the caller records the accesses."""
        texts, i = [], 0
        while i < len(tokens):
            token = tokens[i]
            if token == "{":
                end = closing(tokens, i)
                self.walk(tokens[i + 1:end])
                i = end + 1
                continue
            before = tokens[i - 1] if i else ""
            unary = not (WORD.fullmatch(before) or before in (")", "]")) or before == "return"
            start = i
            if token in ("&", "*") and unary or token in ("++", "--"):
                i += 1
                while i < len(tokens) and tokens[i] in ("&", "*"):
                    i += 1
            if i >= len(tokens) or not (tokens[i] == "(" or WORD.fullmatch(tokens[i].replace("##", ""))):
                i = max(i, start + 1)
                continue
            # skip a cast
            if tokens[i] == "(" and self.is_type(tokens[i + 1:closing(tokens, i)]):
                i = closing(tokens, i) + 1
                continue
            text, end = self.primary(tokens, i)
            if tokens[end:end + 1] in (["++"], ["--"]):
                self.access("store", text, "plain")
            for sign in reversed([t for t in tokens[start:i] if t in ("&", "*")]):
                text = self.apply(sign, text)
            if text and not text.startswith("&"):
                if load:
                    self.access("load", text, "plain")
                if tokens[start] in ("++", "--"):
                    self.access("store", text, "plain")
                texts.append(text)
            i = end
        return texts

    @staticmethod
    def is_type(tokens):
        return bool(tokens) and (tokens[0] in ("struct", "union", "enum", "typeof") or
                                 all(TYPES.fullmatch(token) for token in tokens) or
                                 tokens[-1] == "*" and all(WORD.fullmatch(t) for t in tokens[:-1]))

    @staticmethod
    def apply(sign, text):
        other = {"&": "*", "*": "&"}[sign]
        return text[1:] if text.startswith(other) else sign + text if text else ""

    def lvalue(self, tokens):
        """Return the text of an object or an address; record the loads that are needed to find it."""
        if tokens and tokens[0] in ("&", "*"):
            return self.apply(tokens[0], self.lvalue(tokens[1:]))
        if tokens and tokens[0] == "(":
            end = closing(tokens, 0)
            if end == len(tokens) - 1:
                return self.lvalue(tokens[1:end])
            if self.is_type(tokens[1:end]):
                return self.lvalue(tokens[end + 1:])
        if tokens and (tokens[0] == "(" or WORD.fullmatch(tokens[0])):
            events = list(self.events)
            text, end = self.primary(tokens, 0)
            if end == len(tokens):
                return text
            self.events = events
        self.walk(tokens)
        return "(" + "".join(tokens) + ")"

    def primary(self, tokens, i):
        """Parse a named object; return its text and the index after it."""
        if tokens[i] == "(":
            end = closing(tokens, i)
            text = self.lvalue(tokens[i + 1:end])
        else:
            end = i
            text = tokens[i]
        i = end + 1
        while i < len(tokens):
            if tokens[i] in ("->", "."):
                text = f"{text.lstrip('&*')}.{tokens[i + 1]}"
                i += 2
            elif tokens[i] == "[":
                end = closing(tokens, i)
                self.walk(tokens[i + 1:end])
                text = f"{text.lstrip('&')}[{''.join(tokens[i + 1:end])}]"
                i = end + 1
            elif tokens[i] == "(":
                end = closing(tokens, i)
                text = self.call(text, split(tokens[i + 1:end]), tokens[i:end + 1])
                i = end + 1
            else:
                break
            if i < len(tokens) and tokens[i] in ("->", "["):
                # a pointer to the object: it must be loaded
                self.access("load", text, "plain")
        return text, i

    def pointed(self, tokens):
        return self.apply("*", self.lvalue(tokens))

    def call(self, name, args, text):
        """Record the accesses of a call; return the text that stands for its result."""
        result = name + "".join(text)
        if name in FENCES:
            self.events.append(("fence", name, None, None))
        elif name == "__atomic_thread_fence":
            self.events.append(("fence", order_of(C11_FENCES, args[0]), None, None))
        elif name == "READ_ONCE":
            self.access("load", self.lvalue(args[0]), "once")
        elif name == "WRITE_ONCE":
            self.walk(args[1])
            self.access("store", self.lvalue(args[0]), "once")
        elif name in ("smp_load_acquire", "__atomic_load_n"):
            self.access("load", self.pointed(args[0]), order_of(C11, args[1]) if args[1:] else "acquire")
        elif name in ("smp_store_release", "__atomic_store_n"):
            self.walk(args[1])
            self.access("store", self.pointed(args[0]), order_of(C11, args[2]) if args[2:] else "release")
        elif name in LOCKS:
            self.access("lock", self.pointed(args[0]), LOCKS[name])
        elif name in GUARDS:
            self.guards.append(self.pointed(args[0]))
            self.access("lock", self.guards[-1], LOCKS[GUARDS[name]])
        elif name == "memcpy":
            self.walk(args[1])
            self.access("store", self.lvalue(args[0]), "plain")
        elif name in NO_ACCESS:
            pass
        else:
            return self.inline(name, args) or result
        return "" if name in FENCES | set(LOCKS) | {"READ_ONCE", "WRITE_ONCE"} else result

    def inline(self, name, args):
        replaced = []
        for arg in args:
            nr = len(self.events)
            self.walk(arg)
            replaced.append(len(self.events) == nr)
        for kind in ("load", "store"):
            if self.find(kind, f"{name}()"):
                self.access(kind, f"{name}()", "once")
                return None
        function = self.code.find(self.stack[-1], name)
        if not function or name in self.stack or not self.touches(function):
            return None
        with_args = {param: arg for param, arg, good in zip(function.params, args, replaced) if good and param}
        self.stack += [name, function.path]
        self.run_all(substitute(function.statements, with_args))
        del self.stack[-2:]
        return None


def substitute(part, names):
    """Return the statements with parameters replaced by arguments."""
    if isinstance(part, tuple):
        return tuple([part[0]] + [substitute(inner, names) for inner in part[1:]])
    if not isinstance(part, list):
        return part
    out = []
    for i, inner in enumerate(part):
        if not isinstance(inner, str):
            out.append(substitute(inner, names))
        elif inner in names and part[i - 1:i] not in (["->"], ["."]):
            arg = names[inner]
            out += arg if len(arg) == 1 else ["("] + arg + [")"]
        else:
            out.append(inner)
    return out
