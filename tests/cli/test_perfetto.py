#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_perfetto.py T410TRACE [FILE...]: values of --perfetto are those of the JSON of the same
recording, for an invented trace and for FILEs."""

import collections
import decimal
import gzip
import json
import pathlib
import sys
import tempfile

import each_test
import everything

program = sys.argv[1]
WAYS = ("read", "write")
BAR = {"value": "", "low": " low", "high": " high"}
UNITS = {"bytes": "bytes", "nanojoules": "nJ"}


def once(pairs):
    """Viewers keep the last of two values of a name."""
    assert len(dict(pairs)) == len(pairs), f"a name twice: {pairs}"
    return dict(pairs)


def nanoseconds(microseconds):
    whole = decimal.Decimal(microseconds) * 1000
    assert whole == int(whole), f"a part of a nanosecond: {microseconds}"
    return int(whole)


class Read:
    """A timeline: values by (group, counter, unit), slices by (group, lane), instants by group."""

    def __init__(self, text):
        document = json.loads(text, parse_float=decimal.Decimal, object_pairs_hook=once)
        # what else there may be, such as displayTimeUnit, changes the unit of times in some viewers
        assert list(document) == ["traceEvents", "otherData"] and document["otherData"]["clock"] == "CLOCK_MONOTONIC"
        self.start_time = document["otherData"].get("start_time")
        self.groups, self.lanes, self.order = {}, {}, {}
        self.values = collections.defaultdict(list)
        self.slices, self.instants = collections.defaultdict(list), collections.defaultdict(list)
        for event in document["traceEvents"]:
            if event["ph"] == "M":
                self.describe(event)
        for event in document["traceEvents"]:
            getattr(self, {"M": "skip", "C": "counter", "X": "slice", "i": "instant"}[event["ph"]])(event)
        assert not set(self.groups) & {lane for _, lane in self.lanes}, "a number is that of a group and of a lane"
        assert len({lane for _, lane in self.lanes}) == len(self.lanes), "a lane in two groups"

    def describe(self, event):
        """A name may be told again: the last one is shown."""
        if event["name"] == "process_name":
            self.groups[event["pid"]] = event["args"]["name"]
        elif event["name"] == "process_sort_index":
            self.order[event["pid"]] = event["args"]["sort_index"]
        else:
            assert event["name"] == "thread_name", event
            self.lanes[event["pid"], event["tid"]] = event["args"]["name"]

    def skip(self, event):
        assert event["args"], event

    def counter(self, event):
        """A counter is what has its name in its group, and each of its values has a name, too."""
        for unit, value in event["args"].items():
            key = self.groups[event["pid"]], event["name"], unit
            self.values[key].append((nanoseconds(event["ts"]), value))

    def slice(self, event):
        start = nanoseconds(event["ts"])
        line = start, start + nanoseconds(event["dur"]), event["name"], event["args"]
        self.slices[event["pid"], event["tid"]].append(line)

    def instant(self, event):
        assert event["s"] == "p", event
        self.instants[self.groups[event["pid"]]].append((nanoseconds(event["ts"]), event["name"], event["args"]))

    def lanes_of(self, group):
        """(lane, slice) of all lanes in a group; slices of a lane do not overlap."""
        for (pid, tid), slices in self.slices.items():
            assert all(a[1] <= b[0] for a, b in zip(slices, slices[1:])), f"slices overlap: {self.lanes[pid, tid]}"
            if self.groups[pid] == group:
                yield from ((self.lanes[pid, tid], s) for s in slices)


# --- what the JSON says


def shown(number):
    """Of a container's long number the part that its users know."""
    return number[:12] if len(number) >= 32 else number


def row_name(row, keys):
    if row["kind"] == "cgroup" and row["parent"] in keys:
        above = keys[row["parent"]]["cgroup"]["path"].rstrip("/") + "/"
        return "(own tasks)" if row["key"].endswith(":own") else row["cgroup"]["path"].removeprefix(above)
    if row["kind"] == "cgroup":
        return row["cgroup"]["path"]
    if row["kind"] == "job":
        job = row.get("job")
        if not job:
            return "(no job)"
        if row.get("parent") in keys:
            return f"step {job['step']}" if job["step"] else "(no step)"
        return f"{job['scheduler']} {shown(job['id'])}" + (f" step {job['step']}" if job["step"] else "")
    name = "(unknown)" if row["comm"] is None else everything.harmless(row["comm"])
    return f"{row.get('tid', row['pid'])} " + (f"[{name}]" if row.get("kernel") else name)


