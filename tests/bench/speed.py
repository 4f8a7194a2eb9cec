# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long one run takes, and the start of the program itself, beside what else there is and what it cannot undercut."""
import json
import subprocess
import time

import rivals
from contest import Command, Contest, Coprocess
from ground import Unavailable
from rivals import COUNTERS_AS_PROPERTIES, LIMITS, LIMITS_AS_PROPERTIES, LIMITS_OF_FLOOR, PROGRAM

JOB = json.dumps({"command": [PROGRAM]})


def startup(report, ground, quick):
    report.title("start-up of the program itself")
    contest = Contest()
    contest.add("cordon --version", ground.cordon("--version"))
    contest.add("floor: links our libraries, and ends", [ground.built("bench-linked")], "cordon --version")
    contest.add("floor: static, and ends", [ground.built("bench-empty")], "cordon --version")
    contest.add("cordon run --dry-run", ground.run("--dry-run", *LIMITS, "--", PROGRAM))
    contest.compare("cordon run --dry-run", "floor: links our libraries, and ends")
    report.contest("startup", contest, 50 if quick else 300, 20)
    report.judge("startup", contest.ratio("cordon --version", "floor: links our libraries, and ends"))


def is_ok(answer):
    return json.loads(answer).get("ok") is True


def add_rivals(report, ground, contest):
    there = ground.environment()

    def add(label, make, *properties, ours, environment=None):
        try:
            contest.add(label, Command(rivals.tried(ground, make, *properties), environment), *ours,
                        is_guest=True)
        except Unavailable as reason:
            report.leave_out(label, reason)

    with_counters = [*LIMITS_AS_PROPERTIES, *COUNTERS_AS_PROPERTIES]
    add("systemd-run", rivals.systemd_run, ours=["cordon run"], environment=there)
    add("systemd-run, limits", rivals.systemd_run, *LIMITS_AS_PROPERTIES,
        ours=["cordon run, limits"], environment=there)
    add("systemd-run, limits, counters", rivals.systemd_run, *with_counters, ours=["cordon run, limits"],
        environment=there)
    add("systemd-run --scope", rivals.systemd_run_scope, ours=["cordon run --scope"], environment=there)
    add("systemd-run --scope, limits", rivals.systemd_run_scope, *LIMITS_AS_PROPERTIES,
        ours=["cordon run --scope, limits"], environment=there)
    add("systemd-run --scope, limits, counters", rivals.systemd_run_scope, *with_counters,
        ours=["cordon run --scope, limits"], environment=there)
    contest.add("posix_spawn", [PROGRAM], "cordon run")
    for label, make in (("prlimit + timeout", rivals.prlimit_and_timeout), ("bwrap", rivals.bwrap),
                        ("isolate", rivals.isolate), ("crun", rivals.crun)):
        add(label, make, ours=["cordon run, limits"])


def slow_rival(report, ground):
    """Firejail takes two seconds to end, and what is run next waits for what it left: it is measured last."""
    contest = Contest()
    try:
        contest.add("firejail", rivals.tried(ground, rivals.firejail))
        contest.run(5, 15)
        report.keep("latency_firejail", contest.as_dict())
        report.spread("firejail", contest.samples["firejail"])
    except Unavailable as reason:
        report.leave_out("firejail", reason)


def latency(report, ground, quick):
    report.title("latency of a run of `true`, manager and guard running; limits: memory, tasks, cpu, timeout")
    contest = Contest(ground.settle)
    batch = Coprocess(ground.batch(*LIMITS, "--quiet"), JOB, is_ok)
    floor = Coprocess(ground.floor(0, 1, *LIMITS_OF_FLOOR), "go")
    counted = Coprocess(ground.floor(0, 1, *LIMITS_OF_FLOOR, around="counted"), "go")
    bare = Coprocess(ground.floor(0, 1, *LIMITS_OF_FLOOR, around="bare"), "go")
    job, linked = "a job of an open cordon batch, limits", "floor: links our libraries"
    launch, launch_of_job = "floor: one launch, limits", "floor: one launch, limits, network counted as a record wants it"
    contest.add("cordon run", ground.run("--", PROGRAM))
    contest.add("cordon run, limits", ground.run(*LIMITS, "--", PROGRAM))
    contest.add("cordon run --scope", ground.run("--scope", "--", PROGRAM))
    contest.add("cordon run --scope, limits", ground.run("--scope", *LIMITS, "--", PROGRAM))
    contest.add(job, batch)
    contest.add(launch, floor)
    contest.add(launch_of_job, counted, job)
    contest.add("floor: one launch without a slice, limits", bare)
    contest.add("floor: one launch as a program, limits", ground.floor(1, 1, *LIMITS_OF_FLOOR),
                "cordon run, limits")
    contest.add(linked, [ground.built("bench-linked")])
    contest.compare("cordon run, limits", launch, linked)
    contest.compare("cordon run --scope, limits", launch, linked)
    try:
        add_rivals(report, ground, contest)
        report.contest("latency", contest, 20 if quick else 120, 75)
    finally:
        for process in (batch, floor, counted, bare):
            process.close()
    slow_rival(report, ground)
    report.judge("run-floor", contest.ratio("cordon run, limits", launch, linked))
    report.judge("coprocess", contest.ratio(job, launch_of_job))
    for key, ours, rival in (("run", "cordon run, limits", "systemd-run, limits"),
                             ("scope", "cordon run --scope, limits", "systemd-run --scope, limits, counters")):
        if rival in contest.labels():
            report.judge(key, contest.ratio(ours, rival))


def ending(report, ground, quick):
    """From the manager's word that the unit has ended to the launcher's own end, as somebody else hears and sees both."""
    report.title("how long a launcher stays after the manager's word that its unit has ended; nothing traced")
    count = 20 if quick else 200
    found = {}
    for label, options in (("cordon run, limits", []), ("cordon run, limits, a record", ["--record", "/dev/null"])):
        done = subprocess.run([ground.built("bench-notice"), ground.socket(), str(count),
                               *ground.run(*LIMITS, *options, "--", PROGRAM)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable(done.stderr.strip())
        found[label] = [int(line) / 1000 for line in done.stdout.split()]
        report.spread(label, found[label])
    report.keep("ending", found)
    report.judge("ending", found["cordon run, limits"])


def started_after(ground):
    """Milliseconds from our asking to the program's first instruction, as the record has it."""
    before = time.time()
    record = ground.record("--", "true")
    return (ground.started_at(record) - before) * 1000


def cold(report, ground, quick):
    report.title("from asking to the running program")
    warm = [started_after(ground) for _ in range(20 if quick else 100)]
    report.keep("to_running_program", {"warm_ms": warm})
    report.spread("warm", warm)
    try:
        times = []
        for _ in range(5 if quick else 20):
            ground.let_manager_go()
            times.append(started_after(ground))
    except Unavailable as reason:
        report.leave_out("cold", reason)
        return
    report.keep("to_running_program", {"warm_ms": warm, "cold_ms": times})
    report.spread("cold, the manager is started", times)
    report.judge("cold", times)


def doctor(report, ground, quick):
    report.title("cordon doctor, manager running")
    contest = Contest()
    # Its verdict is not our business here.
    contest.add("cordon doctor", ["sh", "-c", '"$@"; test $? -le 1', "sh",
                                  *ground.cordon("doctor", f"--{ground.kind}")])
    contest.add("cordon run, limits", ground.run(*LIMITS, "--", PROGRAM),
                "cordon doctor")
    report.contest("doctor", contest, 5 if quick else 15, 25)
    report.judge("doctor", contest.samples["cordon doctor"])
