# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/cost.md, made of what `timeline` measured and, for many sandboxes at a time, of the tables in docs/bench.md. No number in it
is written by hand."""
import re

from contest import median, quantile
from page import machine_lines, number, table
from picture import NUMBER
from spans import SPANS
from timeline import CONNECTIONS, LAUNCH_ROUNDS, LAUNCHES, LIMITS

HEAD = """# Where the time of a run goes

Made by `./dev bench timeline --write-docs`; do not edit. What a run costs beside others is in bench.md; here is what it is spent
on. It is one `cordon run {limits} -- /bin/true`, alone, while a private manager and its guard are there: nothing else runs, the
last run is cleared away, and the guard has hung up on the manager, as it does after a tenth of a second without anything to say.
"""
HOW = """Launcher, gate, guard and manager are under `strace` at the same time, with the calls that the moments are known by
(`tests/bench/spans.py`). That costs time of its own: each system call of theirs stops them, also those that are not looked at. So {runs}
runs each are made, in turns, in three ways: not traced, with only the launcher traced, and with all of them traced:
"""
READING = """Compare a span with its neighbours in the same column, and take the sum from the first line of this table. In
the picture a box lies between the medians of its begin and its end; the tables have the median of its length, so they do not add up to the
last digit.

![timeline of a service and of a scope](cost.svg)
"""
KINDS = {"service": "A service", "scope": "A scope (`--scope`)"}
COUNTED = ("Counted instead of timed, where nothing is traced: CPU time of each process for such a run. {launcher:.1f} ms of the launcher "
           "and what it executes, {guard:.1f} ms of the guard, {manager:.1f} ms of the manager, its children not included.")
CONNECTION = """## What a connection costs

{connection:.2f} ms of the manager's CPU time: {count} times connecting to it, shaking hands and closing, without a message; three times
over, the median. It registers the methods of all its objects for every connection, and tells everything to each. With connections of
their own all runs would pay that; the guard pays it once for those that follow each other within a tenth of a second. The runs above are
alone, and so each has the guard's in it.

## What a slice costs

{slice:.2f} ms of the manager's CPU time: {sliced:.2f} ms for a launch of the floor with a slice (`tests/bench/floor.c`), {bare:.2f} ms for
one without, {launches} of them one after another, {rounds} rounds in turns, the medians. It is a second unit with cgroups of its own,
and its stop. It buys the limits of the whole tree, counters that are still there when the program is gone, and one thing to stop in the
end.
"""
GROWTH = """## How it grows with the number of sandboxes

