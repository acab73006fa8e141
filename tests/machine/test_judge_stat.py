#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdict on reports of "t410trace stat", without a virtual machine.

Results as the guest leaves them are made from the traffic files and must pass; each
of the cases spoils one thing, and the right test must fail. Also: the traffic tells the
metrics of a PMU apart, so that one in another's place is seen.
"""

import itertools
import json
import pathlib
import re
import sys
import tempfile

import judge_stat
from judge_stat import FULL, MACHINES, parts_of
from known import CYCLES, Known
from known_metrics import expected
from results import Scenario
from spoilt import failing, refuse_spoilt

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 4
NS = SECONDS * 10**9
BUDGET = 0.005
SENT = {0: 7 * FULL, **{slot: slot * FULL for slot in range(1, 9)}}
DEAR = ("cmem_latency", "nvlink_c2c", "nvclink", "nvdlink")


def events_of(shape):
    """By PMU, from the listing of the machine's sysfs."""
    found = {}
    for line in (HERE / f"checks/golden/sysfs-{shape}").read_text().splitlines():
        match = re.match(r"(nvidia_\w+)/events/(\w+) = ", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


def metric(pmu, name, value, filters=""):
    absent = {"reason": "undefined"} if value is None else {"value": value}
    return {"pmu": pmu, "name": name, "filters": filters, **absent}


def pmu_object(name):
    dear = any(f"nvidia_{kind}_pmu" in name for kind in DEAR)
    return {"name": name, "socket": int(re.search(r"pmu_(\d)", name)[1]), "dear": dear}


def cost_object(name):
    return {"pmu": name, "readings": 9, "read_ns": NS // 10000, "deferred": 5, "failed": 0, "sets": 2}


def report(metrics=(), counters=(), pmus=(), busiest=0.004, ns=NS):
    return {
        "interval": {"duration_ns": ns},
        "pmus": [pmu_object(name) for name in pmus],
        "counters": list(counters),
        "metrics": list(metrics),
        "self": {"read_budget": BUDGET, "busiest": busiest, "pmus": [cost_object(name) for name in pmus]},
    }


def finite(known, name, share=1.0):
    value = known.count(*parts_of(name)[:2], SENT, parts_of(name)[2])
    counted = int(value * share)
    return {"name": name, "asked": True, "value": value, "counted": counted, "enabled_ns": NS, "covered_ns": int(NS * share)}


def constant(known, name, share=1.0):
    counted = int(known.rate(*parts_of(name)) * SECONDS * share)
    return {
        "name": name,
        "asked": True,
        "value": int(counted / share),
        "low": int(counted / share * 0.999),
        "high": int(counted / share * 1.006) + 1,
        "counted": counted,
        "enabled_ns": NS,
        "covered_ns": int(NS * share),
    }


class Folder:
    """What a scenario left: reports by name, texts by name."""

    def __init__(self, scenario):
        self.scenario = scenario
        shape, traffic = MACHINES[scenario]
        self.known = Known(HERE / traffic)
        self.events = events_of({"t410,cpu": "t410-cpu", "t410,none": "t410-1-none"}.get(shape, shape))
        self.runs, self.texts = {}, {"done": "", "table.out": "", "all.status": "0"}
        self.texts["shown"] = "".join(f"{pmu} {e}\n" for pmu, events in self.events.items() for e in events)
        lines = [{"name": "x", "slot": slot, "bytes": count} for slot, count in SENT.items()]
        self.truth = "\n".join(map(json.dumps, lines))

    def every_metric(self, **more):
        metrics = [
            metric(pmu, name, value)
            for pmu, events in self.events.items()
            for name, value in expected(self.known, pmu, "", events).items()
        ]
        return report(metrics, pmus=self.events, **more)

    def write(self, folder):
        for name, reports in self.runs.items():
            lines = [*reports[:-1], {**reports[-1], "summary": True}]
            (folder / f"{name}.json").write_text("\n".join(map(json.dumps, lines)))
        for name, text in self.texts.items():
            (folder / name).write_text(text)

    def failures(self):
        """Names of the tests that fail."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / self.scenario
            folder.mkdir()
            self.write(folder)
            return failing(Scenario(folder, self.known), judge_stat.TESTS[self.scenario])


def rates(scenario="stat_rates"):
    f = Folder(scenario)
    f.texts["table.status"], f.texts["table.out"] = "0", " ".join(judge_stat.KIND_WORDS.values())
    f.runs["all"] = [f.every_metric(), f.every_metric()]
    sources = ("src_loc_cpu=1", "src_loc_noncpu=1", "src_rem=1")
    places = ("dst_loc_cmem=1", "dst_loc_gmem=1", "dst_loc_other=1", "dst_rem=1")
    names = [f"nvidia_ucf_pmu_0/mem_bytes_rd,{a},{b}/" for a, b in itertools.product(sources, places)]
    f.runs["places"] = [report(counters=[constant(f.known, name, 0.5) for name in names])]
    if scenario == "stat_grace_rates":
        names = [f"nvidia_pcie_pmu_0/rd_bytes_loc,root_port={mask}/" for mask in ("0x1", "0x4", "0x200", "0x201")]
        f.runs["ports"] = [report(counters=[constant(f.known, name) for name in names])]
    return f


def beside_perf():
    f = Folder("stat_perf")
    names = [f"{pmu}/{e}/" for pmu, events in f.events.items() for e in events if e not in CYCLES]
    for n in range(0, len(names), 40):
        batch = [finite(f.known, name) for name in names[n : n + 40]]
        f.runs[f"batch{n}"] = [report(counters=batch)]
        f.texts[f"batch{n}.status"] = "0"
        f.texts[f"perf.{n}"] = "\n".join(f"{c['value']},,{c['name']},{NS},100.00,," for c in batch)
        f.texts[f"truth.{n}"] = f.truth
    return f


def counts():
    f = Folder("stat_counts")
    ucf = "nvidia_ucf_pmu_0"
    names = [f"{ucf}/mem_bytes_rd,src_loc_cpu=1/", f"{ucf}/mem_bytes_rd,src_loc_noncpu=1/", f"{ucf}/slc_wb/"]
    f.runs["group"] = [report(counters=[finite(f.known, name) for name in names])]
    families = [*names, *(f"nvidia_pcie_pmu_{s}_rc_{rc}/rd_req/" for s in (0, 1) for rc in range(6))]
    f.runs["families"] = [report(counters=[finite(f.known, name) for name in families])]
    stay = ["mem_bytes_rd", "mem_bytes_wr"]
    turn = [e for e in f.events[ucf] if e not in (*CYCLES, *stay)][:10]
    f.runs["turns"] = [report(counters=[finite(f.known, f"{ucf}/{e}/", 1 if e in stay else 0.5) for e in stay + turn])]
    for name in ("families", "group", "turns"):
        f.texts[f"truth.{name}"] = f.truth
    f.texts["truth.base"] = f.truth
    f.runs["base"] = [report(counters=[finite(f.known, f"{ucf}/slc_bytes_{d}/") for d in ("rd", "wr")], pmus=[ucf])]
    f.runs["base"][0]["counters"] += [finite(f.known, f"{ucf}/mem_bytes_{d}/") for d in ("rd", "wr")]
    stalls = [metric("cores", f"grace.core.{end}_stalled_cycles", 0.0) for end in ("frontend", "backend")]
    f.runs["cores"] = [{**report(stalls), "notes": ["the cores are of a kind without a table"]}]
    f.runs["cycles"] = [report(counters=[{"name": "cpu_cycles", "asked": True, "value": 10**8}])]
    f.texts |= {"families.status": "0", "status.status": "7", "ipc.status": "1"}
    f.texts["ipc.err"] = "t410trace: nothing for t410.core.ipc"
    return f


def budget():
    f = Folder("stat_budget")
    early = f.every_metric()
    early["metrics"][0] = {**early["metrics"][0], "reason": "not_read"}
    f.runs["often"] = [early, *(f.every_metric() for _ in range(20)), f.every_metric()]
    f.runs["short"] = [f.every_metric()]
    f.texts["short.status"] = "0"
    f.runs["generous"] = [f.every_metric(ns=NS // 4)]
    return f


def last(folder, run):
    return folder.runs[run][-1]


def value_of(folder, pmu, name):
    return next(v for v in last(folder, "all")["metrics"] if (v["pmu"], v["name"]) == (pmu, name))


METRICS_TEST = {"every_metric_of_every_pmu"}


def spoil_a_rate(f):
    value_of(f, "nvidia_pcie_pmu_1_rc_3", "t410.pcie.read_latency")["value"] *= 1.006
    return METRICS_TEST


def spare_a_rate(f):
    value_of(f, "nvidia_pcie_pmu_1_rc_3", "t410.pcie.read_latency")["value"] *= 1.004
    return set()


def spoil_presence(f):
    last(f, "all")["metrics"].pop(17)
    return METRICS_TEST


def spoil_names(f):
    last(f, "all")["metrics"].append(metric("nvidia_ucf_pmu_0", "t410.ucf.weather", 1.0))
    return METRICS_TEST


def spoil_nothing(f):
    """Zero is not the same as no value."""
    idle = value_of(f, "nvidia_nvdlink_pmu_1", "t410.nvdlink.in_rd_latency")
    idle["value"] = 0.0
    return METRICS_TEST


def spoil_reason(f):
    value_of(f, "nvidia_nvdlink_pmu_1", "t410.nvdlink.in_rd_latency")["reason"] = "refused"
    return METRICS_TEST


def spoil_pmus(f):
    gone = last(f, "all")["pmus"].pop()["name"]
    last(f, "all")["metrics"] = [v for v in last(f, "all")["metrics"] if v["pmu"] != gone]
    return METRICS_TEST


def spoil_sockets(f):
    one, other = (value_of(f, f"nvidia_ucf_pmu_{n}", "t410.ucf.mem_read_bandwidth") for n in (0, 1))
    one["value"], other["value"] = other["value"], one["value"]
    return METRICS_TEST


def spoil_share(f):
    """What was counted half of the time stands for twice as much."""
    count = last(f, "places")["counters"][3]
    count["value"] = count["counted"]
    return {"every_source_with_every_destination"}


def spoil_bar(f):
    count = last(f, "places")["counters"][3]
    count["high"] = count["value"] * 98 // 100
    return {"every_source_with_every_destination"}


def spoil_turns(f):
    for count in last(f, "places")["counters"]:
        count["covered_ns"], count["counted"] = count["enabled_ns"], count["value"]
    return {"every_source_with_every_destination"}


def spoil_a_byte(f):
    last(f, "batch40")["counters"][7]["value"] += 1
    return {"perf_counts_the_same"}


def spoil_both(f):
    """Both wrong in the same way: the programs know better."""
    count = last(f, "batch0")["counters"][0]
    f.texts["perf.0"] = f.texts["perf.0"].replace(f"{count['value']},,{count['name']}", f"9,,{count['name']}")
    count["value"] = 9
    return {"perf_counts_the_same"}


def spoil_perf(f):
    f.texts["perf.0"] = f.texts["perf.0"].replace("100.00", "50.00", 1)
    return {"perf_counts_the_same"}


def spoil_coverage(f):
    del f.runs["batch0"]
    return {"perf_counts_the_same"}


def spoil_family(f):
    last(f, "families")["counters"][5]["value"] -= 1
    return {"every_family_to_the_unit"}


def spoil_base(f):
    last(f, "base")["counters"][2]["value"] -= 1
    return {"bytes_are_exact_while_others_take_turns"}


def spoil_invention(f):
    last(f, "turns")["counters"][5]["counted"] = last(f, "turns")["counters"][5]["value"] + 1
    return {"nothing_is_invented_in_turns"}


def spoil_zero_ipc(f):
    last(f, "cores")["metrics"].append(metric("cores", "t410.core.ipc", 0.0))
    return {"what_the_cores_lack_is_said"}


def spoil_cores(f):
    last(f, "cores")["notes"] = []
    return {"what_the_cores_lack_is_said"}


def spoil_busiest(f):
    for one in f.runs["often"]:
        for cost in one["self"]["pmus"]:
            cost["read_ns"] *= 4
    return {"readings_keep_their_budget"}


def spoil_short(f):
    """A turn that never came, and what it ends with."""
    metrics = last(f, "short")["metrics"]
    n = next(n for n, v in enumerate(metrics) if "value" in v)
    metrics[n] = {**metric(metrics[n]["pmu"], metrics[n]["name"], None), "reason": "not_read"}
    return {"a_short_run_is_complete"}


def spoil_status(f):
    f.texts["short.status"] = "3"
    return {"a_short_run_is_complete"}


def spoil_deferred(f):
    costs = last(f, "often")["self"]["pmus"]
    next(cost for cost in costs if "nvclink" in cost["pmu"])["deferred"] = 0
    return {"what_waited_is_said"}


def spoil_rest(f):
    last(f, "often")["metrics"][5]["value"] = 1.0
    return {"numbers_are_right_all_the_same"}


CASES = {
    rates: [
        spoil_a_rate, spare_a_rate, spoil_presence, spoil_names, spoil_nothing, spoil_reason, spoil_pmus, spoil_sockets,
        spoil_share, spoil_bar, spoil_turns,
    ],
    beside_perf: [spoil_a_byte, spoil_both, spoil_perf, spoil_coverage],
    counts: [spoil_family, spoil_base, spoil_invention, spoil_cores, spoil_zero_ipc],
    budget: [spoil_busiest, spoil_short, spoil_status, spoil_deferred, spoil_rest],
}  # fmt: skip


def alike(shape):
    """Pairs of metrics that the traffic tells apart on none of the PMUs of a kind."""
    known, pairs = Known(HERE / f"stat-{shape}.conf"), {}
    for pmu in events_of(shape):
        values = [(name, value) for name, value in expected(known, pmu).items() if value]
        for (a, x), (b, y) in itertools.combinations(values, 2):
            near = abs(x - y) <= 2 * judge_stat.RATE_TOLERANCE * x
            pairs.setdefault((a, b), []).append(near)
    return [pair for pair, near in pairs.items() if all(near)]


def verdict(name, wrong):
    print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")
    return bool(wrong)


def main():
    bad = 0
    for make, cases in CASES.items():
        bad += refuse_spoilt(make().scenario, make, Folder.failures, cases)
    bad += verdict("judge-stat_grace_rates-right", rates("stat_grace_rates").failures())
    for shape in ("t410", "grace"):
        bad += verdict(f"traffic-{shape}-tells-apart", alike(shape))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
