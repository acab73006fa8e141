# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what "t410trace top" shows on a terminal while it measures; see judge.py."""

import json
import re

from results import READ0, WRITE1, Exact, by_pid, estimate, expect, expect_close, expect_equal, require, tests_into
from screen import Screen, Unknown

TESTS = {}
test = tests_into(TESTS)
# The programs in the order of what they move, with the counter that shows it
PROGRAMS = {"big": READ0, "small": WRITE1}
# In lines of text: sockets follow each other, then what the pieces of their bars mean, then rows
FIRST_SOCKET, LEGEND, HEADING = 2, 4, 5
# Pieces of a bar without UTF-8, in their order, and the reasons of unattributed bytes in each
PIECES = {
    "workloads": ("#", ()),
    "devices": ("=", ("device",)),
    "remote": ("-", ("remote",)),
    "unattributed": (".", ("idle", "other", "lost", "background")),
}
# Half of the last digit of a rate, a percentage, and of what is shown in three digits
GB_ROUNDING, PERCENT_ROUNDING, DIGITS = 0.0005001, 0.05001, 0.00501
UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
RANGE = r"~?(?:exact|<=[\d.]+ \w*B|[\d.]+-[\d.]+ \w*B)"
ROW = re.compile(rf"(\d+) (\S+) +([\d.]+) +([\d.]+) +(\S+) +({RANGE}|\S+) +(\S+%)(?: |$)")
SHARE = re.compile(r"(\S+) +(\d+) +([\d.]+ \w*B) +([\d.]+ \w*B) +([\d.]+ \w*B) +(\S+)")
METRIC = re.compile(r" *Memory read bandwidth +GB/s +([\d.]+)")
COUNTER = re.compile(r"(\S+) +(\d+) +(?:([\d.]+) GB/s|no data) +(\S+) +(\S+)")


def written(s):
    try:
        return (s.folder / "screen").read_bytes().decode("latin-1")
    except OSError as error:
        raise Exact(f"screen: {error.strerror}") from error


def screen_at(s, name=None):
    """When the picture @name stood still, or at the end"""
    text = written(s)
    try:
        return Screen(text[: s.number(f"{name}.at")] if name else text)
    except Unknown as error:
        raise Exact(f"{name}: the terminal got {error}") from error


def picture(s, name):
    return screen_at(s, name).text()


def interval_of(s, lines):
    """The recorded one that begins when this picture says"""
    found = re.search(r"\d{4}-\d\d-\d\dT[\d:.]+Z", lines[0])
    require(found, f"no time in {lines[0]!r}")
    reports = [r for r in s.reports("all").each if r["interval"]["start_time"] == found[0]]
    require(len(reports) == 1, f"{len(reports)} recorded intervals begin at {found[0]}")
    return reports[0]


def near(found, wanted, rounding, what):
    require(abs(float(found) - wanted) <= rounding, f"{what}: {found} on the screen, {wanted} recorded")


def rows_of(lines):
    """pid, name, and numbers as texts"""
    require(lines[HEADING].startswith("PROCESS"), f"no rows: {lines[HEADING]!r}")
    names = ["READ", "WRITE", "SHARE", "95%", "CPU"]
    heads = ["RD GB/s", "WR GB/s", *names[2:]]
    expect_equal(lines[HEADING].replace("v", "").split()[1:8], " ".join(heads).split(), "columns")
    found = [ROW.match(line) for line in lines[HEADING + 1 : -2]]
    return [{"pid": int(m[1]), "comm": m[2], **dict(zip(names, m.groups()[2:]))} for m in found if m]


def error_of(row):
    """Part of the row's bytes that its interval allows"""
    found = re.fullmatch(r"~?([\d.]+)-([\d.]+) \w*B", row["95%"])
    expect(found, f"{row['pid']} has the interval {row['95%']!r}")
    low, high = float(found[1]), float(found[2])
    return (high - low) / (high + low)


def bytes_of(report, socket=None):
    """Of each piece of a bar; of all sockets without @socket"""
    counters = {c["name"]: c for c in report["counters"] if socket in (None, c["socket"]) and "bdf" not in c}
    pieces = dict.fromkeys(PIECES, 0)
    for counter in counters.values():
        pieces["devices" if counter["source"] == "device" else "workloads"] += counter["attributed"]
    for entry in report["unattributed"]:
        if entry["counter"] in counters:
            pieces[next(p for p, (_, reasons) in PIECES.items() if entry["reason"] in reasons)] += entry["value"]
    require(
        sum(pieces.values()) == sum(c["value"] for c in counters.values()), f"{pieces} are not the counters of {socket}"
    )
    return pieces


