# SPDX-License-Identifier: GPL-2.0-only
"""Tests on PMUs in the shapes of other vendors' machines, which our own module makes; see judge.py.

Perf core and scheduler are real there, the driver is not. What is right comes from the programs:
slot n is what CPU n reads, slot 4 + n what it writes.
"""

import json
import re

from results import by_pid, estimate, expect, expect_close, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
MACHINE = ("t410,shapes", "shapes/traffic.conf")
SHAPES = {name: MACHINE for name in ("shapes_icelake", "shapes_granite", "shapes_zen4", "shapes_hotplug")}
LINE = 64
# Programs on all CPUs at once
ALL_PINNED = ("light0", "heavy0", "one1", "duty2", "one3")
# Of the windows in which they ran; 1.00 was seen
ALL_WEIGHED = 0.9
# Kind and number of PMUs that list must show, one for each socket that it counts; what check sees
PMUS = {
    "shapes_icelake": ({"imc_free": 8, "imc": 24}, "longest_lat_cache.miss, l2_trans.l2_wb; seen counting"),
    "shapes_granite": ({"imc": 24}, "longest_lat_cache.miss, l2_lines_out.non_silent; seen counting"),
    "shapes_zen4": ({"umc": 24}, "ls_any_fills_from_sys.dram_io_all; seen counting; writes are weighed"),
}


def where(slot):
    """Socket and direction of a slot's bytes"""
    return slot % 4 // 2, "write" if slot >= 4 else "read"


def truth_of(s, names=None):
    """Bytes by socket and direction, of all programs or those named"""
    totals = {}
    for line in s.truth().lines:
        if names is None or line["name"] in names:
            totals[where(line["slot"])] = totals.get(where(line["slot"]), 0) + line["bytes"]
    return totals


def counted(reports):
    """Bytes of a list of reports by socket and direction; halves of a channel are two counters"""
    totals = {}
    for report in reports:
        for counter in report["counters"]:
            require(counter["valid"], f"{counter['name']} has no data")
            key = counter["socket"], counter["direction"]
            totals[key] = totals.get(key, 0) + counter["value"]
    return {key: value for key, value in totals.items() if value}


@test("shapes_icelake", "shapes_granite", "shapes_zen4")
def list_has_each_box_of_each_die(s):
    expect_equal(s.status("list"), 0, "exit status")
    found = {}
    for pmu in json.loads(s.text("list.out"))["pmus"]:
        require(pmu["usable"], f"{pmu['name']}: {pmu['problem']}")
        if pmu["kind"] in PMUS[s.folder.name][0]:
            found[pmu["kind"]] = found.get(pmu["kind"], 0) + 1
    expect_equal(found, PMUS[s.folder.name][0], "PMUs")


@test("shapes_icelake", "shapes_granite", "shapes_zen4")
def check_sees_what_counts(s):
    expect_equal(s.status("check"), 0, "exit status")
    rows = {row["name"]: row for row in json.loads(s.text("check.out"))["checks"]}
    expect_equal(rows["pmus"]["status"], "ok", f"PMUs ({rows['pmus']['found']})")
    expect_equal(rows["weights"]["status"], "ok", f"weights ({rows['weights']['found']})")
    require(rows["weights"]["found"].startswith(PMUS[s.folder.name][1]), rows["weights"]["found"])


@test("shapes_icelake", "shapes_zen4")
def every_byte_is_counted(s):
    s.expect_complete("all")
    expect_equal(counted(s.reports("all").each), truth_of(s, ALL_PINNED), "bytes by socket and direction")


def perf_of(s):
    """What perf counted: counts by PMU (without number) and terms, and what did not count all the time"""
    counts, partly = {}, []
    for line in s.text("perf.csv").splitlines():
        match = re.fullmatch(r"(\d+),,(\w+?)\d+/(.*)/,\d+,([\d.]+),,", line)
        if match:
            key = match[2], match[3]
            counts[key] = counts.get(key, 0) + int(match[1])
            if float(match[4]) != 100.0:
                partly.append(line)
    require(counts, "perf counted nothing")
    return counts, partly


@test("shapes_icelake", "shapes_zen4")
def perf_counts_the_same(s):
    counts, partly = perf_of(s)
    expect_equal(partly, [], "events of perf that did not count all of the time")
    reads, writes = (
        sum(value for (_, direction), value in truth_of(s, ALL_PINNED).items() if direction == way) for way in ("read", "write")
    )
    for (pmu, terms), count in counts.items():
        is_write = re.search(r"umask=0x21|umask=0x30|rdwrmask=2", terms)
        expect_equal(count * LINE, writes if is_write else reads, f"{pmu} {terms}")


