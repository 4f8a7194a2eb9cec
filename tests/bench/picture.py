# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/cost.svg: a panel for each kind of run, in it a lane for each process, in that a box for each span. Plain SVG, one text size,
its own background, so that it is the same on any page."""
from html import escape

from spans import LANES, SPANS

WIDTH, LEFT, RIGHT, MARGIN = 1120, 150, 20, 12
BOX, GAP, LANE_GAP, LETTER = 18, 3, 9, 6.3
KEY_COLUMNS, LINE = 4, 16
COLOURS = {"alone": "#a9c7e8", "launcher": "#7fb0de", "gate": "#8fc98b", "guard": "#e3c56b", "manager": "#e59a72",
           "kernel": "#b9a3d6"}
NUMBER = {span.key: number for number, span in enumerate(SPANS, 1)}


def step_of(length):
    """Of the axis: some ten marks."""
    return next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if length / step <= 14)


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words, quote=False)}</text>'


def rows_of(boxes):
    """Boxes that lie over each other come under each other."""
    rows = []
    for box in sorted(boxes, key=lambda box: box[1]):
        row = next((row for row in rows if row[-1][2] <= box[1] + 1e-6), None)
        if row is None:
            rows.append([box])
        else:
            row.append(box)
    return rows


def boxes_of(kind, lane):
    spans = kind["alone" if lane == "alone" else "spans"]
    wanted = "launcher" if lane == "alone" else lane
    return [(span, spans[span.key]["begin"], spans[span.key]["end"], spans[span.key]["ms"])
            for span in SPANS if span.lane == wanted and span.key in spans]


def box_lines(box, lane, scale, y):
    span, begin, end, length = box
    x, width = LEFT + begin * scale, max((end - begin) * scale, 0.8)
    label = f"{NUMBER[span.key]} {span.name}"
    if len(label) * LETTER > width - 4:
        label = str(NUMBER[span.key])
    lines = [f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BOX}" fill="{COLOURS[lane]}" stroke="#fff" '
             f'stroke-width="0.6"><title>{escape(f"{NUMBER[span.key]} {span.name}: {length:.2f} ms")}</title></rect>']
    if len(label) * LETTER <= width - 2:
        lines.append(text(x + width / 2, y + 13, label, ' text-anchor="middle"'))
    return lines


def panel(name, kind, longest, y):
    scale = (WIDTH - LEFT - RIGHT) / longest
    lines = [text(MARGIN, y + 12, name, ' font-weight="bold"')]
    y += 22
    top, body = y, []
    for lane, words in LANES.items():
        body.append(text(MARGIN, y + 13, words))
        for row in rows_of(boxes_of(kind, lane)) or [[]]:
            for box in row:
                body += box_lines(box, lane, scale, y)
            y += BOX + GAP
        y += LANE_GAP
    step = step_of(longest)
    for mark in range(int(longest / step) + 1):
        x = LEFT + mark * step * scale
        lines.append(f'<line x1="{x:.1f}" y1="{top - 4}" x2="{x:.1f}" y2="{y}" stroke="#ddd"/>')
        lines.append(text(x, y + 12, f"{mark * step:g} ms" if mark == 0 else f"{mark * step:g}", ' text-anchor="middle"'))
    return lines + body, y + 30


def key_lines(y):
    each = -(-len(SPANS) // KEY_COLUMNS)
    lines = [text(MARGIN + (number - 1) // each * (WIDTH / KEY_COLUMNS), y + 12 + (number - 1) % each * LINE,
                  f"{number} {span.name}") for number, span in enumerate(SPANS, 1)]
    return lines, y + each * LINE + MARGIN


def render(titles, kinds):
    """titles: what is said above each panel."""
    longest = 1.02 * max(row["end"] for kind in kinds.values() for row in kind["spans"].values())
    lines, y = [], MARGIN
    for name, kind in kinds.items():
        more, y = panel(titles[name], kind, longest, y)
        lines += more
    more, y = key_lines(y)
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" '
            'font-family="sans-serif" font-size="11" fill="#222">', f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>']
    return "\n".join([*head, *lines, *more, "</svg>"]) + "\n"
