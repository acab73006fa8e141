# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the unit on a machine whose first process is systemd; see judge.py."""

import json
import re

from results import Failure, estimate, expect, expect_close, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {"systemd": ("t410,systemd", "traffic.conf")}
CGROUPS = {
    "alpha": "/system.slice/alpha.scope",
    "beta": "/batch.slice/batch-night.slice/beta.service",
    "gamma": "/system.slice/gamma.service",
}
# Numbers of Linux: DAC_READ_SEARCH, SYS_PTRACE, PERFMON, BPF
CAPABILITIES = sum(1 << number for number in (2, 19, 38, 39))
SECCOMP_FILTERS = "2"
# "systemd-analyze security" of systemd 252 says 2.8
EXPOSURE = 3.0


def pairs(s, name, separator):
    """Lines of a name and a value."""
    return dict(line.split(separator, 1) for line in s.text(name).splitlines() if separator in line)


def closing(s, name):
    try:
        return json.loads(s.text(f"{name}.json"))
    except ValueError as error:
        raise Failure(f"{name}: {error}") from error


def journal_has(s, text):
    require(text in s.text("journal"), f'the journal has no "{text}"')


@test("systemd")
def refused_with_a_remedy(s):
    expect_equal(s.status("refused"), 1, "exit status of systemctl")
    journal_has(s, 'set it to 2 with "sysctl kernel.perf_event_paranoid=2"')


@test("systemd")
def it_starts_as_installed(s):
    expect_equal(s.status("start"), 0, "exit status of systemctl")
    shown = pairs(s, "started.shown", "=")
    expect_equal(shown["ActiveState"], "active", "state")
    require(shown["StatusText"], "no status line was sent")
    journal_has(s, "counters on 2 sockets")


@test("systemd")
def it_has_no_other_rights(s):
    process = pairs(s, "process", ":\t")
    for kind in ("CapPrm", "CapEff", "CapBnd"):
        expect_equal(int(process[kind], 16), CAPABILITIES, kind)
    expect_equal((process["NoNewPrivs"], process["Seccomp"]), ("1", SECCOMP_FILTERS), "NoNewPrivs, Seccomp")
    (exposure,) = re.findall(r"exposure level for t410trace\.service: ([0-9.]+)", s.text("security"))
    require(float(exposure) <= EXPOSURE, f"systemd-analyze security says {exposure}")
    expect_equal((s.status("verify"), s.text("verify.err")), (0, ""), "systemd-analyze verify")


@test("systemd")
def units_have_closing_reports(s):
    for name, path in CGROUPS.items():
        report = closing(s, name)
        job = report["job"]
        found = (job["scheduler"], job["id"], job["cgroup"]["path"])
        expect_equal(found, ("systemd", path.rsplit("/", 1)[1], path), name)
        expect_equal((report["state"], report["late_start"]), ("ended", False), name)
        expect_equal(len(report["gaps"]), 1 if name == "gamma" else 0, f"{name}: gaps")


@test("systemd")
def parts_add_up_to_the_counters(s):
    for name in CGROUPS:
        for counter in closing(s, name)["counters"]:
            what = f"{name}: {counter['name']}"
            parts = counter["value"] + counter["others"] + counter["unattributed"]
            expect_equal(parts, counter["machine"]["value"], what)


@test("systemd")
@estimate
def bytes_are_those_of_its_program(s):
    for name in ("alpha", "beta"):
        (line,) = s.truth("truth").named(name)
        counter = s.wiring.slots[line["slot"]]
        (found,) = (c["value"] for c in closing(s, name)["counters"] if c["name"] == counter)
        print(f"# systemd: {name} {found / line['bytes'] - 1:+.4f}")
        expect_close(found, line["bytes"], 0.1, f"{name}: {counter}")


@test("systemd")
def settings_are_read_again(s):
    expect_equal(s.status("reload"), 0, "exit status of systemctl")
    journal_has(s, "settings read again: intervals of 2 s")


@test("systemd")
def a_reload_of_wrong_settings_fails(s):
    expect(s.status("reload-wrong") != 0, "systemctl says that it is fine")
    expect_equal(s.words("reload-wrong.state"), "active", "state afterwards")


@test("systemd")
def users_have_a_socket(s):
    expect_equal(s.words("socket.state"), "active socket 666", "the socket of t410trace.socket")


@test("systemd")
def it_comes_back_when_killed(s):
    before, after = (pairs(s, f"{name}.shown", "=") for name in ("started", "killed"))
    expect_equal(after["ActiveState"], "active", "state")
    expect_equal(int(after["NRestarts"]) - int(before["NRestarts"]), 1, "restarts")
    journal_has(s, "were running when accounts were last kept")


@test("systemd")
def a_group_may_read(s):
    """The folder was given to it before the start."""
    found = pairs(s, "rights", " ")
    expect_equal(found["/var/lib/t410trace"], "2750 1", "rights of the folder")
    for end in ("", "-wal", "-shm"):
        expect_equal(found[f"/var/lib/t410trace/site.db{end}"], "640 1", f"rights of site.db{end}")


@test("systemd")
def it_stops_as_asked(s):
    expect_equal(s.status("stop"), 0, "exit status of systemctl")
    shown = pairs(s, "stopped.shown", "=")
    found = (shown["ActiveState"], shown["Result"], shown["ExecMainStatus"])
    expect_equal(found, ("inactive", "success", "0"), "state")
    journal_has(s, "ended as asked")
