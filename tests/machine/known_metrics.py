# SPDX-License-Identifier: GPL-2.0-only
"""Metrics by hand: what each must be when the events of its PMU have these rates.

Written down a second time on purpose. For the T410 from the formulas of the kernel's
nvidia-tegra410-pmu.rst, for Grace from its tuning guide: data of reads and write-backs come in
beats of 32 bytes, utilisation is of 8 requests a cycle to CPU memory, 4 to a GPU's, 2 to another
socket, one for each port of PCIe and C2C. CNVLink is in no guide: what its events count.
"""

from known import place_of, terms_of

BEAT = 32


def gb_per_s(*bytes_of):
    """Of events in bytes, or (event, bytes each)."""
    parts = [part if isinstance(part, tuple) else (part, 1) for part in bytes_of]
    return lambda rate: sum(rate(event) * size for event, size in parts) / 1e9


def per_cycle(*events):
    return lambda rate: sum(rate(event) for event in events) / rate("cycles")


def wait_cycles(outstanding, requests):
    return lambda rate: rate(outstanding) / rate(requests)


def wait_ns(outstanding, requests):
    return lambda rate: rate(outstanding) / rate(requests) / (rate("cycles") / 1e9)


def ratio(part, whole):
    return lambda rate: rate(part) / rate(whole)


def ghz(rate):
    return rate("cycles") / 1e9


def percent(peak, *events):
    """Of the most requests that could come in a cycle."""
    return lambda rate: 100 * sum(rate(event) for event in events) / (peak * rate("cycles"))


def waits(name, outstanding, requests):
    return {f"{name}_cycles": wait_cycles(outstanding, requests), name: wait_ns(outstanding, requests)}


def transfers():
    """PMUs that count bytes and requests in both directions."""
    return {
        "read_bandwidth": gb_per_s("rd_bytes"),
        "write_bandwidth": gb_per_s("wr_bytes"),
        "read_request_rate": per_cycle("rd_req"),
        "write_request_rate": per_cycle("wr_req"),
        "frequency": ghz,
    }


READS_OF_BOTH = {
    "local_read_latency": wait_ns("rd_cum_outs_loc", "rd_req_loc"),
    "remote_read_latency": wait_ns("rd_cum_outs_rem", "rd_req_rem"),
}


def root_ports(nr_ports):
    """Grace's PCIe, which can take a request for each port in a cycle."""
    reads, writes = ("rd_bytes_loc", "rd_bytes_rem"), ("wr_bytes_loc", "wr_bytes_rem")
    return {
        "read_bandwidth": gb_per_s(*reads),
        "write_bandwidth": gb_per_s(*writes),
        "bidirectional_bandwidth": gb_per_s(*reads, *writes),
        "read_utilization": percent(nr_ports, "rd_req_loc", "rd_req_rem"),
        "write_utilization": percent(nr_ports, "wr_req_loc", "wr_req_rem"),
        "frequency": ghz,
        **READS_OF_BOTH,
    }


# Grace's links to chips; all ten ports of a GPU
CHIP_LINK = {
    "read_bandwidth": gb_per_s("rd_bytes_loc"),
    "write_bandwidth": gb_per_s("wr_bytes_loc"),
    "bidirectional_bandwidth": gb_per_s("rd_bytes_loc", "wr_bytes_loc"),
    "read_utilization": percent(10, "rd_req_loc"),
    "write_utilization": percent(10, "wr_req_loc"),
    "read_latency": wait_ns("rd_cum_outs_loc", "rd_req_loc"),
    "frequency": ghz,
}
READS = waits("in_rd_latency", "in_rd_cum_outs", "in_rd_req")
READS_OUT = waits("out_rd_latency", "out_rd_cum_outs", "out_rd_req")
WRITES = {
    **waits("in_wr_latency", "in_wr_cum_outs", "in_wr_req"),
    **waits("out_wr_latency", "out_wr_cum_outs", "out_wr_req"),
}
ROOT_PORTS = 10

