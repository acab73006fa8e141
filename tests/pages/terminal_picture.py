#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""terminal_picture.py T410TRACE OUT.svg: what "top" shows of an invented recording, in colours.

The screen is taken from tmux with its colours, and written as text in an SVG: each run of cells of
the same look is a text of a fixed width, so that any font with fixed widths will do.
"""
import html
import pathlib
import re
import sys
import tempfile

import scene

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from terminal import Terminal  # pylint: disable=wrong-import-position

COLUMNS, ROWS = 120, 30
WIDE, HIGH = 7.2, 15
PLAIN, GROUND = "#d0d7de", "#0d1117"
COLOURS = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"]
SHADES = {"█": 1, "▓": 0.7, "▒": 0.55, "░": 0.4}
FONT = "ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace"


def looks(look, codes):
    """The look after a sequence of codes: (colour, bold, dim, reverse)"""
    colour, bold, dim, reverse = look
    for code in [int(c or 0) for c in codes.split(";")]:
        if code == 0:
            colour, bold, dim, reverse = None, False, False, False
        elif code == 1:
            bold = True
        elif code == 2:
            dim = True
        elif code == 22:
            bold = dim = False
        elif code in (7, 27):
            reverse = code == 7
        elif 30 <= code <= 37:
            colour = code - 30
        elif code == 39:
            colour = None
    return colour, bold, dim, reverse


def runs(line):
    """(column, text, look) of a line"""
    look, column = (None, False, False, False), 0
    for codes, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if text:
            yield column, text, look
            column += len(text)
        else:
            look = looks(look, codes)


def dots(character, x, y):
    """A character of braille, as squares: few fonts have it in the right width."""
    bits = ord(character) - 0x2800
    for bit in range(8):
        if bits >> bit & 1:
            # Bits 0 to 2 and 3 to 5 go down, 6 and 7 are the lowest row.
            column, row = (bit // 3, bit % 3) if bit < 6 else (bit - 6, 3)
            yield f"M{x + 1.2 + 3.2 * column:.1f} {y + 1.4 + 3.6 * row:.1f}h2.2v2.6h-2.2z"


def drawn(text, x, y, ink):
    """Bars and graphs as shapes; None for what is text"""
    if text[0] in SHADES:
        return (f"<rect x='{x:.1f}' y='{y + 1}' width='{len(text) * WIDE:.1f}' height='{HIGH - 2}' fill='{ink}'"
                f" opacity='{SHADES[text[0]]}'/>")
    if "\u2800" <= text[0] <= "\u28ff":
        path = "".join(d for n, c in enumerate(text) for d in dots(c, x + n * WIDE, y))
        return f"<path d='{path}' fill='{ink}'/>"
    return None


def pieces(text):
    """Parts of a run that are drawn, and those that are text"""
    column = 0
    for part in re.findall(r"█+|▓+|▒+|░+|[\u2800-\u28ff]+|[^█▓▒░\u2800-\u28ff]+", text):
        yield column, part
        column += len(part)


def cell_texts(lines):
    for row, line in enumerate(lines):
        for column, text, (colour, bold, dim, reverse) in runs(line):
            ink = PLAIN if colour is None else COLOURS[colour]
            y = row * HIGH + 8
            if reverse:
                yield (f"<rect x='{column * WIDE + 8:.1f}' y='{y}' width='{len(text) * WIDE:.1f}' height='{HIGH}'"
                       f" fill='{ink}'/>")
                ink = GROUND
            style = (" font-weight='bold'" if bold else "") + (" opacity='.6'" if dim else "")
            for offset, part in pieces(text):
                x = (column + offset) * WIDE + 8
                shape = drawn(part, x, y, ink)
                if shape:
                    yield shape
                elif part.strip():
                    yield (f"<text x='{x:.1f}' y='{y + 11.5}' textLength='{len(part) * WIDE:.1f}'"
                           f" lengthAdjust='spacingAndGlyphs' fill='{ink}'{style}>{html.escape(part)}</text>")


def picture(screen):
    lines = screen.rstrip("\n").split("\n")
    size = f"{COLUMNS * WIDE + 16:.0f} {ROWS * HIGH + 16}"
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size}' font-family='{FONT}' font-size='12'"
        " xml:space='preserve'>",
        "<!-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause -->",
        f"<rect width='100%' height='100%' rx='6' fill='{GROUND}'/>",
        *cell_texts(lines), "</svg>", ""])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "scene.ndjson"
        scene.write(trace)
        with Terminal(f"{pathlib.Path(sys.argv[1]).resolve()} top --peak 60GB/s {trace}", COLUMNS, ROWS) as t:
            t.wait("WHOLE RUN")
            t.press("g", "Down", "Down")
            t.wait(" 3 of ")
            pathlib.Path(sys.argv[2]).write_text(picture(t.screen(colours=True)), encoding="utf-8")
