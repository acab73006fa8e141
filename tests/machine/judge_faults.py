# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what goes wrong: bad arguments, systems that lack something, signals, CPUs that go; see
judge.py.
"""

import json

from results import READ0, READ1, by_pid, estimate, expect, expect_close, expect_equal, expect_share, tests_into

TESTS = {}
test = tests_into(TESTS)


def refused(s, name, status, *words):
    """It ends with the status, and says what is wrong."""
    expect_equal(s.status(name), status, f"{name}: exit status")
    said = s.words(f"{name}.err")
    for word in words:
        expect(word in said, f"{name}: {word!r} is not in {said!r}")
    expect("t410trace:" in said, f"{name}: no message in {said!r}")


@test("refusals")
def impossible_arguments(s):
    refused(s, "junk-pid", 2, "12x", "not a process id")
    refused(s, "nothing", 2, "nothing to follow")
    refused(s, "interval-zero", 2, "-i 0", "from 10")
    refused(s, "window-too-long", 2, "--window")


@test("refusals")
def things_that_are_not_there(s):
    refused(s, "unknown-pid", 1, "4000000", "no such process")
    refused(s, "unknown-cgroup", 1, "no/such", "no such cgroup")
    refused(s, "no-command", 127, "/no/such/program")
    refused(s, "no-folder", 1, "/no/such/folder/file", "No such file")


@test("refusals")
def systems_that_lack_something(s):
    # QEMU's CPU is none of NVIDIA's: nobody is sent for their drivers
    refused(s, "no-pmu", 1, "/sys/bus/event_source/devices", "nvidia_ucf_pmu_", "make demo", "which tells no chip")
    refused(s, "no-btf", 1, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")
    refused(s, "no-cgroup2", 1, "cgroup", "mount")


@test("refusals")
def help_is_no_error(s):
    expect_equal(s.status("help"), 0, "exit status")
    expect("Exit status" in s.text("help.out"), "the help does not tell the exit status")


@test("rights")
def the_missing_right_is_named(s):
    refused(s, "paranoid", 1, "kernel.perf_event_paranoid is 3", "CAP_SYS_ADMIN", "sysctl")
    refused(s, "bpf", 1, "CAP_BPF", "CAP_PERFMON", "Operation not permitted")


@test("output")
def a_full_file_system(s):
    refused(s, "full", 1, "full/reports", "No space left")


@test("output")
def reports_before_it_was_full_are_complete(s):
    first = s.text("full.reports").splitlines()[0]
    (s.folder / "full.json").write_text(first + "\n", encoding="utf-8")
    expect_equal(len(s.reports("full").each), 1, "reports in the first line")


@test("output")
def a_closed_pipe(s):
    refused(s, "pipe", 1, "Broken pipe")
    expect_equal(len(s.reports("pipe").each), 1, "reports that were read")


@test("death")
@estimate
def bytes_of_the_dead_stay(s):
    reports, line = s.reports("dies"), s.truth().named("dies")[0]
    share = reports.share(READ1, by_pid(line["pid"]))
    expect_equal(reports.counter(READ1), line["bytes"], "the counter")
    expect_share(share["value"], line["bytes"], 0.9, "its row")
    expect(any(row.get("exited") for row in reports.rows(by_pid(line["pid"]))), "it is not marked")


@test("death")
def the_run_ends_by_itself(s):
    s.expect_complete("dies")


@test("signals")
def interrupt_gives_a_summary(s):
    s.expect_complete("INT")
    expect_equal(len(s.reports("INT").summaries), 1, "number of summaries")


@test("signals")
def terminate_ends_with_a_report(s):
    reports = s.reports("TERM")
    s.expect_complete("TERM")
    expect_equal(len(reports.summaries), 0, "number of summaries")


@test("signals")
def no_byte_is_missing_at_the_end(s):
    for name in ("INT", "TERM"):
        found, truth = s.reports(name).counter(READ1), s.truth().bytes(f"load{name}")
        expect_equal(found, truth, f"{name}: the counter")


@test("signals")
def kill_leaves_nothing(s):
    before, during, after = (s.number(f"programs.{when}") for when in ("before", "during", "after"))
    expect(during > before, "no BPF program was seen while the tracer ran")
    expect_equal(s.status("KILL"), 137, "exit status")
    expect_equal(after, before, "BPF programs in the kernel afterwards")
    expect_equal(s.text("pins.after"), s.text("pins.before"), "/sys/fs/bpf")


@test("signals")
def all_counters_are_free_again(s):
    perf = s.perf()
    expect_equal(len(perf), 8, "events of perf")
    for event, (_, percent) in perf.items():
        expect_equal(percent, 100.0, f"{event}: time it ran in percent")
    s.expect_complete("again")
    expect("(pinned)" in s.text("again.err"), "the next run did not get its counters")


@test("command")
def terminate_reaches_the_command(s):
    expect_equal(s.text("left"), "", "traffic programs that were left running")
    s.expect_complete("term")


@test("command")
@estimate
def its_last_bytes_are_counted(s):
    reports, line = s.reports("term"), s.truth().named("term")[0]
    expect_equal(reports.counter(READ1), line["bytes"], "the counter")
    share = reports.share(READ1, by_pid(line["pid"]))
    expect_share(share["value"], line["bytes"], 0.9, "its row")


# --- hotplug


@test("hotplug")
def the_reader_moves(s):
    expect_equal(s.text("cpumask").strip(), "3", "the PMU's CPU after CPU 2 went offline")
    moves = s.reports("all").quality("reader_moves")
    expect(moves >= 1, "no move of the reader is reported")


@test("hotplug")
@estimate
def counting_goes_on(s):
    reports, truth = s.reports("all"), s.truth().counter(READ1)
    # The driver itself drops a few milliseconds while it moves the events.
    expect_share(reports.counted(READ1), truth, 0.97, "counted")
    value = reports.value_before(READ1, s.truth().lines[0]["end_ns"])
    expect(value > 0, "nothing was counted after the CPU came back")


@test("hotplug")
@estimate
def the_program_keeps_its_bytes(s):
    reports, line = s.reports("all"), s.truth().named("steady")[0]
    share = reports.share(READ1, by_pid(line["pid"]))
    expect_share(share["value"], line["bytes"], 0.8, "its row")


@test("hotplug")
@estimate
def cpu_time_is_sound(s):
    reports, line = s.reports("all"), s.truth().named("steady")[0]
    expect_close(reports.on_cpu(by_pid(line["pid"])), line["cpu_before_ns"] + line["cpu_ns"], 0.03, "CPU time")
    # While nobody reads the counters of a socket its interval is open: over all reports
    # the CPUs that were online have been somewhere all the time.
    length = sum(report["interval"]["duration_ns"] for report in reports.each)
    # Going offline and coming back take their time themselves.
    for socket, offline in ((0, 0), (1, s.number("offline_ns"))):
        found = reports.on_socket(socket)
        least, most = 0.97 * (2 * length - offline), 1.03 * 2 * length - 0.5 * offline
        expect(least < found < most, f"socket {socket}: {found} ns, expected {least:.0f} to {most:.0f}")


@test("hotplug")
def its_core_events_come_back(s):
    """They ended with the CPU: whoever ran there afterwards would have no weights for ever."""
    reports = s.reports("all")
    opened = [bool(report["quality"]["weights_reopened"]) for report in reports.each]
    expect_equal(reports.quality("weights_reopened"), 1, "core events opened again")
    # All of the time but that of the opening itself.
    after = reports.each[opened.index(True) + 1 :]
    expect(after, "the run ended before that could be seen")
    busy = sum(socket["busy_ns"] for report in after for socket in report["sockets"])
    unweighed = sum(report["quality"]["unweighed_ns"] for report in after)
    expect(unweighed < 0.05 * busy, f"{unweighed} of {busy} ns have no weight after that")


@test("hotplug")
def the_run_is_complete(s):
    """The counters are read from another CPU when the one that goes has been silent for 0.3 s. A run that
    comes to this too late for an interval of 0.5 s lacks data in it."""
    s.expect_complete("all")


# --- CPUs that are offline at the start


@test("coming")
def cpus_are_those_that_were_online(s):
    """One of each socket at first; in the end, one of the first and two of the second."""
    cpus = [[socket["cpus"] for socket in report["sockets"]] for report in s.reports("all").each]
    expect_equal((cpus[0], cpus[-1]), ([1, 1], [1, 2]), f"CPUs of both sockets, first and last, of {cpus}")
    expect([2, 2] in cpus, f"never all four: {cpus}")


@test("coming")
def the_trace_tells_of_each(s):
    header, *lines = map(json.loads, s.text("told").splitlines())
    expect_equal([socket["cpus"] for socket in header["sockets"]], ["0", "2"], "CPUs in the header")
    told = {(line["cpu"], line["online"], line.get("socket")) for line in lines}
    expect_equal(told, {(1, True, 0), (3, True, 1), (1, False, None)}, "CPUs that came and went")


@test("coming")
@estimate
def who_ran_there_has_its_bytes(s):
    """On its own socket, and nobody of the other one has any of them."""
    reports = s.reports("all")
    for name, counter in (("late", READ1), ("steady", READ0)):
        line = s.truth().named(name)[0]
        expect_equal(reports.counter(counter), line["bytes"], counter)
        expect_share(reports.share(counter, by_pid(line["pid"]))["value"], line["bytes"], 0.9, f"row of {name}")


@test("coming")
def its_replay_is_the_same(s):
    expect_equal((s.status("record"), s.status("all")), (0, 0), "exit status")
    expect(s.text("again.json") == s.text("all.json"), "the replay says something else")
    expect(not any("unplaced_ns" in report["quality"] for report in s.reports("all").each), "CPU time without a socket")
