# SPDX-License-Identifier: GPL-2.0-only
"""Tests on the monitors of an ESP, whose registers are the machine's (plugin/esp.c); see judge.py.

What is right comes from the programs: a slot's bytes, and esp/traffic.conf says what they are.
"""

import json
import pathlib

from results import by_pid, estimate, expect, expect_close, expect_equal, inside, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {name: ("t410,esp", "esp/traffic.conf") for name in ("esp_counters", "esp_sets", "esp_rows", "esp_refusals")}
CONF = pathlib.Path(__file__).resolve().parent / "esp/traffic.conf"
TILES = ("mem0", "cpu0", "cpu1", "acc0", "acc1", "acc2", "misc0", "empty0")
# By number, as in the guide; of a pair the name without its ending
COUNTERS = (
    "ddr_accesses coh_reqs coh_fwds coh_rsps_rcv coh_rsps_snd dma_reqs dma_rsps coh_dma_reqs coh_dma_rsps"
    " l2_hits l2_misses llc_hits llc_misses acc_tlb acc_mem acc_mem acc_tot acc_tot acc_invocations"
    " dvfs_op_0 dvfs_op_1 dvfs_op_2 dvfs_op_3"
).split()
COUNTERS += [f"noc_inject_plane{plane}" for plane in range(6)]
COUNTERS += [f"noc_queue_full_plane{p}_{q}" for p in range(6) for q in ("local", "east", "west", "south", "north")]
# Their words in ESP's vocabulary; of a pair both numbers have the text of the first
WORDS = (
    "accesses to DRAM;coherence requests received;coherence forwards sent;coherence responses received;"
    "coherence responses sent;DMA requests received;DMA responses sent;coherent DMA requests received;"
    "coherent DMA responses sent;L2 hits;L2 misses;LLC hits;LLC misses;TLB cycles;memory cycles;memory cycles;"
    "total cycles;total cycles;invocations"
).split(";")
WORDS += [f"cycles at operating point {point}" for point in range(4)]
WORDS += [f"packets injected on plane {plane}" for plane in range(6)]
WORDS += [
    f"cycles in which a queue was full, plane {p}, {q}" for p in range(6) for q in ("local", "east", "west", "south", "north")
]
# The nine sets, by tile: numbers of counters; guest/esp_sets.c has the tiles, accelerator and plane
SETS = (
    {0: range(1)},
    {0: range(1, 9)},
    {1: range(9, 11), 2: range(9, 11)},
    {0: range(11, 13)},
    {3: range(13, 19)},
    {2: range(19, 23)},
    {6: range(23, 29)},
    {7: range(29, 59)},
    {tile: range(49, 54) for tile in range(8)},
)
# From here on a counter of 32 bits goes around
TO_WRAP = 2**32 - 0xFFF00000
# Reads and writes; of each CPU tile, divided by misses or by time
BY_CPUS = tuple(
    tuple(f"mem0/ddr_accesses/cpu{cpu}_{way}{how}" for cpu in range(2) for how in ("", "_by_time")) for way in ("rd", "wr")
)
BY_DMA = ("mem0/ddr_accesses/dma_rd", "mem0/ddr_accesses/dma_wr")


def counts_of(slot_bytes):
    """What each counter has seen, from the bytes of all slots together."""
    counts = {}
    for line in CONF.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if not words or words[0] != "slot":
            continue
        keys = dict(word.split("=") for word in words[4:] if "=" in word)
        for word in words[4:]:
            if "=" in word:
                continue
            number, unit = word.split(":")
            name = f"{TILES[int(keys['tile'])]}/{COUNTERS[int(number)]}"
            size = 64 if unit == "lines" else int(keys["req"])
            counts[name] = counts.get(name, 0) + slot_bytes.get(int(words[1]), 0) // size
    return counts


def sets_of(text):
    """What esp_sets printed: for each set, counts by tile and words."""
    sets = []
    for line in text.splitlines():
        if line.startswith("set "):
            require(line == f"set {len(sets)}", line)
            sets.append({})
            continue
        words, count = line.rsplit(": ", 1)
        sets[-1][words] = int(count)
    return sets


def as_moved(found, truth, what):
    """One more may be what was left of an access when an earlier scenario ended."""
    require(truth <= found <= truth + (truth > 0), f"{what} is {found}, expected {truth}")


def slot_bytes(s, *names):
    found = {}
    for line in s.truth().lines:
        if line["name"] in names:
            found[line["slot"]] = found.get(line["slot"], 0) + line["bytes"]
    return found


