# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""t410trace serve: accounts of jobs that come and go, whatever happens to the daemon and its disks."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

from daemon import Jobs, has_ipv6, new_job, serving, small_disk, validate, wait_for, wait_growing
from held import ended_ns, move_held
from live import Failed, check_status, kernel_ids, precise, require, same_time, tell
from test_end import check_gone
from test_jobs import Folders, freezer

MS = 1_000_000
S = 1_000_000_000
DAY = 86_400 * S
# An interval may be closed this long after the end of a job: a turn of the loop and a busy machine.
SOON_S = 1


def burn(bed, jobs, name, ms):
    """Uses CPU time in a cgroup; returns how much."""
    with bed.process(bed.burn, "-w", "-m", ms) as process:
        elsewhere = move_held(process, jobs.top / name)
        tell(process)
        return ended_ns(process) - elsewhere


def one_job(bed, daemon, jobs, ms=100):
    """A job from its begin to its closing report; returns that."""
    job = new_job()
    name = jobs.begin(job)
    used = burn(bed, jobs, f"{name}/step_0", ms)
    jobs.end(job)
    report = daemon.report(job)
    same_time(f"job {job}", report["on_cpu_ns"], used, 3 * MS)
    return report


def test_closing_report(bed):
    """A job's CPU time is in its closing report, which does not wait for the end of an interval."""
    with Jobs() as jobs, serving(bed, interval="1h") as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        used = burn(bed, jobs, f"{name}/step_0", 200)
        jobs.make(f"{name}/step_1")
        more = burn(bed, jobs, f"{name}/step_1", 100)
        jobs.remove(f"{name}/step_1")
        ended = time.time()
        jobs.end(job)
        report = daemon.report(job)
        # By the report's own clock: how long the disk takes then is not ours to say.
        took = report["end_ns"] / S - ended
        precise(took <= SOON_S, f"the interval was closed after {took:.2f} s")
        require(report["state"] == "ended", f"state {report['state']}")
        require(not report["gaps"] and not report["late_start"], f"gaps in {report}")
        same_time("job", report["on_cpu_ns"], used + more, 3 * MS)
        steps = {step["step"]: step["on_cpu_ns"] for step in report["steps"]}
        require(set(steps) == {"0", "1"}, f"steps {steps}")
        same_time("step 0", steps["0"], used, 3 * MS)
        same_time("step 1", steps["1"], more, 3 * MS)
        wait_for("a sign of life", lambda: "WATCHDOG=1" in daemon.manager.heard)
        daemon.stop()
        heard = daemon.manager.heard
        require("STOPPING=1" in heard, f"systemd hears {heard}")
        require(heard.index("READY=1") < heard.index("STOPPING=1"), f"systemd hears {heard}")


def test_begin_within(bed):
    """A job begins when its cgroup is made, however long ago the books were closed."""
    with Jobs() as jobs, serving(bed, interval="1h") as daemon:
        daemon.start()
        time.sleep(2)
        closed = daemon.any_health()["intervals"]
        job = new_job()
        made = time.time()
        name = jobs.begin(job)
        there = time.time()
        # A daemon that gets no CPU meanwhile would close the books once, for the begin and for the end.
        wait_for("a closing at the begin", lambda: daemon.any_health()["intervals"] > closed)
        used = burn(bed, jobs, f"{name}/step_0", 300)
        time.sleep(0.5)
        jobs.end(job)
        ended = time.time()
        report = daemon.report(job)
        # A cgroup of Slurm's uid comes first, and the daemon converts its own clock
        require(
            made - 0.05 <= report["start_ns"] / S <= there + 0.05,
            f"it began at {report['start_ns'] / S:.3f} s, not from {made:.3f} to {there:.3f} s",
        )
        took = report["duration_ns"] / S
        require(took >= ended - there - 0.05, f"{took:.3f} s, less than {ended - there:.3f} s")
        precise(took <= ended - made + SOON_S, f"{took:.3f} s, more than {ended - made:.3f} s")
        same_time("all of it is covered", report["quality"]["covered_ns"], report["duration_ns"], MS)
        same_time("job", report["on_cpu_ns"], used, 3 * MS)
        # The books were closed for the begin, within the bound of an end.
        unknown = report["quality"].get("others_unknown_ns", 0) / S
        precise(unknown <= SOON_S, f"for {unknown:.3f} s others are not known")
        require(report["quality"]["intervals"] >= 2, "no closing at the begin")
        require(not report["late_start"], "late_start")
        daemon.stop()


