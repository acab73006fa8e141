#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_foreign_devices.py T410TRACE: reports from a trace of another tool that counted devices.

The trace has the least that docs/RECORDING.md asks for: no PMUs, no cgroup ids, and nothing but
addresses of the devices. Also: check-report takes all JSON as it is printed, and refuses a report
of devices with any number spoiled.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
program = sys.argv[1]
failed = 0
WINDOW = 10_000_000
BYTES = 30_000_000


def counter(number, group, event, source, **more):
    return {"id": number, "name": f"c{number}", "event": event, "socket": 1, "source": source, "group": group, **more}


def trace():
    disk, card = {"bdf": "2:81:0.0"}, {"bdf": "0002:82:00.0"}
    yield {
        "type": "header",
        "schema": "t410trace.trace/1",
        "sockets": [{"id": 0, "cpus": "0-1"}, {"id": 1, "cpus": "2-3"}],
        "counters": [
            counter(0, 0, "mem_bytes_rd", "cpu"),
            counter(1, 0, "mem_bytes_rd", "device"),
            counter(2, 1, "rd_bytes", "device", **disk),
            counter(3, 1, "wr_bytes", "device", **disk),
            counter(4, 1, "rd_req", "device", unit="requests", **disk),
            counter(5, 2, "rd_bytes", "device", **card),
            counter(6, 2, "wr_bytes", "device", **card),
        ],
    }
    yield {"type": "workload", "id": 0, "pid": 100, "start_ns": 5, "comm": "writer", "cgroup": "/jobs/a"}
    yield {"type": "workload", "id": 1, "pid": 200, "start_ns": 5, "comm": "sender", "cgroup": "/jobs/b"}
    for window in range(200):
        start, end = window * WINDOW, (window + 1) * WINDOW
        mine = window % 2  # devices take turns, and so do the workloads
        span = {"start_ns": start, "end_ns": end}
        yield {"type": "slice", "workload": mine, "cpu": 2, **span}
        bdf = ("0002:81:00.0", "0002:82:00.0")[mine]
        yield {"type": "io", "workload": mine, "bdf": bdf, "read_bytes": BYTES, "write_bytes": 0, **span}
        values = [[0, 1000, WINDOW, WINDOW], [1, BYTES, WINDOW, WINDOW]]
        turn = window // 3 % 2
        for number in range(2, 7):
            counts = (number < 5) == (turn == 0)
            moves = counts and mine == turn and number in (2, 4, 5)
            value = (BYTES // 64 if number == 4 else BYTES) if moves else 0
            values.append([number, value, WINDOW, WINDOW if counts else 0])
        yield {"type": "window", "socket": 1, "values": values, **span}
    yield {"type": "end", "time_ns": 200 * WINDOW}


def run(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def refused(text):
    """The problems that check-report finds."""
    checked = subprocess.run([CHECK, "-"], input=text, capture_output=True, check=False)
    assert checked.returncode in (0, 1) and not checked.stderr, checked.stderr.decode()
    return checked.stdout.decode() if checked.returncode else ""


def check(function):
    """Run one test with the trace, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "trace"
        file.write_text("".join(json.dumps(line) + "\n" for line in trace()), encoding="ascii")
        try:
            function(file)
            print(f"ok devices of others: {function.__doc__}")
        except (AssertionError, KeyError, StopIteration, IndexError, ValueError) as error:
            failed = 1
            print(f"not ok devices of others: {function.__doc__}: {error!r}".replace("\n", " "))


@check
def schemas(file):
    """all their JSON is as the schemas say"""
    for options in ((), ("--summary",), ("--by", "cgroup"), ("--top", "1"), ("-p", "100"), ("-i", "100")):
        problems = refused(run("report", "--json", *options, file))
        assert not problems, f"{options}: {problems}"


@check
def place(file):
    """bytes of a device of which only the counters' socket is known are on that socket"""
    lines = run("report", "--summary", file).decode().splitlines()
    column = next(line.index("PCIE-RD") for line in lines if "PCIE-RD" in line)
    on = [float(line[column : column + 7]) for line in lines if line.startswith("socket")]
    assert on[0] == 0, lines
    moved = on[1]
    # After name and place, of which there is one or the other
    devices = [float(re.search(r" (\d+\.\d{3}) ", line)[1]) for line in lines if line.startswith("0002:")]
    assert abs(sum(devices) - moved) < 0.002, (devices, moved)
    assert moved > 2, moved


def shared(lines, counted):
    """The trace with both devices below a port that counts in their place, or should."""
    port = "0002:80:00.0"
    lines[0]["devices"] = [
        {"bdf": "0002:81:00.0", "filter": "none", "port": port},
        {"bdf": "0002:82:00.0", "filter": "none", "port": port},
        {"bdf": port, "kind": "port", "filter": "port"},
    ]
    for number in (2, 3):
        lines[0]["counters"][number]["bdf"] = port
    del lines[0]["counters"][4:]
    for line in lines:
        if "values" in line:
            del line["values"][4:]
            for values in line["values"][2:]:
                values[3] *= counted
    return "".join(json.dumps(line) + "\n" for line in lines)


@check
def shared_port(file):
    """a port that devices share: its bytes, and nothing that it cannot have; without them, status 3"""
    lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    file.write_text(shared(copy.deepcopy(lines), True), encoding="ascii")
    text = run("report", "--summary", "--json", file)
    assert not refused(text), refused(text)
    *sharers, port = json.loads(text)["devices"]
    assert port["shared_by"] == [device["bdf"] for device in sharers] and port["read_bytes"] > 0, port
    assert not any("read_bytes" in device for device in sharers) and "io" not in port, sharers
    out = file.parent / "page.html"
    run("report", file, "--html", out)
    row = out.read_text(encoding="utf-8").split('id="devices"')[1].split("<tr><td>" + port["bdf"])[1].split("</tr>")[0]
    cells = [re.sub("<.*?>", "", cell) for cell in re.split("<td[^>]*>", row)][1:]
    # after name, kind and place: bytes, interval, owned and I/O of reads, then of writes
    assert cells[1] == "port" and float(cells[3]) > 0 and cells[5:7] == cells[9:11] == ["–", "–"], cells
    file.write_text(shared(lines, False), encoding="ascii")
    done = subprocess.run([program, "report", "--summary", str(file)], capture_output=True, check=False)
    assert done.returncode == 3 and b"READ no data" in done.stdout, done


@check
def alone(file):
    """a trace with counters of devices alone says that PCIe was counted"""
    lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    for line in lines:
        if "counters" in line:
            line["counters"] = line["counters"][2:]
        if "values" in line:
            line["values"] = line["values"][2:]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    title = run("report", "--summary", file).decode().split(" PID ")[0].replace("\n ", "")
    assert "CPU time and PCIe only" in title and "PCIE-RD" in title, title
    problems = refused(run("report", "--summary", "--json", file))
    assert not problems, problems


def numbers(value, path=()):
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from numbers(member, (*path, index))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path


@check
def spoiled(file):
    """check-report refuses other numbers, and missing ones"""
    report = json.loads(run("report", "--summary", "--json", file))
    good = {"turns", "read_requests", "read_low", "read_high", "write_low", "write_high", "io_read_bytes",
            "covered_ns"}
    lines = []
    for path in numbers(report["devices"]):
        for missing in (False, True):
            if path[-1] in good or path[-2] == "io" and not missing:
                continue  # nothing else tells these numbers
            other = copy.deepcopy(report)
            place_ = other["devices"]
            for key in path[:-1]:
                place_ = place_[key]
            if missing:
                del place_[path[-1]]
            else:
                place_[path[-1]] += 7
            lines.append((path, missing, json.dumps(other)))
    assert len(lines) > 15, len(lines)
    problems = refused("".join(f"{line}\n" for _, _, line in lines).encode())
    for number, (path, missing, _) in enumerate(lines, 1):
        assert f"-:{number}: " in problems, f"{path} {'missing' if missing else 'changed'} is accepted"


@check
def many_lines(_file):
    """check-report takes one object on many lines, and no half of one"""
    text = run("list", "--help") and b'{\n  "schema": "t410trace.list/1",\n  "pmus": 1\n}\n'
    assert "-:1: $.pmus" in refused(text), refused(text)
    assert refused(text[:-1]) and refused(text[:20]) and refused(text + b"x\n")


@check
def commands(_file):
    """--help names all commands"""
    text = run("--help").decode()
    wrong = subprocess.run([program, "nonsense"], capture_output=True, text=True, check=False).stderr
    names = " ".join(wrong.split()).split("commands are ")[1].split(";")[0].split(", ")
    assert len(names) >= 7, names
    for name in names:
        assert f"  t410trace {name} " in text, name
    for word, meant in ("recrod", "record"), ("neighbors", "neighbours"):
        wrong = subprocess.run([program, word], capture_output=True, text=True, check=False)
        assert wrong.returncode == 2 and f'did you mean "{meant}"?' in wrong.stderr, wrong


@check
def harmless(_file):
    """what a message names cannot make lines or colours of its own"""
    wrong = subprocess.run([program, "\x1b[31ma\nb\u202e"], capture_output=True, check=False).stderr
    assert b'unknown command "?[31ma?b?"' in wrong and not set(wrong) & {0x1b, 0xe2}, wrong


sys.exit(failed)
