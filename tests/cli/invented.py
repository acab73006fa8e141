# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Invented NDJSON traces with latencies, whose truth is known."""

import json

MS = 1_000_000
WINDOW_NS = 10 * MS
SAMPLE = 10  # windows of a sample
GHZ = 2
BYTES_PER_NS = 100  # of CPU time: equal for all, so that --method cpu-time is exact


class Trace:
    """One socket with a CPU for each process; traffic and latency are functions of time.

    processes: {pid: (name, path of its cgroup)}
    moves: pid, window -> bytes read
    devices: window -> bytes read by devices
    latency: sample -> ns; None: nothing was requested
    """

    def __init__(self, windows, processes, moves, latency, devices=lambda w: 0):
        self.windows = windows
        self.processes = processes
        self.moves = moves
        self.devices = devices
        self.latency = latency

    def header(self):
        def counter(number, source, filter_name):
            return {
                "id": number,
                "name": f"ucf0/mem_bytes_rd/{filter_name}=1",
                "pmu": "nvidia_ucf_pmu_0",
                "event": "mem_bytes_rd",
                "filters": {filter_name: 1},
                "socket": 0,
                "unit": "bytes",
                "source": source,
                "group": 0,
            }

        return {
            "type": "header",
            "schema": "t410trace.trace/1",
            "platform": "t410",
            "host": "invented",
            "kernel": "none",
            "sockets": [{"id": 0, "cpus": f"0-{len(self.processes)}"}],
            "counters": [counter(0, "cpu", "src_loc_cpu"), counter(1, "device", "src_loc_noncpu")],
            "probes": [
                {
                    "id": 7,
                    "name": "cmem0/rd",
                    "title": "reads of CPU memory",
                    "pmu": "nvidia_cmem_latency_pmu_0",
                    "socket": 0,
                    "direction": "read",
                    "destination": "cmem",
                    "by_tasks": True,
                }
            ],
        }

    def workloads(self):
        for pid, (name, cgroup) in self.processes.items():
            yield {
                "type": "workload",
                "id": pid,
                "pid": pid,
                "start_ns": pid,
                "comm": name,
                "cgroup": cgroup,
                "cgroup_id": 1000 + pid,
            }

    def window(self, w):
        times = {"start_ns": w * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS}
        own = 0
        for cpu, pid in enumerate(self.processes):
            moved = int(self.moves(pid, w)) // BYTES_PER_NS * BYTES_PER_NS
            own += moved
            if moved:
                yield {"type": "slice", "workload": pid, "cpu": cpu, **times, "on_cpu_ns": moved // BYTES_PER_NS}
        values = [[0, own, WINDOW_NS, WINDOW_NS], [1, int(self.devices(w)), WINDOW_NS, WINDOW_NS]]
        yield {"type": "window", "socket": 0, **times, "values": values}

    def sample(self, s):
        ns = self.latency(s)
        length = SAMPLE * WINDOW_NS
        requests = 0 if ns is None else 100_000
        return {
            "type": "sample",
            "probe": 7,
            "start_ns": s * length,
            "end_ns": (s + 1) * length,
            "outstanding": int(requests * (ns or 0) * GHZ),
            "requests": requests,
            "cycles": length * GHZ,
        }

    def lines(self):
        yield self.header()
        yield from self.workloads()
        for w in range(self.windows):
            yield from self.window(w)
            if w % SAMPLE == SAMPLE - 1:
                yield self.sample(w // SAMPLE)
        yield {"type": "end", "time_ns": self.windows * WINDOW_NS}

    def write(self, path):
        with open(path, "w", encoding="ascii") as out:
            for line in self.lines():
                print(json.dumps(line), file=out)


def noisy(windows=1200):
    """A burst of half a second every two seconds makes all others wait; one of them moves by chance."""

    def moves(pid, w):
        if pid == 100:
            return 300e6 if w // 50 % 4 == 1 else 0
        if pid == 200:
            return 50e6
        return 20e6 if (w // 10 * 7919) % 13 < 6 else 60e6

    def latency(s):
        return 700 + s % 5 if s // 5 % 4 == 1 else 300 + s % 7

    names = {100: ("burst", "/box/a"), 200: ("steady", "/box/b"), 300: ("chance", "/other")}
    return Trace(windows, names, moves, latency, devices=lambda w: 10e6)
