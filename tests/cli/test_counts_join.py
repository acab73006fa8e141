#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_counts_join.py T410TRACE: counts of Bay Trail beside a recording of the same time go to the
processes that ran on a module, or to the device, with nothing missing; times that fit nowhere are
refused. Recordings and counts are made here, so that the truth is known."""
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
from each_test import run_all

program = pathlib.Path(sys.argv[1]).resolve()
folder = pathlib.Path(tempfile.mkdtemp())
MS = 1_000_000
S = 1000 * MS
BEGIN = 5000 * S  # of the recording, CLOCK_MONOTONIC
WALL = 1_700_000_000 * S  # the same moment since 1970
SECONDS = 4
SHARE = pathlib.Path(__file__).resolve().parents[2] / "share"
SCHEMA = json.loads((SHARE / "t410trace.report-1.schema.json").read_text(encoding="utf-8"))
ALL = "UNC_SOC_All_Reqs"
DDR = "UNC_SOC_Memory_DDR_BW"


def recording(name="run.ndjson", step_ns=0, header=None):
    """
    On each of four CPUs a process, 100 to 103. 101 and 103 have theirs in the first half of each
    100 ms only. @step_ns: the time of day is set by that in the middle.
    """
    lines = [
        {
            "type": "header",
            "schema": "t410trace.trace/1",
            "platform": "none",
            "host": "made",
            "kernel": "none",
            "sockets": [{"id": 0, "cpus": "0-3"}],
            "counters": [],
            "marked": True,
            "all": True,
            **(header or {}),
        }
    ]
    for cpu in range(4):
        who = {"pid": 100 + cpu, "tgid": 100 + cpu, "start_ns": 1, "comm": f"p{cpu}"}
        lines.append({"type": "workload", "id": cpu, **who})
    for i in range(SECONDS * 10 + 1):
        now = BEGIN + i * 100 * MS
        mark = {"type": "mark", "time_ns": now, "realtime_ns": WALL + now - BEGIN, "ends_ns": [now]}
        mark["realtime_ns"] += step_ns if i >= SECONDS * 5 else 0
        mark.update({"first": True} if not i else {"last": True} if i == SECONDS * 10 else {})
        lines.append(mark)
        for cpu in range(4 if i < SECONDS * 10 else 0):
            end = now + (50 if cpu % 2 else 100) * MS
            ran = {"start_ns": now, "end_ns": end}
            if header and "weights" in header:
                ran.update({"weights": {"cycles": 1 + 2 * cpu}, "weights_ns": end - now})
            lines.append({"type": "slice", "workload": cpu, "cpu": cpu, **ran})
    lines.append({"type": "end", "time_ns": BEGIN + SECONDS * S})
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    return path


def counts(first, *columns, clock="time_ns", begin=BEGIN, name="counts.csv"):
    """A file of counts: a line each 100 ms, from the @first'th on."""
    lines = [",".join([clock, *(column for column, _ in columns)])]
    for i in range(first, SECONDS * 10 - first + 1):
        time = 0.1 if clock == "seconds" else begin + i * 100 * MS
        times = 1 if clock == "seconds" else i - first
        lines.append(",".join(str(v) for v in [time, *(rate * times for _, rate in columns)]))
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def run(file, group, *args, trace=None, **options):
    words = [program, "report", trace or recording(), "--counts", file, "--group", group, *args]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def report(file, group, *args, trace=None, status=0):
    done = run(file, group, "--json", "--summary", *args, trace=trace)
    assert done.returncode == status, f"status {done.returncode}: {done.stderr}"
    if status == 1:
        return " ".join(done.stderr.split())
    (line,) = done.stdout.splitlines()
    jsonschema.validate(json.loads(line), SCHEMA)
    return json.loads(line)


def counter(r, event):
    (found,) = (c for c in r["counters"] if c["event"] == event)
    return found


def parts(r, event):
    """{pid: bytes}, and {reason: bytes}; all of them are the counter."""
    c = counter(r, event)
    name = c["name"]
    shares = [(w["pid"], s) for w in r["workloads"] for s in w.get("shares", [])]
    rows = {pid: s["value"] for pid, s in shares if s["counter"] == name and s["value"]}
    left = [u for u in r["unattributed"] if u["counter"] == name and u["value"]]
    rest = {u["reason"]: u["value"] for u in left}
    assert sum(rows.values()) == c["attributed"] and sum(rest.values()) == c["unattributed"]
    assert c["attributed"] + c["unattributed"] == c["value"], f"{rows}, {rest}: {c['value']}"
    return rows, rest


