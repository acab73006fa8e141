# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the PCI topology and of what devices move; see judge.py. What is right comes from
devices.conf by known.py, from the programs, and for disks from QEMU's own accounts.
"""

import json
import re

from results import Failure, Reports, estimate, expect, expect_close, expect_equal, expect_share, require, tests_into

TESTS = {}
test = tests_into(TESTS)
DEVICES = ("t410,disks", "devices.conf")
MACHINES = {
    name: DEVICES
    for name in (
        "topology",
        "devices_alone",
        "devices_all",
        "devices_rotation",
        "devices_io",
        "devices_writeback",
        "devices_perf",
        "devices_hotplug",
        "devices_refusals",
    )
}
# What the driver may say when perf and t410trace want different devices
REMARKS = {"devices_perf": re.compile("only one BDF")}

# Socket, root complex and root port by address, as in the guide's listing
ROOT_PORTS = {
    "0001:00:00.0": (0, 0, 0),
    "0002:80:00.0": (0, 1, 1),
    "0002:a0:00.0": (0, 1, 2),
    "0002:c0:00.0": (0, 1, 3),
    "0002:e0:00.0": (0, 1, 4),
    "0003:00:00.0": (0, 2, 0),
    "0004:00:00.0": (0, 3, 0),
    "0005:00:00.0": (0, 4, 0),
    "0005:40:00.0": (0, 4, 1),
    "0005:c0:00.0": (0, 4, 2),
    "0006:00:00.0": (0, 5, 0),
    "0009:00:00.0": (1, 0, 0),
    "000a:80:00.0": (1, 1, 1),
    "000a:a0:00.0": (1, 1, 2),
    "000a:e0:00.0": (1, 1, 3),
    "000b:00:00.0": (1, 2, 0),
    "000c:00:00.0": (1, 3, 0),
    "000d:00:00.0": (1, 4, 0),
    "000d:40:00.0": (1, 4, 1),
    "000d:c0:00.0": (1, 4, 2),
    "000e:00:00.0": (1, 5, 0),
}
# Function: role, and what is above it
TREE = {
    "0000:00:00.0": ("host bridge", None),
    "0000:00:08.0": ("integrated", None),
    "0002:81:00.0": ("endpoint", "0002:80:00.0"),
    "0002:c1:00.3": ("endpoint", "0002:c0:00.0"),
    "0004:01:00.0": ("upstream", "0004:00:00.0"),
    "0004:02:03.0": ("downstream", "0004:01:00.0"),
    "0004:06:00.0": ("endpoint", "0004:02:03.0"),
    "0004:07:00.1": ("endpoint", "0004:02:04.0"),
    "000e:01:00.0": ("endpoint", "000e:00:00.0"),
}
VFS = ("0002:c1:00.1", "0002:c1:00.2", "0002:c1:00.3")
NIC = "0002:c1:00.0"
DISK, DISK2 = "0000:00:08.0", "0000:00:09.0"
FOUR_PORTS = ("0002:81:00.0", "0002:a1:00.0", "0002:c1:00.0", "0002:e1:00.0")
FOUR_SWITCHED = tuple(f"0004:0{bus}:00.0" for bus in (3, 4, 5, 6))
SWITCH_PORT = "0004:00:00.0"
# PMU of each function that is counted
PMUS = {
    **{bdf: "nvidia_pcie_pmu_0_rc_1" for bdf in (*FOUR_PORTS, *VFS)},
    **{bdf: "nvidia_pcie_pmu_0_rc_3" for bdf in (*FOUR_SWITCHED, "0004:07:00.0", "0004:07:00.1")},
    "000a:81:00.0": "nvidia_pcie_pmu_1_rc_1",
}
SIDES = (("read", "rd"), ("write", "wr"))
# Of a set of events (SOURCE_TURN_NS)
TURN_NS = 50_000_000


def show(*words):
    """Figures, for people."""
    print("#", *words)


# --- topology


def topology(s, name, status=0):
    expect_equal(s.status(name), status, f"{name}: exit status")
    try:
        return json.loads(s.text(f"{name}.out"))
    except ValueError as error:
        raise Failure(f"{name}.out: {error}") from error


def functions(found):
    return {function["address"]: function for function in found["functions"]}


def places(found):
    return {
        port["address"]: (port["socket"], port["root_complex"], port["root_port"])
        for port in found["root_ports"]
    }


@test("topology")
def the_guides_listing(s):
    found = topology(s, "json")
    expect_equal(places(found), ROOT_PORTS, "root ports")
    for port in found["root_ports"]:
        socket, rc, rp = ROOT_PORTS[port["address"]]
        expect_equal(port["known"], "firmware", f"{port['address']}: how it is known")
        expect_equal(port["pmu"], f"nvidia_pcie_pmu_{socket}_rc_{rc}", port["address"])
        expect_equal(port["target_pmu"], f"nvidia_pcie_tgt_pmu_{socket}_rc_{rc}", port["address"])
        expect_equal((port["pmu_present"], port["src_rp_mask"]), (True, hex(1 << rp)), port["address"])
    expect_equal(found["cut"], False, "cut")


@test("topology")
def the_table_has_it_too(s):
    expect_equal(s.status("table"), 0, "exit status")
    lines = s.text("table.out").splitlines()
    for address, (socket, rc, rp) in ROOT_PORTS.items():
        rows = [line for line in lines if line.split()[:1] == [address]]
        numbers = [f"nvidia_pcie_pmu_{socket}_rc_{rc}", hex(1 << rp)]
        expect(any(all(word in row.split() for word in numbers) for row in rows), f"{address}: {rows}")


@test("topology")
def every_function_has_its_place_in_the_tree(s):
    found = functions(topology(s, "json"))
    listed = {line.split()[0]: line.split() for line in s.text("list").splitlines()}
    expect_equal(sorted(found), sorted(listed), "functions")
    for address, words in listed.items():
        above = words[words.index("below") + 1]
        wanted = None if above.startswith("pci") else above
        expect_equal(found[address]["parent"], wanted, f"{address}: what is above")
    for address, (role, above) in TREE.items():
        expect_equal((found[address]["role"], found[address]["parent"]), (role, above), address)
        port = next((p for p in ROOT_PORTS if p[:5] == address[:5] and above), None)
        if address[:4] not in ("0000", "0002"):
            expect_equal(found[address]["port"], port, f"{address}: root port")


@test("topology")
def virtual_functions_and_disks_are_named(s):
    found = functions(topology(s, "json"))
    for vf in VFS:
        expect_equal(found[vf]["physical_function"], NIC, vf)
        expect_equal(found[vf]["root_port"], 3, f"{vf}: root port")
    expect_equal(found[DISK]["names"], ["vda"], "names of the first disk")
    expect_equal((found[DISK]["kind"], found[DISK]["known"]), ("block", "unknown"), "the first disk")
    expect(re.search(r"0000:00:08\.0\s.*\bvda\b", s.text("table.out")), "the table has no vda")


@test("topology")
def the_users_map_counts(s):
    found = functions(topology(s, "mapped"))
    for address, place in ((DISK, (0, 2, 1)), (DISK2, (0, 5, 1))):
        disk = found[address]
        expect_equal((disk["socket"], disk["root_complex"], disk["root_port"]), place, address)
        expect_equal(disk["known"], "user", f"{address}: how it is known")
    expect_equal(found["0002:81:00.0"]["known"], "firmware", "others")


@test("topology")
def a_copy_and_a_dump_say_the_same(s):
    here = topology(s, "json")
    for name in ("copy", "dump"):
        there = topology(s, name)
        expect_equal(places(there), ROOT_PORTS, f"{name}: root ports")
        expect_equal(sorted(functions(there)), sorted(functions(here)), f"{name}: functions")
        for address, function in functions(there).items():
            for key in ("role", "parent", "port"):
                expect_equal(function[key], functions(here)[address][key], f"{name}: {key} of {address}")
    expect_equal(functions(topology(s, "copy"))[DISK]["names"], ["vda"], "copy: names of the first disk")
    for vf in VFS:
        expect_equal(functions(topology(s, "copy"))[vf]["physical_function"], NIC, f"copy: {vf}")


@test("topology")
def without_rights_it_says_so(s):
    expect_equal(topology(s, "rights-json")["cut"], True, "cut")
    expect_equal(s.status("rights"), 0, "exit status")
    expect("CAP_SYS_ADMIN" in s.words("rights.out") + s.words("rights.err"), s.words("rights.err"))
    for port in topology(s, "rights-json")["root_ports"]:
        expect(port["known"] != "firmware", f"{port['address']} is known without having been read")


@test("topology")
def what_is_no_topology_is_refused(s):
    for name in ("junk", "nowhere"):
        expect_equal(s.status(name), 1, f"{name}: exit status")
        expect(s.words(f"{name}.err"), f"{name}: no message")


# --- devices in reports


def number_of(bdf):
    """The requester id."""
    bus, device, function = re.fullmatch(r"....:(..):(..)\.(.)", bdf).groups()
    return int(bus, 16) << 8 | int(device, 16) << 3 | int(function)


def entries(reports, bdf):
    """A device in each report."""
    found = [d for report in reports.each for d in report["devices"] if d["bdf"] == bdf and d["kind"] != "port"]
    expect_equal(len(found), len(reports.each), f"{reports.name}: entries of {bdf}")
    return found


def total(reports, bdf, key):
    """Of all reports. One that is shorter than a turn, behind one that came late, need not have been read
    for: its bytes are in the next."""
    found = 0
    for number, (report, entry) in enumerate(zip(reports.each, entries(reports, bdf))):
        if key not in entry and report["interval"]["duration_ns"] < TURN_NS:
            continue
        expect(key in entry, f"{reports.name}: report {number} has no {key} of {bdf}")
        found += entry[key]
    return found


def coverage(reports, bdf):
    """Over all reports, which differ in length."""
    lengths = [report["interval"]["duration_ns"] for report in reports.each]
    found = [entry.get("coverage", 0) for entry in entries(reports, bdf)]
    return sum(part * length for part, length in zip(found, lengths)) / sum(lengths)


def sent(truth):
    """Bytes by slot."""
    slots = {}
    for line in truth.lines:
        slots[line["slot"]] = slots.get(line["slot"], 0) + line["bytes"]
    return slots


def known(s, bdf, event, slots):
    return s.wiring.count(PMUS[bdf], event, slots, f"src_bdf={number_of(bdf)},src_bdf_en=1")


def constant(s, reports, bdf, event):
    """What a device moved whose traffic never stops."""
    per_second = s.wiring.rate(PMUS[bdf], event, f"src_bdf={number_of(bdf)},src_bdf_en=1")
    return per_second * sum(report["interval"]["duration_ns"] for report in reports.each) / 1e9


def part_of(reports, bdf, key, matches):
    """What rows have of a device."""
    return sum(
        part.get(key, 0) for row in reports.rows(matches) for part in row["devices"] if part["bdf"] == bdf
    )


def cpu_counters_are_exact(s, reports, slots):
    """Those of the UCF which programs on CPUs make grow."""
    for socket in (0, 1):
        for event in ("mem_bytes_rd", "mem_bytes_wr"):
            name = f"ucf{socket}/{event}/src_loc_cpu=1"
            wanted = s.wiring.count(f"nvidia_ucf_pmu_{socket}", event, slots, "src_loc_cpu=1")
            expect_equal(sum(reports.counter_field(name, "value")), wanted, name)


# --- alone below a port


@test("devices_alone")
def each_is_exact(s):
    reports, slots = s.reports("all"), sent(s.truth("truth.four"))
    for bdf in FOUR_PORTS:
        for side, event in SIDES:
            wanted = known(s, bdf, f"{event}_bytes", slots)
            expect(wanted > 0, f"{bdf}: no traffic")
            expect_equal(total(reports, bdf, f"{side}_bytes"), wanted, f"{bdf}: {side} bytes")


@test("devices_alone")
def one_has_its_requests(s):
    reports, slots, bdf = s.reports("one"), sent(s.truth("truth.one")), "0002:a1:00.0"
    for side, event in SIDES:
        expect_equal(total(reports, bdf, f"{side}_bytes"), known(s, bdf, f"{event}_bytes", slots), side)
        expect_equal(total(reports, bdf, f"{side}_requests"), known(s, bdf, f"{event}_req", slots), side)


@test("devices_alone")
@estimate
def it_has_its_latency(s):
    """In cycles that are counted beside it: a moment passes between the readings."""
    reports, bdf = s.reports("one"), "0002:a1:00.0"
    found = [entry for entry in entries(reports, bdf) if "read_latency_ns" in entry]
    expect(found, "no latency")
    # Of all requests: one may be counted in a report and its cycles in the next one
    latency = sum(entry["read_latency_ns"] * entry["read_requests"] for entry in found)
    # cycles at 1 GHz
    expect_close(latency / sum(entry["read_requests"] for entry in found), 800, 0.02, "latency")


@test("devices_alone")
@estimate
def bars_hold_beside_turns(s):
    """Where turns of latencies begin, bytes are not counted for a moment. The bar is for a program that
    moves them evenly; one that had no CPU moves those of all that time at once, and the moment may be that."""
    reports, slots, bdf = s.reports("two"), sent(s.truth()), "0002:81:00.0"
    for side, event in SIDES:
        truth = known(s, bdf, f"{event}_bytes", slots)
        low, value, high = (total(reports, bdf, f"{side}_{key}") for key in ("low", "bytes", "high"))
        show(f"devices_alone: two: {side} {value} ({value / truth - 1:+.4%}), {low} to {high}, truth {truth}")
        require(value <= truth, f"{side}: {value}, truth {truth}")
        expect(truth <= high <= 1.02 * truth, f"{side}: at most {high}, truth {truth}")


@test("devices_alone")
def no_turns_are_needed(s):
    for bdf in FOUR_PORTS:
        for entry in entries(s.reports("all"), bdf):
            expect_equal((entry["filter"], entry["turns"]), ("port", 1), f"{bdf}: filter, turns")
            for side in ("read", "write"):
                expect_equal(entry[f"{side}_high"], entry[f"{side}_bytes"], f"{bdf}: {side} bars")


@test("devices_alone")
@estimate
def it_is_read_when_an_interval_ends(s):
    """Nearly. The last interval is as short as it happens to be."""
    for bdf in FOUR_PORTS:
        for entry in entries(s.reports("all"), bdf)[:-1]:
            expect(entry["coverage"] > 0.9, f"{bdf}: coverage {entry['coverage']}")
            for side in ("read", "write"):
                low, moved = entry[f"{side}_low"], entry[f"{side}_bytes"]
                expect(low >= 0.8 * moved, f"{bdf}: {side} {moved}, at least {low}")


@test("devices_alone")
def no_task_owns_what_nobody_asked_for(s):
    reports = s.reports("all")
    for report in reports.each:
        for counter in report["counters"]:
            if counter.get("bdf") and counter["unit"] == "bytes":
                expect_equal(counter["unattributed"], counter["value"], counter["name"])
    for name, value in reports.counters().items():
        if value and name.endswith("src_loc_noncpu=1"):
            expect_equal(reports.unattributed(name), {"device": value}, name)


@test("devices_alone")
def the_fabric_is_exact_too(s):
    reports, slots = s.reports("all"), sent(s.truth("truth.four"))
    cpu_counters_are_exact(s, reports, slots)
    for event, slot in (("rd", 2), ("wr", 3)):
        name = f"ucf0/mem_bytes_{event}/src_loc_noncpu=1"
        expect_equal(reports.counter(name), slots[slot], name)
    s.expect_complete("all")


# --- all devices


@test("devices_all")
def sums_are_exact(s):
    reports, slots, bdf = s.reports("all"), sent(s.truth()), "0002:a1:00.0"
    for side, event in SIDES:
        expect_equal(total(reports, bdf, f"{side}_bytes"), known(s, bdf, f"{event}_bytes", slots), side)


@test("devices_all")
@estimate
def a_device_has_no_more_than_its_socket(s):
    """In each interval. They are read one after the other: that may be off by some of it."""
    reports, bdf = s.reports("all"), "0002:a1:00.0"
    for side, event in SIDES:
        sockets = reports.counter_field(f"ucf0/mem_bytes_{event}/src_loc_noncpu=1", "value")
        for number, (entry, most) in enumerate(zip(entries(reports, bdf), sockets)):
            low = entry[f"{side}_low"]
            expect(low <= most + 0.1 * max(sockets), f"report {number}: {side} at least {low}, its socket {most}")
    for report in reports.each[:-1]:
        for entry in report["devices"]:
            covered, length = entry.get("covered_ns", 0), report["interval"]["duration_ns"]
            expect(covered < 1.3 * length, f"{entry['bdf']}: of {covered} ns, the interval has {length}")


@test("devices_all")
def who_lacks_its_turn_is_no_failure(s):
    """Nobody named it. A loss would be a failure, and depends on the host."""
    s.expect_complete("short")


# --- four devices below one port


@test("devices_rotation")
@estimate
def each_is_near_the_truth(s):
    reports, found = s.reports("all"), []
    for bdf in FOUR_SWITCHED:
        for side, event in SIDES:
            wanted, value = constant(s, reports, bdf, f"{event}_bytes"), total(reports, bdf, f"{side}_bytes")
            if wanted:
                found.append((f"{bdf} {side}", value / wanted - 1))
            else:
                expect_equal(value, 0, f"{bdf}: {side}")
    show("devices_rotation:", ", ".join(f"{name} {error:+.4f}" for name, error in found))
    expect_equal(len(found), 7, "directions with traffic")
    for name, error in found:
        expect(abs(error) <= 0.03, f"{name}: off by {error:.4f}")


@test("devices_rotation")
@estimate
def each_has_a_quarter_of_the_time(s):
    reports = s.reports("all")
    found = [coverage(reports, bdf) for bdf in FOUR_SWITCHED]
    show("devices_rotation: coverage", " ".join(f"{part:.3f}" for part in found))
    expect(min(found) >= 0.23, f"coverage {found}")
    expect(sum(found) <= 1.0, f"coverage {found}: two at a time")
    for bdf in FOUR_SWITCHED:
        for entry in entries(reports, bdf):
            expect_equal(entry["filter"], "requester id", f"{bdf}: filter")
        expect(total(reports, bdf, "turns") >= 10, f"{bdf}: {total(reports, bdf, 'turns')} turns")


@test("devices_rotation")
@estimate
def its_bars_hold(s):
    reports = s.reports("all")
    for bdf in FOUR_SWITCHED:
        for side, event in SIDES:
            low, high = (total(reports, bdf, f"{side}_{end}") for end in ("low", "high"))
            wanted = constant(s, reports, bdf, f"{event}_bytes")
            expect(low <= wanted <= high, f"{bdf}: {side} {low} to {high}, truth {wanted}")
            expect(high - low <= 0.5 * wanted or not wanted, f"{bdf}: {side} {low} to {high} says nothing")


@test("devices_rotation")
@estimate
def the_port_fits(s):
    """The sum is in doubt itself: not every time. Once it fits it is looked at rarely."""
    reports, checks = s.reports("all"), []
    for report in reports.each:
        ports = [entry for entry in report["devices"] if entry["kind"] == "port"]
        expect_equal([entry["bdf"] for entry in ports], [SWITCH_PORT], "ports")
        if "port_check" in ports[0]:
            checks.append(ports[0]["port_check"])
    expect(checks, "no check of the port")
    right = [c for c in checks if c["expected_low"] <= c["sum_bytes"] <= c["expected_high"]]
    expect(len(right) >= max(len(checks) - 1, 1), f"it does not fit: {checks}")
    for check in checks:
        expect(check["expected_high"] > 0, f"{check}")


@test("devices_rotation")
def nobody_else_is_disturbed(s):
    slots = sent(s.truth())
    cpu_counters_are_exact(s, s.reports("all"), slots)
    found = re.findall(r"^(nvidia_\w+)/(\w+)[,]?(\S*)/ value (\d+) enabled_ns (\d+) running_ns (\d+)$", s.text("others"), re.M)
    expect_equal(len(found), 4, "counters of others")
    for pmu, event, filters, value, enabled, running in found:
        expect_equal(int(value), s.wiring.count(pmu, event, slots, filters), f"{pmu}/{event}")
        expect_equal(enabled, running, f"{pmu}/{event}: time")
    for report in s.reports("all").each:
        expect_equal(report["quality"]["device_held_ns"], 0, "time that others had the counters")


# --- whose input and output it was


def disk_total(s, name, disk=0):
    """What QEMU says that a disk moved: memory that it read, and wrote."""
    before, after = (
        [json.loads(line) for line in s.text(f"{name}.{when}").splitlines()][disk] for when in ("before", "after")
    )
    return {
        "read": after["written_bytes"] - before["written_bytes"],
        "write": after["read_bytes"] - before["read_bytes"],
    }


def programs(s, name):
    """What programs say, by name; in the disk's view of memory."""
    lines = [json.loads(line) for line in s.text(name).splitlines()]
    for line in lines:
        line["read"], line["write"] = line["written_bytes"], line["read_bytes"]
    return {line["name"]: line for line in lines}


