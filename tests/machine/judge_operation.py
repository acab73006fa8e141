# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what docs/OPERATION.md and docs/SERVE.md promise; see judge.py and guest_operation.sh."""

import json
import re

from judge_packages import account, bytes_of_job, states, units, SOCKET
from judge_slurm import metrics
from judge_systemd import journal_has
from results import READ1, estimate, expect, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
SHAPES = {"operation": ("t410,operation", "traffic.conf")}
NS_PER_S = 1_000_000_000
ISOLATED = "3"
# The daemon reads counters 50 times a second in these: a fifth of that would not be missed
SECONDS, MOST_A_SECOND = 5, 10
HOUR_NS = 3600 * NS_PER_S


# --- CPUs


def interrupts(s, name):
    """Of the isolated CPU, by their line."""
    lines = s.text(name).splitlines()
    cpus = lines[0].split()
    column = cpus.index(f"CPU{ISOLATED}") + 1
    found = {}
    for line in lines[1:]:
        words = line.split()
        if len(words) > column:
            found[" ".join([words[0], *words[len(cpus) + 1 :]])] = int(words[column])
    return found


def switches(s, name):
    return sum(int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", s.text(name)))


def noise(s, name):
    """Interrupts of the isolated CPU by line, and how often its program had to leave it."""
    before, after = (interrupts(s, f"{name}.{when}") for when in ("before", "after"))
    more = {line: after[line] - before.get(line, 0) for line in after if after[line] != before.get(line, 0)}
    return more, switches(s, f"{name}.status.after") - switches(s, f"{name}.status.before")


@test("operation")
def it_runs_where_it_is_told(s):
    lines = [line.rpartition(")")[2].split() for line in s.text("threads").splitlines()]
    require(len(lines) >= 20, f"{len(lines)} looks at threads")
    expect_equal({line[36] for line in lines}, {"0"}, "CPUs of its threads")
    expect_equal({line.split()[1] for line in s.text("allowed").splitlines()}, {"0"}, "CPUs that it may use")


@test("operation")
@estimate
def an_isolated_cpu_is_left_alone(s):
    expect_equal(s.words("isolated"), f"{ISOLATED} {ISOLATED}", "isolated and nohz_full CPUs")
    (quiet, quiet_switches), (beside, switched) = noise(s, "quiet"), noise(s, "beside")
    print(f"# operation: isolated CPU in {SECONDS} s, without serve: {quiet}, {quiet_switches} switches")
    print(f"# operation: isolated CPU in {SECONDS} s, beside serve: {beside}, {switched} switches")
    more = sum(beside.values()) - sum(quiet.values())
    expect(more <= MOST_A_SECOND * SECONDS, f"{more} interrupts more, beside serve")
    expect(switched - quiet_switches <= SECONDS, f"{switched} switches, without serve {quiet_switches}")


# --- the collector


@test("operation")
def a_failing_command_is_tried_again(s):
    expect_equal(s.status("timer"), 0, "exit status of systemctl")
    (name,) = s.text("collect.kept").split()
    require(re.fullmatch(r"slurm-8001-.*\.json", name), f"kept: {name}")
    require("COMMAND failed with status 1; 1 reports are in" in s.text("collect.journal"), s.text("collect.journal"))
    require(s.text("collect.journal").count("status=1/FAILURE") >= 2, "fewer than two rounds failed")


@test("operation")
def reports_are_sent_once_and_removed(s):
    expect_equal(s.text("collected"), s.text("job8001.json"), "what was sent")
    require(".json" not in s.text("collect.left"), s.text("collect.left"))
    expect_equal(s.text("collect.journal").count("were sent"), 1, "rounds that sent something")


# --- the clock


@test("operation")
def a_clock_that_is_set_changes_no_duration(s):
    report = account(s, 8002)
    require(abs(report["clock_set_ns"] - HOUR_NS) < 2 * NS_PER_S, f"clock_set_ns is {report['clock_set_ns']}")
    require(report["duration_ns"] < HOUR_NS / 4, f"duration is {report['duration_ns']}")
    expect_equal(bytes_of_job(s, 8002), s.truth().bytes("job8002"), READ1)


@test("operation")
def a_wrong_clock_is_reported_and_empties_nothing(s):
    health = json.loads(s.text("clock.health"))
    expect_equal([problem["part"] for problem in health["problems"]], ["clock"], "problems")
    wrong = [value for (name, _), value in metrics(s, "clock.metrics").items() if name == "t410trace_clock_wrong"]
    expect_equal(wrong, [1], "t410trace_clock_wrong")
    for job in (8001, 8002):
        require(f'"{job}"' in s.text("clock.jobs"), f"job {job} was forgotten")


# --- folders


@test("operation")
def a_full_disk_loses_nothing(s):
    (problem,) = json.loads(s.text("disk.health"))["problems"]
    require(problem["part"] == "store" and "disk is full" in problem["text"], f"problem {problem}")
    expect_equal(bytes_of_job(s, 8003), s.truth().bytes("job8003"), READ1)
    expect_equal((account(s, 8003)["gaps"], '"8003"' in s.text("disk.jobs")), ([], True), "gaps, in the store")


@test("operation")
def a_read_only_folder_is_named_with_the_remedy(s):
    require(s.status("read-only") != 0, "it started")
    said = re.search(r"/srv/accounts.{0,200}Read-only file system.{0,200}ReadWritePaths=", s.words("journal"))
    require(said, "the journal does not name the folder and ReadWritePaths=")


# --- addresses


@test("operation")
def without_ipv4_it_needs_another_address(s):
    require(s.status("no-ipv4") != 0, "it started without its address")
    journal_has(s, "no interface of this machine has it")
    expect_equal(s.words("ipv6.out"), "200", "status of /healthz at [::1]")


@test("operation")
def root_in_a_user_namespace_is_nobody(s):
    report, jobs = (s.text(f"nobody-{page}.out").splitlines() for page in ("report", "jobs"))
    expect_equal((report[0], report[-1]), ("0", "403"), "its user as it sees it, status of /report")
    expect_equal((jobs[0], jobs[-1]), ("0", "200"), "its user as it sees it, status of /jobs")
    expect_equal(json.loads(jobs[1])["jobs"], [], "jobs that it sees")
    require('"8004"' in s.text("report.page"), "root does not see the job")


# --- wrong settings


@test("operation")
def wrong_settings_end_the_socket_too(s):
    require(s.status("waiting") != 0, "the user who waited got a page")
    expect_equal(states(s, "wrong"), ["failed", "failed"], "states")
    expect_equal(units(s, "wrong")[SOCKET]["Result"], "service-start-limit-hit", "result of the socket")
    require(s.status("limited") != 0, "no limit of starts was reached")


@test("operation")
def the_documented_commands_bring_both_back(s):
    expect_equal((s.status("reset"), s.status("mended")), (0, 0), "exit statuses of systemctl")
    expect_equal(states(s, "mended"), ["active", "active"], "states")
