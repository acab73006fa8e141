# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Weights, with an event that needs no hardware: a page fault is counted where it happens."""

import collections
import contextlib
import json
import os
import pathlib
import statistics
import time

from held import wait_used
from live import (
    BUSY_MS,
    MS,
    Busy,
    Skip,
    check_status,
    fill_ring,
    finish,
    precise,
    read_line,
    require,
    said,
    same_time,
    tell,
)

PAGES = 20000
# Tasks that found no slot
LOST_PID = 0xFFFFFFFF
WINDOW_NS = 10 * MS


class Weighed:
    """What weigh said."""

    def __init__(self, text):
        self.processes = {}
        for words in said(text, "process"):
            pid, cpu_ns, covered_ns, *counts = map(int, words[1:])
            self.processes[pid] = (cpu_ns, covered_ns, counts)
        self.unowned = [int(n) for words in said(text, "unowned") for n in words[1:]]
        self.uneven = [int(n) for words in said(text, "uneven") for n in words[1:]]
        self.least = [int(n) for words in said(text, "least") for n in words[1:]]
        self.most = [int(n) for words in said(text, "most") for n in words[1:]]
        self.kept, self.lost, self.unseen, self.bad = map(int, said(text, "losses")[0][1:])
        self.slices = {int(pid): int(nr) for _, pid, nr in said(text, "slices")}
        ((_, windows, window_ns),) = said(text, "windows")
        self.windows, self.window_ns = int(windows), int(window_ns)
        self.gap_ns = int(said(text, "gap")[0][1])
        ((_, asleep, interrupted),) = said(text, "ways")
        self.asleep, self.interrupted = int(asleep), int(interrupted)

    def sum(self, event):
        return sum(counts[event] for _, _, counts in self.processes.values())

    def uncovered_ns(self):
        """CPU time of tasks without weight. Idle CPUs that a flush leaves asleep are not read."""
        return sum(cpu - covered for pid, (cpu, covered, _) in self.processes.items() if pid)


@contextlib.contextmanager
def weighing(bed, *args):
    """The ledger with weights while the body runs; the list it gives gets the result."""
    result = []
    with bed.process(bed.weigh, *args) as weigh:
        require(read_line(weigh) == b"ready\n", "weigh did not start")
        yield result
        result.append(Weighed(finish(weigh)))


def adds_up(weighed, event):
    """All that the event counted is somebody's, or known to be nobody's."""
    booked, least, most = weighed.sum(event), weighed.least[event], weighed.most[event]
    require(not weighed.bad, f"{weighed.bad} impossible records")
    require(not weighed.gap_ns, f"{weighed.gap_ns} ns of CPU time are missing, or there twice")
    require(least <= booked <= most, f"{booked} in the books, by the event itself {least} to {most}")


def toucher(text):
    """The process that touched pages, and what the kernel says it had."""
    ((_, pid, _, faults),) = said(text, "process")
    # Without memory to spare, those of the program itself come more than once.
    precise(PAGES <= int(faults) <= PAGES + 500, f"{faults} faults for {PAGES} pages")
    return int(pid), int(faults)


def has_its_faults(weighed, pid, faults, event=0):
    """All but those whose owner is said to be unknown."""
    _, _, counts = weighed.processes.get(pid, (0, 0, [0, 0]))
    text = f"{counts[event]} faults in its slots, {faults} by the kernel's books"
    require(counts[event] >= faults - weighed.unowned[event], f"{text}, {weighed.unowned} of nobody")
    # Its end is not in its own count; and hidden tasks have faults, too.
    precise(counts[event] <= faults * 1.01, text)


def test_faults_have_an_owner(bed):
    """One process touches pages, another one only burns, on one CPU and in one window."""
    with weighing(bed, "page-faults") as result:
        with bed.process("taskset", "-c", bed.cpu, bed.burn, "-m", 600) as burner:
            text = bed.command("taskset", "-c", bed.cpu, bed.touch, PAGES, 400).out
            finish(burner)
    (weighed,) = result
    adds_up(weighed, 0)
    has_its_faults(weighed, *toucher(text))
    burnt = weighed.processes[burner.pid]
    same_time("the burner", burnt[0], 600 * MS, 10 * MS)
    # starting and ending a program takes some
    precise(burnt[2][0] <= 1000, f"the burner has {burnt[2][0]} faults")


