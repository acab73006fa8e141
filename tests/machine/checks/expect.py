#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a check does in the guest, and what it expects to read there.

A Step is one call of "count" with its events; each event comes with what is expected
of it: rate(), total(), exactly(), runs(), refused() or no_value(). From the same table come the
guest's script and the judgement, so they cannot disagree.
"""
import json
import re
import shlex
from dataclasses import dataclass

RATE_TOLERANCE = 0.005
CMEM_REQUEST_BYTES = 32     # the memory controller's, whatever the source's is
DEFAULT_REQUEST_BYTES = 32

RESULT = re.compile(r"(\S+) value (\d+) enabled_ns (\d+) running_ns (\d+)$")


@dataclass
class Result:
    """One line of output of "count"."""
    line: str
    spec: str = ""
    value: int = 0
    enabled: int = 0
    running: int = 0

    @classmethod
    def parse(cls, line):
        m = RESULT.match(line)
        if not m:
            return cls(line, line.split(" ")[0] if line else "")
        return cls(line, m[1], *(int(x) for x in m.groups()[1:]))

    @property
    def share(self):
        return self.running / self.enabled if self.enabled else 0.0


@dataclass
class Step:
    name: str
    mode: str               # of "count", with options before and seconds behind it
    events: list            # (event, expectation)
    load: str = ""          # around: shell commands that make the traffic
    before: str = ""        # shell commands first
    after: str = ""

    def script(self):
        count = self.mode + "".join(" " + shlex.quote(spec) for spec, _ in self.events)
        if self.load:
            count += " -- sh -c " + shlex.quote(self.load)
        lines = [f"echo '## {self.name}'", self.before, "count " + count, self.after]
        return "".join(x + "\n" for x in lines if x)


def flow_slots(scenario):
    """Slots of a scenario file: number -> (kind, bytes per request, latency in cycles)."""
    slots = {}
    with open(scenario) as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) > 3 and words[0] == "slot":
                keys = dict(x.split("=", 1) for x in words[4:] if "=" in x)
                slots[int(words[1])] = (words[3], int(keys.get("req", DEFAULT_REQUEST_BYTES)),
                                        int(keys.get("latency", 0)))
    return slots


class Ledger:
    """Bytes that programs say they have sent to each slot: in this step, and before."""

    def __init__(self, slots):
        self.slots, self.before, self.now = slots, {}, {}

    def add_step(self, text):
        self.before = dict(self.now)
        reports = [json.loads(x) for x in text.splitlines()]
        for report in reports:
            self.now[report["slot"]] = self.now.get(report["slot"], 0) + report["bytes"]
        return reports

    def gained(self, slot, what, request=None):
        """Requests follow from the running total: what is left of one counts later."""
        old, new = self.before.get(slot, 0), self.now.get(slot, 0)
        _, own_request, latency = self.slots[slot]
        size = {"bytes": 1, "beats": 32, "lines": 64}.get(what, request or own_request)
        return (new // size - old // size) * (latency if what == "outstanding" else 1)


class Estimate(str):
    """What is wrong depends on how busy the host is: an emulated CPU may have to wait for a real one
    between a counter and the clock. Such a check has to be right in one of some boots."""


# --- expectations: functions of (result, ledger) that return what is wrong, or None

def all_the_time(result):
    if not result.enabled:
        return f"not counted: {result.line!r}"
    return None if result.running == result.enabled else f"ran {result.share:.3f} of the time"


def rate(per_second, tolerance=RATE_TOLERANCE):
    def judge(result, _):
        wrong = all_the_time(result)
        if wrong:
            return wrong
        got = result.value * 1e9 / result.enabled
        if abs(got - per_second) <= tolerance * per_second:
            return None
        # nothing is nothing, however long it takes
        return (Estimate if per_second and got else str)(f"{got:.0f}/s, not {per_second:.0f}/s")
    return judge


def total(what, *slots):
    """Exactly what the programs sent to these slots; none: nothing at all."""
    def judge(result, ledger):
        request = CMEM_REQUEST_BYTES if "cmem_latency" in result.spec else None
        want = sum(ledger.gained(n, what, request) for n in slots)
        if slots and not want:
            return f"no traffic on slots {slots}"
        return all_the_time(result) or (None if result.value == want else f"{result.value}, not {want}")
    return judge


def exactly(value):
    """Whatever it was that caused it."""
    def judge(result, _):
        return all_the_time(result) or (None if result.value == value else f"{result.value}, not {value}")
    return judge


def runs(low, high):
    def judge(result, _):
        if not result.enabled:
            return f"not counted: {result.line!r}"
        if low <= result.share <= high:
            return None
        return (Estimate if low < high else str)(f"ran {result.share:.3f} of the time, not {low} to {high}")
    return judge


def refused(errno):
    def judge(result, _):
        return None if f" refused {errno} " in result.line else f"not refused with {errno}: {result.line!r}"
    return judge


def no_value():
    def judge(result, _):
        return None if result.line.endswith(" no value") else f"has a value: {result.line!r}"
    return judge


def judge_step(step, lines, ledger):
    """All that is wrong, as text."""
    # refused events come first: opening is over when measuring begins
    results = {}
    for line in lines:
        r = Result.parse(line)
        results.setdefault(r.spec, []).append(r)
    wrong = []
    for spec, expectation in step.events:
        found = results.get(spec)
        if not found:
            wrong.append(f"{spec}: no result")
            continue
        problem = expectation(found.pop(0), ledger)
        if problem:
            wrong.append(type(problem)(f"{spec}: {problem}"))
    return wrong
