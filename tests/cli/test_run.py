#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of tests/run.sh in a tree whose tests only pretend: it counts exactly, and whatever goes
wrong is a failure."""

import contextlib
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/run.sh"
UNIT = f"build/{'arm64' if platform.machine() == 'aarch64' else 'amd64'}/tests/unit"
# Tests that the parts run beside the unit programs; here each is one line "ok"
TEXT = RUN.read_text(encoding="utf-8")
A_SCRIPT = r"tests/[\w/]+/(?:test_\w+\.(?:py|sh)|plugin/tests/run)"
# Not of make check
OF_PACKAGES = re.findall(A_SCRIPT, re.search(r"^part_packages.*?^}", TEXT, re.M | re.S)[0])
SCRIPTS = sorted(set(re.findall(A_SCRIPT, TEXT)) - set(OF_PACKAGES))
OF_UNIT = [name for name in SCRIPTS if name.startswith("tests/cli/")]
OF_ASAN = re.findall(r"^\s+tests/\S+ \$program", TEXT, re.M)
# What other parts run; here each is one line "ok", too
WHOLE = (
    "style.sh build.sh accuracy/selftest.py accuracy/accuracy.py live/run.sh clangs.sh"
    " machine/run.sh machine/real.sh machine/checks/check.sh"
).split()
# As if no make, and no other run, had started this
ENVIRONMENT = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS|ENDING", name)}
TWO = "echo 1..2; echo ok 1 - one; echo ok 2 - two"


def pretend(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@contextlib.contextmanager
def a_tree(part, build="true", programs=None, scripts=None, skips=""):
    """@programs, @scripts: by name, what they do."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for name in ("tests/golden", "tests/fixtures", "share"):
            (tree / name).mkdir(parents=True)
        for name in ("run.sh", "results.py", "ending.py"):
            shutil.copy(RUN.parent / name, tree / "tests")
        (tree / "tests/allowed-skips").write_text(skips, encoding="utf-8")
        (tree / "tests/valgrind.supp").write_text("", encoding="utf-8")
        (tree / "Makefile").write_text(
            f"all:\nunit-programs:\n\t@{build}\ncheck:\n\t@tests/run.sh {part or ''}\n", encoding="utf-8"
        )
        for script in [*SCRIPTS, *(f"tests/{name}" for name in WHOLE)]:
            pretend(tree / script, "echo ok pretended" if "." in script else ":")
        for script, text in (scripts or {}).items():
            assert (tree / script).exists(), script
            pretend(tree / script, text)
        for program, text in (programs or {"test_a": TWO, "test_b": TWO}).items():
            pretend(tree / f"tests/unit/base/{program}.c", "")
            pretend(tree / UNIT / "base" / program, text)
            pretend(tree / UNIT.replace("64", "64-asan") / "base" / program, text)
        # a program whose source is gone
        pretend(tree / UNIT / "base/test_old", "echo not ok 1 - old")
        yield tree


