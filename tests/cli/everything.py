# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An invented NDJSON trace that has something of everything that reports can hold, and its reports."""

import json
import pathlib
import subprocess

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
MS = 1_000_000
WINDOW_NS = 10 * MS
INTERVALS = 3
WINDOWS = 60  # of an interval
BDF = "0002:81:00.0"
# pid: (cgroup, its path, name, CPU, windows in which it runs)
TASKS = {
    10: (881, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_0", "lbm", 0, range(0, 180)),
    11: (882, "/system.slice/slurmstepd.scope/job_12/step_batch", '=cmd,"x"', 1, range(0, 70)),
    12: (7, "/system.slice/cron,d.service", "-bash", 2, range(60, 120)),
    13: (8, "/user.slice/naïve", "a\nb\x1b[31m", 3, range(0, 180, 7)),
    14: (881, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_0", "twin", 4, range(0, 180)),
    15: (9, "/quiet", "quiet", 4, range(170, 180)),  # beside another one: their slices overlap
}


def comm(pid, w):
    """The name of a process in a window: one becomes another program."""
    return "renamed" if pid == 14 and w >= 120 else TASKS[pid][2]


def counter(number, socket, source, direction, **more):
    name = f"ucf{socket}/mem_bytes_{direction[:2]}/{source}" if "bdf" not in more else f"pcie/{direction}/{number}"
    return {
        "id": number, "name": name, "event": f"mem_bytes_{direction[:2]}", "socket": socket, "unit": "bytes",
        "source": source, "direction": direction, **more,
    }


COUNTERS = [
    *(counter(4 * s + 2 * k + d, s, source, direction, group=s)
      for s in (0, 1)
      for k, source in enumerate(("cpu", "device"))
      for d, direction in enumerate(("read", "write"))),
    counter(8, 0, "device", "read", bdf=BDF, group=2),
    counter(9, 0, "device", "write", bdf=BDF, group=2),
    counter(10, 1, "remote", "write", group=3),  # its readings always fail
    counter(11, 0, "any", "readwrite", group=4) | {"name": "power0/energy-pkg", "unit": "nanojoules"},
]


def header():
    return {
        "type": "header", "schema": "t410trace.trace/1", "platform": "t410", "host": "invented", "kernel": "none",
        "sockets": [{"id": 0, "cpus": "0-3"}, {"id": 1, "cpus": "4-7"}],
        "counters": COUNTERS,
        "probes": [
            {"id": 0, "name": "cmem0/rd", "title": "reads of CPU memory", "pmu": "cmem", "socket": 0,
             "direction": "read", "destination": "cmem", "by_tasks": True},
            {"id": 1, "name": "cmem1/rd", "title": "reads of CPU memory", "pmu": "cmem", "socket": 1,
             "direction": "read", "destination": "cmem", "by_tasks": True},
        ],
        "parts": [{"id": 0, "name": "cha0/local", "part": "local", "pmu": "cha", "pmus": 4, "event": "x", "socket": 0,
                   "direction": "read"}],
        "devices": [{"bdf": BDF, "name": "nvme0n1", "kind": "nvme", "socket": 0, "rc": 1, "rp": 1,
                     "wiring": "firmware", "filter": "requester id"}],
        "marked": True, "all": True,
    }


def mark(window):
    time = window * WINDOW_NS
    return {
        "type": "mark", "first": not window, "last": window == INTERVALS * WINDOWS, "time_ns": time,
        "realtime_ns": 10**18 + time, "ends_ns": [time, time],
        "losses": {"lost_windows": window // 60, "lost_tasks": window // 120},
        "cost": {"cpu_ns": window * 1000, "switches": window * 3},
    }


def who(pid):
    return {"id": pid, "pid": pid, "tgid": pid, "start_ns": pid, "cgroup_id": TASKS[pid][0]}


def task(pid, w):
    return {"type": "task", "pid": pid, "tgid": pid, "start_ns": pid, "cgroup_id": TASKS[pid][0],
            "comm": comm(pid, w), "parent": 1, "parent_start_ns": 1, "kernel": False}


def windows(w, own):
    times = {"start_ns": w * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS}
    full = [WINDOW_NS, WINDOW_NS]
    for socket in (0, 1):
        values = [[4 * socket, own[socket], *full], [4 * socket + 1, own[socket] // 3, *full],
                  [4 * socket + 2, 1000 * w, *full], [4 * socket + 3, 77 * socket, *full]]
        yield {"type": "window", "group": socket, "socket": socket, **times, "values": values}
    half = [WINDOW_NS, WINDOW_NS // 2]
    yield {"type": "window", "group": 2, "socket": 0, **times, "values": [[8, 4096 * w, *half], [9, 5, *half]]}
    yield {"type": "window", "group": 3, "socket": 1, **times, "values": [[10, 0, WINDOW_NS, 0]]}
    yield {"type": "window", "group": 4, "socket": 0, **times, "values": [[11, own[0] // 7 + 40_000, *full]]}


def lines():
    yield header()
    for cgroup, path, *_ in TASKS.values():
        yield {"type": "cgroup", "id": cgroup, "path": path}
    yield {"type": "cgroup", "id": 880, "path": "/system.slice/slurmstepd.scope/job_12"}
    yield {"type": "job", "cgroup_id": 880, "name": "+lattice", "user": "eve"}
    for pid in TASKS:
        yield task(pid, 0)
        yield {"type": "workload", **who(pid)}
    yield mark(0)
    for w in range(INTERVALS * WINDOWS):
        times = {"start_ns": w * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS}
        own = [0, 0]
        if w == 120:
            yield task(14, w)
        for pid, (_, _, _, cpu, when) in TASKS.items():
            if w in when:
                on_cpu = (5 + (w * pid) % 4) * MS
                own[cpu // 4] += on_cpu * pid
                yield {"type": "slice", "workload": pid, "cpu": cpu, **times, "on_cpu_ns": on_cpu}
        if w % 5 == 0:
            yield {"type": "io", "workload": 10 + w % 2, "bdf": BDF, "read_bytes": 4096 * w, "write_bytes": 512,
                   **times}
        yield from windows(w, own)
        if w % 10 == 9:
            sample = {"start_ns": (w - 9) * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS, "cycles": 200 * MS}
            yield {"type": "sample", "probe": 0, "outstanding": 300_000 + 7 * w, "requests": 1000, **sample}
            yield {"type": "sample", "probe": 1, "outstanding": 0, "requests": 0, **sample}
            yield {"type": "part", "part": 0, "start_ns": (w - 9) * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS,
                   "bytes": 12345 * w, "enabled_ns": 400 * MS, "running_ns": 100 * MS}
        if (w + 1) % WINDOWS == 0:
            yield mark(w + 1)
    yield {"type": "end", "time_ns": INTERVALS * WINDOWS * WINDOW_NS}


def write(path):
    with open(path, "w", encoding="utf-8") as out:
        for line in lines():
            print(json.dumps(line), file=out)


def harmless(text):
    """A name as it is shown: control characters are written."""
    return text if text is None else "".join(f"\\x{ord(c):02x}" if ord(c) < 32 else c for c in text)


def run(program, *arguments, status=(0, 3)):
    done = subprocess.run([program, "report", *map(str, arguments)], capture_output=True, check=False)
    if done.returncode not in status:
        raise AssertionError(f"report {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done


def reports(program, *arguments):
    return [json.loads(line) for line in run(program, *arguments, "--json").stdout.splitlines()]
