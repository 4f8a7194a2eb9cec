# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the time of one run goes: launcher, gate, guard and manager under strace at the same time, some runs of it, each alone.
Being traced costs time of its own; how much is seen beside runs that are not, in turns with the others."""
import os
import resource
import shutil
import socket
import subprocess
import time

from contest import Command, median, quantile
from ground import Unavailable
from rivals import LIMITS_OF_FLOOR, PROGRAM
from spans import SPANS, read_calls, spans_alone, spans_of

LIMITS = ["--memory", "256M", "--tasks", "64", "--timeout", "30s"]
TITLE = "one run of `true` alone, traced: where its time goes (docs/cost.md)"
KINDS = {"service": ["--service"], "scope": ["--scope"]}
TURNS, RUNS_A_TURN = 4, 5
CONNECTIONS, LAUNCHES, LAUNCH_ROUNDS = 50, 20, 3
PATIENCE_S, GAP_S = 10, 0.6
# What the moments are known by, and no more: each of them stops who makes it.
CALLS = ("trace=accept,accept4,connect,socket,sendmsg,sendto,recvmsg,recvfrom,openat,write,execve,clone,clone3,vfork,"
         "exit_group,mkdir,epoll_wait,epoll_pwait")
STRACE = ["-ttt", "-T", "-s", "32", "-e", "signal=none", "-e", CALLS]


def fds_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Alone:
    """Waits until what the last run left is cleared away, and the guard has hung up on the manager: the next is the first again."""

    def __init__(self, ground):
        time.sleep(GAP_S)
        self.ground, self.least = ground, fds_of(ground.guard_pid)

    def __call__(self):
        deadline = time.monotonic() + PATIENCE_S
        while fds_of(self.ground.guard_pid) > self.least:
            if time.monotonic() > deadline:
                raise Unavailable("the guard keeps its connection to the manager")
            time.sleep(0.01)
        self.ground.settle()


class Tracer:
    """strace of a process that runs already, and of its children."""

    def __init__(self, ground, pid, path):
        self.process = subprocess.Popen([ground.tool("strace"), "-ff", *STRACE, "-o", path, "-p", str(pid)], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        if "attached" not in said:
            self.process.wait()
            raise Unavailable(f"strace -p: {said.strip() or 'without a word'}")

    def let_go(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)


def traced_run(ground, options, path, *more):
    done = subprocess.run([ground.tool("strace"), *more, *STRACE, "-o", path, *ground.run(*options, *LIMITS, "--", PROGRAM)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"under strace it ends with status {done.returncode}: {done.stderr.strip()[-200:]}")


def traced_turn(ground, options, alone, folder):
    """Some runs; the traces of guard and manager are of all of them together."""
    tracers = [Tracer(ground, pid, os.path.join(folder, name))
               for name, pid in (("manager", ground.manager), ("guard", ground.guard_pid))]
    try:
        for number in range(RUNS_A_TURN):
            alone()
            traced_run(ground, options, os.path.join(folder, f"launcher{number}"), "-ff")
        alone()
    finally:
        for tracer in tracers:
            tracer.let_go()


def lightly_traced_turn(ground, options, alone, folder):
    """Only the launcher, without its children: closer to what is not traced."""
    for number in range(RUNS_A_TURN):
        alone()
        path = os.path.join(folder, f"alone{number}")
        traced_run(ground, options, path)
        yield spans_alone(read_calls(path))


def calls_by_process(folder, prefix):
    found = {int(name.rsplit(".", 1)[1]): read_calls(os.path.join(folder, name))
             for name in os.listdir(folder) if name.startswith(prefix + ".")}
    return {pid: calls for pid, calls in found.items() if calls}


def is_gate(calls):
    return any(call.text.startswith("execve(") and "/cordon-gate" in call.text for call in calls)


def within(calls, begin, end):
    return [call for call in calls if begin <= call.end and call.at < end]


def runs_of(ground, folder):
    """The spans of each run of a turn."""
    managers, guards = calls_by_process(folder, "manager"), calls_by_process(folder, "guard")
    launchers = [calls_by_process(folder, f"launcher{number}") for number in range(RUNS_A_TURN)]
    begins = [min(calls[0].at for calls in each.values()) for each in launchers] + [float("inf")]
    for number, processes in enumerate(launchers):
        begin, end = begins[number], begins[number + 1]
        own = [calls for calls in processes.values() if is_gate(calls)]
        gates = own or [calls for calls in managers.values() if is_gate(calls) and begin <= calls[0].at < end]
        launcher = next(calls for calls in processes.values() if calls[0].at == begin)
        if len(gates) != 1:
            raise Unavailable(f"{len(gates)} gates were seen in a run")
        yield spans_of({"launcher": launcher, "gate": gates[0], "is_own": bool(own),
                        "guard": within(guards[ground.guard_pid], begin, end),
                        "manager": within(managers[ground.manager], begin, end)})


def children_usec():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e6


def untraced_turn(ground, options, alone, found):
    command = Command(ground.run(*options, *LIMITS, "--", PROGRAM))
    alone()
    before, own, guard = children_usec(), ground.own_usec(ground.manager), ground.own_usec(ground.guard_pid)
    for _ in range(RUNS_A_TURN):
        alone()
        found["ms"].append(command())
    alone()
    spent = {"launcher": children_usec() - before, "manager": ground.own_usec(ground.manager) - own,
             "guard": ground.own_usec(ground.guard_pid) - guard}
    for name, usec in spent.items():
        found["cpu_ms"].setdefault(name, []).append(usec / 1e3 / RUNS_A_TURN)


def summary(runs):
    """By span: medians of where it begins, where it ends, and how long it takes. One that is in less than half of the runs is left out."""
    found = {}
    for span in SPANS:
        edges = [run[span.key] for run in runs if span.key in run]
        if len(edges) * 2 >= len(runs):
            lasted = [max(end - begin, 0) for begin, end in edges]
            found[span.key] = {"begin": median([begin for begin, _ in edges]), "ms": median(lasted),
                               "end": median([end for _, end in edges]), "p10": quantile(lasted, 0.1), "p90": quantile(lasted, 0.9), "n": len(edges)}
    return found


def kind_of_run(ground, kind, alone, turns):
    runs, light, untraced = [], [], {"ms": [], "cpu_ms": {}}
    for turn in range(turns):
        folder = os.path.join(ground.folder, f"timeline-{kind}-{turn}")
        os.makedirs(folder)
        untraced_turn(ground, KINDS[kind], alone, untraced)
        light += lightly_traced_turn(ground, KINDS[kind], alone, folder)
        traced_turn(ground, KINDS[kind], alone, folder)
        runs += runs_of(ground, folder)
        shutil.rmtree(folder)
    return {"spans": summary(runs), "alone": summary(light), "untraced": untraced["ms"],
            "light": [run["exit"][1] for run in light], "traced": [run["exit"][1] for run in runs],
            "cpu_ms": {name: median(samples) for name, samples in untraced["cpu_ms"].items()}}


def connect(path):
    """As far as sd-bus goes before its first message."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.settimeout(PATIENCE_S)
        end.connect(path)
        end.sendall(b"\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
        answer = b""
        while b"AGREE_UNIX_FD\r\n" not in answer:
            piece = end.recv(4096)
            if not piece:
                raise Unavailable(f"the manager hung up: {answer!r}")
            answer += piece


def manager_usec(ground, what, count):
    """Of its own, for each."""
    ground.settle()
    before = ground.own_usec(ground.manager)
    what()
    ground.settle()
    return (ground.own_usec(ground.manager) - before) / count


def connections(ground):
    def all_of_them():
        for _ in range(CONNECTIONS):
            connect(ground.socket())
    return manager_usec(ground, all_of_them, CONNECTIONS) / 1e3


def launches(ground, is_bare):
    def floor():
        done = subprocess.run(ground.floor(LAUNCHES, 1, *LIMITS_OF_FLOOR, around="bare" if is_bare else "slice"), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable(f"the floor: {done.stderr.strip()}")
    return manager_usec(ground, floor, LAUNCHES) / 1e3


def timeline(report, ground, quick):
    report.title(TITLE)
    if not ground.guard_pid:
        raise Unavailable("no guard of this manager was found")
    connecting = [connections(ground) for _ in range(LAUNCH_ROUNDS)]
    bare, sliced = [], []
    for _ in range(LAUNCH_ROUNDS):
        bare.append(launches(ground, True))
        sliced.append(launches(ground, False))
    alone, found = Alone(ground), {}
    for kind in KINDS:
        found[kind] = each = kind_of_run(ground, kind, alone, TURNS // 2 if quick else TURNS)
        report.spread(f"{kind}, not traced", each["untraced"])
        report.spread(f"{kind}, only the launcher traced", each["light"])
        report.spread(f"{kind}, traced", each["traced"])
        for span in SPANS:
            if span.key in each["spans"]:
                row = each["spans"][span.key]
                report.row(f"{kind}, {span.lane}: {span.name}", "{begin:8.2f} + {ms:.2f} ms ({p10:.2f}..{p90:.2f})".format(**row))
    for label, samples in (("CPU of the manager: a connection", connecting), ("CPU of the manager: the floor, without a slice", bare),
                           ("CPU of the manager: the floor, with a slice", sliced)):
        report.spread(label, samples)
    report.keep("timeline", {"kinds": found, "connection_ms": median(connecting), "bare_ms": median(bare),
                             "sliced_ms": median(sliced)})
