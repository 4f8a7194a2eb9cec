# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a command asks of the kernel and of its manager, as strace and valgrind count it: numbers that a busy machine does
not change. A message is known by its header, which sd-bus reads by itself; its bytes are those of the sockets
on which one was seen, the handshake included."""
import os
import re
import shutil
import subprocess
from collections import namedtuple

from ground import Unavailable

Trace = namedtuple("Trace", "calls sent received bytes")
CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
TRANSFER = re.compile(r"^(?:\d+ +)?(?:sendmsg|recvmsg|writev|sendto|recvfrom|read|write)\((\d+), .*= (\d+)(?: |$)")
HEADER = re.compile(r"^(?:\d+ +)?(sendmsg|recvmsg|writev)\((\d+), .*?iov_base=\"l\\([1-4])[^\"]{2,}.*= (\d+)(?: |$)")
COLLECTED = re.compile(r"Collected : (\d+)")


def parse(text):
    calls, sent, received, buses, moved = 0, 0, 0, set(), {}
    for line in text.splitlines():
        calls += bool(CALL.match(line))
        header, transfer = HEADER.match(line), TRANSFER.match(line)
        if header:
            buses.add(header[2])
            if header[1] == "recvmsg":
                received += 1
            else:
                sent += 1
        if transfer:
            moved[transfer[1]] = moved.get(transfer[1], 0) + int(transfer[2])
    return Trace(calls, sent, received, sum(moved[bus] for bus in buses))


def trace(ground, command, environment=None):
    folder = os.path.join(ground.folder, "trace")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    # A file for each process: in one for all of them calls are cut into pieces.
    path = os.path.join(folder, "of")
    done = subprocess.run([ground.tool("strace"), "-ff", "-qq", "-s", "16", "-o", path, *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False, env=environment)
    if done.returncode != 0:
        raise Unavailable(f"under strace it ends with status {done.returncode}: {done.stderr.strip()[-200:]}")
    found = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            found.append(parse(file.read()))
    return Trace(*(sum(parts) for parts in zip(*found)))


def instructions(ground, command):
    """Of the program itself, not of the kernel; of several processes the one with the most."""
    done = subprocess.run([ground.tool("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    found = [int(count) for count in COLLECTED.findall(done.stderr)]
    if done.returncode != 0 or not found:
        raise Unavailable(f"under valgrind it ends with status {done.returncode}: {done.stderr.strip()[-200:]}")
    return max(found)
