# SPDX-License-Identifier: GPL-2.0-only
"""Tests of jobs on the three machines of a real Slurm cluster; see judge.py and guest_fleet.sh."""

import json

from results import estimate, expect, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {"fleet": ("t410,fleet", "traffic.conf")}
# Jobs and how many nodes each has; jobs during which something failed
FIRST = {"three": 3, "two": 2}
TROUBLED = ("stopped", "full", "gone", "killed")
METRICS = {"mr": "mem_read_bytes", "mw": "mem_write_bytes"}


def rows(s, name):
    """Fields of sacct: a line for each job, or each task of an array."""
    return [line.split("|") for line in s.text(f"{name}.sacct").splitlines()]


def decoded(s, name):
    return [json.loads(line) for line in s.text(f"{name}.decoded").splitlines()]


def said(s, node, job):
    """What epilogs said about a job, in the system log of a node."""
    return [line for line in s.text(f"log.{node[1:]}").splitlines() if f"-epilog: job {job}: " in line]


def jobs_with_reports(s, moment):
    """Their numbers, as they were shared before a round."""
    return {path.parts[-3] for path in s.folder.glob(f"reports.{moment}/*/*/*.json")}


def only(s, name):
    """The line of sacct and the record of a job, which has one of each."""
    found, records = rows(s, name), decoded(s, name)
    expect_equal((len(found), len(records)), (1, 1), f"{name}: lines of sacct and records")
    return found[0], records[0]


def number(s, name):
    return s.text(f"{name}.id").strip()


def reports(s, moment, job):
    """Of the nodes of a job, by name, as they were shared before a round."""
    folders = list((s.folder / f"reports.{moment}" / job).iterdir())
    expect_equal(len(folders), 1, f"runs of job {job}")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folders[0].iterdir()}


def has_sums(record, nodes, what):
    """The record is the sum of the reports, to the unit."""
    for short, metric in METRICS.items():
        total = sum(report["metrics"][metric]["value"] for report in nodes.values())
        expect_equal(record["m"][short][0], total, f"{what}: {metric}")


def moved(s, name, job):
    """Bytes of the job's programs, by counter."""
    found = {}
    for line in s.truth().lines:
        if line["name"].startswith(f"{name}.{job}."):
            counter = s.wiring.slots[line["slot"]]
            found[counter] = found.get(counter, 0) + line["bytes"]
    require(found, f"{name}: no program has moved bytes")
    return found


@test("fleet")
def slurm_ends_jobs_as_without_us(s):
    for name in (*FIRST, "array", "stopped", "full", "gone"):
        for row in rows(s, name):
            expect_equal(row[2:4], ["COMPLETED", "0:0"], f"{name}: state")
    expect_equal(rows(s, "killed")[0][2], "NODE_FAIL", "killed: state")
    states = dict(line.split() for line in s.text("nodes").splitlines())
    expect_equal((states["n1"], states["n2"]), ("idle", "idle"), "nodes")


@test("fleet")
def each_job_has_one_record_of_all_its_nodes(s):
    for name, nodes in FIRST.items():
        found = reports(s, "first", number(s, name))
        expect_equal(len(found), nodes, f"{name}: reports")
        row, record = only(s, name)
        expect_equal((row[0], record["j"]), (number(s, name), number(s, name)), f"{name}: number")
        has_sums(record, found, name)
        parts = {node: report["metrics"]["mem_read_bytes"]["value"] + report["metrics"]["mem_write_bytes"]["value"]
                 for node, report in found.items()}
        require(len(set(parts.values())) == nodes, f"{name}: its nodes moved the same: {parts}")
        print(f"# fleet: {name}: {parts} bytes, a record of {len(row[4])} bytes")


@test("fleet")
def tasks_of_an_array_are_apart(s):
    array = number(s, "array")
    found = rows(s, "array")
    expect_equal([row[0] for row in found], [f"{array}_1", f"{array}_2"], "tasks")
    records = decoded(s, "array")
    expect_equal(len({record["j"] for record in records}), 2, f"numbers of {records}")
    for record in records:
        has_sums(record, reports(s, "first", record["j"]), f"task {record['j']}")


@test("fleet")
def totals_are_those_of_the_machine(s):
    """Only these programs made its counters grow. So what jobs have of a counter is not more; those of
    the job whose node died do not say what they moved."""
    whole = {}
    for folder in ("first", "late", "killed"):
        for path in (s.folder / f"reports.{folder}").rglob("*.json"):
            for counter in json.loads(path.read_text(encoding="utf-8"))["counters"]:
                parts = counter["value"] + counter["others"] + counter["unattributed"]
                expect_equal(parts, counter["machine"]["value"], f"{path.stem}: {counter['name']}")
                if folder != "killed":
                    whole[counter["name"]] = whole.get(counter["name"], 0) + counter["value"]
    for name, count in s.truth().counters().items():
        total = whole.get(name, 0)
        require(total <= count, f"{name}: jobs have {total}, and programs moved {count}")


