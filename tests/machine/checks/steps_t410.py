#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Steps for the T410 shape. EXACT and HOTPLUG need traffic/default.conf, RATES and
CONFLICT checks/rates.conf."""
from expect import Step, exactly, no_value, rate, refused, runs, total

UCF, UCF1 = "nvidia_ucf_pmu_0/", "nvidia_ucf_pmu_1/"
PCIE, PCIE1_4 = "nvidia_pcie_pmu_0_rc_1/", "nvidia_pcie_pmu_1_rc_4/"
TGT = "nvidia_pcie_tgt_pmu_0_rc_1/"
CMEM, CMEM1 = "nvidia_cmem_latency_pmu_0/", "nvidia_cmem_latency_pmu_1/"
C2C, CLINK, DLINK = "nvidia_nvlink_c2c_pmu_0/", "nvidia_nvclink_pmu_0/", "nvidia_nvdlink_pmu_0/"
DLINK1 = "nvidia_nvdlink_pmu_1/"
NVME, NIC, GPU = (f",src_bdf=0x{n:x},src_bdf_en=1/" for n in (0xA100, 0xC100, 0x4100))
NOBODY = ",src_bdf=0xdead,src_bdf_en=1/"
CPU_ONLY, IO_ONLY, CPU_TO_CMEM = ",src_loc_cpu=1/", ",src_loc_noncpu=1/", ",src_loc_cpu=1,dst_loc_cmem=1/"
CXL_WINDOW = ",dst_addr_base=0x8000010000,dst_addr_mask=0xffffffff00000,dst_addr_en=1/"


def load(options, seconds=0.3):
    """One program; the step's report file is $TRUTH."""
    return f"traffic {options} --seconds {seconds} --report $TRUTH"


