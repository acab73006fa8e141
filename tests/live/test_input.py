# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Wrong arguments and an environment that does not play along: message and status."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

from live import LIMIT_S, Failed, finish, read_line, require, tell

# Exit codes as documented in --help.
FAILED, USAGE = 1, 2


def check(done, status, *words):
    """Exit status, and a message that names the program and the trouble."""
    text = " ".join(done.err.split())
    require(done.status == status, f"exit status {done.status} instead of {status}: {text[:200]}")
    # argp writes the name as it was called
    require(re.match(r"(\S*/)?t410trace: ", done.err), f"the message is {text[:200]!r}")
    for word in words:
        require(word in text, f"the message does not say {word!r}: {text[:300]}")
    require(len(done.err.splitlines()) <= 6, f"a long message: {done.err[:600]}")


def test_unknown_pid(bed):
    # No kernel has one of this number.
    check(bed.trace("-p", 4194304), FAILED, "-p 4194304: there is no such process", "t410trace -a")


def test_pid_of_a_thread(bed):
    with bed.process(bed.family, "idle") as family:
        tell(family)
        (_, tid) = read_line(family).decode().split()
        for by in ("process", "thread"):
            # With --by thread every thread is known by its own number.
            done = bed.trace("-p", tid, "-d", 0.1, "--by", by)
            check(done, FAILED, f"-p {tid}", f"thread of process {family.pid}")
        tell(family)
        finish(family)


def test_pid_of_a_zombie(bed):
    """Nobody waits for its end: it is over."""
    with bed.process(bed.family, "zombie") as family:
        tell(family)
        (_, pid) = read_line(family).decode().split()
        for by in ("process", "thread"):
            done = bed.trace("-p", pid, "-d", 5, "--by", by)
            check(done, FAILED, f"-p {pid}: there is no such process")
        tell(family)
        finish(family)


def test_unknown_cgroup(bed):
    for name in ("nosuch", "/nosuch", "/sys/fs/cgroup/nosuch", "../../etc", "a/../nosuch"):
        check(bed.trace("-G", name), FAILED, f"-G {name}", "no such cgroup")
    check(bed.trace("-G", "/proc"), FAILED, "-G /proc")
    check(bed.trace("-G", "/etc/passwd"), FAILED, "-G /etc/passwd")
    check(bed.trace("-G", "x" * 5000), FAILED, "too long")


def test_no_permission(bed):
    program = bed.scratch / "t410trace"
    bed.scratch.chmod(0o755)
    shutil.copy(bed.program, program)
    program.chmod(0o755)
    done = bed.command(
        "setpriv", "--reuid", 65534, "--regid", 65534, "--clear-groups",
        program, "--no-counters", "-a", "-d", 0.1,
    )
    check(done, FAILED, "CAP_BPF", "CAP_PERFMON")
    require("t410trace check" in " ".join(done.err.split()), "it does not say where to look")


def test_one_capability_missing(bed):
    """Root without CAP_BPF and CAP_SYS_ADMIN: the same message."""
    done = bed.command(
        "setpriv", "--bounding-set", "-bpf,-sys_admin", "--inh-caps", "-bpf,-sys_admin",
        bed.program, "--no-counters", "-a", "-d", 0.1,
    )
    check(done, FAILED, "CAP_BPF")


def hidden(bed, folder, files, *command):
    """A run on a machine whose folder of sysfs has only these files."""
    copy = bed.scratch / pathlib.Path(folder).name
    copy.mkdir(exist_ok=True)
    for name, text in files.items():
        (copy / name).write_text(text, encoding="utf-8")
    script = f'mount --bind "{copy}" {folder} && exec "$@"'
    return bed.command("unshare", "-m", "sh", "-c", script, "sh", *command)


def test_no_type_information(bed):
    """Whatever is asked of cgroups."""
    for v1 in ("auto", "none"):
        run = (bed.program, "--no-counters", "-a", "-d", 0.1, "--cgroup-v1", v1)
        done = hidden(bed, "/sys/kernel/btf", {}, *run)
        check(done, FAILED, "no type information", "CONFIG_DEBUG_INFO_BTF")


def test_locked_down(bed):
    """Nobody may load our programs then; here that is as without capabilities."""
    run = ("setpriv", "--bounding-set", "-bpf,-sys_admin", bed.program, "--no-counters", "-a", "-d", 0.1)
    done = hidden(bed, "/sys/kernel/security", {"lockdown": "none integrity [confidentiality]\n"}, *run)
    check(done, FAILED, "confidentiality", "lockdown=integrity")


BAD_ARGUMENTS = [
    (["-i", "0"], "-i 0"),
    (["-i", "abc"], "-i abc"),
    (["-i", "-5"], "-i -5"),
    (["-i", "1e3"], "-i 1e3"),
    (["-i", "1.5"], "-i 1.5"),
    (["-i", ""], "-i"),
    (["-i", "99999999999999999999"], "-i 99999999999999999999"),
    (["-i", "18446744073709551617"], "-i 18446744073709551617"),
    (["--window", "0"], "--window 0"),
    (["--window", "2000", "-i", "1000"], "--window"),
    (["-i", "100", "--window", "101"], "--window"),
    (["-d", "0"], "-d 0"),
    (["-d", "x"], "-d x"),
    (["-d", "nan"], "-d nan"),
    (["-d", "inf"], "-d inf"),
    (["-d", "-1"], "-d -1"),
    (["-d", "1x"], "-d 1x"),
    (["-i", "5ms"], "-i 5ms"),
    (["-d", "367d"], "-d 367d"),
    (["--top", "0"], "--top 0"),
    (["--top", "many"], "--top many"),
    (["--by", "foo"], "--by foo"),
    (["-q", "-v"], "-q and -v"),
    (["-p", "1"], "-a"),
    (["-G", "/"], "-a"),
    (["--nosuch"], "nosuch"),
]
BAD_PIDS = ["0", "-1", "0x10", "1,,2", ",1", "1,", "", "abc", "1 2", "1x", "99999999999999999999", "4194305"]


