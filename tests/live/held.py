# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that rest, are held for a moment or have ended: how much CPU time they had had by then."""

import contextlib
import ctypes
import os
import pathlib
import signal
import time

from live import LIMIT_S, Failed, clock_ns, finish, require, said

PR_SET_CHILD_SUBREAPER = 36


def waiting_ns(pid):
    """CPU time of a process that has come to rest, waiting for its input."""
    stat = pathlib.Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + LIMIT_S
    while True:
        before = clock_ns(pid)
        asleep = stat.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "S"
        if asleep and clock_ns(pid) == before:
            return before
        require(time.monotonic() < deadline, f"process {pid} does not wait")
        time.sleep(0.001)


def whole_ns(pid):
    """
    All CPU time of a child of ours, its end with it, when it has ended. It is still to be waited for.

    An emulated CPU takes tens of milliseconds for the start of a program, and as long for its end.
    And it is not looked often: when we are woken and somebody has to leave the CPU for that, the
    scheduler does not read its clock again. What passes until the switch, which is long on an
    emulated CPU, is in the books and not in the clock of who leaves.
    """
    deadline = time.monotonic() + LIMIT_S
    while not (os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) and off_cpu(pid, pid)):
        require(time.monotonic() < deadline, f"process {pid} does not end")
        time.sleep(0.02)
    return clock_ns(pid)


@contextlib.contextmanager
def adopting():
    """Meanwhile orphans among our descendants become our children."""
    libc = ctypes.CDLL(None, use_errno=True)
    require(not libc.prctl(PR_SET_CHILD_SUBREAPER, 1), "orphans cannot be adopted")
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)


def thread_ns(pid, tid):
    """CPU time of a thread of another process that is held."""
    return int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text(encoding="ascii").split()[0])


def wait_used(process, ns):
    """Until a process has used so much more CPU time, however long that takes."""
    end, deadline = clock_ns(process.pid) + ns, time.monotonic() + LIMIT_S
    while clock_ns(process.pid) < end:
        require(time.monotonic() < deadline, f"process {process.pid} gets no CPU time")
        time.sleep(0.001)


def off_cpu(pid, tid):
    """Has a thread that stopped or ended left its CPU? Its parent is told a little before that."""
    text = pathlib.Path(f"/proc/{pid}/task/{tid}/syscall").read_text(encoding="ascii")
    return not text.startswith("running")


@contextlib.contextmanager
def held(process):
    """Meanwhile no thread of the process runs: what it has used is what it had when it is moved."""
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    deadline = time.monotonic() + LIMIT_S
    for tid in os.listdir(f"/proc/{process.pid}/task"):
        while not off_cpu(process.pid, tid):
            if time.monotonic() > deadline:
                raise Failed(f"process {process.pid} does not stop")
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def move_held(process, folder):
    """Moves a process to another cgroup; returns the CPU time it had until then."""
    with held(process):
        ns = clock_ns(process.pid)
        (folder / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
    return ns


def ended_ns(process):
    """All CPU time of a burner, when it has ended."""
    ((_, _, _, ns),) = said(finish(process), "process")
    return int(ns)