def test_pages(bed):
    """Every page is what it says, before and after the first interval."""
    with Jobs() as jobs, serving(bed, interval="2s") as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        burn(bed, jobs, f"{name}/step_0", 50)
        daemon.wait_intervals(1)
        report = json.loads(daemon.get("/report"))
        require(report["schema"] == "t410trace.report/1", report["schema"])
        checked = bed.command(
            pathlib.Path(__file__).resolve().parent.parent / "check-report", "-",
            input=json.dumps(report).encode() + b"\n",
        )
        require(checked.status == 0, checked.out.decode())
        require(str(job) in daemon.running(), f"/jobs has {daemon.running()}")
        require(daemon.get("/metrics", Accept="application/openmetrics-text").endswith("# EOF\n"), "no EOF")
        require("/metrics" in daemon.get("/"), "no index")
        daemon.get("/nothing", 404)
        require("hosts" in daemon.get("/jobs", 421, Host="evil.example"), "no remedy")
        jobs.end(job)
        daemon.report(job)
        daemon.stop()


def test_host(bed):
    """The machine's name is the one that is set, everywhere; in a pod the kernel says the pod's."""
    with Jobs() as jobs, serving(bed, host="node-7") as daemon:
        daemon.start()
        report = one_job(bed, daemon, jobs)
        page = json.loads(daemon.get("/report"))
        metrics = daemon.get("/metrics")
        daemon.stop()
    require(report["host"]["name"] == "node-7", f"closing report of {report['host']}")
    require(page["host"]["name"] == "node-7", f"/report of {page['host']}")
    require('t410trace_host_info{name="node-7",' in metrics, "metrics of another host")
    recording = bed.scratch / "host.rec"
    run = ("-a", "-d", "100ms", "--no-counters", "--host", "node-8", "-o", recording)
    done = bed.command(bed.program, "record", *run)
    check_status(done)
    done = bed.command(bed.program, "report", "--json", recording)
    names = {json.loads(line)["host"]["name"] for line in done.out.splitlines()}
    require(names == {"node-8"}, f"a recording of {names}")


