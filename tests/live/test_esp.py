# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The monitors of an ESP (--esp), whose hardware are test programs (esp_traffic.c): each moves data and
counts it in registers that are a file. So it is known what each has moved, and the scheduler is real.
"""

import errno
import json
import os
import pathlib
import re
import signal
import struct
import time

from live import LIMIT_S, check_status, finish, precise, require, said, shares

# A CPU tile for each CPU that there may be, two at least. Tile 1 has CPU 0.
CPUS = max(2, 1 + max(int(n) for n in re.findall(r"\d+", pathlib.Path("/sys/devices/system/cpu/possible").read_text())))
BY_TILE = CPUS < 64
TILES = ["mem mem"] + ["cpu cpu"] * CPUS + ["acc FFT_STRATUS basic_dma64 0 0 sld"]
ACC = len(TILES) - 1
TILE_BYTES = 0x200
WORD_BYTES = 8
RUN_MS = 2500


def of_tiles(*ends):
    """Counters of what CPUs moved: of each tile, where they are apart."""
    ends = [f"{n}_{end}" for n in range(CPUS) for end in ends] if BY_TILE else [f"_{end}" for end in ends]
    return [f"mem0/ddr_accesses/cpu{end}" for end in ends]


BY_TIME = of_tiles("rd_by_time", "wr_by_time") if BY_TILE else []
WRITES = of_tiles("wr") + BY_TIME[1::2]
OF_CPUS = of_tiles("rd", "wr") + BY_TIME
RATES = (200, 50)
OF_DMA = ["mem0/ddr_accesses/dma_rd", "mem0/ddr_accesses/dma_wr"]


class Esp:
    """Registers in a file, and their description."""

    def __init__(self, bed, more=""):
        self.bed = bed
        self.window = bed.scratch / "window"
        self.window.write_bytes(bytes(TILE_BYTES * len(TILES)))
        tiles = "".join(f"TILE_0_{i} = {i} {tile}\n" for i, tile in enumerate(TILES))
        self.config = bed.scratch / "esp_config"
        self.config.write_text(
            f"CPU_ARCH = ariane\nNCPU_TILE = {CPUS}\nCONFIG_NOC_ROWS = 1\nCONFIG_NOC_COLS = {len(TILES)}\n"
            f"CONFIG_DMA_NOC_WIDTH = 64\nCONFIG_CACHE_EN = y\n{tiles}"
            f"T410TRACE_WINDOW = {self.window}\nT410TRACE_CLOCK_MHZ = 100\n{more}",
            encoding="utf-8",
        )

    def traffic(self, *options, rate, on=400, off=0, ms=RUN_MS, cpu=None, misses=True):
        """A program that moves RATE accesses a microsecond while it is on, perhaps on one CPU alone."""
        if cpu is not None:
            options += "-c", cpu, *(("-l", 1 + cpu) if misses else ())
        return self.bed.process(
            self.bed.esp_traffic, *options, self.window, 0, rate, on, off, ms
        )

    def put(self, tile, word, value):
        with self.window.open("r+b") as file:
            file.seek(tile * TILE_BYTES + 4 * word)
            file.write(struct.pack("=I", value))

    def frozen(self):
        words = self.window.read_bytes()
        return [t for t in range(len(TILES)) if words[t * TILE_BYTES] & 1]


def moved(process):
    """Bytes that a program has moved, when it has ended."""
    (words,) = said(finish(process), "moved")
    return int(words[2]) * WORD_BYTES


def total(reports, names):
    return sum(c["value"] for r in reports for c in r["counters"] if c["name"] in names and c["valid"])


def of_process(reports, names, pid):
    """Bytes on the rows of a process, all reports together."""
    return sum(
        value
        for report in reports
        for name in names
        for key, value in shares(report, name)[0].items()
        if key.startswith(f"pid:{pid}:")
    )


def two_programs(bed, esp, *args, command=(), method="state-space"):
    """One moves four times as much as the other while it runs; both stop and go."""
    with bed.tracing(
        "-a", "--esp", esp.config, "-i", 500, "--method", method, *args, command=command
    ) as tracer, esp.traffic(cpu=bed.cpu, rate=400, on=130, off=170) as heavy, esp.traffic(
        cpu=min(os.sched_getaffinity(0)), rate=100, on=110, off=90
    ) as light:
        truth = {heavy.pid: moved(heavy), light.pid: moved(light)}
        done = tracer.end(signal.SIGINT)
    check_status(done)
    return done, truth


def check_two(reports, truth):
    """All bytes are there, to the byte; and each program's are near those that it moved."""
    got = total(reports, OF_CPUS)
    require(got == sum(truth.values()), f"{got} bytes counted, {truth} moved")
    written = total(reports, WRITES)
    precise(abs(4 * written - got) < 0.05 * got, f"{written} bytes of {got} are written, not a quarter")
    for pid, bytes_moved in truth.items():
        found = of_process(reports, OF_CPUS, pid)
        precise(
            abs(found - bytes_moved) < 0.2 * max(truth.values()),
            f"process {pid}: {found} bytes of {bytes_moved} (of {truth})",
        )


