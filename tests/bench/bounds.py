# SPDX-License-Identifier: LGPL-2.1-or-later
"""How closely limits are kept, and how true what the record says is."""
import os
import shutil
import sys

from contest import Command, Contest
from ground import Unavailable

SPIN = "while :; do :; done"


def overshoot(report, name, wanted_usec, runs, run):
    """run() gives the record's amount; what is above the limit is the overshoot."""
    over = [(run() - wanted_usec) / 1000 for _ in range(runs)]
    report.keep(name, {"limit_ms": wanted_usec / 1000, "overshoot_ms": over})
    report.spread(name, over)


def deadlines(report, ground, quick):
    report.title("overshoot, as the record has it")
    runs = 20 if quick else 100

    def one(amount, *arguments):
        def run():
            record = ground.record(*arguments)
            expected = "timeout" if amount == "wall_usec" else "cpu-time"
            if record["outcome"] != expected:
                raise Unavailable(f"the outcome was {record['outcome']}, not {expected}")
            return record["usage"][amount]
        return run

    cases = (
        ("--timeout 100ms, a sleeper", "wall_usec", ("--timeout", "100ms", "--", "sleep", "60")),
        ("--timeout 100ms, --grace 0", "wall_usec",
         ("--timeout", "100ms", "--grace", "0", "--", "sleep", "60")),
        ("--cpu-time 100ms, one process", "cpu_usec", ("--cpu-time", "100ms", "--", "sh", "-c", SPIN)),
        ("--cpu-time 100ms, four processes", "cpu_usec",
         ("--cpu-time", "100ms", "--", "sh", "-c", f"({SPIN}) & ({SPIN}) & ({SPIN}) & {SPIN}")),
    )
    for name, amount, arguments in cases:
        try:
            overshoot(report, name, 100_000, runs, one(amount, *arguments))
        except Unavailable as reason:
            report.leave_out(name, reason)
    rival_deadlines(report, ground, 5 if quick else 20)


def rival_deadlines(report, ground, runs):
    """From the spawn to the end, for who keeps no record; less the time that the sleeper was given."""
    contest = Contest(ground.settle)
    sleeper = ["sleep", "60"]
    contest.add("cordon run", always_true(ground.run("--quiet", "--timeout", "100ms", "--", *sleeper)))
    contest.add("timeout 0.1s", always_true([ground.tool("timeout"), "0.1s", *sleeper]))
    try:
        contest.add("systemd-run, RuntimeMaxSec=100ms", Command(
            always_true([*ground.systemd_run(), "--wait", "--pipe", "-p", "RuntimeMaxSec=100ms", "--", *sleeper]),
            ground.environment()))
    except Unavailable as reason:
        report.leave_out("systemd-run, RuntimeMaxSec=100ms", reason)
    contest.run(runs, 30)
    for label, samples in contest.samples.items():
        report.spread(f"{label}, from the spawn to the end", [sample - 100 for sample in samples])
    report.keep("deadlines_spawn_to_end", contest.as_dict())


def always_true(command):
    """Whoever ends a program says so by a status."""
    return ["sh", "-c", '"$@"; true', "sh", *command]


# Says at its end what the kernel charged to it, its start included; what follows is next to nothing.
CPU_PROGRAM = """
import os, resource, sys, time
while time.process_time() < float(sys.argv[1]): pass
used = resource.getrusage(resource.RUSAGE_SELF)
os.write(1, str(used.ru_utime + used.ru_stime).encode())
os._exit(0)
"""
MEMORY_PROGRAM = """
import mmap, sys
size = int(sys.argv[1])
if size:
    memory = mmap.mmap(-1, size)
    for at in range(0, size, 4096): memory[at] = 1
"""


def accuracy(report, ground, quick):
    report.title("error of what the record says, against programs of known use")
    runs, size = (5 if quick else 20), 64 << 20
    errors = []
    for _ in range(runs):
        record = ground.record("--capture", "--", sys.executable, "-c", CPU_PROGRAM, "0.3")
        errors.append(record["usage"]["cpu_usec"] / 1e3 - float(record["stdout"]) * 1e3)
    report.keep("cpu_error_ms", errors)
    report.spread("CPU time of 0.3 s", errors)

    # The interpreter's own memory is taken away: the same program is run without the block.
    errors = []
    for _ in range(runs):
        peaks = [ground.record("--", sys.executable, "-c", MEMORY_PROGRAM, str(amount))["usage"]
                 .get("memory_peak_bytes") for amount in (size, 0)]
        if None in peaks:
            report.leave_out("memory peak", "this manager's cgroups do not count it")
            return
        errors.append((peaks[0] - peaks[1] - size) / (1 << 20))
    report.keep("memory_error_mib", errors)
    report.spread("memory peak of 64 MiB", errors, "MiB")


def make_tree(root, files):
    """A hundred small files a directory."""
    for start in range(0, files, 100):
        directory = os.path.join(root, f"{start // 10000}", f"{start // 100}")
        os.makedirs(directory)
        for number in range(start, min(start + 100, files)):
            with open(os.path.join(directory, str(number)), "wb") as file:
                file.write(b"x")


def disk(report, ground, quick):
    """How late growth is seen, from what was written beyond the limit at the rate of the whole run; what watching costs,
    from the launcher's own CPU time in a long run less that in a short one, both of which measure the tree once."""
    files, limit, pause = 100_000, 256 << 20, 10 if quick else 30
    tree = os.path.join(ground.folder, "tree")
    report.title(f"--disk, in a tree of {files} files")
    make_tree(tree, files)
    written = os.path.join(tree, "written")
    late, rates = [], []
    for _ in range(3 if quick else 10):
        record = ground.record("--disk", str(limit), "-C", tree, "--", "dd", "if=/dev/zero", "of=written",
                               "bs=1M", "count=16384")
        size = os.stat(written).st_size
        os.unlink(written)
        if record["outcome"] != "disk":
            raise Unavailable(f"the outcome was {record['outcome']}, not disk")
        rates.append(size / record["usage"]["wall_usec"])
        late.append((size - limit) / rates[-1] / 1000)
    report.keep("disk_late_ms", late)
    report.keep("disk_write_mb_per_s", rates)
    report.spread("written meanwhile", rates, "MB/s")
    report.spread("seen after the limit was passed", late)

    short = ground.cpu_usec("--disk", "1T", "-C", tree, "--", "true")
    report.row("measuring it before the start, CPU", f"{short / 1000:9.0f} ms")
    used = ground.cpu_usec("--disk", "1T", "-C", tree, "--", "sleep", str(pause))
    share = max(used - short, 0) / (pause * 1e4)
    report.keep("disk_watch_percent", share)
    report.row(f"watching it idle, {pause} s, share of a CPU", f"{share:9.2f} %")
    shutil.rmtree(tree)
