# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many: what a sandbox costs while others sleep, and whether thousands in a row leave anything behind.

The batch is kept open as a coprocess, so that it can be looked at while it has exactly as many jobs as were given to it."""
import json
import os
import subprocess
import time

from contest import Command, median
from ground import Unavailable, memory_of
from rivals import LIMITS, LIMITS_OF_FLOOR, PROGRAM
from target import find

PATIENCE_S, SETTLED_AT_LAST_S = 600, 3
SLEEPERS_AT_A_TIME = 10
LONG_JOBS, LONG_STEP = 20_000, 1000


class OpenBatch:
    """cordon batch, with a pipe on either side."""

    def __init__(self, ground, parallel):
        self.ground = ground
        self.process = subprocess.Popen(ground.batch("--quiet", "--parallel", str(parallel), *LIMITS),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.begun = os.path.join(ground.folder, f"begun-{self.process.pid}")

    def give(self, *command, count=1, **more):
        self.process.stdin.write((json.dumps({"command": command, **more}) + "\n") * count)
        self.process.stdin.flush()

    def take(self):
        record = json.loads(self.process.stdout.readline() or '{"message": "no record came"}')
        if not record.get("ok"):
            raise Unavailable(f"a job of the batch: {record.get('message')}")

    def one(self):
        """Milliseconds of one more."""
        begin = time.perf_counter()
        self.give(PROGRAM)
        self.take()
        return (time.perf_counter() - begin) * 1000

    def put_to_sleep(self, count, wanted):
        """Waits until as many as are wanted sleep."""
        self.give("sh", "-c", f"echo >>{self.begun}; exec sleep 100000", count=count,
                  limits={"timeout": "10h"})
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.exists(self.begun) or os.path.getsize(self.begun) < wanted:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Unavailable(f"{count} sleepers did not begin within {PATIENCE_S} s")
            time.sleep(0.01)

    def memory_kib(self):
        return memory_of(self.process.pid)[0]

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def close(self):
        """Sleepers are ended, and their records read; nothing is left of them afterwards."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)
        return time.monotonic() - began


def ask_the_manager(ground):
    return Command([ground.tool("systemctl"), ground.whose(), "show", "--property=Version"], ground.environment())


def crowd(report, ground, quick, counts=(10, 100)):
    report.title("one more while others sleep: a job of the same batch, a run of its own, the floor's, and asking the manager")
    runs = 10 if quick else 25
    batch, found = OpenBatch(ground, max(counts) + 1), {}
    single = {"one more in the batch": batch.one,
              "cordon run": Command(ground.run(*LIMITS, "--", PROGRAM)),
              "floor: one launch as a program": Command(ground.floor(1, 1, *LIMITS_OF_FLOOR)),
              "systemctl show": ask_the_manager(ground)}
    try:
        batch.one()
        empty = batch.memory_kib(), batch.fds()
        for before, count in zip((0, 0, *counts), (0, *counts)):
            began = time.monotonic()
            if count:
                batch.put_to_sleep(count - before, count)
            found[count] = row = {"started_s": time.monotonic() - began,
                                  "kib_a_job": (batch.memory_kib() - empty[0]) / max(count, 1),
                                  "fds_a_job": (batch.fds() - empty[1]) / max(count, 1),
                                  "manager_kib": memory_of(ground.manager)[0]}
            row["ms"] = {label: [call() for _ in range(runs)] for label, call in single.items()}
            if count:
                report.row(f"{count} sleep", f"{row['kib_a_job']:.1f} KiB and {row['fds_a_job']:.1f} descriptors of "
                           f"ours for each; the last {count - before} began within {row['started_s']:.2f} s; "
                           f"the manager has {row['manager_kib'] / 1024:.0f} MiB")
            for label, samples in row["ms"].items():
                report.spread(f"{label}, {count} sleep", samples)
        report.row("ending them all", f"{batch.close():.2f} s")
    finally:
        batch.close()
    report.keep(f"crowd_{max(counts)}", found)
    report.judge("running-memory", found[max(counts)]["kib_a_job"])


def thousand(report, ground, quick):
    crowd(report, ground, quick, (10, 100, 1000))


def under_load(report, ground, quick):
    report.title("asking the manager (systemctl show) while a batch runs")
    found = {}
    for parallel in (None, 2, 8, 64):
        call, runs = ask_the_manager(ground), 20 if quick else 100
        if not parallel:
            found["nothing runs"] = [call() for _ in range(runs)]
            continue
        batch = OpenBatch(ground, parallel)
        try:
            # More than will be done meanwhile; what was not begun never is.
            batch.give(PROGRAM, count=400)
            batch.take()
            found[f"cordon batch --parallel {parallel}"] = [call() for _ in range(runs)]
        finally:
            batch.close()
    for label, samples in found.items():
        report.spread(label, samples)
    report.keep("under_load", found)


def cgroups_of(ground):
    """Ours, beside the manager's own, in all hierarchies together. While one of ours runs there are some."""
    with open(f"/proc/{ground.manager}/cgroup", encoding="utf-8") as file:
        paths = {os.path.dirname(line.rstrip("\n").split(":", 2)[2]) for line in file if "init.scope" in line}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        points = {line.split()[4] for line in file if " - cgroup" in line}
    places = {os.path.realpath(point + path) for point in points for path in paths}
    count = sum(name.startswith("cordon") for place in places for _, folders, _ in os.walk(place) for name in folders)
    if count == 0:
        raise Unavailable("no cgroup of ours was found, and one run of ours is there")
    return count


def units_of(ground):
    return len(ground.systemctl("list-units", "--all", "--no-legend", "--plain", "cordon*").splitlines())


def settled(count, known):
    """What is still being cleared away is not left over: until it is no more than what was known."""
    deadline = time.monotonic() + SETTLED_AT_LAST_S
    value = count()
    while value > (known or 0) and time.monotonic() < deadline:
        time.sleep(0.05)
        value = count()
    return value


def look(ground, batch, known):
    counts = {"fds": batch.fds, "units": lambda: units_of(ground), "cgroups": lambda: cgroups_of(ground)}
    return {"memory": batch.memory_kib(), "manager": memory_of(ground.manager)[0],
            **{key: settled(count, known.get(key)) for key, count in counts.items()}}


def long(report, ground, quick):
    jobs = LONG_JOBS // 10 if quick else LONG_JOBS
    step = LONG_STEP // 10 if quick else LONG_STEP
    report.title(f"{jobs} jobs in one batch, looked at after every {step} of them, when none runs")
    batch, samples, began = OpenBatch(ground, 8), [], time.monotonic()
    try:
        batch.one()
        for done in range(0, jobs + 1, step):
            if done:
                batch.give(PROGRAM, count=step)
                for _ in range(step):
                    batch.take()
            took = time.monotonic() - began
            samples.append({"jobs": done, "seconds": took, **look(ground, batch, samples[0] if samples else {})})
            if done % (jobs // 5) == 0:
                report.row(f"after {done} jobs", "{seconds:6.0f} s: {memory} KiB, {fds} descriptors; {units} units, "
                           "{cgroups} cgroups, manager {manager} KiB".format(**samples[-1]))
    finally:
        batch.close()
    report.keep("long", samples)
    half = len(samples) // 2
    for key in ("memory", "fds", "units", "cgroups"):
        early, late = (median([sample[key] for sample in part]) for part in (samples[half:half + 3], samples[-3:]))
        report.row(f"growth over the second half: {key}", f"{late - early:.0f} {find('growth-' + key).unit}")
        report.judge(f"growth-{key}", late - early)
