# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs: cgroups as schedulers make them, in the v2 tree and in v1 hierarchies, with burners in them."""

import contextlib
import json
import os
import pathlib
import time

from daemon import among_jobs, new_job, wait_for
from held import ended_ns, held, move_held, thread_ns, wait_used
from live import BUSY_MS, MS, Skip, clock_ns, finish, on_cpu, precise, require, stop, tell
from test_io import generator, loop_device, of_device, sum_of, Net, transfer, who
from test_cgroups import Tree, about, burner, mount_point, paths_of, remove_cgroup, time_at

# Others may run these tests on the same machine: their cgroups have other names.
TOP = f"t410test-{os.getpid()}"
SLURM_V2 = f"{TOP}/system.slice/slurmstepd.scope"
SLURM_V1 = f"{TOP}/slurm/uid_0"


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
        self.place = contextlib.ExitStack()

    def __enter__(self):
        self.place.enter_context(among_jobs())
        return self

    def __exit__(self, *_):
        with self.place:
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
        remove_cgroup(folder)
        self.made.remove(folder)

    def remove(self, path):
        for folder in sorted(self.made, reverse=True):
            if folder.is_relative_to(self.mount / path):
                self.drop(folder)


@contextlib.contextmanager
def job_process(bed, ms, **variables):
    """A burner with the environment of a job, which waits for its cgroup and for its go."""
    with bed.process(bed.burn, "-w", "-m", ms, env=variables) as process:
        yield process


def run_in(bed, folders, path, ms, **variables):
    """
    Makes the cgroup of a step and runs a burner there; returns its CPU time. The process is there
    before: a job is asked when its cgroup is new, and then more and more seldom.
    """
    with job_process(bed, ms, **variables) as process:
        elsewhere = move_held(process, folders.make(path))
        tell(process)
        return ended_ns(process) - elsewhere


def of_slurm(number, name="fluid"):
    return {"SLURM_JOB_ID": str(number), "SLURM_JOB_NAME": name, "SLURM_JOB_USER": "alice"}


class Recording:
    """A recording under way, with what has been told so far."""

    def __init__(self, path, tracer):
        self.path = path
        self.tracer = tracer

    def events(self, kind):
        """Those that are in the file by now; its last line may be half a line."""
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        return [event for event in map(json.loads, lines) if event["type"] == kind]

    def news(self, cgroup):
        """What was told of the job of a cgroup, one after the other."""
        ids = [e["id"] for e in self.events("cgroup") if e.get("path") == cgroup]
        return [
            {key: value for key, value in e.items() if key not in ("type", "cgroup_id")}
            for id_ in dict.fromkeys(ids)
            for e in self.events("job")
            if e["cgroup_id"] == id_
        ]

    def wait_news(self, cgroup):
        wait_for(f"news of {cgroup}", lambda: self.news(cgroup))

    def end(self):
        stop(self.tracer)


def first_of_all(tracer):
    """It gets the CPU at once: names of short jobs are a question of milliseconds, whatever else runs."""
    os.setpriority(os.PRIO_PROCESS, tracer.pid, -20)


@contextlib.contextmanager
def recording(bed):
    """Records what the body does."""
    path = bed.scratch / "events"
    command = ["record", "--format", "ndjson", "-o", path]
    with bed.tracing("-a", "-i", 100, command=command) as tracer:
        first_of_all(tracer)
        yield Recording(path, tracer)


def named(what, got, expected):
    """Names of a job that is soon over: it was asked before if we got the CPU in time."""
    precise(got, f"{what} was not asked before it was over")
    require(got == expected, f"{what}: {got}, expected {expected}")


def test_v1_cgroup(bed):
    """A task in a cgroup of the freezer has that one, others have that of the v2 tree."""
    with Folders(freezer()) as folders, Tree() as tree:
        folder = folders.make(f"{TOP}/deep")
        tree.make("b")
        with burner(bed, 100) as inside, burner(bed, 60) as outside:
            with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100) as tracer:
                elsewhere = move_held(outside, tree.top / "b")
                # In both: that of the freezer says more.
                move_held(inside, tree.top / "b")
                before = move_held(inside, folder)
                tell(inside)
                tell(outside)
                spent, spent_outside = ended_ns(inside) - before, ended_ns(outside) - elsewhere
                reports = stop(tracer).intervals()
        about("the freezer's", time_at(reports, f"freezer:/{TOP}/deep"), spent)
        about("its parent", time_at(reports, f"freezer:/{TOP}"), spent)
        about("of the v2 tree", time_at(reports, tree.path("b")), spent_outside)


