#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on jobs of three machines, without a virtual machine: records that are the sums of
their nodes pass, and others fail in the right test.
"""

import sys

import judge
import judge_fleet as fleet
from results import Scenario
from spoilt import failing_in, refuse_spoilt

TESTS = [test for test in fleet.TESTS["fleet"] if test is not fleet.daemons_end_well]
ENDS, RECORDS, ARRAY, MACHINE, PROGRAMS, ROUND, NAMES, NFS, STOPPED, DIED, FOLDER, SAID = (test.__name__ for test in TESTS)
# Jobs by name: their numbers, and what each node has moved
JOBS = {
    "three": ("first", "1", {"n1": 100, "n2": 200, "n3": 300}),
    "two": ("first", "2", {"n1": 50, "n2": 70}),
    "array": ("first", "3", {"n1": 10}),
    "array_2": ("first", "4", {"n2": 20}),
    "stopped": ("late", "5", {"n1": 5, "n3": 15}),
    "full": (None, "6", {}),
    "gone": (None, "7", {}),
    "killed": ("killed", "8", {"n1": 5, "n2": 10}),
}
MISSING = {"stopped": "n2", "killed": "n3"}
SLOT = 0
LINE = "Nov 30 20:00:00 t410-1 user.notice t410trace-epilog:"


def report(node, value):
    machine = {"value": value + 3}
    metrics = {"mem_read_bytes": {"value": value}, "mem_write_bytes": {"value": 0}}
    counter = {"name": judge.READ0, "value": value, "low": value - 1, "high": value + 1, "others": 2, "unattributed": 1, "machine": machine}
    return {"host": {"name": node}, "metrics": metrics, "counters": [counter]}


def right():
    files = {"truth": [], "nodes": "n1 idle\nn2 idle\nn3 down\n", "mount": "10.4.1.1:/ /shared nfs4 rw 0 0", "owners": "64030\n64030\n"}
    for name, (moment, number, nodes) in JOBS.items():
        shown = {"array": "3_1", "array_2": "3_2"}.get(name, number)
        record = {"j": number, "m": {"mr": [sum(nodes.values())], "mw": [0]}, "N": {"n": len(nodes), "of": 3, "miss": MISSING.get(name)}}
        if not nodes:
            record = {"j": number, "N": {"n": 0, "of": 2, "no": 2, "miss": "n[1-2]"}}
        for node, value in nodes.items():
            files[f"reports.{moment}/{number}/1700000000/{node}.json"] = report(node, value)
            files["truth"].append({"name": f"{name.split('_')[0]}.{number}.{node[1:]}", "slot": SLOT, "bytes": value, "cpu_ns": 9, "late_ns": 1})
        base = name.split("_")[0]
        files.setdefault(f"{base}.id", number)
        files.setdefault(f"{base}.sacct", []).append(
            f"{shown}|{base}|{'NODE_FAIL' if name == 'killed' else 'COMPLETED'}|0:0|t4j1l:aa")
        files.setdefault(f"{base}.decoded", []).append(record)
    for moment in ("early", "late", "vain", "killed"):
        files[f"tickets.{moment}/open/{'5' if moment == 'late' else '.none'}"] = "x"
    for moment in ("first", "early", "late", "vain", "gone.away"):
        files[f"round.{moment}.status"] = "1" if moment == "gone.away" else "0"
        files[f"round.{moment}.err"] = ""
    files["round.gone.away.err"] = "no account is stored: there is no folder /shared"
    files["round.vain.err"] = "job 6: none of its nodes x\njob 7: none of its nodes x\n"
    for moment in ("early", "vain"):
        files[f"reports.{moment}/.none"] = ""
    files["log.1"] = f"{LINE} job 6: the account is not stored: cannot write to x\n{LINE} job 7: x did not end in time\n"
    files["log.2"] = f"{files['log.1']}{LINE} job 5: there is no account: does t410trace serve run?\n"
    files["log.3"] = "Nov 30 20:00:00 t410-3 user.notice other: job 1: hello\n"
    return files


def spoil_state(files):
    files["full.sacct"] = ["6|full|FAILED|1:0|"]
    return {ENDS}


def spoil_node(files):
    files["nodes"] = files["nodes"].replace("idle", "drained", 1)
    return {ENDS}


def spoil_first_node(files):
    """Only the account of one node."""
    files["three.decoded"][0]["m"]["mr"] = [100]
    return {RECORDS}


def spoil_byte(files):
    files["two.decoded"][0]["m"]["mw"] = [1]
    return {RECORDS}


def spoil_two_records(files):
    files["three.sacct"] *= 2
    return {RECORDS}


def spoil_array(files):
    files["array.sacct"][1] = files["array.sacct"][1].replace("3_2", "3_1")
    return {ARRAY}


def spoil_task(files):
    files["array.decoded"][1]["m"]["mr"] = [10]
    return {ARRAY}


def spoil_counter(files):
    files["reports.first/1/1700000000/n1.json"]["counters"][0]["others"] = 7
    return {MACHINE}


def spoil_truth(files):
    """Jobs have more than was moved."""
    files["truth"][0]["bytes"] -= 20
    return {MACHINE, PROGRAMS}


def spoil_ticket(files):
    files["tickets.early/open/1"] = "x"
    return {ROUND}


def spoil_left(files):
    """Reports of a job whose record is stored."""
    files["reports.late/2/1700000000/n1.json"] = report("n1", 1)
    return {ROUND}


def spoil_complaint(files):
    """A node that has given its report."""
    files["log.3"] += f"{LINE} job 1: the account is not closed\n"
    return {SAID}


def spoil_quiet(files):
    """One without a daemon, and nobody said so."""
    files["log.2"] = files["log.1"]
    return {SAID}


def spoil_missing(files):
    files["stopped.decoded"][0]["N"].update(of=2, miss="")
    files["killed.decoded"][0]["N"]["miss"] = "n2"
    return {STOPPED, DIED}


def spoil_silence(files):
    files["round.vain.err"] = "job 6: none of its nodes\n"
    return {FOLDER}


def spoil_empty_record(files):
    files["gone.sacct"] = [files["gone.sacct"][0].removesuffix("t4j1l:aa")]
    files["gone.decoded"] = []
    return {FOLDER}


def spoil_zeros(files):
    """Nobody counted, and the record has a number."""
    files["full.decoded"][0]["m"] = {"mr": [0]}
    return {FOLDER}


def spoil_name(files):
    files["reports.first/1/1700000000/n1.json"]["host"]["name"] = "t410-1"
    return {NAMES}


def spoil_mount(files):
    files["mount"] = "tmpfs /shared tmpfs rw 0 0"
    return {NFS}


def spoil_owner(files):
    files["owners"] += "65534\n"
    return {NFS}


CASES = (
    spoil_state, spoil_node, spoil_first_node, spoil_byte, spoil_two_records, spoil_array, spoil_task, spoil_counter,
    spoil_truth, spoil_ticket, spoil_left, spoil_complaint, spoil_quiet, spoil_missing, spoil_silence, spoil_empty_record,
    spoil_zeros, spoil_name, spoil_mount, spoil_owner,
)  # fmt: skip


def failures(files):
    return failing_in(files, TESTS, lambda folder: Scenario(folder, judge.wiring_of("fleet")), "fleet")


def main():
    return 1 if refuse_spoilt("fleet", right, failures, CASES) else 0


if __name__ == "__main__":
    sys.exit(main())
