#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the description of the device and the netlink family for syzkaller: syzkaller.py [ROOT]

The language is in docs/syscall_descriptions_syntax.md of syzkaller. This knows the part of it that tests/syzkaller/hyptrace.txt
uses. What it refers to must be defined there or in other descriptions of syzkaller, which EXTERNAL names. It must have the
ioctls and structs of uapi/linux, as gcc lays them out, and the commands and attributes of uapi/hyptrace.yaml, no more and no
less. Print what is wrong.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

import yaml

DESCRIPTION = "tests/syzkaller/hyptrace.txt"

# How many arguments the types of the language have, at least and at most
BUILTIN = {"const": (1, 2), "flags": (1, 2), "len": (1, 2), "bytesize": (1, 2), "array": (1, 2), "ptr": (2, 3), "ptr64": (2, 3),
           "string": (0, 2), "vma": (0, 1), "buffer": (1, 1), "void": (0, 0), "intptr": (0, 2), "int8": (0, 2), "int16": (0, 2),
           "int32": (0, 2), "int64": (0, 2)}
INTS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "intptr": 8}
# ... and those of other descriptions. msghdr_netlink to nlnest are in socket_netlink.txt and socket_netlink_generic.txt.
EXTERNAL = {"fd": 0, "sock_nl_generic": 0, "msghdr_netlink": 1, "netlink_msg_t": 3, "genlmsghdr_t": 1, "nlattr": 2, "nlnest": 2,
            "timespec": 0}
EXTERNAL_FLAGS = {"mmap_flags", "mmap_prot", "pollfd_events", "seek_whence", "send_flags", "splice_flags"}
CALLS = {"openat", "ioctl", "read", "splice", "ppoll", "mmap", "lseek", "sendmsg", "syz_genetlink_get_family_id"}
# What each file can do, by the resource
DEVICE_CALLS = {"fd_hyptrace": {"openat", "ioctl", "read", "splice", "ppoll", "mmap"},
                "fd_hyptrace_previous": {"openat", "read", "lseek"}}

TOKEN = re.compile(r'\s*([\w$]+|"[^"]*"|-\d+|[][(),:=<>{}/.-]|$)')


class Wrong(Exception):
    """What is wrong with a line"""


class Reader:
    """Reads a line token by token."""

    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise Wrong(f"\"{text[at:]}\" is not of the language")
            at = match.end()
            self.tokens += [match.group(1)] if match.group(1) else []
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if not token or (expected and token != expected):
            raise Wrong(f"\"{token or 'the end'}\" is where \"{expected or 'a word'}\" should be")
        self.at += 1
        return token

    def end(self):
        if self.peek():
            raise Wrong(f"\"{self.peek()}\" is too much")

    def name(self):
        token = self.take()
        if not re.fullmatch(r"[A-Za-z_][\w$]*", token):
            raise Wrong(f"\"{token}\" is no name")
        return token

    def type(self):
        """Read a type, or another argument of one: (name, arguments). The arguments of ":" are those of a range."""
        token = self.take()
        if not re.fullmatch(r'[\w$]+|"[^"]*"|-\d+', token):
            raise Wrong(f"\"{token}\" is no type")
        args = self.list("[", "]") if self.peek() == "[" else []
        if self.peek() == ":":
            self.take()
            return (":", [(token, args), self.type()])
        return (token, args)

    def list(self, opening, closing):
        self.take(opening)
        found = [self.type()]
        while self.peek() == ",":
            self.take()
            found.append(self.type())
        self.take(closing)
        return found


