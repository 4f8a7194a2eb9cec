# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many jobs a second: cordon batch, the pipelined floor, and others under xargs. A competitor runs as many jobs as all
the others, once a round; what it takes includes its own start and end. The manager's part in it, and ours, are counted
in CPU time besides, which a busy machine changes little."""
import json
import os

import rivals
from contest import Contest, median
from ground import Unavailable
from rivals import COUNTERS_AS_PROPERTIES, LIMITS, LIMITS_AS_PROPERTIES, LIMITS_OF_FLOOR, PROGRAM

DEPTHS = (1, 4, 8, 16, 64)
FLOOR_DEPTHS = (2, 4, 8, 16)
XARGS_PARALLEL = 8
FEWEST_JOBS = 40
SAME_PROPERTIES = "systemd-run --wait --pipe, counters"


class Bout:
    """So many jobs, by one command. Called, it returns milliseconds a job; what was used is kept beside."""

    def __init__(self, ground, command, jobs, environment=None):
        self.ground, self.command, self.jobs, self.environment = ground, command, jobs, environment
        self.client_ms, self.manager_ms, self.reaped_ms, self.peaks_kib = [], [], [], []

    def __call__(self):
        own, reaped = self.ground.manager_cpu_usec()
        measured = self.ground.meter(self.command, self.environment)
        own_after, reaped_after = self.ground.manager_cpu_usec()
        self.client_ms.append(measured.cpu_usec / 1e3 / self.jobs)
        self.manager_ms.append((own_after - own) / 1e3 / self.jobs)
        self.reaped_ms.append((reaped_after - reaped) / 1e3 / self.jobs)
        self.peaks_kib.append(measured.peak_kib)
        return measured.wall_usec / 1e3 / self.jobs


def jobs_file(ground, count):
    path = os.path.join(ground.folder, f"jobs-{count}")
    with open(path, "w", encoding="utf-8") as file:
        file.write((json.dumps({"command": [PROGRAM]}) + "\n") * count)
    return path


def under_xargs(ground, command, count):
    path = os.path.join(ground.folder, f"lines-{count}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("x\n" * count)
    return [ground.tool("xargs"), "-a", path, "-P", str(XARGS_PARALLEL), "-I", "{}", *command]


def add_ours(ground, contest, jobs):
    file = jobs_file(ground, jobs)
    for depth in DEPTHS:
        contest.add(f"cordon batch --parallel {depth}",
                    Bout(ground, ground.batch("--quiet", "--parallel", str(depth), *LIMITS, file), jobs))
    for depth in FLOOR_DEPTHS:
        contest.add(f"floor, a slice a run, {depth} in flight",
                    Bout(ground, ground.floor(jobs, depth, *LIMITS_OF_FLOOR, around="counted"), jobs))
    contest.add("floor, without slices, 4 in flight",
                Bout(ground, ground.floor(jobs, 4, *LIMITS_OF_FLOOR, around="bare"), jobs))


def add_rivals(report, ground, contest, jobs):
    for label, make, arguments in (
            ("systemd-run --wait --pipe", rivals.systemd_run, LIMITS_AS_PROPERTIES),
            (SAME_PROPERTIES, rivals.systemd_run, LIMITS_AS_PROPERTIES + COUNTERS_AS_PROPERTIES),
            ("bwrap", rivals.bwrap, ()), ("prlimit + timeout", rivals.prlimit_and_timeout, ())):
        label = f"xargs -P {XARGS_PARALLEL} {label}"
        try:
            command = rivals.tried(ground, make, *arguments)
            contest.add(label, Bout(ground, under_xargs(ground, command, jobs), jobs, ground.environment()),
                        is_guest=True)
        except Unavailable as reason:
            report.leave_out(label, reason)


def best(contest, beginning):
    return min((label for label in contest.labels() if label.startswith(beginning)),
               key=lambda label: median(contest.samples[label]))


def rates(samples):
    return [1000 / sample for sample in samples]


def jobs_of_a_turn(ground, most):
    """As many as the floor does in about two seconds: a busy machine gets to the end of its rounds, too, and what a batch
    takes to begin and to end is not most of it."""
    measured = ground.meter(ground.floor(FEWEST_JOBS, 2, *LIMITS_OF_FLOOR))
    return int(min(max(2 * FEWEST_JOBS * 1e6 / measured.wall_usec, FEWEST_JOBS), most))


def throughput(report, ground, quick):
    jobs = jobs_of_a_turn(ground, 60 if quick else 400)
    report.title(f"jobs a second, {jobs} of `true` a round; limits: memory, tasks, cpu, timeout")
    contest = Contest()
    add_ours(ground, contest, jobs)
    add_rivals(report, ground, contest, jobs)
    contest.run(5 if quick else 9, 240)
    for label, reason in contest.dropped.items():
        report.leave_out(label, reason)
    for label in contest.labels():
        report.spread(label, rates(contest.samples[label]), "/s")
    report.keep("throughput", {**contest.as_dict(), "jobs": jobs})

    ours, floor = best(contest, "cordon batch"), best(contest, "floor, a slice")
    rate = [1 / ratio for ratio in contest.ratio(ours, floor)]
    report.spread(f"{ours} : {floor}", rate, "x")
    report.judge("batch-floor", rate)
    for label in contest.labels():
        if label.startswith("xargs"):
            rate = [1 / ratio for ratio in contest.ratio(ours, label)]
            report.spread(f"{ours} : {label}", rate, "x")
            if label.endswith(SAME_PROPERTIES):
                report.judge("batch-xargs", rate)
    say_cpu(report, contest, [ours, floor] + [label for label in contest.labels() if "systemd-run" in label])


def say_cpu(report, contest, labels):
    report.title("CPU time of the same, for each job: ours or theirs; the manager's; its children's, our gate among them")
    found = {}
    for label in labels:
        bout = contest.competitors[label]
        found[label] = {"client_ms": bout.client_ms, "manager_ms": bout.manager_ms, "reaped_ms": bout.reaped_ms,
                        "peak_kib": bout.peaks_kib}
        total = [sum(parts) for parts in zip(bout.client_ms, bout.manager_ms, bout.reaped_ms)]
        report.spread(label, total)
        report.row("", f"{median(bout.client_ms):.2f} ms + {median(bout.manager_ms):.2f} ms + "
                       f"{median(bout.reaped_ms):.2f} ms; peak of the client {median(bout.peaks_kib):.0f} KiB")
    report.keep("throughput_cpu", found)
