# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario left behind: reports of t410trace and the truth about the traffic."""

import json
import re

# Exit status of a run that lost something
INCOMPLETE = 3
# Counters of what the T410's CPUs read and write in their socket's memory
READ0, WRITE0, READ1, WRITE1 = (
    f"ucf{socket}/mem_bytes_{direction}/src_loc_cpu=1" for socket in (0, 1) for direction in ("rd", "wr")
)


class Failure(Exception):
    """A test failed; the text says why."""


class Exact(Failure):
    """Wrong however busy the host is: no other try is made."""


class Lost(Failure):
    """A run says that it lost something, as a busy host may make it: the scenario is run again, whatever
    the test is. The clock of further runs counts instructions, and nothing may be lost by it."""


def tests_into(tests):
    """The decorator @test("SCENARIO"...), which makes a function a test of these scenarios: @tests
    has the functions by scenario. The function's name is the test's."""

    def test(*scenarios):
        def add(function):
            for scenario in scenarios:
                tests.setdefault(scenario, []).append(function)
            return function

        return add

    return test


def estimate(function):
    """Mark a test whose judgement depends on how busy the host is: windows become longer and
    programs run at other times than they would like. When it fails, its scenario is run a
    second time. An Exact failure in it counts all the same."""
    function.estimate = True
    return function


def require(condition, why):
    if not condition:
        raise Exact(why)


def expect(condition, why):
    if not condition:
        raise Failure(why)


def expect_equal(found, wanted, what):
    require(found == wanted, f"{what} is {found!r}, expected {wanted!r}")


def expect_share(part, whole, least, what):
    """Part must be at least this fraction of whole, and not more than all of it."""
    expect(whole > 0, f"{what}: there was no traffic")
    expect(
        least * whole <= part <= whole,
        f"{what}: {part} of {whole} ({part / whole:.4f}), expected {least} to 1",
    )


def expect_close(found, wanted, tolerance, what):
    """Within this fraction of what is wanted."""
    expect(
        abs(found - wanted) <= tolerance * wanted,
        f"{what}: {found}, expected {wanted} within {tolerance}",
    )


def inside(share, truth, what, slack=0.0):
    """@slack: part of the truth, for what an emulated CPU adds to a short run."""
    expect(
        share["low"] - slack * truth <= truth <= share["high"] + slack * truth,
        f"{what}: {truth} is not within {share['low']} to {share['high']}",
    )


def by_pid(pid):
    return lambda row: row["pid"] == pid


class Wiring:
    """Which counter shows the traffic of a slot, from the traffic file."""

    SOURCES = {"cpu": "src_loc_cpu", "noncpu": "src_loc_noncpu", "rem": "src_rem"}
    # Memory controllers of other makers
    MEMORY = {
        "mcu": {"rd": "rd_rda_sent", "wr": "wr_wra_sent"},
        "ddrc": {"rd": "flux_rd", "wr": "flux_wr"},
        "cmn": {"rd": "hnf_mc_reqs", "wr": "hnf_mc_reqs"},
        # in no report, for perf: what devices and a bridge moved
        "rnd": {"rd": "rnid_rxdat_flits", "wr": "rnid_txdat_flits"},
        "sbsx": {"rd": "sbsx_txdat_flitv"},
        "rootport": {"rd": "tx_pcie_tlp_data_payload", "wr": "rx_pcie_tlp_data_payload"},
    }
    # QEMU's table of processors does not number sockets. Linux takes the offset of their entry, as it
    # does on real servers whose firmware leaves the numbers out.
    PACKAGES = (36, 116)
    UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}

    def __init__(self, path):
        self.slots = {}
        self.flows = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            if words and words[0] == "slot" and words[3] != "esp":
                name = self.counter(words[3], words[4:])
                # Another flow of a slot may reach no counter of a report.
                self.slots[int(words[1])] = name or self.slots[int(words[1])]
            elif words and words[0] == "flow" and words[2] != "esp":
                rate = dict(word.split("=") for word in words[3:])["rate"]
                self.flows[self.counter(words[2], words[3:])] = self.number(rate)

    def counter(self, kind, words):
        keys = dict(word.split("=") for word in words)
        if kind == "scf":
            return self.scf_counter(keys)
        kind = {"hnf": "cmn"}.get(kind, kind)
        if kind in self.MEMORY:
            return f"{kind}{self.PACKAGES[int(keys['socket'])]}/{self.MEMORY[kind][keys['dir']]}"
        if kind == "ucf":
            source = self.SOURCES[keys["src"]]
        elif kind == "pcie" and keys.get("ucf") == "1":
            source = self.SOURCES["noncpu"]
        else:
            raise ValueError(f"traffic of kind {kind} reaches no counter of a report")
        return f"ucf{keys['socket']}/mem_bytes_{keys['dir']}/{source}=1"

    def scf_counter(self, keys):
        """Own memory by way of writing; elsewhere all writes are one counter."""
        data = "rd_data" if keys["dir"] == "rd" else "wr_total_bytes"
        if keys["dst"] == "cmem":
            return None
        if keys["dst"] == "gmem":
            event = f"gmem_{data}"
        elif keys["dst"] == f"s{keys['socket']}":
            event = f"socket_{keys['socket']}_{keys['dir']}_data"
        else:
            event = f"remote_socket_{data}"
        return f"scf{keys['socket']}/{event}"

    def number(self, text):
        unit = self.UNITS.get(text[-1])
        return int(text[:-1]) * unit if unit else int(text)


