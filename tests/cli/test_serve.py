#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_serve.py T410TRACE: settings of the daemon, its packaged file and its unit."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging/systemd/t410trace.service"
GPU_UNIT = ROOT / "packaging/systemd/t410trace-gpu.service"
CONF = ROOT / "packaging/serve.conf"
# What systemd-analyze says of the unit, from 0 (best) to 10.
EXPOSURE = 3.5
program = sys.argv[1]
failed = 0


def check(function):
    """Run one test in a directory of its own, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        try:
            function(pathlib.Path(directory))
            print(f"ok serve: {function.__doc__}")
        except (AssertionError, OSError, KeyError, IndexError) as error:
            failed = 1
            print(f"not ok serve: {function.__doc__}: {error!r}".replace("\n", " "))


def settings(folder, text, *options, status=0):
    """--check-config of a file with this text; returns what it said."""
    path = folder / "serve.conf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = subprocess.run(
        [program, "serve", "--check-config", "--config", path, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == status, f"{text!r} {options}: status {done.returncode}: {said}"
    return said


def packaged(_folder):
    """the packaged file has every setting, with its default"""
    text = CONF.read_text(encoding="ascii")
    keys = re.findall(r"^#([a-z0-9-]+) =", text, re.M)
    shown = subprocess.run([program, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    options = re.findall(r"--([a-z0-9-]+)", shown)
    for key in keys:
        assert key in options, f"{key} is no option"
    for option in set(options) - {"config", "check-config", "verbose", "help", "usage", "version"}:
        assert option in keys, f"{option} is not in the file"
    as_set = re.sub(r"^#([a-z0-9-]+ =)", r"\1", text, flags=re.M)
    # a device must be there for pci-map, and its default is none
    settings(_folder, as_set)
    settings(_folder, text)


def good(folder):
    """right settings"""
    for text in (
        "",
        "# nothing\n\n   # else\n",
        "interval=200ms\n",
        "interval = 1h\r\n",
        "  interval  =  90 s  \n",
        "listen =\n",
        "listen = [::1]:0\n",
        "listen = [::]:0,0.0.0.0:0,127.0.0.1:0\n",
        "hosts =\n",
        "host =\n",
        "host = node-7.example.org\n",
        "hosts = node1, node1.example.org,t410_7\n",
        "schedulers = slurm, systemd\n",
        "devices = all\npci-map = /etc/passwd\n",
        "user-jobs = no\n",
        "user-jobs = yes\n",
        "user-jobs = flux, root,1000\n",
        "tick = all\n",
        "source = true, b | c\nsource = cat\n",
        "source =\n",
        "cgroup-v1 = auto\n",
        "cgroup-v1 = none\n",
        "cgroup-v1 = cpuset\n",
        "counters = no\ntop = 0\nread-budget = 0\nspool-max-files = 0\nspool-max-size = 0\n",
        "read-budget = 1.5%\n",
        "interval = 10s",
    ):
        settings(folder, text)


def bad(folder):
    """wrong settings are named with their line"""
    for text, line, word in (
        ("intervall = 10s\n", 1, "no setting"),
        ("\n# x\ninterval = 10\n", 3, "unit"),
        ("interval = -1s\n", 1, "not a time"),
        ("interval = 99999999999999999999s\n", 1, "not a time"),
        ("interval = 100ms\n", 1, "200ms"),
        ("interval\n", 1, "key = value"),
        ("= 5\n", 1, "no setting"),
        ("top = 5\nlisten =\ntop = 6\n", 3, "line 1"),
        ("top = 0x\n", 1, "whole number"),
        ("top = 18446744073709551616\n", 1, "whole number"),
        ("listen = localhost:9410\n", 1, "address"),
        ("host = node 7\n", 1, "name of a machine"),
        (f"host = {65 * 'n'}\n", 1, "at most 64"),
        ("listen = 127.0.0.1\n", 1, "address"),
        ("listen = 127.0.0.1:70000\n", 1, "address"),
        ("listen = [::1:9410\n", 1, "address"),
        ("hosts = node1:9410\n", 1, "without ports"),
        ("hosts = *\n", 1, "names of a machine"),
        ("hosts = " + "x" * 1024 + "\n", 1, "too long"),
        ("schedulers = slurm,,flux\n", 1, "scheduler"),
        ("schedulers = lsf\n", 1, "lsf"),
        ("schedulers = none\n", 1, "none"),
        ("counters = maybe\n", 1, "yes or no"),
        ("user-jobs = nobody-of-this-name\n", 1, "id -u"),
        ("user-jobs =\n", 1, "no user"),
        ("user-jobs = 4294967295\n", 1, "no user"),
        ("user-jobs = " + ",".join(map(str, range(17))) + "\n", 1, "yes"),
        ("cgroup-v1 = freezers\n", 1, "freezer or cpuset"),
        ("cgroup-v1 =\n", 1, "none, auto"),
        ("tick = never\n", 1, "auto, all or off"),
        ("split = all\n", 1, "destination"),
        ("method = guess\n", 1, "state-space"),
        ("weights = a,b,c,d\n", 1, ""),
        ("read-budget = 101\n", 1, "percentage"),
        ("spool = spool\n", 1, "slash"),
        ("state =\n", 1, "slash"),
        ("keep-days = 99999\n", 1, "36500"),
        ("keep-days = 5s\n", 1, "from 1h"),
        ("top = 5\nspool-max-size = 5\n", 2, "from 1M"),
        ("listen = 127.0.0.1:9410,[::1]:9410,127.0.0.1:9410\n", 1, "only one of them"),
        ("listen = 127.0.0.1:9410,127.0.0.1:09410\n", 1, "only one of them"),
        ("listen = 127.0.0.1:9410, 0.0.0.0:9410\n", 1, "only one of them"),
        ("listen = /run/a,/run/a\n", 1, "only one of them"),
        # those that do not fit to others
        ("top = 5\ninterval = 500ms\nwindow = 1s\n", 3, "a shorter window"),
        ("top = 5\nhistory = 5s for 1h\n", 2, "begin the history with 10s"),
        ("history = 10s\n", 1, "TIME for TIME"),
        ("history =\n", 1, "or none"),
        ("top = 5\nhistory = 5m for 1h, 10s for 30d\n", 2, "from fine to coarse"),
        ("history = 10s for 1h, 15s for 30d\n", 1, "not a multiple of 10s"),
        ("history = 10s for 1h, 1h for 30d\n", 1, "in between"),
        ("history = 10s for 1h, 5m for 30min\n", 1, "not kept for longer"),
        ("history = 10s for 100d\n", 1, "864000 intervals"),
        ("history = 10ms for 1h\n", 1, "at least"),
        ("history = 10s for 1h, 1m for 2h, 10m for 3h, 1h for 1d, 6h for 2d\n", 1, "leave one out"),
        ("spool = /" + "x" * 5000 + "\n", 1, "not text"),
        ("spool = /" + "x" * 4090 + "\n", 1, ""),
        (b"interval = 10s\0\n", 1, "not text"),
        (b"\xff\xfe\n", 1, "key = value"),
    ):
        said = settings(folder, text, status=2)
        assert f"serve.conf:{line}: " in said, f"{text!r}: {said}"
        assert word in said, f"{text!r}: {said}"


def together(folder):
    """settings that do not go together"""
    for text, word in (
        ("interval = 200ms\nwindow = 300ms\n", "window"),
        ("method = cpu-time\nweights = l3d_cache_refill\n", "weights"),
        ("history = 5s for 1h\n", "interval"),
        ("pci-map = /etc/map\n", "pci-map"),
        ("counters = no\nsplit = destination\n", "split"),
    ):
        assert word in settings(folder, text, status=2)


def options(folder):
    """the command line wins, and is judged alike"""
    settings(folder, "interval = 300ms\n", "--window=250ms")
    settings(folder, "source = cat\n", "--source=true", "--source=false")
    settings(folder, "interval = 200ms\nwindow = 300ms\n", "--interval=1s")
    assert "--interval" in settings(folder, "", "--interval=5", status=2)
    settings(folder, "", "--colour", status=2)
    settings(folder, "", "argument", status=2)


def no_file(folder):
    """a file that was asked for must be there, and be a file"""
    (folder / "folder").mkdir()
    for name, why in (("none", "No such file"), ("folder", "Is a directory")):
        done = subprocess.run(
            [program, "serve", "--check-config", "--config", folder / name],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and name in done.stderr and why in done.stderr, done


NOBODY = 65534
# Locks a file or folder for all time, and says so.
LOCK = "import fcntl, os, sys; f = os.open(sys.argv[1], os.O_RDONLY); fcntl.flock(f, fcntl.LOCK_SH); {}; print('locked', flush=True); sys.stdin.read()"


class Locked:
    """Somebody who may write nothing holds a lock on @path."""

    def __init__(self, path, how="pass"):
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOCK.format(how), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
        )
        self.works = self.process.stdout.readline() == "locked\n"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.communicate()


def start(folder):
    """Start the daemon with this folder, as far as to the address that no machine has; what it says."""
    path = folder / "serve.conf"
    path.write_text(
        f"state = {folder}/state/accounts.db\nspool = {folder}/spool\nlisten = 192.0.2.1:9\ncounters = no\n",
        encoding="ascii",
    )
    done = subprocess.run(
        [program, "serve", "--config", path],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.umask(0),
        timeout=60,
    )
    assert done.returncode == 1, done
    return done.stderr


def locks(folder):
    """who may not write cannot keep the daemon from starting, whatever the umask"""
    assert not os.geteuid(), "only root can become another user"
    posix = "fcntl.lockf(f, fcntl.LOCK_SH)"
    folder.chmod(0o755)
    assert "192.0.2.1" in start(folder)
    state, spool = folder / "state", folder / "spool"
    for path, mode in ((state, 0o750), (spool, 0o750), (state / "accounts.db", 0o640)):
        assert path.stat().st_mode & 0o7777 == mode, f"{path}: {path.stat().st_mode:o}"
    # folders that an administrator has opened
    state.chmod(0o755)
    spool.chmod(0o755)
    for path in (*state.iterdir(), spool / ".t410trace-lock"):
        with Locked(path, posix) as lock:
            assert not lock.works, f"others can lock {path}"
    with Locked(spool) as first, Locked(state) as second:
        assert first.works and second.works
        assert "192.0.2.1" in start(folder)
    # a lock from a time when the file was for everybody: who has it is said, and only that one
    (state / "accounts.db.lock").chmod(0o644)
    with Locked(state / "accounts.db.lock", posix) as lock:
        assert lock.works
        said = start(folder)
        name = pathlib.Path(f"/proc/{lock.process.pid}/comm").read_text(encoding="utf-8").strip()
        assert f"process {lock.process.pid} ({name})" in said and "clean" not in said, said
    assert "192.0.2.1" in start(folder)


def unit(folder):
    """systemd takes the units, and finds them closed enough"""
    for unit in UNIT, GPU_UNIT:
        copy = folder / unit.name
        # the program and the page need not be installed here
        text = re.sub("/usr/local/bin/t410trace[-a-z]*", shutil.which("true"), unit.read_text(encoding="ascii"))
        copy.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.M), encoding="ascii")
        done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        done = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", f"--threshold={int(EXPOSURE * 10)}", copy],
            capture_output=True,
            text=True,
            check=False,
        )
        level = re.search(r"exposure level for .*: ([0-9.]+)", done.stdout)
        assert level and float(level[1]) <= EXPOSURE, done.stdout[-200:]


def unit_of_the_helper(_folder):
    """the helper's unit listens where the daemon, which starts behind it, looks"""
    source = (ROOT / "user/live/program/gpu.h").read_text(encoding="ascii")
    socket = re.search(r'#define GPU_SOCKET\s+"(.*)"', source)[1]
    text = GPU_UNIT.read_text(encoding="ascii")
    assert f"\nExecStart=/usr/local/bin/t410trace-gpu --socket {socket}\n" in text
    assert socket == f"/run/{re.search('RuntimeDirectory=(.*)', text)[1]}/socket"
    for key in ("Wants", "After"):
        assert re.search(rf"^{key}=.*\b{GPU_UNIT.name}", UNIT.read_text(encoding="ascii"), re.M), key


