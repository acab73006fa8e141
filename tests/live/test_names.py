# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who is who: descendants, and names that change or mean harm."""

import os
import pathlib
import re
import unicodedata

from held import adopting, waiting_ns, whole_ns
from live import (
    BUSY_MS,
    MS,
    check_status,
    finish,
    on_cpu,
    precise,
    read_line,
    require,
    rows_of,
    said,
    same_time,
    stop,
    tell,
)


def test_descendants(bed):
    """-p follows what is started later: children, orphans' children, daemons."""
    with adopting(), bed.process(bed.family, "tree", 60) as family, bed.process(
        bed.burn, "-m", 60, "-w"
    ) as stranger:
        begun = {family.pid: waiting_ns(family.pid)}
        with bed.tracing("-p", family.pid, "--json", "-i", 100) as tracer:
            tell(stranger)
            finish(stranger)
            tell(family)
            ended = {family.pid: whole_ns(family.pid)}
            # All of them write to this pipe: it ends when the last of them has ended.
            text = finish(family)
            members = said(text, "process")
            ended |= {int(pid): int(ns) for _, pid, ns in said(text, "ended")}
            for pid in {int(pid) for _, pid, *_ in members} - set(ended):
                ended[pid] = whole_ns(pid)
                os.waitpid(pid, 0)
            done = tracer.end()
    check_status(done)
    reports = done.intervals()
    names = {"fam-top", "fam-child", "fam-grand", "fam-orphan", "fam-daemon"}
    require({name for _, _, name, _ in members} == names, f"the family was {members}")
    for _, pid, name, ns in members:
        pid = int(pid)
        spent, before = on_cpu(reports, pid=pid), begun.get(pid, 0)
        same_time(name, spent, int(ns) - before, 2 * MS, ended[pid] - before)
        last = [row for r in reports for row in rows_of(r, pid=pid)][-1]
        require(last["comm"] == name, f"{name} is called {last['comm']}")
    require(not on_cpu(reports, pid=stranger.pid), "a process that is no descendant has a row")


def test_ends_with_its_processes(bed):
    """A process that is gone stays in the books, and the run ends when all are gone."""
    with bed.process(bed.burn, "-w", "-m", 250) as burner:
        before = waiting_ns(burner.pid)
        with bed.tracing("-p", burner.pid, "--json", "-i", 1000) as tracer:
            tell(burner)
            ended = whole_ns(burner.pid)
            ((_, _, _, ns),) = said(finish(burner), "process")
            done = tracer.end()
    check_status(done)
    reports = done.intervals()
    spent = on_cpu(reports, pid=burner.pid)
    same_time("burn", spent, int(ns) - before, 2 * MS, ended - before)
    last = [row for r in reports for row in rows_of(r, pid=burner.pid)][-1]
    require(last.get("exited"), "the row of the ended process is not marked so")


def test_one_of_two_ends(bed):
    """The other one is followed on."""
    with bed.process(bed.burn, "-w", "-m", 50) as short, bed.process(
        bed.burn, "-w", "-m", 600
    ) as long:
        before = waiting_ns(long.pid)
        with bed.tracing("-p", f"{short.pid},{long.pid}", "--json", "-i", 100) as tracer:
            tell(short)
            finish(short)
            tell(long)
            ended = whole_ns(long.pid)
            ((_, _, _, ns),) = said(finish(long), "process")
            done = tracer.end()
    spent = on_cpu(done.intervals(), pid=long.pid)
    same_time("burn", spent, int(ns) - before, 2 * MS, ended - before)


def test_comm_follows(bed):
    """prctl and exec change the name of a row, not the row."""
    with bed.process(bed.family, "rename", 60, bed.burn, "-m", 60) as family:
        with bed.tracing("-p", family.pid, "--json", "-i", 60) as tracer:
            for name in (b"name-one", b"name-two"):
                tell(family)
                require(name in read_line(family), f"it is not called {name}")
                # The last of these begins when it had burnt under this name.
                tracer.wait_reports(2)
            tell(family)
            finish(family)
            reports = tracer.end().intervals()
    rows = [row for r in reports for row in rows_of(r, pid=family.pid)]
    require(len({row["key"] for row in rows}) == 1, "a new name made a new row")
    names = [row["comm"] for row in rows]
    changes = [n for i, n in enumerate(names) if not i or names[i - 1] != n]
    require(
        changes in (["family", "name-one", "name-two", "burn"], ["name-one", "name-two", "burn"]),
        f"its names were {changes}",
    )


