# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is timed in turns, and what the times come to."""
import os
import random
import shutil
import subprocess
import time

from ground import Unavailable

FEWEST_ROUNDS = 5


def quantile(samples, share):
    """Between two samples, in proportion."""
    ordered = sorted(samples)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def median(samples):
    return quantile(samples, 0.5)


def spread(samples, unit):
    middle, low, high = (quantile(samples, share) for share in (0.5, 0.1, 0.9))
    return f"{middle:9.2f} {unit} ({low:.2f}..{high:.2f}, n={len(samples)})"


def milliseconds_since(begin):
    return (time.perf_counter() - begin) * 1000


class Command:
    """Called, it is run once: milliseconds from the spawn to the end."""

    def __init__(self, command, environment=None):
        self.command = [shutil.which(command[0]) or command[0], *command[1:]]
        self.environment = os.environ if environment is None else environment

    def __call__(self):
        null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1)]
        begin = time.perf_counter()
        pid = os.posix_spawn(self.command[0], self.command, self.environment, file_actions=null)
        _, status = os.waitpid(pid, 0)
        took = milliseconds_since(begin)
        if status != 0:
            raise Unavailable(f"`{' '.join(self.command)}` ended with wait status {status}")
        return took


class Coprocess:
    """A program that is kept open: called, it is given a line, and milliseconds pass until it answers with one."""

    def __init__(self, command, line, is_good=lambda answer: bool(answer)):
        self.command, self.line, self.is_good = command, line.encode() + b"\n", is_good
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.answers = self.process.stdout

    def __call__(self):
        answer = b""
        begin = time.perf_counter()
        self.process.stdin.write(self.line)
        while not answer.endswith(b"\n"):
            piece = os.read(self.answers.fileno(), 1 << 16)
            if not piece:
                break
            answer += piece
        took = milliseconds_since(begin)
        if not self.is_good(answer):
            raise Unavailable(f"`{' '.join(self.command)}` said {answer!r}")
        return took

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()


class Contest:
    """A ratio is our time through a rival's of the same round, or through the sum of several of them."""

    def __init__(self, between=lambda: None):
        """between: called before each."""
        self.competitors, self.samples, self.pairs, self.between = {}, {}, [], between
        self.guests, self.dropped = set(), {}

    def add(self, label, competitor, *ours, is_guest=False):
        """A command, or whatever returns milliseconds when it is called. ours: the labels that it competes with. A guest
        that fails is dropped, with its reason; anybody else ends the contest."""
        if is_guest:
            self.guests.add(label)
        self.competitors[label] = competitor if callable(competitor) else Command(competitor)
        self.samples[label] = []
        for mine in ours:
            self.compare(mine, label)

    def compare(self, ours, *rivals):
        self.pairs.append((ours, rivals))

    def labels(self):
        return list(self.competitors)

    def run(self, rounds, seconds=60):
        """Each round has an order of its own, and the same one each time that this is run: what one leaves to the next (a
        manager or a kernel that still clears up) is not always left to the same. A first round warms up and is not
        counted. On a slow or busy machine there are fewer rounds."""
        for label in self.labels():
            self.once(label)
        deadline = time.monotonic() + seconds
        for number in range(rounds):
            if number >= FEWEST_ROUNDS and time.monotonic() > deadline:
                return
            labels = self.labels()
            for label in random.Random(number).sample(labels, len(labels)):
                took = self.once(label)
                if took is not None:
                    self.samples[label].append(took)

    def once(self, label):
        self.between()
        try:
            return self.competitors[label]()
        except Unavailable as reason:
            if label not in self.guests:
                raise
            self.drop(label, reason)
            return None

    def drop(self, label, reason):
        del self.competitors[label], self.samples[label]
        self.pairs = [(ours, rivals) for ours, rivals in self.pairs if label not in rivals]
        self.dropped[label] = reason

    def ratio(self, ours, *rivals):
        """Round by round."""
        return [mine / sum(theirs) for mine, *theirs in
                zip(self.samples[ours], *(self.samples[rival] for rival in rivals))]

    def ratios(self):
        return {f"{ours} : {' + '.join(rivals)}": self.ratio(ours, *rivals) for ours, rivals in self.pairs}

    def as_dict(self):
        return {"commands": {label: getattr(competitor, "command", None)
                             for label, competitor in self.competitors.items()},
                "ms": self.samples,
                "ratio": {label: {"median": median(ratios), "p10": quantile(ratios, 0.1),
                                  "p90": quantile(ratios, 0.9), "n": len(ratios)}
                          for label, ratios in self.ratios().items()}}