def test_modules():
    """Requests of a module belong to who ran on its CPUs, those of devices to nobody."""
    columns = [("Mod0_Reqs", 1000), ("Mod1_Reqs", 77), ("GFX_Reqs", 31), ("Clock_Counter", 5)]
    file = counts(0, *columns)
    r = report(file, ALL)
    rows, rest = parts(r, "Mod0_Reqs")
    assert set(rows) == {100, 101} and not rest, (rows, rest)
    assert counter(r, "Mod0_Reqs")["value"] == 40 * 1000 * 64
    rows, rest = parts(r, "Mod1_Reqs")
    assert set(rows) == {102, 103} and not rest, (rows, rest)
    assert parts(r, "GFX_Reqs") == ({}, {"device": 40 * 31 * 64})
    assert counter(r, "Mod0_Reqs")["estimate"] == "upper"
    # Other modules, other owners
    rows, _ = parts(report(file, ALL, "--modules", "1,3:0,2"), "Mod1_Reqs")
    assert set(rows) == {100, 102}, rows
    for interval, nr in (("50ms", 80), ("300ms", 14), ("1s", 4)):
        done = run(file, ALL, "--json", "-i", interval)
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(reports) == nr, f"{len(reports)} by {interval}"
        sums = sum(counter(x, "Mod0_Reqs").get("value", 0) for x in reports)
        assert sums == 40 * 1000 * 64, f"{sums} by {interval}"
        for x in reports:
            if counter(x, "Mod0_Reqs")["valid"]:
                parts(x, "Mod0_Reqs")


def test_memory():
    """The memory's own counters are split among all, in proportion to CPU time if so asked."""
    reads, writes = "DDR_Chan0_Rank0_Read64B", "DDR_Chan1_Rank1_Write64B"
    file = counts(0, (reads, 3000), (writes, 600))
    r = report(file, DDR, "--method", "cpu-time")
    rows, rest = parts(r, reads)
    sixth = 40 * 3000 * 64 / 6
    assert rows == {100: 2 * sixth, 101: sixth, 102: 2 * sixth, 103: sixth} and not rest, rows
    assert "estimate" not in counter(r, reads)
    assert counter(r, writes)["direction"] == "write"
    one = report(file, DDR, "--one-channel")
    assert counter(one, reads)["value"] == 3 * sixth


def test_weights():
    """What core events counted while they ran divides, if it was recorded."""
    reads = "DDR_Chan0_Rank0_Read64B"
    weighed = recording("weights.ndjson", header={"weights": ["cycles"]})
    r = report(counts(0, (reads, 3000)), DDR, "--method", "weights", trace=weighed)
    rows, rest = parts(r, reads)
    part = 40 * 3000 * 64 / 16
    expected = {100: part, 101: 3 * part, 102: 5 * part, 103: 7 * part}
    assert rows == expected and not rest, rows
    assert r["quality"]["weights"] == "cycles" and r["quality"]["weight_windows"] == 40
    # By cgroup, too
    done = run(counts(0, (reads, 3000)), DDR, "--json", "--summary", "--by", "cgroup")
    (whole,) = (c for c in json.loads(done.stdout)["counters"])
    assert whole["attributed"] == whole["value"] == 40 * 3000 * 64, whole


def test_device():
    """An agent that tells reads from writes is a device."""
    reads = [("GFX_Read32B", 100), ("GFX_Read64B", 10), ("GFX_ReadPartial", 9)]
    r = report(counts(0, *reads, ("GFX_Write64B", 7)), "UNC_SOC_Graphics_BW")
    (device,) = r["devices"]
    names = tuple(device[key] for key in ("bdf", "name", "kind"))
    assert names == ("agent0", "graphics", "agent"), device
    assert device["read_bytes"] == 40 * (100 * 32 + 10 * 64), device
    assert device["write_bytes"] == 40 * 7 * 64, device
    assert device["attributed"]["read_bytes"] == 0, device
    assert counter(r, "GFX_Read32B")["estimate"] == "lower"
    assert not any(c["event"] == "GFX_ReadPartial" for c in r["counters"])


def test_clocks():
    """Times of day say the same as those of CLOCK_MONOTONIC; so do lengths, with their begin."""
    column = ("Mod0_Reqs", 1000)
    known = parts(report(counts(0, column), ALL), "Mod0_Reqs")
    wall = report(counts(0, column, begin=WALL), ALL)
    assert parts(wall, "Mod0_Reqs") == known
    assert "time of day" in wall["quality"]["tick_note"]
    lengths = counts(1, column, clock="seconds")
    assert "--counts-offset" in report(lengths, ALL, status=1)
    late = report(lengths, ALL, "--counts-offset", str(BEGIN / S))
    assert counter(late, "Mod0_Reqs")["value"] == 39 * 1000 * 64
    shifted = report(counts(0, column, begin=BEGIN - 3600 * S), ALL, "--counts-offset", "3600")
    assert parts(shifted, "Mod0_Reqs") == known