@test("fleet")
@estimate
def totals_are_those_of_the_programs(s):
    for name in FIRST:
        found = reports(s, "first", number(s, name))
        lines = [line for line in s.truth().lines if line["name"].startswith(f"{name}.")]
        late = sum(line["late_ns"] for line in lines) / sum(line["cpu_ns"] for line in lines)
        for counter, truth in moved(s, name, number(s, name)).items():
            parts = [c for report in found.values() for c in report["counters"] if c["name"] == counter]
            value, low, high = (sum(part[key] for part in parts) for key in ("value", "low", "high"))
            errors = " ".join(f"{part / truth - 1:+.4f}" for part in (value, low, high))
            print(f"# fleet: {name}: {counter} {errors}, its programs had to wait in {late:.0%} of their CPU time")
            expect(abs(value / truth - 1) <= 0.1, f"{name}: {counter} {value}, truth {truth}")
            expect(low <= truth <= high, f"{name}: {counter} {low} to {high}, truth {truth}")


@test("fleet")
def a_round_stores_all_and_leaves_nothing(s):
    expect_equal((s.status("round.first"), s.text("round.first.err")), (0, ""), "the first round")
    for later in ("early", "late", "vain", "killed"):
        left = [path.name for path in (s.folder / f"tickets.{later}" / "open").glob("[0-9]*")]
        wanted = {"late": [number(s, "stopped")]}.get(later, [])
        expect_equal(left, wanted, f"tickets before the round {later}")
    for later, names in (("early", ["stopped"]), ("late", ["stopped"]), ("vain", []), ("killed", ["killed"])):
        others = jobs_with_reports(s, later) - {number(s, name) for name in names}
        expect_equal(others, set(), f"jobs whose reports are left before the round {later}")


@test("fleet")
def nodes_have_the_names_of_slurm(s):
    """These machines call themselves t410-1 and so on."""
    for path in s.folder.glob("reports.*/*/*/*.json"):
        expect_equal(json.loads(path.read_text(encoding="utf-8"))["host"]["name"], path.stem, f"the name in {path.name}")


@test("fleet")
def the_folder_is_one_of_nfs(s):
    mount = s.text("mount").split()
    expect_equal((mount[1], mount[2]), ("/shared", "nfs4"), "where and what it is")
    owners = set(s.text("owners").split())
    expect_equal(owners, {"64030"}, "owners of what is there")


def names_one_of_three(s, name, later, there, missing):
    """The record of a job has the sums of the two nodes that reported, and the name of the third."""
    found = reports(s, later, number(s, name))
    expect_equal(sorted(found), there, "nodes with a report")
    _, record = only(s, name)
    has_sums(record, found, name)
    expect_equal((record["N"]["n"], record["N"]["of"], record["N"]["miss"]), (2, 3, missing), "nodes in the record")


@test("fleet")
def a_stopped_daemon_is_told(s):
    expect_equal((s.status("round.early"), s.text("round.early.err")), (0, ""), "a round before its time is over")
    expect_equal((s.status("round.late"), s.text("round.late.err")), (0, ""), "a round after that")
    names_one_of_three(s, "stopped", "late", ["n1", "n3"], "n2")


@test("fleet")
def a_node_that_died_is_told(s):
    names_one_of_three(s, "killed", "killed", ["n1", "n2"], "n3")


@test("fleet")
def a_folder_that_is_full_or_gone_is_told(s):
    expect_equal(s.status("round.gone.away"), 1, "a round without the folder")
    require("no folder" in s.text("round.gone.away.err"), s.text("round.gone.away.err"))
    expect_equal(s.status("round.vain"), 0, "the round after that")
    for name in ("full", "gone"):
        _, record = only(s, name)
        expect_equal((record["j"], record["N"]), (number(s, name), {"n": 0, "of": 2, "no": 2, "miss": "n[1-2]"}), f"{name}: record")
        require("m" not in record, f"{name}: the record has numbers of no node")
        require(f"job {number(s, name)}: none of its nodes" in s.text("round.vain.err"), s.text("round.vain.err"))


@test("fleet")
@estimate
def epilogs_say_what_is_missing(s):
    """And nothing about a node that has given its report."""
    whole = [(name, number(s, name), "n1 n2 n3") for name in FIRST]
    whole += [("array", record["j"], "n1 n2 n3") for record in decoded(s, "array")]
    for name, job, nodes in (*whole, ("stopped", number(s, "stopped"), "n1 n3"), ("killed", number(s, "killed"), "n1 n2")):
        for node in nodes.split():
            expect(not said(s, node, job), f"{name}: {said(s, node, job)}")
    for name, nodes, words in (
        ("stopped", "n2", "does t410trace serve run?"),
        ("full", "n1 n2", "cannot write to"),
        ("gone", "n1 n2", "did not end in time"),
    ):
        for node in nodes.split():
            lines = said(s, node, number(s, name))
            expect(len(lines) == 1 and words in lines[0], f"{name}: the log of {node} has {lines}")


@test("fleet")
def daemons_end_well(s):
    """That of the third machine is killed with it."""
    for status in (s.folder / "serve.status", s.folder.parent / "fleet_node2" / "serve.status"):
        expect_equal(status.read_text(encoding="utf-8").strip(), "0", f"exit status in {status.parent.name}")