def test_runs_across_windows(bed):
    """Windows much shorter than a run: what a run counted is divided, and none is lost."""
    with weighing(bed, "-w", 1, "page-faults,task-clock") as result:
        text = bed.command(bed.touch, PAGES, 0).out
        bed.command(bed.burn, "-t", 2, "-m", 300)
    (weighed,) = result
    adds_up(weighed, 0)
    has_its_faults(weighed, *toucher(text))
    # The kernel's own clock, counted: each slot has as much of it as it has covered time.
    total = sum(cpu for cpu, _, _ in weighed.processes.values())
    precise(weighed.uneven[1] <= 0.01 * total, f"slots are off by {weighed.uneven[1]} of {total} ns")


def test_time_is_covered(bed):
    """A software event counts always: time of tasks without weight is that of hidden switches."""
    with weighing(bed, "page-faults") as result:
        bed.command(bed.burn, "-t", 4, "-m", 200)
    (weighed,) = result
    total = sum(cpu for pid, (cpu, _, _) in weighed.processes.items() if pid)
    text = f"{weighed.uncovered_ns()} of {total} ns without weight"
    require(weighed.unseen or not weighed.uncovered_ns(), f"{text}, and no hidden switch")
    precise(weighed.uncovered_ns() <= 0.05 * total, text)


def test_full_ring(bed):
    """Nobody takes the records for a while: slots run out, and owners with them, but no count."""
    with weighing(bed, "-k", "-w", 1, "page-faults") as result:
        bed.command(bed.storm, fill_ring())
        bed.command(bed.touch, PAGES, 100)
    (weighed,) = result
    require(weighed.kept, "the ring did not fill up")
    adds_up(weighed, 0)
    booked = weighed.sum(0) + weighed.unowned[0]
    require(booked >= PAGES, f"{booked} faults in the books, more than {PAGES} were")
    nobody = weighed.processes[LOST_PID]
    require(nobody[2][0] > 0, f"no slot was missing: {nobody}")


@contextlib.contextmanager
def staying(bed, milliseconds):
    """A process that keeps its CPU for so long, once the body tells it to begin."""
    with bed.process(bed.burn, "-f", "-w", "-c", bed.cpu, "-m", milliseconds) as burner:
        yield burner
        if burner.poll() == 3:
            raise Skip("no real-time scheduling")


def weigh_staying(bed, *args):
    """What the ledger has of such a process, and its own clock."""
    with staying(bed, 1000) as burner:
        with weighing(bed, *args) as result:
            with contextlib.suppress(BrokenPipeError):
                tell(burner)
            text = burner.stdout.read()
            burner.wait()
    ((_, _, _, own),) = said(text, "process") or [[0] * 4]
    if not own:
        raise Skip("no real-time scheduling")
    (weighed,) = result
    adds_up(weighed, 0)
    same_time("the burner", weighed.processes[burner.pid][0], int(own), 3 * MS)
    return weighed, weighed.slices[burner.pid], int(own)


def test_windows_of_who_stays(bed):
    """A task that keeps its CPU has a slice for each window, with the weights of that time."""
    weighed, slices, own = weigh_staying(bed, "-t", "page-faults,task-clock")
    windows = weighed.windows * own / weighed.window_ns
    precise(windows >= 10, f"only {windows:.0f} windows in {own} ns")
    # A CPU that the host stops has no ticks, and its clock goes on: several windows are one slice.
    precise(slices >= 0.9 * windows, f"{slices} slices in {windows:.0f} windows")
    # Now and then the kernel takes the CPU from real-time tasks; and the first and the last one.
    precise(slices <= 1.2 * windows + 10, f"{slices} slices in {windows:.0f} windows")
    # Each one's own, not an even share: the kernel's clock agrees with the covered time slice by slice.
    total = sum(cpu for cpu, _, _ in weighed.processes.values())
    precise(weighed.uneven[1] <= 0.01 * total, f"slices are off by {weighed.uneven[1]} of {total} ns")


def test_off_leaves_who_stays(bed):
    """Without ticks it has one at its end, and one whenever another task came in between."""
    weighed, slices, own = weigh_staying(bed, "page-faults,task-clock")
    windows = weighed.windows * own / weighed.window_ns
    precise(windows >= 10, f"only {windows:.0f} windows in {own} ns")
    precise(slices <= 0.4 * windows, f"{slices} slices in {windows:.0f} windows")


