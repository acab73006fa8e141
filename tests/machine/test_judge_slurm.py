#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on a daemon that was killed, without a virtual machine: a folder as the guest
leaves it must pass when the account is right, and fail in the right test when it is not.
"""

import sys

import judge
import judge_slurm as slurm
from results import Scenario
from spoilt import failing_in, refuse_spoilt

NS_PER_S = 1_000_000_000
COUNTER = judge.READ0
# What a program moved, one in each half of a second, from second 10 on
MOVED = 500_000_000
NR = 30
# The time since 1970 at second 0
EPOCH = 1_700_000_000 * NS_PER_S
TESTS = (
    slurm.the_killed_daemon_lost_no_interval_that_it_had_closed,
    slurm.bytes_outside_of_the_gap_are_in_the_books,
    slurm.the_killed_daemon_lost_what_the_gap_says,
)
CLOSED, OUTSIDE, SAID = (test.__name__ for test in TESTS)


def at(seconds):
    return round(seconds * NS_PER_S)


def line(number):
    start = 10 + number / 2
    return {"name": "delta", "slot": 0, "bytes": MOVED, "start_ns": at(start), "end_ns": at(start + 0.5)}


def gap(start, end):
    return {"start_ns": EPOCH + at(start), "end_ns": EPOCH + at(end), "duration_ns": at(end - start)}


def right():
    """Intervals ended at 16 and 17; killed at 17.5, back at 20. Seven programs moved bytes meanwhile."""
    pause = gap(17, 20)
    machine = (NR - 7) * MOVED
    return {
        "delta.json": {
            "state": "ended",
            "gaps": [pause],
            "gap_ns": pause["duration_ns"],
            "counters": [{"name": COUNTER, "value": machine * 98 // 100, "machine": {"value": machine}}],
        },
        "last.page": {"interval": {"start_ns": at(16), "end_ns": at(17), "start_time": "2023-11-14T22:13:36.000Z"}},
        "truth": [line(number) for number in range(NR)],
        "killed": EPOCH + at(17.5),
        "dead": EPOCH + at(17.51),
        "restarted": EPOCH + at(20.2),
        "back": at(20.2),
    }


def change(files, **pause):
    report = files["delta.json"]
    report["gaps"][0].update(pause)
    report["gap_ns"] = report["gaps"][0]["duration_ns"]


def lose(files, part):
    """A part of what one program moved, more than is missing already."""
    counter = files["delta.json"]["counters"][0]
    counter["machine"]["value"] -= round(part * MOVED)
    counter["value"] = counter["machine"]["value"]


def spoil_interval(files):
    """One that was closed is lost, and said to be."""
    change(files, **gap(16, 20))
    lose(files, 2)
    return {CLOSED}


def spoil_start(files):
    change(files, **gap(17.6, 20))
    return {CLOSED, SAID}


def spoil_end(files):
    """Looked at again before it was back: nobody did."""
    change(files, **gap(17, 17.4))
    return {CLOSED, SAID}


def spoil_late_end(files):
    change(files, **gap(17, 20.5))
    return {CLOSED}


def spoil_sum(files):
    files["delta.json"]["gap_ns"] += 1
    return {CLOSED}


def spoil_silence(files):
    files["delta.json"].update(gaps=[], gap_ns=0)
    return {CLOSED, SAID}


def spoil_before(files):
    """Bytes of the time before are not there."""
    lose(files, 6)
    return {OUTSIDE, SAID}


def spoil_little(files):
    """More than was moved in the gap, and programs at its edges."""
    lose(files, 1.1)
    return {SAID}


def spare_edges(files):
    lose(files, 0.9)
    return set()


def spoil_bytes(files):
    """More than there were."""
    lose(files, -8)
    return {OUTSIDE}


def spoil_part(files):
    files["delta.json"]["counters"][0]["value"] //= 2
    return {SAID}


def spoil_late(files):
    """The interval that was lost was a long one."""
    for when in ("killed", "dead"):
        files[when] += at(2)
    return {SAID}


def spoil_test(files):
    """Nothing ran when it was back."""
    files["truth"] = files["truth"][:18]
    return {OUTSIDE}


CASES = (
    spoil_interval, spoil_start, spoil_end, spoil_late_end, spoil_sum, spoil_silence, spoil_before, spoil_little, spare_edges,
    spoil_bytes, spoil_part, spoil_late, spoil_test,
)  # fmt: skip


def failures(files):
    return failing_in(files, TESTS, lambda folder: Scenario(folder, judge.wiring_of("slurm")), "slurm")


def main():
    return 1 if refuse_spoilt("slurm", right, failures, CASES) else 0


if __name__ == "__main__":
    sys.exit(main())
