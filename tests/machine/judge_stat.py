# SPDX-License-Identifier: GPL-2.0-only
"""Tests of "t410trace stat" in both shapes of the machine: the part of judge.py that is
about guest_stat.sh. What is right comes from the traffic files by known.py (counts, rates)
and known_metrics.py (metrics).
"""

import statistics

from known import CYCLES, place_of
from known_metrics import expected
from results import Truth, estimate, expect, expect_equal, require, tests_into
from stat_results import StatRun, perf_counts

RATE_TOLERANCE = 0.005
# Of a counter that takes turns: each begins and ends a moment beside the time that is booked, which
# is a millisecond when the emulated CPU has to wait in the midst of it
TURNS_TOLERANCE = 0.02
# A BAR that the guest is told of, and the root complex of its device
TARGET = "nvidia_pcie_tgt_pmu_0_rc_1"
WINDOW = "dst_addr_en=1,dst_addr_base=0x42000000,dst_addr_mask=0xffffffffff000000"
FULL = 2882880  # programs store multiples of it: see stat-finite-*.conf
NR_PMUS = {"t410": 34, "t410,cpu": 34, "t410,none": 32, "grace": 10}
TESTS = {}
test = tests_into(TESTS)
# Scenarios: shape of the machine, and traffic
MACHINES = {
    "stat_rates": ("t410", "stat-t410.conf"),
    "stat_choice": ("t410", "stat-t410.conf"),
    "stat_windows": ("t410", "stat-t410.conf"),
    "stat_budget": ("t410", "stat-t410.conf"),
    "stat_peer_cpu": ("t410,cpu", "stat-t410.conf"),
    "stat_peer_none": ("t410,none", "stat-t410.conf"),
    "stat_grace_rates": ("grace", "stat-grace.conf"),
    "stat_counts": ("t410", "stat-finite-t410.conf"),
    "stat_perf": ("t410", "stat-finite-t410.conf"),
    "stat_hotplug": ("t410", "stat-finite-t410.conf"),
    "stat_death": ("t410", "stat-finite-t410.conf"),
    "stat_refusals": ("t410", "stat-finite-t410.conf"),
    "stat_grace_counts": ("grace", "stat-finite-grace.conf"),
    "stat_grace_perf": ("grace", "stat-finite-grace.conf"),
}


def shown(s):
    """Events that each PMU of the machine offers."""
    found = {}
    for line in s.text("shown").splitlines():
        pmu, event = line.split()
        found.setdefault(pmu, []).append(event)
    return found


def parts_of(name):
    """ "PMU/event,filters/" as a user writes it."""
    pmu, terms, _ = name.split("/")
    event, _, filters = terms.partition(",")
    return pmu, event, filters


def close(found, wanted, what, tolerance=RATE_TOLERANCE):
    expect(
        abs(found - wanted) <= tolerance * wanted,
        f"{what}: {found:.6g}, by hand {wanted:.6g}",
    )


def sent(s, name="truth"):
    """Bytes by slot."""
    slots = {}
    for line in Truth(s.folder / name, None).lines:
        expect(line["bytes"] > 0, f"{name}: an idle program")
        expect_equal(line["bytes"] % FULL, 0, f"{name}: rest of the bytes of slot {line['slot']}")
        slots[line["slot"]] = slots.get(line["slot"], 0) + line["bytes"]
    return slots


# --- constant traffic: every metric of every PMU


@test("stat_rates", "stat_peer_cpu", "stat_peer_none", "stat_grace_rates")
@estimate
def every_metric_of_every_pmu(s):
    """Also: none too many, none missing, and none where nothing happened."""
    run, offered = StatRun(s, "all"), shown(s)
    if MACHINES[s.folder.name][0] == "t410,cpu":
        s.wiring.only_port("nvlink", 0)
    s.expect_complete("all")
    expect_equal(len(offered), NR_PMUS[MACHINES[s.folder.name][0]], "PMUs of the machine")
    expect_equal(sorted(run.pmus()), sorted(offered), "PMUs")
    for pmu, events in offered.items():
        judge_metrics(s, run.values(pmu), pmu, "", events)


def judge_metrics(s, values, pmu, filters, events):
    by_hand = expected(s.wiring, pmu, filters, events)
    expect_equal(sorted(v["name"] for v in values), sorted(by_hand), f"metrics of {pmu}")
    for v in values:
        what, wanted = f"{pmu} {filters} {v['name']}", by_hand[v["name"]]
        if wanted is None:
            expect(v.get("value") is None, f"{what}: {v.get('value')} though nothing happened")
            expect(v.get("reason") == "undefined", f"{what}: it has no value because {v.get('reason')}")
        else:
            expect(v.get("value") is not None, f"{what}: no value: {v.get('reason')}")
            close(v["value"], wanted, what)


