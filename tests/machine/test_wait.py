#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of how the guest waits, without a virtual machine: what comes is waited for, and what does not
come is named in a file."""

import pathlib
import subprocess
import sys
import tempfile

WAIT = pathlib.Path(__file__).resolve().parent / "guest_wait.sh"
# What is waited for in it comes at the third look
THIRD = "third() { n=$((${n:-0} + 1)); [ $n -ge 3 ]; }; "
# Name, script, what it says, what is named
CASES = (
    ("comes", "until_true true; echo on", "on", ""),
    ("comes-later", THIRD + "look_every 10000 third; echo $n", "3", ""),
    ("never-comes", "until_true test -e nothing; echo on", "on", "test -e nothing\n"),
    ("one-of-two", "until_true test -e nothing; until_true true; echo on", "on", "test -e nothing\n"),
    ("two", "until_true test -e one; until_true [ 1 = 2 ]", "", "test -e one\n[ 1 = 2 ]\n"),
)


def run(script, patience):
    """What it says, and what it waited for in vain."""
    # Debian's sh has no usleep; the guest's has
    sleeps = 'usleep() { sleep "0.$(printf %06d "$1")"; }; '
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["sh", "-u", "-c", f'{sleeps}. "$0"; {script}', WAIT],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PATIENCE": str(patience)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        missed = pathlib.Path(folder, "in-vain")
        return done.stdout.strip() + done.stderr, missed.read_text(encoding="utf-8") if missed.exists() else ""


def main():
    bad = 0
    for name, script, *wanted in CASES:
        # what comes may take its time on a busy machine
        found = [*run(script, 1 if wanted[1] else 300)]
        if found == wanted:
            print(f"ok wait-{name}")
        else:
            bad += 1
            print(f"not ok wait-{name}: {found}, expected {wanted}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
