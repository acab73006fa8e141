# SPDX-License-Identifier: GPL-2.0-only
"""Tests of accounts on a node of a real Slurm cluster; see judge.py."""

import datetime
import json
import re
import shutil
import subprocess

from results import Failure, estimate, expect, expect_close, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {"slurm": ("t410,slurm", "traffic.conf")}
# Jobs that ran at once, and the one during which the daemon was killed
THREE = ("alpha", "beta", "gamma")
ALL = (*THREE, "delta")
NS_PER_S = 1_000_000_000
INTERVAL_NS = NS_PER_S
# How late an emulated machine may be: an interval is closed, a report is written
LATE_NS = NS_PER_S


def show(*words):
    """Figures, for people."""
    print("#", *words)


def parsed(s, name):
    try:
        return json.loads(s.text(name))
    except ValueError as error:
        raise Failure(f"{name}: {error}") from error


def closing(s, name):
    """The closing report of a job."""
    return parsed(s, f"{name}.json")


def counters(report):
    return {counter["name"]: counter for counter in report["counters"]}


def moved(s, truth, name, *suffixes):
    """Bytes by counter of the programs of a job."""
    found = {}
    for line in s.truth(truth).lines:
        if line["name"] in (name, *(f"{name}-{suffix}" for suffix in suffixes)):
            counter = s.wiring.slots[line["slot"]]
            found[counter] = found.get(counter, 0) + line["bytes"]
    return found


def moved_by(s, name):
    """All that a job moved."""
    return moved(s, "truth" if name == "delta" else "truth.three", name, "step")


def metrics(s, name):
    """Samples of a page of metrics by name and labels."""
    found = {}
    for line in s.text(name).splitlines():
        match = re.fullmatch(r"([a-z0-9_:]+)(?:\{(.*)\})? (\S+)(?: \S+)?", line)
        if match:
            found[match[1], match[2] or ""] = float(match[3])
    return found


# --- the cluster itself


@test("slurm")
def slurm_ran_all_jobs(s):
    rows = [line.split("|") for line in s.text("sacct").splitlines()[1:]]
    states = {row[1]: row[2:] for row in rows}
    expect_equal(states, {name: ["COMPLETED", "0:0"] for name in (*ALL, "last")}, "jobs")


@test("slurm")
def three_ran_at_once_and_one_waited(s):
    started, ended = ({name: s.number(f"{name}.{what}") for name in THREE} for what in ("started", "ended"))
    both = min(ended.values()) - max(started.values())
    require(both > 10 * NS_PER_S, f"all three ran for {both} ns only")
    require(s.number("last.started") > max(ended.values()), "the last one did not wait")
    cpus = {s.number(f"{name}.cpu") for name in THREE}
    expect_equal(len(cpus), 3, f"CPUs ({cpus})")


# --- closing reports


@test("slurm")
def each_is_closed_and_whole(s):
    for name in THREE:
        report = closing(s, name)
        job = report["job"]
        expect_equal((job["scheduler"], job["id"], job["name"]), ("slurm", s.text(f"{name}.id").strip(), name), "job")
        expect_equal((report["state"], report["late_start"], report["gaps"]), ("ended", False, []), name)
        require(job["cgroup"]["path"].endswith(f"/job_{job['id']}"), f"{name}: cgroup {job['cgroup']}")


@test("slurm")
@estimate
def durations_are_those_of_slurm(s):
    """To a second, and Slurm tells whole ones. The cgroup is made a second or two after sacct's Start."""
    times = {line.split("|")[0]: line.split("|")[1:] for line in s.text("sacct.times").splitlines()}
    for name in THREE:
        report = closing(s, name)
        elapsed, start = (int(word) for word in times[name])
        begun = datetime.datetime.fromisoformat(report["start_time"].replace("Z", "+00:00")).timestamp()
        differs = report["duration_ns"] / NS_PER_S - elapsed
        show(f"slurm: {name} begins {begun - start:.2f} s after sacct's Start and lasts {differs:+.2f} s more")
        expect(abs(differs) <= 2, f"{name}: lasts {differs:+.2f} s more than by sacct")


@test("slurm")
@estimate
def bytes_are_those_of_its_programs(s):
    found = []
    for name in THREE:
        report = counters(closing(s, name))
        for counter, truth in moved_by(s, name).items():
            found.append((f"{name} {counter}", report[counter]["value"] / truth - 1))
    show("slurm:", ", ".join(f"{name} {error:+.4f}" for name, error in found))
    for name, error in found:
        expect(abs(error) <= 0.1, f"{name}: off by {error:.4f}")


@test("slurm")
@estimate
def bars_hold(s):
    for name in THREE:
        report = counters(closing(s, name))
        for counter, truth in moved_by(s, name).items():
            low, high = report[counter]["low"], report[counter]["high"]
            expect(low <= truth <= high, f"{name}: {counter} {low} to {high}, truth {truth}")