@test("stat_rates", "stat_peer_cpu", "stat_peer_none", "stat_grace_rates")
def the_table_is_there(s):
    """Of a second, in which each set of events must have had its turn."""
    text = s.text("table.out")
    for kind in sorted({place_of(pmu)[0] for pmu in shown(s)}):
        require(KIND_WORDS[kind] in text, f"the table has nothing about {kind}")
    s.expect_complete("table")


KIND_WORDS = {
    "ucf": "ucf", "pcie": "pcie", "tgt": "pcie_tgt", "cmem": "cmem", "nvlink": "nvlink", "nvclink": "nvclink",
    "nvdlink": "nvdlink", "scf": "scf", "gpcie": "pcie", "c2c0": "c2c0", "c2c1": "c2c1", "cnvlink": "cnvlink",
}  # fmt: skip


def judge_rate(s, run, name):
    """A counter of constant traffic: what it counted, and what it stands for."""
    count = run.count(name)
    pmu, event, filters = parts_of(name)
    rate = s.wiring.rate(pmu, event, filters)
    expect(count.get("value") is not None, f"{name}: no value: {count.get('reason')}")
    expect(count["covered_ns"] > 0, f"{name}: it never ran")
    tolerance = RATE_TOLERANCE if count["covered_ns"] == count["enabled_ns"] else TURNS_TOLERANCE
    close(count["counted"] * 1e9 / count["covered_ns"], rate, f"{name}: counted", tolerance)
    close(count["value"] * 1e9 / count["enabled_ns"], rate, f"{name}: value", tolerance)
    # The kernel's time of events is not quite that of the machine
    moved, low, high = rate * count["enabled_ns"] / 1e9, count["low"], count["high"]
    expect(low * 0.995 <= moved <= high * 1.005, f"{name}: {low} to {high}, truth {moved:.0f}")
    return count["covered_ns"] / count["enabled_ns"]


@test("stat_rates")
@estimate
def every_source_with_every_destination(s):
    """Twelve counters where eight fit: they take turns, and say so."""
    run = StatRun(s, "places")
    names = [name for name in run.counts() if "dst_" in name]
    expect_equal(len(names), 12, "counters")
    shares = [judge_rate(s, run, name) for name in names]
    expect(min(shares) > 0.2, f"one ran {min(shares):.3f} of the time")
    expect(min(shares) < 0.9, "all ran all the time, which eight counters cannot do")


@test("stat_grace_rates")
@estimate
def ports_are_chosen(s):
    run = StatRun(s, "ports")
    expect_equal(len(run.counts()), 4, "counters")
    for name in run.counts():
        expect_equal(judge_rate(s, run, name), 1, f"{name}: time that it ran")


# --- what options choose


@test("stat_choice")
@estimate
def only_the_metrics_that_were_asked_for(s):
    run = StatRun(s, "some")
    found = sorted((v["pmu"], v["name"]) for v in run.values())
    wanted = [
        (f"nvidia_{pmu}_pmu_{n}", f"t410.{metric}")
        for pmu, metric in (("cmem_latency", "cmem.read_latency"), ("ucf", "ucf.mem_read_bandwidth"))
        for n in (0, 1)
    ]
    expect_equal(found, wanted, "metrics")
    for v in run.values():
        close(v["value"], expected(s.wiring, v["pmu"])[v["name"]], f"{v['pmu']} {v['name']}")


@test("stat_choice")
def only_one_socket(s):
    run = StatRun(s, "socket")
    expect_equal([v["pmu"] for v in run.values()], ["nvidia_ucf_pmu_1"], "PMUs with metrics")
    expect_equal({pmu["socket"] for pmu in run.whole["pmus"]}, {1}, "sockets")


def split_metrics(s, name, filter_name, ports_by_pmu):
    """Metrics once for each port: all that have traffic, and what is shown is right."""
    run, found = StatRun(s, name), {}
    for v in run.values():
        filters = v["filters"]
        expect(filters.startswith(f"{filter_name}="), f"{v['pmu']} {v['name']}: filters {filters!r}")
        found.setdefault(v["pmu"], set()).add(int(filters.split("=")[1], 0))
        wanted = expected(s.wiring, v["pmu"], filters)[v["name"]]
        what = f"{v['pmu']} {filters} {v['name']}"
        if wanted is None:
            expect(v.get("value") is None, f"{what}: {v.get('value')} though nothing happened")
        else:
            expect(v.get("value") is not None, f"{what}: no value: {v.get('reason')}")
            close(v["value"], wanted, what)
    for pmu, masks in ports_by_pmu.items():
        missing = masks - found.get(pmu, set())
        expect(not missing, f"{pmu}: no {name} of {sorted(missing)}")


