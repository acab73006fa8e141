#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""judge_selftest.py FOLDER: what t410trace check --selftest said in the virtual T410.

FOLDER has what selftest.sh left. Where the cache model counts the programs' bytes, each counter is
right and no share is wrong. Where nothing counts them, each counter is wrong.
"""
import json
import sys
from pathlib import Path

SOCKETS, DIRECTIONS, PROGRAMS = (0, 1), ("read", "write"), ("heavy", "light")
# The model counts lines of page tables and of the kernel as well
NEAR = 0.05


def rows_of(folder, name):
    said = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    if said["schema"] != "t410trace.selftest/1" or said["skipped"]:
        raise ValueError(f'not the whole self-test: {said["schema"]}, skipped {said["skipped"]}')
    found = {(row["socket"], row["direction"], row.get("program")): row for row in said["rows"]}
    wanted = {(s, d, p) for s in SOCKETS for d in DIRECTIONS for p in (None, *PROGRAMS)}
    if set(found) != wanted:
        raise ValueError(f"rows of {sorted(map(str, found))}")
    return said, found


def judge(folder):
    """Lines of the test"""
    said, rows = rows_of(folder, "counted")
    status = int((folder / "counted.status").read_text(encoding="ascii"))
    for (socket, direction, program), row in rows.items():
        name = f"selftest/socket-{socket}-{direction}" + (f"-{program}" if program else "")
        if program is None:
            ratio = row["seen_bytes"] / row["moved_bytes"]
            right = row["verdict"] == "right" and abs(ratio - 1) < NEAR
            yield name, right, f'{row["verdict"]}, {ratio:.3f} times what was moved'
        else:
            yield name, row["verdict"] != "wrong", f'{row["verdict"]}: {row["reason"]}'
    yield (
        "selftest/status",
        status == {"right": 0, "wrong": 1, "undecided": 3}[said["verdict"]] and status != 1,
        f'status {status}, {said["verdict"]}',
    )
    said, rows = rows_of(folder, "uncounted")
    status = int((folder / "uncounted.status").read_text(encoding="ascii"))
    wrong = [row["verdict"] for key, row in rows.items() if key[2] is None]
    yield "selftest/uncounted-is-wrong", status == 1 and set(wrong) == {"wrong"}, f"{status}, {wrong}"
    left = (folder / "left").read_text(encoding="utf-8").split()
    begun = int((folder / "killed").read_text(encoding="ascii")) > 0
    yield "selftest/nothing-left", begun and not left, f"begun: {begun}; left: {left}"


def main():
    failed = 0
    try:
        for name, right, why in judge(Path(sys.argv[1])):
            failed += not right
            print(f"ok {name}" if right else f"not ok {name}: {why}")
    except (OSError, ValueError, KeyError) as error:
        print(f"not ok selftest: {error}")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
