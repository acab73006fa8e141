# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which jobs a user sees: at the unix socket by the kernel's uid, at TCP numbers only."""

import contextlib
import errno
import http.client
import itertools
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

from daemon import SHARE, Jobs, has_ipv6, hold_port, new_job, serving, wait_for
from held import move_held
from live import Failed, finish, read_line, require, tell

ANN, BOB, READER = 47111, 47112, 47113
GROUP = 47120
NAME = "fluid-47111"
# A socket that the service manager hands over, in place of it: descriptor 3 and the two variables.
ACTIVATED = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
s.listen()
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.argv[2], sys.argv[2:])
"""
# A user who is root in a namespace of their own, and nowhere else
INNER_ROOT = ("unshare", "--user", "--map-root-user")
# Connections that are there at once, and what they may cost the daemon: places at two addresses, 32 each
CROWD, PLACES, MORE_KIB = 500, 64, 8192
CLIENT = """
import http.client, socket, sys
class Local(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])
c = Local("localhost", timeout=30)
c.request("GET", sys.argv[2])
a = c.getresponse()
print(a.status)
print(a.read().decode())
"""


# So many connections at a time, each one that ends is made again. It says when all were there, and how
# many answers they had at the end of its input. With a page they ask for it, else they are silent.
CROWD_CLIENT = """
import contextlib, select, socket, sys
number, address, page = int(sys.argv[1]), sys.argv[2], sys.argv[3]
poll, here, answered = select.poll(), {}, 0
poll.register(0, select.POLLIN)

def connect():
    s = socket.socket(socket.AF_UNIX if address[0] == "/" else socket.AF_INET)
    s.connect(address if address[0] == "/" else ("127.0.0.1", int(address)))
    if page:
        with contextlib.suppress(OSError):
            s.send(f"GET {page} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n".encode())
    here[s.fileno()] = s
    poll.register(s, select.POLLIN)

def part(s):
    global answered
    with contextlib.suppress(OSError):
        answered += s.recv(12) == b"HTTP/1.1 200"
    poll.unregister(s)
    del here[s.fileno()]
    s.close()

for _ in range(number):
    connect()
print("all", flush=True)
told = False
while not told or page and answered < number:
    for fd, _ in poll.poll():
        if fd:
            part(here[fd])
            connect()
        else:
            told = True
            poll.unregister(0)
print(answered)
"""


@contextlib.contextmanager
def folder_for_all():
    """Users must reach the socket in it."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def as_user(user, groups=(), inner=()):
    """Words before a command."""
    rights = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
    return ["setpriv", "--reuid", user, "--regid", user, *rights, *inner]


def ask(bed, path, page, user=0, groups=(), inner=()):
    """Status and text of a page, for a user at a unix socket."""
    done = bed.command(*as_user(user, groups, inner), sys.executable, "-c", CLIENT, path, page)
    require(done.status == 0, f"client of user {user}: {done.err}")
    status, _, text = done.out.decode().partition("\n")
    return int(status), text


def jobs_of(bed, path, **who):
    status, text = ask(bed, path, "/jobs", **who)
    require(status == 200, f"/jobs for {who}: {status}")
    return {one["job"]["id"] for one in json.loads(text)["jobs"]}


@contextlib.contextmanager
def running(bed, jobs, user, claims, inner=()):
    """A job whose task is of @user and claims to be of another one."""
    job = new_job()
    name = jobs.begin(job)
    environment = {"SLURM_JOB_ID": str(job), "SLURM_JOB_NAME": NAME, "SLURM_JOB_USER": claims}
    with bed.process(*as_user(user, inner=inner), bed.burn, "-w", "-m", 200, env=environment) as process:
        # The last of the programs: that before it is the user's, too, and not yet in a namespace.
        comm = pathlib.Path(f"/proc/{process.pid}/comm")
        wait_for("the task", lambda: comm.read_text(encoding="utf-8") == "burn\n")
        wait_for("the task to be the user's", lambda: os.stat(comm.parent).st_uid == user)
        move_held(process, jobs.top / name / "step_0")
        yield str(job), process
        tell(process)
    jobs.end(job)