def bar_of(pieces, width, most):
    """As long as they reach; what is not nothing has a character."""
    cell, at, total, bar = most / width, 0, 0, ""
    for name, (character, _) in PIECES.items():
        total += pieces[name]
        end = int(total / cell + 0.5)
        end = min(end + (pieces[name] > 0 and end == at), width)
        bar += character * (end - at)
        at = max(at, end)
    # What is not used is a dot, too, without UTF-8.
    return bar + "." * (width - at)


@test("view")
def it_ends_and_gives_the_terminal_back(s):
    ended = json.loads(s.text("ended"))
    expect_equal(ended, {"status": 0, "taken": True, "given_back": True}, "how it ended")
    # xterm's second screen, and the cursor
    during, after = screen_at(s, "rows").modes, screen_at(s).modes
    expect_equal([during.get("?1049"), during.get("?25")], [True, False], "second screen and cursor")
    expect_equal([after.get("?1049"), after.get("?25")], [False, True], "second screen and cursor at the end")
    said = written(s).rpartition("\x1b[?1049l")[2]
    require("recorded" in said, f"it said {said!r}")


@test("view")
def keys_have_their_pictures(s):
    for name, words in (("rows", "PROCESS"), ("one", "SHARES OF COUNTERS"), ("counters", "COUNTER  ")):
        lines = picture(s, name)
        require("PAUSED" in lines[0], f"{name}: {lines[0]!r}")
        require(any(line.startswith(words) for line in lines), f"{name}: no {words!r} in {lines}")
    # The picture stands still.
    expect_equal(*({interval_of(s, picture(s, n))["sequence"] for n in names} for names in (("rows",), ("one", "counters"))),
                 "the interval of the first picture")  # fmt: skip


@test("view")
def sockets_are_their_counters(s):
    lines = picture(s, "rows")
    r = interval_of(s, lines)
    ns, sockets = r["interval"]["duration_ns"], [socket["id"] for socket in r["sockets"]]
    pieces = [bytes_of(r, socket) for socket in sockets]
    most = max(sum(of.values()) for of in pieces)
    for socket, of, line in zip(sockets, pieces, lines[FIRST_SOCKET:]):
        found = re.fullmatch(r"socket (\d+) ([-#=.]+) +([\d.]+) GB/s +CPU +(\S+)", line)
        require(found and int(found[1]) == socket, f"socket {socket} is {line!r}")
        near(found[3], sum(of.values()) / ns, GB_ROUNDING, f"socket {socket}")
        expect_equal(found[2], bar_of(of, len(found[2]), most), f"the bar of socket {socket}")
    # "<0.001" is not nothing.
    legend = dict(re.findall(r"[-#=.] (\w+) <?([\d.]+)", lines[LEGEND]))
    expect_equal(list(legend), list(PIECES), "names of the pieces")
    for name, text in legend.items():
        near(text, sum(of[name] for of in pieces) / ns, 2 * GB_ROUNDING, name)


@test("view")
@estimate
def what_is_nobodys_is_what_flowed(s):
    found = re.search(r"- remote ([\d.]+)", picture(s, "rows")[LEGEND])
    expect_close(float(found[1]), sum(s.wiring.flows.values()) / 1e9, 0.01, "traffic of other sockets")


@test("view")
def rows_are_those_of_the_recording(s):
    """Whatever came first in that interval: a program without a CPU has moved nothing in it."""
    lines = picture(s, "rows")
    r, programs = interval_of(s, lines), {line["pid"] for line in s.truth().lines}
    rows = [row for row in rows_of(lines) if row["pid"] in programs]
    expect_equal({row["comm"] for row in rows}, {"traffic"}, "names of the programs' rows")
    for row in rows:
        (recorded,) = [w for w in r["workloads"] if w["pid"] == row["pid"]]
        cpu = row["CPU"].lstrip(">").rstrip("%")
        near(cpu, 100 * recorded["on_cpu_ns"] / r["interval"]["duration_ns"], 2 * PERCENT_ROUNDING, f"CPU of {row['pid']}")
        require(re.fullmatch(RANGE, row["95%"]), f"no interval: {row['95%']!r}")


