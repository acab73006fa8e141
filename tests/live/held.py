# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that are held for a moment, so that it is known how much CPU time they had had by then."""

import contextlib
import os
import pathlib
import signal
import time

from live import LIMIT_S, Failed, clock_ns, finish, require, said


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
    """Does a thread that stopped have no CPU any more? Its parent is told a little before that."""
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