def io_limit(who, side, lines):
    """How far the bytes of a program may be off: 5 % of them for the workloads, reader and writer.

    "mixed" has 3 % of the disk's bytes and works beside them. What can go wrong is at the edges of
    windows: a request of a neighbour is on its way there, and its bytes are split by what is known
    of the request. Such an error is a part of the neighbours' bytes, whoever gets it: half a
    percent of them is little to them and a lot to "mixed". That its bar tells this is required
    as well (see bars_hold).
    """
    own = lines[who][side] or lines[who]["read"] + lines[who]["write"]
    if who != "mixed":
        return 0.05 * own
    return 0.05 * own + 0.005 * sum(line[side] for name, line in lines.items() if name != who)


IO_RUNS = (("all", "truth.live", "totals"), ("process", "truth.record", "totals2"))


def io_reports(s, name):
    """A run, or the summary of a recording, which is alone in its file."""
    if name == "all":
        return s.reports(name)
    return Reports(s.folder / f"{name}.json", of_summaries=True)


@test("devices_io")
def no_byte_of_the_disk_is_invented_or_lost(s):
    for name, _, totals in IO_RUNS:
        reports, moved = io_reports(s, name), disk_total(s, totals)
        for side in ("read", "write"):
            expect(moved[side] > 1 << 20, f"{name}: the disk moved {moved}")
            expect_equal(total(reports, DISK, f"{side}_bytes"), moved[side], f"{name}: {side} of the disk")
            io = sum(entry["io"][f"{side}_bytes"] for entry in entries(reports, DISK))
            expect_equal(io, moved[side], f"{name}: {side} requests of the disk")
        for entry in entries(reports, DISK):
            expect_equal(entry["name"], "vda", "name")
            for side in ("read", "write"):
                parts = entry["attributed"][f"{side}_bytes"] + entry["unattributed"][f"{side}_bytes"]
                expect_equal(parts, entry[f"{side}_bytes"], f"{name}: parts of {side}")


