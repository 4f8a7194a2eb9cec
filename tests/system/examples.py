# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of a page, each as prompt, command and the lines that are shown below it, all of them ended by a NUL.

An example is in a display (.Bd, .Dl) of a manual page, or in a fenced block of a page in Markdown. It begins with "$ ", or with
"# cordon", which is root's; its command goes on in the next line where it ends with a backslash, a pipe or in quotes.
"""
import re
import sys

BEGINS = re.compile(r"([$#]) (?=\S)(.*)")


def plain(line):
    """What a reader sees of a line of mdoc."""
    return line.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").replace("\\(ti", "~")


def displays(text, is_manual):
    """The lines of each block that is shown as it is."""
    inside = None
    for line in text.splitlines():
        if is_manual and line.startswith(".Dl "):
            yield [plain(line[4:])]
        elif inside is None and (line.startswith(".Bd ") if is_manual else line.startswith("```")):
            inside = []
        elif inside is not None and line.startswith(".Ed" if is_manual else "```"):
            yield inside
            inside = None
        elif inside is not None:
            inside.append(plain(line) if is_manual else line)


def is_unfinished(command):
    return command.endswith(("\\", "|")) or command.count("'") % 2 == 1


def examples(lines):
    found = []
    for line in lines:
        match = BEGINS.match(line)
        if found and not found[-1][2] and is_unfinished(found[-1][1]):
            found[-1][1] += "\n" + line
        elif match and (match[1] == "$" or match[2].startswith("cordon ")):
            found.append([match[1], match[2], []])
        elif found:
            found[-1][2].append(line)
    return found


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        for lines in displays(file.read(), not path.endswith(".md")):
            for prompt, command, shown in examples(lines):
                print(prompt, command, "".join(line + "\n" for line in shown), sep="\0", end="\0")


main()