@test("slurm")
@estimate
def steps_have_what_they_moved(s):
    for name in THREE:
        steps = {step["step"]: step for step in closing(s, name)["steps"]}
        require({"batch", "0"} <= set(steps), f"{name}: steps {sorted(steps)}")
        for step, program in (("batch", name), ("0", f"{name}-step")):
            truth = moved(s, "truth.three", program)
            parts = {part["counter"]: part["value"] for part in steps[step]["counters"]}
            for counter, count in truth.items():
                expect_close(parts[counter], count, 0.15, f"{name}, step {step}: {counter}")


@test("slurm")
def steps_are_parts_of_the_job(s):
    for name in ALL:
        report = closing(s, name)
        whole = counters(report)
        sums = {}
        for step in report["steps"]:
            for part in step["counters"]:
                sums[part["counter"]] = sums.get(part["counter"], 0) + part["value"]
        for counter, count in sums.items():
            require(count <= whole[counter]["value"], f"{name}: {counter}: steps have {count}")


@test("slurm")
def parts_add_up_to_the_counters(s):
    """Of every job: it, the others and what has no owner are all that the machine counted."""
    for name in ALL:
        for counter in closing(s, name)["counters"]:
            machine = counter["machine"]
            what = f"{name}: {counter['name']}"
            expect_equal(counter["value"] + counter["others"] + counter["unattributed"], machine["value"], what)
            expect_equal(counter["value"] + counter["others"], machine["attributed"], what)
            expect_equal(sum(machine["unattributed"].values()), counter["unattributed"], what)


@test("slurm")
def reports_are_there_before_the_next_job(s):
    start = s.number("last.started")
    for name in THREE:
        (written,) = (float(line) for line in s.text(f"{name}.written").splitlines())
        late = written * NS_PER_S - s.number(f"{name}.ended")
        show(f"slurm: report of {name} after {late / 1e6:.0f} ms, {(start - written * NS_PER_S) / 1e6:.0f} ms before the next job")
        require(written * NS_PER_S < start, f"{name}: the next job started {start - written * NS_PER_S} ns earlier")


# --- other ways to ask


@test("slurm")
def the_command_says_the_same(s):
    for name in ALL:
        expect_equal(s.status(f"{name}-job"), 0, f"{name}: exit status")
        expect_equal(parsed(s, f"{name}-job.out"), closing(s, name), f"{name}: t410trace job --json")
        expect_equal(s.status(f"{name}-table"), s.status(f"{name}-job"), f"{name}: exit status of the table")
        require(re.search(rf"\b{s.text(f'{name}.id').strip()}\b", s.text(f"{name}-table.out")), f"{name}: the table")


@test("slurm")
def the_list_has_all(s):
    expect_equal(s.status("jobs"), 0, "exit status")
    listed = {job["job"]["id"]: job for job in parsed(s, "jobs.out")["jobs"]}
    for name in THREE:
        report, job = closing(s, name), listed[s.text(f"{name}.id").strip()]
        expect_equal((job["state"], job["end_ns"]), ("ended", report["end_ns"]), name)
        values = {key: metric["value"] for key, metric in report["metrics"].items()}
        expect_equal(job["metrics"], values, f"{name}: metrics")


@test("slurm")
def slurms_database_has_the_account(s):
    """As sacct prints it, whether read by t410trace or by anything else."""
    for name in ALL:
        record = s.text(f"{name}.record").strip()
        require(re.fullmatch(r"t4j1l:[a-z2-7]+=*", record), f"{name}: AdminComment is {record[:80]!r}")
        require(len(record) < 1024 or name != "delta", f"{name}: a record of {len(record)} bytes")
        expect_equal(s.status(f"{name}-decoded"), 0, f"{name}: exit status")
        report, decoded = closing(s, name), parsed(s, f"{name}-decoded.out")
        show(f"slurm: record of {name}: {len(record)} bytes")
        expect_equal((decoded["j"], decoded["st"]), (report["job"]["id"], report["state"]), f"{name}: the record")
        for key, metric in (("mr", "mem_read_bytes"), ("mw", "mem_write_bytes")):
            expect_equal(decoded["m"][key][0], report["metrics"][metric]["value"], f"{name}: {metric} of the record")


@test("slurm")
def metrics_are_the_machines(s):
    """Only the traffic programs cause CPU bytes: what was counted since the daemon began. What it
    books to jobs, to others and to nobody is all of it."""
    found, truth = metrics(s, "metrics"), s.truth("truth.three").counters()
    require(any(truth.values()), "no traffic")
    for (name, labels), value in found.items():
        match = re.fullmatch(r'socket="(\d)",source="cpu",direction="(read|write)",destination="any"', labels)
        if name == "t410trace_memory_bytes_total" and match:
            counter = f"ucf{match[1]}/mem_bytes_{'rd' if match[2] == 'read' else 'wr'}/src_loc_cpu=1"
            expect_equal(value, truth.pop(counter, 0), counter)
            parts = sum(
                part
                for (kind, more), part in found.items()
                if kind in ("t410trace_memory_attributed_bytes_total", "t410trace_memory_unattributed_bytes_total")
                and more.startswith(labels)
            )
            expect_equal(parts, value, f"{counter}: parts")
    expect_equal(truth, {}, "counters that are not in the metrics")


