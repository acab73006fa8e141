#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of the accuracy tests: a wrong report must fail, an invented trace must be as said."""

import copy
import dataclasses
import itertools
import json
import math
import pathlib
import random
import sys
import tempfile

import accuracy
import scenario
import score
import sensitivity

TESTS = []
SMALL = scenario.Options(tenants=6, cpus=12, seconds=3.0)
NS_PER_S = 1_000_000_000


def test(function):
    TESTS.append(function)
    return function


def expect(condition, why):
    if not condition:
        raise AssertionError(why)


def expect_near(found, wanted, within, what):
    expect(abs(found - wanted) <= within, f"{what} is {found}, expected {wanted} within {within}")


def change(options, **changes):
    return dataclasses.replace(options, **changes)


# --- the scorer: a report that knows the truth, and ways to spoil it


def perfect(mode="duty", options=SMALL):
    """(reports, truth): every byte in its row, bars of a hundredth on both sides."""
    truth = scenario.Scenario(mode, options).answers()
    reports = []
    for second in range(int(options.seconds)):
        rows, totals = [], dict.fromkeys(truth["counted"], 0)
        for pid, workload in truth["workloads"].items():
            shares = []
            for counter, seconds in workload["bytes"].items():
                value = round(seconds[second])
                totals[counter] += value
                bars = {"low": value * 99 // 100, "high": value * 101 // 100 + 1}
                shares.append({"counter": counter, "value": value, **bars})
            rows.append({"pid": int(pid), "shares": shares})
        reports.append(
            {
                "schema": score.SCHEMA,
                "interval": {"start_ns": second * NS_PER_S, "end_ns": (second + 1) * NS_PER_S},
                "counters": [{"name": name, "value": value} for name, value in totals.items()],
                "workloads": rows,
                "unattributed": [],
            }
        )
    truth["counted"] = {
        name: sum(c["value"] for r in reports for c in r["counters"] if c["name"] == name) for name in truth["counted"]
    }
    return reports, truth


def score_of(reports, truth):
    return score.score("\n".join(map(json.dumps, reports)), truth)


def shares_of(reports):
    return [share for report in reports for row in report["workloads"] for share in row["shares"]]


def largest(reports):
    return max(shares_of(reports), key=lambda share: share["value"])


@test
def a_perfect_report_is_perfect():
    result = score_of(*perfect())
    expect(result.conserved and result.cover == 1 and result.cover_1 == 1, str(result))
    expect_near(result.wape, 0, 1e-6, "wape")
    expect_near(result.width, 0.02, 0.001, "width")
    expect(result.tangled == 0 and result.twins == 1 and result.rows == 6, str(result))


@test
def two_sockets_and_directions_are_told_apart():
    reports, truth = perfect("two")
    expect(len(truth["counted"]) == 4, f"{len(truth['counted'])} counters")
    expect_near(score_of(reports, truth).wape, 0, 1e-6, "wape")
    other = {name: name.replace("_rd", "_?").replace("_wr", "_rd").replace("_?", "_wr") for name in truth["counted"]}
    for share in shares_of(reports):
        share["counter"] = other[share["counter"]]
    expect(score_of(reports, truth).wape > 0.1, "reads and writes exchanged are no error")


@test
def a_byte_too_many_or_few_is_noticed():
    for off in (-1, 1):
        reports, truth = perfect()
        largest(reports)["value"] += off
        expect(not score_of(reports, truth).conserved, f"{off} byte")


@test
def bytes_nobody_counted_are_noticed():
    reports, truth = perfect()
    truth["counted"][next(iter(truth["counted"]))] -= 1
    expect(not score_of(reports, truth).conserved, "one more than counted")
    truth["exact"] = False
    expect(score_of(reports, truth).conserved, "totals that are estimates are compared")


@test
def an_interval_that_is_missing_is_noticed():
    reports, truth = perfect()
    del reports[1]
    result = score_of(reports, truth)
    expect(not result.conserved and result.wape > 0.1, str(result))


@test
def what_is_no_count_is_noticed():
    for junk in (1.0, True, -1, None, "7"):
        reports, truth = perfect()
        report = reports[0]
        report["unattributed"].append({"counter": report["counters"][0]["name"], "value": junk, "reason": "idle"})
        if junk is True:
            report["counters"][0]["value"] += 1
        expect(not score_of(reports, truth).conserved, f"{junk!r}")


@test
def bars_must_be_around_the_value_and_within_the_counter():
    for spoil in (
        lambda share: share.update(low=share["value"] + 1),
        lambda share: share.update(high=share["value"] - 1),
        lambda share: share.update(high=10**18),
    ):
        reports, truth = perfect()
        spoil(largest(reports))
        expect(not score_of(reports, truth).conserved, "impossible bars")


@test
def exchanged_tenants_are_an_error():
    reports, truth = perfect()
    for report in reports:
        rows = sorted(report["workloads"], key=lambda row: -sum(s["value"] for s in row["shares"]))
        rows[0]["pid"], rows[1]["pid"] = rows[1]["pid"], rows[0]["pid"]
    result = score_of(reports, truth)
    expect(result.conserved and result.wape > 0.1 and result.cover < 0.7, str(result))


@test
def an_error_of_known_size_has_it():
    """A tenth of every value goes to nobody."""
    reports, truth = perfect()
    for report in reports:
        rest = 0
        for share in shares_of([report]):
            tenth = share["value"] // 10
            share.update(value=share["value"] - tenth, low=0)
            rest += tenth
        report["unattributed"].append({"counter": report["counters"][0]["name"], "value": rest, "reason": "lost"})
    result = score_of(reports, truth)
    expect(result.conserved, str(result.problems))
    expect_near(result.wape, 0.1, 0.0001, "wape")


@test
def bars_that_are_beside_the_truth_do_not_cover_it():
    reports, truth = perfect()
    for share in shares_of(reports):
        share["high"] = share["value"]
        share["low"] = share["value"]
    exact = score_of(reports, truth)
    expect(exact.cover == 1 and exact.width == 0, f"the truth itself: {exact}")
    for seconds in (w["bytes"] for w in truth["workloads"].values()):
        for counter, values in seconds.items():
            seconds[counter] = [value * 1.05 for value in values]
    result = score_of(reports, truth)
    expect(result.cover == 0 and result.cover_1 < 0.05, str(result))


@test
def the_right_bytes_at_the_wrong_time_are_not_calibrated():
    reports, truth = perfect()
    for one, other in zip(reports[0]["workloads"], reports[1]["workloads"]):
        one["shares"], other["shares"] = other["shares"], one["shares"]
    first, second = (report["counters"] for report in reports[:2])
    first[0]["value"], second[0]["value"] = second[0]["value"], first[0]["value"]
    result = score_of(reports, truth)
    expect(result.conserved and result.cover == 1 and result.cover_1 < 0.9, str(result))


@test
def a_row_that_is_missing_is_an_error():
    reports, truth = perfect()
    for report in reports:
        row = max(report["workloads"], key=lambda row: sum(s["value"] for s in row["shares"]))
        report["workloads"].remove(row)
        for share in row["shares"]:
            report["unattributed"].append({"counter": share["counter"], "value": share["value"], "reason": "other"})
    result = score_of(reports, truth)
    expect(result.conserved and result.wape > 0.1 and result.cover < 1, str(result))


@test
def what_repeats_others_is_not_counted_twice():
    reports, truth = perfect()
    summary = copy.deepcopy(reports[0])
    summary["summary"] = True
    parent = copy.deepcopy(reports[0]["workloads"][0])
    parent["leaf"] = False
    reports[0]["workloads"].append(parent)
    result = score_of([*reports, summary, {"schema": "another/1"}], truth)
    expect(result.conserved and result.wape < 1e-6, str(result))


@test
def marks_are_seen_on_shares_and_rows():
    for mark in ("share", "row"):
        reports, truth = perfect()
        for report in reports:
            for row in report["workloads"]:
                for target in row["shares"] if mark == "share" else [row]:
                    target["separable"] = False
        expect_near(score_of(reports, truth).tangled, 1, 1e-9, f"marked on each {mark}")


@test
def twins_name_each_other_or_have_bars_that_hold():
    reports, truth = perfect("pairs")
    expect(len(truth["twins"]) == 3, f"{truth['twins']}")
    expect(score_of(reports, truth).twins == 1, "bars that hold")
    for pid in itertools.chain.from_iterable(truth["twins"]):
        seconds = truth["workloads"][str(pid)]["bytes"]
        seconds.update({counter: [value * 2 for value in values] for counter, values in seconds.items()})
    expect(score_of(reports, truth).twins == 0, "wrong without a mark")
    for keys, count, wanted in (([], 0, 0), (["pid:1:7"], 1, 0), (["pid:{}:7"], 1, 1), (["pid:1:7"], 9, 1)):
        for pid, twin in itertools.chain.from_iterable((pair, pair[::-1]) for pair in truth["twins"]):
            row = next(row for row in reports[0]["workloads"] if row["pid"] == pid)
            row.update(separable=False, tangled_with=[key.format(twin) for key in keys], tangled_count=count)
        expect(score_of(reports, truth).twins == wanted, f"tangled with {keys} of {count}")


@test
def junk_is_no_report():
    _, truth = perfect()
    for text in ("", "{", "[]", '{"schema":"x"}', json.dumps({"schema": score.SCHEMA})):
        try:
            score.score(text, truth)
        except (ValueError, AttributeError):
            continue
        raise AssertionError(f"{text!r} has a score")


# --- the scenarios


def files_of(mode, options):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("trace", "truth")]
        scenario.make(mode, options, *paths)
        return [path.read_text("ascii") for path in paths]


