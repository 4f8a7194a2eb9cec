#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What of ours is left on this machine: processes, cgroups, mounts, files.

    leftovers.py [--known FILE] [--wait SECONDS]    a TAP point a kind; 1 when something is left
    leftovers.py --remember FILE                    notes what there is before a run
    leftovers.py --self-test                        makes a leftover of each kind it may, and looks

What was there before (--known) belongs to somebody else, for example to a person who uses
cordon on this machine: it is named, and is not this run's. What goes away within the wait is not
left over: managers and guards may need a moment after the last test.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

OURS = re.compile(r"(?:^|/)cordon[^/]*")
PLACES = ["/run/cordon*", "/tmp/cordon*", "/var/tmp/cordon*", "/dev/shm/cordon*",
          "/run/user/*/cordon*", "/run/systemd/transient/cordon*",
          "/run/user/*/systemd/transient/cordon*"]


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def ancestors():
    """We and what started us are not left over, wherever we run."""
    pids, pid = set(), os.getpid()
    while pid > 0:
        pids.add(pid)
        stat = read(f"/proc/{pid}/stat")
        pid = int(stat.rpartition(")")[2].split()[1]) if stat else 0
    return pids


def is_our_name(path):
    return os.path.basename(path).startswith("cordon")


def processes():
    """By name, by program, by cgroup, or by the runtime directory a manager of ours lives in."""
    found, own = [], ancestors()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) in own:
            continue
        arguments = read(f"/proc/{pid}/cmdline").split("\0")
        comm = read(f"/proc/{pid}/comm").strip()
        groups = [line.split(":", 2)[2] for line in read(f"/proc/{pid}/cgroup").splitlines()]
        runtime = re.search(r"(?:^|\0)XDG_RUNTIME_DIR=([^\0]*)", read(f"/proc/{pid}/environ"))
        try:
            program = os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
        except OSError:
            program = ""
        stat = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if not stat:
            continue
        if (comm.startswith("cordon") or is_our_name(arguments[0]) or is_our_name(program) or
                any(OURS.search(group) for group in groups) or
                runtime and OURS.search(runtime[1])):
            state = " (zombie)" if stat[0] == "Z" else ""
            found.append(f"{pid} since {stat[19]}: {' '.join(arguments).strip() or comm}{state}")
    return found


def mounted():
    for line in read("/proc/self/mountinfo").splitlines():
        fields = line.split(" ")
        after = fields[fields.index("-") + 1:]
        yield fields[3], fields[4], after[0], after[1]


def cgroups():
    found = []
    for _, point, kind, _ in mounted():
        if kind in ("cgroup", "cgroup2"):
            for folder, folders, _ in os.walk(point):
                found += [os.path.join(folder, name) for name in folders
                          if name.startswith("cordon")]
                folders[:] = [name for name in folders if not name.startswith("cordon")]
    return sorted(set(found))


def mounts():
    return [f"{point} ({kind} {source} {root})" for root, point, kind, source in mounted()
            if OURS.search(point) or is_our_name(source)]


def files():
    return [path for place in PLACES for path in glob.glob(place)]


KINDS = {"process": processes, "cgroup": cgroups, "mount": mounts, "file": files}


def look(known, patience):
    """What is there of each kind, after what is going away had its time to go."""
    deadline = time.monotonic() + patience
    while True:
        left = {kind: find() for kind, find in KINDS.items()}
        if all(set(left[kind]) <= set(known.get(kind, [])) for kind in KINDS):
            return left
        if time.monotonic() >= deadline:
            return left
        time.sleep(0.2)


def report(known, patience):
    left, failed = look(known, patience), 0
    print(f"1..{len(KINDS)}")
    for number, (kind, found) in enumerate(left.items(), 1):
        ours = [what for what in found if what not in known.get(kind, [])]
        failed += bool(ours)
        print(f"{'not ok' if ours else 'ok'} {number} - no {kind} of ours is left")
        for what in found:
            print(f"#   {what}{' (was there before)' if what in known.get(kind, []) else ''}")
    return 1 if failed else 0


def self_test():
    """A process and a file are harmless to make; the rest is looked at by its rule."""
    results = []
    with tempfile.TemporaryDirectory(prefix="cordon-left-", dir="/tmp") as folder:
        results.append(("a file is seen", folder in files()))
        tool = os.path.join(folder, "cordon-left")
        os.symlink("/bin/sleep", tool)
        with subprocess.Popen([tool, "60"]) as child:
            try:
                seen = False
                for _ in range(50):  # until it has become the program
                    seen = any(line.startswith(f"{child.pid} ") for line in processes())
                    if seen:
                        break
                    time.sleep(0.05)
                results.append(("a process is seen", seen))
            finally:
                child.kill()
        gone = not any(line.startswith(f"{child.pid} ") for line in processes())
        results.append(("a process that ended is not", gone))
    results.append(("a file that went is not", folder not in files()))
    for path, is_ours in (("/sys/fs/cgroup/cordon.slice", True), ("/a/cordon-x.slice/b", True),
                          ("/tmp/cordon-1/tree", True), ("/srv/concordon", False),
                          ("/user.slice/mycordon.service", False)):
        verb = "is" if is_ours else "is not"
        results.append((f"{path} {verb} ours", bool(OURS.search(path)) == is_ours))
    print(f"1..{len(results)}")
    for number, (name, passed) in enumerate(results, 1):
        print(f"{'ok' if passed else 'not ok'} {number} - {name}")
    return 0 if all(passed for _, passed in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", metavar="FILE")
    parser.add_argument("--remember", metavar="FILE")
    parser.add_argument("--wait", metavar="SECONDS", type=float, default=10)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.remember:
        with open(arguments.remember, "w", encoding="utf-8") as file:
            json.dump({kind: find() for kind, find in KINDS.items()}, file)
        return 0
    known = {}
    if arguments.known:
        with open(arguments.known, encoding="utf-8") as file:
            known = json.load(file)
    return report(known, arguments.wait)


if __name__ == "__main__":
    sys.exit(main())
