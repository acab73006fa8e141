#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ending.py COMMAND...: run it. When this is told to end, or the command is killed, all that the command
has started ends first. Ctrl-C reaches all of a terminal's processes; "kill" and "timeout" reach one.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import sys
import time

TO_END = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# Tests put away what they have made, and machines stop, before this is over
CLEANING_S = 30
KILLING_S = 10
PR_SET_CHILD_SUBREAPER = 36


class Told(Exception):
    """Its argument is the signal."""


def tell(number, _frame):
    raise Told(number)


def words_of(path, after):
    """Of a file in /proc, behind this text; none if the process has ended."""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").rpartition(after)[2].split()
    return []


def started():
    """Processes below this one, parents first."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        state, parent, *_ = words_of(path, ") ") or ["Z", "0"]
        if state not in "ZX":
            children.setdefault(int(parent), []).append(int(path.parent.name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def is_deaf(pid):
    """To Ctrl-C, as what a shell has started with "&"."""
    ignored = words_of(pathlib.Path(f"/proc/{pid}/status"), "SigIgn:") or "0"
    return int(ignored[0], 16) >> signal.SIGINT - 1 & 1


def send(pid, number):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def end_all(told):
    """As Ctrl-C does, which all but the deaf have heard if it is what has come. What then stays is killed."""
    for number in TO_END:
        signal.signal(number, signal.SIG_IGN)
    for pid in started():
        if is_deaf(pid):
            send(pid, signal.SIGTERM)
        elif told != signal.SIGINT:
            send(pid, signal.SIGINT)
    begin = time.monotonic()
    while (left := started()) and time.monotonic() < begin + CLEANING_S + KILLING_S:
        if time.monotonic() > begin + CLEANING_S:
            for pid in left:
                send(pid, signal.SIGKILL)
        time.sleep(0.05)
    if left:
        print(f"ending.py: these processes do not end: {left}", file=sys.stderr)


def run(command):
    """Its exit status, or the signal that has ended it, below 0."""
    # Orphans are children of this, as they would be of the machine's first process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in TO_END:
        # as nohup wants it
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, tell)
    # Python ignores some signals, which others do not expect.
    child = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def main():
    try:
        status = run(sys.argv[1:])
    except Told as told:
        status = -told.args[0]
    if status >= 0:
        return status
    end_all(-status)
    # so that whoever waits for this knows, and does not go on
    if -status in TO_END:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return 128 - status


if __name__ == "__main__":
    sys.exit(main())
