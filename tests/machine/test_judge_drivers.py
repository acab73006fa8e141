#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdict on parts of root ports, without a virtual machine. Directions of a port take
turns, and what had none in an interval is known later, with the time since it was known last.
"""

import sys

import judge_drivers as drivers
from results import Scenario
from spoilt import failing_in, refuse_spoilt, spoilers_of

SECOND = 10**9
RATE = 1000  # bytes a second
# Programs move bytes from the middle of the first of six seconds to the middle of the fifth
BEGIN, END = SECOND // 2, 4 * SECOND + SECOND // 2
SLOTS = {4: "read", 5: "write"}


def part(direction, seconds, value):
    """Known for so many seconds, of which half was counted; or had no turn"""
    known = {"bytes": value, "covered_ns": seconds * SECOND} if seconds else {"covered_ns": 0}
    return {
        "pmu": "dwc_rootport_10000",
        "part": "devices",
        "socket": 36,
        "direction": direction,
        "valid": seconds > 0,
        **known,
    }


def report(number, *parts):
    interval = {"start_ns": number * SECOND, "end_ns": (number + 1) * SECOND}
    return {"interval": interval, "parts": list(parts)}


def right():
    """Reads have turns in each interval, writes none from the second to the fourth"""
    reads = [RATE // 2, RATE, RATE, RATE, RATE // 2, 0]
    writes = [(1, RATE // 2), (0, 0), (0, 0), (0, 0), (4, 3 * RATE + RATE // 2), (1, 0)]
    truth = [
        {"slot": slot, "bytes": RATE * (END - BEGIN) // SECOND, "start_ns": BEGIN, "end_ns": END} for slot in SLOTS
    ]
    reports = [
        report(number, part("read", 1, read), part("write", *write))
        for number, (read, write) in enumerate(zip(reads, writes))
    ]
    return {"parts.json": reports, "part": truth}


def failed(files):
    return failing_in(files, [drivers.a_port_is_a_part], lambda folder: Scenario(folder, None), "ampereone_ports")


def spoil_a_quarter_more(files):
    for line in files["parts.json"]:
        line["parts"][0]["bytes"] += line["parts"][0]["bytes"] // 4
    return {"a_port_is_a_part"}


def spoil_what_was_known_late(files):
    files["parts.json"][4]["parts"][1]["bytes"] = RATE
    return {"a_port_is_a_part"}


def spoil_never_known(files):
    for line in files["parts.json"]:
        line["parts"][1] = part("write", 0, 0)
    return {"a_port_is_a_part"}


def spoil_socket(files):
    files["parts.json"][2]["parts"][0]["socket"] = 116
    return {"a_port_is_a_part"}


def main():
    return 1 if refuse_spoilt("drivers", right, failed, spoilers_of(globals())) else 0


if __name__ == "__main__":
    sys.exit(main())