def test_restart(bed):
    """A job goes on over a restart, and its report has the pause."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        seen = time.time()
        before = burn(bed, jobs, f"{name}/step_0", 100)
        daemon.stop()
        stopped = time.time()
        time.sleep(1)
        started = time.time()
        daemon.start()
        ready = time.time()
        after = burn(bed, jobs, f"{name}/step_0", 150)
        jobs.end(job)
        report = daemon.report(job)
        same_time("job", report["on_cpu_ns"], before + after, 5 * MS)
        require(report["state"] == "ended" and not report["late_start"], f"{report['state']}")
        require(len(report["gaps"]) == 1, f"gaps {report['gaps']}")
        gap = report["gap_ns"] / S
        # It begins with what was saved last, which has what the process did before.
        precise(started - stopped <= gap <= ready - seen, f"a gap of {gap:.2f} s of {ready - seen:.2f} s")
        daemon.stop()


def test_killed(bed):
    """SIGKILL costs a job an interval at most, the report says so, and nothing stays in the kernel."""
    with Jobs() as jobs, serving(bed, interval="500ms") as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        before = burn(bed, jobs, f"{name}/step_0", 300)
        daemon.wait_intervals(2)
        programs = kernel_ids(daemon.process.pid)["prog"]
        require(programs, "no BPF program was seen")
        daemon.kill()
        check_gone({"prog": programs})
        daemon.start()
        after = burn(bed, jobs, f"{name}/step_0", 200)
        jobs.end(job)
        report = daemon.report(job)
        require(report["gaps"], "the report has no gap")
        same_time("job", report["on_cpu_ns"], before + after, 5 * MS)
        daemon.stop()


def history_of(bed, daemon, job):
    """The account of a job with its intervals."""
    done = bed.command(bed.program, "job", job, "--json", "--history", "--state", daemon.settings["state"])
    return validate(json.loads(done.out), "job")


def history_and_page(bed, daemon, job):
    """As JSON and as a page, both of one moment: the daemon joins older intervals meanwhile."""
    page = bed.scratch / "job.html"
    for _ in range(5):
        found = history_of(bed, daemon, job)
        bed.command(bed.program, "job", job, "--html", page, "--state", daemon.settings["state"])
        after = history_of(bed, daemon, job)
        if after["history"] == found["history"]:
            return found, page.read_text(encoding="utf-8")
    raise Failed("the intervals of an ended job never stay as they are")


def test_history(bed):
    """Intervals of a job add up to its account, also when the daemon was killed; old ones are joined."""
    with Jobs() as jobs, serving(bed, interval="300ms", history="1s for 2s, 3s for 1h") as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        for _ in range(2):
            burn(bed, jobs, f"{name}/step_0", 300)
            time.sleep(1.5)
        daemon.kill()
        time.sleep(1)
        daemon.start()
        for _ in range(3):
            burn(bed, jobs, f"{name}/step_0", 200)
            time.sleep(1)
        jobs.end(job)
        account = daemon.report(job)
        found, page = history_and_page(bed, daemon, job)
        intervals = found["history"]["intervals"]
        require(found["history"]["complete"], f"not complete: {intervals}")
        sums = {key: sum(i[key] for i in intervals) for key in ("on_cpu_ns", "gap_ns", "covered_ns")}
        require(sums["on_cpu_ns"] == account["on_cpu_ns"], f"{sums} of {account['on_cpu_ns']}")
        require(sums["gap_ns"] == account["gap_ns"] > 0, f"{sums}, gaps {account['gaps']}")
        lengths = [i["duration_ns"] / 1e9 for i in intervals]
        # A fine one is 0.9 to 1.2 s long, two in one at least 1.8 less what a kill cuts off. What is
        # joined begins within 3 s. Whoever gets no CPU closes an interval late, and asks when all are old.
        precise(max(lengths) > 1.5 and min(lengths) < 1.5, f"no long and short ones: {lengths}")
        precise(max(lengths) < 4.5, f"too long: {lengths}")
        idle = [i for i in intervals if i["on_cpu_ns"] < MS]
        # A burst takes longer where other programs have the CPUs
        precise(idle, f"it was busy all the time: {intervals}")
        shown = page.count('<tr><th scope="row">')
        require(shown == len(intervals), f"{shown} intervals on the page, {len(intervals)} as JSON")
        daemon.change(history="none")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again")
        daemon.wait_intervals(3)
        require(not history_of(bed, daemon, job)["history"]["intervals"], "it is still there")
        daemon.stop()


def test_clock(bed):
    """A clock that is far ahead of the accounts empties nothing, until somebody says that it is right."""
    with Jobs() as jobs, serving(bed, keep_days="90d") as daemon:
        daemon.start()
        numbers = [new_job() for _ in range(3)]
        for job in numbers:
            jobs.begin(job)
            jobs.end(job)
            daemon.report(job)
        daemon.health()
        daemon.stop()
        with contextlib.closing(sqlite3.connect(daemon.settings["state"])) as store, store:
            store.execute("UPDATE keeper SET until_ns = until_ns - ?", (100 * DAY,))
            store.execute("UPDATE jobs SET end_ns = end_ns - ?", (100 * DAY,))

        def kept():
            found = bed.command(bed.program, "jobs", "--json", "--state", daemon.settings["state"])
            return {one["job"]["id"] for one in json.loads(found.out)["jobs"]} & set(map(str, numbers))

        for _ in range(2):
            daemon.start()
            daemon.wait_intervals(3)
            health = daemon.health("clock")
            require("100.0 days ahead" in health["clock"]["problem"], f"{health['clock']}")
            require(len(kept()) == 3, f"of {numbers} there is {kept()}")
            daemon.stop()
        daemon.start()
        daemon.health("clock")
        pathlib.Path(f"{daemon.settings['state']}.clock").unlink()
        daemon.wait_log("the clock is believed again")
        daemon.health()
        daemon.process.send_signal(signal.SIGHUP)
        wait_for("old jobs are forgotten", lambda: not kept())
        daemon.stop()


def test_stale(bed):
    """A job that ends while nobody looks gets its report with the first interval, as stale."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        used = burn(bed, jobs, f"{name}/step_0", 100)
        daemon.wait_intervals(2)
        daemon.kill()
        jobs.end(job)
        daemon.start()
        report = daemon.report(job)
        require(report["state"] == "stale", report["state"])
        same_time("job", report["on_cpu_ns"], used, 5 * MS)
        daemon.stop()


