#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bench_gpu.py T410TRACE-GPU [SECONDS]: CPU time of the helper for GPUs, as a part of a CPU. 8 GPUs and
64 processes on a library that plays NVML (tests/gpu), which is a part of it; then amdgpu's files of
64 processes beside 1,000 others."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPUS, PROCESSES, OTHERS, FILES = 8, 64, 1000, 16


def address(i):
    return f"{i:04x}:01:00.0"


def measure(program, seconds, folder, *options):
    """Percent of a CPU, lines and their bytes in a second"""
    env = {**os.environ, "NVML_SCRIPT": f"{folder}/script", "LD_LIBRARY_PATH": str(folder)}
    with subprocess.Popen([program, *options], env=env, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        stat = pathlib.Path(f"/proc/{process.pid}/stat")

        def spent():
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        # Loading the library is no running cost.
        time.sleep(2)
        os.set_blocking(process.stdout.fileno(), False)
        process.stdout.read()
        begin, before, text = time.monotonic(), spent(), b""
        while time.monotonic() < begin + seconds:
            time.sleep(1)
            text += process.stdout.read() or b""
        passed = time.monotonic() - begin
        share = 100 * (spent() - before) / passed
        process.terminate()
    return share, text.count(b"\n") / passed, len(text) / passed


def nvml(program, seconds, folder):
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder / "libnvidia-ml.so.1", ROOT / "tests/gpu/nvml.c"], check=True)
    with open(folder / "script", "w", encoding="utf-8") as script:
        for i in range(GPUS):
            print(f"gpu 0000{address(i)} GPU-{i} 1 0 0 1 0\nrate 0000{address(i)} 1000", file=script)
        sleepers = [subprocess.Popen(["sleep", "1000"]) for _ in range(PROCESSES)]
        for i, sleeper in enumerate(sleepers):
            print(f"process 0000{address(i % GPUS)} {sleeper.pid} c -1 12 0 0", file=script)
    try:
        return measure(program, seconds, folder)
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


def fdinfo(program, seconds, folder):
    """Invented processes; each has files, and the first ones a GPU."""
    proc, card = folder / "proc", folder / f"sys/bus/pci/devices/{address(3)}"
    (proc / "self/ns").mkdir(parents=True)
    (proc / "self/ns/pid").symlink_to("pid:[4026531836]")
    (card / "drm").mkdir(parents=True)
    (card / "driver").symlink_to("../drivers/amdgpu")
    for pid in range(1, PROCESSES + OTHERS + 1):
        (proc / f"{pid}/fd").mkdir(parents=True)
        (proc / f"{pid}/fdinfo").mkdir()
        (proc / f"{pid}/stat").write_text(f"{pid} (x) S {'0 ' * 18}{pid} 0\n", encoding="utf-8")
        for number in range(FILES):
            (proc / f"{pid}/fd/{number}").symlink_to("/dev/null")
        if pid <= PROCESSES:
            (proc / f"{pid}/fd/{FILES}").symlink_to("/dev/dri/renderD128")
            (proc / f"{pid}/fdinfo/{FILES}").write_text(
                f"drm-driver:\tamdgpu\ndrm-client-id:\t{pid}\ndrm-pdev:\t{address(3)}\n"
                "drm-engine-gfx:\t7 ns\ndrm-engine-dma:\t7 ns\ndrm-memory-vram:\t64 KiB\n", encoding="utf-8")
    empty = folder / "nothing"
    empty.mkdir()
    return measure(program, seconds, empty, "--proc", proc, "--sysfs", folder / "sys")


def main():
    program, seconds = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2] if len(sys.argv) > 2 else 20)
    for name, bench in (("NVML", nvml), ("fdinfo", fdinfo)):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            share, lines, size = bench(program, seconds, pathlib.Path(folder))
        print(f"{name:8} {share:.2f} % of a CPU, {lines:.0f} lines and {size:.0f} bytes in a second")


if __name__ == "__main__":
    main()