class Description:
    """What a file describes"""

    def __init__(self, text):
        self.wrong = []
        self.resources, self.aliases, self.structs, self.unions, self.flags, self.calls = {}, {}, {}, {}, {}, {}
        self.lines = {}
        lines = iter(enumerate(text.split("\n"), 1))
        for number, line in lines:
            line = line.split("#")[0] if line.startswith("#") else line
            if not line.strip() or re.fullmatch(r"include <[\w/.-]+>", line):
                continue
            try:
                self.read(line, lines, number)
            except Wrong as reason:
                self.wrong.append(f"{DESCRIPTION}:{number}: {reason}")

    def define(self, where, name, what, number):
        if name in self.lines:
            raise Wrong(f"{name} is already in line {self.lines[name]}")
        self.lines[name] = number
        where[name] = what

    def read(self, line, lines, number):
        reader = Reader(line)
        name = reader.name()
        if name == "resource":
            name = reader.name()
            self.define(self.resources, name, reader.list("[", "]")[0][0], number)
        elif name == "type":
            name = reader.name()
            params = [param[0] for param in reader.list("[", "]")]
            self.define(self.aliases, name, (params, reader.type()), number)
        elif reader.peek() == "=":
            reader.take()
            values = [reader.type()[0]]
            while reader.peek():
                reader.take(",")
                values.append(reader.type()[0])
            self.define(self.flags, name, values, number)
        elif reader.peek() == "(":
            reader.take()
            args = []
            while reader.peek() != ")":
                args.append((reader.name(), reader.type()))
                if reader.peek() != ")":
                    reader.take(",")
            reader.take(")")
            self.define(self.calls, name, (args, reader.name() if reader.peek() else None), number)
        else:
            opening = reader.take()
            if opening not in ("{", "["):
                raise Wrong(f"\"{opening}\" begins neither a struct nor a union")
            reader.end()
            self.define(self.structs if opening == "{" else self.unions, name, self.fields(lines, opening), number)
            return
        reader.end()

    @staticmethod
    def fields(lines, opening):
        fields = []
        for _, line in lines:
            if line.startswith({"{": "}", "[": "]"}[opening]):
                if line != {"{": "}", "[": "] [varlen]"}[opening]:
                    raise Wrong(f"\"{line}\" ends it")
                return fields
            reader = Reader(line)
            fields.append((reader.name(), reader.type()))
            if reader.peek() == "(":
                reader.list("(", ")")
            reader.end()
        raise Wrong("it does not end")


