#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Rounds of packaging/collect/collect.sh, with commands that send, fail, hang and are slow."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import each_test

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging/collect/collect.sh"
TO_SHARE = 'cp "$@" FOLDER/share/; echo $# >> FOLDER/calls'
# Until the test has seen what it wants to see
WAIT = "while [ ! -e FOLDER/go ]; do sleep 0.02; done"


class Site:
    """A spool and a shared folder."""

    def __init__(self, command=TO_SHARE, settings=""):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.spool, self.share = self.folder / "spool", self.folder / "share"
        self.moved = self.spool / ".collect"
        self.spool.mkdir(mode=0o750)
        self.share.mkdir()
        self.use(command, settings)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.scratch.cleanup()

    def use(self, command, settings=""):
        command = command.replace("FOLDER", str(self.folder))
        (self.folder / "conf").write_text(f"SPOOL={self.spool}\nCOMMAND='{command}'\n{settings}\n", encoding="utf-8")

    def write(self, *jobs):
        """As the daemon does."""
        for job in jobs:
            path = self.spool / ".t410trace-unfinished"
            path.write_text(f"{job}\n", encoding="utf-8")
            path.rename(self.spool / f"slurm-{job}-1-1.json")

    def begin(self):
        environment = {"T410TRACE_COLLECT_CONF": str(self.folder / "conf")}
        return subprocess.Popen([SCRIPT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def round(self, status=0):
        process = self.begin()
        out, err = process.communicate(timeout=60)
        assert process.returncode == status, (process.returncode, out, err)
        return out + err

    def await_moved(self):
        """Until a round has reports in its folder."""
        for _ in range(6000):
            if self.moved.exists() and names(self.moved):
                return
            time.sleep(0.01)
        raise AssertionError("nothing was moved in 60 s")

    def go(self):
        (self.folder / "go").touch()

    def calls(self):
        return [int(line) for line in (self.folder / "calls").read_text(encoding="utf-8").split()]


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def reports(*jobs):
    return sorted(f"slurm-{job}-1-1.json" for job in jobs)


def has(text, *words):
    for word in words:
        assert word in text, (word, text)


def test_reports_are_sent_and_removed():
    with Site(settings="MOST=4") as site:
        assert site.round() == ""
        site.write(*range(10))
        foreign = ("README", ".t410trace-lock", "a b.json", "-f.json")
        for name in foreign:
            (site.spool / name).write_text("x", encoding="utf-8")
        (site.spool / "folder.json").mkdir()
        (site.spool / "link.json").symlink_to("/etc/passwd")
        assert site.round() == "10 reports were sent\n"
        assert names(site.share) == reports(*range(10)) and site.calls() == [4, 4, 2]
        assert (site.share / "slurm-7-1-1.json").read_text(encoding="utf-8") == "7\n"
        assert names(site.spool) == sorted(["README", "a b.json", "-f.json", "folder.json", "link.json"])
        assert not names(site.moved) and (site.spool / ".t410trace-lock").exists()


def test_a_command_that_fails():
    """What it could not send stays and comes first, and no more is taken away from the daemon's bounds."""
    with Site('cp "$@" FOLDER/share/; echo no route >&2; exit 7', "MOST=3") as site:
        site.write(1, 2, 3, 4, 5)
        for _ in range(2):
            has(site.round(1), "no route", "status 7", "3 reports", "tried again", str(site.moved))
            assert names(site.moved) == reports(1, 2, 3) and names(site.spool) == reports(4, 5)
        site.use(TO_SHARE, "MOST=3")
        has(site.round(), "5 reports were sent")
        assert names(site.share) == reports(1, 2, 3, 4, 5) and site.calls() == [3, 2]
        assert not names(site.moved) and not names(site.spool)


def test_a_command_that_hangs():
    """... with its children, which would keep a round's output open for longer than round() waits."""
    with Site("echo $$ > FOLDER/pid; sleep 100 & sleep 100; :", "LIMIT=1") as site:
        site.write(1)
        group = site.folder / "pid"
        group.touch()
        # on a busy machine the shell may not even have begun within LIMIT
        while not group.read_text(encoding="utf-8"):
            has(site.round(1), "did not end in 1 s", "LIMIT", "tried again")
        assert not pathlib.Path(f"/proc/{group.read_text(encoding='utf-8').strip()}").exists()
        assert names(site.moved) == reports(1)
        site.use(TO_SHARE)
        site.round()
        assert names(site.share) == reports(1) and not names(site.moved)


def test_a_command_that_ignores_its_end():
    with Site('trap "" TERM; while :; do sleep 1; done', "LIMIT=1") as site:
        site.write(1)
        has(site.round(1), "did not end in 1 s")
        assert names(site.moved) == reports(1)


def test_a_slow_command():
    """Reports that come meanwhile are neither lost nor removed unsent; a second round does not begin."""
    with Site(f"{WAIT}; {TO_SHARE}") as site:
        site.write(0)
        process = site.begin()
        writer = threading.Thread(target=lambda: [(site.write(job), time.sleep(0.01)) for job in range(1, 100)])
        writer.start()
        site.await_moved()
        has(site.round(1), "another round")
        site.go()
        writer.join()
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, (out, err)
        site.round()
        assert names(site.share) == reports(*range(100)) and sum(site.calls()) == 100, site.calls()
        assert not names(site.spool) and not names(site.moved)


def test_a_round_that_is_killed():
    with Site(WAIT) as site:
        site.write(1, 2)
        process = site.begin()
        site.await_moved()
        process.kill()
        # for what is left of the round
        site.go()
        process.communicate()
        site.use(TO_SHARE)
        has(site.round(), "2 reports")
        assert names(site.share) == reports(1, 2)


def test_the_same_report_again():
    """The daemon writes it once more if it could not note that it was written."""
    with Site("exit 1") as site:
        site.write(1)
        site.round(1)
        site.write(1, 2)
        site.use(TO_SHARE)
        has(site.round(), "3 reports")
        assert names(site.share) == reports(1, 2)


def test_reports_that_cannot_be_removed_are_sent_once():
    """... in a round."""
    with Site(settings="rm() { return 1; }") as site:
        site.write(1, 2)
        has(site.round(1), "2 reports were sent and cannot be removed")
        assert names(site.share) == reports(1, 2)
        assert (site.folder / "calls").read_text(encoding="utf-8").split() == ["2"]


def test_settings_are_checked():
    with Site("") as site:
        has(site.round(1), "COMMAND", "conf")
    for setting in ("MOST=0", "MOST=x", "LIMIT=", "LIMIT=-1"):
        with Site(settings=setting) as site:
            has(site.round(1), setting.split("=")[0], "number")
    with Site(settings="SPOOL=/no/such/folder") as site:
        has(site.round(1), "/no/such/folder", "serve.conf")
    with Site() as site:
        (site.spool / ".collect").write_text("in the way", encoding="utf-8")
        has(site.round(1), "cannot write", str(site.spool))


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(each_test.run_all("collect", globals(), 4))
