#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_device_users.py T410TRACE: users and owners of a GPU, from a trace of another tool.

Job 12 has three tasks on the GPU beside a monitor without a context; from the third second on job 13
shares it. All reports keep what check-report asks for, and refuse a spoiled one.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import each_test

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
program = sys.argv[1]
GPU = "0009:01:00.0"
SECOND = 1_000_000_000
BEGIN = 1000 * SECOND
STEP = "/system.slice/slurmstepd.scope/job_{}/step_{}/user/task_{}"


def mark(at, **more):
    return {"type": "mark", "time_ns": at, "ends_ns": [at], **more}


def trace(busy=False):
    yield {
        "type": "header",
        "schema": "t410trace.trace/1",
        "sockets": [{"id": 0, "cpus": "0"}],
        "marked": True,
        "all": True,
        "contexts": True,
        "holders": True,
        "devices": [{"bdf": GPU, "kind": "gpu", "filter": "requester id", "link": "c2c", "uuid": "GPU-1"}],
        "counters": [
            {"id": 0, "name": "mem", "socket": 0, "source": "device", "event": "e"},
            {"id": 1, "name": "rd", "event": "e", "socket": 0, "source": "device", "group": 1, "bdf": GPU},
            {"id": 2, "name": "wr", "event": "e", "socket": 0, "source": "device", "group": 1, "bdf": GPU,
             "direction": "write"},
        ],
    }
    cgroups = [STEP.format(12, 0, 0), STEP.format(12, 0, 1), STEP.format(12, 1, 0), STEP.format(13, 0, 0), "/mon"]
    for i, cgroup in enumerate(cgroups):
        yield {"type": "cgroup", "id": 10 + i, "path": cgroup}
        yield {"type": "task", "pid": 100 + i, "tgid": 100 + i, "start_ns": (i + 1) * SECOND, "comm": f"p{i}",
               "cgroup_id": 10 + i}
        yield {"type": "workload", "id": i, "pid": 100 + i, "start_ns": (i + 1) * SECOND, "cgroup_id": 10 + i}
    yield mark(BEGIN, first=True)
    for ms in range(0, 5000, 100):
        start, end = BEGIN + ms * 1_000_000, BEGIN + (ms + 100) * 1_000_000
        span = {"start_ns": start, "end_ns": end}
        yield {"type": "slice", "workload": ms // 100 % 5, "cpu": 0, **span}
        if ms % 1000 == 500:
            pids = [100, 101, 102] + [103] * (ms > 3000)
            yield {"type": "contexts", "bdf": GPU, "start_ns": end - SECOND if ms > 500 else end, "end_ns": end,
                   "processes": [{"pid": pid, "start_ns": (pid - 99) * SECOND + 9_000_000, "since_ns": end}
                                 for pid in pids]}
            if busy:
                yield {"type": "activity", "bdf": GPU, "start_ns": end - SECOND if ms > 500 else BEGIN,
                       "end_ns": end, "samples": 7, "period_ns": 139_000_000,
                       "processes": [{"pid": 100, "start_ns": SECOND, "busy_ns": 300_000_000},
                                     {"pid": 102, "start_ns": 3 * SECOND, "busy_ns": 100_000_000}]}
        yield {"type": "window", "socket": 0, **span,
               "values": [[n, v, 100_000_000, 100_000_000] for n, v in enumerate((1000, 700, 77))]}
        if ms % 1000 == 900:
            yield mark(end)
    yield {"type": "end", "time_ns": BEGIN + 5 * SECOND}


def report(lines, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        done = subprocess.run([program, "report", *arguments, file.name], capture_output=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


def checked(lines, *arguments):
    text = report(lines, "--json", *arguments)
    done = subprocess.run([CHECK, "-"], input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    return [json.loads(line) for line in text.splitlines()]


def device(one):
    return one["devices"][0]


def test_one_job_beside_a_monitor():
    for by, key in ("job", "job:"), ("cgroup", None), ("process", None):
        first, second, *_, last = checked(trace(), "--by", by)
        for one in first, second:
            assert device(one)["owner_rule"] == "contexts" and device(one)["ownership"] == "one", device(one)
            assert device(one)["users_all"] == 1 and device(one)["users"][0]["processes"] == 3
            owned = device(one)["attributed"]
            assert owned == ({"read_bytes": 7000, "write_bytes": 770} if key else
                             {"read_bytes": 0, "write_bytes": 0}), owned
            assert ("undivided" in device(one)) == (key is None)
            assert not key or device(one)["exclusive"].startswith(key), device(one)
        assert device(last)["ownership"] == "shared", device(last)
        assert [user["job"]["id"] for user in device(last)["blockers"]] == ["12", "13"]
        assert device(last)["attributed"]["read_bytes"] == 0
        assert device(first)["uuid"] == "GPU-1" and device(first)["link"] == "c2c"


def test_busy_time_divides():
    first, *_ = checked(trace(True), "--by", "process")
    rows = {row["pid"]: row["devices"] for row in first["workloads"] if row.get("devices")}
    assert rows[100][0]["read_bytes"] == 5250 and rows[102][0]["read_bytes"] == 1750, rows
    assert rows[100][0]["read_low"] == 0 and rows[100][0]["read_high"] == 7000, rows
    (user,) = device(first)["users"]
    assert user["busy_ns"] == 400_000_000 and device(first)["samples"] == 7, user
    assert 0 < user["share_low"] < user["share"] < user["share_high"] < 1, user


def test_text():
    text = " ".join(report(trace(True), "--by", "job").decode().split())
    assert "slurm job 12 alone has contexts: its bytes are divided by busy time; busy: slurm job 12 " in text, text
    assert "shared: slurm job 12, slurm job 13 step 0" in text, text


def test_spoiled():
    good = checked(trace(True), "--by", "job")
    rows = []
    for number, path, value in [
        (0, ("ownership",), "free"),
        (0, ("ownership",), "shared"),
        (4, ("ownership",), "one"),
        (0, ("undivided",), True),
        (4, ("users_all",), 1),
        (4, ("blockers_all",), 1),
        (0, ("users", 0, "share"), 0.1),
        (0, ("users", 0, "share_low"), 0.9),
        (0, ("users", 0, "key"), "job:1"),
        (0, ("users", 0, "copy_ns"), 10**12),
        (0, ("samples",), 0),
    ]:
        one = json.loads(json.dumps(good[number]))
        at = device(one)
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        if path == ("undivided",):
            at["ownership"] = "shared"
            at["blockers"], at["blockers_all"] = at["users"], 1
        done = subprocess.run([CHECK, "-"], input=json.dumps(one).encode(), capture_output=True, check=False)
        rows.append((path, done.returncode))
    assert all(status == 1 for _, status in rows), rows


sys.exit(each_test.run_all("users of devices", globals()))
