# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPU time in the books, beside the kernel's own."""

import pathlib
import re
import statistics

from iowho import who
from live import (
    BUSY_MS,
    LIMIT_S,
    MS,
    Failed,
    Skip,
    check_complete,
    check_status,
    kernel_ids,
    near,
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
from test_end import bpftool

# They send records, and no task takes their CPU from them: interrupts are off, or soft ones are.
UNPREEMPTED = {
    "ledger_switch",
    "ledger_tick",
    "ledger_flush",
    "window_tick",
    "window_now",
    "io_flush",
    "io_sent",
    "io_received",
}


def test_busy_loop(bed):
    """One thread, by process."""
    done, text = bed.trace_command(["--json", "-i", 300], [bed.burn, "-c", bed.cpu, "-m", 1500])
    ((_, pid, _, expected),) = said(text, "process")
    same_time("burn", on_cpu(done.intervals(), pid=int(pid)), int(expected))


def test_threads_by_process(bed):
    done, text = bed.trace_command(["--json", "-i", 300], [bed.burn, "-t", 3, "-m", 500])
    ((_, pid, _, expected),) = said(text, "process")
    reports = done.intervals()
    same_time("burn", on_cpu(reports, pid=int(pid)), int(expected))
    for report in reports:
        require(len(rows_of(report, pid=int(pid))) <= 1, "more than one row for a process")


def test_threads_by_thread(bed):
    done, text = bed.trace_command(
        ["--json", "-i", 300, "--by", "thread"], [bed.burn, "-t", 3, "-m", 500]
    )
    ((_, pid, _, expected),) = said(text, "process")
    reports = done.intervals()
    threads = said(text, "thread")
    require(len(threads) == 3, f"{len(threads)} threads")
    for _, tid, ns in threads:
        # The first thread also starts and ends the process.
        slack = 3 * MS if tid == pid else 0
        same_time(f"thread {tid}", on_cpu(reports, pid=int(pid), tid=int(tid)), int(ns), slack)
    same_time("all threads", on_cpu(reports, pid=int(pid)), int(expected))


def test_everything_adds_up(bed):
    """Each of many reports of a busy machine; check_sums looks at every one."""
    with bed.process(bed.burn, "-t", 3, "-m", BUSY_MS):
        done = bed.trace("-a", "--json", "-i", 100, "-d", 2)
    check_status(done)
    reports = done.intervals()
    require(len(reports) <= 20, f"{len(reports)} reports of 100 ms in 2 s")
    # Whoever has to wait for a CPU leaves out what would be too late.
    precise(len(reports) >= 4, f"{len(reports)} reports of 100 ms in 2 s")
    for report in reports:
        check_complete(report)
    for before, after in zip(reports, reports[1:]):
        require(
            before["interval"]["end_ns"] == after["interval"]["start_ns"],
            "a gap between two reports",
        )
    took = reports[-1]["interval"]["end_ns"] - reports[0]["interval"]["start_ns"]
    require(took >= 2000 * MS, f"the run took {took} ns")
    precise(near(took, 2000 * MS, 0.1), f"the run took {took} ns")


def test_summary_is_the_sum(bed):
    with bed.tracing("-a", "--json", "-i", 100) as tracer:
        bed.command(bed.burn, "-m", 300)
        done = stop(tracer)
    summary, intervals = done.summary(), done.intervals()
    for name in ("busy_ns", "idle_ns", "lost_ns"):
        parts = sum(s[name] for r in intervals for s in r["sockets"])
        whole = sum(s[name] for s in summary["sockets"])
        require(parts == whole, f"{name}: {parts} in the reports, {whole} in the summary")
    for row in summary["workloads"]:
        parts = on_cpu(intervals, key=row["key"])
        require(
            parts == row["on_cpu_ns"],
            f"{row['key']}: {parts} ns in the reports, {row['on_cpu_ns']} ns in the summary",
        )


def test_short_command(bed):
    # Of the whole run: an interval may end between the end of the process and that of the command.
    done, text = bed.trace_command(["--json", "--summary"], [bed.storm, 1, bed.burn, "-m", 2])
    ((_, pid, _, expected),) = said(text, "process")
    ((_, _, ended),) = said(text, "ended")
    (row,) = rows_of(done.summary(), pid=int(pid))
    require(row["comm"] == "burn", f"its name is {row['comm']}")
    require(row.get("exited"), "it is not marked as ended")
    same_time("burn", row["on_cpu_ns"], int(expected), 2 * MS, int(ended))
    least = int(expected) * 0.99
    precise(row["on_cpu_ns"] >= least, f"{row['on_cpu_ns']} ns in the report, {expected} ns by its own clock")


def test_short_commands(bed):
    """Each of 200 that live 2 ms."""
    done, text = bed.trace_command(
        ["--json", "--summary", "-i", 200], [bed.storm, 200, bed.burn, "-m", 2]
    )
    summary = done.summary()
    expected = {int(pid): int(ns) for _, pid, _, ns in said(text, "process")}
    rows = {row["pid"]: row for row in rows_of(summary, comm="burn")}
    require(len(expected) == 200, f"only {len(expected)} ran")
    require(rows.keys() <= expected.keys(), f"rows of others: {rows.keys() - expected.keys()}")
    # One that ran between two tasks with hidden switches was not seen either.
    hidden = summary["quality"]["unseen_switches"]
    precise(not hidden or len(rows) == 200, f"{len(rows)} rows for 200 processes, {hidden} hidden switches")
    require(len(rows) == 200, f"{len(rows)} rows for 200 processes")
    # The scheduler reads its clock before it looks for the next task, which may be one of another
    # CPU, and gives that one the time of the search; the books give it to the task that left. And
    # a hidden switch may put a run on the row of its neighbour.
    short = [p for p, row in rows.items() if row["on_cpu_ns"] < expected[p] * 0.99]
    precise(len(short) <= 5, f"{len(short)} rows have less than their process's own clock")
    total, known = sum(r["on_cpu_ns"] for r in rows.values()), sum(expected.values())
    ended = {int(pid): int(ns) for _, pid, ns in said(text, "ended")}
    require(ended.keys() == expected.keys(), f"{len(ended)} of 200 were waited for")
    # The same again: a moment at each switch
    same_time("all of them", total, known, 40 * MS, sum(ended.values()))


def test_never_switches(bed):
    """A task that keeps its CPU is in every report, not only when it leaves."""
    with bed.process(bed.burn, "-f", "-w", "-c", bed.cpu, "-m", 2000) as burner:
        with bed.tracing("-p", burner.pid, "--json", "-i", 200) as tracer:
            try:
                tell(burner)
                require(said(read_line(burner), "thread"), "the burner said nothing of its thread")
            except (OSError, Failed):
                if burner.wait(LIMIT_S) == 3:
                    raise Skip("no real-time scheduling") from None
                raise
            ((_, _, _, expected),) = said(read_line(burner), "process")
            done = tracer.end()
    reports = done.intervals()
    same_time("burn", on_cpu(reports, pid=burner.pid), int(expected))
    shares = [
        on_cpu([r], pid=burner.pid) / r["interval"]["duration_ns"]
        for r in reports
        if r["interval"]["duration_ns"] >= 195 * MS
    ][1:-1]
    # Fewer when we get no CPU to make them.
    precise(len(shares) >= 3, f"only {len(shares)} full reports")
    # The kernel gives starving tasks some time even beside a real-time one; another one like it takes all.
    precise(min(shares) > 0.6, f"a report in which it has {min(shares):.2f} of the time only")
    precise(statistics.median(shares) > 0.9, f"typically {statistics.median(shares):.3f}")


def test_reader_starts_again(bed):
    """The clock of a reader is closed once: the second time it may be somebody else's file."""
    text = bed.command(bed.reader, bed.cpu).out
    ((_, before, after, stopped, again),) = said(text, "windows")
    ((_, twice),) = said(text, "closed")
    require(int(twice) == 0, f"{twice} descriptors closed that were not open")
    require(int(before) and int(after), f"{before} windows, and {after} after a new start")
    require(not int(stopped), f"{stopped} windows of a reader that was stopped")
    require(int(again), "no window of the event that was opened after that")


def test_preemption(bed):
    """All other programs that send records turn preemption off, where the kernel lets them."""
    symbols = pathlib.Path("/proc/kallsyms").read_text(encoding="ascii")
    calls = {}
    with who(bed) as iowho:
        for number in map(str, kernel_ids(iowho.process.pid)["prog"]):
            code = str(bpftool("prog", "dump", "xlated", "id", number))
            names = re.findall(r"call bpf_(ringbuf_output|preempt_(?:dis|en)able)\b", code)
            calls[bpftool("prog", "show", "id", number)["name"]] = set(names)
    sending = {name for name in calls if "ringbuf_output" in calls[name]} - UNPREEMPTED
    require(sending >= {"task_fork", "task_exec", "task_rename", "task_exit"}, f"of {calls}")
    require(sending >= {"cgroup_made", "cgroup_renamed", "cgroup_removed", "io_complete"}, f"of {calls}")
    wanted = {"ringbuf_output"}
    if " bpf_preempt_disable" in symbols:
        wanted |= {"preempt_disable", "preempt_enable"}
    wrong = {name: calls[name] for name in sending if calls[name] != wanted}
    require(not wrong, f"they call {wrong} instead of {wanted}")


TESTS = [
    test_busy_loop,
    test_threads_by_process,
    test_threads_by_thread,
    test_everything_adds_up,
    test_summary_is_the_sum,
    test_short_command,
    test_short_commands,
    test_never_switches,
    test_reader_starts_again,
    test_preemption,
]
