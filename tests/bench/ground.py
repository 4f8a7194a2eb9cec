# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ground of the benchmarks: a manager, and a way for systemd-run to reach the same one.

A private manager is nobody else's: it is shared by all runs of a user in one mount namespace, so we move into
one of our own (root) or have a runtime directory of our own (others). It is kept by a run that
reads from us: when we end, however we end, that run ends, and the manager goes. The system's and the user's are
there, or are not; the same run keeps the guard and what is around all runs there, too.
"""
import ctypes
import datetime
import glob
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections import namedtuple

# What a command took, as the kernel counts it, that of its children included
Measured = namedtuple("Measured", "wall_usec cpu_usec peak_kib")
CLONE_NEWNS = 0x00020000
PATIENCE_S = 20
SETTLED_AFTER_S, SETTLED_AT_LAST_S = 0.002, 0.5
BUS_UNITS = {
    "dbus.socket": "[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream=%t/bus\n",
    "dbus.service": "[Unit]\nDefaultDependencies=no\nRequires=dbus.socket\n[Service]\nType=notify\n"
                    "NotifyAccess=main\nExecStart={} --session --address=systemd: --nofork --nopidfile "
                    "--systemd-activation --nosyslog\n",
}


class Unavailable(Exception):
    """It cannot be measured here; the text says why."""


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def arguments_of(pid):
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read().split("\0")[:-1]


def memory_of(pid):
    """Rss and Pss in KiB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        sizes = dict(line.split()[:2] for line in file if line.endswith("kB\n"))
    return int(sizes["Rss:"]), int(sizes["Pss:"])


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and parent_of(name) == pid:
                found.append(int(name))
        except OSError:
            pass
    return found


def managers():
    """Those that can be measured here: always a private one, and what the machine was booted with."""
    found = ["private"]
    if os.path.isdir("/run/systemd/system") and os.geteuid() == 0:
        found.append("system")
    if os.path.exists(os.path.join(user_runtime_dir(), "systemd", "private")):
        found.append("user")
    return found


def user_runtime_dir():
    return os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"


