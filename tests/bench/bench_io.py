# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What noting requests and packets costs, beside peers and beside doing nothing; for bench.py.

The peers are those of iopeers.bpf.c: Debian's biosnoop and tcptop need kernel probes.
All programs are hooked at once, in an order that rotates, so that what one brings into the caches
helps the others in turn.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

OURS, EMPTY = "t410trace", "empty"
SNOOP, TOP = "biosnoop-like", "tcptop-like"
DISK = {
    OURS: ("io_start", "io_complete"),
    EMPTY: ("empty_start", "empty_complete"),
    SNOOP: ("snoop_start", "snoop_issue", "snoop_complete"),
}
SEND = {
    OURS: ("io_sent", "io_not_sent"),
    OURS + ", with its sockets": ("io_sent", "io_not_sent", "io_socket_send"),
    EMPTY: ("empty_sent", "empty_not_sent"),
    TOP: ("top_send",),
}
RECEIVE = {
    OURS: ("io_received",),
    OURS + ", with its sockets": ("io_received", "io_socket_receive"),
    EMPTY: ("empty_received",),
    TOP: ("top_receive",),
}
GOALS = {"disk": 250, "packet": 100}
READS, PACKETS, TCP_SENDS = 20000, 50000, 3000


def disk_of(path):
    number = os.stat(path).st_dev
    block = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not block.exists():
        return None
    block = block.resolve()
    return block.parent.name if (block / "partition").exists() else block.name


class Interfaces:
    """A pair of interfaces: one here, one in a namespace of its own."""

    def __init__(self, run):
        self.run = run
        self.ip = shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin")
        self.namespace = f"t410bench-{os.getpid()}"
        self.name = f"t4b{os.getpid()}"
        self.here, self.there = "10.253.77.1", "10.253.77.2"
        self.inside = [self.ip or "ip", "netns", "exec", self.namespace]

    def __enter__(self):
        ip, ns = self.ip, self.namespace
        self.run([ip, "netns", "add", ns])
        self.run([ip, "link", "add", self.name, "type", "veth", "peer", "name", "there", "netns", ns])
        for where, name, address in ([], self.name, self.here), (["-n", ns], "there", self.there):
            self.run([ip, *where, "addr", "add", f"{address}/24", "dev", name])
            self.run([ip, *where, "link", "set", name, "up"])
        return self

    def __exit__(self, *_):
        subprocess.run([self.ip, "netns", "del", self.namespace], check=False)


