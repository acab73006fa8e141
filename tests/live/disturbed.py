# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Were others in the way while a test ran? What was measured, and how much of it is evidence.

tests/README.md says what counts and why. Nothing here is asked of the test itself.
"""

import contextlib
import os
import pathlib
import subprocess
import time

MS = 1_000_000
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
# The host's steal time comes in clock ticks, and the last one may not be full.
MIN_STOLEN_NS = 2 * TICK_NS
# The watcher notes nothing shorter anyway.
MIN_STALLED_NS = 10 * MS
# Share of all CPUs. An idle machine has a fraction of it, and figures are exact to 1 %.
MIN_OTHERS = 0.02
# The parent of the kernel's threads
KERNEL = 2
# Whatever a test starts inherits this variable, also when it has lost its parent.
MARK = "T410_LIVE_RUNNER"


def stolen_ns():
    """Time that the host took from this machine's CPUs, in steps of a clock tick."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(words[8]) * TICK_NS


class Process:
    """A process as /proc/PID/stat has it."""

    def __init__(self, pid, parent, start, own_ns, children_ns):
        self.pid = pid
        self.parent = parent
        self.key = (pid, start)
        self.own_ns = own_ns
        self.children_ns = children_ns


NOTHING = Process(0, 0, 0, 0, 0)


def parse_stat(text):
    """The name may have blanks and brackets in it."""
    words = text[text.rindex(")") + 2 :].split()
    utime, stime, cutime, cstime = map(int, words[11:15])
    return Process(
        int(text.split(" ", 1)[0]),
        int(words[1]),
        int(words[19]),
        (utime + stime) * TICK_NS,
        (cutime + cstime) * TICK_NS,
    )


def all_processes():
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        # It may have ended meanwhile.
        with contextlib.suppress(OSError):
            process = parse_stat((folder / "stat").read_text(encoding="utf-8", errors="replace"))
            found[process.pid] = process
    return found


def is_marked(pid):
    """Was it started by a test, whoever its parent is now?"""
    with contextlib.suppress(OSError):
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return f"{MARK}={os.getpid()}".encode() in environment
    return False


def line_of(pid, processes):
    """Its parent, the parent of that, and so on."""
    line = []
    while pid in processes and processes[pid].parent not in (0, pid) and len(line) < 1000:
        pid = processes[pid].parent
        line.append(pid)
    return line


def others_ns(before, after, runner, ours=lambda pid: False):
    """
    CPU time of processes that are not descendants of @runner, nor @ours, between two looks.

    The time of a child that was waited for is in its parent's. So what was in a child at the
    first look, and is gone at the second, is taken off its next ancestor that is left. The
    ancestors of @runner may get our own orphans: of them only the time of their own counts. Threads
    of the kernel do not count: they do our work as well. All that is missed this way makes the sum
    too small, never too large.
    """
    above = {1, *line_of(runner, after)}

    def left(pid):
        return pid in after and after[pid].key == before[pid].key

    gained = {}
    for pid, process in after.items():
        line = {pid, *line_of(pid, after)}
        if runner in line or KERNEL in line or ours(pid):
            continue
        first = before[pid] if pid in before and left(pid) else NOTHING
        gained[pid] = process.own_ns - first.own_ns
        if pid not in above:
            gained[pid] += process.children_ns - first.children_ns
    for pid, process in before.items():
        heir = None if left(pid) else next(filter(left, line_of(pid, before)), None)
        if heir in gained and heir not in above:
            gained[heir] -= process.own_ns + process.children_ns
    return sum(max(0, ns) for ns in gained.values())


class Disturbance:
    """What others did during a test."""

    def __init__(self, wall_ns, cpus, stolen, stalled, others):
        self.wall_ns = wall_ns
        self.stolen_ns = stolen
        self.stalled_ns = stalled
        self.others_ns = others
        self.others = others / (cpus * wall_ns)

    def is_evidence(self):
        return (
            self.stolen_ns >= MIN_STOLEN_NS
            or self.stalled_ns >= MIN_STALLED_NS
            or self.others >= MIN_OTHERS
        )

    def __str__(self):
        return (
            f"in {self.wall_ns / 1e9:.1f} s the host took {self.stolen_ns / MS:.0f} ms, CPUs stood"
            f" still for {self.stalled_ns / MS:.0f} ms, others had {self.others:.1%} of the CPUs"
        )


class Watch:
    """Looks at the machine before and after each test."""

    def __init__(self, stalls):
        os.environ[MARK] = str(os.getpid())
        pipe = subprocess.PIPE
        # pylint: disable-next=consider-using-with
        self.helper = subprocess.Popen([stalls], stdin=pipe, stdout=pipe, bufsize=0)
        self.before = None

    def stalled_ns(self):
        """0 where real-time priorities are not allowed: then there is no evidence of this kind."""
        with contextlib.suppress(OSError):
            self.helper.stdin.write(b"\n")
            return int(self.helper.stdout.readline() or 0)
        return 0

    def look(self):
        return time.monotonic_ns(), stolen_ns(), self.stalled_ns(), all_processes()

    def start(self):
        self.before = self.look()

    def end(self):
        """What happened since start()"""
        before, after = self.before, self.look()
        others = others_ns(before[3], after[3], os.getpid(), is_marked)
        stolen, stalled = after[1] - before[1], after[2] - before[2]
        return Disturbance(after[0] - before[0], os.cpu_count(), stolen, stalled, others)

    def close(self):
        self.helper.stdin.close()
        self.helper.wait()
