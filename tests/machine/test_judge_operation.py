#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on packages and on the daemon's operation, without a virtual machine: a folder as
the guest leaves it passes, and with one file changed it fails in the right test.
"""

import sys

import judge
import judge_operation as operation
import judge_packages as packages
from results import READ1, Scenario
from spoilt import failing_in, refuse_spoilt

SLOT, MOVED = 2, 1000
DENIED = 'apparmor="DENIED" profile="t410trace-serve" name="{}"\n'
HOUR_NS = operation.HOUR_NS


def report(value, gaps=(), **more):
    counter = {"name": READ1, "value": value - 3, "others": 2, "unattributed": 1, "machine": {"value": value}}
    return {"state": "ended", "late_start": False, "gaps": list(gaps), "counters": [counter], **more}


def truth(*jobs):
    return [{"name": f"job{job}", "slot": SLOT, "bytes": MOVED} for job in jobs]


def shown(file_state, state, result="success"):
    main = "".join(
        f"Unit={unit}\nUnitFileState={file_state}\nActiveState={state}\nResult={result}\n"
        for unit in (packages.SERVICE, packages.SOCKET)
    )
    return main + "Unit=t410trace-collect.timer\nUnitFileState=disabled\nActiveState=inactive\nResult=success\n"


def right_packages():
    files = {f"{name}.status": "0" for name in ("install", "enable", "check", "upgrade", "rollback", "purge")}
    for name, version in (("enabled", "1"), ("upgraded", "1+later"), ("rolled", "1")):
        files[f"{name}.dpkg"] = f"Package: t410trace\nVersion: {version}\n"
        files[f"{name}.shown"] = shown("enabled", "active")
        files[f"{name}.conf"] = "interval = 1s"
        files[f"{name}.jobs"] = '"7001" "7002"'
    return {
        **files,
        "installed.shown": shown("disabled", "inactive"),
        "enabled.folders": "/var/lib/t410trace 2750 root t410trace\n",
        "check.json": {"ok": True},
        "confined": "t410trace-serve (enforce)\n",
        "shadow.read": "",
        "shadow.refused": "2",
        "denied": DENIED.format("/etc/shadow"),
        "truth": truth(7001, 7002),
        "job7001.json": report(MOVED),
        "job7002.json": report(MOVED // 2, [{"duration_ns": 1}]),
        "upgraded.etc": "serve.conf\nserve.conf.dpkg-dist\n",
        "pid.before": "1",
        "pid.after": "2",
        "left": "",
        "journal": "ended as asked\n" * 3,
    }


def right_operation():
    bad = {"problems": [{"part": "clock"}]}
    cpus, rows = "      CPU0 CPU1 CPU2 CPU3\n", " 10: 1 1 1 {} GICv3 27 arch_timer\nErr: 0\n"
    files = {f"{name}.{when}": cpus + rows.format(5) for name in ("quiet", "beside") for when in ("before", "after")}
    files |= {f"{name}.status.{when}": "voluntary_ctxt_switches:\t1\n" for name in ("quiet", "beside") for when in ("before", "after")}
    return {
        **files,
        **{f"{name}.status": "0" for name in ("timer", "reset", "mended")},
        **{f"{name}.status": "1" for name in ("read-only", "no-ipv4", "waiting", "limited")},
        "threads": ["1 (serve) S " + "0 " * 40] * 20,
        "allowed": "Cpus_allowed_list:\t0\n",
        "isolated": "3\n3\n",
        "collect.kept": "slurm-8001-k.json\n",
        "collect.journal": "COMMAND failed with status 1; 1 reports are in x\nstatus=1/FAILURE\n" * 2 + "1 reports were sent\n",
        "job8001.json": report(MOVED),
        "collected": report(MOVED),
        "collect.left": ".collect\n",
        "truth": truth(8002, 8003),
        "job8002.json": report(MOVED, clock_set_ns=HOUR_NS, duration_ns=1),
        "job8003.json": report(MOVED),
        "clock.health": bad,
        "clock.metrics": "t410trace_clock_wrong 1\n",
        "clock.jobs": '"8001" "8002"',
        "disk.health": {"problems": [{"part": "store", "text": "database or disk is full"}]},
        "disk.jobs": '"8003"',
        "journal": "/srv/accounts/a.db: Read-only file system; ReadWritePaths= no interface of this machine has it",
        "ipv6.out": "200",
        "nobody-report.out": "0\nno\n403\n",
        "nobody-jobs.out": '0\n{"jobs":[]}\n200\n',
        "report.page": '"8004"',
        "wrong.shown": shown("enabled", "failed", "service-start-limit-hit"),
        "mended.shown": shown("enabled", "active"),
    }


# By test: a file, and its other content
PACKAGES = (
    (packages.installed_and_nothing_started, "installed.shown", shown("enabled", "inactive")),
    (packages.service_and_socket_start_together, "enabled.folders", "/var/lib/t410trace 755 root root\n"),
    (packages.check_finds_all_of_it, "check.json", {"ok": False}),
    (packages.the_profile_is_enforced, "confined", "unconfined"),
    (packages.the_profile_is_enforced, "shadow.refused", "0"),
    (packages.it_denies_the_daemon_nothing, "denied", DENIED.format("/etc/shadow") + DENIED.format("/etc/hosts")),
    (packages.it_denies_the_daemon_nothing, "denied", ""),
    (packages.a_jobs_bytes_are_exact, "job7001.json", report(MOVED - 1)),
    (packages.an_upgrade_keeps_settings_and_accounts, "upgraded.etc", "serve.conf\n"),
    (packages.an_upgrade_keeps_settings_and_accounts, "upgraded.conf", "# of a later version"),
    (packages.an_upgrade_restarts_service_and_socket, "pid.after", "1"),
    (packages.an_upgrade_restarts_service_and_socket, "rolled.shown", shown("enabled", "failed")),
    (packages.an_upgrade_costs_a_job_a_gap, "job7002.json", report(MOVED, [{"duration_ns": 1}])),
    (packages.the_way_back_keeps_accounts, "rolled.jobs", '"7001"'),
    (packages.a_purge_ends_the_daemon_and_leaves_nothing, "left", "/run/t410trace\n"),
)
OPERATION = (
    (operation.it_runs_where_it_is_told, "threads", ["1 (serve) S " + "1 " * 40] * 20),
    (operation.an_isolated_cpu_is_left_alone, "beside.after", "      CPU0 CPU1 CPU2 CPU3\n 10: 1 1 1 99 arch_timer\n"),
    (operation.a_failing_command_is_tried_again, "collect.kept", "other\n"),
    (operation.reports_are_sent_once_and_removed, "collect.left", "slurm-8001-k.json\n"),
    (operation.reports_are_sent_once_and_removed, "collected", report(1)),
    (operation.a_clock_that_is_set_changes_no_duration, "job8002.json", report(MOVED, clock_set_ns=HOUR_NS, duration_ns=HOUR_NS)),
    (operation.a_wrong_clock_is_reported_and_empties_nothing, "clock.jobs", '"8001"'),
    (operation.a_full_disk_loses_nothing, "job8003.json", report(MOVED - 1)),
    (operation.a_full_disk_loses_nothing, "disk.health", {"problems": [{"part": "store", "text": "not an error"}]}),
    (operation.a_read_only_folder_is_named_with_the_remedy, "read-only.status", "0"),
    (operation.without_ipv4_it_needs_another_address, "ipv6.out", "000"),
    (operation.root_in_a_user_namespace_is_nobody, "nobody-report.out", "0\n{}\n200\n"),
    (operation.wrong_settings_end_the_socket_too, "wrong.shown", shown("enabled", "active")),
    (operation.the_documented_commands_bring_both_back, "mended.shown", shown("enabled", "failed")),
)


def spoiler(number, test, file, content):
    def spoil(files):
        files[file] = content
        return {test.__name__}

    spoil.__name__ = f"spoil_{number}_{test.__name__}"
    return spoil


def main():
    wrong = 0
    for name, part, right, cases in (
        ("packages", packages, right_packages, PACKAGES),
        ("operation", operation, right_operation, OPERATION),
    ):

        def failures(files, name=name, part=part):
            return failing_in(files, part.TESTS[name], lambda folder: Scenario(folder, judge.wiring_of(name)), name)

        wrong += refuse_spoilt(name, right, failures, [spoiler(number, *case) for number, case in enumerate(cases)])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
