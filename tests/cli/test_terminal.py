#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_terminal.py T410TRACE MAKE_ACCOUNTS: what commands show on a terminal, and that all else stays whole."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import each_test
import invented

program = pathlib.Path(sys.argv[1]).resolve()
maker = pathlib.Path(sys.argv[2]).resolve()
MS = 1_000_000
BUSY, QUIET = 40, 15


def trace():
    """A second in which some processes move bytes and others use 0.1 ms of a CPU."""
    # With "weights" and "devices" the reader need not look ahead for them.
    yield {"type": "header", "schema": "t410trace.trace/1", "sockets": [{"id": 0, "cpus": "0-63"}],
           "weights": [], "devices": [],
           "counters": [{"id": 0, "name": "c0", "event": "mem_bytes_rd", "socket": 0, "source": "cpu"}]}
    for pid in range(1, BUSY + QUIET + 1):
        name = "busy" if pid <= BUSY else "quiet"
        yield {"type": "workload", "id": pid, "pid": pid, "start_ns": 1, "comm": name, "cgroup": f"/{name}/{pid}"}
    for w in range(100):
        times = {"start_ns": w * 10 * MS, "end_ns": (w + 1) * 10 * MS}
        for pid in range(1, BUSY + 1):
            yield {"type": "slice", "workload": pid, "cpu": pid, **times, "on_cpu_ns": pid * 100_000}
        yield {"type": "window", "socket": 0, **times, "values": [[0, 10**7, 10 * MS, 10 * MS]]}
    yield {"type": "window", "socket": 0, "start_ns": 1000 * MS, "end_ns": 1010 * MS,
           "values": [[0, 0, 10 * MS, 10 * MS]]}
    for pid in range(BUSY + 1, BUSY + QUIET + 1):
        yield {"type": "slice", "workload": pid, "cpu": pid, "start_ns": 1001 * MS, "end_ns": 1002 * MS,
               "on_cpu_ns": 100_000}
    yield {"type": "end", "time_ns": 1010 * MS}


FILE = tempfile.NamedTemporaryFile(mode="w", suffix=".ndjson")
FILE.writelines(json.dumps(line) + "\n" for line in trace())
FILE.flush()