@test("stat_choice")
@estimate
def every_port(s):
    ports = {}
    for flow in s.wiring.flows:
        if flow.kind == "pcie":
            ports.setdefault(f"nvidia_pcie_pmu_{flow.socket}_rc_{flow.rc}", set()).add(1 << flow.port)
    split_metrics(s, "ports", "src_rp_mask", ports)


@test("stat_choice")
@estimate
def every_gpu(s):
    split_metrics(s, "gpus", "gpu_mask", {f"nvidia_nvlink_c2c_pmu_{n}": {1, 2} for n in (0, 1)})


@test("stat_choice")
@estimate
def events_by_number_and_by_name(s):
    run = StatRun(s, "alone")
    counts = run.counts()
    expect_equal(len(counts), 3, "counters")
    raw = counts["nvidia_ucf_pmu_0/event=0x123,src_loc_cpu=1/"]
    rate = s.wiring.rate("nvidia_ucf_pmu_0", "mem_bytes_rd", "src_loc_cpu=1")
    close(raw["value"] * 1e9 / raw["enabled_ns"], rate, "event 0x123")
    for name in ("nvidia_pcie_pmu_0_rc_1/rd_bytes/", "nvidia_ucf_pmu_0/bus_cycles/"):
        judge_rate(s, run, name)


# --- windows and devices: more than fit take turns


@test("stat_windows")
@estimate
def ten_windows_of_eight(s):
    run = StatRun(s, "windows")
    names = list(run.counts())
    expect_equal(len(names), 10, "counters")
    shares = [judge_rate(s, run, name) for name in names]
    expect(0.2 < min(shares) < 0.9, f"windows ran {min(shares):.3f} to {max(shares):.3f} of the time")
    expect(run.cost("nvidia_pcie_tgt_pmu_0_rc_2")["sets"] >= 2, "they took no turns")


@test("stat_windows")
@estimate
def devices_take_turns(s):
    run = StatRun(s, "devices")
    names = list(run.counts())
    expect_equal(len(names), 3, "counters")
    for name in names:
        share = judge_rate(s, run, name)
        expect(0.1 < share < 0.8, f"{name}: it ran {share:.3f} of the time")


@test("stat_windows")
@estimate
def a_bar_is_its_device(s):
    """At its own root complex alone, which the root port above it tells."""
    run = StatRun(s, "window")
    expect_equal(run.pmus(), [TARGET], "PMUs")
    values = {value["name"]: value for value in run.values()}
    for direction, event in (("read", "rd_bytes"), ("write", "wr_bytes")):
        value = values[f"t410.pcie_tgt.{direction}_bandwidth"]
        expect_equal(value["label"], "0002:a1:00.0 BAR0", "label")
        close(value["value"], s.wiring.rate(TARGET, event, WINDOW) / 1e9, f"{direction} bandwidth of the BAR")


@test("stat_windows")
def impossible_windows_are_refused(s):
    said(s, "bar", 1, "0002:a1:00.0")
    said(s, "nobody", 1, "0002:a1:1f.0")
    said(s, "empty", 1, "dst_addr_mask")
    said(s, "cycles", 1, "cycles")


def said(s, name, status, *words):
    """It ends with the status and says why."""
    expect_equal(s.status(name), status, f"{name}: exit status, and it says {s.words(f'{name}.err')!r}")
    text = s.words(f"{name}.err")
    for word in ("t410trace", *words):
        expect(word in text, f"{name}: {word!r} is not in {text!r}")


# --- what readings cost


@test("stat_budget")
@estimate
def readings_keep_their_budget(s):
    """In the middle of the reports behind the first, in which each set of events is read whatever it
    takes: a reading of 0.1 ms takes 8 when the host has taken the CPU away in the midst of it."""
    run = StatRun(s, "often")
    budget = run.whole["self"]["read_budget"]
    expect_equal(budget, 0.005, "budget")
    expect(len(run.each) >= 20, f"{len(run.each)} reports of 100 ms")
    expect(run.whole["self"]["busiest"] > 0, "readings took no time")
    spent = statistics.median(
        sum(cost["read_ns"] for cost in report["self"]["pmus"]) / report["interval"]["duration_ns"]
        for report in run.each[1:]
    )
    # a CPU of each socket
    expect(spent <= 2 * 1.1 * budget, f"readings took {spent:.5f} of two CPUs, {budget} of each are allowed")


