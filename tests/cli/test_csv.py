#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_csv.py T410TRACE [FILE...]: each line of --csv is a number of the JSON of the same recording,
and each number of the JSON has its line; for an invented trace and for FILEs."""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

import each_test
import everything

program = sys.argv[1]
WAYS = ("read", "write")
DOCUMENT = (everything.DOCS / "EXPORT.md").read_text(encoding="utf-8")
COLUMNS = re.findall(r"(?m)^\| `(\w+)` \|", DOCUMENT.split("| `record` | a line")[0])


def harmless(text):
    """As in the file: nothing that a spreadsheet takes for a formula, either."""
    text = everything.harmless(text)
    return "'" + text if text and text[0] in "=+-@" else text


def base(report):
    quality, lost, time = report["quality"], report["quality"]["lost"], report["interval"]["start_time"]
    return {
        "sequence": report["sequence"], "summary": report.get("summary", False),
        "start_ns": report["interval"]["start_ns"], "end_ns": report["interval"]["end_ns"],
        "start_time": None if time.startswith("1970-01-01T00:00:00.000") else time, "host": report["host"]["name"],
        "method": quality["method"], "weights": quality["weights"], "lost_cpu_ns": lost["slices_ns"],
        "lost": sum(lost[key] for key in ("slices", "windows", "tasks", "cgroups", "io", "bad_records")),
    }


def cell(record, name, value, unit, **more):
    return {"record": record, "name": name, "value": value, "unit": unit, **more}


def of_counter(c):
    """What a counter's lines and those of its shares have."""
    keys = ("unit", "socket", "bdf", "source", "direction", "destination", "covered_ns")
    return {"name": c["name"], "coverage": c.get("running_ratio"), **{key: c.get(key) for key in keys}}


def counters(report):
    for c in report["counters"]:
        values = {key: c.get(key) for key in ("value", "low", "high", "reason")}
        yield {"record": "counter", **values, **of_counter(c)}
        for u in report["unattributed"]:
            if u["counter"] == c["name"]:
                yield {"record": "unattributed", **of_counter(c), "value": u["value"], "reason": u["reason"]}


def machine(report):
    for s in report["sockets"]:
        for name in ("busy_ns", "idle_ns", "lost_ns"):
            yield cell("cpu", name, s[name], "ns", socket=s["id"])
    for p in report.get("latencies", []):
        why = None if p["valid"] else "no_request" if p["samples"] else "not_read"
        yield cell("latency", p["probe"], p.get("latency_ns"), "ns", socket=p["socket"], bdf=p.get("bdf"), reason=why,
                   direction=p["direction"], destination=p["destination"], covered_ns=p["covered_ns"])
    for p in report.get("parts", []):
        yield cell("part", p["name"], p.get("bytes"), "bytes", socket=p["socket"], source=p["part"],
                   low=p.get("low"), high=p.get("high"),
                   direction=p["direction"], covered_ns=p["covered_ns"], coverage=p.get("running_ratio"),
                   reason=p.get("reason"))


def moved(d, way, **more):
    if f"{way}_bytes" in d:
        yield cell("device", more.pop("called"), d[f"{way}_bytes"], "bytes", low=d[f"{way}_low"],
                   high=d[f"{way}_high"], direction=way, **more)


def of_user(called, d, u):
    job, told = u.get("job", {}), d.get("activity_ns")
    who = {
        "bdf": d["bdf"], "row": u.get("key"), "pid": u.get("pid"), "comm": harmless(u.get("comm")),
        "cgroup": u.get("cgroup"), "cgroup_id": job.get("cgroup_id"), "scheduler": job.get("scheduler"),
        "job": job.get("id"), "step": job.get("step"), "job_name": harmless(job.get("name")), "user": job.get("user"),
    }
    yield cell("user", "held_ns", u["held_ns"], "ns", **who)
    if told and "copy_ns" in u:
        yield cell("user", "copy_ns", u["copy_ns"], "ns", covered_ns=told, **who)
    if told:
        low, high = (int(u[end] * told) if end in u else u["busy_ns"] for end in ("share_low", "share_high"))
        yield cell("user", "busy_ns", u["busy_ns"], "ns", low=low, high=high, covered_ns=told, **who)


def devices(report):
    for d in report["devices"]:
        called = d.get("name", d["bdf"])
        more = {"bdf": d["bdf"], "socket": d.get("socket"), "coverage": d.get("coverage"),
                "covered_ns": d.get("covered_ns")}
        for way in WAYS:
            yield from moved(d, way, called=called, **more)
            if f"{way}_requests" in d:
                yield cell("device", called, d[f"{way}_requests"], "requests", direction=way, **more)
            if f"{way}_bytes" in d.get("io", {}):
                yield cell("io", called, d["io"][f"{way}_bytes"], "bytes", direction=way, **more)
        for u in d.get("users", []):
            yield from of_user(called, d, u)
        if "read_latency_ns" in d:
            yield cell("device", called, d["read_latency_ns"], "ns", direction="read", **more)


def of_row(row):
    job = row.get("job", {})
    return {
        "row": row["key"], "kind": row["kind"], "parent": row.get("parent"), "leaf": row.get("leaf", True),
        "pid": row.get("pid"), "tid": row.get("tid"), "comm": harmless(row.get("comm")),
        "exited": row.get("exited", False), "kernel": row.get("kernel", False),
        "cgroup_id": row["cgroup"]["id"], "cgroup": row["cgroup"]["path"], "scheduler": job.get("scheduler"),
        "job": job.get("id"), "step": job.get("step"), "job_name": harmless(job.get("name")), "user": job.get("user"),
    }


