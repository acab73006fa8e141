#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flow.py: prints docs/flow.svg, the way of the data through the rooms of user/.

BOXES says where a room stands, ARROWS what goes from one to the next. The small boxes are read
from the tree. An arrow with a header is refused unless both ends include it; an arrow without one
is refused unless the second end includes a header of the first. A room that stands nowhere is
refused too. So the picture cannot show what the code does not do.
"""
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 1200
FONT = "font-family='system-ui, Segoe UI, Helvetica, DejaVu Sans, Arial, sans-serif'"
INCLUDE = re.compile(r'^#include "([a-z0-9_/]+\.h)"', re.M)
MONO = "font-family='ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace'"
CHIP, GAP, HEAD = 28, 8, 78


def folder(name):
    return ROOT / ("bpf" if name == "bpf" else f"user/{name}")


def rooms(path):
    """Folders with sources; one that was moved away may still lie there, empty"""
    return sorted(p.name for p in path.iterdir() if p.is_dir() and any(p.rglob("*.[ch]")))


def inside(name):
    """The small boxes: rooms in a room, programs in bpf/"""
    if name == "bpf":
        names = {path.name.removesuffix(".bpf.c") for path in folder(name).glob("*.bpf.c")}
        return sorted(names - {"maps"})
    return rooms(folder(name))


def needed(name, columns):
    """The height of a box with its small boxes"""
    return HEAD + -(-len(inside(name)) // columns) * (CHIP + GAP) + 10


# Rows of the picture, from above
MIDDLE = 138
TALL = max(needed("bpf", 2), needed("platform", 2), needed("engine", 2), needed("report", 1))
FILES = MIDDLE + TALL + 46
GROUND = FILES + 122
HEIGHT = GROUND + 90
ALONG = MIDDLE + 132
# name: x, y, width, height, columns of small boxes, border, fill, what it does: above the small
# boxes, and behind an empty line below them
BOXES = {
    "cli": (
        24, 24, 652, 74, 0, "#57606a", "#f6f8fa",
        ("commands, options, printing; starts live runs, replays and the daemon",),
    ),
    "daemon": (
        756, 24, 420, 74, 0, "#57606a", "#f6f8fa",
        ("accounts of jobs on disk, closing reports, pages",),
    ),
    "bpf": (24, MIDDLE, 156, TALL, 2, "#bc4c00", "#fff8f2", ("in the kernel:", "notes and counts")),
    "platform": (
        260, MIDDLE, 204, TALL, 2, "#0969da", "#f3f9ff",
        ("asks the machine:", "PMUs, cgroups, PCI, /proc"),
    ),
    "live": (
        544, MIDDLE, 132, TALL, 1, "#1a7f37", "#f2fbf4",
        ("a run: merges", "all in one trace", "",
         "opens counters,", "takes records,", "looks up names,", "ends intervals"),
    ),
    "engine": (
        756, MIDDLE, 210, TALL, 2, "#8250df", "#faf6ff",
        ("splits what was counted:", "pure, no system calls"),
    ),
    "report": (1046, MIDDLE, 130, TALL, 1, "#bf3989", "#fff5fa", ("shows it:", "text, JSON")),
    "sources": (
        24, FILES, 376, 76, 0, "#57606a", "#f6f8fa",
        ("beside the core, one row each in its tables:", "monitors of ESP, counts of Bay Trail"),
    ),
    "trace": (
        464, FILES, 212, 76, 0, "#1a7f37", "#f2fbf4",
        ("recordings and NDJSON:", "written and read"),
    ),
    "replay": (
        756, FILES, 210, 76, 0, "#1a7f37", "#f2fbf4",
        ("a report of a recording,", "with other options"),
    ),
    "gpu": (
        1046, FILES, 130, 76, 0, "#57606a", "#f6f8fa",
        ("a helper:", "users of GPUs"),
    ),
    "model": (
        24, GROUND, 376, 66, 0, "#57606a", "#f6f8fa",
        ("what the contracts in include/ declare",),
    ),
    "tables": (
        412, GROUND, 376, 66, 0, "#57606a", "#f6f8fa",
        ("hardware, metrics, job paths, as rows",),
    ),
    "base": (800, GROUND, 376, 66, 0, "#57606a", "#f6f8fa", ("errors with remedy, text, cleanup",)),
}
# from, to, header that both include, points, where the label is, what goes there
ARROWS = (
    ("bpf", "platform", "records.h", ((180, ALONG), (260, ALONG)), (220, ALONG),
     ("counts,", "CPU time,", "names")),
    ("platform", "live", "", ((464, ALONG), (544, ALONG)), (504, ALONG), ("records,", "readings")),
    ("live", "engine", "trace.h", ((676, ALONG), (756, ALONG)), (716, ALONG),
     ("slices,", "windows,", "marks")),
    ("engine", "report", "model.h", ((966, ALONG), (1046, ALONG)), (1006, ALONG),
     ("rows,", "sums,", "quality")),
    ("live", "trace", "trace.h", ((610, MIDDLE + TALL), (610, FILES)), (610, FILES - 24), ()),
    ("trace", "replay", "", ((676, FILES + 38), (756, FILES + 38)), (716, FILES + 38), ("a file",)),
    ("replay", "engine", "trace.h", ((861, FILES), (861, MIDDLE + TALL)), (861, FILES - 21), ()),
    ("engine", "daemon", "account.h", ((861, MIDDLE), (861, 98)), (861, 119), ()),
    ("daemon", "report", "account.h", ((1086, 98), (1086, MIDDLE)), (1086, 117), ()),
)
STYLE = "".join(
    (
        "<style>",
        ".t{font-weight:600;font-size:18px}",
        ".s{font-size:14px;fill:#424a53}",
        ".c{font-size:14px;fill:#1f2328}",
        ".d{font-size:13px;fill:#57606a}",
        ".h{font-size:12.5px;fill:#1f2328}",
        "</style>",
    )
)


class Problem(Exception):
    """The picture and the code differ."""


def included(name):
    """Headers that files of a box include, as they are written there"""
    return {
        header
        for path in folder(name).rglob("*.[ch]")
        for header in INCLUDE.findall(path.read_text(encoding="utf-8"))
    }


def check():
    for name in rooms(ROOT / "user"):
        if name not in BOXES:
            raise Problem(f"user/{name} has no place in docs/flow.py")
    for first, second, header, *_ in ARROWS:
        if header:
            for end in (first, second):
                if header not in included(end):
                    raise Problem(f"{end} does not include {header}, as {first} -> {second} says")
        elif not any(other.startswith(f"{first}/") for other in included(second)):
            raise Problem(f"{second} does not use {first}, as their arrow says")


def text(x, y, kind, content, anchor="start", extra=""):
    where = f"x='{x}' y='{y}' class='{kind}' text-anchor='{anchor}' {extra}"
    return f"<text {where}>{html.escape(content)}</text>"


def chips(name, x, y, width, columns):
    """The small boxes of a box whose upper left corner is x, y"""
    if not columns:
        return
    room = width - 24
    wide = (room - GAP * (columns - 1)) / columns
    for i, chip in enumerate(inside(name)):
        left = x + 12 + (i % columns) * (wide + GAP)
        top = y + HEAD + i // columns * (CHIP + GAP)
        yield (
            f"<rect x='{left:g}' y='{top:g}' width='{wide:g}' height='{CHIP}' rx='6' "
            f"fill='#ffffff' stroke='{BOXES[name][5]}' stroke-opacity='0.45'/>"
        )
        yield text(f"{left + wide / 2:g}", f"{top + 19:g}", "c", chip, "middle")


def box(name):
    x, y, width, height, columns, border, fill, lines = BOXES[name]
    yield (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='10' fill='{fill}' "
        f"stroke='{border}' stroke-width='1.5'/>"
    )
    yield text(x + 14, y + 27, "t", "bpf/" if name == "bpf" else name, extra=f"fill='{border}'")
    above = lines.index("") if "" in lines else len(lines)
    for i, line in enumerate(lines[:above]):
        yield text(x + 14, y + 49 + 17 * i, "s", line)
    for i, line in enumerate(lines[above + 1 :]):
        yield text(x + 14, y + needed(name, columns) + 12 + 17 * i, "s", line)
    yield from chips(name, x, y, width, columns)


def arrow(header, points, label, what):
    path = " L".join(f"{x} {y}" for x, y in points)
    line = "fill='none' stroke='#1f2328' stroke-width='2' marker-end='url(#end)'"
    yield f"<path d='M{path}' {line}/>"
    x, y = label
    if header:
        wide = 7.6 * len(header) + 6
        # beside a horizontal arrow the label is above it, on a vertical one right of it
        level = points[0][1] == points[1][1]
        left, top = (x - wide / 2, y - 31) if level else (x + 10, y - 10)
        yield (
            f"<rect x='{left:g}' y='{top:g}' width='{wide:g}' height='20' rx='5' "
            "fill='#ffffff' stroke='#d0d7de'/>"
        )
        yield text(f"{left + wide / 2:g}", f"{top + 14.5:g}", "h", header, "middle", MONO)
    for i, line in enumerate(what):
        yield text(x, y + 20 + 16 * i, "d", line, "middle")


def picture():
    size = f"viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}'"
    yield f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' {FONT}>"
    yield "<!-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause -->"
    yield "<!-- made by docs/flow.py: make picture -->"
    yield "<title>The way of the data through the rooms of t410trace</title>"
    yield STYLE
    yield "<defs><marker id='end' viewBox='0 0 10 10' refX='9' refY='5'"
    yield " markerWidth='7' markerHeight='7' orient='auto'>"
    yield "<path d='M0 0L10 5L0 10z' fill='#1f2328'/></marker></defs>"
    yield f"<rect width='{WIDTH}' height='{HEIGHT}' rx='12' fill='#ffffff'/>"
    for name in BOXES:
        yield from box(name)
    for *_, header, points, label, what in ARROWS:
        yield from arrow(header, points, label, what)
    yield "</svg>"


if __name__ == "__main__":
    try:
        check()
        print("\n".join(picture()))
    except Problem as problem:
        sys.exit(f"flow.py: {problem}")
