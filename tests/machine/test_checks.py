#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on the machine itself, without booting it: what may be wrong once on a busy
host, and what may not.
"""

import contextlib
import io
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "checks"))
import judge  # noqa: E402
from expect import Ledger, Result, Step, judge_step, rate, runs, total  # noqa: E402

SECOND = 1_000_000_000
# Name, expectation, value, part of the time, what is said
RESULTS = (
    ("rate", rate(1000), 1004, 1, "ok"),
    ("rate-off", rate(1000), 1006, 1, "again"),
    ("rate-in-turns", rate(1000), 500, 0.5, "not ok"),
    ("rate-of-what-moves-stands-still", rate(1000), 0, 1, "not ok"),
    ("rate-of-nothing", rate(0), 1, 1, "not ok"),
    ("turns", runs(0.2, 0.8), 1, 0.5, "ok"),
    ("uneven-turns", runs(0.2, 0.8), 1, 0.9, "again"),
    ("all-the-time", runs(1, 1), 1, 0.9, "not ok"),
    ("total", total("bytes", 0), 64, 1, "ok"),
    ("total-off", total("bytes", 0), 63, 1, "not ok"),
)
# Name, what is said after each boot, in the end
SUMS = (
    ("right", ("ok",), "ok"),
    ("right-in-the-second", ("again", "ok"), "ok"),
    ("right-in-the-first", ("ok", "again"), "ok"),
    ("never-right", ("again", "again", "again"), "not ok"),
    ("wrong-in-the-second", ("again", "not ok"), "not ok"),
    ("wrong-in-the-first", ("not ok", "ok"), "not ok"),
)
# Name, how far two programs are at each look, what is said
TURNS = (
    ("turns-alike", [(n * 1000, n * 900) for n in range(8)], "ok"),
    ("turns-lost-at-first", [(0, 0), *((20000 + n * 1000, n * 1000) for n in range(8))], "not ok"),
    ("turns-lost-later", [*((n * 1000, n * 1000) for n in range(8)), (7100, 8800)], "not ok"),
    ("nobody-gets-on", [(1, 1)] * 8, "not ok"),
    ("too-few-looks", [(n * 1000, n * 1000) for n in range(7)], "not ok"),
)


def said(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*arguments)
    return out.getvalue()


def verdict_on(expectation, value, part):
    ledger = Ledger({0: ("ucf", 32, 0)})
    ledger.now = {0: 64}
    line = Result("", "x/y/", value, SECOND, round(part * SECOND))
    text = f"{line.spec} value {line.value} enabled_ns {line.enabled} running_ns {line.running}"
    return said(judge.verdict, "x", judge_step(Step("x", "count 1", [("x/y/", expectation)]), [text], ledger))


def sum_of(words):
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name) / str(number) for number in range(len(words))]
        for file, word in zip(files, words):
            file.write_text(f"{word} x{'' if word == 'ok' else ': a: reason'}\n", encoding="utf-8")
        return said(judge.sum_up, *files)


def verdict_on_turns(looks):
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "turns.out"
        file.write_text("".join(f"{first} {second}\n" for first, second in looks), encoding="utf-8")
        return said(judge.turns, "x", file)


def main():
    wrong = 0
    cases = [(name, verdict_on(*case), wanted) for name, *case, wanted in RESULTS]
    cases += [(name, sum_of(words), wanted) for name, words, wanted in SUMS]
    cases += [(name, verdict_on_turns(looks), wanted) for name, looks, wanted in TURNS]
    for name, found, wanted in cases:
        if found.startswith(f"{wanted} x") and (wanted == "ok") == (": " not in found):
            print(f"ok checks: {name}")
        else:
            wrong += 1
            print(f"not ok checks: {name}: said {found!r}, expected {wanted!r}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