@test("devices_io")
@estimate
def the_disk_is_read_in_time(s):
    """On a busy host the reading at the end of an interval may be late, which coverage says."""
    for name, _, _ in IO_RUNS:
        for entry in entries(io_reports(s, name), DISK):
            expect(entry["coverage"] == 1.0, f"{name}: coverage is {entry['coverage']}")


@test("devices_io")
@estimate
def each_program_has_its_own(s):
    for name, truth, _ in IO_RUNS:
        reports, found, lines = io_reports(s, name), [], programs(s, truth)
        for who, line in lines.items():
            expect(line["requests"] > 50, f"{who}: {line['requests']} requests")

            def mine(row, pid=line["pid"]):
                return row["pid"] == pid

            for side in ("read", "write"):
                value, wanted = part_of(reports, DISK, f"{side}_bytes", mine), line[side]
                found.append(f"{who} {side} {value}/{wanted}")
                expect(abs(value - wanted) <= io_limit(who, side, lines), f"{name}: {found[-1]}")
        show(f"devices_io: {name}:", ", ".join(found))


@test("devices_io")
@estimate
def bars_hold(s):
    for name, truth, _ in IO_RUNS:
        reports = io_reports(s, name)
        for who, line in programs(s, truth).items():
            for side in ("read", "write"):
                low, high = (
                    part_of(reports, DISK, f"{side}_{end}", lambda row, pid=line["pid"]: row["pid"] == pid)
                    for end in ("low", "high")
                )
                expect(low <= line[side] <= high, f"{name}: {who} {side} {low} to {high}, truth {line[side]}")


