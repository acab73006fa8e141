#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on the live view, without a virtual machine: results as the guest would leave
them are right, and those that are spoilt in one way fail the test that should see it. Also of the
terminal in which the pictures are made again.
"""

import json
import pathlib
import sys
import tempfile

import judge_view as view
from results import READ0, WRITE1, Scenario, Wiring
from screen import Screen, Unknown
from spoilt import failing, refuse_spoilt, spoilers_of

NS, BEGIN = 1_000_000_000, "2026-11-23T21:00:07.125Z"
BIG, SMALL = 501, 502
CPU = {BIG: 990_000_000, SMALL: 980_000_000}
# What counters count in the interval that is shown: value, attributed
COUNTERS = {
    READ0: (1_000_000_000, 996_000_000),
    "ucf0/mem_bytes_wr/src_rem=1": (300_000_000, 0),
    WRITE1: (300_000_000, 297_000_000),
    "ucf1/mem_bytes_rd/src_rem=1": (700_000_000, 0),
    "ucf0/mem_bytes_rd/src_loc_noncpu=1": (50_000_000, 0),
}
SOURCES = {"src_loc_cpu=1": "cpu", "src_rem=1": "remote", "src_loc_noncpu=1": "device"}
REASONS = {"cpu": "idle", "remote": "remote", "device": "device"}
WHOLE = 6  # of the programs' time, in intervals


def of_screen(name, lines, number=4):
    """A picture as 24 lines, with those that all have"""
    text = [f"t410trace top  t410  {BEGIN}  1.000 s"[:48].ljust(52) + f"PAUSED {number}/{number}, 0.0 s before now"[:28]]
    text += ["1Rows 2Devices 3Latencies 4Counters 5Quality           state-space, nothing lost"[:80]]
    # 34 cells: the largest socket is all of them
    text += ["socket 0 " + "#" * 25 + "=" + "-" * 8 + "   1.350 GB/s               CPU 50.0%"]
    text += ["socket 1 " + "#" * 7 + "-" * 18 + "." * 9 + "   1.000 GB/s               CPU 50.0%"]
    text += [" # workloads 1.293  = devices 0.050  - remote 1.000  . unattributed 0.007 GB/s"]
    return (text + lines)[:24] if name else text


def row(pid, read, write, share, interval, cpu):
    return f"{pid} traffic".ljust(29) + f"{read:>8}{write:>8}{share:>7}{interval:>14}{cpu:>8}      ##"


def right():
    """Pictures as lines, what else is on the terminal, and other files"""
    heading = "PROCESS".ljust(29) + " RD GB/s WR GB/s SHAREv           95%     CPU 2 MIN"
    counters = [f"{name:42} {name[3]:>6}{value / NS:6.3f} GB/s{100 * part / value:10.1f}%     100%"
                for name, (value, part) in COUNTERS.items()]  # fmt: skip
    interval = {
        "sequence": 3,
        "interval": {"start_time": BEGIN, "start_ns": 5 * NS, "end_ns": 6 * NS, "duration_ns": NS},
        "sockets": [{"id": 0}, {"id": 1}],
        "counters": [
            {"name": name, "socket": int(name[3]), "source": SOURCES[name.split("/")[2]], "value": value,
             "attributed": part, "valid": True}
            for name, (value, part) in COUNTERS.items()
        ],
        "unattributed": [
            {"counter": name, "reason": REASONS[SOURCES[name.split("/")[2]]], "value": value - part}
            for name, (value, part) in COUNTERS.items()
        ],
        "quality": {"lost": {"windows": 0}},
        "workloads": [{"pid": pid, "on_cpu_ns": ns, "shares": []} for pid, ns in CPU.items()],
    }  # fmt: skip
    rest = json.loads(json.dumps(interval)) | {"sequence": 4}
    rest["interval"]["start_time"] = "2026-11-23T21:00:08.125Z"
    for counter in rest["counters"]:
        counter["value"] *= WHOLE - 1
        counter["attributed"] *= WHOLE - 1
    return {
        "rows": of_screen("rows", [heading, row(BIG, "0.991", "0.000", "73.8%", "0.95-1.04 GB", "99.0%"),
                                   row(SMALL, "0.000", "0.293", "29.3%", "0.27-0.32 GB", "98.0%"),
                                   row(9, "0.003", "0.001", "0.3%", "<=9.00 MB", "1.0%")]),
        "one": of_screen("one", [f"{BIG} traffic", "", "CPU time: 0.990 s", "",
                                 "SHARES OF COUNTERS                 SOCKET    BYTES       LOW     HIGH    OF IT",
                                 f"{READ0:34}      0    991 MB   950 MB  1.00 GB  99.1%"]),
        "counters": of_screen("counters", ["COUNTER                                    SOCKET      VALUE ATTRIBUTED COUNTED",
                                           *counters]),
        "begin": "\x1b[?1049h\x1b[?25l", "end": "\x1b[?25h\x1b[?1049l\x1b[24;1Ht410trace: recorded 1.2 MB to run.rec\r\n",
        "ended": {"status": 0, "taken": True, "given_back": True},
        "reports": [interval, rest],
        "truth": [
            {"name": "big", "pid": BIG, "slot": 0, "bytes": WHOLE * NS, "cpu_ns": WHOLE * NS},
            {"name": "small", "pid": SMALL, "slot": 3, "bytes": WHOLE * 300_000_000, "cpu_ns": WHOLE * NS},
        ],
        "left": {"programs": [3, 9, 3], "open": [0, 40, 0], "pins": ["", "", ""]},
    }  # fmt: skip


def drawn(lines):
    return "\x1b[H\x1b[2J" + "".join(f"\x1b[{n + 1};1H{line}" for n, line in enumerate(lines))


def leave(files, folder):
    """As the guest does"""
    text = files["begin"]
    for name in ("rows", "one", "counters"):
        text += drawn(files[name])
        (folder / f"{name}.at").write_text(f"{len(text)}\n", encoding="ascii")
    (folder / "screen").write_bytes((text + files["end"]).encode("latin-1"))
    (folder / "done").touch()
    (folder / "ended").write_text(json.dumps(files["ended"]), encoding="ascii")
    for name, lines in (("all.json", files["reports"]), ("truth", files["truth"])):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    for what, numbers in files["left"].items():
        for when, number in zip(("before", "during", "after"), numbers):
            (folder / f"{what}.{when}").write_text(f"{number}\n", encoding="ascii")


def scenario_in(folder):
    return Scenario(folder, Wiring(pathlib.Path(__file__).parent / "traffic.conf"))


def failed(files):
    """The tests that do not pass."""
    with tempfile.TemporaryDirectory() as name:
        leave(files, pathlib.Path(name))
        return failing(scenario_in(pathlib.Path(name)), view.TESTS["view"])


def replace(files, picture, old, new):
    lines = files[picture]
    assert sum(old in line for line in lines) == 1, f"{old!r} in {lines}"
    lines[:] = [line.replace(old, new) for line in lines]


ENDS, KEYS, SOCKETS = "it_ends_and_gives_the_terminal_back", "keys_have_their_pictures", "sockets_are_their_counters"
FLOWS, RECORDED, TRUE = "what_is_nobodys_is_what_flowed", "rows_are_those_of_the_recording", "rows_agree_with_the_truth"
ONE, COUNTED = "one_row_has_its_shares", "counters_are_those_of_the_recording"
BYTES, LEFT = "no_byte_is_missing_in_the_recording", "nothing_is_left_in_the_kernel"


def spoil_status(files):
    files["ended"]["status"] = 1
    return {ENDS}


def spoil_settings(files):
    files["ended"]["given_back"] = False
    return {ENDS}


def spoil_nothing_taken(files):
    files["ended"]["taken"] = False
    return {ENDS}


def spoil_second_screen(files):
    files["end"] = "\x1b[?25h"
    return {ENDS}


def spoil_cursor(files):
    files["end"] = files["end"].replace("\x1b[?25h", "")
    return {ENDS}


def spoil_nothing_said(files):
    """Nobody says where the recording is."""
    files["end"] = files["end"].replace("recorded", "left")
    return {ENDS}


def spoil_page(files):
    """The key of the page did nothing."""
    files["counters"][:] = files["rows"]
    return {KEYS, COUNTED}


def spoil_goes_on(files):
    replace(files, "one", BEGIN[:23], "2026-11-23T21:00:08.125")
    return {KEYS}


def spoil_no_pause(files):
    replace(files, "rows", "PAUSED", "LIVE")
    return {KEYS}


def spoil_socket(files):
    replace(files, "rows", "1.350", "1.352")
    return {SOCKETS}


def spoil_bar(files):
    replace(files, "rows", "=-------", "=------.")
    return {SOCKETS}


def spoil_legend(files):
    replace(files, "rows", "unattributed 0.007", "unattributed 0.009")
    return {SOCKETS}


def spoil_name_of_a_piece(files):
    replace(files, "rows", "unattributed", "rest")
    return {SOCKETS}


def spoil_invented(files):
    """Somebody got bytes that the counter does not have."""
    files["reports"][0]["unattributed"][0]["value"] += 1
    return {SOCKETS}


def spoil_flow(files):
    """Counted and shown alike, but not what flowed."""
    name = "ucf1/mem_bytes_rd/src_rem=1"
    for counter in files["reports"][0]["counters"]:
        counter["value"] -= 20_000_000 * (counter["name"] == name)
    for entry in files["reports"][0]["unattributed"]:
        entry["value"] -= 20_000_000 * (entry["counter"] == name)
    replace(files, "rows", "remote 1.000", "remote 0.980")
    replace(files, "rows", " 1.000 GB/s", " 0.980 GB/s")
    replace(files, "counters", "0.700", "0.680")
    return {FLOWS}


def spoil_order(files):
    rows = files["rows"]
    rows[view.HEADING + 1], rows[view.HEADING + 2] = rows[view.HEADING + 2], rows[view.HEADING + 1]
    return {TRUE, ONE}


def spoil_other_program(files):
    replace(files, "rows", f"{BIG} traffic", f"{BIG} busybox")
    return {RECORDED}


def spoil_cpu(files):
    replace(files, "rows", "99.0%", "98.7%")
    return {RECORDED}


def spoil_no_interval(files):
    replace(files, "rows", "0.95-1.04 GB", "           -")
    return {RECORDED, TRUE}


def spoil_rate(files):
    """Beyond its interval"""
    replace(files, "rows", "0.991", "0.935")
    return {TRUE}


def spoil_direction(files):
    replace(files, "rows", "0.000   0.293", "0.293   0.000")
    return {TRUE}


def spoil_share(files):
    replace(files, "one", "991 MB", "1.02 GB")
    return {ONE}


def spoil_other_row(files):
    replace(files, "one", f"{BIG} traffic", f"{SMALL} traffic")
    return {ONE}


def spoil_counter(files):
    replace(files, "counters", "0.700", "0.702")
    return {COUNTED}


def spoil_counter_gone(files):
    del files["counters"][-1]
    return {COUNTED}


def spoil_lost_bytes(files):
    files["truth"][0]["bytes"] += 1
    return {BYTES}


def spoil_lost_windows(files):
    files["reports"][0]["quality"]["lost"]["windows"] = 1
    return {BYTES}


def spoil_program_left(files):
    files["left"]["programs"][2] += 1
    return {LEFT}


def spoil_event_left(files):
    files["left"]["open"][2] += 1
    return {LEFT}


def spoil_nothing_seen(files):
    """Whoever counts what is left sees nothing at any time."""
    files["left"]["open"] = [0, 0, 0]
    return {LEFT}


def spoil_pin(files):
    files["left"]["pins"][2] = "t410trace"
    return {LEFT}


def spoil_sequence(files):
    """What the terminal cannot be known to show"""
    files["begin"] += "\x1b[5n"
    return {ENDS, KEYS, SOCKETS, FLOWS, RECORDED, TRUE, ONE, COUNTED}


# --- the page of metrics, and rows of another kind


def right_metrics():
    return {
        "metrics": of_screen("metrics", ['METRICS OF THE MACHINE, as "t410trace stat" has them',
                                         "  Memory read bandwidth     GB/s              0.753*    0.691*"]),
        "cgroups": of_screen("cgroups", ["CGROUP                      RD GB/s WR GB/s SHAREv"]),
        "open": {"rows": 90, "metrics": 278, "left": 90, "after": 0},
        "status": 0,
    }  # fmt: skip


def failed_metrics(files):
    text = ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for picture in ("metrics", "cgroups"):
            text += drawn(files[picture])
            (folder / f"{picture}.at").write_text(f"{len(text)}\n", encoding="ascii")
        (folder / "screen").write_bytes(text.encode("latin-1"))
        (folder / "done").touch()
        (folder / "ended").write_text(json.dumps({"status": files["status"]}), encoding="ascii")
        for when, number in files["open"].items():
            (folder / f"open.{when}").write_text(f"{number}\n", encoding="ascii")
        return failing(scenario_in(folder), view.TESTS["view_metrics"])


MEASURED, OPEN, GROUPS = "metrics_are_on_their_page", "counters_are_open_with_their_page", "rows_become_cgroups"
# What is spoilt: where, with what, and the test that sees it
METRICS = {
    "another page": (("metrics",), of_screen("metrics", ["COUNTER"]), MEASURED),
    "nothing read": (("metrics", 6), "  Memory read bandwidth     GB/s    0.000     0.000", MEASURED),
    "no value": (("metrics", 6), "  Memory read bandwidth     GB/s       -n        -n", MEASURED),
    "nothing opened": (("open", "metrics"), 90, OPEN),
    "left open": (("open", "left"), 278, OPEN),
    "open at the end": (("open", "after"), 90, OPEN),
    "status": (("status",), 1, OPEN),
    "processes": (("cgroups", 5), "PROCESS", GROUPS),
}


def check_metrics():
    """Number of wrong verdicts"""
    bad = 0
    for name, (where, new, test) in {"right": (None, None, None), **METRICS}.items():
        at = files = right_metrics()
        if where:
            for key in where[:-1]:
                at = at[key]
            at[where[-1]] = new
        found = failed_metrics(files)
        right_one = set(found) == ({test} if test else set())
        print(f"ok metrics {name}" if right_one else f"not ok metrics {name}: failed {sorted(found)}")
        bad += not right_one
    return bad


# What is written, and what the first lines are then; as xterm does it
TERMINAL = {
    "wraps behind the last column": ("x" * 79 + "yz", ["x" * 79 + "y", "z"]),
    "repeats": ("ab\x1b[3bc", ["abbbbc"]),
    "erases": ("abcdef\x1b[1;3H\x1b[2X\x1b[2;1Hgone\x1b[2;2H\x1b[K", ["ab  ef", "g"]),
    "inserts and deletes characters": ("abcd\x1b[1;2H\x1b[1P\x1b[2@", ["a  cd"]),
    "inserts and deletes lines": ("a\r\nb\r\nc\x1b[1;1H\x1b[M\x1b[2d\x1b[L", ["b", "", "c"]),
    "scrolls a part": ("a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\n", ["b", "", "c"]),
    "scrolls back": ("a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\x1bM\x1bMd", ["d", "a", "c"]),
    "goes by tabs and columns": ("\tx\x1b[2Gy\x1b[1;20H\x1b[Zz", [" y      x       z"]),
    "clears": ("abc\x1b[2J\x1b[Hd", ["d"]),
    "leaves looks out": ("\x1b[0;1;36ma\x1b(B\x1b[mb", ["ab"]),
}


def main():
    bad = refuse_spoilt("view", right, failed, spoilers_of(globals()))
    bad += check_metrics()
    for name, (text, wanted) in TERMINAL.items():
        found = Screen(text).text()[: len(wanted)]
        print(f"ok terminal {name}" if found == wanted else f"not ok terminal {name}: {found}")
        bad += found != wanted
    try:
        Screen("\x1b[5n")
        print("not ok terminal refuses what it does not know")
        bad += 1
    except Unknown:
        print("ok terminal refuses what it does not know")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
