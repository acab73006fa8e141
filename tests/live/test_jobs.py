# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs: cgroups as schedulers make them, in the v2 tree and in v1 hierarchies, with burners in them."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from live import MS, Imprecise, Skip, finish, on_cpu, require, said, stop, tell
from test_io import generator, loop_device, of_device, Net, transfer, who
from test_cgroups import Tree, about, burner, mount_point, paths_of, time_at, used

SLURM_V2 = "system.slice/slurmstepd.scope"
SLURM_V1 = "slurm/uid_0"


def freezer():
    """Where the freezer is mounted as v1."""
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="ascii").splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup" and "freezer" in options.split(","):
            return pathlib.Path(where)
    raise Skip("no freezer of cgroup v1 is mounted")


class Folders:
    """Cgroups below a mount point; those that were not there before are removed at the end."""

    def __init__(self, mount):
        self.mount = mount
        self.made = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for folder in sorted(self.made, reverse=True):
            self.drop(folder)

    def make(self, path):
        folder = self.mount
        for part in path.split("/"):
            folder /= part
            if folder.exists():
                continue
            try:
                folder.mkdir()
            except OSError as error:
                raise Skip(f"no cgroup can be made: {error.strerror}") from error
            self.made.append(folder)
        return folder

    def drop(self, folder):
        """The last process may need a moment to be gone."""
        for _ in range(200):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
                break
            time.sleep(0.01)
        self.made.remove(folder)

    def remove(self, path):
        for folder in sorted(self.made, reverse=True):
            if folder.is_relative_to(self.mount / path):
                self.drop(folder)


def run_in(bed, folder, ms, **variables):
    """A burner that a scheduler starts in its cgroup; returns its CPU time."""
    done = subprocess.run(
        [bed.burn, "-m", str(ms)],
        preexec_fn=lambda: (folder / "cgroup.procs").write_text(str(os.getpid())),
        env=variables,
        stdout=subprocess.PIPE,
        check=True,
    )
    ((_, _, _, ns),) = said(done.stdout, "process")
    return int(ns)


def of_slurm(number, name="fluid"):
    return {"SLURM_JOB_ID": str(number), "SLURM_JOB_NAME": name, "SLURM_JOB_USER": "alice"}


@contextlib.contextmanager
def recording(bed):
    """Records what the body does; yields a function that gives the events, when it has ended."""
    path = bed.scratch / "events"
    command = ["record", "--format", "ndjson", "-o", path]
    with bed.tracing("-a", command=command) as tracer:

        def events(kind):
            if tracer.process.poll() is None:
                stop(tracer)
            lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            return [line for line in lines if line["type"] == kind]

        yield events


def news(events, cgroup):
    """What was told of the job of a cgroup, one after the other."""
    ids = [e["id"] for e in events("cgroup") if e.get("path") == cgroup]
    return [
        {key: value for key, value in e.items() if key not in ("type", "cgroup_id")}
        for id_ in dict.fromkeys(ids)
        for e in events("job")
        if e["cgroup_id"] == id_
    ]


def test_v1_cgroup(bed):
    """A task in a cgroup of the freezer has that one, others have that of the v2 tree."""
    name = f"t410test-{os.getpid()}"
    with Folders(freezer()) as folders, Tree() as tree:
        folder = folders.make(f"{name}/deep")
        tree.make("b")
        with burner(bed, 100) as inside, burner(bed, 60) as outside:
            tree.move("b", outside.pid)
            # In both: that of the freezer says more.
            tree.move("b", inside.pid)
            (folder / "cgroup.procs").write_text(str(inside.pid))
            with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100) as tracer:
                tell(inside)
                tell(outside)
                spent, spent_outside = used(inside), used(outside)
                reports = stop(tracer).intervals()
        about("the freezer's", time_at(reports, f"freezer:/{name}/deep"), spent)
        about("its parent", time_at(reports, f"freezer:/{name}"), spent)
        about("of the v2 tree", time_at(reports, tree.path("b")), spent_outside)


def test_v1_chosen(bed):
    """None, another one, and one that is selected."""
    name = f"t410test-{os.getpid()}"
    with Folders(freezer()) as folders:
        folder = folders.make(name)
        for args in (["--cgroup-v1", "none"], ["--cgroup-v1", "freezer", "-G", f"freezer:/{name}/"]):
            everything = [] if "-G" in args else ["-a"]
            with burner(bed, 60) as inside:
                (folder / "cgroup.procs").write_text(str(inside.pid))
                with bed.tracing(*everything, *args, "--json", "--by", "cgroup") as tracer:
                    tell(inside)
                    spent = used(inside)
                    summary = stop(tracer).summary()
            paths = paths_of([summary])
            if everything:
                require(not any(":" in path for path in paths), f"rows of v1 cgroups: {paths}")
            else:
                require(paths == {f"freezer:/{name}"}, f"rows of {paths}")
                about("the selected one", time_at([summary], f"freezer:/{name}"), spent)
    for wrong, word in (("floppy", "must be none, auto"), ("misc", "not mounted as v1")):
        done = bed.trace("-a", "-d", 0.1, "--cgroup-v1", wrong)
        require(done.status in (1, 2) and word in done.err, f"--cgroup-v1 {wrong}: {done.err[:200]}")
    done = bed.trace("-d", 0.1, "-G", "cpuset:/x")
    require("--cgroup-v1 cpuset" in done.err, f"-G cpuset:/x: {done.err[:200]}")


