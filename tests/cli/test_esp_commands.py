#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_esp_commands.py T410TRACE: "list" and "stat" of an ESP whose registers are a file.

With "step WINDOW" it is the hardware: all counters go on, each by a step that only it has.
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

import jsonschema

SHARE = pathlib.Path(__file__).resolve().parents[2] / "share"
TILES = ["mem0", "cpu0", "acc0", "misc0"]
TILE_WORDS = 0x200 // 4
CONFIG = """CPU_ARCH = ariane
NCPU_TILE = 1
CONFIG_NOC_ROWS = 2
CONFIG_NOC_COLS = 2
CONFIG_DMA_NOC_WIDTH = 64
CONFIG_CACHE_EN = y
TILE_0_0 = 0 mem mem
TILE_0_1 = 1 cpu cpu
TILE_1_0 = 2 acc FFT_STRATUS basic_dma64 1 1 sld
TILE_1_1 = 3 misc IO
T410TRACE_CLOCK_MHZ = 100
"""
# Counters of each tile that make sense, by index
ROUTER = set(range(23, 59))
VALID = [
    ROUTER | set(range(9)) | {11, 12},
    ROUTER | {9, 10} | set(range(19, 23)),
    ROUTER | {9, 10} | set(range(13, 23)),
    ROUTER,
]
# Low words of pairs, and their high words
PAIRS = {14: 15, 16: 17}
failed = False


def verdict(name, problem):
    global failed
    failed |= bool(problem)
    print(f"not ok {name}: {problem}" if problem else f"ok {name}")


def step_of(tile, i):
    return 1000 * tile + i + 1


def load(path):
    return list(struct.unpack(f"={4 * TILE_WORDS}I", path.read_bytes()))


def store(path, words):
    # In place: it is mapped
    with path.open("r+b") as file:
        file.write(struct.pack(f"={4 * TILE_WORDS}I", *words))


def step(path):
    words = load(path)
    for tile in range(4):
        for i in range(59):
            at = tile * TILE_WORDS + 1 + i
            words[at] = (words[at] + step_of(tile, i)) % 2**32
    store(path, words)


def run(*words):
    words = [str(w) for w in words]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def make(folder, more="", words=None):
    """Registers and their description; returns both files."""
    window, config = folder / "window", folder / "esp_config"
    window.write_bytes(bytes(16 * TILE_WORDS))
    store(window, words or [0] * 4 * TILE_WORDS)
    config.write_text(f"{CONFIG}T410TRACE_WINDOW = {window}\n{more}", encoding="utf-8")
    return window, config


def schema(name):
    return json.loads((SHARE / f"t410trace.{name}-1.schema.json").read_text(encoding="utf-8"))


def check_list(trace, folder):
    _, config = make(folder)
    done = run(trace, "list", "--esp", config, "--json")
    if done.returncode:
        return done.stderr
    listed = json.loads(done.stdout)
    jsonschema.validate(listed, schema("list"))
    valid = [set(tile["counters"]) for tile in listed["esp"]["tiles"]]
    text = run(trace, "list", "--esp", config).stdout
    missing = [c["name"] for c in listed["esp"]["counters"] if c["name"] not in text]
    return f"counters {valid}" if valid != VALID else f"not listed: {missing}" if missing else ""


def known(names):
    """What each counter gains by one step, by the name that stat gives it."""
    gains = {}
    for tile, label in enumerate(TILES):
        for i in VALID[tile] - set(PAIRS.values()):
            value = step_of(tile, i)
            if i in PAIRS:
                value += step_of(tile, PAIRS[i]) << 32
            gains[f"{label}/{names[i].removesuffix('_lo')}"] = value
    return gains


def check_stat(trace, folder):
    """All counters gain what is known, also those that go around, and one that was left frozen."""
    words = [0xFFFFFFFE] * 4 * TILE_WORDS
    for tile in range(4):
        words[tile * TILE_WORDS] = tile % 2
        for high in PAIRS.values():
            words[tile * TILE_WORDS + 1 + high] = 0
            words[tile * TILE_WORDS + high] = 0
    window, config = make(folder, words=words)
    # Tiles are read before the command begins and when it has ended.
    step_once = ["--", sys.executable, __file__, "step", window]
    done = run(trace, "stat", "--esp", config, "--json", *step_once)
    if done.returncode:
        return done.stderr
    report = json.loads(done.stdout)
    jsonschema.validate(report, schema("stat"))
    listed = json.loads(run(trace, "list", "--esp", config, "--json").stdout)
    want = known([c["name"] for c in listed["esp"]["counters"]])
    got = {c["name"]: c["value"] for c in report["counters"]}
    wrong = [(name, got.get(name), want.get(name)) for name in {*want, *got} if got.get(name) != want.get(name)]
    if not any("2 tiles had been left frozen" in note for note in report["notes"]):
        wrong.append(report["notes"])
    if any(load(window)[tile * TILE_WORDS] for tile in range(4)):
        wrong.append("tiles are frozen")
    return f"{wrong}" if wrong else ""


