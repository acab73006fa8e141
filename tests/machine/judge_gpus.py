# SPDX-License-Identifier: GPL-2.0-only
"""Tests of who used a GPU and owns its bytes; see judge.py. Contexts are those that our library says the
programs have; bytes are those that the programs moved, by devices.conf.
"""

import json

from results import estimate, expect, expect_equal, require, tests_into

TESTS = {}
test = tests_into(TESTS)
MACHINES = {name: ("t410,disks", "devices.conf") for name in ("gpus", "gpus_pid", "gpus_faults", "gpus_mig")}
# Not in "make check"
MORE = {name for name in MACHINES if name != "gpus"}
GPU_A, GPU_B = "0002:81:00.0", "0002:e1:00.0"
# Of the first one
SIDES = (("rd", 0), ("wr", 1))
SLOTS = [slot for _, slot in SIDES]


def counters(report, bdf):
    """Bytes of a device, by counter"""
    return {c["name"]: c["value"] for c in report["counters"] if c.get("bdf") == bdf and c["unit"] == "bytes"}


def owned(report, bdf, job=None):
    """Bytes of a device on rows, of a job or all"""
    names = counters(report, bdf)
    return sum(
        share["value"]
        for row in report["workloads"]
        for share in row["shares"]
        if row["leaf"] and share["counter"] in names and (job is None or row.get("job", {}).get("id") == job)
    )


def moved(report, bdf):
    return sum(counters(report, bdf).values())


def truth(s, name="truth"):
    """Bytes by job"""
    found = {}
    for line in s.truth(name).lines:
        if line["slot"] in SLOTS:
            job = line["cgroup"].split("/job_")[1].split("/")[0]
            found[job] = found.get(job, 0) + line["bytes"]
    return found


def truth_of_slot(s, name, slot):
    return [line["bytes"] for line in s.truth(name).lines if line["slot"] == slot]


def entries(report, bdf):
    return [entry for entry in report["devices"] if entry["bdf"] == bdf]


def total(reports, function, *arguments):
    return sum(function(report, *arguments) for report in reports.each)


def as_reports_say(reports):
    """All bytes of an interval have the owner that it says, or none."""
    for number, report in enumerate(reports.each):
        (entry,) = entries(report, GPU_A)
        # One that was gone by the last look has the bytes up to it.
        if entry.get("gone") and owned(report, GPU_A) < moved(report, GPU_A):
            continue
        wanted = moved(report, GPU_A) if entry["ownership"] == "one" else 0
        what = f"{reports.name}: report {number} ({entry['ownership']}): bytes with an owner"
        expect_equal(owned(report, GPU_A), wanted, what)


def adds_up(s, name="all", file="truth"):
    """To the byte: rows and the rest are the counter, the GPU's bytes are those that the jobs moved, no job has more
    than it moved."""
    reports, wanted = s.reports(name), truth(s, file)
    for report in reports.each:
        for counter in report["counters"]:
            rows = [row for row in report["workloads"] if row["leaf"]]
            parts = sum(sh["value"] for row in rows for sh in row["shares"] if sh["counter"] == counter["name"])
            parts += sum(u["value"] for u in report["unattributed"] if u["counter"] == counter["name"])
            if counter["unit"] == "bytes" and counter["valid"]:
                expect_equal(parts, counter["value"], counter["name"])
    for job, value in wanted.items():
        found = total(reports, owned, GPU_A, job)
        require(found <= value, f"job {job} moved {value} bytes and has {found}")
    for side, slot in SIDES:
        counter = f"{GPU_A}/{side}_bytes"
        expect_equal(reports.counter(counter), sum(truth_of_slot(s, file, slot)), counter)
    strangers = total(reports, owned, GPU_A) - sum(total(reports, owned, GPU_A, job) for job in wanted)
    expect_equal(strangers, 0, "bytes of the GPU on rows of others")
    as_reports_say(reports)
    s.expect_complete(name)
    return reports, wanted


@test("gpus")
def no_byte_is_anybody_elses(s):
    reports, _ = adds_up(s)
    expect_equal(total(reports, owned, GPU_B), 0, "bytes of the GPU that nobody has a context on")
    expect_equal(total(reports, moved, GPU_B), sum(truth_of_slot(s, "truth", 6) + truth_of_slot(s, "truth", 7)), GPU_B)


@test("gpus")
@estimate
def its_job_has_them_beside_a_monitor(s):
    """All but those of the intervals in which the tasks began and ended: two of 2 s, of 7."""
    reports, wanted = s.reports("all"), truth(s)
    found = total(reports, owned, GPU_A, "7")
    expect(found >= 0.4 * wanted["7"], f"job 7 moved {wanted['7']} bytes and has {found}")


@test("gpus")
@estimate
def reports_say_so(s):
    """By contexts, and by name; of the other GPU that nobody has one."""
    found = [entry for report in s.reports("all").each for entry in entries(report, GPU_A)]
    # In the first interval, if the helper has looked by then
    rules = {entry.get("owner_rule") for entry in found}
    expect(rules == {"contexts"}, f"rules are {rules}")
    users = [entry["users"] for entry in found if entry["ownership"] == "one"]
    expect(users, f"ownership is {[entry['ownership'] for entry in found]}")
    expect_equal({user["job"]["id"] for of_one in users for user in of_one}, {"7"}, "users")
    free = [entry["ownership"] for report in s.reports("all").each for entry in entries(report, GPU_B)]
    expect("free" in free and "one" not in free, f"ownership of the other one is {free}")


