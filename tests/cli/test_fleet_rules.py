#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recorded series of jobs on many nodes (promtool): three nodes with known rates, and a job that ended."""

import json
import pathlib
import subprocess
import sys
import tempfile

import each_test

RULES = pathlib.Path(__file__).resolve().parents[2] / "share/prometheus"
GB = 1_000_000_000
# Bytes per minute: of a job on three nodes with different traffic, and of one beside it on two
READ = {("slurm:7", "n1"): 60, ("slurm:7", "n2"): 120, ("slurm:7", "n3"): 180, ("slurm:8", "n1"): 6, ("slurm:8", "n2"): 6}
WRITE = {("slurm:7", "n1"): 30, ("slurm:7", "n2"): 30, ("slurm:7", "n3"): 30}
REST = {("other", "n1"): 600, ("none", "n3"): 600}
# Part of the time in which a GPU did nothing for a job that holds it; nobody knows of the last one
IDLE = {("slurm:7", "n1", "g0"): 1, ("slurm:7", "n2", "g0"): 0.95, ("slurm:8", "n2", "g0"): 0.5, ("slurm:7", "n3", "g0"): 0.9,
        ("slurm:8", "n1", "g1"): None}
PEAKS = {("n1", "0"): 0.9, ("n1", "1"): 0.1, ("n2", "0"): 0.79, ("n3", "1"): 0.8}


def memory(workload, node, direction, values, name="memory_bytes"):
    labels = f'workload="{workload}",instance="{node}",socket="0",source="cpu",direction="{direction}",destination="cmem"'
    return {"series": f"t410trace_workload_{name}_total{{{labels}}}", "values": values}


def fleet():
    series = []
    for direction, table in (("read", {**READ, **REST}), ("write", WRITE)):
        for (workload, node), gb in table.items():
            series += [memory(workload, node, direction, f"0+{gb * GB}x20"),
                       memory(workload, node, direction, f"0+{gb * GB // 10}x20", "memory_uncertainty_bytes")]
    for workload, node in {**READ, **REST}:
        series.append({"series": f't410trace_workload_cpu_seconds_total{{workload="{workload}",instance="{node}"}}',
                       "values": "0+60x20"})
    for (node, socket), share in PEAKS.items():
        series.append({"series": f't410trace_peak_ratio{{of="cmem",socket="{socket}",from="firmware",instance="{node}"}}',
                       "values": f"{share}x20"})
    for (workload, node, gpu), share in IDLE.items():
        labels = f'workload="{workload}",instance="{node}",device="{gpu}",UUID="GPU-{gpu}",pci_bus_id="x"'
        for name, step in (("held", 60), ("known", 0 if share is None else 60), ("idle", 60 * (share or 0))):
            series.append({"series": f"t410trace_workload_gpu_{name}_seconds_total{{{labels}}}", "values": f"0+{step}x20"})
    # it ends on one node after four minutes, on the other after five; then Prometheus calls both stale
    series += [memory("slurm:9", "n1", "read", "0 100 200 300 401 401 stale"),
               memory("slurm:9", "n2", "read", "0 10 20 30 40 53 53 stale")]
    return series


def expect(*asked):
    """@asked: queries, and the samples that they must find after ten minutes."""
    tests = [{"expr": query, "eval_time": "10m",
              "exp_samples": [{"labels": labels, "value": value} for labels, value in sorted(samples.items())]}
             for query, samples in asked]
    test = {"interval": "1m", "input_series": fleet(), "promql_expr_test": tests}
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        files = [str(RULES / f"{name}.rules.yml") for name in ("t410trace", "t410trace-fleet")]
        json.dump({"rule_files": files, "evaluation_interval": "15s", "tests": [test]}, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def recorded(name, **values):
    return name, {f"{name}{{{labels}}}": value for labels, value in values.items()}


def test_rules_are_valid():
    for file in sorted(RULES.glob("*.yml")):
        done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_job_is_the_sum_of_its_nodes():
    name = "fleet:t410trace_workload_memory_bytes:rate5m"
    half = "fleet:t410trace_workload_memory_uncertainty_bytes:rate5m"
    samples = {'{direction="read",workload="slurm:7"}': 6 * GB, '{direction="read",workload="slurm:8"}': 0.2 * GB,
               '{direction="write",workload="slurm:7"}': 1.5 * GB}
    halves = {labels: value / 10 for labels, value in samples.items()}
    expect(*((f'round({query}{{workload!="slurm:9"}})', values) for query, values in ((name, samples), (half, halves))))


def test_nodes_are_counted_and_compared():
    name = "fleet:t410trace_workload_nodes:count"
    expect((name, {f'{name}{{workload="slurm:7"}}': 3, f'{name}{{workload="slurm:8"}}': 2}))
    name = "fleet:t410trace_workload_imbalance:ratio_rate5m"
    # 90, 150 and 210
    expect((f'round({name}{{workload!="slurm:9"}}, 0.1)', {'{workload="slurm:7"}': 1.4, '{workload="slurm:8"}': 1}))


def test_nodes_at_their_limit_and_the_jobs_on_them():
    peak, jobs = "instance:t410trace_peak:ratio_avg5m", "instance:t410trace_workload_at_limit:rate5m"
    counts = {f"fleet:t410trace_nodes_{which}:count": value for which, value in (("at_limit", 2), ("with_peak", 3))}
    expect(
        (f"round({peak}, 0.01)", {f'{{instance="{node}",of="cmem"}}': share for node, share in (("n1", 0.9), ("n2", 0.79), ("n3", 0.8))}),
        *((name, {f'{name}{{of="cmem"}}': value}) for name, value in counts.items()),
        (f'round({jobs}{{workload!="slurm:9"}})', {
            '{instance="n1",workload="slurm:7"}': 1.5 * GB,
            '{instance="n1",workload="slurm:8"}': 0.1 * GB,
            '{instance="n3",workload="slurm:7"}': 3.5 * GB,
        }),
    )


def test_no_node_at_its_limit_is_zero():
    """... and not an absent series."""
    name = "fleet:t410trace_nodes_at_limit:count"
    old = dict(PEAKS)
    try:
        PEAKS.update({key: 0.5 for key in PEAKS})
        expect((name, {f'{name}{{of="cmem"}}': 0}))
    finally:
        PEAKS.clear()
        PEAKS.update(old)


def test_gpus_that_are_held_idle():
    """One that works for one of its two holders is not idle."""
    name = "instance:t410trace_workload_gpu_idle:ratio_rate10m"
    expect(
        (f"round({name}, 0.01)", {f'{{device="{gpu}",instance="{node}",workload="{workload}"}}': share
                                  for (workload, node, gpu), share in IDLE.items() if share is not None}),
        ("fleet:t410trace_gpus_held_idle:count", {"fleet:t410trace_gpus_held_idle:count": 2}),
    )


def test_the_total_of_an_ended_job_stays():
    """The query of docs/METRICS.md, long after its series have ended: to the byte."""
    query = 'sum by (direction) (last_over_time(t410trace_workload_memory_bytes_total{workload="slurm:9"}[1d]))'
    text = (RULES.parents[1] / "docs/METRICS.md").read_text(encoding="utf-8")
    assert query.replace("slurm:9", "slurm:12") in " ".join(text.split()), "docs/METRICS.md has another query"
    expect((query, {'{direction="read"}': 454}))


if __name__ == "__main__":
    sys.exit(each_test.run_all("fleet-rules", globals()))
