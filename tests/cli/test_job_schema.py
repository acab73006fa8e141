#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The examples of accounts keep their schemas, and what breaks one is seen."""

import copy
import json
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = TESTS.parent / "docs" / "examples"
failed = 0


def problems(value):
    """What check-report says of a document."""
    done = subprocess.run(
        [TESTS / "check-report", "-"],
        input=json.dumps(value) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout


def example(name):
    return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))


def check(what, good):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'not ok'} job schema: {what}{'' if good else ': see above'}")


def set_at(document, path, value):
    """A copy of a document with one value changed; None takes it out."""
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed


for name in ("job", "job-trouble", "job-nodes", "jobs", "job-compact"):
    found = problems(example(f"{name}.json"))
    print(found, end="")
    check(f"{name}.json keeps its schema", not found)

for name in ("job-together", "jobs-together", "job-energy", "jobs-energy", "report-together", "report-energy", "job-nodes-kinds") + (
    "job-nodes-compact",
    "job-nodes-kinds-compact",
):
    found = problems(json.loads((TESTS / f"golden/{name}.json").read_text(encoding="utf-8")))
    print(found, end="")
    check(f"{name}.json keeps its schema", not found)

# A clock that was set forward is in no duration
HOUR_NS = 3600 * 10**9
later = example("job.json")
later["clock_set_ns"] = HOUR_NS
for part in (later, *later["steps"]):
    part["end_ns"] += HOUR_NS
for step in later["steps"]:
    step["duration_ns"] = min(step["end_ns"] - step["start_ns"], later["duration_ns"])
found = problems(later)
print(found, end="")
check("job.json with a clock that was set keeps its schema", not found)

BROKEN = [
    ("job", ["counters", 0, "others"], 1, "the job and others"),
    ("job", ["counters", 0, "value"], None, "missing in 0"),
    ("job", ["counters", 0, "machine", "attributed"], 5, "attributed and unattributed"),
    ("job", ["counters", 0, "machine", "unattributed", "idle"], 5, "reasons"),
    ("job", ["counters", 0, "low"], 1 << 60, "low <= value"),
    ("job", ["counters", 0, "machine", "missing"], 120, "missing in 120"),
    ("job", ["metrics", "mem_read_bytes", "others"], 1, "nobody"),
    ("job", ["metrics", "mem_reads"], {}, "mem_reads"),
    ("job", ["steps", 0, "counters", 0, "high"], 1, "low <= value"),
    ("job", ["steps", 0, "on_cpu_ns"], 1 << 60, "CPU time"),
    ("job", ["steps", 0, "step"], "batch", "twice"),
    ("job", ["duration_ns"], 5, "duration_ns"),
    ("job", ["steps", 0, "duration_ns"], 5, "duration_ns"),
    ("job", ["state"], "over", "state"),
    ("job", ["job", "scheduler"], "none", "scheduler"),
    ("job", ["quality", "coverage"], 1.5, "coverage"),
    ("job-trouble", ["gap_ns"], 5, "gap_ns"),
    ("jobs", ["jobs", 0, "metrics", "mem_read_bytes"], 1.0, "mem_read_bytes"),
    ("jobs", ["jobs", 0, "job", "key"], None, "key"),
    ("job-compact", ["m", "mr"], [1, 2, 3], "mr"),
    ("job-compact", ["t4j"], 2, "no schema"),
    ("job-compact", ["run"], 1.5, "run"),
    ("job-compact", ["m", "xx"], [1, 0, 2, 3], "xx"),
    ("job-nodes", ["nodes", "list", 0, "metrics", "mem_read_bytes"], 5, "the nodes have"),
    ("job-nodes", ["nodes", "list", 1, "on_cpu_ns"], 5, "on_cpu_ns: the nodes have"),
    ("job-nodes", ["nodes", "spread", "mem_read_bytes", "median"], 1, "impossible over nodes"),
    ("job-nodes", ["nodes", "reported"], 2, "are not those of the list"),
    ("job-nodes", ["nodes", "missing"], ["n4"], "are there and 1 missing"),
    ("job-nodes", ["nodes", "complete"], True, "cannot be complete"),
    ("job-nodes", ["nodes", "refused", 0, "reason"], "other", "reason"),
]

for name, path, value, said in BROKEN:
    found = problems(set_at(example(f"{name}.json"), path, value))
    where = ".".join(map(str, path))
    if said not in found:
        print(found or "nothing was found")
    check(f"{name}.json: {where} = {value} is refused", said in found)

sys.exit(failed)
