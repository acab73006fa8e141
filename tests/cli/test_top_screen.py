#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_top_screen.py T410TRACE: "top FILE" in a real terminal (tmux): keys, sizes, ends."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import each_test
from terminal import LIMIT_S, Terminal

program = pathlib.Path(sys.argv[1]).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
MS = 1_000_000
SECONDS = 8
PIDS = 40
NAMES = {3: "evil\x1b[2J\x1b]0;owned\x07", 5: "漢字かな", 7: "x" * 15}


def trace(first=0, last=SECONDS):
    """Seconds in which processes move bytes; pid 9 only in odd ones."""
    if not first:
        yield {"type": "header", "schema": "t410trace.trace/1", "sockets": [{"id": 0, "cpus": "0-63"}],
               "weights": [], "devices": [], "start_time_ns": 1795190400 * 1000 * MS,
               "counters": [{"id": 0, "name": "c0", "event": "mem_bytes_rd", "socket": 0, "source": "cpu"},
                            {"id": 1, "name": "c1", "event": "mem_bytes_wr", "socket": 0, "source": "cpu",
                             "direction": "write"}]}
        for pid in range(1, PIDS + 1):
            yield {"type": "workload", "id": pid, "pid": pid, "start_ns": 1, "comm": NAMES.get(pid, f"p{pid}"),
                   "cgroup": f"/g{pid % 3}/c{pid}"}
    for w in range(first * 100, last * 100):
        times = {"start_ns": w * 10 * MS, "end_ns": (w + 1) * 10 * MS}
        for pid in range(1, PIDS + 1):
            if pid != 9 or w // 100 % 2:
                yield {"type": "slice", "workload": pid, "cpu": pid, **times, "on_cpu_ns": pid * 200_000}
        yield {"type": "window", "socket": 0, **times,
               "values": [[0, 10**7, 10 * MS, 10 * MS], [1, 10**6, 10 * MS, 10 * MS]]}
    if last == SECONDS:
        yield {"type": "end", "time_ns": SECONDS * 1000 * MS}


def text(*some):
    return "".join(json.dumps(line) + "\n" for line in trace(*some))


FILE = tempfile.NamedTemporaryFile(mode="w", suffix=".ndjson", prefix="top")
FILE.write(text())
FILE.flush()
TOP = f"{program} top --method cpu-time {FILE.name}"


def check_golden(name, screen):
    path = GOLDEN / name
    if os.environ.get("T410_UPDATE_GOLDEN"):
        path.write_text(screen, encoding="utf-8")
    assert screen == path.read_text(encoding="utf-8"), f"{name} is not:\n{screen}"


def test_screens_after_keys():
    for columns, rows in ((80, 24), (200, 60)):
        with Terminal(TOP, columns, rows) as t:
            t.wait("WHOLE RUN")
            t.press("Down", "-")
            check_golden(f"top-screen-tree-{columns}x{rows}.txt", t.wait(r"▸ g\d \+"))
            t.press("/", "p", "1", "2", "Enter")
            assert "p12" in t.wait(r"(?m) of 4$")
            t.press("Escape", "t", "End", "g")
            check_golden(f"top-screen-{columns}x{rows}.txt", t.wait(rf"(?s)END OF FILE.* 1 of {PIDS}"))
            t.press("Left", "Left", "Down", "Enter")
            check_golden(f"top-screen-row-{columns}x{rows}.txt", t.wait("SHARES OF COUNTERS"))
            t.press("Escape", "q")
            assert t.wait_status() == 0