@test("devices_io")
def requests_are_exact(s):
    for name, truth, _ in IO_RUNS:
        for who, line in programs(s, truth).items():
            for side in ("read", "write"):
                value = part_of(
                    io_reports(s, name), DISK, f"io_{side}_bytes", lambda row, pid=line["pid"]: row["pid"] == pid
                )
                expect_equal(value, line[side], f"{name}: requests of {who}")


@test("devices_io")
@estimate
def little_is_left_over(s):
    for name, _, totals in IO_RUNS:
        moved = disk_total(s, totals)
        for side in ("read", "write"):
            rest = sum(entry["unattributed"][f"{side}_bytes"] for entry in entries(io_reports(s, name), DISK))
            expect(rest <= 0.03 * moved[side], f"{name}: {rest} of {moved[side]} have no owner")


@test("devices_io")
@estimate
def the_fabrics_bytes_are_the_owners(s):
    """Those which the UCF says came from devices."""
    reports = s.reports("all")
    for side, event in SIDES:
        name, moved = f"ucf0/mem_bytes_{event}/src_loc_noncpu=1", disk_total(s, "totals")[side]
        expect_equal(reports.counter(name), moved, name)
        expect_share(reports.share(name, lambda row: True)["value"], moved, 0.95, f"rows' part of {name}")
        lines = programs(s, "truth.live")
        for who, line in lines.items():
            value = reports.share(name, lambda row, pid=line["pid"]: row["pid"] == pid)["value"]
            expect(abs(value - line[side]) <= io_limit(who, side, lines), f"{who}: {value} of {name}")