def test_name_used_again(bed):
    """The same number in another cgroup is another job."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        used = []
        for ms in (60, 120):
            name = jobs.begin(job)
            used.append(burn(bed, jobs, f"{name}/step_0", ms))
            jobs.end(job)
        wait_for("two reports", lambda: len(daemon.spooled(job)) == 2)
        for report, ns in zip(sorted(daemon.reports(job), key=lambda r: r["on_cpu_ns"]), sorted(used)):
            same_time(f"job {job}", report["on_cpu_ns"], ns, 3 * MS)
        daemon.stop()


def fill(folder):
    """Leaves no room on a disk, or none again; returns the file that takes it."""
    ballast = folder / "ballast"
    with open(ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


def fill_store(daemon, disk, jobs):
    """
    Fills the disk of the store until the store cannot go on; returns the file that takes the room.

    It goes on for a while without more room: its file has some, and its log gives some back.
    Accounts of jobs use that up, and what is given back is taken at once.
    """

    def failing():
        fill(disk)
        if "store" in daemon.troubles():
            return True
        jobs.begin(new_job())
        daemon.wait_intervals(1)
        return False

    wait_for("trouble with the store", failing)
    return fill(disk)


def wait_healthy(daemon):
    wait_for("health", lambda: daemon.any_health()["status"] == "ok")


def test_full_spool(bed):
    """Reports wait while the spool's disk is full; when it is not, they come, and beyond the bound the oldest go."""
    with small_disk(bed, "disk", "1m") as disk, Jobs(alone=True) as jobs:
        with serving(bed, spool=disk / "spool", spool_max_files=2) as daemon:
            daemon.start()
            one_job(bed, daemon, jobs)
            ballast = fill(disk)
            waiting = [new_job() for _ in range(3)]
            for nr, job in enumerate(waiting, 1):
                burn(bed, jobs, f"{jobs.begin(job)}/step_0", 20)
                jobs.end(job)
                # Each in an interval of its own: those of one interval are equally old
                wait_for("it to wait", lambda n=nr: daemon.any_health()["unreported"] >= n)
            wait_for("trouble with the spool", lambda: "spool" in daemon.troubles())
            daemon.health("spool")
            daemon.wait_intervals(3)
            waits = daemon.any_health()["unreported"]
            require(waits >= 3, f"{waits} of three wait")
            # Other jobs of the machine would take the place of ours.
            precise(waits == 3 and len(list(daemon.spool.glob("[!.]*"))) == 1, f"{waits} wait instead of three")
            require(len(daemon.reports()) == 1, "more reports than room")
            # A restart forgets nothing of this.
            daemon.kill()
            daemon.start()
            require(daemon.any_health()["unreported"] >= 3, "none waits after a restart")
            # Now there is room on the disk, and nobody picks reports up: as many as allowed, the last ones.
            ballast.unlink()
            wait_for("the rest", lambda: daemon.any_health()["unreported"] == 0)
            wait_healthy(daemon)
            health = daemon.any_health()
            require(len(daemon.reports()) == 2, "not as many as allowed")
            require(health["reports_removed"] >= 2 and not health["reports_unwritten"], f"{health}")
            ids = {r["job"]["id"] for r in daemon.reports()}
            # Two may be of the same tick of the clock, but the last one makes nobody wait.
            last = str(waiting[-1])
            precise(last in ids and ids <= set(map(str, waiting)), f"{ids} are not the last ones")
            require(daemon.log().count("made room for others") == 1, "it is not said once")
            require(daemon.log().count("closing reports cannot be written") <= 3, "a flood of warnings")
            daemon.stop()


