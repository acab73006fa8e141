# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Energy beside traffic, counted by the real perf on a machine of a test: the clock of one CPU is both
the bytes that it "reads", two a nanosecond, and its energy, 2^-32 J a nanosecond.
"""

import json
import shutil

from live import BUSY_MS, INCOMPLETE, precise, require
from pmus import CLOCK, SWITCHES, on_machine, row

JOULES = {
    "event": "energy",
    "terms": f"event={CLOCK}",
    "unit": "joules",
    "nanojoules": 1953125,
    "counts": 2**23,
    "source": "any",
    "from": "a test",
}
PMUS = {
    "my_mc": ([row("reads", CLOCK, "read", 2), row("writes", SWITCHES, "write", 64)], 1),
    "my_power": ([JOULES], 1),
}
# Whatever the intervals, the same windows are in a recording, of traffic and of energy.
SAME_CLOCK = 0.1


def energy_of(report):
    """Nanojoules of a report, after a look at who has them."""
    total = 0
    for counter in report["counters"]:
        require(
            counter["attributed"] + counter["unattributed"] == counter["value"],
            f"{counter} does not add up",
        )
    for counter in (c for c in report["counters"] if c["unit"] == "nanojoules"):
        name = counter["name"]
        leaves = [row for row in report["workloads"] if row.get("leaf", True)]
        rows = [s["value"] for r in leaves for s in r.get("shares", []) if s["counter"] == name]
        require(sum(rows) == counter["attributed"], f"rows of {name} are {sum(rows)}: {counter}")
        joules = sum(r["metrics"].get("energy_joules", 0) for r in leaves)
        require(abs(joules - sum(rows) / 1e9) < 1e-6, f"{joules} J are not {sum(rows)} nJ")
        total += counter["value"]
    return total


def check(reports):
    """The same clock makes the bytes and the joules, and neither is in the other."""
    for report in reports:
        energy = energy_of(report)
        reads = next(c for c in report["counters"] if c["direction"] == "read")["value"]
        expected = reads / 2 * 1e9 / 2**32
        text = f"{energy} nJ, and {reads} bytes mean {expected}"
        require(energy > 0, text)
        precise(abs(energy - expected) < SAME_CLOCK * expected, text)
        for name in (n for r in report["workloads"] for n in r["metrics"]):
            require("readwrite" not in name, f"energy is in {name}")


def reports_of(done):
    done.check_schema()
    return [json.loads(line) for line in done.out.splitlines()]


def test_beside_traffic(bed):
    """Of everything, of a process that has it, and of a cgroup."""
    args = ("--json", "-i", "300ms", "-d", "900ms")
    with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy:
        for who in (["-a"], ["-p", busy.pid], ["-G", "/"]):
            reports = reports_of(on_machine(bed, PMUS, *who, *args))
            check(reports)
            joules = sum(
                row["metrics"].get("energy_joules", 0)
                for report in reports
                for row in report["workloads"]
                if row.get("pid") == busy.pid
            )
            precise("-G" in who or joules > 0, f"{who}: the busy process has no energy")
            shutil.rmtree(bed.scratch / "devices")


def test_recorded(bed):
    """Whatever the intervals, no nanojoule is lost; tables say joules."""
    path = bed.scratch / "run"
    on_machine(bed, PMUS, "record", "-a", "-i", "300ms", "-d", "900ms", "-o", path)
    sums = set()
    for args in ([], ["-i", "450ms"], ["-i", "1s"]):
        done = bed.command(bed.program, "report", path, "-a", "--json", *args)
        precise(done.status != INCOMPLETE, f"{args}: {done.err}")
        require(not done.status, f"{args}: status {done.status}, {done.err}")
        sums.add(sum(map(energy_of, reports_of(done))))
    require(len(sums) == 1 and sums.pop() > 0, f"nanojoules are {sums} by interval")
    table = bed.command(bed.program, "report", path, "-a").out.decode()
    require("ENERGY" in table, table[:400])


def test_known_rows(bed):
    """The rows of the kernel's own PMU: split beside traffic, and watts in stat."""
    clock = 1e9 / 2**32
    (report,) = reports_of(on_machine(bed, None, "-a", "--json", "--summary", "-q", "-d", "1s"))
    joules = energy_of(report) / 1e9
    names = {c["name"] for c in report["counters"] if c["unit"] == "nanojoules"}
    require(names == {"power0/energy-pkg"} and len(report["counters"]) == 3, f"counters are {names}")
    precise(abs(joules - clock) < SAME_CLOCK * clock, f"{joules} J is not {clock}, the clock of a second")
    shutil.rmtree(bed.scratch / "devices")
    (report,) = reports_of(on_machine(bed, None, "stat", "--json", "-d", "1s"))
    (watts,) = (m for m in report["metrics"] if m["unit"] == "W")
    require(watts["name"] == "power.package" and watts["valid"], f"{watts}")
    precise(abs(watts["value"] - clock) < SAME_CLOCK * clock, f"{watts['value']} W is not {clock}")


def alone(bed, *args, status=0):
    """A run on a machine that counts energy and nothing else."""
    done = on_machine(bed, None, *args, memory=False, status=status)
    shutil.rmtree(bed.scratch / "devices")
    return done


def test_alone(bed):
    """Without a PMU of memory traffic joules are split, and nothing says a byte."""
    args = ("--json", "-i", "300ms", "-d", "900ms")
    with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy:
        for who in (["-a"], ["-p", busy.pid], ["-G", "/"], ["-a", "-D", "all"]):
            done = alone(bed, *who, *args)
            require("only energy is counted" in done.err, f"{who}: it says {done.err!r}")
            reports = reports_of(done)
            total = sum(map(energy_of, reports))
            clock = sum(r["interval"]["duration_ns"] for r in reports) / 2**32 * 1e9
            precise(abs(total - clock) < SAME_CLOCK * clock, f"{who}: {total} nJ is not {clock}")
            for report in reports:
                require(len(report["counters"]) == 1, f"{who}: {report['counters']}")
                names = {n for r in report["workloads"] for n in r["metrics"]}
                require(names <= {"energy_joules"}, f"{who}: rows have {names}")
    path = bed.scratch / "run"
    alone(bed, "record", "-a", "-d", "600ms", "-o", path)
    table = bed.command(bed.program, "report", path, "-a").out.decode()
    require("ENERGY" in table and "READ" not in table and "WRITE" not in table, table[:400])
    (report,) = reports_of(alone(bed, "stat", "--json", "-d", "300ms"))
    require([m["name"] for m in report["metrics"]] == ["power.package"], f"{report['metrics']}")
    for args in (["neighbours", "-a", "-d", 1], ["check", "--selftest"]):
        done = alone(bed, *args, status=1)
        require("no uncore PMU that is known" in done.err, f"{args}: it says {done.err!r}")


TESTS = [
    test_alone,
    test_beside_traffic,
    test_recorded,
    test_known_rows,
]
