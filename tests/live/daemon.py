# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A running t410trace serve with folders of its own, and cgroups that look like jobs of Slurm."""

import contextlib
import fcntl
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import jsonschema

from live import HERE, LIMIT_S, Failed, require
from test_cgroups import Tree

SHARE = HERE.parents[1] / "share"
# Others may run these tests on the same machine: their jobs have other numbers. Slurm's have 32 bits.
MAX_JOBS = 100_000
FIRST_JOB = (10_000 + os.getpid() % 32_000) * MAX_JOBS
NEXT_JOB = itertools.count(FIRST_JOB)


@contextlib.contextmanager
def among_jobs(alone=False):
    """
    All runs of these tests on a machine together make many jobs, or one run has the jobs alone: what a
    daemon may keep in all is for the jobs of the machine, not for ours.
    """
    with open(pathlib.Path(tempfile.gettempdir()) / "t410trace-live-jobs.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def new_job():
    """A number that no other job has."""
    return next(NEXT_JOB)


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as s:
        s.bind(("::1", 0))
        return True
    return False


def hold_port():
    """
    A socket that holds a port, at all addresses, until it is closed. It does not listen: a server that
    is told this port may have it beside it (with SO_REUSEADDR, as servers do), and nobody else gets it.
    """
    ipv6 = has_ipv6()
    held = socket.socket(socket.AF_INET6 if ipv6 else socket.AF_INET)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ipv6:
        held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    held.bind(("", 0))
    return held


def wait_for(what, condition, seconds=LIMIT_S):
    """Waits until @condition is true and returns what it gave."""
    deadline = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.01)


def wait_growing(what, count, wanted):
    """Waits until @count gives @wanted. It may take its time, as long as there is more and more."""
    had = count()
    while had < wanted:
        least = had + 1
        wait_for(f"{what}: more than {had} of {wanted}", lambda n=least: count() >= n)
        had = count()
    require(had == wanted, f"{what}: {had}, not {wanted}")


def validate(document, name):
    schema = json.loads((SHARE / f"t410trace.{name}-1.schema.json").read_text(encoding="utf-8"))
    try:
        jsonschema.validate(document, schema)
    except jsonschema.ValidationError as error:
        raise Failed(f"{name}: {error.message} at {list(error.absolute_path)}") from error
    return document


class Manager:
    """What a service manager would hear. It listens all the time: the kernel keeps ten messages only."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        pathlib.Path(path).chmod(0o777)
        self.heard = []
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while words := self.socket.recv(4096).decode():
            self.heard += words.splitlines()

    def close(self):
        """Nobody says anything any more; what was said is heard."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.connect(self.socket.getsockname())
            last.send(b"")
        self.thread.join()
        self.socket.close()


def parts_of(health):
    return [problem["part"] for problem in health["problems"]]