@test("devices_io")
@estimate
def cgroups_have_what_is_in_them(s):
    reports, lines = io_reports(s, "cgroup"), programs(s, "truth.record")
    for who, line in lines.items():
        for side in ("read", "write"):
            value = part_of(
                reports, DISK, f"{side}_bytes", lambda row, who=who: row["cgroup"]["path"] == f"/io/{who}"
            )
            expect(abs(value - line[side]) <= io_limit(who, side, lines), f"{who}: {side} {value}")


@test("devices_io")
def a_recording_says_the_same_each_time(s):
    s.expect_complete("record")
    for name in ("process", "again", "cgroup", "table"):
        s.expect_complete(name)
    one, other = (json.loads(s.text(f"{name}.json")) for name in ("process", "again"))
    for key in ("counters", "workloads", "devices", "unattributed"):
        expect_equal(one[key], other[key], key)
    expect(re.search(r"\bvda\b", s.text("table.out")), "the table has no vda")


@test("devices_writeback")
@estimate
def what_was_written_later_has_its_owner(s):
    reports, lines = s.reports("cgroup"), programs(s, "truth")
    for who, line in lines.items():

        def mine(row, who=who):
            return row["cgroup"]["path"] == f"/io/{who}"

        for key in ("io_read_bytes", "read_bytes"):
            value = part_of(reports, DISK2, key, mine)
            expect_close(value, line["read"], 0.05, f"{who}: {key}")
            # from start to end, so that parts of an interval cannot hide
            expect(part_of(reports, DISK2, key.replace("read", "write"), mine) <= 0.05 * line["read"], who)


