#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_topology.py T410TRACE: what the command "topology" prints of made-up machines."""

import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check-report"
program = sys.argv[1]
failed = 0

# The listing of the T410 PMU guide, as it is to be reproduced.
GUIDE = """\
0001:00:00.0 00 01 00 00 00 nvidia_pcie_pmu_0_rc_0 0x1
0002:80:00.0 80 02 01 01 00 nvidia_pcie_pmu_0_rc_1 0x2
0002:a0:00.0 a0 02 02 01 00 nvidia_pcie_pmu_0_rc_1 0x4
0002:c0:00.0 c0 02 03 01 00 nvidia_pcie_pmu_0_rc_1 0x8
0002:e0:00.0 e0 02 04 01 00 nvidia_pcie_pmu_0_rc_1 0x10
0003:00:00.0 00 03 00 02 00 nvidia_pcie_pmu_0_rc_2 0x1
0004:00:00.0 00 04 00 03 00 nvidia_pcie_pmu_0_rc_3 0x1
0005:00:00.0 00 05 00 04 00 nvidia_pcie_pmu_0_rc_4 0x1
0005:40:00.0 40 05 01 04 00 nvidia_pcie_pmu_0_rc_4 0x2
0005:c0:00.0 c0 05 02 04 00 nvidia_pcie_pmu_0_rc_4 0x4
0006:00:00.0 00 06 00 05 00 nvidia_pcie_pmu_0_rc_5 0x1
0009:00:00.0 00 09 00 00 01 nvidia_pcie_pmu_1_rc_0 0x1
000a:80:00.0 80 0a 01 01 01 nvidia_pcie_pmu_1_rc_1 0x2
000a:a0:00.0 a0 0a 02 01 01 nvidia_pcie_pmu_1_rc_1 0x4
000a:e0:00.0 e0 0a 03 01 01 nvidia_pcie_pmu_1_rc_1 0x8
000b:00:00.0 00 0b 00 02 01 nvidia_pcie_pmu_1_rc_2 0x1
000c:00:00.0 00 0c 00 03 01 nvidia_pcie_pmu_1_rc_3 0x1
000d:00:00.0 00 0d 00 04 01 nvidia_pcie_pmu_1_rc_4 0x1
000d:40:00.0 40 0d 01 04 01 nvidia_pcie_pmu_1_rc_4 0x2
000d:c0:00.0 c0 0d 02 04 01 nvidia_pcie_pmu_1_rc_4 0x4
000e:00:00.0 00 0e 00 05 01 nvidia_pcie_pmu_1_rc_5 0x1
"""
EXPRESS = 0x40


def put(space, at, value, size):
    space[at : at + size] = value.to_bytes(size, "little")


def endpoint(ids, class_code, kind=0):
    space = bytearray(4096)
    put(space, 0x00, ids, 4)
    put(space, 0x06, 0x10, 2)
    put(space, 0x09, class_code, 3)
    space[0x34] = EXPRESS
    put(space, EXPRESS, 0x0002_0010 | kind << 20, 4)
    return space


def bridge(kind, bus, first, last):
    space = endpoint(0x22B110DE, 0x060400, kind)
    space[0x0E] = 1
    space[0x18:0x1B] = bytes((bus, first, last))
    return space


def guide_port(line):
    address, *numbers = line.split()[:6]
    bus, segment, port, complex_, socket = (int(number, 16) for number in numbers)
    space = bridge(4, bus, bus + 1, bus + 0x1F)
    space[0x100:0x111] = bytes.fromhex("23000100de1040010400") + bytes((0, 0, bus, segment, port, complex_, socket))
    space[EXPRESS + 0x0F] = port
    return address, space