def test_v1_moved(bed):
    """From the freezer's cgroup to its root: from then on the v2 cgroup has the time."""
    name = f"t410test-{os.getpid()}"
    with Folders(freezer()) as folders, Tree() as tree, burner(bed, 400) as moving:
        folder = folders.make(name)
        tree.make("b")
        tree.move("b", moving.pid)
        (folder / "cgroup.procs").write_text(str(moving.pid))
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100) as tracer:
            tell(moving)
            time.sleep(0.15)
            (folders.mount / "cgroup.procs").write_text(str(moving.pid))
            total = used(moving)
            reports = stop(tracer).intervals()
        first, second = time_at(reports, f"freezer:/{name}"), time_at(reports, tree.path("b"))
    about("both together", first + second, total)
    require(min(first, second) > 20 * MS, f"{first} ns in the first and {second} ns in the second")


def threads_of(pid, count):
    """The threads of a process, once they are there; the leader first."""
    for _ in range(500):
        found = sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))
        if len(found) == count:
            return found
        time.sleep(0.001)
    raise Imprecise("the threads did not come in time")


def test_threaded(bed):
    """Threads of one process in cgroups of their own: each has the time of its threads."""
    with Tree() as tree:
        for name in ("a", "b"):
            tree.make(name)
            (tree.top / name / "cgroup.type").write_text("threaded")
        for by in ("cgroup", "thread"):
            with bed.process(bed.burn, "-w", "-t", 2, "-m", 300) as process:
                (tree.top / "cgroup.procs").write_text(str(process.pid))
                with bed.tracing("-a", "--json", "--by", by, "-i", 100) as tracer:
                    tell(process)
                    tids = threads_of(process.pid, 2)
                    for tid, name in zip(tids, ("a", "b")):
                        (tree.top / name / "cgroup.threads").write_text(str(tid))
                    out, _ = process.communicate(timeout=60)
                    reports = stop(tracer).intervals()
            own = {int(tid): int(ns) for _, tid, ns in said(out, "thread")}
            for tid, name in zip(tids, ("a", "b")):
                if by == "thread":
                    about(f"thread in {name}", on_cpu(reports, tid=tid), own[tid])
                    continue
                # Until it was moved it was in the cgroup above.
                got = time_at(reports, tree.path(name))
                if not 0.8 * own[tid] <= got <= 1.01 * own[tid] + 3 * MS:
                    raise Imprecise(f"{name}: {got} ns, its thread has {own[tid]} ns")
            if by == "cgroup":
                about("all of it", time_at(reports, tree.path()), sum(own.values()))


def test_job_is_asked(bed):
    """What the path does not say is told by the tasks: also of a job of 30 ms, and of one that waits."""
    top = f"/{SLURM_V2}"
    with Folders(mount_point()) as folders:
        early = folders.make(f"{SLURM_V2}/job_76/step_0")
        with bed.process(bed.burn, "-w", "-m", 10, env=of_slurm(76)) as waiting:
            (early / "cgroup.procs").write_text(str(waiting.pid))
            with recording(bed) as events:
                step = folders.make(f"{SLURM_V2}/s4WEM9Y8PT4800/step_0")
                run_in(bed, step, 30, **of_slurm(77))
                folders.remove(f"{SLURM_V2}/s4WEM9Y8PT4800")
                late = folders.make(f"{SLURM_V2}/job_78/step_batch")
                time.sleep(0.2)
                run_in(bed, late, 300, **of_slurm(78, "late"))
                folders.make(f"{SLURM_V2}/job_79/step_0")
                named = {n: news(events, f"{top}/{n}") for n in ("s4WEM9Y8PT4800", "job_76", "job_78", "job_79")}
    fluid = {"name": "fluid", "user": "alice"}
    require(named["job_76"] == [fluid], f"of a job that was there: {named['job_76']}")
    require(named["s4WEM9Y8PT4800"] == [fluid | {"id": "77"}], f"SLUID: {named['s4WEM9Y8PT4800']}")
    require(named["job_78"] == [fluid | {"name": "late"}], f"late: {named['job_78']}")
    require(named["job_79"] == [], f"of an empty job: {named['job_79']}")


