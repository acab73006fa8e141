# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""In a namespace of its own: whose number is whose, who has a name, and whose clock it is."""

import contextlib
import json
import os
import pathlib

from live import MS, Output, Skip, check_status, on_cpu, precise, require

OTHERS = ("unshare", "--pid", "--fork", "--kill-child")
# With a /proc of that namespace, as in a container.
CONTAINED = (*OTHERS, "--mount-proc")


def following(bed, namespace):
    """Follows a burner that runs beside it, by its number there; returns the reports."""
    # It is there until the tracer is: on a busy machine the start takes seconds.
    line = bed.scratch / "line"
    os.mkfifo(line)
    script = f'"{bed.burn}" -w -m 600 >/dev/null <"{line}" & exec "{bed.program}" "$@" -p $!'
    with bed.tracing("--json", "-i", 100, program=namespace[0],
                     command=(*namespace[1:], "sh", "-c", script, "sh")) as tracer:
        line.write_text("go\n", encoding="ascii")
        done = tracer.end()
    check_status(done)
    require("in a pid namespace of its own" in done.err, f"it says {done.err!r}")
    return done.intervals()


def followed(bed, namespace):
    reports = following(bed, namespace)
    rows = [row for r in reports for row in r["workloads"]]
    require({row["comm"] for row in rows} <= {"burn", "sh"}, f"the rows are {rows}")
    require(len({row["pid"] for row in rows}) == 1, "there are rows of several processes")
    precise(on_cpu(reports, comm="burn") >= 500 * MS, "the time of the process is not there")
    require(rows[-1].get("exited"), "the end of the process was not seen")


def test_pid(bed):
    """-p takes numbers of the namespace, and the run ends with the process."""
    followed(bed, CONTAINED)


def test_pid_with_proc_of_others(bed):
    """The same where /proc has the numbers of the machine."""
    followed(bed, OTHERS)


def test_no_such_pid(bed):
    """A number that only the machine has."""
    done = bed.command(*CONTAINED, bed.program, "--no-counters", "-p", 4000000, "-d", 1)
    require(done.status == 1 and "-p 4000000: there is no such process" in done.err, done.err)


def test_command(bed):
    done = bed.command(
        *CONTAINED, bed.program, "--no-counters", "--json", "-i", 100, "-o", bed.scratch / "out",
        "--", bed.burn, "-m", 200,
    )
    check_status(done)
    reports = Output(0, (bed.scratch / "out").read_bytes(), b"").intervals()
    precise(on_cpu(reports, comm="burn") >= 190 * MS, "the command's time is not there")


def test_nobody_has_the_name_of_another(bed):
    """Numbers of the namespace are those of kernel threads on the machine."""
    script = f'for i in $(seq 40); do sleep 1000 & done; exec "{bed.program}" "$@"'
    args = ("--no-counters", "-a", "--json", "-d", 1)
    done = bed.command(*CONTAINED, "sh", "-c", script, "sh", *args)
    check_status(done)
    rows = [row for r in done.intervals() for row in r["workloads"]]
    kernel = [row for row in rows if row.get("pid", 0) and row["pid"] < 60]
    precise(kernel, "no process with a small number has run")
    # Kernels hide some processes, but not most of them.
    named = sum(bool(row.get("comm")) for row in kernel)
    asked = " bpf_task_from_pid\n" in pathlib.Path("/proc/kallsyms").read_text(encoding="ascii")
    require(2 * named > len(kernel) or not asked, f"{named} of {len(kernel)} names")
    require(asked == ("no names" not in done.err), f"it says {done.err!r}")
    for row in kernel:
        called = row.get("comm") or ""
        # Workers come and go: it may have ended meanwhile.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            comm = pathlib.Path(f"/proc/{row['pid']}/comm").read_text(encoding="utf-8").strip()
            # Of some kernel threads /proc says more than their name.
            require(comm.startswith(called), f"process {row['pid']}, {comm}, is called {called}")


def test_stat_with_proc_of_others(bed):
    """The threads of a process are looked up in /proc: not in that of others."""
    done = bed.command(*OTHERS, bed.program, "stat", "-p", 1, "-e", "task-clock", "-d", 0.1)
    require(done.status == 1 and "/proc is of another pid namespace" in done.err, done.err)


def in_another_time(bed, *args):
    """A command in a time namespace 1000 s ahead."""
    ahead = ("unshare", "-T", "--monotonic", 1000, "--boottime", 1000)
    if not pathlib.Path("/proc/self/timens_offsets").exists():
        raise Skip("this kernel has no time namespaces")
    tried = bed.command(*ahead, "true")
    if tried.status:
        raise Skip(f"no time namespace can be made: {tried.err.strip()}")
    return bed.command(*ahead, bed.program, *args)


def test_time(bed):
    """Another clock than the kernel's: what measures with it refuses, and no file is touched."""
    recording = bed.scratch / "recording"
    measuring = (
        ("--no-counters", "-a", "-d", 0.2),
        ("--no-counters", "--", "true"),
        ("record", "--no-counters", "-d", 0.2, "-o", recording),
    )
    for args in measuring:
        done = in_another_time(bed, *args)
        require(done.status == 2, f"{args}: exit status {done.status}: {done.err}")
        said = " ".join(done.err.split())
        require("1000.0000 s ahead of the kernel's" in said, f"it says {said}")
        require("nsenter -t 1 -T" in said, f"no remedy in {said}")
        require(not done.out and not recording.exists(), "it goes on")


def test_time_of_serve(bed):
    config = bed.scratch / "serve.conf"
    config.write_text(
        f"state = {bed.scratch}/state/a.db\nspool = {bed.scratch}/spool\nlisten =\ncounters = no\n",
        encoding="ascii",
    )
    done = in_another_time(bed, "serve", "--config", config)
    require(done.status == 2 and "nsenter -t 1 -T" in " ".join(done.err.split()), f"{done.status}: {done.err}")


def test_time_is_no_matter_here(bed):
    """check says it; a recording is shown there, too."""
    done = in_another_time(bed, "check", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)["checks"]}
    require(done.status == 1 and rows["clock"]["status"] == "missing", rows["clock"])
    rows = {row["name"]: row for row in json.loads(bed.command(bed.program, "check", "--json").out)["checks"]}
    require(rows["clock"]["status"] == "ok", rows["clock"])
    recording = bed.scratch / "recording"
    check_status(bed.command(bed.program, "record", "--no-counters", "-d", 0.2, "-o", recording))
    check_status(in_another_time(bed, "report", recording))


TESTS = [
    test_time,
    test_time_of_serve,
    test_time_is_no_matter_here,
    test_pid,
    test_pid_with_proc_of_others,
    test_no_such_pid,
    test_command,
    test_nobody_has_the_name_of_another,
    test_stat_with_proc_of_others,
]