@test("stat_budget")
@estimate
def a_short_run_is_complete(s):
    """With the options that nobody gave: each set of events had a turn, though the budget does not do for it."""
    s.expect_complete("short")
    run = StatRun(s, "short")
    for v in run.values():
        wanted = expected(s.wiring, v["pmu"])[v["name"]]
        expect((v.get("value") is None) == (wanted is None), f"{v['pmu']} {v['name']}: {v.get('reason', 'a value')}")


@test("stat_budget")
@estimate
def what_waited_is_said(s):
    run = StatRun(s, "often")
    costs = run.dear_costs()
    expect_equal(len(costs), 8, "PMUs whose readings are dear")
    for cost in costs:
        expect(cost["deferred"] > 0, f"{cost['pmu']}: no reading waited")
        expect(cost["readings"] > 0, f"{cost['pmu']}: it was never read")
        expect_equal(cost["failed"], 0, f"{cost['pmu']}: readings that failed")
    missing = [v for report in run.each for v in report["metrics"] if v.get("reason") == "not_read"]
    expect(missing, "no interval says that it has no reading")


@test("stat_budget")
@estimate
def numbers_are_right_all_the_same(s):
    """Some have none when there was no time to change turns, and say so."""
    run, none = StatRun(s, "often"), 0
    for v in run.values():
        wanted = expected(s.wiring, v["pmu"])[v["name"]]
        if v.get("value") is not None:
            expect(wanted is not None, f"{v['pmu']} {v['name']}: {v['value']} though nothing happened")
            close(v["value"], wanted, f"{v['pmu']} {v['name']}")
        elif wanted is not None:
            none += 1
            expect(v["reason"] == "not_read", f"{v['pmu']} {v['name']}: no value because {v['reason']}")
    expect(none <= 0.05 * len(run.values()), f"{none} of {len(run.values())} metrics have no value")
    run = StatRun(s, "generous")
    for pmu, events in shown(s).items():
        judge_metrics(s, run.values(pmu), pmu, "", events)


@test("stat_budget")
@estimate
def a_larger_budget_defers_less(s):
    rate = {}
    for name in ("often", "generous"):
        run = StatRun(s, name)
        rate[name] = sum(cost["readings"] for cost in run.dear_costs()) / run.whole["interval"]["duration_ns"]
    expect(rate["generous"] > 2 * rate["often"], f"readings of dear PMUs per ns: {rate}")


# --- finite traffic: to the unit


def judge_counts(s, run, truth):
    for name, count in run.counts().items():
        pmu, event, filters = parts_of(name)
        if event in CYCLES:
            continue
        expect_equal(count.get("value"), s.wiring.count(pmu, event, truth, filters), name)
        expect_equal(count["covered_ns"], count["enabled_ns"], f"{name}: time that it ran")


@test("stat_counts", "stat_grace_counts")
def every_family_to_the_unit(s):
    run, truth = StatRun(s, "families"), sent(s, "truth.families")
    s.expect_complete("families")
    judge_counts(s, run, truth)
    counts = run.counts()
    expect(len(counts) >= 12, f"{len(counts)} counters")
    zero = [name for name, count in counts.items() if not count["value"]]
    expect(len(zero) <= 4, f"without traffic: {zero}")


@test("stat_counts")
def a_group_in_braces(s):
    run = StatRun(s, "group")
    expect_equal(len(run.counts()), 3, "counters")
    judge_counts(s, run, sent(s, "truth.group"))


@test("stat_counts")
@estimate
def nothing_is_invented_in_turns(s):
    run, truth, shares = StatRun(s, "turns"), sent(s, "truth.turns"), []
    for name, count in run.counts().items():
        whole = s.wiring.count(*parts_of(name)[:2], truth)
        require(count["counted"] <= whole, f"{name}: {count['counted']} counted of {whole}")
        shares.append(count["covered_ns"] / count["enabled_ns"])
    expect_equal(len(shares), 12, "counters")
    expect(0 < min(shares) < 0.9, f"they ran {min(shares):.3f} of the time or more; eight counters are there")


@test("stat_counts")
def bytes_are_exact_while_others_take_turns(s):
    """Those of metrics, which stay when other events do not fit beside them."""
    run, truth, stayed = StatRun(s, "base"), sent(s, "truth.base"), 0
    for count in run.whole["counters"]:
        pmu, event, filters = parts_of(count["name"])
        if "_bytes_" in event and pmu == "nvidia_ucf_pmu_0":
            stayed += 1
            expect_equal(count["value"], s.wiring.count(pmu, event, truth, filters), count["name"])
            expect_equal(count["covered_ns"], count["enabled_ns"], f"{count['name']}: time that it ran")
    expect_equal(stayed, 4, "counters of bytes")
    expect(run.cost("nvidia_ucf_pmu_0")["sets"] > 1, "nothing took turns")


