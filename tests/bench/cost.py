# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run costs: system calls, messages, memory, CPU time of ours and of the manager, instructions."""
import os

import rivals
from contest import median
from ground import Unavailable
from rivals import LIMITS, LIMITS_AS_PROPERTIES, LIMITS_OF_FLOOR, PROGRAM
from throughput import jobs_file
from trace import Trace, instructions, trace

RUNS_TOGETHER = 20
FEW, MANY = 10, 60  # what a job costs is the difference between batches of so many, by their number


def contestants(report, ground):
    """Each with its environment, by label."""
    found = {"cordon run, limits": (ground.run(*LIMITS, "--", PROGRAM), None),
             "cordon run --scope, limits": (ground.run("--scope", *LIMITS, "--", PROGRAM), None),
             "floor: one launch as a program, limits": (ground.floor(1, 1, *LIMITS_OF_FLOOR), None)}
    for label, make in (("systemd-run, limits", rivals.systemd_run),
                        ("systemd-run --scope, limits", rivals.systemd_run_scope)):
        try:
            found[label] = (rivals.tried(ground, make, *LIMITS_AS_PROPERTIES), ground.environment())
        except Unavailable as reason:
            report.leave_out(label, reason)
    for label, make in (("bwrap", rivals.bwrap), ("prlimit + timeout", rivals.prlimit_and_timeout)):
        try:
            found[label] = (rivals.tried(ground, make), None)
        except Unavailable as reason:
            report.leave_out(label, reason)
    return found


def in_a_batch(measure, ground):
    """What measure(command) gives for a job of a batch, and of the floor, apart from start and end."""
    for label, command in (
            ("a job of cordon batch, limits", lambda count: ground.batch("--quiet", *LIMITS, jobs_file(ground, count))),
            ("floor: one of many launches, limits", lambda count: ground.floor(count, 2, *LIMITS_OF_FLOOR))):
        yield label, measure(command(FEW)), measure(command(MANY))


def messages(report, ground, quick):
    report.title("system calls and messages of one run of `true`, all processes of the client, the program's own included "
                 "where it is its child")
    found = {}

    def say(label, least):
        found[label] = least._asdict()
        report.row(label, f"{least.calls:6.0f} system calls, {least.sent:4.0f} messages sent, {least.received:4.0f} "
                          f"received, {least.bytes / 1024:6.1f} KiB")

    def least_of(command, environment=None):
        return min((trace(ground, command, environment) for _ in range(2 if quick else 5)), key=lambda t: t.calls)

    for label, (command, environment) in contestants(report, ground).items():
        try:
            say(label, least_of(command, environment))
        except Unavailable as reason:
            report.leave_out(f"{label}, traced", reason)
    for label, few, many in in_a_batch(least_of, ground):
        say(label, Trace(*((more - less) / (MANY - FEW) for more, less in zip(many, few))))
    report.keep("messages", found)


def some_runs(ground, command, environment):
    """Of one of them; the children's time moves in ticks, which many together are enough of."""
    own, reaped = ground.manager_cpu_usec()
    measured = [ground.meter(command, environment) for _ in range(RUNS_TOGETHER)]
    own_after, reaped_after = ground.manager_cpu_usec()
    return {"peak_kib": median([each.peak_kib for each in measured]),
            "client_ms": median([each.cpu_usec for each in measured]) / 1e3,
            "manager_ms": (own_after - own) / 1e3 / RUNS_TOGETHER,
            "reaped_ms": (reaped_after - reaped) / 1e3 / RUNS_TOGETHER}


def usage(report, ground, quick):
    report.title("of one run of `true`: peak memory and CPU time of the client; CPU time of the manager and of its children")
    both = contestants(report, ground)
    samples = {label: [] for label in both}
    for _ in range(2 if quick else 6):
        for label, (command, environment) in both.items():
            samples[label].append(some_runs(ground, command, environment))
    found = {}
    for label, rows in samples.items():
        found[label] = {name: median([row[name] for row in rows]) for name in rows[0]}
        report.row(label, "{peak_kib:7.0f} KiB; {client_ms:6.2f} ms; {manager_ms:6.2f} ms + {reaped_ms:.2f} ms"
                   .format(**found[label]))
    report.keep("usage", found)
    many_jobs(report, ground, 200 if quick else 1000)


def many_jobs(report, ground, count):
    report.title(f"of {count} jobs in one process: CPU time and peak memory of it; CPU time of the manager and of its children")
    found = {}
    for label, command in (
            ("cordon batch, limits", ground.batch("--quiet", *LIMITS, jobs_file(ground, count))),
            ("floor, a slice a run, 4 in flight", ground.floor(count, 4, *LIMITS_OF_FLOOR, around="counted"))):
        own, reaped = ground.manager_cpu_usec()
        measured = ground.meter(command)
        own_after, reaped_after = ground.manager_cpu_usec()
        found[label] = {**measured._asdict(), "manager_usec": own_after - own, "reaped_usec": reaped_after - reaped}
        report.row(label, f"{measured.cpu_usec / 1e6:6.2f} s; {measured.peak_kib:6} KiB; "
                          f"{(own_after - own) / 1e6:6.2f} s + {(reaped_after - reaped) / 1e6:.2f} s")
    report.keep("many_jobs", found)


def counted(report, ground, quick):
    """Their number is the same on a busy machine, so that a change of a hundredth shows."""
    report.title("instructions (valgrind), in thousands: the pure parts, and a job's share in a batch")
    found = {}

    def say(label, count):
        found[label] = count
        report.row(label, f"{count / 1000:9.0f}")

    cases = {"floor: links our libraries, and ends": [ground.built("bench-linked")],
             "cordon --version": ground.cordon("--version"),
             "cordon run --help": ground.cordon("run", "--help"),
             "cordon run --dry-run, limits": ground.run("--dry-run", *LIMITS, "--", PROGRAM)}
    units = os.path.join(os.path.dirname(os.path.dirname(ground.program)), "tests", "unit")
    for name in ("compose", "cause", "verdict", "name", "format"):
        if os.access(os.path.join(units, f"test-{name}"), os.X_OK):
            cases[f"the whole of test-{name}"] = [os.path.join(units, f"test-{name}")]
    try:
        for label, command in cases.items():
            say(label, instructions(ground, command))
        for label, few, many in in_a_batch(lambda command: instructions(ground, command), ground):
            say(label, (many - few) / (MANY - FEW))
    except Unavailable as reason:
        report.leave_out("instructions", reason)
    report.keep("instructions", found)


def memory(report, ground, quick):
    report.title("memory while a run of ours idles (Rss / Pss)")
    sizes = ground.memory_while_idle()
    report.keep("memory_kib", sizes)
    for name, (rss, pss) in sizes.items():
        report.row(name, f"{rss} KiB / {pss} KiB")