def test_v1_job_is_asked(bed):
    with Folders(freezer()) as folders, recording(bed) as events:
        step = folders.make(f"{SLURM_V1}/job_78/step_batch")
        run_in(bed, step, 60, **of_slurm(78))
        told = news(events, f"freezer:/{SLURM_V1}/job_78")
    require(told == [{"name": "fluid", "user": "alice"}], f"told: {told}")


class FreezerTree:
    """A cgroup of the freezer in the place of a test_cgroups.Tree."""

    def __init__(self, folder):
        self.folder = folder

    def move(self, _, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))


def test_v1_requests(bed):
    """Disk and network: what a task of a v1 cgroup moves is that cgroup's, also when packets come in."""
    with contextlib.ExitStack() as stack:
        folders = stack.enter_context(Folders(freezer()))
        folder = folders.make(f"t410test-{os.getpid()}")
        group = (1 << 48) + folder.stat().st_ino
        path, disk = stack.enter_context(loop_device(bed, 16))
        iowho = stack.enter_context(who(bed, "-1", "freezer"))
        iowho.say(f"disk {disk} 7")
        inside = FreezerTree(folder)
        reader = stack.enter_context(generator(bed, "read", path, 1000, tree=inside, group=""))
        outside = stack.enter_context(generator(bed, "read", path, 500))
        for process in (reader, outside):
            tell(process)
            finish(process)
        rows = of_device(iowho.show(), 7)
        iowho.exact("read in the cgroup", rows.get((reader.ident, group), (0, 0))[1], 1000 * 4096)
        v2 = sum(row[1] for (pid, id_), row in rows.items() if pid == outside.ident and id_ < 1 << 48)
        iowho.exact("read outside", v2, 500 * 4096)
        net = stack.enter_context(Net())
        iowho.say(f"interface {net.name} 9")
        _, _, got = transfer(bed, net, inside, "udp", True, 2000, 1000)
        require(got == 2000 * 1000, f"{got} bytes arrived there")
        _, _, got = transfer(bed, net, inside, "udp", False, 2000, 500)
        require(got == 2000 * 500, f"{got} bytes arrived here")
        rows = of_device(iowho.show(), 9)
        whole = [sum(row[i] for (_, id_), row in rows.items() if id_ == group) for i in range(2)]
        everybody = sum(row[1] for row in rows.values())
    # Packets that are older than the first send or receive that ended have the socket's v2 cgroup.
    require(2000 * 1042 >= whole[0] >= 1900 * 1042, f"sent by the cgroup: {whole[0]}")
    require(2000 * 542 >= whole[1] >= 1000 * 542, f"received by the cgroup: {whole[1]}")
    require(2000 * 542 <= everybody <= 2000 * 542 + 5000, f"received by all: {everybody}")


def job_rows(report, **wanted):
    """Rows of jobs, or of their steps, that have these values."""
    return [
        row
        for row in report["workloads"]
        if "job" in row and all(row["job"][key] == value for key, value in wanted.items())
    ]


def one_job(report, **wanted):
    rows = job_rows(report, **wanted)
    require(len(rows) == 1, f"{len(rows)} rows of {wanted}: {[row['key'] for row in rows]}")
    return rows[0]


def all_jobs(report):
    return {(row["job"]["id"], row["job"]["step"]) for row in job_rows(report)}


def test_by_job(bed):
    """Jobs and their steps in both trees, one of 30 ms: each has its time, and the names."""
    with Folders(mount_point()) as folders, Folders(freezer()) as v1:
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            steps = [folders.make(f"{SLURM_V2}/job_77/step_{n}/user/task_0") for n in (0, 1)]
            spent = [run_in(bed, step, ms, **of_slurm(77)) for step, ms in zip(steps, (60, 90))]
            folders.remove(f"{SLURM_V2}/job_77")
            short = folders.make(f"{SLURM_V2}/s4WEM9Y8PT4800/step_0")
            short_ns = run_in(bed, short, 30, **of_slurm(79, "short"))
            folders.remove(f"{SLURM_V2}/s4WEM9Y8PT4800")
            old = v1.make(f"{SLURM_V1}/job_78/step_batch")
            old_ns = run_in(bed, old, 60, **of_slurm(78, "old"))
            v1.remove(SLURM_V1)
            summary = stop(tracer).summary()
    job = one_job(summary, id="77", step=None)
    about("job 77", job["on_cpu_ns"], sum(spent))
    for step, ns in zip("01", spent):
        row = one_job(summary, id="77", step=step)
        about(f"step {step}", row["on_cpu_ns"], ns)
        require(row["leaf"] and row["parent"] == job["key"], f"step {step} is not part of its job")
    named = {key: job["job"][key] for key in ("scheduler", "name", "user")}
    require(named == {"scheduler": "slurm", "name": "fluid", "user": "alice"}, f"job 77: {named}")
    short = one_job(summary, id="79", step="0")
    about("a job of 30 ms", short["on_cpu_ns"], short_ns)
    require("provisional" not in short["job"], "the number of a job with a SLUID was not asked for")
    require(short["job"]["name"] == "short", f"its name is {short['job']['name']}")
    old = one_job(summary, id="78", step="batch")
    about("a job in the freezer only", old["on_cpu_ns"], old_ns)
    require(old["job"]["name"] == "old", f"its name is {old['job']['name']}")


