#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The runner of the live tests, with made-up tests and made-up neighbours."""

import contextlib
import errno
import io
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))

# pylint: disable=wrong-import-position
import each_test
from daemon import hold_port
from disturbed import MS, TICK_NS, Disturbance, Process, all_processes, others_ns, parse_stat
from live import Busy, Failed, Imprecise, Missed, Skip, check_sums, precise, require
from run import ATTEMPTS, Runner

S = 1000 * MS
IP_LOCAL_PORT_RANGE = 51
QUIET = Disturbance(10 * S, 2, 0, 0, 0)
STOLEN = Disturbance(10 * S, 2, 40 * MS, 0, 0)


class MadeUpWatch:
    """Says after each try what it was told."""

    def __init__(self, *seen):
        self.seen = list(seen)

    def start(self):
        pass

    def end(self):
        return self.seen.pop(0)


class MadeUpBed:
    """A scratch folder is all that a made-up test needs."""

    def __init__(self):
        self.scratch = tempfile.mkdtemp()


def fails(times, error=Imprecise):
    """A test that fails so often, then passes."""
    left = [times]

    def test(_bed):
        if left[0]:
            left[0] -= 1
            raise error("it is off")

    return test


def run(tests, *seen, disturbed=None):
    """The lines that the runner prints for these tests, and the runner"""
    runner = Runner(MadeUpBed, MadeUpWatch(*seen), disturbed)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for number, test in enumerate(tests):
            runner.run(f"made-up/{number}", test)
        runner.judge()
    return out.getvalue().splitlines(), runner


def test_passes():
    lines, runner = run([fails(0)])
    assert lines == ["ok made-up/0"] and not runner.failed


def test_no_evidence():
    """It fails at once, though a second try would pass."""
    lines, runner = run([fails(1)], QUIET)
    assert len(lines) == 1, lines
    assert lines[0].startswith("not ok made-up/0: it is off; and nobody was"), lines
    assert runner.failed == 1 and not runner.again


def test_evidence():
    """It is tried again, counted, and both are in the log."""
    lines, runner = run([fails(1), *[fails(0)] * 49], STOLEN)
    assert lines[0].startswith("# made-up/0, try 1: it is off; in 10.0 s the host took 40 "), lines
    assert lines[1] == "ok made-up/0: at a second try", lines
    assert (runner.ran, runner.failed, runner.again) == (50, 0, 1)


def test_evidence_each_time():
    """What was in the way of the first try excuses no other."""
    lines, runner = run([fails(2)], STOLEN, QUIET)
    assert lines[-1].startswith("not ok made-up/0: it is off; and nobody"), lines
    assert runner.failed == 1


def test_never_right():
    lines, runner = run([fails(ATTEMPTS)], *[STOLEN] * ATTEMPTS)
    assert lines[-1].startswith(f"not ok made-up/0: it is off, at each of {ATTEMPTS} tries"), lines
    assert len(lines) == ATTEMPTS and runner.failed == 1


def test_missed():
    """What the kernel left out is evidence of itself, and not for ever."""
    lines, runner = run([fails(1, Missed)], QUIET)
    assert lines[-1] == "ok made-up/0: at a second try" and not runner.failed, lines
    lines, runner = run([fails(ATTEMPTS, Missed)], *[QUIET] * ATTEMPTS)
    assert lines[-1].startswith("not ok made-up/0: it is off, at each of"), lines
    assert runner.failed == 1


def test_too_many():
    """2 % may need another try, and not one more; of a few, one may."""
    lines, runner = run([fails(1), *[fails(0)] * 9], STOLEN)
    assert not runner.failed and runner.again == 1, lines
    lines, runner = run([fails(1), fails(1), *[fails(0)] * 98], STOLEN, STOLEN)
    assert not runner.failed and runner.again == 2, lines
    lines, runner = run([fails(1), fails(1), fails(1), *[fails(0)] * 97], *[STOLEN] * 3)
    assert runner.failed == 1, lines
    words = "not ok tries: 3 of 100 tests passed only at a second try (3.0%"
    assert lines[-1].startswith(words), lines


