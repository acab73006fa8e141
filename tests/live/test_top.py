# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""t410trace top on this machine: live in a terminal (tmux), what it costs, and how it ends."""

import re
import shutil
import signal
import sys
import time

from live import HERE, LIMIT_S, Failed, Skip, check_status, finish, kernel_ids, precise, require, tell
from test_cgroups import Tree
from test_end import check_gone

sys.path.insert(0, str(HERE.parent / "cli"))
from terminal import Terminal  # pylint: disable=wrong-import-position


def open_top(bed, *args, **options):
    if not shutil.which("tmux"):
        raise Skip("tmux is not installed")
    return Terminal(f"cd {bed.scratch}; {bed.program} top --no-counters {' '.join(map(str, args))}", **options)


def wait(terminal, pattern):
    try:
        return terminal.wait(pattern)
    except AssertionError as error:
        raise Failed(str(error)) from error


def test_who_is_busy(bed):
    """A busy process comes up, and keys are answered long before the interval ends."""
    with bed.process(bed.burn, "-m", 1000 * LIMIT_S) as burn, open_top(bed, "-i", "1s") as t:
        wait(t, rf"{burn.pid} burn")
        t.press("i", "i", "i", "i", "i")
        wait(t, "interval: 1min")
        t.press("/", "b", "u", "r", "n", "Enter")
        wait(t, r"PROCESS /burn")
        t.press("Enter")
        wait(t, r"CPU time: ")
        t.press("Escape", "5")
        wait(t, r"nothing was lost|quality: ")
        t.press("q")
        require(t.wait_status() == 0, "status of q")


def ends(bed, how):
    """Whatever ends it, nothing is left in the kernel."""
    t = open_top(bed, "-i", "200ms")
    try:
        wait(t, "LIVE")
        pid = t.pid("t410trace")
        ids = kernel_ids(pid)
        require(len(ids["prog"]) >= 8, f"it holds only {ids}")
        how(t, pid)
        check_gone(ids)
    finally:
        t.end()


def test_quit(bed):
    ends(bed, lambda t, pid: t.press("q"))


def test_terminal_goes_away(bed):
    ends(bed, lambda t, pid: t.end())


def test_terminate(bed):
    def kill(t, pid):
        t.tmux("run-shell", f"kill -{signal.SIGTERM.value} {pid}")
        require(t.wait_status() == 0, "status of SIGTERM")

    ends(bed, kill)


def test_sizes(bed):
    """A storm of sizes during a run."""
    with open_top(bed, "-i", "100ms") as t:
        wait(t, "LIVE")
        for n in range(100):
            t.resize(41 + n, 11 + n % 30)
        t.resize(80, 24)
        wait(t, r"(?m)^PROCESS.*2 MIN")
        t.press("q")
        require(t.wait_status() == 0, "status of q")


def test_record_from_now_on(bed):
    """What r records is reported as what was seen; processes from before it have their names."""
    path = bed.scratch / "seen.rec"
    with bed.process(bed.burn, "-m", 1000 * LIMIT_S) as burn, open_top(bed, "-i", "500ms", "-o", path) as t:
        wait(t, rf"{burn.pid} burn")
        # whatever keys and pictures take on a busy machine
        pressed = time.monotonic()
        t.press("r")
        wait(t, "REC")
        begun = time.monotonic()
        time.sleep(2.5)
        least = (time.monotonic() - begun) / 0.5 - 1
        t.press("r")
        wait(t, "recorded")
        most = (time.monotonic() - pressed) / 0.5 + 2
        t.press("q")
        require(t.wait_status() == 0, "status of q")
        done = bed.command(bed.program, "report", path, "--json")
        check_status(done)
        done.check_schema()
        reports = done.reports()
        text = f"{len(reports)} intervals of 0.5 s, expected {least:.1f} to {most:.1f}"
        require(len(reports) <= most, text)
        # an interval that was closed late is a longer one
        precise(len(reports) >= least, text)
        # The last one is as long as its interval was when the recording ended, which may be no time for burn.
        for report in reports[:-1]:
            rows = [r for r in report["workloads"] if r.get("comm") == "burn" and r["pid"] == burn.pid]
            require(len(rows) <= 1, f"{len(rows)} rows of burn")
            # Without a CPU for half a second it has none.
            precise(rows, "burn is not in a report")
        # in its place
        again = bed.command(bed.program, "record", "-o", path, "--no-counters", "-d", "0.1")
        check_status(again)


