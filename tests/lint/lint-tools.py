#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What other tools say: clang-format about layout, shellcheck about shell scripts."""
import collections
import os
import re
import shutil
import subprocess
import sys

from source import Rule, Skip, run

FORMAT_VERSION = 14  # Debian 12's; others lay out a few things differently
HERE = os.path.dirname(os.path.abspath(__file__))


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed; ./dev deps")
    return path


def output(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def layout(tree):
    program = tool("clang-format")
    version = re.search(r"version (\d+)", output([program, "--version"], "/")[1])
    if not version or int(version[1]) != FORMAT_VERSION:
        raise Skip(f"n/a: layout is judged by clang-format {FORMAT_VERSION} only, "
                   f"here is {version[1] if version else 'an unknown one'}")
    files = tree.files(".c", ".h")
    if not files:
        return []
    style = "--style=file:" + os.path.join(HERE, "..", "..", ".clang-format")
    status, text = output([program, style, "--dry-run", "--Werror", *files], tree.root)
    lines = [line.split(": error:")[0] for line in text.splitlines() if ": error:" in line]
    counts = collections.Counter(line.split(":")[0] for line in lines)
    firsts = {line.split(":")[0]: line for line in reversed(lines)}
    problems = [f"{firsts[path]}: first of {count}; clang-format -i {path}"
                for path, count in counts.items()]
    return problems or (["clang-format: " + text] if status else [])


def shell_scripts(tree):
    program = tool("shellcheck")
    files = sorted(set(tree.scripts("sh", "bash", "dash") + tree.files(".bash")))
    if not files:
        return []
    status, text = output([program, "--format=gcc", "--external-sources", "--source-path=SCRIPTDIR",
                           *files], tree.root)
    return text.splitlines() or ([f"shellcheck: status {status}"] if status else [])


RULES = [
    Rule("clang-format has nothing to change", layout,
         bad=[{"a.c": "int  a;\n"}, {"a.h": "int main(void)\n{\n  return 0;\n}\n"}],
         good=[{"a.c": "int main(void) {\n        return 0;\n}\n"}]),
    Rule("shellcheck has nothing to say", shell_scripts,
         bad=[{"a.sh": "#!/bin/sh\necho $1\n"}, {"tool": "#!/usr/bin/env bash\ncd $1\n"}],
         good=[{"a.sh": "#!/bin/sh\necho \"$1\"\n"}, {"a.py": "#!/usr/bin/env python3\nprint(1)\n"}]),
]

if __name__ == "__main__":
    sys.exit(run(RULES))
