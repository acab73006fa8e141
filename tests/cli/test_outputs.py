#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_outputs.py T410TRACE: the files that commands write. An older one stays as it is when a
command fails, and keeps its rights when it is replaced; pipes and standard output are written as
they are; two outputs in one file are refused."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

import each_test
import everything

program = pathlib.Path(sys.argv[1]).resolve()
OPTIONS = ("-o", "--csv", "--html", "--perfetto")
OLD = b"of before\n"


def run(folder, *arguments, **more):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, check=False, **more)


def in_folder(test):
    """@test gets a folder with a whole trace, and one with a damaged line behind its first interval."""
    def wrapped():
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            everything.write(folder / "trace")
            lines = (folder / "trace").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / "damaged").write_text("".join(lines[: len(lines) // 2]) + "{damaged\n", encoding="utf-8")
            test(folder)
    return wrapped


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def others(folder, *known):
    return sorted({entry.name for entry in folder.iterdir()} - {"trace", "damaged", *known})


@in_folder
def test_what_fails_leaves_the_older_file(folder):
    old = folder / "old"
    for option in OPTIONS:
        old.write_bytes(OLD)
        done = run(folder, "report", "damaged", option, "old")
        assert done.returncode == 1, (option, done.returncode, done.stderr)
        assert old.read_bytes() == OLD, option
        old.unlink()
        assert run(folder, "report", "damaged", option, "old").returncode == 1
        assert not others(folder), (option, others(folder))


@in_folder
def test_files_are_told(folder):
    """A line on standard error for each file, with its size; none for pipes, with -q, or after a failure."""
    for option in OPTIONS[1:]:
        done = run(folder, "report", "trace", option, "new")
        size = (folder / "new").stat().st_size
        assert b"t410trace report: wrote new (" in done.stderr, (option, done.stderr)
        if size < 1000:
            assert f"({size} B)".encode() in done.stderr, (size, done.stderr)
        for more in (["trace", option, "new", "-q"], ["trace", option, "-"], ["damaged", option, "new"]):
            assert b"wrote" not in run(folder, "report", *more).stderr, more


def split_trace(events, destinations):
    """A window of counters with these events and destinations."""
    places = {"cmem": {"dst_loc_cmem": 1}, "gmem": {"dst_loc_gmem": 1}}
    counters = [{"id": i, "name": f"c{i}", "pmu": "ucf0", "event": event, "socket": 0, "source": "cpu",
                 "direction": "read", "destination": to, "filters": places[to]}
                for i, (event, to) in enumerate(zip(events, destinations))]
    yield {"type": "header", "schema": "t410trace.trace/1", "sockets": [{"id": 0, "cpus": "0"}], "weights": [],
           "devices": [], "counters": counters}
    yield {"type": "workload", "id": 1, "pid": 7, "start_ns": 1, "comm": "p", "cgroup": "/p"}
    yield {"type": "slice", "workload": 1, "cpu": 0, "start_ns": 0, "end_ns": 10**7, "on_cpu_ns": 10**7}
    yield {"type": "window", "socket": 0, "start_ns": 0, "end_ns": 10**7,
           "values": [[c["id"], 10**7, 10**7, 10**7] for c in counters]}
    yield {"type": "end", "time_ns": 10**7}


@in_folder
def test_split_is_as_recorded(folder):
    """Columns of destinations if they were asked for, which shows in several counters of an event."""
    for events, recorded in ((["rd", "rd"], True), (["rd", "gmem_rd"], False)):
        (folder / "split").write_text("".join(json.dumps(e) + "\n" for e in split_trace(events, ["cmem", "gmem"])),
                                      encoding="utf-8")
        for more, expected in (([], recorded), (["--split", "recorded"], recorded), (["--split", "none"], False),
                               (["--split", "destination"], True)):
            done = run(folder, "report", "split", *more)
            assert done.returncode == 0, done.stderr
            assert (b" CMEM " in done.stdout, b" READ " in done.stdout) == (expected, not expected), (more, done.stdout)


@in_folder
def test_a_killed_command_leaves_the_older_file(folder):
    (folder / "old").write_bytes(OLD)
    with subprocess.Popen([program, "report", "-", "--csv", "old"], cwd=folder, stdin=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        child.stdin.write((folder / "damaged").read_bytes().rsplit(b"\n", 2)[0] + b"\n")
        child.stdin.flush()
        try:
            child.wait(0.5)
            raise AssertionError("it did not wait for more")
        except subprocess.TimeoutExpired:
            child.terminate()
    assert (folder / "old").read_bytes() == OLD
    assert not others(folder, "old"), others(folder, "old")


@in_folder
def test_rights(folder):
    for option in OPTIONS:
        for older, expected in ((None, 0o640), (0o600, 0o600), (0o664, 0o664)):
            new = folder / "new"
            if older:
                new.write_bytes(OLD)
                new.chmod(older)
                if os.geteuid() == 0:
                    os.chown(new, 1, 2)
            done = run(folder, "report", "trace", option, "new", umask=0o027)
            assert done.returncode in (0, 3), done.stderr
            assert mode(new) == expected, (option, oct(mode(new)))
            assert new.read_bytes() not in (OLD, b"")
            owner = (1, 2) if older and os.geteuid() == 0 else (os.geteuid(), os.getegid())
            assert (new.stat().st_uid, new.stat().st_gid) == owner
            new.unlink()
    assert not others(folder)


@in_folder
def test_a_page_without_an_interval_is_none(folder):
    (folder / "short").write_text((folder / "trace").read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    (folder / "old").write_bytes(OLD)
    assert run(folder, "report", "short", "--html", "old").returncode == 3
    assert (folder / "old").read_bytes() == OLD


@in_folder
def test_links_are_followed(folder):
    (folder / "there").mkdir()
    (folder / "link").symlink_to("there/new")
    for _ in "ab":
        assert run(folder, "report", "trace", "--csv", "link").returncode in (0, 3)
        assert (folder / "link").is_symlink() and (folder / "there/new").stat().st_size > 100
    (folder / "round").symlink_to("round")
    done = run(folder, "report", "trace", "--csv", "round")
    assert done.returncode == 1 and b"Too many levels" in done.stderr, done.stderr


@in_folder
def test_standard_output_and_pipes(folder):
    for option in OPTIONS:
        written = run(folder, "report", "trace", option, "new")
        new = (folder / "new").read_bytes()
        (folder / "new").unlink()
        assert not written.stdout
        for name in ("-", "/dev/stdout"):
            said = run(folder, "report", "trace", option, name).stdout
            assert said == new, (option, name, len(said), len(new))
        r, w = os.pipe()
        with subprocess.Popen([program, "report", "trace", option, f"/dev/fd/{w}"], cwd=folder, pass_fds=(w,),
                              stderr=subprocess.DEVNULL):
            os.close(w)
            with open(r, "rb") as out:
                assert out.read() == new, option
    assert not others(folder), others(folder)


@in_folder
def test_behind_what_is_there(folder):
    (folder / "log").write_bytes(OLD)
    with open(folder / "log", "ab") as log:
        subprocess.run([program, "report", "trace", "-o", "/dev/stdout"], cwd=folder, stdout=log, stderr=subprocess.DEVNULL, check=False)
    assert (folder / "log").read_bytes().startswith(OLD) and (folder / "log").stat().st_size > 100


@in_folder
def test_two_in_one_file(folder):
    (folder / "there").symlink_to(".")
    for first, second in (("x", "x"), ("x", "./x"), ("x", "there/x"), ("-", "-"), ("-", "/dev/stdout")):
        done = run(folder, "report", "trace", "--csv", first, "--html", second)
        assert done.returncode == 2 and b"name the same file" in done.stderr, (first, second, done.stderr)
    for name in ("trace", "./trace", "there/trace"):
        done = run(folder, "report", "trace", "--csv", name)
        assert done.returncode == 2 and b"would overwrite" in done.stderr, (name, done.stderr)
    done = run(folder, "job", "12", "--state", "trace", "--csv", "there/trace")
    assert done.returncode == 2 and b"would overwrite" in done.stderr, done.stderr
    done = run(folder, "-a", "-d", "1", "--html", "-")
    assert done.returncode == 2 and b"reports go there, too" in done.stderr, done.stderr
    done = run(folder, "top", "-o", "-")
    assert done.returncode == 2 and b"the view is there" in done.stderr, done.stderr


@in_folder
def test_nowhere(folder):
    done = run(folder, "report", "trace", "--csv", "no/folder/new")
    assert done.returncode == 1 and b"cannot write to no/folder/new: No such file" in done.stderr, done.stderr
    done = run(folder, "report", "trace", "--csv", ".")
    assert done.returncode == 1 and b"Is a directory" in done.stderr, done.stderr
    done = run(folder, "report", "trace", "--csv", "/dev/full")
    assert done.returncode == 1 and b"No space left" in done.stderr, done.stderr


sys.exit(each_test.run_all("outputs", globals()))
