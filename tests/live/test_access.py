# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which jobs a user sees: at the unix socket by the kernel's uid, at TCP numbers only."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

from daemon import SHARE, Jobs, new_job, serving, wait_for
from held import move_held
from live import require, tell

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


@contextlib.contextmanager
def folder_for_all():
    """Users must reach the socket in it."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def ask(bed, path, page, user=0, groups=()):
    """Status and text of a page, for a user at a unix socket."""
    rights = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
    done = bed.command(
        "setpriv", "--reuid", user, "--regid", user, *rights, sys.executable, "-c", CLIENT, path, page
    )
    require(done.status == 0, f"client of user {user}: {done.err}")
    status, _, text = done.out.decode().partition("\n")
    return int(status), text


def jobs_of(bed, path, **who):
    status, text = ask(bed, path, "/jobs", **who)
    require(status == 200, f"/jobs for {who}: {status}")
    return {one["job"]["id"] for one in json.loads(text)["jobs"]}


@contextlib.contextmanager
def running(bed, jobs, user, claims):
    """A job whose task is of @user and claims to be of another one."""
    job = new_job()
    name = jobs.begin(job)
    environment = {"SLURM_JOB_ID": str(job), "SLURM_JOB_NAME": NAME, "SLURM_JOB_USER": claims}
    with bed.process(
        "setpriv", "--reuid", user, "--regid", user, "--clear-groups", bed.burn, "-w", "-m", 200, env=environment
    ) as process:
        wait_for("the task to be the user's", lambda: os.stat(f"/proc/{process.pid}").st_uid == user)
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


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def certificates(bed, folder):
    """A CA with a node and a client, and a client of another CA."""

    def openssl(*args):
        done = bed.command("openssl", *args)
        require(done.status == 0, f"openssl {args}: {done.err}")

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for authority in ("ca", "other-ca"):
        openssl("req", "-x509", *new, "-subj", f"/CN={authority}", "-keyout", folder / f"{authority}.key",
                "-out", folder / f"{authority}.pem")
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


def test_proxy(bed):
    """The proxy of docs/SERVE.md, as it is there: only clients with a certificate of the site get pages."""
    text = (SHARE.parent / "docs/SERVE.md").read_text()
    lines = re.search(r"\n    setuid = stunnel4\n(    .*\n)+", text)[0]
    with folder_for_all() as folder, serving(bed, listen=folder / "socket", names="no") as daemon:
        daemon.start()
        certificates(bed, folder)
        port = free_port()
        settings = lines.replace("/etc/stunnel", str(folder)).replace("9443", f"127.0.0.1:{port}")
        settings = settings.replace("/run/t410trace/t410trace.sock", str(folder / "socket"))
        (folder / "stunnel.conf").write_text(f"foreground = yes\npid =\n{settings}")
        with bed.process("stunnel", folder / "stunnel.conf", stderr=subprocess.DEVNULL) as proxy:
            wait_for("the proxy", lambda: proxy.poll() is not None or ask_tls(folder, port, "prometheus"))
            require(ask_tls(folder, port, "prometheus") == 200, "no page through the proxy")
            require(ask_tls(folder, port, None) is None, "a client without a certificate gets a page")
            require(ask_tls(folder, port, "stranger") is None, "a stranger gets a page")
        daemon.stop()


TESTS = [test_users, test_killed, test_activation, test_wrong_addresses, test_proxy]
