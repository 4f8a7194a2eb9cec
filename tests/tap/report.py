#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts TAP points, one by one, for ./dev.

    report.py floor NAME --state FILE [--must] (--meson LOG.json | --tap OUTPUT | --machines OUTPUT)
    report.py point NAME --state FILE (ok|fail|skip) WHAT [DETAIL]
    report.py sum --state FILE
    report.py self-test

`floor` reads what one floor printed and appends its counts and failures to the state
file, `point` appends a single one (a build, a floor left out), `sum` prints the counts
of every floor, what failed, and `N passed, N failed, N skipped` as the last line.

The hard thing: a test program that dies, hangs or prints no plan has no failing point
of its own, so every program that did not end well counts for at least one failure.
"""
import argparse
import json
import os
import re
import sys

POINT = re.compile(r"^(not )?ok\b\s*(\d+)?\s*(?:-\s*)?(.*?)\s*"
                   r"(?:(?<!\\)#\s*(skip\S*|todo)\b\s*(.*))?$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.IGNORECASE)
BAIL = re.compile(r"^Bail out!\s*(.*)$")
TOTAL = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
BLAME = re.compile(r"^#\s*Failed (?:\(TODO\) )?test\b")


class Floor:
    """Counts of one floor, and the words for what failed or was skipped."""

    def __init__(self, name, must=False):
        self.name, self.must = name, must
        self.passed = self.failed = self.skipped = 0
        self.failures, self.skips = [], []

    def ok(self):
        self.passed += 1

    def fail(self, what, detail=""):
        self.failed += 1
        self.failures.append([what, detail.rstrip()])

    def skip(self, what, reason):
        if self.must and not reason.startswith("n/a:"):
            self.fail(what, "# skipped where the ground is promised: " + (reason or "no reason given"))
            return
        self.skipped += 1
        self.skips.append([what, reason])

    def as_dict(self):
        return dict(self.__dict__)


def blames(errors):
    """The diagnostics a program wrote to stderr, one block a failing point."""
    blocks = []
    for line in errors.splitlines():
        if BLAME.match(line):
            blocks.append([])
        if blocks and line.startswith("#"):
            blocks[-1].append(line)
    return blocks


def read_tap(floor, program, output, errors=""):
    """Adds the points of one program. Returns what is wrong with its stream, or None."""
    planned = bailed = None
    seen = failing = 0
    details = blames(errors)
    lines = output.splitlines()
    for index, line in enumerate(lines):
        plan, bail, point = PLAN.match(line), BAIL.match(line), POINT.match(line)
        if plan:
            if planned is not None:
                return "two plans"
            planned = int(plan[1])
            if planned == 0:
                floor.skip(program, plan[2] or "")
        elif bail:
            bailed = bail[1]
            break
        elif point:
            seen += 1
            bad, number, name, directive, reason = point.groups()
            what = f"{program}: {name or number or seen}"
            if number and int(number) != seen:
                return f"point {seen} calls itself {number}"
            if directive and directive.lower().startswith("skip"):
                floor.skip(what, reason)
            elif directive and bad:
                floor.skip(what, "n/a: todo " + reason)
            elif not bad:
                floor.ok()
            else:
                own = []
                for comment in lines[index + 1:]:
                    if not comment.startswith("#"):
                        break
                    own.append(comment)
                if failing < len(details):
                    own += details[failing]
                failing += 1
                floor.fail(what, "\n".join(own))
    if bailed is not None:
        return "bailed out: " + bailed
    if planned is None:
        return "no plan"
    if planned != seen:
        return f"planned {planned}, ran {seen}"
    return None


def tail(text, count=20):
    return "\n".join("# " + line for line in text.splitlines()[-count:])


def read_meson(floor, path):
    """meson's testlog.json: one JSON object a line, one line a program."""
    with open(path, encoding="utf-8") as log:
        programs = [json.loads(line) for line in log if line.strip()]
    for program in programs:
        name = program["name"].split(" / ")[-1].split(":")[-1]
        output, errors = program.get("stdout") or "", program.get("stderr") or ""
        result = program["result"]
        before = floor.failed
        if program.get("returncode") == 77 and not output.strip():
            floor.skip(name, errors.strip().splitlines()[-1] if errors.strip() else "")
            continue
        wrong = read_tap(floor, name, output, errors)
        if result in ("OK", "EXPECTEDFAIL", "SKIP") and not wrong:
            continue
        if wrong or floor.failed == before:
            code = program.get("returncode")
            what = f"{name}: {wrong or 'program failed'} ({result.lower()}, status {code})"
            floor.fail(what, tail(output, 8) + "\n" + tail(errors))


