# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The program that tells who uses GPUs (--gpu): whatever it does or lacks, the run goes on, says so, and
knows no users of then. A device of this machine stands for the GPU.
"""

import json
import pathlib
import signal
import subprocess
import sys
import time

from daemon import serving, wait_for
from live import BUSY_MS, HERE, Skip, check_status, require
from test_programs import group_lives

BRIDGES = "0x06"
NOTE = "users of GPUs are not known: "


def device():
    """One that moves data, whatever it is"""
    for path in sorted(pathlib.Path("/sys/bus/pci/devices").glob("*")):
        if not (path / "class").read_text(encoding="ascii").startswith(BRIDGES):
            return path.name
    raise Skip("no PCI device that could stand for a GPU")


def users(bed, pid, *more):
    return " ".join(map(str, [HERE / "gpu_users.py", device(), pid, bed.scratch, *more]))


def order(bed, tracer, fault):
    """It has heard it when the file is gone."""
    (bed.scratch / "new").write_text(fault, encoding="ascii")
    (bed.scratch / "new").rename(bed.scratch / "now")
    tracer.wait_until(fault, lambda: not (bed.scratch / "now").exists())


def looks(path):
    """Times of all looks, [from, to] each"""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if '"contexts"' in line and line.endswith("}"):
            event = json.loads(line)
            if event.get("type") == "contexts":
                found.append((event["start_ns"], event["end_ns"]))
    return found


def looks_since(path, begin_ns):
    """By their own times: on a busy machine earlier ones may still be on their way to the file."""
    return [look for look in looks(path) if look[1] > begin_ns]


def run(bed, faults, *more, command=None):
    """Records while it does this; returns what t410trace left, and the looks."""
    path = bed.scratch / "run.ndjson"
    with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy:
        gpu = command or users(bed, busy.pid)
        args = ["-D", device(), "--gpu", gpu, "--format", "ndjson", "-o", path, "-i", 200, *more]
        with bed.tracing("-a", "-v", *args, command=["record"]) as tracer:
            tracer.wait_until("looks", lambda: len(looks(path)) > 3)
            for fault, *words in faults:
                text = tracer.err_path.read_bytes
                before = {said: text().count(said.encode()) for said in words}
                order(bed, tracer, fault)
                # one after the other, and each once more than before
                for said, count in before.items():
                    tracer.wait_until(said, lambda said=said, count=count: text().count(said.encode()) > count)
                begin_ns = time.monotonic_ns()
                tracer.wait_until("looks again", lambda since=begin_ns: len(looks_since(path, since)) > 3)
            done = tracer.end(signal.SIGINT)
    check_status(done)
    return done, looks(path)


def gaps(found):
    """Time between the end of a look and the begin of the next, where no users are known"""
    return [b[0] - a[1] for a, b in zip(found, found[1:])]


def test_faults(bed):
    """What ends or prints nonsense is told and started again; between looks nothing is known."""
    back = "source gpu: it can be read now"
    done, found = run(bed, [("garbage", "source gpu: line:1:"), ("die", "source gpu: ended with status 5; it is started again in 1 s", back),
                            ("die", "source gpu: ended with status 5; it is started again in 2 s", back)])
    require("\x1b" not in done.err, "its output controls the terminal")
    require(min(gaps(found)) >= 0 and sum(gap > 0.8e9 for gap in gaps(found)) >= 2, f"no gap among {gaps(found)}")


def test_hangs(bed):
    _, found = run(bed, [("hang", "source gpu: no good reading for 5 s; it is started again")])
    require(max(gaps(found)) > 4e9, f"no gap among {gaps(found)}")


def test_gpu_is_lost(bed):
    """null is no user: the program is fine, and nothing is known."""
    path = bed.scratch / "run.ndjson"
    with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy:
        args = ["-D", device(), "--gpu", users(bed, busy.pid), "--format", "ndjson", "-o", path, "-i", 200]
        with bed.tracing("-a", *args, command=["record"]) as tracer:
            tracer.wait_until("looks", lambda: len(looks(path)) > 3)
            order(bed, tracer, "lost")
            begin_ns = time.monotonic_ns()
            reports = path.read_text(encoding="utf-8").count('"mark"')
            tracer.wait_until("marks", lambda: path.read_text(encoding="utf-8").count('"mark"') > reports + 5)
            done = tracer.end(signal.SIGINT)
    check_status(done)
    require(not looks_since(path, begin_ns), "users of a GPU that is lost")
    require("source gpu: " not in done.err, done.err)


def test_missing(bed):
    """A program that is not there, or has nothing, is a note; the report is there."""
    for command, words in (("/no/such/program", "status 127"), ("exit 3", "status 3"), ("echo no GPU >&2; exit 1", "no GPU (it is tried again)"),
                           ("unix:/no/such/socket", "cannot connect to /no/such/socket")):
        done = bed.trace("-a", "-d", 0.3, "--json", "-D", device(), "--gpu", command)
        check_status(done)
        require(NOTE in done.err and words in done.err, f"{command}: {done.err!r}")
        require(done.reports(), f"{command}: no report")
    for command in ("auto", "none"):
        # Nobody has bound this device to a driver of GPUs.
        done = bed.trace("-a", "-d", 0.3, "--json", "-D", device(), "--gpu", command)
        check_status(done)
        require("GPU" not in done.err, f"{command}: {done.err!r}")
    done = bed.trace("-a", "-d", 0.2, "--gpu", "exit 3")
    require(done.status == 2 and "it is for devices, which -D chooses" in done.err, done.err)


def test_nothing_left(bed):
    """It is gone after any end of t410trace."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy:
            mark = bed.scratch / f"stay{number}"
            command = f"trap '' TERM; sleep 1000 {mark} & {users(bed, busy.pid)} {mark}"
            with bed.tracing("-a", "-D", device(), "--gpu", command, "-o", "/dev/null") as tracer:
                require(group_lives(str(mark).encode()), "it does not run")
                tracer.signal(number)
                tracer.process.wait()
            wait_for("its end", lambda name=mark: not group_lives(str(name).encode()))


def test_served(bed):
    """The daemon reads it at a socket, which may come later and go: a message, its health, and again."""
    path = bed.scratch / "socket"
    with bed.process(bed.burn, "-c", bed.cpu, "-m", BUSY_MS) as busy, serving(
        bed, devices=device(), gpu=f"unix:{path}"
    ) as daemon:
        daemon.start()
        daemon.wait_log(f"{NOTE}cannot connect to {path}: No such file or directory (it is tried again)")
        wait_for("a problem", lambda: "counters" in daemon.troubles(), 60)
        words = [sys.executable, HERE / "gpu_users.py", device(), str(busy.pid), bed.scratch, path]
        with subprocess.Popen(words) as helper:
            daemon.wait_log("source gpu: it can be read now")
            wait_for("health", lambda: "counters" not in daemon.troubles(), 60)
            helper.kill()
        daemon.wait_log("source gpu: ended; it is started again in")
        path.unlink()
        with subprocess.Popen(words) as helper:
            daemon.wait_log("source gpu: it can be read now", 2)
            helper.kill()
        daemon.stop()


TESTS = [
    test_faults,
    test_hangs,
    test_gpu_is_lost,
    test_missing,
    test_nothing_left,
    test_served,
]
