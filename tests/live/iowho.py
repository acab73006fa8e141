# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""iowho as the tests use it: its rows, and which bytes may be missing in them."""

import contextlib
import time

from live import Failed, Missed, clock_ns, precise, read_line, require, said, tell
from test_cgroups import mount_point

NOBODY = -1
# Requests are hurried and come in bursts: with process 1 at work on purpose up to 2.3 times its share
# of the time was missing (44 runs of disk_of_a_file), 2.6 times of large ones (48 of disk_owners).
HIDDEN_MISS = 4
# Processes that tests have started to make traffic
OURS = set()


class Who:
    """A running iowho."""

    def __init__(self, process):
        self.process = process
        self.began = None
        self.took_ns = self.hidden_ns = 0

    def say(self, line):
        """Says a line; returns the lines of the answer, without the "ok" at the end."""
        now = time.monotonic_ns(), clock_ns(1)
        self.began = self.began or now
        if line == "show":
            self.took_ns, self.hidden_ns = now[0] - self.began[0], now[1] - self.began[1]
        tell(self.process, f"{line}\n".encode())
        answer = [read_line(self.process).decode().strip()]
        # The whole answer is there: it is written at once.
        while answer[-1] != "ok":
            if not answer[-1] or answer[-1].startswith("error"):
                raise Failed(f"iowho: {line}: {answer[-1] or 'ended'}")
            answer.append(self.process.stdout.readline().decode().strip())
        return answer[:-1]

    def show(self):
        """Rows (device, pid, cgroup) to (read bytes, written bytes, requests), all so far."""
        answer = "\n".join(self.say("show"))
        ((_, lost, bad, unseen),) = said(answer, "losses")
        require(bad == "0", f"{bad} records make no sense")
        # The kernel runs no program in an interrupt of itself: rare, and it is counted.
        if lost != "0":
            raise Missed(f"{lost} requests were lost")
        rows = {}
        for _, *words in said(answer, "io"):
            device, pid, cgroup, read, written, requests, _ = map(int, words)
            before = rows.get((device, pid, cgroup), (0, 0, 0))
            # Numbers of others are used again on a busy machine, and once in a while ours.
            precise(not any(before) or pid not in OURS, f"two rows of one process: {before}, {words}")
            rows[device, pid, cgroup] = tuple(map(sum, zip(before, (read, written, requests))))
        self.note = next(line[5:] for line in answer.splitlines() if line.startswith("note"))
        self.hides = unseen != "0"
        return rows

    note = ""
    hides = False

    def missing(self, expected, request, moved_ns):
        """
        Bytes that may be missing. Some kernels run no programs for some tasks (the one these tests were
        written on does so for the threads of its process 1): switches to them are not seen, and neither
        are the interrupts that come while they have the CPU. There, and only there, a little may be
        missing: 2 %, or three requests, which is more where these are large and few. When process 1 was
        busy it is more: at most HIDDEN_MISS times its share of the @moved_ns in which the bytes moved.
        Nobody knows when it was busy: all its time since iowho got its first line may be that time.
        """
        if not self.hides:
            return 0
        hidden = HIDDEN_MISS * expected * self.hidden_ns // (moved_ns or self.took_ns)
        return max(expected // 50, 3 * request, hidden)

    def exact(self, what, got, expected, request=0, moved_ns=0):
        """All of @expected bytes or, see missing(), nearly; in requests of @request bytes, if they are large."""
        text = f"{what}: {got}, expected {expected}"
        require(got == expected or (self.hides and got < expected), text)
        text += f", on a kernel that hides tasks, in {self.hidden_ns / 1e6:.1f}"
        text += f" of {(moved_ns or self.took_ns) / 1e6:.0f} ms"
        precise(got >= expected - self.missing(expected, request, moved_ns), text)

    def in_all(self, what, got, expected):
        """The same of all rows together, where other programs may have a part."""
        precise(got <= expected, f"{what}: {got}, more than our {expected}")
        self.exact(what, got, expected)


@contextlib.contextmanager
def who(bed, *args, start=()):
    with bed.process(*start, bed.iowho, "-C", mount_point(), *args) as process:
        require(read_line(process) == b"ready\n", "iowho did not start")
        yield Who(process)
