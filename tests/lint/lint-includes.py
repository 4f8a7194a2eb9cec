#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rooms know only what is below them: launcher → dbus → units."""
import os
import re
import sys

from source import Rule, matches, run

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PURE = {"glib.h"} | {name + ".h" for name in (
    "ctype errno inttypes limits math signal stdarg stdbool stddef stdint stdio stdlib string strings "
    "time arpa/inet netinet/in sys/resource sys/socket sys/types").split()}
PRINTING = (r"\b(?:printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|fputs|putchar|putc|fputc"
            r"|perror|psignal|g_print|g_printerr|g_message|g_warning|g_info|g_debug|g_critical"
            r"|g_log|sd_journal_\w+|syslog)\s*\(")
FILES = (r"(?<![\w.>])(?:open|fopen|fdopen|freopen|openat2?|creat|opendir|stat|lstat|fstatat|access"
         r"|unlink|mkdir|rmdir|rename|readlink|g_file_\w+|g_dir_\w+|g_mkdir\w*|getenv|g_getenv)\s*\(")
EXITING = r"(?<![\w.>])(?:exit|_exit|_Exit|quick_exit|abort)\s*\("


def includes(tree, under):
    for path in tree.files(".c", ".h", under=under):
        for number, line in enumerate(tree.code(path).split("\n"), 1):
            include = INCLUDE.match(line)
            if include:
                yield path, number, include[1] == "<", include[2]


def reaching(tree, under, may):
    """Includes of a folder that `may(path, is_system, name)` says no to."""
    return [f"{path}:{number}: includes {name}"
            for path, number, is_system, name in includes(tree, under)
            if not may(path, is_system, name)]


def inside(*rooms):
    return lambda name: "/" not in name or name.startswith(rooms)


def units(tree):
    own = inside("units/")
    return reaching(tree, "units/", lambda path, is_system, name:
                    name in PURE if is_system else own(name))


def dbus(tree):
    own = inside("units/", "dbus/")
    return reaching(tree, "dbus/", lambda path, is_system, name:
                    not name.startswith("cjson/") if is_system else own(name))


def gate_files(tree):
    """What the static program is made of: its main, and the nouns that this reaches."""
    known, open_ends = set(), ["launcher/gate/main.c"]
    while open_ends:
        path = open_ends.pop()
        if path in known or path not in tree.files():
            continue
        known.add(path)
        if path.endswith(".h"):
            open_ends.append(path[:-1] + "c")
        for _, _, is_system, name in includes(tree, path):
            if not is_system:
                open_ends += [name, os.path.join(os.path.dirname(path), name)]
    return known


def gate(tree):
    return [problem for file in sorted(gate_files(tree)) for problem in
            reaching(tree, file, lambda path, is_system, name:
                     not re.match(r"glib|gio/|systemd/|cjson/|dbus/", name))]


def only_in(folders, what):
    def check(tree):
        return [problem for folder in ("units/", "dbus/", "launcher/") if folder not in folders
                for problem in reaching(tree, folder,
                                        lambda path, is_system, name: not re.match(what, name))]
    return check


def products_use_tests(tree):
    return [problem for room in ("units/", "dbus/", "launcher/") for problem in
            reaching(tree, room, lambda path, is_system, name: not name.startswith("tests/"))]


def climbing(tree):
    return reaching(tree, "", lambda path, is_system, name: ".." not in name.split("/"))


def no_gobject(tree):
    return reaching(tree, "", lambda path, is_system, name:
                    not re.match(r"gio/|glib-object|gobject/", name))


def calls(pattern, words, *rooms):
    def check(tree):
        return [problem for room in rooms for path in tree.files(".c", ".h", under=room)
                for problem in matches(pattern, tree.code(path), path, words)]
    return check


def bad(path, *lines):
    return {path: "\n".join(lines) + "\n"}