def test_attributed(bed):
    esp = Esp(bed)
    done, truth = two_programs(bed, esp, "--json")
    check_two(done.intervals(), truth)
    require("1 memory tile of an ESP every " in done.err, done.err)
    require(not esp.frozen(), f"frozen: {esp.frozen()}")


def on_two_tiles(bed, misses):
    """One on each of two CPU tiles, all the time: nothing but misses tells them apart."""
    esp = Esp(bed)
    with bed.tracing("-a", "--json", "--esp", esp.config, "-i", 500) as tracer, esp.traffic(
        cpu=bed.cpu, rate=400, misses=misses
    ) as heavy, esp.traffic(cpu=min(os.sched_getaffinity(0)), rate=50, misses=misses) as light:
        truth = moved(heavy), moved(light)
        done = tracer.end(signal.SIGINT)
    check_status(done)
    reports = done.intervals()
    got = total(reports, OF_CPUS)
    require(got == sum(truth), f"{got} bytes counted, {truth} moved")
    return done, truth, [of_process(reports, OF_CPUS, p.pid) for p in (heavy, light)]


def test_tiles(bed):
    """The part of a CPU tile is what its L2 missed, and belongs to who ran there."""
    if not BY_TILE or bed.cpu == min(os.sched_getaffinity(0)):
        return
    done, truth, found = on_two_tiles(bed, misses=True)
    reports = done.intervals()
    by_time = total(reports, BY_TIME)
    precise(by_time < 0.01 * sum(truth), f"{by_time} bytes of {truth} are divided by time")
    for got, bytes_moved in zip(found, truth):
        precise(abs(got - bytes_moved) < 0.1 * sum(truth), f"{found} bytes of {truth}")
    require("L2 misses of CPU tiles" in reports[0]["quality"]["tick_note"], reports[0]["quality"])
    require("L2 misses of CPU tiles" in " ".join(done.err.split()), done.err)


def test_no_misses(bed):
    """Without misses, time alone divides, and the counters say so. It cannot tell the two apart."""
    if not BY_TILE or bed.cpu == min(os.sched_getaffinity(0)):
        return
    done, truth, found = on_two_tiles(bed, misses=False)
    by_time = total(done.intervals(), BY_TIME)
    require(by_time == sum(truth), f"{by_time} bytes of {truth} are divided by time")
    precise(found[0] < 0.75 * truth[0], f"time has told them apart: {found} bytes of {truth}")


def test_wrapped(bed):
    """The counter goes around in the middle, or earlier where the programs get a CPU."""
    esp = Esp(bed)
    esp.put(0, 1, 2**32 - 4_000_000)
    done, truth = two_programs(bed, esp, "--json")
    require(sum(truth.values()) > 8_000_000 * WORD_BYTES, f"only {truth} moved")
    check_two(done.intervals(), truth)


def test_without_caches(bed):
    """Nothing tells reads from writes there: one counter, of all accesses."""
    esp = Esp(bed, "CONFIG_CACHE_EN = n\n")
    done, truth = two_programs(bed, esp, "--json")
    reports = done.intervals()
    counters = {(c["name"], c["direction"], c["source"]) for r in reports for c in r["counters"]}
    require(counters == {("mem0/ddr_accesses", "readwrite", "any")}, f"counters are {counters}")
    name = "mem0/ddr_accesses"
    got = total(reports, [name])
    require(got == sum(truth.values()), f"{got} bytes counted, {truth} moved")
    of_both = sum(of_process(reports, [name], pid) for pid in truth)
    precise(of_both > 0.6 * got, f"{of_both} bytes of {got} on the rows of those who moved them")
    require("does not tell reads from writes" in " ".join(done.err.split()), done.err)


