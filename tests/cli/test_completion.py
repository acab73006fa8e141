#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of completion/: each shell offers what it should, and nothing of it is a mistake."""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import time

import each_test

COMPLETION = pathlib.Path(__file__).resolve().parents[2] / "completion"

# A line, and words that must be offered, or must not
ASKED = (
    ("t410trace re", {"record", "report"}, {"--method"}),
    ("t410trace report --me", {"--method"}, {"--metrics"}),
    ("t410trace stat --me", {"--metrics"}, {"--method"}),
    ("t410trace --me", {"--method"}, {"--metrics"}),
    ("t410trace report --by=", {"process", "cgroup", "thread", "job"}, {"report"}),
    ("t410trace help top", {"topology", "top"}, {"stat"}),
)


def check(offered):
    for line, wanted, refused in ASKED:
        words = offered(line)
        assert wanted <= words and not refused & words, (line, words)


def test_bash():
    def offered(line):
        words = re.split("(?<==)| ", line.replace("=", " ="))
        done = subprocess.run(
            ["bash", "-c", """source "$0"; compopt() { :; }; COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=("$@")
             COMP_CWORD=$(($# - 1)); _t410trace; printf '%s\\n' "${COMPREPLY[@]}" """,
             COMPLETION / "t410trace", line, *words], capture_output=True, text=True, check=True)
        assert not done.stderr, done.stderr
        return {word.rstrip("=") for word in done.stdout.split()}

    check(offered)


def test_fish():
    def offered(line):
        done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', COMPLETION / "t410trace.fish", line],
                              capture_output=True, text=True, check=True)
        assert not done.stderr, done.stderr
        rows = [row.split("\t") for row in done.stdout.splitlines()]
        return {row[0].rpartition("=")[2] for row in rows} | {row[0].rstrip("=") for row in rows}

    check(offered)


class Zsh:
    """A shell in a terminal: its completion works nowhere else."""

    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.environ.update(TERM="dumb", PS1="", COLUMNS="200", LC_ALL="C.UTF-8")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.say(f"fpath=({COMPLETION} $fpath); autoload -U compinit; compinit -u -D; setopt list_rows_first no_beep; "
                 "unsetopt prompt_cr prompt_sp zle; setopt zle; LISTMAX=1000; bindkey '^X' list-choices; echo rea''dy\n", "ready")

    def say(self, text, until=None):
        """What is printed until a word, or for a second"""
        os.write(self.terminal, text.encode())
        said, end = "", time.monotonic() + (20 if until else 1)
        while time.monotonic() < end and not (until and until in said):
            if select.select([self.terminal], [], [], 0.1)[0]:
                said += os.read(self.terminal, 65536).decode(errors="replace")
        assert not until or until in said, said
        return said

    def offered(self, line):
        said = self.say(line + "\x18")
        self.say("\x15")
        assert "command not found" not in said and "_arguments:" not in said, said
        return {word.rstrip("=") for word in re.findall(r"(?<![-\w])-{0,2}[a-z][-a-z]*=?", said.replace(line, ""))}


def test_zsh():
    shell = Zsh()
    try:
        check(shell.offered)
    finally:
        os.close(shell.terminal)
        os.waitpid(shell.pid, 0)


sys.exit(each_test.run_all("completion", globals()))
