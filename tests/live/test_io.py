# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who makes devices move data: what the programs knew they moved, beside the kernel side's books."""

import contextlib
import ctypes
import errno
import ipaddress
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from daemon import wait_for
from iowho import NOBODY, OURS, Who, who
from live import (
    LIMIT_S,
    Failed,
    Skip,
    check_status,
    fill_ring,
    finish,
    kernel_ids,
    precise,
    read_line,
    require,
    said,
    tell,
)
from test_cgroups import Tree
from test_end import bpftool, check_gone, still_loaded

MIB = 1 << 20
PAGE = 4096
SECTOR = 512
# How long to wait for packets that will not come any more
DROPPED_S = 20
# Reads and writes of the file system for itself, when a file is used
FILE_SLACK = 256 << 10
# What iogen asks for at once when it reads ahead
AHEAD = 128 << 10
BLKIO = pathlib.Path("/sys/fs/cgroup/blkio")


@contextlib.contextmanager
def loop_device(bed, mib):
    """A disk of our own: nobody else uses it, so that bytes can be exact."""
    image = bed.scratch / "image"
    subprocess.run(["dd", "if=/dev/zero", f"of={image}", "bs=1M", f"count={mib}", "conv=fsync"],
                   stderr=subprocess.DEVNULL, check=True)
    losetup = shutil.which("losetup", path="/usr/sbin:/sbin:/usr/bin")
    if not losetup:
        raise Skip("losetup is not installed")
    made = subprocess.run([losetup, "--find", "--show", "--direct-io=on", image],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        raise Skip(f"no loop device: {made.stderr.strip()}")
    path = made.stdout.strip()
    try:
        yield path, os.path.basename(path)
    finally:
        subprocess.run([losetup, "--detach", path], check=False)


def disk_of(path):
    """Kernel name of the disk that a file is on."""
    number = os.stat(path).st_dev
    block = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not block.exists():
        raise Skip("temporary files are not on a disk")
    block = block.resolve()
    return block.parent.name if (block / "partition").exists() else block.name


@contextlib.contextmanager
def generator(bed, *args, tree=None, group=None, start=()):
    """An iogen that waits for its go, in a cgroup."""
    with bed.process(*start, bed.iogen, *args) as process:
        line = read_line(process).split()
        require(line and line[0] == b"ready", f"iogen {args}: did not start")
        process.ident = int(line[1])
        OURS.add(process.ident)
        if tree:
            tree.move(group, process.ident)
        yield process


def move(*processes):
    """Generators move their bytes, all at once; those that need longer come last."""
    began = time.monotonic_ns()
    for process in processes:
        tell(process)
    for process in processes:
        finish(process)
        process.moved_ns = time.monotonic_ns() - began


def group_id(tree, name):
    return (tree.top / name).stat().st_ino


def row_of(rows, device, process, cgroup):
    return rows.get((device, process.ident, cgroup), (0, 0, 0))


def of_device(rows, device):
    return {key[1:]: row for key, row in rows.items() if key[0] == device}


def expect(iowho, rows, device, expected, moved_ns):
    """
    A device has these rows and no others: (pid, cgroup) to (written bytes, read bytes); the
    shortest moved its bytes in @moved_ns.
    """
    got = {key: row[:2] for key, row in of_device(rows, device).items()}
    for key, row in expected.items():
        for i, what in enumerate(("written", "read")):
            iowho.exact(f"device {device}, {key}, {what}", got.get(key, (0, 0))[i], row[i], 0, moved_ns)
    # Whoever looks at new disks may look at ours.
    precise(got.keys() <= expected.keys(), f"device {device}: {got}, expected {expected}")


def other_hierarchy(pid):
    """Puts a process into a cgroup of the v1 I/O controller; returns how to undo it."""
    folder = BLKIO / f"t410test-{os.getpid()}"
    if not (BLKIO / "cgroup.procs").exists():
        return lambda: None
    folder.mkdir()
    (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def undo():
        deadline = time.monotonic() + LIMIT_S
        while folder.exists():
            require(time.monotonic() < deadline, f"{folder} is not empty")
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.02)

    return undo


def test_disk_owners(bed):
    """Two processes of two cgroups, reading and writing at once: every byte is theirs."""
    with contextlib.ExitStack() as stack:
        path, disk = stack.enter_context(loop_device(bed, 64))
        tree = stack.enter_context(Tree())
        tree.make("reads")
        tree.make("writes")
        iowho = stack.enter_context(who(bed))
        iowho.say(f"disk {disk} 7")
        iowho.say(f"disk {disk_of(bed.scratch)} 8")
        reader = stack.enter_context(generator(bed, "read", path, 5000, tree=tree, group="reads"))
        writer = stack.enter_context(
            generator(bed, "write", path, 40, 1024, tree=tree, group="writes")
        )
        # An I/O cgroup of another hierarchy is not a place in the v2 tree.
        stack.callback(other_hierarchy(reader.ident))
        move(writer, reader)
        rows = iowho.show()
        expected = {
            (reader.ident, group_id(tree, "reads")): (0, 5000 * PAGE),
            (writer.ident, group_id(tree, "writes")): (40 * MIB, 0),
        }
        expect(iowho, rows, 7, expected, writer.moved_ns)
        # The loop driver passes them on to the disk below, in its own workers' names.
        for process in (reader, writer):
            mine = [row for (pid, _), row in of_device(rows, 8).items() if pid == process.ident]
            precise(not any(r[0] or r[1] > FILE_SLACK for r in mine), f"below the loop: {mine}")
        below = [row for (pid, _), row in of_device(rows, 8).items() if pid > 0]
        for process, i, least, request in ((writer, 0, 40 * MIB, MIB), (reader, 1, 5000 * PAGE, 0)):
            got = min(sum(row[i] for row in below), least)
            what = f"{process.args[1]} below the loop, at least"
            iowho.exact(what, got, least, request, process.moved_ns)
        # All this can fail:
        swapped = dict(zip(expected, reversed(expected.values())))
        try:
            expect(iowho, rows, 7, swapped, writer.moved_ns)
        except Failed:
            return
        raise Failed("bytes with the wrong owner were not noticed")


def test_disk_by_thread(bed):
    with loop_device(bed, 8) as (path, disk), who(bed, "-t") as iowho:
        iowho.say(f"disk {disk} 0")
        with generator(bed, "write", path, 100) as writer:
            move(writer)
        rows = iowho.show()
    mine = [key for key in of_device(rows, 0) if key[0] == writer.ident]
    require(len(mine) == 1, f"{rows} of {writer.ident}")
    expect(iowho, rows, 0, {mine[0]: (100 * PAGE, 0)}, writer.moved_ns)


def test_disk_of_a_file(bed):
    """Through a file system and the queue of a real disk."""
    disk = disk_of(bed.scratch)
    path = bed.scratch / "file"
    with open(path, "wb") as file:
        file.write(os.urandom(16 * MIB))
        os.fsync(file.fileno())
    with Tree() as tree, who(bed) as iowho:
        tree.make("a")
        with generator(bed, "read", path, 3000, tree=tree, group="a") as reader, generator(
            bed, "write", path, 3000, tree=tree, group="a"
        ) as writer:
            iowho.say(f"disk {disk} 511")
            move(writer, reader)
        rows = iowho.show()
        for process, index in ((reader, 1), (writer, 0)):
            row = row_of(rows, 511, process, group_id(tree, "a"))
            over = max(row[index] - 3000 * PAGE, 0)
            precise(over <= FILE_SLACK, f"{process.args[1]} on {disk}: {row}")
            what = f"{process.args[1]} on {disk}"
            iowho.exact(what, row[index] - over, 3000 * PAGE, 0, process.moved_ns)


def test_disk_writeback(bed):
    """What a process only made dirty is written by somebody else; not a byte is missing."""
    with loop_device(bed, 16) as (path, disk), who(bed) as iowho:
        with generator(bed, "dirty", path, 2048) as writer:
            iowho.say(f"disk {disk} 2")
            tell(writer)
            require(read_line(writer).startswith(b"written"), "not written")
            os.sync()
            rows = of_device(iowho.show(), 2)
            tell(writer)
            finish(writer)
    iowho.in_all("written", sum(row[0] for row in rows.values()), 2048 * PAGE)
    precise(not any(row[1] for row in rows.values()), f"read: {rows}")
    kernel = [row for (pid, _), row in rows.items() if pid not in (writer.ident, os.getpid(), NOBODY)]
    # Whoever calls for it does it as long as they get no CPU.
    precise(kernel, f"no kernel thread wrote anything: {rows}")
    require(not any(pid in (0, NOBODY) for pid, _ in rows), f"somebody unknown wrote: {rows}")


def test_disk_gone_process(bed):
    """The one who asked for the bytes has ended when they come."""
    disk = disk_of(bed.scratch)
    path = bed.scratch / "file"
    with open(path, "wb") as file:
        file.write(os.urandom(8 * MIB))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with who(bed) as iowho, generator(bed, "ahead", path, 8192) as reader:
        iowho.say(f"disk {disk} 1")
        tell(reader)
        finish(reader)
        deadline = time.monotonic() + LIMIT_S / 4
        while True:
            got = sum(
                row[1] for (_, pid, _), row in iowho.show().items() if pid == reader.ident
            )
            if got >= 8 * MIB - iowho.missing(8 * MIB, AHEAD, 0):
                break
            # Without memory to spare nothing is read ahead.
            precise(time.monotonic() < deadline, f"read ahead: {got}, expected {8 * MIB}")
            time.sleep(0.05)
    precise(got <= 8 * MIB + FILE_SLACK, f"{got} bytes")


def test_disk_changes(bed):
    """Devices come, go and become others while requests are under way."""
    with loop_device(bed, 8) as (path, disk), who(bed) as iowho:
        total = {}
        for device in (3, 4, NOBODY, 5):
            iowho.say(f"disk {disk} {device}")
            with generator(bed, "read", path, 500) as reader:
                move(reader)
            total[device] = reader
        rows = iowho.show()
    cgroups = {key[2] for key in rows if key[1] in [p.ident for p in total.values()]}
    require(len(cgroups) == 1, f"cgroups {cgroups}")
    (cgroup,) = cgroups
    for device in (3, 4, 5):
        reader = total[device]
        expect(iowho, rows, device, {(reader.ident, cgroup): (0, 500 * PAGE)}, reader.moved_ns)
    require({key[0] for key in rows} == {3, 4, 5}, f"devices {rows.keys()}")


def test_full_ring(bed):
    """No room in the ring, and more processes than slots: owners are lost, but no byte."""
    processes, blocks = 120, 30
    with loop_device(bed, 8) as (path, disk), who(bed) as iowho:
        iowho.say(f"disk {disk} 6")
        iowho.say("keep")
        bed.command(bed.storm, fill_ring())
        for _ in range(processes):
            with generator(bed, "read", path, blocks) as reader:
                tell(reader)
                finish(reader)
        rows = of_device(iowho.show(), 6)
        want = processes * blocks
        iowho.in_all("read", sum(row[1] for row in rows.values()), want * PAGE)
        iowho.in_all("requests", sum(row[2] for row in rows.values()), want)
        lost = rows.get((NOBODY, 0), (0, 0, 0))
        require(lost[1] > 0, "no owner was lost: was the ring ever full?")
        # Afterwards all is well again.
        with generator(bed, "read", path, 500) as reader:
            move(reader)
        rows = of_device(iowho.show(), 6)
    (mine,) = [row for (pid, _), row in rows.items() if pid == reader.ident]
    iowho.exact("read afterwards", mine[1], 500 * PAGE, 0, reader.moved_ns)


# Of those that everybody may give, on a link of their own
HERE_MAC, THERE_MAC, STACKED_MAC = (f"02:00:00:00:00:0{number}" for number in (1, 2, 3))


class Net:
    """
    An interface of ours, and its other end in a namespace with the same number, so that taking
    the one for the other would not go unnoticed.
    """

    def __init__(self):
        self.ip = shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin")
        if not self.ip:
            raise Skip("iproute2 is not installed")
        self.namespace = f"t410test-{os.getpid()}"
        self.name = f"t4t{os.getpid()}"
        # Of the addresses for tests of networks, four for each run.
        net = ipaddress.ip_address("198.18.0.0") + os.getpid() % 32768 * 4
        self.here, self.there = str(net + 1), str(net + 2)
        self.inside = (self.ip, "netns", "exec", self.namespace)

    def run(self, *args):
        done = subprocess.run([self.ip, *args], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skip(f"ip {' '.join(args)}: {done.stderr.strip()}")

    def __enter__(self):
        self.run("netns", "add", self.namespace)
        try:
            index = str(100000 + os.getpid())
            self.run("link", "add", self.name, "index", index, "address", HERE_MAC, "type", "veth",
                     "peer", "name", "there", "index", index, "address", THERE_MAC, "netns", self.namespace)
            self.run("addr", "add", f"{self.here}/30", "dev", self.name)
            self.run("link", "set", self.name, "up")
            for args in (["addr", "add", f"{self.there}/30", "dev", "there"],
                         ["link", "set", "there", "up"]):
                self.run("-n", self.namespace, *args)
            self.run("netns", "exec", self.namespace, "true")
            self.wait_up(self.name)
            self.wait_up("there", "-n", self.namespace)
            self.introduce(self.name, HERE_MAC)
        except BaseException:
            self.__exit__()
            raise
        return self

    def introduce(self, name, mac):
        """Both ends know the other's address: while it is asked for, few packets find room to wait."""
        for where, address, lladdr, dev in (
            ((), self.there, THERE_MAC, name),
            (("-n", self.namespace), self.here, mac, "there"),
        ):
            self.run(*where, "neigh", "replace", address, "lladdr", lladdr, "dev", dev, "nud", "permanent")

    def wait_up(self, name, *where):
        """Before that the kernel drops what is sent."""
        command = [self.ip, *where, "-o", "link", "show", "dev", name]

        def is_up():
            return " state UP " in subprocess.run(command, capture_output=True, text=True, check=True).stdout

        wait_for(f"interface {name} to be up", is_up)

    def __exit__(self, *_):
        # At once: with its namespace it would go some time later, and the next test has the name.
        subprocess.run(
            [self.ip, "link", "del", self.name], stderr=subprocess.DEVNULL, check=False
        )
        subprocess.run([self.ip, "netns", "del", self.namespace], check=False)


@contextlib.contextmanager
def stacked_on(net):
    """An interface on top of that of @net, which has its address from now on."""
    name = f"{net.name}m"
    net.run("link", "add", "link", net.name, "name", name, "address", STACKED_MAC, "type", "macvlan", "mode", "bridge")
    net.run("addr", "flush", "dev", net.name)
    net.run("addr", "add", f"{net.here}/30", "dev", name)
    net.run("link", "set", name, "up")
    net.wait_up(name)
    net.introduce(name, STACKED_MAC)
    yield name


def transfer(bed, net, tree, kind, outward, count, size):
    """
    Sends from here (in a cgroup) to there, or the other way; returns (sender, receiver, bytes
    that arrived). The kernel may drop packets on the way; those that arrived are all received.
    """
    here, there = {"tree": tree, "group": kind}, {"start": net.inside}
    address = net.there if outward else net.here
    port = 5000 + ["udp", "tcp"].index(kind) * 2 + outward
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(
            generator(
                bed, f"sink-{kind}", address, port, count * size, **(there if outward else here)
            )
        )
        tell(sink)
        require(read_line(sink) == b"listening\n", "nobody listens")
        source = stack.enter_context(
            generator(bed, f"send-{kind}", address, port, count, size, **(here if outward else there))
        )
        tell(source)
        finish(source)
        # It ends by itself when it has all; what is still missing after a while was dropped, but not of TCP.
        select.select([sink.stdout], [], [], LIMIT_S if kind == "tcp" else DROPPED_S)
        ((_, received),) = said(finish(sink), "received")
    require(int(received) > 0, "nothing arrived")
    return source, sink, int(received)


def sum_of(rows, cgroup, index):
    return sum(row[index] for (_, c), row in rows.items() if c == cgroup)


def check_udp(iowho, net, tree, bed, first, second):
    """Sends out so many packets of a size, then others in: every byte is their process's."""
    source, _, _ = transfer(bed, net, tree, "udp", True, *first)
    _, sink, got = transfer(bed, net, tree, "udp", False, *second)
    rows = of_device(iowho.show(), 9)
    cgroup = group_id(tree, "udp")
    # Payload, 28 bytes of IP and UDP, 14 of Ethernet.
    sent, received = first[0] * (first[1] + 42), got // second[1] * (second[1] + 42)
    iowho.exact("sent by the cgroup", sum_of(rows, cgroup, 0), sent)
    iowho.exact("received by the cgroup", sum_of(rows, cgroup, 1), received)
    for what, process, index, whole in (("sender", source, 0, sent), ("receiver", sink, 1, received)):
        iowho.exact(f"of the {what}", rows.get((process.ident, cgroup), (0, 0))[index], whole)
    return rows, cgroup


def test_udp(bed):
    """To the byte, and of the right process from the first packet on."""
    with Net() as net, Tree() as tree, who(bed) as iowho:
        tree.make("udp")
        iowho.say(f"interface {net.name} 9")
        rows, cgroup = check_udp(iowho, net, tree, bed, (5000, 1000), (4000, 500))
        # Neighbour discovery and the like, of the kernel and of whoever likes new interfaces.
        others = [row for (_, c), row in rows.items() if c != cgroup]
        precise(sum(r[0] + r[1] for r in others) < 5000 * 100, f"of others: {others}")


def test_stacked(bed):
    """A VLAN and the like: what it sends is sent by the interface below, too, and counts once."""
    with Net() as net, Tree() as tree, stacked_on(net) as name, who(bed) as iowho:
        tree.make("udp")
        iowho.say(f"interface {net.name} 9")
        iowho.say(f"stacked {name} 9")
        check_udp(iowho, net, tree, bed, (2000, 1000), (1000, 500))


USES_IT = """
import socket, sys
sink = socket.socket(fileno=int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    sink.recv(2000)
    print("has one", flush=True)
"""


def test_socket_changes_hands(bed):
    """Packets are of whoever made the socket, and from the first that another one takes, of him."""
    with Net() as net, who(bed) as iowho, socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as sink, contextlib.ExitStack() as stack:
        iowho.show()
        if "Linux 6.3" in iowho.note:
            raise Skip("this kernel does not tell who uses a socket")
        iowho.say(f"interface {net.name} 9")
        sink.bind((net.here, 5200))

        def send(count):
            source = stack.enter_context(
                generator(bed, "send-udp", net.here, 5200, count, 1000, start=net.inside)
            )
            tell(source)
            finish(source)

        send(1)
        user = stack.enter_context(
            bed.process(sys.executable, "-c", USES_IT, sink.fileno(), 4, pass_fds=[sink.fileno()])
        )
        require(read_line(user) == b"has one\n", "the first packet did not arrive")
        for _ in range(3):
            send(1)
            require(read_line(user) == b"has one\n", "a packet did not arrive")
        finish(user)
        rows = of_device(iowho.show(), 9)
    for what, pid, count in (("maker", os.getpid(), 1), ("user", user.pid, 3)):
        got = sum(row[1] for (p, _), row in rows.items() if p == pid)
        iowho.exact(f"received by its {what}", got, count * 1042)


def test_multicast_to_ourselves(bed):
    """Packets that come back before they reach the device were not received by it."""
    group, count = "239.255.77.1", 500
    with Net() as net, who(bed) as iowho, socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as sink, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        iowho.say(f"interface {net.name} 9")
        here = socket.inet_aton(net.here)
        sink.settimeout(LIMIT_S)
        sink.bind((group, 5100))
        sink.setsockopt(
            socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + here
        )
        source.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
        for _ in range(count):
            source.sendto(bytes(1000), (group, 5100))
            require(len(sink.recv(2000)) == 1000, "it did not come back")
        rows = of_device(iowho.show(), 9)
    sent, want = sum(row[0] for row in rows.values()), count * 1042
    iowho.exact("sent, at least", min(sent, want), want)
    # Group membership and the like are sent, too.
    precise(sent < want * 1.1, f"sent: {rows}")
    precise(sum(row[1] for row in rows.values()) < want * 0.1, f"received: {rows}")


def test_tcp(bed):
    """Payload and some headers; how many depends on how packets are put together."""
    with Net() as net, Tree() as tree, who(bed) as iowho:
        tree.make("tcp")
        iowho.say(f"interface {net.name} 10")
        count, size = 200, 100000
        source, _, got = transfer(bed, net, tree, "tcp", True, count, size)
        require(got == count * size, f"{got} bytes arrived there")
        _, sink, got = transfer(bed, net, tree, "tcp", False, count, size)
        require(got == count * size, f"{got} bytes arrived here")
        rows = of_device(iowho.show(), 10)
        cgroup = group_id(tree, "tcp")
        mine = [rows.get((process.ident, cgroup), (0, 0)) for process in (source, sink)]
        # Either of them also acknowledges, or is acknowledged, in the other's direction.
        for index, what in enumerate(("sent", "received")):
            payload, whole = count * size, mine[index][index]
            # Who waits for a CPU for long is sent it once more.
            precise(whole < 1.2 * payload, f"{what}: {whole} for {payload} bytes")
            # A packet that is not seen, where such are, may be larger than all headers.
            iowho.exact(f"payload {what}", min(whole, payload), payload, 1 << 16)
            whole = sum_of(rows, cgroup, index)
            require(sum(row[index] for row in mine) == whole, f"{what}: {mine} of {whole} bytes")


def test_interface_changes(bed):
    with Net() as net, Tree() as tree, who(bed) as iowho:
        tree.make("udp")
        for device in (1, NOBODY, 2):
            iowho.say(f"interface {net.name} {device}")
            transfer(bed, net, tree, "udp", True, 100, 1000)
        rows = iowho.show()
        for device in (1, 2):
            sent = sum_of(of_device(rows, device), group_id(tree, "udp"), 0)
            iowho.exact(f"device {device}", sent, 100 * 1042)
        require({key[0] for key in rows} <= {1, 2}, f"devices {rows.keys()}")


def bytes_of(reports, pid):
    """Bytes that a process made devices move, in all intervals, as these see it: (read, written)."""
    rows = [row for r in reports for row in r["workloads"] if row.get("pid") == pid]
    moved = [device for row in rows for device in row["devices"]]
    return tuple(sum(device[f"io_{what}_bytes"] for device in moved) for what in ("read", "write"))


def test_end_of_run(bed):
    """Requests just before the end of a run are whole in its reports."""
    disk = disk_of(bed.scratch)
    image = bed.scratch / "data"
    subprocess.run(["dd", "if=/dev/zero", f"of={image}", "bs=1M", "count=8", "conv=fsync"],
                   stderr=subprocess.DEVNULL, check=True)
    for number in (signal.SIGTERM, signal.SIGINT) * 3:
        with generator(bed, "read", image, 64) as reader:
            try:
                with bed.tracing("-a", "-D", disk, "--json", "-i", 60000) as tracer:
                    tell(reader)
                    finish(reader)
                    done = tracer.end(number)
            except Failed as problem:
                if "is not on a PCI device" in str(problem):
                    raise Skip(f"{disk} is not on a PCI device") from problem
                raise
        check_status(done)
        reports = [r for r in done.reports() if not r.get("summary")]
        # What a disk reads it writes to memory.
        other, read = bytes_of(reports, reader.ident)
        precise(read >= 32 * PAGE, f"{read} bytes were read, expected {64 * PAGE}")
        # Some may be nobody's where the kernel hides tasks, but no part of one.
        require(not read % SECTOR and not other % SECTOR, f"{read} bytes were read, {other} written")


def test_nobody_asked(bed):
    """Devices that are not ours leave no trace."""
    with loop_device(bed, 8) as (path, _), Net() as net, Tree() as tree, who(bed) as iowho:
        tree.make("udp")
        with generator(bed, "write", path, 500) as writer:
            tell(writer)
            finish(writer)
        transfer(bed, net, tree, "udp", True, 100, 1000)
        rows = iowho.show()
    require(not rows, f"rows {rows}")


def test_without_network_rights(bed):
    """Without CAP_NET_ADMIN, disks still work and the note says what does not."""
    setpriv = shutil.which("setpriv")
    if not setpriv:
        raise Skip("setpriv is not installed")
    # CAP_SYS_ADMIN includes the right.
    less = (setpriv, "--bounding-set=-net_admin,-sys_admin", "--inh-caps=-net_admin,-sys_admin")
    with loop_device(bed, 8) as (path, disk), who(bed, start=less) as iowho:
        iowho.say(f"disk {disk} 1")
        with generator(bed, "write", path, 100) as writer:
            move(writer)
        rows = iowho.show()
    mine = [row for (_, pid, _), row in rows.items() if pid == writer.ident]
    require(len(mine) == 1, f"rows {rows}")
    iowho.exact("written", mine[0][0], 100 * PAGE, 0, writer.moved_ns)
    require("received packets cannot be attributed to processes" in iowho.note, f"it says {iowho.note!r}")
    require("disks" not in iowho.note and "sends" not in iowho.note, f"it says {iowho.note!r}")


def test_without_cgroups(bed):
    with bed.process(bed.iowho, "-C", "") as process:
        require(read_line(process) == b"ready\n", "iowho did not start")
        iowho = Who(process)
        iowho.show()
    require("the root of the cgroup v2 tree is not mounted" in iowho.note, f"it says {iowho.note!r}")


BPF_CALL = {"x86_64": 321, "aarch64": 280}


def bpf(command, attributes):
    """The system call itself: bpftool cannot attach without flags what it has not compiled."""
    call = BPF_CALL.get(os.uname().machine)
    if not call:
        raise Skip(f"the number of bpf() on {os.uname().machine} is not known here")
    done = ctypes.CDLL(None, use_errno=True).syscall(call, command, attributes, len(attributes))
    require(done >= 0, f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return done


@contextlib.contextmanager
def taken_sock_create(folder):
    """A program that lets every socket be made, alone at its place of a cgroup."""
    code = ctypes.create_string_buffer(bytes((0xB7, 0, 0, 0, 1, 0, 0, 0)) + bytes((0x95, *(0,) * 7)))
    words = ctypes.create_string_buffer(b"GPL")
    # BPF_PROG_LOAD of a CGROUP_SOCK; expected_attach_type CGROUP_INET_SOCK_CREATE is at 68
    load = struct.pack("=IIQQIIQII16sII", 9, 2, ctypes.addressof(code), ctypes.addressof(words), 0, 0, 0, 0, 0, b"", 0, 2)
    program = bpf(5, load)
    target = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        bpf(8, struct.pack("=IIII", target, program, 2, 0))
        yield
    finally:
        os.close(target)
        os.close(program)


def test_sock_create_is_taken(bed):
    """Another program has the place where sockets are made for itself: the rest works, and it is told."""
    with Tree() as tree:
        tree.make("a")
        with taken_sock_create(tree.top / "a"), bed.process(bed.iowho, "-C", tree.top / "a") as process:
            require(read_line(process) == b"ready\n", "iowho did not start")
            iowho = Who(process)
            iowho.show()
    require("at cgroup/sock_create (" in iowho.note or "often only the cgroup" in iowho.note, f"it says {iowho.note!r}")
    require("receives" not in iowho.note, f"it says {iowho.note!r}")


def test_wrong_devices(bed):
    """What makes no sense is refused, and changes nothing."""
    with who(bed) as iowho:
        for line, number in (
            ("disk loop0 512", errno.EINVAL),
            (f"disk {'x' * 40} 1", errno.ENAMETOOLONG),
            ("interface lo 512", errno.EINVAL),
            ("interface nosuch 1", errno.EINVAL),
        ):
            try:
                iowho.say(line)
            except Failed as answer:
                require(f"error {number}" in str(answer), f"{line}: {answer}")
                continue
            raise Failed(f"{line}: was taken")
        iowho.say("disk nosuch -1")
        require(not iowho.show(), "there are rows")


def test_killed(bed):
    """SIGKILL: nothing of it stays, not even at the cgroup tree."""
    with who(bed) as iowho:
        iowho.say(f"disk {disk_of(bed.scratch)} 0")
        iowho.say("interface lo 1")
        ids = kernel_ids(iowho.process.pid)
        require(len(ids["link"]) >= 15, f"it holds only {ids}")
        require(still_loaded(ids), "bpftool does not see what is loaded")
        links = [bpftool("link", "show", "id", str(number)) for number in ids["link"]]
        hooks = {link.get("attach_type") for link in links if link["type"] == "cgroup"}
        require("cgroup_inet_ingress" in hooks, f"nothing is attached to the cgroup tree: {links}")
        iowho.process.kill()
        iowho.process.wait()
        check_gone(ids)


TESTS = [
    test_disk_owners,
    test_disk_by_thread,
    test_disk_of_a_file,
    test_disk_writeback,
    test_disk_gone_process,
    test_disk_changes,
    test_full_ring,
    test_udp,
    test_stacked,
    test_socket_changes_hands,
    test_multicast_to_ourselves,
    test_tcp,
    test_interface_changes,
    test_end_of_run,
    test_nobody_asked,
    test_without_network_rights,
    test_without_cgroups,
    test_sock_create_is_taken,
    test_wrong_devices,
    test_killed,
]
