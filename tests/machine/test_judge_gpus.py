#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on users of GPUs, without a virtual machine: results as the guest leaves them
must pass, and fail in the right test when an owner or a byte is wrong.
"""

import functools
import sys

import judge
import judge_gpus as gpus
from results import Scenario
from spoilt import failing_in, refuse_spoilt

NS_PER_S = 1_000_000_000
MOVED = 1000
STATUS = "all.status"


def give(report, job, ownership):
    """All bytes of the first GPU to a job, or to the rest."""
    entry = next(d for d in report["devices"] if d["bdf"] == gpus.GPU_A)
    entry["ownership"] = ownership
    names = [c["name"] for c in report["counters"] if c["bdf"] == gpus.GPU_A]
    shares = [{"counter": name, "value": MOVED} for name in names]
    other = [u for u in report["unattributed"] if u["counter"] not in names]
    rest = [] if job else [{**share, "reason": "device"} for share in shares]
    row = {"leaf": True, "shares": shares, **({"job": {"id": job}} if job and job != "none" else {})}
    report["unattributed"] = other + rest
    report["workloads"] = [row] if job else []


def report(second, job, ownership):
    """An interval of a second."""
    start, end = second * NS_PER_S, (second + 1) * NS_PER_S
    made = {
        "interval": {"start_ns": start, "end_ns": end, "duration_ns": end - start},
        "counters": [
            {"name": f"{bdf}/{side}_bytes", "bdf": bdf, "unit": "bytes", "valid": True, "value": MOVED}
            for bdf in (gpus.GPU_A, gpus.GPU_B)
            for side in ("rd", "wr")
        ],
        "devices": [
            {"bdf": gpus.GPU_A, "owner_rule": "contexts", "users": [{"job": {"id": "7"}}]},
            {"bdf": gpus.GPU_B, "owner_rule": "contexts", "ownership": "free", "users": []},
        ],
        "unattributed": [
            {"counter": f"{gpus.GPU_B}/{side}_bytes", "value": MOVED, "reason": "device"} for side in ("rd", "wr")
        ],
    }
    give(made, job, ownership)
    return made


def load(name, job, slots, start, end, moved):
    """A program's lines."""
    cgroup = f"/{gpus.__name__}/job_{job}/step_0"
    lines = {"name": name, "pid": 9, "cgroup": cgroup, "start_ns": start * NS_PER_S, "end_ns": end * NS_PER_S}
    return [{**lines, "slot": slot, "bytes": moved} for slot in slots]


def together():
    """Three intervals of one job; in the first it began."""
    each = [report(1, None, "shared"), report(2, "7", "one"), report(3, "7", "one")]
    return {
        "all.json": each,
        STATUS: "0\n",
        "truth": load("one", "7", (0, 1), 1, 4, 3 * MOVED) + load("nobody", "0", (6, 7), 1, 4, 3 * MOVED),
    }


def again():
    """A number of two processes, one after another."""
    each = [report(1, "7", "one"), report(2, None, "unknown"), report(5, "8", "one")]
    first = load("first", "7", (0, 1), 1, 2.9, 1.5 * MOVED)
    return {
        "all.json": each,
        STATUS: "0\n",
        "numbers": "9 9\n",
        "truth": first + load("second", "8", (0, 1), 4.9, 6, 1.5 * MOVED),
    }


def faults():
    """With and without an owner."""
    files = {}
    for name, words in gpus.FAULTS.items():
        each = [report(1, "7", "one"), report(2, None, "unknown"), report(3, "7", "one")]
        files |= {f"{name}.json": each, f"{name}.status": "0\n", f"{name}.err": words}
    return files


def a_byte_is_missing(files):
    files["all.json"][1]["counters"][0]["value"] -= 1
    return {"no_byte_is_anybody_elses"}


def it_is_incomplete(files):
    files[STATUS] = "3\n"
    for one in files["all.json"]:
        one["quality"] = {"lost": {"slices": 1}, "uncounted_ns": 0}
    return {"no_byte_is_anybody_elses"}


def it_failed(files):
    files[STATUS] = "1\n"
    return {"no_byte_is_anybody_elses"}


def the_monitor_is_in_the_way(files):
    for one in files["all.json"]:
        give(one, None, "shared")
    return {"its_job_has_them_beside_a_monitor", "reports_say_so"}


def a_stranger_owns(files):
    give(files["all.json"][1], "none", "one")
    return {"no_byte_is_anybody_elses", "its_job_has_them_beside_a_monitor"}


def the_second_gpu_is_owned(files):
    one = files["all.json"][1]
    one["workloads"][0]["shares"] += one["unattributed"]
    one["unattributed"] = []
    return {"no_byte_is_anybody_elses"}


def the_first_owns_what_the_second_moved(files):
    files["all.json"][0]["workloads"] = []
    give(files["all.json"][0], None, "unknown")
    give(files["all.json"][2], "7", "one")
    return {"a_number_that_came_again_is_another_process", "each_has_its_own"}


def one_owns_what_is_not_known(files):
    give(files["hung.json"][1], "7", "unknown")
    return {"nobody_owns_what_is_not_known", "it_owns_before_and_behind"}


def it_is_not_said(files):
    files["lost.err"] = "nothing\n"
    return {"nobody_owns_what_is_not_known"}


def it_stays_unknown(files):
    give(files["killed.json"][2], None, "unknown")
    return {"it_owns_before_and_behind"}


SPOILS = {
    "gpus": (
        together,
        (a_byte_is_missing, it_is_incomplete, it_failed, the_monitor_is_in_the_way, a_stranger_owns, the_second_gpu_is_owned),
    ),
    "gpus_pid": (again, (the_first_owns_what_the_second_moved,)),
    "gpus_faults": (faults, (one_owns_what_is_not_known, it_is_not_said, it_stays_unknown)),
}
# They read what programs say and not what they moved
NOT_HERE = {"the_helper_comes_and_goes_with_us", "check_knows_the_gpus"}


def failed(scenario, files):
    tests = [test for test in gpus.TESTS[scenario] if test.__name__ not in NOT_HERE]
    make = lambda folder: Scenario(folder, judge.wiring_of(scenario))
    return failing_in(files, tests, make, scenario)


def main():
    wrong = 0
    for scenario, (right, spoils) in SPOILS.items():
        wrong += refuse_spoilt(scenario, right, functools.partial(failed, scenario), spoils)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
