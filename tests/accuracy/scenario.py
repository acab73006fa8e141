#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Invent a trace (NDJSON, t410trace.trace/1) together with the truth behind it.

scenario.py MODE TRACE TRUTH [KEY=VALUE...]

A scenario is a number of tenants on the CPUs of one or two sockets. Each has an
intensity - bytes per nanosecond on a CPU - which nobody is told; what the socket's
counter shows in a window is the sum over all of them, later by a lag and with noise.

Modes:
  duty     tenants sleep and work as a whole, 20 to 300 ms at a time
  threads  each thread sleeps and works by itself, 5 to 100 ms at a time
  jitter   threads work all the time but for a gap of a few milliseconds now and then
  steady   threads work all the time: nothing tells them apart
  alone    one tenant after the other, each with the socket to itself
  burst    half of the tenants start one short process (1 to 30 ms) after another, of one name
  pairs    as duty, but some tenants sleep and work in lock-step with another one
  ramp     as threads, but intensities rise or fall evenly to four times or a quarter
  spikes   as threads, but in some windows the noise is huge
  mux      as duty, but in every other window the counter counts only part of the time
  lost     as threads, but one slice in twenty is missing
  two      as threads, on two sockets, with reads and writes of different intensities
  ranks    threads never leave their CPU: they work, and wait for each other without sleeping, 20
           to 300 ms at a time; slices end with windows, as ticks of the scheduler make them
  unticked the same without ticks: slices are as long as with steady
  lagged   as threads, but traffic is seen up to 15 ms after the work
  jumps    as threads, but intensities jump tenfold every few seconds
  crowd    as threads, but 200 tenants of one thread each
  full     as threads, but the memory is at its limit in 60% of the time: all that are on a CPU are
           slowed in proportion then; slices as with ranks
  long     as threads, but 10 to 150 ms at a time; slices are whole runs, as with the others
  longfull as long, with memory as in full

