#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_by_job.py T410TRACE: jobs of an invented trace, from the file to the report."""

import json
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
MS = 1_000_000
WINDOW_NS = 10 * MS
BYTES_PER_NS = 100  # of CPU time: equal for all, so that --method cpu-time is exact
SLURM = "/system.slice/slurmstepd.scope"
program = sys.argv[1]
failed = 0

# pid: (cgroup, name, windows of 300 in which it runs, ns of CPU time in each)
TASKS = {
    10: (881, "lbm", range(0, 150), 8 * MS),
    11: (882, "bash", range(0, 150, 50), 1 * MS),
    12: (7, "cron", range(0, 300, 40), 2 * MS),
    13: (1, "init", range(0, 300, 30), 1 * MS),
    14: (991, "stream", range(100, 300), 4 * MS),
    15: (1881, "again", range(200, 300), 3 * MS),
    16: (881, "moved", range(0, 50), 2 * MS),
}
CGROUPS = {
    0: {
        1: "/",
        7: "/system.slice/cron.service",
        880: f"{SLURM}/job_12",
        881: f"{SLURM}/job_12/step_0/user/task_0",
        882: f"{SLURM}/job_12/step_batch",
        70: "/system.slice/idle.service",
    },
    100: {990: f"{SLURM}/job_13", 991: f"{SLURM}/job_13/step_0"},
    # The removal and the new job of the same path are in the second interval.
    150: {881: None, 882: None, 880: None},
    170: {1880: f"{SLURM}/job_12", 1881: f"{SLURM}/job_12/step_0"},
}
MARKS = (0, 100, 200, 300)


def header():
    return {
        "type": "header",
        "schema": "t410trace.trace/1",
        "platform": "t410",
        "host": "invented",
        "kernel": "none",
        "sockets": [{"id": 0, "cpus": "0-9"}],
        "counters": [
            {
                "id": 0,
                "name": "ucf0/mem_bytes_rd/src_loc_cpu=1",
                "pmu": "nvidia_ucf_pmu_0",
                "event": "mem_bytes_rd",
                "filters": {"src_loc_cpu": 1},
                "socket": 0,
                "unit": "bytes",
                "source": "cpu",
            }
        ],
        "marked": True,
        "all": True,
    }


def mark(window):
    return {
        "type": "mark",
        "first": window == 0,
        "last": window == MARKS[-1],
        "time_ns": window * WINDOW_NS,
        "realtime_ns": 10**18 + window * WINDOW_NS,
        "ends_ns": [window * WINDOW_NS],
        "losses": {},
        "cost": {},
    }


def cgroup_of(pid, window):
    """One process moves from a step to another."""
    return 882 if pid == 16 and window >= 25 else TASKS[pid][0]


def events(selected):
    yield header() | selected
    for window in range(MARKS[-1] + 1):
        if window:
            start, end, value = (window - 1) * WINDOW_NS, window * WINDOW_NS, 0
            for pid, (_, _, when, ns) in TASKS.items():
                if window - 1 not in when:
                    continue
                cgroup = cgroup_of(pid, window - 1)
                number = pid * 10000 + cgroup
                yield {
                    "type": "workload", "id": number, "pid": pid, "tgid": pid, "start_ns": pid, "cgroup_id": cgroup
                }
                yield {
                    "type": "slice", "workload": number, "cpu": pid % 10, "start_ns": start, "end_ns": end,
                    "on_cpu_ns": ns,
                }
                value += ns * BYTES_PER_NS
            yield {
                "type": "window", "group": 0, "socket": 0, "start_ns": start, "end_ns": end,
                "values": [[0, value, WINDOW_NS, WINDOW_NS]],
            }
        for cgroup, path in CGROUPS.get(window, {}).items():
            yield {"type": "cgroup", "id": cgroup} | ({"path": path} if path else {})
        if window == 0:
            yield {"type": "job", "cgroup_id": 880, "name": "lattice", "user": "eve"}
            for pid, (cgroup, comm, _, _) in TASKS.items():
                yield {
                    "type": "task", "pid": pid, "tgid": pid, "start_ns": pid, "cgroup_id": cgroup, "comm": comm,
                    "parent": 1, "parent_start_ns": 1, "kernel": False,
                }
        if window in MARKS:
            yield mark(window)
    yield {"type": "end", "time_ns": MARKS[-1] * WINDOW_NS}


def moved(pid, first, last, cgroup=None):
    """Bytes of a process, perhaps only in one cgroup, in windows from first up to last."""
    _, _, when, ns = TASKS[pid]
    windows = [w for w in when if first <= w < last and cgroup in (None, cgroup_of(pid, w))]
    return len(windows) * ns * BYTES_PER_NS


