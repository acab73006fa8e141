# SPDX-License-Identifier: GPL-2.0-only
"""What a terminal shows after what was written to it: as much of xterm as ncurses uses, in ASCII.

Looks are left out. Anything that is not known is an error, so that nothing is read from a wrong picture.
"""

import re

ROWS, COLUMNS = 24, 80
SEQUENCE = re.compile(r"\x1b\[(?P<mode>[?>]?)(?P<numbers>[0-9;]*)(?P<what>[@A-Za-z])")
REVERSE_INDEX = "\x1bM"
# Character sets, keypad, and the title's stack of xterm
SILENT = re.compile(r"\x1b\([B0]|\x1b[=>]|\x1b\[[0-9;]*t")


class Unknown(Exception):
    """A sequence that this is not made for."""


class Screen:
    def __init__(self, text=""):
        self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.top, self.bottom = 0, ROWS - 1
        self.last = " "
        self.wraps = False  # the next character begins a new line
        self.modes = {}  # "?25": is the cursor seen?
        self.write(text)

    def text(self):
        return ["".join(line).rstrip() for line in self.lines]

    def write(self, text):
        at = 0
        while at < len(text):
            found = SILENT.match(text, at) or SEQUENCE.match(text, at)
            if found and found.re is SEQUENCE:
                self.sequence(found)
            elif text.startswith(REVERSE_INDEX, at):
                self.line_back()
                at += 1
            elif not found:
                self.character(text, at)
            at = found.end() if found else at + 1

    def character(self, text, at):
        c = text[at]
        if c == "\r":
            self.go(self.row, 0)
        elif c == "\n":
            self.line_feed()
        elif c == "\b":
            self.go(self.row, self.column - 1)
        elif c == "\t":
            self.go(self.row, (self.column // 8 + 1) * 8)
        elif " " <= c <= "~":
            self.put(c)
        elif c not in "\x0f\x07":
            raise Unknown(repr(text[at : at + 12]))

    def go(self, row, column):
        self.row, self.column = min(max(row, 0), ROWS - 1), min(max(column, 0), COLUMNS - 1)
        self.wraps = False

    def put(self, c):
        if self.wraps:
            self.column = 0
            self.line_feed()
        self.lines[self.row][self.column] = self.last = c
        self.wraps = self.column == COLUMNS - 1
        self.column += not self.wraps

    def line_feed(self):
        if self.row == self.bottom:
            self.scroll(1)
        else:
            self.row = min(self.row + 1, ROWS - 1)
        self.wraps = False

    def line_back(self):
        if self.row == self.top:
            self.scroll(-1)
        else:
            self.row = max(self.row - 1, 0)
        self.wraps = False

    def scroll(self, count, top=None):
        """Upwards, downwards with less than 0; from @top on"""
        top = self.top if top is None else top
        area = self.lines[top : self.bottom + 1]
        new = [[" "] * COLUMNS for _ in range(min(abs(count), len(area)))]
        area = area[len(new) :] + new if count > 0 else new + area[: len(area) - len(new)]
        self.lines[top : self.bottom + 1] = area

    def clear(self, row, begin, end):
        self.lines[row][begin:end] = " " * (end - begin)

    def erase_lines(self, what):
        for row in range(ROWS):
            if what == 2 or (row > self.row if what == 0 else row < self.row):
                self.clear(row, 0, COLUMNS)
        if what != 2:
            self.erase(what)

    def erase(self, what):
        self.clear(self.row, 0 if what else self.column, COLUMNS if what != 1 else self.column + 1)

    def shift(self, count):
        """Characters from the cursor on to the right, or with less than 0 to the left"""
        rest = self.lines[self.row][self.column :]
        blank = [" "] * min(abs(count), len(rest))
        rest = blank + rest[: len(rest) - len(blank)] if count > 0 else rest[len(blank) :] + blank
        self.lines[self.row][self.column :] = rest

    def sequence(self, found):
        what = found["what"]
        numbers = [int(n or 0) for n in found["numbers"].split(";")]
        n = max(numbers[0], 1)
        if what == "m" or found["mode"] == ">":
            return
        if what in "hl":
            for number in numbers:
                self.modes[f"{found['mode']}{number}"] = what == "h"
        elif what in "Hr":
            first, second = (numbers + [0])[:2]
            if what == "r":
                self.top, self.bottom = max(first, 1) - 1, (second or ROWS) - 1
                first = second = 1
            self.go(max(first, 1) - 1, max(second, 1) - 1)
        elif what in "JK":
            (self.erase_lines if what == "J" else self.erase)(numbers[0])
        elif what == "b":
            for _ in range(n):
                self.put(self.last)
        else:
            self.move(what, n, found[0])

    def move(self, what, n, sequence):
        steps = {
            "A": lambda: self.go(self.row - n, self.column),
            "B": lambda: self.go(self.row + n, self.column),
            "C": lambda: self.go(self.row, self.column + n),
            "D": lambda: self.go(self.row, self.column - n),
            "G": lambda: self.go(self.row, n - 1),
            "d": lambda: self.go(n - 1, self.column),
            "Z": lambda: self.go(self.row, (self.column - 1) // 8 * 8),
            "X": lambda: self.clear(self.row, self.column, min(self.column + n, COLUMNS)),
            "@": lambda: self.shift(n),
            "P": lambda: self.shift(-n),
            "L": lambda: self.scroll(-n, self.row),
            "M": lambda: self.scroll(n, self.row),
            "S": lambda: self.scroll(n),
            "T": lambda: self.scroll(-n),
        }
        if what not in steps:
            raise Unknown(repr(sequence))
        steps[what]()