def test_ticks_among_switches(bed):
    """Ticks, switches, moved windows and flushes in any order: no nanosecond is lost or doubled."""
    with weighing(bed, "-t", "-w", 1, "page-faults,task-clock") as result:
        with bed.process(bed.burn, "-t", 4, "-m", 1000) as burner:
            text = bed.command(bed.touch, PAGES, 200).out
            bed.command(bed.storm, 500)
            finish(burner)
    (weighed,) = result
    adds_up(weighed, 0)
    has_its_faults(weighed, *toucher(text))


def test_flushes_among_switches(bed):
    """CPUs go idle and leave while their books are taken: no nanosecond is lost or doubled."""
    with weighing(bed, "-f", "-t", "-w", 1, "page-faults,task-clock") as result:
        # It naps all the time, and the others come and go
        with bed.process(bed.touch, PAGES, 400) as touching:
            bed.command(bed.storm, 300)
            with bed.process("perf", "bench", "sched", "pipe", "-l", 20000) as pipe:
                finish(pipe)
            text = finish(touching)
    (weighed,) = result
    adds_up(weighed, 0)
    has_its_faults(weighed, *toucher(text))


def test_flush_leaves_cpus_alone(bed):
    """At the end of an interval those that sleep are left asleep, and busy ones come by themselves."""
    cpus = os.cpu_count()
    with weighing(bed, "-f", "-t", "-w", 20, "page-faults") as result:
        time.sleep(1)
    (weighed,) = result
    adds_up(weighed, 0)
    flushes = weighed.windows
    text = f"{weighed.interrupted} interrupted and {weighed.asleep} left asleep in {flushes} flushes of {cpus} CPUs"
    print(f"# {text}")
    precise(flushes >= 10, f"only {flushes} flushes")
    # One of them is our own, which is no interrupt; and others were in the way for a whole tick.
    precise(cpus == 1 or weighed.interrupted <= 1.3 * flushes + weighed.unseen, text)


def test_asleep(bed):
    """Without ticks, too: whoever sleeps at the end of an interval sleeps on."""
    with weighing(bed, "-f", "-w", 20, "page-faults") as result:
        time.sleep(1)
    (weighed,) = result
    adds_up(weighed, 0)
    idle = weighed.processes.get(0, [0])[0] / sum(cpu for cpu, _, _ in weighed.processes.values())
    # We are on one of them, though it was asleep before.
    sleepers = idle * os.cpu_count() - 1
    text = f"{weighed.asleep} left asleep in {weighed.windows} flushes, {idle:.2f} of the time is idle"
    print(f"# {text}, {weighed.unseen} hidden switches")
    if sleepers < 0.3:
        raise Busy("no CPU but ours sleeps here")
    precise(weighed.asleep >= 0.5 * weighed.windows * sleepers - weighed.unseen, text)


def interrupts(cpus):
    """Timer interrupts and wake-ups of each CPU so far, and how often it fell asleep."""
    counts = collections.Counter()
    for line in pathlib.Path("/proc/interrupts").read_text(encoding="ascii").splitlines():
        name, *numbers = line.split()
        # x86's names, and those of arm64
        if name in ("LOC:", "RES:", "IPI0:") or "arch_timer" in line:
            for cpu in cpus:
                counts[cpu] += int(numbers[cpu])
    for cpu in cpus:
        for path in pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/cpuidle").glob("state*/usage"):
            counts[cpu] += int(path.read_text(encoding="ascii"))
    return counts


def test_idle_cpus_sleep(bed):
    """Interrupts of CPUs, with ticks used and without, in turns: nobody is woken for them."""
    cpus = range(os.cpu_count())
    rates = {False: [], True: []}
    for turn in range(8):
        ticks = turn % 2 == 1
        with weighing(bed, *(["-t"] if ticks else []), "cpu-time"):
            before, begin = interrupts(cpus), time.monotonic()
            time.sleep(0.5)
            took = time.monotonic() - begin
            after = interrupts(cpus)
        rates[ticks].append(sum((after - before).values()) / took / len(cpus))
    without, used = statistics.median(rates[False]), statistics.median(rates[True])
    print(f"# interrupts a CPU and second: {without:.0f} without ticks, {used:.0f} with them")
    precise(used <= 1.2 * without + 20, f"{used:.0f} interrupts a CPU and second, {without:.0f} without")


def test_no_weights(bed):
    with weighing(bed, "cpu-time") as result:
        bed.command(bed.burn, "-m", 50)
    (weighed,) = result
    require(weighed.processes, "no process")
    require(all(row[1:] == (0, []) for row in weighed.processes.values()), "weights from nowhere")