def test_v1_chosen(bed):
    """None, another one, and one that is selected."""
    with Folders(freezer()) as folders:
        folder = folders.make(TOP)
        for args in (["--cgroup-v1", "none"], ["--cgroup-v1", "freezer", "-G", f"freezer:/{TOP}/"]):
            everything = [] if "-G" in args else ["-a"]
            with burner(bed, 60) as inside:
                with bed.tracing(*everything, *args, "--json", "--by", "cgroup") as tracer:
                    elsewhere = move_held(inside, folder)
                    tell(inside)
                    spent = ended_ns(inside) - elsewhere
                    summary = stop(tracer).summary()
            paths = paths_of([summary])
            if everything:
                require(not any(":" in path for path in paths), f"rows of v1 cgroups: {paths}")
            else:
                require(paths == {f"freezer:/{TOP}"}, f"rows of {paths}")
                about("the selected one", time_at([summary], f"freezer:/{TOP}"), spent)
    for wrong, word in (("floppy", "must be none, auto"), ("misc", "not mounted as v1")):
        done = bed.trace("-a", "-d", 0.1, "--cgroup-v1", wrong)
        require(done.status in (1, 2) and word in done.err, f"--cgroup-v1 {wrong}: {done.err[:200]}")
    done = bed.trace("-d", 0.1, "-G", "cpuset:/x")
    require("--cgroup-v1 cpuset" in done.err, f"-G cpuset:/x: {done.err[:200]}")


def test_v1_moved(bed):
    """
    From the freezer's cgroup to its root, while it runs: from then on the v2 cgroup has the time.
    Moving takes the kernel a while, so the moment is known to that only.
    """
    with Folders(freezer()) as folders, Tree() as tree, burner(bed, BUSY_MS) as moving:
        folder = folders.make(TOP)
        tree.make("b")
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100) as tracer:
            elsewhere = move_held(moving, tree.top / "b")
            before = move_held(moving, folder)
            tell(moving)
            wait_used(moving, 300 * MS)
            at = clock_ns(moving.pid)
            (folders.mount / "cgroup.procs").write_text(str(moving.pid))
            after = clock_ns(moving.pid)
            wait_used(moving, 300 * MS)
            with held(moving):
                total = clock_ns(moving.pid)
                reports = stop(tracer).intervals()
    first, second = time_at(reports, f"freezer:/{TOP}"), time_at(reports, tree.path("b"))
    about("both together", first + second, total - elsewhere)
    precise(
        at - before - 5 * MS < first < after - before + 5 * MS + bed.unclocked.since(),
        f"{first} ns in the first, of {at - before} to {after - before} ns",
    )


def threads_of(pid, count):
    """The threads of a process, once they are there; the leader first."""

    def found():
        tids = sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))
        return tids if len(tids) == count else None

    return wait_for("the threads", found)


def test_threaded(bed):
    """Threads of one process in cgroups of their own: each has the time of its threads."""
    with Tree() as tree:
        for name in ("a", "b"):
            tree.make(name)
            (tree.top / name / "cgroup.type").write_text("threaded")
        for by in ("cgroup", "thread"):
            with bed.process(bed.burn, "-w", "-t", 2, "-m", BUSY_MS) as process:
                with bed.tracing("-a", "--json", "--by", by, "-i", 100) as tracer:
                    before = move_held(process, tree.top)
                    tell(process)
                    tids = threads_of(process.pid, 2)
                    with held(process):
                        above = {tid: thread_ns(process.pid, tid) for tid in tids}
                        for tid, name in zip(tids, ("a", "b")):
                            (tree.top / name / "cgroup.threads").write_text(str(tid))
                    wait_used(process, 400 * MS)
                    with held(process):
                        own = {tid: thread_ns(process.pid, tid) for tid in tids}
                        reports = stop(tracer).intervals()
            whole = sum(own.values()) - before
            for tid, name in zip(tids, ("a", "b")):
                if by == "thread":
                    about(f"thread in {name}", on_cpu(reports, tid=tid), own[tid] - before * (tid == tids[0]))
                else:
                    # Until it was moved it was in the cgroup above.
                    about(name, time_at(reports, tree.path(name)), own[tid] - above[tid])
            if by == "cgroup":
                about("all of it", time_at(reports, tree.path()), whole)


