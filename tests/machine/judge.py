#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare what t410trace reported in the virtual T410 with what was true.

judge.py FOLDER... [-- SCENARIO...]: FOLDER/SCENARIO holds what guest.sh left, and that of further
folders what later runs left. Prints a line per test, then the counts. Exits with 1 when a test
failed or none was made.
judge.py --again FOLDER... [-- SCENARIO...]: only scenarios that deserve another run, and why.
"""

import argparse
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys

import judge_destinations
import judge_devices
import judge_drivers
import judge_esp
import judge_faults
import judge_fleet
import judge_gpus
import judge_latency
import judge_links
import judge_operation
import judge_packages
import judge_shapes
import judge_slurm
import judge_stat
import judge_systemd
import judge_ticks
import judge_view
from known import Known
from results import (
    READ0,
    READ1,
    WRITE0,
    WRITE1,
    Exact,
    Failure,
    Lost,
    Scenario,
    Wiring,
    by_pid,
    estimate,
    expect,
    expect_close,
    expect_equal,
    expect_share,
    inside,
    require,
    tests_into,
)

HERE = pathlib.Path(__file__).resolve().parent
CHECK_REPORT = HERE.parent / "check-report"
TESTS = {}
test = tests_into(TESTS)
# Scenarios whose traffic file names all events
KNOWN = {
    **judge_stat.MACHINES,
    **judge_devices.MACHINES,
    **judge_gpus.MACHINES,
    **judge_links.MACHINES,
}
# Scenarios whose machine or whose guest's programs are others
OTHERS = {
    **judge_fleet.SHAPES,
    **judge_slurm.SHAPES,
    **judge_systemd.SHAPES,
    **judge_operation.SHAPES,
    **judge_packages.SHAPES,
    **judge_drivers.MACHINES,
    **judge_shapes.SHAPES,
    **judge_esp.SHAPES,
}
# Part of the time that programs had to wait from which on the host is to blame
STARVED = 0.15
# Shapes of the machine, each with what its slots stand for
TRAFFIC = {"t410": "traffic.conf", "grace": "traffic-grace.conf"}


def machine_of(scenario):
    """Shape and traffic. Names that begin with that of a shape are scenarios for it, others
    for the T410; tests of stat and of devices have traffic of their own, those of Slurm and systemd other
    programs."""
    if scenario in KNOWN or scenario in OTHERS:
        return KNOWN.get(scenario) or OTHERS[scenario]
    shape = scenario.split("_")[0]
    shape = shape if shape in TRAFFIC else "t410"
    return shape, TRAFFIC[shape]


def wiring_of(scenario):
    """What counters must show."""
    return (Known if scenario in KNOWN else Wiring)(HERE / machine_of(scenario)[1])


def by_tid(tid):
    return lambda row: row["tid"] == tid


def leaf_in(path):
    return lambda row: row["leaf"] and row["cgroup"]["path"] == path


def is_leaf(row):
    return row["leaf"]


def any_row(row):
    return True


# --- conservation: everything at once


@test("grace_conservation")
@test("conservation")
def every_counter_is_exact(s):
    found, truth = s.reports("all").counters(), s.truth().counters()
    expect(len(truth) >= 7, f"only {len(truth)} counters had traffic")
    for name, count in found.items():
        if name not in s.wiring.flows:
            expect_equal(count, truth.get(name, 0), name)


@test("conservation")
@estimate
def background_flows_are_rate_times_time(s):
    reports = s.reports("all")
    for name, rate in s.wiring.flows.items():
        due = rate * sum(reports.counter_field(name, "enabled_ns")) / 1e9
        error = abs(reports.counter(name) - due) / due
        expect(error < 0.001, f"{name}: {reports.counter(name)}, expected {due:.0f}")


@test("conservation")
def device_and_remote_bytes_have_no_owner(s):
    reports = s.reports("all")
    for reason, source in (("device", "src_loc_noncpu"), ("remote", "src_rem")):
        for name, count in reports.counters().items():
            if name.endswith(f"{source}=1") and count:
                expect_equal(reports.unattributed(name), {reason: count}, name)
                expect_equal(reports.share(name, any_row)["value"], 0, f"{name} in rows")


@test("grace_conservation")
@test("conservation")
def nothing_is_lost(s):
    s.expect_complete("all")
    s.reports("all").expect_nothing_lost()


@test("grace_conservation")
@test("conservation")
@estimate
def cpus_are_somewhere_all_the_time(s):
    reports = s.reports("all")
    length = sum(report["interval"]["duration_ns"] for report in reports.each)
    for socket in (0, 1):
        # A socket's interval begins and ends with a reading of its counters, which comes
        # late when the emulated CPU has to wait for a real one.
        expect_close(reports.on_socket(socket), 2 * length, 0.03, f"CPU time of socket {socket}")


@test("grace_conservation")
@test("conservation")
def intervals_follow_each_other(s):
    previous = None
    for report in s.reports("all").each:
        if previous:
            expect_equal(report["interval"]["start_ns"], previous["interval"]["end_ns"], "start")
            expect_equal(report["sequence"], previous["sequence"] + 1, "sequence")
        previous = report


# --- one program


@test("alone")
@estimate
def its_row_has_all(s):
    reports, line = s.reports("all"), s.truth().named("alone")[0]
    share = reports.share(READ1, by_pid(line["pid"]))
    expect_equal(reports.counter(READ1), line["bytes"], "the counter")
    # Kernel threads of the socket own the rest, by their CPU time in these windows.
    expect_share(share["value"], line["bytes"], 0.97, "its row")
    inside(share, line["bytes"], "its row")


@test("alone")
@estimate
def its_cpu_time_is_there(s):
    reports, line = s.reports("all"), s.truth().named("alone")[0]
    expect_close(reports.on_cpu(by_pid(line["pid"])), line["cpu_before_ns"] + line["cpu_ns"], 0.03, "CPU time")


@test("turns")
@estimate
def the_others_bytes_are_not_in_its_row(s):
    reports, truth = s.reports("first"), s.truth()
    line = truth.named("first")[0]
    share = reports.share(READ1, by_pid(line["pid"]))
    expect_share(share["value"], line["bytes"], 0.95, "its row")
    # bounds allow for the noise that the counter may have
    expect_share(share["high"] / 1.02, line["bytes"], 0.95, "the upper bound of its row")
    rows = reports.share(READ1, any_row)["value"]
    expect(rows <= line["bytes"], f"rows have {rows} bytes, the followed program moved {line['bytes']}")


@test("turns")
@estimate
def the_others_bytes_are_unattributed(s):
    reports, truth = s.reports("first"), s.truth()
    reasons = reports.unattributed(READ1)
    expect_equal(reports.counter(READ1), truth.counter(READ1), "the counter")
    # How many bytes are somebody's is an estimate, how many there are is not.
    parts = reports.share(READ1, any_row)["value"] + sum(reasons.values())
    expect_equal(parts, truth.counter(READ1), "rows and unattributed bytes")
    expect(set(reasons) <= {"other", "idle", "background"}, f"reasons {sorted(reasons)}")
    expect(reasons.get("background", 0) <= 0.01 * truth.counter(READ1), f"background: {reasons}")
    expect(
        reasons.get("other", 0) >= truth.bytes("second"),
        f"other: {reasons.get('other', 0)}, expected {truth.bytes('second')}",
    )


# --- three programs that share a socket

TENANTS = ("light", "medium", "heavy")


def tenant_lines(s):
    return [s.truth().named(name)[0] for name in TENANTS]


def error_of(parts, lines):
    """Sum of the errors by the sum of the truth."""
    total = sum(line["bytes"] for line in lines)
    return sum(abs(part - line["bytes"]) for part, line in zip(parts, lines)) / total


@test("tenants")
@estimate
def they_differ_and_take_turns_at_random(s):
    """Without this the other tests would be easy."""
    reports, lines = s.reports("all"), tenant_lines(s)
    expect(len(reports.each) >= 10, f"{len(reports.each)} reports of a second")
    both = min(line["end_ns"] for line in lines) - max(line["start_ns"] for line in lines)
    expect(both > 9e9, f"all of them ran for {both} ns only")
    rates = [line["bytes"] / line["cpu_ns"] for line in lines]
    for one, other in zip(rates, rates[1:]):
        expect_close(other / one, 10, 0.01, "difference of two tenants")
    for line in lines:
        expect(1e9 < line["cpu_ns"] < 9e9, f"{line['name']} had {line['cpu_ns']} ns of CPU time")
    times = [reports.on_cpu(by_pid(line["pid"])) for line in lines]
    naive = [time * sum(line["bytes"] for line in lines) / sum(times) for time in times]
    expect(error_of(naive, lines) > 0.5, f"CPU time says nearly the same: {error_of(naive, lines):.3f}")


@test("weights")
@test("tenants")
def no_byte_is_invented_or_lost(s):
    reports, truth = s.reports("all"), s.truth()
    expect_equal(reports.counter(READ1), truth.counter(READ1), "the counter")
    parts = reports.share(READ1, any_row)["value"] + sum(reports.unattributed(READ1).values())
    expect_equal(parts, truth.counter(READ1), "rows and unattributed bytes")
    s.expect_complete("all")
    reports.expect_nothing_lost()


@test("tenants")
@estimate
def each_has_the_bytes_it_moved(s):
    reports, lines = s.reports("all"), tenant_lines(s)
    parts = [reports.share(READ1, by_pid(line["pid"]))["value"] for line in lines]
    found = ", ".join(f"{line['name']} {part / line['bytes']:.3f}" for part, line in zip(parts, lines))
    error = error_of(parts, lines)
    expect(error <= 0.05, f"error {error:.4f}, at most 0.05; shares of what they moved: {found}")


@test("weights")
@test("tenants")
@estimate
def their_bars_hold(s):
    reports = s.reports("all")
    for line in tenant_lines(s):
        inside(reports.share(READ1, by_pid(line["pid"])), line["bytes"], line["name"])


# --- what programs do, measured by an event of the cores


@test("weights")
@estimate
def the_event_is_used_and_named(s):
    reports = s.reports("all")
    windows, weighed = reports.quality("windows"), reports.quality("weight_windows")
    expect_equal({one["quality"]["weights"] for one in reports.each}, {"cpu_cycles"}, "measured by")
    # In the others nobody ran.
    expect(weighed > 0.8 * windows, f"weights in {weighed} of {windows} windows")
    expect(reports.quality("fallback_windows") == 0, "some windows were split by CPU time")
    require("activity measured by cpu_cycles" in s.words("all.err"), s.words("all.err"))


@test("weights")
@estimate
def all_are_near_the_truth(s):
    reports, lines = s.reports("all"), tenant_lines(s)
    parts = [reports.share(READ1, by_pid(line["pid"]))["value"] for line in lines]
    expect(error_of(parts, lines) <= 0.1, f"error {error_of(parts, lines):.4f}, at most 0.1")


@test("weights")
def events_that_do_not_count_are_refused(s):
    for name, text in (("still", "stands still"), ("unknown", "cpu_cycles")):
        expect_equal(s.status(name), 1, f"{name}: exit status")
        expect(text in s.words(f"{name}.err"), f"{name}: {s.words(f'{name}.err')!r}")


@test("weights")
def auto_says_why_not(s):
    s.expect_complete("auto")
    text = s.words("auto.err")
    expect(re.search(r"activity measured by CPU time: no event .* \(MIDR 0x", text), f"{text!r}")


@test("weights")
def they_are_in_a_recording(s):
    for name, event in (("report", "cpu_cycles"), ("time", "cpu-time")):
        s.expect_complete(name)
        (report,) = (json.loads(line) for line in s.text(f"{name}.out").splitlines())
        expect_equal(report["quality"]["weights"], event, f"{name}: measured by")


@test("short")
@estimate
def a_command_of_five_milliseconds_is_in_the_books(s):
    for name in ("short1", "short2", "short3"):
        reports, line = s.reports(name), s.truth().named(name)[0]
        share = reports.share(READ1, by_pid(line["pid"]))
        expect(line["end_ns"] - line["start_ns"] < 50_000_000, f"{name} was not short")
        expect_equal(reports.counter(READ1), line["bytes"], f"{name}: the counter")
        expect_share(share["value"], line["bytes"], 0.6, f"{name}: its row")
        inside(share, line["bytes"], f"{name}: its row")


@test("short")
def the_commands_status_is_returned(s):
    for name in ("short1", "short2", "short3"):
        expect_equal(s.status(name), 7, f"{name}: exit status")


# --- beside perf


@test("perf")
def totals_agree(s):
    counters, perf, truth = s.reports("all").counters(), s.perf(), s.truth()
    expect_equal(len(perf), 2, "events of perf")
    for event, (count, percent) in perf.items():
        short = event.removeprefix("nvidia_ucf_pmu_").rstrip("/").replace(",", "/")
        name = "ucf" + short
        expect_equal(percent, 100.0, f"{event}: time it ran in percent")
        expect(count > 0, f"{event}: perf saw no traffic")
        expect_equal(counters[name], count, f"{name} beside perf")
        expect_equal(truth.counter(name), count, f"the truth of {name} beside perf")


@test("crowded")
def counters_are_shared(s):
    reports = s.reports("all")
    ran, enabled = (sum(reports.counter_field(READ0, key)) for key in ("running_ns", "enabled_ns"))
    expect(0 < ran < enabled, f"counted in {ran} of {enabled} ns")


@test("crowded")
@estimate
def turns_are_short(s):
    reports = s.reports("all")
    ran, enabled = (sum(reports.counter_field(READ0, key)) for key in ("running_ns", "enabled_ns"))
    expect(0.05 < ran / enabled < 0.95, f"counted in {ran} of {enabled} ns")


@test("crowded")
@estimate
def constant_traffic_is_scaled_well(s):
    """Events lose the moments of being switched on, which are long on emulated CPUs."""
    reports = s.reports("all")
    for name, rate in s.wiring.flows.items():
        due = rate * sum(reports.counter_field(name, "covered_ns")) / 1e9
        expect_close(reports.counter(name), due, 0.05, name)


@test("crowded")
@estimate
def bursts_are_scaled_roughly(s):
    """One burst in a millisecond of counting stands for those in the rest of a window."""
    expect_close(s.reports("all").counter(READ0), s.truth().counter(READ0), 0.3, READ0)


@test("crowded")
def perf_keeps_its_counters(s):
    for event, (count, percent) in s.perf().items():
        expect_equal(percent, 100.0, f"{event}: time it ran in percent")
    counts = [count for event, (count, _) in s.perf().items() if "mem_bytes_rd,src_loc_cpu" in event]
    expect_equal(counts, [s.truth().counter(READ0)], "perf's own count")


# --- rows


@test("tree")
def leaves_add_up_to_the_counters(s):
    reports, truth = s.reports("all"), s.truth()
    for name in (READ0, WRITE0, READ1, WRITE1):
        total = reports.share(name, is_leaf)["value"] + sum(reports.unattributed(name).values())
        expect(truth.counter(name) > 0, f"{name}: no traffic")
        expect_equal(total, truth.counter(name), name)


@test("tree")
@estimate
def parents_include_their_children(s):
    reports, truth = s.reports("all"), s.truth()
    for name, program in ((READ0, "left"), (WRITE0, "deep")):
        row = reports.share(name, lambda row: row["cgroup"]["path"] == "/tree/left" and not row["leaf"])
        leaves = [reports.share(name, leaf_in(path))["value"] for path in ("/tree/left", "/tree/left/deep")]
        # Both programs run at once on this socket, one reads and the other writes.
        own = leaves[program == "deep"]
        expect(own > 0.8 * truth.bytes(program), f"{name}: {leaves} in leaf rows")
        expect_equal(row["value"], sum(leaves), f"{name} of /tree/left")


@test("tree")
@estimate
def bytes_are_in_the_right_cgroups(s):
    reports, truth = s.reports("all"), s.truth()
    for path, name, program in (
        ("/tree/left/deep", WRITE0, "deep"),
        ("/tree/right", READ1, "right"),
        ("/gone", WRITE1, "gone"),
    ):
        share = reports.share(name, leaf_in(path))
        inside(share, truth.bytes(program), path, 0.1)


@test("tree")
def a_removed_cgroup_keeps_its_name(s):
    line = s.truth().named("gone")[0]
    # The summary was made after the cgroup had been removed.
    rows = [
        row
        for report in s.reports("all").summaries
        for row in report["workloads"]
        if row["cgroup"]["id"] == line["cgroup_id"]
    ]
    expect(rows, f"cgroup {line['cgroup_id']} has no row in the summary")
    for row in rows:
        expect_equal(row["cgroup"]["path"], "/gone", "path")


@test("tree")
def the_summary_is_the_sum_of_the_reports(s):
    reports = s.reports("all")
    expect_equal(len(reports.summaries), 1, "number of summaries")
    summary = {c["name"]: c["value"] for c in reports.summaries[0]["counters"]}
    expect_equal(summary, reports.counters(), "counters of the summary")


@test("moves")
@estimate
def cpu_time_follows_into_the_cgroup(s):
    reports, lines = s.reports("all"), s.truth().named("mover")
    expect_equal(len(lines), 16, "programs that ended")
    for line in lines:
        found = reports.on_cpu(leaf_in(line["cgroup"]))
        # More is right: a calibration comes before the program's own account.
        expect(found > 0.95 * line["cpu_ns"], f"{line['cgroup']}: {found} of {line['cpu_ns']} ns")


@test("cgroup")
def only_the_cgroup_has_rows(s):
    paths = {row["cgroup"]["path"] for row in s.reports("only").rows(any_row)}
    expect_equal(paths, {"/only", "/only/below"}, "cgroups of the rows")


@test("cgroup")
@estimate
def the_rest_is_other(s):
    reports, truth = s.reports("only"), s.truth()
    followed = truth.bytes("in") + truth.bytes("below")
    rows = reports.share(READ1, any_row)
    expect_share(rows["value"], followed, 0.9, "rows")
    expect_equal(reports.counter(READ1), truth.counter(READ1), "the counter")
    other = reports.unattributed(READ1).get("other", 0)
    expect(other >= truth.bytes("out"), f"other: {other}, expected {truth.bytes('out')} at least")


@test("threads")
@estimate
def each_thread_has_its_row(s):
    reports, lines = s.reports("threads"), s.truth().named("three")
    expect_equal(len({line["tid"] for line in lines}), 3, "number of threads")
    for line in lines:
        own = by_tid(line["tid"])
        expect(reports.rows(own), f"thread {line['tid']} has no row")
        expect_equal({row["pid"] for row in reports.rows(own)}, {line["pid"]}, "pid of a thread")
        # Both clocks are read at slightly different places of the scheduler.
        # The program's clock leaves out interrupts, which take long on an emulated CPU.
        expect_close(reports.on_cpu(own), line["cpu_before_ns"] + line["cpu_ns"], 0.25, f"CPU time of thread {line['tid']}")


@test("threads")
@estimate
def the_threads_have_the_bytes(s):
    reports, lines = s.reports("threads"), s.truth().named("three")
    sockets = reports.share(READ1, by_pid(lines[0]["pid"]))
    total = sum(line["bytes"] for line in lines)
    expect_equal(reports.counter(READ1), total, "the counter")
    inside(sockets, total, "rows of the threads")


@test("top")
def only_the_largest_rows(s):
    rows = re.findall(r"^ +(\d+)[* ] (\S+)", s.text("top.out"), re.MULTILINE)
    expect_equal(len(rows), 2, "number of rows")
    expect_equal(rows[0][1], "traffic", "the largest row")
    more = re.search(r"^\((\d+) more\)", s.text("top.out"), re.MULTILINE)
    expect(more, "no row for the others")
    every = re.findall(r"^ +(\d+)[* ] (\S+)", s.text("all.out"), re.MULTILINE)
    expect(len(every) > 2, "without --top there were no more rows")


@test("top")
def the_table_fits_80_columns(s):
    for line in s.text("all.out").splitlines():
        expect(len(line) <= 80, f"{len(line)} columns: {line}")


@test("busy")
@estimate
def a_process_that_never_sleeps_is_in_every_report(s):
    reports, pid = s.reports("busy"), s.number("busy.pid")
    full = [r for r in reports.each if r["interval"]["duration_ns"] > 250_000_000]
    expect(len(full) >= 6, f"{len(full)} full reports")
    for report in full:
        length = report["interval"]["duration_ns"]
        ns = sum(row["on_cpu_ns"] for row in report["workloads"] if row["pid"] == pid)
        # Sockets end their intervals a moment apart
        expect_close(ns, length, 0.1, f"report {report['sequence']}: CPU time of its interval")


@test("family")
@estimate
def children_are_followed(s):
    reports, truth = s.reports("family"), s.truth()
    for name in ("child", "grandchild"):
        line = truth.named(name)[0]
        share = reports.share(READ1, by_pid(line["pid"]))
        expect(line["pid"] != s.number("parent.pid"), f"{name} is the parent itself")
        # One begins when the other ends: in the window of both, bytes may be taken for the other's.
        expect_close(share["value"], line["bytes"], 0.1, name)


@test("family")
def the_run_ends_with_the_family(s):
    s.expect_complete("family")
    expect_equal(s.reports("family").counter(READ1), s.truth().counter(READ1), "the counter")


@test("family")
def exec_changes_the_name(s):
    names = [row["comm"] for row in s.reports("changes").rows(by_pid(s.number("changes.pid")))]
    expect_equal((names[0], names[-1]), ("sh", "traffic"), "first and last name")


PARTS = (
    judge_faults,
    judge_destinations,
    judge_devices,
    judge_drivers,
    judge_gpus,
    judge_latency,
    judge_links,
    judge_shapes,
    judge_esp,
    judge_fleet,
    judge_slurm,
    judge_stat,
    judge_systemd,
    judge_operation,
    judge_packages,
    judge_ticks,
    judge_view,
)
for part in PARTS:
    for scenario, functions in part.TESTS.items():
        TESTS.setdefault(scenario, []).extend(functions)


# --- of every scenario


def reports_are_valid(s):
    files = sorted(str(path) for path in s.folder.glob("*.json"))
    if not files:
        return
    check = subprocess.run(
        [CHECK_REPORT, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True
    )
    expect(check.returncode == 0, " / ".join(check.stdout.splitlines()[:3]))


COMPLAINT = re.compile(
    r"WARNING|BUG|Oops|Call trace|soft lockup|stall|Unable to handle|nvidia|ampere_mcu|hisi_|HISI0|arm-cmn|ARMHC|dwc_pcie|arm-cs-arch|cspmu|bpf|perf:",
    re.IGNORECASE,
)
# An emulated CPU may have to wait for a real one in the middle of an interrupt of the cores'
# counters, or of a piece of work that the kernel has put off: perf and the kernel's queues say that
# it took long.
SLOW_HOST = re.compile(r"perf: interrupt took too long|workqueue: \S+ hogged CPU for")


def the_kernel_has_nothing_to_say(s):
    """Lines since the scenario began."""
    log = (s.folder.parent / "kernel.log").read_text(encoding="utf-8", errors="replace")
    mark = "t410trace test: "
    parts = re.split(re.escape(mark), log)
    own = [part for part in parts if part.startswith(f"{s.folder.name}\n")]
    expect(own, "the kernel log has no mark of this scenario")
    remarks = judge_devices.REMARKS.get(s.folder.name)
    for line in own[0].splitlines()[1:]:
        known = SLOW_HOST.search(line) or remarks and remarks.search(line)
        expect(known or not COMPLAINT.search(line), line.strip())


def all_came_that_was_waited_for(s):
    """Whatever the scenario did after that, it was not what it is for."""
    path = s.folder / "in-vain"
    missed = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    require(not missed, f"waited in vain for: {'; '.join(missed)}")


def judge_one(folder, name, function):
    """What is wrong, None if nothing is; and whether another try may put it right."""
    try:
        function(Scenario(folder / name, wiring_of(name)))
    except Exact as failure:
        return str(failure), False
    except Lost as failure:
        return str(failure), True
    except Failure as failure:
        return str(failure), getattr(function, "estimate", False)
    except (KeyError, IndexError, ValueError, OSError, StopIteration) as error:
        return f"{type(error).__name__}: {error}", False
    return None, False


# Of every scenario. They take nearly all of the time, and are exact.
OF_ALL = [reports_are_valid, the_kernel_has_nothing_to_say, all_came_that_was_waited_for]


def tests_of(name):
    return [*OF_ALL, *TESTS[name]]


def attempts_of(folders, name, function):
    """What is wrong in each run of the scenario, and whether another may put it right."""
    return [judge_one(folder, name, function) for folder in folders if (folder / name).exists()]


def verdict_of(attempts):
    """What is wrong after all runs: an estimate has to be right in one of them, everything else in
    all."""
    wrong = [attempt for attempt in attempts if attempt[0] is not None]
    for why, may in wrong:
        if not may:
            return why, False
    return wrong[-1] if wrong and len(wrong) == len(attempts) else (None, False)


def starved(folder):
    """Part of the CPU time of the scenario's programs that they only seemed to have: the emulated
    CPU got none of the host's meanwhile, as they say themselves. None if they do not say."""
    lines = [json.loads(line) for path in folder.glob("truth*") for line in path.read_text().splitlines()]
    late, total = (sum(line[key] for line in lines if "late_ns" in line) for key in ("late_ns", "cpu_ns"))
    return late / total if total else None


