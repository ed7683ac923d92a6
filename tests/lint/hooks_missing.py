#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compile EL2 without each hook that is not required, and without hyptrace: hooks_missing.py TREE BUILD

TREE has the original files. BUILD is where a kernel of the same series was built: its commands compile a file again.
"""

import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

REPO = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(REPO, "tests/vm"))
import hooks as engine  # noqa: E402, pylint: disable=wrong-import-position

# These are compiled if what is missing is in a header, or is known to the headers of hyp.
USERS = [engine.NVHE + name for name in ("page_alloc.c", "mem_protect.c", "tlb.c", "switch.c", "pkvm.c")]
# Without the first, the rule of the second does not match either.
TOGETHER = {"unshare_range": ["share_range"]}


def rules_without(names, folder):
    """Copy the rules without those of these hooks. Other rules may depend on them."""
    for name in os.listdir(engine.RULES):
        text = engine.read_file(engine.RULES, name)
        if name == "files.hooks":
            text = re.sub(rf"(?m)^hook ({'|'.join(names)}) .*\n(?:(?!hook |probe ).*\n)*", "", text)
        for number, line in enumerate(text.split("\n"), 1):
            if re.match(rf"//# hook ({'|'.join(names)}) ", line):
                text = engine.without_hook(text, number + 1)
        rules = set(re.findall(r"(?m)^@(\w+)", text))
        text = re.sub(r"(?m)^@(\w+ )?depends on ([^@]*)@$", lambda rule, rules=rules: rule.group(0)
                      if set(re.findall(r"\w+", rule.group(2))) <= rules else f"@{(rule.group(1) or '').strip()}@", text)
        engine.write_file(folder, name, text)


def compile_file(path, work, source, build, more):
    """Compile a file of the folder work as the kernel was built, with more options. Return what the compiler says."""
    command = os.path.join(build, os.path.dirname(path), "." + os.path.basename(path)[:-2] + ".nvhe.o.cmd")
    with open(command, encoding="utf-8") as file:
        words = shlex.split(file.readline().split(" := ", 1)[1].split(";")[0])
    words = [word for word in words if not word.startswith("-Wp,-MMD") and word != "ccache"]
    words[words.index("-o") + 1] = "/dev/null"
    words[-1] = os.path.join(work, path)
    words[1:1] = ["-Werror", f"-I{work}/arch/arm64/include", f"-I{work}/arch/arm64/kvm/hyp/include",
                  "-iquote", os.path.join(source, os.path.dirname(path)), "-fsyntax-only"]
    # after the kernel's configuration
    words[-1:-1] = more
    ran = subprocess.run(words, cwd=build, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else ""


def check(names, paths, root, build, is_configured=True):
    """Compile these files without some hooks, or with all of them but without hyptrace."""
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(os.path.join(work, "drivers"))
        os.symlink(REPO, os.path.join(work, engine.LINK))
        rules = os.path.join(work, "rules")
        rules_without(names, rules)
        hooks, probes, patches = engine.read_rules(rules)
        texts = {path: engine.read_file(root, path) for path in engine.files_to_read()}
        for path in {file for hook in hooks for file in hook.files}:
            if path in paths or path.endswith(".h"):
                own = [hook for hook in hooks if path in hook.files]
                texts[path] = engine.hook_file(root, path, own, patches)[1]
            else:
                for hook in hooks:
                    hook.places += [path] if path in hook.files else []
        for path, text in texts.items():
            if text is not None:
                engine.write_file(work, path, text)
        engine.write_file(work, engine.HEADER, engine.make_header(hooks, probes, root))
        source = os.path.realpath(os.path.join(build, "source"))
        engine.write_file(work, "off.h", "#undef CONFIG_HYPTRACE_EL2\n")
        more = [] if is_configured else ["-include", os.path.join(work, "off.h")]
        return "".join(compile_file(path, work, source, build, more) for path in paths)


def main(root, build):
    hooks, changed = engine.hook_tree(root)
    known = "".join(engine.read_file(REPO, f"hyp/{name}") for name in os.listdir(os.path.join(REPO, "hyp"))
                    if name.endswith(".h"))
    jobs, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = sorted(path for path in changed if path.startswith(engine.NVHE) and path.endswith(".c"))
        jobs["hyptrace"] = pool.submit(check, [], paths, root, build, False)
        for name in sorted({hook.name for hook in hooks if hook.places and hook.need != "required"}):
            own = {path for hook in hooks if hook.name == name for path in hook.files if path in changed}
            paths = {path for path in own if path.endswith(".c")}
            if f"HYPTRACE_HOOK_{name}" in known or own - paths:
                paths |= set(USERS)
            jobs[f"the hook {name}"] = pool.submit(check, [name] + TOGETHER.get(name, []), sorted(paths), root, build)
        for name, job in jobs.items():
            said = job.result()
            if said:
                print(f"EL2 does not compile without {name}:\n{said}")
                bad = 1
    print(f"note: EL2 was compiled without each of {len(jobs) - 1} hooks, and without hyptrace")
    return bad or len(jobs) < 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
