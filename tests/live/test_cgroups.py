# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Rows by cgroup of the v2 tree, and -G."""

import contextlib
import itertools
import os
import pathlib
import time

from held import ended_ns, held, wait_used, waiting_ns
from live import (
    BUSY_MS,
    LIMIT_S,
    MS,
    Skip,
    clock_ns,
    finish,
    on_cpu,
    precise,
    read_line,
    require,
    said,
    same_time,
    stop,
    tell,
)


def mount_point():
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="ascii").splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return pathlib.Path(where)
    raise Skip("the cgroup v2 tree is not mounted")


def remove_cgroup(folder):
    """The last process may need a moment to be gone."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return os.rmdir(folder)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


class Tree:
    """A folder of our own in the cgroup tree, removed with all below it."""

    def __init__(self):
        # Another run of these tests may be under way on the same machine.
        self.name = f"t410test-{os.getpid()}"
        self.mount = mount_point()
        self.top = self.mount / self.name

    def __enter__(self):
        try:
            self.top.mkdir()
        except OSError as error:
            raise Skip(f"no cgroup can be made: {error.strerror}") from error
        return self

    def __exit__(self, *_):
        for folder, _, _ in os.walk(self.top, topdown=False):
            remove_cgroup(folder)

    def make(self, name):
        (self.top / name).mkdir()

    def remove(self, name):
        remove_cgroup(self.top / name)

    def move(self, name, pid):
        (self.top / name / "cgroup.procs").write_text(f"{pid}\n", encoding="ascii")

    def path(self, name=""):
        return f"/{self.name}/{name}" if name else f"/{self.name}"


def time_at(reports, path):
    """CPU time of a cgroup, with all below it when it has a row for that."""
    total = 0
    for report in reports:
        rows = [row for row in report["workloads"] if row["cgroup"]["path"] == path]
        total += max((row["on_cpu_ns"] for row in rows), default=0)
    return total


@contextlib.contextmanager
def burner(bed, ms):
    """A burner that waits for its line; what it has done before is not for the cgroup it is put in."""
    with bed.process(bed.burn, "-w", "-m", ms) as process:
        process.begin_ns = waiting_ns(process.pid)
        yield process


def used(process):
    """CPU time of a burner since its line, when it has ended."""
    return ended_ns(process) - process.begin_ns


def about(what, got, expected):
    """The end of a process is not in its own count: it takes a millisecond or two."""
    same_time(what, got, expected, 3 * MS)


def paths_of(reports):
    return {row["cgroup"]["path"] for r in reports for row in r["workloads"]}


def test_by_cgroup(bed):
    """Rows of siblings and nested cgroups; a parent's row includes all below it."""
    with Tree() as tree, burner(bed, 100) as in_a, burner(bed, 200) as in_deep, burner(
        bed, 300
    ) as in_b:
        for name in ("a", "a/deep", "b"):
            tree.make(name)
        tree.move("a", in_a.pid)
        tree.move("a/deep", in_deep.pid)
        tree.move("b", in_b.pid)
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 150) as tracer:
            for process in (in_a, in_deep, in_b):
                tell(process)
            a, deep, b = used(in_a), used(in_deep), used(in_b)
            reports = stop(tracer).intervals()
    about("b", time_at(reports, tree.path("b")), b)
    about("a/deep", time_at(reports, tree.path("a/deep")), deep)
    about("a with what is below", time_at(reports, tree.path("a")), a + deep)
    about("their parent", time_at(reports, tree.path()), a + deep + b)
    leaves = [row for r in reports for row in r["workloads"] if row["leaf"]]
    own = sum(row["on_cpu_ns"] for row in leaves if row["cgroup"]["path"] == tree.path("a"))
    about("a alone", own, a)


