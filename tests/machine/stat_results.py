# SPDX-License-Identifier: GPL-2.0-only
"""Reports of "t410trace stat", as the scenarios of guest_stat.sh leave them."""

import json
import re

from results import Failure, expect


class StatRun:
    """The reports of one run."""

    def __init__(self, scenario, name):
        text = scenario.text(f"{name}.json")
        try:
            everything = [json.loads(line) for line in text.splitlines()]
        except ValueError as error:
            raise Failure(f"{name}.json: {error}") from error
        self.name = name
        self.each = [report for report in everything if not report.get("summary")]
        summaries = [report for report in everything if report.get("summary")]
        expect(everything, f"{name}: no report")
        # A single report is the summary of itself
        self.whole = summaries[0] if summaries else everything[-1]
        expect(summaries or len(everything) == 1, f"{name}: {len(everything)} reports and no summary")

    def pmus(self):
        return [pmu["name"] for pmu in self.whole["pmus"]]

    def cost(self, name):
        """Of reading a PMU."""
        return next(cost for cost in self.whole["self"]["pmus"] if cost["pmu"] == name)

    def dear_costs(self):
        """Of the PMUs whose readings take many device reads."""
        return [self.cost(pmu["name"]) for pmu in self.whole["pmus"] if pmu["dear"]]

    def counts(self):
        """Those that the user named, by the name he wrote."""
        return {count["name"]: count for count in self.whole["counters"] if count["asked"]}

    def count(self, name):
        counts = self.counts()
        expect(name in counts, f"{self.name}: no counter {name}, but {sorted(counts)[:5]}")
        return counts[name]

    def values(self, pmu=None):
        return [v for v in self.whole["metrics"] if pmu in (None, v["pmu"])]


def perf_counts(text, name):
    """What perf counted, by event; all of the time, or it says nothing."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"([^,]*),[^,]*,(nvidia_[^/]+/[^/]*/),\d+,([\d.]+),.*", line)
        if match:
            expect(match[1].isdigit(), f"{name}: perf has no count of {match[2]}: {match[1]}")
            expect(float(match[3]) == 100, f"{name}: perf counted {match[2]} {match[3]}% of the time")
            found[match[2]] = int(match[1])
    expect(found, f"{name}: perf counted nothing")
    return found