def test_a_picture_is_one_write():
    """ncurses alone writes after each movement of the cursor: dozens of times for each of these."""
    source = pathlib.Path(__file__).resolve().parent / "terminal_writes.c"
    with tempfile.TemporaryDirectory(prefix="writes") as folder:
        library, log = pathlib.Path(folder, "writes.so"), pathlib.Path(folder, "log")
        subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, source], check=True)
        with Terminal(f"LD_PRELOAD={library} TERMINAL_WRITES={log} {TOP}", 100, 40) as t:
            t.wait("WHOLE RUN")
            for key, shown in (("End", "END OF FILE"), ("2", "No device is followed"), ("1", r"▾ g\d ")):
                before = len(log.read_text("ascii").split())
                t.press(key)
                t.wait(shown)
                sizes = [int(line) for line in log.read_text("ascii").split()[before:]]
                assert 1 <= len(sizes) <= 2, f"{key}: {len(sizes)} writes: {sizes}"
            t.press("q")
            assert t.wait_status() == 0


def test_left_and_right_are_time():
    with Terminal(TOP) as t:
        t.wait(f"WHOLE RUN, {SECONDS} intervals")
        t.press("/", "p", "9", "Enter")
        t.wait("9 p9 ")
        t.press("End")
        t.wait("END OF FILE")
        t.press("Left")
        t.wait(f"{SECONDS - 1}/{SECONDS}, 1.0 s before the end")
        t.wait("no row has this")
        t.press("Right")
        t.wait("9 p9 ")
        t.press("Home")
        t.wait(f"1/{SECONDS}")
        t.press("Left")
        t.wait("WHOLE RUN")


def test_whole_run_plays():
    """Each picture is later than the one before, and the last one is that of the end."""
    with Terminal(TOP) as t:
        whole = t.wait("WHOLE RUN")
        assert f"{SECONDS}.000 s" in whole.splitlines()[0], whole
        # The shortest intervals take eight seconds: nobody is too late to see them, or to stop them.
        count = 10 * SECONDS
        t.press("I", "I", "I")
        t.wait(f"WHOLE RUN, {count} intervals")
        plays, stands = (rf"{word} (\d+)/{count}," for word in ("PLAYS", "(?<!PLAYS)"))
        t.press("Space")
        first = int(re.search(plays, t.wait(plays))[1])
        t.press("Space")
        place = int(re.search(stands, t.wait(stands))[1])
        assert first <= place < count, (first, place)
        time.sleep(0.6)
        assert f" {place}/{count}," in t.screen()
        t.press("End", "Left", "Left")
        t.wait(f" {count - 2}/{count},")
        t.press("Space")
        t.wait("END OF FILE")
        t.press("Space")
        t.wait(plays)


def test_another_interval():
    with Terminal(TOP) as t:
        t.wait("WHOLE RUN")
        t.press("End", "i")
        t.wait("2.000 s")
        t.press("I", "I")
        t.wait("0.500 s")
        t.press("Home")
        t.wait(f"1/{2 * SECONDS}")


def test_other_rows():
    """b reads the file again; who has gone back stays there."""
    with Terminal(TOP) as t:
        t.wait("WHOLE RUN")
        t.press("b")
        t.wait(r"(?m)^CGROUP")
        t.wait(f"WHOLE RUN, {SECONDS} intervals")
        t.press("b")
        t.wait(r"(?ms)WHOLE RUN.*^JOB")
        t.press("b")
        t.wait(r"(?ms)WHOLE RUN.*^PROCESS")
        t.press("Home", "Right", "Right")
        t.wait(f"3/{SECONDS}")
        t.press("b")
        t.wait(r"(?m)^CGROUP")
        assert "▾ g1" in t.wait(f"3/{SECONDS}, 5.0 s before the end")
        t.press("b")
        t.wait(r"(?m)^JOB")
        t.press("b", "End")
        t.wait(r"(?m)^PROCESS")
        t.wait("END OF FILE")
        t.press("i")
        t.wait("2.000 s")
        t.press("b")
        assert "2.000 s" in t.wait(r"(?m)^CGROUP")


def test_metrics_of_a_recording():
    with Terminal(TOP, 40, 12) as t:
        t.wait("WHOLE RUN")
        t.press("6")
        screen = " ".join(t.wait("Recordings hold no metrics").split())
        assert "6Metrics" in screen and '"t410trace stat"' in screen, screen