def test_moved_process(bed):
    """Time stays with the cgroup that it was spent in."""
    with Tree() as tree, burner(bed, BUSY_MS) as moving:
        tree.make("a")
        tree.make("b")
        tree.move("a", moving.pid)
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100) as tracer:
            tell(moving)
            wait_used(moving, 400 * MS)
            tree.move("b", moving.pid)
            before = clock_ns(moving.pid) - moving.begin_ns
            wait_used(moving, 400 * MS)
            with held(moving):
                total = clock_ns(moving.pid) - moving.begin_ns
                reports = stop(tracer).intervals()
    a, b = time_at(reports, tree.path("a")), time_at(reports, tree.path("b"))
    about("both together", a + b, total)
    precise(b > (total - before) * 0.9, f"{b} ns in the second, of {total} ns after {before}")
    precise(a > before * 0.9, f"{a} ns in the first, of {before} ns")


def test_moved_within_a_run(bed):
    """
    A process or a thread that nobody takes off its CPU, and one report: the run is split where it was
    moved. Moving takes the kernel a while, so the moment is known to that only.
    """
    for kind in ("procs", "threads"):
        with Tree() as tree, bed.process(bed.burn, "-w", "-f", "-c", bed.cpu, "-m", BUSY_MS) as moving:
            for name in ("a", "b"):
                tree.make(name)
                (tree.top / name / "cgroup.type").write_text("threaded")
            tree.move("", moving.pid)
            (tree.top / "a" / "cgroup.threads").write_text(str(moving.pid))
            begin = waiting_ns(moving.pid)
            with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 60000) as tracer:
                tell(moving)
                tracer.wait_until("burning", lambda: clock_ns(moving.pid) > begin + 150 * MS)
                before = clock_ns(moving.pid) - begin
                (tree.top / "b" / f"cgroup.{kind}").write_text(str(moving.pid))
                after = clock_ns(moving.pid) - begin
                tracer.wait_until("moved", lambda: clock_ns(moving.pid) > begin + 400 * MS)
                with held(moving):
                    total = clock_ns(moving.pid) - begin
                    reports = stop(tracer).intervals()
        a, b = time_at(reports, tree.path("a")), time_at(reports, tree.path("b"))
        about("both together", a + b, total)
        # Without the split it would be the second's as a whole.
        precise(a > 0, f"cgroup.{kind}: nothing in the first, of {before} ns")
        precise(
            before - 5 * MS < a < after + 5 * MS + bed.unclocked.since(),
            f"cgroup.{kind}: {a} ns in the first, of {before} to {after} ns",
        )


class Stays:
    """The kernel's own count of a task in each cgroup that it was in while it kept its CPU."""

    def __init__(self, bed, tree, process, places):
        self.bed, self.tree, self.process = bed, tree, process
        self.places = places
        for name in set(places):
            tree.make(name)
        tree.move(places[0], process.pid)
        self.begin = waiting_ns(process.pid)
        # By cgroup: the least and the most. Moving takes the kernel a while.
        self.bounds = {name: [0, 0] for name in places}
        self.at, self.came = 0, (0, 0)

    def used(self):
        return clock_ns(self.process.pid) - self.begin

    def burn(self, ms):
        end, deadline = self.used() + ms * MS, time.monotonic() + LIMIT_S
        while self.used() < end:
            require(time.monotonic() < deadline, "the burner gets no CPU time")
            time.sleep(0.001)

    def go(self):
        """From place to place, 60 ms in each."""
        tell(self.process)
        for name in self.places[1:]:
            self.burn(60)
            before = self.used()
            self.tree.move(name, self.process.pid)
            self.leave(before, self.used())
        self.burn(60)

    def leave(self, before, after):
        """It left the place that it is in between these two."""
        bounds = self.bounds[self.places[self.at]]
        bounds[0] += before - self.came[1]
        bounds[1] += after - self.came[0]
        self.came = (before, after)
        self.at += 1

    def check(self, what, got, total):
        about(f"{what}: all cgroups", sum(got.values()), total)
        slack = 5 * MS + self.bed.unclocked.since()
        for name, (least, most) in self.bounds.items():
            precise(
                least - slack < got[name] < most + slack,
                f"{what}: {got[name]} ns in {name}, of {least} to {most} ns",
            )


