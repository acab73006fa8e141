#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_options.py T410TRACE: every option and setting that takes a time, a size or a percentage has
units, and says what is wrong with others; names of schedulers are the same everywhere."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

program = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
failed = 0

# What else is wrong with these command lines is said only if all values are right.
WRONG_OTHERWISE = {
    "": (["-a", "-q", "-v"], "-q and -v exclude each other"),
    "record": (["-o", "f", "-q", "-v"], "-q and -v exclude each other"),
    "report": (["f", "-q", "-v"], "-q and -v exclude each other"),
    "neighbours": (["-q", "-v"], "-q and -v exclude each other"),
    "stat": (["-q", "-v"], "-q and -v exclude each other"),
    "top": (["-a", "-p", "1"], "-a follows everything"),
    "job": (["1", "--json", "--compact"], "--json and --compact exclude each other"),
    "jobs": (["argument"], 'unexpected argument "argument"'),
    "serve": (["argument"], 'unexpected argument "argument"'),
}
# (right, wrong) values by option; settings of the daemon are judged with its file.
TIMES = (["500ms", "0.5s", "1s", "1 s", "500"], ["", "x", "5x", "-1s", "1e3", "1h30m", "1ms5", "s"])
VALUES = {
    ("", "interval"): (TIMES[0] + ["1h", "60min", "10ms"], TIMES[1] + ["9ms", "61min", "2h", "9", "1.5"]),
    ("", "duration"): (["1ms", "10m", "366d", "10", "0.5", "1.5h"], TIMES[1] + ["0", "367d", "100us", "nan"]),
    ("", "window"): (["1ms", "1s", "1000us", "10"], TIMES[1] + ["999us", "2s", "2000", "0"]),
    ("", "probe-interval"): (["1ms", "1h", "100"], TIMES[1] + ["0", "61min"]),
    ("", "read-budget"): (["0", "0.5", "0.5%", "100%"], ["", "x", "101", "1%%", "-1", "1e1", "0.5s"]),
    ("stat", "read-budget"): (["0.001", "0.5%"], ["0", "0.0001%", "101", "x"]),
    ("neighbours", "rise"): (["1", "20%", "10000"], ["0", "10001%", "x", "20x"]),
    ("record", "max-size"): (["1M", "64M", "1.5G", "2T", "1048576"], ["", "1", "1023K", "1X", "1GB", "-1G", "1e9"]),
    ("", "peak"): (
        ["546GB/s", "0.5TB/s", "cmem=546GB/s,pcie=64GB/s", "gmem=1GiB/s,cxl=2MB/s,remote=3kB/s", "none"],
        ["546", "546GB", "0GB/s", "2000TB/s", "-1GB/s", "cmem=", "cmem=1e3GB/s", "none,1GB/s", "1GB/s,cxl=5"],
    ),
    ("job", "wait"): (["0", "5", "0.5", "500ms", "2min", "1d"], TIMES[1] + ["25h", "-1"]),
    ("job", "since"): (["90s", "15m", "2.5h", "7d", "16:30", "2026-11-22", "@5"], ["", "5", "x", "5x", "1h30m", "5 m"]),
}
VALUES["jobs", "since"] = VALUES["job", "since"]
for name in ("interval", "duration", "window", "probe-interval", "read-budget"):
    for command in ("record", "neighbours", *(["top"] if name != "duration" else [])):
        VALUES[command, name] = VALUES["", name]
for command in ("record", "report", "stat", "neighbours", "top"):
    VALUES[command, "peak"] = VALUES["", "peak"]
for name, command in (("interval", "report"), ("interval", "stat"), ("duration", "stat")):
    VALUES[command, name] = VALUES["", name]
