#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_perfetto.py T410TRACE [FILE...]: values of --perfetto are those of the JSON of the same
recording, for an invented trace and for FILEs. PERFETTO_PROTO in the environment is another
description of the messages, such as the published one: a folder for protoc -I, then the file."""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import each_test
import everything

program = sys.argv[1]
WAYS = ("read", "write")
BAR = {"value": "", "low": " low", "high": " high"}


def messages():
    """The module that protoc makes of the description."""
    own = everything.DOCS.parent / "tests/fixtures"
    root, *files = os.environ.get("PERFETTO_PROTO", f"{own} {own}/perfetto.proto").split()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"-I{root}", f"--descriptor_set_out={folder}/set", "--include_imports", *files],
                       check=True)
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

        described = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(folder, "set").read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for file in described.file:
            pool.Add(file)
        kind = pool.FindMessageTypeByName("perfetto.protos.Trace")
        make = getattr(message_factory, "GetMessageClass", None)
        return make(kind) if make else message_factory.MessageFactory(pool).GetPrototype(kind)


TRACE = messages()


class Read:
    """A trace: values, slices and instants by the names of tracks from the top down."""

    def __init__(self, data):
        self.tracks, self.values = {}, collections.defaultdict(list)
        self.slices, self.instants = collections.defaultdict(list), collections.defaultdict(list)
        self.units, self.lanes = {}, {}
        trace = TRACE.FromString(data)
        trace.DiscardUnknownFields()
        assert trace.ByteSize() == len(data), "the description does not have all fields"
        assert trace.packet[0].sequence_flags == 1 and trace.packet[0].clock_snapshot.primary_trace_clock == 3
        opened = collections.defaultdict(list)
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_event"):
                assert packet.timestamp_clock_id == 3
                self.event(packet.timestamp, packet.track_event, opened)
        assert not any(opened.values()), "a slice has no end"

    def describe(self, d):
        """Those that are never merged may be called otherwise later."""
        before = self.tracks.get(d.uuid)
        self.tracks[d.uuid] = d
        if before:
            if d.sibling_merge_behavior == 2 and not d.HasField("counter"):
                before.name = d.name
            assert before == d, "a track is described in two ways"

    def path(self, uuid):
        d = self.tracks[uuid]
        return (self.path(d.parent_uuid) if d.parent_uuid else ()) + (d.name,)

    def event(self, time, e, opened):
        d, path = self.tracks[e.track_uuid], self.path(e.track_uuid)
        notes = collections.defaultdict(list)
        for a in e.debug_annotations:
            notes[a.name].append(a.string_value if a.HasField("string_value") else a.uint_value)
        if e.type == 4:
            assert d.HasField("counter")
            real = e.HasField("double_counter_value")
            self.values[path].append((time, e.double_counter_value if real else e.counter_value))
            self.units[path] = (d.counter.unit_name or d.counter.unit, d.counter.y_axis_share_key)
            assert self.lanes.setdefault(path, e.track_uuid) == e.track_uuid, f"two tracks of counters {path}"
        elif e.type == 1:
            last = self.slices[path][-1] if e.track_uuid in opened and self.slices[path] else None
            assert not opened[e.track_uuid], f"slices overlap: {path} {last}"
            opened[e.track_uuid].append((time, e.name, notes))
        elif e.type == 2:
            start, name, notes = opened[e.track_uuid].pop()
            self.slices[path].append((start, time, name, notes))
        else:
            self.instants[path].append((time, e.name, notes))


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
    """(path, value, counter or None) of a report. A path that is gone is zero where `zero` says so."""

    def __init__(self, report):
        self.values, self.zero = {}, {}
        self.absent = set()
        self.valid = {c["name"]: c["valid"] for c in report["counters"]}
        devices = {d["bdf"]: ("devices", " ".join(filter(None, (d.get("name"), d["bdf"])))) for d in report["devices"]}
        bases = {c["name"]: devices.get(c.get("bdf"), (f"socket {c['socket']}",)) for c in report["counters"]}
        self.machine(report, bases, devices)
        keys = {row["key"]: row for row in report["workloads"]}
        for row in report["workloads"]:
            self.row(row, row_path(row, keys), bases, devices, report)

    def put(self, path, value, zero=None):
        assert path not in self.values, f"{path} twice"
        self.values[path], self.zero[path] = value, zero

    def machine(self, report, bases, devices):
        for c in report["counters"]:
            base = bases[c["name"]]
            if not c["valid"]:
                self.absent.add((*base, "not measured", "not measured", c["name"], c["reason"]))
                continue
            self.put((*base, c["name"]), c["value"])
            self.put((*base, c["name"] + " coverage"), c["running_ratio"])
        for u in report["unattributed"]:
            self.put((*bases[u["counter"]], "unattributed", u["counter"], u["reason"]), u["value"], u["counter"])
        for p in report.get("latencies", []):
            base = devices.get(p.get("bdf"), (f"socket {p['socket']}",))
            if p["valid"]:
                self.put((*base, f"latency {p['probe']}"), p["latency_ns"])
            else:
                why = "no_request" if p["samples"] else "not_read"
                self.absent.add((*base, "not measured", "not measured", f"latency {p['probe']}", why))
        for p in report.get("parts", []):
            if p["valid"]:
                self.put((f"socket {p['socket']}", "parts", p["name"]), p["bytes"])
        for s in report["sockets"]:
            for what in ("busy", "idle", "lost"):
                self.put(("CPU time", f"socket {s['id']} {what}"), s[f"{what}_ns"])
        for d in report["devices"]:
            self.device(d, devices[d["bdf"]])

    def device(self, d, base):
        for way in WAYS:
            for key, suffix in BAR.items():
                if f"{way}_bytes" in d:
                    self.put((*base, way + suffix), d[f"{way}_{'bytes' if key == 'value' else key}"])
            if f"{way}_requests" in d:
                self.put((*base, f"counted {way}s"), d[f"{way}_requests"])
            if d.get("io", {}).get(f"{way}_bytes"):
                self.put((*base, f"requests {way}"), d["io"][f"{way}_bytes"], True)
        if "read_latency_ns" in d:
            self.put((*base, "latency of reads"), d["read_latency_ns"])

    def row(self, row, path, bases, devices, report):
        for s in row["shares"]:
            if s["value"] or s["high"]:
                for key, suffix in BAR.items():
                    self.put((*bases[s["counter"]], *path, s["counter"] + suffix), s[key], s["counter"])
        if row["on_cpu_ns"]:
            self.put(("CPU time", *path, "on CPU"), row["on_cpu_ns"], True)
        sockets = {p["probe"]: p["socket"] for p in report.get("latencies", [])}
        for seen in row.get("latencies", []):
            self.put((f"socket {sockets[seen['probe']]}", *path, f"latency {seen['probe']}"), seen["latency_ns"])
        for d in row.get("devices", []):
            for way in WAYS:
                if d[f"io_{way}_bytes"]:
                    self.put((*devices[d["bdf"]], *path, f"requests {way}"), d[f"io_{way}_bytes"], True)


def expected(reports):
    """Values by path, and what was not measured: (start, end, track, name, reason)."""
    values, absent, before = collections.defaultdict(list), [], None
    for report in reports:
        start, end = report["interval"]["start_ns"], report["interval"]["end_ns"]
        w = Wanted(report)
        for path, value in w.values.items():
            values[path].append((start, value))
        for path, zero in before.zero.items() if before else ():
            if path not in w.values and (zero is True or w.valid.get(zero)):
                values[path].append((start, 0))
                # It stays in no set: what is gone for two intervals has one zero.
        absent += [(start, end, *line) for line in w.absent]
        before = w
    return values, absent


def near(got, want):
    """Latencies in JSON have one decimal, ratios 15 digits."""
    return got == want if isinstance(want, int) else abs(got - want) <= 0.0501 if want > 1 else abs(got - want) < 1e-12


def compare(*arguments):
    """All values; returns the trace and the reports."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.pftrace")
        everything.run(program, *arguments, "--perfetto", out)
        trace = Read(out.read_bytes())
    reports = everything.reports(program, *arguments)
    last_names(reports)
    want, absent = expected(reports)
    assert set(want) == set(trace.values), sorted(set(want) ^ set(trace.values))[:5]
    for path, values in want.items():
        got = trace.values[path]
        assert len(got) == len(values) and all(g[0] == w[0] and near(g[1], w[1]) for g, w in zip(got, values)), (
            f"{path}: {got}, not {values}")
    told = [(s[0], s[1], *path, s[2], s[3]["reason"][0])
            for path, slices in trace.slices.items() if path[-1] == "not measured" for s in slices]
    assert sorted(told) == sorted(absent), f"{told}, not {absent}"
    check_intervals(trace, reports)
    return trace, reports