def check_users(bed, daemon, path, anns, bobs):
    require(jobs_of(bed, path, user=ANN) == {anns}, "ann does not see her job and no other")
    require(jobs_of(bed, path, user=BOB) == {bobs}, "bob does not see his job and no other")
    require(jobs_of(bed, path, user=READER) == set(), "a user without jobs sees some")
    require({anns, bobs} <= jobs_of(bed, path), "root does not see all")
    require({anns, bobs} <= jobs_of(bed, path, user=READER, groups=[GROUP]), "the group does not see all")
    for page, status in (("/report", 403), ("/metrics", 200), ("/healthz", 200)):
        got, text = ask(bed, path, page, user=BOB)
        require(got == status and NAME not in text, f"{page} for bob: {got}")
    require(NAME in ask(bed, path, "/metrics")[1], "root sees no names")
    require(ask(bed, path, "/report")[0] == 200, "root sees no report")
    for page in ("/jobs", "/report"):
        require("names = yes" in daemon.get(page, 403), "no remedy")
    text = daemon.get("/metrics")
    require(f'id="{anns}"' in text and NAME not in text and 'user="' not in text, "names at TCP")
    daemon.get("/healthz")


def test_users(bed):
    """Two users, a group and root at the unix socket; anybody at TCP."""
    with folder_for_all() as folder, Jobs() as jobs:
        path = folder / "socket"
        listen = f"127.0.0.1:0,{path}"
        with serving(bed, listen=listen, names="no", readers=GROUP, top=1000) as daemon:
            daemon.start()
            # Whatever his environment says: the job of bob is bob's.
            with running(bed, jobs, ANN, "ann") as (anns, _), running(bed, jobs, BOB, "ann") as (bobs, _):
                wait_for("names of both jobs", lambda: ask(bed, path, "/jobs")[1].count(NAME) == 2)
                check_users(bed, daemon, path, anns, bobs)
                # the same after a restart, when the accounts come from the store
                daemon.stop()
                daemon.start()
                wait_for("the job of ann", lambda: jobs_of(bed, path, user=ANN) == {anns})
                daemon.change(names="yes")
                daemon.process.send_signal(signal.SIGHUP)
                daemon.wait_log("settings read again")
                require(anns in daemon.running() and NAME in daemon.get("/jobs"), "no names with names = yes")
                require({anns, bobs} <= jobs_of(bed, path, user=BOB), "bob sees less than at TCP")
            daemon.stop()
        require(not path.exists(), "the socket stays")


def inner_root(bed):
    """Some kernels let no user have a namespace: then there is no root but the machine's."""
    done = bed.command(*as_user(ANN, inner=INNER_ROOT), "id", "-u")
    if done.status == 0:
        require(done.out == b"0\n", f"in the namespace the user is {done.out}")
        return INNER_ROOT
    return ()


def test_user_namespace(bed):
    """Who is root in a user namespace is the user of outside, as a client and as the owner of a job."""
    inner = inner_root(bed)
    with folder_for_all() as folder, Jobs() as jobs:
        path = folder / "socket"
        with serving(bed, listen=path, names="no", readers=GROUP, top=1000) as daemon:
            daemon.start()
            with (
                running(bed, jobs, ANN, "root", inner) as (anns, task),
                running(bed, jobs, BOB, "ann") as (bobs, _),
            ):
                if inner:
                    rows = pathlib.Path(f"/proc/{task.pid}/uid_map").read_text(encoding="ascii").split()
                    require(rows == ["0", str(ANN), "1"], f"users of its namespace: {rows}")
                wait_for("names of both jobs", lambda: ask(bed, path, "/jobs")[1].count(NAME) == 2)
                for user, own in ((ANN, {anns}), (BOB, {bobs}), (READER, set())):
                    for how in ((), inner):
                        require(jobs_of(bed, path, user=user, inner=how) == own, f"jobs of {user}, {how}")
                        status, _ = ask(bed, path, "/report", user=user, inner=how)
                        require(status == 403, f"/report for {user}, {how}: {status}")
            daemon.stop()


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


@contextlib.contextmanager
def crowd(bed, user, address, page=""):
    with bed.process(*as_user(user), sys.executable, "-c", CROWD_CLIENT, CROWD, address, page) as process:
        yield process


def sooner_or_later(what, question):
    """Where there is no room a client that is late with its request is sent away, and asks again."""

    def answer():
        with contextlib.suppress(Failed, OSError, http.client.HTTPException):
            return question()
        return None

    return wait_for(what, answer)


def intervals(daemon):
    return sooner_or_later("/healthz", daemon.any_health)["intervals"]


def check_crowd(bed, daemon, path, anns, process):
    """Others beside it, and what it costs."""
    sooner_or_later("a scrape", lambda: daemon.get("/metrics"))
    sooner_or_later("her job", lambda: jobs_of(bed, path, user=ANN) == {anns})
    # and its own work goes on
    first = intervals(daemon)
    wait_for("an interval", lambda: intervals(daemon) > first)
    cost = descriptors(daemon), daemon.memory_kib()
    return cost, int(finish(process))