class Daemon:
    """A daemon without counters; settings as keywords, with "_" for "-"."""

    def __init__(self, bed, folder=None, wrapper=(), **settings):
        self.bed = bed
        self.wrapper = list(wrapper)
        self.folder = pathlib.Path(folder or bed.scratch / "serve")
        self.folder.mkdir(exist_ok=True)
        self.settings = {
            "interval": "300ms",
            "counters": "no",
            # Containers of the machine may come and go, too.
            "schedulers": "slurm",
            "listen": "127.0.0.1:0",
            "names": "yes",
            "spool": self.folder / "spool",
            "state": self.folder / "state" / "accounts.db",
        }
        (self.folder / "state").mkdir(exist_ok=True)
        self.change(**settings)
        self.process = None
        self.port = None
        self.manager = None
        self.log_path = self.folder / "log"

    def change(self, **settings):
        """Writes the settings anew."""
        self.settings |= {key.replace("_", "-"): value for key, value in settings.items()}
        self.write("".join(f"{key} = {value}\n" for key, value in self.settings.items()))

    def write(self, text):
        (self.folder / "serve.conf").write_text(text, encoding="ascii")

    @property
    def spool(self):
        return pathlib.Path(self.settings["spool"])

    def start(self, wait=True):
        number = len(list(self.folder.glob("notify*")))
        self.manager = Manager(self.folder / f"notify{number}")
        environment = dict(os.environ)
        environment.pop("JOURNAL_STREAM", None)
        environment["NOTIFY_SOCKET"] = str(self.folder / f"notify{number}")
        environment["WATCHDOG_USEC"] = "1000000"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, self.bed.program, "serve", "--config", self.folder / "serve.conf"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise Failed(f"the daemon did not start: {self.log()[-500:]}")
            return "READY=1" in self.manager.heard

        wait_for("READY=1", ready)
        found = re.findall(r"http://[^ ]+:(\d+)/", self.log())
        self.port = int(found[-1]) if found else None

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def wait_log(self, text, count=1):
        wait_for(f"{text!r} in the log", lambda: self.log().count(text) >= count)

    def ask(self, path, **headers):
        """Status and text of a page."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def get(self, path, status=200, **headers):
        got, text = self.ask(path, **headers)
        require(got == status, f"{path}: status {got}, not {status}: {text[:300]}")
        return text

    def health(self, *troubles):
        """Its health, when these parts and no others are in trouble. That it was late is not its fault."""

        def judged():
            status, text = self.ask("/healthz")
            document = validate(json.loads(text), "health")
            parts = parts_of(document)
            require(status == (503 if parts else 200), f"status {status} with problems {parts}")
            return None if "intervals" in parts else (parts, document)

        parts, document = wait_for("an interval in time", judged)
        require(parts == list(troubles), f"problems {document['problems']}")
        return document

    def wait_intervals(self, number):
        """This many more intervals have been closed."""
        first = self.any_health()["intervals"]
        wait_for("intervals", lambda: self.any_health()["intervals"] >= first + number)

    def any_health(self):
        return json.loads(self.ask("/healthz")[1])

    def troubles(self):
        """Parts that are in trouble."""
        return parts_of(self.any_health())

    def stop(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        self.ended(status)

    def ended(self, status=0):
        """Waits for the end."""
        try:
            got = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failed("the daemon did not end") from error
        require(got == status, f"exit status {got}, not {status}: {self.log()[-500:]}")
        self.manager.close()

    @contextlib.contextmanager
    def stopped(self):
        """Meanwhile it does nothing."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.manager.close()

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1])

    def capabilities(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return {
            name: int(value, 16) for name, value in re.findall(r"^Cap(\w+):\s+([0-9a-f]+)", status, re.M)
        }

    def spooled(self, job=None):
        """Files of closing reports in the spool, of one job or of all of ours."""
        found = []
        for path in sorted(self.spool.glob("slurm-*.json")) if self.spool.exists() else []:
            number = int(path.name.split("-")[1])
            if number == job or (job is None and FIRST_JOB <= number < FIRST_JOB + MAX_JOBS):
                found.append(path)
        return found

    def reports(self, job=None):
        """Closing reports; each is whole and right."""
        found = []
        for path in self.spooled(job):
            document = validate(json.loads(path.read_text(encoding="utf-8")), "job")
            require(path.name.startswith(f"slurm-{document['job']['id']}-"), f"{path} is of another job")
            found.append(document)
        return found

    def running(self):
        """Numbers of the jobs that it says to be running."""
        return [one["job"]["id"] for one in json.loads(self.get("/jobs"))["jobs"]]

    def report(self, job):
        """The closing report of a job, when it comes."""
        found = wait_for(f"the closing report of job {job}", lambda: self.reports(job))
        require(len(found) == 1, f"{len(found)} closing reports of job {job}")
        return found[0]


@contextlib.contextmanager
def serving(bed, **settings):
    """A daemon that is gone afterwards, whatever happens."""
    daemon = Daemon(bed, **settings)
    try:
        yield daemon
    finally:
        if daemon.process and daemon.process.poll() is None:
            daemon.process.kill()
            daemon.process.wait()


@contextlib.contextmanager
def small_disk(bed, name, size):
    """A file system of its own."""
    where = bed.scratch / name
    where.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", where], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", where], check=True)


class Jobs(Tree):
    """Cgroups in the manner of Slurm's plugin cgroup/v2."""

    def __init__(self, alone=False):
        super().__init__()
        self.place = contextlib.ExitStack()
        self.alone = alone

    def __enter__(self):
        self.place.enter_context(among_jobs(self.alone))
        try:
            super().__enter__()
        except BaseException:
            self.place.close()
            raise
        self.make("slurmstepd.scope")
        return self

    def __exit__(self, *error):
        with self.place:
            super().__exit__(*error)

    def begin(self, job, step="step_0"):
        """A job with one step; returns its name."""
        name = f"slurmstepd.scope/job_{job}"
        self.make(name)
        self.make(f"{name}/{step}")
        return name

    def end(self, job, step="step_0"):
        self.remove(f"slurmstepd.scope/job_{job}/{step}")
        self.remove(f"slurmstepd.scope/job_{job}")