From bench.md, on the machine and day that it names for `crowd`, `thousand` and `load`: one more run while so many others sleep,
medians in milliseconds.
"""
GROWTH_WORDS = """Nothing of ours that happens to one launch costs more because of the others: the launcher looks into one table for each
signal, and reads only its own cgroups. What is left is the manager's: it tells everything to every connection, looks through its
units when one is loaded or forgotten, and the kernel's tree of cgroups is wider. The floor, which has nothing of ours in it, shows how
much that is.
"""
LOAD = """What asking the manager takes (`systemctl show`) while a batch keeps it busy, in milliseconds: how long others wait for it.
"""
CELLS = re.compile(r"(?<!\\)\|")
SLEEPING = re.compile(r"^(.*), (\d+) sleep$")


def spread_of(samples):
    return f"{number(median(samples))} ({number(quantile(samples, 0.1))}..{number(quantile(samples, 0.9))})"


def total_lines(kinds):
    def times(samples, untraced):
        return f"{median(samples) / median(untraced):.1f} x"
    rows = []
    for name, kind in kinds.items():
        rows.append((name, spread_of(kind["untraced"]), f"{spread_of(kind['light'])}: {times(kind['light'], kind['untraced'])}",
                     f"{spread_of(kind['traced'])}: {times(kind['traced'], kind['untraced'])}"))
    return table(("ms from the exec to the exit, median (p10..p90)", "not traced", "only the launcher traced", "all traced"), rows)


def span_lines(kind):
    rows = []
    for span in SPANS:
        found, alone = kind["spans"].get(span.key), kind["alone"].get(span.key)
        if not found:
            continue
        rows.append((NUMBER[span.key], span.lane, span.name, f"{found['ms']:.2f} ({found['p10']:.2f}..{found['p90']:.2f})",
                     f"{alone['ms']:.2f}" if alone and span.lane == "launcher" else ""))
    return table(("", "who", "span", "ms, all traced (p10..p90)", "ms, only the launcher traced"), rows)


def meaning_lines(kinds):
    known = [span for span in SPANS if any(span.key in kind["spans"] for kind in kinds.values())]
    missing = [f"{NUMBER[span.key]} {span.name}" for span in SPANS if span not in known]
    lines = table(("", "who", "span", "what it is", "what it would take to be without it"),
                  ((NUMBER[span.key], span.lane, span.name, span.what, span.remove) for span in known))
    if missing:
        lines += [f"Not told by the traces of this machine: {', '.join(missing)}.", ""]
    return lines


def section(bench, title):
    """The cells of a table in bench.md, by the beginning of its title."""
    found, is_in = [], False
    for line in bench.splitlines():
        if line.startswith("#"):
            is_in = line.lstrip("# ").startswith(title)
        elif is_in and line.startswith("| "):
            found.append([cell.strip().replace("\\|", "|") for cell in CELLS.split(line)[1:-1]])
    return found


def growth_lines(bench):
    spreads, words = {}, []
    for cells in section(bench, "one more while others sleep"):
        match = SLEEPING.match(cells[0])
        if match and len(cells) >= 3:
            spreads.setdefault(match[1], {})[int(match[2])] = f"{cells[2]} ({cells[3]})"
        elif len(cells) == 2 and cells[0]:
            words.append(f"* {cells[0]}: {cells[1]}")
    if not spreads:
        return [GROWTH, "bench.md has no such table: `./dev bench thousand` makes it.", ""]
    counts = sorted({count for row in spreads.values() for count in row})
    load = [(cells[0], cells[2], cells[3], cells[4]) for cells in section(bench, "asking the manager (systemctl show)")
            if len(cells) >= 5 and cells[1] == "ms"]
    return [GROWTH, *table(("one more, while … sleep", *(str(count) for count in counts)),
                           ((label, *(row.get(count, "") for count in counts)) for label, row in spreads.items())),
            *words, "", GROWTH_WORDS, *([LOAD, *table(("", "p50", "p10..p90", "p99"), load)] if load else [])]


def render(document, bench):
    """bench: the text of docs/bench.md."""
    found = document["results"]["private"]["timeline"]
    kinds = found["kinds"]
    facts = next(each for each in [document, *document.get("joined", [])] if "timeline" in each["measured"])
    lines = [HEAD.format(limits=" ".join(LIMITS)), *machine_lines(facts["machine"], facts.get("quick"), "measured"), "",
             HOW.format(runs=len(next(iter(kinds.values()))["untraced"])), *total_lines(kinds), READING]
    for name, kind in kinds.items():
        lines += [f"## {KINDS[name]}", "", *span_lines(kind), COUNTED.format(**kind["cpu_ms"]), ""]
    lines += ["## What the spans are", "", *meaning_lines(kinds),
              CONNECTION.format(connection=found["connection_ms"], count=CONNECTIONS, sliced=found["sliced_ms"],
                                bare=found["bare_ms"], slice=found["sliced_ms"] - found["bare_ms"], launches=LAUNCHES,
                                rounds=LAUNCH_ROUNDS),
              *growth_lines(bench)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def titles(kinds):
    return {name: f"{name}: {median(kind['untraced']):.1f} ms not traced; drawn as traced, "
                  f"{median(kind['traced']):.1f} ms" for name, kind in kinds.items()}
