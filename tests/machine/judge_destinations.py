# SPDX-License-Identifier: GPL-2.0-only
"""Tests of where bytes go, on both shapes of the machine; see judge.py."""

from results import estimate, expect, expect_close, expect_equal, expect_share, tests_into

TESTS = {}
test = tests_into(TESTS)
DESTINATIONS = ("cmem", "gmem", "cxl", "remote")


def metrics(reports, pid):
    """Metrics of a process, added up over all reports."""
    sums = {}
    for row in reports.rows(lambda row: row["pid"] == pid):
        for name, value in row["metrics"].items():
            sums[name] = sums.get(name, 0) + value
    return sums


def with_bytes(sums):
    """Metrics by destination that are not a kernel thread's crumbs."""
    most = max(sums.values())
    return {name for name, value in sums.items() if not name.startswith("mem_") and value > 0.02 * most}


def heading(text):
    """Words of the line above the units."""
    lines = text.splitlines()
    (units,) = (number for number, line in enumerate(lines) if "COMMAND" in line)
    return lines[units - 1].split(), lines


# --- T410: counters take turns

# Program, metric, slot, and how much of the metric must be in the program's row: where two
# share the socket, one may have run in the half of a window that was seen and the other in
# the rest.
OWNERS = (
    ("cmem", "cmem_read_bytes", 2, 0.5),
    ("far", "remote_read_bytes", 6, 0.5),
    ("gpu", "gmem_write_bytes", 7, 0.9),
    ("both", "cxl_read_bytes", 13, 0.9),
    ("both", "gmem_read_bytes", 14, 0.9),
)


@test("destinations")
@estimate
def bytes_are_where_they_were_sent(s):
    reports = s.reports("all")
    for name, metric, slot, _ in OWNERS:
        (moved,) = (line["bytes"] for line in s.truth().named(name) if line["slot"] == slot)
        found = sum(row["metrics"].get(metric, 0) for row in reports.rows(lambda row: True))
        # Half of the time is seen, and programs store every few milliseconds.
        expect_close(found, moved, 0.3, f"{metric} of all rows")


@test("destinations")
@estimate
def totals_are_within_their_bars(s):
    reports = s.reports("all")
    for name, metric, slot, _ in OWNERS:
        to, direction, _ = metric.split("_")
        (moved,) = (line["bytes"] for line in s.truth().named(name) if line["slot"] == slot)
        found = [
            (c["low"], c["high"])
            for report in reports.each
            for c in report["counters"]
            if (c["source"], c["destination"], c["direction"]) == ("cpu", to, direction)
        ]
        low, high = (sum(ends) for ends in zip(*found))
        expect(low <= moved <= high, f"{metric}: {low} to {high}, truth {moved}")
        expect(high - low < 0.8 * moved, f"{metric}: {low} to {high} says nothing")


@test("destinations")
@estimate
def those_who_sent_them_have_them(s):
    reports = s.reports("all")
    for name, metric, _, least in OWNERS:
        found = metrics(reports, s.truth().named(name)[0]["pid"])[metric]
        everybody = sum(row["metrics"].get(metric, 0) for row in reports.rows(lambda row: True))
        expect_share(found, everybody, least, f"{metric} of {name} in that of all")


@test("destinations")
def sums_are_the_sums(s):
    for row in s.reports("all").rows(lambda row: row["metrics"]):
        for direction in ("read", "write"):
            parts = sum(row["metrics"][f"{to}_{direction}_bytes"] for to in DESTINATIONS)
            expect_equal(parts, row["metrics"][f"mem_{direction}_bytes"], f"{direction}s of {row['key']}")


@test("destinations")
@estimate
def turns_are_told(s):
    counters = [c for report in s.reports("all").each for c in report["counters"]]
    expect_equal(len({c["name"] for c in counters}), 24, "number of counters")
    ratios = {c["running_ratio"] for c in counters}
    expect(0.2 < min(ratios) and max(ratios) < 0.8, f"running ratios from {min(ratios)} to {max(ratios)}")
    # All that CPUs cause is seen at the same moments.
    for report in s.reports("all").each:
        for socket in (0, 1):
            mine = [c["running_ratio"] for c in report["counters"] if c["socket"] == socket and c["source"] == "cpu"]
            expect(max(mine) - min(mine) < 0.02, f"socket {socket}: ratios from {min(mine)} to {max(mine)}")


@test("destinations")
def a_recording_has_them(s):
    s.expect_complete("report")
    words, lines = heading(s.text("report.out"))
    expect_equal(words[:4], ["CMEM", "GMEM", "CXL", "REMOTE"], "columns")
    row = next(line for line in lines if " traffic " in line)
    numbers = [float(word) for word in row.split()[2:6]]
    expect(numbers[1] > 0.9 * sum(numbers) > 0, f"GB/s by destination: {numbers}")
    expect(any("scaled" in line for line in lines), "coverage is not shown")
    expect(max(len(line) for line in lines) <= 80, "wider than 80 columns")
    s.expect_complete("sums")
    expect_equal(heading(s.text("sums.out"))[0][:2], ["READ", "WRITE"], "columns of --split none")


@test("destinations")
def what_was_not_recorded_is_refused(s):
    expect_equal(s.status("without"), 1, "exit status")
    for word in ("does not tell where bytes went", "record with --split destination"):
        expect(word in s.words("without.err"), s.words("without.err"))


# --- Grace: it is known anyway


@test("grace_conservation")
def only_cpus_have_counters(s):
    for report in s.reports("all").each:
        expect_equal(report["host"]["platform"], "grace", "platform")
        expect_equal(len(report["counters"]), 14, "number of counters")
        expect_equal({c["source"] for c in report["counters"]}, {"cpu"}, "sources")
        expect_equal({c["destination"] for c in report["counters"]}, {"cmem", "gmem", "remote"}, "destinations")
        expect_equal({c["running_ratio"] for c in report["counters"]}, {1.0}, "running ratios")


@test("grace_alone")
@estimate
def its_row_has_all(s):
    reports = s.reports("all")
    for name, wanted in (
        ("own", {"cmem_read_bytes"}),
        ("far", {"remote_read_bytes"}),
        ("gpu", {"gmem_read_bytes", "gmem_write_bytes"}),
    ):
        lines = s.truth().named(name)
        found = metrics(reports, lines[0]["pid"])
        # A window that one began and the other ended in may be long, and its bytes are split.
        expect(with_bytes(found) == wanted, f"{name}: metrics are {sorted(with_bytes(found))}")
        for line, metric in zip(lines, sorted(wanted)):
            expect_share(found[metric], line["bytes"], 0.97, f"{name}: {metric}")


@test("grace_alone")
def counters_are_exact(s):
    found, truth = s.reports("all").counters(), s.truth().counters()
    for name, count in found.items():
        expect_equal(count, truth.get(name, 0), name)


@test("grace_alone")
def the_table_has_columns(s):
    s.expect_complete("table")
    words, lines = heading(s.text("table.out"))
    expect_equal(words[:3], ["CMEM", "GMEM", "REMOTE"], "columns")
    expect(any(line.split()[:1] == ["writes"] for line in lines), "-v shows no lines for writes")
    expect_equal(s.status("refused"), 2, "exit status of --split source")
