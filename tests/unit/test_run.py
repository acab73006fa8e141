#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of tests/run.sh in a tree whose tests only pretend: it counts exactly, and whatever goes
wrong is a failure."""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/run.sh"
UNIT = f"build/{'arm64' if platform.machine() == 'aarch64' else 'amd64'}/tests/unit"
# Tests that the parts run beside the unit programs; here each is one line "ok"
SCRIPTS = sorted(set(re.findall(r"tests/[\w/]+/(?:test_\w+\.(?:py|sh)|plugin/tests/run)", RUN.read_text(encoding="utf-8"))))
OF_UNIT = [name for name in SCRIPTS if name.startswith("tests/unit/")]
# As if no make had started this
ENVIRONMENT = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS", name)}
TWO = "echo 1..2; echo ok 1 - one; echo ok 2 - two"


def pretend(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def run(part, command=("tests/run.sh",), build="true", programs=None, scripts=None, limit="600"):
    """What it says, and its status. @programs, @scripts: by name, what they do."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        pretend(tree / "tests/run.sh", "")
        (tree / "tests/run.sh").write_text(RUN.read_text(encoding="utf-8"), encoding="utf-8")
        (tree / "tests/allowed-skips").write_text("", encoding="utf-8")
        (tree / "Makefile").write_text(f"unit-programs:\n\t@{build}\ncheck:\n\t@tests/run.sh {part}\n", encoding="utf-8")
        for script in SCRIPTS:
            said = {".sh": "ok: pretended", ".py": "ok pretended"}.get(pathlib.Path(script).suffix)
            pretend(tree / script, f"echo {said}" if said else ":")
        for script, text in (scripts or {}).items():
            assert script in SCRIPTS, script
            pretend(tree / script, text)
        for program, text in (programs or {"test_a": TWO, "test_b": TWO}).items():
            pretend(tree / f"tests/unit/{program}.c", "")
            pretend(tree / UNIT / program, text)
        # a program whose source is gone
        pretend(tree / UNIT / "test_old", "echo not ok 1 - old")
        done = subprocess.run(
            [*command, *([part] if command[0] != "make" else [])],
            cwd=tree,
            env={**ENVIRONMENT, "T410_TEST_LIMIT": limit},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout, done.returncode


def expect(said, status, passed, failures):
    """@failures: patterns of the lines "not ok", in their order"""
    found = [line for line in said.splitlines() if line.startswith("not ok ")]
    assert len(found) == len(failures) and all(map(re.search, failures, found)), said
    assert said.splitlines()[-1] == f"{passed} passed, {len(failures)} failed, 0 skipped", said
    assert (status == 0) == (not failures), (status, said)


def all_is_well():
    expect(*run("unit"), 4 + len(OF_UNIT), [])
    expect(*run("emulation"), len(SCRIPTS) - len(OF_UNIT), [])


def programs_that_do_not_build():
    expect(*run("unit", build="false"), len(OF_UNIT), ["unit programs: they do not build"])


def a_program_that_dies():
    programs = {"test_a": f"{TWO}; kill -SEGV $$", "test_b": TWO}
    expect(*run("unit", programs=programs), 4 + len(OF_UNIT), ["test_a: exit status 139"])


def a_program_that_hangs():
    programs = {"test_a": "exec sleep 60", "test_b": TWO}
    expect(*run("unit", programs=programs, limit="5"), 2 + len(OF_UNIT), ["test_a: exit status 124"])


def a_program_that_says_nothing():
    programs = {"test_a": ":", "test_b": TWO}
    expect(*run("unit", programs=programs), 2 + len(OF_UNIT), ["test_a: it ran no test"])


def scripts_that_die():
    for script in SCRIPTS:
        part = "unit" if script in OF_UNIT else "emulation"
        well = 4 + len(OF_UNIT) if part == "unit" else len(SCRIPTS) - len(OF_UNIT)
        said = re.escape(pathlib.Path(script).name) if script.endswith((".py", ".sh")) else "emulation"
        expect(*run(part, scripts={script: "exit 1"}), well - 1, [said])


def second_tries():
    """They have passed, and the tally of the part tells how many there were; the last line does not."""
    two = "echo 1..2; echo ok 1 - one: at a second try; echo ok 2 - two"
    programs = {"test_a": two, "test_b": TWO}
    said, status = run("unit", programs=programs)
    well = 4 + len(OF_UNIT)
    expect(said, status, well, [])
    assert f"\n   unit: {well} passed, 1 at a second try, 0 failed, 0 skipped\n" in said, said
    assert "second" not in run("unit")[0]


def jobs_of_make():
    """No make warns of those of the make that started the tests."""
    said, status = run("unit", command=("make", "-j2", "check"))
    expect(said, status, 4 + len(OF_UNIT), [])
    assert "warning" not in said, said


TESTS = (
    all_is_well,
    programs_that_do_not_build,
    a_program_that_dies,
    a_program_that_hangs,
    a_program_that_says_nothing,
    scripts_that_die,
    second_tries,
    jobs_of_make,
)


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
        except AssertionError as problem:
            failed += 1
            print(f"not ok run {test.__name__}: {problem}")
        else:
            print(f"ok run {test.__name__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