def lines_of(mode, options, kind):
    return [line for line in map(json.loads, files_of(mode, options)[0].splitlines()) if line["type"] == kind]


@test
def scenarios_are_the_same_again():
    for mode in scenario.MODES + scenario.FAMILIES:
        expect(files_of(mode, SMALL) == files_of(mode, SMALL), mode)
        expect(files_of(mode, SMALL) != files_of(mode, change(SMALL, seed=2)), f"{mode}: seed 2 is seed 1")


@test
def weights_change_nothing_else():
    for mode in scenario.MODES + scenario.FAMILIES:
        bare, weighted = (scenario.Scenario(mode, change(SMALL, weights=w)) for w in (0, 1))
        expect(bare.windows == weighted.windows and bare.truth == weighted.truth, mode)
        expect(not any(s.weights for s in bare.slices), f"{mode}: weights nobody asked for")
        expect(all(s.weights for s in weighted.slices), f"{mode}: slices without weights")


@test
def windows_have_the_tenants_bytes():
    """Without noise the counters have all but what is still under way at the end."""
    quiet = change(SMALL, noise=0.0, lag_ms=1)
    for mode in ("duty", "threads", "jitter", "steady", "alone", "burst", "pairs", "ramp", "two"):
        truth = scenario.Scenario(mode, quiet).answers()
        for counter, counted in truth["counted"].items():
            due = sum(sum(w["bytes"].get(counter, [])) for w in truth["workloads"].values())
            expect(due > 0, f"{mode}: {counter} has no traffic")
            expect(due - 2000 <= counted <= due + 1, f"{mode}: {counter} has {counted}, expected {due}")


