# SPDX-License-Identifier: GPL-2.0-only
"""Tests of windows that are closed while a task keeps its CPU; see judge.py."""

import json

from results import estimate, expect, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
# The CPU of the program that stays, and its socket
CPU, SOCKET = 3, 1
CLOSED, OPEN = ("auto", "all"), ("off", "quiet")


def quality(s, turn):
    s.expect_complete(f"record-{turn}")
    s.expect_complete(f"report-{turn}")
    return json.loads(s.text(f"{turn}.json"))["quality"]


class Turn:
    """Of a recording: the windows of the program's socket, and its slices."""

    def __init__(self, s, turn):
        lines = [json.loads(line) for line in s.text(f"{turn}.part").splitlines()]
        of_kind = {kind: [line for line in lines if line["type"] == kind] for kind in ("workload", "slice", "window")}
        pid = s.number("busy.pid")
        ids = {line["id"] for line in of_kind["workload"] if line["pid"] == pid}
        self.slices = [line for line in of_kind["slice"] if line["workload"] in ids]
        require(self.slices, f"{turn}: the program is not in it")
        # Groups of counters have windows at the same times
        self.windows = {(line["start_ns"], line["end_ns"]) for line in of_kind["window"] if line["socket"] == SOCKET}
        self.window_ns = lines[0]["window_ns"]

    def time_by_length(self):
        """The program's CPU time, and what of it is in slices of about one window or less."""
        whole = near = 0
        for one in self.slices:
            length = one["end_ns"] - one["start_ns"]
            ns = one.get("on_cpu_ns", length)
            whole += ns
            near += ns if length <= 1.5 * self.window_ns else 0
        return whole, near


@test("ticks")
def the_report_says_what_was_done(s):
    modes = {"auto": "auto", "off": "off", "quiet": "auto", "all": "all"}
    for turn, mode in modes.items():
        found = quality(s, turn)
        expect_equal(found["tick"], mode, f"{turn}: tick")
        require(0 <= found["per_window_ratio"] <= 1, f"{turn}: {found['per_window_ratio']}")
        note = found.get("tick_note", "")
        expect_equal("CPUs 3 are isolated" in note and "--tick=all" in note, turn == "quiet", f"{turn}: note {note!r}")


@test("ticks")
def all_of_its_time_is_there_once(s):
    for turn in (*CLOSED, *OPEN):
        end = 0
        for one in sorted(Turn(s, turn).slices, key=lambda one: one["start_ns"]):
            require(one["start_ns"] >= end, f"{turn}: a slice begins at {one['start_ns']}, the last one ended at {end}")
            end = one["end_ns"]


@test("ticks")
@estimate
def who_stays_is_known_for_each_window(s):
    for turn in CLOSED:
        seen = Turn(s, turn)
        whole, near = seen.time_by_length()
        expect(whole > 1_500_000_000, f"{turn}: only {whole} ns of CPU time")
        expect(near >= 0.95 * whole, f"{turn}: {near} of {whole} ns are known for each window")
        expect(len(seen.slices) >= 0.9 * len(seen.windows), f"{turn}: {len(seen.slices)} slices, {len(seen.windows)} windows")
        ratio = quality(s, turn)["per_window_ratio"]
        expect(ratio >= 0.95, f"{turn}: per_window_ratio {ratio}")


@test("ticks")
@estimate
def where_it_is_left_alone_it_is_not(s):
    for turn in OPEN:
        seen = Turn(s, turn)
        whole, near = seen.time_by_length()
        expect(near <= 0.3 * whole, f"{turn}: {near} of {whole} ns are known for each window")
        expect(len(seen.slices) <= 0.4 * len(seen.windows), f"{turn}: {len(seen.slices)} slices, {len(seen.windows)} windows")


@test("busy")
@estimate
def what_it_does_is_known_for_each_window(s):
    """
    Of all of its time; in an interval of 300 ms two windows may have lasted as long as two of them,
    for a CPU that the host holds up has its tick late: each is 5 to 7 % of it.
    """
    found = [r for r in s.reports("busy").each if r["interval"]["duration_ns"] > 250_000_000]
    tasks, spread = (sum(r["quality"][what] for r in found) for what in ("tasks_ns", "spread_ns"))
    expect(tasks and spread <= 0.05 * tasks, f"{spread} of {tasks} ns are known for several windows together")
    for report in found:
        ratio = report["quality"]["per_window_ratio"]
        expect(ratio >= 0.85, f"report {report['sequence']}: per_window_ratio {ratio}")
