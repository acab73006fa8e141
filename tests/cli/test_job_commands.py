#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_job_commands.py T410TRACE MAKE_ACCOUNTS: "t410trace job" and "t410trace jobs" on stores made for it."""

import contextlib
import csv
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

program, maker = sys.argv[1:]
failed = 0


def run(*arguments, status=0, text=None, **more):
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, input=text, timeout=60, **more
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, not {status}: {done.stdout} {done.stderr}")
    done.told = " ".join(done.stderr.split())
    return done


def make(file, *steps):
    subprocess.run([maker, str(file), *steps], check=True)


class Keeper:
    """A process that keeps the store: steps one after the other; it has done those before "ok" when this is made."""

    def __init__(self, file, *steps):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([maker, str(file), *steps], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ok\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(30) == 0


def stuffed_pipe():
    """A pipe that is full already, so that whoever writes to it waits: of zeros."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, bytes(4096))
    os.set_blocking(write, True)
    return read, write


def wait_blocked(process, looks=20):
    """Until a process has slept for some looks: there is nothing but what is wanted that it could wait for."""
    asleep = 0
    for _ in range(3000):
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        if asleep == looks:
            return
        time.sleep(0.02)
    raise AssertionError("it does not wait")


def check(function):
    """Run one test in a directory of its own, and say how it went."""
    global failed
    with tempfile.TemporaryDirectory() as directory:
        try:
            function(pathlib.Path(directory) / "accounts.db")
            print(f"ok job commands: {function.__doc__}")
        except (AssertionError, KeyError, IndexError, ValueError, subprocess.SubprocessError) as error:
            failed = 1
            print(f"not ok job commands: {function.__doc__}: {error!r}".replace("\n", " "))


def key_of(done):
    return json.loads(done.stdout)["job"]["key"]


@check
def which(file):
    """the last of an id, by scheduler, by key, all"""
    make(file, "jobs")
    where = ("--state", file)
    done = run("job", "12", "--json", *where)
    assert key_of(done) == "slurm-12-884-1", done.stdout
    assert "2 jobs have the id 12" in done.told and "slurm-12-881-1 (ended)" in done.told, done.told
    assert "is running: this is its account so far" in done.told, done.told
    assert "nobody keeps accounts" in done.told, done.told
    assert key_of(run("job", "slurm:12", "--json", *where)) == "slurm-12-884-1"
    done = run("job", "slurm-12-881-1", "--json", *where)
    assert key_of(done) == "slurm-12-881-1" and not done.stderr, done.stderr
    lines = run("job", "12", "--all", "--json", *where).stdout.splitlines()
    assert [json.loads(line)["job"]["key"] for line in lines] == ["slurm-12-884-1", "slurm-12-881-1"]
    assert run("job", "13", *where).stdout.startswith("slurm job 13 ")
    # one that the job has a step of, and one that no container can have
    assert key_of(run("job", "12.batch", "--json", *where)) == "slurm-12-884-1"
    run("job", "docker:12", *where, status=2)
    # what is no scheduler may be part of an id
    run("job", "nobody:12", *where, status=4)


@check
def short_ids(file):
    """of ids of containers and pods the first twelve characters are enough, of others nothing is"""
    container, pod = "0123456789ab" + "c" * 52, "12345678-1234-1234-1234-123456789012"
    make(file, "jobs")
    where = ("--state", file)
    with contextlib.closing(sqlite3.connect(file)) as store:
        for new, scheduler, key in (
            (container, "docker", "slurm-12-881-1"),
            (pod, "kubernetes", "slurm-13-882-1"),
            ("123456789012", "libvirt", "slurm-14-883-1"),
            ("1234567890123" + "." * 30, "systemd", "slurm-12-884-1"),
        ):
            store.execute("UPDATE jobs SET id = ?, scheduler = ? WHERE key = ?", (new, scheduler, key))
        store.commit()
    for text in container[:12], f"docker:{container[:20]}", container:
        assert key_of(run("job", text, "--json", *where)) == "slurm-12-881-1", text
    assert key_of(run("job", pod[:12], "--json", *where)) == "slurm-13-882-1"
    for text in container[:11], f"podman:{container[:12]}", container[:12] + "d", "1234567890123":
        run("job", text, *where, status=4)
    # who has just this id comes first
    with contextlib.closing(sqlite3.connect(file)) as store:
        store.execute("UPDATE jobs SET id = ? WHERE id = '123456789012'", (container[:12],))
        store.commit()
    assert key_of(run("job", container[:12], "--json", *where)) == "slurm-14-883-1"
    table = run("jobs", *where).stdout
    assert f"docker/{container[:12]} " in table and "kubernetes/12345678-123" in table, table


@check
def newest(file):
    """which of an id is the last: one that runs, else the one that ended last, whenever they began"""
    make(file, "jobs", "long=13")
    where = ("--state", file)
    assert key_of(run("job", "13", "--json", *where)) == "slurm-13-880-1"
    make(file, "older=13")
    lines = run("job", "13", "--all", "--json", *where).stdout.splitlines()
    keys = [json.loads(line)["job"]["key"] for line in lines]
    assert keys == ["slurm-13-879-1", "slurm-13-880-1", "slurm-13-882-1"], keys
    assert key_of(run("job", "13", "--json", *where)) == keys[0]


@check
def incomplete(file):
    """an account that lacks time that nobody looked says so; one with a missing reading: status 3"""
    make(file, "jobs", "course=30")
    done = run("job", "14", "--json", "--state", file)
    assert json.loads(done.stdout)["state"] == "stale"
    assert "is not in this account" in " ".join(run("job", "14", "--state", file).stdout.split())
    assert re.search(r" stale\* .*\n(.*\n)*\* a part of its time", run("jobs", "--state", file).stdout)
    table = run("job", "30", "--state", file, status=3).stdout
    assert "no data: ucf0/" in table and "gap: nobody looked" in table, table


@check
def damaged(file):
    """an account that is damaged: the others are shown, and status 3"""
    make(file, "jobs")
    with contextlib.closing(sqlite3.connect(file)) as store:
        store.execute("UPDATE jobs SET details = zeroblob(99) WHERE id = '13'")
        store.commit()
    done = run("jobs", "--json", "--state", file, status=3)
    assert [job["job"]["id"] for job in json.loads(done.stdout)["jobs"]] == ["12", "14", "12"], done.stdout
    assert "slurm-13-882-1 is damaged" in done.told, done.told
    done = run("job", "13", "--state", file, status=4)
    assert "slurm-13-882-1 is damaged" in done.told, done.told
    assert "damaged" not in run("job", "12", "--state", file).told


@check
def missing(file):
    """no such job, no store, no rights: what to do"""
    done = run("job", "12", "--state", file, status=4)
    assert str(file) in done.told and "t410trace serve" in done.told, done.told
    assert not done.stdout
    make(file)
    assert "no accounts in" in run("job", "12", "--state", file, status=4).told
    make(file, "jobs")
    done = run("job", "99", "--state", file, status=4)
    assert "there is no account of job 99" in done.told and "t410trace jobs" in done.told, done.told
    run("job", "13", "--since", "1s", "--state", file, status=4)
    file.write_bytes(b"something else, long enough" * 1000)
    for suffix in ("-wal", "-shm"):
        pathlib.Path(f"{file}{suffix}").unlink(missing_ok=True)
    done = run("job", "12", "--state", file, status=1)
    assert "not a database" in done.told, done.told
    for command in (("jobs",), ("job", "12")):
        run(*command, "--state", file.parent / "none", status=4)


@check
def compact(file):
    """a compact record, and what is in it"""
    make(file, "jobs")
    done = run("job", "13", "--compact", "--state", file)
    assert done.stdout.startswith("t4j1l:") and len(done.stdout.split()) == 1, done.stdout
    assert len(done.stdout) < 1024, len(done.stdout)
    value = json.loads(run("job", "--decode", done.stdout.strip()).stdout)
    assert value == json.loads(run("job", "--decode", "-", text=f"\n {done.stdout}\n").stdout)
    assert "13" in map(str, value.values()), value
    told = run("job", "--decode", done.stdout[:-20], status=1).told
    assert "damaged" in told and "t4j1l:" in told, told
    assert "later version" in run("job", "--decode", "t4j9l:aaaa", status=1).told
    for old in ("T4J1:H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==", "t4j1:h4si"):
        assert "make it again" in run("job", "--decode", old, status=1).told
    run("job", "13", "--compact", "--caseless", "--state", file, status=2)
    run("job", "--decode", "-", text="", status=1)
    run("job", "--decode", "-", text="x" * 2000000, status=1)
    run("job", "--decode", "", status=1)


@check
def wait_for_end(file):
    """--wait: until the job has ended"""
    with Keeper(file, "jobs", "ok", "line", "end=12", "hold") as keeper:
        command = [program, "job", "12", "--wait", "60", "--json", "--state", file]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waits:
            # it looks again and again, and sleeps in between
            wait_blocked(waits, 3)
            start = time.monotonic()
            keeper.process.stdin.write(b"\n")
            keeper.process.stdin.flush()
            out, told = waits.communicate(timeout=60)
        assert not waits.returncode and time.monotonic() - start < 30, (waits.returncode, told)
        assert json.loads(out)["state"] == "ended"
        assert "running" not in told, told


@check
def wait_for_next_run(file):
    """--wait: an earlier run that ended long ago is not the answer while a newer one may not be known"""
    with Keeper(file, "jobs", "ok", "sleep=1000", "run=13", "end=13", "hold"):
        done = run("job", "13", "--wait", "20", "--json", "--state", file)
        assert key_of(done) == "slurm-13-884-1", done.stdout
    # nobody is there who could know of one
    assert key_of(run("job", "13", "--wait", "20", "--json", "--state", file)) == "slurm-13-884-1"


@check
def wait_knows_an_earlier_run(file):
    """--wait --since: an account that ends before the begin is of an earlier run, also when that never ended"""
    later = f"@{int(time.time()) + 3600}"
    make(file, "jobs")
    told = run("job", "12", "--wait", "20", "--since", later, "--state", file, status=4).told
    assert "no account of job 12" in told and "nobody keeps" in told, told
    assert key_of(run("job", "12", "--wait", "20", "--since", "1h", "--json", "--state", file, status=5))
    assert key_of(run("job", "12", "--since", later, "--json", "--state", file))
    with Keeper(file, "jobs", "ok", "hold"):
        run("job", "12", "--wait", "0.3", "--since", later, "--state", file, status=4)


@check
def wait_for_no_next_run(file):
    """--wait: when no newer account comes, an earlier run is shown as what it is"""
    with Keeper(file, "jobs", "ok", "hold"):
        done = run("job", "13", "--wait", "0.3", "--json", "--state", file, status=5)
        assert key_of(done) == "slurm-13-882-1", done.stdout
        assert "may be of an earlier run of job 13" in done.told and "--since" in done.told, done.told
        # who chose it, or does not wait, has it
        assert "earlier" not in run("job", "13", "--wait", "0.3", "--since", "1h", "--state", file).told
        assert "earlier" not in run("job", "13", "--state", file).told
    # nobody is there who could know of one
    start = time.monotonic()
    assert "nobody keeps" in run("job", "13", "--wait", "30", "--state", file, status=5).told
    assert time.monotonic() - start < 10


@check
def wait_in_vain(file):
    """--wait: the time is over, or nobody is there to wait for"""
    with Keeper(file, "jobs", "ok", "hold"):
        start = time.monotonic()
        done = run("job", "12", "--wait", "0.5", "--json", "--state", file, status=5)
        assert 0.4 < time.monotonic() - start < 10
        assert json.loads(done.stdout)["state"] == "running"
        assert "has not ended within 0.5 s" in done.told and "accounts are kept" in done.told, done.told
        run("job", "99", "--wait", "0.3", "--state", file, status=4)
        # an earlier job of the number is not the one
        run("job", "13", "--wait", "0.3", "--since", "10s", "--state", file, status=4)
    start = time.monotonic()
    done = run("job", "12", "--wait", "30", "--state", file, status=5)
    assert "nobody keeps accounts" in done.told, done.told
    assert "slurm job 12" in done.stdout
    run("job", "99", "--wait", "30", "--state", file, status=4)
    run("job", "12", "--wait", "30", "--state", file.parent / "none", status=4)
    assert time.monotonic() - start < 10


@check
def wait_for_begin(file):
    """--wait: the job is not there yet, either"""
    with Keeper(file, "jobs", "ok", "sleep=500", "end=77", "hold"):
        run("job", "77", "--wait", "20", "--state", file)


def listed(*arguments):
    done = run("jobs", "--json", *arguments)
    return [job["job"]["key"].split("-", 1)[1] for job in json.loads(done.stdout)["jobs"]], done.told


@check
def lists(file):
    """the list, and what it leaves out"""
    make(file, "jobs")
    where = ("--state", file)
    keys, told = listed(*where)
    assert keys == ["12-881-1", "13-882-1", "14-883-1", "12-884-1"], keys
    assert "nobody keeps accounts" in told and "last 4" not in told, told
    keys, told = listed("-n", 2, *where)
    assert keys == ["14-883-1", "12-884-1"] and "these are the last 2 jobs" in told, (keys, told)
    assert "these are" not in listed("-n", 4, *where)[1]
    assert len(listed("--last=0", *where)[0]) == 4
    assert listed("--running", *where)[0] == ["12-884-1"]
    assert listed("--ended", *where)[0] == ["12-881-1", "13-882-1", "14-883-1"]
    assert len(listed("--ended", "--running", *where)[0]) == 4
    assert listed("--user", "alice", *where)[0] == ["13-882-1"]
    assert len(listed("--scheduler", "slurm", *where)[0]) == 4
    assert listed("--scheduler", "docker", *where)[0] == []
    assert listed("--since", "150s", *where)[0] == ["14-883-1", "12-884-1"]
    text = run("jobs", *where).stdout
    assert [line.split()[0] for line in text.splitlines()[1:5]] == ["12", "13", "14", "12"], text
    with Keeper(file, "ok", "hold", "jobs"):
        pass


@check
def state(file):
    """a keeper that is there, and one that has stopped"""
    with Keeper(file, "jobs", "ok", "hold"):
        assert not run("jobs", "--state", file).stderr
    assert "the last interval ended" in run("jobs", "--state", file).told


def run_with_settings(text, *arguments, status=0):
    """With a serve.conf of this content where the program looks for it: in a mount namespace, on an /etc of its own."""
    conf = re.search(r"default\s+(/\S+/serve\.conf)", run("serve", "--help").stdout)[1]
    script = 'mount -t tmpfs none "$1" && mkdir -p "${2%/*}" && printf %s "$3" > "$2" && shift 3 && exec "$@"'
    top = "/" + conf.split("/")[1]
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    done = subprocess.run(
        [*unshare, "sh", "-c", script, "sh", top, conf, text, os.path.realpath(program), *arguments],
        capture_output=True, text=True, check=False, timeout=60,
    )
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


@check
def state_in_settings(file):
    """both commands find accounts where serve.conf has them, and --state is stronger"""
    make(file, "jobs")
    right = f"interval = 30s\n#state = /nowhere/1\n state =\t{file} \nstateless = /nowhere/2\n"
    for arguments in ("job", "13", "--json"), ("jobs", "--json"):
        want = run(*arguments, "--state", file).stdout
        assert run_with_settings(right, *arguments).stdout == want, arguments
        assert run_with_settings(f"state = /nowhere/3\n{right}", *arguments).stdout == want, "the last one counts"
        assert run_with_settings("state = /nowhere/4\n", *arguments, "--state", str(file)).stdout == want
        done = run_with_settings("state = /nowhere/5\n", *arguments, status=4)
        assert "/nowhere/5" in done.stderr and not done.stdout, done


@check
def slow_pager(file):
    """a reader that waits for its output to be read does not make the log of the store grow"""
    intervals, running = 40, ["many=500"]
    log = pathlib.Path(f"{file}-wal")
    for command in (("jobs", "-n", "0", "--json"), ("job", "1000", "--all", "--json")):
        with Keeper(file, *running, "run=1000", "ok", "line", *running * intervals, "ok", "hold") as keeper:
            pipe = stuffed_pipe()
            reader = subprocess.Popen([program, *command, "--state", file], stdout=pipe[1], stderr=subprocess.DEVNULL)
            os.close(pipe[1])
            wait_blocked(reader)
            keeper.process.stdin.write(b"\n")
            keeper.process.stdin.flush()
            assert keeper.process.stdout.readline() == b"ok\n"
            size = log.stat().st_size
            assert reader.poll() is None, "the reader did not wait"
            with open(pipe[0], "rb") as rest:
                shown = rest.read().lstrip(b"\0")
            assert reader.wait(30) == 0
        assert json.loads(shown.splitlines()[0]), shown[:80]
        assert size < 12 << 20, f"{command}: the log has {size} bytes"


@check
def times(file):
    """points in time"""
    make(file, "jobs")
    made = time.time()
    environment = {**os.environ, "TZ": "CET-1"}
    here = time.gmtime(time.time() + 3600)
    good = ("5m", "2.5h", "7d", "90s", "@0", "@1763740800.5", "2026-01-31", "2026-01-31 23:59", "2026-01-31T23:59:59Z", "00:00")
    for text in good:
        run("jobs", "--since", text, "--state", file, env=environment)
    for text in ("", "5", "m", "-5m", "5 m", "2026-13-01", "2026-01-31x", "25:00", "@", "@x", "@1e300", "99999d", "nan s", "infd"):
        told = run("jobs", "--since", text, "--state", file, status=2, env=environment).told
        assert f"--since {text}" in " ".join(told.split()) or not text.strip(), told
    # local time, unless it says otherwise: these two are the same moment, after all jobs have ended
    for text in (time.strftime("%Y-%m-%dT%H:%M:%S", here), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())):
        done = run("jobs", "--ended", "--json", "--since", text, "--state", file, env=environment)
        assert json.loads(done.stdout)["jobs"] == [], text
    before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(made + 3600 - 150))
    done = run("jobs", "--ended", "--json", "--since", before, "--state", file, env=environment)
    assert len(json.loads(done.stdout)["jobs"]) == 1


def numbers(plot, label):
    (layer,) = [layer for layer in plot["layers"] if layer["label"] == label]
    return layer


@check
def intervals(file):
    """the intervals of a job are its account, in JSON and on the page; a gap stays one"""
    make(file, "course=30")
    account = json.loads(run("job", "30", "--json", "--history", "--state", file, status=3).stdout)
    steps = account["history"]["intervals"]
    assert account["history"]["complete"] and len(steps) == 6
    assert "history" not in json.loads(run("job", "30", "--json", "--state", file, status=3).stdout)
    for name, metric in account["metrics"].items():
        for key in ("value", "low", "high"):
            had = [step["metrics"][name][key] for step in steps if name in step["metrics"]]
            assert sum(had) == metric[key], (name, key, had, metric[key])
    without = [i for i, step in enumerate(steps) if "value" not in step["counters"][0]]
    assert without == [1], without
    assert [step["gap_ns"] for step in steps] == [0, 0, account["gap_ns"], 0, 0, 0]
    out = file.parent / "job.html"
    done = run("job", "30", "--state", file, "--html", out, status=3)
    assert not done.stdout
    lines = list(csv.DictReader(run("job", "30", "--state", file, "--csv", "-", status=3).stdout.splitlines()))
    assert sum(int(line["value"]) for line in lines if line["record"] == "cpu") == account["on_cpu_ns"]
    assert [line["sequence"] for line in lines if line["name"] == "gap_ns"] == ["2"]
    for i, counter in enumerate(account["counters"]):
        shares = [line for line in lines if line["record"] == "share" and line["name"] == counter["name"]]
        assert len(shares) == 6 and shares[0]["row"] == account["job"]["key"], shares
        assert [line["sequence"] for line in shares if not line["value"]] == ([] if i else ["1"])
        for key in ("value", "low", "high"):
            assert sum(int(line[key] or 0) for line in shares) == counter[key], (counter["name"], key)
    page = out.read_text(encoding="utf-8")
    assert "://" not in page.split("<script>")[0] and 'id="incomplete"' not in page and 'id="no-history"' not in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    memory, energy = data["plots"][0], data["plots"][2]
    # a point for each interval, and one for the time that nobody looked
    assert data["intervals"] == [1, 1, 0, 1, 1, 1, 1], data["intervals"]
    for label, name in (("read", "mem_read_bytes"), ("written", "mem_write_bytes")):
        layer, metric = numbers(memory, label), account["metrics"][name]
        assert [t > 0 for t in layer["counted_ns"]] == [i != 2 for i in range(7)], layer
        for key in ("value", "low", "high"):
            assert sum(layer[key]) == metric[key], (label, key)
    assert not energy["layers"] and sum(numbers(data["plots"][3], "CPUs")["value"]) == account["on_cpu_ns"]
    assert page.count("<tr><th scope=\"row\">") == 6 and "nobody looked for 20.000 s before it" in page
    assert "slurm job 30 on n1" in page and "solver2" in page


@check
def no_history(file):
    """an account is shown although its history cannot be read: no interval is the largest then"""
    make(file, "course=30")
    with contextlib.closing(sqlite3.connect(file)) as store:
        store.execute("UPDATE keeper SET peaks = 'cmem all given 500000000000\n'")
        store.commit()
    peak = json.loads(run("job", "30", "--json", "--state", file, status=3).stdout)["peak"]
    with contextlib.closing(sqlite3.connect(file)) as store:
        store.execute("DROP TABLE job_spans")
        store.commit()
    rest = json.loads(run("job", "30", "--json", "--state", file, status=3).stdout)["peak"]
    assert peak.pop("largest_interval")["share"] >= peak["share"] and rest == peak, (peak, rest)
    run("job", "30", "--json", "--history", "--state", file, status=1)


@check
def some_intervals(file):
    """a page says when intervals are missing, and which setting keeps them"""
    make(file, "rest=31", "jobs")
    out = file.parent / "job.html"
    run("job", "31", "--state", file, "--html", out, status=3)
    assert 'id="incomplete"' in out.read_text(encoding="utf-8")
    rest = json.loads(run("job", "31", "--json", "--history", "--state", file, status=3).stdout)["history"]
    assert not rest["complete"] and len(rest["intervals"]) == 5
    run("job", "13", "--state", file, "--html", out)
    page = out.read_text(encoding="utf-8")
    assert 'id="no-history"' in page and "history = 10s for 1h" in page and "MEMORY" in page.upper()
    none = json.loads(run("job", "13", "--json", "--history", "--state", file).stdout)["history"]
    assert none == {"complete": False, "intervals": []}
    done = run("job", "13", "--state", file, "--csv", file.parent / "job.csv")
    assert "no intervals of job 13" in done.told and "history = 10s" in done.told, done.told
    assert (file.parent / "job.csv").read_text(encoding="ascii").count("\n") == 1
    before = out.read_bytes()
    run("job", "99", "--state", file, "--html", out, status=4)
    assert out.read_bytes() == before
    done = run("job", "13", "--state", file, "--html", "/dev/full", status=1)
    assert "No space left" in done.stderr and "/dev/full" in done.stderr


@check
def usage(file):
    """wrong arguments, and output that cannot be written"""
    for arguments in (
        ("job",),
        ("job", ""),
        ("job", "slurm:"),
        ("job", "1", "2"),
        ("job", "1", "--json", "--compact"),
        ("job", "1", "--wait", "x"),
        ("job", "1", "--wait=-1"),
        ("job", "1", "--wait", "1", "--all"),
        ("job", "1", "--decode", "x"),
        ("job", "1", "--history"),
        ("job", "1", "--html", "/dev/null", "--json"),
        ("job", "1", "--html", "/dev/null", "--all"),
        ("job", "1", "--html", "/dev/null", "--csv", "-"),
        ("job", "1", "--csv", "-", "--json"),
        ("jobs", "1"),
        ("jobs", "-n", "-1"),
        ("jobs", "--scheduler", "none"),
        ("jobs", "--scheduler", "pbs"),
    ):
        done = run(*arguments, "--state", file, status=2)
        assert done.stderr and not done.stdout
    make(file, "jobs")
    for arguments in (("job", "13"), ("job", "13", "--json"), ("jobs",), ("jobs", "--json")):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([program, *arguments, "--state", file], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and b"No space left" in done.stderr, (arguments, done)


sys.exit(failed)