def test_job_is_asked(bed):
    """What the path does not say is told by the tasks: also of a job of 30 ms, and of one that waits."""
    numbers = [new_job() for _ in range(4)]
    early, late, empty = (f"{SLURM_V2}/job_{number}" for number in numbers[:3])
    sluid = f"{SLURM_V2}/s4WEM9Y8PT4800"
    fluid = {"name": "fluid", "user": "alice"}
    with Folders(mount_point()) as folders, contextlib.ExitStack() as stack:
        waiting = stack.enter_context(job_process(bed, 10, **of_slurm(numbers[0])))
        move_held(waiting, folders.make(f"{early}/step_0"))
        record = stack.enter_context(recording(bed))
        run_in(bed, folders, f"{sluid}/step_0", 30, **of_slurm(numbers[3]))
        folders.remove(sluid)
        folders.make(f"{empty}/step_0")
        step = folders.make(f"{late}/step_batch")
        # It is asked in vain some times, but not for ever.
        made = time.monotonic()
        time.sleep(0.2)
        move_held(stack.enter_context(job_process(bed, 10, **of_slurm(numbers[1], "late"))), step)
        waited = time.monotonic() - made
        precise(waited < 10, f"its first process came after {waited} s")
        for path in (early, late):
            record.wait_news(f"/{path}")
        record.end()
        told = {path: record.news(f"/{path}") for path in (early, late, empty, sluid)}
    require(told[early] == [fluid], f"of a job that was there: {told[early]}")
    require(told[late] == [fluid | {"name": "late"}], f"late: {told[late]}")
    require(told[empty] == [], f"of an empty job: {told[empty]}")
    named("a job of 30 ms", told[sluid], [fluid | {"id": str(numbers[3])}])


