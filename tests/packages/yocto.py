#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the recipes for Yocto without bitbake: their syntax, the license's checksum and their version. Of the recipe of the
command, run what compiles and installs it, and put each file into a package as bitbake's defaults do. The last line is
"N passed, N failed"."""

import fnmatch
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "tools/packaging/yocto").glob("*.bb"))
CLASSES = {"externalsrc", "module", "pkgconfig", "useradd"}
# what a distribution sets; and, in bitbake.conf, the packages and their files, the first match wins
FOLDERS = {"prefix": "/usr", "libdir": "/usr/lib", "includedir": "/usr/include", "mandir": "/usr/share/man",
           "datadir": "/usr/share", "bindir": "/usr/bin"}
STATICDEV = ["${libdir}/*.a"]
DEV = ["${includedir}", "${libdir}/lib*.so", "${libdir}/pkgconfig"]
DOC = ["${datadir}/doc", "${mandir}"]
MAIN = ["${bindir}/*", "${libdir}/lib*.so.*", "${datadir}/${PN}"]

passed = failed = 0


def result(title, wrong):
    """Count a test; wrong is empty if it has passed."""
    global passed, failed
    if wrong:
        failed += 1
        print(f"not ok {title}\n    {wrong}")
    else:
        passed += 1
        print(f"ok {title}")


def parse(text):
    """Return (variables, functions, inherited classes, lines that are none of these)."""
    values, functions, classes, wrong = {}, {}, [], []
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.fullmatch(r'([A-Za-z_]+(?::\$\{PN\}|:[a-z-]+)?) (=|\+=|=\+) "([^"]*)"', line):
            name, how, value = match.groups()
            old = values.get(name, "")
            values[name] = {"=": value, "+=": f"{old} {value}", "=+": f"{value} {old}"}[how].strip()
        elif match := re.fullmatch(r"(do_\w+)\(\) \{", line):
            functions[match[1]] = "\n".join(iter(lambda: next(lines), "}"))
        elif match := re.fullmatch(r"inherit (.+)", line):
            classes += match[1].split()
        elif line and not line.startswith("#"):
            wrong.append(line)
    return values, functions, classes, wrong


def version():
    header = (ROOT / "tools/lib/hyptrace.h").read_text()
    return ".".join(re.search(rf"#define HYPTRACE_LIB_VERSION_{part}\s+(\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def expand(text, values):
    """Replace all ${NAME}, also in what they stand for."""
    while match := re.search(r"\$\{(\w+)\}", text):
        text = text.replace(match[0], values[match[1]])
    return text


def check_packages(recipe, values, functions, folder):
    """Compile and install as the recipe does, and return the files that are in no package."""
    values = {**FOLDERS, **values, "PN": "hyptrace", "S": str(ROOT), "B": f"{folder}/build", "D": f"{folder}/image"}
    script = 'oe_runmake() { make -s -j2 $EXTRA_OEMAKE "$@"; }\nset -e\n' + expand(
        functions["do_compile"] + "\n" + functions["do_install"], values)
    (folder / "build").mkdir()
    subprocess.run(["sh", "-c", script], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CFLAGS": "-O1", "EXTRA_OEMAKE": expand(values["EXTRA_OEMAKE"], values)})
    patterns = [values["FILES:libhyptrace"].split(), STATICDEV, DEV, DOC, MAIN + values["FILES:${PN}"].split()]
    packages = [[] for _ in patterns]
    rest = []
    for path in sorted((folder / "image").rglob("*")):
        name = "/" + str(path.relative_to(folder / "image"))
        if path.is_dir() and not path.is_symlink():
            continue
        for package, globs in zip(packages, patterns):
            if any(fnmatch.fnmatch(name, glob) or name.startswith(glob + "/")
                   for glob in (expand(glob, values) for glob in globs)):
                package.append(name)
                break
        else:
            rest.append(name)
    result(f"{recipe}: each file is in a package", rest)
    result(f"{recipe}: each package has files", [] if all(packages) else [len(files) for files in packages])
    result(f"{recipe}: the command, the udev rule and the timer are in the main package",
           [name for name in ("/usr/bin/hyptrace", "/usr/lib/udev/rules.d/60-hyptrace.rules",
                              "/usr/lib/systemd/system/hyptrace-metrics.timer") if name not in packages[-1]])


def main():
    result("there are two recipes", [] if len(RECIPES) == 2 else RECIPES)
    for path in RECIPES:
        values, functions, classes, wrong = parse(path.read_text())
        result(f"{path.name}: each line is an assignment, a function or a class", wrong)
        result(f"{path.name}: its classes are known", sorted(set(classes) - CLASSES))
        result(f"{path.name}: it has the version of the library",
               [] if path.stem.split("_")[1] == version() else version())
        file, digest = re.fullmatch(r"file://(.*);md5=(.*)", values["LIC_FILES_CHKSUM"]).groups()
        result(f"{path.name}: the license is unchanged",
               [] if hashlib.md5((ROOT / file).read_bytes()).hexdigest() == digest else file)
        result(f"{path.name}: it is in the tree that it builds",
               [] if (path.parent / values["EXTERNALSRC"].replace("${THISDIR}/", "")).resolve() == ROOT else values)
        for name, body in functions.items():
            said = subprocess.run(["sh", "-n", "-c", body], capture_output=True, text=True, check=False)
            result(f"{path.name}: {name} is a shell script", said.stderr)
        if "do_install" in functions:
            with tempfile.TemporaryDirectory() as folder:
                check_packages(path.name, values, functions, pathlib.Path(folder))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
