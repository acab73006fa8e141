# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Weights, with an event that needs no hardware: a page fault is counted where it happens."""

import contextlib

from live import (
    MS,
    Failed,
    Imprecise,
    finish,
    near,
    read_line,
    require,
    said,
)

PAGES = 20000
# Faults between our reading of the events and the end of each CPU's books, of whoever runs.
READING = 300


class Weighed:
    """What weigh said."""

    def __init__(self, text):
        self.processes = {}
        for words in said(text, "process"):
            pid, cpu_ns, covered_ns, *counts = map(int, words[1:])
            self.processes[pid] = (cpu_ns, covered_ns, counts)
        self.unowned = [int(n) for words in said(text, "unowned") for n in words[1:]]
        self.uneven = [int(n) for words in said(text, "uneven") for n in words[1:]]
        self.kernel = [int(n) for words in said(text, "kernel") for n in words[1:]]
        self.kept, self.lost, self.unseen, self.bad = map(int, said(text, "losses")[0][1:])

    def sum(self, event):
        return sum(counts[event] for _, _, counts in self.processes.values())

    def uncovered_ns(self):
        return sum(cpu - covered for cpu, covered, _ in self.processes.values())


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
    booked = weighed.sum(event) + weighed.unowned[event]
    require(not weighed.bad, f"{weighed.bad} impossible records")
    if not near(booked, weighed.kernel[event], 0.002, READING):
        raise Imprecise(f"{booked} in the books, {weighed.kernel[event]} by the event itself")


def toucher(text):
    """The process that touched pages, and what the kernel says it had."""
    ((_, pid, _, faults),) = said(text, "process")
    require(PAGES <= int(faults) <= PAGES + 500, f"{faults} faults for {PAGES} pages")
    return int(pid), int(faults)


def has_its_faults(weighed, pid, faults, event=0):
    _, _, counts = weighed.processes.get(pid, (0, 0, [0, 0]))
    # Its end is not in its own count.
    if not near(counts[event], faults, 0.01):
        raise Imprecise(f"{counts[event]} faults in its slots, {faults} by the kernel's books")


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
    require(near(burnt[0], 600 * MS, 0.05, 5 * MS), f"the burner has {burnt[0]} ns")
    # starting and ending a program takes some
    require(burnt[2][0] <= 1000, f"the burner has {burnt[2][0]} faults")


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
    if weighed.uneven[1] > 0.01 * total:
        raise Imprecise(f"slots are off by {weighed.uneven[1]} of {total} ns")


def test_time_is_covered(bed):
    """A software event counts always: time without weight is that of hidden switches."""
    with weighing(bed, "page-faults") as result:
        bed.command(bed.burn, "-t", 4, "-m", 200)
    (weighed,) = result
    if weighed.uncovered_ns() and not weighed.unseen:
        raise Failed(f"{weighed.uncovered_ns()} ns without weight, and no hidden switch")
    total = sum(cpu for cpu, _, _ in weighed.processes.values())
    if weighed.uncovered_ns() > 0.05 * total:
        raise Imprecise(f"{weighed.uncovered_ns()} of {total} ns without weight")


def test_full_ring(bed):
    """Nobody takes the records for a while: slots run out, and owners with them, but no count."""
    with weighing(bed, "-k", "-w", 1, "page-faults") as result:
        bed.command(bed.burn, "-t", 3, "-m", 2000)
        bed.command(bed.touch, PAGES, 100)
    (weighed,) = result
    if not weighed.kept:
        raise Imprecise("the ring did not fill up")
    require(weighed.sum(0) >= PAGES, f"{weighed.sum(0)} faults in the books, more than {PAGES} were")
    adds_up(weighed, 0)


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


TESTS = [
    test_faults_have_an_owner,
    test_runs_across_windows,
    test_time_is_covered,
    test_full_ring,
    test_no_weights,
    test_refusals,
]
