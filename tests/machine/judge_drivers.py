# SPDX-License-Identifier: GPL-2.0-only
"""Tests of PMUs of other makers with their own drivers: the part of judge.py that is about
guest_drivers.sh.
"""

import re

from results import (
    Truth,
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
from stat_results import StatRun

TESTS = {}
test = tests_into(TESTS)
# Shapes of the machine, and bytes of a count
SHAPES = {"ampereone": 64, "kunpeng": 32, "cmn": 64}
SCENARIOS = (
    "ampereone_counts",
    "ampereone_rows",
    "ampereone_hotplug",
    "ampereone_ports",
    "kunpeng_counts",
    "kunpeng_rows",
    "kunpeng_wraps",
    "kunpeng_hotplug",
    "cmn_counts",
    "cmn_rows",
    "cmn_wraps",
    "cmn_hotplug",
)
MACHINES = {
    name: (shape, f"traffic/scenarios/{shape}.conf") for name in SCENARIOS for shape in [name.split("_")[0]]
}
COUNTED = [name for name in SCENARIOS if name.endswith(("_counts", "_wraps"))]
ROWS = [name for name in SCENARIOS if name.endswith("_rows")]
HOTPLUG = [name for name in SCENARIOS if name.endswith("_hotplug")]
PMUS_OF_SOCKET = 8
# Bytes of a count of the mesh, and what counts them
MESH = {
    "hnf_mc_reqs": ("cmn", "rd", 64),
    "rnid_rxdat_flits": ("rnd", "rd", 32),
    "rnid_txdat_flits": ("rnd", "wr", 32),
    "sbsx_txdat_flitv": ("sbsx", "rd", 32),
}
READ1 = 2  # the slot


def shape_of(s):
    return MACHINES[s.folder.name][0]


@test(*COUNTED)
def every_counter_is_exact(s):
    found, truth = s.reports("all").counters(), s.truth().counters()
    expect_equal(len(found), 2 if shape_of(s) == "cmn" else 4, "counters")
    expect(len(truth) >= 2, f"only {len(truth)} counters had traffic")
    for name, count in found.items():
        expect_equal(count, truth.get(name, 0), name)


@test(*COUNTED, *ROWS)
def rows_and_the_rest_are_the_counter(s):
    reports = s.reports("all")
    for name, count in reports.counters().items():
        parts = reports.share(name, lambda row: True)["value"] + sum(reports.unattributed(name).values())
        expect_equal(parts, count, name)
    s.expect_complete("all")
    reports.expect_nothing_lost()


@test(*COUNTED)
def nothing_was_scaled(s):
    """Each socket is a sum over eight PMUs."""
    for report in s.reports("all").each:
        for counter in report["counters"]:
            expect_equal(counter["running_ns"], counter["enabled_ns"], f"{counter['name']}: time it counted")


def perf_sums(s):
    """Bytes by counter of a report, from what perf counted of each PMU."""
    sums = {}
    for event, (count, percent) in s.perf().items():
        expect_equal(percent, 100.0, f"{event}: time it ran in percent")
        pmu, name, _ = event.split("/")
        number = re.fullmatch(r"ampere_mcu_pmu_(\d+)|(?:hisi_sccl|arm_cmn_)(\d+)(?:_ddrc\d+)?", pmu)
        socket = int(number[1]) // PMUS_OF_SOCKET if number[1] else int(number[2])
        if name in MESH:
            kind, direction, size = MESH[name]
        else:
            kind, size = "mcu" if number[1] else "ddrc", SHAPES[shape_of(s)]
            direction = "rd" if name in ("rd_rda_sent", "flux_rd") else "wr"
        counter = s.wiring.counter(kind, [f"socket={socket}", f"dir={direction}"])
        sums[counter] = sums.get(counter, 0) + count * size
    return {counter: count for counter, count in sums.items() if count}


@test("ampereone_counts", "cmn_counts")
def perf_counts_the_same_beside_it(s):
    expect_equal(perf_sums(s), s.truth().counters(), "what perf counted")


@test("kunpeng_counts", "cmn_wraps")
def perf_alone_counts_the_same(s):
    expect_equal(perf_sums(s), Truth(s.folder / "alone", s.wiring).counters(), "what perf counted")


@test("kunpeng_counts")
def an_event_has_one_counter(s):
    """Of version 1: who comes second does not count."""
    lines = [line for line in s.text("refused.csv").splitlines() if "hisi_" in line]
    expect_equal(len(lines), 4 * PMUS_OF_SOCKET, "events of perf")
    for line in lines:
        expect(line.startswith("<not counted>"), line)


@test("kunpeng_wraps", "cmn_wraps")
def counters_wrapped_many_times(s):
    def interrupts(name):
        return [sum(int(n) for n in line.split()[1:5]) for line in s.text(name).splitlines()]

    before, after = interrupts("interrupts.before"), interrupts("interrupts.after")
    expect_equal(len(after), 2 if shape_of(s) == "cmn" else 2 * PMUS_OF_SOCKET, "interrupts")
    for number, (one, other) in enumerate(zip(before, after)):
        expect(other - one >= 4, f"line {number}: {other - one} interrupts")


# --- root ports of DesignWare

PORTS = {
    4: "dwc_rootport_10000/tx_pcie_tlp_data_payload/",
    6: "dwc_rootport_20000/tx_pcie_tlp_data_payload/",
    7: "dwc_rootport_30000/rx_pcie_tlp_data_payload/",
}


def moved(s, name):
    """Bytes of each port, as the programs say."""
    return {PORTS[line["slot"]]: line["bytes"] for line in Truth(s.folder / name, s.wiring).lines}


@test("ampereone_ports")
def one_event_of_each_port_is_exact(s):
    counts = StatRun(s, "ports").counts()
    expect_equal({name: count["value"] for name, count in counts.items()}, moved(s, "truth"), "what ports counted")
    for name, count in counts.items():
        expect_equal(count["method"], "counted", f"{name}: method")
    s.expect_complete("ports")


@test("ampereone_ports")
def perf_counts_the_same_of_ports(s):
    found = {event: count for event, (count, _) in s.perf().items()}
    expect_equal(found, moved(s, "beside"), "what perf counted")


@test("ampereone_ports")
def two_events_take_turns(s):
    """And reports say for how long each was counted."""
    reports = s.reports("all")
    for direction in ("tx", "rx"):
        name = f"port36.0/{direction}_pcie_tlp_data_payload"
        enabled, running = (sum(reports.counter_field(name, f"{what}_ns")) for what in ("enabled", "running"))
        expect(0.1 * enabled < running < 0.9 * enabled, f"{name}: it counted {running} of {enabled} ns")
        require(reports.counter(name) > 0, f"{name}: nothing was counted")


def of_port(report, direction):
    return next(p for p in report["parts"] if p["pmu"] == "dwc_rootport_10000" and p["direction"] == direction)


def spans(reports, direction):
    """What was known of the port: begin, end and bytes. A part that had no turn in an interval is known
    later, with the time since it was known last; so its times follow one upon the other.
    """
    start = reports[0]["interval"]["start_ns"]
    for part in (of_port(report, direction) for report in reports):
        expect(part["part"] == "devices" and part["socket"] == 36, f"{direction}: {part}")
        if part["valid"]:
            yield start, start + part["covered_ns"], part["bytes"]
            start += part["covered_ns"]


@test("ampereone_ports")
@estimate
def a_port_is_a_part(s):
    """By the rows that the program has: each direction was counted half of the time, and scaled."""
    lines = {line["slot"]: line for line in Truth(s.folder / "part", s.wiring).lines}
    for slot, direction in ((4, "read"), (5, "write")):
        line, found, wanted = lines[slot], 0, 0
        for start, end, value in spans(s.reports("parts").each, direction):
            moving = min(end, line["end_ns"]) - max(start, line["start_ns"])
            found += value
            wanted += line["bytes"] * max(moving, 0) / (line["end_ns"] - line["start_ns"])
        require(wanted > 0, f"{direction} was never known")
        expect_close(found, wanted, 0.2, f"{direction} of the port")


# Below one port this device alone, below the other several
DEVICE, SHARER, SHARED_PORT = "0001:01:00.0", "0002:04:00.0", "0002:00:00.0"


def of_run(s):
    """What each report says of the run's devices, by address."""
    return [{d["bdf"]: d for d in report["devices"]} for report in s.reports("devices").each]


@test("ampereone_ports")
def what_counts_a_device_is_said(s):
    for devices in of_run(s):
        expect_equal(sorted(devices), sorted([DEVICE, SHARER, SHARED_PORT]), "devices")
        expect_equal(devices[DEVICE]["filter"], "port", f"{DEVICE}: what tells it from others")
        expect_equal(devices[SHARER]["filter"], "none", f"{SHARER}: what tells it from others")
        expect_equal(devices[SHARER]["port"], SHARED_PORT, f"{SHARER}: its port")
        expect_equal(devices[SHARED_PORT]["shared_by"], [SHARER], "who shares the port")
        expect("read_bytes" not in devices[SHARER], f"{SHARER} has bytes of its own")
        expect(devices[SHARED_PORT]["name"].startswith("0002:03:00.0, 0002:04:00.0, "), str(devices[SHARED_PORT]))
    text = s.words("devices.err")
    for part in (f"root port {SHARED_PORT} is counted as a whole (dwc_rootport_20000)", "dwc_rootport_10000 is in no part"):
        expect(part in text, text)
    s.expect_complete("devices")


@test("ampereone_ports")
def a_port_counts_for_devices_or_for_parts(s):
    """And what nobody asked for stays with the device: no byte is lost or invented."""
    for report in s.reports("devices").each:
        pmus = {part["pmu"] for part in report["parts"]}
        expect_equal(pmus & {"dwc_rootport_10000", "dwc_rootport_20000", "dwc_rootport_30000"}, {"dwc_rootport_30000"}, "parts")
    for device in (devices[DEVICE] for devices in of_run(s)):
        for way in ("read_bytes", "write_bytes"):
            if way in device:
                parts = device["attributed"][way] + device["unattributed"][way]
                expect_equal(parts, device[way], f"{DEVICE}: {way}")


@test("ampereone_ports")
@estimate
def devices_have_what_their_port_moved(s):
    """Directions take turns, and one that rests has shorter ones: within 20 %, and in the bars."""
    lines = {line["slot"]: line["bytes"] for line in Truth(s.folder / "device", s.wiring).lines}
    for slot, bdf, way in ((4, DEVICE, "read"), (5, DEVICE, "write"), (6, SHARED_PORT, "read")):
        sums = {"bytes": 0, "low": 0, "high": 0}
        for device in (devices[bdf] for devices in of_run(s)):
            expect(device["coverage"] < 0.6, f"{bdf}: coverage {device['coverage']}")
            # The last interval may be too short for a turn
            for key in sums:
                sums[key] += device.get(f"{way}_{key}", 0)
        print("#", bdf, way, lines[slot], sums)
        expect_close(sums["bytes"], lines[slot], 0.2, f"{bdf}: {way}")
        expect(sums["low"] <= lines[slot] <= sums["high"], f"{bdf}: {way} {lines[slot]} is not in {sums}")


# --- rows


@test(*ROWS)
@estimate
def who_share_a_socket_have_their_bytes(s):
    reports, lines = s.reports("all"), s.truth().lines
    counter = s.wiring.slots[READ1]
    expect_equal(len(lines), 3, "tenants")
    total = sum(line["bytes"] for line in lines)
    expect_close(reports.counter(counter), total, 0.001, "the counter")
    wrong = 0
    for line in lines:
        share = reports.share(counter, by_pid(line["pid"]))
        inside(share, line["bytes"], line["name"])
        wrong += abs(share["value"] - line["bytes"])
    expect(wrong / total / 2 <= 0.05, f"error {wrong / total / 2:.4f}, at most 0.05")


@test(*ROWS)
@estimate
def a_process_has_its_bytes(s):
    line = Truth(s.folder / "truth2", s.wiring).named("one")[0]
    share = s.reports("one").share(s.wiring.slots[READ1], by_pid(line["pid"]))
    expect_share(share["value"], line["bytes"], 0.95, "its row")
    inside(share, line["bytes"], "its row")
    s.expect_complete("one")


@test(*ROWS)
@estimate
def a_cgroup_has_its_bytes_and_no_others(s):
    truth = Truth(s.folder / "truth3", s.wiring)
    reports, counter = s.reports("only"), s.wiring.slots[READ1]
    share = reports.share(counter, lambda row: row["cgroup"]["path"] == "/only")
    expect_share(share["value"], truth.bytes("in"), 0.95, "its row")
    inside(share, truth.bytes("in"), "its row")
    others = reports.counter(counter) - share["value"]
    expect(others >= 0.95 * truth.bytes("out"), f"{others} bytes are not of it, {truth.bytes('out')} were moved outside")


# --- hotplug


@test(*HOTPLUG)
def the_reader_moves(s):
    before, off = (s.text(f"cpumask.{when}").strip() for when in ("before", "off"))
    expect_equal((before, off), {"ampereone": ("2", "3"), "kunpeng": ("0", "1"), "cmn": ("2", "3")}[shape_of(s)], "the PMU's CPU")
    expect(s.reports("all").quality("reader_moves") >= 1, "no move of the reader is reported")


@test(*HOTPLUG)
@estimate
def counting_goes_on(s):
    reports, line = s.reports("all"), s.truth().named("steady")[0]
    counter = s.wiring.slots[line["slot"]]
    # The kernel moves one PMU after the other. On a busy host a report may end in between.
    s.expect_complete("all")
    # The driver itself drops a few milliseconds while it moves the events.
    expect_share(reports.counter(counter), line["bytes"], 0.97, "counted")
    value = reports.value_before(counter, line["end_ns"])
    expect(value > 0, "nothing was counted after the CPU came back")
    share = reports.share(counter, by_pid(line["pid"]))
    expect_share(share["value"], line["bytes"], 0.8, "its row")