def test_crowd(bed):
    """500 connections at once, silent and asking, at both kinds of addresses: others get their pages."""
    with folder_for_all() as folder, Jobs() as jobs:
        path = folder / "socket"
        with serving(bed, listen=f"127.0.0.1:0,{path}", names="no") as daemon:
            daemon.start()
            with running(bed, jobs, ANN, "ann") as (anns, _):
                wait_for("the job of ann", lambda: jobs_of(bed, path, user=ANN) == {anns})
                daemon.get("/metrics")
                files, kib = descriptors(daemon), daemon.memory_kib()
                for user, address, page in itertools.product((BOB, 0), (path, daemon.port), ("", "/metrics")):
                    where = f"{CROWD} connections of {user} at {address} {page}"
                    with crowd(bed, user, address, page) as process:
                        require(read_line(process) == b"all\n", where)
                        cost, answers = check_crowd(bed, daemon, path, anns, process)
                    require(cost[0] <= files + PLACES, f"{where}: {cost[0]} files, before {files}")
                    require(cost[1] <= kib + MORE_KIB, f"{where}: {cost[1]} KiB, before {kib}")
                    require(answers >= CROWD if page else not answers, f"{where}: {answers} answers")
                wait_for("all places to be free", lambda: descriptors(daemon) <= files)
            daemon.stop()


def test_queue(bed):
    """500 clients of a daemon that stands still, at a socket with 129 places to wait: all get their page."""
    with folder_for_all() as folder:
        path = folder / "socket"
        with serving(bed, listen="", wrapper=[sys.executable, "-c", ACTIVATED, path]) as daemon:
            daemon.start()
            with daemon.stopped():
                with crowd(bed, 0, path, "/metrics") as process:
                    # those beyond wait until there is room
                    waiting = f"/proc/{process.pid}/fd"
                    wait_for("clients", lambda: len(os.listdir(waiting)) > 128)
                    daemon.process.send_signal(signal.SIGCONT)
                    require(read_line(process) == b"all\n", "not all can connect")
                    require(int(finish(process)) >= CROWD, "not all have a page")
            daemon.stop()


def test_ipv6(bed):
    """An address of IPv6 alone has pages, and IPv4 has none until it is asked for."""

    def page(address, **headers):
        connection = http.client.HTTPConnection(address, port, timeout=30)
        try:
            connection.request("GET", "/metrics", headers=headers)
            return connection.getresponse().status
        except OSError as error:
            return error.errno
        finally:
            connection.close()

    with hold_port() as held, serving(bed, names="no") as daemon:
        port = held.getsockname()[1]
        daemon.change(listen=f"[::1]:{port}")
        if not has_ipv6():
            daemon.log_path.write_text("")
            daemon.start(wait=False)
            daemon.ended(1)
            require("[::1]" in daemon.log(), f"no reason: {daemon.log()}")
            return
        daemon.start()
        require(f"http://[::1]:{port}/" in daemon.log(), f"where are pages? {daemon.log()}")
        require(page("::1") == 200, "no page at IPv6")
        require(page("::1", Host="evil.example") == 421, "any name is right at IPv6")
        require(page("127.0.0.1") == errno.ECONNREFUSED, "it listens at IPv4, too")
        # a port of both kinds: also all addresses of IPv6 are none of IPv4
        for number, address in enumerate(("::1", "::"), 1):
            daemon.change(listen=f"[{address}]:{port},127.0.0.1:{port}")
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_log("settings read again", number)
            require(page("::1") == 200 and page("127.0.0.1") == 200, f"not both with {address}")
        daemon.stop()


def test_killed(bed):
    """The socket of a daemon that was killed gives way."""
    with folder_for_all() as folder:
        path = folder / "socket"
        with serving(bed, listen=path) as daemon:
            daemon.start()
            daemon.kill()
            require(path.is_socket(), "who removed it?")
            daemon.start()
            require(ask(bed, path, "/healthz", user=BOB)[0] in (200, 503), "it does not answer")
            daemon.stop()


def test_activation(bed):
    """A socket of the service manager: served beside those of the settings, also after a reload."""
    with folder_for_all() as folder:
        path = folder / "socket"
        wrapper = [sys.executable, "-c", ACTIVATED, path]
        with serving(bed, listen="", wrapper=wrapper) as daemon:
            daemon.start()
            require(ask(bed, path, "/jobs", user=BOB)[0] == 200, "it does not answer")
            # programs that it starts get none of it
            environment = pathlib.Path(f"/proc/{daemon.process.pid}/environ").read_bytes()
            require(b"LISTEN_FDS=1" in environment, "the test is of something else")
            daemon.change(interval="400ms")
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_log("settings read again")
            require(ask(bed, path, "/healthz", user=BOB)[0] in (200, 503), "it does not answer any more")
            daemon.stop()
            require(path.is_socket(), "the service manager's socket is gone")


