#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Make litmus tests from templates and the C code: extract.py [--no-locks] ROOT OUT TEMPLATE...

A template is a litmus test. Its lines with a @ are replaced by accesses and barriers from the code:

	@ FILE:FUNCTION			take the accesses of this function, and of those that it calls in this folder
	@ VAR = VALUE...: EXPR, ...	a store to EXPR becomes a store of VALUE to VAR
	@ VAR -> REGISTER...: EXPR, ...	a load of EXPR becomes a load of VAR; _ is a nameless register
	@ lock VAR: EXPR		locking EXPR becomes locking VAR
	@ take CONDITION		take the branch of this condition
	@ skip CONDITION		do not take the branch of this condition
	@ without FENCE			leave out fences of this kind

EXPR is written as in the code. A leading . stands for any object. NAME() stands for a call, whose body is then ignored.
One access may match the EXPR of several variables. Each VALUE and REGISTER is used once, in order. With a * at the end,
further stores use the last VALUE again, and further loads are ignored. Without the word "plain" before VAR the access
must be READ_ONCE() or stronger. Loads and variables that match no line are ignored.

extract.py follows one path through the function: see Walk. It keeps no dependencies. So the accesses of a litmus test are
ordered more weakly than those of the code, never more strongly.
"""

import os
import re
import sys

from accesses import Code, Walk, Mismatch, read


class Entry:
    """A line of a template that says what an access to an expression becomes."""

    def __init__(self, line):
        match = re.fullmatch(r"(plain )?(\w+) (=|->) ([^:]+): (.+)|lock (\w+): (.+)", line)
        if not match:
            raise Mismatch(f'cannot parse "{line}"')
        self.plain = bool(match.group(1))
        self.var = match.group(2) or match.group(6)
        self.kind = {"=": "store", "->": "load", None: "lock"}[match.group(3)]
        self.values = (match.group(4) or "*").split()
        self.used = 0
        self.ends = self.values[-1] != "*"
        if not self.ends:
            self.values.pop()
        self.texts = re.sub(r"\s|->", lambda m: "." if m.group() == "->" else "",
                            match.group(5) or match.group(7)).split(",")
        self.line = line

    def matches(self, kind, text):
        return kind == self.kind and any(text == own or own.startswith(".") and text.endswith(own)
                                         for own in self.texts)

    def value(self):
        """The next value or register; None if the load is to be ignored."""
        self.used += 1
        if self.used <= len(self.values):
            return self.values[self.used - 1]
        if self.ends:
            raise Mismatch(f'the code has more such accesses: "{self.line}"')
        return self.values[-1] if self.kind == "store" else None

    def check(self):
        if self.used < len(self.values):
            raise Mismatch(f'the code has {"fewer" if self.used else "no"} such accesses: "{self.line}"')


class Directive(Walk):
    """Turns the accesses of one function into lines of a litmus test."""

    def __init__(self, code, path, name, lines):
        self.without = set()
        self.entries = []
        branches = {}
        for line in lines:
            word, _, rest = line.partition(" ")
            if word in ("take", "skip"):
                branches[re.sub(r"\s", "", rest)] = word == "take"
            elif word == "without":
                self.without.add(rest)
            else:
                self.entries.append(Entry(line))
        names = {re.sub(r"\(\)$", "", re.findall(r"\w+(?:\(\))?", text)[-1])
                 for entry in self.entries for text in entry.texts}
        super().__init__(code, path, name, branches, names)

    def find(self, kind, text):
        found = [entry for entry in self.entries if entry.matches(kind, text)]
        if not found and kind == "store" and self.find("load", text):
            raise Mismatch(f"the code stores to {text}, the template only loads it")
        return found

    def lines(self, locks, fresh):
        """Return lines of the litmus test; fresh() makes a register."""
        out = []
        for kind, entry, order, text in self.events:
            if kind == "fence":
                if entry not in self.without:
                    out.append(f"{entry}();")
                continue
            if kind == "lock":
                entry.used += 1
                if locks:
                    out.append(f"{order}({entry.var});")
                continue
            value = entry.value()
            if value is None:
                continue
            if order == "plain" and not entry.plain:
                raise Mismatch(f"the {kind} of {text} is plain in the code")
            if kind == "load":
                load = f"smp_load_acquire({entry.var})" if order == "acquire" else f"READ_ONCE(*{entry.var})"
                out.append(f"{fresh() if value == '_' else value} = {load};")
            elif order == "release":
                out.append(f"smp_store_release({entry.var}, {value});")
            else:
                out.append(f"WRITE_ONCE(*{entry.var}, {value});")
        for entry in self.entries:
            entry.check()
        if self.unused:
            raise Mismatch(f'the code has no branch "{sorted(self.unused)[0]}"')
        return out


def process(code, lines, locks):
    """Return the body of a process with its directives replaced."""
    body, registers, nr_fresh = [], [], 0

    def fresh():
        nonlocal nr_fresh
        nr_fresh += 1
        registers.append(f"unused{nr_fresh}")
        return registers[-1]

    i = 0
    while i < len(lines):
        if not lines[i].startswith("\t@"):
            body.append(lines[i])
            i += 1
            continue
        match = re.fullmatch(r"\t@ (\S+):(\S+)", lines[i])
        if not match:
            raise Mismatch(f'cannot parse "{lines[i].strip()}"')
        start = i = i + 1
        while i < len(lines) and re.match(r"\t@ (?!\S+/\S+:\S+$)", lines[i]):
            i += 1
        try:
            directive = Directive(code, match.group(1), match.group(2), [line[3:] for line in lines[start:i]])
            body += [f"\t{line}" for line in directive.lines(locks, fresh)]
        except Mismatch as mismatch:
            raise Mismatch(f"{match.group(1)}:{match.group(2)}: {mismatch}") from None
        registers += [value for entry in directive.entries if entry.kind == "load"
                      for value in entry.values if value != "_"]
    registers = [name for name in dict.fromkeys(registers) if f"\tint {name};" not in body]
    return [f"\tint {name};" for name in registers] + body


def translate(code, text, locks):
    out, lines = [], text.split("\n")
    i = 0
    while i < len(lines):
        out.append(lines[i])
        if lines[i] == "{":
            end = lines.index("}", i)
            out += process(code, lines[i + 1:end], locks)
            i = end
            continue
        i += 1
    return "\n".join(out)


def main():
    args = sys.argv[1:]
    locks = args[:1] != ["--no-locks"]
    root, where, *templates = args if locks else args[1:]
    code, wrong = Code(root), False
    for template in templates:
        name = os.path.basename(template).removesuffix(".in")
        try:
            text = translate(code, read(template), locks)
        except Mismatch as why:
            print(f"not ok - {name}: {why}")
            wrong = True
            continue
        with open(f"{where}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
