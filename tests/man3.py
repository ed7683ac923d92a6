#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the man pages of the library from its kernel-doc: man3.py [--check] KERNEL-TREE

Each part of the headers in tools/lib, from one comment that names a file to the next, becomes a
page, or is added to one. The text is what the kernel tree's scripts/kernel-doc makes of each function and struct. With --check the pages that are committed are
compared, and the exit code is 1 if one differs.
"""

import functools
import pathlib
import re
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
HEADERS = [REPO / "tools/lib" / name for name in ("hyptrace.h", "hyptrace_control.h", "hyptrace_file.h", "hyptrace_model.h")]
# a header that another one includes: programs include that
INCLUDED_BY = {"hyptrace_control.h": "hyptrace.h"}
PAGES = REPO / "tools/man/man3"
DATE = "2026-11-21"

# the file that a part of a header names first, or the header: its page, and what that is about
PARTS = {
    "hyptrace.h": ("hyptrace", "control hyptrace remotes and read their rings"),
    "hyptrace_control.h": ("hyptrace", None),
    "error.c": ("hyptrace", None),
    "netlink.c": ("hyptrace", None),
    "query.c": ("hyptrace_remote", "get remotes, CPUs, events and hypercalls"),
    "control.c": ("hyptrace_control", "change remotes and events"),
    "query.c, counters": ("hyptrace_counter", "count events at the writer"),
    "query.c, questions": ("hyptrace_ask", "ask who owns pages, and measure visits of EL2"),
    "notify.c": ("hyptrace_listener", "notifications of changes"),
    "tracefs.c": ("hyptrace", None),
    "dump.c": ("hyptrace", None),
    "device.c": ("hyptrace_reader", "read or observe a ring"),
    "snapshot.c": ("hyptrace_snapshot", "copy what a ring holds, without consuming it"),
    "format.c": ("hyptrace_formats", "print an event as text"),
    "filter.c": ("hyptrace_filter", "conditions on the fields of events"),
    "merge.c": ("hyptrace_merge", "merge the events of several rings in the order of time"),
    "stream.c": ("hyptrace_stream", "the events of several CPUs in the order of time"),
    "hyptrace_file.h": ("hyptrace_file", "read trace files"),
    "file_meta.c": ("hyptrace_file", None),
    "file_read.c": ("hyptrace_file", None),
    "file_run.c": ("hyptrace_file", None),
    "file_write.c": ("hyptrace_file_writer", "write trace files"),
    "hyptrace_model.h": ("hyptrace_model", "what the events of EL2 mean"),
    "model.c": ("hyptrace_model", None),
    "nest.c": ("hyptrace_nest", "how calls, visits of EL2 and runs of guests nest"),
}

PART = re.compile(r"^/\* (\w+\.c(?:, \w+)?)\b", re.M)
STRUCT = re.compile(r"^struct (hyptrace_\w+) \{", re.M)
FUNCTION = re.compile(r"^\w[^;{}#]*?\b(hyptrace_\w+)\([^;{]*\)(?:;|\n\{)", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def parts(header):
    """A header's parts: (first file, text)."""
    text = header.read_text()
    marks = [(header.name, 0)] + [(m.group(1), m.start()) for m in PART.finditer(text)]
    ends = [start for _, start in marks[1:]] + [len(text)]
    return [(name, text[start:end]) for (name, start), end in zip(marks, ends)]


def symbols(text):
    """Structs and functions, as they are declared."""
    text = COMMENT.sub("", text)
    return STRUCT.findall(text), [n for n in FUNCTION.findall(text) if "typedef" not in n]


def overview(header):
    """A header's first comment, as paragraphs."""
    comment = COMMENT.findall(header.read_text())[1]
    lines = [line.strip(" /*") for line in comment.splitlines()]
    return [p.replace("\n", " ").strip() for p in "\n".join(lines).strip().split("\n\n")]