@contextlib.contextmanager
def staying(bed, places):
    """A task that nobody takes off its CPU, in the first of its cgroups."""
    with Tree() as tree, bed.process(
        bed.burn, "-w", "-f", "-c", bed.cpu, "-m", BUSY_MS
    ) as process:
        yield Stays(bed, tree, process, places)


def places_of(moves):
    """From cgroup to cgroup, and with the last move back to the first."""
    return [f"c{i}" for i in range(moves)] + ["c0"]


def test_moved_often_within_a_run(bed):
    """One report, no ticks: the run is split at each move."""
    for moves in (2, 3, 5):
        with staying(bed, places_of(moves)) as stays:
            with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 60000) as tracer:
                stays.go()
                with held(stays.process):
                    total = stays.used()
                    reports = stop(tracer).intervals()
            stays.leave(total, total)
            got = {name: time_at(reports, stays.tree.path(name)) for name in stays.places}
        stays.check(f"{moves} moves", got, total)
        missed = sum(report["quality"]["lost"]["cgroups"] for report in reports)
        require(not missed, f"{moves} moves: {missed} changes of cgroups were missed")


def test_moved_too_often_within_a_run(bed):
    """More moves than a CPU keeps notes: no time is lost, and the report counts them."""
    moves = 12
    with staying(bed, places_of(moves)) as stays:
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 60000) as tracer:
            stays.go()
            with held(stays.process):
                total = stays.used()
                reports = stop(tracer).intervals()
        got = {name: time_at(reports, stays.tree.path(name)) for name in stays.places}
    about("all cgroups", sum(got.values()), total)
    missed = sum(report["quality"]["lost"]["cgroups"] for report in reports)
    misplaced = [name for name, ns in got.items() if not ns]
    require(missed or not misplaced, f"nothing in {misplaced}, and no word of it")
    precise(missed == moves - 8, f"{missed} changes of cgroups were missed")


def test_moved_often_with_ticks(bed):
    """The same with windows, weights, and with and without ticks."""
    for ticks, moves in itertools.product((["-t"], []), (2, 3, 5)):
        with staying(bed, places_of(moves)) as stays:
            with bed.process(bed.weigh, *ticks, "page-faults,task-clock") as weigh:
                require(read_line(weigh) == b"ready\n", "weigh did not start")
                stays.go()
                with held(stays.process):
                    total = stays.used()
                    text = finish(weigh)
            stays.leave(total, total)
            ids = {name: (stays.tree.top / name).stat().st_ino for name in stays.places}
        what = f"{moves} moves, {'ticks' if ticks else 'no ticks'}"
        times = {int(number): int(ns) for _, number, ns in said(text, "cgroup")}
        stays.check(what, {name: times.get(ids[name], 0) for name in ids}, total)
        ((_, gap_ns),) = said(text, "gap")
        require(gap_ns == "0", f"{what}: {gap_ns} ns of CPU time are missing, or there twice")


def test_back_in_a_cgroup(bed):
    """
    The address of a freed css_set may be that of another cgroup's. So no slot from before a move is
    found behind it: who comes back has one more piece. (Newer kernels free a css_set only after
    seconds, so the times do not show it.)
    """
    with Tree() as tree, bed.process(bed.burn, "-w") as in_a, bed.process(
        bed.burn, "-w"
    ) as in_b, bed.process(bed.burn, "-w", "-c", bed.cpu, "-m", BUSY_MS) as moving:
        # Those who stay keep the css_sets.
        for name, staying_there in (("a", in_a), ("b", in_b)):
            tree.make(name)
            tree.move(name, staying_there.pid)
        tree.move("a", moving.pid)
        waiting_ns(moving.pid)
        with bed.process(bed.weigh, "-w", 60000, "page-faults") as weigh:
            require(read_line(weigh) == b"ready\n", "weigh did not start")
            tell(moving)
            for name in ("b", "a", None):
                wait_used(moving, 20 * MS)
                with held(moving):
                    if name:
                        tree.move(name, moving.pid)
                    else:
                        text = finish(weigh)
    pieces = {int(pid): int(nr) for _, pid, nr in said(text, "slices")}[moving.pid]
    ((_, kept, *_),) = said(text, "losses")
    precise(kept == "0", "slots were sent meanwhile")
    require(pieces >= 3, f"{pieces} pieces of a process that was in a, in b and in a")