SETTINGS = {
    "interval": (["200ms", "10s", "1.5min", "1h", "90 s"], ["", "10", "199ms", "2h", "-1s", "1e3s", "10x"]),
    "window": (["1ms", "0.5s", "1000us"], ["", "10", "2s", "999us", "10x"]),
    "spool-max-size": (["0", "2G", "64M", "1.5G", "1048576"], ["", "5", "1048575", "1X", "1GB", "-1G", "1e9"]),
    "keep-days": (["0", "90", "30d", "1h", "36500"], ["", "59min", "1us", "36501", "x", "1y", "-1"]),
    "history": (
        ["none", "10s for 1h", "10s for 1h, 5m for 30d", "1min  for 1d ,1h for 30d"],
        ["", "10s", "10s for", "for 1h", "10 for 1h", "1h for 10s", "none,none", "10s for 1h,"],
    ),
    "read-budget": (["0", "0.5", "1.5%"], ["", "101", "x", "-1"]),
    "peak": (["", "546GB/s", "cmem=546GB/s,remote=300GB/s", "none"], ["546", "dram=1GB/s", "0GB/s"]),
}


def check(function):
    global failed
    try:
        function()
        print(f"ok options: {function.__doc__}")
    except (AssertionError, OSError, KeyError, IndexError) as error:
        failed = 1
        print(f"not ok options: {function.__doc__}: {error!r}".replace("\n", " "))


