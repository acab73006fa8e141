#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_peak.py T410TRACE: list and topology say the peak that the firmware's memory table tells, and
reports from a trace say the peak that it has, or the one that is given instead."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

from invented import Trace

program = pathlib.Path(sys.argv[1]).resolve()
TESTS = pathlib.Path(__file__).resolve().parents[1]
SENTENCE = (
    "peak of memory: 511.9 GB/s a socket, from the firmware's memory table: 2 memory devices, 480 bit at 8532 MT/s, "
    "the rated speed: the configured one is unknown; divided evenly among 2 sockets"
)
failed = 0


def check(function):
    global failed
    try:
        with tempfile.TemporaryDirectory() as folder:
            function(pathlib.Path(folder))
        print(f"ok peak: {function.__doc__}")
    except (AssertionError, OSError, KeyError, IndexError) as error:
        failed = 1
        print(f"not ok peak: {function.__doc__}: {error!r}".replace("\n", " "))


def run(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


def words(text):
    return " ".join(text.split())


def record(locator, kind=0x23):
    """One record of type 17 of SMBIOS 3.3: LPDDR5 of a Grace, whose configured speed is not told"""
    raw = bytearray(0x5C)
    struct.pack_into("<BB", raw, 0, 17, len(raw))
    struct.pack_into("<HH", raw, 0x0A, 480, 16384)
    raw[0x10], raw[0x12] = 1, kind
    struct.pack_into("<H", raw, 0x15, 8532)
    return bytes(raw) + locator.encode() + b"\0\0"


def firmware(folder):
    """list and topology say what the firmware's table tells, and nothing without one or of DIMMs"""
    machine = folder / "machine"
    subprocess.run([TESTS / "fixtures/platforms.py", "icelake", machine], check=True)
    function = machine / "devices/pci0000:00/0000:00:01.0"
    function.mkdir(parents=True)
    (function / "config").write_bytes(struct.pack("<HH60x", 0x8086, 0x1234))
    (machine / "bus/pci/devices").mkdir(parents=True)
    (machine / "bus/pci/devices" / function.name).symlink_to(f"../../../devices/pci0000:00/{function.name}")
    for command in ("list", "topology"):
        assert "peak of memory" not in run(command, f"--sysfs={machine}"), command
    for i in range(2):
        entry = machine / f"firmware/dmi/entries/17-{i}"
        entry.mkdir(parents=True)
        (entry / "raw").write_bytes(record(f"LP5x_{i}"))
    for command in ("list", "topology"):
        assert SENTENCE in words(run(command, f"--sysfs={machine}")), run(command, f"--sysfs={machine}")
        assert SENTENCE in json.loads(run(command, f"--sysfs={machine}", "--json"))["notes"], command
    (machine / "firmware/dmi/entries/17-1/raw").write_bytes(record("P1_CHANNEL_A", 0x22))
    assert "peak of memory" not in run("list", f"--sysfs={machine}")


def trace(folder, peaks):
    path = folder / f"{len(peaks)}.ndjson"
    invented = Trace(400, {7: ("one", "/a"), 8: ("two", "/b")}, lambda pid, w: pid * 10_000_000, lambda s: 100)
    invented.write(path)
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    header = {**json.loads(first), **peaks}
    path.write_text("\n".join([json.dumps(header), *rest]) + "\n", encoding="utf-8")
    return path


def recorded(folder):
    """a report from a trace says its peak; --peak replaces it, and --peak none leaves it out"""
    plain = trace(folder, {})
    known = trace(
        folder,
        {
            "peaks": [{"of": "cmem", "socket": 0, "bytes_per_s": 2 * 10**9, "from": "firmware"}],
            "peak_note": "8 memory devices",
        },
    )
    before = run("report", "--summary", plain)
    said = run("report", "--summary", known)
    assert "peak" not in before and "peak: cmem of socket 0: " in said
    assert "peak of memory: 2.000 GB/s a socket, from the firmware's memory table (8 memory devices)" in words(said)
    assert run("report", "--summary", "--peak", "none", known) == before
    given = run("report", "--summary", "--peak", "1GB/s", known)
    assert "1.000 GB/s a socket, given by --peak" in given
    # 150 MB in each window of 10 ms are 15 GB/s
    assert "more than 100% of a peak" in given, given
    report = json.loads(run("report", "--summary", "--json", "--peak", "30GB/s", known))
    [peak] = report["peaks"]
    assert peak["from"] == "given" and peak["valid"] and abs(peak["share"] - 0.5) < 0.01, peak
    assert abs(sum(w["peak_share"] for w in report["workloads"]) - peak["share"]) < 0.01, report["workloads"]
    assert "peaks" not in json.loads(run("report", "--summary", "--json", plain))


def tiles(folder):
    """a peak is not taken for that of each CPU tile of an ESP"""
    one = trace(folder, {"platform": "esp"})
    assert "given by --peak" in run("report", "--summary", "--peak", "1GB/s", one)
    several = trace(folder, {"platform": "esp", "sockets": [{"id": 0, "cpus": "0-2"}, {"id": 1, "cpus": ""}]})
    assert run("report", "--summary", several) == run("report", "--summary", "--peak", "none", several)
    for command in ("report", "neighbours"):
        words_of = [program, command, "--peak", "1GB/s", several]
        done = subprocess.run(words_of, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and not done.stdout, done
        assert f"{several}: its sockets are CPU tiles of an ESP" in words(done.stderr), done.stderr
        assert "leave --peak out" in words(done.stderr), done.stderr


check(firmware)
check(recorded)
check(tiles)
sys.exit(failed)
