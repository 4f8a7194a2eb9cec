# SPDX-License-Identifier: LGPL-2.1-or-later
"""What else a person would take, as command lines that do as nearly the same as they can. Who is not installed, or
cannot run here, is Unavailable, with the reason."""
import json
import os
import subprocess

from ground import Unavailable

LIMITS = ["--memory", "256M", "--tasks", "64", "--cpu", "100%", "--timeout", "30s"]
LIMITS_OF_FLOOR = ["memory=256M", "tasks=64", "cpu=100%", "timeout=30s"]
LIMITS_AS_PROPERTIES = ["-p", "MemoryMax=256M", "-p", "MemorySwapMax=0", "-p", "TasksMax=64",
                        "-p", "CPUQuota=100%", "-p", "RuntimeMaxSec=30s"]
# What the record's usage is read from: ours always counts.
COUNTERS_AS_PROPERTIES = ["-p", "CPUAccounting=yes", "-p", "MemoryAccounting=yes", "-p", "TasksAccounting=yes",
                          "-p", "IOAccounting=yes", "-p", "IPAccounting=yes"]
PROGRAM = "/bin/true"


def systemd_run(ground, *properties):
    return [*ground.systemd_run(), "--wait", "--pipe", *properties, "--", PROGRAM]


def systemd_run_scope(ground, *properties):
    return [*ground.systemd_run(), "--scope", *properties, "--", PROGRAM]


def prlimit_and_timeout(ground):
    return [ground.tool("timeout"), "30", ground.tool("prlimit"), "--nofile=64", "--as=1073741824", "--", PROGRAM]


def bwrap(ground):
    """Namespaces, and no limits."""
    return [ground.tool("bwrap"), "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev",
            "--proc", "/proc", "--", PROGRAM]


def firejail(ground):
    """It leaves mounts where it was started, which would make another world of it, with another private manager."""
    return [ground.tool("unshare"), "--mount", "--", ground.tool("firejail"), "--quiet", "--noprofile", "--rlimit-nofile=64", "--timeout=00:00:30", "--",
            PROGRAM]


def isolate(ground):
    return [ground.tool("isolate"), "--run", "--time=30", "--processes=64", "--", PROGRAM]


def crun(ground):
    """A bundle whose root is the machine's, read-only; limits of memory and tasks in cgroups that it makes itself."""
    bundle = os.path.join(ground.folder, "bundle")
    os.makedirs(bundle, exist_ok=True)
    subprocess.run([ground.tool("crun"), "spec"], cwd=bundle, check=False, capture_output=True)
    path = os.path.join(bundle, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["root"] = {"path": "/", "readonly": True}
    config["process"].update(terminal=False, args=[PROGRAM])
    config["linux"]["resources"] = {"memory": {"limit": 256 << 20}, "pids": {"limit": 64}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return [ground.tool("crun"), "--cgroup-manager=cgroupfs", f"--root={ground.folder}/crun", "run",
            f"--bundle={bundle}", "cordon-bench"]


def tried(ground, make, *arguments):
    """Its command line, after it has worked once."""
    command = make(ground, *arguments)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=30, env=ground.environment() if "systemd" in command[0] else os.environ)
    except subprocess.TimeoutExpired as expired:
        raise Unavailable("it did not end within 30 s") from expired
    if done.returncode != 0:
        words = (done.stderr + done.stdout).strip().splitlines()
        raise Unavailable(f"here it ends with status {done.returncode}: {words[-1] if words else 'without a word'}")
    return command