def read_machines(arguments):
    """What tests/vm/vm prints: one TAP stream of points "RELEASE MANAGER TEST: …", and their
    total as the last line. A floor for each release and manager."""
    with open(arguments.machines, encoding="utf-8", errors="replace") as log:
        lines = [line for line in log.read().splitlines() if line.strip()]
    streams, last = {}, None
    for line in lines:
        place = re.match(r"(?:not )?ok \d+ - (\d+(?: (?:system|user|private)\b)?)", line)
        if place:
            last = streams.setdefault(place[1], [])
            line = re.sub(r"ok \d+ - \d+(?: (?:system|user|private))?:? ?", "ok - ", line, count=1)
        if last is not None and (place or line.startswith("#")):
            last.append(line)
    floors, counted = [], 0
    for place, stream in sorted(streams.items()):
        count = sum(not line.startswith("#") for line in stream)
        floor = Floor(f"{arguments.name} {place}", arguments.must)
        wrong = read_tap(floor, f"{arguments.name} {place}", "\n".join(stream + [f"1..{count}"]))
        if wrong:
            floor.fail(wrong)
        counted += count
        floors.append(floor)
    total = TOTAL.match(lines[-1]) if lines else None
    if not total or sum(map(int, total.groups())) != counted or not counted:
        floors.append(Floor(arguments.name))
        floors[-1].fail("ended without its counts, or they are not those of its points",
                        tail("\n".join(lines)))
    return floors


def store(state, floor):
    with open(state, "a", encoding="utf-8") as file:
        file.write(json.dumps(floor.as_dict()) + "\n")


def load(state):
    floors = {}
    if not os.path.exists(state):
        return floors
    with open(state, encoding="utf-8") as file:
        for row in map(json.loads, file):
            floor = floors.setdefault(row["name"], Floor(row["name"]))
            for key in ("passed", "failed", "skipped", "failures", "skips"):
                setattr(floor, key, getattr(floor, key) + row[key])
    return floors


def print_sum(state):
    floors = load(state)
    passed = sum(floor.passed for floor in floors.values())
    failed = sum(floor.failed for floor in floors.values())
    skipped = sum(floor.skipped for floor in floors.values())
    skips = [(floor.name, *skip) for floor in floors.values() for skip in floor.skips]
    failures = [(floor.name, *failure) for floor in floors.values() for failure in floor.failures]
    print()
    if skips:
        print("skipped:")
        for name, what, reason in skips:
            print(f"  {name}: {what}: {reason or 'no reason given'}")
        print()
    if failures:
        print("failed:")
        for name, what, detail in failures:
            print(f"  {name}: {what}")
            for line in detail.splitlines():
                print("    " + line)
        print()
    for floor in floors.values():
        print(f"{floor.name + ':':<22}{floor.passed:>6} passed, {floor.failed} failed, "
              f"{floor.skipped} skipped")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def read_floor(arguments):
    floor = Floor(arguments.name, arguments.must)
    floors = [floor]
    try:
        if arguments.meson:
            read_meson(floor, arguments.meson)
        elif arguments.machines:
            floors = read_machines(arguments)
        else:
            with open(arguments.tap, encoding="utf-8", errors="replace") as file:
                text = file.read()
            wrong = read_tap(floor, arguments.name, text)
            if wrong:
                floor.fail(f"{arguments.name}: {wrong}", tail(text))
    except FileNotFoundError as error:
        floor.fail(f"{arguments.name}: left no log", f"# {error}")
    for floor in floors:
        if not floor.passed + floor.failed + floor.skipped:
            floor.fail(f"{arguments.name}: ran no test")
        store(arguments.state, floor)
    return 1 if any(floor.failed for floor in floors) else 0


