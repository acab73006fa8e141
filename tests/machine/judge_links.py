# SPDX-License-Identifier: GPL-2.0-only
"""Tests of links of GPUs (devices.conf, guest_devices.sh); see judge.py. The truth is what programs
sent; t410trace derives it from counters that PCIe devices share.
"""

from judge_devices import DEVICES, cpu_counters_are_exact, entries, sent, show, total
from results import estimate, expect, expect_close, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
MACHINES = {"devices_links": DEVICES, "devices_links_two": DEVICES}
# Not in "make check"
MORE = {"devices_links_two"}

ALONE, SECOND, BESIDE = (f"{bdf}/c2c" for bdf in ("000b:01:00.0", "000d:41:00.0", "0006:01:00.0"))
# As guest_devices.sh asks for
INTERVAL_NS = 2_000_000_000
# Link, direction and the slots whose bytes it moved, by run
MOVED = {
    "all": ((ALONE, "read", (20, 22, 24)), (ALONE, "write", (21, 23, 25))),
    "two": ((ALONE, "read", (22,)), (SECOND, "read", (26,)), (BESIDE, "write", (27,))),
}


def moved(reports, link, key):
    """Of a link in all reports: it has no value in one that is shorter than a round of turns, which is the
    last one, or follows one that came late."""
    total_of = 0
    for number, (report, entry) in enumerate(zip(reports.each, entries(reports, link))):
        if entry["how"] == "none" and report["interval"]["duration_ns"] < INTERVAL_NS / 2:
            require(key not in entry, f"{link}: no value, and {key}")
            continue
        require(key in entry, f"{reports.name}: report {number} has no {key} of {link}: {entry.get('why_none')}")
        total_of += entry[key]
    return total_of


def ranges(s, run):
    """Each link that moved something: its name, truth, value and range."""
    reports, bytes_of = s.reports(run), sent(s.truth(f"truth.{run}"))
    for bdf, side, slots in MOVED[run]:
        truth = sum(bytes_of[slot] for slot in slots)
        require(truth > 0, f"{run}: no traffic of {slots}")
        yield f"{bdf} {side}", truth, *(moved(reports, bdf, f"{side}_{key}") for key in ("bytes", "low", "high"))


def hold(s, run):
    for name, truth, value, low, high in ranges(s, run):
        show(f"links: {run}: {name} {value}, {low} to {high}, truth {truth}")
        require(low <= truth <= high, f"{run}: {name}: {low} to {high}, truth {truth}")


def are_beside_their_functions(reports):
    for bdf in (ALONE, SECOND, BESIDE):
        function = bdf.split("/", maxsplit=1)[0]
        for entry in entries(reports, bdf):
            expect_equal((entry["kind"], entry["function"]), ("link", function), bdf)
        for side in ("read", "write"):
            expect_equal(total(reports, function, f"{side}_bytes"), 0, f"{function}: {side}")


def fabric_is_exact(s, run):
    reports, slots = s.reports(run), sent(s.truth(f"truth.{run}"))
    cpu_counters_are_exact(s, reports, slots)
    for event in ("mem_bytes_rd", "mem_bytes_wr"):
        for socket in (0, 1):
            name = f"ucf{socket}/{event}/src_loc_noncpu=1"
            wanted = s.wiring.count(f"nvidia_ucf_pmu_{socket}", event, slots, "src_loc_noncpu=1")
            found = sum(reports.counter_field(name, "value"))
            # Part of a byte that the cache served before the run: one of each flow is another one
            require(abs(found - wanted) <= len(slots), f"{run}: {name} is {found}, expected {wanted}")
    for report in reports.each:
        for counter in report["counters"]:
            if counter["valid"] and "term" in counter and counter["unit"] == "bytes":
                expect_equal(counter["attributed"], 0, f"{run}: {counter['name']}")


@test("devices_links")
def they_are_beside_their_functions(s):
    are_beside_their_functions(s.reports("all"))


@test("devices_links")
def ranges_hold(s):
    """Whatever part of it the cache served."""
    hold(s, "all")


@test("devices_links")
@estimate
def one_that_is_alone_is_right(s):
    for name, truth, value, *_ in ranges(s, "all"):
        expect_close(value, truth, 0.01, name)


@test("devices_links")
def an_idle_one_moved_nothing(s):
    """Also beside PCIe at full rate."""
    for bdf in (SECOND, BESIDE):
        for side in ("read", "write"):
            for key in ("bytes", "low"):
                expect_equal(moved(s.reports("all"), bdf, f"{side}_{key}"), 0, f"{bdf}: {side}_{key}")


@test("devices_links")
def the_fabric_is_exact(s):
    fabric_is_exact(s, "all")


@test("devices_links")
def they_are_in_no_sum(s):
    """Nobody has a function open, and no other device of the table moved anything on socket 1."""
    for report in s.reports("all").each:
        for row in report["workloads"]:
            for key in ("pcie_read_bytes", "pcie_write_bytes"):
                expect_equal(row["metrics"].get(key, 0), 0, f"{row['key']}: {key}")


@test("devices_links")
def it_ends_well(s):
    s.expect_complete("all")


@test("devices_links_two")
def they_too_are_beside_their_functions(s):
    are_beside_their_functions(s.reports("two"))


@test("devices_links_two")
def ranges_of_two_hold(s):
    """Whatever the switch moved meanwhile."""
    hold(s, "two")


@test("devices_links_two")
@estimate
def two_have_their_parts(s):
    """Here requests of both are equally large."""
    for name, truth, value, *_ in ranges(s, "two"):
        expect_close(value, truth, 0.25 if BESIDE in name else 0.05, name)


@test("devices_links_two")
def the_fabric_is_exact_with_two(s):
    fabric_is_exact(s, "two")


@test("devices_links_two")
def unknown_links_have_no_value(s):
    for run, bdf, why in (("untold", ALONE, "2 GPUs"), ("unplaced", BESIDE, "0000:00")):
        for entry in entries(s.reports(run), bdf):
            expect_equal(entry["how"], "none", f"{run}: {bdf}")
            expect("read_bytes" not in entry and "write_bytes" not in entry, f"{run}: {bdf} has a value")
            require(why in entry["why_none"], f"{run}: {entry['why_none']}")


@test("devices_links_two")
def runs_end_well(s):
    for run in ("two", "untold", "unplaced"):
        s.expect_complete(run)