@test("devices_writeback")
def all_of_the_file_system_is_in_the_books(s):
    reports, moved = s.reports("cgroup"), disk_total(s, "totals", 1)
    for side in ("read", "write"):
        expect_equal(total(reports, DISK2, f"{side}_bytes"), moved[side], f"{side} of the disk")
        io = sum(entry["io"][f"{side}_bytes"] for entry in entries(reports, DISK2))
        expect_equal(io, moved[side], f"{side} requests of the disk")
    lost = [report["quality"]["lost"]["io"] for report in reports.each]
    expect_equal(sum(lost), 0, "lost requests")


# --- others


@test("devices_perf")
def who_holds_the_counters_is_noticed(s):
    reports, slots = s.reports("held"), sent(s.truth("truth.held"))
    expect(sum(report["quality"]["device_held_ns"] for report in reports.each) > 0, "held by nobody")
    for entry in entries(reports, "0004:07:00.0"):
        expect("read_bytes" not in entry, f"{entry.get('read_bytes')} bytes were never counted")
        expect_equal(entry.get("coverage", 0.0), 0.0, "coverage")
    expect("others are using nvidia_pcie_pmu_0_rc_3" in s.words("held.err"), s.words("held.err"))
    expect("were lost to other users of the counters" in s.words("table.out"), s.words("table.out"))
    for name in ("held", "table"):
        expect(s.status(name) in (0, 3), f"{name}: exit status {s.status(name)}")
    bdf = "0002:a1:00.0"
    expect_equal(total(reports, bdf, "read_bytes"), known(s, bdf, "rd_bytes", slots), f"{bdf} meanwhile")


