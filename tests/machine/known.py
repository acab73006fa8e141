# SPDX-License-Identifier: GPL-2.0-only
"""What counters must show of a traffic file whose lines name all events: computed here
from the file, without a table of t410trace's.
"""

import re

UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}
BEAT, LINE = 32, 64
# Kind of traffic, and PMUs that see it: their socket, and their root complex if they have one
PMUS = (
    ("ucf", r"nvidia_ucf_pmu_(\d+)"),
    ("pcie", r"nvidia_pcie_pmu_(\d+)_rc_(\d+)"),
    ("tgt", r"nvidia_pcie_tgt_pmu_(\d+)_rc_(\d+)"),
    ("cmem", r"nvidia_cmem_latency_pmu_(\d+)"),
    ("nvlink", r"nvidia_nvlink_c2c_pmu_(\d+)"),
    ("nvclink", r"nvidia_nvclink_pmu_(\d+)"),
    ("nvdlink", r"nvidia_nvdlink_pmu_(\d+)"),
    ("scf", r"nvidia_scf_pmu_(\d+)"),
    ("gpcie", r"nvidia_pcie_pmu_(\d+)"),
    ("c2c0", r"nvidia_nvlink_c2c0_pmu_(\d+)"),
    ("c2c1", r"nvidia_nvlink_c2c1_pmu_(\d+)"),
    ("cnvlink", r"nvidia_cnvlink_pmu_(\d+)"),
)
# Filters that are switched on one by one; of a group of them one must fit
SOURCES = {"src_loc_cpu": "cpu", "src_loc_noncpu": "noncpu", "src_rem": "rem"}
DESTINATIONS = {
    "dst_loc_cmem": "cmem",
    "dst_loc_gmem": "gmem",
    "dst_loc_other": "other",
    "dst_loc_pcie_p2p": "p2p",
    "dst_loc_pcie_cxl": "cxl",
    "dst_rem": "rem",
}
MASKS = ("src_rp_mask", "dst_rp_mask", "gpu_mask", "root_port", "port", "rem_socket")
CYCLES = ("cycles", "bus_cycles")


def number(text):
    unit = UNITS.get(text[-1])
    return int(text[:-1], 0) * unit if unit else int(text, 0)


def place_of(pmu):
    """Kind, socket and root complex (None: it has none) of a PMU."""
    for kind, pattern in PMUS:
        match = re.fullmatch(pattern, pmu)
        if match:
            rc = int(match[2]) if match.re.groups == 2 else None
            return kind, int(match[1]), rc
    raise ValueError(f"unknown PMU {pmu}")


def terms_of(filters):
    """ "a=1,b=0x2" as a dictionary; a name alone is switched on."""
    pairs = (term.split("=") for term in filters.split(",") if term)
    return {pair[0]: int(pair[1], 0) if len(pair) > 1 else 1 for pair in pairs}


def bdf_number(text):
    bus, device, function = re.fullmatch(r"(..):(..)\.(.)", text).groups()
    return int(bus, 16) << 8 | int(device, 16) << 3 | int(function)


class Flow:
    """A line of the file. Amounts: by event, a rate, or a unit of the slot's bytes."""

    def __init__(self, slot, kind, words):
        self.slot, self.kind = slot, kind
        self.keys = dict(word.split("=") for word in words if "=" in word)
        self.amounts = dict(word.split(":") for word in words if ":" in word and "=" not in word)
        self.socket = int(self.keys["socket"])
        self.rc = int(self.keys["rc"]) if "rc" in self.keys else None
        self.port = int(self.keys.get("rp") or self.keys.get("port") or self.keys.get("peer") or 0)

    def passes(self, terms):
        """Do filters let it through? What they leave out is open."""
        for names, value in ((SOURCES, self.keys.get("src")), (DESTINATIONS, self.keys.get("dst"))):
            chosen = {names[term] for term in names if terms.get(term)}
            if chosen and value not in chosen:
                return False
        for mask in MASKS:
            if mask in terms and not terms[mask] >> self.port & 1:
                return False
        if terms.get("src_bdf_en") and bdf_number(self.keys["bdf"]) != terms["src_bdf"]:
            return False
        if self.kind == "tgt":
            return self.hits_target(terms)
        return True

    def hits_target(self, terms):
        """Ports see the BARs of devices only, windows all."""
        if not terms.get("dst_addr_en"):
            return self.keys["dst"] == "bar"
        mask = terms["dst_addr_mask"]
        return int(self.keys["addr"], 0) & mask == terms["dst_addr_base"] & mask

    def amount(self, event, sent):
        """A rate per second, or what @sent bytes of the slot amount to."""
        text = self.amounts.get(event)
        if text is None:
            return 0
        if self.slot is None:
            return number(text)
        if self.kind == "ucf" and event.startswith("mem_"):
            sent -= sent * int(self.keys.get("slc_hit", 0)) // 100
        requests = sent // int(self.keys.get("req", 32))
        return {
            "bytes": sent,
            "requests": requests,
            "outstanding": requests * int(self.keys.get("latency", 0)),
            "beats": sent // BEAT,
            "lines": sent // LINE,
        }[text]


class Known:
    """A traffic file."""

    def __init__(self, path):
        self.flows, self.clocks = [], {}
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "clock":
                self.clocks[words[1]] = number(words[2])
            elif words[0] == "slot":
                self.flows.append(Flow(int(words[1]), words[3], words[4:]))
            elif words[0] == "flow":
                self.flows.append(Flow(None, words[2], words[3:]))
            # What disks move is no program's word, but QEMU's.

    def only_port(self, kind, port):
        """The other ports of these PMUs are not connected."""
        self.flows = [flow for flow in self.flows if flow.kind != kind or flow.port == port]

    def seen(self, pmu, filters=""):
        """Flows that a PMU with these filters sees."""
        kind, socket, rc = place_of(pmu)
        terms = terms_of(filters)
        return [
            flow
            for flow in self.flows
            if (flow.kind, flow.socket, flow.rc) == (kind, socket, rc) and flow.passes(terms)
        ]

    def rate(self, pmu, event, filters=""):
        """Of constant traffic, per second."""
        if event in CYCLES:
            return self.clocks[place_of(pmu)[0]]
        return sum(flow.amount(event, 0) for flow in self.seen(pmu, filters) if flow.slot is None)

    def count(self, pmu, event, sent, filters=""):
        """Of finite traffic: @sent has the bytes by slot."""
        return sum(flow.amount(event, sent.get(flow.slot, 0)) for flow in self.seen(pmu, filters))
