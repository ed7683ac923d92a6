#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Functions of C files, as tokens and as statements. Used by extract.py, weaken.py and check-sync.sh.

csource.py ROOT FILE:NAME... prints each FILE:NAME with a SHA-256. NAME is a function, a macro, or a section of the
comment at the beginning of a header. The sum covers only the tokens, neither comments nor layout of C code. If the file
has no such NAME the sum is "-". FILE: without a NAME stands for all functions of the file.
"""

import functools
import hashlib
import re
import sys

TOKEN = re.compile(r"""
    "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'
  | \w+(?:\s*\#\#\s*\w+)*
  | -> | \+\+ | -- | <<= | >>= | << | >> | [-+*/%&|^!=<>]= | && | \|\| | \.\.\.
  | [^\s\w]
""", re.VERBOSE)
OPENING = {"(": ")", "[": "]", "{": "}"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def without_comments(text):
    """Blank the comments; line numbers stay the same."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), text)


def tokens_of(text):
    return TOKEN.findall(text)


def closing(tokens, at):
    """Return the index of the bracket that closes the one at an index."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i] in OPENING:
            depth += 1
        elif tokens[i] in OPENING.values():
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"a {tokens[at]} has no closing bracket")


def split(tokens, separator=","):
    """Split at the separators that are outside of all brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in OPENING) - (token in OPENING.values())
        if token == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


class Function:
    """A definition: the name as text, the parameters and the body as tokens."""

    def __init__(self, path, name, params, body):
        self.path = path
        self.name = name
        self.params = [next((t for t in reversed(param) if re.match(r"[A-Za-z_]", t)), "")
                       for param in split(params)]
        self.text = params + body
        self.statements = parse_block(body)


def functions_of(path, text):
    """Return all functions of a file, including those that macros define."""
    text = without_comments(text).replace("\\\n", "\n")
    text = re.sub(r"^[ \t]*#[ \t]*define[ \t]+\w+(\([^()]*\))?|^[ \t]*#.*$", "", text, flags=re.MULTILINE)
    tokens = tokens_of(text)
    found = {}
    i = 0
    while i < len(tokens):
        if tokens[i] == "{":
            i = closing(tokens, i) + 1
            continue
        if tokens[i] == "(" and i and re.match(r"[A-Za-z_]", tokens[i - 1]):
            end = closing(tokens, i)
            if tokens[end + 1:end + 2] == ["{"]:
                last = closing(tokens, end + 1)
                name = re.sub(r"\s", "", tokens[i - 1])
                before = found.get(name)
                found[name] = Function(path, name, tokens[i + 1:end], tokens[end + 2:last])
                # Another definition may be for another configuration: the sum covers both.
                found[name].text += before.text if before else []
                i = last
            else:
                i = end
        i += 1
    return found


def macro_text(text, name):
    """Return the tokens of a macro's definition."""
    text = without_comments(text).replace("\\\n", " ")
    match = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{re.escape(name)}\b.*$", text, flags=re.MULTILINE)
    return tokens_of(match.group()) if match else []


def parse_block(tokens):
    statements, i = [], 0
    while i < len(tokens):
        statement, i = parse_statement(tokens, i)
        statements.append(statement)
    return statements


def parse_statement(tokens, i):
    """Return a tuple that begins with the statement's kind, and the index after the statement."""
    word = tokens[i]
    if word == "{":
        end = closing(tokens, i)
        return ("block", parse_block(tokens[i + 1:end])), end + 1
    if word == "if":
        end = closing(tokens, i + 1)
        then, at = parse_statement(tokens, end + 1)
        other = ("block", [])
        if tokens[at:at + 1] == ["else"]:
            other, at = parse_statement(tokens, at + 1)
        return ("if", tokens[i + 2:end], then, other), at
    if word == "do":
        body, at = parse_statement(tokens, i + 1)
        end = tokens.index(";", at)
        return ("loop", [], body, tokens[at + 1:end]), end + 1
    if word in ("case", "default"):
        return ("expression", []), tokens.index(":", i) + 1
    if tokens[i + 1:i + 2] == [":"]:
        return ("label", word), i + 2
    if tokens[i + 1:i + 2] == ["("]:
        end = closing(tokens, i + 1)
        behind = tokens[end + 1] if end + 1 < len(tokens) else ";"
        # for, while, switch, and macros that are used like them
        if word in ("for", "while", "switch") or re.match(r"[A-Za-z_{]", behind):
            body, at = parse_statement(tokens, end + 1)
            return ("loop", tokens[i + 2:end], body, []), at
    end = i
    while tokens[end] != ";":
        end = closing(tokens, end) + 1 if tokens[end] in OPENING else end + 1
        if end >= len(tokens):
            break
    body = tokens[i:end]
    if word in ("return", "goto", "break", "continue"):
        return (word, body[1:]), end + 1
    return ("expression", body), end + 1


def section_text(text, title):
    """Return the words of a section of the comment at the beginning of a header."""
    match = re.search(rf"^ \* {re.escape(title)}\n((?: \*\n| \*\t.*\n)+)", text, flags=re.MULTILINE)
    return re.findall(r"[^\s*]+", match.group(1)) if match else []


@functools.lru_cache(None)
def parsed(path):
    """Return the text of a file and its functions."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    return text, functions_of(path, text)


def main():
    root, *whats = sys.argv[1:]
    for what in whats:
        path, name = what.split(":")
        text, functions = parsed(f"{root}/{path}")
        for one in [name] if name else functions:
            tokens = functions[one].text if one in functions else macro_text(text, one) or section_text(text, one)
            print(f"{path}:{one}", hashlib.sha256("\n".join(tokens).encode()).hexdigest() if tokens else "-")


if __name__ == "__main__":
    main()