Everything is drawn from streams of random numbers that have names, so an option
changes what it is about and nothing else: with weights and without, the same tenants
do the same at the same time.
"""

import bisect
import dataclasses
import itertools
import json
import math
import random
import sys

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
# Traffic is added up in bins of this length; windows consist of whole bins.
BIN_NS = NS_PER_MS
# Options of modes that are about them, unless others are asked for
OWN_OPTIONS = {"lagged": {"lag_ms": 15}, "crowd": {"tenants": 200, "cpus": 200}}
# A ledger brings a task that never sleeps up to date at least this often.
LONGEST_SLICE_NS = NS_PER_S // 2
FIRST_PID = 1000
# Part of the time in which the memory is at its limit, where there is one
FULL = 0.6
# What core PMUs would count for a direction; one count is a cache line.
WEIGHT_EVENTS = {"rd": "l3d_cache_refill", "wr": "l2d_cache_wb"}
LINE_BYTES = 64
# Traffic of who waits without sleeping, beside that of who works
WAITING = 0.02


@dataclasses.dataclass(frozen=True)
class Options:
    """What a scenario is made of.

    seed       another one gives other tenants
    tenants    number of them
    cpus       of all sockets
    seconds    length of the trace
    window_ms  time between two readings of the counters
    spread     how much tenants differ: sigma of the logarithm of their intensities
    noise      of a reading: sigma of its logarithm
    lag_ms     traffic is seen up to this long after the work
    phases     1: intensities change about twice a second
    idle_bytes in every window, caused by no tenant
    weights    1: slices carry what core PMUs counted, wrong by 20% for each tenant
    stacked    1: all threads of a tenant share a CPU, as no scheduler would have it
    tick_ms    of ranks: time between two ticks, at which core events are read
    """

    seed: int = 1
    tenants: int = 20
    cpus: int = 88
    seconds: float = 10.0
    window_ms: int = 10
    spread: float = 1.2
    noise: float = 0.03
    lag_ms: int = 2
    phases: int = 1
    idle_bytes: int = 0
    weights: int = 0
    stacked: int = 0
    tick_ms: int = 4

    @property
    def length_ns(self):
        return round(self.seconds * NS_PER_S)

    @property
    def window_ns(self):
        return self.window_ms * NS_PER_MS

    @classmethod
    def of(cls, mode, **values):
        """Those of a mode, but for @values."""
        return cls(**{**OWN_OPTIONS.get(mode, {}), **values})

    @classmethod
    def parse(cls, words, mode=None):
        """From KEY=VALUE words."""
        kinds = {field.name: field.type for field in dataclasses.fields(cls)}
        values = {}
        for word in words:
            key, equals, text = word.partition("=")
            if key not in kinds or not equals:
                raise ValueError(f'"{word}": options are {", ".join(kinds)}')
            values[key] = kinds[key](float(text))
        return cls.of(mode, **values)


@dataclasses.dataclass
class Thread:
    """When a thread was on its CPU: (start, end) pairs in ns, in order, without overlap."""

    cpu: int
    runs: list


@dataclasses.dataclass
class Tenant:
    """A process.

    @levels: by direction, (start, end, bytes per ns) without gaps
    @bias: by direction, how far its weights are off
    @group: processes of one group are one tenant to its user
    """

    pid: int
    comm: str
    group: str
    threads: list
    levels: dict
    bias: dict


class Streams:
    """Independent random numbers by name."""

    def __init__(self, mode, seed):
        self.prefix = f"{mode}:{seed}"

    def named(self, *name):
        return random.Random(":".join([self.prefix, *map(str, name)]))


# --- when threads run


def on_and_off(rng, length_ns, shortest_ms, longest_ms):
    """Work and sleep in turn, each with a mean of its own between the two bounds."""
    means = [rng.uniform(shortest_ms, longest_ms) * NS_PER_MS for _ in range(2)]
    working, now, runs = rng.random() < 0.5, 0, []
    while now < length_ns:
        end = now + max(1, round(rng.expovariate(1.0) * means[working]))
        if working:
            runs.append((now, min(end, length_ns)))
        working, now = not working, end
    return runs


def with_gaps(rng, length_ns):
    """Work all the time, but for 0.5 to 3 ms about 25 times a second."""
    runs, begin, now = [], 0, 0
    while True:
        now += round(rng.expovariate(25.0) * NS_PER_S)
        if now >= length_ns:
            break
        if now > begin:
            runs.append((begin, now))
        begin = now + round(rng.uniform(0.5, 3.0) * NS_PER_MS)
    if begin < length_ns:
        runs.append((begin, length_ns))
    return runs


def short_lives(rng, length_ns):
    """One process after the other: the (start, end) of each."""
    now = rng.uniform(0, 60) * NS_PER_MS
    while now < length_ns - NS_PER_MS:
        end = min(length_ns, now + rng.uniform(1, 30) * NS_PER_MS)
        yield round(now), round(end)
        now = end + rng.expovariate(1 / 60) * NS_PER_MS


# --- how intense


def phase_levels(rng, base, options):
    """A new level about twice a second, around the same base."""
    if not options.phases:
        return [(0, options.length_ns, base)]
    levels, now, level = [], 0, base
    while now < options.length_ns:
        end = now + max(1, round(rng.expovariate(2.0) * NS_PER_S))
        levels.append((now, end, level))
        now, level = end, base * math.exp(rng.gauss(0, 0.5))
    return levels


def ramp_levels(rng, base, options):
    """From half of the base to twice as much, or the other way round."""
    step = 50 * NS_PER_MS
    way = rng.choice((-1, 1))
    return [
        (now, now + step, base * 2 ** (way * (2 * now / options.length_ns - 1)))
        for now in range(0, options.length_ns, step)
    ]


def waiting_levels(rng, base, options):
    """Work and busy waiting in turn; what is done at work differs a little each time."""
    levels, now = [], 0
    for start, end in [*on_and_off(rng, options.length_ns, 20, 300), (options.length_ns,) * 2]:
        if now < start:
            levels.append((now, start, base * WAITING))
        if start < end:
            levels.append((start, end, base * math.exp(rng.gauss(0, 0.1))))
        now = end
    return levels


def jump_levels(rng, base, options):
    """Ten times as much every few seconds, and back again; phases go on."""
    levels, turn, high = [], 0, rng.random() < 0.5
    for start, end, level in phase_levels(rng, base, options):
        while start < end:
            if turn <= start:
                turn = start + max(1, round(rng.expovariate(1 / 3.0) * NS_PER_S))
                high = not high
            stop = min(end, turn)
            levels.append((start, stop, level * math.sqrt(10.0) ** (1 if high else -1)))
            start = stop
    return levels


# Tasks that keep their CPU are brought up to date at ticks.
TICKED = ("ranks", "full")
# The memory has a limit.
LIMITED = ("full", "longfull")
DRAWS = {
    "ramp": ramp_levels,
    "ranks": waiting_levels,
    "unticked": waiting_levels,
    "jumps": jump_levels,
}


# --- tenants


class Crew:
    """Hires the tenants of a scenario and gives them CPUs."""

    def __init__(self, mode, options):
        self.mode = mode
        self.options = options
        self.streams = Streams(mode, options.seed)
        self.directions = ("rd", "wr") if mode == "two" else ("rd",)
        self.sockets = 2 if mode == "two" else 1
        self.next_cpu = [socket * options.cpus // self.sockets for socket in range(self.sockets)]
        self.tenants = []
        self.twins = []

    def cpus_of(self, socket):
        share = self.options.cpus // self.sockets
        return range(socket * share, (socket + 1) * share)

    def take_cpu(self, socket):
        cpus = self.cpus_of(socket)
        cpu = self.next_cpu[socket]
        self.next_cpu[socket] = cpus.start + (cpu + 1 - cpus.start) % len(cpus)
        return cpu

    def hire(self, threads, group=None, base=None):
        number = len(self.tenants)
        rng = self.streams.named("intensity", number)
        draw = DRAWS.get(self.mode, phase_levels)
        levels, bias = {}, {}
        for direction in self.directions:
            start = base or math.exp(rng.gauss(0, self.options.spread))
            levels[direction] = draw(rng, start, self.options)
            bias[direction] = math.exp(rng.gauss(0, 0.2))
        name = f"tenant{number}"
        self.tenants.append(
            Tenant(FIRST_PID + number, group or name, group or name, threads, levels, bias)
        )

    def size(self, number):
        """Threads of a tenant: on average all tenants together have nearly a CPU each."""
        most = max(1, 2 * self.options.cpus // self.options.tenants - 1)
        return self.streams.named("size", number).randint(1, most)

    def socket_of(self, number, thread):
        """With two sockets every fifth tenant is on both."""
        return (thread if number % 5 == 4 else number) % self.sockets

    def crew_of(self, number, schedule, size=None):
        """Threads that follow a schedule: a function of a thread's number."""
        size = size or self.size(number)
        cpus = [self.take_cpu(self.socket_of(number, k)) for k in range(size)]
        if self.options.stacked:
            cpus = [cpus[0]] * size
        return [Thread(cpu, schedule(k)) for k, cpu in enumerate(cpus)]

    # one of these for each mode; those with the same schedule share it

    def duty(self):
        for number in range(self.options.tenants):
            runs = on_and_off(self.streams.named("runs", number), self.options.length_ns, 20, 300)
            self.hire(self.crew_of(number, lambda _, runs=runs: runs))

    def pairs(self):
        """The second of a pair has the first one's schedule; both have any size."""
        twins = min(6, self.options.tenants // 2 * 2)
        for number in range(self.options.tenants):
            leader = number // 2 * 2 if number < twins else number
            if number < twins and number % 2:
                self.twins.append([FIRST_PID + leader, FIRST_PID + number])
            runs = on_and_off(self.streams.named("runs", leader), self.options.length_ns, 20, 300)
            self.hire(self.crew_of(number, lambda _, runs=runs: runs))

    def threads(self, shortest_ms=5, longest_ms=100):
        for number in range(self.options.tenants):
            rng = self.streams.named("runs", number)

            def schedule(_, rng=rng):
                return on_and_off(rng, self.options.length_ns, shortest_ms, longest_ms)

            self.hire(self.crew_of(number, schedule))

    def long(self):
        self.threads(10, 150)

    def jitter(self):
        for number in range(self.options.tenants):
            rng = self.streams.named("runs", number)
            self.hire(self.crew_of(number, lambda _, rng=rng: with_gaps(rng, self.options.length_ns)))

    def steady(self):
        for number in range(self.options.tenants):
            self.hire(self.crew_of(number, lambda _: [(0, self.options.length_ns)]))

    def alone(self):
        turn = self.options.length_ns // self.options.tenants
        for number in range(self.options.tenants):
            runs = [(number * turn, (number + 1) * turn)]
            self.hire(self.crew_of(number, lambda _, runs=runs: runs, size=1))

    def burst(self):
        for number in range(self.options.tenants):
            rng = self.streams.named("runs", number)
            if number % 2:
                runs = on_and_off(rng, self.options.length_ns, 20, 300)
                self.hire(self.crew_of(number, lambda _, runs=runs: runs), group=f"long{number}")
                continue
            base = math.exp(rng.gauss(0, self.options.spread))
            for _ in range(rng.randint(1, 4)):
                cpu = self.take_cpu(0)
                for run in short_lives(rng, self.options.length_ns):
                    self.hire(
                        [Thread(cpu, [run])],
                        group=f"burst{number}",
                        base=base * math.exp(rng.gauss(0, 0.3)),
                    )

    ramp = spikes = lost = two = lagged = jumps = crowd = full = threads
    longfull = long
    mux = duty
    ranks = unticked = steady


MODES = ("duty", "threads", "jitter", "steady", "alone")
FAMILIES = (
    *("burst", "pairs", "ramp", "spikes", "mux", "lost", "two"),
    *("ranks", "unticked", "lagged", "jumps", "crowd", "full", "long", "longfull"),
)


# --- traffic


class Bins:
    """Bytes in bins of equal length, filled by intervals of constant traffic."""

    def __init__(self, length_ns, bin_ns):
        self.bin_ns = bin_ns
        self.nr = -(-length_ns // bin_ns)
        self.parts = [0.0] * (self.nr + 1)
        self.steps = [0.0] * (self.nr + 2)

    def add(self, start, end, rate):
        first, last = start // self.bin_ns, end // self.bin_ns
        if first == last:
            self.parts[first] += (end - start) * rate
            return
        self.parts[first] += ((first + 1) * self.bin_ns - start) * rate
        self.parts[last] += (end - last * self.bin_ns) * rate
        # bins in between are full: only where that begins and ends is noted
        self.steps[first + 1] += rate * self.bin_ns
        self.steps[last] -= rate * self.bin_ns

    def values(self):
        # a sum of steps that cancel out may be off by a rounding error
        full = itertools.accumulate(self.steps)
        return [max(0.0, part + whole) for part, whole in zip(self.parts[: self.nr], full)]


class Pace:
    """How fast traffic flows compared with what is asked for: 1, or less in bins above a limit."""

    def __init__(self, asked, bin_ns, limit):
        self.bin_ns = bin_ns
        self.paces = [min(1.0, limit / bytes_) if bytes_ else 1.0 for bytes_ in asked]
        self.until = [0.0, *itertools.accumulate(pace * bin_ns for pace in self.paces)]

    def flow(self, start, end):
        """The time that it would have taken at full pace."""
        return self.at(end) - self.at(start)

    def at(self, when):
        number, rest = divmod(when, self.bin_ns)
        return self.until[number] + (rest * self.paces[number] if rest else 0.0)


def pieces(runs, levels):
    """Cut runs where the level changes: (number of the run, start, end, level)."""
    starts = [level[0] for level in levels]
    for number, (start, end) in enumerate(runs):
        at = bisect.bisect_right(starts, start) - 1
        while start < end:
            stop = min(end, levels[at][1])
            yield number, start, stop, levels[at][2]
            start, at = stop, at + 1


def moved_until(levels):
    """Bytes of a thread by some time since it was on its CPU first; gaps may be left out."""
    starts = [level[0] for level in levels]
    sums = [0.0, *itertools.accumulate((end - start) * rate for start, end, rate in levels)]

    def moved(now):
        at = bisect.bisect_right(starts, now) - 1
        return sums[at] + (min(now, levels[at][1]) - starts[at]) * levels[at][2]

    return moved


def ticked(moved, run, options, first_tick):
    """
    Slices (start, end, bytes) of a thread that keeps its CPU for a run (start, end). Its counts are
    known at ticks and where the run begins and ends; what was counted between the two around a
    window's end is divided by time.
    """
    tick_ns = options.tick_ms * NS_PER_MS
    start, finish = run
    first = start // options.window_ns * options.window_ns + options.window_ns
    known = moved(start)
    for end in range(first, finish + 1, options.window_ns):
        after = min(finish, end + (first_tick - end) % tick_ns)
        before = max(start, after - tick_ns)
        by_now = moved(end)
        if before < end < after:
            by_now = moved(before) + (moved(after) - moved(before)) * (end - before) / (after - before)
        yield start, end, by_now - known
        start, known = end, by_now
    if start < finish:
        yield start, finish, moved(finish) - known


def seen_later(values, lag):
    """Traffic of a bin is seen evenly in it and the following ones, @lag in all."""
    if lag <= 1:
        return values
    sums = [0.0, *itertools.accumulate(values)]
    return [(sums[i + 1] - sums[max(0, i + 1 - lag)]) / lag for i in range(len(values))]


@dataclasses.dataclass
class Slice:
    tenant: int
    cpu: int
    start: int
    end: int
    weights: dict


class Scenario:
    """Tenants, what they did, and what the counters showed."""

    def __init__(self, mode, options):
        if mode not in MODES + FAMILIES:
            raise ValueError(f'no mode "{mode}"; modes are {", ".join(MODES + FAMILIES)}')
        self.mode = mode
        self.options = options
        self.crew = Crew(mode, options)
        getattr(self.crew, mode)()
        self.counters = [
            (socket, direction)
            for socket in range(self.crew.sockets)
            for direction in self.crew.directions
        ]
        self.bins = [Bins(options.length_ns, BIN_NS) for _ in self.counters]
        self.truth = []  # of each tenant and counter: bytes in each second
        self.slices = []
        self.pace = self.limit_of_memory() if mode in LIMITED else None
        for number, tenant in enumerate(self.crew.tenants):
            self.run(number, tenant)
        self.windows = list(self.read_counters())
        self.losses = self.lose_slices() if mode == "lost" else []

    def name(self, counter):
        socket, direction = self.counters[counter]
        return f"ucf{socket}/mem_bytes_{direction}/src_loc_cpu=1"

    def limit_of_memory(self):
        """What is asked for is above it in FULL of the bins."""
        asked = Bins(self.options.length_ns, BIN_NS)
        for tenant in self.crew.tenants:
            for thread in tenant.threads:
                for _, start, end, level in pieces(thread.runs, tenant.levels["rd"]):
                    asked.add(start, end, level)
        values = asked.values()
        return Pace(values, BIN_NS, sorted(values)[round(len(values) * (1 - FULL))])

    def flows(self, start, end, level):
        """(start, end, rate): cut where the pace changes; all in one where it never does."""
        if not self.pace:
            yield start, end, level
            return
        while start < end:
            stop = min(end, (start // BIN_NS + 1) * BIN_NS)
            yield start, stop, level * self.pace.flow(start, stop) / (stop - start)
            start = stop

    def run(self, number, tenant):
        """Let a tenant do its work."""
        seconds = [Bins(self.options.length_ns, NS_PER_S) for _ in self.counters]
        for thread in tenant.threads:
            socket = thread.cpu * self.crew.sockets // self.options.cpus
            made, flows_of = [{} for _ in thread.runs], {}
            for counter, (where, direction) in enumerate(self.counters):
                if where != socket:
                    continue
                flows = []
                for run, start, end, level in pieces(thread.runs, tenant.levels[direction]):
                    for begin, stop, rate in self.flows(start, end, level):
                        flows.append((begin, stop, rate))
                        self.bins[counter].add(begin, stop, rate)
                        seconds[counter].add(begin, stop, rate)
                        made[run][direction] = made[run].get(direction, 0.0) + (stop - begin) * rate
                flows_of[direction] = flows
            if self.mode in TICKED:
                self.slices_with_windows(number, thread, flows_of)
                continue
            for (start, end), moved in zip(thread.runs, made):
                self.slice(number, thread.cpu, start, end, moved)
        self.truth.append([one.values() for one in seconds])

    def slices_with_windows(self, number, thread, flows):
        tenant = self.crew.tenants[number]
        first_tick = self.crew.streams.named("tick", thread.cpu).randrange(self.options.tick_ms * NS_PER_MS)
        moved = [moved_until(flows[direction]) for direction in self.crew.directions]
        of_direction = [
            [slice for run in thread.runs for slice in ticked(until, run, self.options, first_tick)]
            for until in moved
        ]
        for pieces_of_slice in zip(*of_direction):
            start, end, _ = pieces_of_slice[0]
            weights = {
                WEIGHT_EVENTS[direction]: int(moved / LINE_BYTES * tenant.bias[direction])
                for direction, (_, _, moved) in zip(self.crew.directions, pieces_of_slice)
            }
            self.slices.append(
                Slice(number, thread.cpu, start, end, weights if self.options.weights else {})
            )

    def slice(self, number, cpu, start, end, moved):
        bias = self.crew.tenants[number].bias
        for begin in range(start, end, LONGEST_SLICE_NS):
            stop = min(end, begin + LONGEST_SLICE_NS)
            part = (stop - begin) / (end - start)
            weights = {
                WEIGHT_EVENTS[direction]: int(count / LINE_BYTES * bias[direction] * part)
                for direction, count in moved.items()
            }
            self.slices.append(Slice(number, cpu, begin, stop, weights if self.options.weights else {}))

    def read_counters(self):
        """Of each socket and window: (end, socket, start, readings)."""
        o = self.options
        per_window, lag = o.window_ns // BIN_NS, max(1, round(o.lag_ms * NS_PER_MS / BIN_NS))
        seen = [seen_later(bins.values(), lag) for bins in self.bins]
        noise = self.crew.streams.named("noise")
        turns = self.crew.streams.named("turns")
        for number in range(o.length_ns // o.window_ns):
            for socket in range(self.crew.sockets):
                first, counted = number * per_window, (0, per_window)
                if self.mode == "mux" and number % 2:
                    counted = self.turn(turns, per_window)
                readings = []
                for counter, (where, _) in enumerate(self.counters):
                    if where == socket:
                        bins = seen[counter][first + counted[0] : first + counted[1]]
                        value = sum(bins) * self.error(noise)
                        if counted[1] > counted[0]:
                            value += o.idle_bytes
                        running = (counted[1] - counted[0]) * BIN_NS
                        readings.append([counter, int(value), o.window_ns, running])
                yield (number + 1) * o.window_ns, socket, number * o.window_ns, readings

    def turn(self, rng, nr):
        """The bins of a window in which the counter had its turn; rarely none."""
        if rng.random() < 0.02:
            return 0, 0
        length = max(1, round(nr * rng.uniform(0.25, 0.75)))
        begin = rng.randint(0, nr - length)
        return begin, begin + length

    def error(self, rng):
        small, rare, large = rng.gauss(0, self.options.noise), rng.random(), rng.gauss(0, 1)
        return math.exp(large if self.mode == "spikes" and rare < 0.01 else small)

    def lose_slices(self):
        """Remove one in twenty; the losses are known for each tenth of a second."""
        rng, kept, lost = self.crew.streams.named("lost"), [], {}
        for one in self.slices:
            if rng.random() >= 0.05:
                kept.append(one)
                continue
            when = (one.end - 1) // (NS_PER_S // 10)
            start, count = lost.get(when, (one.start, 0))
            lost[when] = min(start, one.start), count + 1
        self.slices = kept
        return [(start, (when + 1) * (NS_PER_S // 10), count) for when, (start, count) in lost.items()]

    # --- files

    def header(self):
        shares = [self.crew.cpus_of(socket) for socket in range(self.crew.sockets)]
        return {
            "type": "header",
            "schema": "t410trace.trace/1",
            "platform": "t410",
            "host": "invented",
            "kernel": "none",
            "sockets": [
                {"id": socket, "cpus": f"{cpus.start}-{cpus.stop - 1}"}
                for socket, cpus in enumerate(shares)
            ],
            "counters": [
                {
                    "id": counter,
                    "name": self.name(counter),
                    "pmu": f"nvidia_ucf_pmu_{socket}",
                    "event": f"mem_bytes_{direction}",
                    "filters": {"src_loc_cpu": 1},
                    "socket": socket,
                    "unit": "bytes",
                    "source": "cpu",
                }
                for counter, (socket, direction) in enumerate(self.counters)
            ],
        }

    def events(self):
        """Lines of the trace by the time they would be written: first workloads, windows last."""
        short = self.mode == "burst"
        for number, tenant in enumerate(self.crew.tenants):
            began = tenant.threads[0].runs[0][0] if short and tenant.threads[0].runs else 0
            line = {
                "type": "workload",
                "id": number,
                "pid": tenant.pid,
                "start_ns": began + 1 + number,
                "comm": tenant.comm,
                "cgroup": f"/accuracy/{tenant.group}",
                "cgroup_id": 500 + self.group_number(tenant.group),
            }
            yield began, 0, json.dumps(line)
        for s in self.slices:
            # most of the lines: written by hand, json is slower
            weights = f',"weights":{json.dumps(s.weights)}' if s.weights else ""
            yield s.end, 1, (
                f'{{"type":"slice","workload":{s.tenant},"cpu":{s.cpu},'
                f'"start_ns":{s.start},"end_ns":{s.end}{weights}}}'
            )
        for start, end, count in self.losses:
            line = {"type": "lost", "what": "slices", "socket": 0, "start_ns": start, "end_ns": end}
            yield end, 2, json.dumps({**line, "count": count})
        for end, socket, start, readings in self.windows:
            line = {"type": "window", "socket": socket, "start_ns": start, "end_ns": end}
            yield end, 3, json.dumps({**line, "values": readings})

    def group_number(self, group):
        return int("".join(c for c in group if c.isdigit()))

    def write_trace(self, path):
        lines = sorted(self.events(), key=lambda line: line[:2])
        end = {"type": "end", "time_ns": self.options.length_ns}
        with open(path, "w", encoding="ascii") as out:
            print(json.dumps(self.header()), *(line[2] for line in lines), json.dumps(end), sep="\n", file=out)

    def answers(self):
        """What a report is compared with."""
        counted = [0] * len(self.counters)
        for _, _, _, readings in self.windows:
            for counter, value, _, _ in readings:
                counted[counter] += value
        workloads = {}
        for tenant, by_counter in zip(self.crew.tenants, self.truth):
            workloads[str(tenant.pid)] = {
                "group": tenant.group,
                "bytes": {self.name(i): values for i, values in enumerate(by_counter) if any(values)},
            }
        return {
            "mode": self.mode,
            "options": dataclasses.asdict(self.options),
            # with turns, a report's totals are estimates
            "exact": self.mode != "mux",
            "counted": {self.name(i): total for i, total in enumerate(counted)},
            "workloads": workloads,
            "twins": self.crew.twins,
        }

    def write_truth(self, path):
        with open(path, "w", encoding="ascii") as out:
            json.dump(self.answers(), out)


def make(mode, options, trace, truth):
    """Write both files."""
    scenario = Scenario(mode, options)
    scenario.write_trace(trace)
    scenario.write_truth(truth)


def main():
    if len(sys.argv) < 4:
        print(__doc__.strip(), file=sys.stderr)
        print("\nOptions:", Options.__doc__.split("\n\n", 1)[1].rstrip(), sep="\n", file=sys.stderr)
        return 2
    try:
        make(sys.argv[1], Options.parse(sys.argv[4:], sys.argv[1]), sys.argv[2], sys.argv[3])
    except ValueError as error:
        print(f"scenario: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
