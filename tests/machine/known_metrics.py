# SPDX-License-Identifier: GPL-2.0-only
"""Metrics by hand: what each must be when the events of its PMU have these rates.

Written down a second time on purpose. For the T410 from the formulas of the kernel's
nvidia-tegra410-pmu.rst; for Grace from what its events count: data of reads and write-backs
in beats of 32 bytes, accesses in requests, *_bytes in bytes, *outs* in requests times cycles.
"""

from known import place_of

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


def waits(name, outstanding, requests):
    return {f"{name}_cycles": wait_cycles(outstanding, requests), f"{name}_ns": wait_ns(outstanding, requests)}


def transfers():
    """PMUs that count bytes and requests in both directions."""
    return {
        "read_bandwidth": gb_per_s("rd_bytes"),
        "write_bandwidth": gb_per_s("wr_bytes"),
        "read_request_rate": per_cycle("rd_req"),
        "write_request_rate": per_cycle("wr_req"),
        "frequency": ghz,
    }


def ports():
    """Grace's units at the edge: all they have, to local and to remote memory."""
    return {
        "local_read_bandwidth": gb_per_s("rd_bytes_loc"),
        "remote_read_bandwidth": gb_per_s("rd_bytes_rem"),
        "local_write_bandwidth": gb_per_s("wr_bytes_loc"),
        "remote_write_bandwidth": gb_per_s("wr_bytes_rem"),
        "read_bandwidth": gb_per_s("rd_bytes_loc", "rd_bytes_rem"),
        "write_bandwidth": gb_per_s("wr_bytes_loc", "wr_bytes_rem"),
        "read_request_rate": per_cycle("rd_req_loc", "rd_req_rem"),
        "write_request_rate": per_cycle("wr_req_loc", "wr_req_rem"),
        "local_read_latency_ns": wait_ns("rd_cum_outs_loc", "rd_req_loc"),
        "remote_read_latency_ns": wait_ns("rd_cum_outs_rem", "rd_req_rem"),
        "frequency": ghz,
    }


READS = waits("in_read_latency", "in_rd_cum_outs", "in_rd_req")
READS_OUT = waits("out_read_latency", "out_rd_cum_outs", "out_rd_req")
WRITES = {
    **waits("in_write_latency", "in_wr_cum_outs", "in_wr_req"),
    **waits("out_write_latency", "out_wr_cum_outs", "out_wr_req"),
}

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
        "t410.cmem_latency",
        {
            "read_bandwidth": gb_per_s(("rd_req", 32)),
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
            "local_read_bandwidth": gb_per_s(("cmem_rd_data", BEAT)),
            "local_write_bandwidth": gb_per_s("cmem_wr_total_bytes"),
            "local_read_request_rate": per_cycle("cmem_rd_access"),
            **waits("local_read_latency", "cmem_rd_outstanding", "cmem_rd_access"),
            "gpu_read_bandwidth": gb_per_s(("gmem_rd_data", BEAT)),
            "gpu_write_bandwidth": gb_per_s("gmem_wr_total_bytes"),
            "gpu_read_request_rate": per_cycle("gmem_rd_access"),
            "gpu_read_latency_ns": wait_ns("gmem_rd_outstanding", "gmem_rd_access"),
            "remote_read_bandwidth": gb_per_s(("remote_socket_rd_data", BEAT)),
            "remote_write_bandwidth": gb_per_s("remote_socket_wr_total_bytes"),
            "remote_read_request_rate": per_cycle("remote_socket_rd_access"),
            "remote_read_latency_ns": wait_ns("remote_socket_rd_outstanding", "remote_socket_rd_access"),
            "frequency": ghz,
        },
    ),
    "gpcie": ("grace.pcie", ports()),
    "c2c0": ("grace.nvlink_c2c0", ports()),
    "c2c1": ("grace.nvlink_c2c1", ports()),
    "cnvlink": ("grace.cnvlink", ports()),
}


def to_socket(other):
    """Grace: what the CPUs of a socket have to do with one other socket."""
    event = f"socket_{other}"
    return {
        "remote_read_bandwidth": gb_per_s((f"{event}_rd_data", BEAT)),
        "remote_write_bandwidth": gb_per_s((f"{event}_wb_data", BEAT), f"{event}_wr_data"),
        "remote_read_latency_ns": wait_ns(f"{event}_rd_outstanding", f"{event}_rd_access"),
    }


def metrics_of(pmu):
    """All metrics of a PMU: name and function of the rates."""
    kind, socket, _ = place_of(pmu)
    prefix, rows = METRICS[kind]
    found = {f"{prefix}.{name}": compute for name, compute in rows.items()}
    if kind == "scf":
        for other in (o for o in range(4) if o != socket):
            for name, compute in to_socket(other).items():
                found[f"{prefix}.{name}_s{socket}_to_s{other}"] = compute
    return found


def expected(known, pmu, filters="", shown=None):
    """Every metric of a PMU by name; None: nothing happened, so it has no value. @shown: only
    those whose events all are in it, for a peer that hides some."""
    values = {}
    for name, compute in metrics_of(pmu).items():
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