class Ground:
    def __init__(self, cordon, kind="private"):
        self.program, self.kind = os.path.abspath(cordon), kind
        self.hold = self.guard_hold = self.runtime_dir = self.manager = self.guard_pid = None
        self.has_bus = False
        self.is_own = False

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="cordon-bench-")
        os.environ.pop("CORDON_MANAGER", None)
        if self.kind != "private":
            self.runtime_dir = "/run" if self.kind == "system" else user_runtime_dir()
            return self
        for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
            os.environ.pop(name, None)
        os.environ["CORDON_PRIVATE_IDLE"] = "10ms"
        if os.geteuid() == 0:
            self.is_own = ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) == 0
        else:
            os.environ["XDG_RUNTIME_DIR"] = self.folder
            self.is_own = True
        return self

    def __exit__(self, *_):
        try:
            if self.kind == "private":
                self.let_manager_go()
            else:
                self.let_hold_go()
        except Unavailable as reason:
            print(f"  at the end: {reason}")
        shutil.rmtree(self.folder, ignore_errors=True)

    # What is measured

    def cordon(self, *arguments):
        return [self.program, *arguments]

    def run(self, *arguments):
        return self.cordon("run", f"--{self.kind}", *arguments)

    def batch(self, *arguments):
        return self.cordon("batch", f"--{self.kind}", *arguments)

    def floor(self, count, depth, *limits, around="slice"):
        """Its command line; a count of 0 keeps it open. Around each: a "slice", one that is "counted" as for a record, or
        nothing ("bare")."""
        return [self.built("bench-floor"), self.socket(), str(count), str(depth), around, *limits]

    def socket(self):
        return os.path.join(self.runtime_dir, "systemd", "private")

    def built(self, name):
        """A program that was built beside this file's source."""
        path = os.path.join(os.path.dirname(os.path.dirname(self.program)), "tests", "bench", name)
        if not os.access(path, os.X_OK):
            raise Unavailable(f"{path} is not built")
        return path

    def record(self, *arguments):
        """The record of one run that is to come to its end."""
        path = os.path.join(self.folder, "record")
        done = subprocess.run(self.run("--quiet", "--record", path, *arguments),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if "error" in record:
            raise Unavailable(f"{record['error']['message']} (status {done.returncode})")
        return record

    def cpu_usec(self, *arguments):
        """What the launcher itself uses for a run."""
        return self.meter(self.run("--quiet", *arguments)).cpu_usec

    def meter(self, command, environment=None):
        """Runs it: what it took."""
        reading, writing = os.pipe()
        actions = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1)]
        actions += [(os.POSIX_SPAWN_DUP2, writing, 3)]
        meter = self.built("bench-meter")
        pid = os.posix_spawn(meter, [meter, self.tool(command[0]), *command[1:]], environment or os.environ,
                             file_actions=actions)
        os.close(writing)
        with open(reading, encoding="ascii") as file:
            said = file.read()
        os.waitpid(pid, 0)
        status, wall, user, system, peak = (int(word) for word in said.split())
        if status != 0:
            raise Unavailable(f"`{' '.join(command)}` ended with wait status {status}")
        return Measured(wall, user + system, peak)

    @staticmethod
    def own_usec(pid):
        try:
            with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
                return int(file.read().split()[0]) / 1e3
        except OSError as error:
            raise Unavailable("the manager, or the guard, went away meanwhile") from error

    def settle(self):
        """Until the manager has done what the last one left to it: that is not the next one's."""
        deadline = time.monotonic() + SETTLED_AT_LAST_S
        before, now = None, self.own_usec(self.manager)
        while now != before and time.monotonic() < deadline:
            time.sleep(SETTLED_AFTER_S)
            before, now = now, self.own_usec(self.manager)

    def manager_cpu_usec(self):
        """Of the manager; and of its children: what it reaped (gates, programs, its own before they become them), and the
        guard, which clears up for launchers that have gone."""
        self.settle()
        own = self.own_usec(self.manager)
        with open(f"/proc/{self.manager}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        reaped = (int(fields[13]) + int(fields[14])) * 1e6 / os.sysconf("SC_CLK_TCK")
        return own, reaped + (self.own_usec(self.guard_pid) if self.guard_pid else 0)

    def guard(self):
        """Its process; None: there is none."""
        return next((pid for pid in children_of(self.manager) if "cordon-guard" in arguments_of(pid)[0]), None)

    @staticmethod
    def started_at(record):
        when = datetime.datetime.strptime(record["started_at"], "%Y-%m-%dT%H:%M:%S.%fZ")
        return when.replace(tzinfo=datetime.timezone.utc).timestamp()

    @staticmethod
    def tool(name):
        path = shutil.which(name)
        if not path:
            raise Unavailable(f"{name} is not installed")
        return path

    # The manager

    def pause(self):
        """A run that waits, and says first who its parent is: the manager."""
        run = subprocess.Popen(self.run("--", "sh", "-c", "echo $PPID; exec cat >/dev/null"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = run.stdout.readline().strip()
        if not said:
            _, why = run.communicate()
            raise Unavailable(why.strip().removeprefix("cordon: ") or f"no {self.kind} manager")
        return run, int(said)

    def hold_manager(self):
        """Starts it where it is not there. It is not held by a run, to whom it would tell of all that competes."""
        if self.is_held():
            self.check_manager()
            return
        self.forget_manager()
        run, self.manager = self.pause()
        self.guard_pid = self.guard()
        if self.kind == "private":
            self.keeper = parent_of(self.manager)
            self.runtime_dir = arguments_of(self.keeper)[1]
            self.hold = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.hold.connect(os.path.join(self.runtime_dir, "keeper"))
            if self.hold.recv(64) != b"ready":
                raise Unavailable("the keeper of the private manager is about to leave")
        self.hold_guard()
        run.communicate(timeout=PATIENCE_S)

    def hold_guard(self):
        """A launcher that has named no run yet: it stays for that one."""
        places = [self.runtime_dir, "/run", os.environ.get("XDG_RUNTIME_DIR")]
        for path in [path for place in places if place for path in glob.glob(os.path.join(place, "cordon", "guard-*"))]:
            self.guard_hold = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                self.guard_hold.connect(path)
                return
            except OSError:
                self.guard_hold.close()
        raise Unavailable("no guard is found")

    def check_manager(self):
        """A private manager is another one as soon as anything of our world has changed, such as a mount."""
        done = subprocess.run(self.run("--", "sh", "-c", "echo $PPID"), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.stdout.strip() != str(self.manager):
            raise Unavailable(f"runs do not go to the manager that is held: {(done.stdout + done.stderr).strip()}")

    def is_held(self):
        return bool(self.manager) and os.path.exists(f"/proc/{self.manager}") and (
            self.kind != "private" or self.hold is not None)

    def let_hold_go(self):
        for hold in (self.hold, self.guard_hold):
            if hold:
                hold.close()
        self.hold = self.guard_hold = self.manager = None

    def forget_manager(self):
        """Of one that went by itself."""
        if self.manager:
            print("  the manager went away")
        self.let_hold_go()
        self.has_bus = False

    def let_manager_go(self):
        """Waits until nothing of it is left; what is run next starts another."""
        if self.kind != "private":
            raise Unavailable("only a private manager comes and goes")
        if not self.is_own:
            raise Unavailable("no mount namespace of our own: the manager may be anybody's")
        if self.is_held():
            self.stop_bus()
            self.let_hold_go()
        self.forget_manager()
        deadline = time.monotonic() + PATIENCE_S
        while self.runtime_dir and os.path.exists(self.runtime_dir):
            if time.monotonic() > deadline:
                raise Unavailable(f"the private manager did not go within {PATIENCE_S} s")
            time.sleep(0.01)

    # systemd-run speaks to a bus, which a private manager has not; for its sake one is started in it.

    def whose(self):
        return "--system" if self.kind == "system" else "--user"

    def systemctl(self, *arguments):
        done = subprocess.run([self.tool("systemctl"), self.whose(), *arguments], check=False, text=True,
                              env=self.environment(), capture_output=True)
        if done.returncode != 0:
            raise Unavailable(f"systemctl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def environment(self):
        """In which systemctl and systemd-run find this manager."""
        return os.environ if self.kind == "system" else {**os.environ, "XDG_RUNTIME_DIR": self.runtime_dir}

    def start_bus(self):
        daemon = self.tool("dbus-daemon")
        for name, text in BUS_UNITS.items():
            path = os.path.join(self.runtime_dir, "units", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.format(daemon))
        self.has_bus = True
        self.systemctl("start", "dbus.socket", "dbus.service")

    def stop_bus(self):
        if not self.has_bus:
            return
        self.has_bus = False
        self.systemctl("stop", "dbus.service", "dbus.socket")
        for name in [*BUS_UNITS, "../bus"]:
            try:
                os.unlink(os.path.join(self.runtime_dir, "units", name))
            except FileNotFoundError:
                pass

    def systemd_run(self):
        """The beginning of a command line that talks to the same manager, in environment()."""
        self.tool("systemd-run")
        if self.kind == "private" and not self.has_bus:
            self.start_bus()
        return [self.tool("systemd-run"), self.whose(), "--quiet", "--collect"]

    # Memory

    def memory_while_idle(self):
        run, _ = self.pause()
        sizes = {"cordon run": memory_of(run.pid)}
        if self.kind == "private":
            sizes["cordon-keeper, for all runs"] = memory_of(self.keeper)
            sizes["systemd as the private manager, for all runs"] = memory_of(self.manager)
        if self.guard():
            sizes["cordon-guard, for all runs"] = memory_of(self.guard())
        run.communicate(timeout=PATIENCE_S)
        try:
            command = [*self.systemd_run(), "--wait", "--pipe", "--", "sh", "-c", "echo; exec cat >/dev/null"]
        except Unavailable:
            return sizes
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=self.environment()) as rival:
            rival.stdout.readline()
            sizes["systemd-run --wait --pipe"] = memory_of(rival.pid)
            rival.stdin.close()
        return sizes
