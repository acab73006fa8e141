#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""riscv64.py FOLDER: judge what riscv64-init kept of a run. Prints a line for each test."""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CHECK_REPORT = HERE.parent / "check-report"
# Of CPU time, beside a program's own clock, and what starts and ends a program
SAME_TIME, SLACK_NS = 0.02, 30_000_000
WORD_BYTES = 8


class Wrong(Exception):
    """A test failed; the text says why."""


def require(condition, text):
    if not condition:
        raise Wrong(text)


class Run:
    """What was kept under a name."""

    def __init__(self, folder, name):
        self.folder = folder
        self.name = name

    def text(self, ending):
        return (self.folder / f"{self.name}.{ending}").read_text(encoding="utf-8", errors="replace")

    def words(self, ending):
        return " ".join(self.text(ending).split())

    def status(self, wanted=0):
        found = int(self.text("status"))
        require(found == wanted, f"{self.name}: exit status {found}: {self.words('err')[:300]}")

    def reports(self, ending="json"):
        self.status()
        path = self.folder / f"{self.name}.{ending}"
        checked = subprocess.run([CHECK_REPORT, path], capture_output=True, check=False, text=True)
        require(checked.returncode == 0, f"check-report: {checked.stdout[:300]}")
        reports = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        reports = [report for report in reports if not report.get("summary")]
        require(reports, "no report")
        for report in reports:
            lost = {what: count for what, count in report["quality"]["lost"].items() if count}
            require(not lost, f"lost: {lost}")
        return reports

    def programs(self, ending="truth"):
        """CPU time by pid, as the programs say it."""
        return {int(pid): int(ns) for pid, ns in re.findall(r"^process (\d+) burn (\d+)$", self.text(ending), re.M)}


def time_of(reports, pid):
    return sum(row["on_cpu_ns"] for report in reports for row in report["workloads"] if row["pid"] == pid)


def same_time(reports, programs):
    require(programs, "no program ended")
    for pid, ns in programs.items():
        found = time_of(reports, pid)
        require(abs(found - ns) <= SAME_TIME * ns + SLACK_NS, f"process {pid}: {found} ns in the reports, {ns} by its clock")


def all_cpus(reports):
    """Every CPU is somewhere all the time."""
    for report in reports:
        duration = report["interval"]["duration_ns"]
        for socket in report["sockets"]:
            sum_ns = socket["busy_ns"] + socket["idle_ns"] + socket["lost_ns"]
            require(abs(sum_ns - 2 * duration) < 0.01 * sum_ns, f"2 CPUs in {duration} ns: {sum_ns} ns")


def check_tells_of_the_compiler(folder):
    """Debian's kernel starts without the compiler for BPF."""
    run = Run(folder, "check")
    require(re.search(r"missing +bpf_jit_enable +0 .*sysctl net\.core\.bpf_jit_enable=1", run.words("out")), run.words("out"))


def without_it_the_remedy_is_near(folder):
    run = Run(folder, "refused")
    run.status(1)
    require('"t410trace check" tells' in run.words("err"), run.words("err"))


def a_command(folder):
    run = Run(folder, "command")
    same_time(run.reports(), run.programs("out"))


def all_tasks(folder):
    run = Run(folder, "all")
    reports = run.reports()
    same_time(reports, run.programs())
    all_cpus(reports)


def a_cgroup(folder):
    """The shell that joins it is in the same process."""
    run = Run(folder, "group")
    reports = run.reports()
    same_time(reports, run.programs())
    paths = {row["cgroup"]["path"] for report in reports for row in report["workloads"] if row["pid"]}
    require(paths == {"/one"}, f"rows of cgroups {paths}")


def a_recording(folder):
    Run(folder, "record").status()
    reports = Run(folder, "report").reports("out")
    same_time(reports, Run(folder, "record").programs())
    all_cpus(reports)


def monitors_of_an_esp(folder):
    """Every access is counted; rows have what their programs moved, roughly: the machine is slow."""
    run = Run(folder, "esp")
    reports = run.reports()
    truth = {int(pid): int(n) * WORD_BYTES for pid, n in re.findall(r"^moved (\d+) (\d+)$", run.text("truth"), re.M)}
    require(len(truth) == 2, f"programs: {truth}")
    got = sum(counter["value"] for report in reports for counter in report["counters"])
    require(got == sum(truth.values()), f"{got} bytes are counted, {truth} moved")
    for pid, moved in truth.items():
        found = sum(
            share["value"] for report in reports for row in report["workloads"] if row["pid"] == pid for share in row["shares"]
        )
        require(abs(found - moved) < 0.3 * max(truth.values()), f"process {pid}: {found} bytes of {moved} (of {truth})")


def the_kernel_has_no_complaint(folder):
    log = (folder / "kernel.log").read_text(encoding="utf-8", errors="replace")
    bad = [line for line in log.splitlines() if re.search(r"WARNING|BUG|Oops|Call Trace|t410", line)]
    require(not bad, "; ".join(bad[:5]))


TESTS = (
    check_tells_of_the_compiler,
    without_it_the_remedy_is_near,
    a_command,
    all_tasks,
    a_cgroup,
    a_recording,
    monitors_of_an_esp,
    the_kernel_has_no_complaint,
)


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = False
    for test in TESTS:
        name = test.__name__.replace("_", "-")
        try:
            test(folder)
            print(f"ok {name}")
        except (Wrong, OSError, ValueError, KeyError) as error:
            failed = True
            print(f"not ok {name}: {type(error).__name__}: {' '.join(str(error).split())}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