def test_outside():
    """What was counted while nobody recorded belongs to nobody, and is said."""
    file = counts(-5, ("Mod0_Reqs", 1000))
    r = report(file, ALL, status=3)
    rows, rest = parts(r, "Mod0_Reqs")
    assert counter(r, "Mod0_Reqs")["value"] == 50 * 1000 * 64
    assert rest == {"lost": 10 * 1000 * 64} and set(rows) == {100, 101}, (rows, rest)
    assert r["quality"]["lost"]["slices_ns"] == 4 * S, r["quality"]
    # The line at each end of the recording is half outside of it
    half = counts(-1, ("Mod0_Reqs", 1000), begin=BEGIN - 50 * MS)
    rows, rest = parts(report(half, ALL, "--method", "cpu-time", status=3), "Mod0_Reqs")
    assert 0 < rest["lost"] < 2.5 * 1000 * 64, rest
    # Fewer counts than recorded: what was not counted is no number
    short = report(counts(10, ("Mod0_Reqs", 1000)), ALL)
    assert counter(short, "Mod0_Reqs")["value"] == 20 * 1000 * 64
    assert counter(short, "Mod0_Reqs")["covered_ns"] == 2 * S


def test_refused():
    """What does not fit is refused, with a remedy."""
    column = ("Mod0_Reqs", 1000)
    file = counts(0, column)
    other = report(counts(0, column, begin=77 * S), ALL, status=1)
    assert "different times" in other and "--counts-offset" in other, other
    stepped = recording("step.ndjson", step_ns=5 * S)
    said = report(counts(0, column, begin=WALL), ALL, trace=stepped, status=1)
    assert "was set by 5.000 s" in said and "CLOCK_MONOTONIC" in said, said
    report(counts(0, column), ALL, trace=stepped)
    said = report(counts(0, ("Mod1_Reqs", 1)), ALL, "--modules", "0:7", status=1)
    assert "module 1 has no CPU" in said, said
    for modules in ("0", "0:0", "0:1:2", "x:1", ":", "0:"):
        said = report(file, ALL, "--modules", modules, status=1)
        assert "not the CPUs of two modules" in said, modules
    unmarked = recording("unmarked.ndjson", header={"marked": False})
    said = report(file, ALL, trace=unmarked, status=1)
    assert "record --no-counters" in said, said
    assert "no group" in report(file, "UNC_SOC_Al_Reqs", status=1)
    snoops = counts(0, ("Mod0_Snoop_Reqs", 3), name="snoops.csv")
    assert "no counts of data" in report(snoops, "UNC_SOC_Module0_1_Snoops", status=1)
    device = recording("device.ndjson", header={"devices": [{"bdf": "0000:01:00.0"}]})
    assert "of its own" in report(file, ALL, trace=device, status=1)
    words = [program, "report", recording(), "--group", ALL]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--counts FILE" in done.stderr, done
    with open(recording(), "rb") as piped:
        done = run(file, ALL, trace="-", stdin=piped)
    assert done.returncode == 1 and "as a file" in done.stderr, done.stderr


def test_peak():
    """A peak is of bytes: counts have some, a recording of CPU time alone has none."""
    for command in ("report", "neighbours"):
        words = [program, command, recording(), "--peak", "1GB/s"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "has no counters" in done.stderr and not done.stdout, done
    words = [program, "report", recording(), "--peak", "none"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done
    done = run(counts(0, ("Mod0_Reqs", 1000)), ALL, "--summary", "--peak", "1GB/s")
    assert done.returncode == 0 and " kB " in done.stdout, done


def test_cut():
    """A recording that was cut says which it is, and whether there is anything to show."""
    path = pathlib.Path(recording("cut.ndjson"))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    marks = [i for i, line in enumerate(lines) if json.loads(line)["type"] == "mark"]
    for last, said in ((marks[0], "there is nothing to show"), (marks[2], "is not shown")):
        path.write_text("".join(lines[: last + 1]) + '{"type":', encoding="utf-8")
        done = subprocess.run([program, "report", path], capture_output=True, text=True, check=False)
        assert done.returncode == 3 and said in done.stderr, done
        assert f"{path} ends without its end" in done.stderr, done
        assert bool(done.stdout) == (last == marks[2]), done


status = run_all("counts_join", globals())
for path in folder.iterdir():
    path.unlink()
folder.rmdir()
sys.exit(status)
