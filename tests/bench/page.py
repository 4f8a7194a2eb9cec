# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/bench.md, made of what the benchmarks wrote. No number in it is written by hand."""

HEAD = """# What it costs, measured

Made by `./dev bench --write-docs` of its own results; do not edit. What competes was measured in turns, one of each a
round: compare ratios, not milliseconds of different machines. A ratio is taken round by round, and the median is
held to the bound. The floor (`tests/bench/floor.c`) is one StartTransientUnit with our properties over a direct
connection, `/bin/true` without gate, guard or read-back, its end seen in the manager's signals, and the stop of its slice.
systemd-run is `systemd-run --wait --pipe`; it needs a bus, so dbus-daemon runs in the private manager for it.
"""
UNKNOWN = "unknown"


def number(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}"


def cell(text):
    return str(text).replace("|", "\\|")


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(cell(part) for part in row) + " |" for row in rows), ""]


def machine_lines(facts, is_quick, measured):
    return [f"* {measured or 'all'}: {facts['date']}; {facts['cordon']} ({facts.get('commit') or UNKNOWN}), {facts['systemd'] or 'no systemd-run'}, "
            f"kernel {facts['kernel']} {facts['architecture']}, {facts.get('processor') or UNKNOWN}, "
            f"{facts['cpus']} CPUs, load {facts['load'][0]:.1f} at the beginning"
            f"{', --quick (fewer runs)' if is_quick else ''}."]


def each_machine(document):
    """What was measured apart may be from another day."""
    documents = [document, *document.get("joined", [])]
    return [line for number, each in enumerate(documents)
            for line in machine_lines(each["machine"], each.get("quick"), ", ".join(each.get("measured", [])))
            if number == 0 or each["machine"] != document["machine"]]


def figure(row):
    value = f"{number(row['value'])} {row['unit']}".strip()
    if row["n"] == 1:
        return value
    return f"{value} ({number(row['p10'])}..{number(row['p90'])}, {row['n']})"


def target_lines(targets):
    if not targets:
        return []
    return ["## Targets", "",
            *table(("what", "manager", "bound", "median (p10..p90, n)", ""),
                   ((row["what"], row["manager"] or "any", row["bound"], figure(row), row["verdict"])
                    for row in targets))]


def section_lines(section):
    spreads = [row for row in section["rows"] if "p50" in row]
    texts = [row for row in section["rows"] if "text" in row]
    lines = ["", f"### {section['title']}", ""]
    if spreads:
        lines += table(("", "unit", "p50", "p10..p90", "p99", "n"),
                       ((row["label"], {"x": "ratio"}.get(row["unit"], row["unit"]), number(row["p50"]),
                         f"{number(row['p10'])}..{number(row['p90'])}",
                         number(row["p99"]) if row["n"] >= 100 else "", row["n"]) for row in spreads))
    if texts:
        lines += table(("", ""), ((row["label"], row["text"]) for row in texts))
    return lines


def render(document):
    lines = [HEAD, *each_machine(document), "", *target_lines(document["targets"]), "## Figures"]
    for section in document["sections"]:
        if section["rows"]:
            lines += section_lines(section)
    if document["left_out"]:
        lines += ["## Left out", "", *(f"* {name}: {reason}" for name, reason in document["left_out"].items()), ""]
    text = "\n".join(line.rstrip() for line in "\n".join(lines).split("\n"))
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"