RULES = [
    Rule("units/ includes GLib, libc and itself only", units,
         bad=[bad("units/a.c", "#include <systemd/sd-bus.h>"), bad("units/a.c", "#include <fcntl.h>"),
              bad("units/a.h", '#include "dbus/start.h"'), bad("units/a.c", "# include <unistd.h>")],
         good=[bad("units/a.c", "#include <glib.h>", '#include "units/limit.h"', '#include "a.h"',
                   "#include <stdio.h>", "/* #include <fcntl.h> */")]),
    Rule("dbus/ includes units/ and itself only, and no cJSON", dbus,
         bad=[bad("dbus/a.c", '#include "launcher/record.h"'),
              bad("dbus/a.c", "#include <cjson/cJSON.h>")],
         good=[bad("dbus/a.c", "#include <systemd/sd-bus.h>", '#include "units/limit.h"')]),
    Rule("only dbus/ includes sd-bus", only_in(("dbus/",), r"systemd/sd-bus"),
         bad=[bad("launcher/a.c", "#include <systemd/sd-bus.h>"),
              bad("launcher/guard/a.h", "#include <systemd/sd-bus-vtable.h>")],
         good=[bad("launcher/a.c", "#include <systemd/sd-event.h>"),
               bad("tests/bus/fake.c", "#include <systemd/sd-bus.h>")]),
    Rule("only launcher/ includes cJSON", only_in(("launcher/",), r"cjson/"),
         bad=[bad("units/a.c", "#include <cjson/cJSON.h>")],
         good=[bad("launcher/record.c", "#include <cjson/cJSON.h>")]),
    Rule("the gate is libc alone", gate,
         bad=[bad("launcher/gate/main.c", "#include <glib.h>"),
              bad("launcher/gate/main.c", '#include "dbus/start.h"'),
              bad("launcher/gate/main.c", '#include "child.h"') |
              bad("launcher/gate/child.h", "int a;") |
              bad("launcher/gate/child.c", "#include <systemd/sd-bus.h>")],
         good=[bad("launcher/gate/main.c", "#include <unistd.h>",
                   '#include "launcher/gate/wire.h"') |
               bad("launcher/gate/wire.h", "#include <stdint.h>") |
               bad("launcher/gate/channel.c", "#include <glib.h>")]),
    Rule("no room includes tests", products_use_tests,
         bad=[bad("launcher/a.c", '#include "tests/tap/tap.h"')],
         good=[bad("tests/unit/a.c", '#include "units/limit.h"')]),
    Rule("no include climbs with ..", climbing,
         bad=[bad("dbus/a.c", '#include "../units/limit.h"')],
         good=[bad("dbus/a.c", '#include "units/limit.h"')]),
    Rule("nothing includes GObject or GIO", no_gobject,
         bad=[bad("launcher/a.c", "#include <gio/gio.h>"),
              bad("tests/a.c", "#include <glib-object.h>")],
         good=[bad("launcher/a.c", "#include <glib.h>")]),
    Rule("nothing below launcher/ prints", calls(PRINTING, "prints: {}", "units/", "dbus/"),
         bad=[bad("units/a.c", 'printf("x");'), bad("dbus/a.c", "        g_printerr (x);"),
              bad("dbus/a.c", 'g_warning("x");')],
         good=[bad("units/a.c", 'g_string_printf(s, "printf(");', "/* printf() */",
                   'snprintf(b, 1, "");', "// puts()"), bad("launcher/a.c", 'printf("x");')]),
    Rule("units/ is pure: no files, no environment", calls(FILES, "is not pure: {}", "units/"),
         bad=[bad("units/a.c", 'fopen("x", "r");'), bad("units/a.c", "g_file_get_contents(x);"),
              bad("units/a.c", 'getenv("HOME");')],
         good=[bad("units/a.c", "limit_open(x);", '"open(2)";'), bad("dbus/a.c", 'getenv("X");')]),
    Rule("nothing below launcher/ ends the process",
         calls(EXITING, "ends the process: {}", "units/", "dbus/"),
         bad=[bad("units/a.c", "exit(1);"), bad("dbus/a.c", "        _exit (1);"),
              bad("dbus/a.c", "abort();")],
         good=[bad("dbus/a.c", "sd_event_exit(event, 0);", "watch_exit(w);", "g_assert(false);",
                   "w->exit(1);"), bad("launcher/a.c", "_exit(1);")]),
    Rule("nothing in launcher/ calls exit(): main returns",
         calls(r"(?<![\w.>])(?:exit|quick_exit)\s*\(", "ends the process: {}", "launcher/"),
         bad=[bad("launcher/verbs/a.c", "exit(1);")],
         good=[bad("launcher/a.c", "_exit(127);", "sd_event_exit(event, 0);")]),
]

if __name__ == "__main__":
    sys.exit(run(RULES))