def run(*arguments, status=0):
    arguments = [str(argument) for argument in arguments]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(arguments)}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def reports(*arguments):
    """Checked reports: each as its rows by key."""
    text = run("report", "--method", "cpu-time", *arguments, "--json").stdout
    checked = subprocess.run([CHECK, "-"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    return [{row["key"]: row for row in json.loads(line)["workloads"]} for line in text.splitlines()]


def value(rows, key):
    return rows[key]["metrics"]["mem_read_bytes"]


def check(function):
    """Run one test in a directory of its own, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace.ndjson"
        try:
            function(trace)
            print(f"ok by-job: {function.__doc__}")
        except (AssertionError, KeyError, StopIteration, IndexError) as error:
            failed = 1
            print(f"not ok by-job: {function.__doc__}: {error!r}".replace("\n", " "))


def write(path, **selected):
    path.write_text("".join(json.dumps(event) + "\n" for event in events(selected)))


def jobs_and_steps(trace):
    """Jobs have what their steps moved, to the unit, also of a process that moves"""
    write(trace)
    first, second, third = reports("-a", "--by", "job", trace)
    assert value(first, "job:880:0") == moved(10, 0, 100) + moved(16, 0, 100, 881)
    assert value(first, "job:880:batch") == moved(11, 0, 100) + moved(16, 0, 100, 882)
    assert value(first, "job:880") == moved(10, 0, 100) + moved(11, 0, 100) + moved(16, 0, 100)
    assert not first["job:880"]["leaf"] and first["job:880:0"]["parent"] == "job:880"
    assert value(first, "job:none") == moved(13, 0, 100)
    assert value(first, "job:7") == moved(12, 0, 100) and "job:70" not in first
    assert "job" not in first["job:none"]
    assert first["job:880"]["job"] == {
        "scheduler": "slurm", "id": "12", "step": None, "name": "lattice", "user": "eve", "cgroup_id": 880
    }
    assert first["job:880:0"]["job"]["step"] == "0" and first["job:880:0"]["job"]["name"] == "lattice"
    assert value(second, "job:880") == moved(10, 100, 200) + moved(11, 100, 200)
    assert value(third, "job:1880") == moved(15, 200, 300)
    assert third["job:1880"]["job"]["name"] is None


def ends(trace):
    """The end of a job is told in one interval, and the same path again is another job"""
    write(trace)
    by_interval = reports("-a", "--by", "job", trace)
    assert [rows.get("job:880", {}).get("exited", False) for rows in by_interval] == [False, True, False]
    assert "job:880" not in by_interval[2]
    assert [value(rows, "job:1880") if "job:1880" in rows else None for rows in by_interval[:2]] == [None, 0]
    (whole,) = reports("-a", "--by", "job", "--summary", trace)
    assert whole["job:880"]["exited"] and "exited" not in whole["job:1880"]
    assert value(whole, "job:880") == moved(10, 0, 300) + moved(11, 0, 300) + moved(16, 0, 300)


def choose(trace):
    """-J takes jobs by id, with or without the scheduler, and rows know theirs"""
    write(trace)
    for name in ("12", "slurm:12"):
        (rows,) = reports("-J", name, "--by", "job", "--summary", trace)
        assert {key for key in rows if key.count(":") == 1} == {"job:880", "job:1880"}, rows.keys()
    (rows,) = reports("-J", "12,13", "--summary", trace)
    assert {row["comm"] for row in rows.values()} == {"lbm", "bash", "moved", "again", "stream"}
    assert all(row["job"]["id"] in ("12", "13") for row in rows.values())
    assert "there is no such job" in " ".join(run("report", "-J", "flux:12", trace, status=1).stderr.split())
    done = run("report", "-J", "pbs:12", trace, status=2)
    assert "-J pbs:12" in done.stderr and "slurm" in done.stderr
    assert "-J" in run("report", "-a", "-J", "12", trace, status=2).stderr


def as_recorded(trace):
    """A trace that was made with -J shows the same without it"""
    write(trace, all=False, jobs=["slurm:12"])
    (rows,) = reports("--by", "job", "--summary", trace)
    assert {key for key in rows if key.count(":") == 1} == {"job:880", "job:1880"}, rows.keys()
    write(trace, all=False, jobs=["pbs:12"])
    assert "a job of an unknown scheduler" in " ".join(run("report", trace, status=1).stderr.split())


def table(trace):
    """The table names jobs, users and steps"""
    write(trace)
    text = run("report", "-a", "--by", "job", "--summary", trace).stdout
    lines = text.splitlines()
    assert any(line.split()[:4] == ["slurm", "12*", "eve", "lattice"] for line in lines), text
    assert any(line.startswith("  step batch") for line in lines), text
    assert any(line.startswith("(no job)") for line in lines), text


for test in (jobs_and_steps, ends, choose, as_recorded, table):
    check(test)
sys.exit(failed)
