# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Monitoring groups of a made-up tree, whose numbers change in the middle of a run."""

import contextlib
import ctypes
import json
import os

from daemon import Jobs, new_job, serving, wait_for
from live import BUSY_MS, check_status, require, same_time, stop, tell
from test_cgroups import Tree, burner, used

# linux/inotify.h
IN_OPEN = 0x20


class Groups:
    """A folder as resctrl would be mounted; nothing may be made or changed there but by us."""

    def __init__(self, folder):
        self.root = folder

    def say(self, group, value, domain="mon_L3_00"):
        place = self.root / group / "mon_data" / domain
        place.mkdir(parents=True, exist_ok=True)
        # In one piece, as the kernel has it: a file that is written is empty before.
        new = self.root.with_name("new")
        new.write_text(f"{value}\n", encoding="ascii")
        new.rename(place / "mbm_total_bytes")

    def tasks(self, group, *pids):
        (self.root / group / "tasks").write_text("".join(f"{pid}\n" for pid in pids), encoding="ascii")

    def files(self):
        return {
            path.relative_to(self.root): (path.stat().st_mtime_ns, path.is_dir() or path.read_bytes())
            for path in self.root.rglob("*")
        }


def of_group(report, name):
    [found] = [one for one in report["resctrl"] if one["group"] == name]
    return found


def opens_of(path):
    """A descriptor that has something to read when the file was opened."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    require(libc.inotify_add_watch(watch, bytes(path), IN_OPEN) >= 0, os.strerror(ctypes.get_errno()))
    return watch


def test_numbers_beside_rows(bed):
    """Each interval has what the group gained in it; the row's own numbers are what they were."""
    groups = Groups(bed.scratch / "resctrl")
    with Tree() as tree, burner(bed, 300) as process:
        tree.make("a")
        tree.move("a", process.pid)
        groups.say("", 0)
        for name, first in (("web", 10**6), ("mon_groups/b", "Unassigned"), ("mon_groups/stale", 900)):
            groups.say(name, first)
        groups.tasks("web", process.pid)
        groups.tasks("mon_groups/b", process.pid)
        groups.tasks("mon_groups/stale")
        with bed.tracing(
            "-a", "--json", "--by", "cgroup", "-i", 200, "--resctrl", groups.root, "--summary"
        ) as quiet, bed.tracing("-a", "--json", "--by", "cgroup", "-i", 200, "--resctrl", groups.root) as tracer:
            tell(process)
            groups.say("web", 4 * 10**6)
            tracer.wait_reports(2)
            groups.say("web", 9 * 10**6)
            groups.say("mon_groups/b", 5)
            groups.say("mon_groups/stale", 100)
            before = groups.files()
            tracer.wait_reports(2)
            busy = used(process)
            reports = stop(tracer).intervals()
            summary = stop(quiet).summary()
        require(groups.files() == before, "something was made or changed in the tree")
    path = tree.path("a")
    gained = [of_group(r, "web").get("mbm_total_bytes", 0) for r in reports]
    require(sum(gained) == 8 * 10**6, f"{gained} are not 8 MB together")
    require(sorted(g for g in gained if g) in ([3 * 10**6, 5 * 10**6], [8 * 10**6]), f"gained {gained}")
    for report in reports:
        keys = {w["key"]: w["cgroup"]["path"] for w in report["workloads"]}
        for name in ("web", "mon_groups/b"):
            one = of_group(report, name)
            require(one["key"] is None or keys[one["key"]] == path, f"{name} is of {one}")
    require(any(of_group(r, "web")["matched"] == "tasks" for r in reports), "web was never matched")
    states = [of_group(r, "mon_groups/b")["state"] for r in reports]
    require(states[0] == "unassigned" and "new" in states and states[-1] == "counted", f"{states}")
    states = [of_group(r, "mon_groups/stale")["state"] for r in reports]
    require(states[0] == "counted" and "backward" in states, f"{states}")
    require(of_group(reports[0], "mon_groups/stale")["matched"] == "none", "stale is of nobody")
    require(of_group(summary, "web")["mbm_total_bytes"] == 8 * 10**6, f"summary {summary['resctrl']}")
    require(of_group(summary, "mon_groups/stale")["state"] == "backward", "a group that went back is trusted")
    rows = [w["on_cpu_ns"] for r in reports for w in r["workloads"] if w["cgroup"]["path"] == path and w["leaf"]]
    same_time("CPU time of the cgroup", sum(rows), busy, 3 * 10**6)


def test_nothing_without_groups(bed):
    """Where nothing is mounted, for processes and with none, reports say nothing of it."""
    groups = Groups(bed.scratch / "resctrl")
    groups.root.mkdir()
    for extra in (["--resctrl", groups.root], ["--resctrl", "none"]):
        done = bed.trace("-a", "--json", "--by", "cgroup", "-d", 0.2, *extra)
        check_status(done)
        require(all("resctrl" not in r for r in done.reports()), f"{extra}: {done.err}")
    groups.say("", 0)
    groups.say("web", 1)
    watch = opens_of(groups.root / "web/mon_data/mon_L3_00/mbm_total_bytes")
    done = bed.trace("-a", "--json", "-d", 0.2, "--resctrl", groups.root)
    check_status(done)
    require(all("resctrl" not in r for r in done.reports()), done.err)
    with contextlib.suppress(BlockingIOError):
        require(not os.read(watch, 4096), "a group was read for nothing: that interrupts CPUs")
    os.close(watch)


def wait_recorded(bed, tracer, recording):
    """Until two more intervals are in it: the second one began after this."""

    def number():
        return bed.command(bed.program, "report", recording, "--json", "-i", 200).out.count(b"\n")

    enough = number() + 2
    tracer.wait_until("two more intervals", lambda: number() >= enough)


