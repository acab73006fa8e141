#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on devices, without a virtual machine: folders as the guest leaves
them must pass when the reports are right, and fail in the right test when they are not.
"""

import functools
import sys

import judge
import judge_devices as devices
from results import Scenario
from spoilt import failing_in, refuse_spoilt

NS_PER_S = 1_000_000_000
REPORTS = 5
KEYS = ("bytes", "low", "high")


def wiring():
    return judge.wiring_of("devices_rotation")


def device(bdf, **more):
    return {"bdf": bdf, "kind": "other", **more}


def report(**more):
    return {
        "interval": {"start_ns": 2 * NS_PER_S, "end_ns": 4 * NS_PER_S, "duration_ns": 2 * NS_PER_S},
        "counters": [],
        "workloads": [],
        "unattributed": [],
        "devices": [],
        "quality": {"device_held_ns": 0, "lost": {"io": 0}},
        **more,
    }


def counter(name, value):
    return {"name": name, "unit": "bytes", "valid": True, "value": value, "unattributed": value}


# --- four devices below a port, as if each had been seen exactly

ROTATION = [{"name": n, "pid": 1, "slot": slot, "bytes": 4_000_000_000, "start_ns": NS_PER_S, "end_ns": 9 * NS_PER_S} for n, slot in (("others", 17), ("others", 18))]


def side_of(bdf, side, event):
    number = devices.number_of(bdf)
    whole = 2 * wiring().rate(devices.PMUS[bdf], f"{event}_bytes", f"src_bdf={number},src_bdf_en=1")
    return {f"{side}_bytes": whole, f"{side}_low": whole * 98 // 100, f"{side}_high": whole * 102 // 100 + 2}


def rotation():
    slots, each = {line["slot"]: line["bytes"] for line in ROTATION}, []
    for _ in range(REPORTS):
        found = []
        for bdf in devices.FOUR_SWITCHED:
            entry = device(bdf, filter="requester id", coverage=0.235, turns=20)
            for side, event in devices.SIDES:
                entry.update(side_of(bdf, side, event))
            found.append(entry)
        moved = sum(entry["read_bytes"] + entry["write_bytes"] for entry in found)
        check = {"sum_bytes": moved, "expected_low": moved - 5, "expected_high": moved + 5}
        found.append({"bdf": devices.SWITCH_PORT, "kind": "port", "port_check": check})
        each.append(report(devices=found))
    each[0]["counters"] = [counter("ucf1/mem_bytes_wr/src_loc_cpu=1", 4_000_000_000), counter("ucf0/mem_bytes_rd/src_loc_cpu=1", 0)]
    others = (
        ("nvidia_pcie_tgt_pmu_0_rc_3", "rd_bytes", ""),
        ("nvidia_cmem_latency_pmu_0", "rd_req", ""),
        ("nvidia_nvdlink_pmu_0", "in_rd_cum_outs", ""),
        ("nvidia_ucf_pmu_1", "mem_bytes_wr", "src_loc_cpu=1"),
    )
    text = "".join(
        f"{pmu}/{event}{',' if filters else ''}{filters}/ value {wiring().count(pmu, event, slots, filters)} "
        "enabled_ns 7 running_ns 7\n"
        for pmu, event, filters in others
    )
    return {"all.json": each, "truth": ROTATION, "others": text, "all.status": "0\n"}


def scale(files, part, bdf="0004:04:00.0"):
    for one in files["all.json"]:
        for entry in one["devices"]:
            if entry["bdf"] == bdf:
                for key in KEYS:
                    entry[f"write_{key}"] = int(entry[f"write_{key}"] * part)


def spoil_device(files):
    scale(files, 1.04)
    return {"each_is_near_the_truth", "its_bars_hold"}


def spare_device(files):
    scale(files, 1.015)
    return set()


def spoil_coverage(files):
    for one in files["all.json"]:
        one["devices"][1]["coverage"] = 0.21
    return {"each_has_a_quarter_of_the_time"}


def spoil_settings(files):
    """More than all of the time: two settings must have been there at once."""
    for one in files["all.json"]:
        one["devices"][1]["coverage"] = 0.4
    return {"each_has_a_quarter_of_the_time"}


def spoil_bars(files):
    for one in files["all.json"]:
        one["devices"][0]["read_high"] = one["devices"][0]["read_bytes"] - 10
    return {"its_bars_hold"}


def spoil_width(files):
    for one in files["all.json"]:
        one["devices"][2]["write_low"] = 0
    return {"its_bars_hold"}


def spoil_port(files):
    for one in files["all.json"][2:4]:
        one["devices"][4]["port_check"]["sum_bytes"] += 6
    return {"the_port_fits"}


def spare_port(files):
    files["all.json"][2]["devices"][4]["port_check"]["sum_bytes"] += 6
    return set()


def spoil_checks(files):
    for one in files["all.json"]:
        del one["devices"][4]["port_check"]
    return {"the_port_fits"}


def spoil_others(files):
    files["others"] = files["others"].replace("running_ns 7", "running_ns 6", 1)
    return {"nobody_else_is_disturbed"}


def spoil_fabric(files):
    files["all.json"][0]["counters"][0]["value"] -= 1
    return {"nobody_else_is_disturbed"}


# --- a disk

PROGRAMS = [
    {"name": "reader", "pid": 11, "read_bytes": 40 << 20, "written_bytes": 0, "requests": 320},
    {"name": "writer", "pid": 12, "read_bytes": 0, "written_bytes": 9 << 20, "requests": 576},
    {"name": "mixed", "pid": 13, "read_bytes": 1 << 20, "written_bytes": 1 << 20, "requests": 512},
]
MOVED = {"read": 10 << 20, "write": 41 << 20}  # memory


def parts(line):
    both = {"read": line["written_bytes"], "write": line["read_bytes"]}
    return {
        "bdf": devices.DISK,
        **{f"{side}_{key}": count for side, count in both.items() for key in KEYS},
        **{f"io_{side}_bytes": count for side, count in both.items()},
    }


def shares(line):
    part = parts(line)
    return [
        {"counter": f"ucf0/mem_bytes_{event}/src_loc_noncpu=1", **dict.fromkeys(("value", "low", "high"), part[f"{side}_bytes"])}
        for side, event in devices.SIDES
    ]


def disk(of_cgroups=False):
    entry = device(devices.DISK, name="vda", coverage=1.0, io={}, attributed={}, unattributed={})
    for side in ("read", "write"):
        for where in (entry, entry["io"], entry["attributed"]):
            where[f"{side}_bytes"] = MOVED[side]
        entry["unattributed"][f"{side}_bytes"] = 0
    rows = [
        {"pid": None if of_cgroups else line["pid"], "devices": [parts(line)], "shares": shares(line),
         "cgroup": {"path": f"/io/{line['name']}"}}
        for line in PROGRAMS
    ]
    counters = [counter(f"ucf0/mem_bytes_{event}/src_loc_noncpu=1", MOVED[side]) for side, event in devices.SIDES]
    return report(devices=[entry], workloads=rows, counters=counters)


def io():
    files = {"all.json": [disk()], "truth.live": PROGRAMS, "truth.record": PROGRAMS, "table.out": "vda\n"}
    for name in ("process", "again", "cgroup"):
        files[f"{name}.json"] = [{"summary": True, **disk(name == "cgroup")}]
    for name in ("process", "again", "cgroup", "record", "table"):
        files[f"{name}.status"] = "0\n"
    for name in ("totals", "totals2"):
        files[f"{name}.before"] = [{"read_bytes": 4096, "written_bytes": 0}]
        files[f"{name}.after"] = [{"read_bytes": 4096 + MOVED["write"], "written_bytes": MOVED["read"]}]
    return files


def spoil_disk(files):
    entry = files["all.json"][0]["devices"][0]
    entry["read_bytes"] += 1
    entry["unattributed"]["read_bytes"] += 1
    return {"no_byte_of_the_disk_is_invented_or_lost"}


def spoil_io_split(files):
    rows = files["process.json"][0]["workloads"]
    rows[0]["devices"][0]["write_bytes"] -= 2 << 20
    rows[2]["devices"][0]["write_bytes"] += 2 << 20
    rows = files["again.json"][0]["workloads"]
    rows[0]["devices"][0]["write_bytes"] -= 2 << 20
    rows[2]["devices"][0]["write_bytes"] += 2 << 20
    return {"each_program_has_its_own"}


def spoil_requests(files):
    files["all.json"][0]["workloads"][1]["devices"][0]["io_read_bytes"] -= 512
    return {"requests_are_exact"}


def spoil_io_bar(files):
    files["all.json"][0]["workloads"][2]["devices"][0]["write_high"] -= 1
    return {"bars_hold"}


def move_to_mixed(files, count):
    """Of the reader's: much for "mixed", little for the reader. Bars tell it."""
    for name in ("all", "process", "again", "cgroup"):
        rows = files[f"{name}.json"][0]["workloads"]
        for row, part in ((rows[0], -count), (rows[2], count)):
            row["devices"][0]["write_bytes"] += part
            row["shares"][1]["value"] += part