def check_intervals(trace, reports):
    intervals = trace.slices["intervals",]
    assert [(s[0], s[1]) for s in intervals] == [
        (r["interval"]["start_ns"], r["interval"]["end_ns"]) for r in reports]
    for (*_, notes), report in zip(intervals, reports):
        for key, value in report["quality"].items():
            if isinstance(value, int) and key not in ("saturated_windows", "estimated_windows", "simple_windows"):
                assert notes[key] == [value], f"{key}: {notes[key]}"
        lost = report["quality"]["lost"]
        assert notes["lost_tasks"] == [lost["tasks"]] and notes["lost_windows"] == [lost["windows"]]
        assert notes["method"] == [report["quality"]["method"]]
        at = [(name, n["count"]) for time, name, n in trace.instants["losses",] if time == report["interval"]["start_ns"]]
        assert (("lost_windows", [lost["windows"]]) in at) == bool(lost["windows"]), at


def invented(*arguments):
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        return compare(file.name, *arguments)


def test_process():
    trace, _ = invented()
    path = ("socket 0", "slurm 12 +lattice", everything.TASKS[10][1], "10 lbm", "ucf0/mem_bytes_re/cpu")
    assert len(trace.values[path]) == 3, trace.values[path]
    # the three of a share are drawn on one scale, in bytes
    units = [trace.units[*path[:-1], path[-1] + suffix] for suffix in BAR.values()]
    assert units == [(3, path[-1])] * 3, units
    assert trace.units["socket 0", "latency cmem0/rd"] == (1, "latency")
    energy = {unit for path, (unit, _) in trace.units.items() if path[-1].partition(" ")[0] == "power0/energy-pkg"
              and not path[-1].endswith("coverage")}
    assert energy == {"nJ"}, energy


