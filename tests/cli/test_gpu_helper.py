#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_gpu_helper.py T410TRACE-GPU: the helper for GPUs, on a library that plays NVML (tests/gpu) and
on invented /proc and /sys. Each line that it prints fits the schema."""

import contextlib
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import jsonschema

import each_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SCHEMA = json.loads((ROOT / "share/t410trace.source-1.schema.json").read_text(encoding="utf-8"))
VALID = jsonschema.Draft202012Validator(SCHEMA)
A, B = "0009:01:00.0", "000a:01:00.0"
NS = 10**9
# In seconds; looks are as near to each other as the program allows.
EVERY = 0.2
built = tempfile.TemporaryDirectory()


def library(*flags):
    """The folder of a libnvidia-ml.so.1 that was built with these flags; each test has flags of its own."""
    folder = pathlib.Path(built.name) / ("lib" + "".join(flags))
    if not folder.exists():
        folder.mkdir()
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, "-o", folder / "libnvidia-ml.so.1",
                        ROOT / "tests/gpu/nvml.c"], check=True)
    return folder


class World:
    """A machine of the test's own: processes, PCI devices, and the script of the library."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.script, self.proc, self.sysfs = (self.root / name for name in ("script", "proc", "sys"))
        self.changed_ns = 0
        self.sysfs.mkdir()
        (self.proc / "self/ns").mkdir(parents=True)
        (self.proc / "1").mkdir()
        self.namespace("pid:[4026531836]")

    def put(self, path, text):
        """A file that whoever looks sees as a whole, as it was or as it is"""
        new = self.root / f"new{time.monotonic_ns()}"
        new.write_text(text, encoding="utf-8", errors="surrogateescape")
        new.rename(path)
        self.changed_ns = time.monotonic_ns()

    def namespace(self, link):
        (self.proc / "self/ns/pid").unlink(missing_ok=True)
        (self.proc / "self/ns/pid").symlink_to(link)

    def process(self, pid, start=1.0):
        """It began so many seconds after the machine."""
        (self.proc / f"{pid}/fd").mkdir(parents=True, exist_ok=True)
        (self.proc / f"{pid}/fdinfo").mkdir(exist_ok=True)
        ticks = round(start * os.sysconf("SC_CLK_TCK"))
        fields = ["S", "1", *["0"] * 17, str(ticks), "0"]
        self.put(self.proc / f"{pid}/stat", f"{pid} (a ) b) {' '.join(fields)}\n")

    def end(self, pid):
        (self.proc / f"{pid}/stat").unlink()
        (self.proc / f"{pid}").rename(self.root / f"ended{time.monotonic_ns()}")
        self.changed_ns = time.monotonic_ns()

    def client(self, pid, number, text, node="/dev/dri/renderD128"):
        fd = self.proc / f"{pid}/fd/{number}"
        self.put(self.proc / f"{pid}/fdinfo/{number}", f"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t7\n{text}")
        # last, and only when it is another one: without it the client would be gone
        if not fd.is_symlink() or os.readlink(fd) != node:
            fd.unlink(missing_ok=True)
            fd.symlink_to(node)
            self.changed_ns = time.monotonic_ns()

    def card(self, address, driver):
        folder = self.sysfs / f"bus/pci/devices/{address}"
        (folder / "drm/card1").mkdir(parents=True)
        (folder / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")

    def write(self, *lines):
        """The library sees the script as a whole, before or after."""
        self.put(self.script, "\n".join(lines) + "\n")

    def environment(self, folder, preload=False):
        env = {**os.environ, "NVML_SCRIPT": str(self.script), "LD_LIBRARY_PATH": str(folder or self.root)}
        if preload:
            env["LD_PRELOAD"] = str(folder / "libnvidia-ml.so.1")
        return env

    def command(self, *options):
        return [str(PROGRAM), "--proc", str(self.proc), "--sysfs", str(self.sysfs), "--every", f"{EVERY}s", *options]

    def log(self):
        """What the library was asked, without repetitions."""
        text = pathlib.Path(f"{self.script}.log").read_text(encoding="utf-8")
        return [word for word, _ in itertools.groupby(text.split())]


@contextlib.contextmanager
def world():
    with tempfile.TemporaryDirectory() as folder:
        yield World(folder)


def valid(line):
    found = json.loads(line)
    VALID.validate(found)
    assert len(line) < 65536
    return found


def once(w, folder=None, status=0, said=""):
    """The header and the lines of two looks."""
    done = subprocess.run(w.command("--once"), env=w.environment(folder), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (done.returncode, done.stderr)
    # once, not with each look
    assert said in done.stderr and done.stderr.count("\n") == bool(said), done.stderr
    return list(map(valid, done.stdout.splitlines()))


class Run:
    """The program while it runs"""

    def __init__(self, w, folder, *options, preload=False):
        self.world = w
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(w.command(*options), env=w.environment(folder, preload), stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.header = valid(self.process.stdout.readline())

    def line(self, kind, device=A):
        """The next of this kind, in a minute at most"""
        for _ in range(600):
            found = valid(self.process.stdout.readline())
            if kind in found and (kind == "values" or found["device"] == device):
                return found
        raise AssertionError(f"no line of {kind}")

    def looks(self, number):
        """
        All lines until there were so many looks at the first GPU behind the last change of the world. Lines
        of before may still be on their way: this program may have stood still, but not that one.
        """
        found = []
        while sum("contexts" in line and line["time_ns"] > self.world.changed_ns for line in found) < number:
            found.append(valid(self.process.stdout.readline()))
        return found

    def until(self, good, kind="contexts", device=A, most=40):
        """The first line of this kind that is good, and that soon."""
        seen = []
        for _ in range(most):
            seen.append(self.line(kind, device))
            if good(seen[-1][kind]):
                return seen[-1]
        raise AssertionError(seen[-3:])

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def end(self):
        self.process.terminate()
        status = self.process.wait(60)
        self.process.stdout.close()
        return status


@contextlib.contextmanager
def running(*arguments, **options):
    run = Run(*arguments, **options)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


def gpu(address=A, c2c=1, mig=0, accounting=0, gpm=0, error=0):
    return f"gpu 0000{address} GPU-{address[3]} {c2c} {mig} {accounting} {gpm} {error}"


def process(pid, percent=0, kind="c", instance=-1, address=A, total=0, samples=0):
    return f"process 0000{address} {pid} {kind} {instance} {percent} {total} {samples}"


def pids(contexts):
    return None if contexts is None else [(c["pid"], c.get("instance")) for c in contexts]


def of(lines, kind, device=A):
    return [line for line in lines if kind in line and line.get("device", device) == device][1 if kind == "contexts" else 0 :]


def near(value, want, part=0.2):
    assert abs(value - want) <= part * want, (value, want)


def length(line):
    return line["time_ns"] - line["since_ns"]


def test_nothing_there():
    with world() as w:
        assert not once(w, status=3, said="there is no GPU")
        w.write("init 9")
        assert not once(w, library(), status=3, said="there is no GPU")
        w.write("init 999")
        assert not once(w, library(), status=1, said="NVML cannot be used: Error (999)")


def test_options():
    for words, status, said in ((["--help"], 0, ""), (["--every", "1ms"], 2, "no time from"), (["--every", "2h"], 2, "no time from"),
                                (["--all"], 2, "unrecognized"), (["x"], 2, "only options"), (["--proc", "/nowhere"], 1, "No such")):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
        assert done.returncode == status and said in done.stderr, (words, done.returncode, done.stderr)
        assert status or "Exit status: 0 done or help, 1 failed, 2 wrong arguments, 3 there is no GPU" in done.stdout


def test_version():
    """It is built with t410trace, and says the same version and commit."""
    helper, main = (subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
                    for program in (PROGRAM, str(PROGRAM).removesuffix("-gpu")))
    assert helper == ["t410trace-gpu", *main[1:]] and len(main) == 3, (helper, main)


def contexts_of(*flags):
    """Two GPUs, all kinds of processes, one that is in two lists; a monitor has no context."""
    with world() as w:
        for pid in (10, 11, 12, 13, 20):
            w.process(pid, start=pid)
        w.write(gpu(), gpu(B, c2c=0), process(12, 40), process(10, 10, "g"), process(12, 0, "g"),
                process(11, 20, "m" if flags[:1] != ("-DVERSION=1",) else "c"), process(20, 70, address=B))
        header, *lines = once(w, library(*flags))
        assert header["devices"] == [{"address": A, "link": "c2c", "uuid": "GPU-9"}, {"address": B, "link": "pcie", "uuid": "GPU-a"}]
        assert header["every_ms"] == 200 and header["counters"] == []
        first, second = of(lines, "contexts"), of(lines, "contexts", B)
        assert [pids(line["contexts"]) for line in first + second] == [[(10, None), (11, None), (12, None)], [(20, None)]], lines
        assert [c["start_ns"] for c in first[0]["contexts"]] == [pid * NS for pid in (10, 11, 12)]
        # seen since the first look
        assert {c["since_ns"] for c in first[0]["contexts"]} == {of(lines, "activity")[0]["since_ns"]}
        (busy,) = of(lines, "activity")
        for found, (pid, part) in zip(busy["activity"], ((10, 0.1), (11, 0.2), (12, 0.4))):
            assert found["pid"] == pid and found["start_ns"] == pid * NS
            near(found["busy_ns"], part * length(busy))
        assert len(busy["activity"]) == 3 and busy["period_ns"] == 139000000, busy
        assert busy["samples"] == length(busy) // busy["period_ns"], busy


def test_contexts():
    contexts_of()


def test_second_version_of_lists():
    contexts_of("-DVERSION=2")


def test_first_version_of_lists():
    contexts_of("-DVERSION=1")


def test_longer_entries_of_535():
    contexts_of("-DENTRY=8")


def test_third_version_with_short_entries():
    contexts_of("-DENTRY=4")


def test_entries_of_unknown_length():
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10))
        lines = once(w, library("-DENTRY=7"), said="a list of 1 processes in an unknown form")
        assert of(lines, "contexts")[0]["contexts"] is None and not of(lines, "activity")


def test_too_many_contexts():
    with world() as w:
        for pid in range(1, 402):
            w.process(pid)
        w.write(gpu(), *map(process, range(1, 401)))
        assert len(of(once(w, library()), "contexts")[0]["contexts"]) == 400
        w.write(gpu(), *map(process, range(1, 402)))
        assert of(once(w, library(), said="there are more than 400: its"), "contexts")[0]["contexts"] is None


def test_many_contexts_of_eight():
    """400 and 512 of each of eight GPUs"""
    with world() as w:
        for pid in range(100, 612):
            w.process(pid)
        gpus = [f"{number:04x}:01:00.0" for number in range(8)]
        w.write(*map(gpu, gpus), *(f"crowd 0000{address} 100 {512 if address == gpus[7] else 400}" for address in gpus))
        lines = once(w, library(), said=f"GPU {gpus[7]}: there are more than 400")
        for address in gpus:
            (line,) = of(lines, "contexts", address)
            assert pids(line["contexts"]) == (None if address == gpus[7] else [(pid, None) for pid in range(100, 500)])


def test_processes_that_are_not_there():
    """One may have ended, but not for long: then the numbers are not of this machine."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10), process(99))
        with running(w, library()) as run:
            assert pids(run.line("contexts")["contexts"]) == [(10, None)]
            run.until(lambda c: c is None)
            assert [run.line("contexts")["contexts"] for _ in range(3)] == [None] * 3
            w.write(gpu(), process(10))
            assert pids(run.until(lambda c: c is not None)["contexts"]) == [(10, None)]
            assert f"GPU {A}: there is no process 99: its contexts are not known" in run.said()
        for pid in (0, -1, 2**31 - 2**32):
            w.write(gpu(), process(10), process(pid))
            assert of(once(w, library(), said="has no number for a process"), "contexts")[0]["contexts"] is None
        w.write(gpu(), process(10), f"crowd 0000{A} 1000 33")
        assert of(once(w, library(), said="there is no process 1032"), "contexts")[0]["contexts"] is None


def test_hidden_processes():
    """A list without those of others is no list."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        (w.proc / "1").rmdir()
        lines = once(w, library(), said="hidepid")
        assert of(lines, "contexts")[0]["contexts"] is None and not of(lines, "activity")
        assert checked(w, library())["gpu_pids"][0] == "limited"


# By function: the results that it may have, and what is left: gpus, uuid, link, contexts, activity, counters
WHOLE = {"gpus": 1, "uuid": True, "link": "c2c", "contexts": True, "activity": True, "counters": 4}
FAULTS = [
    ("count", (3, 999), None),
    ("by_index", (4, 15), None),
    ("pci", (2, 999), None),
    ("by_address", (6, 15), {"contexts": False, "activity": False, "counters": 0}),
    ("uuid", (3, 7), {"uuid": False}),
    ("c2c", (3, 13), {"link": "pcie", "counters": 2}),
    ("c2c", (4, 999), {"link": None, "counters": 2}),
    ("mig", (3, 999), {}),
    ("compute", (3, 4, 15, 999), {"contexts": False, "activity": False}),
    ("graphics", (3, 13), {}),
    ("graphics", (4, 999), {"contexts": False, "activity": False}),
    ("mps", (3, 13), {}),
    ("used", (3, 4, 7), {"activity": False}),
    ("accounting", (3, 999), {}),
    ("account", (4,), {}),
    ("gpm_support", (3, 25), {"counters": 0}),
    ("gpm_alloc", (20,), {"counters": 0}),
    ("gpm_sample", (4, 999), {"counters": 0}),
    ("gpm_metrics", (25, 999), {"counters": 0}),
]


def faults(names):
    """Each function of the library fails in each way: nothing that it does not tell is in a line."""
    with world() as w:
        w.process(10)
        for name, results, left in FAULTS:
            for result in results if name in names else ():
                w.write(gpu(gpm=1), process(10, 50), f"fail {name} {result}")
                done = subprocess.run(w.command("--once"), env=w.environment(library()), capture_output=True, text=True, timeout=60,
                                      check=False)
                what = (name, result, done.stdout, done.stderr)
                assert done.returncode == (0 if left is not None else 1 if name == "count" else 3), what
                if left is None:
                    continue
                header, *lines = list(map(valid, done.stdout.splitlines()))
                (device,) = header["devices"]
                found = {"gpus": 1, "uuid": "uuid" in device, "link": device.get("link"), "counters": len(header["counters"]),
                         "contexts": pids(of(lines, "contexts")[0]["contexts"]) == [(10, None)],
                         "activity": [b["pid"] for line in of(lines, "activity") for b in line["activity"]] == [10]}
                assert found == {**WHOLE, **left}, what
                assert found["contexts"] or (of(lines, "contexts")[0]["contexts"] is None and "not known" in done.stderr), what


def test_faults_of_gpus():
    faults({"count", "by_index", "pci", "by_address", "uuid", "c2c", "mig"})


def test_faults_of_lists():
    faults({"compute", "graphics", "mps"})


def test_faults_of_activity():
    faults({"used", "accounting", "account"})


def test_faults_of_counters():
    faults({"gpm_support", "gpm_alloc", "gpm_sample", "gpm_metrics"})


def test_old_library():
    """It has lists and addresses, and no more."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        header, *lines = once(w, library("-DVERSION=2", "-DOLD"))
        assert header["devices"] == [{"address": A, "link": "pcie"}] and header["counters"] == []
        assert pids(of(lines, "contexts")[0]["contexts"]) == [(10, None)] and not of(lines, "activity")


def test_names():
    """A text that is no UTF-8, or has quotes, is a text of JSON."""
    with world() as w:
        w.write(f"gpu 0000{A} GPU-\udcff\"\\ 1 0 0 0 0")
        assert once(w, library())[0]["devices"] == [{"address": A, "link": "c2c", "uuid": 'GPU-\ufffd"\\'}]
        w.write(f"gpu 0000{A} GPU-9 4294967295 0 0 0 0")
        assert once(w, library())[0]["devices"] == [{"address": A, "uuid": "GPU-9"}]


def test_twins():
    with world() as w:
        w.write(gpu(), gpu(B), "twin")
        assert [d["address"] for d in once(w, library(), said="GPU number 1: another one has its address")[0]["devices"]] == [A]


def test_other_drivers_go_on():
    """A library that does not fit its driver is none of the fault of another GPU."""
    card = "0000:03:00.0"
    with world() as w:
        w.card(card, "amdgpu")
        w.process(10)
        w.client(10, 3, AMDGPU.format(id=1, a=1, b=1, m=1))
        w.write("init 18", gpu())
        lines = once(w, library(), said="NVML cannot be used: Error (18)")
        assert pids(of(lines, "contexts", card)[0]["contexts"]) == [(10, None)]


def test_driver_is_loaded_again():
    """The library is of the one before, and has to be taken again."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        with running(w, library()) as run:
            run.until(bool)
            w.write(gpu(), process(10, 50), "stale")
            run.until(lambda c: c is None)
            assert pids(run.until(lambda c: c is not None, most=80)["contexts"]) == [(10, None)]
            assert w.log() == ["init", "list", "shutdown", "init", "list"], w.log()


def test_modes_change():
    """Root splits a GPU, or switches accounting on or off, while it is looked at."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        with running(w, library()) as run:
            run.until(bool, "activity")
            w.write(gpu(accounting=1), process(10, 50, total=100, samples=4))
            run.looks(4)
            w.write(gpu(accounting=1), process(10, 50, total=20100, samples=8))
            assert run.until(bool, "activity")["samples"] == 4
            w.write(gpu(mig=1), process(10, 50, instance=3))
            run.until(lambda c: pids(c) == [(10, 3)])
            assert not of(run.looks(3), "activity")
            w.write(gpu(), process(10, 50))
            busy = run.until(bool, "activity")
            near(busy["activity"][0]["busy_ns"], length(busy) / 2, 0.5)


def test_container():
    """A driver may mean other processes with the same numbers."""
    with world() as w:
        w.process(10)
        w.namespace("pid:[4026532999]")
        w.write(gpu(), process(10, 50))
        lines = once(w, library(), said="pid namespace of a container")
        assert of(lines, "contexts")[0]["contexts"] is None and not of(lines, "activity")


def test_instances():
    """With MIG a process may have several, and nobody says who was busy."""
    with world() as w:
        w.process(10)
        w.process(11)
        w.write(gpu(mig=1, accounting=1), process(10, 50, instance=1), process(10, 50, instance=2), process(11, 50, instance=7))
        lines = once(w, library())
        assert pids(of(lines, "contexts")[0]["contexts"]) == [(10, 1), (10, 2), (11, 7)] and not of(lines, "activity")
        w.write(gpu(mig=1, error=4), process(10, 50, instance=1))
        lines = once(w, library(), said="Insufficient Permissions (4): its contexts are not known; this needs root")
        assert of(lines, "contexts")[0]["contexts"] is None


def test_processes_come_and_go():
    with world() as w:
        w.process(10, start=1)
        w.write(gpu(), process(10, 50))
        with running(w, library()) as run:
            first = run.until(lambda c: pids(c) == [(10, None)])["contexts"][0]
            # The number comes again as another process, which has not been seen before.
            w.process(10, start=2)
            second = run.until(lambda c: c and c[0]["start_ns"] != NS)["contexts"][0]
            assert first["start_ns"] == NS and second["start_ns"] == 2 * NS and second["since_ns"] > first["since_ns"]
            assert run.until(lambda c: True)["contexts"] == [second]
            # One that began after the driver was asked is not the one that it meant.
            w.process(10, start=time.monotonic() + 3600)
            run.until(lambda c: c == [])
            w.process(10, start=2)
            run.until(bool)
            assert not run.said()
            # The driver does not know of its end yet: it may not for three seconds, and nothing is said.
            w.end(10)
            run.until(lambda c: c == [])
            assert run.end() == -signal.SIGTERM


def test_last_time_of_a_process():
    """It has no context any more, but was busy before."""
    with world() as w:
        w.process(10)
        w.write(gpu(accounting=1), process(10, total=1000, samples=10))
        with running(w, library()) as run:
            run.until(lambda c: c)
            # ended, and still in the driver's accounting
            w.write(gpu(accounting=1), process(10, kind="x", total=6000, samples=11))
            gone = run.until(lambda c: c == [])
            busy = run.line("activity")
            assert busy["time_ns"] == gone["time_ns"]
            near(busy["activity"][0]["busy_ns"], 0.5 * length(busy))
            assert run.line("activity")["activity"] == []


def test_accounting():
    """Sums lose nothing between two looks: three samples, one of them with half of the GPU. Without a new sample
    nothing is known, which is not the same as nobody being busy."""
    with world() as w:
        w.process(10)
        w.process(11)
        w.write(gpu(accounting=1), process(10, 99, total=1000, samples=10), process(11, 99, total=77, samples=4))
        with running(w, library()) as run:
            assert not of(run.looks(3), "activity")
            w.write(gpu(accounting=1), process(10, 99, total=6000, samples=13), process(11, 99, total=10077, samples=7))
            busy = run.until(bool, "activity")
            assert not of(run.looks(3), "activity")
            assert [b["pid"] for b in busy["activity"]] == [10, 11] and busy["samples"] == 3
            assert busy["period_ns"] == length(busy) // 3
            near(busy["activity"][0]["busy_ns"], length(busy) / 6)
            near(busy["activity"][1]["busy_ns"], length(busy) / 3)


def test_percents():
    """More than 100 is an error of the driver; nobody is busy for longer than the time since the last look."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 100))
        (busy,) = of(once(w, library()), "activity")
        assert busy["activity"][0]["busy_ns"] == length(busy)
        for percent in (101, -1):
            w.write(gpu(), process(10, percent), f"percent {percent}")
            lines = once(w, library())
            assert pids(of(lines, "contexts")[0]["contexts"]) == [(10, None)] and not of(lines, "activity"), lines


def test_stamps():
    """Old ones are of a process that did nothing since. Those of the future, or of other units, say nothing."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50), "stamps 5000")
        (busy,) = of(once(w, library()), "activity")
        assert busy["activity"] == []
        for words in ("stamps -5000", "unit 1000", "unit 1", "unit 1000000000"):
            w.write(gpu(), process(10, 50), words)
            assert not of(once(w, library()), "activity"), words


def test_sums_without_value():
    """The driver has no number, or one that cannot be: nobody was busy of that."""
    with world() as w:
        w.process(10)
        w.write(gpu(accounting=1), process(10, total=2**64 - 1, samples=10))
        with running(w, library()) as run:
            run.until(bool)
            w.write(gpu(accounting=1), process(10, total=2**64 - 1, samples=20))
            assert not of(run.looks(3), "activity")
            w.write(gpu(accounting=1), process(10, total=1000, samples=20))
            run.looks(2)
            w.write(gpu(accounting=1), process(10, total=900000, samples=21))
            assert not of(run.looks(3), "activity")
            w.write(gpu(accounting=1), process(10, total=905000, samples=22))
            run.until(bool, "activity")


def test_clock_is_set():
    """An hour ahead and back again: times stay, and nothing is made up of stamps of the other clock."""
    if "asan" in str(PROGRAM):
        return  # the sanitizers want to be loaded before all others
    with world() as w:
        begin = time.monotonic_ns()
        w.process(10)
        w.write(gpu(), process(10, 50))
        with running(w, library(), preload=True) as run:
            run.line("activity")
            w.write(gpu(), process(10, 50), "clock 3600000")
            ahead = run.looks(8)
            # The driver still has samples that look new, for ten seconds.
            w.write(gpu(), process(10, 50), "clock 0")
            run.looks(2)
            back = run.looks(6)
            for line in ahead + back:
                assert begin < line["time_ns"] < time.monotonic_ns(), line
                assert line.get("since_ns", 0) < line["time_ns"]
            busy = of(ahead, "activity")
            looks = [line["time_ns"] for line in ahead if "contexts" in line]
            assert len(looks) - len(busy) in (1, 2), ahead
            for line in busy[-3:]:
                near(line["activity"][0]["busy_ns"], length(line) / 2, 0.5)
            assert pids(back[-1]["contexts"]) == [(10, None)] and not of(back, "activity"), back
            assert not run.said()


def test_gpu_is_lost():
    """Its contexts are not known, which is said once; the other GPU goes on."""
    with world() as w:
        w.process(10)
        w.write(gpu(), gpu(B), process(10, 50), process(10, 50, address=B))
        with running(w, library()) as run:
            run.until(lambda c: pids(c) == [(10, None)])
            w.write(gpu(error=15), gpu(B), process(10, 50), process(10, 50, address=B))
            run.until(lambda c: c is None)
            assert pids(run.line("contexts", B)["contexts"]) == [(10, None)]
            assert run.line("contexts")["contexts"] is None
            assert run.said() == f"t410trace-gpu: GPU {A}: GPU is lost (15): its contexts are not known\n", run.said()
            # It is tried again after 5 s.
            w.write(gpu(), gpu(B), process(10, 50))
            assert pids(run.until(lambda c: c is not None, most=80)["contexts"]) == [(10, None)]
            assert run.said().endswith(f"GPU {A}: it can be read again\n")


def test_driver_is_let_go():
    with world() as w:
        w.process(10)
        w.write(gpu(gpm=1), process(10, 50), f"rate 0000{A} 100")
        with running(w, library(), "--away", "5s") as run:
            run.until(lambda c: c)
            before = run.until(lambda v: v[0] > 0, "values")
            run.process.send_signal(signal.SIGUSR1)
            run.until(lambda c: c is None)
            assert w.log() == ["init", "list", "shutdown"], w.log()
            assert run.line("values")["values"] == [None] * 4
            assert run.line("contexts")["contexts"] is None
            # What was moved meanwhile is not known: the totals begin again.
            after = run.until(lambda v: v[0] is not None, "values")
            assert before["values"][0] > after["values"][0] == 0
            assert after["time_ns"] - before["time_ns"] > 5 * NS
            run.until(lambda c: pids(c) == [(10, None)], most=1)
            assert w.log() == ["init", "list", "shutdown", "init", "list"], w.log()
            assert not run.said()


def test_driver_is_taken_again():
    """At once, long before the time for which it was let go."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        with running(w, library(), "--away", "1h") as run:
            run.until(lambda c: c)
            run.process.send_signal(signal.SIGUSR1)
            run.until(lambda c: c is None)
            run.process.send_signal(signal.SIGUSR2)
            assert pids(run.until(lambda c: c)["contexts"]) == [(10, None)]
            assert w.log() == ["init", "list", "shutdown", "init", "list"], w.log()
            assert not run.said()


def test_driver_goes():
    """It is unloaded while it is let go: it is tried again, not given up."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        with running(w, library(), "--away", "200ms") as run:
            run.until(lambda c: c)
            w.write("init 9")
            run.process.send_signal(signal.SIGUSR1)
            run.until(lambda c: c is None)
            assert [run.line("contexts")["contexts"] for _ in range(5)] == [None] * 5


def readings(run):
    """The begin of a look, and its counters: they were read between that and the time of their line."""
    values = run.line("values")
    return run.line("contexts")["time_ns"], values


def moved_at(mib, first, last, i):
    """A counter went on by so many MiB/s, however long the machine stood still between two of these times."""
    moved = last[1]["values"][i] - first[1]["values"][i]
    least, most = last[0] - first[1]["time_ns"], last[1]["time_ns"] - first[0]
    assert mib * 2**20 * least / NS - 100 <= moved <= mib * 2**20 * most / NS + 100, (mib, first, last)


def test_counters():
    """Bytes of links, in whole bytes, where the GPU counts them."""
    with world() as w:
        w.write(gpu(gpm=1), gpu(B, c2c=0, gpm=1), f"rate 0000{A} 1000", f"rate 0000{B} 2.5")
        with running(w, library()) as run:
            names = [(c["name"], c["direction"], c["source"], c["device"]) for c in run.header["counters"]]
            assert names == [("c2c_out.0009.01.00.0", "write", "device", A), ("c2c_in.0009.01.00.0", "read", "device", A),
                             ("pcie_out.0009.01.00.0", "write", "device", A), ("pcie_in.0009.01.00.0", "read", "device", A),
                             ("pcie_out.000a.01.00.0", "write", "device", B), ("pcie_in.000a.01.00.0", "read", "device", B)], names
            # totals begin with a sample of before the first look
            readings(run)
            first = readings(run)
            for _ in range(4):
                last = readings(run)
            for i, mib in enumerate((1000,) * 4 + (2.5,) * 2):
                moved_at(mib, first, last, i)
            # One that fails is null, and the next one has its bytes.
            w.write(gpu(gpm=3), gpu(B, c2c=0, gpm=1), f"rate 0000{A} 1000", f"rate 0000{B} 2.5")
            failed = run.until(lambda v: v[0] is None, "values")
            assert failed["values"][4] is not None
            w.write(gpu(gpm=1), gpu(B, c2c=0, gpm=1), f"rate 0000{A} 1000", f"rate 0000{B} 2.5")
            again = readings(run)
            while again[1]["values"][0] is None:
                again = readings(run)
            moved_at(1000, first, again, 0)


def test_counters_without_value():
    """A rate that is no number, or none that a link can have, is no bytes; the next one has them."""
    with world() as w:
        w.write(gpu(gpm=1), f"rate 0000{A} 1000")
        with running(w, library()) as run:
            run.until(lambda v: v[0] is not None, "values")
            for rate in ("nan", "inf", "-5", "1e300"):
                w.write(gpu(gpm=1), f"rate 0000{A} {rate}")
                assert run.until(lambda v: v[0] is None, "values")["values"] == [None] * 4
                w.write(gpu(gpm=1), f"rate 0000{A} 1000")
                assert 0 < run.until(lambda v: v[0] is not None, "values")["values"][0] < 10**14


def test_counters_need_rights():
    with world() as w:
        w.write(gpu(gpm=2))
        header, *lines = once(w, library(), said="bytes of its links need CAP_SYS_ADMIN")
        assert header["counters"] == [] and not of(lines, "values")


AMDGPU = """drm-driver:\tamdgpu
drm-client-id:\t{id}
drm-pdev:\t0000:03:00.0
drm-engine-gfx:\t{a} ns
drm-engine-dma:\t{b} ns
drm-engine-dec:\t0 ns
drm-memory-vram:\t{m} KiB
"""
I915 = """drm-driver:\ti915
drm-client-id:\t{id}
drm-pdev:\t0000:03:00.0
drm-total-system0:\t{m} KiB
drm-engine-render:\t{a} ns
drm-engine-copy:\t{b} ns
drm-engine-capacity-render:\t2
"""
XE = """drm-driver:\txe
drm-client-id:\t{id}
drm-pdev:\t0000:03:00.0
drm-total-vram0:\t{m} KiB
drm-cycles-rcs:\t{a}
drm-total-cycles-rcs:\t{t}
drm-cycles-bcs:\t{b}
drm-total-cycles-bcs:\t{t}
"""


def fdinfo(driver, text, cycles=0):
    """A program with its GPU twice open, its child, another program, and one that just has the node open."""
    card = "0000:03:00.0"
    with world() as w:
        w.card(card, driver)
        w.card("0000:04:00.0", "ast")
        for pid in (10, 11, 12, 13):
            w.process(pid, start=pid)
        start, total = 7 * NS, 1000 * NS

        def state(busy, copy):
            for pid, number in ((10, 3), (10, 9), (11, 3)):
                w.client(pid, number, text.format(id=1, a=start + busy, b=start + copy, m=64, t=total))
            w.client(12, 4, text.format(id=2, a=start, b=0, m=0, t=total))
            w.client(13, 4, text.format(id=3, a=0, b=0, m=0, t=total))
            w.client(13, 5, "drm-driver:\tnouveau\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\n")
            w.client(13, 6, "nothing\n", node="/dev/null")

        state(0, 0)
        with running(w, None) as run:
            assert run.header["devices"] == [{"address": card}]
            found = run.until(bool, device=card)["contexts"]
            assert [(c["pid"], c["start_ns"]) for c in found] == [(10, 10 * NS), (12, 12 * NS)]
            assert run.line("activity", card)["activity"] == []
            if cycles:
                total += cycles
                state(cycles // 10, cycles // 20)
                busy = run.until(bool, "activity", card)
                (done,) = busy["activity"]
                near(done["busy_ns"], length(busy) * 0.15, 0.01)
                near(done["copy_ns"], length(busy) * 0.05, 0.01)
            else:
                state(40000, 10000)
                busy = run.until(bool, "activity", card)
                (done,) = busy["activity"]
                assert (done["busy_ns"], done["copy_ns"]) == (50000, 10000), busy
            assert done["pid"] == 10 and "samples" not in busy
            # Values that fall are nothing, and nothing again until they are as large as before.
            for used in (start - 5, start, start - 5, start):
                w.client(12, 4, text.format(id=2, a=used, b=0, m=0, t=total))
                assert not [line for line in run.looks(2) if line.get("activity")]
            # All that a new one did is of this time. Of cycles, so are those of the GPU.
            w.process(14, start=14)
            total += cycles
            w.client(14, 3, text.format(id=4, a=cycles // 10 or 300, b=cycles // 20 or 4, m=1, t=total))
            busy = run.until(bool, "activity", card)
            assert [b["pid"] for b in busy["activity"]] == [14]
            near(busy["activity"][0]["busy_ns"], length(busy) * 0.15 if cycles else 304, 0.01)
            # One that did more than there was time for is older than it looks: nobody has seen it before.
            # It has worked for days, since two looks may be seconds apart.
            w.process(15, start=15)
            total += cycles
            w.client(15, 3, text.format(id=5, a=10**6 * NS, b=0, m=1, t=total))
            seen = run.looks(3)
            assert [c["pid"] for c in of(seen, "contexts", card)[-1]["contexts"]] == [10, 12, 14, 15]
            assert not [line for line in seen if line.get("activity")], seen
            w.client(15, 3, "drm-driver:\tast\n")
            w.end(15)
            w.end(10)
            assert [c["pid"] for c in run.until(lambda c: len(c) == 3 and c[0]["pid"] == 11, device=card)["contexts"]] == [11, 12, 14]


def test_clients_that_say_nothing():
    """Drivers before Linux 5.19 have no word of their clients, nor has one without its number: who has a context is not known.
    The nodes of another device do not matter."""
    card = "0000:03:00.0"
    with world() as w:
        w.card(card, "amdgpu")
        w.process(10)
        w.client(10, 3, AMDGPU.format(id=1, a=1, b=1, m=1))
        w.client(10, 4, "", node="/dev/dri/card0")
        assert pids(of(once(w), "contexts", card)[0]["contexts"]) == [(10, None)]
        for text in ("", "pdev:\t0000:03:00.0\npasid:\t32769\ngfx0:\t0.12%\n", "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n",
                     "drm-driver:\tamdgpu\ndrm-client-id:\tx\ndrm-pdev:\t0000:03:00.0\n"):
            w.client(10, 5, text, node="/dev/dri/card1")
            lines = once(w, said=f"GPU {card}: not all of its clients tell")
            assert of(lines, "contexts", card)[0]["contexts"] is None and not of(lines, "activity", card)


def test_amdgpu():
    fdinfo("amdgpu", AMDGPU)


def test_i915():
    fdinfo("i915", I915)


def test_xe():
    fdinfo("xe", XE, cycles=10**8)


def test_files_of_others_cannot_be_seen():
    """Then nobody knows who else has a context."""
    with world() as w:
        w.card("0000:03:00.0", "amdgpu")
        w.process(10)
        w.client(10, 3, AMDGPU.format(id=1, a=1, b=1, m=1))
        (w.proc / "10/fdinfo/4").mkdir()
        (w.proc / "10/fd/4").symlink_to("/dev/dri/card1")
        # A folder can be opened and not be read: no line of it is a client's.
        lines = once(w, said="not all of its clients tell")
        assert of(lines, "contexts", "0000:03:00.0")[0]["contexts"] is None
        (w.proc / "10/fd").rename(w.proc / "10/was")
        (w.proc / "10/fd").write_text("", encoding="utf-8")
        lines = once(w, said="open files of processes: Not a directory: contexts are not known")
        assert of(lines, "contexts", "0000:03:00.0")[0]["contexts"] is None


class Reader:
    """A program that reads at the socket"""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(60)
        for _ in range(1200):
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                self.connection.connect(str(path))
                break
            time.sleep(0.05)
        self.file = self.connection.makefile(encoding="utf-8")
        self.header = valid(self.file.readline())

    def until(self, good, kind="contexts"):
        for _ in range(100):
            found = valid(self.file.readline())
            if kind in found and good(found[kind]):
                return found
        raise AssertionError(kind)

    def skim(self, number):
        """So many lines of contexts as they are: to judge each takes time, and a reader that is slow for long has hung."""
        for _ in range(number):
            while '"contexts"' not in (line := self.file.readline()):
                assert line, "the helper has ended"
            yield line

    def close(self):
        self.file.close()
        self.connection.close()


@contextlib.contextmanager
def listening(w, *options):
    path = w.root / "socket"
    with open(w.root / "said", "w", encoding="utf-8") as said:
        process = subprocess.Popen(w.command("--socket", str(path), *options), env=w.environment(library()), stderr=said)
    try:
        yield path, process
    finally:
        process.kill()
        process.wait()


def test_socket():
    """All that read have all lines; the driver is open only while there is one, and never during --away."""
    with world() as w:
        w.process(10)
        w.write(gpu(), process(10, 50))
        with listening(w, "--away", "1h") as (path, helper):
            one, two = Reader(path), Reader(path)
            assert one.header == two.header and one.header["devices"][0]["address"] == A
            for reader in (one, two):
                reader.until(lambda c: pids(c) == [(10, None)])
            again = subprocess.run(w.command("--socket", str(path)), env=w.environment(library()), capture_output=True, text=True,
                                   timeout=60, check=False)
            assert again.returncode == 1 and "Address already in use" in again.stderr, again.stderr
            one.close()
            two.until(lambda c: True, "activity")
            two.close()
            for _ in range(1200):
                if w.log()[-1] == "shutdown":
                    break
                time.sleep(0.05)
            asked = w.log()
            assert asked[-1] == "shutdown", asked
            time.sleep(3 * EVERY)
            assert w.log() == asked
            three = Reader(path)
            three.until(bool)
            helper.send_signal(signal.SIGUSR1)
            three.until(lambda c: c is None)
            three.close()
            four = Reader(path)
            for _ in range(3):
                four.until(lambda c: c is None)
            assert w.log()[-1] == "shutdown", w.log()
            helper.send_signal(signal.SIGUSR2)
            four.until(bool)
            helper.terminate()
            assert helper.wait(60) == -signal.SIGTERM
            # A socket that is left over is replaced, another file is not.
            with listening(w) as (path, _):
                Reader(path).until(bool)
        assert not (w.root / "said").read_text(encoding="utf-8")
        path.unlink()
        path.write_text("", encoding="utf-8")
        again = subprocess.run(w.command("--socket", str(path)), env=w.environment(library()), capture_output=True, text=True,
                               timeout=60, check=False)
        assert again.returncode == 1 and "File exists" in again.stderr, again.stderr


def test_slow_reader():
    """It misses looks and gets whole lines; the others miss nothing. Beyond eight, programs wait for a place."""
    with world() as w:
        w.process(10)
        for pid in range(100, 480):
            w.process(pid)
        w.write(gpu(), *(process(pid, 1) for pid in range(100, 480)))
        with listening(w) as (path, _):
            slow, *others = [Reader(path) for _ in range(8)]
            late = socket.socket(socket.AF_UNIX)
            late.connect(str(path))
            for line in others[0].skim(60):
                assert line.count('"pid"') == 380
            times = [slow.until(lambda c: True)["time_ns"] for _ in range(40)]
            gaps = [b - a for a, b in zip(times, times[1:])]
            assert min(gaps) > 0 and max(gaps) > 4 * EVERY * NS, gaps
            late.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                assert not late.recv(1)
            others[1].close()
            late.settimeout(60)
            assert late.recv(1) == b"{"


def checked(w, folder=None, preload=False):
    done = subprocess.run(w.command("--check"), env=w.environment(folder, preload), capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert all(len(row) == 4 and row[1] in ("ok", "limited") and bool(row[3]) == (row[1] == "limited") for row in rows), rows
    return {row[0]: row[1:] for row in rows}


def test_check():
    """Each row that is limited has a remedy."""
    with world() as w:
        rows = checked(w)
        assert list(rows) == ["gpu_driver", "gpu_pids", "gpu_holders"] and rows["gpu_driver"][0] == "limited", rows
        assert rows["gpu_holders"][:2] == ["ok", "no process has a GPU's node open"], rows
        (w.sysfs / "module/nvidia").mkdir(parents=True)
        (w.sysfs / "module/nvidia/version").write_text("595.45.04\n", encoding="utf-8")
        (w.sysfs / "module/xe").mkdir()
        for pid, name in ((10, "nvidia-persiste"), (11, "python\x1b")):
            w.process(pid)
            w.client(pid, 3, "", node="/dev/nvidia0")
            (w.proc / f"{pid}/comm").write_text(f"{name}\n", encoding="utf-8")
            (w.proc / f"{pid}/cgroup").write_text(f"0::/system.slice/{pid}\n", encoding="utf-8")
        w.namespace("pid:[4026532000]")
        rows = checked(w)
        assert rows["gpu_driver"][:2] == ["ok", "nvidia 595.45.04, xe"] and "libnvidia-ml.so.1" in rows["gpu_nvml"][1], rows
        assert rows["gpu_pids"][0] == rows["gpu_nvml"][0] == "limited"
        assert rows["gpu_holders"][0] == "limited" and "--ignore-holder" in rows["gpu_holders"][2]
        for text in ("nvidia-persiste 10 (/system.slice/10)", "python? 11 (/system.slice/11)"):
            assert text in rows["gpu_holders"][1], rows
        w.namespace("pid:[4026531836]")
        w.write(gpu(gpm=2), gpu(B, c2c=0, accounting=1))
        rows = checked(w, library())
        assert rows["gpu_nvml"] == ["ok", "NVML 13.595.45.04", ""], rows
        assert rows["gpu_links"][:2] == ["ok", f"{A} on C2C, {B} on PCIe"], rows
        assert rows["gpu_accounting"][:2] == ["limited", "on 1 of 2 GPUs"] and "nvidia-smi -am 1" in rows["gpu_accounting"][2]
        assert rows["gpu_counters"][0] == "limited" and "CAP_SYS_ADMIN" in rows["gpu_counters"][2], rows
        assert rows["gpu_pids"][0] == rows["gpu_holders"][0] == "ok", rows
        w.write(gpu(mig=1))
        rows = checked(w, library())
        assert "gpu_accounting" not in rows and rows["gpu_links"][1].endswith("C2C, MIG"), rows
        w.write(gpu(gpm=1, accounting=1))
        assert {row[0] for row in checked(w, library()).values()} == {"ok"}


def test_reader_goes_away():
    with world() as w:
        w.write(gpu())
        with running(w, library()) as run:
            run.process.stdout.close()
            assert run.process.wait(60) == -signal.SIGPIPE


if __name__ == "__main__":
    library()
    sys.exit(each_test.run_all("gpu helper", globals(), at_once=8))
