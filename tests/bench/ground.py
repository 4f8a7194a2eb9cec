# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ground of the benchmarks: a private manager that nobody else uses, and a way for systemd-run to reach it.

A private manager is shared by all runs of a user in one mount namespace, so we move into a mount
namespace of our own (root) or have a runtime directory of our own (others). It is kept by a run that
reads from us: when we end, however we end, that run ends, and the manager goes.
"""
import ctypes
import datetime
import json
import os
import shutil
import subprocess
import tempfile
import time

CLONE_NEWNS = 0x00020000
PATIENCE_S = 20
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


class Ground:
    def __init__(self, cordon):
        self.program = os.path.abspath(cordon)
        self.holder = self.runtime_dir = self.manager = None
        self.has_bus = False
        self.is_own = False

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="cordon-bench-")
        for name in ("CORDON_MANAGER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
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
            self.let_manager_go()
        except Unavailable as reason:
            print(f"  at the end: {reason}")
        shutil.rmtree(self.folder, ignore_errors=True)

    # What is measured

    def cordon(self, *arguments):
        return [self.program, *arguments]

    def record(self, *arguments):
        """The record of one private run that is to come to its end."""
        path = os.path.join(self.folder, "record")
        done = subprocess.run(self.cordon("run", "--private", "--quiet", "--record", path, *arguments),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if "error" in record:
            raise Unavailable(f"{record['error']['message']} (status {done.returncode})")
        return record

    def cpu_usec(self, *arguments):
        """What the launcher itself uses for a private run."""
        null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1)]
        command = self.cordon("run", "--private", "--quiet", *arguments)
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=null)
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            raise Unavailable(f"`{' '.join(command)}` ended with wait status {status}")
        return (usage.ru_utime + usage.ru_stime) * 1e6

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

    def hold_manager(self):
        """Starts it where it is not there. The program tells its parent: that is the manager."""
        if self.holder:
            return
        self.holder = subprocess.Popen(
            self.cordon("run", "--private", "--", "sh", "-c", "echo $PPID; exec cat >/dev/null"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = self.holder.stdout.readline().strip()
        if not said:
            _, why = self.holder.communicate()
            self.holder = None
            raise Unavailable(why.strip().removeprefix("cordon: ") or "no private manager")
        self.manager = int(said)
        self.keeper = parent_of(self.manager)
        self.runtime_dir = arguments_of(self.keeper)[1]

    def let_manager_go(self):
        """Waits until nothing of it is left; what is run next starts another."""
        if not self.is_own:
            raise Unavailable("no mount namespace of our own: the manager may be anybody's")
        if self.holder:
            self.stop_bus()
            self.holder.stdin.close()
            self.holder.wait(PATIENCE_S)
            self.holder.stdout.close()
            self.holder.stderr.close()
            self.holder = None
        deadline = time.monotonic() + PATIENCE_S
        while self.runtime_dir and os.path.exists(self.runtime_dir):
            if time.monotonic() > deadline:
                raise Unavailable(f"the private manager did not go within {PATIENCE_S} s")
            time.sleep(0.01)

    # systemd-run speaks to a bus, which a private manager has not; for its sake one is started in it.

    def systemctl(self, *arguments):
        done = subprocess.run([self.tool("systemctl"), "--user", *arguments], check=False, text=True,
                              env=self.environment(), capture_output=True)
        if done.returncode != 0:
            raise Unavailable(f"systemctl {' '.join(arguments)}: {done.stderr.strip()}")

    def environment(self):
        return {**os.environ, "XDG_RUNTIME_DIR": self.runtime_dir}

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
        if not self.has_bus:
            self.start_bus()
        return [self.tool("systemd-run"), "--user", "--quiet", "--collect"]

    # Memory

    def memory_while_idle(self):
        sizes = {"cordon run": memory_of(self.holder.pid),
                 "cordon-keeper, for all runs": memory_of(self.keeper),
                 "systemd as the private manager, for all runs": memory_of(self.manager)}
        for pid in children_of(self.manager):
            if "cordon-guard" in arguments_of(pid)[0]:
                sizes["cordon-guard, for all runs"] = memory_of(pid)
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
