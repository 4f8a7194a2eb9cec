#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Words, calls and names that have no place in this tree, and the licence line that has."""
import os
import re
import sys

from source import Rule, matches, run

LICENCE = "SPDX-License-Identifier: LGPL-2.1-or-later"
C = (".c", ".h")
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "python3")
LONGEST = 600
LATER = "TO" + "DO|FIX" + "ME|X" + "XX"
UNSAFE = (r"(?<![\w.>])(?:sprintf|vsprintf|strcpy|stpcpy|strcat|strncpy|strncat|gets|alloca|strtok"
          r"|atoi|atol|atoll|system|popen|g_alloca|g_newa|tmpnam|mktemp)\s*\(")
SLEEPING = r"(?<![\w.>])(?:sleep|usleep|nanosleep|clock_nanosleep|g_usleep)\s*\("
GOBJECT = r"\b(?:GMainLoop|g_main_\w+|GDBus\w*|g_dbus_\w+|GObject|g_object_\w+|G_TYPE_\w+)\b"
VAGUE = re.compile(r"(?:^|[-_.])(?:utils?|common|helpers?|misc)(?:[-_.]|$)")


def sources(tree):
    return sorted(set(tree.files(*C, ".py", ".sh", "meson.build", "meson_options.txt", ".bash",
                                 ".fish") + tree.scripts(*SHELLS)))


def licence(tree):
    return [f"{path}:1: has no SPDX line at its top" for path in sources(tree)
            if LICENCE not in "\n".join(tree.text(path).split("\n")[:3])]


def calls(pattern, words, under=""):
    def check(tree):
        return [problem for path in tree.files(*C, under=under)
                for problem in matches(pattern, tree.code(path), path, words)]
    return check


def vague_names(tree):
    return [f"{path}: a name that says nothing; a helper lives with its noun"
            for path in tree.files() if VAGUE.search(os.path.basename(path))]


def long_files(tree):
    lengths = [(path, tree.text(path).count("\n")) for path in sources(tree)]
    return [f"{path}: {length} lines; where is the second noun?"
            for path, length in lengths if length > LONGEST]


def later(tree):
    found = []
    for path in tree.files(*C):
        found += matches(rf"\b(?:{LATER})\b", tree.comments(path), path, "put off: {}")
    for path in sorted(set(sources(tree)) - set(tree.files(*C))):
        found += matches(rf"#\s*(?:{LATER})\b", tree.text(path), path, "put off: {}")
    return found


def machine_paths(tree):
    somebody = r"/(?:home|Users)/(?!alice\b|bob\b|user\b|USER\b|someone\b|nobody\b)\w[\w.-]*/"
    place = r"(?<![\w.}\"')*/-])/work/(?:main|shared|\.library)\b|/root/\.pyenv"
    return [problem for path in tree.files() if path != "tests/lint/lint-words.py"
            for problem in matches(f"{somebody}|{place}", tree.text(path), path,
                                   "a path of one machine: {}")]


def sample(path, *lines):
    return {path: "\n".join(lines) + "\n"}


RULES = [
    Rule("every source and script has its SPDX line", licence,
         bad=[sample("units/a.c", "int a;"), sample("x", "#!/bin/sh", "true"),
              sample("a.py", "# SPDX-License-Identifier: MIT"), sample("meson.build", "project()")],
         good=[sample("units/a.c", "// " + LICENCE), sample("x", "#!/bin/sh", "# " + LICENCE),
               sample("README.md", "words")]),
    Rule("no goto", calls(r"\bgoto\b", "{}"),
         bad=[sample("units/a.c", "        goto end;")],
         good=[sample("units/a.c", "/* no goto */", 'f("goto");', "int x = '\"'; // goto")]),
    Rule("no unsafe calls", calls(UNSAFE, "unsafe: {}"),
         bad=[sample("units/a.c", f"{call}(a);") for call in
              ("sprintf", "strcpy", "strcat", "alloca", "strtok", "system", "atoi")],
         good=[sample("units/a.c", "snprintf(a);", "g_strdup_printf(a);", "manager_system (a);",
                      "m->system(a);")]),
    Rule("no sleeping in tests: wait for the event", calls(SLEEPING, "{}", "tests/"),
         bad=[sample("tests/unit/a.c", f"{call}(1);") for call in ("sleep", "usleep", "g_usleep")],
         good=[sample("tests/unit/a.c", '"sleep(5)";', "event_sleep(1);")]),
    Rule("no GMainLoop, GDBus or GObject", calls(GOBJECT, "{}"),
         bad=[sample("dbus/a.c", "GMainLoop *loop;"), sample("dbus/a.c", "g_object_unref(x);"),
              sample("dbus/a.c", "g_dbus_connection_new();")],
         good=[sample("dbus/a.c", "/* unlike GDBus */", "g_clear_pointer(&x, g_free);")]),
    Rule("no file is named util, common, helpers or misc", vague_names,
         bad=[sample("units/util.c", ""), sample("tests/common.sh", ""),
              sample("dbus/bus-helpers.h", ""), sample("units/string-util.c", ""),
              sample("misc", "")],
         good=[sample("units/utility.c", ""), sample("docs/commonplace.md", "")]),
    Rule(f"no file is longer than {LONGEST} lines", long_files,
         bad=[sample("units/a.c", *["x"] * (LONGEST + 1))],
         good=[sample("units/a.c", *["x"] * LONGEST), sample("LICENSE", *["x"] * 700)]),
    Rule("nothing is put off in a comment", later,
         bad=[sample("units/a.c", f"int a; /* {word}: more */") for word in LATER.split("|")] +
             [sample("a.sh", f"true # {LATER[:4]} more")],
         good=[sample("units/a.c", f'f("# {LATER[:4]} reason");'), sample("a.sh", "mktemp a.XXXXXX")]),
    Rule("no path of one machine is mentioned", machine_paths,
         bad=[sample("a.md", "see /work/" + "main/dev"), sample("a.sh", "cd /home/" + "erika/cordon"),
              sample("a.c", '"/root/' + '.pyenv/shims"')],
         good=[sample("a.md", "cordon run --workspace /work/job; /home/alice/x; $HOME/work/main/x",
                      "/run/user/1000/x")]),
]

if __name__ == "__main__":
    sys.exit(run(RULES))