# By kind of PMU, as in known.py; the first word of the names, then the rest
METRICS = {
    "ucf": (
        "t410.ucf",
        {
            "slc_read_bandwidth": gb_per_s("slc_bytes_rd"),
            "slc_write_bandwidth": gb_per_s("slc_bytes_wr"),
            "mem_read_bandwidth": gb_per_s("mem_bytes_rd"),
            "mem_write_bandwidth": gb_per_s("mem_bytes_wr"),
            "slc_read_request_rate": per_cycle("slc_access_rd"),
            "slc_write_request_rate": per_cycle("slc_access_wr"),
            "mem_read_request_rate": per_cycle("mem_access_rd"),
            "mem_write_request_rate": per_cycle("mem_access_wr"),
            "slc_read_hit_ratio": ratio("slc_hit_rd", "slc_access_rd"),
            "frequency": ghz,
        },
    ),
    "pcie": ("t410.pcie", {**transfers(), **waits("read_latency", "rd_cum_outs", "rd_req")}),
    "tgt": ("t410.pcie_tgt", transfers()),
    "cmem": (
        "t410.cmem",
        {
            "read_bandwidth": gb_per_s(("rd_req", 32)),
            "reads_in_flight": ratio("rd_cum_outs", "cycles"),
            "frequency": ghz,
            **waits("read_latency", "rd_cum_outs", "rd_req"),
        },
    ),
    "nvlink": ("t410.nvlink_c2c", {"frequency": ghz, **READS, **READS_OUT, **WRITES}),
    "nvclink": ("t410.nvclink", {"frequency": ghz, **READS, **READS_OUT}),
    "nvdlink": ("t410.nvdlink", {"frequency": ghz, **READS}),
    "scf": (
        "grace.scf",
        {
            "frequency": ghz,
            "cmem_read_bandwidth": gb_per_s(("cmem_rd_data", BEAT)),
            "cmem_write_bandwidth": gb_per_s("cmem_wr_total_bytes"),
            "gmem_read_bandwidth": gb_per_s(("gmem_rd_data", BEAT)),
            "gmem_write_bandwidth": gb_per_s("gmem_wr_total_bytes"),
            "remote_read_bandwidth": gb_per_s(("remote_socket_rd_data", BEAT)),
            "remote_write_bandwidth": gb_per_s("remote_socket_wr_total_bytes"),
            "cmem_read_utilization": percent(8, "cmem_rd_access"),
            "cmem_write_utilization": percent(8, "cmem_wb_access", "cmem_wr_access"),
            "gmem_read_utilization": percent(4, "gmem_rd_access"),
            "gmem_write_utilization": percent(4, "gmem_wb_access", "gmem_wr_access"),
            "cmem_read_latency": wait_ns("cmem_rd_outstanding", "cmem_rd_access"),
            "gmem_read_latency": wait_ns("gmem_rd_outstanding", "gmem_rd_access"),
            "remote_read_latency_all": wait_ns("remote_socket_rd_outstanding", "remote_socket_rd_access"),
        },
    ),
    "gpcie": ("grace.pcie", root_ports(ROOT_PORTS)),
    "c2c0": ("grace.nvlink_c2c0", CHIP_LINK),
    "c2c1": ("grace.nvlink_c2c1", CHIP_LINK),
    "cnvlink": (
        "grace.cnvlink",
        {
            "read_bandwidth": gb_per_s("rd_bytes_loc", "rd_bytes_rem"),
            "write_bandwidth": gb_per_s("wr_bytes_loc", "wr_bytes_rem"),
            "frequency": ghz,
            **READS_OF_BOTH,
        },
    ),
}


def to_socket(socket, other):
    """Grace: what the CPUs of a socket have to do with another one."""
    event, pair = f"socket_{other}", f"s{socket}_to_s{other}"
    return {
        f"remote_read_utilization_{pair}": percent(2, f"{event}_rd_access"),
        f"remote_write_utilization_{pair}": percent(2, f"{event}_wb_access", f"{event}_wr_access"),
        f"remote_read_latency_{pair}": wait_ns(f"{event}_rd_outstanding", f"{event}_rd_access"),
    }


def metrics_of(pmu, filters=""):
    """All metrics of a PMU: name and function of the rates. There are two sockets."""
    kind, socket, _ = place_of(pmu)
    prefix, rows = METRICS[kind]
    if kind == "scf":
        rows = {**rows, **to_socket(socket, 1 - socket)}
    if kind == "gpcie" and "root_port" in terms_of(filters):
        rows = root_ports(bin(terms_of(filters)["root_port"]).count("1"))
    return {f"{prefix}.{name}": compute for name, compute in rows.items()}


def expected(known, pmu, filters="", shown=None):
    """Every metric of a PMU by name; None: nothing happened, so it has no value. @shown: only
    those whose events all are in it, for a peer that hides some."""
    values = {}
    for name, compute in metrics_of(pmu, filters).items():
        asked = []

        def rate(event):
            asked.append(event)
            return known.rate(pmu, event, filters)

        try:
            value = compute(rate)
        except ZeroDivisionError:
            value = None
        if shown is None or set(asked) <= set(shown):
            values[name] = value
    return values