class Machine:
    """A copy of sysfs, and a dump of the same."""

    def __init__(self, directory):
        self.root = directory / "sys"
        self.dump = directory / "dump"
        self.text = ""
        (self.root / "bus/pci/devices").mkdir(parents=True)

    def add(self, parents, address, space, size=4096):
        place = self.root / "devices" / parents / address
        place.mkdir(parents=True, exist_ok=True)
        (place / "config").write_bytes(space[:size])
        for name, at, length in (("vendor", 0, 2), ("device", 2, 2), ("class", 9, 3)):
            value = int.from_bytes(space[at : at + length], "little")
            (place / name).write_text(f"0x{value:0{2 * length}x}\n", encoding="ascii")
        (self.root / "bus/pci/devices" / address).symlink_to(f"../../../devices/{parents}/{address}")
        self.text += f"{address} A device: of somebody\n"
        for at in range(0, size, 16):
            self.text += f"{at:02x}: {space[at:at + 16].hex(' ')}\n"
        self.text += "\n"
        self.dump.write_text(self.text, encoding="ascii")

    def device(self, class_, name, place):
        (self.root / "devices" / place / name).mkdir(parents=True, exist_ok=True)
        (self.root / "class" / class_).mkdir(parents=True, exist_ok=True)
        (self.root / "class" / class_ / name).symlink_to(f"../../devices/{place}/{name}")

    def pmus(self):
        for line in GUIDE.splitlines():
            (self.root / "bus/event_source/devices" / line.split()[6]).mkdir(parents=True, exist_ok=True)


