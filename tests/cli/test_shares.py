#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_shares.py T410TRACE: SHARE is of all bytes of the machine, in reports of random traces of two sockets."""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from each_test import run_all

program = sys.argv[1]
WINDOW_NS = 10_000_000
CPUS = 4  # of each socket
PATHS = ("/", "/box", "/box/a", "/box/a/one", "/box/a/two", "/box/b", "/else/long")
COUNTED = [(way, source) for way in ("rd", "wr") for source in ("src_loc_cpu", "src_loc_noncpu", "src_rem")]
SOURCES = {"src_loc_cpu": "cpu", "src_loc_noncpu": "device", "src_rem": "remote"}


def header():
    return {
        "type": "header", "schema": "t410trace.trace/1", "platform": "t410", "host": "invented", "kernel": "none",
        "sockets": [{"id": s, "cpus": f"{s * CPUS}-{s * CPUS + CPUS - 1}"} for s in (0, 1)],
        "counters": [
            {
                "id": s * len(COUNTED) + i, "name": f"ucf{s}/mem_bytes_{way}/{source}=1", "socket": s, "group": s,
                "pmu": f"nvidia_ucf_pmu_{s}", "event": f"mem_bytes_{way}", "filters": {source: 1}, "unit": "bytes",
                "source": SOURCES[source],
            }
            for s in (0, 1)
            for i, (way, source) in enumerate(COUNTED)
        ],
    }  # fmt: skip


def events(lot):
    """A CPU runs one task in a window, or nothing; bytes have any size, also 0"""
    yield header()
    tasks = range(10, 10 + lot.randint(1, 12))
    for pid in tasks:
        path = lot.choice(PATHS)
        yield {
            "type": "workload", "id": pid, "pid": pid, "start_ns": pid, "comm": f"c{pid}", "cgroup": path,
            "cgroup_id": 1 + PATHS.index(path),
        }  # fmt: skip
    scale = [10 ** lot.randint(2, 9) for _ in range(2)]
    for w in range(40):
        times = {"start_ns": w * WINDOW_NS, "end_ns": (w + 1) * WINDOW_NS}
        for cpu in range(2 * CPUS):
            if lot.random() < 0.5:
                ns = lot.randint(1, WINDOW_NS)
                yield {"type": "slice", "workload": lot.choice(tasks), "cpu": cpu, **times, "on_cpu_ns": ns}
        for s in (0, 1):
            values = [
                [s * len(COUNTED) + i, lot.choice((0, lot.randint(0, scale[s]))), WINDOW_NS, WINDOW_NS]
                for i in range(len(COUNTED))
            ]
            yield {"type": "window", "socket": s, "group": s, **times, "values": values}
    yield {"type": "end", "time_ns": 40 * WINDOW_NS}


def report(*words):
    done = subprocess.run([program, "report", "--summary", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


PERCENT = re.compile(r" (<0\.1|>99\.9|\d+\.\d|100)%")


def lines_of(text):
    """Indent, share and its rounding of each line between the heading and the sockets; the first is the machine"""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("all "))
    found = []
    for line in lines[first:]:
        if line.startswith("socket "):
            return found
        share = PERCENT.search(line)
        if share:
            found.append((len(line) - len(line.lstrip()), float(share[1].strip("<>")), line))
    raise AssertionError(f"no sockets: {text}")


def near(sum_of, whole, nr, text):
    """"<0.1" and ">99.9" are off by at most a tenth, all others by half of that"""
    assert abs(sum_of - whole) <= 0.1 * nr + 0.05, f"{sum_of}, not {whole}, in {text}"


def children_add_up(lines, text):
    for i, (indent, share, _) in enumerate(lines):
        below = [line for line in lines[i + 1 :]]
        ends = next((k for k, line in enumerate(below) if line[0] <= indent), len(below))
        below = below[:ends]
        if below:
            nearest = min(line[0] for line in below)
            direct = [line[1] for line in below if line[0] == nearest]
            near(sum(direct), share, len(direct) + 1, text)


def exact(file, by):
    """In JSON, to the byte: leaf rows and unattributed bytes are the counters; share of each row in the table"""
    data = json.loads(report("--json", "--by", by, file))
    counted = sum(c["value"] for c in data["counters"])
    rows = {row["key"]: sum(share["value"] for share in row["shares"]) for row in data["workloads"] if row.get("leaf", True)}
    nobody = sum(entry["value"] for entry in data["unattributed"])
    assert sum(rows.values()) + nobody == counted
    return counted, rows


def each_random(judge, nr=25):
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(nr):
            file = pathlib.Path(folder) / f"{seed}.ndjson"
            lot = random.Random(seed)
            file.write_text("".join(json.dumps(event) + "\n" for event in events(lot)), encoding="ascii")
            try:
                judge(str(file), lot)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error


def test_processes_add_up_to_the_machine():
    def judge(file, lot):
        top = lot.choice(((), ("--top", "3")))
        text = report("--by", "process", *top, file)
        machine, *rest = lines_of(text)
        assert machine[1] == 100, machine
        near(sum(line[1] for line in rest), 100, len(rest), text)
        counted, rows = exact(file, "process")
        for _, share, line in rest:
            pid = re.match(r" *(\d+)", line)
            if pid:
                moved = sum(v for key, v in rows.items() if key.split(":")[1] == pid[1])
                near(share, 100 * moved / counted, 1, line)

    each_random(judge)


def test_cgroups_add_up_to_the_machine_and_children_to_their_parent():
    def judge(file, lot):
        text = report("--by", "cgroup", *lot.choice(((), ("--top", "2"))), file)
        machine, *rest = lines_of(text)
        assert machine[1] == 100, machine
        roots = [line for line in rest if line[0] == 0]
        near(sum(line[1] for line in roots), 100, len(roots), text)
        children_add_up(rest, text)
        exact(file, "cgroup")

    each_random(judge)


def test_shares_on_pages_add_up():
    def judge(file, lot):
        page = pathlib.Path(file).with_suffix(".html")
        report("--by", lot.choice(("process", "cgroup")), "--html", str(page), file)
        table = re.search(r'<table id="workloads">.*?</table>', page.read_text(encoding="utf-8"), re.DOTALL)[0]
        heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table)
        # The first cells of a row may be one; those below others are in them.
        column = heads.index("Share") - len(heads)
        rows = [row for row in table.split("<tr")[2:] if "--depth" not in row or "--depth:0" in row]
        cells = [re.findall(r"<td([^>]*)>", row)[column] for row in rows]
        shares = [int(re.search(r'data-v="(\d+)"', cell)[1]) for cell in cells]
        assert abs(sum(shares) - 10**9) <= len(shares), shares

    each_random(judge, 8)


def test_parts_of_sockets_with_all_details():
    def judge(file, lot):
        words = ("--by", "process", "--method", lot.choice(("state-space", "cpu-time")), file)
        text, data = report("-v", *words), json.loads(report("--json", *words))
        for s in (0, 1):
            parts = [float(part) for part in re.findall(rf"([\d.]+)% of socket {s}\b", text)]
            counters = [c for c in data["counters"] if c["socket"] == s]
            whole = sum(c["value"] for c in counters)
            owned = 100 * sum(c["attributed"] for c in counters) / whole if whole else 0
            near(sum(parts), owned, len(parts), text)

    each_random(judge, 8)


if __name__ == "__main__":
    sys.exit(run_all("shares", globals()))
