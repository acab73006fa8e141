#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on a program that keeps its CPU, without a virtual machine: results as the
guest leaves them must pass, and fail in the right test when they are spoiled.
"""

import json
import pathlib
import sys
import tempfile

import judge_ticks as ticks
from results import Scenario
from spoilt import failing, failing_in, refuse_spoilt, spoilers_of

MS = 1_000_000
WINDOW = 10 * MS
WINDOWS = 200
PID = 77
NOTE = "CPUs 3 are isolated or nohz_full and left alone: --tick=all closes windows there, too"
SAYS, ONCE, KNOWN, ALONE = (
    test.__name__
    for test in (
        ticks.the_report_says_what_was_done,
        ticks.all_of_its_time_is_there_once,
        ticks.who_stays_is_known_for_each_window,
        ticks.where_it_is_left_alone_it_is_not,
    )
)
MODES = {"auto": "auto", "off": "off", "quiet": "auto", "all": "all"}


def slices(length):
    """Two seconds of the program; somebody else has a number that was another's."""
    end = WINDOWS * WINDOW
    return [
        {"type": "slice", "workload": 1, "start_ns": at, "end_ns": min(at + length, end)}
        for at in range(0, end, length)
    ]


def right():
    """By recording: quality of its report, and lines."""
    files = {}
    for turn, mode in MODES.items():
        closed = turn in ticks.CLOSED
        quality = {"tick": mode, "per_window_ratio": 0.99 if closed else 0.2}
        if turn == "quiet":
            quality["tick_note"] = NOTE
        windows = [
            {"type": "window", "socket": ticks.SOCKET, "start_ns": n * WINDOW, "end_ns": (n + 1) * WINDOW}
            for n in range(WINDOWS)
        ]
        # Each group has them, and the other socket
        windows += windows + [{**window, "socket": 0, "end_ns": window["end_ns"] + 1} for window in windows]
        lines = [{"type": "header", "window_ns": WINDOW}]
        lines += [{"type": "workload", "id": 1, "pid": PID}, {"type": "workload", "id": 2, "pid": 1}]
        lines += windows + slices(WINDOW if closed else 50 * WINDOW)
        files[turn] = (quality, lines)
    return files


def failed(files):
    """The tests that do not pass."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "done").touch()
        (folder / "busy.pid").write_text(f"{PID}\n", encoding="ascii")
        for turn, (quality, lines) in files.items():
            for what in ("record", "report"):
                (folder / f"{what}-{turn}.status").write_text("0\n", encoding="ascii")
            (folder / f"{turn}.json").write_text(json.dumps({"quality": quality}), encoding="ascii")
            text = "\n".join(map(json.dumps, lines))
            (folder / f"{turn}.part").write_text(text, encoding="ascii")
        return failing(Scenario(folder, None), ticks.TESTS["ticks"])


def of(files, turn, **changes):
    files[turn][0].update(changes)


def put_slices(files, turn, length):
    files[turn][1][:] = [line for line in files[turn][1] if line["type"] != "slice"] + slices(length)


def spoil_mode(files):
    of(files, "off", tick="auto")
    return {SAYS}


def spoil_silence(files):
    """Nobody says that a CPU was left alone."""
    del files["quiet"][0]["tick_note"]
    return {SAYS}


def spoil_note(files):
    of(files, "all", tick_note=NOTE)
    return {SAYS}


def spoil_ratio(files):
    of(files, "auto", per_window_ratio=0.5)
    return {KNOWN}


def spoil_impossible(files):
    of(files, "off", per_window_ratio=1.1)
    return {SAYS}


def spoil_twice(files):
    files["all"][1].append(dict(slices(WINDOW)[7]))
    return {ONCE}


def spoil_long(files):
    """A tick that passes nothing on: slices of two windows."""
    put_slices(files, "all", 2 * WINDOW)
    return {KNOWN}


def spoil_asleep(files):
    """It ran in a part of the time only."""
    files["auto"][1][:] = [line for line in files["auto"][1] if line.get("start_ns", 0) < 50 * WINDOW]
    return {KNOWN}


def spoil_disturbed(files):
    """The quiet CPU was not left alone."""
    put_slices(files, "quiet", WINDOW)
    return {ALONE}


def spoil_off(files):
    put_slices(files, "off", WINDOW)
    return {ALONE}


BUSY = ticks.what_it_does_is_known_for_each_window


def busy():
    """Ten intervals of a program that keeps its CPU; in one of them two windows ended late."""
    ms = 300 * MS
    spread = [0, 0, 0, 2 * 20 * MS, 0, 0, 20 * MS, 0, 0, 0]
    quality = [{"tasks_ns": ms, "spread_ns": late, "per_window_ratio": 1 - late / ms} for late in spread]
    return {"busy.json": [{"sequence": i, "interval": {"duration_ns": ms}, "quality": q} for i, q in enumerate(quality)]}


def late(files, sequence, ns):
    quality = files["busy.json"][sequence]["quality"]
    quality.update(spread_ns=ns, per_window_ratio=1 - ns / quality["tasks_ns"])


def an_interval_without_windows(files):
    late(files, 0, 60 * MS)
    return {BUSY.__name__}


def a_late_window_in_each_interval(files):
    for sequence in range(10):
        late(files, sequence, 16 * MS)
    return {BUSY.__name__}


def only_short_intervals(files):
    for report in files["busy.json"]:
        report["interval"]["duration_ns"] = 100 * MS
    return {BUSY.__name__}


def busy_failed(files):
    return failing_in(files, [BUSY], lambda folder: Scenario(folder, None))


def main():
    wrong = refuse_spoilt("ticks", right, failed, spoilers_of(globals()))
    spoilers = (an_interval_without_windows, a_late_window_in_each_interval, only_short_intervals)
    wrong += refuse_spoilt("busy", busy, busy_failed, spoilers)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