def last_names(reports):
    """Each row with the name that it has at last: a process may become another program."""
    last = {}
    for report in reports:
        for row in report["workloads"]:
            if row["on_cpu_ns"] or any(s["high"] for s in row["shares"]):
                last[row["key"]] = row
    for report in reports:
        for row in report["workloads"]:
            if "comm" in row and row["key"] in last:
                row["comm"] = last[row["key"]]["comm"]


def row_path(row, keys):
    if row.get("parent") in keys:
        return (*row_path(keys[row["parent"]], keys), row_name(row, keys))
    path = ()
    if row["kind"] in ("process", "thread"):
        job = row.get("job")
        if job and job["scheduler"] != "none":
            path += (f"{job['scheduler']} {shown(job['id'])}" + (f" {job['name']}" if job["name"] else ""),)
        if row["cgroup"]["path"]:
            path += (everything.harmless(row["cgroup"]["path"]),)
    if row["kind"] == "thread":
        path += (f"process {row['pid']}",)
    return (*path, row_name(row, keys))


class Wanted:
    """Values by (group, counter, unit) of a report. One that is gone is zero where `zero` says so."""

    def __init__(self, report):
        self.values, self.zero = {}, {}
        self.absent = set()
        self.valid = {c["name"]: c["valid"] for c in report["counters"]}
        devices = {d["bdf"]: ("devices", " ".join(filter(None, (d.get("name"), d["bdf"])))) for d in report["devices"]}
        bases = {c["name"]: devices.get(c.get("bdf"), (f"socket {c['socket']}",)) for c in report["counters"]}
        self.units = {c["name"]: UNITS.get(c["unit"], "count") for c in report["counters"]}
        self.machine(report, bases, devices)
        keys = {row["key"]: row for row in report["workloads"]}
        for row in report["workloads"]:
            self.row(row, row_path(row, keys), bases, devices, report)

    def put(self, path, unit, value, zero=None):
        *group, name = path
        key = " / ".join(group), name, unit
        assert key not in self.values, f"{key} twice"
        self.values[key], self.zero[key] = value, zero

    def lacks(self, path, reason):
        *group, name = path
        self.absent.add((" / ".join(group), f"not measured: {name}", reason))

    def machine(self, report, bases, devices):
        for c in report["counters"]:
            base = bases[c["name"]]
            if not c["valid"]:
                self.lacks((*base, c["name"]), c["reason"])
                continue
            self.put((*base, c["name"]), self.units[c["name"]], c["value"])
            self.put((*base, c["name"]), "coverage", c["running_ratio"])
        for u in report["unattributed"]:
            path = (*bases[u["counter"]], "unattributed", f"{u['counter']} {u['reason']}")
            self.put(path, self.units[u["counter"]], u["value"], u["counter"])
        for p in report.get("latencies", []):
            base = devices.get(p.get("bdf"), (f"socket {p['socket']}",))
            if p["valid"]:
                self.put((*base, f"latency {p['probe']}"), "ns", p["latency_ns"])
            else:
                self.lacks((*base, f"latency {p['probe']}"), "no_request" if p["samples"] else "not_read")
        for p in report.get("parts", []):
            if p["valid"]:
                self.put((f"socket {p['socket']}", "parts", p["name"]), "bytes", p["bytes"])
        for s in report["sockets"]:
            for what in ("busy", "idle", "lost"):
                self.put(("CPU time", f"socket {s['id']} {what}"), "ns", s[f"{what}_ns"])
        for d in report["devices"]:
            self.device(d, devices[d["bdf"]])

    def device(self, d, base):
        for way in WAYS:
            for key, suffix in BAR.items():
                if f"{way}_bytes" in d:
                    value = d[f"{way}_{'bytes' if key == 'value' else key}"]
                    self.put((*base, way), "bytes" + suffix, value)
            if f"{way}_requests" in d:
                self.put((*base, f"counted {way}s"), "count", d[f"{way}_requests"])
            if d.get("io", {}).get(f"{way}_bytes"):
                self.put((*base, f"requests {way}"), "bytes", d["io"][f"{way}_bytes"], True)
        if "read_latency_ns" in d:
            self.put((*base, "latency of reads"), "ns", d["read_latency_ns"])

    def row(self, row, path, bases, devices, report):
        for s in row["shares"]:
            if s["value"] or s["high"]:
                for key, suffix in BAR.items():
                    at = (*bases[s["counter"]], *path, s["counter"])
                    self.put(at, self.units[s["counter"]] + suffix, s[key], s["counter"])
        if row["on_cpu_ns"]:
            self.put(("CPU time", *path, "on CPU"), "ns", row["on_cpu_ns"], True)
        sockets = {p["probe"]: p["socket"] for p in report.get("latencies", [])}
        for seen in row.get("latencies", []):
            at = (f"socket {sockets[seen['probe']]}", *path, f"latency {seen['probe']}")
            self.put(at, "ns", seen["latency_ns"])
        for d in row.get("devices", []):
            for way in WAYS:
                if d[f"io_{way}_bytes"]:
                    self.put((*devices[d["bdf"]], *path, f"requests {way}"), "bytes", d[f"io_{way}_bytes"], True)


