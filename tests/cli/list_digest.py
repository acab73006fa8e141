#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""list_digest.py GOLDEN SYSFS: is "t410trace list --json" of the folder SYSFS, on standard input, what
GOLDEN says? That has a digest for each PMU and for what is around them, and one PMU in full, for
reading. What differs is named, and the list and SYSFS stay in a folder, to be looked at. With
T410_UPDATE_GOLDEN in the environment GOLDEN is written instead."""

import difflib
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

PMU = re.compile(r"(?ms)^    \{$.*?^    \},?$\n")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def golden_of(text):
    """Lines "name digest", then the shortest PMU."""
    # without the comma behind all but the last
    pmus = {json.loads(pmu)["name"]: pmu + "\n" for pmu in (found.rstrip(",\n") for found in PMU.findall(text))}
    assert len(pmus) == len(json.loads(text)["pmus"]), "not all PMUs were found, or one is there twice"
    lines = [f"{name} {digest(pmu)}\n" for name, pmu in pmus.items()]
    return "".join(lines) + f"(around) {digest(PMU.sub('', text))}\n\n" + min(pmus.values(), key=len)


def told(want, got):
    """The names that differ, and how the shortest PMU does."""
    want, shown = want.split("\n\n", 1)
    got, new = got.split("\n\n", 1)
    want, got = (dict(line.rsplit(" ", 1) for line in lines.splitlines()) for lines in (want, got))
    for name in {**want, **got}:
        if want.get(name) != got.get(name):
            yield f"{name} {'is new' if name not in want else 'is missing' if name not in got else 'differs'}"
    if list(want) != list(got):
        yield "the order is another"
    yield from difflib.unified_diff(shown.splitlines(), new.splitlines(), "golden", "now", lineterm="")


def main():
    golden, sysfs, text = pathlib.Path(sys.argv[1]), sys.argv[2], sys.stdin.read()
    try:
        got = golden_of(text)
    except (ValueError, AssertionError) as error:
        sys.exit(f"{golden.name}: this is no list: {error}")
    if os.environ.get("T410_UPDATE_GOLDEN"):
        golden.write_text(got, encoding="utf-8")
    elif golden.read_text(encoding="utf-8") != got:
        kept = pathlib.Path(tempfile.mkdtemp(prefix="t410trace-list."))
        (kept / "now.json").write_text(text, encoding="utf-8")
        shutil.copytree(sysfs, kept / "sysfs", symlinks=True)
        print(*told(golden.read_text(encoding="utf-8"), got), sep="\n")
        print(f"To see it all, in a work tree of the commit before (git worktree add FOLDER, make):\n"
              f"  ./t410trace list --json --sysfs {kept}/sysfs | diff -u - {kept}/now.json")
        sys.exit(1)


main()