def test_selected_in_all_spellings(bed):
    with Tree() as tree:
        tree.make("a")
        names = [tree.top / "a", tree.path("a"), tree.path("a")[1:], f"{tree.name}//a/"]
        for name in names:
            with burner(bed, 60) as inside, burner(bed, 60) as outside:
                tree.move("a", inside.pid)
                with bed.tracing("-G", name, "--json", "-i", 100) as tracer:
                    tell(inside)
                    tell(outside)
                    spent = used(inside)
                    finish(outside)
                    reports = stop(tracer).intervals()
            about(f"-G {name}", on_cpu(reports, pid=inside.pid), spent)
            require(not on_cpu(reports, pid=outside.pid), f"-G {name}: another process has a row")


def test_selected_with_all_below(bed):
    """Also cgroups made after the start."""
    with Tree() as tree, burner(bed, 60) as early, burner(bed, 60) as late, burner(
        bed, 60
    ) as other:
        tree.make("a")
        tree.make("b")
        tree.move("a", early.pid)
        tree.move("b", other.pid)
        with bed.tracing("-G", tree.path("a"), "--json", "--by", "cgroup", "-i", 100) as tracer:
            tree.make("a/later")
            tree.move("a/later", late.pid)
            for process in (early, late, other):
                tell(process)
            spent, spent_late = used(early), used(late)
            finish(other)
            reports = stop(tracer).intervals()
    about("a with what is below", time_at(reports, tree.path("a")), spent + spent_late)
    about("a/later", time_at(reports, tree.path("a/later")), spent_late)
    require(
        paths_of(reports) == {tree.path("a"), tree.path("a/later")},
        f"rows of {paths_of(reports)}",
    )


def test_two_selected(bed):
    with Tree() as tree, burner(bed, 60) as in_a, burner(bed, 60) as in_b:
        tree.make("a")
        tree.make("b")
        tree.move("a", in_a.pid)
        tree.move("b", in_b.pid)
        both = f"{tree.path('a')},{tree.path('b')}"
        with bed.tracing("-G", both, "--json", "--by", "cgroup", "-i", 100) as tracer:
            tell(in_a)
            tell(in_b)
            a, b = used(in_a), used(in_b)
            reports = stop(tracer).intervals()
    about("a", time_at(reports, tree.path("a")), a)
    about("b", time_at(reports, tree.path("b")), b)


def test_removed_keeps_its_name(bed):
    """A cgroup made and removed between two reports, as short jobs do."""
    with Tree() as tree, burner(bed, 80) as inside:
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 1000) as tracer:
            tree.make("job")
            tree.move("job", inside.pid)
            tell(inside)
            spent = used(inside)
            inside.wait()
            tree.remove("job")
            summary = stop(tracer).summary()
    about("the removed cgroup", time_at([summary], tree.path("job")), spent)
    (row,) = [r for r in summary["workloads"] if r["cgroup"]["path"] == tree.path("job")]
    require(row.get("exited"), "the row of the removed cgroup is not marked so")


def test_same_name_again(bed):
    """Removed and made anew: two cgroups, however they are called."""
    spent = []
    with Tree() as tree:
        with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 1000) as tracer:
            for ms in (40, 90):
                with burner(bed, ms) as inside:
                    tree.make("job")
                    tree.move("job", inside.pid)
                    tell(inside)
                    spent.append(used(inside))
                    inside.wait()
                    tree.remove("job")
            summary = stop(tracer).summary()
    rows = [r for r in summary["workloads"] if r["cgroup"]["path"] == tree.path("job")]
    got = sorted(row["on_cpu_ns"] for row in rows)
    require(len(got) == 2, f"{len(got)} rows for two cgroups of one name")
    for row_ns, ns in zip(got, sorted(spent)):
        about("one of two", row_ns, ns)