def test_job_again(bed):
    """The same number once more: two jobs."""
    spent = []
    with Folders(mount_point()) as folders:
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            for ms in (40, 90):
                step = folders.make(f"{SLURM_V2}/job_77/step_0")
                spent.append(run_in(bed, step, ms, **of_slurm(77)))
                folders.remove(f"{SLURM_V2}/job_77")
            summary = stop(tracer).summary()
    rows = sorted(job_rows(summary, id="77", step="0"), key=lambda row: row["on_cpu_ns"])
    require(len(rows) == 2, f"{len(rows)} rows for two jobs of one number")
    require(rows[0]["job"]["cgroup_id"] != rows[1]["job"]["cgroup_id"], "the two are the same job")
    for row, ns in zip(rows, spent):
        about("one of two", row["on_cpu_ns"], ns)


def test_job_selected(bed):
    """-J: jobs that are there and that begin later, in both trees, and nobody else."""
    with Folders(mount_point()) as folders, Folders(freezer()) as v1:
        folders.make(f"{SLURM_V2}/job_77/step_0")
        with bed.tracing("-J", "77,slurm:78", "--json", "--by", "job", "-i", 1000) as tracer:
            spent = run_in(bed, folders.make(f"{SLURM_V2}/job_77/step_0"), 60, **of_slurm(77))
            run_in(bed, folders.make(f"{SLURM_V2}/job_76/step_0"), 60, **of_slurm(76))
            late = run_in(bed, v1.make(f"{SLURM_V1}/job_78/step_0"), 60, **of_slurm(78))
            summary = stop(tracer).summary()
    about("job 77", one_job(summary, id="77", step="0")["on_cpu_ns"], spent)
    about("job 78", one_job(summary, id="78", step="0")["on_cpu_ns"], late)
    require({id_ for id_, _ in all_jobs(summary)} == {"77", "78"}, f"jobs {all_jobs(summary)}")


def move_stopped(process, folder):
    """Moves a process that does not run: one that does has the whole of that run where it moves to.

    Returns its CPU time until then.
    """
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    ns = time.clock_gettime_ns(~process.pid << 3 | 2)  # its CPU clock, see clock_getcpuclockid(3)
    (folder / "cgroup.procs").write_text(str(process.pid))
    os.kill(process.pid, signal.SIGCONT)
    return ns


def test_moved_between_jobs(bed):
    """A process that moves from job to job, and out of all: each has its part."""
    with Folders(mount_point()) as folders, burner(bed, 600) as moving:
        first = folders.make(f"{SLURM_V2}/job_80/step_0")
        second = folders.make(f"{SLURM_V2}/job_81/step_0")
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            moved = [move_stopped(moving, first)]
            tell(moving)
            time.sleep(0.15)
            moved.append(move_stopped(moving, second))
            time.sleep(0.15)
            moved.append(move_stopped(moving, folders.mount))
            total = used(moving)
            summary = stop(tracer).summary()
    parts = [one_job(summary, id=id_, step="0")["on_cpu_ns"] for id_ in ("80", "81")]
    require(min(parts) > 20 * MS, f"the parts are {parts}")
    about("the first part", parts[0], moved[1] - moved[0])
    about("the second part", parts[1], moved[2] - moved[1])
    require(sum(parts) < total - 20 * MS, f"{parts} of {total} ns: nothing is left outside of jobs")


def test_many_cgroups(bed):
    """Cgroups by the hundred cost little: we are woken some times, not for each."""
    with Tree() as tree, bed.tracing("-a", "--json", "-i", 10000) as tracer:
        before = cpu_ns(tracer.pid)
        for number in range(2000):
            tree.make(f"job_{number}")
            (tree.top / f"job_{number}").rmdir()
        spent = cpu_ns(tracer.pid) - before
        stop(tracer).summary()
    require(spent < 1000 * MS, f"{spent / 2000:.0f} ns for each cgroup")


def cpu_ns(pid):
    """CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


TESTS = [
    test_v1_cgroup,
    test_v1_chosen,
    test_v1_moved,
    test_v1_requests,
    test_threaded,
    test_job_is_asked,
    test_v1_job_is_asked,
    test_by_job,
    test_job_again,
    test_job_selected,
    test_moved_between_jobs,
    test_many_cgroups,
]
