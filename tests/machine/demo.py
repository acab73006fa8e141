#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Show what the demo's machine left in a folder: reports beside the truth."""

import pathlib
import sys

from results import Failure, Reports, Truth, Wiring

HERE = pathlib.Path(__file__).resolve().parent
RULE = " " + "-" * 78
TENANTS = ("/tenants/stream", "/tenants/burst", "/tenants/swarm")
WHAT = {
    "/tenants/stream": "reads and writes steadily",
    "/tenants/burst": "a lot at once, then sleeps",
    "/tenants/swarm": "short-lived commands",
}
# Everything else on the machine; none of it moves a byte.
REST = "all others"


def gigabytes(count):
    return f"{count / 1e9:.3f}"


def heading(text):
    print(f"\n {text}\n{RULE}")


def screen(folder, name, command):
    heading(f"$ t410trace {command}")
    print((folder / name).read_text(encoding="utf-8").rstrip())


def tenant_of(path):
    return path if path in TENANTS else REST


def reported(reports):
    """Bytes of CPUs by tenant: value, low and high over all intervals."""
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


def print_tenants(truth, reports):
    """The table by tenant; tells how many intervals hold the truth, and of how many."""
    true, found = true_bytes(truth), reported(reports)
    holds = 0
    print(f" {'':16} {'':26} {'true':>7} {'reported':>9}  {'interval':>15}")
    print(f" {'tenant':16} {'what it does':26} {'GB':>7} {'GB':>9}  {'GB':>15}")
    for name in (*TENANTS, REST):
        value, low, high = found[name]
        inside = low <= true[name] <= high
        holds += inside
        mark = "" if inside else "  MISSED"
        print(
            f" {name:16} {WHAT.get(name, 'kernel, drivers, t410trace'):26}"
            f" {gigabytes(true[name]):>7} {gigabytes(value):>9}"
            f"  {gigabytes(low):>6} - {gigabytes(high):>6}{mark}"
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


def main():
    folder = pathlib.Path(sys.argv[1])
    try:
        truth = Truth(folder / "truth", Wiring(HERE / "demo.conf"))
        reports = Reports(folder / "reports.json")
        screen(folder, "all.txt", "-a --by cgroup")
        pid = (folder / "pid").read_text(encoding="utf-8").strip()
        screen(folder, "one.txt", f"-p {pid}        (one program of /tenants/stream)")
        heading("The same tenants again, from start to end. The programs know the truth.")
        holds = print_tenants(truth, reports)
        heading("Is every byte there? Rows and unattributed bytes together, by counter.")
        exact = print_counters(truth, reports)
    except (Failure, OSError) as failure:
        print(f"\n The demo did NOT work: {failure}")
        return 1
    print(
        f"\n The split is an estimate. Its intervals are to hold the truth 19 times out of 20;\n"
        f" here {holds[0]} of {holds[1]} do. docs/ACCURACY.md has many more."
    )
    print(
        "\n It worked: every counter's sum is exact to the byte."
        if exact
        else "\n It did NOT work: a counter's sum is not exact."
    )
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
