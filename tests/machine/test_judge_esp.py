#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the tests on the monitors of an ESP notice wrong results? Each spoils what is right, and names
the test that must fail then. Needs no machine."""

import functools
import sys

import judge_esp as esp
from results import Scenario
from spoilt import failing_in, refuse_spoilt

SIZE = 800_000_000
PARTS = {"light": (0,), "heavy": (0, 1), "left": (5,), "right": (0,), "first": (2, 3), "second": (2, 3)}
PIDS = {name: number for number, name in enumerate(PARTS, 50)}
READS, WRITES = esp.BY_CPUS
COUNTERS = (*READS, *WRITES, *esp.BY_DMA)


def program(name, slots):
    return [{"name": name, "pid": PIDS.get(name, 9), "slot": slot, "bytes": SIZE} for slot in slots]


def counter(name, value):
    return {"name": name, "value": value, "valid": True}


def counters():
    """esp_counters: two reports, what was moved is in the second; cycles are in both"""
    steady = [counter(f"acc2/{name}", 50) for name in ("acc_tlb", "noc_queue_full_plane5_north")]
    counts = esp.counts_of({4: SIZE})
    return {
        "stat.json": [{"counters": [counter(name, value) for name, value in some.items()] + steady} for some in ({}, counts)],
        "truth": program("all", (4,)),
        "unfrozen": "0x00000001 0x00000002\n",
        "stat.status": "0\n",
    }


def sets():
    """esp_sets: each set has what esp/traffic.conf gives it"""
    counts = esp.counts_of({4: SIZE})
    lines = []
    for number, tiles in enumerate(esp.SETS):
        lines.append(f"set {number}")
        for tile, numbers in tiles.items():
            names = {esp.WORDS[i]: f"{esp.TILES[tile]}/{esp.COUNTERS[i]}" for i in numbers}
            lines += [f"tile {tile}: {words}: {counts.get(name, 0)}" for words, name in names.items()]
    return {
        "sets.out": "\n".join(lines),
        "sets.status": "0\n",
        "truth": program("all", (4,)),
        "released": "\n".join(["0x00000000"] * len(esp.TILES)),
    }


def rows():
    """esp_rows: everybody has what he moved"""
    truth = [line for name, slots in PARTS.items() for line in program(name, slots)]
    workloads = []
    for name, slots in PARTS.items():
        moved = SIZE * len(slots)
        row = {"pid": PIDS[name], "shares": [], "devices": []}
        if slots[0] in (0, 5):
            row["shares"] = [{"counter": READS[0 if slots[0] else 2], "value": moved, "low": 0, "high": 2 * moved}]
        else:
            row["devices"] = [{"bdf": "acc0", "read_bytes": moved}]
        workloads.append(row)
    of_slot = [sum(line["bytes"] for line in truth if line["slot"] == slot) for slot in range(6)]
    values = dict(zip((READS[2], WRITES[2], *esp.BY_DMA, None, READS[0]), of_slot))
    devices = []
    for _ in ("first", "second"):
        words = 2 * SIZE // 8
        work = {"invocations": words // 8, "cycles": words, "memory_cycles": words, "tlb_cycles": 0}
        work["per_invocation"] = {"cycles": 8.0, "memory_cycles": 8.0, "tlb_cycles": 0.0}
        devices.append({"bdf": "acc0", "work": work})
    return {
        "all.json": [
            {"counters": [counter(name, values.get(name, 0)) for name in COUNTERS], "workloads": workloads, "devices": devices}
        ],
        "truth": truth,
        "all.status": "0\n",
    }


def refusals():
    """esp_refusals: all is said, and one tile was frozen for a while"""
    ones = "tile 8, empty1: all registers read all ones is the description that of this bitstream?"
    said = {
        "other": "this machine is not an ESP: its memory is not touched",
        "larger": ones,
        "short": "/tmp/registers has 4095 bytes; 8 tiles need 4096 from 0x0 on",
        "stuck": "tile 0, mem0: its monitors stay frozen",
    }
    free = ["0x00000000"] * len(esp.TILES)
    controls = {"untouched": free, "left": ["0x00000001", *free[1:]], "released": free}
    return {
        **{f"{name}.err": text for name, text in said.items()},
        **{f"{name}.status": "1\n" for name in said},
        **{name: "\n".join(words) for name, words in controls.items()},
        "again.err": "1 tile had been left frozen by another program: released",
        "again.out": "",
        "again.status": "0\n",
    }


def failed(scenario, files):
    return failing_in(files, esp.TESTS[scenario], lambda folder: Scenario(folder, None), scenario)


def one_too_much(files):
    files["stat.json"][1]["counters"][7]["value"] += 2
    return {"every_counter_is_exact"}


def one_is_missing(files):
    del files["stat.json"][1]["counters"][0]
    return {"every_counter_is_exact"}


def too_little_to_go_around(files):
    files["truth"][0]["bytes"] = 8_000_000
    for report in files["stat.json"]:
        report["counters"] = report["counters"][-2:]
    files["stat.json"][1]["counters"] += [counter(*one) for one in esp.counts_of({4: 8_000_000}).items()]
    return {"every_counter_went_around"}


def torn(files):
    files["stat.json"][0]["counters"][0]["value"] += 1
    return {"values_of_a_tile_belong_together"}


def alike_without_freezing(files):
    files["unfrozen"] = "0x00000001 0x00000001\n"
    return {"values_of_a_tile_belong_together"}


def dma_for_cpus(files):
    counters_of = files["all.json"][0]["counters"]
    first, last = counters_of[0], counters_of[-1]
    first["value"], last["value"] = first["value"] + 16, last["value"] - 16
    return {"every_access_is_counted"}


def half_for_another(files):
    light, heavy = files["all.json"][0]["workloads"][:2]
    for row, value in ((light, 1.5 * SIZE), (heavy, 1.5 * SIZE)):
        row["shares"][0]["value"] = value
    return {"accesses_are_those_of_who_made_them"}


def narrow_bars(files):
    files["all.json"][0]["workloads"][0]["shares"][0]["high"] = SIZE // 2
    return {"accesses_are_those_of_who_made_them"}


def task_has_dma(files):
    files["all.json"][0]["workloads"][0]["shares"].append({"counter": esp.BY_DMA[1], "value": 8, "low": 8, "high": 8})
    return {"dma_is_of_nobody_but_who_has_the_accelerator"}


def the_first_has_all(files):
    first, second = files["all.json"][0]["workloads"][4:]
    first["devices"][0]["read_bytes"] += second["devices"].pop()["read_bytes"]
    return {"an_accelerator_is_of_who_has_it_open"}


def tiles_are_alike(files):
    left, right = files["all.json"][0]["workloads"][2:4]
    left["shares"][0]["value"], right["shares"][0]["value"] = 1.3 * SIZE, 0.7 * SIZE
    return {"the_part_of_a_cpu_tile_is_what_its_l2_missed"}


def time_divides(files):
    by_time, by_misses = files["all.json"][0]["counters"][1], files["all.json"][0]["counters"][0]
    by_time["value"], by_misses["value"] = by_misses["value"], by_time["value"]
    return {"misses_divide_nearly_all"}


def an_invocation_too_many(files):
    work = files["all.json"][0]["devices"][0]["work"]
    work["invocations"] += 3
    for key in work["per_invocation"]:
        work["per_invocation"][key] = work[key] / work["invocations"]
    return {"work_of_an_accelerator_is_counted"}


def a_wrong_mean(files):
    files["all.json"][0]["devices"][0]["work"]["per_invocation"]["cycles"] += 0.5
    return {"work_of_an_accelerator_is_counted"}


def nobody_was_killed_in_between(files):
    files["left"] = files["released"]
    return {"who_is_killed_leaves_a_tile_frozen_and_the_next_one_says_so"}


def it_is_still_frozen(files):
    files["released"] = files["left"]
    return {"who_is_killed_leaves_a_tile_frozen_and_the_next_one_says_so"}


def one_is_left_frozen(files):
    files["untouched"] = files["left"]
    return {"who_is_refused_leaves_nothing_frozen"}


def all_ones_are_counts(files):
    files["larger.status"] = "0\n"
    return {"all_ones_behind_the_last_tile"}


def a_set_is_wrong_by_one(files):
    files["sets.out"] = files["sets.out"].replace("memory cycles: ", "memory cycles: 1", 1)
    return {"every_set_has_its_counters_and_no_others"}


def a_set_has_more(files):
    files["sets.out"] = files["sets.out"].replace("set 1\n", "set 1\ntile 0: LLC hits: 0\n")
    return {"every_set_has_its_counters_and_no_others"}


SPOILS = {
    "esp_counters": (counters, (one_too_much, one_is_missing, too_little_to_go_around, torn, alike_without_freezing)),
    "esp_sets": (sets, (a_set_is_wrong_by_one, a_set_has_more)),
    "esp_refusals": (
        refusals,
        (nobody_was_killed_in_between, it_is_still_frozen, one_is_left_frozen, all_ones_are_counts),
    ),
    "esp_rows": (
        rows,
        (
            dma_for_cpus,
            half_for_another,
            narrow_bars,
            task_has_dma,
            the_first_has_all,
            tiles_are_alike,
            time_divides,
            an_invocation_too_many,
            a_wrong_mean,
        ),
    ),
}


def main():
    wrong = 0
    for scenario, (right, spoils) in SPOILS.items():
        wrong += refuse_spoilt(scenario, right, functools.partial(failed, scenario), spoils)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