def test_user_jobs(bed):
    """What looks like containers in a user's part of the tree are jobs only where that was asked for."""
    uid = 60000 + os.getpid() % 5000
    part = f"user.slice/user-{uid}.slice/user@{uid}.service"
    with Folders(freezer()) as folders:
        for believed, nr in ("no", 0), ("flux", 0), (f"flux,{uid}", 5), ("yes", 5):
            with serving(bed, schedulers="slurm,docker", user_jobs=believed, cgroup_v1="freezer") as daemon:
                daemon.start()
                folders.make(part)
                made = [folders.make(f"{part}/app.slice/docker-{i:064x}.scope") for i in range(5)]
                daemon.wait_intervals(2)
                for folder in made:
                    folders.drop(folder)
                if nr:
                    wait_for("reports", lambda d=daemon: len(list(d.spool.glob("docker-*"))) == nr)
                daemon.wait_intervals(2)
                names = sorted(path.name for path in daemon.spool.glob("docker-*"))
                require(len(names) == nr, f"user-jobs = {believed}: {names}")
                require(all(name.endswith(f"-u{uid}.json") for name in names), f"{names}")
                for path in daemon.spool.glob("docker-*"):
                    path.unlink()
                daemon.stop()


def test_full_store(bed):
    """Accounts wait while their disk is full; nothing is lost."""
    with small_disk(bed, "disk", "2m") as disk, Jobs(alone=True) as jobs:
        with serving(bed, interval="300ms", state=disk / "accounts.db") as daemon:
            daemon.start()
            one_job(bed, daemon, jobs)
            # Before the job begins: there may still be room for its account.
            ballast = fill_store(daemon, disk, jobs)
            warnings = daemon.log().count("accounts cannot be written")
            job = new_job()
            used = burn(bed, jobs, f"{jobs.begin(job)}/step_0", 100)
            jobs.end(job)
            daemon.health("store")
            daemon.wait_intervals(3)
            require(not daemon.reports(job), "a report of a job that is not in the store")
            ballast.unlink()
            same_time("job", daemon.report(job)["on_cpu_ns"], used, 3 * MS)
            wait_healthy(daemon)
            again = daemon.log().count("accounts cannot be written") - warnings
            require(warnings and not again, f"{warnings} warnings, and {again} more")
            daemon.stop()


