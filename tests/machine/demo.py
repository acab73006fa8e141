#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Show what the demo's machine left in a folder: reports beside the truth."""

import pathlib
import sys

from results import Failure, Reports, Truth, Wiring

HERE = pathlib.Path(__file__).resolve().parent
RULE = " " + "-" * 78
TENANTS = ("/tenants/stream", "/tenants/burst", "/tenants/swarm")
# Everything else on the machine; none of it moves a byte.
REST = "all others"
WHAT = {
    "/tenants/stream": "never pauses",
    "/tenants/burst": "a lot, then sleeps",
    "/tenants/swarm": "short-lived programs",
    REST: "kernel, t410trace",
}
SCENE = """
 What runs there, in cgroups, each on both sockets:
   tenants/stream   two programs that never pause
   tenants/burst    two that move twice to four times as much at a time, and
                    sleep most of it
   tenants/swarm    one program after the other; each lives for 30 ms
   drivers          a disk and a GPU move bytes; that is nobody's CPU traffic"""


def gigabytes(count):
    return f"{count / 1e9:.3f}"


def heading(title, *notes):
    print(f"\n {title}\n{RULE}")
    for note in notes:
        print(f" {note}")
    if notes:
        print()


def screen(path):
    print(path.read_text(encoding="utf-8").rstrip())


def tenant_of(path):
    return path if path in TENANTS else REST


def reported(reports):
    """Bytes of CPUs by tenant: value, low and high."""
    sums = {name: [0, 0, 0] for name in (*TENANTS, REST)}
    for row in reports.rows(lambda row: row["leaf"]):
        for share in row["shares"]:
            for i, key in enumerate(("value", "low", "high")):
                sums[tenant_of(row["cgroup"]["path"])][i] += share[key]
    return sums


def true_bytes(truth):
    sums = dict.fromkeys((*TENANTS, REST), 0)
    for line in truth.lines:
        if truth.wiring.slots[line["slot"]].endswith("src_loc_cpu=1"):
            sums[tenant_of(line["cgroup"])] += line["bytes"]
    return sums


def missing(true, found):
    """Percent of all bytes that are not in the row of who moved them."""
    lost = sum(max(true[name] - found[name][0], 0) for name in true)
    return 100 * lost / sum(true.values())


def print_tenants(truth, reports, naive):
    """The table by tenant; tells how many intervals hold the truth, and of how many."""
    true, found, by_time = true_bytes(truth), reported(reports), reported(naive)
    holds = 0
    print(f" {'':33} {'true':>6} {'reported':>9} {'95% interval':>16} {'CPU time':>9}")
    print(f" {'tenant':12} {'what it does':20} {'GB':>6} {'GB':>9} {'GB':>16} {'GB':>9}")
    for name in (*TENANTS, REST):
        value, low, high = found[name]
        inside = low <= true[name] <= high
        holds += inside
        interval = f"{gigabytes(low):>6} - {gigabytes(high):>6}"
        print(
            f" {name.rpartition('/')[2]:12} {WHAT[name]:20} {gigabytes(true[name]):>6}"
            f" {gigabytes(value):>9} {interval:>16} {gigabytes(by_time[name][0]):>9}"
            f"{'' if inside else ' MISSED'}"
        )
    print(
        f"\n Not in the row of who moved it: {missing(true, found):.0f} % of all bytes. A split by CPU time"
        f" alone\n (last column) would have put {missing(true, by_time):.0f} % into wrong rows."
    )
    return holds, len(TENANTS) + 1


def print_counters(truth, reports):
    """The table by counter; tells whether every one is exact."""
    exact = True
    due, counted = truth.counters(), reports.counters()
    print(f" {'counter':34} {'true bytes':>14} {'reported':>14}  difference")
    for name in sorted(counted):
        rows = reports.share(name, lambda row: row["leaf"])["value"]
        total = rows + sum(reports.unattributed(name).values())
        difference = total - due.get(name, 0)
        exact &= difference == 0 and total == counted[name]
        if total or due.get(name):
            print(f" {name:34} {due.get(name, 0):>14,} {total:>14,}  {difference:>10,}")
    return exact


def show(folder):
    """All tables; returns (intervals that hold, of how many), and whether sums are exact."""
    truth = Truth(folder / "truth", Wiring(HERE / "demo.conf"))
    reports, naive = (Reports(folder / f"{name}.json") for name in ("state-space", "cpu-time"))
    print(SCENE)
    heading(
        "$ t410trace -a --by cgroup",
        "Two seconds of all cgroups. The split is an estimate: RANGE is its 95 %",
        "interval. Below the rows: what no process caused, and what was counted.",
    )
    screen(folder / "all.txt")
    pid = (folder / "pid").read_text(encoding="utf-8").strip()
    heading(f"$ t410trace -p {pid}", "One second of one program of tenants/stream; the others are in one line.")
    screen(folder / "one.txt")
    heading(
        "$ t410trace record -a; t410trace report",
        "The same tenants again, recorded from their start to their end, and beside it",
        "what they say that they moved. t410trace is not told.",
    )
    holds = print_tenants(truth, reports, naive)
    heading(
        "Is every byte there?",
        "The same report by counter: rows and unattributed bytes together.",
    )
    return holds, print_counters(truth, reports)


def main():
    try:
        holds, exact = show(pathlib.Path(sys.argv[1]))
    except (Failure, OSError) as failure:
        print(f"\n The demo did NOT work: {failure}")
        return 1
    print(
        f"\n Sums are exact, always; the split is an estimate, whose intervals are to hold\n"
        f" the truth 19 times out of 20. Here {holds[0]} of {holds[1]} do. docs/ACCURACY.md has many more."
    )
    print(
        "\n It worked: every counter's sum is exact to the byte."
        if exact
        else "\n It did NOT work: a counter's sum is not exact."
    )
    print(" To look around in this machine: tests/machine/run shell. What next: README.md.")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