# --- finite traffic: what the programs sent is what is counted, to the byte
EXACT = [
    Step("ucf", "around", [
        (UCF + "mem_bytes_rd/", total("bytes", 0, 4, 5)), (UCF + "mem_access_rd/", total("requests", 0, 4, 5)),
        (UCF + "slc_bytes_rd/", total("bytes", 0, 4, 5)), (UCF + "mem_bytes_wr/", total("bytes", 1)),
        (UCF + "mem_bytes_rd" + CPU_TO_CMEM, total("bytes", 0)), (UCF + "mem_bytes_rd" + IO_ONLY, total("bytes")),
        (UCF + "mem_bytes_rd,dst_rem=1/", total("bytes", 4)), (UCF + "mem_bytes_rd,dst_loc_gmem=1/", total("bytes", 5)),
        (CMEM + "rd_req/", total("requests", 0)), (CMEM + "rd_cum_outs/", total("outstanding", 0)),
        (UCF1 + "mem_bytes_rd/", total("bytes"))],
        "; ".join([load("--slot 0 --rate 1234567"), load("--slot 1,4,5 --rate 7654321", 0.2)])),
    Step("pcie", "around", [
        (PCIE + "rd_bytes" + NVME, total("bytes", 8)), (PCIE + "rd_req" + NVME, total("requests", 8)),
        (PCIE + "wr_bytes" + NVME, total("bytes", 9)), (PCIE + "rd_cum_outs" + NVME, total("outstanding", 8)),
        (PCIE1_4 + "rd_bytes" + GPU, total("bytes", 12)), (UCF + "mem_bytes_rd" + IO_ONLY, total("bytes", 8, 10)),
        (UCF + "mem_bytes_rd" + CPU_ONLY, total("bytes")), (CMEM + "rd_req/", total("requests", 8, 10)),
        (CMEM1 + "rd_req/", total("requests", 12))],
        load("--slot 8,9,10,11,12 --per-iter 123457 --threads 2")),
    Step("pcie-ports", "around", [
        (PCIE + "rd_bytes/", total("bytes", 8, 10)), (PCIE + "rd_bytes,src_rp_mask=0x4/", total("bytes", 8)),
        (PCIE + "rd_bytes,src_rp_mask=0x8/", total("bytes", 10)), (PCIE + "rd_bytes,src_rp_mask=0x13/", total("bytes")),
        (PCIE + "wr_bytes,src_rp_mask=0xc/", total("bytes", 9, 11)), (PCIE + "wr_bytes,dst_rem=1/", total("bytes")),
        (PCIE + "wr_bytes,dst_loc_cmem=1/", total("bytes", 9, 11))],
        "; ".join([load("--slot 8,9 --rate 3000017", 0.2), load("--slot 10,11 --rate 999983", 0.2)])),
    Step("pcie-nobody", "around", [
        (PCIE + "rd_bytes" + NOBODY, total("bytes"))], load("--slot 8,10 --rate 1000", 0.1)),
    Step("pcie-target", "around", [
        (TGT + "rd_bytes,dst_rp_mask=0x2/", total("bytes", 16)), (TGT + "rd_req,dst_rp_mask=0x2/", total("requests", 16)),
        (TGT + "rd_bytes,dst_rp_mask=0x4/", total("bytes")), (TGT + "rd_bytes" + CXL_WINDOW, total("bytes", 17)),
        (TGT + "rd_req" + CXL_WINDOW, total("requests", 17))],
        "; ".join([load("--slot 16 --rate 777777", 0.2), load("--slot 17 --per-iter 1001", 0.2)])),
    Step("links", "around", [
        (C2C + "in_rd_req/", total("requests", 20)), (C2C + "in_rd_cum_outs/", total("outstanding", 20)),
        (C2C + "in_rd_req,gpu_mask=0x2/", total("requests")), (C2C + "out_wr_req/", total("requests", 21)),
        (C2C + "out_wr_cum_outs,gpu_mask=0x2/", total("outstanding", 21)),
        (CLINK + "in_rd_req/", total("requests", 22)), (CLINK + "in_rd_cum_outs/", total("outstanding", 22)),
        (DLINK1 + "in_rd_req/", total("requests", 23)), (DLINK1 + "in_rd_cum_outs/", total("outstanding", 23))],
        "; ".join(load(f"--slot {n} --rate {1000003 + n}", 0.15) for n in (20, 21, 22, 23))),
    # six programs, threads, duty cycles and groups at the same time
    Step("crowd", "around", [
        (UCF + "mem_bytes_rd/", total("bytes", 0, 8, 10)), (UCF + "mem_bytes_rd" + CPU_ONLY, total("bytes", 0)),
        (UCF + "mem_bytes_wr/", total("bytes", 1)), (UCF1 + "mem_bytes_rd" + CPU_ONLY, total("bytes", 2)),
        (PCIE + "rd_bytes,src_rp_mask=0x4/", total("bytes", 8)), (PCIE + "rd_bytes,src_rp_mask=0x8/", total("bytes", 10)),
        (CMEM + "rd_req/", total("requests", 0, 8, 10)), (CMEM + "rd_cum_outs/", total("outstanding", 0, 8, 10))],
        " ".join(load(x, 0.6) + " &" for x in (
            "--slot 0 --rate 1000003 --cgroup web/a --name a", "--slot 0 --rate 500009 --duty 20/30 --cgroup web/b",
            "--slot 1 --rate 250007 --duty 5/5 --cgroup db", "--slot 2 --rate 2000003 --cpu 2 --cgroup db",
            "--slot 8 --per-iter 65537 --duty 50/10", "--slot 10 --rate 3000017 --threads 2 --cgroup io")) + " wait"),
]