def test_refusals(bed):
    """What cannot be had is said, and nothing is made up."""
    for spec, words in (
        ("no-such-event", "page-faults"),
        ("page-faults,page_faults", "twice"),
        ("page-faults,task-clock,minor-faults", "at most two"),
    ):
        done = bed.command(bed.weigh, spec)
        require(done.status == 1, f"{spec}: status {done.status}")
        require(words in done.err, f"{spec}: {done.err}")


# --- through the command line


def record(bed, *args, **options):
    """The lines of a recording as NDJSON, and what the command in it said."""
    path = bed.scratch / "run.ndjson"
    done = bed.command(
        bed.program, "record", "--no-counters", "--format", "ndjson", "-o", path, *args, **options
    )
    check_status(done)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return path, lines, done


def slices_by_pid(lines):
    """Numbers of workloads are used again."""
    found, pid_of = collections.defaultdict(list), {}
    for line in lines:
        if line["type"] == "workload":
            pid_of[line["id"]] = line["pid"]
        elif line["type"] == "slice":
            found[pid_of[line["workload"]]].append(line)
    return found


def test_recorded(bed):
    """The counts are in a recording, with the slices of whom they are about."""
    names = ["page-faults", "context-switches"]
    path, lines, done = record(bed, "-v", "--weights", ",".join(names), "--", bed.touch, PAGES, 400)
    require(lines[0]["weights"] == names, f"the header names {lines[0]['weights']}")
    require("page-faults (reads) and context-switches (writes)" in done.err, f"-v: {done.err!r}")
    pid, faults = toucher(done.out)
    slices = slices_by_pid(lines)[pid]
    unweighed_ns = 0
    for one in slices:
        counts = one.get("weights")
        # A software event counts always, and so does nothing but a hidden switch.
        length = one.get("on_cpu_ns", one["end_ns"] - one["start_ns"])
        if counts is None:
            unweighed_ns += length
            continue
        require(sorted(counts) == sorted(names), f"a slice has {one}")
        weighed_ns = one.get("weights_ns", length)
        require(weighed_ns <= length, f"weighed for longer than it was: {one}")
        unweighed_ns += length - weighed_ns
    sums = [sum(one.get("weights", {}).get(name, 0) for one in slices) for name in names]
    text = f"{sums[0]} faults in the recording, {faults} by the kernel's books"
    require(unweighed_ns or sums[0] >= faults, text)
    precise(0.95 * faults <= sums[0] <= 1.01 * faults, f"{text}, {unweighed_ns} ns without weight")
    # It naps a hundred times, and others take the CPU from it.
    precise(95 <= sums[1] <= 3000, f"{sums[1]} switches in the recording")
    report = bed.command(bed.program, "report", path, "--json", "-v")
    check_status(report)
    require({row["pid"] for one in report.reports() for row in one["workloads"]} == {pid}, "rows")


def part_of(slices, begin, end, value):
    """What slices have of something between two times, if they had it evenly."""
    total = 0
    for one in slices:
        inside = min(end, one["end_ns"]) - max(begin, one["start_ns"])
        length = one["end_ns"] - one["start_ns"]
        total += value(one) * inside / length if inside > 0 else 0
    return total


def time_of(one):
    return one.get("on_cpu_ns", one["end_ns"] - one["start_ns"])


def faults_of(one):
    return one.get("weights", {}).get("page-faults", 0)


def with_counter(lines, windows):
    """The same as if there had been a counter that gained 1000 bytes in each of these windows."""
    header = {"type": "header", "schema": "t410trace.trace/1", "sockets": lines[0]["sockets"]}
    header["counters"] = [
        {
            "id": 0,
            "name": "ucf0/mem_bytes_rd/src_loc_cpu=1",
            "pmu": "nvidia_ucf_pmu_0",
            "event": "mem_bytes_rd",
            "filters": {"src_loc_cpu": 1},
            "socket": 0,
            "unit": "bytes",
            "source": "cpu",
        }
    ]
    made = [header | {"weights": lines[0]["weights"]}]
    made += [line for line in lines if line["type"] in ("workload", "slice")]
    for at, gained in windows:
        values = [[0, gained, WINDOW_NS, WINDOW_NS]]
        made.append(
            {"type": "window", "socket": 0, "start_ns": at, "end_ns": at + WINDOW_NS, "values": values}
        )
    return "\n".join(map(json.dumps, [*made, {"type": "end", "time_ns": at + WINDOW_NS}])).encode()


