#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The demo's guest side with a t410trace that fails: the demo shows the last lines of what it prints."""

import os
import pathlib
import subprocess
import tempfile

SCRIPT = pathlib.Path(__file__).with_name("demo-guest.sh")
WORDS = "t410trace: cannot load the BPF programs: no reason\n  a remedy"


def pretend(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def said(program):
    """The status and the output of the script with @program as t410trace."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "tmp").mkdir()
        pretend(root / "host/t410trace", program)
        pretend(root / "bin/usleep", "sleep 0.05")
        environment = os.environ | {"ROOT": name, "PATH": f"{root}/bin:{os.environ['PATH']}"}
        done = subprocess.run(
            ["sh", SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout


def main():
    words = f"cat >&2 <<END\n{WORDS}\nEND\n"
    for name, program in {"fails": f"{words}exit 1", "ends too early": f"{words}exit 0"}.items():
        status, out = said(program)
        good = status == 1 and out.endswith(f" and said:\n{WORDS}\n")
        print(f"ok demo: t410trace {name}" if good else f"not ok demo: t410trace {name}: {status}, {out!r}")


main()
