#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of packaging/slurm/epilog.sh with programs that only pretend: what it stores, and that
it always ends well and soon."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPILOG = ROOT / "packaging/slurm/epilog.sh"
RECORD = "t4j1l:d6fqsaaaaaaa"
BEGIN = 1795313813
# What slurmd says without a credential
JOB = {
    "SLURM_JOB_ID": "42",
    "SLURM_NODELIST": "n[1-2]",
    "SLURMD_NODENAME": "n1",
    "SLURM_CLUSTER_NAME": "big",
}
ASKED = f"job --wait 1 --compact --since @{BEGIN} slurm:42"
PLAIN = {"JobId": 42, "JobName": "x", "StartTime": BEGIN}

# Fields of "scontrol show job" that have text of the submitter in them
TEXTS = (
    "JobName Comment WorkDir Command Dependency StdErr StdIn StdOut AdminComment Extra Features Licenses"
    " MailUser ReqNodeList Reservation Account WCKey"
).split()
# Names of fields, as anybody can write them into these; of another user's jobs
CLAIMS = "JobId=7 ArrayJobId=55,100 ArrayTaskId=1 HetJobId=55 HetJobOffset=0 StartTime=2099-01-01T00:00:00 NodeList=n2"
CLAIMED = f"x {CLAIMS}\n42 7 1\n42|7|1\nJobId=42 {CLAIMS} "

# scontrol and squeue: they show the jobs that JOBS, beside them, says, as Slurm's own do
SLURM = """#!/usr/bin/python3
import json, os, pathlib, sys, time

def number(job):
    if "ArrayTaskId" in job:
        return f"{job['ArrayJobId']}_{job['ArrayTaskId']}"
    if "HetJobId" in job:
        return f"{job['HetJobId']}+{job['HetJobOffset']}"
    return job["JobId"]

def text(start):
    form = os.environ.get("SLURM_TIME_FORMAT", "%Y-%m-%dT%H:%M:%S")
    return time.strftime(form, time.localtime(start)) if start else "N/A"

def squeue(wanted, form):
    for job in wanted:
        line = form
        for letter, value in (
            ("A", job["JobId"]), ("i", number(job)), ("S", text(job["StartTime"])),
            ("F", job.get("ArrayJobId", job["JobId"])), ("K", job.get("ArrayTaskId", "N/A")),
            ("j", job.get("JobName")), ("k", job.get("Comment")), ("Z", job.get("WorkDir")),
        ):
            line = line.replace(f"%{letter}", str(value))
        print(line)

def show(wanted):
    for job in wanted:
        shown = {**job, "StartTime": text(job["StartTime"])}
        print(" ".join(f"{name}={value}" for name, value in shown.items()))

program, *words = pathlib.Path(sys.argv[0]).name, *sys.argv[1:]
if "hostnames" in words:
    print("n1\\nn2")
    sys.exit()
jobs = json.loads((pathlib.Path(sys.argv[0]).parent / "jobs").read_text())
asked = int(words[words.index("-j") + 1] if program == "squeue" else words[-1])
wanted = [job for job in jobs if asked in (job["JobId"], job.get("ArrayJobId"), job.get("HetJobId"))]
if not wanted:
    sys.exit("Invalid job id specified")
squeue(wanted, words[words.index("-o") + 1]) if program == "squeue" else show(wanted)
"""


# The epilog gives its log a second, and its own last words another one. A busy machine keeps both waiting
# for longer: timeout(1) does not end them here, but where a test is about that.
LOG = '"-s KILL 1 logger "*) shift 3 ;;'
LAST_WORDS = '"-k 1 "*) shift 2; set -- /usr/bin/timeout -k 30 "$@" ;;'


def patient(*ways):
    return f'case $* in {" ".join(ways)} *) set -- /usr/bin/timeout "$@" ;; esac\nexec "$@"'


def stored(number="42", field="AdminComment"):
    """What sacctmgr is given."""
    return f"-i modify job where jobid={number} cluster=big set {field}={RECORD}"