def check_metrics(trace, folder):
    """Formulas a second time"""
    window, config = make(folder)
    done = run(trace, "stat", "--esp", config, "--json", "--", sys.executable, __file__, "step", window)
    values = {(m["name"], m["label"]): m["value"] for m in json.loads(done.stdout)["metrics"] if m["valid"]}
    busy = (step_of(2, 17) << 32) + step_of(2, 16)
    moved = (step_of(2, 15) << 32) + step_of(2, 14)
    points = [step_of(1, i) for i in range(19, 23)]
    want = {
        ("esp.mem.llc_hit_rate", "mem0"): 100 * step_of(0, 11) / (step_of(0, 11) + step_of(0, 12)),
        ("esp.l2_hit_rate", "cpu0"): 100 * step_of(1, 9) / (step_of(1, 9) + step_of(1, 10)),
        ("esp.acc.memory_share", "acc0"): 100 * moved / busy,
        ("esp.acc.invocation_cycles", "acc0"): busy / step_of(2, 18),
        **{(f"esp.dvfs_op_{p}", "cpu0"): 100 * points[p] / sum(points) for p in range(4)},
    }
    wrong = [(k, values.get(k), v) for k, v in want.items() if abs(values.get(k, 0) - v) > 1e-6 * v]
    # What is by cycle: all have the same time
    full = [values[f"esp.noc.plane{p}_full", "misc0"] for p in range(6)]
    rate = [values[f"esp.noc.plane{p}_injection", "misc0"] for p in range(6)]
    cycles = step_of(3, 23) / rate[0]
    for p in range(6):
        queues = sum(step_of(3, 29 + 5 * p + q) for q in range(5))
        if abs(full[p] - 100 * queues / 5 / cycles) > 1e-6 * full[p]:
            wrong.append((p, full[p]))
    return f"{wrong}" if wrong else ""


def check_cost(trace, folder):
    """The summary has the CPU time of all intervals; on a busy machine some of them become one."""
    _, config = make(folder)
    words = [trace, "stat", "--esp", config, "-i", "10ms", "--summary", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tracer:
        lines = [tracer.stdout.readline() for _ in range(5)]
        tracer.terminate()
        lines += tracer.stdout.readlines()
    reports = [json.loads(line) for line in lines]
    *parts, whole = [r["self"]["cpu_ns"] for r in reports]
    if len(parts) < 2 or not reports[-1]["summary"]:
        return f"{len(reports)} reports"
    return f"{whole} ns, intervals {parts}" if whole < sum(parts) else ""


def check_killed(trace, folder):
    """SIGKILL at any time; the next start finds nothing frozen, or says what it has released."""
    window, config = make(folder)
    for wait in range(5):
        with subprocess.Popen([trace, "stat", "--esp", config, "-i", "10ms", "-q"], stdout=subprocess.DEVNULL) as tracer:
            time.sleep(0.05 + 0.007 * wait)
            os.kill(tracer.pid, signal.SIGKILL)
    done = run(trace, "stat", "--esp", config, "-d", "10ms")
    if done.returncode:
        return done.stderr
    return "tiles are frozen" if any(load(window)[t * TILE_WORDS] for t in range(4)) else ""


def check_refused(trace, folder):
    """Faults: what is said, and what to do about it"""
    window, config = make(folder)
    ones = folder / "ones"
    ones.write_bytes(b"\xff" * 16 * TILE_WORDS)
    cases = [
        (["list", "--esp", folder / "nothing"], "", ".esp_config"),
        (["stat", "--esp", config, "-e", "l2_hit"], "", "l2_hits"),
        (["stat", "--esp", config, "-p", "1"], "", "whole tiles"),
        (["stat", "--esp", config, "--peak", "cmem=1GB/s"], "", "no metric of an ESP"),
        (["list", "--esp", config, "--explain", "x"], "", "about no PMU"),
        (["stat", "--esp", config], f"T410TRACE_WINDOW = {ones}\n", "all ones"),
        (["stat", "--esp", config], f"T410TRACE_WINDOW = {folder}\n", "Is a directory"),
        (["stat", "--esp", config], "T410TRACE_BASE = 0x200\n", "another system-on-chip"),
        (["stat", "--esp", config], "T410TRACE_WINDOW = /dev/mem\n", "is not an ESP"),
    ]
    for words, more, said in cases:
        make(folder, more)
        done = run(trace, *words)
        if not done.returncode or said not in " ".join(done.stderr.split()):
            return f"{words} {more}: {done.returncode}, {done.stderr}"
    if any(load(window)):
        return "registers were written to"
    return ""


def main():
    trace = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_list, check_stat, check_metrics, check_cost, check_killed, check_refused):
            verdict(f"esp-{check.__name__.removeprefix('check_')}", check(trace, folder))
    return failed


if sys.argv[1] == "step":
    step(pathlib.Path(sys.argv[2]))
else:
    sys.exit(main())