def test_files_removed(bed):
    """Accounts that are taken away under the daemon are there again, and reports go to a new folder."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        first = one_job(bed, daemon, jobs)["job"]["id"]
        state = pathlib.Path(daemon.settings["state"])
        state.parent.rename(daemon.folder / "away")
        daemon.wait_log("all accounts were written to a new")
        wait_healthy(daemon)
        require(daemon.any_health()["store"]["errors"] == 1, "it is not counted")
        shutil.rmtree(daemon.spool)
        second = one_job(bed, daemon, jobs)["job"]["id"]
        daemon.stop()
        with contextlib.closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as accounts:
            kept = {row[0] for row in accounts.execute("SELECT id FROM jobs WHERE reported = 1")}
        require({first, second} <= kept, f"{first} and {second} are not among {kept}")
        daemon.start()
        daemon.stop()


def test_stop_with_full_store(bed):
    """What a full disk did not take is lost with the end of the daemon, which says so."""
    with small_disk(bed, "disk", "2m") as disk, Jobs(alone=True) as jobs:
        with serving(bed, interval="300ms", state=disk / "accounts.db") as daemon:
            daemon.start()
            going_on = new_job()
            jobs.begin(going_on)
            daemon.wait_intervals(2)
            fill_store(daemon, disk, jobs)
            job = new_job()
            name = jobs.begin(job)
            daemon.wait_intervals(1)
            require(str(job) in daemon.running(), "a job that cannot be saved is not listed")
            burn(bed, jobs, f"{name}/step_0", 20)
            jobs.end(job)
            daemon.wait_intervals(1)
            require(str(job) not in daemon.running(), "a job that is over is listed as running")
            require(str(going_on) in daemon.running(), "a job that goes on is not listed")
            daemon.stop(3)
            jobs.end(going_on)
            require("over and could not be saved" in daemon.log(), f"it says: {daemon.log()[-400:]}")


ROWS = """{ "schema": "t410trace.platform/1", "platform": "mine", "title": "mine", "pmus": [
  { "pmu": "mc_<n>", "name": "mc", "title": "mc", "socket": "cpus", "from": "nowhere", "rows": [
    { "event": "reads", "direction": "read", "source": "any", "from": "x" } ] } ] }"""


def test_reload(bed):
    """SIGHUP takes what it can, says what needs a restart, and keeps everything when it is wrong."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        before = burn(bed, jobs, f"{name}/step_0", 80)
        old_port = daemon.port
        daemon.change(interval="500ms", top=3, spool=daemon.folder / "other")
        rows = daemon.folder / "rows.json"
        rows.write_text(ROWS, encoding="utf-8")
        daemon.change(listen="[::1]:0" if has_ipv6() else "127.0.0.2:0", window="20ms", platform=rows)
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again")
        require("only a restart makes it so: window, platform" in daemon.log(), "they need no restart?")
        rows.rename(rows.with_name("others.json"))
        with contextlib.suppress(ConnectionError, socket.timeout):
            socket.create_connection(("127.0.0.1", old_port), 1).close()
            require(False, "the old address is still there")
        others = rows.with_name("others.json")
        daemon.change(listen="127.0.0.1:0", hosts="t410.example", platform=others)
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again", 2)
        daemon.wait_ready()
        daemon.get("/jobs", Host="t410.example:80")
        daemon.change(hosts="")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again", 3)
        daemon.get("/jobs", 421, Host="t410.example:80")
        require(daemon.health()["interval_ns"] == 500 * MS, "the interval is as before")
        # The second would also move the address.
        for number, wrong in enumerate(("interval = soon\n", "spool = /proc/none\n"), 1):
            daemon.write(wrong)
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_log("the settings stay as they were", number)
        require(daemon.health()["interval_ns"] == 500 * MS, "a wrong file changed something")
        after = burn(bed, jobs, f"{name}/step_0", 80)
        jobs.end(job)
        report = daemon.report(job)
        require(daemon.spool.name == "other" and not report["gaps"], f"gaps {report['gaps']}")
        same_time("job", report["on_cpu_ns"], before + after, 3 * MS)
        daemon.stop()
        require(daemon.manager.heard.count("RELOADING=1") == 5, "systemd was not told")


def test_no_spool(bed):
    """spool = none: no reports, and accounts as ever; a spool may come later."""
    with Jobs() as jobs, serving(bed, spool="none") as daemon:
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        burn(bed, jobs, f"{name}/step_0", 50)
        jobs.end(job)
        wait_for("the account", lambda: str(job).encode() in bed.command(
            bed.program, "jobs", "--ended", "--state", daemon.settings["state"], "--json").out)
        wait_for("its turn", lambda: daemon.any_health()["unreported"] == 0)
        daemon.wait_intervals(1)
        health = daemon.health()
        require(health["reported"] == 0 and health["unreported"] == 0, f"reports: {health}")
        daemon.change(spool=daemon.folder / "spool")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again")
        one_job(bed, daemon, jobs)
        require(not daemon.spooled(job), "a report of before the spool")
        daemon.change(spool="none")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("settings read again", 2)
        daemon.stop()