def test_other_rows(bed):
    """b changes rows while it runs; a busy process is in its cgroup."""
    with Tree() as tree, bed.process(bed.burn, "-m", 1000 * LIMIT_S) as burn:
        tree.make("busy")
        tree.move("busy", burn.pid)
        with open_top(bed, "-i", "1s") as t:
            wait(t, rf"{burn.pid} burn")
            t.press("b")
            wait(t, r"(?m)a row is a cgroup from the next interval on|^CGROUP")
            t.press("/", "b", "u", "s", "y", "Enter")
            # Alone in its parent it is one line with it.
            screen = wait(t, r"(?m)^ .*busy .*%")
            row = re.search(r"(?m)^ .*busy +>?([0-9.]+)%", screen)
            require(row and float(row[1]) > 0, f"the cgroup of a busy process has no CPU time: {screen}")
            t.press("b")
            wait(t, r"(?m)^JOB")
            t.press("b", "Escape")
            wait(t, rf"{burn.pid} burn")
            t.press("Home")
            wait(t, r"1/\d+, .* before now")
            t.press("q")
            require(t.wait_status() == 0, "status of q")


def test_neighbours(bed):
    """Intervals go on while the page of latencies is open, also after rows have changed."""
    with open_top(bed, "-i", "200ms") as t:
        wait(t, "LIVE")
        for keys in ("3",), ("b", "1"), ("3",):
            t.press(*keys)
            at = wait(t, "NEIGHBOURS" if keys == ("3",) else r"(?m)^CGROUP").splitlines()[0]
            wait(t, rf"(?s)\A(?!{re.escape(at)}).*LIVE")
        t.press("q")
        require(t.wait_status() == 0, "status of q")


def test_metrics_without_a_pmu(bed):
    """Page 6 says what is missing, and rows go on."""
    with open_top(bed, "-i", "200ms") as t:
        wait(t, "LIVE")
        t.press("6")
        wait(t, "With --no-counters nothing is counted")
        t.press("1")
        wait(t, r"(?m)^PROCESS")
        t.press("q")
        require(t.wait_status() == 0, "status of q")


def test_many_cgroups(bed):
    """A thousand cgroups that come and go, each with a process in it for a moment."""
    # One shell makes them all: it puts itself into each, burns a little, and goes on.
    script = """
        read go
        for n in $(seq 1000); do
            mkdir c$n && echo $$ > c$n/cgroup.procs
            i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done
            [ -z "$last" ] || rmdir "$last"
            last=c$n
        done
        echo $$ > cgroup.procs; rmdir "$last"
    """
    with Tree() as tree, open_top(
        bed, "-i", "200ms", "--by", "cgroup", "--cgroup-v1", "none"
    ) as t:
        wait(t, "LIVE")
        with bed.process("sh", "-c", script, cwd=tree.top) as shell:
            t.press("/", *tree.name, "Enter")
            tell(shell)
            wait(t, r"(?m)^ .*\bc\d+")
            t.press("t", "a", "Down", "-", "Left", "End")
            finish(shell)
        t.press("q")
        require(t.wait_status() == 0, "status of q")


TESTS = [
    test_who_is_busy,
    test_quit,
    test_terminal_goes_away,
    test_terminate,
    test_sizes,
    test_record_from_now_on,
    test_other_rows,
    test_neighbours,
    test_metrics_without_a_pmu,
    test_many_cgroups,
]
