# SPDX-License-Identifier: GPL-2.0-only
"""Tests of latencies, as measured and as workloads saw them; see judge.py."""

import json
import re

from results import estimate, expect, expect_close, expect_equal, expect_share, tests_into

TESTS = {}
test = tests_into(TESTS)
PROBE = "cmem1/rd"
# Of traffic.conf: cycles that reads of a slot wait, the clock, and bytes of a request
WAITS = {15: 200, 16: 4000}
# Bytes that they read in a millisecond, when at work
RATES = {15: 1000000, 16: 1500000}
GHZ = 2
REQUEST = 32


def requests(s):
    """By slot."""
    return {line["slot"]: line["bytes"] // REQUEST for line in s.truth().lines if line["slot"] in WAITS}


def probes(report):
    return {probe["probe"]: probe for probe in report["latencies"]}


def summary(s):
    s.expect_complete("summary")
    return json.loads(s.text("summary.out"))


def seen(s, name):
    """What the program saw of the probe in the whole run."""
    pid = s.truth().named(name)[0]["pid"]
    (row,) = (row for row in summary(s)["workloads"] if row["pid"] == pid)
    (found,) = (entry for entry in row["latencies"] if entry["probe"] == PROBE)
    return found


@test("latency")
@estimate
def every_request_is_counted(s):
    s.expect_complete("record")
    moved = requests(s)
    due = {"requests": sum(moved.values()), "outstanding": sum(n * WAITS[slot] for slot, n in moved.items())}
    for key, wanted in due.items():
        expect_equal(probes(summary(s))[PROBE][key], wanted, f"{key} of the summary")
        # A reading that waited for the budget comes after the report of its interval's end.
        found = sum(probes(report)[PROBE].get(key, 0) for report in s.reports("all").each)
        expect_share(found, wanted, 0.8, f"{key} of all reports")


@test("latency")
def latency_is_the_mean_of_all_requests(s):
    moved = requests(s)
    cycles = sum(n * WAITS[slot] for slot, n in moved.items()) / sum(moved.values())
    probe = probes(summary(s))[PROBE]
    # Shown with one decimal
    expect_close(probe["latency_cycles"], cycles, 1e-4, "cycles")
    expect_equal(probe["weighted_by"], "any", "weighted by")


@test("latency")
@estimate
def cycles_are_nanoseconds(s):
    """By the cycles that were counted in the time: a moment passes between the readings of both."""
    probe = probes(summary(s))[PROBE]
    expect_close(probe["latency_ns"], probe["latency_cycles"] / GHZ, 0.005, "ns")


@test("latency")
def nothing_requested_is_no_latency(s):
    for report in s.reports("all").each:
        for name in ("cmem0/rd", "nvdlink0/in_rd"):
            expect("latency_ns" not in probes(report)[name], f"{name} has a latency without a request")


@test("latency")
@estimate
def workloads_have_what_they_saw(s):
    """One works most of the time and sees both; the other sees the queue that it makes."""
    calm, loud = (s.truth().named(name)[0] for name in ("calm", "loud"))
    length = calm["end_ns"] - calm["start_ns"]
    part = loud["cpu_ns"] / length
    # What is asked for in a millisecond in which loud is at work
    asked = {15: RATES[15] * calm["cpu_ns"] / length, 16: RATES[16]}
    both = sum(asked[slot] * WAITS[slot] for slot in WAITS) / sum(asked.values()) / GHZ
    alone = WAITS[15] / GHZ
    # Samples mix the two where one begins or ends, and the weights are estimates: some of the bytes
    # of the loud one are taken for those of the calm one.
    expect_close(seen(s, "calm")["latency_ns"], part * both + (1 - part) * alone, 0.3, "ns that calm saw")
    expect_close(seen(s, "loud")["latency_ns"], both, 0.1, "ns that loud saw")
    for name in ("calm", "loud"):
        found = seen(s, name)
        expect(0.9 * found["of_bytes"] <= found["bytes"] <= found["of_bytes"], f"{name}: {found}")


@test("latency")
@estimate
def the_neighbour_is_found(s):
    s.expect_complete("neighbours")
    report = json.loads(s.text("neighbours.out"))
    (probe,) = (probe for probe in report["probes"] if probe["probe"] == PROBE)
    expect(probe["enough"], f"too few samples: {probe['high_samples']} high, {probe['calm_samples']} calm")
    roles = {row.get("pid", row.get("reason")): row["role"] for row in probe["neighbours"]}
    calm, loud = (s.truth().named(name)[0]["pid"] for name in ("calm", "loud"))
    expect(roles.get(loud) == "rose", f"the role of loud: {roles.get(loud)}")
    expect(roles.get(calm) == "victim", f"the role of calm: {roles.get(calm)}")
    rose = [who for who, role in roles.items() if role == "rose"]
    expect(rose == [loud], f"who rose: {rose}, expected {loud}")
    expect_close(probe["calm_latency_ns"], WAITS[15] / GHZ, 0.05, "ns while it was calm")
    words = s.words("table.out")
    for word in ("rose", "victim", PROBE):
        expect(word in words, f"no {word} in {words}")


@test("latency")
def a_short_run_claims_nothing(s):
    s.expect_complete("live")
    report = json.loads(s.text("live.out"))
    expect_equal([probe["probe"] for probe in report["probes"] if probe["enough"]], [], "probes with enough samples")


@test("latency")
def seconds_and_samples_are_counted(s):
    """On a terminal, in a line that goes when the report comes. A run that has to wait for a CPU
    leaves seconds out, for its line has those that have passed."""
    text = s.text("counting")
    found = [tuple(map(int, one)) for one in re.findall(r"(\d+) of 300 s, (\d+) high, (\d+) calm;", text)]
    seconds = [one[0] for one in found]
    expect(found and seconds[0] >= 1, f"no second was counted: {text[:200]!r}")
    expect(seconds == sorted(set(seconds)), f"seconds are counted as {seconds}")
    expect(sum(found[-1][1:]) > 0, f"no sample was counted: {found}")
    expect(PROBE in text.partition("neighbours by")[2], "there is no report")