@functools.cache
def all_kernel_doc(tree):
    """What kernel-doc says of each symbol: {name: [text from its NAME on]}."""
    files = [str(header) for header in HEADERS] + sorted(str(f) for f in HEADERS[0].parent.rglob("*.c"))
    said = subprocess.run([f"{tree}/scripts/kernel-doc", "-man", *files],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    blocks = {}
    for block in re.split(r"^\.TH .*\n", said, flags=re.M)[1:]:
        name = re.match(r"\.SH NAME\n(?:\w+ )?(\w+) \\-", block)
        if name:
            blocks.setdefault(name.group(1), []).append(block)
    return blocks


def kernel_doc(tree, name):
    """What kernel-doc says of a symbol; a struct and a function may have the same name."""
    return all_kernel_doc(tree).get(name) or sys.exit(f"{name} has no kernel-doc")


def prototype(lines):
    """A declaration, which is not to be filled."""
    keep = [line for line in lines if line not in (".br", "", "};")]
    text = "\n".join("};" if line == '.BI "' else line for line in keep)
    return [".PP", ".nf", text.replace('(void "  ");"', '(void);"'), ".fi"]


def subsection(name, block):
    """A symbol as a subsection: what it is, its declaration, and what kernel-doc says of it."""
    out = [f".SS {name}"]
    for section in re.split(r"^\.SH ", block, flags=re.M)[1:]:
        title, *lines = section.rstrip("\n").splitlines()
        title = title.strip('"').upper()
        if title == "NAME":
            what = lines[0].split("\\-", 1)[1].strip()
            out.append(f"{what[0].upper()}{what[1:]}.")
        elif title == "SYNOPSIS":
            out += prototype(lines)
        elif title == "RETURN":
            out += [".PP", "Returns"] + lines
        elif title == "DESCRIPTION":
            out += [".PP"] + lines
        elif title in ("ARGUMENTS", "MEMBERS") and lines[0] != '.IP "void" 12':
            out += lines
    return "\n".join(line for line in out if line)


def page(tree, header, name, title, names):
    """A whole page."""
    out = ['.\\" SPDX-License-Identifier: GPL-2.0-only',
           '.\\" Made by tests/man3.py of the kernel-doc in tools/lib.',
           f'.TH {name} 3 "{DATE}" "libhyptrace" "Library Functions Manual"',
           ".SH NAME", ",\n".join(dict.fromkeys([name] + names)) + f" \\- {title}",
           ".SH SYNOPSIS", f".B #include <{INCLUDED_BY.get(header.name, header.name)}>", ".PP", "Link with \\fIpkg-config \\-\\-libs hyptrace\\fP.",
           ".SH DESCRIPTION"]
    if name == PARTS[header.name][0]:
        out.append("\n.PP\n".join(overview(header)))
    out += [subsection(n, block) for n in dict.fromkeys(names) for block in kernel_doc(tree, n)]
    see = sorted({p for p, _ in PARTS.values()} - {name})
    out += [".SH SEE ALSO", ".BR hyptrace (1),"]
    out += [f".BR {p} (3)" + ("," if p != see[-1] else "") for p in see]
    return "\n".join(out) + "\n"


def main():
    """Write or compare all pages."""
    args = sys.argv[1:]
    check = args[:1] == ["--check"]
    tree = args[-1]
    names, titles, headers = {}, {}, {}
    for header in HEADERS:
        for first, text in parts(header):
            if first not in PARTS:
                sys.exit(f"{first} of {header.name} has no page")
            name, title = PARTS[first]
            structs, functions = symbols(text)
            names.setdefault(name, []).extend(structs + functions)
            titles.setdefault(name, title)
            headers.setdefault(name, header)
    bad = False
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, title in titles.items():
        text = page(tree, headers[name], name, title, names[name])
        path = PAGES / f"{name}.3"
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.relative_to(REPO)} is not made of the kernel-doc: run tests/man3.py KERNEL-TREE")
            bad = True
    sys.exit(bad)


main()