def test_gone_row_is_zero():
    trace, reports = invented()
    path = ("CPU time", "slurm 12 +lattice", everything.TASKS[11][1], '11 =cmd,"x"', "on CPU")
    (first, _), (second, small), (third, none) = trace.values[path]
    assert (first, second, third) == tuple(r["interval"]["start_ns"] for r in reports) and small and not none


def called(line):
    comm = everything.comm(line["workload"], line["start_ns"] // everything.WINDOW_NS)
    return f"{line['workload']} {everything.harmless(comm)}"


def test_slices():
    trace, _ = invented()
    got = sorted((path[1], s[0], s[1], s[2], s[3]["on_cpu_ns"][0])
                 for path, slices in trace.slices.items() if path[0] == "CPUs" for s in slices)
    want = sorted((f"CPU {line['cpu']}", line["start_ns"], line["end_ns"], called(line), line["on_cpu_ns"])
                  for line in everything.lines() if line["type"] == "slice")
    assert got == want and len(got) > 500, (len(got), len(want))


def test_cgroup():
    invented("--by", "cgroup")


def test_job():
    invented("--by", "job")


def test_summary_and_method():
    trace, reports = invented("--summary", "--method", "cpu-time")
    assert len(reports) == 1 and trace.slices["intervals",][0][2] == "summary"


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
