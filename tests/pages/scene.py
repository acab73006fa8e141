# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recording that pages are tried with, and pictures made from: always the same, and invented.

Two sockets, a minute: two jobs in phases, a service that bursts and makes others wait, a disk that
a backup writes to, traffic of devices and of the other socket.
"""

import json
import math
import sys

MS = 1_000_000
WINDOW = 20 * MS
SAMPLE = 5  # windows of a sample of latencies
SECONDS = 60
DISK = "0002:81:00.0"
# pid: name, cgroup, socket, bytes per ns of CPU time, seconds of a period, part of it that it runs
PROCESSES = {
    4242: ("lbm", "/slurm/job_12/step_0", 0, 6.0, 11, 0.7),
    4243: ("lbm", "/slurm/job_12/step_0", 1, 6.2, 11, 0.7),
    5150: ("gmx", "/slurm/job_15/step_0", 1, 3.1, 7, 0.8),
    6001: ("postgres", "/system.slice/postgresql.service", 0, 9.0, 5, 0.3),
    6002: ("nginx", "/system.slice/nginx.service", 0, 0.9, 3, 0.9),
    6050: ("cron", "/system.slice/cron.service", 0, 0.05, 10, 0.2),
    6100: ("backup", "/system.slice/backup.service", 1, 1.7, 23, 0.6),
    7001: ("python3", "/user.slice/user-1000.slice", 0, 1.4, 13, 0.5),
    7002: ("cc1", "/user.slice/user-1000.slice", 1, 0.6, 2, 0.6),
}
# Names that want to be more than texts
HOSTILE = {
    8001: ("</script>", "/a/</script><b>x", 0, 0.8, 3, 0.5),
    8002: ("<img onerror=x>", "/a/\"'&amp;<!--", 1, 0.7, 4, 0.5),
}


def counter(number, socket, direction, field, source):
    return {
        "id": number, "name": f"ucf{socket}/mem_bytes_{direction}/{field}=1", "pmu": f"nvidia_ucf_pmu_{socket}",
        "event": f"mem_bytes_{direction}", "filters": {field: 1}, "socket": socket, "unit": "bytes",
        "source": source, "group": socket,
    }  # fmt: skip


def header(processes):
    counters = []
    for socket in (0, 1):
        for field, source in (("src_loc_cpu", "cpu"), ("src_loc_noncpu", "device"), ("src_rem", "remote")):
            for direction in ("rd", "wr"):
                counters.append(counter(len(counters), socket, direction, field, source))
    for direction in ("rd", "wr"):
        counters.append({"id": len(counters), "name": f"pcie0.rc1/{direction}_bytes/nvme0n1", "socket": 0,
                         "event": f"{direction}_bytes", "source": "device", "bdf": DISK, "group": 9})  # fmt: skip
    return {
        "type": "header", "schema": "t410trace.trace/1", "platform": "t410", "host": "n1", "kernel": "7.2.13",
        "sockets": [{"id": s, "cpus": f"{len(processes) * s}-{len(processes) * (s + 1) - 1}"} for s in (0, 1)],
        "counters": counters,
        "devices": [{"bdf": DISK, "name": "nvme0n1", "kind": "nvme", "socket": 0, "rc": 1, "rp": 1,
                     "wiring": "firmware", "filter": "port"}],
        "probes": [{"id": 0, "name": "cmem0/rd", "title": "reads of CPU memory", "socket": 0, "direction": "read",
                    "pmu": "nvidia_cmem_latency_pmu_0", "destination": "cmem", "by_tasks": True}],
    }  # fmt: skip


def on_cpu(pid, process, w):
    """Nanoseconds in a window: on and off, never quite the same"""
    period, part = process[4], process[5]
    at = (w * WINDOW / 1e9 + pid % 7) % period
    return int(WINDOW * (0.75 + (w * 7919 + pid) % 97 / 400)) // 1000 * 1000 if at < period * part else 0


def window(w, processes):
    """Lines of a window; and what socket 0 moved in it"""
    times = {"start_ns": w * WINDOW, "end_ns": (w + 1) * WINDOW}
    moved = [0, 0]
    for cpu, (pid, process) in enumerate(processes.items()):
        ns = on_cpu(pid, process, w)
        if ns:
            moved[process[2]] += int(ns * process[3])
            place = cpu + len(processes) * process[2]
            yield {"type": "slice", "workload": pid, "cpu": place, **times, "on_cpu_ns": ns}
    disk = on_cpu(6100, PROCESSES[6100], w) // 25
    for socket in (0, 1):
        device = int(WINDOW * (1.2 + math.sin(w / 300)) * (1 - socket / 2)) + disk * (1 - socket)
        remote = moved[1 - socket] // 12
        values = [moved[socket] * 2 // 3, moved[socket] // 3, device, device // 4, remote, remote // 2]
        values = [[6 * socket + i, value, WINDOW, WINDOW] for i, value in enumerate(values)]
        yield {"type": "window", "socket": socket, **times, "values": values}
    yield {"type": "window", "socket": 0, **times,
           "values": [[12, disk * 30, WINDOW, WINDOW], [13, disk, WINDOW, WINDOW]]}  # fmt: skip
    if disk:
        yield {"type": "io", "workload": 6100, "bdf": DISK, "read_bytes": disk * 30, "write_bytes": disk, **times}


def sample(w, processes):
    busy = sum(on_cpu(pid, p, w) * p[3] for pid, p in processes.items() if p[2] == 0) / WINDOW
    ns = 180 + 2.2 * busy * busy + w % 5
    return {"type": "sample", "probe": 0, "start_ns": (w + 1 - SAMPLE) * WINDOW, "end_ns": (w + 1) * WINDOW,
            "requests": 100000, "outstanding": int(100000 * ns * 2), "cycles": SAMPLE * WINDOW * 2}  # fmt: skip


def lines(processes):
    yield header(processes)
    for pid, (name, cgroup, *_) in processes.items():
        yield {"type": "workload", "id": pid, "pid": pid, "start_ns": pid, "comm": name, "cgroup": cgroup}
    count = SECONDS * 1_000_000_000 // WINDOW
    for w in range(count):
        yield from window(w, processes)
        if w % SAMPLE == SAMPLE - 1:
            yield sample(w, processes)
    yield {"type": "end", "time_ns": count * WINDOW}


def write(path, hostile=False):
    with open(path, "w", encoding="ascii") as out:
        for line in lines(PROCESSES | HOSTILE if hostile else PROCESSES):
            print(json.dumps(line), file=out)


if __name__ == "__main__":
    write(sys.argv[1])
