#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""judge_large.py FOLDER CPUS: what t410trace did in the virtual T410 of so many CPUs.

FOLDER has what large-guest.sh left. Nothing may be lost, sums must be whole, sleeping CPUs are not
interrupted, and what a run takes of the machine is bounded. What is measured and not judged is said
in lines that begin with "#".
"""
import json
import sys
from pathlib import Path

# As in large-guest.sh
INTERVALS = {"nothing": 4, "idle": 4, "serve": 4, "switching": 2, "busy": 2, "record": 2}
RECORDS = ("record-idle", "record")
NS_PER_S = 1_000_000_000
# An interval that is longer has waited for a CPU
LATE_NS = NS_PER_S // 4
# Part of the CPUs that may be interrupted in each interval: two read the counters, one has user
# space, two a traffic program; the rest have something to do by themselves
CALLED = 1 / 2
# What a run may take: files beside one for each CPU, MiB
FILES, MEMORY_MIB, MAPS_MIB = 64, 64, 64
# Part of its bytes that a traffic program is given at least: alone, and in a crowd
LEAST_PART = {"idle": 0.5, "busy": 0.1}
# Of the CPUs of each socket, which nothing but the traffic programs makes
READS = ("ucf0/mem_bytes_rd/src_loc_cpu=1", "ucf1/mem_bytes_rd/src_loc_cpu=1")
KINDS = {"Function call": "calls", "Rescheduling": "wakes", "arch_timer": "timers", "switches:": "switches"}


class Run:
    """What one run left behind"""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        lines = (folder / f"{name}.json").read_text(encoding="utf-8").splitlines()
        reports = [json.loads(line) for line in lines]
        # The last one sums up all; the one before it was cut short
        self.intervals, self.summary = reports[:-1], reports[-1]
        self.whole = reports[: INTERVALS[name] + 1]

    def truth(self):
        """What its programs say, that of socket 0 first"""
        lines = (self.folder / f"{self.name}.truth").read_text(encoding="utf-8").splitlines()
        return sorted((json.loads(line) for line in lines), key=lambda program: program["slot"])


def counted(folder, cpus):
    """{(name, kind): what each CPU has counted between the first and the last look}"""
    looks = {}
    for line in (folder / "counted").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(" ")
        kind = next(kind for label, kind in KINDS.items() if label in rest)
        # The first word is the interrupt's, those behind the numbers its name
        looks.setdefault((name, kind), []).append([int(w) for w in rest.split()[1 : cpus + 1] if w.isdigit()])
    return {key: [b - a for a, b in zip(found[0], found[-1])] for key, found in looks.items()}


def status(folder, name):
    return int((folder / f"{name}.status").read_text(encoding="ascii"))


def losses(reports):
    return [
        {k: v for k, v in (r["quality"]["lost"] | {"kept": r["quality"]["kept_flushes"]}).items() if v}
        for r in reports
    ]


def judge_needs(folder, name, cpus):
    rows = dict(line.split()[:2] for line in (folder / f"{name}.needs").read_text(encoding="ascii").splitlines())
    files, maps = int(rows["files"]), int(rows["map_bytes"]) / 2**20
    memory = int(rows["VmHWM:"]) / 1024
    said = f'{memory:.1f} MiB, {files} files, {rows["maps"]} maps of {maps:.1f} MiB'
    print(f"# {name}: {said}")
    right = memory <= MEMORY_MIB and files <= cpus + FILES and 0 < maps <= MAPS_MIB
    yield f"large/{name}-needs", right, said


def judge_run(folder, name):
    run = Run(folder, name)
    said = (folder / f"{name}.err").read_text(encoding="utf-8").strip()
    ended = status(folder, name)
    yield f"large/{name}-ends", ended == 0 and not said, f"status {ended}: {said}"
    lost = losses(run.intervals)
    yield f"large/{name}-loses-nothing", len(lost) > INTERVALS[name] and not any(lost), str(lost)
    late = [r["interval"]["duration_ns"] - NS_PER_S for r in run.whole]
    yield f"large/{name}-in-time", max(late) < LATE_NS, f"late by {late} ns"
    broken = [
        (r["sequence"], c["name"]) for r in run.intervals for c in r["counters"]
        if c["value"] != c["attributed"] + c["unattributed"]
    ]
    yield f"large/{name}-adds-up", not broken, str(broken)
    programs = run.truth()
    yield f"large/{name}-programs", len(programs) == 2, f"{len(programs)} programs said what they moved"
    for program, reads in zip(programs, READS):
        counted = [c["value"] for c in run.summary["counters"] if c["name"] == reads]
        yield f"large/{name}-{reads[:4]}-counts", counted == [program["bytes"]], f'{counted}, {program["bytes"]} moved'
        rows = [w for r in run.intervals for w in r["workloads"] if w["pid"] == program["pid"]]
        given = sum(s["value"] for w in rows for s in w["shares"] if s["counter"] == reads)
        part = given / program["bytes"]
        print(f"# {name}: the program of {reads[:4]} was given {part:.3f} of its bytes")
        yield f"large/{name}-{reads[:4]}-owner", LEAST_PART[name] < part <= 1, f"{part:.3f}"


def judge(folder, cpus):
    found = int((folder / "cpus").read_text(encoding="ascii"))
    yield "large/cpus", found == cpus, f"{found} of {cpus}"
    changes = counted(folder, cpus)
    for (name, kind), by_cpu in changes.items():
        often = sum(n >= INTERVALS[name] for n in by_cpu)
        more = "" if kind == "switches" else f", {often} of {len(by_cpu)} CPUs in each interval"
        print(f"# {name}: {sum(by_cpu) / INTERVALS[name]:.0f} {kind} a second{more}")
    for name in ("idle", "serve"):
        often = [cpu for cpu, n in enumerate(changes[name, "calls"]) if n >= INTERVALS[name]]
        yield f"large/{name}-leaves-asleep", 0 < len(often) <= CALLED * cpus, f"CPUs {often} were interrupted"
    for name in ("idle", "busy"):
        yield from judge_run(folder, name)
    for name in ("idle", "busy", "serve"):
        yield from judge_needs(folder, name, cpus)
    for name in (*RECORDS, *(f"{record}-report" for record in RECORDS), "serve"):
        yield f"large/{name}-ends", status(folder, name) == 0, f"status {status(folder, name)}"
    for name in RECORDS:
        lines = (folder / f"{name}-report.json").read_text(encoding="utf-8").splitlines()
        lost = losses(json.loads(line) for line in lines)
        yield f"large/{name}-loses-nothing", len(lost) >= INTERVALS["record"] and not any(lost), str(lost)
    switches = changes["busy", "switches"][0] / INTERVALS["busy"]
    yield "large/busy", switches > 2_000, f"{switches:.0f} switches a second"


def main():
    failed = 0
    try:
        for name, right, why in judge(Path(sys.argv[1]), int(sys.argv[2])):
            failed += not right
            print(f"ok {name}" if right else f"not ok {name}: {why}")
    except (OSError, ValueError, KeyError, IndexError) as error:
        print(f"not ok large: {type(error).__name__} {error}")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