def run(*arguments, status=0, **more):
    done = subprocess.run(
        [program, "topology", *map(str, arguments)], capture_output=True, text=True, check=False, **more
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def run_json(*arguments):
    text = run("--json", *arguments).stdout
    checked = subprocess.run([CHECK, "-"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    return json.loads(text)


def check(function):
    """Run one test in a directory of its own, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        try:
            function(pathlib.Path(directory))
            print(f"ok topology: {function.__doc__}")
        except (AssertionError, KeyError, StopIteration, IndexError, ValueError) as error:
            failed = 1
            print(f"not ok topology: {function.__doc__}: {error!r}".replace("\n", " "))


def guide_machine(directory):
    machine = Machine(directory)
    for line in GUIDE.splitlines():
        address, space = guide_port(line)
        machine.add(f"pci{address[:7]}", address, space)
    return machine


def table(text, known=False):
    """The rows of the table of ports, blanks made one."""
    rows = next(part for part in text.split("\n\n") if part.startswith("root port")).splitlines()
    assert rows[0].split() == "root port bus segment RP RC socket PMU src_rp_mask".split() + known * ["known"], rows[0]
    return "".join(" ".join(row.split()) + "\n" for row in rows[1:])


@check
def guide(directory):
    """the listing of the guide"""
    machine = guide_machine(directory)
    machine.pmus()
    text = run("--ports", "--sysfs", machine.root).stdout
    assert table(text) == GUIDE, text
    assert "notes" not in text, text
    assert max(map(len, text.split("\n\n")[-1].splitlines())) <= 80
    assert text.startswith("socket 0, root complex 0 (nvidia_pcie_pmu_0_rc_0)\n0001:00:00.0  root port 0 "), text
    assert text.startswith(run("--sysfs", machine.root).stdout), "a tree first, and without --ports only that"
    assert table(run("--ports", "--lspci", machine.dump).stdout) == GUIDE
    value = run_json("--sysfs", machine.root)
    assert len(value["root_ports"]) == 21 and not value["notes"] and not value["cut"]
    assert all(port["pmu_present"] and port["known"] == "firmware" for port in value["root_ports"])
    assert value["root_ports"][4]["target_pmu"] == "nvidia_pcie_tgt_pmu_0_rc_1"
    value = run_json("--lspci", machine.dump)
    assert value["source"] == "dump" and value["root_ports"][0]["pmu_present"] is None


@check
def own_pmus(directory):
    """root ports with PMUs of their own: named where they are here, without a mask or a place"""
    machine = Machine(directory)
    for address, bus in ("0001:00:01.0", 0), ("0001:80:00.0", 0x80):
        machine.add(f"pci{address[:7]}", address, bridge(4, bus, bus + 1, bus + 2))
    (machine.root / "bus/event_source/devices/dwc_rootport_10008").mkdir(parents=True)
    ports = run_json("--sysfs", machine.root)["root_ports"]
    assert [(port["pmu"], port["pmu_present"]) for port in ports] == [("dwc_rootport_10008", True), (None, None)], ports
    assert all(port["src_rp_mask"] is None and port["socket"] is None for port in ports), ports
    text = run("--sysfs", machine.root).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("0001:")]
    assert rows[0][-1] == "(dwc_rootport_10008)" and not any("dwc" in cell for row in rows[1:] for cell in row), text
    assert "dwc_rootport_10008" in table(run("--ports", "--sysfs", machine.root).stdout, known=True)
    assert "is not here" not in " ".join(text.split()), text
    # a dump has no PMUs, and no rule says whether the machine has them
    assert [port["pmu"] for port in run_json("--lspci", machine.dump)["root_ports"]] == [None, None]


@check
def tree(directory):
    """the tree with switches, virtual functions and names"""
    machine = guide_machine(directory)
    port = "pci0002:80/0002:80:00.0"
    machine.add(port, "0002:81:00.0", bridge(5, 0x81, 0x82, 0x84))
    machine.add(f"{port}/0002:81:00.0", "0002:82:00.0", bridge(6, 0x82, 0x83, 0x84))
    below = f"{port}/0002:81:00.0/0002:82:00.0"
    machine.add(below, "0002:83:00.0", endpoint(0x102315B3, 0x020000))
    machine.add(below, "0002:83:00.1", endpoint(0x101E15B3, 0x020000))
    (machine.root / "devices" / below / "0002:83:00.1/physfn").symlink_to("../0002:83:00.0")
    machine.device("net", "eth0", f"{below}/0002:83:00.0/net")
    text = run("--sysfs", machine.root).stdout
    lines = [line for line in text.split("\n\n")[1].splitlines() if "0002:8" in line]
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 4, 6, 8], lines
    assert lines[3].split()[:3] == ["0002:83:00.0", "net", "eth0"], lines[3]
    assert lines[4].split()[:3] == ["0002:83:00.1", "net", "VF"], lines[4]
    assert "the PMU of 21 root ports is not here" in " ".join(text.split()), text
    value = run_json("--sysfs", machine.root)
    last = next(f for f in value["functions"] if f["address"] == "0002:83:00.1")
    assert last["physical_function"] == "0002:83:00.0" and last["port"] == "0002:80:00.0"
    assert last["requester_id"] == 0x8301 and last["root_complex"] == 1 and last["parent"] == "0002:82:00.0"


@check
def details(directory):
    """link, driver, NUMA node and its CPUs, and none of them where sysfs does not have it"""
    machine = guide_machine(directory)
    devices = machine.root / "devices"
    port, device = "pci0002:80/0002:80:00.0", "0002:81:00.0"
    machine.add(port, device, endpoint(0xA80A144D, 0x010802))
    for place in port, f"{port}/{device}":
        (devices / place / "numa_node").write_text("1\n", encoding="ascii")
    (devices / "system/node/node1").mkdir(parents=True)
    (devices / "system/node/node1/cpulist").write_text("72-143\n", encoding="ascii")
    (devices / port / "current_link_speed").write_text("16.0 GT/s PCIe\n", encoding="ascii")
    (devices / port / "current_link_width").write_text("4\n", encoding="ascii")
    (devices / port / device / "driver").symlink_to("../../../../bus/pci/drivers/nvme")
    # a port whose link is down, and one with nonsense
    (devices / "pci0003:00/0003:00:00.0/current_link_speed").write_text("Unknown\n", encoding="ascii")
    (devices / "pci0003:00/0003:00:00.0/current_link_width").write_text("0\n", encoding="ascii")
    machine.add("pci0003:00/0003:00:00.0", "0003:01:00.0", endpoint(0xA80A144D, 0x010802))
    text = run("--sysfs", machine.root).stdout
    heading = "socket 0, root complex 1 (nvidia_pcie_pmu_0_rc_1), NUMA node 1, CPUs 72-143\n0002:80:00.0  "
    assert heading in text, text
    (line,) = [line.split() for line in text.splitlines() if device in line]
    assert line[:7] == [device, "nvme", "16", "GT/s", "x4", "nvme", "Samsung"], line
    found = {f["address"]: (f["driver"], f["link"], f["numa_node"]) for f in run_json("--sysfs", machine.root)["functions"]}
    assert found[device] == ("nvme", {"gigatransfers_per_second": 16.0, "lanes": 4}, 1), found[device]
    assert found["0003:01:00.0"] == found["0004:00:00.0"] == (None, None, None), found
    found = {f["address"]: f for f in run_json("--lspci", machine.dump)["functions"]}
    assert found[device]["driver"] is None and found[device]["link"] is None


@check
def links(directory):
    """a GPU's link: its PMU, how its bit is known, and why there are no bytes"""
    machine = guide_machine(directory)
    machine.pmus()
    pmu = machine.root / "bus/event_source/devices/nvidia_nvlink_c2c_pmu_1"
    files = {"type": "41", "cpumask": "72", "identifier": "NVDA2023", "peer": "nr_gpu=1"}
    files |= {"format/event": "config:0-3", "format/gpu_mask": "config1:0-1", "events/in_rd_req": "event=0x2"}
    for name, text in files.items():
        (pmu / name).parent.mkdir(parents=True, exist_ok=True)
        (pmu / name).write_text(text + "\n", encoding="ascii")
    first, second = "0009:01:00.0", "000b:01:00.0"
    machine.add("pci0009:00/0009:00:00.0", first, endpoint(0x294110DE, 0x030200))

    def found(address, *arguments):
        value = run_json("--sysfs", machine.root, *arguments)
        return next(f["c2c"] for f in value["functions"] if f["address"] == address)

    def line(address, *arguments):
        text = run("--sysfs", machine.root, *arguments).stdout
        return next(line for line in text.splitlines() if address in line)

    link = found(first)
    assert (link["pmu"], link["gpus"], link["known"], link["mask"]) == (pmu.name, 1, "single", "0x1"), link
    # no PMU of a root complex can count here
    assert (link["bytes"], link["why"]) == ("none", f"root complex 0, which has {first}, cannot be counted"), link
    assert f"(C2C: {pmu.name}, the only GPU of its socket, no bytes: root complex 0" in line(first), line(first)
    assert found("0002:80:00.0") is None and "C2C" not in line("0002:80:00.0")
    # two GPUs: one of them is linked, or both, and only the map tells
    machine.add("pci000b:00/000b:00:00.0", second, endpoint(0x294110DE, 0x030200))
    link = found(second)
    assert (link["known"], link["bytes"], link["mask"]) == ("unknown", "none", None), link
    assert "gpu=0 in --pci-map" in link["why"] and link["why"] in line(second), link
    (pmu / "peer").write_text("nr_gpu=2\n", encoding="ascii")
    place = directory / "map"
    place.write_text(f"{second} socket=1 rc=2 rp=0 gpu=1\n", encoding="ascii")
    link = found(second, "--pci-map", place)
    assert (link["known"], link["gpus"], link["mask"]) == ("map", 2, "0x2"), link
    dump = run_json("--lspci", machine.dump)["functions"]
    assert all(f["c2c"] is None for f in dump)


@check
def names(directory):
    """names cannot steer the terminal, and JSON is valid"""
    machine = guide_machine(directory)
    machine.add("pci0001:00/0001:00:00.0", "0001:01:00.0", endpoint(0x102315B3, 0x020000))
    machine.device("net", "e\x1b[31mth", "pci0001:00/0001:00:00.0/0001:01:00.0/net")
    os.symlink(b"../../devices/pci0001:00/0001:00:00.0/0001:01:00.0/net/x", bytes(machine.root / "class/net") + b"/a\xff")
    text = run("--sysfs", machine.root).stdout
    assert "\x1b" not in text and "\\x1b[31mth" in text and "\\xff" in text, text
    value = run_json("--sysfs", machine.root)
    found = next(f for f in value["functions"] if f["address"] == "0001:01:00.0")["names"]
    assert found == ["a\ufffd", "e\x1b[31mth"], found


@check
def map_(directory):
    """the user's map, and what is wrong with it"""
    machine = Machine(directory)
    machine.add("pci0007:00", "0007:00:02.0", endpoint(0x10411AF4, 0x020000))
    machine.add("pci0008:00", "0008:00:00.0", bridge(4, 0, 1, 2))
    place = directory / "map"
    place.write_text("0007:00:02.0 socket=1 rc=3 rp=2\n0008:* socket=0 rc=2 rp=7\n", encoding="ascii")
    value = run_json("--sysfs", machine.root, "--pci-map", place)
    wired = [(f["known"], f["socket"], f["root_complex"], f["root_port"]) for f in value["functions"]]
    assert wired == [("user", 1, 3, 2), ("user", 0, 2, 7)], wired
    text = run("--ports", "--sysfs", machine.root, "--pci-map", place).stdout
    assert "(the map: socket 1, root complex 3, port 2)" in text and "0x80" in text, text
    place.write_text("0007:00:02.0 socket=1 rc=3 rp=x\n", encoding="ascii")
    told = run("--sysfs", machine.root, "--pci-map", place, status=1)
    assert ":1:31: " in told.stderr and not told.stdout, told.stderr


@check
def rights(directory):
    """64 bytes only: a tree, and the remedy"""
    machine = Machine(directory)
    address, space = guide_port(GUIDE.splitlines()[1])
    machine.add("pci0002:80", address, space, size=64)
    text = " ".join(run("--ports", "--sysfs", machine.root).stdout.split())
    assert "unknown" in text and "run as root (CAP_SYS_ADMIN)" in text, text
    assert run_json("--sysfs", machine.root)["cut"]
    assert "lspci -xxxx has to run as root" in " ".join(run("--lspci", machine.dump).stdout.split())


@check
def errors(directory):
    """a dump that is none, no PCI, wrong options"""
    (directory / "junk").write_text("junk\n", encoding="ascii")
    assert "no dump of PCI functions" in " ".join(run("--lspci", directory / "junk", status=1).stderr.split())
    assert "there are no PCI functions in " in run("--sysfs", directory, status=1).stderr.replace("\n", " ")
    assert run("--lspci", directory / "none", status=1).stderr
    assert "exclude each other" in run("--lspci", "x", "--sysfs", "y", status=2).stderr
    run("x", status=2)


@check
def endless(_directory):
    """a text without an end is refused, and not kept in memory"""
    for arguments in ("--lspci", "/dev/zero"), ("--lspci", "/dev/null"), ("--pci-map", "/dev/zero"):
        done = run(*arguments, status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
        assert f"{arguments[1]}:1:" in done.stderr, done


@check
def no_room(directory):
    """a copy that is refused is called so: memory did not run out"""
    machine = Machine(directory)
    machine.add("pci0002:80", *guide_port(GUIDE.splitlines()[1]))

    def no_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = run("--lspci", machine.dump, status=1, preexec_fn=no_files)
    assert f"cannot copy {machine.dump}: File too large" in " ".join(done.stderr.split()), done


@check
def closed(_directory):
    """nothing that is opened takes the place of a closed standard output or error"""
    with subprocess.Popen(
        ["sh", "-c", 'exec "$0" topology --lspci /dev/stdin >&- 2>&-', program], stdin=subprocess.PIPE
    ) as child:
        folder = pathlib.Path(f"/proc/{child.pid}/fd")
        places = {}
        # it has opened its standard input once more when it reads
        while len([to for to in places.values() if to.startswith("pipe:")]) < 2 and child.poll() is None:
            time.sleep(0.01)
            # what the shell had open may be gone meanwhile
            with contextlib.suppress(FileNotFoundError):
                places = {int(fd.name): os.readlink(fd) for fd in folder.iterdir()}
        child.stdin.close()
        assert child.wait(60) == 1
    assert places[1] == places[2] == "/dev/null", places


@check
def here(_directory):
    """this machine, whatever it has"""
    if pathlib.Path("/sys/bus/pci/devices").exists() and os.listdir("/sys/bus/pci/devices"):
        value = run_json()
        assert len(value["functions"]) == len(os.listdir("/sys/bus/pci/devices"))
        assert not run().stderr


sys.exit(failed)
