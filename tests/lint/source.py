# SPDX-License-Identifier: LGPL-2.1-or-later
"""The source tree as lint checks see it, and how a check runs and prints TAP.

A check is a file lint-*.py with a list of rules. Called with the root of the tree it
prints a point a rule; called with --self-test it holds every rule to samples: each bad
one must be seen, each good one left alone. A rule without a bad sample is itself a
failure, so that no rule can be one that never fails.
"""
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Callable


class Skip(Exception):
    """There is no ground for this rule here; the text says why."""


@dataclass
class Rule:
    name: str
    check: Callable  # Tree → list of "path:line: what is wrong"
    bad: list = field(default_factory=list)  # trees, {path: text}, the rule must object to
    good: list = field(default_factory=list)  # trees it must leave alone


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


class Tree:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self._files = None

    def _from_git(self):
        command = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                   "--exclude-standard", "."]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            return None
        if done.returncode != 0:
            return None
        return [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]

    def _from_disk(self):
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".git" and not
                          os.path.exists(os.path.join(folder, name, "build.ninja"))]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in files]
        return found

    def files(self, *endings, under=""):
        """Paths below the root, sorted; a tarball without git is walked instead."""
        if self._files is None:
            paths = self._from_git() or self._from_disk()
            self._files = sorted(path for path in set(paths)
                                 if os.path.isfile(os.path.join(self.root, path)))
        return [path for path in self._files
                if path.startswith(under) and (not endings or path.endswith(endings))]

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def code(self, path):
        """C with comments and the inside of strings blanked, line numbers kept."""
        def blank(token):
            if token[0].startswith(("//", "/*")):
                return re.sub(r"[^\n]", " ", token[0])
            return token[0][0] * 2
        text = self.text(path)
        includes = [line if line.lstrip().startswith("#include") else None
                    for line in text.split("\n")]
        lines = TOKEN.sub(blank, text).split("\n")
        return "\n".join(include or line for include, line in zip(includes, lines))

    def comments(self, path):
        """The comments of a C file alone, line numbers kept."""
        text, kept, at = self.text(path), [], 0
        for token in TOKEN.finditer(text):
            is_comment = token[0].startswith(("//", "/*"))
            kept.append(re.sub(r"[^\n]", " ", text[at:token.start()]))
            kept.append(token[0] if is_comment else re.sub(r"[^\n]", " ", token[0]))
            at = token.end()
        return "".join(kept)

    def first_line(self, path):
        return self.text(path).split("\n", 1)[0]

    def scripts(self, *shells):
        """Files that start with #! and one of the interpreters, and *.sh for sh."""
        found = []
        for path in self.files():
            shebang = re.match(r"#!\s*(?:/usr/bin/env\s+)?(?:\S*/)?(\S+)", self.first_line(path))
            if shebang and shebang[1] in shells or "sh" in shells and path.endswith(".sh"):
                found.append(path)
        return found


def matches(pattern, text, path, words):
    """One "path:line: words" for every line of the text that the pattern is found in."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = re.search(pattern, line)
        if match:
            found.append(f"{path}:{number}: {words.format(match[0].strip())}")
    return found


class Points:
    def __init__(self):
        self.count = self.failed = 0

    def print(self, passed, name, problems=()):
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}")
        for problem in problems:
            print(f"#   {problem}")

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def check_tree(rules, root):
    points, tree = Points(), Tree(root)
    if not tree.files(".c") + tree.files(".h"):
        points.print(False, f"{root} holds C files")
    for rule in rules:
        try:
            problems = rule.check(tree)
        except Skip as skip:
            points.skip(rule.name, skip)
            continue
        points.print(not problems, rule.name, problems)
    return points.end()


def sample_problems(rule, sample):
    with tempfile.TemporaryDirectory(prefix="lint-") as root:
        for path, text in sample.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return rule.check(Tree(root))


def self_test(rules):
    points = Points()
    for rule in rules:
        if not rule.bad:
            points.print(False, f"a bad sample exists for: {rule.name}")
        samples = [(True, sample) for sample in rule.bad] + [(False, sample) for sample in rule.good]
        for number, (is_bad, sample) in enumerate(samples, 1):
            name = f"sample {number} is {'seen' if is_bad else 'left alone'} by: {rule.name}"
            try:
                problems = sample_problems(rule, sample)
            except Skip as skip:
                points.skip(name, skip)
                continue
            points.print(bool(problems) == is_bad, name, [] if is_bad else problems)
    return points.end()


def run(rules):
    if sys.argv[1:] == ["--self-test"]:
        return self_test(rules)
    if len(sys.argv) != 2:
        print(f"usage: {sys.argv[0]} SOURCE-ROOT | --self-test", file=sys.stderr)
        return 2
    return check_tree(rules, sys.argv[1])