@test
def bytes_that_nobody_causes_come_on_top():
    bare = scenario.Scenario("duty", SMALL).answers()["counted"]
    idle = scenario.Scenario("duty", change(SMALL, idle_bytes=1000)).answers()["counted"]
    (counter, count), = bare.items()
    expect(idle[counter] - count == 1000 * 300, f"{idle[counter] - count} in 300 windows")


@test
def weights_are_lines_with_a_bias():
    one = scenario.Scenario("duty", change(SMALL, weights=1))
    for number, tenant in enumerate(one.crew.tenants):
        counted = sum(s.weights["l3d_cache_refill"] for s in one.slices if s.tenant == number)
        caused = sum(sum(seconds) for seconds in one.truth[number])
        expect_near(counted * 64 / caused, tenant.bias["rd"], 0.01, f"bias of tenant {number}")


@test
def slices_of_ranks_have_what_was_done_in_their_window():
    """But for the piece between the end of a window and the tick that notices it."""
    quiet = change(SMALL, weights=1, tick_ms=1)
    one, off = (scenario.Scenario(mode, quiet) for mode in ("ranks", "unticked"))
    expect(one.truth != off.truth and one.mode == "ranks", "names of streams have the mode")
    expect(all(s.end - s.start == quiet.window_ns for s in one.slices), "slices of a window")
    for number, tenant in enumerate(one.crew.tenants):
        moved = scenario.moved_until(tenant.levels["rd"])
        mine = [s for s in one.slices if s.tenant == number and s.cpu == tenant.threads[0].cpu]
        due = [(moved(s.end) - moved(s.start)) / 64 * tenant.bias["rd"] for s in mine]
        found = [s.weights["l3d_cache_refill"] for s in mine]
        expect_near(sum(found) / sum(due), 1, 0.001, "all slices of a thread")
        off_by = sum(abs(a - b) for a, b in zip(found, due)) / sum(due)
        expect(off_by < 0.04, f"slices are off by {off_by}")
    moved = scenario.moved_until([(0, 10, 1.0), (10, 30, 3.0)])
    expect([moved(at) for at in (0, 5, 10, 20, 30)] == [0, 5, 10, 40, 70], "bytes by some time")