@test("stat_counts")
def the_commands_status_is_returned(s):
    expect_equal(s.status("status"), 7, "exit status")


@test("stat_counts")
def what_the_cores_lack_is_said(s):
    """A core without metrics: told, and no zeros."""
    run = StatRun(s, "cores")
    expect(any("cores" in note for note in run.whole["notes"]), f"notes: {run.whole['notes']}")
    # The emulated core counts cycles and stalls, which it has none of, and no instructions.
    found = {v["name"]: v["value"] for v in run.values() if ".core." in v["name"]}
    wanted = {f"grace.core.{end}_stalled_cycles": 0.0 for end in ("frontend", "backend")}
    expect_equal(found, wanted, "metrics of the cores")
    said(s, "ipc", 1, "t410.core.ipc")
    count = StatRun(s, "cycles").count("cpu_cycles")
    expect(count["value"] > 1000000, f"{count['value']} cycles of a program that computes")


# --- beside perf


@test("stat_perf", "stat_grace_perf")
def perf_counts_the_same(s):
    """All events of all PMUs, and both as the programs' own account has it."""
    compared = set()
    batches = sorted(path.name[5:-5] for path in s.folder.glob("batch*.json"))
    for n in batches:
        run = StatRun(s, f"batch{n}")
        s.expect_complete(f"batch{n}")
        perf = perf_counts(s.text(f"perf.{n}"), f"perf.{n}")
        expect_equal(sorted(run.counts()), sorted(perf), f"batch {n}: events")
        judge_counts(s, run, sent(s, f"truth.{n}"))
        for name, count in run.counts().items():
            expect_equal(count["value"], perf[name], f"{name} beside perf")
            expect(count["value"] > 0, f"{name}: no traffic")
            compared.add(name)
    wanted = {f"{pmu}/{e}/" for pmu, events in shown(s).items() for e in events if e not in CYCLES}
    expect_equal(len(shown(s)), NR_PMUS[MACHINES[s.folder.name][0]], "PMUs of the machine")
    expect_equal(compared, wanted, "events that were compared")


# --- faults


@test("stat_hotplug")
def the_reader_moves(s):
    expect_equal(s.text("cpumask").strip(), "3", "the PMU's CPU after CPU 2 went offline")
    s.expect_complete("all")


@test("stat_hotplug")
def nothing_is_lost_that_moved(s):
    """Programs pause while the CPU goes and comes back."""
    judge_moved(s, StatRun(s, "all"), sent(s))


def judge_moved(s, run, truth):
    expect_equal(len(run.counts()), 4, "counters")
    for name, count in run.counts().items():
        pmu, event, filters = parts_of(name)
        expect_equal(count["counted"], s.wiring.count(pmu, event, truth, filters), name)


@test("stat_death")
def the_end_has_its_report(s):
    s.expect_complete("INT")
    expect(StatRun(s, "INT").values(), "no metrics after SIGINT")
    s.expect_complete("TERM")
    expect(len(s.text("TERM.json").splitlines()) >= 2, "SIGTERM: reports")
    expect_equal(s.status("KILL"), 137, "exit status after SIGKILL")


@test("stat_death")
def all_counters_are_free_again(s):
    perf = s.perf()
    expect_equal(len(perf), 8, "events of perf")
    for event, (_, percent) in perf.items():
        expect_equal(percent, 100.0, f"{event}: time it ran in percent")
    expect_equal(s.number("programs.after"), s.number("programs.before"), "BPF programs in the kernel")


@test("stat_refusals")
def mistakes_are_pointed_at(s):
    """With what would have fitted."""
    for name, word in (
        ("event", "mem_bytes_rd"),
        ("pmu", "nvidia_ucf_pmu_0"),
        ("filter", "src_loc_cpu"),
        ("range", "src_loc_cpu"),
        ("brace", "}"),
        ("bdf", "src_bdf_en"),
    ):
        said(s, name, 1, word)
        expect("^" in s.text(f"{name}.err"), f"{name}: no caret in {s.text(f'{name}.err')!r}")
    said(s, "metric", 1, "mem_read_bandwidth")


@test("stat_refusals")
def impossible_arguments(s):
    said(s, "budget", 2, "--read-budget")
    said(s, "socket", 1, "5")
    said(s, "command", 127, "/no/such/program")