# --- constant traffic of checks/rates.conf
RATES = [
    Step("ucf-filters", "each 0.25", [
        (UCF + "mem_bytes_rd/", rate(51.03e9)), (UCF + "mem_bytes_rd" + CPU_ONLY, rate(43e9)),
        (UCF + "mem_bytes_rd" + IO_ONLY, rate(7.13e9)), (UCF + "mem_bytes_rd,src_rem=1/", rate(0.9e9)),
        (UCF + "mem_bytes_rd" + CPU_TO_CMEM, rate(40e9)), (UCF + "mem_bytes_rd,dst_rem=1/", rate(3e9)),
        (UCF + "mem_bytes_rd,dst_loc_gmem=1/", rate(0.9e9)), (UCF + "mem_bytes_rd,dst_loc_other=1/", rate(0.13e9)),
        (UCF + "mem_bytes_rd,src_rem=1,dst_loc_cmem=1/", rate(0))]),
    Step("ucf-full", "count 0.4", [
        (UCF + "cycles/", rate(2e9)), (UCF + "mem_bytes_rd/", rate(51.03e9)), (UCF + "mem_bytes_wr/", rate(26e9)),
        (UCF + "mem_access_rd/", rate(1.25e9)), (UCF + "slc_bytes_rd/", rate(80e9)),
        (UCF1 + "mem_bytes_rd/", rate(11e9)), (UCF1 + "mem_bytes_wr/", rate(4e9))]),
    Step("pcie-filters", "each 0.25", [
        (PCIE + "rd_bytes/", rate(8e9)), (PCIE + "rd_bytes,src_rp_mask=0x4/", rate(6e9)),
        (PCIE + "rd_bytes,src_rp_mask=0x8/", rate(2e9)), (PCIE + "rd_bytes" + NVME, rate(6e9)),
        (PCIE + "rd_bytes" + NIC, rate(2e9)), (PCIE + "rd_bytes,dst_rem=1" + NIC, rate(0.5e9)),
        (PCIE + "wr_bytes,dst_loc_cmem=1" + NIC, rate(12e9)), (PCIE + "rd_bytes" + NOBODY, rate(0)),
        # a BDF that is not enabled turns off the default of "all ports"
        (PCIE + "rd_bytes,src_bdf=0xa100/", rate(0)), (PCIE1_4 + "rd_bytes,dst_loc_gmem=1/", rate(22e9)),
        ("nvidia_pcie_pmu_0_rc_0/rd_bytes/", rate(0))]),
    # siblings without a filter inherit the leader's BDF
    Step("pcie-group", "group 0.4", [
        (PCIE + "rd_bytes" + NVME, rate(6e9)), (PCIE + "wr_bytes/", rate(3e9)), (PCIE + "rd_req/", rate(93.75e6)),
        (PCIE + "rd_cum_outs/", rate(75e9)), (PCIE + "cycles/", rate(1e9))]),
    Step("target-filters", "each 0.25", [
        (TGT + "rd_bytes/", rate(140e6)), (TGT + "rd_bytes,dst_rp_mask=0x2/", rate(100e6)),
        (TGT + "rd_bytes,dst_rp_mask=0x4/", rate(40e6)), (TGT + "cycles/", rate(1e9)),
        (TGT + "rd_bytes" + CXL_WINDOW, rate(777e6)),
        (TGT + "rd_bytes,dst_addr_base=0x10000,dst_addr_mask=0xfff00,dst_addr_en=1/", rate(777e6))]),
    Step("target-windows", "count 0.4", [
        (TGT + "rd_bytes,dst_addr_base=0x40000000,dst_addr_mask=0xf0000000,dst_addr_en=1/", rate(100e6)),
        (TGT + "wr_bytes,dst_addr_base=0x50000000,dst_addr_mask=0xfffff0000000,dst_addr_en=1/", rate(80e6))]),
    Step("cmem", "group 0.4", [
        (CMEM + "rd_req/", rate(1e9)), (CMEM + "rd_cum_outs/", rate(300e9)), (CMEM + "cycles/", rate(2e9))]),
    Step("cmem-other-socket", "group 0.4", [
        (CMEM1 + "rd_req/", rate(0.4e9)), (CMEM1 + "rd_cum_outs/", rate(72e9)), (CMEM1 + "cycles/", rate(2e9))]),
    Step("c2c", "count 0.4", [
        (C2C + "cycles/", rate(1.5e9)), (C2C + "in_rd_req/", rate(310e6)), (C2C + "in_rd_req,gpu_mask=0x1/", rate(200e6)),
        (C2C + "in_rd_req,gpu_mask=0x2/", rate(110e6)), (C2C + "in_rd_cum_outs/", rate(153e9)),
        (C2C + "in_wr_req/", rate(130e6)), (C2C + "in_wr_cum_outs/", rate(39e9)), (C2C + "out_rd_req/", rate(100e6)),
        (C2C + "out_wr_req/", rate(45e6))]),
    Step("links", "count 0.4", [
        (CLINK + "in_rd_req/", rate(100e6)), (CLINK + "out_rd_req/", rate(70e6)), (CLINK + "in_rd_cum_outs/", rate(60e9)),
        (CLINK + "out_rd_cum_outs/", rate(42e9)), (DLINK + "in_rd_req/", rate(50e6)),
        (DLINK + "in_rd_cum_outs/", rate(25e9)), (DLINK + "cycles/", rate(1.8e9))]),
]