def test_sizes():
    """A storm of sizes, and the picture is that of the last one."""
    with Terminal(TOP) as t:
        first = t.wait("WHOLE RUN")
        for n in range(60):
            t.resize(20 + n * 3, 5 + n % 40)
        t.resize(30, 6)
        t.wait("too small")
        t.resize(80, 24)
        t.wait(re.escape(first))
        t.press("q")
        assert t.wait_status() == 0


def test_without_colours():
    with Terminal(TOP, NO_COLOR="1") as t:
        t.wait("WHOLE RUN")
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", t.screen(colours=True))
    with Terminal(TOP) as t:
        t.wait("WHOLE RUN")
        assert re.search(r"\x1b\[[0-9;]*3[0-7]m", t.screen(colours=True))


def test_ascii():
    with Terminal(TOP, LC_ALL="C") as t:
        # tmux itself goes by the locale
        screen = t.wait("WHOLE RUN")
        assert screen.isascii() and "#" in screen, screen


def test_terminal_is_given_back():
    with Terminal(f"echo BEFORE; {TOP}; stty -a | tr -d '\\n'") as t:
        t.wait("WHOLE RUN")
        t.press("q")
        screen = t.wait("ENDED")
        assert "BEFORE" in screen and re.search(r"[^-]icanon", screen) and re.search(r"[^-]echo ", screen), screen


def test_other_terminals():
    """What to use instead is said, with status 1."""
    for variables in ({"TERM": "dumb"}, {"TERM": "''"}, {"TERM": "nosuch-terminal"}):
        with Terminal(TOP, **variables) as t:
            assert t.wait_status() == 1
            said = " ".join(t.screen().split())
            remedy = "TERM=xterm-256color" if "nosuch" in variables["TERM"] else "t410trace report"
            assert "there is no terminal to draw on" in said and remedy in said, said
    # Of a live view, too: nothing has been opened by then, and yet it is ended.
    for what in (FILE.name, "--no-counters"):
        done = subprocess.run([program, "top", what], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 1 and "standard output is none" in " ".join(done.stderr.split()), done


def test_wrong_files():
    for what, says in (("/nosuch", "cannot be opened"), ("/dev/null", "is empty"), (str(program), "neither")):
        with Terminal(f"{program} top {what}") as t:
            assert t.wait_status() == 1
            assert says in " ".join(t.screen().split())


def is_over(pid, seconds=LIMIT_S):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_terminal_goes_away():
    t = Terminal(TOP)
    try:
        t.wait("WHOLE RUN")
        pid = t.pid("t410trace")
    finally:
        t.end()
    assert is_over(pid)


def test_signals_end_it():
    for signal in ("TERM", "INT", "HUP"):
        with Terminal(TOP) as t:
            t.wait("WHOLE RUN")
            os.kill(t.pid("t410trace"), {"TERM": 15, "INT": 2, "HUP": 1}[signal])
            assert t.wait_status() == 0, signal


def test_file_that_grows():
    with tempfile.NamedTemporaryFile(mode="w", suffix=".ndjson", prefix="top") as f:
        f.write(text(0, 3))
        f.flush()
        with Terminal(f"{program} top --method cpu-time {f.name}") as t:
            t.wait("WAITS FOR MORE")
            t.press("Home")
            t.wait("1/1")
            # half a line is no end
            more = text(3, 6)
            f.write(more[:1000])
            f.flush()
            time.sleep(0.5)
            f.write(more[1000:])
            f.flush()
            t.wait("1/4")
            f.write(text(6, SECONDS))
            f.flush()
            t.press("End")
            t.wait("END OF FILE")


def test_pipe():
    with Terminal(f"(cat {FILE.name}; sleep 1) | {program} top --method cpu-time -") as t:
        t.wait("END OF FILE")
        t.press("w")
        t.wait("WHOLE RUN")
        t.press("i")
        t.wait("cannot be read again")
        t.press("b")
        t.wait("--by says what a row is")
        t.press("q")
        assert t.wait_status() == 0


if __name__ == "__main__":
    sys.exit(each_test.run_all("top_screen", globals()))