def test_errors_are_final():
    """An invariant, a bug in a test: no evidence makes them good. A skip is none either."""
    for error, start in (Failed, "not ok"), (KeyError, "not ok"), (Skip, "skip"), (Busy, "skip"):
        lines, runner = run([fails(1, error)], STOLEN)
        assert len(lines) == 1 and lines[0].startswith(f"{start} made-up/0: "), lines
        assert not runner.again


def test_put_off():
    """Beside other work, what that has disturbed is put off; errors are final all the same."""
    names = []
    tests = [fails(0), fails(1), fails(1, Busy), fails(1, Skip), fails(1, Failed), fails(1)]
    lines, runner = run(tests, STOLEN, QUIET, disturbed=names)
    kinds = [line.split(" made-up")[0] for line in lines]
    assert kinds == ["ok", "# disturbed", "# disturbed", "skip", "not ok", "not ok"], lines
    assert names == ["made-up/1", "made-up/2"] and runner.failed == 2 and not runner.again


def test_kinds():
    """require() is final, precise() is not."""
    for judge, kind in (require, Failed), (precise, Imprecise):
        try:
            judge(False, "no")
        except Failed as error:
            assert type(error) is kind
        else:
            raise AssertionError("it passed")


def report(idle_ns, rows_ns=500 * MS, busy_ns=500 * MS, duration_ns=1000 * MS):
    return {
        "sequence": 0,
        "interval": {"duration_ns": duration_ns},
        "workloads": [{"on_cpu_ns": rows_ns}],
        "sockets": [
            {"busy_ns": busy_ns, "idle_ns": idle_ns, "lost_ns": 0, "cpus": os.cpu_count()}
        ],
    }


def test_sums_are_final():
    """CPU time adds up, or the test fails for good."""
    whole = os.cpu_count() * 1000 * MS
    check_sums(report(whole - 500 * MS))
    check_sums(report(whole - 510 * MS), 10 * MS)
    for wrong, stolen in (
        (report(whole - 510 * MS), 0),
        (report(whole), 0),
        (report(whole - 500 * MS, 501 * MS), S),
    ):
        try:
            check_sums(wrong, stolen)
        except Failed as error:
            assert not isinstance(error, Imprecise)
        else:
            raise AssertionError("it passed")


def test_edges_are_precise():
    """A short interval may end a little late where the host takes a CPU for less than a tick."""
    whole = os.cpu_count() * 30 * MS
    for off, kind in (0, None), (-MS, Imprecise), (MS, Imprecise), (3 * MS, Failed):
        try:
            check_sums(report(whole - 10 * MS + off, 10 * MS, 10 * MS, 30 * MS))
            raised = None
        except Failed as error:
            raised = type(error)
        assert raised is kind, (off, raised)


def test_what_is_evidence():
    assert not QUIET.is_evidence()
    assert not Disturbance(S, 2, TICK_NS, 0, 0).is_evidence()
    assert Disturbance(S, 2, 2 * TICK_NS, 0, 0).is_evidence()
    assert Disturbance(S, 2, 0, 10 * MS, 0).is_evidence()
    assert not Disturbance(S, 2, 0, 0, 30 * MS).is_evidence()
    assert Disturbance(S, 2, 0, 0, 50 * MS).is_evidence()


def table(*rows):
    """(pid, parent, own ms, ms of children that were waited for)"""
    return {
        pid: Process(pid, parent, pid, own * MS, children * MS)
        for pid, parent, own, children in rows
    }


INIT, KERNEL, WORKER = (1, 0, 5, 50), (2, 0, 0, 0), (9, 2, 7, 0)
MAKE, SHELL, RUNNER = (20, 1, 10, 100), (30, 1, 1, 1), (31, 30, 40, 400)