def test_wrong_addresses(bed):
    """Each mistake in an address has a message and the status of wrong settings, or of a failure."""
    with folder_for_all() as folder, socket.socket(socket.AF_UNIX) as taken:
        path = folder / "socket"
        taken.bind(str(path))
        taken.listen()
        for listen, status, says in (
            ("127.0.0.1", 2, "not an address and a port"),
            ("/" + "x" * 107, 2, "107 bytes at most"),
            (",".join(f"127.0.0.1:{port}" for port in range(9000, 9009)), 2, "more than 8"),
            (path, 1, "another path"),
            (folder / "none" / "socket", 1, "make its folder"),
            (f"127.0.0.1:0,{path}", 1, "another path"),
        ):
            with serving(bed, listen=listen) as daemon:
                daemon.log_path.write_text("")
                daemon.start(wait=False)
                daemon.ended(status)
                require(says in daemon.log(), f"listen = {listen}: {daemon.log()}")
        for setting, value, says in (("readers", "nobodys-group", "getent"), ("names", "perhaps", "yes")):
            with serving(bed, **{setting: value}) as daemon:
                daemon.log_path.write_text("")
                daemon.start(wait=False)
                daemon.ended(2)
                require(says in daemon.log(), f"{setting} = {value}: {daemon.log()}")


def certificates(bed, folder):
    """A CA with a node and a client, and a client of another CA."""

    def openssl(*args):
        done = bed.command("openssl", *args)
        require(done.status == 0, f"openssl {args}: {done.err}")

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for authority in ("ca", "other-ca"):
        # Python 3.13 wants to know what it is for
        openssl("req", "-x509", *new, "-subj", f"/CN={authority}", "-addext", "keyUsage=critical,keyCertSign",
                "-keyout", folder / f"{authority}.key", "-out", folder / f"{authority}.pem")
    for name, authority in (("node", "ca"), ("prometheus", "ca"), ("stranger", "other-ca")):
        request, key = folder / f"{name}.csr", folder / f"{name}.key"
        openssl("req", *new, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", folder / f"{authority}.pem", "-CAkey",
                folder / f"{authority}.key", "-CAcreateserial", "-days", "2", "-out", folder / f"{name}.pem")


def ask_tls(folder, port, name):
    """Status of /metrics for a client with this certificate; None: it got no answer."""
    context = ssl.create_default_context(cafile=folder / "ca.pem")
    context.check_hostname = False
    if name:
        context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    try:
        connection.request("GET", "/metrics", headers={"Host": "node7.example:9443"})
        return connection.getresponse().status
    except (ssl.SSLError, ConnectionError):
        return None
    finally:
        connection.close()


def user_of_stunnel():
    """Debian has renamed it after its release 13."""
    return next(user.pw_name for user in pwd.getpwall() if user.pw_name in ("stunnel4", "stunnel"))


def test_proxy(bed):
    """The proxy of docs/SERVE.md, as it is there: only clients with a certificate of the site get pages."""
    text = (SHARE.parent / "docs/SERVE.md").read_text()
    lines = re.search(r"\n    setuid = stunnel4\n(    .*\n)+", text)[0]
    with folder_for_all() as folder, hold_port() as held, serving(bed, listen=folder / "socket", names="no") as daemon:
        daemon.start()
        certificates(bed, folder)
        port = held.getsockname()[1]
        settings = lines.replace("/etc/stunnel", str(folder)).replace("9443", f"127.0.0.1:{port}")
        settings = settings.replace("/run/t410trace/t410trace.sock", str(folder / "socket"))
        settings = re.sub("(?<=set.id = ).*", user_of_stunnel(), settings)
        (folder / "stunnel.conf").write_text(f"foreground = yes\npid =\n{settings}")
        with bed.process("stunnel", folder / "stunnel.conf", stderr=subprocess.DEVNULL) as proxy:
            wait_for("the proxy", lambda: proxy.poll() is not None or ask_tls(folder, port, "prometheus"))
            require(ask_tls(folder, port, "prometheus") == 200, "no page through the proxy")
            require(ask_tls(folder, port, None) is None, "a client without a certificate gets a page")
            require(ask_tls(folder, port, "stranger") is None, "a stranger gets a page")
        daemon.stop()


TESTS = [
    test_users, test_user_namespace, test_crowd, test_queue, test_ipv6, test_killed, test_activation,
    test_wrong_addresses, test_proxy,
]