def test_recorded(bed):
    """Both formats say what a live run would have."""
    for kind in ("recording", "ndjson"):
        path = bed.scratch / f"run.{kind}"
        esp = Esp(bed)
        with bed.tracing("--esp", esp.config, "--format", kind, "-o", path, command=["record"]) as tracer:
            with esp.traffic(cpu=bed.cpu, rate=300, on=100, off=100, ms=1000) as program:
                bytes_moved = moved(program)
            check_status(tracer.end(signal.SIGINT))
        done = bed.command(bed.program, "report", path, "-a", "--json")
        check_status(done)
        reports = [json.loads(line) for line in done.out.splitlines()]
        got = total(reports, OF_CPUS)
        require(got == bytes_moved, f"{kind}: {got} bytes, {bytes_moved} moved")
        precise(of_process(reports, OF_CPUS, program.pid) > 0.5 * got, "the rows of others have most")


def test_dma(bed):
    """What an accelerator moves is no task's, although tasks move data meanwhile."""
    esp = Esp(bed)
    with bed.tracing("-a", "--json", "--esp", esp.config, "-i", 500) as tracer, esp.traffic(
        "-a", ACC, rate=200, on=300, off=100
    ) as driver, esp.traffic(cpu=bed.cpu, rate=100, on=150, off=150) as program:
        by_dma, by_cpu = moved(driver), moved(program)
        done = tracer.end(signal.SIGINT)
    check_status(done)
    reports = done.intervals()
    got = [total(reports, [name]) for name in OF_DMA]
    both = sum(got) + total(reports, OF_CPUS)
    require(both == by_dma + by_cpu, f"{both} bytes, {by_dma} and {by_cpu} moved")
    # A tile may be read between an access and the word that belongs to it.
    precise(abs(sum(got) - by_dma) < 0.01 * by_dma, f"{got} bytes of DMA, {by_dma} moved")
    for report in reports:
        for name in OF_DMA:
            rows, _ = shares(report, name)
            require(not rows, f"{name} is on rows: {rows}")
    precise(abs(got[0] - 3 * got[1]) < 0.05 * by_dma, f"reads and writes are {got}")


def device_bytes(reports, pid):
    """What accelerator 0 moved for a process, all reports together."""
    return sum(
        part.get("read_bytes", 0) + part.get("write_bytes", 0)
        for report in reports
        for row in report["workloads"]
        for part in row.get("devices", [])
        if row["key"].startswith(f"pid:{pid}:") and part["bdf"] == "acc0"
    )


def sees_open_files():
    """May the open files of all processes be seen? Without that nobody is known to own a device."""
    try:
        return bool(os.stat("/proc/1/fd/0"))
    except OSError as error:
        return error.errno != errno.EACCES


def with_owners(lines, times):
    """An NDJSON trace with what looks at open files would have said: who had the node, and when."""
    ids, begin = {}, 0
    for line in lines:
        event = json.loads(line)
        if event["type"] == "workload" and event["pid"] in times:
            ids[event["pid"]] = event["id"]
        if event["type"] == "mark":
            for pid, (start, end) in times.items():
                span = max(begin, start), min(event["time_ns"], end)
                if begin and span[0] < span[1]:
                    yield json.dumps(
                        {"type": "io", "workload": ids[pid], "bdf": "acc0", "exclusive": True}
                        | dict(zip(("start_ns", "end_ns"), span))
                    )
            begin = event["time_ns"]
        yield line