def test_others():
    before = table(INIT, KERNEL, WORKER, MAKE, SHELL, RUNNER, (21, 20, 30, 0))
    same = others_ns(before, before, 31)
    assert same == 0, same

    def gained(*rows):
        return others_ns(before, table(*rows), 31) // MS

    busy = (21, 20, 80, 0)
    # it has run on; what we, our children and the kernel's threads have does not count
    we = (31, 30, 900, 900), (40, 31, 70, 0)
    after = gained(INIT, KERNEL, (9, 2, 900, 0), MAKE, SHELL, *we, busy)
    assert after == 50, after
    # it has ended, and make has waited for it: 50 ms of it are new
    after = gained(INIT, KERNEL, WORKER, (20, 1, 10, 180), SHELL, RUNNER)
    assert after == 50, after
    # it has ended and nobody has waited: what is not known is not counted
    after = gained(INIT, KERNEL, WORKER, MAKE, SHELL, RUNNER)
    assert after == 0, after
    # all of make has ended, and process 1 has waited, perhaps for orphans of ours as well
    after = gained((1, 0, 5, 990), KERNEL, WORKER, SHELL, RUNNER)
    assert after == 0, after
    # it is one of the others itself, and what it waits for is not its own
    after = gained((1, 0, 25, 990), KERNEL, WORKER, SHELL, RUNNER)
    assert after == 20, after
    # also for a runner that has come into its namespace from outside
    outside = table(INIT, (31, 0, 40, 400)), table((1, 0, 5, 99), (31, 0, 40, 400))
    assert others_ns(*outside, 31) == 0
    # so is one that has just begun
    new = (50, 1, 15, 0)
    after = gained((1, 0, 25, 50), KERNEL, WORKER, MAKE, SHELL, RUNNER, (21, 20, 30, 0), new)
    assert after == 35, after
    # an orphan of ours has process 1 as its parent, and the mark
    orphan = table(INIT, MAKE, SHELL, RUNNER, (21, 20, 30, 0), (60, 1, 99, 0))
    assert others_ns(before, orphan, 31, {60}.__contains__) == 0
    assert others_ns(before, orphan, 31) == 99 * MS


def test_real_processes():
    """A neighbour in a family of its own is seen, a child of ours is not."""
    text = "7 (a) b) (c) S 3 " + " ".join(["0"] * 9) + " 1 2 3 4 " + "0 " * 4 + "99 0"
    made_up = parse_stat(text)
    assert (made_up.pid, made_up.parent, made_up.key) == (7, 3, (7, 99))
    assert (made_up.own_ns, made_up.children_ns) == (3 * TICK_NS, 7 * TICK_NS)
    before = all_processes()
    assert os.getpid() in before and before[os.getpid()].parent == os.getppid()
    burn = "import time\nwhile time.process_time() < 0.3: pass\ninput()"
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE) as child:
        while time.clock_gettime_ns(~child.pid << 3 | 2) < 300 * MS:
            time.sleep(0.01)
        after = all_processes()
        ours = others_ns(before, after, os.getpid())
        # as a runner would see it that is somebody else
        theirs = others_ns(before, after, child.pid + 1_000_000)
        child.stdin.write(b"\n")
    assert theirs >= ours + 290 * MS, f"{ours} without, {theirs} with a busy process"


def bound(port, reuse, span=0):
    """0, or why no client and no server gets the port, or one of this span of them."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        try:
            if span:
                s.setsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, span.to_bytes(4, sys.byteorder))
            s.bind(("127.0.0.1", port))
            s.listen()
        except OSError as error:
            return error.errno
    return 0


def test_a_held_port():
    """The server that is told it gets it, again and again. No other does, and the kernel gives it to nobody."""
    with hold_port() as held:
        port = held.getsockname()[1]
        assert [bound(port, 1), bound(port, 0), bound(port, 1)] == [0, errno.EADDRINUSE, 0]
        for reuse in (0, 1):
            # Linux before 6.3 does not know that option
            found = bound(0, reuse, port << 16 | port)
            assert found in (errno.EADDRINUSE, errno.ENOPROTOOPT), (reuse, found)


if __name__ == "__main__":
    sys.exit(each_test.run_all("live-runner", globals()))
