# SPDX-License-Identifier: GPL-2.0-only
"""Tests of Debian's packages under systemd and AppArmor; see judge.py and guest_packages.sh."""

import json

from judge_systemd import pairs
from results import READ1, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {"packages": ("t410,packages", "traffic.conf")}
SERVICE, SOCKET = "t410trace.service", "t410trace.socket"
PROFILE = "t410trace-serve"
JOBS = (7001, 7002)


def units(s, name):
    """Properties by unit, of the guest's units_shown()."""
    blocks = [block.splitlines() for block in s.text(f"{name}.shown").split("Unit=")[1:]]
    return {block[0]: dict(line.split("=", 1) for line in block[1:]) for block in blocks}


def states(s, name):
    """Of service and socket."""
    found = units(s, name)
    return [found[unit]["ActiveState"] for unit in (SERVICE, SOCKET)]


def installed(s, name):
    return pairs(s, f"{name}.dpkg", ": ")


def account(s, job):
    return json.loads(s.text(f"job{job}.json"))


def bytes_of_job(s, job):
    """What the machine counted while the job was there, after a look at how it is divided."""
    (counter,) = (one for one in account(s, job)["counters"] if one["name"] == READ1)
    parts = counter["value"] + counter["others"] + counter["unattributed"]
    expect_equal(parts, counter["machine"]["value"], f"parts of job {job}")
    return counter["machine"]["value"]


@test("packages")
def installed_and_nothing_started(s):
    expect_equal(s.status("install"), 0, "exit status of dpkg")
    for unit, found in units(s, "installed").items():
        expect_equal((found["UnitFileState"], found["ActiveState"]), ("disabled", "inactive"), unit)


@test("packages")
def service_and_socket_start_together(s):
    expect_equal(s.status("enable"), 0, "exit status of systemctl")
    expect_equal(states(s, "enabled"), ["active", "active"], "states")
    for line in s.text("enabled.folders").splitlines():
        expect_equal(line.split(" ", 1)[1], "2750 root t410trace", line)


@test("packages")
def check_finds_all_of_it(s):
    expect_equal((s.status("check"), json.loads(s.text("check.json"))["ok"]), (0, True), "t410trace check")


@test("packages")
def the_profile_is_enforced(s):
    expect_equal(s.words("confined"), f"{PROFILE} (enforce)", "confinement of the daemon")
    require((s.folder / "shadow.read").exists(), "root cannot read /etc/shadow without the profile")
    require(s.number("shadow.refused") != 0, "/etc/shadow was read under the profile")


@test("packages")
def it_denies_the_daemon_nothing(s):
    """In a whole life: start, intervals, pages, reports, restarts, stop."""
    lines = s.text("denied").splitlines()
    shadow = [line for line in lines if '"/etc/shadow"' in line and f'profile="{PROFILE}"' in line]
    require(shadow, "the kernel's log does not say that /etc/shadow was denied")
    other = [line for line in lines if line not in shadow]
    require(not other, f"denied: {other[:2]}")


@test("packages")
def a_jobs_bytes_are_exact(s):
    report = account(s, JOBS[0])
    expect_equal((report["state"], report["gaps"], report["late_start"]), ("ended", [], False), "account")
    expect_equal(bytes_of_job(s, JOBS[0]), s.truth().bytes(f"job{JOBS[0]}"), READ1)


@test("packages")
def an_upgrade_keeps_settings_and_accounts(s):
    expect_equal(s.status("upgrade"), 0, "exit status of dpkg")
    expect_equal(installed(s, "upgraded")["Version"], installed(s, "enabled")["Version"] + "+later", "version")
    expect_equal(s.text("upgraded.conf"), s.text("enabled.conf"), "settings")
    require("serve.conf.dpkg-dist" in s.words("upgraded.etc").split(), "the new settings are not beside the old ones")
    require(f'"{JOBS[0]}"' in s.text("upgraded.jobs"), "the account is gone")


@test("packages")
def an_upgrade_restarts_service_and_socket(s):
    require(s.number("pid.before") != s.number("pid.after"), "the daemon of before runs")
    for name in ("upgraded", "rolled"):
        expect_equal(states(s, name), ["active", "active"], f"{name}: states")
        found = units(s, name)
        expect_equal([found[unit]["Result"] for unit in (SERVICE, SOCKET)], ["success", "success"], f"{name}: results")
        others = [one["ActiveState"] for unit, one in found.items() if unit not in (SERVICE, SOCKET)]
        expect_equal(set(others), {"inactive"}, f"{name}: units that were not started")


@test("packages")
def an_upgrade_costs_a_job_a_gap(s):
    report = account(s, JOBS[1])
    (gap,) = report["gaps"]
    print(f"# packages: an upgrade costs a running job {gap['duration_ns'] / 1e9:.1f} s")
    moved, counted = s.truth().bytes(f"job{JOBS[1]}"), bytes_of_job(s, JOBS[1])
    require(0 < counted < moved, f"{counted} of {moved} bytes are in the account")


@test("packages")
def the_way_back_keeps_accounts(s):
    expect_equal(s.status("rollback"), 0, "exit status of dpkg")
    expect_equal(installed(s, "rolled")["Version"], installed(s, "enabled")["Version"], "version")
    for job in JOBS:
        require(f'"{job}"' in s.text("rolled.jobs"), f"the account of job {job} is gone")


@test("packages")
def a_purge_ends_the_daemon_and_leaves_nothing(s):
    expect_equal(s.status("purge"), 0, "exit status of dpkg")
    expect_equal(s.text("left"), "", "what is left")
    # by the upgrade, the way back, the purge
    expect_equal(s.text("journal").count("ended as asked"), 3, "ends of the daemon")