@test("gpus")
def the_helper_comes_and_goes_with_us(s):
    expect_equal(s.text("started").strip(), "yes", "the helper was started")
    expect("contexts are not known" not in s.words("all.err"), s.text("all.err"))
    expect_equal(s.status("killed"), 137, "status of the run that was killed")


@test("gpus")
def check_knows_the_gpus(s):
    rows = {row["name"]: row for row in json.loads(s.text("check.out"))["checks"]}
    expect_equal(rows["gpu_driver"]["found"], "nvidia 595.45.04", "driver")
    expect_equal(rows["gpu_nvml"]["found"], "NVML 13.595.45.04", "NVML")
    expect_equal(rows["gpu_links"]["found"], f"{GPU_A} on C2C, {GPU_B} on PCIe", "links")
    expect("/monitor" in rows["gpu_holders"]["found"], rows["gpu_holders"]["found"])
    for name in ("gpu_pids", "gpu_holders"):
        expect_equal(rows[name]["status"], "ok", name)
    expect("nvidia-smi -am 1" in rows["gpu_accounting"]["remedy"], rows["gpu_accounting"])


@test("gpus_pid")
def a_number_that_came_again_is_another_process(s):
    first, second = s.text("numbers").split()
    expect_equal(first, second, "number of the second process")
    reports, wanted = adds_up(s)
    expect_equal(sorted(wanted), ["7", "8"], "jobs")
    # No job owns what was moved while the other one ran alone
    for report in reports.each:
        for line in s.truth("truth").lines:
            job = line["cgroup"].split("/job_")[1].split("/")[0]
            if line["end_ns"] < report["interval"]["start_ns"] or line["start_ns"] > report["interval"]["end_ns"]:
                what = f"bytes of job {job}, which did not run, at {report['interval']['start_ns']} ns"
                expect_equal(owned(report, GPU_A, job), 0, what)


@test("gpus_pid")
@estimate
def each_has_its_own(s):
    reports = s.reports("all")
    for job, value in truth(s).items():
        found = total(reports, owned, GPU_A, job)
        expect(found >= 0.3 * value, f"job {job} moved {value} bytes and has {found}")


FAULTS = {
    "killed": "source gpu: ended by signal 9; it is started again in 1 s",
    "hung": "source gpu: no good reading for 10 s; it is started again",
    "nonsense": "source gpu: ended by signal 15; it is started again in 1 s",
    "lost": "GPU is lost (15): its contexts are not known",
}


@test("gpus_faults")
def nobody_owns_what_is_not_known(s):
    """The run goes on, says so, and there are bytes between that nobody has."""
    for name, words in FAULTS.items():
        reports = s.reports(name)
        s.expect_complete(name)
        expect(words in s.words(f"{name}.err"), f'{name}: it does not say "{words}": {s.words(f"{name}.err")}')
        free = [r for r in reports.each[1:-1] if moved(r, GPU_A) and not owned(r, GPU_A)]
        expect(free, f"{name}: all intervals have an owner")
        as_reports_say(reports)
        said = {entries(report, GPU_A)[0]["ownership"] for report in reports.each}
        expect(said <= {"one", "unknown"}, f"{name}: ownership is {said}")
        strangers = total(reports, owned, GPU_A) - total(reports, owned, GPU_A, "7")
        expect_equal(strangers, 0, f"{name}: bytes of the GPU on rows of others")


@test("gpus_faults")
@estimate
def it_owns_before_and_behind(s):
    for name in FAULTS:
        has = [owned(r, GPU_A, "7") == moved(r, GPU_A) > 0 for r in s.reports(name).each]
        changes = [has[0], *(now for before, now in zip(has, has[1:]) if now != before)]
        expect(changes[-3:] == [True, False, True], f"{name}: intervals with an owner are {has}")


@test("gpus_mig")
def two_jobs_on_two_instances_own_nothing(s):
    """Nobody tells the bytes of an instance."""
    reports, _ = adds_up(s, "all", "truth.two")
    both = [r for r in reports.each if moved(r, GPU_A)][1:-1]
    require(both, "no interval with both")
    for report in both:
        expect_equal(owned(report, GPU_A), 0, "bytes with an owner")
    shared = [entry for report in both for entry in entries(report, GPU_A) if entry["ownership"] == "shared"]
    expect(shared, "no interval is shared")
    for entry in shared:
        expect_equal({user["job"]["id"] for user in entry["blockers"]}, {"7", "8"}, "blockers")


@test("gpus_mig")
@estimate
def one_job_on_both_owns_them(s):
    reports, wanted = adds_up(s, "same")
    found = total(reports, owned, GPU_A, "7")
    expect(found >= 0.3 * wanted["7"], f"job 7 moved {wanted['7']} bytes and has {found}")
