# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was promised, one row each. A bound is held to the median."""
from collections import namedtuple

# what: for people; most: the bound is an upper one; stretch: what would be better still; why: how it is measured
Target = namedtuple("Target", "key what most bound unit stretch", defaults=("x", None))

TARGETS = (
    Target("run", "`cordon run` : `systemd-run --wait --pipe`, the same limits", True, 0.85, "x", 0.75),
    Target("run-floor", "`cordon run` : (one launch of the floor + a process that links our libraries)", True, 1.30),
    Target("scope", "`cordon run --scope` : `systemd-run --scope`, the same properties", True, 0.80),
    Target("coprocess", "a job of an open `cordon batch` : one launch of the floor, the same properties", True, 1.15),
    Target("ending", "`cordon run`: from the manager's word that the unit has ended to our own end", True, 1, "ms"),
    Target("startup", "`cordon --version` : a process that links our libraries", True, 1.30),
    Target("batch-floor", "jobs a second, `cordon batch` : the pipelined floor, the same properties, each at its best depth", False, 0.85),
    Target("batch-xargs", "jobs a second, `cordon batch` : `xargs -P 8 systemd-run --wait --pipe`, the same properties", False, 1.6),
    Target("cold", "from asking to the running program, private manager not running", True, 250, "ms"),
    Target("doctor", "`cordon doctor`", True, 2000, "ms"),
    Target("running-memory", "memory of ours for each job of a batch that runs, at the most of them", True, 64, "KiB"),
    Target("growth-memory", "memory of ours, growth over the second half of a long batch", True, 256, "KiB"),
    Target("growth-fds", "descriptors of ours, likewise", True, 0, ""),
    Target("growth-units", "units of the manager, likewise", True, 0, ""),
    Target("growth-cgroups", "cgroups, likewise", True, 0, ""),
)


def rank(key):
    return [target.key for target in TARGETS].index(key)


def find(key):
    return next(target for target in TARGETS if target.key == key)


def bound_of(target):
    sign = "≤" if target.most else "≥"
    stretch = f" (stretch {target.stretch:g})" if target.stretch is not None else ""
    return f"{sign} {target.bound:g}{' ' + target.unit if target.unit not in ('', 'x') else ''}{stretch}"


def verdict(target, value):
    """The figure is rounded as it is shown: what is shown decides."""
    shown = round(value, 2)

    def holds(bound):
        return shown <= bound if target.most else shown >= bound
    if target.stretch is not None and holds(target.stretch):
        return "met, the stretch too"
    return "met" if holds(target.bound) else "missed"