def harmless(text):
    """Nothing that moves the cursor, changes colours or turns the writing direction."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in text if c != "\n")


def test_hostile_names_table(bed):
    with bed.process(bed.family, "hostile", 30) as family:
        with bed.tracing("-p", family.pid, "--summary") as tracer:
            tell(family)
            members = said(finish(family), "process")
            done = tracer.end()
    try:
        text = done.out.decode("utf-8")
    except UnicodeDecodeError as error:
        require(False, f"the table is not UTF-8: {error}")
    require(harmless(text), f"the table has control characters: {text!r}")
    for _, pid, *_ in members:
        require(re.search(rf"^ *{pid}[* ]", text, re.M), f"process {pid} has no row:\n{text}")
    # What is harmless in a name is still readable.
    for part in ("[2J", "RTL", "</script>&<b>", "%s%n%p%n"):
        require(part in text, f"no row is called {part}")


def test_hostile_names_json(bed):
    """check-report refuses what is not JSON."""
    with bed.process(bed.family, "hostile", 30) as family:
        with bed.tracing("-p", family.pid, "--json", "--summary") as tracer:
            tell(family)
            members = said(finish(family), "process")
            summary = tracer.end().summary()
    for _, pid, *_ in members:
        (row,) = rows_of(summary, pid=int(pid))
        require(row["comm"], f"process {pid} has no name")
    names = {row["comm"] for row in summary["workloads"]}
    require("</script>&<b>" in names and "%s%n%p%n" in names, f"the names are {names}")


def test_thread_names(bed):
    """--by thread gives the threads' own rows and keeps them apart."""
    with bed.process(bed.family, "idle") as family:
        tell(family)
        (_, tid) = read_line(family).decode().split()
        with bed.tracing("-p", family.pid, "--json", "--by", "thread", "-i", 100) as tracer:
            tell(family)
            finish(family)
            reports = tracer.end().intervals()
    tids = {row["tid"] for r in reports for row in rows_of(r, pid=family.pid)}
    require(tids == {family.pid, int(tid)}, f"the threads are {tids}")


def exec_by_thread(bed, mode):
    """A thread calls exec and goes on with the number of the leader, which has ended."""
    with bed.process(bed.family, mode, 60, bed.burn, "-w", "-m", 60) as family:
        before = waiting_ns(family.pid)
        with bed.tracing("-p", family.pid, "--json", "--by", "thread", "-i", 20) as tracer:
            tell(family)
            comm = pathlib.Path(f"/proc/{family.pid}/comm")
            tracer.wait_until("running it", lambda: comm.read_text(encoding="ascii") == "burn\n")
            # Its end must not come in the interval of the exec.
            tracer.wait_reports(2)
            tell(family)
            ended = whole_ns(family.pid)
            ((_, _, _, ns),) = said(finish(family), "process")
            # All have ended: so does the run.
            done = tracer.end()
    check_status(done)
    reports = done.intervals()
    burnt = [row for r in reports for row in rows_of(r, pid=family.pid) if row["comm"] == "burn"]
    require(burnt, "what was started has no row")
    require({row["tid"] for row in burnt} == {family.pid}, "it has not the leader's number")
    require(burnt[-1].get("exited"), "its end was not seen")
    require(not burnt[0].get("exited"), "it counts as ended from the beginning")
    # Half of it is from before the exec.
    spent = on_cpu(reports, pid=family.pid)
    same_time("all threads", spent, int(ns) - before, 2 * MS, ended - before)
    spent = sum(row["on_cpu_ns"] for row in burnt)
    precise(spent >= 55 * MS, f"{spent} ns of {ns} are its own")


def test_exec_by_a_thread(bed):
    exec_by_thread(bed, "exec")


def test_exec_after_the_leader(bed):
    exec_by_thread(bed, "exec-late")


def test_command_is_followed_alone(bed):
    with bed.process(bed.burn, "-m", BUSY_MS) as stranger:
        done, _ = bed.trace_command(["--json", "-i", 100], [bed.burn, "-m", 200])
        reports = done.reports()
        require(stranger.poll() is None, "the other process ended too early")
    require(not on_cpu(reports, pid=stranger.pid), "another process has a row")
    precise(on_cpu(reports, comm="burn") >= 195 * MS, "the command's time is not there")


def test_all_shows_everybody(bed):
    with bed.process(bed.burn, "-m", BUSY_MS) as burner:
        with bed.tracing("-a", "--json", "-i", 100) as tracer:
            bed.command(bed.burn, "-m", 100)
            tracer.wait_reports(2)
            reports = stop(tracer).intervals()
    names = {row["comm"] for r in reports for row in r["workloads"]}
    require(on_cpu(reports, pid=burner.pid), "a process from before has no row")
    require("t410trace" in names, f"t410trace itself has no row: {names}")
    require(
        any(row.get("kernel") for r in reports for row in r["workloads"]), "no kernel thread at all"
    )


def test_process_that_no_list_has(bed):
    """Kernels may leave process 1 out of their list of tasks: /proc has it."""
    done = bed.trace("-p", 1, "--json", "-d", 0.5)
    check_status(done)
    pids = {row["pid"] for r in done.reports() for row in r["workloads"]}
    require(pids <= {1}, f"rows of {pids}")


TESTS = [
    test_descendants,
    test_ends_with_its_processes,
    test_one_of_two_ends,
    test_comm_follows,
    test_hostile_names_table,
    test_hostile_names_json,
    test_thread_names,
    test_exec_by_a_thread,
    test_exec_after_the_leader,
    test_command_is_followed_alone,
    test_all_shows_everybody,
    test_process_that_no_list_has,
]