@test("slurm")
def prometheus_accepts_the_metrics(s):
    require(shutil.which("promtool"), "no promtool: make deps installs it")
    for name in ("metrics", "metrics.later"):
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=s.text(name), capture_output=True, text=True, check=False
        )
        expect_equal((done.returncode, done.stdout + done.stderr), (0, ""), f"promtool about {name}")


# --- kill -9

# Times of a page are told to the millisecond
PAGE_NS = 2_000_000
# A window of counting, which belongs to the interval in which it ends, and has to wait for a CPU
EDGE_NS = 100_000_000


def only_gap(s):
    report = closing(s, "delta")
    expect_equal((report["state"], len(report["gaps"])), ("ended", 1), "state and gaps")
    return report["gaps"][0]


def last_page(s):
    """The interval that the daemon had closed before it was killed, and what has to be added to its
    times to have those since 1970."""
    page = parsed(s, "last.page")
    start = datetime.datetime.fromisoformat(page["interval"]["start_time"].replace("Z", "+00:00"))
    return page["interval"], round(start.timestamp() * 1000) * 1_000_000 - page["interval"]["start_ns"]


def of_killed(s):
    """Programs of the job, and the bytes that the machine counted in its intervals: only these
    programs made that counter grow."""
    ((name, truth),) = moved_by(s, "delta").items()
    return s.truth().named("delta"), truth, counters(closing(s, "delta"))[name]


@test("slurm")
def the_killed_daemon_lost_no_interval_that_it_had_closed(s):
    """The one that ran is lost, and the gap is as long as nobody looked."""
    gap, (interval, offset) = only_gap(s), last_page(s)
    killed, dead, restarted = (s.number(when) for when in ("killed", "dead", "restarted"))
    saved = interval["end_ns"] + offset
    require(saved - PAGE_NS <= gap["start_ns"], f"an interval ended at {saved}, the gap begins at {gap['start_ns']}")
    require(gap["start_ns"] <= dead, f"the gap begins at {gap['start_ns']}, the daemon was dead at {dead}")
    require(killed < gap["end_ns"] <= restarted, f"the gap ends at {gap['end_ns']}, the daemon was back at {restarted}")
    expect_equal(closing(s, "delta")["gap_ns"], gap["duration_ns"], "length of gaps")
    expect_equal(gap["end_ns"] - gap["start_ns"], gap["duration_ns"], "length of the gap")


@test("slurm")
def bytes_outside_of_the_gap_are_in_the_books(s):
    """Those before the last interval that was closed, and those after the daemon was back."""
    lines, truth, found = of_killed(s)
    before, back = last_page(s)[0]["start_ns"] - LATE_NS, s.number("back")
    early = sum(line["bytes"] for line in lines if line["end_ns"] <= before)
    late = sum(line["bytes"] for line in lines if line["start_ns"] >= back)
    require(early and late, f"{early} bytes before, {late} bytes after: the test shows nothing")
    counted = found["machine"]["value"]
    require(early + late <= counted <= truth, f"{counted} bytes were counted, expected {early + late} to {truth}")
    require(found["value"] <= counted, f"{found['value']} of {counted} bytes")


@test("slurm")
@estimate
def the_killed_daemon_lost_what_the_gap_says(s):
    lines, truth, found = of_killed(s)
    gap, (_, offset) = only_gap(s), last_page(s)
    start, end = gap["start_ns"] - offset - EDGE_NS, gap["end_ns"] - offset + EDGE_NS
    meanwhile = sum(line["bytes"] for line in lines if line["end_ns"] > start and line["start_ns"] < end)
    missing = truth - found["machine"]["value"]
    length, early = gap["duration_ns"] / 1e9, (s.number("dead") - gap["start_ns"]) / 1e9
    show(f"slurm: {missing} bytes are missing, {meanwhile} were moved in the gap of {length:.3f} s, {early:.3f} s of it before the end")
    expect(missing <= meanwhile, f"{missing} bytes are missing, {meanwhile} were moved in the gap")
    expect(early * 1e9 <= INTERVAL_NS + LATE_NS, f"the gap begins {early:.3f} s before the end of the daemon")
    expect_close(found["value"], found["machine"]["value"], 0.1, "its part of what was counted")


@test("slurm")
def the_daemon_ends_well(s):
    expect_equal(s.status("serve"), 0, "exit status")