def begin(tree, command, limit="600", **environment):
    return subprocess.Popen(
        command,
        cwd=tree,
        env={**ENVIRONMENT, "T410_TEST_LIMIT": limit, "XDG_CACHE_HOME": str(tree / "cache"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(part, command=("tests/run.sh",), build="true", programs=None, scripts=None, skips="", **environment):
    """What it says, and its status. @part: None: all."""
    with a_tree(part, build, programs, scripts, skips) as tree:
        with begin(tree, [*command, *([part] if part and command[0] != "make" else [])], **environment) as process:
            said = process.communicate()[0]
        return said, process.returncode


def expect(said, status, passed, failures, skipped=0):
    """@failures: patterns of the lines "not ok", in their order"""
    found = [line for line in said.splitlines() if line.startswith("not ok ")]
    assert len(found) == len(failures) and all(map(re.search, failures, found)), said
    assert said.splitlines()[-1] == f"{passed} passed, {len(failures)} failed, {skipped} skipped", said
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
        said = re.escape(pathlib.Path(script).name) if "." in script else "emulation"
        expect(*run(part, scripts={script: "exit 1"}), well - 1, [said])


def scripts_that_say_nothing():
    for script, part in ((OF_UNIT[0], "unit"), ("tests/machine/test_judge.py", "emulation")):
        well = 4 + len(OF_UNIT) if part == "unit" else len(SCRIPTS) - len(OF_UNIT)
        for text in (":", "echo '# nothing to do'"):
            expect(*run(part, scripts={script: text}), well - 1, [f"{pathlib.Path(script).name}: it has no results"])


def second_tries():
    """They have passed, and the tally of the part tells how many there were; the last line does not."""
    script = "tests/live/run.sh"
    said, status = run("live", scripts={script: "echo ok one: at a second try; echo ok two"})
    expect(said, status, 2, [])
    assert "\n   live: 2 passed, 1 at a second try, 0 failed, 0 skipped\n" in said, said
    assert "second" not in run("live")[0]


def unreadable_programs():
    """A unit program that passes, but for one line."""
    for text, why in (
        ("echo 1..2; echo ok 1 - one", "it planned 2 tests and had 1"),
        ("echo 1..1; echo ok 1 - one; echo ok 2 - two", "it planned 1 tests and had 2"),
        ("echo ok 1 - one", "it planned None tests and had 1"),
        ("echo 1..2; echo ok 1 - one; echo ok 3 - two", "result 3 comes as number 2"),
        ("echo 1..1; echo ok 1 - one; echo Bail out", "this is no TAP: Bail out"),
        ("echo 1..1; echo ok 1 - one; echo 1..1", "it planned 1 tests and had 0"),
        ("echo 1..2; echo ok 1 - one; echo 1..1; echo ok 1 - two", "it planned 2 tests and had 1"),
        ("echo 1..1; echo ok 1 - one; exit 9", "exit status 9"),
        ("echo 1..1; echo ok 1 - one; echo '  more'", "this is no TAP:   more"),
    ):
        ran = text.count("echo ok")
        expect(*run("unit", programs={"test_a": text}), ran + len(OF_UNIT), [f"test_a: {why}"])
    two = "echo 1..1; echo ok 1 - one; echo '# a figure'; echo 1..1; echo ok 1 - two"
    expect(*run("unit", programs={"test_a": two}), 2 + len(OF_UNIT), [])
    detail = "echo 1..2; echo not ok 1 - one; echo '  ---'; echo '  message: it'; echo '  ...'; echo ok 2 - two; exit 1"
    expect(*run("unit", programs={"test_a": detail}), 1 + len(OF_UNIT), ["test_a: one"])


def unreadable_scripts():
    """A part passes only if each of its lines is known, and its tally is that of its results."""
    for text, passed, why in (
        ("echo ok one; echo nonsense", 1, "build: this is no result: nonsense"),
        ("echo ok one; echo FAILED two", 1, "build: this is no result: FAILED two"),
        ("echo ok one; echo 2 passed, 0 failed, 0 skipped", 1, "build: a tally says 2 passed"),
        ("echo '# nothing'", 0, "build: ended with status 0 after 0 results"),
        ("echo ok one; exit 3", 1, "build: ended with status 3 after 1 results"),
    ):
        expect(*run("build", scripts={"tests/build.sh": text}), passed, [why])
    well = "echo ok one; echo; echo '# a comment'; echo 1 passed, 0 failed; echo ok two: a figure"
    expect(*run("build", scripts={"tests/build.sh": well}), 2, [])


def skips():
    """Each needs a reason and an entry in allowed-skips, a cmocka test's too: either form of its line."""
    for one, two in (("not ok 2 # SKIP two", "two"), ("ok 2 - two # SKIP", "two")):
        text = f"echo 1..2; echo ok 1 - one; echo '# skipped: not root'; echo '{one}'"
        programs = {"test_a": text}
        name = f"test_a/{two}"
        expect(*run("unit", programs=programs, skips=name), 1 + len(OF_UNIT), [], 1)
        expect(*run("unit", programs=programs), 1 + len(OF_UNIT), [f"{name}: this skip is not in"])
        programs = {"test_a": text.replace("skipped", "skipping")}
        expect(*run("unit", programs=programs, skips=name), 1 + len(OF_UNIT), [f"{name}: a skip without"])
    said = run("build", scripts={"tests/build.sh": "echo skip arm64: no network; echo ok one"}, skips="arm64")
    expect(*said, 1, [], 1)


def unchanged_programs():
    """What passed under valgrind is not run again, until it or what it reads has changed."""
    with tempfile.TemporaryDirectory() as cache:
        ran = pathlib.Path(cache, "ran")

        def runs(text, **environment):
            ran.write_text("", encoding="utf-8")
            programs = {"test_a": f"echo x >> {ran}; {text}"}
            said, status = run("valgrind", programs=programs, XDG_CACHE_HOME=cache, **environment)
            assert "1 passed" in said or status == 1, said
            return len(ran.read_text(encoding="utf-8").split())

        well, ill = "echo 1..1; echo ok 1 - one", "echo 1..1; echo not ok 1 - one; exit 1"
        assert [runs(well), runs(well), runs(well, T410_ALL="1"), runs(f"{well}; :")] == [1, 0, 1, 1]
        assert [runs(ill), runs(ill)] == [1, 1]


def all_parts():
    """In lanes; live tests that the others disturbed run once more, alone."""
    well = len(WHOLE) + len(SCRIPTS) + 3 * 4 + len(OF_ASAN)
    expect(*run(None), well, [])
    live = 'case $1 in --disturbed) echo some/test > $2; echo ok a ;; --these) cat $2 | sed "s/^/ok /" ;; *) echo ok b ;; esac'
    said, status = run(None, scripts={"tests/live/run.sh": live})
    expect(said, status, well + 1, [])
    assert "\n   alone: 1 passed, 0 failed, 0 skipped\n" in said, said
    said, status = run(None, scripts={"tests/build.sh": "echo ok one; kill -KILL $PPID"})
    assert status == 1 and "not ok hardware: it did not run" in said, said


def golden_files():
    """They are not written by a run that judges."""
    for name in ("T410_UPDATE_GOLDEN", "GOLDEN"):
        for value in ("1", ""):
            said, status = run("build", **{name: value})
            assert status == 2 and name in said, said


def tests_that_need_root():
    """Who cannot run a test does not pass it."""
    unrun = re.compile(r"if os\.gete?uid\(\):\n(?: +print\(.*\)\n)* +return\n")
    for path in (ROOT / "tests").rglob("*.py"):
        assert not unrun.search(path.read_text(encoding="utf-8")), f"{path} passes a test that it does not run"


def clangs(program, live="echo ok live"):
    """What tests/clangs.sh says of a compiler, where all that is built is @program."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        (tree / "tests").mkdir()
        for name in ("clangs.sh", "builds.sh", "results.py"):
            shutil.copy(RUN.parent / name, tree / "tests")
        (tree / "Makefile").write_text("all:\nbuild/%:\n\t@mkdir -p $(@D) && cp program $@\n", encoding="utf-8")
        pretend(tree / "packaging/deps.sh", '[ "$1" != --clangs ] || echo 14')
        pretend(tree / "program", f"# clang 14.0\n{program}")
        pretend(tree / "tests/live/run.sh", live)
        done = subprocess.run(
            ["tests/clangs.sh"], cwd=tree, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True
        )
        return [line for line in done.stdout.splitlines() if line.startswith(("ok ", "not ok ", "skip "))]


def results_of_compilers():
    """Skips and plans count, as everywhere, and so does a live test that does not begin."""
    built = ["ok clang-14 arm64", "ok clang-14"]
    one, live = "ok clang-14 old_kernels: one", "ok clang-14 live"
    assert clangs(TWO) == [*built, one, "ok clang-14 old_kernels: two", live], clangs(TWO)
    for text, *said in (
        ("echo 1..2; echo ok 1 - one; echo '# skipped: no types'; echo not ok 2 '#' SKIP two", one,
         "skip clang-14 old_kernels/two: no types"),
        ("echo 1..2; echo ok 1 - one", one, "not ok clang-14 old_kernels: it planned 2 tests and had 1"),
        ("echo 1..1; echo ok 1 - one; exit 139", one, "not ok clang-14 old_kernels: exit status 139, see below"),
    ):
        assert clangs(text) == [*built, *said, live], clangs(text)
    assert clangs(TWO, "exit 2")[-1] == "not ok clang-14 live: status 2", clangs(TWO, "exit 2")


def jobs_of_make():
    """No make warns of those of the make that started the tests."""
    said, status = run("unit", command=("make", "-j2", "check"))
    expect(said, status, 4 + len(OF_UNIT), [])
    assert "warning" not in said, said


def is_alive(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] not in "ZX"
    return False


def told_to_end():
    """By "kill", the one process: all others end, also who is deaf to Ctrl-C or has lost his parent."""
    sleeps = "echo $$ >> pids; exec sleep 60"
    scripts = {
        "tests/build.sh": "setsid sleep 60 & echo $! >> pids; echo $$ >> pids; sleep 60",
        "tests/live/run.sh": "trap 'sleep 1; echo $$ >> cleaned; exit 1' INT; echo $$ >> pids; sleep 60 & wait",
    }
    for command in (("make", "check"), ("tests/run.sh",)):
        with a_tree(None, programs={"test_a": sleeps}, scripts=scripts) as tree, begin(tree, command) as process:
            pids = []
            while len(pids) < 4 and process.poll() is None:
                time.sleep(0.05)
                pids = (tree / "pids").read_text(encoding="utf-8").split() if (tree / "pids").exists() else []
            process.terminate()
            status = process.wait()
            left = [pid for pid in pids if is_alive(pid)]
            assert len(pids) == 4 and not left and status == -signal.SIGTERM, (command, pids, left, status)
            assert (tree / "cleaned").exists(), command


TESTS = (
    all_is_well,
    programs_that_do_not_build,
    a_program_that_dies,
    a_program_that_hangs,
    a_program_that_says_nothing,
    scripts_that_die,
    scripts_that_say_nothing,
    second_tries,
    unreadable_programs,
    unreadable_scripts,
    skips,
    unchanged_programs,
    all_parts,
    golden_files,
    tests_that_need_root,
    results_of_compilers,
    jobs_of_make,
    told_to_end,
)


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
        except AssertionError as problem:
            failed += 1
            print(f"not ok run {test.__name__}:", textwrap.indent(str(problem), "    ").lstrip())
        else:
            print(f"ok run {test.__name__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