@test("devices_perf")
@estimate
def all_of_its_turns_were_lost(s):
    reports = s.reports("held")
    held = sum(report["quality"]["device_held_ns"] for report in reports.each)
    length = sum(report["interval"]["duration_ns"] for report in reports.each)
    expect(0.5 * length <= held <= length, f"held for {held} of {length} ns")


@test("devices_perf")
def perf_was_not_disturbed(s):
    match = re.search(r"^(\d+),,nvidia_pcie_pmu_0_rc_3/.*,\d+,([\d.]+),", s.text("perf.csv"), re.M)
    expect(match, f"perf has no count: {s.text('perf.csv')!r}")
    slots = sent(s.truth("truth.held"))
    expect_equal(int(match[1]), known(s, "0004:07:00.1", "wr_bytes", slots), "perf's count")
    expect_equal(float(match[2]), 100.0, "time that perf counted")


@test("devices_perf")
@estimate
def afterwards_all_is_well(s):
    reports, slots = s.reports("free"), sent(s.truth("truth.free"))
    expect_equal(sum(report["quality"]["device_held_ns"] for report in reports.each), 0, "held")
    for side, event in SIDES:
        wanted = known(s, "0004:07:00.0", f"{event}_bytes", slots)
        # A look at the whole port takes up to a tenth of a second; what it moved in that is
        # between nothing and what it can.
        low, high = (total(reports, "0004:07:00.0", f"{side}_{end}") for end in ("low", "high"))
        # Half of an odd number of them is one or the other.
        expect(low - 2 <= wanted <= high + 2, f"{side}: {wanted} is not in {low} to {high}")
        expect_close(total(reports, "0004:07:00.0", f"{side}_bytes"), wanted, 0.12, side)


# --- changes


@test("devices_hotplug")
@estimate
def the_run_survives_and_says_it(s):
    """That a device was away for a second is noticed by a look at the devices now and then."""
    # 3: of what went away there is no data
    require(s.status("all") in (0, 3), f"exit status {s.status('all')}")
    text = s.words("all.err")
    for bdf in ("0002:c1:00.1", "0002:c1:00.2", "0004:07:00.0"):
        expect(bdf in text, f"{bdf} is not in {text!r}")
    changes = sum(report["quality"]["device_changes"] for report in s.reports("all").each)
    expect(changes >= 4, f"{changes} changes")
    listed = s.text("list")
    for bdf in ("0002:c1:00.1", "0004:07:00.0"):
        require(f"{bdf} " in listed, f"{bdf} did not come back: the test shows nothing")


def counted(reports, bdf, side):
    """Bytes that were counted in a device's turns. A report has more: as if all of the time were like them."""
    return sum(entry[f"{side}_bytes"] * entry["coverage"] for entry in entries(reports, bdf) if f"{side}_bytes" in entry)


# Those who were away for a while, and the sides on which they moved something. The first line are two
# that take turns; they move the same, with the same stores.
AWAY = (
    (("0002:c1:00.1", "read", "rd"), ("0002:c1:00.2", "write", "wr")),
    (("0004:07:00.0", "read", "rd"),),
    (("0004:07:00.0", "write", "wr"),),
)