class IoBench:
    """One instance measures all; @bench is bench.py's."""

    def __init__(self, bench, problem, run):
        self.bench = bench
        self.problem = problem
        self.run = run
        self.tools = bench.options.tools
        self.iogen = f"{self.tools}/iogen"
        self.file = pathlib.Path(self.tools) / "blocks"

    def ids_of(self, process, names):
        """Program ids that a process holds, by name, once they are all there."""
        deadline = time.monotonic() + 30
        found = {}
        while time.monotonic() < deadline and process.poll() is None:
            for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
                with contextlib.suppress(OSError, IndexError):
                    number = info.read_text("ascii").split("prog_id:")[1].split()[0]
                    if number not in found.values():
                        found[self.bench.show(number)["name"]] = number
            if all(any(known.startswith(name[:15]) for known in found) for name in names):
                return {n: next(v for k, v in found.items() if k.startswith(n[:15])) for n in names}
            time.sleep(0.1)
        raise self.problem(f"not all of {', '.join(names)} were loaded: {', '.join(found)}")

    def start(self, *command):
        """A helper that has said its first line."""
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if not process.stdout.readline():
            raise self.problem(f"{command[0]} did not start")
        return process

    def go(self, process):
        process.stdin.write("go\n")
        process.stdin.flush()

    def finish(self, process):
        process.communicate(timeout=120)
        if process.returncode:
            raise self.problem(f"{process.args[1]} ended with {process.returncode}")

    def reads(self, readers):
        count = READS // readers
        all_of_them = [self.start(self.iogen, "read", self.file, count) for _ in range(readers)]
        for process in all_of_them:
            self.go(process)
        for process in all_of_them:
            self.finish(process)

    def packets(self, net, kind, outward, count, size):
        here, there = (), net.inside
        address = net.there if outward else net.here
        sink = self.start(*(there if outward else here), self.iogen, f"sink-{kind}", address, 7000)
        self.go(sink)
        sink.stdout.readline()
        source = self.start(
            *(here if outward else there), self.iogen, f"send-{kind}", address, 7000, count, size
        )
        self.go(source)
        self.finish(source)
        self.finish(sink)

    def loads(self, net):
        """Name to (programs by who, unit, what runs it)."""
        return {
            "disk, 1 reader": (DISK, "request", lambda: self.reads(1)),
            "disk, 8 readers": (DISK, "request", lambda: self.reads(8)),
            "UDP sent": (SEND, "packet", lambda: self.packets(net, "udp", True, PACKETS, 200)),
            "TCP sent": (SEND, "packet", lambda: self.packets(net, "tcp", True, TCP_SENDS, 65536)),
            "UDP received": (
                RECEIVE, "packet", lambda: self.packets(net, "udp", False, PACKETS, 200)
            ),
        }

    def hooked(self, stack, first):
        """Starts ours and the peers in one order or the other; returns all program ids."""
        names = {name for by in (DISK, SEND, RECEIVE) for group in by.values() for name in group}
        ours = {name for name in names if name.startswith("io_")}
        ids = {}
        for who in ("ours", "peers")[:: 1 if first else -1]:
            if who == "ours":
                process = self.start(f"{self.tools}/iowho", "-C", self.cgroups())
                self.iowho = process
                wanted = ours
            else:
                process = self.start(f"{self.tools}/load", f"{self.tools}/iopeers.bpf.o")
                wanted = names - ours
            stack.callback(process.wait)
            stack.callback(process.stdin.close)
            ids |= self.ids_of(process, sorted(wanted))
        return ids

    def cgroups(self):
        for line in pathlib.Path("/proc/self/mounts").read_text("ascii").splitlines():
            _, where, kind, *_ = line.split()
            if kind == "cgroup2":
                return where
        raise self.problem("no cgroup v2 tree is mounted")

    def tell(self, line):
        self.iowho.stdin.write(line + "\n")
        self.iowho.stdin.flush()
        if self.iowho.stdout.readline().strip() != "ok":
            raise self.problem(f"iowho: {line}: not done")

    def round(self, net, first, costs):
        with contextlib.ExitStack() as stack:
            ids = self.hooked(stack, first)
            self.tell(f"disk {disk_of(self.tools)} 0")
            self.tell(f"interface {net.name} 1")
            for load, (programs, _, run) in self.loads(net).items():
                before = self.bench.read_stats(ids)
                run()
                after = self.bench.read_stats(ids)
                for who, names in programs.items():
                    spent = sum(after[n][1] - before[n][1] for n in names)
                    runs = after[names[0]][0] - before[names[0]][0]
                    if runs < 100:
                        raise self.problem(f"{load}: {names[0]} ran {runs} times only")
                    costs.setdefault(load, {}).setdefault(who, []).append(spent / runs)

    def costs(self, rounds):
        """Nanoseconds by load and program, one figure a round."""
        if not disk_of(self.tools):
            raise self.problem(f"{self.tools} is not on a disk")
        self.run(["dd", "if=/dev/urandom", f"of={self.file}", "bs=1M", "count=128", "conv=fsync"])
        costs = {}
        with Interfaces(self.run) as net:
            for i in range(rounds):
                self.round(net, i % 2 == 0, costs)
        return costs


def print_costs(costs, median, spread):
    """A row each, and how ours compares with what a peer does for the same."""
    for load, by_program in costs.items():
        unit = "request" if load.startswith("disk") else "packet"
        goal = GOALS["disk" if unit == "request" else "packet"]
        for who, values in by_program.items():
            text = f"<= {goal}" if who == OURS else ""
            per = "packet" if unit == "packet" and who != TOP else "call" if who == TOP else unit
            print(f"{f'{load}: {who}, ns a {per}':<52}{median(values):>10.1f}  {spread(values):<18}{text}")
        above = [a - b for a, b in zip(by_program[OURS], by_program[EMPTY])]
        print(f"{f'{load}: {OURS} above empty, ns a {unit}':<52}{median(above):>10.1f}  {spread(above)}")
        for peer in (SNOOP, TOP):
            if peer in by_program:
                ours = OURS if peer == SNOOP else OURS + ", with its sockets"
                ratios = [a / b for a, b in zip(by_program[ours], by_program[peer])]
                print(f"{f'{load}: {ours} / {peer}':<52}{median(ratios):>10.2f}  {spread(ratios)}")
