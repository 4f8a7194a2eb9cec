# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was found: said at once, and kept for the file and for the page that is made of it."""
from contest import median, quantile, spread
from target import bound_of, find, rank, verdict


class Report:
    def __init__(self):
        self.results, self.left_out, self.sections, self.targets = {}, {}, [], []
        self.manager = ""

    def title(self, text):
        if self.manager not in ("", "private"):
            text = f"{text} ({self.manager} manager)"
        self.sections.append({"title": text, "rows": []})
        print(f"\n{text}", flush=True)

    def row(self, label, text):
        self.sections[-1]["rows"].append({"label": label, "text": text.strip()})
        print(f"  {label:<50} {text}", flush=True)

    def spread(self, label, samples, unit="ms"):
        """A row of many samples; its 99th percentile means something from a hundred of them on."""
        self.sections[-1]["rows"].append({
            "label": label, "unit": unit, "n": len(samples), "max": max(samples),
            **{f"p{share}": quantile(samples, share / 100) for share in (10, 50, 90, 99)}})
        tail = f", p99 {quantile(samples, 0.99):.2f}" if len(samples) >= 100 else f", max {max(samples):.2f}"
        print(f"  {label:<50} {spread(samples, unit)}{tail}", flush=True)

    def keep(self, name, value):
        self.results.setdefault(self.manager or "any", {})[name] = value

    def leave_out(self, name, reason):
        where = f"{name} ({self.manager} manager)" if self.manager not in ("", "private") else name
        self.left_out[where] = str(reason)
        print(f"  {name:<50} left out: {reason}", flush=True)

    def contest(self, name, contest, rounds, seconds):
        """Runs it and prints each one's times, then what competes."""
        contest.run(rounds, seconds)
        for label, reason in contest.dropped.items():
            self.leave_out(label, reason)
        self.keep(name, contest.as_dict())
        for label in contest.labels():
            self.spread(label, contest.samples[label])
        for label, ratios in contest.ratios().items():
            self.spread(label, ratios, "x")

    def judge(self, key, samples):
        """Of one target: samples, or one value."""
        target = find(key)
        samples = samples if isinstance(samples, list) else [samples]
        value = median(samples)
        word = verdict(target, value)
        self.targets.append({"key": key, "what": target.what, "manager": self.manager, "bound": bound_of(target),
                             "unit": target.unit, "value": value, "p10": quantile(samples, 0.1),
                             "p90": quantile(samples, 0.9), "n": len(samples), "verdict": word})
        print(f"  target {key}: {bound_of(target)}: {value:.2f} {target.unit}: {word}", flush=True)

    def say_targets(self):
        if not self.targets:
            return
        print("\ntargets, median of rounds")
        for row in self.targets:
            manager = f" ({row['manager']})" if row["manager"] else ""
            print(f"  {row['verdict']:<22} {row['value']:9.2f} {row['unit']:<4} {row['bound']:<24} "
                  f"{row['what']}{manager}")

    def as_dict(self):
        return {"targets": sorted(self.targets, key=lambda row: (row["manager"], rank(row["key"]))), "sections": self.sections, "left_out": self.left_out,
                "results": self.results}