SELF_TESTS = [
    # passed, failed, skipped, stream is well, must, stdout
    (2, 0, 0, True, False, "ok 1 - a\nok 2 - b # really \\# skipped\n1..2\n"),
    (1, 1, 0, True, False, "1..2\nok 1\nnot ok 2 - b\n#  got: 1\n"),
    (1, 0, 1, True, False, "1..2\nok 1\nok 2 - b # SKIP no ground\n"),
    (1, 1, 0, True, True, "1..2\nok 1\nok 2 - b # SKIP no ground\n"),
    (1, 0, 1, True, True, "1..2\nok 1\nok 2 - b # SKIP n/a: not here\n"),
    (0, 0, 1, True, True, "1..1\nnot ok 1 - b # todo later\n"),
    (0, 0, 1, True, False, "1..0 # SKIP nothing\n"),
    (0, 1, 0, True, True, "1..0 # SKIP nothing\n"),
    (1, 0, 0, False, False, "1..2\nok 1\n"),
    (1, 0, 0, False, False, "ok 1\n"),
    (0, 0, 0, False, False, ""),
    (1, 0, 0, False, False, "1..2\nok 1\nBail out! gone\nok 2\n"),
    (1, 0, 0, False, False, "1..2\nok 1\nok 1\n"),
    (1, 0, 0, True, False, "1..1\nokay\nnothing ok 2\nok 1 - skip the skipped\n"),
]


def self_test():
    failed = 0
    print(f"1..{len(SELF_TESTS)}")
    for number, (passed, bad, skipped, well, must, text) in enumerate(SELF_TESTS, 1):
        floor = Floor("self", must)
        wrong = read_tap(floor, "self", text)
        got = (floor.passed, floor.failed, floor.skipped, wrong is None)
        right = got == (passed, bad, skipped, well)
        failed += not right
        print(f"{'ok' if right else 'not ok'} {number} - report counts {text!r:.60}".replace("#", "%"))
        if not right:
            print(f"# got {got}, expected {(passed, bad, skipped, well)}: {wrong}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    floor = verbs.add_parser("floor")
    floor.add_argument("name")
    floor.add_argument("--state", required=True)
    floor.add_argument("--must", action="store_true")
    source = floor.add_mutually_exclusive_group(required=True)
    for option in ("--meson", "--tap", "--machines"):
        source.add_argument(option)
    point = verbs.add_parser("point")
    point.add_argument("name")
    point.add_argument("--state", required=True)
    point.add_argument("result", choices=("ok", "fail", "skip"))
    point.add_argument("what")
    point.add_argument("detail", nargs="?", default="")
    verbs.add_parser("sum").add_argument("--state", required=True)
    verbs.add_parser("self-test")
    arguments = parser.parse_args()
    if arguments.verb == "self-test":
        return self_test()
    if arguments.verb == "sum":
        return print_sum(arguments.state)
    if arguments.verb == "floor":
        return read_floor(arguments)
    floor = Floor(arguments.name)
    if arguments.result == "ok":
        floor.ok()
    elif arguments.result == "skip":
        floor.skip(arguments.what, arguments.detail)
    else:
        floor.fail(arguments.what, arguments.detail)
    store(arguments.state, floor)
    return 0


if __name__ == "__main__":
    sys.exit(main())
