# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Metrics of a file, counted by the real perf on a machine of a test: the clock of one CPU."""

import json
import shutil

from live import precise, require
from pmus import CLOCK, SWITCHES, on_machine, row

PMUS = {"my_mc": ([row("clock", CLOCK, "read", 1), row("switches", SWITCHES, "write", 1)], 1)}
MORE = {"pmu": "mc", "title": "a metric of a test", "from": "a test"}
SPEED = MORE | {"name": "speed", "unit": "ratio", "formula": "clock / duration_ns"}
TRIPLE = MORE | {
    "name": "triple",
    "unit": "percent",
    "formula": "300 * clock / duration_ns",
    "default": False,
}
# The clock of a CPU, and the time that the kernel says the event was on
SAME_CLOCK = 0.02


def stat(bed, metrics, *args, status=0):
    """A run of stat on the machine of the test with these metrics."""
    done = on_machine(
        bed, PMUS, "stat", "-d", "300ms", *args, metrics=metrics, status=status
    )
    shutil.rmtree(bed.scratch / "devices")
    return done


def values_of(bed, *args):
    """What stat says of the metrics, by name."""
    done = stat(bed, [SPEED, TRIPLE], "--json", *args)
    done.check_schema()
    metrics = json.loads(done.out)["metrics"]
    require(all(m["valid"] for m in metrics), f"{metrics}")
    return {m["name"]: m["value"] for m in metrics}


def test_values(bed):
    """By default, by name and by pattern, as a number and in a table."""
    for args, names in (
        ([], {"mine.mc.speed": 1}),
        (["-M", "triple"], {"mine.mc.triple": 300}),
        (["-M", "mine.*"], {"mine.mc.speed": 1, "mine.mc.triple": 300}),
    ):
        values = values_of(bed, *args)
        require(values.keys() == names.keys(), f"{args}: {values}")
        for name, value in values.items():
            text = f"{name} is {value}, not {names[name]}"
            precise(abs(value - names[name]) < SAME_CLOCK * names[name], text)
    table = stat(bed, [SPEED]).out.decode()
    require(MORE["title"] in table and "ratio" in table, table)


def test_refused(bed):
    """A formula without a value is refused, and one with an event that is not here."""
    for formula, words in (
        ("clock / (switches - switches)", "it divides by zero"),
        ("clack / duration_ns", 'my_mc_0 has no event "clack"'),
    ):
        done = stat(bed, [SPEED | {"formula": formula}], status=None)
        require(done.status in (1, 2), f"{formula}: status {done.status}")
        said = " ".join(done.err.split())
        require(f"{bed.scratch}/own.json:1: " in said and words in said, f"{formula}: {said}")


TESTS = [
    test_values,
    test_refused,
]