def test_read_only(bed):
    """On a read-only file system the remedy names what a unit has to say."""
    with small_disk(bed, "still", "10m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for setting in ({"state": disk / "accounts.db"}, {"spool": disk / "spool"}, {"listen": disk / "socket"}):
            with serving(bed, **setting) as daemon:
                daemon.log_path.write_text("")
                daemon.start(wait=False)
                daemon.ended(1)
                require("ReadWritePaths=" in daemon.log(), f"{setting}: {daemon.log()}")
                checked = bed.command(bed.program, "serve", "--check-config", "--config", daemon.folder / "serve.conf")
                require(checked.status == 2 and "ReadWritePaths=" in checked.err, f"{setting}: {checked.err}")


def test_check_config(bed):
    """--check-config looks at paths, addresses and programs, and tells all that is wrong."""
    with serving(bed) as daemon:
        daemon.start()
        check = (bed.program, "serve", "--check-config", "--config", daemon.folder / "serve.conf")
        # its own address is in use, which is fine
        daemon.change(listen=f"127.0.0.1:{daemon.port}")
        done = bed.command(*check)
        require(done.status == 0, f"right settings: {done.err}")
        daemon.change(state=daemon.folder / "none" / "accounts.db", spool=daemon.folder / "no" / "spool",
                      devices="all", pci_map=daemon.folder / "map", listen="192.0.2.1:9410", source="no-such-program --now")
        done = bed.command(*check)
        require(done.status == 2, f"wrong settings: {done.status}")
        for word in ("state: ", "spool: ", "pci-map: ", "192.0.2.1:9410", "no-such-program"):
            require(word in done.err, f"nothing about {word}: {done.err}")
        daemon.stop()


def test_second(bed):
    """A second daemon on the same accounts is told so, and does not disturb the first."""
    with Jobs() as jobs, serving(bed) as daemon, serving(bed) as second:
        daemon.start()
        before = len(second.log())
        second.start(wait=False)
        second.ended(1)
        said_then = second.log()[before:]
        require("another t410trace" in said_then, f"it says: {said_then}")
        one_job(bed, daemon, jobs)
        daemon.stop()


def test_hostile(bed):
    """Clients that hang, flood or speak nonsense keep nobody from working."""
    with Jobs() as jobs, serving(bed) as daemon, contextlib.ExitStack() as open_ones:
        daemon.start()
        address = ("127.0.0.1", daemon.port)
        for i in range(200):
            client = open_ones.enter_context(socket.socket())
            client.settimeout(1)
            with contextlib.suppress(OSError):
                client.connect(address)
                client.sendall(
                    (b"GET /metr", b"\x16\x03\x01" + os.urandom(300), b"GET " + b"/" * 5000,
                     b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n",
                     b"GET /jobs HTTP/1.1\r\nHost: x\r\n\r\n")[i % 5]
                )
        before = daemon.process.pid
        one_job(bed, daemon, jobs)
        wait_for("an answer", lambda: answers(daemon))
        require(daemon.process.poll() is None and daemon.process.pid == before, "it is gone")
        daemon.stop()


def answers(daemon):
    with contextlib.suppress(OSError, ValueError):
        return daemon.any_health()["status"] == "ok"
    return False


def test_capabilities(bed):
    """Root gives up all but what is needed, for good."""
    with Jobs() as jobs, serving(bed) as daemon:
        daemon.start()
        have = daemon.capabilities()
        # perfmon, bpf, sys_ptrace, dac_read_search
        allowed = 1 << 38 | 1 << 39 | 1 << 19 | 1 << 2
        for name in ("Prm", "Eff", "Bnd"):
            require(not have[name] & ~allowed, f"Cap{name} is {have[name]:x}")
        require(have["Eff"] & (1 << 39) and not have["Inh"] and not have["Amb"], f"{have}")
        one_job(bed, daemon, jobs)
        daemon.stop()


def test_other_user(bed):
    """A user with two capabilities is enough."""
    wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
               "--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon",
               "--bounding-set=-all,+bpf,+perfmon"]
    with Jobs() as jobs, serving(bed, wrapper=wrapper) as daemon:
        bed.scratch.chmod(0o755)
        for path in (daemon.folder, daemon.folder / "state"):
            os.chown(path, 65534, 65534)
        # the program and its folders may be where only root gets
        copy = pathlib.Path("/tmp") / f"t410trace-{os.getpid()}"
        copy.write_bytes(pathlib.Path(bed.program).read_bytes())
        copy.chmod(0o755)
        program, bed.program = bed.program, str(copy)
        try:
            daemon.start()
            one_job(bed, daemon, jobs)
            daemon.stop()
        finally:
            bed.program = program
            copy.unlink()