# --- what the driver allows beside what, on one root complex
NINE = [PCIE + x for x in ("rd_bytes/", "wr_bytes/", "rd_req/", "wr_req/", "rd_cum_outs/", "rd_bytes,src_rp_mask=0x2/",
                           "rd_bytes,src_rp_mask=0x4/", "rd_bytes,src_rp_mask=0x8/", "rd_bytes,src_rp_mask=0x10/")]
# neither all of the time nor none of it; a busy host makes the halves uneven
TURNS = (0.15, 0.85)
CONFLICT = [
    Step("two-bdfs-one-group", "group 0.2", [
        (PCIE + "rd_bytes" + NVME, rate(6e9)), (PCIE + "rd_bytes" + NIC, refused(22))]),
    Step("two-bdfs", "count 1", [
        (PCIE + "rd_bytes" + NVME, runs(*TURNS)), (PCIE + "rd_bytes" + NIC, runs(*TURNS))]),
    Step("two-bdfs-pinned", "--pinned count 0.3", [
        (PCIE + "rd_bytes" + NVME, rate(6e9)), (PCIE + "rd_bytes" + NIC, no_value())]),
    Step("bdf-beside-no-bdf", "count 1", [
        (PCIE + "rd_bytes" + NVME, runs(*TURNS)), (PCIE + "wr_bytes/", runs(*TURNS))]),
    Step("same-bdf-twice", "count 0.3", [
        (PCIE + "rd_bytes" + NVME, rate(6e9)), (PCIE + "wr_bytes" + NVME, rate(3e9))]),
    Step("bdf-and-port", "count 0.3", [
        (PCIE + "rd_bytes,src_rp_mask=0x1" + NVME, runs(0, 0))]),
    Step("port-below-bdf-leader", "group 0.2", [
        (PCIE + "rd_bytes" + NVME, rate(6e9)), (PCIE + "rd_bytes,src_rp_mask=0xff/", refused(22))]),
    Step("nine-in-a-group", "group 0.2", [(x, runs(1, 1)) for x in NINE[:8]] + [(NINE[8], refused(22))]),
    Step("nine", "count 1", [(x, runs(0.8, 0.97)) for x in NINE]),
    Step("cpu-of-other-socket", "--cpu 3 count 0.2", [(PCIE + "rd_bytes/", refused(22))]),
    Step("other-cpu-of-socket", "--cpu 1 count 0.2", [(PCIE + "rd_bytes/", rate(8e9))]),
    Step("unknown-events", "count 0.2", [(CMEM + "event=3/", refused(2)), (C2C + "event=9/", refused(2))]),
]
CONFLICT_LOG = ["only one BDF", "mutually exclusive", "sibling and leader BDF value should be equal"]

