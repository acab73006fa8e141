#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_io_noted.py T410TRACE: requests of a device that nobody noted are absent in each output, and
not 0. A part of what notes them is left out at a time; the last devices are of kinds without any."""

import csv
import io
import json
import re
import sys
import tempfile

import each_test
import everything

program = sys.argv[1]
MS = 1_000_000
# The parts that are attached, and the requests that a disk and a network card have then
PARTS = {
    "all": ("both", "both"),
    "no block": ("none", "both"),
    "no sent": ("both", "write"),
    "no received": ("both", "read"),
    "nothing": ("none", "none"),
}
WAYS = {"none": (), "read": ("read",), "write": ("write",), "both": ("read", "write")}
NAMES = ("vda", "eth0", "gpu0", "mlx5_0", "fpga0")
KINDS = ("block", "net", "gpu", "rdma", "other")


def noted_of(part):
    return dict(zip(NAMES, [WAYS[io] for io in PARTS[part]] + [()] * 3, strict=True))


def write(file, part, busy):
    """One task; with @busy it moves bytes in all directions that are noted, otherwise none at all."""
    values = [*PARTS[part], "none", "none", "none"]
    devices = [
        {"bdf": f"0001:0{i}:00.0", "name": NAMES[i], "kind": KINDS[i], "io": values[i]} for i in range(len(NAMES))
    ]
    lines = [
        {"type": "header", "schema": "t410trace.trace/1", "sockets": [{"id": 0, "cpus": "0"}],
         "counters": [], "devices": devices},
        {"type": "workload", "id": 1, "pid": 10, "start_ns": 1, "comm": "dd", "cgroup": "/a"},
        {"type": "slice", "workload": 1, "cpu": 0, "start_ns": 0, "end_ns": 900 * MS},
    ]
    for name, device in zip(NAMES, devices, strict=True):
        ways = noted_of(part)[name]
        if busy and ways:
            moved = {f"{way}_bytes": (4096 if way in ways else 0) for way in ("read", "write")}
            lines.append({"type": "io", "workload": 1, "bdf": device["bdf"], "start_ns": 5, "end_ns": 9, **moved})
    lines.append({"type": "end", "time_ns": 900 * MS})
    file.write("".join(json.dumps(line) + "\n" for line in lines))
    file.flush()


def outputs(part, busy, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        write(file, part, busy)
        return everything.run(program, file.name, "--summary", *arguments).stdout.decode()


def each(check):
    for part in PARTS:
        for busy in (False, True):
            check(part, busy, noted_of(part))


def test_json():
    def check(part, busy, noted):
        report = json.loads(outputs(part, busy, "--json"))
        for device in report["devices"]:
            want = {f"{way}_bytes": 4096 * busy for way in noted[device["name"]]}
            assert device["io"] == want, (part, busy, device)
        for row in report["workloads"]:
            for device in row["devices"]:
                name = NAMES[int(device["bdf"].split(":")[1])]
                got = {key for key in device if key.startswith("io_")}
                assert got == {f"io_{way}_bytes" for way in noted[name]}, (part, device)

    each(check)


def test_csv():
    def check(part, busy, noted):
        lines = csv.DictReader(io.StringIO(outputs(part, busy, "--csv", "-")))
        found = {(line["name"], line["direction"]): line["value"] for line in lines
                 if line["record"] == "io" and not line["row"]}
        want = {(name, way): str(4096 * busy) for name, ways in noted.items() for way in ways}
        assert found == want, (part, busy, found)

    each(check)


def test_table():
    def check(part, busy, noted):
        text = outputs(part, busy)
        assert "(3 devices of kinds without requests that a kernel could note)" in text, text
        unseen = sum(not noted[name] for name in ("vda", "eth0"))
        said = re.search(r"\((\d) devices? whose requests were not noted\)", text)
        assert (int(said[1]) if said else 0) == unseen, (part, text)
        idle = re.search(r"\((\d) (?:more )?devices? without requests[;)]", text)
        whole = sum(len(noted[name]) == 2 for name in ("vda", "eth0"))
        assert (int(idle[1]) if idle else 0) == (0 if busy else whole), (part, busy, text)
        half = [name for name in ("vda", "eth0") if len(noted[name]) == 1]
        for name in half:
            (line,) = (line for line in text.splitlines() if f" {name} " in line)
            assert line.split().count("-") == 1, line  # a direction; where they are is not known of any

    each(check)


def test_page():
    def check(part, busy, noted):
        page = outputs(part, busy, "--html", "-")
        table = page[page.index('id="devices"') :]
        table = table[: table.index("</table>")]
        for name, ways in noted.items():
            (row,) = (row for row in table.split("<tr") if f">{name}<" in row)
            cells = [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.split(r"<t[dh][^>]*>", row)[1:]]
            shown = sum(bool(re.match(r"(4.10 kB|0 B|0)$", cell)) for cell in cells)
            assert shown == len(ways), (part, busy, name, cells)

    each(check)


def test_timeline():
    def check(part, busy, noted):
        with tempfile.NamedTemporaryFile(suffix=".pftrace") as out:
            outputs(part, busy, "--perfetto", out.name)
            with open(out.name, encoding="utf-8") as written:
                text = written.read()
        for way in ("read", "write"):
            any_noted = any(way in ways for ways in noted.values())
            assert (f"requests {way}" in text) == (busy and any_noted), (part, busy, way)

    each(check)


def test_recordings_keep_it():
    """A trace says it in both forms, and what does not say it goes by its kind."""
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        write(file, "no received", False)
        (report,) = everything.reports(program, file.name, "--summary")
        assert report["devices"][1]["io"] == {"read_bytes": 0}
        text = open(file.name, encoding="utf-8").read()
        file.seek(0)
        file.truncate()
        file.write(re.sub(r', "io": "[a-z]+"', "", text))
        file.flush()
        (report,) = everything.reports(program, file.name, "--summary")
        assert [len(device["io"]) for device in report["devices"]] == [2, 2, 0, 0, 0]


sys.exit(each_test.run_all("io-noted", globals()))
