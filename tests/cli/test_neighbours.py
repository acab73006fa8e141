#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_neighbours.py T410TRACE: latencies and neighbours of invented traces, from the file to the report."""

import json
import pathlib
import subprocess
import sys
import tempfile

import invented

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
program = sys.argv[1]
failed = 0


def run(*arguments, status=0):
    arguments = [str(argument) for argument in arguments]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(arguments)}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def run_json(*arguments, status=0):
    text = run(*arguments, "--json", status=status).stdout
    checked = subprocess.run([CHECK, "-"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    return [json.loads(line) for line in text.splitlines()]


def near(value, want, part=1e-3):
    assert abs(value - want) <= part * abs(want) + 1e-9, f"{value}, not {want}"


def check(function):
    """Run one test in a directory of its own, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        try:
            function(pathlib.Path(directory) / "trace.ndjson")
            print(f"ok neighbours: {function.__doc__}")
        except (AssertionError, KeyError, StopIteration, IndexError) as error:
            failed = 1
            print(f"not ok neighbours: {function.__doc__}: {error!r}".replace("\n", " "))


def truth(trace, pid):
    """What a process saw: the mean over windows, weighted by what it moved."""
    bytes_moved = ns = 0
    for w in range(trace.windows):
        moved = int(trace.moves(pid, w)) // invented.BYTES_PER_NS * invented.BYTES_PER_NS
        latency = trace.latency(w // invented.SAMPLE)
        if latency is not None:
            bytes_moved += moved
            ns += moved * latency
    return ns / bytes_moved, bytes_moved


def seen_is_true(path):
    "what rows saw is the truth"
    trace = invented.noisy()
    trace.write(path)
    (report,) = run_json("report", "--summary", "--method", "cpu-time", path)
    for row in report["workloads"]:
        ns, moved = truth(trace, row["pid"])
        (seen,) = row["latencies"]
        near(seen["latency_ns"], ns)
        assert seen["bytes"] == seen["of_bytes"] == moved, seen
    (probe,) = report["latencies"]
    near(probe["latency_ns"], sum(trace.latency(s) for s in range(120)) / 120)
    assert probe["samples"] == 120 and probe["covered_ns"] == 12_000_000_000, probe
    assert probe["weighted_by"] == "any", probe


def intervals_add_up(path):
    "intervals add up to the run, whatever they are"
    invented.noisy(300).write(path)
    (whole,) = run_json("report", "--summary", path)
    for interval in ("70", "250", "1000", "1300"):
        reports = run_json("report", "-i", interval, path)
        for key in ("requests", "outstanding", "cycles", "covered_ns"):
            total = sum(r["latencies"][0][key] for r in reports)
            assert total == whole["latencies"][0][key], (interval, key, total)


def samples_change_no_byte(path):
    "bytes are the same with and without samples"
    trace = invented.noisy(300)
    trace.write(path)
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    bare = path.with_name("bare.ndjson")
    bare.write_text("".join(line for line in lines if '"type": "sample"' not in line), encoding="ascii")
    with_samples, without = run_json("report", path), run_json("report", bare)
    assert len(with_samples) == len(without) == 3
    for one, other in zip(with_samples, without):
        assert one["counters"] == other["counters"]
        assert [row["shares"] for row in one["workloads"]] == [row["shares"] for row in other["workloads"]]
        assert not other["latencies"][0]["valid"] and "latency_ns" not in other["latencies"][0]
        assert all(row["latencies"] == [] for row in other["workloads"])


def gaps_are_told(path):
    "windows without a latency are left out, and that is told"
    trace = invented.noisy(200)
    latency = trace.latency
    trace.latency = lambda s: None if s % 2 else latency(s)
    trace.write(path)
    (report,) = run_json("report", "--summary", "--method", "cpu-time", path)
    steady = next(row for row in report["workloads"] if row["pid"] == 200)
    ns, moved = truth(trace, 200)
    near(steady["latencies"][0]["latency_ns"], ns)
    assert steady["latencies"][0]["bytes"] == moved
    assert steady["latencies"][0]["of_bytes"] == 2 * moved


def junk_is_refused(path):
    "samples that make no sense are refused, with their line"
    invented.noisy(300).write(path)
    lines = path.read_text(encoding="ascii").splitlines()
    sample = json.loads(next(line for line in lines if '"type": "sample"' in line))
    for change, words in (
        ({"probe": 99}, "probe 99 is not in the header"),
        ({"start_ns": 5, "end_ns": 4}, '"end_ns" is before'),
        ({"start_ns": 5, "end_ns": 5}, "makes no sense"),
        ({"start_ns": 50_000_000, "end_ns": 200_000_000}, "makes no sense"),
        ({"requests": -1}, "requests"),
    ):
        broken = [*lines[:-1], json.dumps({**sample, **change}), lines[-1]]
        path.write_text("\n".join(broken) + "\n", encoding="ascii")
        said = " ".join(run("report", path, status=1).stderr.split())
        assert f":{len(lines)}:" in said and words in said, said


def table_of_latencies(path):
    "the table shows latencies"
    invented.noisy(300).write(path)
    text = run("report", "--summary", path).stdout
    assert "latency: reads of CPU memory" in text, text
    assert max(len(line) for line in text.splitlines()) <= 80
    text = run("report", "--summary", "-v", path).stdout
    assert "saw cmem0/rd: 70" in text and "(100% of its bytes)" in text, text
    assert "cmem0/rd" not in run("report", "--summary", "-q", path).stdout


def bursts_are_found(path):
    "who bursts is found, who waits is a victim, chance is neither"
    invented.noisy().write(path)
    for method in ("cpu-time", "state-space"):
        (report,) = run_json("neighbours", "--method", method, path)
        (probe,) = report["probes"]
        by_name = {row.get("comm", row.get("reason")): row for row in probe["neighbours"]}
        assert probe["enough"] and probe["high_samples"] == 30 and probe["episodes"] == 6, probe
        assert probe["neighbours"][0]["comm"] == "burst"
        assert by_name["burst"]["role"] == "rose"
        assert by_name["steady"]["role"] == "victim" and by_name["chance"]["role"] == "victim"
        assert by_name["device"]["role"] == "none" and "high_latency_ns" not in by_name["device"]
        near(by_name["burst"]["high_bytes_per_s"], 30e9, 0.05)
        near(by_name["steady"]["calm_latency_ns"], 303, 0.01)
        near(by_name["steady"]["high_latency_ns"], 702, 0.01)
        near(probe["calm_bytes_per_s"] * 9 + probe["high_bytes_per_s"] * 3, 17.6e9 * 12)


def peak_is_near(path):
    "how near its peak the memory was, calm and high; and nothing without a peak"
    invented.noisy().write(path)
    (report,) = run_json("neighbours", "--peak", "100GB/s", path)
    (probe,) = report["probes"]
    for when in ("calm", "high"):
        near(probe["peak"][f"{when}_share"], probe[f"{when}_bytes_per_s"] / 100e9)
    assert probe["peak"]["high_share"] > 0.3 and probe["peak"]["from"] == "given", probe["peak"]
    text = " ".join(run("neighbours", "--peak", "100GB/s", path).stdout.split())
    assert "of 100.000 GB/s while calm, " in text, text
    (report,) = run_json("neighbours", path)
    assert "peak" not in report["probes"][0], report["probes"][0]


def cgroups_and_selections(path):
    "neighbours by cgroup, and with a selection"
    invented.noisy().write(path)
    (report,) = run_json("neighbours", "--by", "cgroup", path)
    (probe,) = report["probes"]
    assert probe["neighbours"][0]["cgroup"]["path"] == "/box/a"
    (report,) = run_json("neighbours", "-p", "200", path)
    first = report["probes"][0]["neighbours"][0]
    assert first["reason"] == "other" and first["role"] == "rose", first
    text = run("neighbours", "--top", "1", path).stdout
    assert "100 burst" in text and "200 steady" not in text and "(3 more)" in text, text
    assert max(len(line) for line in text.splitlines()) <= 80


def jobs_too(path):
    "neighbours by job and step"
    trace = invented.noisy()
    slurm = "/slurm/uid_0/job_7"
    trace.processes = {pid: (name, f"{slurm}/step_{pid}") for pid, (name, _) in trace.processes.items()}
    trace.write(path)
    (report,) = run_json("neighbours", "--by", "job", path)
    first = report["probes"][0]["neighbours"][0]
    assert first["kind"] == "job" and first["job"]["id"] == "7" and first["job"]["step"] == "100", first
    text = run("neighbours", "--by", "job", "--top", "1", path).stdout
    assert "slurm 7 step 100" in text, text
    assert max(len(line) for line in text.splitlines()) <= 80


def devices_are_suspects(path):
    "devices can be what rose"
    trace = invented.noisy()
    trace.devices = lambda w: 200e6 if w // 50 % 4 == 1 else 0
    trace.moves = lambda pid, w: 20e6
    trace.write(path)
    (report,) = run_json("neighbours", path)
    first = report["probes"][0]["neighbours"][0]
    assert first["reason"] == "device" and first["role"] == "rose", first


def too_few_samples(path):
    "without high samples nothing is said of anybody"
    invented.noisy().write(path)
    (report,) = run_json("neighbours", "--rise", "500", path)
    assert not report["probes"][0]["enough"] and report["probes"][0]["neighbours"] == []
    text = run("neighbours", "--rise", "500", path).stdout
    assert "nothing to compare: the latency was calm" in text and "burst" not in text, text


def nothing_to_compare(path):
    "without latencies, and with wrong arguments, it says so"
    trace = invented.noisy(100)
    header = trace.header()
    del header["probes"]
    lines = [line for line in trace.lines() if line["type"] not in ("header", "sample")]
    path.write_text("\n".join(json.dumps(line) for line in [header, *lines]) + "\n", encoding="ascii")
    assert "no latencies" in run("neighbours", path, status=1).stderr
    run("neighbours", path, "-d", "1", status=2)
    run("neighbours", "--rise", "0", path, status=2)
    run("neighbours", "--rise", "x", path, status=2)
    run("neighbours", path, path, status=2)
    run("neighbours", "--read-budget", "0", status=2)
    run("neighbours", str(path) + ".none", status=1)


def main():
    for test in (
        seen_is_true,
        intervals_add_up,
        samples_change_no_byte,
        gaps_are_told,
        junk_is_refused,
        table_of_latencies,
        bursts_are_found,
        peak_is_near,
        cgroups_and_selections,
        jobs_too,
        devices_are_suspects,
        too_few_samples,
        nothing_to_compare,
    ):
        check(test)
    sys.exit(failed)


main()