def check_work(device, truth, path):
    """What the accelerator did, to the unit, and whom it is said to have been for."""
    done = {key: sum(d["work"][key] for d in device) for key in ("cycles", "memory_cycles", "tlb_cycles", "invocations")}
    accesses = sum(truth.values()) // WORD_BYTES
    # An invocation is of 20 us: at the rates of 200 and 50, of so many accesses
    calls = sum(n // WORD_BYTES // (20 * rate) for n, rate in zip(truth.values(), RATES))
    require(done == {"cycles": 4 * accesses, "memory_cycles": accesses, "tlb_cycles": accesses // 2, "invocations": calls},
            f"{done} in {path}; {accesses} accesses, {calls} invocations")
    for d in device:
        if d["work"]["invocations"]:
            mean = d["work"]["cycles"] / d["work"]["invocations"]
            require(abs(d["work"]["per_invocation"]["cycles"] - mean) < 1e-6 * mean, f"{d['work']}")
    for pid in truth:
        theirs = [d for d in device if d.get("exclusive", "").startswith(f"pid:{pid}:")]
        precise(any(d["work"]["invocations"] for d in theirs), f"no invocations of {pid}: {device}")


def test_owner(bed):
    """An accelerator is that of who has its node open: of one process, then of another."""
    # A terminal is a character device that nobody else has open.
    master, slave = os.openpty()
    node = os.ttyname(slave)
    os.close(slave)
    esp = Esp(bed, f"T410TRACE_DEVICE_0 = {node}\n")
    path = bed.scratch / "run.ndjson"
    truth, times = {}, {}
    with bed.tracing(
        "--esp", esp.config, "-i", 250, "--format", "ndjson", "-o", path, command=["record"]
    ) as tracer:
        for rate in RATES:
            start = time.monotonic_ns()
            with esp.traffic("-a", ACC, "-d", node, rate=rate, on=150, off=50) as driver:
                truth[driver.pid] = moved(driver)
            times[driver.pid] = start, time.monotonic_ns()
        check_status(tracer.end(signal.SIGINT))
    os.close(master)
    lines = path.read_text(encoding="utf-8").splitlines()
    if not sees_open_files():
        require(not any('"exclusive"' in line for line in lines), "an owner that nobody can know")
        path.write_text("\n".join(with_owners(lines, times)) + "\n", encoding="utf-8")
    done = bed.command(bed.program, "report", path, "-a", "--json")
    check_status(done)
    reports = done.reports()
    device = [d for r in reports for d in r["devices"] if d["bdf"] == "acc0"]
    got = sum(d.get(f"{way}_bytes", 0) for d in device for way in ("read", "write"))
    check_work(device, truth, path)
    missing = sum(truth.values()) - got
    # Words of the last window may be counted before the cycles in which they moved.
    precise(0 <= missing < 0.02 * got, f"{got} bytes of the accelerator, {truth} moved")
    for pid, bytes_moved in truth.items():
        # Who has just opened it is not known to have it alone.
        found = device_bytes(reports, pid)
        precise(0.6 * bytes_moved < found < 1.01 * bytes_moved, f"{pid}: {found} bytes of {truth}")


def test_broken(bed):
    """Registers that all read ones: no number, never 0 or a large one; then they are back."""
    esp = Esp(bed)
    with bed.tracing("-a", "--json", "--esp", esp.config, "-i", 200) as tracer:
        tracer.wait_reports(1)
        words = esp.window.read_bytes()
        with esp.window.open("r+b") as file:
            file.write(b"\xff" * len(words))
        tracer.wait_reports(3)
        with esp.window.open("r+b") as file:
            file.write(words)
        tracer.wait_reports(2)
        done = tracer.end(signal.SIGINT)
    reports = done.intervals()
    absent = [r for r in reports if not r["counters"][0]["valid"]]
    require(len(absent) >= 1, "no report without data")
    require(total(reports, OF_CPUS) == 0, f"{total(reports, OF_CPUS)} bytes that nobody moved")
    require(reports[-1]["counters"][0]["valid"], "it did not come back")
    lost = sum(r["quality"]["invalid_windows"] for r in reports)
    require(lost > 0, "nobody counted the readings that failed")


def test_killed(bed):
    """SIGKILL while tiles are read all the time; the next run releases what stayed frozen."""
    esp = Esp(bed)
    with bed.tracing("-a", "--json", "--esp", esp.config, "--window", "1ms") as tracer:
        time.sleep(0.2)
        tracer.signal(signal.SIGKILL)
        tracer.process.wait(LIMIT_S)
    esp.put(0, 0, 1)  # the kill hardly ever comes in between
    done = bed.trace("-a", "--esp", esp.config, "-d", 0.2)
    check_status(done)
    require("frozen by another program: released" in " ".join(f"{done.err} {done.out.decode()}".split()), done.err)
    require(not esp.frozen(), f"frozen: {esp.frozen()}")


def test_refused(bed):
    """A clear error, with a remedy, and nothing is touched."""
    for more, said_what in (
        ("T410TRACE_WINDOW = /dev/mem\n", "not an ESP"),
        ("T410TRACE_BASE = 512\n", "another system-on-chip"),
        ("T410TRACE_CLOCK_MHZ = 40000\n", "windows of 1000 ms are too long"),
        ("rubbish\n", "KEY = VALUE"),
    ):
        esp = Esp(bed, more)
        done = bed.trace("-a", "--esp", esp.config, "-d", 0.2, "--window", "1s")
        require(done.status == 1, f"exit status {done.status} with {more}")
        require(said_what in " ".join(done.err.split()), f"{more}: {done.err}")
        require(not any(esp.window.read_bytes()), "registers were written to")


TESTS = [
    test_attributed,
    test_tiles,
    test_no_misses,
    test_wrapped,
    test_without_caches,
    test_recorded,
    test_dma,
    test_owner,
    test_broken,
    test_killed,
    test_refused,
]
