# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands that are timed in turns, and what their times come to."""
import os
import shutil
import time

from ground import Unavailable


def quantile(samples, share):
    """Between two samples, in proportion."""
    ordered = sorted(samples)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def spread(samples, unit):
    middle, low, high = (quantile(samples, share) for share in (0.5, 0.1, 0.9))
    return f"{middle:9.2f} {unit} ({low:.2f}..{high:.2f}, n={len(samples)})"


class Contest:
    """A ratio is our time through a rival's of the same round."""

    def __init__(self):
        self.commands, self.samples, self.pairs = {}, {}, []
        self.environments = {}

    def add(self, label, command, ours=None, environment=None):
        """ours: the label of the one that it competes with. The environment is our own, unless it is named."""
        self.commands[label] = [shutil.which(command[0]) or command[0], *command[1:]]
        self.environments[label] = os.environ if environment is None else environment
        self.samples[label] = []
        if ours:
            self.pairs.append((ours, label))

    def labels(self):
        return list(self.commands)

    def once(self, label):
        """Milliseconds from the spawn to the end."""
        command = self.commands[label]
        null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1)]
        begin = time.perf_counter()
        pid = os.posix_spawn(command[0], command, self.environments[label], file_actions=null)
        _, status = os.waitpid(pid, 0)
        end = time.perf_counter()
        if status != 0:
            raise Unavailable(f"`{' '.join(command)}` ended with wait status {status}")
        return (end - begin) * 1000

    def run(self, rounds):
        """Who comes first changes from round to round; a first round warms up and is not counted."""
        labels = self.labels()
        for label in labels:
            self.once(label)
        for number in range(rounds):
            first = number % len(labels)
            for label in labels[first:] + labels[:first]:
                self.samples[label].append(self.once(label))

    def ratios(self):
        return {f"{ours} : {rival}": [mine / theirs for mine, theirs in
                                      zip(self.samples[ours], self.samples[rival])]
                for ours, rival in self.pairs}

    def as_dict(self):
        return {"commands": self.commands, "ms": self.samples,
                "ratio": {label: {"median": quantile(ratios, 0.5), "p10": quantile(ratios, 0.1),
                                  "p90": quantile(ratios, 0.9), "n": len(ratios)}
                          for label, ratios in self.ratios().items()}}