def spoil_small(files):
    move_to_mixed(files, 300_000)
    return {"each_program_has_its_own", "the_fabrics_bytes_are_the_owners", "cgroups_have_what_is_in_them"}


def spare_small(files):
    move_to_mixed(files, 150_000)
    return set()


def spoil_rest(files):
    entry = files["all.json"][0]["devices"][0]
    entry["attributed"]["write_bytes"] -= 2 << 20
    entry["unattributed"]["write_bytes"] += 2 << 20
    return {"little_is_left_over"}


def spoil_booking(files):
    files["all.json"][0]["workloads"][0]["shares"][1]["value"] -= 3 << 20
    return {"the_fabrics_bytes_are_the_owners"}


def spoil_cgroup(files):
    files["cgroup.json"][0]["workloads"][1]["devices"][0]["read_bytes"] = 0
    return {"cgroups_have_what_is_in_them"}


def spoil_replay(files):
    files["again.json"][0]["workloads"][1]["devices"][0]["read_bytes"] += 1
    return {"a_recording_says_the_same_each_time"}


# --- functions that go and come back

BEFORE, AFTER = 1, 4  # reports with traffic; in those between they are away
TRAFFIC = 1_000_000
# Part of the time in which each was counted
TURNS = {"0002:c1:00.1": 0.45, "0002:c1:00.2": 0.5, "0004:07:00.0": 0.97, "000a:81:00.0": 1.0}