def test_v1_job_is_asked(bed):
    number = new_job()
    with Folders(freezer()) as folders, recording(bed) as record:
        run_in(bed, folders, f"{SLURM_V1}/job_{number}/step_batch", 60, **of_slurm(number))
        record.end()
        told = record.news(f"freezer:/{SLURM_V1}/job_{number}")
    named("a job of 60 ms", told, [{"name": "fluid", "user": "alice"}])


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
        folder = folders.make(TOP)
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
        source, _, _ = transfer(bed, net, inside, "udp", True, 2000, 1000)
        _, sink, got = transfer(bed, net, inside, "udp", False, 2000, 500)
        rows = of_device(iowho.show(), 9)
        wrong = [key for key in rows if key[0] in (source.ident, sink.ident) and key[1] != group]
        require(not wrong, f"packets of these processes in other cgroups: {wrong}")
        # Payload and headers, see test_io.
        for what, process, index, whole in (
            ("sent", source, 0, 2000 * 1042),
            ("received", sink, 1, got // 500 * 542),
        ):
            iowho.exact(f"{what} by the cgroup", sum_of(rows, group, index), whole)
            mine = rows.get((process.ident, group), (0, 0))[index]
            iowho.exact(f"{what} by the process", mine, whole)


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


def has_name(what, row, name):
    named(what, row["job"].get("name"), name)


def test_by_job(bed):
    """Jobs and their steps in both trees, one of 30 ms: each has its time, and the names."""
    number, short_number, old_number = (new_job() for _ in range(3))
    with Folders(mount_point()) as folders, Folders(freezer()) as v1:
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            first_of_all(tracer)
            spent = [
                run_in(bed, folders, f"{SLURM_V2}/job_{number}/step_{n}/user/task_0", ms, **of_slurm(number))
                for n, ms in enumerate((60, 90))
            ]
            folders.remove(f"{SLURM_V2}/job_{number}")
            short = of_slurm(short_number, f"short{short_number}")
            short_ns = run_in(bed, folders, f"{SLURM_V2}/s4WEM9Y8PT4800/step_0", 30, **short)
            folders.remove(f"{SLURM_V2}/s4WEM9Y8PT4800")
            old = of_slurm(old_number, "old")
            old_ns = run_in(bed, v1, f"{SLURM_V1}/job_{old_number}/step_batch", 60, **old)
            v1.remove(SLURM_V1)
            summary = stop(tracer).summary()
    job = one_job(summary, id=str(number), step=None)
    about("the job", job["on_cpu_ns"], sum(spent))
    for step, ns in zip("01", spent):
        row = one_job(summary, id=str(number), step=step)
        about(f"step {step}", row["on_cpu_ns"], ns)
        require(row["leaf"] and row["parent"] == job["key"], f"step {step} is not part of its job")
    has_name("the job", job, "fluid")
    who_is = {key: job["job"][key] for key in ("scheduler", "user")}
    require(who_is == {"scheduler": "slurm", "user": "alice"}, f"the job: {who_is}")
    old = one_job(summary, id=str(old_number), step="batch")
    about("a job in the freezer only", old["on_cpu_ns"], old_ns)
    has_name("a job in the freezer only", old, "old")
    # Its number is not in its path.
    short = job_rows(summary, name=f"short{short_number}", step="0")
    named("a job of 30 ms", [row["job"]["id"] for row in short], [str(short_number)])
    about("a job of 30 ms", short[0]["on_cpu_ns"], short_ns)
    require("provisional" not in short[0]["job"], "the number of a job with a SLUID was not asked for")


def test_job_again(bed):
    """The same number once more: two jobs."""
    number = new_job()
    with Folders(mount_point()) as folders:
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            spent = []
            for ms in (40, 90):
                step = f"{SLURM_V2}/job_{number}/step_0"
                spent.append(run_in(bed, folders, step, ms, **of_slurm(number)))
                folders.remove(f"{SLURM_V2}/job_{number}")
            summary = stop(tracer).summary()
    rows = sorted(job_rows(summary, id=str(number), step="0"), key=lambda row: row["on_cpu_ns"])
    require(len(rows) == 2, f"{len(rows)} rows for two jobs of one number")
    require(rows[0]["job"]["cgroup_id"] != rows[1]["job"]["cgroup_id"], "the two are the same job")
    for row, ns in zip(rows, sorted(spent)):
        about("one of two", row["on_cpu_ns"], ns)


def test_job_selected(bed):
    """-J: jobs that are there and that begin later, in both trees, and nobody else."""
    here, other, later = (new_job() for _ in range(3))
    with Folders(mount_point()) as folders, Folders(freezer()) as v1:
        step = f"{SLURM_V2}/job_{here}/step_0"
        folders.make(step)
        with bed.tracing("-J", f"{here},slurm:{later}", "--json", "--by", "job", "-i", 1000) as tracer:
            spent = run_in(bed, folders, step, 60, **of_slurm(here))
            run_in(bed, folders, f"{SLURM_V2}/job_{other}/step_0", 60, **of_slurm(other))
            late = run_in(bed, v1, f"{SLURM_V1}/job_{later}/step_0", 60, **of_slurm(later))
            summary = stop(tracer).summary()
    about("the job that was there", one_job(summary, id=str(here), step="0")["on_cpu_ns"], spent)
    about("the one that began later", one_job(summary, id=str(later), step="0")["on_cpu_ns"], late)
    require({id_ for id_, _ in all_jobs(summary)} == {str(here), str(later)}, f"jobs {all_jobs(summary)}")


def test_job_as_squeue_prints_it(bed):
    """-J with the task of an array and with a step: what runs is found at once, and in recordings."""
    array, task, parts = (new_job() for _ in range(3))
    steps = [f"{SLURM_V2}/job_{parts}/step_{name}" for name in ("batch", "0")]
    whole = f"{SLURM_V2}/job_{task}/step_batch/user/task_0"
    here = {"SLURM_ARRAY_JOB_ID": str(array), "SLURM_ARRAY_TASK_ID": "3"}
    wanted, file = f"{array}_3,{parts}.batch", bed.scratch / "tasks.rec"
    with Folders(mount_point()) as folders, contextlib.ExitStack() as running:
        for path, variables in (
            (whole, of_slurm(task) | here), *((path, of_slurm(parts)) for path in steps)
        ):
            process = running.enter_context(job_process(bed, BUSY_MS, **variables))
            move_held(process, folders.make(path))
            tell(process)
        live = bed.trace("-J", wanted, "--json", "--by", "job", "-d", 0.3)
        record = bed.command(
            bed.program, "record", "--no-counters", "-J", wanted, "-d", 0.3, "-o", file
        )
    both = bed.command(bed.program, "report", "--json", "--by", "job", file)
    chosen = bed.command(bed.program, "report", "--json", "--by", "job", "-J", f"{array}_3", file)
    require("there is no job" not in live.err + record.err, live.err + record.err)
    expected = {(str(job), step) for job in (task, parts) for step in (None, "batch")}
    for done, jobs in (live, expected), (both, expected), (chosen, {j for j in expected if j[0] == str(task)}):
        (report,) = done.reports()
        require(set(all_jobs(report)) == jobs, f"jobs {all_jobs(report)}, expected {jobs}; {done.err}")
    none = bed.command(bed.program, "report", "-J", f"{array}_4", file)
    require(none.status == 1 and "no such job" in none.err, none.err)


def test_jobs_that_cannot_be(bed):
    """Nobody waits for them: the message says what would fit."""
    for text, fits in (
        ("4700_[1-3]", "12_3"),
        ("slurm:abc", "12.batch"),
        ("4711+1", "scontrol show job"),
        ("\u0192pUt0", "flux job id"),
        ("docker:happy_bell", "--no-trunc"),
        ("systemd:work.slice", "service"),
        ("nobody:1", "schedulers are slurm"),
    ):
        for command in (), ("record", "-o", "/dev/null"):
            done = bed.command(bed.program, *command, "--no-counters", "-J", text, "-d", 5)
            said = " ".join(done.err.split())
            require(done.status == 2 and fits in said, f"-J {text}: {done.status}, {said}")


def test_moved_between_jobs(bed):
    """A process that moves from job to job, and out of all: each has its part."""
    numbers = [new_job() for _ in range(2)]
    with Folders(mount_point()) as folders, burner(bed, BUSY_MS) as moving:
        steps = [folders.make(f"{SLURM_V2}/job_{number}/step_0") for number in numbers]
        with bed.tracing("-a", "--json", "--by", "job", "-i", 1000) as tracer:
            moved = [move_held(moving, steps[0])]
            tell(moving)
            for folder in (steps[1], folders.mount):
                wait_used(moving, 150 * MS)
                moved.append(move_held(moving, folder))
            wait_used(moving, 150 * MS)
            summary = stop(tracer).summary()
    parts = [one_job(summary, id=str(number), step="0")["on_cpu_ns"] for number in numbers]
    # What comes after is in no job: it would show in the second part.
    about("the first part", parts[0], moved[1] - moved[0])
    about("the second part", parts[1], moved[2] - moved[1])


def test_many_cgroups(bed):
    """Cgroups by the hundred cost little: we are woken some times, not for each."""
    with Tree() as tree, bed.tracing("-a", "--json", "-i", 10000) as tracer:
        before = clock_ns(tracer.pid)
        for number in range(2000):
            tree.make(f"job_{number}")
            (tree.top / f"job_{number}").rmdir()
        spent = clock_ns(tracer.pid) - before
        stop(tracer).summary()
    precise(spent <= 1000 * MS, f"{spent / 2000:.0f} ns for each cgroup")


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
    test_job_as_squeue_prints_it,
    test_jobs_that_cannot_be,
    test_moved_between_jobs,
    test_many_cgroups,
]