def again(folders, names):
    """Scenarios that deserve another run, as "NAME: reason": nothing is wrong but estimates; and a
    third one only if the programs of a run so far were starved, or do not say."""
    for name in names:
        last = [folder / name for folder in folders if (folder / name).exists()]
        tried = [attempts_of(folders, name, function) for function in TESTS[name]]
        if all(verdict_of(attempts)[0] is None for attempts in tried):
            continue
        tried += [attempts_of(folders, name, function) for function in OF_ALL]
        wrong = [verdict for verdict in map(verdict_of, tried) if verdict[0] is not None]
        if not all(may for _, may in wrong) or len(last) < len(folders):
            continue
        part = max((part for part in map(starved, last) if part is not None), default=None)
        if len(folders) == 1 or part is None or part > STARVED:
            yield f"{name}: its programs had to wait in {'an unknown part' if part is None else f'{part:.0%}'} of their CPU time"


def judge(folders, names):
    """@folders: results of the first run, and of others of some of the scenarios."""
    counts = {"ok": 0, "not ok": 0}
    for name in names:
        for function in tests_of(name):
            label = f"{name}/{function.__name__.replace('_', '-')}"
            attempts = attempts_of(folders, name, function) or [judge_one(folders[0], name, function)]
            for number, (said, _) in enumerate(attempts, 1):
                if said is not None and len(attempts) > 1:
                    print(f"# attempt {number}: not ok {label}: {said}")
            why, _ = verdict_of(attempts)
            if why is None:
                counts["ok"] += 1
                print(f"ok {label}")
            else:
                counts["not ok"] += 1
                print(f"not ok {label}: {why}")
    return counts


def main():
    if sys.argv[1:] == ["--list"]:
        # The last word: not in "make check", see run.sh
        more = {*judge_gpus.MORE, *judge_links.MORE}
        more.update(judge_drivers.TESTS, judge_shapes.TESTS, judge_esp.TESTS)
        words = dict.fromkeys(more, "more")
        words.update(dict.fromkeys((*judge_fleet.TESTS, *judge_operation.TESTS, *judge_packages.TESTS), "alone"))
        for name in TESTS:
            print(*machine_of(name), name, *([words[name]] if name in words else []))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("words", nargs="+")
    # "--" is between folders and scenarios
    if sys.argv.count("--") > 1:
        parser.error("one -- is enough")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    folders, names = [pathlib.Path(word) for word in options.words], sys.argv[split + 1 :] or list(TESTS)
    if options.again:
        # Figures for people are printed with the verdict
        with contextlib.redirect_stdout(io.StringIO()):
            found = list(again(folders, names))
        print("".join(f"{line}\n" for line in found), end="")
        return 0
    counts = judge(folders, names)
    print(f"{counts['ok']} passed, {counts['not ok']} failed, 0 skipped")
    return 0 if counts["ok"] and not counts["not ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
