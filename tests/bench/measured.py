# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What figures were measured on, in a sentence that stands beside them; and since when there are any."""

import contextlib
import datetime
import os
import pathlib
import re
import subprocess


class Machine:
    """It is made before anything is measured: what is measured makes load of its own."""

    def __init__(self):
        self.date = datetime.date.today().isoformat()
        self.load = os.getloadavg()[0]
        self.began = self.host_took()

    @staticmethod
    def host_took():
        """(clock ticks that the host took, all of them), of all CPUs since the machine began."""
        line = pathlib.Path("/proc/stat").read_text("ascii").split("\n", 1)[0]
        ticks = [int(field) for field in line.split()[1:]]
        return ticks[7], sum(ticks[:8])

    def __str__(self):
        told = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
        model = re.search(r"^Model name:\s*(.+)", told, re.M)
        stolen, ticks = (now - then for now, then in zip(self.host_took(), self.began))
        return (
            f"Measured on {self.date}: {os.cpu_count()} cores ({model[1].strip() if model else 'model not told'}), "
            f"Linux {re.match(r'[0-9.]*[0-9]', os.uname().release)[0]}, load average {self.load:.1f} before it began, "
            f"steal time {100 * stolen / max(1, ticks):.1f} %."
        )


def is_attached(pid, by):
    """Whether a process has a BPF program at a hook, or an event of perf."""
    folder = pathlib.Path(f"/proc/{pid}")
    for number in os.listdir(folder / "fd"):
        with contextlib.suppress(OSError):
            if by == "event" and "perf_event" in os.readlink(folder / "fd" / number):
                return True
            if by == "link" and "link_type" in (folder / "fdinfo" / number).read_text("ascii"):
                return True
    return False