def expect_slowed_alike(mode):
    one = scenario.Scenario(mode, change(SMALL, noise=0.0, lag_ms=1, weights=1))
    asked = [scenario.Bins(SMALL.length_ns, scenario.BIN_NS) for _ in range(2)]
    for bins, tenants in zip(asked, (one.crew.tenants, one.crew.tenants[:1])):
        for tenant in tenants:
            for thread in tenant.threads:
                for _, start, end, level in scenario.pieces(thread.runs, tenant.levels["rd"]):
                    bins.add(start, end, level)
    wanted, of_first = (bins.values() for bins in asked)
    moved = one.bins[0].values()
    limit = max(moved)
    full = [number for number, bytes_ in enumerate(wanted) if bytes_ > limit * 1.000001]
    expect_near(len(full) / len(wanted), scenario.FULL, 0.02, "part of the time at the limit")
    expect(all(abs(moved[number] - limit) < 1e-6 * limit for number in full), "not at the limit")
    spare = set(range(len(wanted))) - set(full)
    expect(all(abs(moved[n] - wanted[n]) < 1e-6 * limit for n in spare), "slowed below the limit")
    due = sum(of_first[n] * min(1, limit / wanted[n]) for n in range(len(wanted)) if wanted[n])
    expect_near(sum(map(sum, one.truth[0])) / due, 1, 0.001, "truth of the first tenant")
    counted = sum(s.weights["l3d_cache_refill"] for s in one.slices if s.tenant == 0) * 64
    expect_near(counted / due, one.crew.tenants[0].bias["rd"], 0.02, "its counts")
    return one


@test
def who_runs_where_memory_is_full_is_slowed_alike():
    one = expect_slowed_alike("full")
    expect(all(s.end - s.start <= SMALL.window_ns for s in one.slices), "slices of a window")


