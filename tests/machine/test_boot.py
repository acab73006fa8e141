#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of lib/boot.sh with a program in place of QEMU: no machine is left behind, however its runner ends."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

LIBRARY = pathlib.Path(__file__).resolve().parent / "lib"
PATIENCE_S = 60
# It says which process it is, and wants to go on
QEMU = """#!/bin/sh
trap '' HUP INT
echo $$ > "$1.new"
mv "$1.new" "$1"
exec sleep 600
"""
RUNNER = """
. "$LIBRARY/common.sh"
. "$LIBRARY/boot.sh"
QEMU=$FOLDER/qemu TIMEOUT=600 COMMAND=(true)
new_run() { RUN=$FOLDER/run; mkdir -p "$RUN/guest"; BOOT=("$FOLDER/machine"); }
judge_log() { :; }
run_command
"""


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.02)


def ends_with(number):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "qemu").write_text(QEMU, encoding="ascii")
        (folder / "qemu").chmod(0o755)
        environment = {**os.environ, "LIBRARY": str(LIBRARY), "FOLDER": name}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(["bash", "-c", RUNNER], env=environment, start_new_session=True, **quiet) as runner:
            machine = folder / "machine"
            wait_for("the machine", machine.exists)
            pid = int(machine.read_text(encoding="ascii"))
            assert runs(pid), "it is not there"
            runner.send_signal(number)
            try:
                # by the signal: a shell that waits for the runner goes on otherwise
                assert runner.wait(PATIENCE_S) == -number, runner.returncode
                wait_for("the end of the machine", lambda: not runs(pid))
            finally:
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)


def main():
    failed = 0
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        label = f"the machine ends with its runner: {number.name}"
        try:
            ends_with(number)
            print(f"ok boot: {label}")
        except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
            failed = 1
            print(f"not ok boot: {label}: {error!r}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