class Checker:
    """Compares a description with the headers and the yaml of a tree."""

    def __init__(self, root):
        self.root = root
        with open(os.path.join(root, DESCRIPTION), encoding="utf-8") as file:
            self.text = file.read()
        self.it = Description(self.text)
        self.wrong = self.it.wrong
        self.used = set()
        self.values = {}

    def say(self, text, name=None):
        line = self.it.lines.get(name)
        self.wrong.append(f"{DESCRIPTION}:{line}: {text}" if line else f"{DESCRIPTION}: {text}")

    # Syntax: do all references resolve?

    def is_constant(self, word):
        return re.fullmatch(r"-?\d+|0x[0-9a-f]+", word) or word in self.values

    def check_type(self, kind, names, params, owner, is_arg=False):
        """Check a type. names: those that len may name. params: those of the template that it is in."""
        name, args = kind
        if name in params:
            return
        limits = BUILTIN.get(name)
        if name in EXTERNAL:
            limits = (EXTERNAL[name],) * 2
        elif name in self.it.aliases:
            limits = (len(self.it.aliases[name][0]),) * 2
        elif name in self.it.resources or name in self.it.structs or name in self.it.unions:
            limits = (0, 0)
        self.used.add(name)
        if not limits:
            self.say(f"{owner}: there is no type {name}", owner)
        elif not limits[0] <= len(args) <= limits[1]:
            self.say(f"{owner}: {name} has {len(args)} arguments", owner)
        elif name in ("ptr", "ptr64", "buffer"):
            if args[0] not in (("in", []), ("out", []), ("inout", [])) or args[2:] not in ([], [("opt", [])]):
                self.say(f"{owner}: {name} has no direction", owner)
            for arg in args[1:2]:
                self.check_type(arg, names, params, owner)
        elif name in ("len", "bytesize"):
            if args[0][0] not in names:
                self.say(f"{owner}: there is no field {args[0][0]}", owner)
            self.check_int(name, args[1:], owner, is_arg)
        elif name == "flags":
            self.used.add(args[0][0])
            values = self.it.flags.get(args[0][0])
            if args[0][0] not in EXTERNAL_FLAGS and (not values or values[0].startswith('"')):
                self.say(f"{owner}: there are no flags {args[0][0]}", owner)
            self.check_int(name, args[1:], owner, is_arg)
        elif name == "const":
            self.check_constant(args[0], params, owner)
            self.check_int(name, args[1:], owner, is_arg)
        elif name in INTS:
            self.check_range(name, args, params, owner)
        elif name == "array":
            self.check_type(args[0], names, params, owner)
            for arg in args[1:]:
                for bound in arg[1] if arg[0] == ":" else [arg]:
                    self.check_constant(bound, params, owner)
        elif name == "string":
            self.check_string(args, params, owner)
        elif name not in ("vma",):
            # a template: a constant, a type, or what is both in C and here
            for arg in args:
                if not self.is_constant(arg[0]):
                    self.check_type(arg, names, params, owner)

    def check_int(self, name, args, owner, is_arg):
        if not is_arg and not (args and args[0][0] in INTS):
            self.say(f"{owner}: {name} has no size", owner)

    def check_constant(self, arg, params, owner):
        if arg[0] not in params and (arg[1] or not self.is_constant(arg[0])):
            self.say(f"{owner}: there is no constant {arg[0]}", owner)

    def check_range(self, name, args, params, owner):
        for arg in args[:1]:
            if arg[0] in self.it.flags:
                self.used.add(arg[0])
                continue
            bounds = arg[1] if arg[0] == ":" else [arg]
            for bound in bounds:
                self.check_constant(bound, params, owner)
            numbers = [self.value(bound[0]) for bound in bounds]
            if None not in numbers and (numbers != sorted(numbers) or numbers[-1] >= 1 << 8 * INTS[name]):
                self.say(f"{owner}: this is no range of an {name}", owner)

    def check_string(self, args, params, owner):
        if args and not args[0][0].startswith('"'):
            self.used.add(args[0][0])
            if not (self.it.flags.get(args[0][0]) or ["-"])[0].startswith('"'):
                self.say(f"{owner}: there are no strings {args[0][0]}", owner)
        for arg in args[1:]:
            self.check_constant(arg, params, owner)

    def value(self, word):
        if word in self.values:
            return self.values[word]
        return int(word, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", word) else None

    def check_references(self):
        it = self.it
        for name, base in it.resources.items():
            if base not in INTS and base not in EXTERNAL:
                self.say(f"{name}: there is no resource {base}", name)
        for name, (params, kind) in it.aliases.items():
            self.check_type(kind, [], params, name)
        for name, fields in {**it.structs, **it.unions}.items():
            names = [field for field, _ in fields]
            if len(set(names)) != len(names):
                self.say(f"{name}: two fields have the same name", name)
            for _, kind in fields:
                self.check_type(kind, names + ["parent"], [], name)
        produced = set()
        for name, (args, result) in it.calls.items():
            if name.split("$")[0] not in CALLS or "$" not in name:
                self.say(f"{name}: there is no such system call, or it has no name of its own", name)
            for _, kind in args:
                self.check_type(kind, [arg for arg, _ in args], [], name, True)
            produced.add(result)
            if result and result not in it.resources:
                self.say(f"{name}: there is no resource {result}", name)
        for name, values in it.flags.items():
            for value in values:
                if not value.startswith('"') and not self.is_constant(value):
                    self.say(f"{name}: there is no constant {value}", name)
        for name in it.lines:
            if name not in self.used and name not in it.calls:
                self.say(f"{name} is not used", name)
            elif name in it.resources and name not in produced:
                self.say(f"no call returns {name}", name)

    # The headers

    def compile(self):
        """Let gcc compute the constants, and where the fields of the structs of the headers are."""
        words = sorted(set(re.findall(r"(?<![\w$\"])[A-Z_][A-Z0-9_]{2,}\b", re.sub(r"(?m)^#.*|\$\w+|^\t\w+", "", self.text))) -
                       {"CMD", "ATTRS"})
        lines = [f'printf("%s %lld\\n", "{word}", (long long)({word}));' for word in words]
        for name, fields in self.it.structs.items():
            if name not in self.header_structs():
                continue
            lines.append(f'printf("%s %zu\\n", "{name}", sizeof(struct {name}));')
            lines += [f'printf("%s %zu\\n", "{name}.{field}", offsetof(struct {name}, {field}));' for field, _ in fields]
        source = ("#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <sys/mman.h>\n"
                  "#include <linux/hyptrace.h>\n#include <linux/hyptrace_netlink.h>\n#include <linux/trace_mmap.h>\n"
                  "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
        with tempfile.TemporaryDirectory() as work:
            with open(os.path.join(work, "values.c"), "w", encoding="utf-8") as file:
                file.write(source)
            uapi = os.path.join(self.root, "uapi")
            ran = subprocess.run(["gcc", "-I", uapi, "-idirafter", os.path.join(uapi, "compat"), "-o", f"{work}/values",
                                  f"{work}/values.c"], capture_output=True, text=True, check=False,
                                 env={**os.environ, "LC_ALL": "C"})
            if ran.returncode:
                # gcc names each word, or field, that the headers do not have
                said = sorted(set(re.findall(r"error: (.*)", ran.stderr)))
                raise Wrong("\n".join(f"{DESCRIPTION}: {line}" for line in said))
            for line in subprocess.run([f"{work}/values"], capture_output=True, text=True, check=True).stdout.splitlines():
                word, value = line.split()
                self.values[word] = int(value)

    def header(self, name):
        with open(os.path.join(self.root, "uapi", name), encoding="utf-8") as file:
            return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)

    def header_structs(self):
        return dict(re.findall(r"struct (\w+) \{\n(.*?)\n\};", self.header("linux/hyptrace.h"), flags=re.DOTALL))

    def size_of(self, kind):
        """Return the size and alignment of a type of a struct."""
        name, args = kind
        if name in INTS:
            return INTS[name], INTS[name]
        if name in ("const", "flags", "len", "bytesize"):
            return self.size_of(args[1])
        if name == "ptr64":
            return 8, 8
        if name == "string" and len(args) == 2:
            return self.value(args[1][0]), 1
        raise Wrong(f"the size of {name} is not known")

    def check_struct(self, name):
        offset, most = 0, 1
        fields = re.findall(r"(\w+)(?:\[\w+\])?;", self.header_structs()[name])
        if [field for field, _ in self.it.structs[name]] != fields:
            self.say(f"{name}: its fields are not {', '.join(fields)}", name)
            return
        for field, kind in self.it.structs[name]:
            size, align = self.size_of(kind)
            offset = (offset + align - 1) // align * align
            most = max(most, align)
            if offset != self.values[f"{name}.{field}"]:
                self.say(f"{name}: {field} is at {offset}, but in the header at {self.values[f'{name}.{field}']}", name)
                return
            offset += size
        size = (offset + most - 1) // most * most
        if size != self.values[name]:
            self.say(f"{name}: it has {size} bytes, but in the header {self.values[name]}", name)

    def check_ioctls(self):
        header = self.header("linux/hyptrace.h")
        found = re.findall(r"#define (HYPTRACE_IOC_\w+)\s+_IO(\w*)\([^,()]+, [^,()]+(?:, struct (\w+))?\)", header)
        found += re.findall(r"#define (TRACE_MMAP_IOCTL_\w+)\s+_IO(\w*)\([^,()]+, [^,()]+()\)",
                            self.header("compat/linux/trace_mmap.h"))
        for name, direction, struct in found:
            args = [("fd", ("fd_hyptrace", [])), ("cmd", ("const", [(name, [])]))]
            if struct:
                way = {"R": "out", "W": "in", "WR": "inout"}[direction]
                args.append(("arg", ("ptr", [(way, []), (struct, [])])))
            if self.it.calls.get(f"ioctl${name}", [None])[0] != args:
                self.say(f"there is no ioctl${name}({', '.join(written(arg) for arg in args)})", f"ioctl${name}")
            if struct in self.it.structs:
                self.check_struct(struct)
        for name in self.it.calls:
            if name.startswith("ioctl$") and name[6:] not in [known[0] for known in found]:
                self.say(f"{name}: there is no such ioctl", name)
        values = {value for flags in self.it.flags.values() for value in flags}
        for name in re.findall(r"#define (\w+)\s+\(1U << ", header):
            if name not in values:
                self.say(f"no flags have {name}")

    def check_device(self):
        nodes = set()
        for path in glob.glob(os.path.join(self.root, "driver/device/*.c")):
            with open(path, encoding="utf-8") as file:
                nodes |= set(re.findall(r'struct miscdevice \w+ = \{[^}]*\.name\s*= "([^"]+)"', file.read()))
        opened = {args[1][1][1][1][1][0][0].strip('"') for name, (args, _) in self.it.calls.items() if name.startswith("openat$")}
        if opened != {f"/dev/{node}" for node in nodes}:
            self.say(f"openat opens {', '.join(sorted(opened))}, but the driver has {', '.join(sorted(nodes))}")
        for resource, calls in DEVICE_CALLS.items():
            users = [resource] + [name for name, fields in self.it.structs.items() if (resource, []) in dict(fields).values()]
            has = {name.split("$")[0] for name, call in self.it.calls.items() if any(f"'{user}'" in str(call) for user in users)}
            if has != calls:
                self.say(f"the calls for {resource} are {', '.join(sorted(has))} instead of {', '.join(sorted(calls))}")

    # The netlink family

    def check_family(self):
        with open(os.path.join(self.root, "uapi/hyptrace.yaml"), encoding="utf-8") as file:
            spec = yaml.safe_load(file)
        enums = {one["name"]: [c_name(one["name"], entry["name"]) for entry in one["entries"]]
                 for one in spec["definitions"] if one["type"] == "enum"}
        operations = {one["name"]: one for one in spec["operations"]["list"]}
        expected = {}
        for name, one in operations.items():
            attributes = (operations[one["notify"]] if "notify" in one else one)["attribute-set"]
            command = c_name("cmd", name)
            message = ("msghdr_hyptrace", [(command, []), (f"hyptrace_{lower(attributes)}_attrs", [])])
            expected[f"sendmsg${command}"] = [("fd", ("sock_nl_generic", [])), ("msg", ("ptr", [("in", []), message])),
                                              ("f", ("flags", [("send_flags", [])]))]
        for name, args in expected.items():
            if self.it.calls.get(name, [None])[0] != args:
                self.say(f"there is no {name}({', '.join(written(arg) for arg in args)})", name)
        for name in self.it.calls:
            if name.startswith("sendmsg$") and name not in expected:
                self.say(f"{name}: there is no such command", name)
        sets = {f"hyptrace_{lower(one['name'])}_attrs": one for one in spec["attribute-sets"]}
        for name, one in sets.items():
            self.check_set(name, one, enums)
        for name in self.it.unions:
            if name not in sets:
                self.say(f"{name}: there is no such set of attributes", name)

    def check_set(self, union, one, enums):
        fields = dict(self.it.unions.get(union, []))
        names = {c_name("a", one["name"], attribute["name"]): attribute for attribute in one["attributes"]}
        for name, attribute in names.items():
            if name not in fields:
                self.say(f"{union}: {name} is missing", union)
                continue
            is_nest = attribute["type"] == "nest"
            outer, args = fields[name]
            if outer != ("nlnest" if is_nest else "nlattr") or args[0] != (name, []):
                self.say(f"{union}: {name} is no {'nlnest' if is_nest else 'nlattr'} of this name", union)
                continue
            problem = self.payload_problem(args[1], attribute, enums)
            if problem:
                self.say(f"{union}: {name} {problem}", union)
        for name in fields:
            if name not in names:
                self.say(f"{union}: there is no attribute {name}", union)

    def payload_problem(self, payload, attribute, enums):
        """Return why a payload is not as the policy of the attribute wants it."""
        kind, checks = attribute["type"], attribute.get("checks", {})
        name, args = payload
        if kind == "nest":
            wanted = ("array", [(f"hyptrace_{lower(attribute['nested-attributes'])}_attrs", [])])
        elif kind in ("flag", "pad"):
            wanted = ("void", [])
        elif kind == "binary":
            wanted = ("array", [(f"int{attribute.get('sub-type', 'u8')[1:]}", [])])
        elif kind == "string":
            return None if name == "string" and len(args) < 2 else "must be a string"
        elif "enum" in attribute:
            wanted = ("flags", [(f"hyptrace_{lower(attribute['enum'])}", []), (f"int{kind[1:]}", [])])
            if self.it.flags.get(wanted[1][0][0]) != enums[attribute["enum"]]:
                return f"has other values than {', '.join(enums[attribute['enum']])}"
        elif checks:
            limits = [self.limit(checks.get("min", 0)), self.limit(checks["max"])]
            bounds = args[0][1] if args and args[0][0] == ":" else []
            if name != f"int{kind[1:]}" or [self.value(bound[0]) for bound in bounds] != limits:
                return f"must be int{kind[1:]}[{limits[0]}:{limits[1]}]"
            return None
        else:
            size = args[1][0] if name == "flags" and len(args) == 2 else name
            return None if size == f"int{kind[1:]}" else f"must be an int{kind[1:]}"
        return None if payload == wanted else f"must be {written(('', wanted)).strip()}"

    def limit(self, value):
        if isinstance(value, int):
            return value
        name = c_name(value)
        match = re.search(rf"#define {name}\s+(\d+)", self.header("linux/hyptrace_netlink.h"))
        return int(match.group(1)) if match else name

    def check_names(self):
        with open(os.path.join(self.root, "hyp/events.h"), encoding="utf-8") as file:
            events = set(re.findall(r"(?m)^\w+EVENT\((\w+)", file.read()))
        for name in self.it.flags.get("hyptrace_events", []):
            if name.strip('"') not in events:
                self.say(f"hyptrace_events: there is no event {name}", "hyptrace_events")

    def check(self):
        if not self.wrong:
            self.compile()
            self.check_references()
        # what follows needs a description that makes sense
        if not self.wrong:
            self.check_ioctls()
            self.check_device()
            self.check_family()
            self.check_names()


def lower(name):
    return name.replace("-", "_")


def c_name(*parts):
    return "_".join(("hyptrace",) + parts).replace("-", "_").upper()


def written(arg):
    """Return an argument as it is written."""
    name, (kind, args) = arg
    return f"{name} {kind}" + (f"[{', '.join(written(('', one)).strip() for one in args)}]" if args else "")


def main():
    checker = Checker(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    try:
        checker.check()
    except Wrong as reason:
        checker.wrong.append(str(reason))
    print("\n".join(checker.wrong))
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
