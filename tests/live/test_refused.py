# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Programs that the kernel's verifier refuses (refuse.c makes them so): the reason is the verifier's and
names the compiler, and nobody is sent for rights that are not missing.
"""

import re

from iowho import who
from live import HERE, check_status, require

VERIFIER = "R9 !read_ok"
COMPILED = r"refuses {}, compiled by .*[Cc]lang .*\d+\.\d+"


def refusing(bed, *programs):
    return ("env", f"LD_PRELOAD={bed.refuse}", f"REFUSE={','.join(programs)}")


def require_reason(text, program):
    text = " ".join(text.split())
    require(VERIFIER in text, f"{program}: the verifier's words are not in {text!r}")
    require(re.search(COMPILED.format(program), text), f"{program}: {text!r} names it and no compiler")
    require("root" not in text and "CAP_" not in text, f"{program}: rights were not missing: {text!r}")
    require("Permission denied" not in text, f"{program}: {text!r}")


def test_required(bed):
    """Without these nothing runs: the last lines of the log are in the message, and what to do."""
    for program in ("ledger_switch", "ledger_flush", "task_list", "cgroup_made"):
        done = bed.command(*refusing(bed, program), bed.program, "--no-counters", "-a", "-d", 0.1)
        require(done.status == 1, f"{program}: exit status {done.status}")
        require_reason(done.err, program)
        text = " ".join(done.err.split())
        require("r0 = r9; R9 !read_ok" in text and "report this as a bug" in text, text)


def test_lookup(bed):
    """The same for the object that only a pid namespace needs."""
    namespace = ("unshare", "--pid", "--fork", "--kill-child")
    args = (bed.program, "--no-counters", "-a", "-d", 0.1)
    done = bed.command(*namespace, *refusing(bed, "task_one"), *args)
    require(done.status == 1, f"exit status {done.status}")
    require_reason(done.err, "task_one")


def test_tick(bed):
    """The rest runs, and each report says why windows are not closed at ticks."""
    source = f"{HERE.parent.parent}/docs/examples/source.py lo"
    args = (bed.program, "-a", "--json", "-d", 0.5, "--source", source)
    done = bed.command(*refusing(bed, "ledger_tick"), *args)
    check_status(done)
    require_reason(done.reports()[-1]["quality"]["tick_note"], "ledger_tick")


def test_devices(bed):
    """What is left runs, and the note has all parts with their reasons, however many."""
    parts = {"io_complete": "disk I/O", "io_sent": "sent packets", "io_received": "received packets"}
    for refused in (["io_sent"], list(parts)):
        with who(bed, start=refusing(bed, *refused)) as tool:
            tool.show()
        for program, what in parts.items():
            own = [part for part in re.split(r"; (?=disk|sent|received)", tool.note) if what in part]
            require(len(own) == (program in refused), f"{program}: {tool.note!r}")
            if own:
                require_reason(own[0], program)


TESTS = [
    test_required,
    test_lookup,
    test_tick,
    test_devices,
]