def program(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def pretend(folder, name, text):
    program(folder / name, f"#!/bin/sh\n{text}\n")


class Run:
    """One run of the epilog: what it stored, logged, and how it ended. JOBS are those of the
    controller; PROGRAMS replace Slurm's, and None leaves one out."""

    def __init__(self, trace=f"echo {RECORD}", job=None, jobs=(PLAIN,), settings="", **programs):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            pretend(folder, "t410trace", f'echo "$@" > {folder}/asked; {trace}')
            pretend(folder, "logger", f'echo "$@" >> {folder}/log')
            pretend(folder, "timeout", patient(LOG, LAST_WORDS))
            (folder / "jobs").write_text(json.dumps(jobs), encoding="utf-8")
            for tool in ("scontrol", "squeue", "sacctmgr"):
                program(folder / tool, SLURM)
            pretend(folder, "sacctmgr", f'echo "$@" >> {folder}/stored')
            for tool, text in programs.items():
                if text is None:
                    (folder / tool).unlink()
                else:
                    pretend(folder, tool, text)
            conf = folder / "epilog.conf"
            conf.write_text(
                f"T410TRACE={folder}/t410trace\nSLURM={folder}\nWAIT=1\nLIMIT=30\n{settings}\n".replace("FOLDER", name),
                encoding="utf-8",
            )
            environment = {"T410TRACE_EPILOG_CONF": str(conf), **(JOB if job is None else job)}
            start = time.monotonic()
            done = subprocess.run([EPILOG], env=environment, capture_output=True, text=True, check=False)
            self.seconds = time.monotonic() - start
            self.status = done.returncode
            self.stored, self.log, self.asked = (
                (folder / file).read_text(encoding="utf-8").splitlines() if (folder / file).exists() else []
                for file in ("stored", "log", "asked")
            )

    def refused(self, *words):
        """Nothing is stored, and one line in the log says why."""
        assert not self.stored and len(self.log) == 1, (self.stored, self.log)
        for word in words:
            assert word in self.log[0], (word, self.log)
        return self


def stores_the_record():
    run = Run()
    assert run.asked == [ASKED], run.asked
    assert run.stored == [stored()] and not run.log, (run.stored, run.log)
    return run


def without_the_run_nothing_is_stored():
    """An earlier run, or a whole array, could be meant then."""
    never = {**PLAIN, "StartTime": 0}
    for jobs in ((), (never,), (PLAIN, {**PLAIN, "StartTime": 1})):
        run = Run(jobs=jobs).refused("squeue")
        assert not run.asked, run.asked
    return Run(squeue="echo error: Unable to contact slurm controller >&2; exit 1").refused("controller")


def text_of_the_submitter_is_no_field():
    """Wherever it stands, and whatever a shell would make of it."""
    texts = {name: f"{CLAIMED}'$(reboot)' `reboot` \" %A %i" for name in TEXTS}
    for job in ({**texts, **PLAIN}, {**PLAIN, **texts}, {**PLAIN, "JobName": "x ArrayTaskId=1 ArrayJobId=55,100,101"}):
        run = Run(jobs=(job,))
        assert run.stored == [stored()] and not run.log, (run.stored, run.log)
        assert run.asked == [ASKED], run.asked
    return run


def stores_it_elsewhere():
    run = Run(settings="FIELD=SystemComment")
    assert run.stored == [stored(field="SystemComment")], run.stored
    return run


def a_task_of_an_array_is_not_the_array():
    """The last task to begin has the array's own number, for which Slurm shows all tasks."""
    tasks = [{"JobId": job, "ArrayJobId": 42, "ArrayTaskId": job % 5, "StartTime": BEGIN} for job in (43, 42, 44)]
    run = Run(jobs=tasks)
    assert run.stored == [stored("42_2")], run.stored
    run = Run(jobs=[{**PLAIN, "ArrayJobId": 40, "ArrayTaskId": 7}])
    assert run.stored == [stored("40_7")], run.stored
    # tasks that have not begun
    return Run(jobs=[{**PLAIN, "ArrayJobId": 42, "ArrayTaskId": "[1-3]"}]).refused("squeue")


def a_part_of_a_job_is_not_the_job():
    """The first part of a heterogeneous job has the number of all."""
    parts = [{"JobId": 42 + part, "HetJobId": 42, "HetJobOffset": part, "StartTime": BEGIN} for part in (1, 0)]
    run = Run(jobs=parts)
    assert run.stored == [stored("42+0")], run.stored
    return run


def the_account_so_far_is_better_than_none():
    run = Run(trace=f"echo {RECORD}; exit 5")
    assert run.stored == [stored()] and "not closed" in run.log[0], (run.stored, run.log)
    return run


def an_account_with_gaps_is_closed():
    run = Run(trace=f"echo {RECORD}; exit 3")
    assert run.stored == [stored()] and not run.log, (run.stored, run.log)
    return run


def a_failure_has_its_reason():
    """... and its remedy."""
    for trace, *words in (
        ("exit 4", "no account", "serve"),
        ("exit 2", "options", "WAIT"),
        ("exit 1", "job slurm:42", "status 1"),
        (f"echo {RECORD}; exit 1", "job slurm:42", "status 1"),
    ):
        Run(trace=trace).refused(*words)
    Run(settings="chmod -x FOLDER/t410trace").refused("cannot execute", "T410TRACE")
    return Run(settings="T410TRACE=/no/such/program").refused("/no/such/program", "T410TRACE")


def in_short(*programs):
    """
    Runs with a low limit, all at once, and without programs that take long to start. Of the limit the
    account has 10 s, which no program needs that is kept waiting by a busy machine; one that hangs does
    so for 60 s.
    """

    def run(more):
        return Run(settings="LIMIT=12", **{"scontrol": "echo n1", "squeue": "echo 42 42 1", **more})

    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        runs = list(pool.map(run, programs))
    assert all(run.seconds < 40 for run in runs), [run.seconds for run in runs]
    return runs


def a_program_that_hangs_is_given_up():
    hanging = (
        ({"trace": "exec sleep 60"}, "t410trace job"),
        ({"trace": "sleep 60; exit 1"}, "t410trace job"),
        ({"squeue": "exec sleep 60"}, "squeue"),
        ({"scontrol": "exec sleep 60"}, "scontrol show hostnames"),
        ({"sacctmgr": "exec sleep 60"}, "sacctmgr"),
    )
    for run, (_, name) in zip(in_short(*(programs for programs, _ in hanging)), hanging):
        run.refused(f"{name} did not end", "LIMIT")
    return run


def one_limit_holds_for_all():
    """Each part would end, but together they take long; one is stubborn; and the log hangs, too."""
    stubborn = "trap '' TERM; sleep 60"
    slow, *others = in_short(
        {"scontrol": "sleep 6; echo n1", "squeue": "sleep 6; echo 42 42 1"},
        {"trace": stubborn, "timeout": patient(LOG)},
        {"trace": stubborn, "logger": stubborn, "timeout": None},
    )
    slow.refused("squeue did not end")
    others[0].refused("status 137")
    return others[1]


def the_limit_is_a_limit():
    for limit in ("0", "2", "-1", "", "ten", "08", "1000"):
        Run(settings=f"LIMIT={limit}").refused("LIMIT")
    return Run()


def a_database_that_refuses_is_told():
    return Run(sacctmgr="echo Connection refused >&2; exit 1").refused("Connection refused")


def slurms_programs_are_where_the_settings_say():
    """slurmd gives epilogs no PATH."""
    for tool in ("scontrol", "squeue", "sacctmgr"):
        Run(**{tool: None}).refused(f"no {tool}", "SLURM")
    run = Run(settings="SLURM=/no/such/folder PATH=FOLDER:$PATH")
    assert run.stored == [stored()] and not run.log, (run.stored, run.log)
    run = Run(scontrol="/usr/bin/env | /usr/bin/grep -q ^PATH=/ && echo n1")
    assert run.stored == [stored()], (run.stored, run.log)
    # "SLURM=" is not the folder in which slurmd happens to be
    run = Run(settings="PATH=FOLDER:$PATH SLURM=", scontrol="/usr/bin/env | /usr/bin/grep -q ^PATH=/ && echo n1")
    assert run.stored == [stored()], (run.stored, run.log)
    return run


def what_is_no_record_is_not_stored():
    for text in ("echo hello world", "echo 't4j1l:a;b'", "echo t4j2l:aaaa", "printf 't4j1l:a\\nb\\n'", "true"):
        Run(trace=text).refused("no record")
    return Run()


def what_is_too_long_is_not_stored():
    return Run(settings="MOST=10").refused("MOST")


def only_the_first_node_speaks():
    """Also where slurmd has no credential, which would say how many nodes there are."""
    for more in ({}, {"SLURM_JOB_NUM_NODES": "2"}):
        assert Run(job={**JOB, **more}).stored == [stored()]
        run = Run(job={**JOB, **more, "SLURMD_NODENAME": "n2"})
        assert not run.stored and not run.asked and not run.log, (run.stored, run.log)
    run = Run(job={**JOB, "SLURM_NODELIST": "n1"}, scontrol="exit 1")
    assert run.stored == [stored()] and not run.log, (run.stored, run.log)
    return run


def without_its_nodes_or_cluster_nothing_is_stored():
    for name, word in (("SLURM_NODELIST", "nodes"), ("SLURMD_NODENAME", "node"), ("SLURM_CLUSTER_NAME", "cluster")):
        Run(job={key: value for key, value in JOB.items() if key != name}).refused(word)
    return Run(scontrol="echo error >&2; exit 1").refused("scontrol show hostnames")


def a_mistake_in_the_settings_drains_no_node():
    return Run(settings="PATH=FOLDER:$PATH\nif then fi (").refused("mistake", "epilog.conf")


def no_job_is_no_error():
    for job in ({}, {"SLURM_JOB_ID": ""}, {"SLURM_JOB_ID": "4; reboot"}):
        run = Run(job=job)
        assert not run.asked and not run.stored
    return run


TESTS = (
    stores_the_record,
    without_the_run_nothing_is_stored,
    text_of_the_submitter_is_no_field,
    stores_it_elsewhere,
    a_task_of_an_array_is_not_the_array,
    a_part_of_a_job_is_not_the_job,
    the_account_so_far_is_better_than_none,
    an_account_with_gaps_is_closed,
    a_failure_has_its_reason,
    a_program_that_hangs_is_given_up,
    one_limit_holds_for_all,
    the_limit_is_a_limit,
    a_database_that_refuses_is_told,
    slurms_programs_are_where_the_settings_say,
    what_is_no_record_is_not_stored,
    what_is_too_long_is_not_stored,
    only_the_first_node_speaks,
    without_its_nodes_or_cluster_nothing_is_stored,
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
