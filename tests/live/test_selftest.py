# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The self-test on PMUs that count no memory traffic: it ends in time, whatever becomes of its programs.
"""

import contextlib
import json
import os
import pathlib
import signal
import threading
import time

from live import INCOMPLETE, check_status, precise, require
from pmus import CLOCK, SWITCHES, on_machine, row

# SELFTEST_BYTES of user/live/selftest/selftest.h
BUFFERS = 256 << 20
PMUS = {"my_mc": ([row("reads", CLOCK, "read", 1), row("writes", SWITCHES, "write", 64)], 1)}
LONGEST = 20


def process(pid):
    """Its name, and its parent."""
    name, rest = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").split("(", 1)[1].rsplit(")", 1)
    return name, int(rest.split()[1])


def movers():
    """Process IDs of the self-test's programs, by their names. Their starter has them for a moment."""
    found = {}
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, parent = process(place.name)
            if name.startswith("t410-") and process(parent)[0].startswith("t410"):
                found[name.split("-")[1]] = int(place.name)
    return found


def filled(programs):
    """Have they touched all of their buffers?"""
    found = 0
    for pid in programs.values():
        with contextlib.suppress(OSError):
            found += int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return found * os.sysconf("SC_PAGE_SIZE") >= BUFFERS


def stop_one(name, after, stopped, over):
    """Stops the program of that name as soon as it is there, or @after seconds after the buffers were
    filled: it gets no CPU, as it were. Filling alone may take seconds on a busy machine."""
    while name not in (found := movers()) or (after and not filled(found)):
        if over.wait(0.001):
            return
    if not over.wait(after):
        with contextlib.suppress(ProcessLookupError):
            os.kill(found[name], signal.SIGSTOP)
            stopped.append(found[name])


def cache_has_all(said):
    """A cache as large as the programs' buffers may have kept all from memory."""
    return said["cache_bytes"] >= said["buffer_bytes"]


def selftest(bed, name=None, after=0):
    stopped, over = [], threading.Event()
    thread = threading.Thread(target=stop_one, args=(name, after, stopped, over))
    if name:
        thread.start()
    begin = time.monotonic()
    try:
        done = on_machine(bed, PMUS, "check", "--selftest", "--json", status=None)
    finally:
        over.set()
    took = time.monotonic() - begin
    if name:
        thread.join()
        require(len(stopped) == 1, "no program was stopped")
    # Its last second and the end of its process, after 17 s of waiting, may lack a CPU.
    precise(took < LONGEST, f"it took {took:.1f} s")
    require(not movers(), f"left: {movers()}")
    said = json.loads(done.out)
    check_status(done, INCOMPLETE if name or cache_has_all(said) else 1)
    precise(said["duration_ns"] < LONGEST * 10**9, f"it says {said['duration_ns']} ns")
    return said


def test_slow_to_fill(bed):
    """A program that never fills its buffer: that socket is undecided, and why."""
    said = selftest(bed, "heavy")
    require(said["verdict"] == "undecided" and not said["rows"], f"{said}")
    [skipped] = said["skipped"]
    require("did not fill their buffers in" in skipped["reason"], f"{skipped}")


def test_does_not_rest(bed):
    """A program that stops in the middle of its work."""
    said = selftest(bed, "light", 2.0)
    require(said["verdict"] == "undecided" and not said["rows"], f"{said}")
    [skipped] = said["skipped"]
    require("did not come to rest" in skipped["reason"], f"{skipped}")


def test_all_of_it(bed):
    """Nobody is in the way. A clock is no traffic, and the verdict is that the counters are wrong,
    unless a cache may be the reason."""
    said = selftest(bed)
    wanted = "undecided" if cache_has_all(said) else "wrong"
    require(said["verdict"] == wanted and not said["skipped"], f"{said}")
    if cache_has_all(said):
        reasons = {r["reason"] for r in said["rows"] if "program" not in r}
        require(reasons == {"the cache is too large for the programs' buffers"}, f"{reasons}")
    moved = {(r["direction"], r.get("program")): r["moved_bytes"] for r in said["rows"]}
    require(len(moved) == 6 and min(moved.values()) > 10**6, f"{moved}")


TESTS = [test_slow_to_fill, test_does_not_rest, test_all_of_it]