def expected(reports):
    """Values by (group, counter, unit), and what was not measured: (start, end, group, lane, reason)."""
    values, absent, before = collections.defaultdict(list), [], None
    for report in reports:
        start, end = report["interval"]["start_ns"], report["interval"]["end_ns"]
        w = Wanted(report)
        for key, value in w.values.items():
            values[key].append((start, value))
        for key, zero in before.zero.items() if before else ():
            if key not in w.values and (zero is True or w.valid.get(zero)):
                values[key].append((start, 0))
                # It stays in no set: what is gone for two intervals has one zero.
        absent += [(start, end, *line) for line in w.absent]
        before = w
    return values, absent


def near(got, want):
    """Latencies in JSON have one decimal, ratios 15 digits."""
    if isinstance(want, int):
        return isinstance(got, int) and got == want
    return abs(float(got) - want) <= 0.0501 if want > 1 else abs(float(got) - want) < 1e-12


def compare(*arguments):
    """All values; returns the timeline and the reports."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        everything.run(program, *arguments, "--perfetto", out)
        trace = Read(out.read_text(encoding="utf-8"))
    reports = everything.reports(program, *arguments)
    last_names(reports)
    want, absent = expected(reports)
    assert set(want) == set(trace.values), sorted(set(want) ^ set(trace.values))[:5]
    for key, values in want.items():
        got = trace.values[key]
        assert len(got) == len(values) and all(g[0] == w[0] and near(g[1], w[1]) for g, w in zip(got, values)), (
            f"{key}: {got}, not {values}")
    told = [(s[0], s[1], group, lane, s[3]["reason"])
            for group in set(trace.groups.values()) for lane, s in trace.lanes_of(group) if s[2] == "not measured"]
    assert sorted(told) == sorted(absent), f"{told}, not {absent}"
    check_intervals(trace, reports)
    return trace, reports


def check_intervals(trace, reports):
    intervals = [s for _, s in trace.lanes_of("intervals")]
    assert [(s[0], s[1]) for s in intervals] == [
        (r["interval"]["start_ns"], r["interval"]["end_ns"]) for r in reports]
    assert trace.start_time == reports[0]["interval"]["start_time"] == intervals[0][3]["start_time"]
    for (*_, notes), report in zip(intervals, reports):
        for key, value in report["quality"].items():
            if isinstance(value, int) and key not in ("saturated_windows", "estimated_windows", "simple_windows"):
                assert notes[key] == value, f"{key}: {notes[key]}"
        lost = report["quality"]["lost"]
        assert notes["lost_tasks"] == lost["tasks"] and notes["lost_windows"] == lost["windows"]
        assert notes["method"] == report["quality"]["method"]
        at = [(name, n["count"]) for time, name, n in trace.instants["losses"] if time == report["interval"]["start_ns"]]
        assert (("lost_windows", lost["windows"]) in at) == bool(lost["windows"]), at


def invented(*arguments):
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        return compare(file.name, *arguments)


def test_process():
    trace, _ = invented()
    path = " / ".join(("socket 0", "slurm 12 +lattice", everything.TASKS[10][1], "10 lbm"))
    for suffix in BAR.values():
        assert len(trace.values[path, "ucf0/mem_bytes_re/cpu", "bytes" + suffix]) == 3
    assert ("socket 0", "latency cmem0/rd", "ns") in trace.values
    energy = {unit for _, name, unit in trace.values if name == "power0/energy-pkg" and unit != "coverage"}
    assert energy == {"nJ", "nJ low", "nJ high"}, energy


def test_order():
    """Groups stand behind the one at the top that they are in."""
    trace, _ = invented()
    order = {trace.groups[pid]: index for pid, index in trace.order.items()}
    assert set(order) == set(trace.groups.values())
    tops = [name for name in sorted(order, key=order.get) if " / " not in name]
    assert tops == ["intervals", "losses", "CPUs", "CPU time", "socket 0", "socket 1"], tops
    for name, index in order.items():
        top = name.partition(" / ")[0]
        assert top not in order or order[top] <= index <= order[top] + 1, (name, index)


def test_gone_row_is_zero():
    trace, reports = invented()
    group = " / ".join(("CPU time", "slurm 12 +lattice", everything.TASKS[11][1], '11 =cmd,"x"'))
    (first, _), (second, small), (third, none) = trace.values[group, "on CPU", "ns"]
    assert (first, second, third) == tuple(r["interval"]["start_ns"] for r in reports) and small and not none


def called(line):
    comm = everything.comm(line["workload"], line["start_ns"] // everything.WINDOW_NS)
    return f"{line['workload']} {everything.harmless(comm)}"


def test_slices():
    trace, _ = invented()
    got = sorted((lane, *s[:3], s[3]["on_cpu_ns"]) for lane, s in trace.lanes_of("CPUs"))
    want = sorted((f"CPU {line['cpu']}", line["start_ns"], line["end_ns"], called(line), line["on_cpu_ns"])
                  for line in everything.lines() if line["type"] == "slice")
    assert got == want and len(got) > 500, (len(got), len(want))


def test_cgroup():
    invented("--by", "cgroup")


def test_job():
    invented("--by", "job")


def test_summary_and_method():
    trace, reports = invented("--summary", "--method", "cpu-time")
    assert len(reports) == 1 and [s[2] for _, s in trace.lanes_of("intervals")] == ["summary"]


def test_gzip():
    """A name that ends with .gz asks for the same, packed."""
    with tempfile.TemporaryDirectory() as folder:
        trace, plain, packed = (pathlib.Path(folder, name) for name in ("t.ndjson", "p.json", "p.json.gz"))
        everything.write(trace)
        everything.run(program, trace, "--perfetto", plain)
        everything.run(program, trace, "--perfetto", packed)
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
        assert packed.stat().st_size * 5 < plain.stat().st_size
        pathlib.Path(folder, "full.gz").symlink_to("/dev/full")
        done = everything.run(program, trace, "--perfetto", f"{folder}/full.gz", status=(1,))
    assert b"No space left" in done.stderr.replace(b"\n", b" "), done.stderr


def test_files():
    for file in sys.argv[2:]:
        compare(file)
        compare(file, "--by", "cgroup")


def test_with_csv():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "t.ndjson")
        everything.write(file)
        everything.run(program, file, "--perfetto", f"{folder}/p", "--csv", f"{folder}/c")
        assert pathlib.Path(folder, "p").stat().st_size and pathlib.Path(folder, "c").stat().st_size
        everything.run(program, file, "--perfetto", f"{folder}/p", "--csv", f"{folder}/p", status=(2,))


def test_full_disk():
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        done = everything.run(program, file.name, "--perfetto", "/dev/full", status=(1,))
    assert b"/dev/full: No space left" in done.stderr.replace(b"\n", b" "), done.stderr


sys.exit(each_test.run_all("perfetto", globals()))
