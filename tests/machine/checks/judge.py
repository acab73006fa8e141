#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""judge.py script PART                  the guest's script for a part, to stdout
judge.py judge OUT SCENARIO PART...   what the guest of one boot wrote to OUT is right?
judge.py same NAME FILE GOLDEN        two listings are equal
judge.py turns NAME FILE              two programs got on alike (turns.sh)
judge.py log PART                     patterns the kernel log must have, a line each
judge.py sum FILE...                  one verdict of those of some boots, a file each

Prints lines "ok NAME" and "not ok NAME: reason"; of one boot also "again NAME: reason" when nothing is
wrong but what depends on how busy the host is.
"""
import os
import re
import sys

import steps_grace
import steps_t410
from expect import Estimate, Ledger, Result, flow_slots, judge_step

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = {
    "exact": steps_t410.EXACT, "rates": steps_t410.RATES, "conflict": steps_t410.CONFLICT,
    "hotplug": steps_t410.HOTPLUG, "perf": steps_t410.PERF, "sriov": steps_t410.SRIOV,
    "grace": steps_grace.STEPS, "one-socket": steps_t410.ONE_SOCKET, "width": steps_t410.WRAP,
    "disk": steps_t410.DISK,
}
EXPECTED_LOG = {"conflict": steps_t410.CONFLICT_LOG, "one-socket": steps_t410.NO_PEER_LOG}

PRELUDE = """# masks CPU: the units of socket 1 are counted there
masks() {
	for pmu in ucf_pmu_1 cmem_latency_pmu_1 nvlink_c2c_pmu_1 pcie_pmu_1_rc_0; do
		read -r cpu < /sys/bus/event_source/devices/nvidia_$pmu/cpumask
		[ "$cpu" = "$1" ] || echo "wrong cpumask of $pmu: $cpu, not $1"
	done
}

# switch_on_vfs FUNCTION N: Linux does it for functions with a driver only
switch_on_vfs() {
	insmod /modules/pci-pf-stub.ko
	echo pci-pf-stub > "/sys/bus/pci/devices/$1/driver_override"
	echo "$1" > /sys/bus/pci/drivers/pci-pf-stub/bind
	echo "$2" > "/sys/bus/pci/devices/$1/sriov_numvfs"
	found=$(list-pci | grep -c " physfn $1")
	[ "$found" = "$2" ] || echo "wrong: $found virtual functions, not $2"
}
"""


def verdict(name, wrong):
    word = "again" if all(isinstance(one, Estimate) for one in wrong) else "not ok"
    print(f"{word} {name}: {'; '.join(wrong)}" if wrong else f"ok {name}")


def script(part):
    print(PRELUDE)
    for step in PARTS[part]:
        print(f"export TRUTH=/host/{part}.{step.name}.json\n" + step.script())


def read(*path):
    try:
        with open(os.path.join(*path), errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def sections(text):
    return dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))


def perf_differs(lines, csv):
    """Debian's perf, around the same traffic, must have the very same numbers."""
    ours = {r.spec: r.value for r in map(Result.parse, lines)}
    theirs = {m[2]: int(m[1]) for m in re.finditer(r"^(\d+),,(nvidia_[^/]+/[^/]*/)", csv, re.M)}
    if not theirs:
        return ["perf has counted nothing"]
    return [f"{k}: perf {theirs.get(k)}, count {v}" for k, v in ours.items() if theirs.get(k) != v]


def judge_part(part, out, ledger):
    found = sections(read(out, part + ".out"))
    for step in PARTS[part]:
        lines = found.get(step.name, "").splitlines()
        results = [x for x in lines if x.startswith("nvidia_")]
        reports = ledger.add_step(read(out, f"{part}.{step.name}.json"))
        wrong = judge_step(step, results, ledger)
        wrong += [x for x in lines if x not in results]
        wrong += [f"idle program {x}" for x in reports if not x["bytes"] or not x["cpu_ns"]]
        if "perf stat" in step.load:
            wrong += perf_differs(results, read(out, "perf.csv"))
        verdict(f"{part}-{step.name}", wrong)


def judge(out, scenario, *parts):
    ledger = Ledger(flow_slots(scenario))
    for part in parts:
        judge_part(part, out, ledger)


def normal(listing):
    """Without what is allowed to differ: the numbers of PMU types depend on what else is
    registered, and Linux 7.3 dropped ".auto" from a device's name."""
    lines = []
    for line in listing.splitlines():
        if not line.startswith("#"):
            line = re.sub(r"^(\S+/type = )\d+", r"\1N", line)
            lines.append(re.sub(r"(arm-cs-arch-pmu\.\d+)\.auto/", r"\1/", line))
    return lines


def same(name, file, golden):
    got, want = normal(read(file)), normal(read(golden))
    missing = [x for x in want if x not in set(got)]
    surplus = [x for x in got if x not in set(want)]
    wrong = [f"{len(missing)} lines missing, first {missing[0]!r}"] if missing else []
    wrong += [f"{len(surplus)} lines too many, first {surplus[0]!r}"] if surplus else []
    if not wrong and got != want:
        wrong = ["another order"]
    verdict(name, wrong or ([] if got else ["empty"]))


def turns(name, file):
    """Of a CPU that loses its turns, a program gets on by a twentieth of the other's steps."""
    lines = [[int(word) for word in line.split()] for line in read(file).splitlines()]
    wrong = [] if len(lines) >= 8 else [f"{len(lines)} lines"]
    for before, after in zip(lines, lines[1:]):
        steps = [b - a for a, b in zip(before, after)]
        if min(steps) < max(steps) / 3 or not min(steps):
            wrong.append(f"{steps[0]} and {steps[1]} steps at the same time")
    verdict(name, wrong)


def sum_up(*files):
    """An estimate has to be right in one boot, everything else in all of them."""
    said = {}
    for file in files:
        for line in read(file).splitlines():
            word, name, reason = re.fullmatch(r"(ok|not ok|again) ([^ :]+)(.*)", line).groups()
            said.setdefault(name, []).append((word, reason))
    for name, verdicts in said.items():
        wrong = [reason for word, reason in verdicts if word == "not ok"]
        if not wrong and all(word == "again" for word, _ in verdicts):
            wrong = [verdicts[-1][1]]
        print(f"not ok {name}{wrong[0]}" if wrong else f"ok {name}")


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "log":
        print("\n".join(EXPECTED_LOG.get(arguments[0], [])))
    else:
        {"script": script, "judge": judge, "same": same, "sum": sum_up, "turns": turns}[command](*arguments)


if __name__ == "__main__":
    main()