@test
def long_slices_are_whole_runs():
    one = expect_slowed_alike("longfull")
    runs = [run for tenant in one.crew.tenants for thread in tenant.threads for run in thread.runs]
    lengths = sorted(end - start for start, end in runs)
    expect(3 * SMALL.window_ns < lengths[len(lengths) // 2] < 10 * SMALL.window_ns, "not long")
    whole = {run for run in runs if run[1] - run[0] <= scenario.LONGEST_SLICE_NS}
    expect(whole <= {(s.start, s.end) for s in one.slices}, "runs in pieces")
    expect(scenario.Scenario("long", SMALL).pace is None, "long: a limit")


@test
def bins_add_up_like_a_slow_sum():
    rng = random.Random(1)
    bins, slow = scenario.Bins(100, 10), [0.0] * 10
    for _ in range(200):
        start, end = sorted(rng.sample(range(101), 2))
        bins.add(start, end, 3.0)
        for at in range(start, end):
            slow[at // 10] += 3.0
    for found, wanted in zip(bins.values(), slow):
        expect_near(found, wanted, 1e-6, "a bin")


@test
def traffic_is_seen_later_but_all_of_it():
    seen = scenario.seen_later([0.0, 6.0, 0.0, 0.0, 3.0, 0.0, 0.0], 3)
    expect(seen == [0.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0], str(seen))
    expect(scenario.seen_later([1.0, 2.0], 1) == [1.0, 2.0], "no lag")


@test
def runs_are_cut_where_levels_change():
    levels = [(0, 10, 1.0), (10, 15, 2.0), (15, 99, 3.0)]
    found = list(scenario.pieces([(2, 4), (8, 20)], levels))
    wanted = [(0, 2, 4, 1.0), (1, 8, 10, 1.0), (1, 10, 15, 2.0), (1, 15, 20, 3.0)]
    expect(found == wanted, str(found))


@test
def runs_do_not_overlap_and_stay_inside():
    for mode in scenario.MODES + scenario.FAMILIES:
        for tenant in scenario.Scenario(mode, SMALL).crew.tenants:
            for thread in tenant.threads:
                ends = [0, *itertools.chain.from_iterable(thread.runs), SMALL.length_ns]
                expect(ends == sorted(ends), f"{mode}: {tenant.comm}")
                expect(all(start < end for start, end in thread.runs), f"{mode}: an empty run")


@test
def modes_are_what_they_are_called():
    made = {mode: scenario.Scenario(mode, SMALL) for mode in scenario.MODES + scenario.FAMILIES}
    busy = {}
    for mode, one in made.items():
        threads = [thread for tenant in one.crew.tenants for thread in tenant.threads]
        total = sum(end - start for thread in threads for start, end in thread.runs)
        busy[mode] = total / len(threads) / SMALL.length_ns
    expect(busy["steady"] == busy["ranks"] == busy["unticked"] == 1, "steady threads sleep")
    for tenant in made["ranks"].crew.tenants:
        rates = [rate for _, _, rate in tenant.levels["rd"]]
        expect(max(rates) > 20 * min(rates), "ranks: no phases")
    expect(0.9 < busy["jitter"] < 0.99, f"jitter: busy {busy['jitter']}")
    expect(0.2 < busy["duty"] < 0.8 and 0.2 < busy["threads"] < 0.8, str(busy))
    turns = sorted(t.threads[0].runs[0] for t in made["alone"].crew.tenants)
    expect(all(a[1] <= b[0] for a, b in zip(turns, turns[1:])), "alone: two at once")
    for tenant in made["duty"].crew.tenants:
        expect(all(t.runs == tenant.threads[0].runs for t in tenant.threads), "duty: threads differ")
    pair = made["pairs"].crew.tenants[:2]
    expect(pair[0].threads[0].runs == pair[1].threads[0].runs, "pairs: no lock-step")
    short = [t.threads[0].runs[0] for t in made["burst"].crew.tenants if t.group.startswith("burst")]
    expect(len(short) > 50 and all(end - start <= 30_000_001 for start, end in short), "burst")
    for tenant in made["ramp"].crew.tenants:
        levels = tenant.levels["rd"]
        expect(1.9 < abs(math.log2(levels[-1][2] / levels[0][2])) <= 2, "ramp: not four times")


@test
def counters_that_take_turns_say_so():
    windows = lines_of("mux", SMALL, "window")
    ratios = [running / enabled for w in windows for _, _, enabled, running in w["values"]]
    expect(all(ratio == 1 for ratio in ratios[::2]), "an even window took turns")
    expect(all(ratio < 1 for ratio in ratios[1::2]), "an odd window did not")
    for mode in ("duty", "two"):
        for window in lines_of(mode, SMALL, "window"):
            expect(all(v[2] == v[3] for v in window["values"]), mode)
    empty = [w["values"][0] for w in lines_of("mux", change(SMALL, seconds=20.0), "window")]
    expect(any(v[3] == 0 for v in empty) and all(v[1] == 0 for v in empty if v[3] == 0), "no data")


@test
def spikes_are_rare_and_huge():
    one = scenario.Scenario("spikes", change(SMALL, seconds=20.0, noise=0.0))
    seen = scenario.seen_later(one.bins[0].values(), 2)
    due = [sum(seen[at : at + 10]) for at in range(0, len(seen), 10)]
    ratios = [readings[0][1] / max(1, wanted) for (*_, readings), wanted in zip(one.windows, due)]
    odd = sum(not 0.99 < ratio < 1.01 for ratio in ratios if ratio)
    expect(5 <= odd <= 45, f"{odd} of {len(ratios)} windows")


@test
def families_with_options_of_their_own_have_them():
    of = scenario.Options.of
    expect(of("lagged").lag_ms == 15 and of("crowd").tenants == 200, "not their own")
    expect(of("lagged", lag_ms=3).lag_ms == 3 and of("threads") == scenario.Options(), "not those asked for")
    expect(scenario.Options.parse(["seed=2"], "crowd") == of("crowd", seed=2), "not from words")
    crowd = scenario.Scenario("crowd", of("crowd", seconds=1.0)).crew.tenants
    expect(len(crowd) == 200 and all(len(tenant.threads) == 1 for tenant in crowd), "no crowd")


@test
def intensities_jump_tenfold():
    options = change(SMALL, phases=0, seconds=30.0)
    for tenant in scenario.Scenario("jumps", options).crew.tenants:
        levels = tenant.levels["rd"]
        ratios = [after[2] / before[2] for before, after in zip(levels, levels[1:])]
        expect(3 <= len(ratios) <= 30, f"{len(ratios)} jumps in 30 s")
        expect(all(abs(abs(math.log10(ratio)) - 1) < 1e-9 for ratio in ratios), "not tenfold")
        expect(levels[0][0] == 0 and levels[-1][1] >= options.length_ns, "not all of the time")
        expect(all(a[1] == b[0] for a, b in zip(levels, levels[1:])), "a gap")


@test
def the_largest_are_judged_by_themselves():
    reports, truth = perfect("threads", change(SMALL, tenants=60, cpus=60))
    order = sorted(truth["workloads"], key=lambda pid: -sum(sum(b) for b in truth["workloads"][pid]["bytes"].values()))
    for report in reports:
        for row in report["workloads"]:
            if str(row["pid"]) in order[score.LARGEST :]:
                row["shares"] = []
    result = score_of(reports, truth)
    expect_near(result.largest, 0, 1e-6, "error of the largest")
    expect(result.wape > 0.001, "the others are missing")


@test
def losses_are_announced():
    options = change(SMALL, seconds=20.0)
    kept, told = len(lines_of("lost", options, "slice")), lines_of("lost", options, "lost")
    lost = sum(line["count"] for line in told)
    expect(0.03 < lost / (kept + lost) < 0.07, f"{lost} of {kept + lost} slices")
    expect(all(line["start_ns"] < line["end_ns"] <= 20 * NS_PER_S for line in told), "times")


@test
def a_trace_is_in_order():
    for mode in scenario.MODES + scenario.FAMILIES:
        lines = [json.loads(line) for line in files_of(mode, SMALL)[0].splitlines()]
        kinds = [line["type"] for line in lines]
        expect(kinds[0] == "header" and kinds[-1] == "end", mode)
        ends = [line["end_ns"] for line in lines if "end_ns" in line]
        expect(ends == sorted(ends), f"{mode}: lines out of order")
        known = set()
        for line in lines:
            if line["type"] == "workload":
                known.add(line["id"])
            elif line["type"] == "slice":
                expect(line["workload"] in known, f"{mode}: a slice of nobody")
                expect(0 < line["end_ns"] - line["start_ns"] <= NS_PER_S // 2, f"{mode}: a long slice")


@test
def options_are_checked():
    expect(scenario.Options.parse(["seed=3", "noise=.5"]) == scenario.Options(seed=3, noise=0.5), "values")
    for words in (["sed=1"], ["seed"], ["seed=x"], ["seed="]):
        try:
            scenario.Options.parse(words)
        except ValueError:
            continue
        raise AssertionError(f"{words} are taken")
    try:
        scenario.Scenario("unheard", SMALL)
    except ValueError:
        return
    raise AssertionError("a mode nobody knows")


# --- the driver


def cell(mode, weights, seeds=accuracy.FEW, **values):
    """A kind of scenario whose results are all good but for @values."""
    good = {"wape": 0.001, "largest": 0.001, "cover": 0.95, "cover_1": 0.95, "width": 0.1, "tangled": 0.95, "twins": 1.0}
    outcome = score.Score(**{**good, **values}, rows=3, problems=())
    known = {"cpu-time": 0.8, "weights": 0.1}
    one = accuracy.Result(accuracy.Case(mode, weights, 1), outcome, known)
    return accuracy.Cell(mode, weights, [one] * seeds)


def failures(one):
    return {what for what, failure in one.verdicts() if failure}


@test
def a_good_result_passes_and_each_bad_one_fails():
    for mode in scenario.MODES + scenario.FAMILIES:
        for weights in (0, 1):
            expect(not failures(cell(mode, weights)), f"{mode}: {failures(cell(mode, weights))}")
            expect(failures(cell(mode, weights, cover=0.92)) == {"bars-hold"}, f"{mode}: cover")
            expect(failures(cell(mode, weights, cover_1=0.89)) == {"bars-hold-in-each-interval"}, mode)
            unlimited = mode in accuracy.ALIKE and not weights
            wrong = {"largest" if mode in accuracy.BY_LARGEST else "wape": 0.9}
            expect(failures(cell(mode, weights, **wrong)) == (set() if unlimited else {"error"}), f"{mode}: wape")
    expect(failures(cell("duty", 1, width=0.41)) == {"width"}, "width")
    expect(not failures(cell("duty", 1, seeds=1, width=0.41)), "few seeds have some slack")
    expect(failures(cell("duty", 1, seeds=1, width=0.51)) == {"width"}, "but not much")
    expect(failures(cell("steady", 0, tangled=0.8)) == {"marked"}, "steady without marks")
    expect(failures(cell("pairs", 1, twins=0.5)) == {"twins"}, "twins")


@test
def one_report_that_is_not_conserved_fails():
    bad = cell("duty", 0)
    bad.results[0].score = dataclasses.replace(bad.results[0].score, problems=("a byte",))
    expect(failures(bad) == {"conserved"}, str(failures(bad)))


@test
def a_command_that_fails_is_said():
    case = accuracy.Case("alone", 0, 1, (("seconds", 1.0), ("tenants", 2)))
    for program in ("false", "true", "echo"):
        result = accuracy.examine(f"/bin/{program}", case, ())
        expect(result.problem and result.score is None, f"{program}: {result}")


@test
def late_lines_are_less_than_a_second_late():
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        scenario.make("burst", SMALL, trace, pathlib.Path(folder, "truth"))
        before = trace.read_text("ascii").splitlines()
        accuracy.shuffle(trace, 1)
        after = trace.read_text("ascii").splitlines()
    expect(before != after and sorted(before) == sorted(after), "lines were lost or nothing moved")
    latest = 0
    for line in map(json.loads, after):
        if "end_ns" in line:
            expect(line["end_ns"] > latest - NS_PER_S, "more than a second late")
            latest = max(latest, line["end_ns"])


@test
def the_table_needs_its_place():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "document")
        path.write_text("a\n" + "\nold\n".join(accuracy.MARKS) + "\nb\n", "utf-8")
        accuracy.put_between_marks(path, "new")
        accuracy.put_between_marks(path, "new")
        expect(path.read_text("utf-8") == "a\n" + "\nnew\n".join(accuracy.MARKS) + "\nb\n", path.read_text("utf-8"))
        path.write_text("nothing", "utf-8")
        try:
            accuracy.put_between_marks(path, "new")
        except accuracy.Problem:
            return
    raise AssertionError("a document without marks is written")


# --- what a number does

NUMBER = ["SMALL", "0.1", "its meaning"]


@test
def a_number_that_does_nothing_is_said_to():
    same = ({"duty": [0.1, 0.9, 1.0]}, [])
    expect(sensitivity.line(NUMBER, same, same, same).startswith("| SMALL | 0.1 | its meaning | none |"), "changed")
    close = ({"duty": [0.1001, 0.9, 1.0]}, [])
    expect("| hardly any |" in sensitivity.line(NUMBER, same, same, close), "a little is much")
    broken = ({"duty": [0.1001, 0.9, 1.0]}, ["duty: error"])
    expect("| duty: error |" in sensitivity.line(NUMBER, same, same, broken), "a broken promise is left out")


@test
def the_family_that_changes_most_is_shown():
    one = ({"duty": [0.1, 0.95, 1.0], "mux": [0.2, 0.9, 2.0]}, [])
    half = ({"duty": [0.11, 0.95, 1.0], "mux": [0.21, 0.9, 2.0]}, [])
    double = ({"duty": [0.1, 0.95, 1.0], "mux": [0.3, 0.85, 1.5]}, ["mux: error"])
    expect(
        sensitivity.line(NUMBER, half, one, double)
        == "| SMALL | 0.1 | its meaning | mux | 0.210 / 0.200 / 0.300 | 0.900 / 0.900 / 0.850 | 2.00 / 2.00 / 1.50"
        " |  | mux: error |",
        sensitivity.line(NUMBER, half, one, double),
    )


@test
def the_document_counts_the_families():
    text = (pathlib.Path(__file__).parents[2] / "docs/ESTIMATE.md").read_text(encoding="utf-8")
    nr = len(scenario.MODES + scenario.FAMILIES)
    expect(f"({nr} families with and without weights, {len(sensitivity.SEEDS)} seeds)" in text, f"not {nr}")


@test
def a_build_that_is_not_the_program_is_refused():
    bench = object.__new__(sensitivity.Bench)
    bench.program = bench.test = bench.normal = bench.normal_test = None
    bench.cases, bench.done = [accuracy.Case("duty", 0, 1)], {"baselines": []}
    was = {"reports": [["digest", []]], "devices": {"turns": [0.01]}}
    for spoilt in ("nothing", "reports", "devices"):
        one = copy.deepcopy(was)
        one[spoilt] = [["another", []]] if spoilt == "reports" else {}
        bench.measure = lambda key, *_, one=one: was if key == "normal" else one
        try:
            bench.first("SMALL")
        except accuracy.Problem:
            expect(spoilt != "nothing", "the same build is refused")
            continue
        expect(spoilt == "nothing", f"other {spoilt} are taken")


@test
def results_of_another_program_are_forgotten():
    with tempfile.TemporaryDirectory() as folder:
        bench = object.__new__(sensitivity.Bench)
        bench.kept = pathlib.Path(folder, "results")
        bench.done = bench.load("a")
        bench.keep("SMALL:2", {"reports": [("digest", ())]})
        expect(bench.load("a") == {"SMALL:2": {"reports": [["digest", []]]}}, "not what was kept")
        expect(bench.load("b") == {} and bench.load("a") == {}, "kept for another program")


def main():
    failed = 0
    for function in TESTS:
        name = f"tools-{function.__name__.replace('_', '-')}"
        try:
            function()
        except Exception as error:  # whatever it is, it is this test's failure
            failed += 1
            print(f"not ok {name}: {type(error).__name__}: {str(error)[:300]}")
        else:
            print(f"ok {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