@test("view")
@estimate
def rows_agree_with_the_truth(s):
    lines = picture(s, "rows")
    r, rows = interval_of(s, lines), rows_of(lines)
    expect(len(rows) >= len(PROGRAMS), f"{len(rows)} rows")
    for (name, counter), row in zip(PROGRAMS.items(), rows):
        (line,) = s.truth().named(name)
        expect(row["pid"] == line["pid"], f"the row of {name} is that of {row['pid']}")
        (recorded,) = [w for w in r["workloads"] if w["pid"] == row["pid"]]
        # It moves so much in each nanosecond of its CPU time.
        due = line["bytes"] / line["cpu_ns"] * recorded["on_cpu_ns"] / r["interval"]["duration_ns"]
        moved, none = (row["READ"], row["WRITE"]) if counter == READ0 else (row["WRITE"], row["READ"])
        error = max(0.03, min(error_of(row), 0.2))
        expect(abs(float(moved) - due) <= error * due + GB_ROUNDING, f"{name}: {moved} GB/s, it moved {due:.4f}")
        expect(float(none) <= 0.01 * due, f"{name}: {none} GB/s the other way")


def amount(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


@test("view")
def one_row_has_its_shares(s):
    """The first one, which is that of the program that moved more in this interval."""
    lines = picture(s, "one")
    r, first = interval_of(s, lines), rows_of(picture(s, "rows"))[0]
    counters = {s.truth().named(name)[0]["pid"]: counter for name, counter in PROGRAMS.items()}
    require(first["pid"] in counters, f"the first row is {first}")
    counter = counters[first["pid"]]
    (recorded,) = [w for w in r["workloads"] if w["pid"] == first["pid"]]
    expect_equal(lines[HEADING], f"{first['pid']} traffic", "the row")
    time = next(text for text in lines if text.startswith("CPU time: "))
    near(time.split()[2], recorded["on_cpu_ns"] / 1e9, GB_ROUNDING, "CPU time")
    shares = {m[1]: [amount(m[n]) for n in (3, 4, 5)] for m in map(SHARE.match, lines) if m}
    require(counter in shares, f"no share of {counter} in {lines}")
    value, low, high = shares[counter]
    require(low <= value <= high, f"{value} is not within {low} and {high}")
    whole = next(c["value"] for c in r["counters"] if c["name"] == counter)
    require(value <= whole * (1 + DIGITS), f"{value} of {whole}")


@test("view")
def counters_are_those_of_the_recording(s):
    lines = picture(s, "counters")
    r = interval_of(s, lines)
    found = {m[1]: m for m in map(COUNTER.match, lines) if m}
    for counter in r["counters"]:
        name = counter["name"]
        require(name in found, f"{name} is not on the page: {lines}")
        near(found[name][3], counter["value"] / r["interval"]["duration_ns"], GB_ROUNDING, name)
        expect_equal(int(found[name][2]), counter["socket"], f"socket of {name}")
        expect_equal(found[name][5], "100%", f"{name}: counted")


@test("view")
def no_byte_is_missing_in_the_recording(s):
    reports, truth = s.reports("all"), s.truth()
    for name, counter in PROGRAMS.items():
        expect_equal(reports.counter(counter), truth.bytes(name), f"what {name} moved")
        require(reports.rows(by_pid(truth.named(name)[0]["pid"])), f"{name} has no row")
    reports.expect_nothing_lost()


@test("view")
def nothing_is_left_in_the_kernel(s):
    for what in ("programs", "open"):
        before, during, after = (s.number(f"{what}.{when}") for when in ("before", "during", "after"))
        require(during > before, f"{what}: {during} while it ran, {before} before")
        expect_equal(after, before, f"{what} afterwards")
    expect_equal(s.text("pins.after"), s.text("pins.before"), "/sys/fs/bpf")


@test("view_metrics")
def metrics_are_on_their_page(s):
    lines = picture(s, "metrics")
    require(any(line.startswith("METRICS OF THE MACHINE") for line in lines), f"no metrics: {lines}")
    found = [m for m in map(METRIC.match, lines) if m]
    require(found and float(found[0][1]) > 0, f"nothing is read: {lines}")


@test("view_metrics")
def counters_are_open_with_their_page(s):
    rows, metrics, left, after = (s.number(f"open.{when}") for when in ("rows", "metrics", "left", "after"))
    require(metrics > rows, f"{metrics} are open with the page, {rows} before")
    expect_equal(left, rows, "open when the page is left")
    require(after < rows, f"{after} are open at the end")
    expect_equal(json.loads(s.text("ended"))["status"], 0, "status")


@test("view_metrics")
def rows_become_cgroups(s):
    lines = picture(s, "cgroups")
    require(lines[HEADING].startswith("CGROUP"), f"rows are {lines[HEADING]!r}")