# --- a CPU goes away and comes back; nothing is lost that was not moving meanwhile
CPU2 = "/sys/devices/system/cpu/cpu2/online"
CPU3 = "/sys/devices/system/cpu/cpu3/online"
HOTPLUG = [
    Step("events-move", "around", [
        (UCF1 + "mem_bytes_rd/", total("bytes", 2, 12)), (CMEM1 + "rd_req/", total("requests", 2, 12)),
        (CMEM1 + "rd_cum_outs/", total("outstanding", 2, 12)), (DLINK1 + "in_rd_req/", total("requests", 23)),
        (PCIE1_4 + "rd_bytes/", total("bytes", 12))],
        "; ".join([load("--slot 2,23,12 --rate 1000003 --cpu 2", 0.2), f"echo 0 > {CPU2}",
                   load("--slot 2,23,12 --rate 1000003 --cpu 3", 0.2), f"echo 1 > {CPU2}",
                   load("--slot 2,23,12 --rate 1000003 --cpu 2", 0.2)]), after="masks 3"),
    Step("no-cpu-left", "count 0.2", [(UCF1 + "mem_bytes_rd/", refused(22)), (DLINK1 + "in_rd_req/", refused(22))],
         before=f"echo 0 > {CPU2}; echo 0 > {CPU3}"),
    Step("cpus-back", "around", [(UCF1 + "mem_bytes_rd/", total("bytes", 2)), (DLINK1 + "in_rd_req/", total("requests", 23))],
         load("--slot 2,23 --rate 1000003 --cpu 2", 0.2), before=f"echo 1 > {CPU2}; echo 1 > {CPU3}", after="masks 2"),
]

# --- virtual functions of a NIC, each with an address of its own
SRIOV = [
    Step("vf", "around", [
        (PCIE + "rd_bytes,src_bdf=0xc103,src_bdf_en=1/", total("bytes", 13)), (UCF + "mem_bytes_rd/", total("bytes", 10, 13))],
        "; ".join(load(f"--slot {n} --rate 1234567", 0.2) for n in (13, 10)),
        before="switch_on_vfs 0002:c1:00.0 4"),
]

