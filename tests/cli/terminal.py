# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A terminal to look at programs in: tmux, with a server of its own."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

LIMIT_S = 60


def processes_of(sessions):
    """Those of the sessions of these processes; the dead that wait for their parents are none."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:4]
            if int(session) in sessions and state not in "ZX":
                found.add(int(path.parent.name))
    return found


def leave_leak_check(pid):
    """
    LeakSanitizer stops its process at the end with SIGSTOP, which SIGCONT of a terminal that goes
    takes away: it waits for ever then, and its process spins.
    """
    with contextlib.suppress(OSError):
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        tracer = int(re.search(r"(?m)^TracerPid:\s*(\d+)", status)[1])
        command = [pathlib.Path(f"/proc/{one}/cmdline").read_bytes() for one in (pid, tracer) if tracer]
        if len(set(command)) == 1 and tracer:
            # stopped first: it would report that its process was lost, which looks like a finding
            for one, sent in ((tracer, signal.SIGSTOP), (pid, signal.SIGKILL), (tracer, signal.SIGKILL)):
                os.kill(one, sent)


class Terminal:
    """A command in a terminal of a size; @environment is added to ours, None takes a name out."""

    def __init__(self, command, columns=80, rows=24, **environment):
        self.folder = tempfile.TemporaryDirectory(prefix="terminal")
        self.status = pathlib.Path(self.folder.name, "status")
        variables = {**os.environ, "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": self.folder.name, **environment}
        variables.pop("TMUX", None)
        self.environment = {name: value for name, value in variables.items() if value is not None}
        # tmux says what the terminal is, unless we do.
        term = environment.get("TERM", "screen-256color")
        script = pathlib.Path(self.folder.name, "script")
        script.write_text(
            f"export TERM={term}\necho $$ > {self.folder.name}/pid\n{command}\necho $? > {self.status}.tmp\n"
            f"mv {self.status}.tmp {self.status}\necho ENDED\nexec sleep {10 * LIMIT_S}\n",
            encoding="utf-8",
        )
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, f"exec sh {script}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", *map(str, arguments)], env=self.environment, capture_output=True, check=True)
        return done.stdout.decode()

    def end(self):
        """The terminal goes away, as when its window is closed, and with it all programs in it."""
        there = self.processes()
        subprocess.run(["tmux", "kill-server"], env=self.environment, capture_output=True, check=False)
        self.folder.cleanup()
        until = time.monotonic() + LIMIT_S
        while (left := there & processes_of(there)) and time.monotonic() < until:
            for pid in left:
                leave_leak_check(pid)
            time.sleep(0.05)
        assert not left, f"still there when their terminal has gone: {left}"

    def processes(self):
        with contextlib.suppress(FileNotFoundError):
            return processes_of({int(pathlib.Path(self.folder.name, "pid").read_text(encoding="ascii"))})
        return set()

    def press(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def screen(self, colours=False):
        """As text, or with sequences for colours and all blanks"""
        return self.tmux("capture-pane", "-p", *(["-e", "-N"] if colours else []))

    def children(self):
        """Of the shell in it"""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            shell = pathlib.Path(self.folder.name, "pid").read_text(encoding="ascii").strip()
            return pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="ascii").split()
        return []

    def draws(self):
        """Has a program something to do? It may draw, and on a busy machine stop in the middle for a second."""
        for child in self.children():
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "RD":
                    return True
        return False

    def wait(self, pattern, seconds=LIMIT_S):
        """The screen, once it has this in it. A picture may be half drawn: two looks must see the same."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            screen = self.screen()
            if re.search(pattern, screen) and not self.draws() and self.screen() == screen:
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} does not come: {screen}")

    def wait_status(self):
        self.wait(r"(?m)^ENDED")
        return int(self.status.read_text())

    def pid(self, name, seconds=LIMIT_S):
        """The child of the shell in it with this name."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for child in self.children():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip() == name:
                        return int(child)
            time.sleep(0.05)
        raise AssertionError(f"no {name} below the shell")