def on_terminal(rows, columns, *arguments, stdin=None, command="report", status=0):
    """What a terminal of this size receives."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    done = subprocess.Popen([program, command, *arguments], stdin=stdin or subprocess.DEVNULL, stdout=theirs,
                            stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert done.wait() == status, text
    return text.decode().replace("\r\n", "\n")


SIMPLE = ("--summary", "--method", "cpu-time")


def shown(text):
    """Without a line of progress, should this machine be slow; and the number of rows that are busy."""
    text = text.rpartition("\r")[2]
    return text, len(re.findall(r"(?m)^ +\d+. busy ", text))


def piped(*arguments, command="report"):
    return subprocess.run([program, command, *arguments], capture_output=True, text=True, check=True).stdout


def test_as_many_rows_as_fit():
    for rows in (20, 24, 40):
        text, busy = shown(on_terminal(rows, 80, FILE.name, *SIMPLE))
        lines = text.splitlines()
        left_out = int(re.search(r"(?m)^\.\.\. and (\d+) more rows", text)[1])
        assert len(lines) == rows - 1, (rows, len(lines), text)
        assert busy + left_out == BUSY + QUIET and "quiet" not in text, text
        # Sums at the foot are right: bytes of rows and of what is left out.
        parts = [line for line in lines if "  busy " in line or line.startswith("... and")]
        added = sum(float(re.search(r"(\d\.\d{3})", line)[1]) for line in parts)
        total = float(re.search(r"(?m)^socket 0.*?(\d\.\d{3})", text)[1])
        assert abs(added - total) < 0.001 * len(parts), (added, total)


def test_quiet_rows_alone_are_left_out():
    text, busy = shown(on_terminal(100, 80, FILE.name, *SIMPLE))
    assert busy == BUSY and f"... and {QUIET} more rows (--all-rows)" in text, text


def test_cgroups_have_one_line_too():
    text, _ = shown(on_terminal(20, 80, FILE.name, *SIMPLE, "--by", "cgroup"))
    assert len(text.splitlines()) == 19 and text.count(" more row") == 1, text


def test_all_rows_are_the_same_everywhere():
    for more in (["--method", "cpu-time"], ["--by", "cgroup"]):
        whole = piped(FILE.name, "--all-rows", *more)
        assert "... and" not in whole and "quiet" in whole and str(BUSY + QUIET) in whole, whole
        assert on_terminal(20, 80, FILE.name, "--all-rows", *more) == whole


def test_a_pipe_has_the_largest_rows():
    """Twenty, and a line for the rest; all where a reader asks for everything, and in a file."""
    text = piped(FILE.name, *SIMPLE)
    assert shown(text)[1] == 20 and f"... and {BUSY + QUIET - 20} more rows (--all-rows)" in text, text
    total = float(re.search(r"(?m)^all +(\d\.\d{3})", text)[1])
    added = sum(float(n) for n in re.findall(r"(?m)^(?: +\d+. busy .*?|\.\.\. and .*?)(\d\.\d{3})", text))
    assert abs(added - total) < 0.001 * 21, (added, total)
    whole = piped(FILE.name, *SIMPLE, "--all-rows")
    assert shown(whole)[1] == BUSY and whole.count(" quiet ") == QUIET, whole
    assert shown(piped(FILE.name, *SIMPLE, "-v"))[1] == BUSY
    with tempfile.NamedTemporaryFile() as file:
        piped(FILE.name, *SIMPLE, "-o", file.name)
        assert pathlib.Path(file.name).read_text() == whole
    rows = json.loads(piped(FILE.name, "--summary", "--json"))["workloads"]
    assert len(rows) == BUSY + QUIET


def test_a_rest_is_marked():
    """The last interval of a run may be much shorter than the others."""
    titles = re.findall(r"(?m)^at .*", piped(FILE.name, "--method", "cpu-time"))
    assert [", 0.010 s (cut short), by process" in title for title in titles] == [False, True], titles
    assert "cut short" not in piped(FILE.name, *SIMPLE)


def machine():
    """Three seconds of two sockets: three sources in two directions each, forty processes."""
    names = [(s, source, d) for s in range(2) for source in ("cpu", "device", "remote") for d in ("read", "write")]
    yield {"type": "header", "schema": "t410trace.trace/1", "weights": [], "devices": [],
           "sockets": [{"id": 0, "cpus": "0-31"}, {"id": 1, "cpus": "32-63"}],
           "counters": [{"id": i, "name": f"c{i}", "event": "bytes", "socket": s, "source": source, "direction": d}
                        for i, (s, source, d) in enumerate(names)]}
    for pid in range(1, 41):
        yield {"type": "workload", "id": pid, "pid": 4000 + pid, "start_ns": 1, "comm": "busy",
               "cgroup": f"/slurm/job_{pid % 4}/batch/task_{pid}"}
    for w in range(300):
        times = {"start_ns": w * 10 * MS, "end_ns": (w + 1) * 10 * MS}
        for pid in range(1, 41):
            if w * pid % 7 < 4:
                yield {"type": "slice", "workload": pid, "cpu": pid, **times, "on_cpu_ns": pid * 200_000}
        for s in range(2):
            yield {"type": "window", "socket": s, **times,
                   "values": [[s * 6 + k, (6 - k) * 10**6 * (1 + w % 3), 10 * MS, 10 * MS] for k in range(6)]}
    yield {"type": "end", "time_ns": 3000 * MS}


def test_details_give_way_to_rows():
    """80 x 24 has room for twelve workloads of two sockets, in each interval."""
    with tempfile.NamedTemporaryFile(mode="w", suffix=".ndjson") as file:
        file.writelines(json.dumps(line) + "\n" for line in machine())
        file.flush()
        text = on_terminal(24, 80, file.name).rpartition("\r")[2]
        reports = re.split(r"(?m)^\n", text)
        assert len(reports) == 3, text
        for report in reports:
            busy = re.findall(r"(?m)^ +40\d\d. busy ", report)
            assert len(busy) >= 12 and len(report.splitlines()) <= 23, (len(busy), report)
            # What is left out of the table is in its sums.
            share = [float(n) for n in re.findall(r"(?m)^(?!all|socket).* <?(\d+\.\d)%", report.partition("\n")[2])]
            assert abs(sum(share) - 100) < 0.1 * len(share), report
        # A high terminal has everything.
        high = on_terminal(100, 80, file.name)
        for word in ("unattributed device", "unattributed remote", "  device ", "  remote "):
            assert word in high and word not in text, word


def test_top_and_json_are_as_ever():
    assert on_terminal(20, 80, FILE.name, "--top", "30") == piped(FILE.name, "--top", "30")
    assert on_terminal(20, 80, FILE.name, "--json") == piped(FILE.name, "--json")


def slowly(to):
    """A second of the trace, a pause, the rest."""
    lines = list(trace())
    with os.fdopen(to, "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines[:-1])
        out.flush()
        time.sleep(2.3)
        # so many that the clock is looked at again
        out.writelines(json.dumps({**lines[-2], "start_ns": 1003 * MS, "end_ns": 1004 * MS}) + "\n" for _ in range(4200))
        out.write(json.dumps(lines[-1]) + "\n")


def wait_for(*arguments, command="report", status=0):
    """What a terminal receives while a slow pipe is read."""
    ours, theirs = os.pipe()
    writer = threading.Thread(target=slowly, args=(theirs,))
    writer.start()
    try:
        return on_terminal(24, 80, "-", *arguments, stdin=ours, command=command, status=status)
    finally:
        os.close(ours)
        writer.join()


def test_progress():
    with tempfile.TemporaryDirectory() as folder:
        text = wait_for("--csv", f"{folder}/out")
    # It is overwritten, and in the end blank.
    assert re.search(r" report: \d+ kB read in [2-9] s *\r(.*\r)? +\r\S+ report: wrote .*\n$", text), repr(text)


def test_no_progress_among_reports():
    text = wait_for("--all-rows")
    assert " read in " not in text and "\r" not in text, repr(text)


def test_neighbours_fit():
    processes = {100 + i: (f"p{i}", f"/box/{i}") for i in range(30)}
    crowd = invented.Trace(1200, processes, lambda pid, w: 5_000_000 * (1 + (pid < 103 and w % 200 < 50)),
                           lambda s: 600 if s % 20 < 5 else 200)
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        crowd.write(file.name)
        whole = piped(file.name, command="neighbours")
        assert "(10 more)" in whole and len(whole.splitlines()) > 30, whole
        fitting = on_terminal(26, 100, file.name, command="neighbours").rpartition("\r")[2]
        left_out = int(re.search(r"\((\d+) more\)", fitting)[1])
        rows = len(re.findall(r"(?m)^ *\d+ p\d+ ", fitting))
        assert len(fitting.splitlines()) == 25 and rows + left_out == 30 and left_out > 10, fitting
        for more in (["--top", "25"], ["--json"], ["-v"]):
            got = on_terminal(24, 80, file.name, *more, command="neighbours").rpartition("\r")[2]
            assert got == piped(file.name, *more, command="neighbours"), more


def test_jobs_fit():
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/accounts.db"
        subprocess.run([maker, file, "many=150"], check=True)
        whole = piped("--state", file, command="jobs")
        assert len(re.findall(r"(?m)^1\d\d\d +", whole)) == 100, whole
        text = on_terminal(24, 80, "--state", file, command="jobs")
        jobs = re.findall(r"(?m)^(1\d\d\d) +", text)
        assert f"these are the last {len(jobs)} jobs" in text and jobs[-1] == "1149", text
        # a list and what is said below it, of which one line may be long
        assert 15 <= len(jobs) and len(text.splitlines()) <= 24, text
        for more in (["-n", "0"], ["-n", "60"], ["--json"]):
            got = on_terminal(24, 80, "--state", file, *more, command="jobs")
            assert piped("--state", file, *more, command="jobs") in got, more


def test_progress_of_neighbours():
    # The trace has no latencies, which is said at the end.
    text = wait_for(command="neighbours", status=1)
    assert re.search(r" neighbours: \d+ kB read in [2-9] s *\r", text) and "no latencies" in text, repr(text)


sys.exit(each_test.run_all("terminal", globals()))
