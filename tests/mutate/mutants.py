# SPDX-License-Identifier: GPL-2.0-only
"""Make mutants of C source, each with one changed statement. Called by run.py.

The parser knows just enough C to find the statements of each function, also of functions that a macro defines. If it is
wrong, the mutant does not compile and is not counted.
"""

import collections
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<blank>\s+|\\\n|//[^\n]*|/\*.*?\*/)
  | (?P<string>L?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op>\#\#|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)
""", re.VERBOSE | re.DOTALL)

# Replacements of binary operators.
BINARY = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<=",
}
UNARY = {"++": "--", "--": "++", "!": "", "~": ""}
WORDS = {"true": "false", "false": "true"}
TYPES = {"const", "static", "struct", "enum", "union", "unsigned", "signed", "void", "char", "int", "long", "bool",
         "typedef", "extern", "register", "typeof"}
HEADS = {"if", "while", "for", "switch"}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}

# Statements that are not mutated: unit tests on a strongly ordered machine cannot detect a missing barrier, but
# tests/model does. An assertion about a lock is itself a test.
NOT_MUTATED = re.compile(r"(smp_\w*mb|__atomic_thread_fence|atomic_thread_fence|hyptrace_assert_held) \(")


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    function: str
    old: str    # the statement, in one line
    new: str
    source: str     # the whole file with the mutant, and without
    original: str
    lines: range    # those of the statement
    number: int     # 1 for the first mutant with this name, then 2
    broken: str     # the whole file with an error of syntax in place of the statement

    @property
    def name(self):
        """The name in the list of equivalent mutants. It has no line number, so it stays valid."""
        return f"{self.path}: {self.function}(): {self.old} => {self.new}"

    @property
    def key(self):
        """The name in the list of results, and of equivalent mutants where not all that have the name are."""
        return f"{self.name} #{self.number}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.function}(): {self.old} => {self.new}"


def hide_directives(source):
    """Blank the preprocessor's lines, but keep the bodies of macros."""

    def blank(text):
        return re.sub(r"[^\n]", " ", text)

    def directive(match):
        macro = re.match(r"[ \t]*#[ \t]*define[ \t]+\w+(\([^)]*\))?", match[0])
        if not macro:
            return blank(match[0])
        return blank(macro[0]) + match[0][macro.end():].replace("\\\n", " \n")

    return re.sub(r"^[ \t]*#[ \t]*[a-z](?:\\\n|[^\n])*", directive, source, flags=re.MULTILINE)


def tokens_of(source):
    return [Token(m.lastgroup, m[0], m.start(), m.end()) for m in TOKEN.finditer(hide_directives(source))
            if m.lastgroup != "blank"]


class Parser:
    """Collects (function, kind, first token, token after the last) of each statement."""

    def __init__(self, source):
        self.tokens = tokens_of(source)
        self.statements = []
        self.function = None
        self.partner = {}
        stack = []
        for i, token in enumerate(self.tokens):
            if token.kind == "op" and token.text in OPEN:
                stack.append(i)
            elif token.kind == "op" and token.text in CLOSE and stack:
                self.partner[stack[-1]] = i
                self.partner[i] = stack.pop()
        self.file()

    def text(self, i):
        return self.tokens[i].text if i < len(self.tokens) else ""

    def behind(self, i):
        """Return the index of the token after the bracket that closes the one at i."""
        return self.partner.get(i, len(self.tokens)) + 1

    def file(self):
        i = 0
        while i < len(self.tokens):
            if self.text(i) == "{" and i and self.text(i - 1) == ")":
                first = self.partner.get(i - 1, 0)
                self.function = self.text(first - 1)
                self.block(i)
            i = self.behind(i) if self.text(i) == "{" else i + 1

    def block(self, i):
        end = self.partner.get(i, len(self.tokens))
        i += 1
        while i < end:
            i = self.statement(i)

    def add(self, kind, first, behind):
        self.statements.append((self.function, kind, first, behind))

    def statement(self, i):
        """Parse the statement at i; return the index of the token after it."""
        text = self.text(i)
        if text == "{":
            self.block(i)
            return self.behind(i)
        if text in HEADS:
            behind = self.behind(i + 1)
            self.add(text, i, behind)
            return self.statement(behind)
        if text in ("else", "do", ";", "}", ")"):
            return i + 1
        if text in ("case", "default"):
            while self.text(i) not in (":", ""):
                i += 1
            return i + 1
        if self.tokens[i].kind == "word" and self.text(i + 1) == ":":
            return i + 2
        return self.simple(i)

    def simple(self, i):
        first = i
        while i < len(self.tokens) and self.text(i) not in (";", "}"):
            # a macro that is used like a loop: this is its head
            if self.text(i) == "{" and self.text(i - 1) == ")" and self.text(first + 1) == "(":
                self.add("for", first, i)
                return i
            i = self.behind(i) if self.text(i) in OPEN else i + 1
        if self.text(first) == "return":
            kind = "return"
        elif self.text(first) in ("break", "continue", "goto"):
            kind = "jump"
        elif self.is_declaration(first):
            kind = "declaration"
        else:
            kind = "expression"
        self.add(kind, first, min(i + 1, len(self.tokens)))
        return i + 1

    def is_declaration(self, i):
        if self.text(i) in TYPES or self.tokens[i + 1].kind == "word":
            return True
        return self.text(i + 1) == "*" and self.tokens[i + 2].kind in ("word", "op") and \
            self.text(i + 3) in ("=", ";", ",", "[")


def is_value(token):
    """Whether this token can be the end of a value."""
    return token.kind in ("word", "number", "string") and token.text not in ("return", "case", "sizeof") or \
        token.text in (")", "]")


def next_number(text):
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)([uUlL]*)", text)
    if not match:
        return None
    value = int(match[1], 0) + 1
    return (hex(value) if match[1][:2].lower() == "0x" else str(value)) + match[2]


