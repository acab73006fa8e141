#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_check.py T410TRACE: what "check" shows of this machine, whatever that has, beside its JSON."""

import json
import pathlib
import re
import subprocess
import sys

import each_test

program = sys.argv[1]
CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
FIRST = ["machine", "pmus", "gpus", "peak", "kernel", "serve"]


def run(*arguments):
    done = subprocess.run([program, "check", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, done
    return done.stdout


def names(text):
    """The rows that a text has, in its order."""
    return re.findall(r"(?m)^(?:ok|limited|missing) +([a-z]\w*)\b", text)


def test_schema():
    """JSON has the schema, and the worst status of its rows"""
    text = run("--json")
    checked = subprocess.run([CHECK, "-"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    value = json.loads(text)
    found = {row["status"] for row in value["checks"]}
    worst = next(status for status in ("missing", "limited", "ok") if status in found)
    assert (value["status"], value["ok"]) == (worst, worst != "missing"), (value["status"], value["ok"], found)


def test_order():
    """the verdict, the machine, then what is not as it should be; all with -v"""
    rows = {row["name"]: row for row in json.loads(run("--json"))["checks"]}
    short, long = run(), run("-v")
    assert short.startswith("t410trace can"), short
    for text in short, long:
        head = [name for name in FIRST if name in rows]
        assert names(text)[: len(head)] == head, names(text)
        assert max(map(len, text.splitlines())) <= 80, text
    assert sorted(names(long)) == sorted(rows), names(long)
    odd = {name for name, row in rows.items() if row["status"] != "ok"}
    assert set(names(short)) == odd | (set(FIRST) & set(rows)), names(short)
    left_out = len(rows) - len(names(short))
    assert f"\n{left_out} more checks are ok; -v shows them.\n" in short and "-v shows" not in long, short
    worst = [name for name, row in rows.items() if row["status"] == json.loads(run("--json"))["status"]]
    verdict = short.split("\n\n")[0]
    assert verdict == "t410trace can work here." or all(name in verdict for name in worst), verdict


def test_machine():
    """the numbers of the machine are those of the kernel"""
    rows = {row["name"]: row["found"] for row in json.loads(run("--json"))["checks"]}
    packages = {path.read_text() for path in pathlib.Path("/sys/devices/system/cpu").glob("cpu*/topology/physical_package_id")}
    nodes = list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
    said = rows["machine"]
    for number, word in ((len(packages), "socket"), (len(nodes), "NUMA node")):
        assert not number or re.search(rf"\b{number} {word}s?\b", said), said


sys.exit(each_test.run_all("check", globals()))