def test_recorded(bed):
    """A recording has what the groups counted: its reports say what a live run's do. One that was told
    not to look reads nothing and has none."""
    groups = Groups(bed.scratch / "resctrl")
    recording, without = bed.scratch / "groups.rec", bed.scratch / "without.rec"
    with Tree() as tree, burner(bed, 300) as process:
        tree.make("a")
        tree.move("a", process.pid)
        groups.say("", 0)
        groups.say("web", 10**6)
        groups.say("lost", 7)
        groups.tasks("web", process.pid)
        with bed.tracing(
            "-a", "-i", 200, "-o", recording, "--resctrl", groups.root, command=["record"]
        ) as tracer:
            tell(process)
            wait_recorded(bed, tracer, recording)
            groups.say("web", 4 * 10**6)
            wait_recorded(bed, tracer, recording)
            stop(tracer)
        path = tree.path("a")
        watch = opens_of(groups.root / "web/mon_data/mon_L3_00/mbm_total_bytes")
        done = bed.command(
            bed.program, "record", "-a", "--no-counters", "-d", "0.2", "-o", without, "--resctrl", "none"
        )
        check_status(done)
        with contextlib.suppress(BlockingIOError):
            require(not os.read(watch, 4096), "a group was read that nobody wanted")
        os.close(watch)
    done = bed.command(bed.program, "report", without, "--json", "--by", "cgroup")
    require(done.reports() and "resctrl" not in done.reports()[-1], f"groups in {done.reports()}")

    def reports_of(*args):
        done = bed.command(bed.program, "report", recording, "--json", *args)
        check_status(done)
        return [json.loads(line) for line in done.out.splitlines()]

    reports = reports_of("--by", "cgroup")
    [summary] = reports_of("--by", "cgroup", "--summary")
    # several intervals of the recording in one of the report
    [longer] = reports_of("--by", "cgroup", "-i", "60s")
    require(of_group(longer, "web")["mbm_total_bytes"] == 3 * 10**6, f"{longer['resctrl']}")
    gained = [of_group(r, "web").get("mbm_total_bytes", 0) for r in reports if "resctrl" in r]
    require(sum(gained) == 3 * 10**6 and max(gained) == 3 * 10**6, f"gained {gained}")
    web, lost = (of_group(summary, name) for name in ("web", "lost"))
    keys = {w["key"]: w["cgroup"]["path"] for w in summary["workloads"]}
    require(web["mbm_total_bytes"] == 3 * 10**6 and keys[web["key"]] == path, f"{web}")
    require(web["intervals"] >= 3 and web["intervals_missing"] == 0, f"{web}")
    require(lost["matched"] == "none" and lost["mbm_total_bytes"] == 0, f"{lost}")
    require(all("resctrl" not in r for r in reports_of("--by", "process")), "there is a group for processes")


def test_check_says_the_sum(bed):
    """check has a row where there are groups, and none where there are not."""
    groups = Groups(bed.scratch / "resctrl")
    groups.say("", 0)
    groups.say("web", 1)
    for where, there in ((groups.root, True), (bed.scratch / "nowhere", False)):
        done = bed.command(bed.program, "check", "--json", "--resctrl", where)
        rows = [row for row in json.loads(done.out)["checks"] if row["name"] == "resctrl"]
        require(len(rows) == there, f"{where}: {rows}")
        if there:
            require("2 monitoring groups" in rows[0]["found"], f"{rows}")


def test_served(bed):
    """The daemon has what a job's group gained, if it was told where; it makes and changes nothing."""
    groups = Groups(bed.scratch / "resctrl")
    groups.say("", 0)
    groups.say("web", 10**6)
    with Jobs() as jobs, bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as process, serving(bed) as daemon:
        job = new_job()
        name = jobs.begin(job)
        jobs.move(f"{name}/step_0", process.pid)
        groups.tasks("web", process.pid)
        daemon.change(resctrl=groups.root)
        daemon.start()
        found = f'{{workload="slurm:{job}",group="web"}}'

        def series(name):
            lines = daemon.get("/metrics").splitlines()
            return [float(line.split()[-1]) for line in lines if line.startswith(f"t410trace_{name}_total{found}")]

        wait_for("the group", lambda: series("workload_resctrl_bytes"))
        require(series("workload_resctrl_bytes") == [0], "nothing was gained yet")
        groups.say("web", 8 * 10**6)
        before = groups.files()
        wait_for("bytes of the group", lambda: series("workload_resctrl_bytes") == [7 * 10**6])
        require(series("workload_resctrl_seconds")[0] > 0, "no time passed")
        groups.say("web", "Unavailable")
        # The last of these began after that
        daemon.wait_intervals(2)
        seconds = series("workload_resctrl_seconds")
        daemon.wait_intervals(2)
        require(series("workload_resctrl_seconds") == seconds, "time goes on without a number")
        groups.say("web", 8 * 10**6)
        require({k: v for k, v in groups.files().items() if v[1] is True}.keys()
                == {k: v for k, v in before.items() if v[1] is True}.keys(), "a group was made")
        process.kill()
        process.wait()
        jobs.end(job)
        account = daemon.report(job)["resctrl"]
        require([g["group"] for g in account] == ["web"], f"account {account}")
        require(account[0]["mbm_total_bytes"] == 7 * 10**6, f"account {account}")
        require(0 < account[0]["intervals_missing"] < account[0]["intervals"], f"account {account}")
        daemon.stop()


TESTS = [test_numbers_beside_rows, test_nothing_without_groups, test_recorded, test_check_says_the_sum, test_served]
