#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""serve_look.py T410TRACE [JOBS [MINUTES]]: what the look at known cgroups costs.

Makes cgroups that look like jobs of Slurm, 1,000 of them unless told otherwise, in which nothing runs, and
shows how long the daemon's looks at them take, once a minute, for two minutes unless told otherwise.
Needs root, the cgroup v2 tree and perf. Nothing is judged.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from serve_churn import mount_point, serving

LOOK_S = 60
APART_MS = 50


def looks(pid, seconds, scratch):
    """(calls, ms from the first to the last, ms in calls) of each burst of stat(), seen with perf trace."""
    trace = ["perf", "trace", "-p", str(pid), "-e", "newfstatat", "-o", scratch / "calls"]
    with subprocess.Popen(trace) as perf:
        time.sleep(seconds)
        perf.send_signal(signal.SIGINT)
        perf.wait()
    found, last = [], None
    for line in (scratch / "calls").read_text(encoding="utf-8", errors="replace").splitlines():
        match = re.match(r"\s*([\d.]+) \(\s*([\d.]+) ms\)", line)
        if not match:
            continue
        when, took = map(float, match.groups())
        if last is None or when - last > APART_MS:
            found.append([0, when, when, 0.0])
        last = when
        burst = found[-1]
        burst[0], burst[2], burst[3] = burst[0] + 1, when + took, burst[3] + took
    return [(calls, end - begin, within) for calls, begin, end, within in found]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    minutes = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    scratch = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    top = mount_point() / f"t410look-{os.getpid()}"
    folder = top / "slurmstepd.scope"
    jobs = [folder / f"job_{100000 + i}" for i in range(number)]
    for job in jobs:
        (job / "step_0").mkdir(parents=True)
    try:
        with serving(sys.argv[1], scratch) as daemon:
            time.sleep(5)
            found = looks(daemon.pid, minutes * LOOK_S, scratch)
    finally:
        for job in jobs:
            (job / "step_0").rmdir()
            job.rmdir()
        folder.rmdir()
        top.rmdir()
    shutil.rmtree(scratch)
    for calls, whole, within in found:
        if calls >= number:
            print(f"{calls} calls of stat(): {within:.1f} ms in them, {whole:.1f} from the first to the last")
    return 0


if __name__ == "__main__":
    sys.exit(main())