def stat_counters(s):
    """Counts by name, of all reports; each must be known."""
    found = {}
    for report in s.reports("stat").each:
        for counter in report["counters"]:
            require(counter["valid"], f"{counter['name']} has no data")
            found.setdefault(counter["name"], []).append(counter["value"])
    return found


@test("esp_counters")
def every_counter_is_exact(s):
    s.expect_complete("stat")
    truth = counts_of(slot_bytes(s, "all"))
    expect_equal({name.split("/")[1] for name, count in truth.items() if count}, set(COUNTERS), "counters with traffic")
    found = stat_counters(s)
    require(set(truth) <= set(found), f"counters that are not shown: {set(truth) - set(found)}")
    for name, values in found.items():
        if name not in ("acc2/acc_tlb", "acc2/noc_queue_full_plane5_north"):
            as_moved(sum(values), truth.get(name, 0), name)


@test("esp_counters")
def every_counter_went_around(s):
    """A pair has 64 bits: its low word did."""
    for name, values in stat_counters(s).items():
        if name in counts_of({4: 1 << 40}) and sum(values) and name != "cpu1/l2_misses":
            require(sum(values) > TO_WRAP, f"{name} counted {sum(values)} only")


@test("esp_counters")
def values_of_a_tile_belong_together(s):
    found = stat_counters(s)
    require(any(found["acc2/acc_tlb"]), "nothing was counted")
    expect_equal(found["acc2/acc_tlb"], found["acc2/noc_queue_full_plane5_north"], "counters of each interval")
    first, last = s.text("unfrozen").split()
    require(first != last, f"they are alike without freezing, too: {first}")


@test("esp_sets")
def every_set_has_its_counters_and_no_others(s):
    s.expect_complete("sets")
    truth = counts_of(slot_bytes(s, "all"))
    found = sets_of(s.text("sets.out"))
    expect_equal(len(found), len(SETS), "number of sets")
    seen = set()
    for number, tiles in enumerate(SETS):
        wanted = {}
        for tile, counters in tiles.items():
            names = {WORDS[i]: f"{TILES[tile]}/{COUNTERS[i]}" for i in counters}
            wanted.update({f"tile {tile}: {words}": truth.get(name, 0) for words, name in names.items()})
            seen.update(COUNTERS[i] for i in counters)
        expect_equal(set(found[number]), set(wanted), f"counters of set {number}")
        for name, count in found[number].items():
            as_moved(count, wanted[name], f"set {number}, {name}")
        require(any(wanted.values()), f"set {number}: nothing was counted")
    expect_equal(seen, set(COUNTERS), "counters of all sets")
    expect_equal(frozen(s, "released"), 0, "frozen tiles")