@test("shapes_icelake", "shapes_zen4")
def weights_are_the_events_of_these_cores(s):
    """Where hardly anything ran, CPU time stands in for them: while perf starts, which may take
    longer than all programs."""
    events = PMUS[s.folder.name][1].split(";")[0].replace(" ", "")
    reports = s.reports("all")
    found = {report["quality"]["weights"] for report in reports.each}
    expect(events in found <= {events, "cpu-time"}, f"activity is measured by {found}")
    begun, ended = (pick(line[key] for line in s.truth().lines if line["name"] in ALL_PINNED)
                    for pick, key in ((min, "start_ns"), (max, "end_ns")))
    busy = [report["quality"] for report in reports.each
            if begun <= report["interval"]["start_ns"] and report["interval"]["end_ns"] <= ended]
    windows, weighed = (sum(quality[key] for quality in busy) for key in ("windows", "weight_windows"))
    expect(windows and weighed >= ALL_WEIGHED * windows, f"{weighed} of {windows} windows by events while programs ran")


@test("shapes_icelake", "shapes_zen4")
@estimate
def who_shares_a_cpu_is_told_apart_by_them(s):
    """Ten times as many bytes for each millisecond: CPU time alone says nothing of that."""
    reports, truth = s.reports("all"), s.truth()
    for name in ("light0", "heavy0"):
        rows = reports.rows(by_pid(truth.named(name)[0]["pid"]))
        value = sum(share["value"] for row in rows for share in row["shares"])
        expect_close(value, truth.bytes(name), 0.1, f"{name}: its rows")


@test("shapes_granite")
def each_command_counts_every_byte(s):
    """Rows are of a process, a cgroup, a job; counters are those of the machine."""
    rows = {
        "followed": by_pid(s.truth().named("followed")[0]["pid"]),
        "grouped": lambda row: row["cgroup"]["path"] == "/shapes/one",
        "jobbed": lambda row: "job_12" in row["cgroup"]["path"],
    }
    for name, is_its in rows.items():
        reports = s.reports(name)
        s.expect_complete(name)
        expect_equal(counted(reports.each), truth_of(s, (name,)), f"{name}: bytes by socket and direction")
        expect(reports.rows(is_its), f"{name}: it has no row")


@test("shapes_granite")
def a_recording_has_the_same(s):
    expect_equal((s.status("record"), s.status("report")), (0, 0), "exit status")
    (report,) = (json.loads(line) for line in s.text("report.out").splitlines())
    expect_equal(counted([report]), truth_of(s, ("recorded",)), "bytes by socket and direction")


@test("shapes_granite")
def stat_shows_the_controllers(s):
    """Each bandwidth by the time for which it is known: readings may wait for the next report."""
    total = 0
    for report in s.reports("stat").each:
        for metric in report["metrics"]:
            if metric["valid"] and metric["name"].endswith("_bandwidth"):
                total += metric["value"] * metric["covered_ns"]
    expect_close(total, sum(truth_of(s, ("measured",)).values()), 1e-6, "bytes of all bandwidths")


@test("shapes_granite")
def the_module_stays_while_it_counts(s):
    expect(s.status("rmmod") != 0, "it was removed under a run")
    expect("temporarily unavailable" in s.text("rmmod.out"), s.text("rmmod.out"))


@test("shapes_icelake", "shapes_granite", "shapes_zen4", "shapes_hotplug")
def nothing_keeps_the_module_afterwards(s):
    expect_equal(s.text("left").strip(), "0", "modules left")


@test("shapes_zen4")
def the_daemon_counts_the_same(s):
    expect_equal(s.status("serve"), 0, "exit status")
    values = re.findall(r"^t410trace_memory_bytes_total\{.*\} (\d+)", s.text("metrics"), re.M)
    expect_equal(sum(map(int, values)), sum(truth_of(s, ("served",)).values()), "bytes of all counters")


@test("shapes_zen4")
def a_fabric_with_too_few_counters_takes_turns(s):
    """Reads and writes do not fit together. Each counts a part of the time, which is told."""
    ratios = [c["running_ratio"] for r in s.reports("df").each for c in r["counters"] if c["enabled_ns"]]
    expect(ratios and max(ratios) < 0.95, f"running ratios {ratios}")
    expect("pinned" not in s.text("df.err"), s.text("df.err"))


@test("shapes_zen4")
@estimate
def what_took_turns_is_scaled(s):
    truth, found = truth_of(s, ("fabric",)), counted(s.reports("df").each)
    for key, value in truth.items():
        expect_close(found.get(key, 0), value, 0.25, f"socket and direction {key}")


@test("shapes_hotplug")
def another_cpu_reads(s):
    expect_equal(s.text("cpumask").strip(), "0,3", "CPUs of the PMU while CPU 2 was offline")
    expect(s.reports("all").quality("reader_moves") >= 1, "no move of the reader is reported")


@test("shapes_hotplug")
@estimate
def counting_goes_on(s):
    """While perf moves the events nobody counts. That time is told, and what was moved in it is
    scaled."""
    expect(s.status("all") in (0, 3), f"exit status {s.status('all')}")
    found = {}
    for report in s.reports("all").each:
        for counter in report["counters"]:
            key = counter["socket"], counter["direction"]
            found[key] = found.get(key, 0) + (counter.get("value") or 0)
    for key, value in truth_of(s).items():
        expect_close(found[key], value, 0.05, f"socket and direction {key}")