def test_they_decide(bed):
    """Two on one CPU: by time both get bytes, by faults those of the one who has them."""
    with bed.process("taskset", "-c", bed.cpu, bed.burn, "-m", BUSY_MS) as burner:
        # Its own start has faults, too.
        wait_used(burner, 100 * MS)
        _, lines, done = record(
            bed, "--weights", "page-faults", "--", "taskset", "-c", bed.cpu, bed.touch, PAGES, 400
        )
    pid, _ = toucher(done.out)
    slices = slices_by_pid(lines)
    mine, others = slices[pid], slices[burner.pid]
    windows = []
    # Bytes where the one has faults and the other one more of the time: not in every window of a busy CPU.
    for at in range(mine[0]["start_ns"], mine[-1]["end_ns"] - WINDOW_NS, WINDOW_NS):
        end = at + WINDOW_NS
        longer = part_of(others, at, end, time_of) > 1.2 * part_of(mine, at, end, time_of)
        windows.append((at, 1000 if longer and part_of(mine, at, end, faults_of) > 20 else 0))
    precise(sum(gained for _, gained in windows) >= 5000, "hardly a window in which they take turns")
    made = with_counter(lines, windows)
    parts = {}
    for method in ("cpu-time", "weights"):
        shown = bed.command(
            bed.program, "report", "-", "-a", "--json", "--summary", "--method", method, input=made
        )
        require(shown.status == 0, f"{method}: exit status {shown.status}: {shown.err[:300]}")
        (report,) = (json.loads(line) for line in shown.out.splitlines())
        total = report["counters"][0]["value"]
        values = collections.Counter()
        for row in report["workloads"]:
            values[row["pid"]] += sum(share["value"] for share in row["shares"])
        other = sum(one["value"] for one in report["unattributed"])
        require(sum(values.values()) + other == total, f"{method}: bytes do not add up")
        # Others have faults, too, on the other CPUs.
        parts[method] = values[pid] / (values[pid] + values[burner.pid])
        weights = report["quality"]["weights"]
        require(
            weights == {"cpu-time": "cpu-time", "weights": "page-faults"}[method],
            f"{method}: measured by {weights}",
        )
    # What is without weight around hidden switches goes by time.
    precise(parts["cpu-time"] < 0.5 and parts["weights"] > 0.95, f"what it has of both: {parts}")


def test_none_recorded(bed):
    for args in (["--weights", "cpu-time"], []):
        _, lines, _ = record(bed, *args, "-d", 0.3)
        require(not lines[0]["weights"], f"{args}: the header names {lines[0]['weights']}")
        require(not any("weights" in line for line in lines[1:]), f"{args}: a slice has weights")


def test_wrong_options(bed):
    """An event that is not there is an error, never CPU time in silence."""
    for args, status, words in (
        (["--weights", "nonsense"], 1, ["nonsense", "cpu-time", "page-faults"]),
        (["--weights", "a,b,c"], 2, ["at most two"]),
        (["--weights", ""], 2, ["without a name"]),
        (["--weights", "page-faults,page_faults"], 2, ["twice"]),
    ):
        path = bed.scratch / "precious"
        path.write_text("precious", encoding="ascii")
        done = bed.command(bed.program, "record", "--no-counters", "-o", path, "-d", 1, *args)
        require(done.status == status, f"{args}: exit status {done.status}, not {status}")
        text = " ".join(done.err.split())
        require(all(word in text for word in words), f"{args}: {text!r}")
        require(path.read_text(encoding="ascii") == "precious", f"{args}: the file is gone")
    done = bed.trace("-a", "-d", 0.1, "--weights", "page-faults", "--method", "cpu-time")
    require(done.status == 2 and "would not use" in done.err, f"{done.status}, {done.err!r}")


TESTS = [
    test_faults_have_an_owner,
    test_runs_across_windows,
    test_time_is_covered,
    test_full_ring,
    test_windows_of_who_stays,
    test_off_leaves_who_stays,
    test_ticks_among_switches,
    test_flushes_among_switches,
    test_flush_leaves_cpus_alone,
    test_asleep,
    test_idle_cpus_sleep,
    test_no_weights,
    test_refusals,
    test_recorded,
    test_they_decide,
    test_none_recorded,
    test_wrong_options,
]