def test_wrong_arguments(bed):
    for args, word in BAD_ARGUMENTS:
        check(bed.trace("-a", *args), USAGE, word)
    for pid in BAD_PIDS:
        check(bed.trace("-p", pid), USAGE, "-p")
    check(bed.trace(), USAGE, "nothing to follow")
    check(bed.trace("-G", ""), USAGE, "-G")
    check(bed.trace("-p"), USAGE, "requires an argument")
    check(bed.trace("--", ""), 127, "cannot run")


def test_unknown_command(bed):
    check(bed.command(bed.program, "nosuch"), USAGE, 'unknown command "nosuch"')
    check(bed.command(bed.program, ""), USAGE, "unknown command")
    recording = bed.scratch / "a.rec"
    recording.touch()
    # short enough not to be cut: a path is as long as it likes
    done = bed.command("sh", "-c", f"cd {bed.scratch} && exec {bed.program} a.rec")
    check(done, USAGE, 'unknown command "a.rec"', '"t410trace report a.rec" reads a recording')


def test_output_full(bed):
    check(bed.trace("-a", "-d", 0.2, "-o", "/dev/full"), FAILED, "/dev/full", "No space left")
    check(
        bed.trace("-a", "-d", 0.2, "--json", "-o", "/dev/full"), FAILED, "/dev/full", "No space left"
    )
    with open("/dev/full", "wb") as full:
        done = bed.trace("-a", "-d", 0.2, stdout=full)
    check(done, FAILED, "standard output", "No space left")
    for words in ("--help",), ("--version",), ("report", "--help"):
        with open("/dev/full", "wb") as full:
            done = bed.command(bed.program, *words, stdout=full)
        check(done, FAILED, "cannot write the output", "No space left")


def test_output_impossible(bed):
    check(bed.trace("-a", "-o", "/nonexistent/x"), FAILED, "/nonexistent/x", "No such file")
    check(bed.trace("-a", "-o", bed.scratch), FAILED, str(bed.scratch), "Is a directory")


def test_output_fails_with_command(bed):
    """The report cannot be written: that is a failure whatever the command returns."""
    done = bed.trace("-i", 100, "-o", "/dev/full", "--", bed.burn, "-m", 400)
    check(done, FAILED, "/dev/full")


def test_closed_pipe(bed):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = bed.trace("-a", "-i", 50, "-d", 10, stdout=pipe)
    check(done, FAILED, "Broken pipe")


def test_reader_ends_early(bed):
    """t410trace | head -1"""
    command = [bed.program, "--no-counters", "-a", "--json", "-i", "50"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tracer:
        try:
            require(tracer.stdout.readline().endswith(b"}\n"), "the first line is no report")
            tracer.stdout.close()
            status = tracer.wait(LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failed("it went on without a reader") from error
        finally:
            tracer.kill()
        error = tracer.stderr.read().decode()
    require(status == FAILED and "Broken pipe" in error, f"exit status {status}: {error[:200]}")


def test_command_status(bed):
    quiet = ["-q", "-o", "/dev/null", "--"]
    for expected, script in ((0, "exit 0"), (1, "exit 1"), (7, "exit 7"), (255, "exit 255")):
        done = bed.trace(*quiet, "sh", "-c", script)
        require(done.status == expected, f"{script}: exit status {done.status}: {done.err[:200]}")
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT):
        done = bed.trace(*quiet, "sh", "-c", f"kill -{int(number)} $$")
        require(
            done.status == 128 + number, f"death by signal {int(number)}: exit status {done.status}"
        )


def test_command_cannot_run(bed):
    check(bed.trace("--", "/nonexistent/program"), 127, "cannot run /nonexistent/program")
    check(bed.trace("--", "no-such-program-anywhere"), 127, "no-such-program-anywhere")
    plain = bed.scratch / "plain"
    plain.write_text("not a program")
    check(bed.trace("--", plain), 126, f"cannot run {plain}")
    check(bed.trace("--", bed.scratch), 126, f"cannot run {bed.scratch}")


def test_command_keeps_its_streams(bed):
    """Its input, output and environment are the caller's; options behind it are its own."""
    done = bed.command(
        bed.program, "--no-counters", "-q", "-o", "/dev/null", "--",
        "sh", "-c", 'read x; echo "$x $T410_TEST $*"; echo err >&2', "sh", "-i", "-a",
        input=b"in\n", env=os.environ | {"T410_TEST": "env"},
    )
    require(done.out == b"in env -i -a\n", f"its output was {done.out!r}")
    require("err" in done.err, "its standard error was lost")
    require(done.status == 0, f"exit status {done.status}")


TESTS = [
    test_unknown_pid,
    test_pid_of_a_thread,
    test_pid_of_a_zombie,
    test_unknown_cgroup,
    test_no_permission,
    test_one_capability_missing,
    test_no_type_information,
    test_locked_down,
    test_wrong_arguments,
    test_unknown_command,
    test_output_full,
    test_output_impossible,
    test_output_fails_with_command,
    test_closed_pipe,
    test_reader_ends_early,
    test_command_status,
    test_command_cannot_run,
    test_command_keeps_its_streams,
]