def unit_order(_folder):
    """the unit comes after the time is right, and does not pull that in"""
    named = {}
    for key, value in re.findall(r"^(\w+)=(.*)", UNIT.read_text(encoding="ascii"), re.M):
        named.setdefault(key, set()).update(value.split())
    assert "time-sync.target" in named["After"], f"after {named['After']}"
    # systemd.special(7): only services that set the clock want it
    for key in ("Wants", "Requires", "Requisite", "BindsTo"):
        assert "time-sync.target" not in named.get(key, ()), key


def unit_capabilities(_folder):
    """the unit's capabilities are those that the program keeps"""
    text = UNIT.read_text(encoding="ascii")
    allowed = set(re.search(r"^CapabilityBoundingSet=(.*)", text, re.M)[1].split())
    source = (ROOT / "user/platform/sys/privileges.c").read_text(encoding="ascii")
    running = set(re.findall(r"\{ (CAP_[A-Z_]+), true,", source))
    assert allowed == running, f"{allowed} in the unit, {running} in the program"
    for name in running:
        assert re.search(rf"^#   {name} ", text, re.M), f"the unit has no reason for {name}"


for test in (packaged, good, bad, together, options, no_file, locks, unit, unit_of_the_helper, unit_order, unit_capabilities):
    check(test)
sys.exit(failed)