def choices(parser, i, behind):
    """For the "? a : b" whose "?" is at i, return the index of its ":" and its end."""
    depth, colon = 0, None
    while i < behind:
        text = parser.text(i)
        if text == "?":
            depth += 1
        elif text == ":":
            depth -= 1
            if not depth:
                colon = i
        elif text in (";", ",") or text in CLOSE:
            break
        i = parser.behind(i) if text in OPEN else i + 1
    return colon, i


def edits_of(parser, kind, first, behind):
    """Yield each change to a statement as a list of pieces (start, end, new text)."""
    tokens = parser.tokens
    start, end = tokens[first].start, tokens[behind - 1].end

    if kind in ("expression", "return", "jump"):
        yield [(start, end, "{}")]
    if kind in ("if", "while"):
        inside = tokens[first + 1].end, tokens[behind - 1].start
        if kind == "if":
            yield [(*inside, "1")]
        yield [(*inside, "0")]
    if kind == "return" and behind - first > 2 and parser.text(first + 1) != "0":
        yield [(tokens[first + 1].start, tokens[behind - 1].start, "0")]

    i = first
    if kind == "declaration":
        while i < behind and tokens[i].text != "=":
            i += 1
    for i in range(i, behind):
        token, before, after = tokens[i], tokens[i - 1], tokens[min(i + 1, behind - 1)]
        new = None
        if token.kind == "number":
            new = next_number(token.text)
        elif token.kind == "word":
            new = WORDS.get(token.text)
        elif token.text in UNARY and (token.text in ("++", "--") or not is_value(before)):
            new = UNARY[token.text]
        elif token.text in BINARY and is_value(before) and after.text not in (")", "*", ",", ";"):
            new = BINARY[token.text]
        elif token.text == "?":
            colon, over = choices(parser, i, behind)
            if colon and colon > i + 1:
                yes = tokens[i + 1].start, tokens[colon - 1].end
                no = tokens[colon + 1].start, tokens[over - 1].end
                yield [(*yes, no), (*no, yes)]
        if new is not None:
            yield [(token.start, token.end, new)]


def one_line(source):
    """Return a statement's text in one line, without comments and backslashes at line ends."""
    return " ".join(re.sub(r"\\\n|//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL).split())


def replaced(source, start, end, pieces):
    """Return source[start:end] with the pieces replaced. Backslashes at line ends stay, so that macros stay whole."""
    result, at = "", start
    for first, last, new in sorted(pieces):
        if isinstance(new, tuple):
            new = source[slice(*new)]
        else:
            new += re.sub(r"[^\n\\]|\\(?!\n)", "", source[first:last])
        result += source[at:first] + new
        at = last
    return result + source[at:end]


def mutants_of(path, source):
    """Yield all mutants of a file, in the order of its lines."""
    parser = Parser(source)
    numbers = collections.Counter()
    for function, kind, first, behind in parser.statements:
        start, end = parser.tokens[first].start, parser.tokens[behind - 1].end
        old = one_line(source[start:end])
        if NOT_MUTATED.match(old.replace("(", " (", 1)):
            continue
        lines = range(source.count("\n", 0, start) + 1, source.count("\n", 0, end) + 2)
        for pieces in edits_of(parser, kind, first, behind):
            text = replaced(source, start, end, pieces)
            line = source.count("\n", 0, min(piece[0] for piece in pieces)) + 1
            new = one_line(text)
            numbers[function, old, new] += 1
            yield Mutant(path, line, function, old, new, source[:start] + text + source[end:], source, lines,
                         numbers[function, old, new], source[:start] + "@" + source[end:])
