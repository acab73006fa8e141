#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of packaging/slurm/epilog.sh with programs that only pretend: what it stores, and that
it always ends well and soon."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPILOG = ROOT / "packaging/slurm/epilog.sh"
RECORD = "t4j1l:d6fqsaaaaaaa"
JOB = {
    "SLURM_JOB_ID": "42",
    "SLURM_JOB_NUM_NODES": "1",
    "SLURM_NODELIST": "n[1-2]",
    "SLURMD_NODENAME": "n1",
    "SLURM_CLUSTER_NAME": "big",
}
STORED = f"-i modify job where jobid=42 cluster=big set AdminComment={RECORD}"
PLAIN = "JobId=42 JobName=x UserId=root(0) StartTime=2026-11-22T03:56:53 EndTime=x"
ARRAY = "JobId=42 ArrayJobId=40 ArrayTaskId=7 JobName=x"


def pretend(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


class Run:
    """One run of the epilog: what it stored, logged, and how it ended."""

    def __init__(self, trace=f"echo {RECORD}", job=None, details=PLAIN, sacctmgr="exit 0", settings="", tools=True):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            pretend(folder, "t410trace", f'echo "$@" > {folder}/asked; {trace}')
            pretend(folder, "logger", f'echo "$@" >> {folder}/log')
            if tools:
                pretend(folder, "scontrol", f'case $2 in hostnames) printf "n1\\nn2\\n" ;; *) echo "{details}" ;; esac')
                pretend(folder, "sacctmgr", f'echo "$@" >> {folder}/stored; {sacctmgr}')
            conf = folder / "epilog.conf"
            conf.write_text(f"T410TRACE={folder}/t410trace\nWAIT=1\nSTORE_WAIT=1\n{settings}\n", encoding="utf-8")
            environment = {"PATH": f"{folder}:/usr/bin:/bin", "T410TRACE_EPILOG_CONF": str(conf), **(JOB if job is None else job)}
            start = time.monotonic()
            done = subprocess.run([EPILOG], env=environment, capture_output=True, text=True, check=False)
            self.seconds = time.monotonic() - start
            self.status = done.returncode
            self.stored, self.log, self.asked = (
                (folder / file).read_text(encoding="utf-8").splitlines() if (folder / file).exists() else []
                for file in ("stored", "log", "asked")
            )


def stores_the_record():
    run = Run()
    assert run.asked == ["job --wait 1 --compact --caseless --since 2026-11-22T03:56:53 42"], run.asked
    assert run.stored == [STORED] and not run.log, (run.stored, run.log)
    return run


def a_silent_controller_is_no_obstacle():
    run = Run(details="")
    assert run.asked == ["job --wait 1 --compact --caseless 42"] and run.stored == [STORED], (run.asked, run.stored)
    return run


def stores_it_elsewhere():
    run = Run(settings="FIELD=SystemComment")
    assert run.stored == [STORED.replace("Admin", "System")], run.stored
    return run


def a_task_of_an_array_is_not_the_array():
    run = Run(details=ARRAY)
    assert run.stored == [STORED.replace("jobid=42", "jobid=40_7")], run.stored
    return run


def the_account_so_far_is_better_than_none():
    run = Run(trace=f"echo {RECORD}; exit 5")
    assert run.stored == [STORED] and "not closed" in run.log[0], (run.stored, run.log)
    return run


def without_a_daemon_nothing_is_stored():
    run = Run(trace="echo t410trace: nobody >&2; exit 4")
    assert not run.stored and "status 4" in run.log[0], (run.stored, run.log)
    return run


def without_the_program_nothing_is_stored():
    run = Run(settings="T410TRACE=/no/such/program")
    assert not run.stored and "no account" in run.log[0], (run.stored, run.log)
    return run


def a_program_that_hangs_is_given_up():
    run = Run(trace="exec sleep 60")
    assert not run.stored and run.seconds < 10, (run.stored, run.seconds)
    return run


def a_database_that_hangs_is_given_up():
    run = Run(sacctmgr="exec sleep 60")
    assert "no answer" in run.log[0] and run.seconds < 10, (run.log, run.seconds)
    return run


def a_database_that_refuses_is_told():
    run = Run(sacctmgr="echo Connection refused >&2; exit 1")
    assert "Connection refused" in run.log[0], run.log
    return run


def without_slurms_programs_it_ends_well():
    run = Run(tools=False)
    assert run.log, "nothing is said"
    return run


def what_is_no_record_is_not_stored():
    for text in ("echo hello world", "echo 't4j1l:a;b'", "echo t4j2l:aaaa", "printf 't4j1l:a\\nb\\n'"):
        run = Run(trace=text)
        assert not run.stored and run.log, (text, run.stored)
    return run


def what_is_too_long_is_not_stored():
    run = Run(settings="MOST=10")
    assert not run.stored and "too long" in run.log[0], (run.stored, run.log)
    return run


def only_the_first_node_speaks():
    assert Run(job={**JOB, "SLURM_JOB_NUM_NODES": "2"}).stored == [STORED]
    run = Run(job={**JOB, "SLURM_JOB_NUM_NODES": "2", "SLURMD_NODENAME": "n2"})
    assert not run.stored and not run.asked, run.stored
    return run


def a_mistake_in_the_settings_drains_no_node():
    return Run(settings="if then fi (")


def no_job_is_no_error():
    for job in ({}, {"SLURM_JOB_ID": ""}, {"SLURM_JOB_ID": "4; reboot"}):
        run = Run(job=job)
        assert not run.asked and not run.stored
    return run


TESTS = (
    stores_the_record,
    a_silent_controller_is_no_obstacle,
    stores_it_elsewhere,
    a_task_of_an_array_is_not_the_array,
    the_account_so_far_is_better_than_none,
    without_a_daemon_nothing_is_stored,
    without_the_program_nothing_is_stored,
    a_program_that_hangs_is_given_up,
    a_database_that_hangs_is_given_up,
    a_database_that_refuses_is_told,
    without_slurms_programs_it_ends_well,
    what_is_no_record_is_not_stored,
    what_is_too_long_is_not_stored,
    only_the_first_node_speaks,
    a_mistake_in_the_settings_drains_no_node,
    no_job_is_no_error,
)


def main():
    os.umask(0o022)
    bad = 0
    for test in TESTS:
        name = f"slurm-epilog-{test.__name__.replace('_', '-')}"
        try:
            run = test()
            assert run.status == 0, f"exit status {run.status}"
        except AssertionError as error:
            bad += 1
            print(f"not ok {name}: {error}")
        else:
            print(f"ok {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