class Reports:
    """The reports of one run, without its summary, which repeats them; or only summaries."""

    def __init__(self, path, of_summaries=False):
        try:
            everything = [json.loads(line) for line in path.read_text().splitlines()]
        except (OSError, ValueError) as error:
            raise Exact(f"{path.name}: {error}") from error
        self.name = path.name
        self.each = [report for report in everything if bool(report.get("summary")) == of_summaries]
        self.summaries = [report for report in everything if report.get("summary")]
        require(self.each, f"{path.name}: no report")

    def counters(self):
        """Total of each counter; one without data would make it meaningless."""
        totals = {}
        for report in self.each:
            for counter in report["counters"]:
                name = counter["name"]
                require(counter["valid"], f"{self.name}: {name} has no data")
                totals[name] = totals.get(name, 0) + counter["value"]
        return totals

    def counter(self, name):
        return self.counters()[name]

    def counted(self, name):
        """Of a counter, in the reports that have it: an interval in which nobody read it has none, and what
        it counted is in the next."""
        return sum(c["value"] for r in self.each for c in r["counters"] if c["name"] == name and c["valid"])

    def counter_field(self, name, field):
        return [c[field] for r in self.each for c in r["counters"] if c["name"] == name]

    def value_before(self, name, end_ns):
        """Of a counter, in the last report that ended before then."""
        last = [report for report in self.each if report["interval"]["end_ns"] < end_ns][-1]
        return next(c["value"] for c in last["counters"] if c["name"] == name)

    def rows(self, matches):
        return [row for report in self.each for row in report["workloads"] if matches(row)]

    def share(self, counter, matches):
        """Sums of value, low and high of the rows that match."""
        sums = {"value": 0, "low": 0, "high": 0}
        for row in self.rows(matches):
            for share in row["shares"]:
                if share["counter"] == counter:
                    for key in sums:
                        sums[key] += share[key]
        return sums

    def on_cpu(self, matches):
        return sum(row["on_cpu_ns"] for row in self.rows(matches))

    def on_socket(self, socket):
        """CPU time of its CPUs, whatever they did."""
        times = ("busy_ns", "idle_ns", "lost_ns")
        return sum(s[t] for r in self.each for s in r["sockets"] for t in times if s["id"] == socket)

    def unattributed(self, counter):
        """Bytes by reason."""
        reasons = {}
        for report in self.each:
            for entry in report["unattributed"]:
                if entry["counter"] == counter:
                    reasons[entry["reason"]] = reasons.get(entry["reason"], 0) + entry["value"]
        return reasons

    def quality(self, key):
        return sum(report["quality"][key] for report in self.each)

    def lost(self):
        """Everything that was lost in any report."""
        found = {}
        for report in self.each:
            for what, count in report["quality"]["lost"].items():
                if count:
                    found[what] = found.get(what, 0) + count
        return found

    def expect_nothing_lost(self):
        if self.lost():
            raise Lost(f"{self.name}: lost {self.lost()}")


class Truth:
    """What the traffic programs say they did, one line per thread."""

    def __init__(self, path, wiring):
        try:
            self.lines = [json.loads(line) for line in path.read_text().splitlines()]
        except (OSError, ValueError) as error:
            raise Exact(f"{path.name}: {error}") from error
        require(self.lines, f"{path.name}: no traffic program ended")
        self.wiring = wiring

    def counters(self):
        totals = {}
        for line in self.lines:
            name = self.wiring.slots[line["slot"]]
            totals[name] = totals.get(name, 0) + line["bytes"]
        return totals

    def counter(self, name):
        return self.counters().get(name, 0)

    def named(self, name):
        lines = [line for line in self.lines if line["name"] == name]
        require(lines, f"no traffic program {name} ended")
        return lines

    def bytes(self, name):
        return sum(line["bytes"] for line in self.named(name))


class Scenario:
    """The folder of one scenario."""

    def __init__(self, folder, wiring):
        self.folder = folder
        self.wiring = wiring
        require((folder / "done").exists(), "the guest did not get through this scenario")

    def reports(self, name):
        return Reports(self.folder / f"{name}.json")

    def truth(self, name="truth"):
        return Truth(self.folder / name, self.wiring)

    def text(self, name):
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise Exact(f"{name}: {error.strerror}") from error

    def words(self, name):
        """Messages are broken into lines; their words are compared."""
        return " ".join(self.text(name).split())

    def number(self, name):
        return int(self.text(name))

    def status(self, name):
        return self.number(f"{name}.status")

    def expect_complete(self, name="all"):
        """The run lost nothing, as its status says."""
        status = self.status(name)
        require(status in (0, INCOMPLETE), f"{name}: exit status {status}")
        if status == 0:
            return
        try:
            reports = self.reports(name)
            unread = sorted({c["name"] for r in reports.each for c in r["counters"] if not c["valid"]})
            lost = {**reports.lost(), "uncounted_ns": reports.quality("uncounted_ns")}
            raise Lost(f"{name}: data is missing: lost {lost}, no reading of {unread}")
        except (Exact, KeyError) as error:
            # another kind of report, or none
            raise Lost(f"{name}: data is missing") from error

    def perf(self):
        """What perf counted, by event: the count and the percentage of time it ran."""
        found = {}
        for line in self.text("perf.csv").splitlines():
            match = re.fullmatch(r"(\d+),,((?:nvidia|ampere|hisi|arm_cmn|dwc)_.*/.*),\d+,([\d.]+),,", line)
            if match:
                found[match[2]] = (int(match[1]), float(match[3]))
        require(found, "perf counted nothing")
        return found
