#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""serve_churn.py T410TRACE [JOBS [A_SECOND]]: many short jobs, one after the other.

Makes and removes cgroups that look like jobs of Slurm, 100,000 of them unless told otherwise,
500 a second, and shows what the daemon's memory is meanwhile. Needs root and the cgroup v2 tree.
Fails when the last tenth needs a quarter more than the first three did at most, or when a report is missing.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WARM = 3  # tenths that caches may take to fill
MORE = 1.25


def mount_point():
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="ascii").splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return pathlib.Path(where)
    sys.exit("serve_churn.py: the cgroup v2 tree is not mounted")


@contextlib.contextmanager
def serving(program, scratch, **settings):
    """The daemon with these settings, once it is ready; all it writes is below @scratch."""
    settings = {
        "interval": "1s", "counters": "no", "listen": "", "state": scratch / "accounts.db",
        "spool": scratch / "spool",
    } | settings
    lines = (f"{name.replace('_', '-')} = {value}\n" for name, value in settings.items())
    (scratch / "conf").write_text("".join(lines), encoding="ascii")
    with (scratch / "log").open("w") as log, subprocess.Popen(
        [program, "serve", "--config", scratch / "conf"], stderr=log
    ) as daemon:
        try:
            while "is ready" not in (scratch / "log").read_text(encoding="utf-8"):
                time.sleep(0.05)
            yield daemon
        finally:
            daemon.send_signal(signal.SIGTERM)


def memory_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1])


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def nr_reports(spool):
    """Without the lock, whose name begins with a dot."""
    return sum(name[0] != "." for name in os.listdir(spool))


def churn(folder, number, rate, daemon, spool):
    """Returns the memory after each tenth."""
    sizes, begin, done = [], time.monotonic(), 0
    for i in range(number):
        job = folder / f"job_{100000 + i}"
        (job / "step_0").mkdir(parents=True)
        (job / "step_0").rmdir()
        job.rmdir()
        ahead = begin + i / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        if i % (number // 10) == number // 10 - 1:
            sizes.append(memory_kib(daemon.pid))
            files = nr_reports(spool)
            done = i + 1
            print(f"{done:8} jobs {sizes[-1]:8} KiB {cpu_s(daemon.pid):8.2f} s CPU {files:8} reports", flush=True)
    return sizes


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    rate = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    # In memory: reports are synced one by one, and this is no bench of the disk.
    scratch = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    top = mount_point() / f"t410churn-{os.getpid()}"
    folder = top / "slurmstepd.scope"
    folder.mkdir(parents=True)
    try:
        with serving(sys.argv[1], scratch, spool_max_files=0, max_jobs=10000) as daemon:
            sizes = churn(folder, number, rate, daemon, scratch / "spool")
            deadline = time.monotonic() + 60
            while nr_reports(scratch / "spool") < number and time.monotonic() < deadline:
                time.sleep(0.1)
            reports = nr_reports(scratch / "spool")
    finally:
        folder.rmdir()
        top.rmdir()
    print((scratch / "log").read_text(encoding="utf-8").splitlines()[-1])
    shutil.rmtree(scratch)
    print(f"{reports} reports of {number} jobs, memory {max(sizes[:WARM])} to {sizes[-1]} KiB")
    return reports < number or sizes[-1] > max(sizes[:WARM]) * MORE


if __name__ == "__main__":
    sys.exit(main())