def row_numbers(report, row):
    yield cell("cpu", "on_cpu_ns", row["on_cpu_ns"], "ns")
    by_name = {c["name"]: c for c in report["counters"]}
    for s in row["shares"]:
        values = {key: s[key] for key in ("value", "low", "high", "separable")}
        yield {"record": "share", **of_counter(by_name[s["counter"]]), **values}
    probes = {p["probe"]: p for p in report.get("latencies", [])}
    for seen in row.get("latencies", []):
        p = probes[seen["probe"]]
        part = min(1, seen["bytes"] / seen["of_bytes"]) if seen["of_bytes"] else None
        yield cell("latency", p["probe"], seen["latency_ns"], "ns", socket=p["socket"], direction=p["direction"],
                   destination=p["destination"], coverage=part)
    names = {d["bdf"]: d.get("name", d["bdf"]) for d in report["devices"]}
    for d in row.get("devices", []):
        called = names[d["bdf"]]
        for way in WAYS:
            yield from moved(d, way, called=called, bdf=d["bdf"])
        for way in WAYS:
            if f"io_{way}_bytes" in d:
                yield cell("io", called, d[f"io_{way}_bytes"], "bytes", direction=way, bdf=d["bdf"])


def numbers_of_quality(report):
    """In the order of the JSON, so that this is compared without it."""
    numbers = {key: value for key, value in report["quality"].items() if isinstance(value, int)}
    lost = dict(report["quality"]["lost"])
    numbers["lost_slices"] = lost.pop("slices") - lost["late_slices"]
    numbers["late_slices"], numbers["bad_records"] = lost.pop("late_slices"), lost.pop("bad_records")
    numbers.update({f"lost_{key}": value for key, value in lost.items()})
    # The JSON leaves these out where they say nothing.
    for key in ("tasks_ns", "spread_ns", "saturated_windows", "estimated_windows", "simple_windows"):
        numbers.setdefault(key, 0)
    for name, value in numbers.items():
        unit = "ns" if name.endswith("_ns") else "bytes" if name.endswith("_bytes") else "count"
        yield cell("quality", name, value, unit)


def expected(report):
    yield from counters(report)
    yield from machine(report)
    yield from devices(report)
    for row in report["workloads"]:
        for number in row_numbers(report, row):
            yield {**of_row(row), **number}
    yield from sorted(numbers_of_quality(report), key=lambda line: line["name"])


def same(text, value):
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, float) and text:
        return float(text) == value
    return text == ("" if value is None else str(value))


def compare(*arguments):
    """All lines; returns how many there were."""
    text = everything.run(program, *arguments, "--csv", "-").stdout.decode()
    lines = list(csv.DictReader(io.StringIO(text), strict=True))
    assert list(lines[0]) == COLUMNS, f"columns {list(lines[0])} are not those of the document"
    at = 0
    for report in everything.reports(program, *arguments):
        want = [{**base(report), **line} for line in expected(report)]
        got = lines[at : at + len(want)]
        first = next(i for i, line in enumerate(got) if line["record"] == "quality")
        got[first:] = sorted(got[first:], key=lambda line: line["name"])
        at += len(want)
        for g, w in zip(got, want, strict=True):
            for column in COLUMNS:
                assert same(g[column], w.get(column)), f"{column}: {g[column]!r}, not {w.get(column)!r}: {g} {w}"
    assert at == len(lines), f"{len(lines)} lines, not {at}"
    return at


def invented(*arguments):
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        return compare(file.name, *arguments)


def test_process():
    assert invented() > 300


def test_cgroup():
    assert invented("--by", "cgroup") > 300


def test_job_summary():
    assert invented("--by", "job", "--summary") > 100


def test_other_intervals_and_method():
    assert invented("-i", "130ms", "--method", "cpu-time") > 300


def test_files():
    for file in sys.argv[2:]:
        compare(file)


def test_methods():
    """What docs/examples/methods.py prints of the invented trace are the numbers of its lines."""
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        command = [everything.DOCS / "examples/methods.py", file.name]
        done = subprocess.run(command, env={**os.environ, "T410TRACE": program}, capture_output=True, check=True)
        head, *shown = done.stdout.decode().splitlines()
        assert head.split() == "cpu-time, MB weights, MB state-space, MB".split() and shown, head
        moved = dict(re.match(r".* ([0-9.]+) \+- *[0-9]+ (\S+)", line).groups()[::-1] for line in shown)
        (report,) = everything.reports(program, file.name, "--summary")
    for row in report["workloads"]:
        cpu = sum(row["metrics"][f"mem_{way}_bytes"] for way in WAYS)
        assert moved[row["key"]] == f"{cpu / 1e6:.3f}", (row["key"], moved)


def test_one_file_and_format():
    for more in (["--json"], ["-o", "x"]):
        done = everything.run(program, "file", "--csv", "x", *more, status=(2,))
        assert b"--csv" in done.stderr, done.stderr


def test_full_disk():
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        everything.write(file.name)
        done = everything.run(program, file.name, "--csv", "/dev/full", status=(1,))
    assert b"/dev/full: No space left" in done.stderr.replace(b"\n", b" "), done.stderr


sys.exit(each_test.run_all("csv", globals()))