def run(*arguments):
    done = subprocess.run([program, *filter(None, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def options_with(command, kinds):
    """Options of a command whose argument is of these kinds, from its help."""
    shown = subprocess.run([program, *filter(None, [command]), "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(rf"--([a-z-]+)=(?:{kinds})\b", shown.stdout))


def units():
    """all that takes a time, a size or a percentage takes units, and names what is wrong"""
    for command, (line, otherwise) in WRONG_OTHERWISE.items():
        if command == "serve":
            continue
        found = options_with(command, "TIME|SIZE|PERCENT|RATE")
        known = {name for where, name in VALUES if where == command}
        assert found == known, f"{command}: {found ^ known} are not tested, or are not there"
        assert found or command in ("list", "topology"), f"{command} has none"
        for name in sorted(found):
            right, wrong = VALUES[command, name]
            for value in right:
                status, said = run(command, *line, f"--{name}={value}")
                assert status == 2 and otherwise in said, f"{command} --{name}={value}: {said}"
            for value in wrong:
                status, said = run(command, *line, f"--{name}={value}")
                assert status == 2 and otherwise not in said, f"{command} --{name}={value}: {said}"
                shown = {"interval": "-i", "duration": "-d"}.get(name, f"--{name}")
                assert f"{shown} {value}".strip() in said, f"{command} --{name}={value}: {said}"
                assert re.search("not a|must be", said), f"{command} --{name}={value}: {said}"


def same_values():
    """units are what they are called: a window is longer than an interval or not"""
    for interval, window, longer in (
        ("0.5s", "501ms", True),
        ("0.5s", "500ms", False),
        ("500", "500", False),
        ("500", "0.501s", True),
        ("1min", "1s", False),
        ("10ms", "10001us", True),
    ):
        status, said = run("record", "--by", "job", "-o", "f", f"--interval={interval}", f"--window={window}")
        assert status == 2 and ("longer" in said) == longer, f"{interval} {window}: {said}"


def settings():
    """settings have the same units, but none may be left out where it is not in the name"""
    found = options_with("serve", "TIME|SIZE|PERCENT|RATE|PERIOD")
    assert found == set(SETTINGS), f"{found ^ set(SETTINGS)} are not tested, or are not there"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "serve.conf"
        for name, (right, wrong) in SETTINGS.items():
            for value, status in [(v, 0) for v in right] + [(v, 2) for v in wrong]:
                more = "" if name != "window" else "interval = 1h\n"
                path.write_text(f"{more}{name} = {value}\n", encoding="ascii")
                got, said = run("serve", "--check-config", "--config", path)
                assert got == status, f"{name} = {value}: status {got}: {said}"
                assert not status or f"{name} = {value}".strip() in said, f"{name} = {value}: {said}"
                more = "--interval=1h" if name == "window" else "--interval=1s"
                got, said = run("serve", "--check-config", "--config", "/dev/null", more, f"--{name}={value}")
                assert got == status, f"--{name}={value}: status {got}: {said}"
                assert not status or f"--{name} {value}".strip() in said, f"--{name}={value}: {said}"


def unknown():
    """unknown settings and words are named, with those that there are"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "serve.conf"
        path.write_text("intervall = 10s\n", encoding="ascii")
        status, said = run("serve", "--check-config", "--config", path)
        assert status == 2 and 'did you mean "interval"?' in said and "schedulers" in said, said
    for arguments, words in (
        (["-a", "--by", "foo"], ["--by foo", "process, cgroup, thread or job"]),
        (["-a", "--method", "x"], ["--method x", "state-space, weights or cpu-time"]),
        (["-a", "--split", "x"], ["--split x", "none or destination"]),
        (["record", "-o", "f", "--format", "x"], ["--format x", "recording or ndjson"]),
        (["-a", "--nosuch"], ["nosuch"]),
        (["-a", "--tick", "x"], ["--tick x", "auto, all or off"]),
        (["-a", "--cgroup-v1", "x"], ["--cgroup-v1 x", "none, auto or a controller"]),
        (["stat", "--socket", "256"], ["--socket 256", "from 0 to 255"]),
        (["-G", "a,,b"], ["-G a,,b", "empty entry"]),
        (["-a", "--peak", "dram=1GB/s"], ["--peak dram=1GB/s", 'no peak of "dram"', "cmem=546GB/s"]),
        (["-a", "--peak", "=1GB/s"], ['no peak of ""']),
        (["-a", "--peak", "1GB/s,cmem=2GB/s"], ["cmem is there twice"]),
        (["-a", "--peak", "cmem=1GB/s,"], ["empty entry"]),
        (["-a", "--no-counters", "--peak", "1GB/s"], ["--peak", "nothing is counted"]),
        (["-J", "pbs:1"], ["-J pbs:1", "slurm"]),
    ):
        status, said = run(*arguments)
        assert status == 2 and all(word in said for word in words), f"{arguments}: {said}"


def files():
    """a file that is read is not overwritten, and no two options write to one file"""
    with tempfile.TemporaryDirectory() as folder:
        trace, link, new = (pathlib.Path(folder) / name for name in ("trace", "link", "new"))
        trace.write_text("kept", encoding="ascii")
        link.symlink_to(trace)
        for option in ("-o", "--html", "--csv", "--perfetto"):
            for path in (trace, link):
                status, said = run("report", trace, option, path)
                assert status == 2 and f"{option} {path} would overwrite the recording" in said, said
        with trace.open(encoding="ascii") as piped:
            words = [program, "report", "-", "--csv", trace]
            done = subprocess.run(words, stdin=piped, capture_output=True, text=True, check=False)
            assert done.returncode == 2 and "would overwrite the recording" in done.stderr, done
        status, said = run("neighbours", trace, "-o", trace)
        assert status == 2 and "would overwrite" in said, said
        status, said = run("stat", "--counts", trace, "--group", "x", "-o", trace)
        assert status == 2 and "would overwrite the file of counts" in said, said
        assert trace.read_text(encoding="ascii") == "kept"
        for words in (["report", trace, "--html", new, "--csv", new], ["-a", "-o", new, "--html", new]):
            status, said = run(*words)
            assert status == 2 and f"name the same file, {new}" in said and not new.exists(), said
        status, said = run("report", trace, "--html", "/dev/null", "--csv", "/dev/null")
        assert status == 1 and "is neither a recording" in said, said


def schedulers():
    """one list of schedulers: in help, messages, schemas, completion and the packaged settings"""
    said = run("jobs", "--scheduler", "pbs")[1]
    names = re.split(", | and ", re.search("schedulers are ([a-z, ]+?) Try", said)[1])
    assert len(names) >= 7, names
    text = f"{', '.join(names[:-1])} or {names[-1]}"
    for command in ("", "jobs", "serve"):
        assert text in run(command, "--help")[1], f"help of {command or 'the main job'}"
    found = 0
    for path in sorted((ROOT / "share").glob("*.schema.json")):
        for listed in re.findall(r'"enum": (\[[^\]]*"slurm"[^\]]*\])', path.read_text(encoding="ascii")):
            assert json.loads(listed) == names, f"{path.name}: {listed}"
            found += 1
    assert found >= 4, f"only {found} schemas have schedulers"
    assert f"'{' '.join(names)}'" in (ROOT / "completion/t410trace").read_text(encoding="ascii"), "completion"
    conf = (ROOT / "packaging/serve.conf").read_text(encoding="ascii")
    assert f"{', '.join(names)}." in conf and f"#schedulers = {','.join(names[:-1])}\n" in conf, "serve.conf"


def commands():
    """one table of commands: help, completion and the manual page have them all"""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  t410trace ([a-z]+) ", shown, re.M)
    assert len(names) >= 10, names
    assert f" {' '.join(names)}'" in (ROOT / "completion/t410trace").read_text(encoding="ascii"), "completion"
    page = (ROOT / "man/t410trace.1").read_text(encoding="utf-8")
    for name in names:
        assert name == "help" or f".SS Options of t410trace {name}\n" in page, f"{name} has no options in the page"
        assert run("help", name) == run(name, "--help"), f"help {name}"
        assert f"Usage: t410trace {name} " in run(name, "--help")[1], name
        plain = subprocess.run([program, name, "--help"], capture_output=True, text=True, check=True).stdout
        options = plain.partition("\n\n")[2].splitlines()
        assert not [line for line in options if re.match(" *-", line) and not re.match(" {2,6}-", line)], plain
        assert "Exit status: 0 done, 1 failed, 2 wrong arguments" in run(name, "--help")[1], name


def mistakes():
    """a mistake in the arguments is named whatever the machine has, before PMUs and privileges are missing"""
    assert run("help") == run("--help"), run("help")
    for arguments, status, words in (
        (["-p", "4194303"], 1, "-p 4194303: there is no such process"),
        (["neighbours", "-p", "4194303"], 1, "-p 4194303: there is no such process"),
        (["stat", "-p", "4194303"], 1, "process 4194303: No such process"),
        (["-G", "/nosuch/cgroup"], 1, "/nosuch/cgroup"),
        (["-a", "-D", "nvme99n9"], 1, "-D nvme99n9: there is no such device"),
        (["-a", "-D", "lo"], 1, "-D lo is not on a PCI device"),
        (["-a", "-D", "all", "--pci-map", "/nosuch/map"], 1, "/nosuch/map"),
        (["--", "/nosuch/program"], 127, "cannot run /nosuch/program: No such file"),
        (["stat", "--", "nosuch-program"], 127, "cannot run nosuch-program: No such file"),
        (["record", "-o", "/dev/null", "--", "/etc"], 126, "cannot run /etc: Permission denied"),
        (["-a", "--weights", "nosuch"], 1, 'there is no event "nosuch" to weigh tasks with'),
        (["-a", "-o", "/nosuch/folder/text"], 1, "cannot write to /nosuch/folder/text"),
        (["-a", "--html", "/proc/page"], 1, "cannot write to /proc/page"),
        (["record", "-o", "/nosuch/folder/rec"], 1, "cannot write to /nosuch/folder/rec"),
        (["stat", "-o", "/"], 1, "cannot write to /: Is a directory"),
        (["help", "stats"], 2, 'unknown command "stats"; did you mean "stat"?'),
        (["help", "stat", "top"], 2, "top: one command at a time"),
        (["help", "--json"], 2, "--json"),
    ):
        got, said = run(*arguments)
        assert got == status and words in said and "uncore PMU" not in said, f"{arguments}: {got}: {said}"


for test in (units, same_values, settings, unknown, files, schedulers, commands, mistakes):
    check(test)
sys.exit(failed)