@test("devices_hotplug")
@estimate
def no_byte_is_wrong(s):
    """What one of two moved while the other had its turn is an estimate from few turns, wide as its bars
    say. But one of them was counted at any time, so both together have what each moved."""
    reports, slots = s.reports("all"), sent(s.truth())
    for takers in AWAY:
        wanted = {known(s, bdf, f"{event}_bytes", slots) for bdf, _, event in takers}
        expect_equal(len(wanted), 1, f"truths of {takers}")
        wanted = wanted.pop()
        found = sum(counted(reports, bdf, side) for bdf, side, _ in takers)
        names = " and ".join(f"{bdf} {side}" for bdf, side, _ in takers)
        # Reported bytes are rounded
        require(found <= wanted + len(takers) * len(reports.each), f"{names}: {found:.0f} counted, truth {wanted}")
        expect_share(min(found, wanted), wanted, 0.9, names)
        for bdf, side, _ in takers:
            low, high = (sum(entry.get(f"{side}_{end}", 0) for entry in entries(reports, bdf)) for end in ("low", "high"))
            expect(low <= wanted <= high, f"{bdf}: {side} {low} to {high}, truth {wanted}")
    for bdf, side in (("0002:c1:00.1", "write"), ("0002:c1:00.2", "read")):
        expect_equal(counted(reports, bdf, side), 0, f"{bdf}: {side}")


@test("devices_hotplug")
@estimate
def who_is_away_moves_nothing(s):
    reports, truth = s.reports("all"), s.truth()
    ended = max(line["end_ns"] for line in truth.named("before"))
    begun = min(line["start_ns"] for line in truth.named("after"))
    between = [n for n, report in enumerate(reports.each)
               if report["interval"]["start_ns"] >= ended and report["interval"]["end_ns"] <= begun]
    expect(between, "no report begins and ends between the first and the last program")
    for bdf in sorted({bdf for takers in AWAY for bdf, _, _ in takers}):
        for n in between:
            # Devices are read a moment before the interval ends. What a program moved between the two is in
            # the next one, which is the first of these.
            check = expect if n == between[0] else require
            for side, _ in SIDES:
                found = entries(reports, bdf)[n].get(f"{side}_bytes", 0)
                check(found == 0, f"report {n}: {bdf} {side} is {found}, expected 0")


@test("devices_hotplug")
@estimate
def the_reader_moves(s):
    expect_equal(s.text("cpumask").strip(), "3", "the PMU's CPU meanwhile")
    found, wanted = total(s.reports("all"), "000a:81:00.0", "read_bytes"), sent(s.truth())[12]
    # The driver itself drops a few milliseconds while it moves the events.
    expect_share(found, wanted, 0.95, "read by the device of socket 1")


# --- what cannot be asked

REFUSALS = (
    ("nobody", 1, ("0002:81:1f.0",)),
    ("junk", 1, ("0002:81",)),
    ("root-port", 1, ("0002:80:00.0", "0002:81:00.0")),
    ("bridge", 1, ("0004:02:01.0", "0004:04:00.0")),
    ("name", 1, ("vdz",)),
    ("ram", 1, ("lo",)),
    ("no-map", 1, ("/no/such/map", "No such file")),
    ("map-key", 1, ("map-key:2", "port")),
    ("map-number", 1, ("map-number:1", "9999999999")),
)


@test("devices_refusals")
def it_is_said_what_is_wrong(s):
    for name, status, words in REFUSALS:
        text = s.words(f"{name}.err")
        for word in words:
            expect(word in text, f"{name}: no {word!r} in {text!r}")
        expect_equal(s.status(name), status, f"{name}: exit status ({text})")


@test("devices_refusals")
def a_place_that_nobody_knows(s):
    text = s.words("unplaced.out") + s.words("unplaced.err")
    expect("--pci-map" in text, f"{text!r}")
    text = s.words("map-rc.out") + s.words("map-rc.err")
    expect("rc_7" in text or "rc=7" in text or "root complex 7" in text, f"{text!r}")


@test("devices_refusals")
def without_counters_there_are_only_requests(s):
    s.expect_complete("no-counters")
    for report in (json.loads(line) for line in s.text("no-counters.json").splitlines()):
        (entry,) = report["devices"]
        expect_equal((entry["bdf"], entry["filter"]), ("0002:81:00.0", "none"), "device, filter")
        expect("read_bytes" not in entry and "io" in entry, f"{entry}")


@test("devices_refusals")
def the_same_device_twice_is_one(s):
    s.expect_complete("twice")
    for report in (json.loads(line) for line in s.text("twice.json").splitlines()):
        # it is a GPU with a link, which is a device of its own
        expect_equal([d["bdf"] for d in report["devices"]], ["0002:81:00.0", "0002:81:00.0/c2c"], "devices")
