# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands of docs/OPERATION.md, with other paths: upgrade, rollback, backup, and the CPUs it runs on."""

import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess
import time

from daemon import Jobs, new_job, serving
from live import precise, require
from test_serve import MS, burn

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Jobs of the older file
OLD_JOBS = 5


def commands(title):
    """Lines of shell in a section of the page."""
    text = (ROOT / "docs/OPERATION.md").read_text(encoding="utf-8")
    section = text[text.index(f"## {title}"):].split("\n## ")[0]
    return re.findall(r"^    (.+)$", section, re.M)


def version_of(file):
    with contextlib.closing(sqlite3.connect(file)) as store:
        return store.execute("PRAGMA user_version").fetchone()[0]


def test_upgrade_and_rollback(bed):
    """An older file is converted, its copy is beside, and the commands of the page bring it back."""
    with serving(bed) as daemon:
        state = pathlib.Path(daemon.settings["state"])
        with contextlib.closing(sqlite3.connect(state)) as store:
            store.executescript((ROOT / "tests/fixtures/accounts-7.sql").read_text(encoding="utf-8"))
        daemon.start()
        daemon.stop()
        newest = version_of(state)
        require(newest > 7 and version_of(f"{state}.v7") == 7, f"versions {newest}, {version_of(f'{state}.v7')}")
        # once is enough: a second start converts nothing
        written = os.stat(f"{state}.v7").st_mtime_ns
        daemon.start()
        daemon.stop()
        require(os.stat(f"{state}.v7").st_mtime_ns == written, "the copy was written again")
        for line in commands("Rollback"):
            if line.startswith(("mv ", "rm ")):
                line = line.replace("/var/lib/t410trace/accounts.db", str(state)).replace(".v8", ".v7")
                subprocess.run(line, shell=True, check=True)
        require(version_of(state) == 7 and version_of(f"{state}.newer") == newest, "not rolled back")
        with contextlib.closing(sqlite3.connect(state)) as store:
            require(store.execute("SELECT count(*) FROM jobs").fetchone()[0] == OLD_JOBS, "jobs are missing")


def test_no_room_to_convert(bed):
    """Where there is no room for the copy, nothing changes."""
    with serving(bed) as daemon:
        state = pathlib.Path(daemon.settings["state"])
        with contextlib.closing(sqlite3.connect(state)) as store:
            store.executescript((ROOT / "tests/fixtures/accounts-7.sql").read_text(encoding="utf-8"))
        pathlib.Path(f"{state}.v7").mkdir()
        daemon.start(wait=False)
        daemon.ended(1)
        require("accounts of before" in daemon.log(), daemon.log())
        require(version_of(state) == 7, "it was converted")


def test_backup(bed):
    """The copy of a running daemon's file is whole, and t410trace reads it."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        burn(bed, jobs, f"{name}/step_0", 50)
        jobs.end(job)
        daemon.report(job)
        copy = daemon.folder / "backup.db"
        (line,) = (one for one in commands("Backup and removal") if "VACUUM INTO" in one)
        sql = re.search(r'"(.*)"', line)[1].replace("/backup/accounts.db", str(copy))
        with contextlib.closing(sqlite3.connect(daemon.settings["state"])) as store:
            store.execute(sql)
        done = bed.command(bed.program, "jobs", "--state", copy, "--json")
        require(done.status == 0 and str(job) in done.out.decode(), f"the copy: {done.err}")
        daemon.stop()


def test_restart(bed):
    """A restart costs a running job the pause, which its report has."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        burn(bed, jobs, f"{name}/step_0", 50)
        began = time.monotonic()
        daemon.stop()
        daemon.start()
        pause = time.monotonic() - began
        burn(bed, jobs, f"{name}/step_0", 50)
        jobs.end(job)
        (gap,) = daemon.report(job)["gaps"]
        lost = gap["duration_ns"] / 1e9
        print(f"# operation/restart: {pause * 1e3:.0f} ms from stop to ready, {lost * 1e3:.0f} ms in gaps")
        require(0 < lost <= pause + 0.05, f"gap of {lost} s in a pause of {pause} s")
        daemon.stop()


def test_cpus(bed):
    """One thread, and only on the CPUs that it was given."""
    cpu = max(os.sched_getaffinity(0))
    with serving(bed, wrapper=["taskset", "-c", str(cpu)]) as daemon:
        daemon.start()
        tasks = list(pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir())
        require(len(tasks) == 1, f"{len(tasks)} threads")

        def state():
            fields = (tasks[0] / "stat").read_text().rpartition(")")[2].split()
            status = (tasks[0] / "status").read_text()
            switches = sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", status))
            return int(fields[36]), switches, (int(fields[11]) + int(fields[12])) * 10 * MS

        seen = set()
        _, first, cpu_ns = state()
        began = time.monotonic()
        while time.monotonic() - began < 3:
            seen.add(state()[0])
            time.sleep(0.05)
        _, last, used_ns = state()
        print(f"# operation/cpus: {(last - first) / 3:.0f} wakeups and {(used_ns - cpu_ns) / 3 / MS:.1f} ms a second")
        require(seen == {cpu}, f"it ran on CPUs {seen}, not on {cpu} alone")
        precise((last - first) / 3 < 1000, f"{last - first} context switches in 3 s")
        daemon.stop()


TESTS = [test_upgrade_and_rollback, test_no_room_to_convert, test_backup, test_restart, test_cpus]