# --- disks: Debian's driver moves their bytes, QEMU counts them
DISK0, DISK1 = "nvidia_pcie_pmu_0_rc_2/", "nvidia_pcie_pmu_1_rc_5/"
BY_ID0, BY_ID1 = ",src_bdf=0x40,src_bdf_en=1/", ",src_bdf=0x48,src_bdf_en=1/"
COPIED = 3 << 20
SAME_TOTALS = """grow() { diskload --totals | sed -n "$1p" | sed -E 's/.*read_bytes":([0-9]+),"written_bytes":([0-9]+).*/\\1 \\2/'; }
old=$(grow 1)
diskload --file /dev/vda --read --write --size 12288 --requests 21 > /dev/null
new=$(grow 1)
[ "$((${new% *} - ${old% *})) $((${new#* } - ${old#* }))" = "$((11 * 12288)) $((10 * 12288))" ] || echo "wrong totals: $old, then $new"
read -r a b c d e f g rest < /sys/block/vda/stat
[ "$((c * 512)) $((g * 512))" = "$new" ] || echo "wrong totals: $new, in sysfs $((c * 512)) $((g * 512))"
"""
DISK = [
    Step("write", "around", [
        (DISK0 + "rd_bytes" + BY_ID0, exactly(COPIED)), (DISK0 + "rd_req" + BY_ID0, exactly(COPIED // 32)),
        (DISK0 + "rd_cum_outs" + BY_ID0, exactly(COPIED // 32 * 800)), (DISK0 + "wr_bytes" + BY_ID0, exactly(0)),
        (UCF + "mem_bytes_rd" + IO_ONLY, exactly(COPIED)), (CMEM + "rd_req/", exactly(COPIED // 32)),
        (DISK1 + "rd_bytes" + BY_ID1, exactly(0))],
        f"dd if=/dev/zero of=/dev/vda bs=64k count={COPIED >> 16} oflag=direct 2> /dev/null"),
    Step("read", "around", [
        (DISK0 + "rd_bytes,src_rp_mask=0x2/", exactly(0)), (DISK0 + "wr_bytes,src_rp_mask=0x2/", exactly(COPIED)),
        (DISK0 + "wr_req,src_rp_mask=0x2/", exactly(COPIED // 32)), (DISK0 + "wr_bytes,src_rp_mask=0x1/", exactly(0)),
        (UCF + "mem_bytes_wr" + IO_ONLY, exactly(COPIED)), (CMEM + "rd_req/", exactly(0))],
        f"dd if=/dev/vda of=/dev/null bs=4k count={COPIED >> 12} iflag=direct 2> /dev/null"),
    Step("other", "around", [
        (DISK1 + "rd_bytes" + BY_ID1, exactly(0)), (DISK1 + "wr_bytes,dst_rem=1" + BY_ID1, exactly(COPIED)),
        (DISK0 + "wr_bytes" + BY_ID0, exactly(0)), (UCF1 + "mem_bytes_wr" + IO_ONLY, exactly(0))],
        f"dd if=/dev/vdb of=/dev/null bs=1M count={COPIED >> 20} iflag=direct 2> /dev/null", after=SAME_TOTALS),
]

# --- Debian's perf around the same traffic; judge.py compares its file
PERF_EVENTS = [
    (UCF + "mem_bytes_rd" + CPU_TO_CMEM, total("bytes", 0)), (PCIE + "rd_bytes" + NVME, total("bytes", 8)),
    (TGT + "rd_bytes,dst_rp_mask=0x2/", total("bytes", 16)), (CMEM + "rd_req/", total("requests", 0, 8)),
    (CMEM + "rd_cum_outs/", total("outstanding", 0, 8)), (C2C + "in_rd_req,gpu_mask=0x1/", total("requests", 20)),
    (DLINK1 + "in_rd_req/", total("requests", 23))]
PERF = [
    Step("perf", "around", PERF_EVENTS,
         "perf stat -x, -o /host/perf.csv -a" + "".join(" -e " + spec for spec, _ in PERF_EVENTS) +
         " -- " + load("--slot 0,8,16,20,23 --rate 1234577", 0.4)),
]

# --- one socket, no GPU: nothing for NVLink-C2C to count, which its driver refuses
NO_PEER_LOG = ["No GPU is enabled", "probe with driver nvidia-t410-c2c-pmu failed with error -22"]
ONE_SOCKET = [
    Step("counts", "around", [
        (UCF + "mem_bytes_rd/", total("bytes", 0, 8)), (PCIE + "rd_bytes" + NVME, total("bytes", 8)),
        (CMEM + "rd_req/", total("requests", 0, 8))], load("--slot 0,8 --rate 1234567", 0.2)),
]

# --- counters of 32 bits: the traffic passes their end again and again. The program is on
# the CPU that handles the overflows: what is stored elsewhere meanwhile is lost, as on
# hardware. Each piece of its work stores the same: a store of what a CPU that had to wait is
# behind would be more than half of a counter's range.
WRAP = [
    Step("wrap", "around", [
        (UCF + "mem_bytes_rd/", total("bytes", 0, 8)), (UCF + "slc_bytes_rd" + CPU_ONLY, total("bytes", 0)),
        (PCIE + "rd_bytes" + NVME, total("bytes", 8)), (CMEM + "rd_req/", total("requests", 0, 8))],
        load("--slot 0,8 --per-iter 100000007 --cpu 0", 1.5)),
    # three seconds: more than one round of 2^32 at this clock
    Step("wrap-cycles", "count 3", [(UCF + "cycles/", rate(2.4e9)), (TGT + "cycles/", rate(1e9))]),
]