def test_process_rows_name_their_cgroup(bed):
    with Tree() as tree, burner(bed, 60) as inside:
        tree.make("a b\"c")
        tree.move("a b\"c", inside.pid)
        with bed.tracing("-p", inside.pid, "--json", "-i", 1000) as tracer:
            tell(inside)
            finish(inside)
            reports = tracer.end().intervals()
    paths = [row["cgroup"]["path"] for r in reports for row in r["workloads"]]
    require(set(paths) == {tree.path("a b\"c")}, f"the cgroups are {paths}")


IN_NAMESPACE = """#!/bin/sh
# t410trace in a cgroup namespace of its own, as in a container: its tree begins at the folder TOP
[ -n "$INSIDE" ] || {
	echo $$ >"TOP/cgroup.procs" && INSIDE=1 exec unshare -Cm "$0" "$@"
}
WHOLE
umount "MOUNT" && mount -t cgroup2 none "MOUNT" && exec "PROGRAM" "$@"
"""


def in_namespace(bed, tree, whole=""):
    text = IN_NAMESPACE
    for name, value in (
        ("TOP", tree.top / "container"),
        ("MOUNT", tree.mount),
        ("PROGRAM", bed.program),
        ("WHOLE", f'mount --bind "{tree.mount}" "{whole}" || exit' if whole else ""),
    ):
        text = text.replace(name, str(value))
    script = bed.scratch / "contained"
    script.write_text(text, encoding="ascii")
    script.chmod(0o755)
    return script


def rows_in_namespace(bed, tree, inside, whole=""):
    """Returns the cgroups of rows by id, and what was said at the start."""
    tree.make("container")
    number = (tree.top / "container").stat().st_ino
    program = in_namespace(bed, tree, whole)
    with bed.tracing("-a", "--json", "--by", "cgroup", "-i", 100, program=program) as tracer:
        tree.make("job")
        tree.move("job", inside.pid)
        tell(inside)
        spent = used(inside)
        inside.wait()
        tracer.wait_reports(1)
        done = stop(tracer)
    reports = done.intervals()
    # The kernel's own record tells the name, from the root of all.
    about("a cgroup made outside", time_at(reports, tree.path("job")), spent)
    cgroups = [row["cgroup"] for r in reports for row in r["workloads"] if row.get("cgroup")]
    return [c.get("path") for c in cgroups if c.get("id") == number], done.err


def test_branch_of_the_tree(bed):
    """In a container's cgroup namespace no cgroup is called by its path from there on."""
    with Tree() as tree, burner(bed, 60) as inside:
        names, said = rows_in_namespace(bed, tree, inside)
        # t410trace's own cgroup was there before the run, and nobody can tell what it is called.
        require(names and not any(names), f"the container is called {names}")
        require("only a branch of the cgroup tree is mounted" in said, f"it says {said}")
        require("--cgroupns=host" in said, f"no remedy in {said}")
        done = bed.command(in_namespace(bed, tree), "--no-counters", "-G", "/", "-d", 1)
        words = " ".join(done.err.split())
        require(done.status == 1 and "-G /: the root of its cgroup tree" in words, words)


def test_whole_tree_elsewhere(bed):
    """The same with the host's tree mounted at another place."""
    whole = bed.scratch / "whole"
    whole.mkdir()
    with Tree() as tree, burner(bed, 60) as inside:
        names, said = rows_in_namespace(bed, tree, inside, whole)
        require(set(names) == {tree.path("container")}, f"the container is called {names}")
        require("only a branch" not in said, f"it says {said}")


TESTS = [
    test_by_cgroup,
    test_moved_process,
    test_moved_within_a_run,
    test_moved_often_within_a_run,
    test_moved_too_often_within_a_run,
    test_moved_often_with_ticks,
    test_back_in_a_cgroup,
    test_selected_in_all_spellings,
    test_selected_with_all_below,
    test_two_selected,
    test_removed_keeps_its_name,
    test_same_name_again,
    test_process_rows_name_their_cgroup,
    test_branch_of_the_tree,
    test_whole_tree_elsewhere,
]