@test("esp_rows")
def every_access_is_counted(s):
    s.expect_complete("all")
    truth = slot_bytes(s, "light", "heavy", "left", "right", "first", "second")
    # The CPUs read by a slot each, and each counts whole words
    truth[0] = sum(truth.pop(slot) // 8 * 8 for slot in (0, 5))
    found = s.reports("all").counters()
    # Words that passed the queues tell them apart: all are of one moment, for the tile was frozen
    for slot, names in enumerate((*BY_CPUS, *((name,) for name in BY_DMA))):
        as_moved(sum(found[name] for name in names) // 8, truth[slot] // 8, names[0])


@test("esp_rows")
@estimate
def the_part_of_a_cpu_tile_is_what_its_l2_missed(s):
    """Two who have a CPU each all the time; one moves eight times as much."""
    reports = s.reports("all")
    for name in ("left", "right"):
        pid = s.truth().named(name)[0]["pid"]
        found = sum(reports.share(c, by_pid(pid))["value"] for c in BY_CPUS[0])
        expect_close(found, s.truth().bytes(name), 0.15, name)


@test("esp_rows")
@estimate
def misses_divide_nearly_all(s):
    found = s.reports("all").counters()
    by_time = sum(found[name] for names in BY_CPUS for name in names if name.endswith("_by_time"))
    whole = sum(found[name] for names in BY_CPUS for name in names)
    expect(by_time < 0.02 * whole, f"{by_time} bytes of {whole} are divided by time")


@test("esp_rows")
def work_of_an_accelerator_is_counted(s):
    """Each slot may have had a part of an access left from an earlier scenario."""
    moved = slot_bytes(s, "first", "second").values()
    words, lines = (sum(count // size for count in moved) for size in (8, 64))
    work = [device["work"] for report in s.reports("all").each for device in report["devices"] if device["bdf"] == "acc0"]
    for key, truth in (("cycles", words), ("memory_cycles", words), ("tlb_cycles", 0), ("invocations", lines)):
        found = sum(one[key] for one in work)
        require(truth <= found <= truth + 2 * (truth > 0), f"{key} are {found}, expected {truth}")
    for one in work:
        means = {key: one[key] / one["invocations"] for key in one if key.endswith("cycles") and one["invocations"]}
        told = one.get("per_invocation", {})
        expect_equal(set(told), set(means), "means")
        require(all(abs(told[key] - mean) < 1e-6 for key, mean in means.items()), f"{told}, expected {means}")


@test("esp_rows")
@estimate
def accesses_are_those_of_who_made_them(s):
    """Two who stop and go on one CPU; one moves eight times as much in the same time."""
    reports = s.reports("all")
    for name in ("light", "heavy"):
        pid = s.truth().named(name)[0]["pid"]
        whole = {key: sum(reports.share(c, by_pid(pid))[key] for names in BY_CPUS for c in names) for key in ("value", "low", "high")}
        inside(whole, s.truth().bytes(name), name, 0.02)
        expect_close(whole["value"], s.truth().bytes(name), 0.25, name)


@test("esp_rows")
def dma_is_of_nobody_but_who_has_the_accelerator(s):
    theirs = {s.truth().named(name)[0]["pid"] for name in ("first", "second")}
    for name in BY_DMA:
        rows = s.reports("all").share(name, lambda row: row["pid"] not in theirs)
        expect_equal(rows["value"], 0, f"{name} of other tasks")


@test("esp_rows")
@estimate
def an_accelerator_is_of_who_has_it_open(s):
    """Of one process, then of another: each has its own bytes, but for those before its first look and
    behind its last one. A look may take a hundredth of the time: where it takes more CPU time, because
    the emulated CPU has to wait, there are fewer looks, and none at the ends of intervals."""
    reports = s.reports("all")
    for name in ("first", "second"):
        pid = s.truth().named(name)[0]["pid"]
        found = sum(
            part.get("read_bytes", 0) + part.get("write_bytes", 0)
            for row in reports.rows(by_pid(pid))
            for part in row.get("devices", [])
            if part["bdf"] == "acc0"
        )
        expect(0.4 * s.truth().bytes(name) < found, f"{name} has {found} bytes of {s.truth().bytes(name)}")
        require(found <= 1.001 * s.truth().bytes(name), f"{name} has {found} bytes of {s.truth().bytes(name)}")


def frozen(s, name):
    """How many of the eight tiles are."""
    words = s.text(name).split()
    expect_equal(len(words), len(TILES), f"control words in {name}")
    require(set(words) <= {"0x00000000", "0x00000001"}, f"control words {words}")
    return words.count("0x00000001")


def refused(s, name, *texts):
    expect_equal(s.status(name), 1, "exit status")
    for text in texts:
        require(text in s.words(f"{name}.err"), s.words(f"{name}.err"))


@test("esp_refusals")
def a_machine_that_is_no_esp_is_not_touched(s):
    refused(s, "other", "this machine is not an ESP", "its memory is not touched")


@test("esp_refusals")
def all_ones_behind_the_last_tile(s):
    """The description is of a larger system-on-chip."""
    refused(s, "larger", "tile 8, empty1: all registers read all ones", "is the description that of this bitstream?")


@test("esp_refusals")
def a_short_window_is_refused(s):
    refused(s, "short", "/tmp/registers has 4095 bytes; 8 tiles need 4096")


@test("esp_refusals")
def a_tile_that_stays_frozen_is_named(s):
    refused(s, "stuck", "tile 0, mem0: its monitors stay frozen")


@test("esp_refusals")
def who_is_refused_leaves_nothing_frozen(s):
    expect_equal(frozen(s, "untouched"), 0, "frozen tiles")


@test("esp_refusals")
def who_is_killed_leaves_a_tile_frozen_and_the_next_one_says_so(s):
    require(frozen(s, "left") == 1, "no reader was killed while it had a tile frozen")
    s.expect_complete("again")
    require("1 tile had been left frozen" in s.words("again.err") + s.words("again.out"), s.words("again.err"))
    expect_equal(frozen(s, "released"), 0, "frozen tiles")
