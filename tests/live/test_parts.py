# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Parts of the traffic, counted by the real perf: the PMUs of a made-up sysfs are the kernel's software
events of one CPU. What two "home agents" count of its clock must be what the "controller" counts.
"""

import json

from live import INCOMPLETE, check_status, precise, require
from pmus import CLOCK, NONE, SWITCHES, on_machine, row

PMUS = {
    "my_mc": ([row("reads", CLOCK, "read", 2), row("writes", SWITCHES, "write", 64)], 1),
    "my_ha": (
        [row("local", CLOCK, "read", 1, "local"), row("other", NONE, "write", 64, "remote")],
        2,
    ),
}


def check_reports(reports):
    """Parts beside totals: the clock is the same, and no counter has a byte of a part."""
    for report in reports:
        for counter in report["counters"]:
            require(
                counter["attributed"] + counter["unattributed"] == counter["value"],
                f"{counter} does not add up",
            )
        parts = {part["name"][-5:]: part for part in report["parts"]}
        require(parts["local"]["valid"] and parts["local"]["pmus"] == 2, f"{parts}")
        require(not parts["other"]["valid"], "an event that no kernel has was counted")
        require("bytes" not in parts["other"], "what was not counted has bytes")
        reads = next(c for c in report["parts_check"] if c["direction"] == "read")
        require(reads["bytes"]["local"] == parts["local"]["bytes"], f"{reads}")
        ratio = parts["local"]["bytes"] / reads["total"]
        precise(0.9 < ratio < 1.1, f"parts are {ratio:.3f} of the total")


def test_beside_the_total(bed):
    done = on_machine(bed, PMUS, "-a", "-v", "--json", "-i", "300ms", "-d", "900ms")
    check_reports([json.loads(line) for line in done.out.splitlines()])
    told_by_v = " ".join(done.err.split())
    require("/other is not known: my_ha_0/other/" in told_by_v, done.err)
    require("2 parts measured elsewhere, by 4 events" in told_by_v, done.err)


def told(reports):
    """What each report says was lost, for who reads why the test failed."""
    return [
        {name: value for name, value in report["quality"].items() if value}
        | {"invalid": [c["name"] for c in report["counters"] if not c["valid"]]}
        for report in reports
    ]


def test_recorded(bed):
    """Whatever the intervals, nothing of a part is lost."""
    path = bed.scratch / "run"
    on_machine(bed, PMUS, "record", "-a", "-i", "300ms", "-d", "900ms", "-o", path)
    sums = set()
    # Where the reading CPU sleeps, windows are longer. They end with each 300 ms that are recorded:
    # shorter intervals may have none, and no data.
    for args in ([], ["-i", "450ms"], ["-i", "1s"]):
        done = bed.command(bed.program, "report", path, "-a", "--json", *args)
        reports = [json.loads(line) for line in done.out.splitlines()]
        text = f"{args}: status {done.status}, {done.err.strip()}: {told(reports)}"
        precise(done.status != INCOMPLETE, text)
        require(not done.status, text)
        if not args:
            check_reports(reports)
        sums.add(sum(p.get("bytes", 0) for r in reports for p in r["parts"]))
    require(len(sums) == 1 and sums.pop() > 0, f"parts are {sums} by interval")


TESTS = [
    test_beside_the_total,
    test_recorded,
]