def test_wrong_settings(bed):
    """Wrong settings end it with status 2, a place that is not there with 1."""
    with serving(bed) as daemon:
        daemon.change(top="many")
        daemon.start(wait=False)
        daemon.ended(2)
        daemon.change(top="5", state="/proc/none/accounts.db")
        daemon.start(wait=False)
        daemon.ended(1)
        require("/proc/none" in daemon.log(), daemon.log())


def test_thousand(bed):
    """1,000 jobs at the same time: closing an interval stays cheap."""
    number, costs = 1000, []
    with Jobs(alone=True) as jobs, serving(bed, interval="1s") as daemon:
        daemon.start()
        numbers = [new_job() for _ in range(number)]
        names = [jobs.begin(job) for job in numbers]
        with contextlib.ExitStack() as stack:
            processes = [
                stack.enter_context(
                    bed.process("sh", "-c", "while sleep 0.5; do :; done", stdout=subprocess.DEVNULL)
                )
                for _ in range(100)
            ]
            for process, name in zip(processes, names):
                jobs.move(f"{name}/step_0", process.pid)
            for _ in range(5):
                daemon.wait_intervals(1)
                # CPU time: others may be using the machine, and its disk.
                costs.append(daemon.health()["cost_cpu_ns"])
            wait_for("all jobs to be listed", lambda: set(map(str, numbers)) <= set(daemon.running()))
            for process in processes:
                process.kill()
        cost = sorted(costs)[len(costs) // 2]
        precise(cost <= 20 * MS, f"closing took {[round(c / MS, 1) for c in costs]} ms")
        for job in numbers:
            jobs.end(job)
        wait_growing("closing reports", lambda: len(daemon.spooled()), number)
        require({report["job"]["id"] for report in daemon.reports()} == set(map(str, numbers)), "wrong jobs")
        wait_for("no job to be left", lambda: not set(map(str, numbers)) & set(daemon.running()))
        daemon.stop()


def settled_kib(daemon):
    """Memory when nothing happens: cgroups that were closed are forgotten after 16 intervals, and what
    is free in the middle of the heap goes back every ten seconds."""
    sizes, end = [], time.monotonic() + 15
    while time.monotonic() < end:
        sizes.append(daemon.memory_kib())
        time.sleep(0.5)
    return min(sizes)


def test_churn(bed):
    """Thousands of short jobs: each has its report, and memory stays flat.

    What is kept on purpose (pages of the store, cgroups that were closed) is full after some 10,000.
    """
    batches, each = (8, 4), 1500
    with small_disk(bed, "disk", "400m") as disk, Jobs(alone=True) as jobs:
        with serving(bed, interval="200ms", spool=disk / "spool", state=disk / "accounts.db") as daemon:
            daemon.start()
            sizes, done = [], 0

            def reported():
                # Without a CPU for long it does not hear of those that have gone again.
                lost = daemon.any_health()["lost"]
                precise(not lost["cgroups"] and not lost["jobs"], f"lost {lost}")
                return len(daemon.spooled())

            for number in batches:
                for _ in range(number):
                    for _ in range(each):
                        job = new_job()
                        jobs.begin(job)
                        jobs.end(job)
                    done += each
                    wait_growing("closing reports", reported, done)
                sizes.append(settled_kib(daemon))
            # Something lost at each job would make it half as much again
            precise(sizes[1] < sizes[0] * 1.25, f"memory grows: {sizes} KiB")
            daemon.stop()


TESTS = [
    test_closing_report,
    test_begin_within,
    test_host,
    test_pages,
    test_restart,
    test_killed,
    test_history,
    test_clock,
    test_stale,
    test_name_used_again,
    test_full_spool,
    test_user_jobs,
    test_full_store,
    test_files_removed,
    test_stop_with_full_store,
    test_reload,
    test_no_spool,
    test_read_only,
    test_check_config,
    test_second,
    test_hostile,
    test_capabilities,
    test_other_user,
    test_wrong_settings,
    test_thousand,
    test_churn,
]