def hotplug():
    """The virtual functions had nearly half of the traffic in the turns of each."""
    each, truth = [], []
    slots = (8, 10, 11, 12)
    for n in range(REPORTS):
        start = (2 * n + 1) * NS_PER_S
        moved, found = TRAFFIC if n in (BEFORE, AFTER) else 0, []
        for bdf, part in TURNS.items():
            entry = device(bdf, coverage=part)
            for side, event in devices.SIDES:
                number = devices.number_of(bdf)
                count = wiring().count(
                    devices.PMUS[bdf], f"{event}_bytes", dict.fromkeys(slots, moved), f"src_bdf={number},src_bdf_en=1"
                )
                seen = 0.47 * count if bdf in devices.VFS else count * part
                entry.update({f"{side}_bytes": round(seen / part), f"{side}_low": count // 3, f"{side}_high": 3 * count})
            found.append(entry)
        length = {"start_ns": start, "end_ns": start + 2 * NS_PER_S, "duration_ns": 2 * NS_PER_S}
        each.append(report(devices=found, interval=length))
        each[n]["quality"]["device_changes"] = 3 if BEFORE < n < AFTER else 0
        if moved:
            name = "before" if n == BEFORE else "after"
            truth += [{"name": name, "slot": slot, "bytes": moved, "start_ns": start + 1, "end_ns": start + 2} for slot in slots]
    words = "".join(f"{bdf} was removed\n{bdf} is back\n" for bdf in TURNS)
    listed = "".join(f"{bdf} 15b3\n" for bdf in TURNS)
    return {"all.json": each, "truth": truth, "all.err": words, "all.status": "0\n", "list": listed, "cpumask": "3\n"}


def of_device(files, n, bdf):
    return next(entry for entry in files["all.json"][n]["devices"] if entry["bdf"] == bdf)


def spoil_turn(files):
    """Bytes of a turn that nobody has."""
    of_device(files, AFTER, "0002:c1:00.1")["read_bytes"] //= 2
    return {"no_byte_is_wrong"}


def spare_turn(files):
    """One had more of the traffic in its turns, the other less, and each report says what it saw."""
    of_device(files, AFTER, "0002:c1:00.1")["read_bytes"] = int(0.9 * TRAFFIC / TURNS["0002:c1:00.1"])
    of_device(files, AFTER, "0002:c1:00.2")["write_bytes"] = int(0.04 * TRAFFIC / TURNS["0002:c1:00.2"])
    return set()


def spoil_twice(files):
    """The same bytes in both turns."""
    for n in (BEFORE, AFTER):
        of_device(files, n, "0002:c1:00.2")["write_bytes"] = round(0.6 * TRAFFIC / TURNS["0002:c1:00.2"])
    return {"no_byte_is_wrong"}


def spoil_scale(files):
    """As if it had counted all of the time."""
    for n in (BEFORE, AFTER):
        of_device(files, n, "0004:07:00.0")["coverage"] = 0.5
    return {"no_byte_is_wrong"}


def spoil_hotplug_bar(files):
    for n in (BEFORE, AFTER):
        of_device(files, n, "0002:c1:00.2")["write_high"] = TRAFFIC - 1
    return {"no_byte_is_wrong"}


def spoil_side(files):
    of_device(files, AFTER, "0002:c1:00.1")["write_bytes"] = 5
    return {"no_byte_is_wrong"}


def spoil_absent(files):
    of_device(files, BEFORE + 1, "0004:07:00.0")["read_bytes"] = 1
    return {"who_is_away_moves_nothing"}


def spoil_between(files):
    """One long report instead: nothing can be said of the time in which they were away."""
    del files["all.json"][BEFORE + 1 : AFTER]
    files["all.json"][BEFORE]["quality"]["device_changes"] = 6
    return {"who_is_away_moves_nothing"}


# --- all devices: one of them moves data

FABRIC = "ucf0/mem_bytes_{}/src_loc_noncpu=1"


def everything():
    moved = 2_000_000_000
    truth = [{"name": "nvme", "pid": 1, "slot": n, "bytes": moved * REPORTS, "start_ns": 0, "end_ns": 9 * NS_PER_S} for n in (2, 3)]
    each = []
    for _ in range(REPORTS):
        entry = device("0002:a1:00.0", coverage=1.0, covered_ns=2 * NS_PER_S)
        entry.update({f"{side}_{key}": moved for side, _ in devices.SIDES for key in KEYS})
        counters = [counter(FABRIC.format(event), moved) for _, event in devices.SIDES]
        each.append(report(devices=[entry], counters=counters))
    return {"all.json": each, "truth": truth, "all.status": "0\n", "short.status": "0\n"}


def spoil_short(files):
    files["short.status"] = "3\n"
    return {"who_lacks_its_turn_is_no_failure"}


def change(files, n, **more):
    files["all.json"][n]["devices"][0].update(more)


def spoil_late(files):
    change(files, 1, read_bytes=0, read_low=0, read_high=0)
    change(files, 2, **{f"read_{key}": 4_000_000_000 for key in KEYS})
    return {"a_device_has_no_more_than_its_socket"}


def spare_late(files):
    spoil_late(files)
    change(files, 2, read_low=1_900_000_000)
    return set()


def spoil_covered(files):
    change(files, 2, covered_ns=3 * NS_PER_S)
    return {"a_device_has_no_more_than_its_socket"}


def spoil_sum(files):
    change(files, 2, write_bytes=1_999_999_999)
    return {"sums_are_exact"}


CASES = {
    "devices_all": (everything, (spoil_late, spare_late, spoil_covered, spoil_sum, spoil_short)),
    "devices_rotation": (
        rotation,
        (spoil_device, spare_device, spoil_coverage, spoil_settings, spoil_bars, spoil_width, spoil_port, spare_port,
         spoil_checks, spoil_others,
         spoil_fabric),
    ),
    "devices_io": (
        io,
        (spoil_disk, spoil_io_split, spoil_requests, spoil_io_bar, spoil_small, spare_small, spoil_rest, spoil_booking,
         spoil_cgroup, spoil_replay),
    ),
    "devices_hotplug": (
        hotplug,
        (spoil_turn, spare_turn, spoil_twice, spoil_scale, spoil_hotplug_bar, spoil_side, spoil_absent, spoil_between),
    ),
}


def failures(scenario, files):
    return failing_in(files, judge.TESTS[scenario], lambda folder: Scenario(folder, wiring()))


def main():
    devices.show = lambda *_: None
    wrong = 0
    for scenario, (make, cases) in CASES.items():
        wrong += refuse_spoilt(scenario, make, functools.partial(failures, scenario), cases)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
